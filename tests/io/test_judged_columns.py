"""Judgments in large tables: the same as row by row, refused in the same words, and light."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankproof import evaluate
from rankproof.core.judgments import Judgments
from rankproof.errors import DataError
from rankproof.io import frames
from rankproof.io.load import load_judgments
from rankproof.io.trec.index import Texts


def rows(seed: int, n: int = 400, *, integers: bool = False, together: bool = True) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    pairs = list(dict.fromkeys((int(rng.integers(0, 40)), int(rng.integers(0, 90))) for _ in range(n)))
    if together:
        pairs.sort(key=lambda pair: (pair[0] * 7919 % 41, rng.random()))
    name = (lambda i: i) if integers else (lambda i: f"é{i}" if i % 9 == 0 else f"name-{i}" if i % 5 else f"x{i}")
    return {
        "query_id": [name(q) for q, _ in pairs],
        "doc_id": [name(d) for _, d in pairs],
        "relevance": [int(rng.integers(0, 4)) for _ in pairs],
    }


def of(judgments: Judgments) -> tuple[Any, ...]:
    """All that makes judgments what they are."""
    held = (judgments.integer_ids, judgments.repeated, judgments.notes, judgments.facets)
    return (
        list(judgments.query_ids),
        list(judgments.doc_ids),
        judgments.start.tolist(),
        judgments.grade.tolist(),
        held,
    )


def both_ways(frame: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Judgments, Judgments]:
    with monkeypatch.context() as patch:
        patch.setattr(frames, "LARGE", 1)
        fast = load_judgments(frame)
    return fast, load_judgments(frame)


@pytest.mark.first_is_quick
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_columns_give_what_rows_give(integers: bool, together: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(4):
        data = rows(seed, integers=integers, together=together)
        for frame in (pl.DataFrame(data), pd.DataFrame(data), pa.table(data), pl.DataFrame(data).lazy()):
            fast, slow = both_ways(frame, monkeypatch)
            assert isinstance(fast.doc_ids, Texts)
            assert not isinstance(slow.doc_ids, Texts)
            assert of(fast) == of(slow)


def test_lists_grades_and_iterations_are_taken_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    data = rows(5)
    forms = [
        {name: data[name] for name in ("query_id", "doc_id")},
        {**data, "iteration": [0] * len(data["doc_id"])},
        {**data, "relevance": [float(each) / 2 for each in data["relevance"]]},
        {"query_id": ["a", "b"], "relevant_ids": [["x", "y"], ["y"]]},
    ]
    for form in forms:
        fast, slow = both_ways(pl.DataFrame(form), monkeypatch)
        assert isinstance(fast.doc_ids, Texts)
        assert of(fast) == of(slow)


def test_what_is_out_of_the_ordinary_is_for_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    data = rows(6)
    n = len(data["doc_id"])
    twice = {name: [*values, values[0]] for name, values in data.items()}
    aspects = {**data, "subtopic_id": [str(i % 3) for i in range(n)]}
    iterations = {**data, "iteration": [i % 2 for i in range(n)]}
    for form in (twice, aspects, iterations):
        fast, slow = both_ways(pl.DataFrame(form), monkeypatch)
        assert of(fast)[:4] == of(slow)[:4]
        assert fast.repeated == slow.repeated
    wrong = [
        ({**twice, "relevance": [*data["relevance"], 9]}, "judged twice with different grades"),
        ({**data, "doc_id": ["", *data["doc_id"][1:]]}, "row 1: got ''"),
        ({**data, "doc_id": [None, *data["doc_id"][1:]]}, "row 1: got None"),
        ({**data, "query_id": [*data["query_id"][:-1], None]}, f"row {n}: got None"),
        ({**data, "relevance": [*map(float, data["relevance"][:-1]), float("nan")]}, f"row {n}: got nan"),
        ({**data, "relevance": ["high"] * n}, "expected a number"),
    ]
    monkeypatch.setattr(frames, "LARGE", 1)
    for form, said in wrong:
        with pytest.raises(DataError) as error:
            load_judgments(pl.DataFrame(form, strict=False))
        assert said in str(error.value)


def test_a_parquet_file_of_judgments_scores_alike(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = rows(7)
    pq.write_table(pa.table(data), tmp_path / "judged.parquet")
    run = {q: {f"name-{i}": 50.0 - i for i in range(50)} for q in dict.fromkeys(data["query_id"])}
    expected = evaluate(str(tmp_path / "judged.parquet"), run, "nDCG@10, AP, Bpref")
    monkeypatch.setattr(frames, "LARGE", 1)
    found = evaluate(str(tmp_path / "judged.parquet"), run, "nDCG@10, AP, Bpref")
    assert isinstance(found.judgments.doc_ids, Texts)  # type: ignore[union-attr]
    assert found.to_dict() == expected.to_dict()
