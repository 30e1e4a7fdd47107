"""Checks of what users hand in."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from sys import float_info
from typing import Any

from rankproof.errors import UsageError, shorten

MOST = float_info.max


def check_questions(questions: Sequence[str]) -> None:
    """Questions are a list of texts."""
    wrong = [questions] if isinstance(questions, str) else [q for q in questions if not isinstance(q, str)]
    if wrong:
        raise UsageError(
            f"questions: got {shorten(wrong[0])}, expected a list of texts. Next: call the retriever itself with one."
        )


def check_count(name: str, value: Any, least: int = 1) -> None:
    """A whole number of at least so much."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < least:
        raise UsageError(
            f"{name}: got {value!r}, expected a whole number of at least {least}."
            " Next: give that many or more."
        )


def check_number(name: str, value: Any, most: float | None = None) -> None:
    """A finite number of at least 0, and at most so much."""
    fits = hasattr(value, "__float__") and not isinstance(value, (bool, str))
    number = float(value) if fits else nan
    if not 0 <= number <= (MOST if most is None else most):
        expected = "a number of at least 0" if most is None else f"a number from 0 to {most:g}"
        raise UsageError(f"{name}: got {value!r}, expected {expected}. Next: give one.")


def with_options(name: str, options: dict[str, Any], usual: dict[str, Any]) -> str:
    """A call as one would write it: what is as usual is left out.

    >>> with_options("keyword", {"k1": 0.9, "b": 0.75}, {"k1": 1.2, "b": 0.75})
    'keyword(k1=0.9)'
    """
    said = changed(options, usual)
    return f"{name}({', '.join(said)})" if said else name


def changed(options: dict[str, Any], usual: dict[str, Any]) -> list[str]:
    """The options that are not as usual, as one would write them."""
    return [f"{key}={value!r}" for key, value in options.items() if usual.get(key) != value]
