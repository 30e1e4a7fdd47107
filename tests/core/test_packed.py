"""Hits of many queries are kept in few bytes; nothing that can be asked of them may tell."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from rankproof import evaluate
from rankproof.core import hits, join, judgments
from rankproof.core.hits import Hits, PackedHits
from rankproof.core.names import REGISTRY
from tests.io.counted.engines import arrow, random_case

EVERY = [name for name, each in REGISTRY.items() if each.spec.kind == "ranking"]
FEW = 4
"""From so many queries on hits are packed here, so that small cases show what large ones do."""


def everything(judged: Any, rows: Any, conventions: dict[str, Any]) -> tuple[Hits, str]:
    scores = evaluate(judged, arrow(rows), EVERY, corpus_size=1000, **conventions)
    found = scores.hits
    assert found is not None
    data = {
        "scores": scores.to_dict(),
        "page": str(scores),
        "columns": {
            name: np.asarray(getattr(each, name)).tolist()
            for each in (found, found.judged, found.ideal, found.select(np.array([3, 1])))
            for name in ("query", "rank", "grade", "doc", "retrieved", "first", "last", "starts", "nth")
            if getattr(each, name) is not None
        },
    }
    return found, json.dumps(data, sort_keys=True, default=str)


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    "conventions",
    [
        {"unjudged": "skip"},
        {},
        {"ties": "id", "missing": "skip", "no_relevant": "skip"},
        {"ties": "expected"},
        {"ties": "best"},
        {"unjudged": "relevant", "unjudged_grade": 2},
        {"profile": "trec_eval-9"},
    ],
    ids=str,
)
def test_packed_hits_tell_what_plain_ones_do(conventions: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    judged, rows = random_case(17, queries=9)
    monkeypatch.setattr(hits, "QUERIES", FEW)
    plain, expected = everything(judged, rows, conventions)
    for module in (join, judgments):
        monkeypatch.setattr(module, "QUERIES", FEW)
    packed, found = everything(judged, rows, conventions)
    assert not isinstance(plain, PackedHits)
    assert isinstance(packed, PackedHits)
    assert found == expected


def test_columns_are_wide_where_they_are_asked_for_and_narrow_where_they_are_kept() -> None:
    many = PackedHits(
        query=np.array([0, 1]), rank=np.array([1, 40_000]), grade=np.array([0.5, 1]), doc=np.array([0, 1 << 40]),
        n=2, retrieved=np.array([9, 50_000]),
    )  # fmt: skip
    assert many.rank.dtype == many.block(1, 2).rank.dtype == np.intp
    assert (many.rank * many.rank).tolist() == [1, 1_600_000_000]
    assert {name: many.__dict__[name].itemsize for name in ("query", "rank", "doc", "grade")} == {
        "query": 2, "rank": 4, "doc": 8, "grade": 8,
    }  # fmt: skip
    assert many.doc.tolist() == [0, 1 << 40]
