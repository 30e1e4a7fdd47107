"""A judge may give a probability: a metric is then its expectation over all the ways the verdicts may fall."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from rankproof import Verdicts, compare_scores, judge
from rankproof.errors import UsageError
from rankproof.judging.metrics.registry import METRICS, PEERS
from rankproof.judging.verdicts import PLAIN_YES, Relation
from rankproof.scoring.scores import Scores
from tests.judging.test_missing_verdicts import OURS, ROW, verdict_on

Pair = tuple[str, str, str]


def soft_pairs(seed: int) -> dict[Pair, float]:
    """Six of the pairs that the metrics look at, each with a probability."""
    seen: dict[Pair, None] = {}
    judge([ROW], OURS, judge=lambda *pair: seen.setdefault(pair) or verdict_on(seed, *pair))
    step = len(seen) // 6
    chosen = list(seen)[seed % step :: step][:6]
    return {pair: (place + 1) / 10 for place, pair in enumerate(chosen)}


def falling(seed: int, soft: dict[Pair, float], fallen: tuple[bool, ...]) -> Any:
    known = dict(zip(soft, fallen, strict=True))
    return lambda *pair: PLAIN_YES[pair[0]] * known[pair] if pair in known else verdict_on(seed, *pair)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("compat", [None, *PEERS])
def test_a_metric_is_its_mean_over_all_ways(seed: int, compat: str | None) -> None:
    names = list(PEERS[compat]) if compat else OURS
    soft = soft_pairs(seed)
    scores = judge(
        [ROW],
        names,
        compat=compat,
        soft="independent",
        judge=lambda *pair: soft.get(pair, verdict_on(seed, *pair)),
    )
    total, weighed = dict.fromkeys(scores, 0.0), dict.fromkeys(scores, 0.0)
    for fallen in product((False, True), repeat=len(soft)):
        weight = math.prod(p if yes else 1 - p for p, yes in zip(soft.values(), fallen, strict=True))
        hard = judge([ROW], names, compat=compat, judge=falling(seed, soft, fallen))
        for name in hard:
            if not math.isnan(hard[name]):
                total[name] += weight * hard[name]
                weighed[name] += weight
    for name in scores:
        if weighed[name] >= 0.5:
            assert scores[name] == pytest.approx(total[name] / weighed[name]), name
        else:
            assert math.isnan(scores[name]), name


@pytest.mark.first_is_quick
@pytest.mark.parametrize("n", [1, 2, 4, 40])
def test_many_doubtful_contexts_prove_no_more_than_the_strongest(n: int) -> None:
    row = {"query": "Why?", "answer": "Fact A holds.", "contexts": [f"c{i}." for i in range(n)]}
    chances = {f"c{i}.": 0.5 - i / 100 for i in range(n)}

    def doubtful(relation: str, left: str, right: str) -> float:
        return 1.0 if relation == Relation.ANSWER_ADDRESSES else chances[right]

    names = ["faithfulness", "RR(rel=2)", "Success(rel=2)@40"]
    found = judge([row], names, judge=doubtful)
    assert dict(found) == pytest.approx(dict.fromkeys(names, 0.5))
    apart = judge([row], names, judge=doubtful, soft="independent")
    assert apart["faithfulness"] == pytest.approx(1 - math.prod(1 - p for p in chances.values()), abs=0.02)
    rows = [row | {"id": str(i)} for i in range(2)]
    assert "of several contexts the strongest" in " ".join(str(judge(rows, names, judge=doubtful)).split())
    with pytest.raises(UsageError, match="soft"):
        judge([row], names, judge=doubtful, soft="strong")


def test_many_doubtful_claims_do_not_make_a_context_used() -> None:
    row = {"query": "Why?", "answer": "Fact A holds. Fact B holds. Fact C holds.", "contexts": ["c."]}
    says = {"R": 3, "A": 3, "S": 0.5}
    found = judge([row], "context_utilisation, faithfulness", judge=lambda relation, *pair: says[relation])
    assert dict(found) == pytest.approx({"context_utilisation": 0.5, "faithfulness": 0.5})


ONE = {"id": "s", "answer": "Fact A holds. Fact B holds.", "contexts": ["x.", "y."]}


def test_many_verdicts_are_drawn_so_that_sums_are_nearly_exact() -> None:
    claims = [f"Fact {letter} holds." for letter in "ABCDEFGHIJ"]
    row = {"answer": " ".join(claims), "contexts": ["x."]}
    scores = judge([row], "faithfulness", judge=lambda r, claim, t: 0.05 + claims.index(claim) / 10)
    assert scores["faithfulness"] == pytest.approx(0.5, abs=0.01)
    again = judge([row], "faithfulness", judge=lambda r, claim, t: 0.05 + claims.index(claim) / 10)
    assert again["faithfulness"] == scores["faithfulness"]


def test_what_is_open_stays_open_beside_soft_verdicts() -> None:
    says = {("Fact A holds.", "x."): 0.5, ("Fact A holds.", "y."): 0, ("Fact B holds.", "x."): 0}
    scores = judge([ONE], "faithfulness", judge=lambda r, claim, text: says.get((claim, text)))
    assert math.isnan(scores["faithfulness"])
    assert scores.bounds("faithfulness") == (0.25, 0.75)
    assert scores.coverage["faithfulness"] == 0.5


def test_a_value_beside_a_probability_counts_as_that_value() -> None:
    scores = judge([ONE], "faithfulness", judge=lambda *pair: {"value": 1, "probability": 0.6})
    assert scores["faithfulness"] == 1.0
    sure = judge([ONE], "faithfulness", judge=lambda *pair: 1.0)
    assert sure["faithfulness"] == 1.0
    assert sure.interval("faithfulness") == judge([ONE], "faithfulness", judge=lambda *p: 1).interval(
        "faithfulness"
    ) or math.isnan(sure.interval("faithfulness")[0])


def test_the_interval_is_wider_by_what_the_verdicts_leave_open() -> None:
    rows = [{"id": str(i), "answer": "Fact A holds.", "contexts": [f"c{i}."]} for i in range(100)]
    soft = judge(rows, "faithfulness", judge=lambda *pair: 0.5)
    low, high = soft.interval("faithfulness")
    # A hundred fair coins: the mean is known to 1.96 * .5 / 10, and that no other sample is far off is not proven.
    assert (low, high) == (pytest.approx(0.5 - 0.099, abs=1e-3), pytest.approx(0.5 + 0.099, abs=1e-3))
    assert soft.bounds("faithfulness") == (0.5, 0.5)  # nothing is missing
    assert "spread of soft verdicts" in str(soft)
    back = Scores.from_dict(json.loads(json.dumps(soft.to_dict())))
    assert back.interval("faithfulness") == (low, high)


def test_soft_verdicts_come_back_from_the_ledger_as_they_were(tmp_path: Path) -> None:
    ledger = tmp_path / "v.db"
    first = judge([ONE], "faithfulness", judge=lambda *pair: 0.3, ledger=ledger)
    again = judge([ONE], "faithfulness", judge="replay", ledger=ledger)
    assert again["faithfulness"] == first["faithfulness"] == pytest.approx(0.3)
    Verdicts(ledger).export_to(tmp_path / "v.jsonl")
    Verdicts(tmp_path / "w.db").import_from(tmp_path / "v.jsonl")
    moved = judge([ONE], "faithfulness", judge="replay", ledger=tmp_path / "w.db")
    assert moved["faithfulness"] == first["faithfulness"]
    one = next(Verdicts(ledger).where(relation=Relation.TEXT_SUPPORTS))
    Verdicts(ledger).override(one.id, 1, by="ana")  # a person's word is no probability
    assert judge([ONE], "faithfulness", judge="replay", ledger=ledger)["faithfulness"] == pytest.approx(0.65)


def test_a_line_with_a_probability_alone_is_a_soft_verdict(tmp_path: Path) -> None:
    lines = [{"relation": "S", "left": "Fact A holds.", "right": "x.", "judge": "j", "probability": 0.25}]
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    Verdicts(tmp_path / "v.db").import_from(tmp_path / "lines.jsonl")
    row = {"answer": "Fact A holds.", "contexts": ["x."]}
    assert judge([row], "faithfulness", judge="replay", ledger=tmp_path / "v.db")["faithfulness"] == 0.25


def test_systems_are_compared_by_their_expectations() -> None:
    rows = [{"id": str(i), "answer": "Fact A holds.", "contexts": [f"c{i}."]} for i in range(12)]

    def sure(relation: str, left: str, right: str) -> float:
        return 0.9

    before, after = (judge(rows, "faithfulness", judge=sure) for _ in range(2))
    assert compare_scores({"a": before, "b": after}).row("b", "faithfulness").difference == 0


def test_every_metric_is_tried() -> None:
    assert set(METRICS) <= set(OURS)
