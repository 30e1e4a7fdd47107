"""Each finding of the audit: data that has it, data that does not, and what it says."""

from __future__ import annotations

import ast
import json
import random
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankproof.core.audit
from rankproof import audit, evaluate
from rankproof.core.audit import Audit, Finding, FindingCase
from rankproof.core.audit.full_audit import audit_full
from rankproof.core.audit.hit_checks import audit_hits
from rankproof.core.conventions import Conventions
from rankproof.core.join import Census, join
from rankproof.core.names import parse_all
from rankproof.errors import UsageError
from rankproof.io.load import load_judgments, load_ranking

GOOD = {f"q{i}": {"a": 1, "b": 2, "c": 0} for i in range(4)}
RUN = {f"q{i}": {"b": 3.0, "a": 2.0, "c": 1.0} for i in range(4)}


SWAPPED = "judgments-look-like-a-ranking"


def audited(judged: Any, ranking: Any, measures: str = "", whole: bool = False, **choices: Any) -> Audit:
    """The audit as `evaluate` makes it, or of the whole ranking."""
    judgments, source, conventions, census = (
        load_judgments(judged),
        load_ranking(ranking),
        Conventions(**choices),
        Census(),
    )
    hits = join(judgments, source.blocks(judgments, conventions, census), conventions)
    case = FindingCase(judgments, hits, census, parse_all(measures) if measures else [], conventions)
    return audit_full(case, source.table()) if whole else audit_hits(case)


def only(found: Audit, kind: str) -> Finding:
    """The finding of that kind, which must be there once."""
    (finding,) = [each for each in found if each.kind == kind]
    return finding


def test_good_data_has_no_findings() -> None:
    assert not audited(GOOD, RUN, "nDCG@3, RR, P@2", whole=True)


# --- queries ------------------------------------------------------------------------------------------------


def test_missing_queries() -> None:
    finding = only(audited(GOOD, {"q0": RUN["q0"], "q2": RUN["q2"]}), "missing-queries")
    assert (finding.severity, finding.count, finding.examples) == ("warning", 2, ("'q1'", "'q3'"))
    assert finding.message == "2 of 4 judged queries without a ranking: each counts 0."
    assert "missing='skip'" in finding.advice
    assert audited(GOOD, RUN).of_kind("missing-queries") is None


def test_missing_queries_that_are_skipped_are_said_to_be() -> None:
    finding = only(audited(GOOD, {"q0": RUN["q0"]}, missing="skip"), "missing-queries")
    assert finding.message.endswith("left out of the means.")
    assert "skip" not in finding.advice


def test_no_common_query_is_an_error_with_examples_of_both_sides() -> None:
    finding = only(audited(GOOD, {"Q0": RUN["q0"]}), "no-common-queries")
    assert finding.severity == "error"
    assert finding.examples == ("'q0' is judged", "'q1' is judged", "'Q0' is ranked")


@pytest.mark.parametrize("whole", [False, True])
def test_a_ranking_without_a_query_is_called_empty_and_no_spelling_is_blamed(whole: bool) -> None:
    found = audited(GOOD, {}, whole=whole)
    finding = only(found, "no-common-queries")
    assert (finding.severity, finding.message) == ("error", "The ranking is empty: it has no query.")
    assert (finding.examples, finding.advice) == ((), "check how it was made.")
    assert [each.kind for each in found if each.severity == "error"] == ["no-common-queries"]


def test_a_ranking_that_holds_nothing_of_a_sample_is_not_called_empty() -> None:
    others = {query: RUN["q0"] for query in GOOD if query not in evaluate(GOOD, RUN, "RR", sample=2).per_query["RR"]}
    finding = only(evaluate(GOOD, others, "RR", sample=2).audit, "no-common-queries")
    assert finding.message == "None of the 2 judged queries is in the ranking."


@pytest.mark.parametrize("whole", [False, True])
def test_answers_that_are_all_empty_are_not_called_misspelt(whole: bool) -> None:
    found = audited(GOOD, dict.fromkeys(GOOD, ()), whole=whole)
    assert [each.kind for each in found if each.severity != "note"] == ["empty-rankings"]


def test_extra_queries() -> None:
    finding = only(audited(GOOD, RUN | {"other": RUN["q0"]}), "extra-queries")
    assert (finding.severity, finding.count, finding.examples) == ("note", 1, ("'other'",))
    assert finding.message == "1 ranked query is not judged, and left out."
    assert audited(GOOD, RUN).of_kind("extra-queries") is None


