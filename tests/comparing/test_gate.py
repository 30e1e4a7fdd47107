"""The gate: what passes, what fails, what cannot be told; its error rates; its faces."""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from rankproof import gate, sample
from rankproof.cli.changes import gate_change as command
from rankproof.comparing.gate_decision import GateRow, decide, overall
from rankproof.errors import UsageError
from rankproof.stats.confidence import smallest_margin
from rankproof.stats.detectable_difference import POWER
from rankproof.stats.significance import smallest_detectable

JUDGED = {f"q{i}": {"a": 1} for i in range(60)}
FILES = sample.folder()


def hits(count: int) -> dict[str, list[str]]:
    """A ranking that has the relevant document first for `count` of the queries, else not at all."""
    return {q: ["a"] if i < count else ["x"] for i, q in enumerate(JUDGED)}


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [(40, 40, "pass"), (40, 55, "pass"), (55, 20, "fail"), (40, 38, "inconclusive"), (20, 60, "pass")],
)
def test_outcomes(before: int, after: int, outcome: str) -> None:
    assert gate(JUDGED, hits(before), hits(after), "Success@5", margin=0.05).outcome == outcome


def test_that_nothing_was_seen_to_be_lost_passes_a_margin_only_where_enough_was_asked() -> None:
    """No loss among n queries leaves one of up to 1 - .05^(1/n) possible: the bound of Clopper and Pearson."""
    for n in (20, 50, 60, 300):
        judged = {f"q{i}": {"a": 1} for i in range(n)}
        runs = {q: ["a"] for q in judged}
        least = smallest_margin(n)
        assert least == pytest.approx(1 - 0.05 ** (1 / n))
        assert gate(judged, runs, runs, "RR", margin=least * 0.999).outcome == "inconclusive"
        assert gate(judged, runs, runs, "RR", margin=least * 1.001).outcome == "pass"


def test_a_wide_margin_lets_a_small_loss_pass() -> None:
    narrow, wide = (gate(JUDGED, hits(40), hits(38), "Success@5", margin=each).rows[0] for each in (0.01, 0.2))
    assert (narrow.outcome, narrow.lost) == ("inconclusive", {"q38": -1.0, "q39": -1.0})
    assert (wide.outcome, wide.lost) == ("pass", {})
    assert None not in (wide.low, wide.high)
    assert wide.low < wide.difference < wide.high  # type: ignore[operator]


def test_strict_turns_inconclusive_into_fail_and_nothing_else() -> None:
    found = gate(JUDGED, hits(40), hits(38), "Success@5", strict=True)
    assert (found.outcome, found.exit_code) == ("fail", 1)
    assert gate(JUDGED, hits(40), hits(40), "Success@5", margin=0.05, strict=True).outcome == "pass"
    assert "the gate is strict" in str(found)
    below = gate(JUDGED, hits(40), hits(38), "Success@5", strict=True, floors={"Success@5": 0.99})
    assert [each.outcome for each in below.rows] == ["inconclusive", "fail"]
    assert str(below).startswith("FAIL: a floor is not reached.")


def test_what_is_inconclusive_says_how_many_more_queries() -> None:
    row = gate(JUDGED, hits(40), hits(37), "Success@5").rows[0]
    assert row.more is not None
    assert row.more > 0
    text = " ".join(str(gate(JUDGED, hits(40), hits(37), "Success@5")).split())
    assert f"If the true change were 0, about {row.n + row.more:,} queries would let it pass at this margin." in text
    assert row.passes_at is not None
    assert f"As these changed, they pass at a margin of {row.passes_at:.4f}." in text
    assert (
        f"With 60 queries, none of which changes, the smallest margin that passes is {row.smallest_margin:.4f}" in text
    )
    assert gate(JUDGED, hits(40), hits(37), "Success@5", margin=row.passes_at + 1e-9).outcome == "pass"
    assert gate(JUDGED, hits(40), hits(37), "Success@5", margin=row.passes_at - 1e-3).outcome != "pass"


