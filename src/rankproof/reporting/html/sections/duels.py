"""Every system against every other: on how many queries it wins and loses."""

from __future__ import annotations

from rankproof.reporting.html.content import Content
from rankproof.reporting.html.markup import Child, Markup, el, ident, join, table
from rankproof.reporting.html.page import Section


def section(content: Content) -> Section | None:
    """The matrix; None for one system alone."""
    if not content.duels:
        return None
    lead = el(
        "p",
        f"The row's system against the column's: queries won / lost on {content.measure}; the rest are equal. "
        "A cell is shaded where the row wins more than it loses.",
    )
    headings: list[Child] = ["", *(ident(each.name) for each in content.systems)]
    headings[0] = "system"
    rows = [_row(content, i) for i in range(len(content.systems))]
    return Section(
        "duels", "Won and lost", join([lead, table("Queries won / lost", headings, rows, cls="heat")])
    )


def _row(content: Content, i: int) -> list[Child]:
    cells = (_cell(pair, i == j) for j, pair in enumerate(content.duels[i]))
    return [ident(content.systems[i].name), *cells]


def _cell(pair: tuple[int, int], same: bool) -> Markup:
    won, lost = pair
    return el("td", "–" if same else f"{won:,} / {lost:,}", cls="h0" if same or won <= lost else "h1")