def test_empty_rankings() -> None:
    finding = only(audited(GOOD, RUN | {"q1": {}}), "empty-rankings")
    assert (finding.severity, finding.count, finding.examples) == ("warning", 1, ("'q1'",))
    assert audited(GOOD, RUN).of_kind("empty-rankings") is None


# --- judgments ----------------------------------------------------------------------------------------------


def test_queries_without_a_relevant_document() -> None:
    judged = GOOD | {"q3": {"a": 0}}
    finding = only(audited(judged, RUN), "nothing-relevant")
    assert (finding.severity, finding.count, finding.examples) == ("warning", 1, ("'q3'",))
    assert finding.message == "1 of 4 queries without a document of grade 1 or more: each counts 0."
    assert only(audited(judged, RUN, no_relevant="skip"), "nothing-relevant").severity == "note"
    assert audited(GOOD, RUN).of_kind("nothing-relevant") is None


def test_relevant_is_what_the_strictest_measure_calls_so() -> None:
    assert audited(GOOD, RUN, "P(rel=2)@1, RR").of_kind("nothing-relevant") is None
    finding = only(audited(GOOD, RUN, "P(rel=3)@1, RR"), "nothing-relevant")
    assert finding.severity == "error"
    assert finding.message == "No query has a document of grade 3 or more."
    assert finding.advice.endswith("like P(rel=0.5)@1.")


def test_negative_grades() -> None:
    finding = only(audited(GOOD | {"q3": {"a": 1, "spam": -2}}, RUN), "negative-grades")
    assert (finding.severity, finding.count, finding.examples) == ("note", 1, ("'spam' for 'q3' at -2",))
    assert audited(GOOD, RUN).of_kind("negative-grades") is None


def test_grades_between_0_and_1_warn_where_a_measure_takes_them_as_not_relevant() -> None:
    judged = GOOD | {"q3": {"a": 1, "b": 0.5}}
    finding = only(audited(judged, RUN, "P@2, nDCG"), "fractional-grades")
    assert (finding.severity, finding.count) == ("warning", 1)
    assert finding.message == "1 grade lies between 0 and 1: not relevant in P@2."
    assert finding.advice.endswith("like P(rel=0.5)@2.")
    assert only(audited(judged, RUN, "nDCG, P(rel=0.5)@2"), "fractional-grades").severity == "note"
    assert only(audited(GOOD | {"q3": {"a": 1.5}}, RUN, "P@2"), "fractional-grades").severity == "note"
    assert audited(GOOD, RUN, "P@2").of_kind("fractional-grades") is None


def test_repeated_judgments() -> None:
    rows = [("q0", "a", 1), ("q0", "b", 0), ("q0", "a", 1)]
    finding = only(audited(rows, {"q0": ["a", "b"]}), "repeated-judgments")
    assert (finding.severity, finding.count) == ("note", 1)
    assert audited(rows[:2], {"q0": ["a", "b"]}).of_kind("repeated-judgments") is None


def test_a_run_given_as_judgments() -> None:
    rng = np.random.default_rng(0)
    run = {f"q{i}": {f"d{j}": float(rng.normal(10, 3)) for j in range(30)} for i in range(5)}
    finding = only(audited(run, RUN), "judgments-look-like-a-ranking")
    assert finding.count == 150
    assert "judgments come first" in finding.advice
    assert audited(run, RUN).of_kind("fractional-grades") is None


def test_a_run_with_the_same_scores_in_every_query_given_as_judgments() -> None:
    run = {f"q{i}": {f"d{i}-{j}": 1 / (60 + j) for j in range(50)} for i in range(20)}
    assert audited(run, {f"q{i}": {f"d{i}-1": 1.0} for i in range(20)}).of_kind("judgments-look-like-a-ranking")


@pytest.mark.parametrize("step", [1.0, 0.1])
def test_a_fine_scale_is_no_run(step: float) -> None:
    rng = np.random.default_rng(0)
    judged = {f"q{i}": {f"d{j}": round(step * int(rng.integers(0, 11)), 1) for j in range(30)} for i in range(5)}
    assert audited(judged, RUN).of_kind("judgments-look-like-a-ranking") is None


