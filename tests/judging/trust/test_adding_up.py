"""Metrics that are corrected by single pairs must add up over them; others must not be taken for such."""

from __future__ import annotations

from itertools import product

import pytest

from rankproof import judge
from rankproof.judging.metrics.registry import parse
from rankproof.judging.trust.correcting import ADDS_UP, Correcting
from rankproof.judging.verdicts import Relation

SAMPLE = {
    "query": "q",
    "contexts": ["A one. B two.", "C three."],
    "reference": "D four. E five.",
    "answer": "F six.",
}


def value(metric: str, yes: tuple[str, ...]) -> float:
    """The metric of the sample when the judge says yes to exactly these texts."""

    def by_text(relation: str, left: str, right: str) -> int:
        said = (left if relation == Relation.TEXT_SUPPORTS else right) in yes
        return {"R": 3, "S": 1, "Q": 1, "A": 3}[relation] if said else 0

    return float(judge([SAMPLE], metric, judge=by_text)[metric])


PAIRS = {
    "P@2": ("A one. B two.", "C three."),
    "DCG": ("A one. B two.", "C three."),
    "RBP": ("A one. B two.", "C three."),
    "context_relevance": ("A one.", "B two.", "C three."),
    "answer_relevance": ("F six.",),
    "completeness": ("D four.", "E five."),
}


@pytest.mark.parametrize("metric", PAIRS)
def test_what_adds_up_is_the_sum_of_its_pairs(metric: str) -> None:
    none = value(metric, ())
    for chosen in product((False, True), repeat=len(PAIRS[metric])):
        yes = tuple(text for text, said in zip(PAIRS[metric], chosen, strict=True) if said)
        alone = sum(value(metric, (text,)) - none for text in yes)
        assert value(metric, yes) - none == pytest.approx(alone)


def test_all_that_are_said_to_add_up_are_tried() -> None:
    assert {name.partition("@")[0] for name in PAIRS} == set(ADDS_UP)


@pytest.mark.parametrize("metric", ["context_precision", "RR", "context_recall", "faithfulness", "Success@5"])
def test_others_are_not_corrected_by_single_pairs(metric: str) -> None:
    assert not Correcting(parse(metric), {}).adds_up
