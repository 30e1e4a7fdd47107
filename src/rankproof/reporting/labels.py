"""How far people who labelled agree, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rankproof.reporting.tables import Column, clean, table, wrap

NOTHING = "No document has labels of two people yet. Next: let a second person judge the same pool.\n"
SHOWN = 5
"""So many disagreements are shown."""


class Pair(NamedTuple):
    """Two people, how many items both graded, the share graded alike, kappa, and what they graded apart."""

    first: str
    second: str
    n: int
    same: float | None
    kappa: float | None
    apart: Sequence[tuple[str, str]]


def agreement_text(pairs: Sequence[Pair], alpha: float | None) -> str:
    """A line for each two people, and what they should talk about.

    >>> print(agreement_text([Pair("ana", "ben", 20, 0.9, 0.62, [("q1", "d7")])], 0.61), end="")
    people    both graded  alike  kappa
    --------  -----------  -----  -----
    ana, ben           20   90 %   0.62
    <BLANKLINE>
    Krippendorff's alpha of all: 0.61. 1 is full agreement, 0 what chance gives;
    below .67 the grades mean different things to different people: agree on what
    each means.
    Furthest apart: q1 d7.
    """
    if not pairs:
        return NOTHING
    rows = [
        Column("people", [f"{each.first}, {each.second}" for each in pairs]),
        Column("both graded", [f"{each.n:,}" for each in pairs], right=True),
        Column("alike", [_percent(each.same) for each in pairs], right=True),
        Column("kappa", [_two(each.kappa) for each in pairs], right=True),
    ]
    lines = [*table(rows), ""]
    lines += wrap(
        f"Krippendorff's alpha of all: {_two(alpha)}. 1 is full agreement, 0 what chance gives; below .67 the "
        "grades mean different things to different people: agree on what each means."
    )
    apart = [" ".join(item) for each in pairs for item in each.apart][:SHOWN]
    lines += wrap(f"Furthest apart: {clean(', '.join(apart))}.") if apart else []
    return "\n".join(lines) + "\n"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
