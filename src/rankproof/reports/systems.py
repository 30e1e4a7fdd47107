"""Systems in a report: every measure with its interval, groups, duels, differences."""

from __future__ import annotations

from collections.abc import Iterable

from rankproof.comparing.comparison import Comparison, ComparisonRow
from rankproof.comparing.words import verdict
from rankproof.document.html.charts import tally, waterfall, whiskers
from rankproof.document.html.page import Child, Markup, Section, ceiling, el, figure, fold, ident, join, table
from rankproof.document.numbers import probability, score, share, signed_number, signed_span, span
from rankproof.document.terminal import cut
from rankproof.reports.content import Content, Moved, System

HEADINGS = ("measure", "system", "mean", "verdict", "interval", "difference", "interval", "p", "won / lost")

MOST = 24
"""Rows of a table up to which it is shown as a whole."""

PAIRED = (
    " Overlapping lines do not mean that two systems are equal, as both see the same queries; the table says "
    "what the paired test says."
)


def systems_section(content: Content) -> Section:
    """A picture for each measure, and under them the table."""
    lead = el(
        "p",
        f"A dot is the mean over queries, the line its {share(content.level)} interval: where the mean could "
        "well lie with other queries of the same kind.",
        PAIRED if content.comparison else None,
    )
    pictures = el("div", *(_picture(content, i) for i in range(len(content.definitions))), cls="grid")
    return Section("systems", "Systems", join([lead, pictures, values(content)]))


def _picture(content: Content, i: int) -> Markup:
    rows = [(each.name, content.role(each.name), each.bars[i]) for each in content.systems]
    name = content.definitions[i].name
    better = "more is better" if content.definitions[i].higher else "less is better"
    return figure(join([name, el("small", better)]), whiskers(name, rows))


def values(content: Content) -> Markup:
    """The numbers behind the pictures; with a baseline also the differences to it. A long table is folded."""
    count = len(content.definitions)
    if content.comparison is not None and count > 1 and count * len(content.systems) > MOST:
        return join(
            [_values(content, range(1)), fold("The other measures", _values(content, range(1, count)))]
        )
    return _values(content, range(count))


def _values(content: Content, which: Iterable[int]) -> Markup:
    rows = [row for i in which for row in _rows(content, i)]
    if content.comparison is None:
        return table("Means and what limits them", ("measure", "mean", "interval", "ceiling"), rows)
    caption = f"Means, and differences to {content.comparison.baseline} query by query"
    return table(caption, HEADINGS, rows, words=(0, 1, 3), grouped=True)


def _rows(content: Content, i: int) -> list[list[Child]]:
    rows: list[list[Child]] = []
    for system in content.systems:
        bar = system.bars[i]
        mean, ends = score(bar.mean), span(bar.low, bar.high)
        if content.comparison is None:
            rows.append([bar.measure, mean, ends, score(bar.ceiling)])
        else:
            decided, *compared = difference_words(content.comparison, system.name, bar.measure)
            rows.append([bar.measure, ident(system.name), mean, decided, ends, *compared])
    return rows


def difference_words(comparison: Comparison, system: str, measure: str, group: str = "") -> list[Child]:
    """Verdict, difference, interval, p and won / lost of one system on one measure."""
    if system == comparison.baseline:
        return ["baseline", "", "", "", ""]
    wanted = (system, measure, group)
    for row in comparison.rows:
        if (row.system, row.measure, row.slice) == wanted:
            ends = signed_span(row.low, row.high)
            p, decided = probability(row.p_corrected), decision(row, comparison.margin)
            return [decided, signed_number(row.difference), ends, p, f"{row.wins} / {row.losses}"]
    return ["not compared", "", "", "", ""]


def decision(row: ComparisonRow, margin: float | None) -> Markup:
    """A verdict, told apart by its word first and its look second, and under it what would give one."""
    word, _, more = verdict(row, margin).partition(": ")
    said = el("span", word, cls={"better": "up", "worse": "down"}.get(word))
    return join([said, el("small", more)]) if more else said


