"""Groups of queries apart."""

from __future__ import annotations

from rankproof.reporting.html.content import Content, System
from rankproof.reporting.html.markup import Child, el, ident, join, table
from rankproof.reporting.html.page import Section
from rankproof.reporting.html.sections.systems import against
from rankproof.reporting.numbers import score

HEADINGS = ("group", "system", "queries", "mean", "verdict", "difference", "interval", "p", "won / lost")


def section(content: Content) -> Section | None:
    """The deciding measure in each group; None where no groups were given."""
    groups = content.systems[0].slices
    if not groups:
        return None
    lead = el(
        "p", f"{content.measure} in groups of queries. A group of few queries is shown, and never decided."
    )
    rows = [_row(content, group, each) for group in groups for each in content.systems]
    if content.comparison is None:
        listed = table("Groups of queries", ("group", "queries", "mean"), rows)
    else:
        listed = table("Groups of queries", HEADINGS, rows, words=(0, 1, 4), grouped=True)
    return Section("slices", "Groups of queries", join([lead, listed]))


def _row(content: Content, group: str, system: System) -> list[Child]:
    n, mean = system.slices[group]
    if content.comparison is None:
        return [ident(group), f"{n:,}", score(mean)]
    compared = against(content.comparison, system.name, content.measure, group)
    return [ident(group), ident(system.name), f"{n:,}", score(mean), *compared]