@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize("short", [0, 12])
def test_lists_of_documents_given_as_judgments_are_an_error(scored: bool, short: int) -> None:
    labels = {f"q{i}": [f"a{i}", f"b{i}"][: 1 + i % 2] for i in range(30)}
    lists = {q: [*found, *(f"other {i}" for i in range(10 - len(found)))] for q, found in labels.items()}
    for query in list(lists)[:short]:  # a keyword search finds fewer for some
        lists[query] = lists[query][:6]
    run = {q: {d: 9.5 - i for i, d in enumerate(found)} for q, found in lists.items()} if scored else lists
    judged = {q: dict.fromkeys(found, 1) for q, found in labels.items()}
    finding = only(audited(run if scored else {q: dict.fromkeys(d, 1) for q, d in run.items()}, labels), SWAPPED)
    assert (finding.severity, finding.count) == ("error", 30)
    assert "judged documents, all relevant, and the ranking has 1.5 a query" in finding.message
    assert audited(judged, lists).of_kind(SWAPPED) is None


def test_many_relevant_documents_are_no_list() -> None:
    """Test sets with many relevant documents, and retrievers that return few, are no mistake."""
    chance = random.Random(5)
    judged = {f"q{i}": {f"d{i}.{j}": 1 for j in range(chance.randint(3, 12))} for i in range(40)}
    assert audited(judged, {q: list(found)[:1] for q, found in judged.items()}).of_kind(SWAPPED) is None
    ten = {f"q{i}": {f"d{i}.{j}": 1 for j in range(10)} for i in range(40)}
    assert audited(ten, {q: list(found)[:5] for q, found in ten.items()}).of_kind(SWAPPED) is None
    assert audited(ten, {q: [f"x{q}", f"y{q}"] for q in ten}).of_kind(SWAPPED) is None


def test_documents_judged_for_their_own_query() -> None:
    finding = only(audited(GOOD | {"q1": {"q1": 1, "a": 1}}, RUN), "judged-themselves")
    assert (finding.severity, finding.count, finding.examples) == ("note", 1, ("'q1'",))
    assert audited(GOOD | {"q1": {"q0": 1, "a": 1}}, RUN).of_kind("judged-themselves") is None


# --- measures -----------------------------------------------------------------------------------------------


def test_ties_that_move_a_number_warn_and_say_how_far() -> None:
    run = RUN | {"q1": {"b": 1.0, "a": 1.0, "x": 1.0}, "q2": {"b": 2.0, "a": 1.0, "c": 1.0}}
    finding = only(audited(GOOD, run, "RR, P@1"), "ties")
    assert finding.severity == "warning"
    assert finding.count == 4
    assert finding.message.startswith("Of the judged documents found, 36 % stand among equal scores: ")
    assert "P@1 anywhere from 0.750 to 1.000" in finding.message
    assert finding.examples == ("'q1'", "'q2'")
    assert "ties='expected'" in finding.advice
    assert audited(GOOD, RUN, "RR, P@1").of_kind("ties") is None


def test_ties_that_move_nothing_or_are_averaged_are_a_note() -> None:
    moved = RUN | {"q1": {"b": 1.0, "a": 1.0, "x": 1.0}}
    still = RUN | {"q1": {"b": 2.0, "a": 1.0, "c": 0.5, "x": 0.5}}
    assert only(audited(GOOD, moved, "P@1", ties="expected"), "ties").severity == "note"
    finding = only(audited(GOOD, still, "P@1, RR"), "ties")
    assert (finding.severity, finding.count) == ("note", 1)
    assert "moves no mean by 0.005 or more" in finding.message


def test_unjudged_documents_at_the_cut_offs() -> None:
    run = {q: {"b": 9.0, "x": 8.0, "a": 7.0, "y": 6.0} for q in GOOD}
    finding = only(audited(GOOD, run, "P@2, P@3, RR"), "unjudged")
    assert (finding.severity, finding.count) == ("warning", 4)
    assert "50 % of the documents in the top 2 were never judged" in finding.message
    assert "33 % in the top 3" in finding.message
    assert only(audited(GOOD, run, "P@3"), "unjudged").severity == "note"
    assert audited(GOOD, run, "P@1, RR").of_kind("unjudged") is None
    assert audited(GOOD, run, "P@2", unjudged="skip").of_kind("unjudged") is None


