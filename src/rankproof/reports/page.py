"""The whole report as one page."""

from __future__ import annotations

from rankproof.diagnosing import page as diagnosis
from rankproof.document.html.page import Section, el, page
from rankproof.reports import queries, summary, systems
from rankproof.reports.content import Content


def html(content: Content) -> str:
    """The report as one HTML file that needs nothing else."""
    opening = el("p", f"{summary.size(content)}.", cls="size")
    foot = el("p", f"Made by rankproof {content.version}. The same input gives the same page.")
    return page(content.title, opening, _sections(content), foot)


def _sections(content: Content) -> list[Section]:
    """The parts in the order they are read; what says nothing here is left out."""
    found = [
        summary.summary_section(content),
        systems.systems_section(content),
        systems.differences_section(content) if content.moved else None,
        queries.losses_section(content),
        None if content.diagnosed is None else diagnosis.section(content.diagnosed),
        queries.curves_section(content),
        queries.ranks_section(content),
        systems.slices_section(content),
        systems.duels_section(content),
        queries.queries_section(content),
        summary.audit_section(content),
        summary.definitions_section(content),
    ]
    return [each for each in found if each is not None]
