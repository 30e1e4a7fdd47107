"""Several retrievers side by side, the best first: quality, latency, failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankproof.reporting import markdown
from rankproof.reporting.latencies import duration
from rankproof.reporting.numbers import count, score
from rankproof.reporting.tables import Column, table

Line = Mapping[str, Any]
TIMES = ("p50", "p95", "p99")


def standings_text(lines: Sequence[Line], measures: Sequence[str]) -> list[str]:
    """The standings as the lines of a table."""
    headings, rows = _cells(lines, measures)
    return table([Column(name, [row[i] for row in rows], right=i > 0) for i, name in enumerate(headings)])


def standings_markdown(lines: Sequence[Line], measures: Sequence[str]) -> str:
    """The standings as a markdown table."""
    headings, rows = _cells(lines, measures)
    return "\n".join(
        markdown.table([*map(markdown.escape, headings)], [[*map(markdown.escape, row)] for row in rows])
    )


def _cells(lines: Sequence[Line], measures: Sequence[str]) -> tuple[list[str], list[list[str]]]:
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
    return headings, rows
