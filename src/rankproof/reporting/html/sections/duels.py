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
    names = [each.name for each in content.systems]
    starts = range(0, len(names), ACROSS)
    tables = [_table(content, names, slice(start, start + ACROSS)) for start in starts]
    return Section("duels", "Won and lost", join([lead, *tables]))


ACROSS = 8
"""Systems beside each other in one table: what a sheet of paper holds."""


def _table(content: Content, names: list[str], against: slice) -> Markup:
    """All systems against these."""
    headings: list[Child] = ["system", *map(ident, names[against])]
    places = range(len(names))[against]
    rows: list[list[Child]] = [
        [ident(name), *(_cell(content.duels[i][j], i == j) for j in places)] for i, name in enumerate(names)
    ]
    part = "" if len(names) <= ACROSS else f", against {places.start + 1} to {places.stop} of {len(names)}"
    return table(f"Queries won / lost{part}", headings, rows, cls="heat")


def _cell(pair: tuple[int, int], same: bool) -> Markup:
    won, lost = pair
    return el("td", "–" if same else f"{won:,} / {lost:,}", cls="h0" if same or won <= lost else "h1")
