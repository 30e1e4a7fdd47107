"""How long answers took, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankproof.reporting.numbers import ABSENT
from rankproof.reporting.tables import Column, table


def duration(seconds: float | None) -> str:
    """A time that a person can read: three figures and a unit.

    >>> [duration(x) for x in (0.00001234, 0.0123, 1.5, 75, None)]
    ['0.012 ms', '12.3 ms', '1.50 s', '75.0 s', '-']
    """
    if seconds is None:
        return ABSENT
    if seconds < 1:
        size = seconds * 1000
        return f"{size:.3f} ms" if size < 1 else f"{size:.2f} ms" if size < 10 else f"{size:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.1f} s"


def spread(low: float | None, high: float | None) -> str:
    """The ends of an interval of times; an end that so few values do not show is left open.

    >>> spread(0.0123, 0.015), spread(0.0123, None), spread(None, None)
    ('12.3 ms to 15.0 ms', '12.3 ms or more', '-')
    """
    if low is None and high is None:
        return ABSENT
    if high is None:
        return f"{duration(low)} or more"
    return f"{duration(high)} or less" if low is None else f"{duration(low)} to {duration(high)}"


def latency_table(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines of a table of quantiles with their intervals."""
    return table(
        [
            Column("latency", [f"p{each['share'] * 100:g}" for each in found]),
            Column("time", [duration(each["value"]) for each in found], right=True),
            Column("95 % interval", [spread(each["low"], each["high"]) for each in found]),
        ]
    )
