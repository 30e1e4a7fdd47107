"""Hits from plain dicts, by way of the join."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from rankproof.core.conventions import Conventions
from rankproof.core.hits import Hits
from rankproof.core.join import Block, join
from rankproof.core.judgments import Judgments, judgments_from_rows

Make = Callable[..., Hits]


def judged(table: Mapping[str, Mapping[str, float]], aspects: bool = False) -> Judgments:
    """Judgments of `{query: {document: grade}}`, or of `{query: {(document, aspect): grade}}`."""
    rows = [(q, d, g) for q, docs in table.items() for d, g in docs.items()]
    names: list[Any] = [d for _, d, _ in rows]
    return judgments_from_rows(
        [q for q, _, _ in rows],
        [d[0] if aspects else d for d in names],
        [g for _, _, g in rows],
        [d[1] for d in names] if aspects else None,
    )


def block(judgments: Judgments, run: Mapping[str, Mapping[str, float]]) -> Block:
    """`{query: {document: score}}` as a reader hands it over."""
    queries = [q for q in run if q in judgments.index]
    docs = [d for q in queries for d in run[q]]
    found = [
        (i, int(judgments.start[judgments.index[q]]) + list(judgments.of(q)).index(d), s)
        for i, q in enumerate(queries)
        for d, s in run[q].items()
        if d in judgments.of(q)
    ]
    ranking, which, score = (np.array(column) for column in zip(*found, strict=True)) if found else ([], [], [])
    return Block(
        query=np.array([judgments.index[q] for q in queries], dtype=np.intp),
        start=np.cumsum([0, *(len(run[q]) for q in queries)]),
        score=np.array([s for q in queries for s in run[q].values()], dtype=np.float64),
        ranking=np.asarray(ranking, dtype=np.intp),
        judged=np.asarray(which, dtype=np.intp),
        found=np.asarray(score, dtype=np.float64),
        ids=lambda rows: [docs[i] for i in rows.tolist()],
    )


@pytest.fixture(scope="session")
def make() -> Make:
    def made(table: Any, run: Any, *, aspects: bool = False, **conventions: Any) -> Hits:
        judgments = judged(table, aspects)
        return join(judgments, [block(judgments, run)], Conventions(**conventions))

    return made
