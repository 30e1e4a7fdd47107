"""Asking a judge again in other company: rules never flip, and what flips is counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any

import pytest

from rankproof import stress
from rankproof.errors import DataError, UsageError
from rankproof.judging.models.judge import model_judge
from rankproof.judging.verdicts import Account, Ask, Keep, Relation, Verdict
from tests.judging.models.server import serving
from tests.judging.trust.conftest import rows

SAMPLES: list[dict[str, Any]] = [
    {
        "query": f"Where is tower {i}?",
        "contexts": [
            f"Where is tower {i}? Tower {i} is in town {i}. It is high.",
            "Bananas grow in Ecuador.",
        ],
        "reference": f"Tower {i} is in town {i}. It is high.",
        "answer": f"Tower {i} is in town {i}. It is red.",
    }
    for i in range(8)
]
WAYS = ["asked again", "in another order", "with another sample", "each by itself"]


class Swayed:
    """Says yes to the first pair of whatever it is shown together, and no to all others."""

    name = "swayed"
    identity = MappingProxyType({"kind": "test", "name": "swayed"})

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        for group in groups:
            keep([Verdict(ask, 3 if place == 0 else 0, self.name) for place, ask in enumerate(group)])
        return Account()


def test_rules_never_flip() -> None:
    found = stress(SAMPLES)
    assert [found.flips[way] for way in WAYS] == [0, 0, 0, 0]
    assert {relation for rates in found.rates.values() for relation in rates} == {"R", "S", "A"}
    assert all(not n for n in found.lost.values())


def test_a_judge_that_place_sways_is_found_out() -> None:
    samples = [{"query": f"q{i}", "contexts": [f"c{i} {j}." for j in range(4)]} for i in range(20)]
    found = stress(samples, "P@4", judge=Swayed())
    assert found.flips["asked again"] == 0
    assert found.rates["each by itself"]["R"].yes == 60  # all but the first of four
    assert found.rates["with another sample"]["R"].yes == 10  # the first of every second sample
    shuffled = found.rates["in another order"]["R"]
    assert shuffled.yes % 2 == 0
    assert 10 <= shuffled.yes <= 40  # a sample that another pair leads flips two
    assert shuffled.low < shuffled.value < shuffled.high
    assert "each by itself" in str(found)
    assert all(len(line) <= 80 for line in str(found).splitlines())


def test_two_claims_made_one_must_follow() -> None:
    def short(relation: str, left: str, right: str) -> Any:
        return (1 if len(left) < 30 else 0) if relation == Relation.TEXT_SUPPORTS else 3

    def apart(relation: str, left: str, right: str) -> Any:
        return int(all(part.strip() in right for part in left.split(". ")) if relation == Relation.TEXT_SUPPORTS else 1)

    one_by_one = stress(SAMPLES, "context_recall", judge=short).rates["two claims made one"]["S"]
    assert (one_by_one.yes, one_by_one.n) == (16, 16)
    assert stress(SAMPLES, "context_recall", judge=apart).flips["two claims made one"] == 0


def test_a_model_is_asked_in_every_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with serving() as server:
        found = stress(SAMPLES[:3], "context_precision", judge=model_judge("openai:m", base_url=server.url))
        calls = len(server.calls)
    assert [found.flips[way] for way in WAYS] == [0, 0, 0, 0]
    # As it is judged first, asked again, in another order: 3 calls each; in twos: 2; each by itself: 6.
    assert calls >= 3 + 3 + 3 + 3 + 2 + 6
    assert found.account.calls >= 3 + 3 + 3 + 2 + 6


def test_what_cannot_be_asked_is_said() -> None:
    with pytest.raises(UsageError, match="n: got 0"):
        stress(rows(3), n=0)
    with pytest.raises(DataError, match="ask no judge"):
        stress([{"reference": "Paris.", "contexts": ["Paris."]}], "context_entity_recall")
