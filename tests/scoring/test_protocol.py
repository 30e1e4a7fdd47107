"""`ScoresLike`: what is compared need not come from `evaluate` or `judge`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import (
    History,
    JudgedScores,
    Scores,
    ScoresLike,
    compare_scores,
    evaluate,
    gate_scores,
    judge,
    leaderboard,
    rank_correlation,
)
from rankproof.core.names import parse
from rankproof.core.scoring import ScoreColumn
from rankproof.errors import UsageError

QUERIES = tuple(f"q{i}" for i in range(12))


@dataclass(eq=False, repr=False)
class Own(ScoresLike):
    """Scores of one's own: values by query, and what must be the same to compare them."""

    made_on: str = "my questions"

    @property
    def fingerprint(self) -> str:
        return self.made_on

    @property
    def definition(self) -> dict[str, Any]:
        return {"measures": {name: {"measure": name} for name in self.columns}}


def own(lead: float, **given: Any) -> Own:
    values = {
        "RR": np.linspace(0.1, 0.6, len(QUERIES)) + lead,
        "AP": np.linspace(0.6, 0.1, len(QUERIES)) + lead,
    }
    columns = {name: ScoreColumn(parse(name), each, None) for name, each in values.items()}
    return Own(QUERIES, columns, **given)


def test_scores_of_ones_own_are_compared_as_others_are() -> None:
    both = {"old": own(0.0), "new": own(0.3)}
    found = compare_scores(both, margin=0.05)
    judgments = {query: {"a": 1} for query in QUERIES}
    lists = {"old": ["x", "a"], "new": ["a", "x"]}
    ranked = {name: evaluate(judgments, dict.fromkeys(QUERIES, each), "RR, AP") for name, each in lists.items()}
    assert found.winner == compare_scores(ranked).winner == "new"
    assert found.row("new", "RR").difference == pytest.approx(0.3)
    assert gate_scores(both["new"], both["old"]).outcome == "fail"
    assert gate_scores(both["old"], both["new"], floors={"RR": 0.2}).outcome == "pass"
    order = leaderboard(both, "AP")
    assert (next(iter(order.means)), order.queries) == ("new", 12)
    assert rank_correlation(both, measure="RR", versus="AP").tau_b.value == 1
    for text in (str(found), str(both["new"]), found.format("markdown"), both["new"].format("json")):
        assert text
    assert repr(both["old"]) == "<Own of 12 queries: RR=0.3500, AP=0.3500>"


def test_scores_of_ones_own_are_held_to_the_same_questions(tmp_path: Path) -> None:
    other = own(0.2, made_on="other questions")
    with pytest.raises(UsageError, match="different judgments"):
        compare_scores({"old": own(0.0), "new": other})
    history = History(tmp_path / "scores.db")
    history.save(own(0.2), "own")
    assert history.scores("own").means == own(0.2).means


def test_groups_and_parts_of_scores_of_ones_own() -> None:
    places = {"first": np.arange(6), "second": np.arange(6, 12)}
    found = compare_scores({"old": own(0.0, groups=places), "new": own(0.1, groups=places)})
    assert [row.n for row in found.rows if row.slice == "second"] == [6, 6]
    part = own(0.0).only(["AP"], ["q11", "q0"])
    assert (type(part), part.queries, part.values("AP")) == (Own, ("q11", "q0"), {"q11": 0.1, "q0": 0.6})
    assert own(0.0).worst(2, "RR") == [("q0", 0.1), ("q1", pytest.approx(0.1 + 0.5 / 11))]


def test_scores_of_a_judge_are_no_scores_of_rankings() -> None:
    rows = [{"id": query, "question": "What?", "contexts": ["red", "blue"]} for query in QUERIES]
    judged = judge(rows, "P@2", judge=lambda relation, left, right: 3 if right == "red" else 0)
    assert isinstance(judged, ScoresLike)
    assert not isinstance(judged, Scores)
    only_of_rankings = {"hits", "judgments", "ranking", "census", "parent", "reached"}
    assert not only_of_rankings & set(dir(judged))
    back = Scores.from_dict(json.loads(json.dumps(judged.to_dict())))
    assert isinstance(back, JudgedScores)
    assert back.to_dict() == judged.to_dict()
    assert repr(back) == "<JudgedScores of 12 samples: P@2=0.5000>"
