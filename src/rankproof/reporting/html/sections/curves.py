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
    """Two pictures, and under each its values."""
    lead = el(
        "p",
        "Left: the best precision at which so much of the relevant was found, averaged over queries at eleven "
        "points. Right: for how many queries something relevant stands in the first k. "
        f"Relevant here is {content.relevant}.",
    )
    left = _figure(content, "Precision by recall", RECALLS, _precision, ("recall", "precision"))
    right = _figure(content, "Success in the first k", DEPTHS, _success, ("k", "share of queries"))
    return Section("curves", "How far down", join([lead, el("div", left, right, cls="grid")]))


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
) -> Markup:
    drawn = sorted(content.systems, key=lambda each: _LAST.index(content.role(each.name)))
    series = [
        Series(each.name, content.role(each.name), list(zip(along, values(each), strict=True)))
        for each in drawn
    ]
    return figure(title, curves(title, along, series, names), _values(content, title, along, values, names))


_LAST = ("other", "base", "best")
"""What is drawn last lies on top."""


def _values(
    content: Content,
    title: str,
    along: Sequence[float],
    values: Callable[[System], Sequence[float]],
    names: tuple[str, str],
) -> Markup:
    columns = [values(each) for each in content.systems]
    rows: list[list[Child]] = [
        [short(at), *(score(column[i]) for column in columns)] for i, at in enumerate(along)
    ]
    headings = (names[0], *(ident(each.name) for each in content.systems))
    return fold("The values", table(title, headings, rows, words=()), cls="plain")