@pytest.mark.parametrize(("still", "lost", "wide"), [(0, 0.03, 0.06), (80, 0.02, 0.04)])
def test_the_queries_that_are_missing_follow_from_the_power_of_the_bound(still: int, lost: float, wide: float) -> None:
    """Size by size: Student's reach with what so few need not show, and a spread known from those that moved."""
    row, margin = np.repeat([-0.3, -0.1, 0.1, 0.3, 0.0], [30, 30, 30, 30, still]), 0.01
    n = len(row)
    doubt = 0.5 / 119 + (1 - 120 / n) / (4 * 120)

    size = np.arange(n, 4_000)
    reach, power = stats.t.ppf(0.95, size - 1) * (1 + 2 / size), stats.norm.ppf(POWER)
    passes = row.std() / (size - 1) ** 0.5 * (reach + power * (1 + (reach + power) ** 2 * doubt) ** 0.5) < margin
    fewest = int(size[passes][0])
    (found,) = decide([row], [margin], np.random.default_rng(0), permutations=99)
    assert found.more is not None
    assert fewest <= n + found.more <= fewest * (1 + 1 / 128)
    # No number of queries passes no margin at all, and at a wide one so many would mostly have passed.
    neither = decide([row - lost] * 2, [0.0, wide], np.random.default_rng(0), permutations=99)
    assert [(each.outcome, each.more) for each in neither] == [("inconclusive", None)] * 2


def test_few_queries_decide_nothing_in_either_direction() -> None:
    few = {q: JUDGED[q] for q in list(JUDGED)[:9]}
    for other in (hits(1), hits(60)):
        assert gate(few, hits(60), other, "Success@5").outcome == "inconclusive"
    assert gate(few, hits(60), hits(1), "Success@5").rows[0].more == 1
    assert gate(few, hits(60), hits(1), "Success@5", minimum=5).outcome == "fail"


def test_lower_is_better_measures_are_turned() -> None:
    good = {q: ["a", "x", "y"] for q in JUDGED}
    bad = {q: ["x", "a", "y"] for q in JUDGED}
    assert gate(JUDGED, good, bad, "FirstRel").outcome == "fail"
    limited = gate(JUDGED, good, bad, "FirstRel", floors={"FirstRel": 1.25})
    assert "and at most 1.25 is allowed." in str(limited)
    assert "must be reached" not in str(limited)
    row = gate(JUDGED, bad, good, "FirstRel").rows[0]
    assert (row.outcome, row.difference, row.baseline, row.candidate, row.lost) == ("pass", -1.0, 2.0, 1.0, {})
    assert row.low is not None
    assert row.high is not None
    assert row.low == -1.0 < row.high


def test_floors_coverage_and_slices() -> None:
    halves = {"by": lambda q: str(int(q[1:]) % 2), "margin": 0.1}
    found = gate(JUDGED, hits(40), hits(40), "Success@5", floors={"Hit@5": 0.9}, **halves)
    assert [(row.check, row.slice, row.outcome) for row in found] == [
        ("difference", "", "pass"),
        ("difference", "0", "pass"),
        ("difference", "1", "pass"),
        ("floor", "", "fail"),
    ]
    assert gate(JUDGED, hits(40), hits(40), "Success@5", coverage=0.9).outcome == "inconclusive"
    assert gate(JUDGED, hits(60), hits(60), "Success@5", margin=0.05, coverage=0.9).outcome == "pass"


def test_too_little_judged_decides_nothing_whatever_the_numbers_show() -> None:
    worse = {q: ["x", "a", "y"] if i < 40 else ["x", "y", "z"] for i, q in enumerate(JUDGED)}
    asked: dict[str, Any] = {"measures": "Success@1, RR", "floors": {"RR": 0.9}, "by": lambda q: q[-1] == "1"}
    assert gate(JUDGED, hits(60), worse, **asked).outcome == "fail"
    found = gate(JUDGED, hits(60), worse, **asked, coverage=0.8)
    assert (found.outcome, found.exit_code) == ("inconclusive", 4)
    assert {row.outcome for row in found} == {"inconclusive"}
    assert str(found).startswith("INCONCLUSIVE: too little is judged to decide anything.")
    assert 'failures="0"' in found.format("junit")
    strict = gate(JUDGED, hits(60), worse, **asked, coverage=0.8, strict=True)
    assert (strict.outcome, strict.exit_code) == ("fail", 1)
    assert gate(JUDGED, hits(60), worse, **asked, coverage=0.0).outcome == "fail"


def test_without_measures_those_with_a_limit_of_their_own_decide() -> None:
    def measures(**limits: Any) -> list[str]:
        return [row.measure for row in gate(JUDGED, hits(40), hits(40), **limits) if row.check == "difference"]

    assert measures() == ["nDCG@10"]
    assert measures(floors={"R@5": 0.1}) == ["nDCG@10", "R@5"]
    assert measures(margin={"RR": 0.1}) == ["RR"]


