"""Hits as trec_eval cuts them: the depth of -M, the judged only of -J, topics without results."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankproof.core.conventions import Conventions
from rankproof.core.hits import Hits
from rankproof.core.unjudged import condensed


@dataclass(frozen=True)
class Cut:
    """How rankings are cut before anything is measured."""

    depth: int | None = None
    judged_only: bool = False
    stand_in: bool = False
    """Whether a topic without results is given one document that nobody judged."""


def conventions(version: int) -> Conventions:
    """The order of documents in a version: 9 compares scores in single precision."""
    return Conventions(precision="float32" if version == 9 else "float64")


def cut(hits: Hits, how: Cut) -> Hits:
    """The hits that are measured: first cut at the depth, then reduced to judged documents.

    A negative grade means "in the pool, but not judged".
    """
    if how.stand_in and hits.answered is not None:
        hits = replace(hits, retrieved=np.where(hits.answered, hits.retrieved, 1))
    if how.depth is not None:
        hits = replace(hits.top(how.depth), retrieved=np.minimum(hits.retrieved, how.depth))
    return condensed(hits.keep(hits.grade >= 0)) if how.judged_only else hits


def relevance_strings(hits: Hits, length: int) -> list[str]:
    """The grades of the first documents, one character each.

    '-' for a document outside the pool, '.' for one in it that was not judged, '>' for more than 9.
    """
    lengths = np.clip(hits.retrieved, 0, max(length, 0))
    strings = [["-"] * int(n) for n in lengths]
    shown = hits.top(length) if length > 0 else hits.keep(np.zeros(len(hits.rank), dtype=bool))
    rows = zip(shown.query.tolist(), shown.rank.tolist(), shown.grade.tolist(), strict=True)
    for query, rank, grade in rows:
        strings[query][rank - 1] = _character(grade)
    return ["".join(string) for string in strings]


def _character(grade: float) -> str:
    if grade < 0:
        return "."
    return ">" if grade > 9 else str(int(grade))
