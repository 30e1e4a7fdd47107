"""The page of a report, section by section."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

from rankproof.comparing.comparison import Comparison, ComparisonRow
from rankproof.comparing.words import verdict
from rankproof.core.conventions import FEWEST_TO_DECIDE
from rankproof.core.explanation import ExplainedCase
from rankproof.document.charts import PARTS, Series, ceiling, curves, figure, losses, tally, waterfall, whiskers
from rankproof.document.formats.html import part_of_page
from rankproof.document.numbers import axis_number, count, probability, score, share, signed_number, signed_span, span
from rankproof.document.page import Child, Markup, Section, el, fold, ident, join, page, paragraphs, prose, table
from rankproof.document.terminal import cut
from rankproof.reports.content import DEPTHS, LOST, RANK_HEADINGS, RECALLS, Content, System
from rankproof.reports.words import formula_of, methods, size, summary_sentences
from rankproof.scoring.explain_page import legend, missed_list, ranked_list, top_grade


def page_of(content: Content) -> str:
    """The report as one self-contained HTML file; sections without content are left out."""
    opening = el("p", f"{size(content)}.", cls="size")
    foot = " The same input gives the same page."
    made = ((key, heading, parts(content)) for key, heading, parts in SECTIONS)
    return page(content.title, opening, [Section(key, name, join(parts)) for key, name, parts in made if parts], foot)


def _summary(content: Content) -> list[Child]:
    verdict, *others = summary_sentences(content)
    return [paragraphs([verdict], "verdict"), paragraphs(others)]


OF_MEAN, OF_DIFFERENCE = "interval of the mean", "interval of the difference"
HEADINGS = ("measure", "system", "mean", "verdict", OF_MEAN, "difference", OF_DIFFERENCE, "p", "won / lost")
MOST = 24
"""Rows of a table up to which it is shown as a whole."""
PAIRED = (
    " Overlapping lines do not mean that two systems are equal, as both see the same queries; the table says "
    "what the paired test says."
)


def _systems(content: Content) -> list[Child]:
    """A picture for each measure, and under them the table."""
    lead = el(
        "p",
        f"A dot is the mean over queries, the line its {share(content.level)} interval: where the mean could "
        "well lie with other queries of the same kind.",
        PAIRED if content.comparison else None,
    )
    pictures = []
    for i, each in enumerate(content.definitions):
        better = "more is better" if each.spec.higher else "less is better"
        pictures.append(figure(join([each.name, el("small", better)]), whiskers(each.name, content.bars_of(i))))
    return [lead, el("div", *pictures, cls="grid"), _all_values(content)]


def _all_values(content: Content) -> Markup:
    """The numbers behind the pictures, with the differences to a baseline if there is one. A long table is folded."""
    count = len(content.definitions)
    if content.comparison is not None and count > 1 and count * len(content.systems) > MOST:
        return join([_values(content, range(1)), fold("The other measures", _values(content, range(1, count)))])
    return _values(content, range(count))


def _values(content: Content, which: Iterable[int]) -> Markup:
    bars = [(system.name, system.bars[i]) for i in which for system in content.systems]
    rows: list[list[Child]] = []
    if content.comparison is None:
        rows += [[bar.measure, score(bar.mean), span(bar.low, bar.high), score(bar.ceiling)] for _, bar in bars]
        return table("Means and their limits", ("measure", "mean", "interval", "ceiling"), rows)
    for name, bar in bars:
        decided, *compared = _difference(content.comparison, name, bar.measure)
        rows.append([bar.measure, ident(name), score(bar.mean), decided, span(bar.low, bar.high), *compared])
    caption = f"Means, and differences to {content.comparison.baseline} query by query"
    return table(caption, HEADINGS, rows, words=(0, 1, 3), grouped=True)


def _difference(comparison: Comparison, system: str, measure: str, group: str = "") -> list[Child]:
    """Verdict, difference, interval, p and won / lost of one system on one measure."""
    if system == comparison.baseline:
        return ["baseline", "", "", "", ""]
    wanted = (system, measure, group)
    for row in comparison.rows:
        if (row.system, row.measure, row.slice) == wanted:
            ends = signed_span(row.low, row.high)
            p, decided = probability(row.p_corrected, comparison.alpha), _decision(row, comparison.margin)
            return [decided, signed_number(row.difference), ends, p, f"{row.wins} / {row.losses}"]
    return ["not compared", "", "", "", ""]


def _decision(row: ComparisonRow, margin: float | None) -> Markup:
    """A verdict, shown by its word, then by its colour, and under it the number of queries that would give one."""
    word, _, more = verdict(row, margin).partition(": ")
    said = el("span", word, cls={"better": "up", "worse": "down"}.get(word))
    return join([said, el("small", more)]) if more else said


EXTREMES = 5


def _differences(content: Content) -> list[Child]:
    if content.comparison is None or not content.moved:
        return []
    lead = el(
        "p",
        f"Each bar is one query: its {content.measure} minus that of ",
        ident(content.comparison.baseline),
        ", sorted. One mean can hide two stories: a little better everywhere, or much better here and "
        "broken there. All pictures have the same scale.",
    )
    furthest = (pair for values in content.moved.values() for pair in (*values[:1], *values[-1:]))
    limit = ceiling(max((abs(value) for _, value in furthest), default=1.0) or 1.0)
    pictures = []
    for name, values in content.moved.items():
        caption = join([ident(name), el("small", tally(values))])
        ends = fold("The most moved queries", _ends(content, name), cls="plain")
        pictures.append(figure(caption, waterfall(f"{name}, query by query", values, limit), ends))
    return [lead, el("div", *pictures, cls="grid")]


def _ends(content: Content, system: str) -> Markup:
    values = content.moved[system]
    gained = [each for each in values[:EXTREMES] if each[1] > 0]
    lost = [each for each in values[-EXTREMES:] if each[1] < 0]
    rows: list[list[Child]] = [[_query(content, name), signed_number(value)] for name, value in (*gained, *lost)]
    return table(f"{cut(system, 40)}: greatest gains and losses", ("query", "difference"), rows)


def _query(content: Content, name: str) -> Markup:
    text = content.texts.get(name)
    return ident(name) if text is None else join([ident(name), el("small", ident(text))])


def _losses(content: Content) -> list[Child]:
    """A picture for each measure that can be split, and the table."""
    if not content.splits:
        return []
    lead = el(
        "p",
        "Each bar ends at the ceiling, the most that any ranking could reach under these judgments. No reranker "
        "recovers what was never found; what was found and ranked too low is what a perfect one would gain.",
    )
    items = (el("li", el("i", cls=kind, aria_hidden="true"), words) for kind, words in PARTS.items())
    drawn = [(content.definitions[i].name, content.bars_of(i)) for i in content.splits]
    pictures = (figure(name, losses(f"{name}: where it is lost", bars)) for name, bars in drawn)
    rows: list[list[Child]] = [[measure, ident(name), *map(score, of)] for measure, name, of in content.losses]
    caption = "What is reached, and what is missing to the ceiling"
    listed = fold("The values", table(caption, LOST, rows, words=(0, 1), grouped=True), cls="plain")
    return [lead, el("ul", *items, cls="legend"), el("div", *pictures, cls="grid"), listed]


def _diagnosis(content: Content) -> list[Child]:
    return [] if content.diagnosed is None else [part_of_page(content.diagnosed._document())]


def _curves(content: Content) -> list[Child]:
    lead = el(
        "p",
        "First the best precision at which so much of the relevant was found, averaged over queries at eleven points; "
        f"then for how many queries something relevant stands in the first k. Relevant here is {content.relevant}.",
    )
    drawn, listed = zip(
        _figure(content, "Precision by recall", RECALLS, attrgetter("precision"), ("recall", "precision")),
        _figure(content, "Success in the first k", DEPTHS, attrgetter("success"), ("k", "share of queries")),
        strict=True,
    )
    return [lead, el("div", *drawn, cls="grid"), *listed]


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
LEVELS = (0.0, 0.1, 0.25, 0.5)
"""The shares above which the colour of a cell is stronger."""


def _ranks(content: Content) -> list[Child]:
    lead = el(
        "p",
        f"At which ranks the relevant documents stand ({content.relevant}); the last column has those that were "
        "not found. The stronger the colour of a cell, the larger its share of the row. A good system has its "
        "colour on the left.",
    )
    rows = [[ident(name), *_cells(counts, shares=True)] for name, counts in content.buckets.items()]
    whole = table("Relevant documents by rank, all queries", ("system", *RANK_HEADINGS), rows, cls="heat")
    return [lead, whole, *(_ranks_of(content, i, name) for i, name in enumerate(content.shown))]


def _ranks_of(content: Content, i: int, name: str) -> Markup:
    rows = [[_query(content, query), *_cells(counts[i])] for query, counts in content.ranks.items()]
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


SLICE_HEADINGS = ("group", "system", "queries", "mean", "verdict", "difference", "interval", "p", "won / lost")


def _slices(content: Content) -> list[Child]:
    groups = content.systems[0].slices
    if not groups:
        return []
    few = f"A group of fewer than {FEWEST_TO_DECIDE} queries is shown, and never decided."
    lead = el("p", f"{content.measure} in groups of queries. {few}")
    means = [(group, each.name, *each.slices[group]) for group in groups for each in content.systems]
    rows: list[list[Child]] = []
    if content.comparison is None:
        rows += [[ident(group), f"{n:,}", score(mean)] for group, _, n, mean in means]
        return [lead, table("Groups of queries", ("group", "queries", "mean"), rows)]
    for group, name, n, mean in means:
        compared = _difference(content.comparison, name, content.measure, group)
        rows.append([ident(group), ident(name), f"{n:,}", score(mean), *compared])
    return [lead, table("Groups of queries", SLICE_HEADINGS, rows, words=(0, 1, 4), grouped=True)]


ACROSS = 8
"""The number of systems beside each other in one table: what fits on a sheet of paper."""


def _duels(content: Content) -> list[Child]:
    if not content.duels:
        return []
    lead = el(
        "p",
        f"The row's system against the column's: queries won / lost on {content.measure}; the rest are equal. "
        "A cell is shaded where the row wins more than it loses.",
    )
    names = [each.name for each in content.systems]
    starts = range(0, len(names), ACROSS)
    return [lead, *(_table(content, names, slice(start, start + ACROSS)) for start in starts)]


def _table(content: Content, names: list[str], against: slice) -> Markup:
    headings: list[Child] = ["system", *map(ident, names[against])]
    places = range(len(names))[against]
    rows: list[list[Child]] = [[ident(name)] for name in names]
    for i, row in enumerate(rows):
        for j in places:
            won, lost = content.duels[i][j]
            told = "–" if i == j else f"{won:,} / {lost:,}"
            row.append(el("td", told, cls="h0" if i == j or won <= lost else "h1"))
    part = "" if len(names) <= ACROSS else f", against {places.start + 1} to {places.stop} of {len(names)}"
    return table(f"Queries won / lost{part}", headings, rows, cls="heat")


TOP = 10


def _cases(content: Content) -> list[Child]:
    if not content.cases:
        return []
    left = content.queries - len(content.cases)
    rest = f" The other {count(left, 'query is', 'queries are')} left out." if left else ""
    told = f"The first {TOP} documents of the queries worth a look, each with its grade and what it adds.{rest}"
    highest = top_grade(own for each in content.cases for _, own in each.sides)
    cases = (_case(content, each, highest, opened=not i) for i, each in enumerate(content.cases))
    return [el("p", told), legend(highest), *cases]


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


def _audit(content: Content) -> list[Child]:
    if not content.findings:
        return [el("p", "Nothing to report.")]
    lead = el("p", "What to know about the data before trusting the numbers.")
    return [lead, *(_finding(content, *each) for each in content.findings)]


def _finding(content: Content, finding: Any, systems: Sequence[str]) -> Markup:
    about = join([join(map(ident, systems), ", "), ": "]) if len(systems) < len(content.systems) else None
    body = el("p", about, str(finding))
    return el("div", el("b", finding.severity), body, cls=f"finding {finding.severity}")


def _definitions(content: Content) -> list[Child]:
    lead = el("p", "The same name means different numbers in different tools. These are the definitions used here.")
    terms: list[Markup] = []
    for each in content.definitions:
        terms += [el("dt", each.name), el("dd", prose(each.spec.title))]
        if formula := formula_of(each):
            terms.append(el("dd", prose(formula), cls="formula"))
    profile = None if content.profile is None else el("p", f"Profile: {content.profile}.")
    words = el("ul", *(el("li", each) for each in content.conventions))
    parts = [lead, el("dl", *terms), el("h3", "Conventions"), profile, words, el("h3", "Statistics")]
    return [*parts, paragraphs(methods(content))]


SECTIONS: Sequence[tuple[str, str, Callable[[Content], list[Child]]]] = (
    ("summary", "In words", _summary),
    ("systems", "Systems", _systems),
    ("differences", "Query by query", _differences),
    ("losses", "Where it is lost", _losses),
    ("diagnosis", "What to fix first", _diagnosis),
    ("curves", "How far down", _curves),
    ("ranks", "Where the relevant documents stand", _ranks),
    ("slices", "Groups of queries", _slices),
    ("duels", "Won and lost", _duels),
    ("queries", "Queries to look at", _cases),
    ("audit", "Audit", _audit),
    ("definitions", "Definitions", _definitions),
)
"""Key, heading and content of each section, in the order of the page."""
