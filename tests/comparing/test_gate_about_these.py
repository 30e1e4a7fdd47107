"""The gate about exactly these queries: counted, not inferred; and what so few queries can pass, said beforehand."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from rankproof import History, evaluate, gate, gate_scores, questions_needed
from rankproof.errors import UsageError
from rankproof.stats.confidence import queries_for_margin, smallest_margin
from tests.shell import rankproof

Ranking = dict[str, list[str]]


def world(seed: int, n: int) -> tuple[dict[str, dict[str, int]], Ranking, Ranking]:
    """Judgments and two rankings, of which some queries gained and some lost."""
    rng = np.random.default_rng(seed)
    judged = {f"q{i}": {"a": 2, "b": 1} for i in range(n)}
    before, after = (
        {q: ["a", "b", "x"] if rng.random() < 0.7 else list(rng.permutation(["x", "a", "b", "y"])) for q in judged}
        for _ in range(2)
    )
    return judged, before, after


@pytest.mark.first_is_quick
@pytest.mark.parametrize("n", [1, 2, 9, 40])
@pytest.mark.parametrize("measure", ["nDCG@10", "RR", "Success@1", "FirstRel"])
def test_losses_are_counted_and_every_number_of_queries_decides(n: int, measure: str) -> None:
    """The rule written out by hand: what was lost, over all queries, against the margin."""
    for seed in range(4):
        judged, before, after = world(seed, n)
        old, new = (evaluate(judged, each, measure).values(measure) for each in (before, after))
        sign = -1 if measure == "FirstRel" else 1
        lost = {q: new[q] - old[q] for q in judged if sign * (new[q] - old[q]) < -1e-12}
        loss = sum(map(abs, lost.values())) / n
        for margin in (0.0, 0.05, loss):
            found = gate(judged, before, after, measure, margin=margin, about="these")
            (row,) = found.rows
            assert found.outcome == ("pass" if loss <= margin + 1e-12 else "fail")
            assert (row.loss, row.lost) == (pytest.approx(loss), pytest.approx(lost))
            assert list(row.lost.values()) == sorted(row.lost.values(), reverse=sign < 0)
            assert (row.low, row.high, row.p, row.detectable, row.more) == (None,) * 5


def test_no_gain_makes_up_for_a_loss_and_a_group_of_few_decides() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(12)}
    before = {q: ["a"] if q != "q0" else ["x"] for q in judged}
    after = {q: ["a"] if q != "q1" else ["x"] for q in judged}
    groups = {q: "few" if q in ("q1", "q2") else "many" for q in judged}
    found = gate(judged, before, after, "RR", margin=0.1, about="these", by=groups)
    assert {row.slice: (row.outcome, row.difference) for row in found} == {
        "": ("pass", 0.0),
        "few": ("fail", -0.5),
        "many": ("pass", pytest.approx(0.1)),
    }
    assert found.outcome == "fail"


def test_no_face_speaks_of_chance_and_all_name_what_was_lost() -> None:
    judged, before, _ = world(0, 12)
    after = {**before, "q3": ["x"], "q\x1b<7>": ["x"]}
    for each in (judged, before):
        each["q\x1b<7>"] = dict.fromkeys(["a"], 1) if each is judged else ["a"]  # type: ignore[assignment]
    found = gate(judged, before, after, "RR", about="these")
    assert found.outcome == "fail"
    for form in ("table", "markdown", "junit", "json"):
        text = " ".join(found.format(form).split())
        assert "q3" in text
        assert not re.search(r"[Bb]ound|chance|Holm|p drop|interval|cannot tell|\x1b", text), (form, text)
    data = json.loads(found.format("json"))
    assert (data["about"], data["alpha"], set(data["rows"][0]["lost"])) == ("these", None, {"q3", "q\x1b<7>"})
    assert ElementTree.fromstring(found.format("junit")).get("failures") == "1"
    assert max(map(len, str(found).splitlines())) <= 80


def test_bad_data_is_as_bad_as_ever() -> None:
    judged, before, _ = world(1, 40)
    part = dict(list(before.items())[:20])
    asked: dict[str, Any] = {"measures": "RR@3", "about": "these"}
    assert gate(judged, part, before, **asked).outcome == "invalid"
    assert gate(judged, before, part, **asked).outcome == "fail"
    assert gate({q: {"a": 0} for q in judged}, before, before, **asked).outcome == "invalid"
    assert gate(judged, before, before, **asked, coverage=0.99).outcome == "inconclusive"
    assert gate(judged, before, before, **asked, floors={"RR@3": 1.0}).outcome == "fail"
    with pytest.raises(UsageError, match="about: got 'those'"):
        gate(judged, before, before, "RR", about="those")


def test_saved_scores_anchors_and_the_shell(tmp_path: Path) -> None:
    judged, before, _ = world(2, 8)
    after = {**before, "q1": ["x"]}
    history = History(tmp_path / "h.db")
    for name, each in (("old", before), ("new", after)):
        history.save(evaluate(judged, each, "RR"), name)
    assert history.gate("old", "new", about="these").outcome == "fail"
    anchored = gate_scores(*[history.scores("new")] * 2, anchors={"old": history.scores("old")}, about="these")
    assert [(row.against, row.outcome) for row in anchored] == [("", "pass"), ("old", "fail")]
    words = ("gate", "old", "new", "--history", "h.db", "--about", "these")
    shown = rankproof(tmp_path, *words)
    assert (shown.returncode, "q1" in shown.stdout) == (1, True)
    assert rankproof(tmp_path, "gate", "old", "old", *words[3:]).returncode == 0
    assert rankproof(tmp_path, "gate", "old", "old", *words[3:5]).returncode == 4
    for option in ("--alpha", "--minimum"):
        refused = rankproof(tmp_path, *words, option, "0.1" if option == "--alpha" else "5")
        assert (refused.returncode, "does not apply to" in refused.stderr) == (2, True)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_the_smallest_margin_and_the_queries_needed_are_those_of_the_gate(alpha: float) -> None:
    for n in (10, 33, 100):
        judged = {f"q{i}": {"a": 1} for i in range(n)}
        runs = {q: ["a"] for q in judged}
        row = gate(judged, runs, runs, "RR", alpha=alpha).rows[0]
        assert row.smallest_margin == pytest.approx(smallest_margin(n, alpha)) == row.passes_at
        assert row.smallest_margin is not None
        assert queries_for_margin(row.smallest_margin * 1.0001, alpha) == n
        for size, outcome in (
            (row.smallest_margin * 1.001, "pass"),
            (row.smallest_margin * 0.999, "inconclusive"),
        ):
            found = gate(judged, runs, runs, "RR", alpha=alpha, margin=size)
            assert found.outcome == outcome
            for form in ("table", "markdown", "junit"):
                text = " ".join(found.format(form).split())
                assert text.count("smallest margin that passes") == (outcome != "pass")
        plan = questions_needed(judged, runs, runs, "RR", 0.01, alpha=alpha)
        assert (plan.smallest_margin, plan.queries_for_margin) == (
            row.smallest_margin,
            row.queries_for_margin,
        )


NAMED = re.compile(r"about ([\d,]+) queries would let it pass|([\d,]+) are needed for")


@pytest.mark.slow
def test_no_margin_has_two_numbers_of_queries() -> None:
    """What was seen says how many queries the margin takes, or else queries without a loss do; never both."""
    rng, seen = np.random.default_rng(0), Counter[int]()
    for i in range(60):
        n, margin = int(rng.choice([12, 30, 60, 90, 150])), float(rng.choice([0.01, 0.03]))
        judged = {f"q{j}": {f"d{k}": 1 for k in range(20)} for j in range(n)}
        moved = rng.random(n) < (0.03, 0.1, 1.0)[i % 3]
        by = np.where(moved, rng.integers(-3, 3, n), 0)
        old = {q: [f"d{k}" for k in range(10)] for q in judged}
        new = {q: [f"d{k}" for k in range(10 + by[j])] for j, q in enumerate(judged)}
        found = gate(judged, old, new, "R@50", margin=margin)
        for form in ("table", "markdown", "junit"):
            told = " ".join(found.format(form).split())
            named = {a or b for a, b in NAMED.findall(told)}
            assert len(named) <= 1, told
            assert not (named and "is not known" in told), told
        if found.outcome == "inconclusive":
            row = found.rows[0]
            seen[row.more is not None] += 1
            assert not row.more or named == {f"{n + row.more:,}"}, told
    assert min(seen[True], seen[False]) > 3, seen


def test_it_is_said_before_anything_is_run(tmp_path: Path) -> None:
    shown = rankproof(tmp_path, "questions", "needed", "-n", "50", "--difference", "0.01")
    assert shown.returncode == 0
    assert "With 50 queries, none of which changes, the smallest margin that passes is 0.0582; 299 are needed" in (
        " ".join(shown.stdout.split())
    )
    for words in (("-n", "0"), ("j.tsv", "-n", "5"), ("j.tsv",), ()):
        assert rankproof(tmp_path, "questions", "needed", *words, "--difference", "0.01").returncode == 2
