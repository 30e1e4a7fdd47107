"""A run finds the same judged documents whichever side is looked up, first of its judgments or later."""

import random
from typing import Any

import numpy as np
import pytest

from rankproof.core.conventions import Conventions
from rankproof.core.join import Census, join
from rankproof.core.judgments import Judgments
from rankproof.io.mappings import WORTH, MappingRankings, judgments_from_mapping


def found(judgments: Judgments, run: Any) -> list[Any]:
    census = Census()
    blocks = MappingRankings(run).blocks(judgments, Conventions(), census)
    hits = join(judgments, blocks, Conventions(), census)
    columns = (hits.query, hits.rank, hits.grade, hits.doc, hits.retrieved, hits.answered)
    return [np.asarray(column).tolist() for column in columns]


def few_of_many(text: bool, listed: int, seed: int) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Rankings much shorter than what was judged; some queries have none, or one in a list."""
    rnd = random.Random(seed)
    name = str if text else int
    docs = [name(number) for number in range(60)]
    judgments = {name(q): {doc: rnd.randrange(3) for doc in rnd.sample(docs, 40)} for q in range(30)}
    run: dict[Any, Any] = {}
    for query in rnd.sample(list(judgments), 25):
        some = rnd.sample(docs, rnd.randrange(listed + 1))
        run[query] = some if rnd.random() < 0.3 else {doc: rnd.random() for doc in some}
    return judgments, run


@pytest.mark.parametrize("text", [True, False], ids=["text", "integers"])
@pytest.mark.parametrize("seed", range(5))
def test_every_run_finds_the_same(text: bool, seed: int) -> None:
    judgments, run = few_of_many(text, 10, seed)
    table = judgments_from_mapping(judgments)
    assert len(table.docs) > WORTH * sum(map(len, run.values()))
    first, second, third = (found(table, run) for _ in range(3))
    assert first == second == third
    assert len(first[0]) == sum(doc in judgments[query] for query in run for doc in run[query])


def test_runs_of_many_blocks_find_the_same() -> None:
    judgments = {f"q{q}": {f"d{q}-{i}": 1 for i in range(30)} for q in range(2500)}
    run = {query: {doc: i for i, doc in enumerate([*docs, "other"]) if i % 4 == 3} for query, docs in judgments.items()}
    table = judgments_from_mapping(judgments)
    first, second = found(table, run), found(table, run)
    assert first == second
    assert len(first[0]) == 7 * len(run)
