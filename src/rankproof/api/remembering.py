"""What was known from an earlier run, in words: how much, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rankproof.bench.runner import Row


def remembered(rows: Sequence[Row]) -> str:
    """How many answers were kept from earlier, and of when they are; "" where none was.

    >>> remembered([Row("q1", None, 0.1), Row("q2", None, 0.1, remembered=True)])
    '1 of 2 answers known from before'
    """
    known = [row for row in rows if row.remembered]
    moments = sorted({_minute(row.kept) for row in known if row.kept})
    if not known:
        return ""
    since = f", of {moments[0]}" if moments else ""
    until = f" to {moments[-1]}" if len(moments) > 1 else ""
    return f"{len(known):,} of {len(rows):,} answers known from before{since}{until}"


def _minute(moment: float) -> str:
    return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M")
