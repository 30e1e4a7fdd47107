"""What `explain` lists and says: the order of all documents, what is left out, and why another tool differs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rankproof import explain
from rankproof.errors import UsageError
from rankproof.io.trec import TrecRankings


def order(ranking: object, **conventions: str) -> list[str]:
    return [line.document for line in explain({"q": {"m": 1}}, {"q": ranking}, "q", "RR", **conventions).own.lines]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [("trec", ["z", "m", "b", "a"]), ("id", ["a", "b", "m", "z"]), ("input", ["b", "m", "z", "a"])],
)
def test_unjudged_documents_of_one_score_follow_the_rule_too(ties: str, expected: list[str]) -> None:
    assert order({"b": 1.0, "m": 1.0, "z": 1.0, "a": 1.0}, ties=ties) == expected


def test_documents_in_single_precision_are_listed_as_they_were_compared() -> None:
    scores = {"a": 1.00000001, "m": 1.0}
    assert order(scores) == ["a", "m"]
    assert order(scores, profile="trec_eval-9") == ["m", "a"]


@pytest.mark.parametrize(("rule", "score"), [("first", 1.0), ("best", 3.0)])
def test_of_a_document_that_comes_twice_the_kept_one_is_listed(rule: str, score: float) -> None:
    ranking = [("m", 1.0), ("x", 2.0), ("m", 3.0)]
    found = explain({"q": {"m": 1}}, {"q": ranking}, "q", "RR", duplicates=rule)
    assert {line.document: line.score for line in found.own.lines} == {"m": score, "x": 2.0}
    assert [line.document for line in found.own.lines] == (["x", "m"] if rule == "first" else ["m", "x"])


def test_what_was_taken_out_has_no_rank() -> None:
    found = explain({"q": {"m": 1}}, {"q": ["x", "m"]}, "q", "RR", unjudged="skip")
    assert [(line.rank, line.document) for line in found.own.lines] == [(None, "x"), (1, "m")]
    assert "rank - was taken out" in str(found)


def test_missed_documents_are_named_best_first() -> None:
    found = explain({"q": {"m": 1, "n": 0, "o": 1, "p": 3}}, {"q": ["m"]}, "q", "R")
    assert found.own.missed == (("p", 3.0), ("o", 1.0))
    assert "Not in the ranking: p (grade 3), o (grade 1)." in str(found)


def test_a_query_without_documents_counts_nothing_and_says_so() -> None:
    text = str(explain({"q": {"m": 1}, "r": {"m": 1}}, {"r": ["m"]}, "q", "RR"))
    assert "The ranking has no documents for this query." in text
    assert "RR = 0.0000" in text


def test_a_query_that_is_left_out_of_the_mean_says_so() -> None:
    assert "left out of the mean" in str(
        explain({"q": {"m": 0}, "r": {"m": 1}}, {"q": ["m"]}, "q", "RR", no_relevant="skip")
    )


def test_another_order_of_equal_scores_is_pointed_out() -> None:
    found = explain({"q": {"m": 1}}, {"q": {"m": 1.0, "z": 1.0}}, "q", "RR", versus="ranx")
    assert "tie order: rank 1 is z (not judged) here, m (grade 1) in ranx." in found.differences
    assert "rank of the first that is relevant (grade >= 1): 2 here; 1 in ranx." in found.differences
    assert found.differences[-1] == "So RR is 0.5000 here, RR 1 in ranx."


def test_rounding_is_a_step_of_its_own() -> None:
    found = explain({"q": {"m": 1}}, {"q": ["x", "y", "m"]}, "q", "RR", profile="opensearch")
    assert found.value == 0.33
    assert (found.own.steps[-1].says, found.own.steps[-1].value) == ("rounded to 2 decimals", 0.33)


def test_the_mean_over_orders_is_a_step_of_its_own() -> None:
    found = explain({"q": {"m": 1}}, {"q": {"m": 1.0, "z": 1.0}}, "q", "RR", ties="expected")
    assert found.value == 0.75
    assert "the mean over every order of equal scores" in found.own.steps[-1].says


def test_equal_profiles_have_nothing_to_tell() -> None:
    found = explain({"q": {"m": 1}}, {"q": ["m"]}, "q", "RR", versus="trec_eval-10")
    assert found.differences == ["Nothing differs on this query."]


def test_scores_that_differ_look_different_and_equal_ones_are_marked() -> None:
    text = str(explain({"q": {"m": 1}}, {"q": {"m": 1.000001, "x": 1.0, "y": 0.5, "z": 0.5}}, "q", "RR"))
    assert "1.000001  " in text
    assert "1.000000  " in text
    assert text.count("0.500000 =") == 2


def test_long_rankings_are_cut_to_what_counts() -> None:
    ranking = [f"d{i}" for i in range(1000)]
    text = str(explain({"q": {"d0": 1, "d500": 2, "d900": 0}}, {"q": ranking}, "q", "AP"))
    assert "d500" in text
    assert "d900" not in text
    assert len(text.splitlines()) < 60
    told = str(explain({"q": {"d0": 1, "d500": 2, "d900": 0}}, {"q": ranking}, "q", "Judged"))
    assert re.search(r"^ *901  d900", told, re.MULTILINE)


def test_a_query_that_does_not_exist_is_met_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"query 'refund2' is not judged in judgments\. Did you mean 'refunds'\?"):
        explain({"refunds": {"m": 1}}, {"refunds": ["m"]}, "refund2", "RR")


def test_an_explanation_is_short_in_a_shell() -> None:
    found = explain({"q": {"m": 1}}, {"q": ["x", "m"]}, "q", "RR")
    assert repr(found) == "<Explanation of RR = 0.5000 for query 'q'>"


def test_integer_ids_are_named_in_decimal() -> None:
    found = explain({7: {1: 1}}, {7: [2, 1]}, "7", "RR")
    assert [line.document for line in found.own.lines] == ["2", "1"]
    assert found.value == 0.5


def test_the_ideal_follows_the_gains_of_a_mapping_not_the_grades() -> None:
    found = explain({"q": {"a": 1, "b": 2, "c": 0, "d": 0}}, {"q": ["b", "a"]}, "q", "nDCG(gain={1: 3, 2: 0.5})")
    assert [line.document for line in found.own.ideal] == ["a", "b"]
    found = explain({"q": {"a": 1, "b": 2, "c": 0}}, {"q": ["b", "a"]}, "q", "nDCG(gain={0: 4})")
    assert [line.document for line in found.own.ideal] == ["c", "b", "a"]


def test_the_explanation_as_data_names_documents() -> None:
    found = explain({"q": {"m": 2}}, {"q": ["x", "m"]}, "q", "nDCG@5", versus="quepid").to_dict()
    assert [term["doc"] for step in found["steps"] for term in step["terms"] if term["rank"]] == ["m", "m"]
    assert found["versus"]["measure"] == "nDCG(gain='exp', ideal='uncut')@5"
    assert found["lines"][1]["grade"] == 2.0


def test_a_large_run_is_read_around_the_query_only(tmp_path: Path) -> None:
    path = tmp_path / "large.run"
    lines = [f"q{q} Q0 document-{q}-{d} {d + 1} {1000 - d} large" for q in range(300) for d in range(200)]
    path.write_text("\n".join(lines))
    found = explain({"q7": {"document-7-3": 1}, "q299": {"x": 1}}, path, "q7", "RR")
    assert [line.document for line in found.own.lines] == [f"document-7-{d}" for d in range(200)]
    assert found.value == 0.25
    assert len(TrecRankings(path).table_near("q7")) == 200
