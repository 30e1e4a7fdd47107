"""The gate never passes what the data cannot carry, and every face says over how many queries it decided."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from rankproof import compare, evaluate, gate, leaderboard, rank_correlation, report
from rankproof.comparing.conclusions import too_many_missing
from rankproof.comparing.gate_words import sentence_of
from rankproof.errors import DataError, UsageError
from tests.shell import rankproof

N = 120
JUDGED = {f"q{i}": {"a": 1, "b": 0} for i in range(N)}
RNG = np.random.default_rng(0)
GOOD = {q: ["a", "b"] if RNG.random() < 0.8 else ["b", "a"] for q in JUDGED}


def part(share: float, first: int = 0) -> dict[str, list[str]]:
    """The good ranking with so many of the queries answered, from a place on."""
    kept = list(JUDGED)[first : first + round(share * N)]
    return {q: GOOD[q] for q in kept}


def empty(share: float) -> dict[str, list[str]]:
    """The same, but the other queries are answered with nothing."""
    return {q: GOOD[q] if q in part(share) else [] for q in JUDGED}


NOTHING_RELEVANT = {q: {"a": 0, "b": 0} for q in JUDGED}
UNJUDGED = {q: ["x", "y"] for q in JUDGED}
BROKEN: dict[str, tuple[Any, Any, Any]] = {
    "a baseline of one query": (JUDGED, part(1 / N), GOOD),
    "a candidate of one query": (JUDGED, GOOD, part(1 / N)),
    "both of one query": (JUDGED, part(1 / N), part(1 / N)),
    "a quarter of the baseline": (JUDGED, part(0.75), GOOD),
    "a quarter of both": (JUDGED, part(0.75), part(0.75)),
    "other quarters": (JUDGED, part(0.75), part(0.75, 30)),
    "halves that do not meet": (JUDGED, part(0.5), part(0.5, 60)),
    "a tenth of both, empty": (JUDGED, empty(0.9), empty(0.9)),
    "no relevant document": (NOTHING_RELEVANT, GOOD, GOOD),
    "all unjudged": (JUDGED, UNJUDGED, UNJUDGED),
    "an unjudged candidate": (JUDGED, GOOD, UNJUDGED),
    "queries of another set": (JUDGED, GOOD, {f"p{q}": docs for q, docs in GOOD.items()}),
}

NONE_LEFT = ("queries of another set", "halves that do not meet")
"""Where unanswered queries are left out, these leave none that both answer."""


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("case", BROKEN)
def test_what_is_broken_never_passes_and_is_told_everywhere(case: str, missing: str) -> None:
    judged, old, new = BROKEN[case]
    if missing == "skip" and case in NONE_LEFT:
        with pytest.raises(DataError):
            gate(judged, old, new, "nDCG@10, RR", missing=missing)
        return
    found = gate(judged, old, new, "nDCG@10, RR", missing=missing)
    assert found.outcome in ("invalid", "fail")
    assert found.exit_code == {"invalid": 3, "fail": 1}[found.outcome]
    for form in ("table", "markdown", "junit"):
        text = " ".join(found.format(form).split())
        assert re.search(r"answered|the audit finds|Before you trust", text), (form, text)
    suite = ElementTree.fromstring(found.format("junit").encode())
    assert int(suite.get("failures", 0)) + int(suite.get("errors", 0)) > 0
    assert json.loads(found.format("json"))["outcome"] == found.outcome
    systems = {"old": old, "new": new}
    compared = compare(judged, systems, "RR", missing=missing, margin=0.1, all_pairs=True)
    assert compared.winner is None
    # What one side alone shows of unjudged documents is a loss, if they count as not relevant.
    verdict = "worse" if case == "an unjudged candidate" else "unclear"
    for row in (*compared.rows, *compared.pairs):
        assert row.verdict == verdict
        assert verdict == "worse" or re.search("(old|new) answered|errors in the data of old and of new", row.note)
    if missing == "skip" and "one query" in case:
        with pytest.raises(DataError, match="expected 2 or more"):
            leaderboard(judged, systems, "RR", missing=missing)
        return
    board = leaderboard(judged, systems, "RR", missing=missing)
    assert board.told_apart == (verdict == "worse")
    page = report(judged, systems, "RR", missing=missing)
    for text in (str(compared), compared.format("markdown"), str(board), page.format("full"), page.html()):
        told = " ".join(text.split())
        assert re.search("answered [0-9]+ of [0-9]+ quer|None of the|No query has|no document at all", told), told
    for text in (str(compared), str(board)):
        assert text.startswith("Do not trust these numbers:"), text


@pytest.mark.parametrize("old", [part(0.95), part(0.95, 6), GOOD])
@pytest.mark.parametrize("measure", ["RR", "FirstRel"])
def test_the_means_of_a_row_are_over_its_queries(old: dict[str, list[str]], measure: str) -> None:
    """Each side left queries out that the other answered, by which the two means differ from those of `evaluate`."""
    new = part(0.96, 2)
    values = [evaluate(JUDGED, each, measure, missing="skip").values(measure) for each in (old, new)]
    shared = [query for query in values[0] if query in values[1]]
    before, after = (np.mean([each[query] for query in shared]) for each in values)
    row = gate(JUDGED, old, new, measure, missing="skip").rows[0]
    assert row.n == len(shared) < N
    assert (row.baseline, row.candidate) == (pytest.approx(before), pytest.approx(after))
    assert row.difference == pytest.approx(after - before)


@pytest.mark.parametrize(("left", "of", "allowed"), [(29, 100, 0.29), (7, 50, 0.14), (57, 100, 0.57), (7, 100, 0.07)])
def test_a_share_left_unanswered_that_is_just_allowed_is_allowed(left: int, of: int, allowed: float) -> None:
    assert too_many_missing({"new": (left, of)}, allowed) == {}
    assert too_many_missing({"new": (left + 1, of)}, allowed).keys() == {"new"}


@pytest.mark.slow
def test_what_is_allowed_is_compared() -> None:
    quarter, systems = part(0.75), {"old": part(0.75), "new": GOOD}
    for allowed, verdict in ((0.25, "better"), (0.24, "unclear")):
        found = compare(JUDGED, systems, "RR", allow_missing=allowed)
        assert (found.rows[0].verdict, bool(found.doubts)) == (verdict, verdict == "unclear")
        assert ("Do not trust these numbers" in str(found)) == (verdict == "unclear")
        board = leaderboard(JUDGED, systems, "RR", allow_missing=allowed)
        assert (board.told_apart, bool(board.missing)) == (int(verdict == "better"), verdict == "unclear")
        page = report(JUDGED, systems, "RR", allow_missing=allowed)
        assert ("(76 %) must be" in " ".join(page.format("full").split())) == (verdict == "unclear")
    alone = report(JUDGED, {"old": quarter}, "RR")
    assert "old answered 90 of 120 queries, and 112 (93 %) must be." in " ".join(alone.format("full").split())
    scores = {name: evaluate(JUDGED, each, "RR, AP") for name, each in systems.items()}
    assert rank_correlation(scores, None, "RR", "AP").missing == leaderboard(scores).missing
    assert not rank_correlation(scores, None, "RR", "AP", allow_missing=0.25).wrong
    nothing = {"old": GOOD, "new": GOOD}
    equal = compare(NOTHING_RELEVANT, nothing, "RR", margin=0.1, allow_errors=True)
    assert equal.rows[0].verdict == "equivalent"
    assert "Do not trust these numbers" in str(equal)
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="allow_missing: got"):
            rank_correlation(scores, None, "RR", "AP", allow_missing=share)
        for verb in (compare, leaderboard, report):
            with pytest.raises(UsageError, match="allow_missing: got"):
                verb(JUDGED, systems, "RR", allow_missing=share)


def test_a_few_unanswered_queries_leave_the_verdict() -> None:
    found = compare(JUDGED, {"old": GOOD, "new": part(1 - 8 / N)}, "RR")
    assert not found.doubts
    assert found.rows[0].verdict == "worse"
    assert not found.rows[0].note


def test_what_holds_of_one_system_does_not_undo_the_others() -> None:
    better = {q: ["a", "b"] for q in JUDGED}
    systems = {"old": GOOD, "few": part(0.5), "new": better}
    found = compare(JUDGED, systems, "RR", all_pairs=True)
    assert found.winner == "new"
    assert [row.verdict for row in found.rows] == ["unclear", "better"]
    assert {(r.baseline, r.system): r.verdict for r in found.pairs} == {
        ("old", "few"): "unclear",
        ("old", "new"): "better",
        ("few", "new"): "unclear",
    }
    told = " ".join(found.format("full").split())
    assert "new is better than old on RR" in told
    assert "Nothing is decided about few: few answered 60 of 120 queries, and 112 (93 %) must be." in told
    board = leaderboard(JUDGED, systems, "RR")
    assert {(x.better, x.worse) for x in board.versus if x.told_apart} == {("new", "old")}


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("compare", ("table", "markdown", "html", "json", "csv", "jsonl", "latex")),
        ("leaderboard", ("table", "markdown", "html", "json", "csv", "latex")),
        ("report", ("table", "html", "json")),
    ],
)
def test_the_shell_ends_in_3_where_the_data_cannot_say(verb: str, forms: tuple[str, ...], tmp_path: Path) -> None:
    words = [verb, "j.qrels", "old.run", "new.run", "-m", "RR"]
    files(tmp_path, part(0.75))
    for form in forms:
        ran = rankproof(tmp_path, *words, "-f", form)
        told = " ".join((ran.stdout + ran.stderr).split()).replace("\\", "")
        assert (ran.returncode, "new.run answered 90 of 120 queries, and 112" in told) == (3, True), (
            form,
            told,
        )
    allowed = rankproof(tmp_path, *words, "--allow-missing", "0.25")
    assert (allowed.returncode, "must be" in allowed.stdout + allowed.stderr) == (0, False)
    for new in (GOOD, part(1 - 8 / N)):
        files(tmp_path, new)
        ran = rankproof(tmp_path, *words)
        assert (ran.returncode, "must be" in ran.stdout + ran.stderr) == (0, False)
    (tmp_path / "j.qrels").write_text("".join(f"{q} 0 a 0\n" for q in JUDGED))
    (tmp_path / "new.run").write_text((tmp_path / "old.run").read_text())
    assert rankproof(tmp_path, *words, "--allow-missing", "1").returncode == 3
    assert rankproof(tmp_path, *words, "--allow-errors").returncode == 0


@pytest.mark.first_is_quick
@pytest.mark.parametrize(("left_out", "code"), [(6, 0), (40, 3)])
def test_what_went_unanswered_is_seen_below_a_table_longer_than_the_screen(
    left_out: int, code: int, tmp_path: Path
) -> None:
    files(tmp_path, GOOD)
    lines = (tmp_path / "old.run").read_text().splitlines()
    for i in range(20):
        gone = {f"q{j}" for j in range({7: left_out, 12: 3}.get(i, 0))}
        kept = [line for line in lines if line.split()[0] not in gone]
        (tmp_path / f"s{i:02}.run").write_text("\n".join(kept) + "\n")
    runs = [f"s{i:02}.run" for i in range(20)]
    for more in ((), ("-m", "RR")):
        ran = rankproof(tmp_path, "compare", "j.qrels", *runs, *more)
        seen = " ".join(" ".join(ran.stdout.splitlines()[-20:]).split())
        assert ran.returncode == code
        assert f"s07.run {left_out} of 120 queries, s12.run 3 of 120 queries" in seen
        assert ("Nothing is decided about s07.run: s07.run answered 80 of 120" in seen) == (code == 3)
        assert len(max(ran.stdout.splitlines(), key=len)) <= 80


def test_queries_that_the_candidate_alone_lost_are_a_loss() -> None:
    found = gate(JUDGED, GOOD, part(0.5), "nDCG@10")
    assert (found.outcome, found.exit_code) == ("fail", 1)
    assert "candidate 60 of 120 queries" in " ".join(str(found).split())


def test_how_many_the_candidate_answered_is_said_where_its_loss_decides() -> None:
    found = gate(JUDGED, GOOD, part(0.5), "nDCG@10")
    assert found.outcome == "fail"
    for form in ("table", "full", "markdown", "html", "latex", "junit"):
        assert "the candidate answered 60 of 120 queries, and 112 (93" in " ".join(found.format(form).split()), form


def test_where_nothing_changed_the_queries_are_too_few_and_not_too_badly_answered() -> None:
    few = part(1 - 4 / N)
    for margin, outcome in ((0.001, "inconclusive"), (0.2, "pass")):
        found = gate(JUDGED, few, few, "nDCG@10", margin=margin)
        assert found.outcome == outcome
        for form in ("full", "markdown", "junit"):
            told = " ".join(found.format(form).split())
            assert "nDCG@10: the same value on each of 120 queries" in told
            assert "left out first" not in told
    assert "left out first" in " ".join(str(gate(JUDGED, few, part(1 - 5 / N), "nDCG@10", margin=0.001)).split())


def test_a_few_unanswered_queries_are_told_and_decide_nothing() -> None:
    few = part(1 - 4 / N)
    found = gate(JUDGED, few, few, "nDCG@10", margin=0.03)
    assert found.outcome == "pass"
    assert "Unanswered (each counts as nothing found): baseline 4 of 120 queries, candidate 4 of 120" in " ".join(
        str(found).split()
    )


def test_what_is_allowed_is_decided() -> None:
    quarter = part(0.75)
    assert gate(JUDGED, quarter, quarter, "RR", margin=0.03, allow_missing=0.25).outcome == "pass"
    assert gate(JUDGED, quarter, quarter, "RR", allow_missing=0.24).outcome == "invalid"
    assert gate(NOTHING_RELEVANT, GOOD, GOOD, "RR", margin=0.03, allow_errors=True).outcome == "pass"
    assert gate(JUDGED, quarter, quarter, "RR", strict=True).exit_code == 3


def test_every_face_says_over_how_many_queries() -> None:
    for found in (gate(JUDGED, GOOD, GOOD, "RR"), gate(JUDGED, GOOD, part(0.95, 6), "RR", margin=0.001)):
        for form in ("table", "markdown"):
            text = found.format(form)
            assert "120 queries." in text.splitlines()[0]
            assert re.search(r"\b120\b", "\n".join(text.splitlines()[1:]))
        assert json.loads(found.format("json"))["n"] == 120
        for case in ElementTree.fromstring(found.format("junit").encode()).iter("testcase"):
            assert "120 queries" in (case.findtext("system-out") or "")


def test_an_unjudged_share_of_one_side_is_told_with_what_it_could_turn() -> None:
    old = {q: ["a", "b"] for q in JUDGED}
    new = {q: ["u", "a"] if i % 2 else ["a", "u"] for i, q in enumerate(JUDGED)}
    found = " ".join(str(gate(JUDGED, old, new, "P@1, nDCG@10")).split())
    assert found.startswith("FAIL")
    assert "Nobody judged, of the first document: baseline 0 %, candidate 50 %." in found.replace(
        "1 document", "document"
    )
    assert "Unjudged documents could change this fail" in found
    both = " ".join(str(gate(JUDGED, old, old, "P@1")).split())
    assert "obody judged" not in both


def test_a_sure_loss_inside_the_margin_is_told() -> None:
    judged = {f"q{i}": {"a": 1, **{f"b{j}": 1 for j in range(200)}} for i in range(60)}
    new = {q: [f"b{j}" for j in range(100)] for q in judged}
    old = {q: [*docs, "a"] for q, docs in new.items()}
    found = " ".join(str(gate(judged, old, new, "R@101", margin=0.06)).split())
    assert found.startswith("PASS")
    assert "R@101: -0.0050 is a sure loss" in found


def files(folder: Path, new: dict[str, list[str]]) -> list[str]:
    for name, content in (("old.run", GOOD), ("new.run", new)):
        lines = [f"{q} Q0 {d} {r} {10 - r} t" for q, docs in content.items() for r, d in enumerate(docs, 1)]
        (folder / name).write_text("\n".join(lines) + "\n")
    rows = [f"{q} 0 {d} {g}" for q, docs in JUDGED.items() for d, g in docs.items()]
    (folder / "j.qrels").write_text("\n".join(rows) + "\n")
    return ["gate", "j.qrels", "old.run", "new.run", "-m", "nDCG@10"]


OPEN = {q: GOOD[q][::-1] if i in (3, 50) else GOOD[q] for i, q in enumerate(JUDGED)}
"""Two queries of 120 turned: neither a loss nor none."""


def test_the_exit_codes_of_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    words = [*files(tmp_path, OPEN), "--margin", "0.001"]
    assert rankproof(tmp_path, *words).returncode == 4
    assert rankproof(tmp_path, *words, "--strict").returncode == 1
    allowed = rankproof(tmp_path, *words, "--allow-inconclusive")
    assert allowed.returncode == 0
    assert "inconclusive, and let through" in allowed.stderr
    both = rankproof(tmp_path, *words, "--strict", "--allow-inconclusive")
    assert both.returncode == 2
    quarter = files(tmp_path, part(0.25))
    assert rankproof(tmp_path, *quarter, "--allow-inconclusive").returncode == 1
    halved = rankproof(tmp_path, "gate", "j.qrels", "new.run", "new.run", "--allow-inconclusive")
    assert halved.returncode == 3
    assert halved.stdout.startswith("INVALID: the baseline answered 30 of 120 queries")
    assert (
        rankproof(
            tmp_path, "gate", "j.qrels", "new.run", "new.run", "--allow-missing", "0.75", "--margin", "0.03"
        ).returncode
        == 0
    )


@pytest.mark.parametrize("form", ["table", "markdown", "json", "junit"])
def test_inside_actions_what_is_let_through_is_annotated(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", os.fspath(summary))
    words = [*files(tmp_path, OPEN), "--margin", "0.001", "--allow-inconclusive", "-f", form]
    ran = rankproof(tmp_path, *words)
    assert ran.returncode == 0
    (line,) = [each for each in ran.stderr.splitlines() if each.startswith("::warning")]
    assert "120 queries" in line
    assert "%25" in line or "%" not in line
    assert "INCONCLUSIVE" in summary.read_text(encoding="utf-8")
    if form == "json":
        assert json.loads(ran.stdout)["outcome"] == "inconclusive"


@pytest.mark.parametrize("n", [6, 30])
def test_a_group_without_a_relevant_document_says_so_and_decides_nothing(n: int) -> None:
    barren = [f"n{i}" for i in range(n)]
    judged = {**JUDGED, **{q: {"a": 0} for q in barren}}
    run = {**GOOD, **{q: ["a"] for q in barren}}
    by = {q: "barren" if q in barren else "rich" for q in judged}
    found = gate(judged, run, run, "RR", margin=0.05, by=by)
    row = next(each for each in found.rows if each.slice == "barren")
    assert (found.outcome, row.decides, row.note) == ("pass", False, "no query has a relevant document")
    assert "RR (barren): the same value on each of" in found.format("full")
    assert "smallest margin that passes" not in found.format("full")
    compared = compare(judged, {"a": run, "b": run}, "RR", by=by)
    assert compared.row("b", "RR", "barren").note == "no query has a relevant document"
    assert "nothing relevant" in compared.format("full")


def test_a_group_that_is_answered_is_not_told_to_be_answered_first() -> None:
    other = dict(zip(JUDGED, [*GOOD.values()][::-1], strict=True))
    by = {q: "whole" if i < 60 else "holey" for i, q in enumerate(JUDGED)}
    some = {q: docs for q, docs in other.items() if q not in ("q100", "q101")}
    rows = {
        each.slice: said
        for found in [gate(JUDGED, GOOD, some, "RR", margin=0.01, by=by)]
        for each in found.rows
        for said in [sentence_of(each, found)]
        if each.outcome == "inconclusive"
    }
    answer = "Answer the queries that were left out first"
    assert {group: answer in said for group, said in rows.items()} == {"": True, "whole": False, "holey": True}


def test_json_has_the_notes_that_texts_have() -> None:
    some = {q: docs for q, docs in GOOD.items() if q != "q3"}
    found = gate(JUDGED, GOOD, some, "RR", margin=0.0001)
    told = json.loads(found.format("json"))["notes"]
    assert "Unanswered (each counts as nothing found): candidate 1 of 120 queries." in told
    assert any("the smallest margin that passes is" in each for each in told)
    assert all(each in " ".join(found.format("full").split()) for each in told)


@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_rows_of_a_comparison_say_what_the_baseline_lacks(form: str) -> None:
    some = {q: docs for q, docs in GOOD.items() if q != "q3"}
    text = compare(JUDGED, {"a": some, "b": GOOD}, "RR").format(form)
    if form == "csv":
        row = dict(zip(*csv.reader(text.splitlines()), strict=True))
    else:
        row = json.loads(text)[0] if form == "json" else json.loads(text)
    assert (int(row["missing"]), int(row["baseline_missing"])) == (0, 1)
    assert "1 of 120 judged queries without a ranking" in row["baseline_warnings"]
    assert {"unjudged", "baseline_unjudged"} <= set(row)


def test_a_gate_that_passes_says_its_margins() -> None:
    head = gate(JUDGED, GOOD, GOOD, "RR", margin=0.06).format("table").partition("\n")[0]
    assert head == "PASS: No loss beyond the margin of 0.06. 120 queries."
    head = gate(JUDGED, GOOD, GOOD, "RR,P@1", margin={"RR": 0.06, "P@1": 0.07}).format("table").partition("\n")[0]
    assert head == "PASS: No loss beyond the margins (RR 0.06, P@1 0.07). 120 queries."
