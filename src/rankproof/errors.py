"""The exceptions of rankproof, and the words they use.

Every error says what was got, what was expected, and what to do next.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from difflib import get_close_matches
from numbers import Real


class RankproofError(Exception):
    """Base of every error that rankproof raises on purpose."""

    exit_code = 1


class UsageError(RankproofError, ValueError):
    """Something was asked for in a way that cannot be: a name, a parameter, an option."""

    exit_code = 2


class NotThere(UsageError, KeyError):
    """Something was asked for by a name that a result does not have."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError would put quotes around the message


class DataError(RankproofError, ValueError):
    """Judgments or rankings that cannot be trusted as they are."""

    exit_code = 3


class MissingExtra(RankproofError, ImportError):
    """An optional package is needed and not installed."""

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
    """Whether `got` is a number that has an order: no text, no array, nothing that is not there.

    >>> is_number(0.5), is_number("0.5"), is_number(None)
    (True, False, False)
    """
    return isinstance(got, Real)


def is_one_of(got: object, known: Container[str]) -> bool:
    """Whether `got` is one of the known words, whatever it is.

    >>> is_one_of("trec", {"trec": 1}), is_one_of(["trec"], {"trec": 1})
    (True, False)
    """
    return isinstance(got, str) and got in known


def one_of(what: str, got: object, known: Iterable[str]) -> UsageError:
    """The error for a word that is none of the known ones.

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
    """`text` as it would be quoted in a message, cut in the middle where it is long.

    >>> shorten("a" * 100, 20)
    "'aaaaaaaa...aaaaaaa'"
    """
    try:
        quoted = repr(text)
    except ValueError:  # an integer of more digits than Python writes out
        quoted = f"a value of type {type(text).__name__} that is too long to show"
    half = (width - 3) // 2
    return quoted if len(quoted) <= width else f"{quoted[: half + 1]}...{quoted[-half:]}"
