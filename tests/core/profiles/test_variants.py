"""The variants that profiles need: nDCG's ideal cut to the hits or built from them, recall of what was returned."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from statistics import mean

import pytest

from rankproof import evaluate
from rankproof.errors import UsageError

JUDGED = {"q": {"a": 3, "b": 2, "c": 3, "e": 1, "g": 1}}


def dcg(*gains: float) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def value(measure: str, ranking: list[str] | dict[str, float], **conventions: str) -> float:
    return evaluate(JUDGED, {"q": ranking}, measure, **conventions)[measure]


@pytest.mark.parametrize(
    ("ideal", "best"),
    [
        ("all", dcg(3, 3, 2, 1, 1)),
        ("hits", dcg(3, 3, 2)),
        ("returned", dcg(3, 2)),
        ("top", dcg(3, 2)),
        ("uncut", dcg(3, 3, 2, 1, 1)),
    ],
)
def test_each_ideal_of_a_short_ranking(ideal: str, best: float) -> None:
    assert value(f"nDCG(ideal='{ideal}')@10", ["b", "x", "a"]) == pytest.approx(dcg(2, 0, 3) / best)


def test_the_ideal_cut_to_the_hits_is_cut_at_k_too() -> None:
    assert value("nDCG(ideal='hits')@2", ["b", "x", "a"]) == pytest.approx(dcg(2) / dcg(3, 3))


def test_the_ideal_cut_to_the_hits_of_nothing_is_nothing() -> None:
    assert value("nDCG(ideal='hits')@2", []) == 0.0


def test_recall_of_what_was_returned() -> None:
    assert value("R(denominator='returned')@1", ["a", "x", "b"]) == 0.5
    assert value("R(denominator='returned')@3", ["a", "x", "b"]) == 1.0
    assert value("R(denominator='returned')@3", ["x", "y"]) == 0.0


IDEALS = [f"nDCG(ideal='{ideal}')@{k}" for ideal in ("all", "hits", "returned", "uncut") for k in (1, 2, 4)]
RECALLS = [f"R(denominator='returned')@{k}" for k in (1, 2, 4)]


@pytest.mark.first_is_quick
@pytest.mark.parametrize("measure", [*IDEALS, *RECALLS, "Rprec(denominator='returned')"])
def test_the_mean_over_ties_is_that_over_all_orders(measure: str) -> None:
    orders = [["w", *order] for order in itertools.permutations(["a", "x", "e", "y", "z"])]
    tied = {"w": 2.0, "a": 1.0, "x": 1.0, "e": 1.0, "y": 1.0, "z": 1.0}
    assert value(measure, tied, ties="expected") == pytest.approx(mean(value(measure, order) for order in orders))


@pytest.mark.parametrize("measure", ["R(denominator='returned')@2", "R@2", "R(denominator='min')@2"])
def test_the_ceiling_of_recall(measure: str) -> None:
    reached = {"R(denominator='returned')@2": 1.0, "R@2": 2 / 5, "R(denominator='min')@2": 1.0}[measure]
    assert evaluate(JUDGED, {"q": ["a", "x"]}, measure).ceiling(measure) == pytest.approx(reached)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_unjudged_documents_bound_recall_of_what_was_returned(k: int) -> None:
    measure, ranking = f"R(denominator='returned')@{k}", ["x", "a", "y", "b"]
    below, above = evaluate(JUDGED, {"q": ranking}, measure).bounds(measure, of="unjudged")
    more = [{}, {"x": 1}, {"y": 1}, {"x": 1, "y": 1}]
    possible = [evaluate({"q": JUDGED["q"] | new}, {"q": ranking}, measure)[measure] for new in more]
    assert (below, above) == pytest.approx((min(possible), max(possible)))


POSITIVE = {"P": 1 / 3, "R": 1 / 5, "RR": 1.0, "AP(denominator='found')": 1.0, "P@2": 1 / 2, "AP@2": 1 / 5}


@pytest.mark.parametrize(("measure", "reached"), POSITIVE.items())
@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_a_document_scored_zero_or_less_can_count_as_not_found(measure: str, reached: float, ties: str) -> None:
    bare, _, k = measure.partition("@")
    asked = bare.replace("(", "(scores='positive', ") if "(" in bare else f"{bare}(scores='positive')"
    scored = {"a": 2.0, "b": 0.0, "x": -1.0}
    assert value(f"{asked}@{k}" if k else asked, scored, ties=ties) == pytest.approx(reached)


def test_a_ranking_without_scores_hides_nothing(tmp_path: Path) -> None:
    ranks = tmp_path / "ranks.csv"
    ranks.write_text("query,doc,rank\nq,x,1\nq,b,2\nq,a,3\n")
    frame = [("q", "x"), ("q", "b"), ("q", "a")]
    for ranking in ({"q": ["x", "b", "a"]}, ranks, frame):
        assert evaluate(JUDGED, ranking, "R(scores='positive')")["R(scores='positive')"] == 0.4
        assert evaluate(JUDGED, ranking, "RR(scores='positive')")["RR(scores='positive')"] == 0.5


def test_what_is_hidden_is_the_same_from_a_file(tmp_path: Path) -> None:
    run = tmp_path / "my.run"
    run.write_text("q Q0 a 1 2.0 t\nq Q0 b 2 0.0 t\nq Q0 x 3 -1.0 t\nq Q0 c 4 -1.0 t\n")
    measure = "P(scores='positive')"
    assert evaluate(JUDGED, run, measure)[measure] == 0.25
    assert evaluate(JUDGED, run, measure, ties="rank")[measure] == 0.75


def test_unjudged_documents_are_not_called_relevant_whatever_they_score() -> None:
    """Only the scores of judged documents are kept: x, at -1, would have counted as found."""
    for measure, profile in (("P(scores='positive')", None), ("RR", "torchmetrics")):
        with pytest.raises(UsageError, match="scores='positive': which of the documents nobody judged score above 0"):
            evaluate(JUDGED, {"q": {"x": -1.0}}, measure, profile=profile, unjudged="relevant")
    assert evaluate(JUDGED, {"q": {"x": -1.0}}, "RR(scores='any')", unjudged="relevant").means == {"RR": 1.0}


def test_a_better_order_would_show_what_is_hidden() -> None:
    scores = evaluate(JUDGED, {"q": {"x": 1.0, "a": -1.0}}, "RR(scores='positive')")
    assert scores.split("RR(scores='positive')") == pytest.approx((0.0, 1.0))
    assert scores.bounds("RR(scores='positive')", of="unjudged") is None
