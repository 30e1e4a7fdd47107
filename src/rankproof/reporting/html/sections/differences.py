"""Query by query: how many got better, how many worse, and by how much."""

from __future__ import annotations

from rankproof.reporting.comparison import signed
from rankproof.reporting.html.charts import tally, waterfall
from rankproof.reporting.html.content import Content, Moved
from rankproof.reporting.html.markup import Child, Markup, el, fold, ident, join, table
from rankproof.reporting.html.page import Section
from rankproof.reporting.html.svg import ceiling, figure
from rankproof.reporting.tables import cut

EXTREMES = 5
"""Queries listed at each end."""


def section(content: Content) -> Section:
    """A waterfall for each system against the baseline."""
    baseline = content.comparison["baseline"] if content.comparison else ""
    lead = el(
        "p",
        f"Each bar is one query: its {content.measure} minus that of ",
        ident(baseline),
        ", sorted. One mean can hide two stories: a little better everywhere, or much better here and "
        "broken there. All pictures have the same scale.",
    )
    limit = ceiling(max((abs(v) for each in content.moved for _, v in each.values), default=1.0) or 1.0)
    pictures = (_picture(content, each, limit) for each in content.moved)
    return Section("differences", "Query by query", join([lead, el("div", *pictures, cls="grid")]))


def _picture(content: Content, moved: Moved, limit: float) -> Markup:
    drawing = waterfall(f"{moved.system}, query by query", moved.values, limit)
    caption = join([ident(moved.system), el("small", tally(moved.values))])
    return figure(caption, drawing, fold("The most moved queries", _ends(content, moved), cls="plain"))


def _ends(content: Content, moved: Moved) -> Markup:
    """The queries that gained and lost most."""
    gained = [each for each in moved.values[:EXTREMES] if each[1] > 0]
    lost = [each for each in moved.values[-EXTREMES:] if each[1] < 0]
    rows: list[list[Child]] = [[query(content, name), signed(value)] for name, value in (*gained, *lost)]
    return table(f"{cut(moved.system, 40)}: greatest gains and losses", ("query", "difference"), rows)


def query(content: Content, name: str) -> Markup:
    """A query's id, and its text where that is known."""
    text = content.texts.get(name)
    return ident(name) if text is None else join([ident(name), el("small", ident(text))])
