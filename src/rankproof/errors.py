"""The exceptions of rankproof, and the phrases they use.

Every error says what was got, what was expected, and what to do next.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from difflib import get_close_matches
from math import inf
from numbers import Integral, Real
from typing import Any


class RankproofError(Exception):
    """Base of every error that rankproof raises on purpose."""

    exit_code = 1


class UsageError(RankproofError, ValueError):
    """A name, a parameter or an option that is not valid."""

    exit_code = 2


class NotThere(UsageError, KeyError):
    """A result has no entry of the name that was asked for."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError would put quotes around the message


class DataError(RankproofError, ValueError):
    """Judgments or rankings that cannot be trusted."""

    exit_code = 3


class MissingExtra(RankproofError, ImportError):
    """An optional package is needed but not installed."""

    exit_code = 2


def missing_extra(what: str, packages: str, extra: str) -> MissingExtra:
    """The error for an optional package that is absent, with the line that installs it."""
    return MissingExtra(f"{what} needs {packages}, not installed. Next: pip install 'rankproof[{extra}]'")


def nearest(got: str, known: Iterable[str]) -> str:
    """``' Did you mean 'x'?'`` for the known word closest to `got`, or nothing.

    >>> nearest("presision", ["precision", "recall"])
    " Did you mean 'precision'?"
    """
    by_lower = {str(word).lower(): word for word in known}
    close = get_close_matches(got.lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


def is_number(got: object) -> bool:
    """Whether `got` is an ordered number: not a text, an array, or a missing value.

    >>> is_number(0.5), is_number("0.5"), is_number(None)
    (True, False, False)
    """
    return isinstance(got, Real)


def check_whole(
    what: str, got: Any, least: int = 1, most: int | None = None, *, advice: str = "give that many or more"
) -> int:
    """`got` as an int, if it is a whole number of Python or NumPy from `least` to `most`, else a UsageError.

    >>> check_whole("k", 10)
    10
    >>> check_whole("k", True)
    Traceback (most recent call last):
    ...
    rankproof.errors.UsageError: k: got True, expected a whole number of at least 1. Next: give that many or more.
    """
    whole = not isinstance(got, bool) and isinstance(got, Integral)
    if whole and least <= int(got) and (most is None or int(got) <= most):
        return int(got)
    within = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise UsageError(f"{what}: got {shorten(got)}, expected a whole number {within}. Next: {advice}.")


def check_number(
    what: str,
    got: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    noun: str = "number",
    advice: str = "give such a number",
) -> float:
    """`got` as a float, if it is a finite number within these limits, else a UsageError.

    >>> check_number("level", 0.95, above=0, below=1)
    0.95
    >>> check_number("level", 95, above=0, below=1)
    Traceback (most recent call last):
    ...
    rankproof.errors.UsageError: level: got 95, expected a number above 0 and below 1. Next: give such a number.
    """
    try:
        number = float(got) if is_number(got) and not isinstance(got, bool) else inf
    except OverflowError:  # an integer of more than 308 digits
        number = inf
    high_enough = (above is None or number > above) and (least is None or number >= least)
    low_enough = (below is None or number < below) and (most is None or number <= most)
    if abs(number) < inf and high_enough and low_enough:
        return number
    limits = ("above", above), ("of at least", least), ("below", below), ("up to", most)
    within = " and ".join(f"{word} {limit:g}" for word, limit in limits if limit is not None)
    if least is not None and most is not None:
        within = f"from {least:g} to {most:g}"
    expected = f"a {noun} {within}" if within else f"a finite {noun}"
    raise UsageError(f"{what}: got {shorten(got)}, expected {expected}. Next: {advice}.")


def is_one_of(got: object, known: Container[str]) -> bool:
    """Whether `got` is one of the known words, whatever its type.

    >>> is_one_of("trec", {"trec": 1}), is_one_of(["trec"], {"trec": 1})
    (True, False)
    """
    return isinstance(got, str) and got in known


def one_of(what: str, got: object, known: Iterable[str]) -> UsageError:
    """The error for an unknown word.

    >>> str(one_of("ties", "trek", ["trec", "id"]))
    "ties: got 'trek', expected one of 'trec', 'id'. Did you mean 'trec'? Next: choose one of them."
    """
    known = list(known)
    listed = ", ".join(map(repr, known))
    word = got if isinstance(got, str) and len(got) < 100 else shorten(got)
    return UsageError(
        f"{what}: got {shorten(got)}, expected one of {listed}.{nearest(word, known)} Next: choose one of them."
    )


def shorten(text: object, width: int = 60) -> str:
    """`text` quoted for a message, cut in the middle if it is long.

    >>> shorten("a" * 100, 20)
    "'aaaaaaaa...aaaaaaa'"
    """
    try:
        quoted = repr(text)
    except ValueError:  # an integer of more digits than Python writes out
        quoted = f"a value of type {type(text).__name__} that is too long to show"
    half = (width - 3) // 2
    return quoted if len(quoted) <= width else f"{quoted[: half + 1]}...{quoted[-half:]}"
