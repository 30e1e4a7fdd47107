"""A grid as one page: the winner and what it is worth, quality against latency, the tables."""

from __future__ import annotations

from rankproof.reporting import grid as told
from rankproof.reporting.html.front import Dot, scatter
from rankproof.reporting.html.markup import Markup, el, paragraphs, table
from rankproof.reporting.html.page import Section, page

WORDS = ("configuration", "", "factor", "level", "source")
"""The columns that hold text."""
CAPTIONS = {
    "Configurations": "On the questions that choose, the best first",
    "What each factor does": "Each level against the first of its factor",
    "What varies, and by what": "Shares of all squares; they add up to 100 %",
}


def html(view: told.View) -> str:
    """The grid as one HTML file that needs nothing else."""
    picture = Section("front", "Quality and latency", _picture(view))
    notes = Section("notes", "Notes", paragraphs(told.foot(view)))
    shown = [picture, *map(_section, told.tables(view)), notes]
    return page("Retrieval grid", paragraphs(told.verdict(view)), shown, el("p", "Made by rankproof."))


def _picture(view: told.View) -> Markup:
    """The configurations that were run on all questions, as dots."""
    most = max(row["n"] for row in view["rows"])
    rows = [row for row in view["rows"] if row["means"] and row["n"] == most and row["p50"] is not None]
    dots = [Dot(row["name"], 1000 * row["p50"], told.mean_of(view, row), row["front"]) for row in rows]
    return scatter(view["measure"], dots) if dots else paragraphs(["Nothing was run on all questions."])


def _section(shown: told.Table) -> Section:
    heading, headings, rows = shown
    words = [n for n, name in enumerate(headings) if name in WORDS]
    body = table(CAPTIONS[heading], headings, rows, words=words)
    return Section("-".join(heading.lower().replace(",", "").split()[:2]), heading, body)
