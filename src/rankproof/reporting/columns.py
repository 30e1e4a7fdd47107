"""Which columns a table of one ranking has: those that say something, in every format for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rankproof.core.summary import Row
from rankproof.reporting.numbers import ABSENT, DUST, about, count, score, share, span, wide


@dataclass(frozen=True, slots=True)
class Field:
    """One column: its heading, how a row fills it, and for which rows it has something to say."""

    heading: str
    """In lines, so that a narrow column can have a long heading."""
    cell: Callable[[Row], str]
    says: Callable[[Row], bool]


def _always(row: Row) -> bool:
    return True


def _lost(value: float | None) -> bool:
    return value is not None and abs(value) > DUST


FIELDS = (
    Field(
        "estimate, with its\n95 % interval",
        lambda row: ABSENT if row.estimate is None else about(*row.estimate),
        lambda row: row.estimate is not None,
    ),
    Field("mean", lambda row: score(row.shown), _always),
    Field("95 % interval", lambda row: _interval(row), lambda row: _interval(row) != ABSENT),
    Field("corrected", lambda row: score(row.corrected), lambda row: row.corrected is not None),
    Field(
        "95 % interval with\nthe judge's error",
        lambda row: ABSENT if row.corrected_ends is None else span(*row.corrected_ends),
        lambda row: row.corrected_ends is not None,
    ),
    Field("ceiling", lambda row: score(row.ceiling), lambda row: row.ceiling is not None),
    Field("never\nfound", lambda row: score(row.never_found), lambda row: _lost(row.never_found)),
    Field("ranked\ntoo low", lambda row: score(row.ranked_too_low), lambda row: _lost(row.ranked_too_low)),
    Field("n", lambda row: count(row.n), _always),
    Field("equal scores in\nany other order", lambda row: _bounds(row.ties), lambda row: wide(row.ties)),
    Field("judged", lambda row: _share(row.coverage), lambda row: row.coverage is not None),
    Field(
        "with the rest at\nworst and best", lambda row: _bounds(row.possible), lambda row: wide(row.possible)
    ),
    Field(
        "if the unjudged\nwere relevant", lambda row: _bounds(row.unjudged), lambda row: wide(row.unjudged)
    ),
)


def _interval(row: Row) -> str:
    """The interval of a mean; where there is an estimate, its own interval says more than that of what is settled."""
    return span(*row.ends) if row.estimate is None else ABSENT


def _share(value: float | None) -> str:
    return ABSENT if value is None else share(value)


def _bounds(pair: tuple[float, float] | None) -> str:
    return span(*pair) if pair is not None and wide(pair) else ABSENT


def telling(rows: Sequence[Row]) -> list[Field]:
    """The columns in which at least one row says something."""
    return [each for each in FIELDS if any(map(each.says, rows))]