@pytest.mark.parametrize("given", ["0.6", "=0.6", "nDCG@10", "nDCG@10=", "nDCG@10=high", "nDCG@10=nan", "RR=.5,AP=.2"])
def test_a_floor_is_a_measure_and_a_value(given: str) -> None:
    words = [str(FILES / f) for f in ("judgments.tsv", "keyword.run", "dense.run")]
    ran = CliRunner().invoke(command, [*words, "--floor", given])
    assert str(ran.exception) == (
        f"--floor: got {given!r}, expected MEASURE=VALUE, like nDCG@10=0.6, and each measure once. "
        "Next: write it so, and give the option again for another measure."
    )


@pytest.mark.parametrize(
    ("given", "decided"),
    [
        ("--margin 0.5", [("nDCG@10", 0.5)]),
        ("--margin nDCG@10=0.05 --margin RR=0.2", [("nDCG@10", 0.05), ("RR", 0.2)]),
        ("--margin RR=0.2 -m RR", [("RR", 0.2)]),
    ],
)
def test_the_shell_takes_a_margin_for_all_measures_or_for_each(given: str, decided: list[tuple[str, float]]) -> None:
    words = [str(FILES / f) for f in ("judgments.tsv", "keyword.run", "dense.run")]
    ran = CliRunner().invoke(command, [*words, *given.split(), "-f", "json"])
    assert [(row["measure"], row["limit"]) for row in json.loads(ran.stdout)["rows"]] == decided


@pytest.mark.parametrize("given", [["high"], ["RR=0.1", "RR=0.2"], ["0.01", "RR=0.2"]])
@pytest.mark.parametrize("option", ["--margin", "--anchor-margin"])
def test_a_margin_is_a_number_or_one_of_each_measure(option: str, given: list[str]) -> None:
    words = [str(FILES / f) for f in ("judgments.tsv", "keyword.run", "dense.run")]
    ran = CliRunner().invoke(command, [*words, *(word for each in given for word in (option, each))])
    assert "expected NUMBER|MEASURE=NUMBER" in str(ran.exception)


def test_the_smallest_margin_names_its_measures_where_they_differ() -> None:
    def said(measures: str) -> str:
        found = gate(JUDGED, hits(30), hits(30), measures)
        return " ".join(each for each in found.to_dict()["notes"] if "smallest margin" in each)

    assert "the smallest margin that passes" in said("RR,R@5")
    assert "the smallest margin of RR that passes" in said("RR,FP@5")
    assert "the smallest margin of FP@5 that passes" in said("RR,FP@5")


def test_a_floor_under_what_was_not_measured_is_an_error_and_no_failed_gate() -> None:
    with pytest.raises(UsageError, match="floor: got 'AP', expected one of 'RR'"):
        gate(JUDGED, hits(40), hits(40), "RR", floors={"AP": 0.5})


def test_a_slice_that_drops_fails_the_whole() -> None:
    groups = {q: "small" if i < 20 else "large" for i, q in enumerate(JUDGED)}
    before = {q: ["a"] for q in JUDGED}
    after = {q: ["x"] if groups[q] == "small" else ["a"] for q in JUDGED}
    found = gate(JUDGED, before, after, "Success@5", by=groups, margin=0.5)
    assert {row.slice: row.outcome for row in found} == {"": "pass", "large": "pass", "small": "fail"}
    assert found.outcome == "fail"


def test_margins_by_measure() -> None:
    found = gate(JUDGED, hits(40), hits(38), "Success@5, RR", margin={"Hit@5": 0.2, "MRR": 0.01})
    assert [row.limit for row in found] == [0.2, 0.01]
    with pytest.raises(UsageError, match="names no margin for RR"):
        gate(JUDGED, hits(40), hits(38), "Success@5, RR", margin={"Hit@5": 0.2})


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"margin": -0.1}, "margin: got -0.1"),
        ({"alpha": 0.0}, "alpha: got 0.0"),
        ({"alpha": 0.7}, "below 0.5"),
        ({"coverage": 2}, "coverage: got 2"),
        ({"minimum": 1}, "minimum: got 1"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        gate(JUDGED, hits(1), hits(1), "RR", **arguments)


def test_overall_needs_every_row_to_pass() -> None:
    assert overall(["pass", "pass"]) == "pass"
    assert overall(["pass", "inconclusive", "fail"]) == "fail"


# --- error rates ----------------------------------------------------------------------------------


def simulated(seed: int, n: int, drop: float, rows: int) -> list[np.ndarray[Any, Any]]:
    """Differences as they look in practice: many zeros, the rest spread, each row around the same drop."""
    rnd = np.random.default_rng(seed)
    moved = rnd.random((rows, n)) < 0.5
    return list(np.where(moved, rnd.normal(0, 0.3, (rows, n)), 0.0) - drop)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rows"), [(20, 1), (50, 1), (50, 6), (200, 3)])
def test_a_change_that_changes_nothing_fails_no_more_often_than_alpha(n: int, rows: int) -> None:
    rounds = 150
    rng = np.random.default_rng(0)
    alarms = sum(
        overall([d.outcome for d in decide(simulated(seed, n, 0.0, rows), [0.0] * rows, rng, permutations=2_000)])
        == "fail"
        for seed in range(rounds)
    )
    assert alarms / rounds <= 0.05 + 3 * (0.05 * 0.95 / rounds) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 200])
