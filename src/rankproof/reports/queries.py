"""Queries in a report: lists side by side, where relevant documents stand and are lost, curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankproof.core.explanation import Explained, ExplainedCase
from rankproof.document.charts import PARTS, Series, curves, losses
from rankproof.document.numbers import count, score, share
from rankproof.document.page import Child, Markup, Section, axis_number, el, figure, fold, ident, join, table
from rankproof.reports.content import BUCKETS, DEPTHS, RECALLS, Content, Ranks, System
from rankproof.reports.systems import query
from rankproof.scoring.explain_page import legend, missed_list, ranked_list, top_grade

TOP = 10
"""The number of documents listed of each ranking."""


def queries_section(content: Content) -> Section | None:
    """A folded part for each query; None if there is none to show."""
    if not content.cases:
        return None
    lead = el("p", _lead(content))
    highest = top_grade(own for each in content.cases for _, own in each.sides)
    cases = (_case(content, each, highest, opened=not i) for i, each in enumerate(content.cases))
    return Section("queries", "Queries to look at", join([lead, legend(highest), *cases]))


def _lead(content: Content) -> str:
    left = content.queries - len(content.cases)
    rest = f" The other {count(left, 'query is', 'queries are')} left out." if left else ""
    return f"The first {TOP} documents of the queries worth a look, each with its grade and what it adds.{rest}"


def _case(content: Content, case: ExplainedCase, highest: float, opened: bool) -> Markup:
    text = content.texts.get(case.query)
    values = ", ".join(f"{name} {score(own.value)}" for name, own in case.sides)
    told = None if text is None else join([" ", ident(text)])
    summary = join([el("b", ident(case.query)), told, el("small", f" {case.why}; {values}")])
    sides = (_side(content, name, own, highest) for name, own in case.sides)
    return fold(summary, el("div", *sides, cls="sides"), opened=opened)


def _side(content: Content, name: str, own: Explained, highest: float) -> Markup:
    caption = f"{name}: {own.measure} {score(own.value)}"
    return el(
        "div",
        ranked_list(content.titles, caption, own.lines[:TOP], highest),
        missed_list(content.titles, own),
    )


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
    whole = table("Relevant documents by rank, all queries", _headings("system"), rows, cls="heat")
    single = (_queries(content, i, name) for i, name in enumerate(content.shown))
    return Section("ranks", "Where the relevant documents stand", join([lead, whole, *single]))


def _queries(content: Content, i: int, name: str) -> Markup:
    rows = [[query(content, each.query), *_cells(each.counts[i])] for each in content.ranks]
    listed = table(f"{name}: relevant documents by rank", _headings("query"), rows, cls="heat")
    return fold(join([ident(name), el("small", f" {_which(content, content.ranks)}")]), listed)


def _which(content: Content, shown: Sequence[Ranks]) -> str:
    if len(shown) == content.queries:
        return f"all {count(len(shown), 'query')}, hardest first"
    left = count(content.queries - len(shown), "other")
    return f"the {count(len(shown), 'hardest query')}; {left} left out"


def _headings(first: str) -> list[str]:
    return [first, *(rank_bucket(*each) for each in BUCKETS), "not found"]


def rank_bucket(low: int, high: int | None) -> str:
    """A bucket of ranks as a heading."""
    return f"{low}+" if high is None else f"{low}" if low == high else f"{low}-{high}"


def _cells(counts: Sequence[int], shares: bool = False) -> list[Child]:
    """The counts, shaded by their share of the row."""
    total = sum(counts) or 1
    last = len(counts) - 1
    return [
        el("td", _shown(n, total, shares), cls=f"h{_level(n / total)}{' miss' if i == last else ''}")
        for i, n in enumerate(counts)
    ]


def _shown(number: int, total: int, shares: bool) -> str:
    if not number:
        return "0" if shares else "·"
    return share(number / total) if shares else f"{number:,}"


def _level(part: float) -> int:
    return sum(part > each for each in LEVELS[1:]) + (part > 0)


def curves_section(content: Content) -> Section:
    """Two pictures, and under them their values."""
    lead = el(
        "p",
        "Left: the best precision at which so much of the relevant was found, averaged over queries at eleven points. "
        f"Right: for how many queries something relevant stands in the first k. Relevant here is {content.relevant}.",
    )
    drawn, listed = zip(
        _figure(content, "Precision by recall", RECALLS, _precision, ("recall", "precision")),
        _figure(content, "Success in the first k", DEPTHS, _success, ("k", "share of queries")),
        strict=True,
    )
    return Section("curves", "How far down", join([lead, el("div", *drawn, cls="grid"), *listed]))


def _precision(system: System) -> Sequence[float]:
    return system.precision


def _success(system: System) -> Sequence[float]:
    return system.success


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
    return figure(title, curves(title, along, series, names)), _values(content, title, along, values, names)


_LAST = ("other", "base", "best")
"""The last curve is drawn on top."""


TOLD = (1, 2, 3, 4, 5, 7, 10, 12, 15, 20)
"""The depths whose values are listed: as many as fit on paper."""


def _values(
    content: Content,
    title: str,
    along: Sequence[float],
    values: Callable[[System], Sequence[float]],
    names: tuple[str, str],
) -> Markup:
    told = [i for i, at in enumerate(along) if len(along) <= len(RECALLS) or at in TOLD]
    rows: list[list[Child]] = [[ident(each.name), *(score(values(each)[i]) for i in told)] for each in content.systems]
    headings = (f"{names[1]} by {names[0]}", *(axis_number(along[i]) for i in told))
    return fold(f"The values: {title[0].lower()}{title[1:]}", table(title, headings, rows), cls="plain")