SLICE_HEADINGS = (
    "group",
    "system",
    "queries",
    "mean",
    "verdict",
    "difference",
    "interval",
    "p",
    "won / lost",
)


def slices_section(content: Content) -> Section | None:
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
        listed = table("Groups of queries", SLICE_HEADINGS, rows, words=(0, 1, 4), grouped=True)
    return Section("slices", "Groups of queries", join([lead, listed]))


def _row(content: Content, group: str, system: System) -> list[Child]:
    n, mean = system.slices[group]
    if content.comparison is None:
        return [ident(group), f"{n:,}", score(mean)]
    compared = difference_words(content.comparison, system.name, content.measure, group)
    return [ident(group), ident(system.name), f"{n:,}", score(mean), *compared]


def duels_section(content: Content) -> Section | None:
    """The matrix; None for one system alone."""
    if not content.duels:
        return None
    lead = el(
        "p",
        f"The row's system against the column's: queries won / lost on {content.measure}; the rest are equal. "
        "A cell is shaded where the row wins more than it loses.",
    )
    names = [each.name for each in content.systems]
    starts = range(0, len(names), ACROSS)
    tables = [_table(content, names, slice(start, start + ACROSS)) for start in starts]
    return Section("duels", "Won and lost", join([lead, *tables]))


ACROSS = 8
"""Systems beside each other in one table: what a sheet of paper holds."""


def _table(content: Content, names: list[str], against: slice) -> Markup:
    """All systems against these."""
    headings: list[Child] = ["system", *map(ident, names[against])]
    places = range(len(names))[against]
    rows: list[list[Child]] = [
        [ident(name), *(_cell(content.duels[i][j], i == j) for j in places)] for i, name in enumerate(names)
    ]
    part = "" if len(names) <= ACROSS else f", against {places.start + 1} to {places.stop} of {len(names)}"
    return table(f"Queries won / lost{part}", headings, rows, cls="heat")


def _cell(pair: tuple[int, int], same: bool) -> Markup:
    won, lost = pair
    return el("td", "–" if same else f"{won:,} / {lost:,}", cls="h0" if same or won <= lost else "h1")


EXTREMES = 5
"""Queries listed at each end."""


def differences_section(content: Content) -> Section:
    """A waterfall for each system against the baseline."""
    baseline = content.comparison.baseline if content.comparison else ""
    lead = el(
        "p",
        f"Each bar is one query: its {content.measure} minus that of ",
        ident(baseline),
        ", sorted. One mean can hide two stories: a little better everywhere, or much better here and "
        "broken there. All pictures have the same scale.",
    )
    limit = ceiling(max((abs(v) for each in content.moved for _, v in each.values), default=1.0) or 1.0)
    pictures = (_difference_picture(content, each, limit) for each in content.moved)
    return Section("differences", "Query by query", join([lead, el("div", *pictures, cls="grid")]))


def _difference_picture(content: Content, moved: Moved, limit: float) -> Markup:
    drawing = waterfall(f"{moved.system}, query by query", moved.values, limit)
    caption = join([ident(moved.system), el("small", tally(moved.values))])
    return figure(caption, drawing, fold("The most moved queries", _ends(content, moved), cls="plain"))


def _ends(content: Content, moved: Moved) -> Markup:
    """The queries that gained and lost most."""
    gained = [each for each in moved.values[:EXTREMES] if each[1] > 0]
    lost = [each for each in moved.values[-EXTREMES:] if each[1] < 0]
    rows: list[list[Child]] = [
        [query(content, name), signed_number(value)] for name, value in (*gained, *lost)
    ]
    return table(f"{cut(moved.system, 40)}: greatest gains and losses", ("query", "difference"), rows)


def query(content: Content, name: str) -> Markup:
    """A query's id, and its text where that is known."""
    text = content.texts.get(name)
    return ident(name) if text is None else join([ident(name), el("small", ident(text))])
