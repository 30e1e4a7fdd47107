"""Verdict, p and interval of one row never contradict each other: tiny n, ties, one-way losses, mixed denominators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankproof import compare, diagnose, gate, grid, leaderboard, questions_needed
from rankproof.bench.grid.outcome import main_effects
from rankproof.bench.grid.plan import Configuration
from rankproof.diagnosing.fixes import Trial, fixes

Found = list[tuple[int, int]]


def drawn(rng: np.random.Generator, n: int) -> tuple[Found, Found]:
    """Relevant documents found of those there are, for two systems: changes are rare or dense, one-way or both."""
    there = rng.integers(1, rng.choice([2, 4, 8]), n)
    before = rng.binomial(there, rng.choice([0.2, 0.7, 1.0]))
    moved = rng.random(n) < rng.choice([0.0, 0.1, 0.5, 1.0])
    after = np.where(moved, rng.binomial(there, rng.choice([0.0, 0.3, 0.7, 1.0])), before)
    one_way = rng.choice([-1, 0, 1])
    after = np.minimum(after, before) if one_way < 0 else np.maximum(after, before) if one_way else after
    return (
        list(zip(before.tolist(), there.tolist(), strict=True)),
        list(zip(after.tolist(), there.tolist(), strict=True)),
    )


def ranked(found: Found) -> dict[str, list[str]]:
    return {f"q{i}": [f"d{j}" for j in range(hits)] + ["none"] for i, (hits, _) in enumerate(found)}


def test_as_many_queries_as_are_needed_can_decide() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(7)}
    lost = {query: ["b", "a"] for query in judged}
    kept = {query: ["a", "b"] for query in judged}
    row = compare(judged, {"kept": kept, "lost": lost}, "RR").row("lost", "RR")
    plan = questions_needed(judged, kept, lost, "RR", difference=0.5)
    assert (row.verdict, row.queries_needed, plan.needed) == ("unclear", 10, 10)


@pytest.mark.slow
def test_verdict_p_and_interval_never_contradict_each_other() -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(150):
        n, alpha, margin = (
            int(rng.choice([1, 2, 5, 9, 10, 14, 25, 60])),
            float(rng.choice([0.01, 0.05, 0.2])),
            0.1,
        )
        first, second = drawn(rng, n)
        judged = {f"q{i}": {f"d{j}": 1 for j in range(there)} for i, (_, there) in enumerate(first)}
        one, two = ranked(first), ranked(second)
        settings = {"alpha": alpha, "margin": margin, "permutations": 500}
        found = compare(judged, {"one": one, "two": two}, "R@10, Success@1", **settings)
        mirrored = compare(judged, {"two": two, "one": one}, "R@10, Success@1", **settings)
        for row, back in zip(found, mirrored, strict=True):
            told = (first, second, alpha, row)
            low, high = (-1.0, 1.0) if row.low is None or row.high is None else (row.low, row.high)
            assert low <= row.difference <= high, told
            assert 0 < row.p <= row.p_corrected <= 1, told
            assert {row.verdict, back.verdict} in ({"better", "worse"}, {"unclear"}, {"equivalent"}), told
            assert (back.p_corrected, back.low, back.high) == (
                row.p_corrected,
                None if row.high is None else -row.high,
                None if row.low is None else -row.low,
            ), told
            if row.p_corrected > alpha:
                assert low <= 0 <= high, told
                assert row.verdict in ("unclear", "equivalent"), told
            elif n > 1:
                assert low > 0 or high < 0, told
                assert row.verdict != "unclear" or n < 10, told
            if row.verdict in ("better", "worse"):
                assert n >= 10, told
                assert (row.difference > 0) == (row.verdict == "better"), told
            if row.verdict == "equivalent":
                assert -margin < low <= high < margin, told
                assert n >= 10, told
            elif n >= 10:
                inside = -margin < low <= high < margin
                assert bool(row.margin_note) == inside, told
                assert not inside or "Not called equivalent, although the interval lies" in str(found), told
                seen.add("inside" if inside else row.verdict)
            seen.add(row.verdict)
        for row in gate(judged, one, two, "R@10, Success@1", alpha=alpha, margin=margin):
            if row.check != "difference":
                continue
            told = (first, second, alpha, row)
            low, high = -1.0 if row.low is None else row.low, 1.0 if row.high is None else row.high
            assert low <= row.difference <= high, told
            assert (row.outcome == "pass") == (low > -margin and n >= 10), told
            if row.p is not None and n > 1:
                assert (row.p <= alpha) == (high < 0), told
            if row.outcome == "fail":
                assert n >= 10, told
                assert row.p <= alpha, told
                assert row.difference <= -margin, told
            elif n >= 10 and row.p is not None and row.outcome != "pass":
                assert row.p > alpha or row.difference > -margin, told
            seen.add(row.outcome)
    assert seen == {"better", "worse", "unclear", "equivalent", "inside", "pass", "fail", "inconclusive"}


def several(rng: np.random.Generator, n: int, systems: int) -> tuple[dict[str, dict[str, int]], dict[str, Found]]:
    """Judgments, and what several systems find of them; some find exactly what another one does."""
    first, second = drawn(rng, n)
    judged = {f"q{i}": {f"d{j}": 1 for j in range(there)} for i, (_, there) in enumerate(first)}
    made = [first, second]
    for _ in range(systems - 2):
        shift = np.where(rng.random(n) < rng.choice([0.0, 0.2, 1.0]), rng.integers(-2, 3, n), 0)
        like = made[int(rng.integers(len(made)))]
        made.append([(int(np.clip(hits + off, 0, there)), there)
                     for (hits, there), off in zip(like, shift.tolist(), strict=True)])  # fmt: skip
    return judged, {f"s{i}": each for i, each in enumerate(made)}


def agree(row: Any, p: float | None, alpha: float) -> None:
    """The interval holds what was seen, and leaves 0 out where, and only where, p is at most alpha."""
    if row.low is None or row.high is None:
        return
    assert row.low <= row.difference <= row.high, row
    if p is not None:
        assert 0 < p <= 1, row
        assert (p <= alpha) == (row.low > 0 or row.high < 0), row


@pytest.mark.slow
def test_a_leaderboard_never_contradicts_itself() -> None:
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(30):
        n, alpha = int(rng.choice([2, 5, 9, 10, 14, 40])), float(rng.choice([0.01, 0.05, 0.2]))
        judged, made = several(rng, n, int(rng.integers(2, 6)))
        measure = str(rng.choice(["R@10", "Success@1", "FirstRel"]))
        board = leaderboard(judged, {k: ranked(v) for k, v in made.items()}, measure, alpha=alpha)
        sign = 1 if board.higher else -1
        assert list(board.means.values()) == sorted(board.means.values(), reverse=board.higher)
        for duel in board.versus:
            agree(duel, duel.p, alpha)
            assert sign * duel.difference >= 0, duel
            assert duel.told_apart == (n >= 10 and duel.p <= alpha), duel
            shared = set(board.letters[duel.better]) & set(board.letters[duel.worse])
            assert duel.told_apart != bool(shared), (duel, board.letters)
            seen.add(duel.told_apart)
        assert board.told_apart == sum(duel.told_apart for duel in board.versus)
    assert seen == {True, False}


@pytest.mark.slow
def test_the_effects_of_a_grid_never_contradict_themselves() -> None:
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(60):
        runs = [Configuration(c, r, "none", "-", "none", 10) for c in "ab" for r in "xyz"]
        _, made = several(rng, int(rng.choice([2, 5, 10, 14, 40])), len(runs))
        values = np.array([[hits / there for hits, there in found] for found in made.values()]).T
        for effect in main_effects(runs, values, rng):
            first, *others = effect.levels
            assert (first.difference, first.low, first.high, first.p) == (0, 0, 0, None)
            for level in others:
                agree(level, level.p, 0.05)
                assert level.mean - first.mean == pytest.approx(level.difference, abs=1e-12)
            assert effect.p == min(level.p for level in others)  # type: ignore[type-var]
            seen.add(effect.p <= 0.05)  # type: ignore[operator]
    assert seen == {True, False}


@pytest.mark.parametrize("questions", [12, 40])
def test_what_a_grid_says_of_its_winner_goes_with_its_p(questions: int) -> None:
    """Half of 12 questions decide nothing, however small p is."""
    names = [f"q{i}" for i in range(questions)]
    found = grid(
        {
            "questions": {name: f"question {name}" for name in names},
            "judgments": {name: {f"d-{name}": 1} for name in names},
            "corpus": {f"d-{name}": f"about {name}" for name in names},
            "measure": "RR",
            "retrievers": {"bad": lambda text: ["x"], "good": lambda text: [f"d-{text.split()[-1]}"]},
        }
    )
    held, text = found.held, " ".join(str(found).split())
    assert held is not None
    decided = held.n >= 10
    assert (held.verdict, bool(held.note)) == (("better", False) if decided else ("unclear", True))
    assert ("better beyond chance" in text, "decide nothing" in text) == (decided, not decided)
    assert "not beyond chance" not in text


@pytest.mark.slow
def test_a_diagnosis_never_contradicts_itself() -> None:
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(40):
        n, alpha = int(rng.choice([5, 10, 14, 40])), float(rng.choice([0.01, 0.05, 0.2]))
        judged, made = several(rng, n, 2)
        measure = str(rng.choice(["R@10", "nDCG@10", "FirstRel"]))
        # Kinds that mean something, and kinds that do not.
        good = [hits == there for hits, there in made["s0"]]
        names = np.where(rng.random(n) < rng.choice([0.2, 0.8]), good, rng.random(n) < rng.choice([0.1, 0.5]))
        kinds = {query: f"kind {name}" for query, name in zip(judged, names, strict=True)}
        found = diagnose(judged, ranked(made["s0"]), measure, by=kinds, alpha=alpha)
        for row in found.patterns:
            agree(row, row.p, alpha)
            few = min(row.n, row.others) < 10
            assert (row.p is None) == (row.verdict == "too few") == few, row
            assert row.low != row.high or row.low is None, row
            if row.p is not None:
                assert (row.verdict == "unclear") == (row.p > alpha), row
                worse = row.difference < 0 if measure != "FirstRel" else row.difference > 0
                assert row.verdict == "unclear" or (row.verdict == "worse") == worse, row
            seen.add(row.verdict)
        columns = [np.array([hits / there for hits, there in made[name]]) for name in ("s0", "s1")]
        higher = bool(rng.integers(2))
        tried = [Trial("keyword", "R@10", "R@10", *order, higher, {}) for order in (columns, columns[::-1])]
        for fix in [*found.fixes, *fixes(tried, rng, alpha)]:
            if fix.low is not None and fix.high is not None:
                assert fix.low <= fix.gain <= fix.high, fix
                clear = "helps" if fix.low > 0 else "does harm" if fix.high < 0 else "unclear"
                assert fix.verdict == (clear if fix.n >= 10 else "too few"), fix
            assert abs(fix.after - fix.before) == pytest.approx(abs(fix.gain))
            seen.add(fix.verdict)
    assert seen == {"worse", "better", "unclear", "too few", "helps", "does harm"}
