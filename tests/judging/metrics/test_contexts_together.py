"""A claim that needs two contexts: no single one supports it, and together they do."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from rankproof import Judge, judge
from rankproof.judging.verdicts import Relation
from rankproof.text.words import are_several, join_texts

BORN, WON, OTHER = "Ana was born in Ulm.", "She won in 1999.", "Cats sleep."
CLAIM, PLAIN, FALSE = "Ana of Ulm won in 1999.", "Ana was born in Ulm.", "Ana is tall."
ROW = {
    "id": "s",
    "question": "Who won?",
    "contexts": [BORN, OTHER, WON],
    "answer": f"{CLAIM} {PLAIN} {FALSE}",
    "reference": f"{CLAIM} {PLAIN}",
}
Pair = tuple[str, str, str]


class Reader:
    """Supports the claim only where a text holds both facts; notes what it is asked."""

    __name__ = "reader"

    def __init__(self) -> None:
        self.asked: list[Pair] = []

    def __call__(self, relation: str, left: str, right: str) -> Any:
        self.asked.append((relation, left, right))
        if relation != Relation.TEXT_SUPPORTS:
            return 3
        needs = {CLAIM: (BORN, WON), PLAIN: (BORN,), FALSE: ("tall",)}[left]
        return 1 if all(part in right for part in needs) else 0


@pytest.mark.parametrize(
    ("metric", "apart", "together"),
    [
        ("faithfulness", 1 / 3, 2 / 3),
        ("hallucination_rate", 2 / 3, 1 / 3),
        ("context_recall", 1 / 2, 1.0),
        ("context_recall@2", 1 / 2, 1 / 2),
    ],
)
def test_what_several_contexts_say_together_counts_where_that_is_asked_for(
    metric: str, apart: float, together: float
) -> None:
    name, at, k = metric.partition("@")
    asked = f"{name}(contexts='together'){at}{k}"
    scores = judge([ROW], [metric, asked], judge=Reader())
    assert scores[metric] == pytest.approx(apart)
    assert scores[asked] == pytest.approx(together)


def test_only_claims_that_no_context_supports_are_asked_again_and_of_all_at_once() -> None:
    reader = Reader()
    judge([ROW], "faithfulness(contexts='together')", judge=reader)
    several = join_texts(sorted(ROW["contexts"]))
    assert {left for _, left, right in reader.asked if right == several} == {CLAIM, FALSE}
    assert len(reader.asked) == len(set(reader.asked)) == 1 + 9 + 2


def test_the_set_is_the_evidence() -> None:
    scores = judge([ROW], "faithfulness_together", judge=Reader())
    piece = next(each for each in scores.verdicts if each.left == CLAIM and each.value == 1)
    assert BORN in piece.right and WON in piece.right  # noqa: PT018  (one text, both facts)
    assert "texts together" in scores.html()


def test_another_order_asks_nothing_new(tmp_path: Path) -> None:
    ledger = tmp_path / "v.db"
    first = judge([ROW], "faithfulness_together", judge=Reader(), ledger=ledger)
    other = Reader()
    turned = {**ROW, "contexts": ROW["contexts"][::-1]}
    again = Judge("replay", ledger=ledger)([turned], "faithfulness_together")
    assert again["faithfulness_together"] == first["faithfulness_together"] == pytest.approx(2 / 3)
    assert not other.asked


def test_a_set_that_nobody_judged_leaves_the_claim_open() -> None:
    reader = Reader()

    def unsure(relation: str, left: str, right: str) -> Any:
        return None if are_several(right) else reader(relation, left, right)

    scores = judge([ROW], "faithfulness_together", judge=unsure)
    assert math.isnan(scores["faithfulness_together"])
    assert scores.bounds("faithfulness_together") == (pytest.approx(1 / 3), 1.0)


def test_a_single_context_has_no_set() -> None:
    scores = judge([{**ROW, "contexts": [BORN]}], "faithfulness_together", judge=Reader())
    assert scores["faithfulness_together"] == pytest.approx(1 / 3)


CITING = {
    "question": "Who won?",
    "contexts": [BORN, OTHER, WON],
    "answer": f"{CLAIM} [1][3]. {FALSE} [1][2].",
}


@pytest.mark.parametrize(
    ("metric", "apart", "together"), [("citation_precision", 0.0, 0.5), ("citation_recall", 0.0, 0.5)]
)
def test_sources_cited_for_one_claim_hold_together(metric: str, apart: float, together: float) -> None:
    def reads(relation: str, left: str, right: str) -> Any:
        if relation != Relation.TEXT_SUPPORTS:
            return 3
        return 1 if "won" in left and BORN in right and WON in right else 0

    scores = judge([CITING], [metric, f"{metric}_together"], judge=reads)
    assert scores[metric] == apart
    assert scores[f"{metric}_together"] == pytest.approx(together)
