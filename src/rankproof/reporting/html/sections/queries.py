"""Single queries: their ranked lists side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rankproof.core.explained import Explained, Line
from rankproof.reporting.html.content import Case, Content
from rankproof.reporting.html.markup import Child, Markup, el, fold, ident, join, table
from rankproof.reporting.html.page import Section
from rankproof.reporting.numbers import ABSENT, count, score

TOP = 10
"""Documents listed of each ranking."""
MISSED = 5
"""Documents named that were not found."""


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


def legend(highest: float) -> Markup:
    """What the colours of the grades mean."""
    shown = sorted({0.0, *(float(each) for each in range(1, min(int(highest), 4) + 1)), highest})
    chips = (el("li", chip(each, highest), f" grade {each:g}") for each in shown)
    return el("ul", *chips, el("li", chip(None, highest), " nobody judged it"), cls="legend")


def chip(value: float | None, highest: float) -> Markup:
    """A grade as text on its colour."""
    if value is None:
        return el("span", ABSENT, cls="chip none")
    level = 0 if value <= 0 or highest <= 0 else min(3, max(1, round(3 * value / highest)))
    return el("span", f"{value:g}", cls=f"chip g{level}")


def top_grade(shown: Iterable[Explained]) -> float:
    """The highest grade there is in the judgments of the queries shown."""
    return max((line.grade or 0.0 for own in shown for line in own.ideal), default=0.0)


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


def ranked(titles: Mapping[str, str], caption: str, lines: tuple[Line, ...], highest: float) -> Markup:
    """A ranked list; documents by their titles where those are known."""
    rows: list[list[Child]] = [
        [
            ABSENT if line.rank is None else f"{line.rank:,}",
            el("td", chip(line.grade, highest)),
            el("td", document(titles, line.document), cls="doc"),
            score(line.adds) if line.adds else "",
        ]
        for line in lines
    ]
    if not rows:
        return el("p", caption, ". The ranking has no documents for this query.")
    return table(caption, ("rank", "grade", "document", "adds"), rows, words=(2,))


def document(titles: Mapping[str, str], name: str) -> Markup:
    """A document's title and id, or the id alone."""
    title = titles.get(name)
    return ident(name) if title is None else join([ident(title), el("small", ident(name))])


def missed(titles: Mapping[str, str], own: Explained) -> Markup | None:
    """The relevant documents that were not found."""
    if not own.missed:
        return None
    named = (join([ident(titles.get(doc, doc)), f" (grade {grade:g})"]) for doc, grade in own.missed[:MISSED])
    more = f"; and {len(own.missed) - MISSED:,} more" if len(own.missed) > MISSED else None
    return el("p", "Not in the ranking: ", join(named, "; "), more, ".", cls="note")