def test_ceilings_below_1() -> None:
    judged = GOOD | {"q0": {"a": 1}}
    finding = only(audited(judged, RUN, "P@5, R@1, nDCG@5, P@1"), "low-ceilings")
    assert (finding.severity, finding.count) == ("warning", 2)
    assert "only 0.35 in P@5, as 4 queries have fewer than 5 relevant documents" in finding.message
    assert finding.examples == ("R@1 up to 0.62",)
    finding = only(audited(judged, RUN, "R@1"), "low-ceilings")
    assert finding.severity == "note"
    assert "3 queries have more than 1 relevant document." in finding.message
    assert audited(GOOD, RUN, "P@2, R@2, nDCG@5, DCG@5").of_kind("low-ceilings") is None


def test_a_query_without_relevant_documents_lowers_no_ceiling() -> None:
    assert audited(GOOD | {"q0": {"a": 0}}, RUN, "P@2").of_kind("low-ceilings") is None


def test_rankings_too_short_for_a_cut_off() -> None:
    finding = only(audited(GOOD, RUN, "R@100, R@2, nDCG@10"), "short-of-cut-off")
    assert (finding.severity, finding.count) == ("warning", 2)
    assert finding.message == "No ranking holds more than 3 documents, so nDCG@10 and R@100 see no further."
    assert finding.advice == "retrieve 100 documents, or ask for R@3."
    assert only(audited(GOOD, RUN, "nDCG@10"), "short-of-cut-off").severity == "note"
    assert audited(GOOD, RUN, "R@3, RR").of_kind("short-of-cut-off") is None


def test_a_cut_off_that_is_not_what_the_generator_sees() -> None:
    finding = only(audited(GOOD, RUN, "P@2, RR", context_k=3), "other-cut-off")
    assert finding.severity == "warning"
    assert finding.message == "The pipeline passes on 3 documents, not the cut-off of P@2."
    assert "P@3" in finding.advice
    assert only(audited(GOOD, RUN, "P@2, nDCG@3", context_k=3), "other-cut-off").severity == "note"
    assert audited(GOOD, RUN, "P@3, RR", context_k=3).of_kind("other-cut-off") is None
    assert audited(GOOD, RUN, "P@2").of_kind("other-cut-off") is None


# --- rows of the ranking --------------------------------------------------------------------------------------


def test_duplicate_documents_are_named_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q0 Q0 a 1 9 r\nq0 Q0 b 2 8 r\nq0 Q0 a 3 7 r\n")
    finding = only(audited(GOOD, path, whole=True, duplicates="first"), "duplicate-documents")
    assert (finding.severity, finding.count) == ("error", 1)
    assert finding.examples == ("document 'a' of query 'q0' (lines 1 and 3)",)
    dropped = only(audited(GOOD, path, duplicates="first"), "duplicate-documents")
    assert (dropped.severity, dropped.count) == ("warning", 1)
    assert "the first was kept" in dropped.message
    assert audited(GOOD, RUN, whole=True).of_kind("duplicate-documents") is None


@pytest.mark.parametrize("whole", [False, True])
def test_constant_scores(whole: bool) -> None:
    flat = {q: dict.fromkeys(docs, 1.0) for q, docs in RUN.items()}
    finding = only(audited(GOOD, flat, whole=whole), "constant-scores")
    assert (finding.severity, finding.count) == ("error", 4)
    assert "In every ranking all documents have the same score" in finding.message
    finding = only(audited(GOOD, RUN | {"q1": flat["q1"]}, whole=whole), "constant-scores")
    assert (finding.severity, finding.count, finding.examples) == ("warning", 1, ("'q1'",))
    assert "In 1 of 4 rankings of more than one document all documents have" in finding.message
    single = {q: {"a": 1.0} for q in GOOD}
    assert audited(GOOD, single, whole=whole).of_kind("constant-scores") is None
    partly = {q: {"a": 1.0, "b": 1.0, "c": 0.5} for q in GOOD}
    assert audited(GOOD, partly, whole=whole).of_kind("constant-scores") is None


@pytest.mark.parametrize(("whole", "says"), [(False, "In at least 1 of 3 "), (True, "In 2 of 3 ")])
def test_constant_scores_of_rankings_without_a_judged_document_are_counted_where_they_are_seen(
    whole: bool, says: str
) -> None:
    flat = {"q1": dict.fromkeys(RUN["q1"], 1.0), "q2": {"x": 1.0, "y": 1.0}, "q3": {"a": 1.0}}
    assert only(audited(GOOD, RUN | flat, whole=whole), "constant-scores").message.startswith(says)


