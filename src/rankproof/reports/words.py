"""A report as a document: in 80 columns with charts of characters, and its tables for markdown and papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from rankproof.comparing.comparison import Comparison
from rankproof.comparing.conclusions import conclusions, limits
from rankproof.comparing.words import method, waterfalls
from rankproof.comparing.words import tables as difference_tables
from rankproof.core.measure import Measure
from rankproof.document import terminal
from rankproof.document.charts import Bar
from rankproof.document.model import (
    PAGE,
    PAPER,
    TERMINAL,
    Block,
    Bullets,
    Cell,
    Column,
    Document,
    Heading,
    Paragraph,
    Part,
    Table,
)
from rankproof.document.numbers import count, probability, score, share, short_span, signed_number, signed_span
from rankproof.document.terminal import cut_apart
from rankproof.reports.content import DEPTHS, LOST, RANK_HEADINGS, Content
from rankproof.scoring.catalogue import sections
from rankproof.scoring.tables import UNBOUNDED, case_blocks

if TYPE_CHECKING:
    from rankproof.reports import Report

CHART = 40
CASES = 3
WORDS = ("of", "system", "measure", "verdict")


def report(found: Report, page: Callable[[], str]) -> Document:
    """The whole report: text for screens, tables for markdown and papers, and an HTML page of its own."""
    content = found.content
    said = [f"{size(content)}.", *summary_sentences(content)]
    story = [block for each in said for block in (Paragraph(each), Paragraph(""))]
    parts = [
        Part(Heading(content.title, 1, ruled=True), *story, media=TERMINAL),
        *(
            Part(Heading(name, ruled=True), *blocks, rank=n, name=name.lower(), media=TERMINAL)
            for n, (name, blocks) in enumerate(_sections(content))
        ),
        Part(Heading(content.title, 1), media=(PAGE,)),
        Part(*map(Paragraph, said), media=(PAGE, PAPER)),
        *(Part(Heading(title), table, media=(PAGE, PAPER)) for title, table in tables(content)),
        Part(Heading("Audit"), *_audit(content), media=(PAGE,)),
        Part(Heading("Definitions"), Bullets(_formulas(content)), media=(PAGE,)),
        Part(Heading("Conventions"), Bullets([*content.conventions, *methods(content)]), media=(PAGE,)),
        Part(*map(Paragraph, methods(content)), media=(PAPER,)),
    ]
    unknown = {"low": None, "high": None}
    records = [
        {"system": system.name, **asdict(bar), **({} if bar.known else unknown)}
        for system in content.systems
        for bar in system.bars
    ]
    scores = {name: each.to_dict() for name, each in found.scores.items()}
    compared = None if found.comparison is None else found.comparison.to_dict()
    tree = {"title": content.title, "scores": scores, "comparison": compared}
    return Document(content.title, parts, records, tree, page=page)


def formula_of(measure: Measure) -> str:
    """Its formula, if it has one."""
    return sections(measure.spec.doc).get("Formula", "")


def _formulas(content: Content) -> list[str]:
    return [f"{each.name}: {each.spec.title} {formula_of(each)}" for each in content.definitions]


def _sections(content: Content) -> Iterator[tuple[str, Sequence[Block]]]:
    yield "Systems", _systems(content)
    if content.comparison is not None:
        compared = content.comparison
        yield "Differences", [*difference_tables(compared), *waterfalls(compared)]
    if 0 in content.splits:
        yield "Where it is lost", _losses(content)
    success = Column(f"success, k = 1 to {DEPTHS[-1]}", [_spark(each.success) for each in content.systems])
    precision = Column("precision at recall 0 to 1", [_spark(each.precision) for each in content.systems])
    yield "How far down", [Table([_names(content), success, precision]), Paragraph("A full block is 1.")]
    yield "Where the relevant documents stand", _ranks(content)
    if content.duels:
        won = duels(content).columns
        names = cut_apart([each.heading for each in won], 16)
        yield "Queries won/lost", [Table([each._replace(heading=name) for each, name in zip(won, names, strict=True)])]
    if content.cases:
        yield "Queries to look at", _cases(content)
    yield "Audit", _audit(content)
    yield "Definitions", [Bullets([*_formulas(content), *content.conventions, *methods(content)])]


def _audit(content: Content) -> list[Block]:
    if not content.findings:
        return [Paragraph("Nothing to report.")]
    every = len(content.systems)
    told = [str(each) if len(on) == every else f"{', '.join(on)}: {each}" for each, on in content.findings]
    return [Bullets(told, [each.severity for each, _ in content.findings])]


def _systems(content: Content) -> list[Block]:
    """Each mean as a point on its interval, a scale a measure."""
    blocks: list[Block] = []
    for i, definition in enumerate(content.definitions):
        bars = [each.bars[i] for each in content.systems]
        scale = (min(bar.drawn[0] for bar in bars), max(bar.drawn[1] for bar in bars))
        ends = f"{score(scale[0])}{score(scale[1]):>{CHART - len(score(scale[0]))}}"
        charts = [terminal.interval(bar.drawn[0], bar.mean, bar.drawn[1], scale, CHART) for bar in bars]
        means = Column(definition.name, [score(bar.mean) for bar in bars], True)
        blocks.append(Table([_names(content), means, Column(ends, charts)]))
    return [*blocks, Paragraph(f"A point is a mean, the line its interval at {share(content.level)}.")]


def _names(content: Content) -> Column:
    return Column("system", cut_apart([each.name for each in content.systems], 24))


def _losses(content: Content) -> list[Block]:
    bars = [each.bars[0] for each in content.systems]
    shown = [(bar.mean, bar.ranked_too_low or 0.0, bar.never_found or 0.0) for bar in bars]
    top = max(max(map(sum, shown)), 1.0)
    charts = [terminal.parts([each / top for each in three], CHART) for three in shown]
    numbers = [
        Column(name, [score(each[i]) for each in shown], True)
        for i, name in enumerate(("reached", "too\nlow", "never\nfound"))
    ]
    reached, low, never = terminal.REACHED, terminal.TOO_LOW, terminal.NEVER
    legend = f"{content.measure}: {reached} reached, {low} ranked too low, {never} never found."
    columns = [_names(content), *numbers, Column("up to the ceiling", charts)]
    return [Table(columns), Paragraph(legend)]


def _spark(values: Sequence[float]) -> str:
    return f"{terminal.spark(values, 1)} {score(values[0])} to {score(values[-1])}"


def _ranks(content: Content) -> list[Block]:
    """At which ranks the relevant documents stand, as shares of each system's row."""
    rows = [content.buckets[each.name] for each in content.systems]
    shares = [[each / (sum(row) or 1) for each in row] for row in rows]
    columns = [_names(content), Column("", [terminal.spark(own) for own in shares])]
    for heading, parts in zip(RANK_HEADINGS, zip(*shares, strict=True), strict=True):
        told = ["<1%" if 0 < part < 0.005 else f"{part:.0%}" for part in parts]
        columns.append(Column(heading.replace(" ", "\n"), told, True))
    return [Table(columns)]


