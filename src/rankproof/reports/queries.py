"""Queries in a report: lists side by side, where relevant documents stand and are lost, curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from rankproof.core.explanation import ExplainedCase
from rankproof.document.charts import PARTS, Series, curves, losses
from rankproof.document.numbers import count, score, share
from rankproof.document.page import Child, Markup, Section, axis_number, el, figure, fold, ident, join, table
from rankproof.reports.content import DEPTHS, LOST, RANK_HEADINGS, RECALLS, Content, System
from rankproof.reports.systems import query
from rankproof.scoring.explain_page import legend, missed_list, ranked_list, top_grade

TOP = 10
"""The number of documents listed of each ranking."""


def queries_section(content: Content) -> Section | None:
    """A folded part for each query; None if there is none to show."""
    if not content.cases:
        return None
    left = content.queries - len(content.cases)
    rest = f" The other {count(left, 'query is', 'queries are')} left out." if left else ""
    told = f"The first {TOP} documents of the queries worth a look, each with its grade and what it adds.{rest}"
    highest = top_grade(own for each in content.cases for _, own in each.sides)
    cases = (_case(content, each, highest, opened=not i) for i, each in enumerate(content.cases))
    return Section("queries", "Queries to look at", join([el("p", told), legend(highest), *cases]))


def _case(content: Content, case: ExplainedCase, highest: float, opened: bool) -> Markup:
    text = content.texts.get(case.query)
    values = ", ".join(f"{name} {score(own.value)}" for name, own in case.sides)
    told = None if text is None else join([" ", ident(text)])
    summary = join([el("b", ident(case.query)), told, el("small", f" {case.why}; {values}")])
    sides = []
    for name, own in case.sides:
        caption = f"{name}: {own.measure} {score(own.value)}"
        listed = ranked_list(content.titles, caption, own.lines[:TOP], highest)
        sides.append(el("div", listed, missed_list(content.titles, own)))
    return fold(summary, el("div", *sides, cls="sides"), opened=opened)


def losses_section(content: Content) -> Section | None:
    """A picture for each measure that can be split, and the table; None if there is none."""
    shown = content.splits
    if not shown:
        return None
    lead = el(
        "p",
        "Each bar ends at the ceiling, the most that any ranking could reach under these judgments. No reranker "
        "recovers what was never found; what was found and ranked too low is what a perfect one would gain.",
    )
    items = (el("li", el("i", cls=kind, aria_hidden="true"), words) for kind, words in PARTS.items())
    names = [content.definitions[i].name for i in shown]
    drawn = zip(names, map(content.drawn, shown), strict=True)
    pictures = (figure(name, losses(f"{name}: where it is lost", bars)) for name, bars in drawn)
    parts = [el("ul", *items, cls="legend"), el("div", *pictures, cls="grid")]
    rows: list[list[Child]] = [[measure, ident(name), *map(score, of)] for measure, name, of in content.losses]
    caption = "What is reached, and what is missing to the ceiling"
    listed = table(caption, LOST, rows, words=(0, 1), grouped=True)
    return Section("losses", "Where it is lost", join([lead, *parts, fold("The values", listed, cls="plain")]))


LEVELS = (0.0, 0.1, 0.25, 0.5)
"""The shares above which the colour of a cell is stronger."""


def ranks_section(content: Content) -> Section:
    """All queries of each system, then single queries under the systems shown."""
    lead = el(
        "p",
        f"At which ranks the relevant documents stand ({content.relevant}); the last column has those that were "
        "not found. The stronger the colour of a cell, the larger its share of the row. A good system has its "
        "colour on the left.",
    )
    rows = [[ident(name), *_cells(counts, shares=True)] for name, counts in content.buckets.items()]
    whole = table("Relevant documents by rank, all queries", ("system", *RANK_HEADINGS), rows, cls="heat")
    single = (_queries(content, i, name) for i, name in enumerate(content.shown))
    return Section("ranks", "Where the relevant documents stand", join([lead, whole, *single]))


def _queries(content: Content, i: int, name: str) -> Markup:
    rows = [[query(content, each.query), *_cells(each.counts[i])] for each in content.ranks]
    listed = table(f"{name}: relevant documents by rank", ("query", *RANK_HEADINGS), rows, cls="heat")
    shown = len(content.ranks)
    which = f"all {count(shown, 'query')}, hardest first"
    if shown < content.queries:
        which = f"the {count(shown, 'hardest query')}; {count(content.queries - shown, 'other')} left out"
    return fold(join([ident(name), el("small", f" {which}")]), listed)


def _cells(counts: Sequence[int], shares: bool = False) -> list[Child]:
    """The counts, shaded by their share of the row."""
    total = sum(counts) or 1
    cells: list[Child] = []
    for i, n in enumerate(counts):
        shown = ("0" if shares else "·") if not n else share(n / total) if shares else f"{n:,}"
        miss = " miss" if i == len(counts) - 1 else ""
        cells.append(el("td", shown, cls=f"h{sum(n / total > each for each in LEVELS)}{miss}"))
    return cells


def curves_section(content: Content) -> Section:
    """Two pictures, and under them their values."""
    lead = el(
        "p",
        "Left: the best precision at which so much of the relevant was found, averaged over queries at eleven points. "
        f"Right: for how many queries something relevant stands in the first k. Relevant here is {content.relevant}.",
    )
    drawn, listed = zip(
        _figure(content, "Precision by recall", RECALLS, attrgetter("precision"), ("recall", "precision")),
        _figure(content, "Success in the first k", DEPTHS, attrgetter("success"), ("k", "share of queries")),
        strict=True,
    )
    return Section("curves", "How far down", join([lead, el("div", *drawn, cls="grid"), *listed]))


def _figure(
    content: Content,
    title: str,
    along: Sequence[float],
    values: Callable[[System], Sequence[float]],
    names: tuple[str, str],
) -> tuple[Markup, Markup]:
    """The picture, and its values: a line a system, as wide as the page whatever many there are."""
    drawn = sorted(content.systems, key=lambda each: _LAST.index(content.role(each.name)))
    series = [Series(each.name, content.role(each.name), list(zip(along, values(each), strict=True))) for each in drawn]
    told = [i for i, at in enumerate(along) if len(along) <= len(RECALLS) or at in TOLD]
    rows: list[list[Child]] = [[ident(each.name), *(score(values(each)[i]) for i in told)] for each in content.systems]
    headings = (f"{names[1]} by {names[0]}", *(axis_number(along[i]) for i in told))
    listed = fold(f"The values: {title[0].lower()}{title[1:]}", table(title, headings, rows), cls="plain")
    return figure(title, curves(title, along, series, names)), listed


_LAST = ("other", "base", "best")
"""The last curve is drawn on top."""


TOLD = (1, 2, 3, 4, 5, 7, 10, 12, 15, 20)
"""The depths whose values are listed: as many as fit on paper."""