def test_ranks_that_contradict_scores(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q0 Q0 a 1 0.1 r\nq0 Q0 b 2 0.9 r\nq1 Q0 a 1 0.9 r\nq1 Q0 b 2 0.9 r\nq1 Q0 c 3 0.1 r\n")
    finding = only(audited(GOOD, path, whole=True), "ranks-against-scores")
    assert (finding.severity, finding.count, finding.examples) == ("warning", 1, ("'q0'",))
    assert "1 of 2 rankings" in finding.message
    path.write_text("q0 Q0 a 1 0.9 r\nq0 Q0 b 2 0.1 r\nq1 Q0 a 1 0.9 r\n")
    assert audited(GOOD, path, whole=True).of_kind("ranks-against-scores") is None


def test_judgments_given_as_a_ranking() -> None:
    rng = np.random.default_rng(0)
    judged = {f"q{i}": {f"d{j}": float(rng.integers(0, 4)) for j in range(10)} for i in range(4)}
    finding = only(audited(GOOD, judged, whole=True), "ranking-looks-like-judgments")
    assert "no other scores than 0, 1, 2, 3" in finding.message
    ranked = {q: {d: s + rng.random() for d, s in docs.items()} for q, docs in judged.items()}
    assert audited(GOOD, ranked, whole=True).of_kind("ranking-looks-like-judgments") is None
    lists = {q: list(docs) for q, docs in judged.items()}
    assert audited(GOOD, lists, whole=True).of_kind("ranking-looks-like-judgments") is None


def test_documents_returned_for_their_own_query() -> None:
    finding = only(audited(GOOD, {q: {q: 9.0} | docs for q, docs in RUN.items()}, whole=True), "returned-themselves")
    assert (finding.severity, finding.count) == ("warning", 4)
    assert (
        only(audited(GOOD, RUN | {"q1": {"q1": 9.0, "a": 1.0}}, whole=True), "returned-themselves").severity == "note"
    )
    assert audited(GOOD, RUN, whole=True).of_kind("returned-themselves") is None


# --- ids ------------------------------------------------------------------------------------------------------

NFC, NFD = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(
    ("kind", "judged", "ranked", "severity"),
    [
        ("number-ids", "7", "007", "error"),
        ("number-ids", "7.0", "7", "error"),
        ("case-of-ids", "Doc-a", "doc-A", "error"),
        ("spaces-in-ids", "doc a", "doca", "error"),
        ("unicode-forms", NFC, NFD, "error"),
    ],
)
def test_ids_that_differ_in_spelling_only(kind: str, judged: str, ranked: str, severity: str) -> None:
    finding = only(audited({"q": {judged: 1, "a": 1}}, {"q": {ranked: 2.0, "a": 1.0}}, whole=True), kind)
    assert (finding.severity, finding.count) == (severity, 1)
    assert ("keep ids as text" in finding.advice) == (kind == "number-ids")
    queries = only(audited({judged: {"a": 1}, "q": {"a": 1}}, {ranked: {"a": 1.0}, "q": {"a": 1.0}}, whole=True), kind)
    assert queries.count == 1
    same = audited({"q": {judged: 1, "a": 1}}, {"q": {judged: 2.0, "a": 1.0}}, whole=True)
    assert same.of_kind(kind) is None
    both = audited({"q": {judged: 1, ranked: 1}}, {"q": {judged: 2.0, ranked: 1.0}}, whole=True)
    assert both.of_kind(kind) is None


def test_unicode_twins_are_shown_so_that_they_can_be_told_apart() -> None:
    finding = only(audited({"q": {NFC: 1, "a": 1}}, {"q": {NFD: 2.0, "a": 1.0}}, whole=True), "unicode-forms")
    assert finding.examples == (r"'caf\xe9' and 'cafe\u0301'",)


def test_unicode_twins_that_meet_in_the_ranking_are_told_of() -> None:
    found = audited({"q": {NFC: 1}}, {"q": {NFC: 2.0, NFD: 1.0}}, whole=True)
    assert only(found, "unicode-forms").count == 1


def test_ids_with_a_number_inside_are_not_taken_for_twins() -> None:
    assert not audited({"q": {"d7": 1, "a": 1}}, {"q": {"d007": 2.0, "a": 1.0}}, whole=True).serious


@pytest.mark.parametrize("whole", [False, True])
def test_no_common_document(whole: bool) -> None:
    found = audited({"q": {"a": 1, "b": 0}}, {"q": {"x": 2.0, "y": 1.0}}, whole=whole)
    finding = only(found, "no-common-documents")
    assert finding.severity == "error"
    assert finding.message == "None of the 2 judged documents is in the ranking of its query."
    assert ("'x' is ranked" in finding.examples) == whole
    assert audited(GOOD, RUN, whole=whole).of_kind("no-common-documents") is None


@pytest.mark.parametrize(
    ("judged", "ranked", "said"),
    [
        (
            ["doc_12", "doc_13"],
            ["12", "14"],
            "1 id differs between judgments and ranking only in 'doc_' at their start.",
        ),
        (
            ["12", "13"],
            ["12.pdf", "14.pdf"],
            "1 id differs between judgments and ranking only in '.pdf' at their end.",
        ),
    ],
)
def test_ids_that_one_side_begins_or_ends_otherwise(judged: list[str], ranked: list[str], said: str) -> None:
    found = audited({"q": dict.fromkeys(judged, 1)}, {"q": ranked}, whole=True)
    assert only(found, "affixes-of-ids").message == said
    assert audited({"q": {"x1": 1, "x2": 1}}, {"q": ["y1", "z2"]}, whole=True).of_kind("affixes-of-ids") is None


def test_numbers_that_meet_by_accident_are_no_match() -> None:
    judged = {"q": {f"D{i}": 1 for i in range(100)}}
    found = audited(judged, {"q": [str(i) for i in range(95, 195)]}, whole=True)
    assert found.of_kind("affixes-of-ids") is None
    assert found.of_kind("no-common-documents") is not None


# --- the audit itself ------------------------------------------------------------------------------------------


def test_findings_come_the_most_serious_first_and_can_be_stored() -> None:
    found = audited({"q0": {"a": 1, "s": -1}, "q1": {"a": 0}}, {"q0": {"a": 1.0, "s": 1.0}}, "P@5, R@100", whole=True)
    severities = [each.severity for each in found]
    assert severities == sorted(severities, key=("error", "warning", "note").index)
    assert len(set(severities)) == 3
    assert found.serious == tuple(each for each in found if each.severity != "note")
    assert Audit.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert len({each.kind for each in found}) == len(found)


def test_an_empty_audit_is_false_and_says_so() -> None:
    empty = audited(GOOD, RUN)
    assert not empty
    assert str(empty) == empty.format("full") == "Nothing to report."
    assert Audit.from_dict(empty.to_dict()) == empty


@pytest.mark.parametrize("severity", ["warning", "note"])
def test_an_audit_keeps_to_one_screen_and_says_what_more_there_is(severity: str) -> None:
    error = Finding("error", "first", 1, "This is wrong. " * 9, (), "mend it.")
    many = [Finding(severity, f"kind {i}", i, f"Thing {i} is odd. " * 9, ("'a'",), "look.") for i in range(12)]
    found = Audit.of([*many, error])
    lines, full = str(found).splitlines(), found.format("full")
    assert len(lines) <= 23
    assert max(map(len, [*lines, *full.splitlines()])) <= 80
    assert "mend it." in lines[2] + lines[3] + lines[4]
    shown = sum(f"Thing {i} is odd" in " ".join(str(found).split()) for i in range(12))
    assert 0 < shown < 12
    assert lines[-1] == f'More with .format("full"): {12 - shown} more {severity}s.'
    assert all(f"Thing {i} is odd" in " ".join(full.split()) for i in range(12))
    assert [each["kind"] for each in json.loads(found.format("json"))] == [each.kind for each in found]
    with pytest.raises(UsageError, match="expected one of 'table', 'full'"):
        found.format("xls")


def test_a_finding_reads_as_text() -> None:
    finding = Finding("note", "kind", 2, "Two things.", ("'a'", "'b'"), "look at them.")
    assert str(finding) == "Two things. For example 'a', 'b'. Next: look at them."


def test_examples_are_few_and_short() -> None:
    judged = {f"query number {i} {'x' * 90}": {"a": 1} for i in range(30)} | {"q": {"a": 1}}
    finding = only(audited(judged, {"q": {"a": 1.0}}), "missing-queries")
    assert finding.count == 30
    assert len(finding.examples) == 5
    assert all(len(each) <= 40 for each in finding.examples)


def test_scores_beyond_double_precision_are_said_where_they_are_equal(tmp_path: Path) -> None:
    from rankproof import evaluate

    run = tmp_path / "a.run"
    run.write_text("q Q0 a 1 inf t\nq Q0 b 2 1e400 t\n")
    scores = ((2**53, 2**53 + 1), (2.0**60, 2.0**60 + 1), (float("inf"), float("inf")))
    for ranked in (run, *({"q": {"a": one, "b": other}} for one, other in scores)):
        finding = evaluate({"q": {"a": 1}}, ranked, "RR").audit.of_kind("ties")
        assert finding is not None
        assert "anywhere from 0.500 to 1.000" in finding.message


def _distances(n: int) -> list[tuple[str, str, int, float]]:
    """Rankings whose scores rise down the list, as distances do."""
    return [(f"q{i}", f"d{j}", j + 1, 0.5 + j) for i in range(4) for j in range(n)]


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("n", [8, 4000], ids=["few", "many"])
@pytest.mark.parametrize("form", ["run", "csv", "pandas", "parquet"])
def test_scores_that_rise_with_the_rank_are_said_with_the_numbers(form: str, n: int, tmp_path: Path) -> None:
    import pandas as pd

    from rankproof import evaluate

    frame = pd.DataFrame(_distances(n), columns=["query_id", "doc_id", "rank", "score"])
    path = tmp_path / f"a.{form}"
    if form == "run":
        path.write_text("".join(f"{q} Q0 {d} {r} {s} t\n" for q, d, r, s in _distances(n)))
    elif form == "csv":
        frame.to_csv(path, index=False)
    elif form == "parquet":
        frame.to_parquet(path)
    ranking = frame if form == "pandas" else path
    judged = {f"q{i}": {"d0": 1} for i in range(4)}
    assert "ranks-against-scores" in {each.kind for each in evaluate(judged, ranking, "RR").audit.serious}
    ranked = evaluate(judged, ranking, "RR", ties="rank")
    assert (ranked["RR"], ranked.audit.of_kind("ranks-against-scores")) == (1.0, None)


def test_ranks_of_ties_and_ranks_that_say_nothing_are_no_finding(tmp_path: Path) -> None:
    from rankproof import evaluate

    run = tmp_path / "a.run"
    for ranks in ("1 2 3", "0 0 0", "- - -", "2 1 3"):
        scores = zip(ranks.split(), ("2", "2", "1"), "abc", strict=True)
        run.write_text("".join(f"q Q0 {doc} {rank} {score} t\n" for rank, score, doc in scores))
        assert evaluate({"q": {"a": 1}}, run, "RR").audit.of_kind("ranks-against-scores") is None


def test_the_page_names_every_kind() -> None:
    sources = Path(rankproof.core.audit.__file__).parent.glob("*.py")
    words = {
        str(node.value)
        for source in sources
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
    }
    errors = {"relevant-not-in-corpus", "no-common-questions"}  # of a run of questions, not of an audit
    kinds = {word for word in words if re.fullmatch("[a-z]+(-[a-z]+)+", word)} - errors
    page = (Path(__file__).resolve().parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")
    assert {kind for kind in kinds if f"`{kind}`" not in page} == set()
    assert len(kinds) > 20


@pytest.mark.parametrize("measure", ["AP", "P@5, nDCG@10"])
def test_grades_that_differ_by_the_second_column_are_noted(tmp_path: Path, measure: str) -> None:
    rows = "q1 0 d1 1\nq1 1 d1 0\nq1 1 d2 1\nq2 0 d3 2\n"
    (tmp_path / "j.qrels").write_text(rows)
    nested = {"q1": {"d1": {"0": 1, "1": 0}, "d2": {"1": 1}}, "q2": {"d3": {"0": 2}}}
    for judged in (tmp_path / "j.qrels", nested):
        found = audit(judged, {"q1": ["d1"], "q2": ["d3"]}, measure).of_kind("grades-by-aspect")
        assert found is not None
        assert (found.severity, found.count, found.examples) == ("note", 1, ("'d1' for 'q1' at 1",))
        assert "1 document has different grades, of which the highest counts" in found.message
        assert audit(judged, {"q1": ["d1"]}, [measure, "StRecall@5"]).of_kind("grades-by-aspect") is None
    (tmp_path / "same.qrels").write_text(rows.replace("d1 0", "d1 1"))
    assert audit(tmp_path / "same.qrels", {"q1": ["d1"]}, measure).of_kind("grades-by-aspect") is None
