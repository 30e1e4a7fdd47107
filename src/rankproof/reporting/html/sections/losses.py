"""Where each system loses: what it never found, and what it ranked too low."""

from __future__ import annotations

from rankproof.reporting.html.charts import PARTS, losses
from rankproof.reporting.html.content import Content
from rankproof.reporting.html.markup import Child, Markup, el, fold, ident, join, table
from rankproof.reporting.html.page import Section
from rankproof.reporting.html.svg import figure
from rankproof.reporting.numbers import score


def section(content: Content) -> Section | None:
    """A picture for each measure that can be split, and the table; None where there is none."""
    shown = content.splits
    if not shown:
        return None
    lead = el(
        "p",
        "Each bar ends at the ceiling, the most that any ranking could reach under these judgments. What was "
        "never found no reranker can mend; what was found and ranked too low is what a perfect one would gain.",
    )
    pictures = el("div", *(_picture(content, i) for i in shown), cls="grid")
    return Section("losses", "Where it is lost", join([lead, _legend(), pictures, _table(content, shown)]))


def _legend() -> Markup:
    items = (el("li", el("i", cls=kind, aria_hidden="true"), words) for kind, words in PARTS.items())
    return el("ul", *items, cls="legend")


def _picture(content: Content, i: int) -> Markup:
    rows = [(each.name, content.role(each.name), each.bars[i]) for each in content.systems]
    name = content.definitions[i].name
    return figure(name, losses(f"{name}: where it is lost", rows))


def _table(content: Content, shown: list[int]) -> Markup:
    rows: list[list[Child]] = []
    for i in shown:
        for system in content.systems:
            bar = system.bars[i]
            parts = (bar.mean, bar.ranked_too_low, bar.never_found, bar.ceiling)
            rows.append([bar.measure, ident(system.name), *map(score, parts)])
    headings = ("measure", "system", "reached", "ranked too low", "never found", "ceiling")
    caption = "What is reached, and what is missing to the ceiling"
    return fold("The values", table(caption, headings, rows, words=(0, 1), grouped=True), cls="plain")
