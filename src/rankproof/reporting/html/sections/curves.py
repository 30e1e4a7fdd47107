"""How far down one has to look: precision against recall, and success by depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankproof.reporting.html.charts import Series, curves
from rankproof.reporting.html.content import DEPTHS, RECALLS, Content, System
from rankproof.reporting.html.markup import Child, Markup, el, fold, ident, join, table
from rankproof.reporting.html.page import Section
from rankproof.reporting.html.svg import figure, short
from rankproof.reporting.numbers import score


def section(content: Content) -> Section:
    """Two pictures, and under them their values."""
    lead = el(
        "p",
        "Left: the best precision at which so much of the relevant was found, averaged over queries at eleven "
        "points. Right: for how many queries something relevant stands in the first k. "
        f"Relevant here is {content.relevant}.",
    )
    drawn, listed = zip(
        _figure(content, "Precision by recall", RECALLS, _precision, ("recall", "precision")),
        _figure(content, "Success in the first k", DEPTHS, _success, ("k", "share of queries")),
        strict=True,
    )
    return Section("curves", "How far down", join([lead, el("div", *drawn, cls="grid"), *listed]))


def _precision(system: System) -> Sequence[float]:
    return system.precision


def _success(system: System) -> Sequence[float]:
    return system.success


def _figure(
    content: Content,
    title: str,
    along: Sequence[float],
    values: Callable[[System], Sequence[float]],
    names: tuple[str, str],
) -> tuple[Markup, Markup]:
    """The picture, and its values: a line a system, as wide as the page whatever many there are."""
    drawn = sorted(content.systems, key=lambda each: _LAST.index(content.role(each.name)))
    series = [
        Series(each.name, content.role(each.name), list(zip(along, values(each), strict=True)))
        for each in drawn
    ]
    return figure(title, curves(title, along, series, names)), _values(content, title, along, values, names)


_LAST = ("other", "base", "best")
"""What is drawn last lies on top."""


TOLD = (1, 2, 3, 4, 5, 7, 10, 12, 15, 20)
"""The depths whose values are listed: as many as fit on paper."""


def _values(
    content: Content,
    title: str,
    along: Sequence[float],
    values: Callable[[System], Sequence[float]],
    names: tuple[str, str],
) -> Markup:
    told = [i for i, at in enumerate(along) if len(along) <= len(RECALLS) or at in TOLD]
    rows: list[list[Child]] = [
        [ident(each.name), *(score(values(each)[i]) for i in told)] for each in content.systems
    ]
    headings = (f"{names[1]} by {names[0]}", *(short(along[i]) for i in told))
    return fold(f"The values: {title[0].lower()}{title[1:]}", table(title, headings, rows), cls="plain")
