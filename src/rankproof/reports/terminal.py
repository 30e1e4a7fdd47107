"""A report in 80 columns: the same story as the page, with charts of characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankproof.comparing.words import case_blocks, tables, waterfalls
from rankproof.document import terminal
from rankproof.document.formats.table import lines_of
from rankproof.document.numbers import count, score, share
from rankproof.document.terminal import Column, cut, table, wrap
from rankproof.reports.content import BUCKETS, DEPTHS, Content, System
from rankproof.reports.queries import rank_bucket
from rankproof.reports.summary import duels, methods, size, summary_sentences, systems_concerned
from rankproof.scoring.tables import finding_lines

CHART = 40
"""Columns of a chart."""
CASES = 3
"""Queries whose lists are shown."""


def story(content: Content) -> str:
    """The whole report as text."""
    lines = [cut(content.title, 80), "=" * min(len(content.title), 80), f"{size(content)}."]
    for each in summary_sentences(content):
        lines += ["", *wrap(each)]
    for heading, body in _sections(content):
        lines += ["", "", heading, "-" * len(heading), *body]
    return "\n".join(lines) + "\n"


def _sections(content: Content) -> Iterator[tuple[str, list[str]]]:
    """The parts that have something to say, in the order of the page."""
    yield "Systems", _systems(content)
    if content.comparison is not None:
        compared = content.comparison
        yield "Differences", lines_of(*tables(compared), *waterfalls(compared))[:-1]
    if 0 in content.splits:
        yield "Where it is lost", _losses(content)
    yield "How far down", _curves(content)
    yield "Where the relevant documents stand", _ranks(content)
    if content.duels:
        yield "Queries won/lost", _duels(content)
    if content.cases:
        yield "Queries to look at", _cases(content)
    yield "Audit", _audit(content)
    yield "Definitions", [line for each in _definitions(content) for line in wrap(each, later="  ")]


def _audit(content: Content) -> list[str]:
    """What the audit says, with the systems it is about where these are not all."""
    told = (finding_lines(found, where=systems_concerned(content, on)) for found, on in content.findings)
    return [line for lines in told for line in lines] or ["Nothing to report."]


def _systems(content: Content) -> list[str]:
    """Each mean as a point on its interval, a scale a measure."""
    lines: list[str] = []
    for i, definition in enumerate(content.definitions):
        bars = [each.bars[i] for each in content.systems]
        scale = (min(bar.drawn[0] for bar in bars), max(bar.drawn[1] for bar in bars))
        ends = f"{score(scale[0])}{score(scale[1]):>{CHART - len(score(scale[0]))}}"
        charts = [terminal.interval(bar.drawn[0], bar.mean, bar.drawn[1], scale, CHART) for bar in bars]
        means = Column(definition.name, [score(bar.mean) for bar in bars], True)
        lines += ([""] if lines else []) + table([_names(content.systems), means, Column(ends, charts)])
    return [*lines, "", *wrap(f"A point is a mean, the line its interval at {share(content.level)}.")]


def _names(systems: Sequence[System]) -> Column:
    return Column("system", [cut(each.name, 24) for each in systems])


def _losses(content: Content) -> list[str]:
    """What was reached, ranked too low and never found, as one bar up to 1."""
    bars = [each.bars[0] for each in content.systems]
    shown = [(bar.mean, bar.ranked_too_low or 0.0, bar.never_found or 0.0) for bar in bars]
    top = max(max(map(sum, shown)), 1.0)
    charts = [terminal.parts([each / top for each in three], CHART) for three in shown]
    numbers = [
        Column(name, [score(each[i]) for each in shown], True)
        for i, name in enumerate(("reached", "too\nlow", "never\nfound"))
    ]
    reached, low, never = terminal.REACHED, terminal.TOO_LOW, terminal.NEVER
    legend = f"{content.measure}: {reached} reached  {low} ranked too low  {never} never found"
    return [*table([_names(content.systems), *numbers, Column("up to the ceiling", charts)]), "", legend]


def _curves(content: Content) -> list[str]:
    """Success in the first k and precision by recall, a spark each."""
    success = Column(f"success, k = 1 to {DEPTHS[-1]}", [_spark(each.success) for each in content.systems])
    precision = Column("precision at recall 0 to 1", [_spark(each.precision) for each in content.systems])
    return [
        *table([_names(content.systems), success, precision]),
        "",
        "A full block is 1.",
    ]


def _spark(values: Sequence[float]) -> str:
    return f"{terminal.spark(values, 1)} {score(values[0])} to {score(values[-1])}"


def _ranks(content: Content) -> list[str]:
    """At which ranks the relevant documents stand, as shares of each system's row."""
    columns = [_names(content.systems)]
    headings = [*(rank_bucket(*each) for each in BUCKETS), "not\nfound"]
    rows = [content.buckets[each.name] for each in content.systems]
    for i, heading in enumerate(headings):
        columns.append(Column(heading, [_percent(row[i] / (sum(row) or 1)) for row in rows], True))
    heat = [terminal.spark([each / (sum(row) or 1) for each in row]) for row in rows]
    return table([columns[0], Column("", heat), *columns[1:]])


def _percent(part: float) -> str:
    return "<1%" if 0 < part < 0.005 else f"{part:.0%}"


def _duels(content: Content) -> list[str]:
    _, headings, rows = duels(content)
    columns = zip(headings, zip(*rows, strict=True), strict=True)
    return table([Column(cut(name, 16), cells, name != "system") for name, cells in columns])


def _cases(content: Content) -> list[str]:
    shown = content.cases[:CASES]
    lines = [
        line for each in shown for line in [*lines_of(*case_blocks(each, content.texts.get(each.query))), ""]
    ]
    left = content.queries - len(shown)
    return [*lines, f"The other {count(left, 'query is', 'queries are')} left out."] if left else lines[:-1]


def _definitions(content: Content) -> list[str]:
    formulas = [f"{each.name}: {each.title} {each.formula}" for each in content.definitions]
    return [*formulas, *content.conventions, *methods(content)]