def test_a_drop_of_the_smallest_detectable_size_fails_as_often_as_promised(n: int) -> None:
    spread, rounds = (0.5 * 0.09) ** 0.5, 400
    drop = smallest_detectable(spread, n, 0.05, sides=1)
    assert drop is not None
    rng = np.random.default_rng(1)
    found = sum(
        decide(simulated(seed, n, drop, 1), [0.01], rng, permutations=2_000)[0].outcome == "fail"
        for seed in range(rounds)
    )
    assert found / rounds == pytest.approx(0.8, abs=0.06)


def lost_hits(rng: np.random.Generator, n: int, drop: float) -> np.ndarray[Any, Any]:
    """Differences of hits and misses: 5 % of the queries gained, 5 % and the drop lost."""
    drawn = rng.random(n)
    return np.where(drawn < 0.05, 1.0, 0.0) - np.where(drawn > 0.95 - drop, 1.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "named"), [(50, 0.3), (200, 0.99)])
def test_a_loss_of_hits_of_the_size_that_a_gate_calls_detectable_fails_in_four_of_five(n: int, named: float) -> None:
    """Each sample names its own size, or none where too few of its queries changed; new queries lose that much."""
    rng, rounds = np.random.default_rng(3), 300

    def decided(drop: float) -> GateRow:
        return decide([lost_hits(rng, n, drop)], [0.01], rng, permutations=1_000)[0]

    sizes = [decided(0.0).detectable for _ in range(rounds)]
    told = [size for size in sizes if size is not None]
    assert len(told) >= named * rounds
    found = sum(decided(size).outcome == "fail" for size in told) / len(told)
    slack = 3 * (0.8 * 0.2 / len(told)) ** 0.5
    assert 0.75 - slack <= found <= 0.9 + slack


@pytest.mark.slow
def test_among_many_rows_the_drop_that_one_calls_detectable_fails_as_often_as_promised() -> None:
    rng, rounds, fails = np.random.default_rng(4), 200, 0
    drop = smallest_detectable((0.5 * 0.09) ** 0.5, 60, 0.05 / 6, sides=1)
    assert drop is not None
    for seed in range(rounds):
        rows = simulated(seed, 60, 0.0, 6)
        found = decide([rows[0] - drop, *rows[1:]], [0.01] * 6, rng, permutations=2_000)
        fails += found[0].outcome == "fail"
    assert fails / rounds == pytest.approx(0.82, abs=0.08)


@pytest.mark.slow
def test_a_true_loss_at_the_margin_passes_no_more_often_than_alpha() -> None:
    rng, rounds = np.random.default_rng(2), 600
    passes = sum(
        decide(simulated(seed, 100, 0.02, 1), [0.02], rng, permutations=500)[0].outcome == "pass"
        for seed in range(rounds)
    )
    assert passes / rounds <= 0.05 + 3 * (0.05 * 0.95 / rounds) ** 0.5


def test_decisions_are_the_same_each_time() -> None:
    rnd = random.Random(1)
    before = {q: ["a"] if rnd.random() < 0.6 else ["x", "a"] for q in JUDGED}
    after = {q: ["a"] if rnd.random() < 0.5 else ["x", "a"] for q in JUDGED}
    assert gate(JUDGED, before, after, "RR").to_dict() == gate(JUDGED, before, after, "RR").to_dict()


# --- faces ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("baseline", "candidate", "code"),
    [("keyword", "dense", 0), ("dense", "keyword", 1), ("dense", "fused", 4)],
)
def test_the_exit_code_is_the_answer(baseline: str, candidate: str, code: int) -> None:
    words = [str(FILES / f) for f in ("judgments.tsv", f"{baseline}.run", f"{candidate}.run")]
    ran = CliRunner().invoke(command, [*words, "-m", "nDCG@10"])
    assert ran.exit_code == code, ran.output
    assert max(map(len, ran.output.splitlines())) <= 80


