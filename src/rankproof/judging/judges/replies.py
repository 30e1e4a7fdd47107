"""What a function, or a person, said of a pair as a verdict: checked, and never bent into one."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from rankproof.errors import shorten
from rankproof.judging.verdicts import PLAIN_YES, SOFT, VALUES, Ask, Unmeasured, Verdict

COULD_NOT_TELL = "the judge could not tell"
WORDS: dict[str, dict[str, int]] = {
    "S": {"supports": 1, "silent": 0, "contradicts": -1},
    "P": {"full_support": 2, "support": 2, "partial_support": 1, "no_support": 0, "not_support": 0},
    "A": {"abstains": -1},
}
"""Words for values, beside the values themselves."""


def said_of(ask: Ask, reply: Any, judge: str) -> Verdict | Unmeasured:
    """The verdict in a reply, or why there is none.

    >>> ask = Ask("R", "refund?", "Within 30 days.")
    >>> said_of(ask, 3, "f").value, said_of(ask, True, "f").value, said_of(ask, 0.25, "f").probability
    (3, 3, 0.25)
    >>> said_of(ask, 7, "f").reason
    'got 7, expected one of 0, 1, 2, 3'
    """
    if isinstance(reply, BaseException):
        return Unmeasured(ask, f"the judge raised {type(reply).__name__}: {shorten(str(reply))}")
    given = reply if isinstance(reply, Mapping) else {"value": reply}
    if ask.relation == "C":
        return _claims(ask, given.get("items", given.get("value")), judge)
    value, probability, problem = _settled(ask.relation, given)
    soft = _plain(given.get("value")) is None or isinstance(_plain(given.get("value")), float)
    quote = given.get("quote") or ""
    if problem:
        return Unmeasured(ask, problem)
    if not isinstance(quote, str) or quote not in ask.right:
        return Unmeasured(ask, f"the quote {shorten(quote)} is not in the text")
    return Verdict(ask, value, judge, probability, quote, origin={SOFT: True} if soft else {})


def _claims(ask: Ask, items: Any, judge: str) -> Verdict | Unmeasured:
    listed = isinstance(items, list | tuple) and all(isinstance(each, str) and each.strip() for each in items)
    if not listed:
        return Unmeasured(ask, f"got {shorten(items)}, expected a list of claims")
    return Verdict(ask, None, judge, items=tuple(dict.fromkeys(items)))


def _settled(relation: str, given: Mapping[str, Any]) -> tuple[int | None, float | None, str]:
    """The value and the probability, or what is wrong with them; a value that is given counts before one derived."""
    value, probability = _plain(given.get("value")), _plain(given.get("probability"))
    if isinstance(value, float) and probability is None:
        value, probability = None, value
    if probability is not None and not _is_share(probability):
        return None, None, f"got {shorten(probability)}, expected a probability from 0 to 1"
    if value is None:
        return _from_probability(relation, probability)
    found = _value(relation, value)
    if found is None:
        return None, None, f"got {shorten(value)}, expected one of {', '.join(map(str, VALUES[relation]))}"
    return found, None if probability is None else float(probability), ""


def _from_probability(relation: str, probability: Any) -> tuple[int | None, float | None, str]:
    if probability is None:
        return None, None, COULD_NOT_TELL
    return (PLAIN_YES[relation] if probability >= 0.5 else 0), float(probability), ""


def _plain(value: Any) -> Any:
    """Numbers of NumPy and the like as Python's own."""
    if isinstance(value, bool | str) or value is None:
        return value
    if type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _value(relation: str, value: Any) -> int | None:
    """The relation's value that is meant; None for anything else."""
    if isinstance(value, bool):
        return PLAIN_YES[relation] if value else 0
    if isinstance(value, str):
        return WORDS.get(relation, {}).get(value.strip().lower())
    return value if isinstance(value, int) and value in VALUES[relation] else None
