"""Runs and standings as documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankproof.document.model import Document, Paragraph, Part, Table
from rankproof.document.numbers import ABSENT, count, score
from rankproof.errors import shorten
from rankproof.stats.shares import Quantile

if TYPE_CHECKING:
    from rankproof.bench.runs import Run


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


SHOWN = 3
"""Questions that are named for each reason."""


def run(found: Run) -> Document:
    """What was asked and how fast, the scores if there are judgments, and what failed."""
    known = sum(row.remembered for row in found.rows)
    asked = (
        f"{found.name}: {count(len(found.rows), 'question')}, up to {count(found.k, 'document')} each, in "
        f"{duration(found.seconds)}{f', {known} of them known from before' if known else ''}"
    )
    scored = found.judgments is not None and found.latencies
    said = [*_failures(found.failures), *found.notes]
    records = [
        {
            "question": each.question,
            "found": len(each.answer.found) if each.answer else 0,
            "seconds": each.seconds,
            "attempts": each.attempts,
            "failure": each.failure or None,
        }
        for each in found.rows
    ]
    parts = [
        Part(Paragraph(asked)),
        *([Part(Paragraph("")), *found.scores._document().parts] if scored else []),
        Part(_latency(found.latency)) if found.latency else Part(),
        Part(Paragraph(""), *map(Paragraph, said)) if said else Part(),
    ]
    return Document(f"Run {found.name}", parts, records, found.to_dict(), kinds={"failure": str})


def _latency(found: Sequence[Quantile]) -> Table:
    """Quantiles with their intervals."""
    rows = [(f"p{each.share * 100:g}", duration(each.value), spread(each.low, each.high)) for each in found]
    headings = ("latency", "time", "95 % interval")
    return Table.of(headings, rows, ("latency", "95 % interval"))


def _failures(found: Mapping[str, str]) -> list[str]:
    """Which questions failed, by reason, the most frequent first."""
    reasons = Counter(found.values())
    return [
        _failed(reason, [name for name in found if found[name] == reason])
        for reason, _ in reasons.most_common()
    ]


def _failed(reason: str, names: list[str]) -> str:
    shown = ", ".join(shorten(name, 40) for name in names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    verb = "failed and counts as a miss" if len(names) == 1 else "failed and count as misses"
    return f"{count(len(names), 'question')} {verb} ({shown}): {reason}"


Line = Mapping[str, Any]
TIMES = ("p50", "p95", "p99")


def standings_table(lines: Sequence[Line], measures: Sequence[str]) -> Table:
    """The standings: for each system its means, its latencies, how many questions failed."""
    headings = ["system", *measures, *TIMES, "failed"]
    rows = [
        [
            each["system"],
            *(score(each["means"][name]) for name in measures),
            *(duration(each[name]) for name in TIMES),
            count(each["failed"]),
        ]
        for each in lines
    ]
    return Table.of(headings, rows, ["system"])
