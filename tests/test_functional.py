"""`rankproof.functional`: one query on plain lists gives what `evaluate` gives."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rankproof import evaluate
from rankproof import functional as f
from rankproof.errors import DataError, UsageError

CALLS: dict[str, Any] = {
    "P@5": lambda got, good: f.precision_at_k(got, good, 5),
    "R@5": lambda got, good: f.recall_at_k(got, good, 5),
    "F1@5": lambda got, good: f.f1_at_k(got, good, 5),
    "Success@5": lambda got, good: f.hit_rate_at_k(got, good, 5),
    "RR": f.reciprocal_rank,
    "RR@5": lambda got, good: f.reciprocal_rank(got, good, 5),
    "AP": f.average_precision,
    "AP@5": lambda got, good: f.average_precision(got, good, 5),
    "nDCG@5": lambda got, good: f.ndcg_at_k(got, good, 5),
    "nDCG(gain='exp', ideal='top')@5": lambda got, good: f.ndcg_at_k(got, good, 5, gain="exp", ideal="top"),
    "DCG": f.dcg_at_k,
    "ERR(top_grade=3)": lambda got, good: f.expected_reciprocal_rank(got, good, top_grade=3),
    "AP(denominator='found')@5": lambda got, good: f.context_precision(got, good, 5),
    "RBP(p=0.5)": lambda got, good: f.value("RBP(p=0.5)", got, good),
}


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("ids", [str, int], ids=["text", "integers"])
def test_one_query_is_as_in_evaluate(name: str, ids: Any) -> None:
    rng = random.Random(name)
    for _ in range(20):
        got = [ids(each) for each in rng.sample(range(30), rng.randint(0, 12))]
        good = {ids(each): rng.randint(0, 3) for each in rng.sample(range(30), rng.randint(1, 9))}
        assert CALLS[name](got, good) == evaluate({"q": good}, {"q": got}, name)[name]


def test_an_id_that_is_none_is_told() -> None:
    with pytest.raises(DataError, match=r"got None \(NoneType\) as a document id"):
        f.context_precision([None, "a"], {"a"})


def test_the_trap_of_accuracy() -> None:
    got, good = list("abcde"), set("abxyzw")
    assert f.confusion_matrix(got, good, corpus_size=10_000) == (2, 3, 4, 9991)
    assert f.confusion_matrix(got, good) == (2, 3, 4, None)
    found = [f.value(name, got, good, corpus_size=10_000) for name in ("accuracy", "P", "R", "F1")]
    assert [round(each, 4) for each in found] == [0.9993, 0.4, 0.3333, 0.3636]


def test_verdicts_are_yes_or_no() -> None:
    assert f.context_precision([True, False, False]) == 1.0
    assert (f.context_recall([1, 1, 1, 0]), round(f.context_relevance([1, 0, 1]), 4)) == (0.75, 0.6667)
    with pytest.raises(UsageError, match=r"context_recall: got the verdict 0\.5, expected 0 or 1"):
        f.context_recall([0.5])
    with pytest.raises(UsageError, match="there is nothing to divide by"):
        f.context_relevance([])
