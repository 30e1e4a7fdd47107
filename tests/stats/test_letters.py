"""Letters of a leaderboard: two systems share one if, and only if, they are not told apart; the board's other faces."""

from __future__ import annotations

import json
import random
import re
from itertools import combinations

import pytest

from rankproof import compare, evaluate, leaderboard, sample
from rankproof.errors import UsageError
from rankproof.stats.corrections import letters


def test_two_share_a_letter_if_and_only_if_they_are_not_told_apart() -> None:
    for seed in range(800):
        rng = random.Random(seed)
        names = [f"s{i}" for i in range(rng.randint(1, 9))]
        share = rng.choice([0, 0.2, 0.5, 0.9, 1])
        apart = {pair for pair in combinations(names, 2) if rng.random() < share}
        found = letters(names, apart)
        for one, other in combinations(names, 2):
            assert bool(set(found[one]) & set(found[other])) == ((one, other) not in apart), (seed, found)
        assert all(found.values())
        # No letter could be given to one name more, so none is wider than need be.
        shared = {letter: {name for name in names if letter in found[name]} for own in found.values() for letter in own}
        for letter, own in shared.items():
            for name in set(names) - own:
                assert any(tuple(sorted((name, other))) in apart for other in own), (seed, letter, found)


def test_after_the_alphabets_letters_are_numbered() -> None:
    names = [f"s{i}" for i in range(54)]
    found = letters(names, combinations(names, 2))
    assert [found[names[i]] for i in (0, 25, 26, 51, 52, 53)] == [("a",), ("z",), ("A",), ("Z",), ("a2",), ("b2",)]


def systems(*levels: float, n: int = 80) -> tuple[dict, dict]:
    """Judgments, and rankings that are right for such shares of the queries."""
    judged = {f"q{i}": {"a": 1} for i in range(n)}
    runs = {
        f"s{level:g}": {q: ["a"] if (i * 37) % n < level * n else ["x", "a"] for i, q in enumerate(judged)}
        for level in levels
    }
    return judged, runs


def test_the_board_agrees_with_its_pairs_in_every_face() -> None:
    judged, runs = systems(0.2, 0.25, 0.6, 0.65, 0.9)
    board = leaderboard(judged, runs, "RR")
    data = json.loads(board.format("json"))
    assert len(data["versus"]) == board.pairs == 10
    for pair in data["versus"]:
        one, other = (set(data["letters"][pair[side]]) for side in ("better", "worse"))
        assert pair["told_apart"] == (pair["p"] <= 0.05) == one.isdisjoint(other)
        assert pair["difference"] == pytest.approx(data["means"][pair["better"]] - data["means"][pair["worse"]])
    assert board.told_apart == sum(pair["told_apart"] for pair in data["versus"])
    for name, run in runs.items():
        assert data["intervals"][name] == list(evaluate(judged, run, "RR").interval("RR"))
    text = " ".join(str(board).split())
    assert "Systems that share a letter cannot be told apart: " in text
    assert "No single one of the 80 queries decides this order; the letters say whether other" in text
    assert re.search(r"s0\.9\s+0\.9500\s+\[\.\d+, [.\d]+\]\s+1\s+a", str(board))
    latex = board.format("latex")
    assert "\\begin{tabular}" in latex
    assert "0.9500$^{a}$" in latex
    assert board.format("markdown").count("|") > 20


@pytest.mark.slow
def test_rankings_and_scores_give_the_same_board() -> None:
    judged, runs = systems(0.3, 0.8)
    scores = {name: evaluate(judged, run, "RR") for name, run in runs.items()}
    boards = [leaderboard(scores), leaderboard(scores, "RR"), leaderboard(scores, measure="RR")]
    boards += [leaderboard(judged, runs, "RR"), leaderboard(judged, runs, measure="MRR")]
    assert all(board.to_dict() == boards[0].to_dict() for board in boards)
    with pytest.raises(UsageError, match="applies to rankings"):
        leaderboard(scores, ties="id")
    assert leaderboard(judged, runs, "RR", no_relevant="skip").queries == 80


def test_few_queries_tell_nothing_apart() -> None:
    judged, runs = systems(0, 1, n=9)
    board = leaderboard(judged, runs, "RR")
    assert board.told_apart == 0
    assert "No two of these systems can be told apart (fewer than 10 queries decide nothing)." in " ".join(
        str(board).split()
    )


@pytest.mark.parametrize("form", ["table", "full", "markdown"])
def test_every_pair_of_a_comparison(form: str) -> None:
    judged, runs = systems(0.2, 0.6, 0.65)
    found = compare(judged, runs, "RR, Success@1", all_pairs=True)
    assert len(found.pairs) == 6
    assert {(row.baseline, row.system) for row in found.pairs} == set(combinations(runs, 2))
    by_baseline = {(r.system, r.measure): r for r in found.rows}
    for row in found.pairs:
        assert row.p_corrected >= row.p
        if row.baseline == found.baseline:
            assert row.p_corrected >= by_baseline[row.system, row.measure].p_corrected
    text = " ".join(found.format(form).split())
    assert "Every pair of systems, corrected over 6 comparisons (holm)" in text
    assert re.search(r"s0\.65\W+s0\.6\W", text)
    assert len(json.loads(found.format("json"))) == 4 + 6
    assert len(found.to_dict()["pairs"]) == 6


def test_the_sample_has_a_pair_nobody_can_tell_apart() -> None:
    board = leaderboard(sample.judgments(), sample.rankings(), "nDCG@10")
    assert board.letters == {"dense": ("a",), "fused": ("a",), "keyword": ("b",)}
