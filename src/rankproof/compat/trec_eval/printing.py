"""Lines as trec_eval prints them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankproof.compat.trec_eval.results import Results, Value


def topic_lines(results: Results) -> Iterator[str]:
    """The lines of ``-q``: each topic's values, one measure after the other."""
    shown = [series for series in results.series if series.column.entry.shown != "summary"]
    for place, topic in enumerate(results.topics):
        for series in shown:
            yield line(series.column.name, topic, series.values[place], series.whole, results.standardised)


def summary_lines(results: Results) -> Iterator[str]:
    """The lines of the summary over all topics."""
    for series in results.series:
        if series.column.entry.shown != "topics":
            yield line(series.column.name, "all", series.summary, series.whole, results.standardised)


def line(name: str, topic: str, value: Value, whole: bool, standardised: bool) -> str:
    """One line of output.

    >>> line("P_5", "301", 0.25, False, False)
    'P_5                   \\t301\\t0.2500'
    """
    if isinstance(value, str):
        return f"{name:<22}\t{topic}\t{value}"
    if standardised:
        return f"Z{name:<22}\t{topic}\t{value:6.4f}"
    return f"{name:<22}\t{topic}\t{int(value) if whole else format(value, '6.4f')}"


def text(lines: Iterable[str]) -> str:
    """The lines as one text, each ended."""
    return "".join(f"{each}\n" for each in lines)