def _cases(content: Content) -> list[Block]:
    shown = content.cases[:CASES]
    blocks = [block for each in shown for block in case_blocks(each, content.texts.get(each.query))]
    left = content.queries - len(shown)
    return [*blocks, *([Paragraph(f"The other {count(left, 'query is', 'queries are')} left out.")] if left else [])]


def tables(content: Content) -> Iterator[tuple[str, Table]]:
    """Every table of the report that is not empty."""
    headings = ("system", *(each.name for each in content.definitions))
    means = [
        (each.name, *(f"{score(b.mean)} {short_span(b.low, b.high)}" for b in each.bars)) for each in content.systems
    ]
    yield "Means", Table.of(headings, means, WORDS)
    if content.comparison is not None:
        yield f"Differences to {content.comparison.baseline}", _differences(content, content.comparison)
    if content.splits:
        lost = [(measure, name, *map(score, parts)) for measure, name, parts in content.losses]
        yield "Where it is lost", Table.of(LOST, lost, WORDS)
    rows = [(n, *map(str, counts)) for n, counts in content.buckets.items()]
    yield "Relevant documents by rank", Table.of(("system", *RANK_HEADINGS), rows, WORDS)
    if content.systems[0].slices and content.comparison is not None:
        yield f"Groups of queries, {content.measure}", _differences(content, content.comparison, groups=True)
    if content.duels:
        yield "Queries won/lost", duels(content)


def _differences(content: Content, comparison: Comparison, groups: bool = False) -> Table:
    """What differs over all queries; with `groups` in each of them, by the first measure."""
    headings = ("of", "system", "difference", "interval", "p", "won/lost", "verdict")
    lines = [
        (
            *(row.slice or row.measure, row.system, signed_number(row.difference)),
            *(signed_span(row.low, row.high), probability(row.p_corrected, comparison.alpha)),
            *(f"{row.wins}/{row.losses}", Cell(row.verdict, raised="†" if row.verdict in ("better", "worse") else "")),
        )
        for row in comparison
        if bool(row.slice) is groups and (row.measure == content.measure or not groups)
    ]
    return Table.of(headings, lines, WORDS)


def duels(content: Content) -> Table:
    """Every system against every other: on how many queries it wins, and loses."""
    names = [each.name for each in content.systems]
    rows = [
        (name, *("" if name == other else f"{won}/{lost}" for other, (won, lost) in zip(names, pairs, strict=True)))
        for name, pairs in zip(names, content.duels, strict=True)
    ]
    return Table.of(("system", *names), rows, WORDS)


MOST_NAMED = 4
"""The number of systems for which the reason for having no verdict is given."""


def summary_sentences(content: Content) -> list[str]:
    """The whole summary, the verdict first."""
    bar = next(each.bars[0] for each in content.systems if each.name == content.leader)
    own = [_reached(content, bar), *(_lost(bar) if content.definitions[0].spec.higher else [])]
    if content.comparison is None:
        return [*content.missing, *own, _audited(content)]
    verdict, *others = conclusions(content.comparison)
    ends = limits(content.comparison)
    unclear = others[: len(others) - len(ends)]
    left = len(unclear) - MOST_NAMED
    more = [f"The same goes for {count(left, 'more system')}; see the table."] if left > 0 else []
    return [verdict, *own, *unclear[:MOST_NAMED], *more, *ends, _audited(content, " else" if ends else "")]


def size(content: Content) -> str:
    """How much was looked at, in a line."""
    judged = f"{count(content.queries, 'query')}, {count(content.documents, 'judged document')}"
    return f"{judged}, {count(len(content.systems), 'system')}, {count(len(content.definitions), 'measure')}"


def _reached(content: Content, bar: Bar) -> str:
    which = "the best" if len(content.systems) > 1 else "a"
    most = "most" if content.definitions[0].spec.higher else "least"
    equal = sum(each.bars[0].mean == bar.mean for each in content.systems) - 1
    also = f" (shared with {count(equal, 'other system')})" if equal else ""
    sure = f"with {share(content.level)} confidence between {score(bar.low)} and {score(bar.high)}"
    return (
        f"{content.leader} has {which} mean {bar.measure} of {score(bar.mean)}{also}, "
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
    return f"The audit found {count(len(serious), 'thing')} to read before trusting the numbers; see below."


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
