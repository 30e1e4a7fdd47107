"""What sentences say of rows never contradicts the rows, whatever these are."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rankproof import Benchmark, compare, report
from rankproof.comparing.comparison import ComparisonRow
from rankproof.comparing.conclusions import conclusions
from rankproof.comparing.words import sentences

VERDICTS = ("better", "worse", "unclear", "equivalent")
ASKS = re.compile(r"about [\d,]+ quer(y|ies) would show")
NOTHING = re.compile(r"cannot tell|nothing to tell apart|No winner: nothing")


def row(rng: np.random.Generator, system: str, measure: str, group: str) -> ComparisonRow:
    """A row as a comparison could have it."""
    verdict = str(rng.choice(VERDICTS, p=[0.2, 0.2, 0.5, 0.1]))
    small = verdict == "unclear" and rng.random() < 0.2
    by = float(rng.choice([0.0004, 0.004, 0.03, 0.2])) * (-1 if verdict == "worse" else 1)
    same = verdict == "unclear" and rng.random() < 0.2
    return ComparisonRow(
        system=system,
        baseline="base",
        measure=measure,
        slice=group,
        n=8 if small else 60,
        mean=0.5,
        difference=0.0 if same else by,
        low=by - 0.01,
        high=by + 0.01,
        p=0.01,
        p_corrected=0.01 if verdict in ("better", "worse") else 0.4,
        effect=0.2,
        detectable=0.1,
        queries_needed=int(rng.integers(20, 4000)) if rng.random() < 0.8 else None,
        wins=0 if same else 8,
        ties=60,
        losses=0 if same else 5,
        verdict=verdict,
        note="fewer than 10 queries decide nothing" if small else "",
    )


def comparison(seed: int) -> Any:
    """What sentences look at of a comparison."""
    rng = np.random.default_rng(seed)
    systems = [f"s{i}" for i in range(rng.integers(1, 4))]
    measures = ["nDCG@10", "R@100"][: rng.integers(1, 3)]
    groups = ["", "tail", "head"][: rng.integers(1, 4)]
    rows = [row(rng, s, m, g) for s in systems for m in measures for g in groups]
    better = [r for r in rows if r.verdict == "better" and r.measure == measures[0] and not r.slice]
    data = {
        name: {
            "queries": 60,
            "unanswered": int(rng.choice([0, 0, 0, 2, 25])),
            "skipped": False,
            "depth": 10,
            "unjudged": float(rng.choice([0.0, 0.02, 0.47])),
            "ends": {m: [0.45, float(rng.choice([0.55, 0.9]))] for m in measures},
            "errors": [],
        }
        for name in ("base", *systems)
    }
    return SimpleNamespace(
        rows=rows,
        baseline="base",
        winner=better[0].system if better else None,
        alpha=0.05,
        margin=0.02 if any(r.verdict == "equivalent" for r in rows) else None,
        correction="holm",
        data=data,
        headline="",
        doubts={},
        notes=[],
        queries=60,
    )


@pytest.mark.slow
def test_no_sentence_contradicts_a_row() -> None:
    for seed in range(1500):
        given = comparison(seed)
        told = conclusions(given)
        for system in dict.fromkeys(each.system for each in given.rows):
            rows = [each for each in given.rows if each.system == system]
            said = [each for each in told if re.search(rf"\b{system}\b", each)]
            wins, losses = ([r for r in rows if r.verdict == word] for word in ("better", "worse"))
            text = " ".join(said)
            claims = [each for each in said if each.startswith((f"{system} ", "Mixed", "All others", "No winner"))]
            assert not (losses and any("better than" in each for each in claims)), (seed, told)
            assert not (wins and any(f"{system} is worse" in each for each in claims)), (seed, told)
            if wins or losses:
                assert not any(NOTHING.search(each) for each in said), (seed, told)
                assert not ASKS.search(text), (seed, told)
            for lost in losses[:3]:
                named = any(lost.measure in each and (not lost.slice or lost.slice in each) for each in told)
                assert named or "All others are worse" in told[0] or rows[0].verdict == "worse", (
                    seed,
                    told,
                )
            if given.data[system]["unanswered"]:
                assert not ASKS.search(text), (seed, told)
                assert f"{system} {given.data[system]['unanswered']} of 60 queries" in text, (seed, told)
            if any("is better than" in each and each.startswith(system) for each in said):
                assert any(r.verdict == "better" and not r.slice for r in rows)
        assert "beyond chance" not in " ".join(told)
        assert not any(each.startswith("No winner") for each in told) or given.winner is None


JUDGED = {f"q{i}": {"a": 1} for i in range(120)}
FIRST = {q: ["a", "x", "y"] for q in JUDGED}
SAME = "other s30 and s30 have the same value on every query: there is nothing to tell apart."


def found(judged: Any, old: Any, new: Any, measures: str = "RR", **settings: Any) -> str:
    return " ".join(str(compare(judged, {"old": old, "new": new}, measures, **settings)).split())


def test_a_gain_beside_a_proven_loss_is_mixed_everywhere() -> None:
    old = {q: ["x", "a", "y", "b"] for q in JUDGED}
    new = {q: ["a", "x", "y", "z"] for q in JUDGED}
    judged = {q: {"a": 1, "b": 1} for q in JUDGED}
    said = "Mixed: new gains on RR +0.5000 (p <.001), but loses on R@4 -0.5000 (p <.001), against old."
    assert said in found(judged, old, new, "RR, R@4")
    page = report(judged, {"old": old, "new": new}, "RR, R@4")
    for text in (page.html(), page.markdown().replace("\\", ""), page.format("full")):
        assert "Mixed: new gains" in " ".join(text.split())
        assert "new is better than old" not in " ".join(text.split())


def test_a_broken_group_is_said_where_the_whole_cannot_tell() -> None:
    groups = {q: "tail" if i < 12 else "head" for i, q in enumerate(JUDGED)}
    rng = np.random.default_rng(0)
    lists = [["a"], ["x", "a"]]
    old = {q: lists[int(rng.random() < 0.5)] if groups[q] == "head" else ["a"] for q in JUDGED}
    new = {q: lists[int(rng.random() < 0.4)] if groups[q] == "head" else ["x"] for q in JUDGED}
    said = found(JUDGED, old, new, by=groups)
    assert "new loses on RR in tail -1.0000 (p <.001)" in said
    assert "cannot tell yet." not in said.partition("new loses")[2].replace("cannot tell yet head", "")


def test_unanswered_queries_come_before_more_queries() -> None:
    rng = np.random.default_rng(1)
    old = {q: ["a"] if rng.random() < 0.7 else ["x"] for q in JUDGED}
    new = {q: ["a"] if rng.random() < 0.7 else ["x"] for i, q in enumerate(JUDGED) if i >= 5}
    said = found(JUDGED, old, new)
    assert "Unanswered (each counts as nothing found): new 5 of 120 queries." in said
    assert "answer the queries that were left out first" in said
    assert not ASKS.search(said)


@pytest.mark.parametrize("n", [5, 9])
def test_few_queries_are_no_matter_of_chance(n: int) -> None:
    few = {q: JUDGED[q] for q in list(JUDGED)[:n]}
    said = found(few, {q: ["x", "a"] for q in few}, {q: ["a"] for q in few})
    assert "No winner on RR: fewer than 10 queries decide nothing." in said
    assert "beyond chance" not in said
    bench = Benchmark(queries={q: q for q in few}, judgments=few)
    bench.run("old", lambda text: ["x", "a"])
    bench.run("new", lambda text: ["a"])
    assert "No winner: new leads on RR, but fewer than 10 queries decide nothing." in " ".join(
        str(bench.compare("RR")).split()
    )


@pytest.mark.parametrize(
    ("firsts", "n", "margin", "told"),
    [
        (
            [30, 0, 5],
            60,
            None,
            ["All others are worse than s30 on RR.", "s0 is worse than s30", "s5 is worse than s30"],
        ),
        ([30, 0], 60, None, ["s0 is worse than s30 on RR, by -0.2500."]),
        ([30, 0, 30], 60, None, ["No winner: no system is shown to beat s30 on RR.", "s0 is worse", SAME]),
        ([30, 30], 60, None, ["No winner: no system is shown to beat s30 on RR.", SAME]),
        ([30, 30], 60, 0.1, ["other s30 and s30 are equivalent on RR within 0.1."]),
        (
            [30, 60, 31],
            60,
            None,
            ["s60 is better than s30 on RR, by +0.2500.", "s31 against s30: cannot tell yet. Over 60"],
        ),
        ([3, 5, 3], 9, None, ["No winner on RR: fewer than 10 queries decide nothing."]),
    ],
)
def test_the_headline_comes_first_and_nothing_is_said_twice(
    firsts: list[int], n: int, margin: float | None, told: list[str]
) -> None:
    judged = {f"q{i}": {"a": 1, "x": 0} for i in range(n)}
    runs = {}
    for first in firsts:  # the relevant document comes first for so many queries, else second
        name = f"other s{first}" if f"s{first}" in runs else f"s{first}"
        runs[name] = {q: ["a", "x"] if i < first else ["x", "a"] for i, q in enumerate(judged)}
    sentences = conclusions(compare(judged, runs, "RR", margin=margin))
    assert len(sentences) == len(told)
    assert all(map(str.startswith, sentences, told)), sentences


def test_what_so_many_queries_show_is_told_beside_what_they_do_not() -> None:
    judged = {f"q{i}": {"a": 1, "x": 0} for i in range(60)}
    runs = {
        name: {q: ["a", "x"] if (i < 30) == low else ["x", "a"] for i, q in enumerate(judged)}
        for name, low in (("old", True), ("new", False))
    }
    compared = compare(judged, runs, "RR, P@1")
    (row, _), told = compared.rows, conclusions(compared)
    assert row.detectable is not None
    assert told[1].startswith(
        f"new against old: cannot tell yet. 60 queries show differences of {row.detectable:.4f} and more; this"
    )
    assert len(told) == 2


def test_a_tiny_difference_is_called_tiny() -> None:
    judged = {f"q{i}": {"a": 1, **{f"b{j}": 1 for j in range(200)}} for i in range(60)}
    old = {q: [f"b{j}" for j in range(100)] for q in judged}
    new = {q: [*old[q], "a"] for q in judged}
    said = found(judged, old, new, "R@101")
    assert "new is better than old on R@101, by +0.0050. That is tiny, though significant: a margin" in said
    assert "tiny" not in found(judged, old, new, "R@101", margin=0.001)


def test_a_verdict_that_the_unjudged_could_turn_says_so() -> None:
    old = {q: ["a", "b", "x0", "x1"] for q in JUDGED}
    new = {q: ["u", "v", "a", "b"] for q in JUDGED}
    judged = {q: {"a": 1, "b": 1, "x0": 0, "x1": 0} for q in JUDGED}
    for measure in ("P@2", "nDCG@3", "RR@1"):
        said = found(judged, old, new, measure)
        assert "new is worse than old" in said
        assert "Unjudged documents could change this" in said, said
        # What is told is a difference, not a value of the measure.
        assert f"the difference of new on {measure} would be " in said
        assert "Nobody judged, of the first" in said
    complete = {q: {"a": 1, "b": 1, "x0": 0, "x1": 0, "u": 0, "v": 0} for q in JUDGED}
    assert "obody judged" not in found(complete, old, new, "P@2")


def test_a_leader_that_loses_elsewhere_is_no_plain_winner() -> None:
    judged = {q: {"a": 1, "b": 1} for q in JUDGED}
    bench = Benchmark(queries={q: q for q in judged}, judgments=judged)
    bench.run("wide", lambda text: ["x", "a", "y", "b"])
    bench.run("sharp", lambda text: ["a", "x", "y", "z"])
    said = " ".join(str(bench.compare("RR, R@4")).split())
    assert "Mixed: sharp is ahead of every other on RR, but sharp loses on R@4 -0.5000" in said
    assert "is the winner" not in said


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    ("n", "measures", "said"),
    [
        (40, "R@100", "rare changes that these queries need not show are not ruled out"),
        (300, "R@100", ""),
        (300, "R@100, R@60", "corrected over all comparisons it is not"),
    ],
)
def test_an_interval_within_the_margin_that_is_not_called_equivalent_says_why(n: int, measures: str, said: str) -> None:
    judged = {f"q{i}": {f"d{j}": 1 for j in range(50)} for i in range(n)}
    old = {q: [f"d{j}" for j in range(25)] for q in judged}
    new = {q: [f"d{j}" for j in range(23 + i % 5)] for i, q in enumerate(judged)}
    free = compare(judged, {"old": old, "new": new}, measures).rows[0]
    margin = 1.01 * max(-(free.low or 0), free.high or 0)
    compared = compare(judged, {"old": old, "new": new}, measures, margin=margin)
    row = compared.rows[0]
    assert row.margin_note == said
    assert (row.verdict == "equivalent") == (not said)
    page = report(judged, {"old": old, "new": new}, measures, margin=margin)
    for text in (str(compared), compared.format("markdown"), page.format("full"), page.html()):
        told = " ".join(text.replace("\\", "").split())
        assert (f"takes more than an interval: {said}." in told) == bool(said)


def test_the_last_sentence_is_how_p_was_made() -> None:
    found = comparison(0)
    assert sentences(found)[-1].startswith("p by random sign flips")
    found.notes = ["A note."]
    assert sentences(found)[0] == "A note."


def test_what_is_said_of_intervals_is_true_of_one_row_and_of_many() -> None:
    """An interval reaches to 0 beside more rows, so it is not called one that was not corrected."""
    judged = {f"q{i}": {"a": 1} for i in range(12)}
    old = {q: ["x", "a"] for q in judged}
    new = {q: ["a", "x"] if i < 6 else ["x", "a"] for i, q in enumerate(judged)}
    alone = compare(judged, {"old": old, "new": new}, "RR")
    beside = compare(judged, {"old": old, "new": new, "third": old}, "RR, P@1")
    assert (alone.rows[0].low or 0) > 0 == beside.row("new", "RR").low
    for found in (alone, beside):
        assert sentences(found)[-1].endswith("intervals at 95 %, which contain 0 exactly if p finds nothing.")
        assert all((row.p_corrected > found.alpha) == ((row.low or 0) <= 0 <= (row.high or 0)) for row in found)