def test_formats_for_ci(tmp_path: Path) -> None:
    found = gate(JUDGED, hits(55), hits(20), "Success@5", floors={"Success@5": 0.1})
    assert json.loads(found.format("json"))["outcome"] == "fail"
    suite = ElementTree.fromstring(found.format("junit"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0")
    assert found.markdown().startswith("### ❌ FAIL: The change makes it worse.")


def test_the_queries_that_made_it_are_named_in_every_face() -> None:
    judged = {f"q{i:02}": {"d": 1} for i in range(40)}
    first, third = {"d": 2.0, "x": 1.0, "y": 0.5}, {"d": 0.5, "x": 2.0, "y": 1.0}
    lost = {f"q{i:02}" for i in range(25)}
    before = dict.fromkeys(judged, first)
    found = gate(judged, before, {each: third if each in lost else first for each in judged}, "RR@10")
    assert (found.outcome, set(found.rows[0].lost)) == ("fail", lost)
    for name in ("table", "full", "markdown", "html"):
        told = " ".join(found.format(name).split())
        assert "RR@10 lost most on q00 (-0.6667), q01 (-0.6667)" in told, name
        assert "20 more (JSON names all)." in told, name
    assert set(json.loads(found.format("json"))["rows"][0]["lost"]) == lost
    passed = gate(judged, before, before, "RR@10", margin=0.2)
    assert (passed.outcome, passed.rows[0].lost) == ("pass", {})
    assert "lost most" not in passed.format("full")


def test_the_step_summary_of_a_workflow_gets_the_markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    words = [str(FILES / f) for f in ("judgments.tsv", "keyword.run", "dense.run")]
    CliRunner().invoke(command, [*words, "-m", "nDCG@10"])
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").startswith("### ✅ PASS")


@pytest.mark.slow
@pytest.mark.parametrize(("shell", "shown"), [("{} >&-", ""), ("{} > /dev/full", "not shown"), ("{}", "no summary")])
def test_a_decision_stands_whoever_gets_to_read_it(shell: str, shown: str) -> None:
    files = [str(FILES / f) for f in ("judgments.tsv", "keyword.run", "dense.run")]
    words = shlex.join([sys.executable, "-m", "rankproof", "gate", *files, "-m", "nDCG@10"])
    nowhere = {**os.environ, "GITHUB_STEP_SUMMARY": "" if shell != "{}" else "/no/such/folder/summary.md"}
    done = subprocess.run(shell.format(words), shell=True, env=nowhere, capture_output=True, text=True)
    assert done.returncode == 0
    assert shown in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_pytest_plugin_fails_skips_and_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        judged = {f"q{i}": {"a": 1} for i in range(60)}
        def hits(count):
            return {q: ["a"] if i < count else ["x"] for i, q in enumerate(judged)}
        def test_same(rankproof_gate):
            assert rankproof_gate(judged, hits(40), hits(40), "RR", margin=0.05).outcome == "pass"
        def test_worse(rankproof_gate):
            rankproof_gate(judged, hits(55), hits(20), "RR")
        def test_unclear(rankproof_gate):
            rankproof_gate(judged, hits(40), hits(38), "RR")
        def test_nowhere(rankproof_gate):
            rankproof_gate("nowhere.tsv", hits(40), hits(38), "RR")
        """
    )
    ran = pytester.runpytest_subprocess("-p", "rankproof.pytest_plugin", "-p", "no:cacheprovider")
    ran.assert_outcomes(passed=1, failed=2, skipped=1)
    ran.stdout.fnmatch_lines(["*FAIL: The change makes it worse.*", "*nowhere.tsv*Next:*"])
    ran.stdout.no_fnmatch_line("*load.py*")  # the message alone, not the way to it
    ran.stdout.no_fnmatch_line("*During handling*")
    assert pytester.runpytest_subprocess("-p", "no:cacheprovider").parseoutcomes() == {"errors": 4}


def test_groups_that_did_not_pass_come_before_those_that_did() -> None:
    sizes = {"1 whole": 25, "2 few": 5, "3 open": 10, "4 broken": 20}
    by = dict(zip(JUDGED, [name for name, n in sizes.items() for _ in range(n)], strict=True))
    after = {q: ["x"] if by[q] == "4 broken" else ["a"] for q in JUDGED}
    found = gate(JUDGED, hits(60), after, "Success@5", margin=0.15, by=by)
    assert [row.slice for row in found] == ["", *sizes]  # data keep the order they had
    for form in ("full", "markdown", "html", "latex"):
        places = [found.format(form).index(mark) for mark in ("4 broken", "3 open", "1 whole")]
        assert places == sorted(places), form
    two = {q: "1 whole" if i < 48 else "2 open" for i, q in enumerate(JUDGED)}
    shown = str(gate(JUDGED, hits(60), hits(60), "Success@5", margin=0.15, by=two))
    assert "\n2 open:\n" in shown  # of the two there is room for one


def test_a_small_group_is_shown_and_decides_nothing() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(40)}
    ranked = {query: ["a"] for query in judged}
    by = {query: "rare" if i < 3 else "usual" for i, query in enumerate(judged)}
    found = gate(judged, ranked, ranked, "RR", by=by, margin=0.08, strict=True)
    assert [(row.slice, row.outcome) for row in found] == [
        ("", "pass"),
        ("rare", "inconclusive"),
        ("usual", "pass"),
    ]
    assert (found.outcome, found.exit_code) == ("pass", 0)
    assert 'failures="0" skipped="1"' in found.format("junit")
    assert "fewer than 10 queries decide nothing" in " ".join(str(found).split())


def test_a_gate_of_too_few_queries_stays_open() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(9)}
    ranked = {query: ["a"] for query in judged}
    assert gate(judged, ranked, ranked, "RR").outcome == "inconclusive"
    assert gate(judged, ranked, ranked, "RR", strict=True).exit_code == 1


def test_a_ranking_of_other_queries_is_said() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(12)}
    ranked = {query: ["a"] for query in judged}
    found = gate(judged, ranked, {"other": ["a"]}, "RR")
    assert (found.outcome, found.exit_code) == ("invalid", 3)
    assert "candidate: None of the 12 judged queries is in the ranking" in " ".join(str(found).split())


def test_a_limit_that_is_met_is_met_whatever_rounding_makes_of_a_mean() -> None:
    judged = {f"q{i}": {f"d{n}": 1 for n in range(10)} for i in range(10)}

    def ranked(*hits: int) -> dict[str, list[str]]:
        found = [[f"{'d' if n < hit else 'x'}{n}" for n in range(10)] for hit in hits]
        return dict(zip(judged, found, strict=True))

    some = ranked(2, 0, 2, 7, 8, 10, 6, 8, 3, 10)  # .56 as people count, one bit less as numbers are added
    assert gate(judged, some, some, "P@10", about="these", floors={"P@10": 0.56}).outcome == "pass"
    lost = gate(judged, some, some, "FP@10", about="these", floors={"FP@10": 4.4})
    assert [row.outcome for row in lost] == ["pass", "pass"]
    few = {query: {"d0": 1, "d1": 1} for query in judged}
    shown = ranked(*[2] * 10)
    assert gate(few, shown, shown, "P@10", about="these", coverage=0.2).outcome == "pass"
    before, after = (ranked(*[hits] * 10) for hits in (7, 6))
    assert gate(judged, before, after, "P@10", margin=0.1).outcome == "fail"


def test_a_floor_alone_is_not_called_a_loss() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(12)}
    ranked = {query: ["x", "a"] for query in judged}
    assert str(gate(judged, ranked, ranked, "RR", floors={"RR": 0.9})).startswith("FAIL: a floor is not reached.")
    with pytest.raises(UsageError, match="floor: got nan"):
        gate(judged, ranked, ranked, "RR", floors={"RR": float("nan")})


def test_a_gate_never_passes_on_measures_it_cannot_test() -> None:
    with pytest.raises(UsageError, match="GMAP: averaged by the geometric mean"):
        gate(sample.judgments(), sample.rankings()["dense"], {}, "GMAP")


@pytest.mark.parametrize("measure", ["RR", "nDCG@10", "P@5"])
def test_a_floor_that_no_ranking_reaches_is_refused(measure: str) -> None:
    judged = {f"q{n}": {"a": 1} for n in range(12)}
    for floor in (2, 1.0001):
        with pytest.raises(
            UsageError, match=f"floor: got {floor}, expected a number up to 1.*lowest mean of {measure}"
        ):
            gate(judged, judged, judged, measure, floors={measure: floor})
    for floor in (1, 0):
        gate(judged, judged, judged, measure, floors={measure: floor})
    gate(judged, judged, judged, "DCG", floors={"DCG": 2})
