"""The systems of a report: in words, by measure, by group, in pairs; findings and definitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rankproof.comparing.comparison import Comparison, ComparisonRow
from rankproof.comparing.conclusions import conclusions, limits
from rankproof.comparing.words import method, verdict
from rankproof.document.charts import Bar, tally, waterfall, whiskers
from rankproof.document.numbers import count, probability, score, share, signed_number, signed_span, span
from rankproof.document.page import (
    Child,
    Markup,
    Section,
    ceiling,
    el,
    figure,
    fold,
    ident,
    join,
    paragraphs,
    prose,
    table,
)
from rankproof.document.terminal import cut
from rankproof.reports.content import Content, Moved
from rankproof.scoring.tables import UNBOUNDED

MOST_NAMED = 4
"""The number of systems for which the reason for having no verdict is given."""


def summary_section(content: Content) -> Section:
    """The verdict, the mean of the leader, and its limits."""
    verdict, *others = summary_sentences(content)
    return Section("summary", "In words", join([paragraphs([verdict], "verdict"), paragraphs(others)]))


def summary_sentences(content: Content) -> list[str]:
    """The whole summary, the verdict first."""
    bar, higher = content.system(content.leader).bars[0], content.definitions[0].higher
    own = [_reached(content, bar), *(_lost(bar) if higher else [])]
    if content.comparison is None:
        return [*content.missing, *own, _audited(content)]
    verdict, *others = conclusions(content.comparison)
    ends = limits(content.comparison)
    unclear = others[: len(others) - len(ends)]
    left = len(unclear) - MOST_NAMED
    more = [f"The same goes for {count(left, 'more system')}; see the table."] if left > 0 else []
    told = unclear[:MOST_NAMED] + more
    return [verdict, *own, *told, *ends, _audited(content, " else" if ends else "")]


def size(content: Content) -> str:
    """How much was looked at, in a line."""
    parts = (
        count(content.queries, "query"),
        count(content.documents, "judged document"),
        count(len(content.systems), "system"),
        count(len(content.definitions), "measure"),
    )
    return ", ".join(parts)


def _reached(content: Content, bar: Bar) -> str:
    which = "the best" if len(content.systems) > 1 else "a"
    most = "most" if content.definitions[0].higher else "least"
    sure = f"with {share(content.level)} confidence between {score(bar.low)} and {score(bar.high)}"
    return (
        f"{content.leader} has {which} mean {bar.measure} of {score(bar.mean)}, "
        f"{sure if bar.known else 'which leaves no interval'}. "
        f"The {most} that any ranking could reach under these judgments is {score(bar.ceiling)}."
    )


def _lost(bar: Bar) -> list[str]:
    missing = bar.ceiling - bar.mean
    if bar.never_found is None or bar.ranked_too_low is None or missing <= 0:
        return []
    part = min(bar.never_found / missing, 1.0)
    advice = "So look at both: what is retrieved at all, and in which order."
    if part > 0.6:
        advice = "So look at what is retrieved at all: reranking cannot help."
    elif part < 0.4:
        advice = "So look at the order: the documents are there, and a better reranker could use them."
    return [
        f"Of the {score(missing)} missing to that, {share(part)} is due to relevant documents that were never "
        f"found, the rest to documents found and ranked too low. {advice}"
    ]


def _audited(content: Content, beyond: str = "") -> str:
    serious = [finding for finding, _ in content.findings if finding.severity != "note"]
    if not serious:
        return f"The audit of the data found nothing{beyond} that would mislead."
    times = count(len(serious), "thing")
    return f"The audit found {times} to read before trusting the numbers; see below."


def audit_section(content: Content) -> Section:
    """The findings, the most serious first."""
    if not content.findings:
        return Section("audit", "Audit", el("p", "Nothing to report."))
    lead = el("p", "What to know about the data before trusting the numbers.")
    return Section("audit", "Audit", join([lead, *(_finding(content, *each) for each in content.findings)]))


def _finding(content: Content, finding: Any, systems: Sequence[str]) -> Markup:
    about: list[Child] = []
    if len(systems) < len(content.systems):
        about = [*(join([", " if i else "", ident(each)]) for i, each in enumerate(systems)), ": "]
    body = el("p", *about, str(finding))
    return el("div", el("b", finding.severity), body, cls=f"finding {finding.severity}")


def definitions_section(content: Content) -> Section:
    """Each measure with its formula, then every convention in words."""
    lead = el("p", "The same name means different numbers in different tools. These are the definitions used here.")
    terms: list[Markup] = []
    for each in content.definitions:
        terms += [el("dt", each.name), el("dd", prose(each.title))]
        terms += [el("dd", prose(each.formula), cls="formula")] if each.formula else []
    measures = el("dl", *terms)
    profile = [] if content.profile is None else [el("p", f"Profile: {content.profile}.")]
    words = el("ul", *(el("li", each) for each in content.conventions))
    parts = [lead, measures, el("h3", "Conventions"), *profile, words, el("h3", "Statistics")]
    return Section("definitions", "Definitions", join([*parts, paragraphs(methods(content))]))


def methods(content: Content) -> list[str]:
    """How intervals and tests were computed."""
    intervals = [f"Intervals of means: {content.method}."]
    intervals += [f"{', '.join(content.guessed)}: {UNBOUNDED}."] if content.guessed else []
    if content.comparison is None:
        return intervals
    drawn = f"Each p comes from {content.permutations:,} random sign flips, or from all where they are fewer."
    audited = [str(finding) for finding, _ in content.findings]  # diagnosis has a part of its own
    notes = [note for note in content.comparison.notes if not any(each in note for each in audited)]
    return [*intervals, method(content.comparison), drawn, *notes]


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
    pictures = []
    for i, each in enumerate(content.definitions):
        better = "more is better" if each.higher else "less is better"
        pictures.append(figure(join([each.name, el("small", better)]), whiskers(each.name, content.drawn(i))))
    told = [el("div", *pictures, cls="grid"), values(content), paragraphs(corrected_note(content))]
    return Section("systems", "Systems", join([lead, *told]))


def corrected_note(content: Content) -> list[str]:
    """Why p is another one where other measures or systems are compared."""
    tests = sum(not each.slice for each in content.comparison or ())
    if content.comparison is None or tests < 2:
        return []
    return [
        f"Each p is corrected over the {tests} comparisons of this report ({content.comparison.correction}), so it "
        "is another one where fewer or more measures or systems are compared at once."
    ]


def values(content: Content) -> Markup:
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
        decided, *compared = difference_words(content.comparison, name, bar.measure)
        rows.append([bar.measure, ident(name), score(bar.mean), decided, span(bar.low, bar.high), *compared])
    caption = f"Means, and differences to {content.comparison.baseline} query by query"
    return table(caption, HEADINGS, rows, words=(0, 1, 3), grouped=True)


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
    """A verdict, shown by its word, then by its colour, and under it the number of queries that would give one."""
    word, _, more = verdict(row, margin).partition(": ")
    said = el("span", word, cls={"better": "up", "worse": "down"}.get(word))
    return join([said, el("small", more)]) if more else said


SLICE_HEADINGS = ("group", "system", "queries", "mean", "verdict", "difference", "interval", "p", "won / lost")


def slices_section(content: Content) -> Section | None:
    """The deciding measure in each group; None if no groups were given."""
    groups = content.systems[0].slices
    if not groups:
        return None
    lead = el("p", f"{content.measure} in groups of queries. A group of few queries is shown, and never decided.")
    means = [(group, each.name, *each.slices[group]) for group in groups for each in content.systems]
    rows: list[list[Child]] = []
    if content.comparison is None:
        rows += [[ident(group), f"{n:,}", score(mean)] for group, _, n, mean in means]
        listed = table("Groups of queries", ("group", "queries", "mean"), rows)
    else:
        for group, name, n, mean in means:
            compared = difference_words(content.comparison, name, content.measure, group)
            rows.append([ident(group), ident(name), f"{n:,}", score(mean), *compared])
        listed = table("Groups of queries", SLICE_HEADINGS, rows, words=(0, 1, 4), grouped=True)
    return Section("slices", "Groups of queries", join([lead, listed]))


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
"""The number of systems beside each other in one table: what fits on a sheet of paper."""


def _table(content: Content, names: list[str], against: slice) -> Markup:
    """All systems against these."""
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


EXTREMES = 5
"""The number of queries listed at each end."""


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
    furthest = (pair for each in content.moved for pair in (*each.values[:1], *each.values[-1:]))
    limit = ceiling(max((abs(value) for _, value in furthest), default=1.0) or 1.0)
    pictures = []
    for each in content.moved:
        caption = join([ident(each.system), el("small", tally(each.values))])
        drawing = waterfall(f"{each.system}, query by query", each.values, limit)
        most = fold("The most moved queries", _ends(content, each), cls="plain")
        pictures.append(figure(caption, drawing, most))
    return Section("differences", "Query by query", join([lead, el("div", *pictures, cls="grid")]))


def _ends(content: Content, moved: Moved) -> Markup:
    """The queries that gained and lost most."""
    gained = [each for each in moved.values[:EXTREMES] if each[1] > 0]
    lost = [each for each in moved.values[-EXTREMES:] if each[1] < 0]
    rows: list[list[Child]] = [[query(content, name), signed_number(value)] for name, value in (*gained, *lost)]
    return table(f"{cut(moved.system, 40)}: greatest gains and losses", ("query", "difference"), rows)


def query(content: Content, name: str) -> Markup:
    """A query's id, and its text if it is known."""
    text = content.texts.get(name)
    return ident(name) if text is None else join([ident(name), el("small", ident(text))])
