"""Single queries: their ranked lists side by side."""

from __future__ import annotations

from rankproof.core.explained import Case, Explained
from rankproof.reporting.html.content import Content
from rankproof.reporting.html.explained import legend, missed, ranked, top_grade
from rankproof.reporting.html.markup import Markup, el, fold, ident, join
from rankproof.reporting.html.page import Section
from rankproof.reporting.numbers import count, score

TOP = 10
"""Documents listed of each ranking."""


def section(content: Content) -> Section | None:
    """A part that unfolds for each query; None where there is none to show."""
    if not content.cases:
        return None
    lead = el("p", _lead(content))
    highest = top_grade(own for each in content.cases for _, own in each.sides)
    cases = (_case(content, each, highest, opened=not i) for i, each in enumerate(content.cases))
    return Section("queries", "Queries to look at", join([lead, legend(highest), *cases]))


def _lead(content: Content) -> str:
    left = content.queries - len(content.cases)
    rest = f" The other {count(left, 'query is', 'queries are')} left out." if left else ""
    return (
        f"The first {TOP} documents of the queries worth a look, each with its grade and what it adds.{rest}"
    )


def _case(content: Content, case: Case, highest: float, opened: bool) -> Markup:
    text = content.texts.get(case.query)
    values = ", ".join(f"{name} {score(own.value)}" for name, own in case.sides)
    told = None if text is None else join([" ", ident(text)])
    summary = join([el("b", ident(case.query)), told, el("small", f" {case.why}; {values}")])
    sides = (_side(content, name, own, highest) for name, own in case.sides)
    return fold(summary, el("div", *sides, cls="sides"), opened=opened)


def _side(content: Content, name: str, own: Explained, highest: float) -> Markup:
    caption = f"{name}: {own.measure} {score(own.value)}"
    return el("div", ranked(content.titles, caption, own.lines[:TOP], highest), missed(content.titles, own))
