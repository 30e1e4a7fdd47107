"""Runs, standings and latencies as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rankproof.document.model import Table
from rankproof.document.numbers import ABSENT, count, score
from rankproof.document.terminal import Column, table, wrap
from rankproof.errors import shorten


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


View = Mapping[str, Any]
SHOWN = 3
"""Questions that are named for each reason."""


def render_run(view: View) -> str:
    """The run in at most 80 columns."""
    lines = [f"{view['name']}: {_asked(view)}", ""]
    if view["scores"]:
        lines += [*view["scores"].rstrip().split("\n"), ""]
    if view["latency"]:
        lines += [*latency_table(view["latency"]), ""]
    for sentence in (*failures(view["failures"]), *view["notes"]):
        lines += wrap(sentence)
    return "\n".join(lines).rstrip() + "\n"


def _asked(view: View) -> str:
    known = f", {view['remembered']} of them known from before" if view["remembered"] else ""
    return (
        f"{count(view['questions'], 'question')}, up to {count(view['k'], 'document')} each, "
        f"in {duration(view['seconds'])}{known}"
    )


def failures(found: Mapping[str, str]) -> list[str]:
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
