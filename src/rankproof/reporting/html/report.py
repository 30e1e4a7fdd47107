"""The whole report as one page."""

from __future__ import annotations

from rankproof.reporting.html.content import Content
from rankproof.reporting.html.markup import el
from rankproof.reporting.html.page import Section, page
from rankproof.reporting.html.sections import (
    audit,
    curves,
    definitions,
    diagnosis,
    differences,
    duels,
    losses,
    queries,
    ranks,
    slices,
    summary,
    systems,
)


def html(content: Content) -> str:
    """The report as one HTML file that needs nothing else."""
    opening = el("p", f"{summary.size(content)}.", cls="size")
    foot = el("p", f"Made by rankproof {content.version}. The same input gives the same page.")
    return page(content.title, opening, _sections(content), foot)


def _sections(content: Content) -> list[Section]:
    """The parts in the order they are read; what says nothing here is left out."""
    found = [
        summary.section(content),
        systems.section(content),
        differences.section(content) if content.moved else None,
        losses.section(content),
        None if content.diagnosed is None else diagnosis.section(content.diagnosed),
        curves.section(content),
        ranks.section(content),
        slices.section(content),
        duels.section(content),
        queries.section(content),
        audit.section(content),
        definitions.section(content),
    ]
    return [each for each in found if each is not None]
