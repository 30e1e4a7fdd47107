"""Scores as a document: the table of one ranking, or of several side by side, and under it what to know."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rankproof.core.scoring import Pair, ScoreRow, Summary
from rankproof.document.model import (
    ALWAYS,
    PAGE,
    PAPER,
    SCREEN,
    TERMINAL,
    TEXT,
    WARNING,
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Document,
    FirstFit,
    Heading,
    Paragraph,
    Part,
    Record,
    Table,
)
from rankproof.document.numbers import count, score, share, short_span, span
from rankproof.document.terminal import GAP, bin_means, cut, spark, width
from rankproof.scoring import tables
from rankproof.scoring.tables import DISTRUST, UNBOUNDED, best_means, legend, telling_columns
from rankproof.stats.intervals import GUESSED

if TYPE_CHECKING:
    from rankproof.core.audit import Finding
    from rankproof.scoring.spread import SpreadComparison, SpreadScores


BEFORE = "Before you trust these numbers:"
LIKELY, MAYBE, FURTHER, SELDOM = 1, 2, 3, 4
"""Ranks of what may be left out: sizes and groups; notes; more warnings and columns; how it was measured."""
TEXTS = (
    "ranking",
    "query",
    "slice",
    "measure",
    "interval",
    "note",
    "reason",
    "profile",
    "conventions",
    "errors",
)
"""The fields of records that are text; the others are numbers."""
Values = dict[str, dict[str, dict[str, float]]]
"""`{ranking: {measure: {query: value}}}`."""
Reasons = dict[str, dict[str, dict[str, str]]]
"""The same, with why a query has no value in its place."""


def scores(summaries: Sequence[Summary], above: Sequence[Block] = ()) -> Document:
    """What makes the numbers wrong stands above them, where nobody reads past it; warnings stand below."""
    wrong, warnings = _findings(summaries, "error"), _findings(summaries, "warning")
    told = _one(summaries[0]) if len(summaries) == 1 else _several(summaries)
    parts = [Part(*above), wrong_data(wrong), *told, *_under(warnings, LIKELY if wrong else ALWAYS)]
    return Document("Scores", parts, rows := records(summaries), kinds=_kinds(rows))


def wrong_data(wrong: Sequence[str]) -> Part:
    """What makes the numbers wrong, above them; nothing where nothing does."""
    told = Bullets(wrong, ["error"] * len(wrong))
    return Part(Paragraph(DISTRUST), told, Paragraph("")) if wrong else Part()


def _one(summary: Summary) -> Iterator[Part]:
    """One ranking."""
    measured = measures(summary.rows, summary.name)
    yield Part(measured)
    if summary.slices:
        yield Part(slices(summary), rank=LIKELY, name="groups", media=TERMINAL)
        yield Part(*(measures(rows, group) for group, rows in summary.slices.items()), media=(PAGE,))
    if summary.apart:
        yield Part(Paragraph(""), Paragraph(summary.apart))
    size = (
        f"{tables.size(summary)} {tables.tied_sentence(summary)} {tables.unjudged_sentence(summary)}".strip()
    )
    yield Part(Paragraph(""), Paragraph(size), rank=LIKELY, name="sizes")
    for each in (*summary.said, *tables.notes(summary.rows)):
        yield Part(Paragraph(each), rank=MAYBE, name="notes")
    method = f"{tables.definitions(summary)} {tables.intervals(summary.rows)}".strip()
    yield Part(Paragraph(method), rank=SELDOM, name="conventions and methods")


def measures(rows: Sequence[ScoreRow], caption: str = "") -> Table:
    """A line a measure, with the columns that say something."""
    columns = (Column(each.heading, [each.cell(row) for row in rows], True) for each in telling_columns(rows))
    names = Column("measure", [row.measure for row in rows])
    return Table([names, *columns], caption, rest=(FURTHER, "what ties and the unjudged could change"))


def slices(summary: Summary, caption: str = "") -> Table:
    """The means of each slice: a line a slice, a column a measure."""
    groups = list(summary.slices.values())
    columns = [Column("slice", list(summary.slices))]
    for i, row in enumerate(summary.rows):
        columns.append(Column(row.measure, [score(rows[i].shown) for rows in groups], True))
        if any(rows[i].corrected is not None for rows in groups):
            columns.append(Column("corrected", [score(rows[i].corrected) for rows in groups], True))
    return Table(
        [*columns, Column("n", [count(max(row.n for row in rows)) for rows in groups], True)], caption
    )


TALL = 14
"""Lines that intervals may take on a screen."""


def _several(summaries: Sequence[Summary]) -> Iterator[Part | FirstFit]:
    """Several rankings side by side, and under them what they share and where they differ."""
    yield from _side_by_side(summaries)
    if legend(summaries):
        yield Part(Paragraph(legend(summaries)), rank=LIKELY, name="what * marks", media=(*TERMINAL, PAGE))
    for summary in summaries:
        if summary.slices:
            name = f"groups of {cut(summary.name, 20)}"
            yield Part(slices(summary, summary.name), rank=LIKELY, name=name, media=(*TERMINAL, PAGE))
    if summaries[0].apart:
        yield Part(Paragraph(""), Paragraph(summaries[0].apart))
    yield Part(Paragraph(""), Paragraph(tables.size(summaries[0])), rank=LIKELY, name="sizes")
    for each in _of_each(summaries):
        yield Part(Paragraph(each), rank=MAYBE, name="notes on each ranking")
    rows = [row for summary in summaries for row in summary.rows]
    shared = [f"{tables.definitions(each)} {tables.methods(rows)}".strip() for each in summaries]
    said = (Paragraph(each) for each in dict.fromkeys(shared))
    yield Part(*said, rank=SELDOM, name="conventions and methods")


def _side_by_side(summaries: Sequence[Summary]) -> Iterator[Part | FirstFit]:
    """A line a measure and a column a ranking, intervals beside the means; where that does not fit, under them, or
    with a line a ranking, as papers have it."""
    names, measured = [each.name for each in summaries], [row.measure for row in summaries[0].rows]
    cells = [
        [
            Cell(score(row.shown), best=row.measure in won, under=short_span(*row.ends))
            for won in [best_means(summaries, each)]
            for row in each.rows
        ]
        for each in summaries
    ]
    upright = [Column("measure", measured), *(Column(*each, True) for each in zip(names, cells, strict=True))]
    turned = zip(measured, zip(*cells, strict=True), strict=True)
    by_ranking = [Column("ranking", names), *(Column(name, own, True) for name, own in turned)]
    forms = [Table(upright), Table(upright, stacked=True), Table(by_ranking, stacked=True)]
    yield FirstFit([[Part(each, media=(TEXT, PAGE))] for each in forms])
    short = [Table(each.columns, stacked=each.stacked, tall=TALL) for each in forms]
    means = [each._replace(cells=[_bare(cell) for cell in each.cells]) for each in by_ranking]
    without = Table(means, rest=(LIKELY, "the other measures"))
    spans = Part(forms[-1], rank=SELDOM, name="intervals", media=(SCREEN,))
    yield FirstFit(
        [*([Part(each, media=(SCREEN,))] for each in short), [Part(without, media=(SCREEN,)), spans]]
    )
    yield Part(forms[-1], media=(PAPER,))


def _bare(cell: str) -> Cell:
    """A mean without its interval."""
    return Cell(cell, best=isinstance(cell, Cell) and cell.best)


def _of_each(summaries: Sequence[Summary]) -> Iterator[str]:
    """What differs from ranking to ranking."""
    for summary in summaries:
        tied = tables.tied_sentence(summary) if summary.tied else ""
        told = list(filter(None, [tied, tables.unjudged_sentence(summary), *tables.notes(summary.rows)]))
        if told:
            yield f"{cut(summary.name, 40)}: {' '.join(told)}"


def _under(warnings: Sequence[str], first: int) -> Iterator[Part]:
    """The warnings, the first one before all others."""
    for n, each in enumerate(warnings):
        blocks = [Paragraph(""), Paragraph(BEFORE)] if not n else []
        yield Part(
            *blocks, Bullets([each], ["warning"]), rank=FURTHER if n else first, name=WARNING, media=TERMINAL
        )
    if warnings:
        yield Part(Paragraph(BEFORE), Bullets(warnings), media=(PAGE,))


def _findings(summaries: Sequence[Summary], severity: str) -> list[str]:
    """The findings of a severity, each once, with the rankings it is about where there are several."""
    about: dict[Finding, list[str]] = {}
    for summary in summaries:
        for finding in (each for each in summary.findings if each.severity == severity):
            about.setdefault(finding, []).append(cut(summary.name, 40))
    told = []
    for finding, names in about.items():
        which = ", ".join(names) if len(names) < len(summaries) else "every run"
        told.append(f"{which}: {finding}" if len(summaries) > 1 else str(finding))
    return told


# --- single queries -------------------------------------------------------------------------------------


def queries(values: Values, reasons: Reasons | None = None) -> Document:
    """The value of every query: a table for each ranking, a line a query, a column a measure.

    Records have those too that have no value, if the reasons are told.
    """
    parts = []
    for ranking, by_measure in values.items():
        ids = list(dict.fromkeys(query for by_query in by_measure.values() for query in by_query))
        columns = [
            Column(name, [score(by_query.get(query)) for query in ids], True)
            for name, by_query in by_measure.items()
        ]
        table = Table([Column("query", ids), *columns], ranking if len(values) > 1 else "")
        parts.append(Part(table, *spread_text(by_measure)))
    return Document("Queries", parts, rows := query_records(values, reasons), kinds=_kinds(rows))


def spread_text(by_measure: Mapping[str, Mapping[str, float]]) -> list[Block]:
    """The values of each measure from the lowest to the highest, as a line of blocks; nothing for one query."""
    drawn = {cut(name, 24): sorted(values.values()) for name, values in by_measure.items() if len(values) > 1}
    if not drawn:
        return []
    return [Chart("From the lowest value to the highest:", partial(_sparks, drawn), close=True)]


def _sparks(drawn: Mapping[str, Sequence[float]], room: int) -> list[str]:
    """A line for each measure.

    >>> _sparks({"RR": [0.0, 0.25, 1.0]}, 80)
    ['·▂█  RR']
    """
    room -= len(GAP) + max(map(width, drawn))
    return [f"{spark(bin_means(row, room))}{GAP}{name}" for name, row in drawn.items()]


def worst_queries(measure: str, by_ranking: Mapping[str, Sequence[tuple[str, float]]]) -> list[Block]:
    """A table for each ranking, the worst query first."""
    return [
        Table(
            [
                Column("query", [query for query, _ in listed], most=60),
                Column(measure, [score(value) for _, value in listed], True),
            ],
            f"{cut(name, 30)}: the {count(len(listed), 'query', 'queries')} with the worst {measure}",
        )
        for name, listed in by_ranking.items()
    ]


# --- records --------------------------------------------------------------------------------------------


def _kinds(rows: Sequence[Record]) -> dict[str, type]:
    """The types of the fields: text, a count, or a number."""
    return {name: str if name in TEXTS else int if name == "n" else float for row in rows[:1] for name in row}


def records(summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """One record for each measure of each ranking, and of each slice of it.

    >>> summary = Summary("a.run", [ScoreRow("RR", 0.5, n=2)], queries=2, documents=3, tied=0.0)
    >>> [(r["ranking"], r["slice"], r["measure"], r["mean"]) for r in records([summary])]
    [('a.run', None, 'RR', 0.5)]
    """
    wrong = {
        summary.name: " ".join(str(each) for each in summary.findings if each.severity == "error")
        for summary in summaries
    }
    return [
        _record(summary, group, row) | ({"errors": wrong[summary.name]} if any(wrong.values()) else {})
        for summary in summaries
        for group, rows in [(None, summary.rows), *summary.slices.items()]
        for row in rows
    ]


def _record(summary: Summary, group: str | None, row: ScoreRow) -> dict[str, Any]:
    return {
        "ranking": summary.name,
        "slice": group,
        "measure": row.measure,
        "mean": None if math.isnan(row.mean) else row.mean,
        "n": row.n,
        "low": row.low,
        "high": row.high,
        "interval": row.method,
        "ceiling": row.ceiling,
        **_ends("ties", row.ties),
        **_ends("unjudged", row.unjudged),
        "never_found": row.never_found,
        "ranked_too_low": row.ranked_too_low,
        **({} if row.coverage is None else _judged(row)),
        "note": row.note,
        "profile": summary.profile,
        "conventions": "; ".join(each.partition(":")[0] for each in summary.conventions),
    }


def _judged(row: ScoreRow) -> dict[str, Any]:
    """What is known of a mean of verdicts."""
    corrected = {"corrected": row.corrected, **_ends("corrected", row.corrected_ends)}
    return {
        "coverage": row.coverage,
        "measurable": row.measurable,
        **_ends("possible", row.possible),
        "estimate": None if row.estimate is None else row.estimate[0],
        **_ends("estimate", None if row.estimate is None else row.estimate[1:]),
        **corrected,
    }


def _ends(name: str, pair: Pair | None) -> dict[str, Any]:
    low, high = pair or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def query_records(values: Values, reasons: Reasons | None = None) -> list[dict[str, Any]]:
    """One record for each query, measure and ranking; with reasons those too that have no value.

    >>> query_records({"a.run": {"RR": {"q1": 0.5}}})
    [{'ranking': 'a.run', 'query': 'q1', 'measure': 'RR', 'value': 0.5}]
    """
    found: list[dict[str, Any]] = [
        {"ranking": ranking, "query": query, "measure": measure, "value": value}
        for ranking, measures in values.items()
        for measure, by_query in measures.items()
        for query, value in by_query.items()
    ]
    return found if reasons is None else [*({**each, "reason": None} for each in found), *_without(reasons)]


def _without(reasons: Reasons) -> list[dict[str, Any]]:
    """What has no value, and why."""
    return [
        {"ranking": ranking, "query": query, "measure": measure, "value": None, "reason": reason}
        for ranking, measures in reasons.items()
        for measure, by_query in measures.items()
        for query, reason in by_query.items()
    ]


def spread_scores(found: SpreadScores) -> Document:
    """Means, intervals, ceilings, slices and the worst queries."""
    headings = ["measure", "mean", "95 % interval", "ceiling", "n"]
    rows, records = [], []
    for name in found:
        interval, mean = found.uncertainty(name), found[name]
        limit = found.ceiling(name) if found.summary.sums else None
        rows.append([name, score(mean), span(interval.low, interval.high), score(limit), f"{interval.n:,}"])
        records.append(
            {
                "measure": name,
                "slice": None,
                "mean": mean,
                "low": interval.low,
                "high": interval.high,
                "n": interval.n,
            }
        )
    parts = [Part(Table.of(headings, rows, ["measure"])), Part(*map(Paragraph, _facts(found)))]
    for group, part in found.slices.items():
        for name in part:
            low, high = part.interval(name)
            n = part.summary.columns[name].n
            records.append(
                {"measure": name, "slice": group, "mean": part[name], "low": low, "high": high, "n": n}
            )
    sliced = [[str(r["slice"]), str(r["measure"]), score(r["mean"]), span(r["low"], r["high"]), f"{r['n']:,}"]
              for r in records if r["slice"] is not None]  # fmt: skip
    if sliced:
        table = Table.of(
            ["slice", "measure", "mean", "95 % interval", "n"], sliced, ["slice", "measure"], grouped=True
        )
        parts.append(Part(Heading("Slices"), table, rank=1, name="the slices"))
    first = next(iter(found))
    worst = (
        [[query, score(value)] for query, value in found.worst(10)] if found.summary.worst.get(first) else []
    )
    if worst:
        table = Table.of(["query", first], worst, ["query"])
        parts.append(Part(Heading("Worst queries"), table, media=(TEXT, PAGE), name="the worst queries"))
    parts.append(Part(Bullets(found.conventions.in_words()), media=(TEXT, PAGE), name="conventions"))
    kinds = {"slice": str}
    return Document("Scores of queries spread over workers", parts, records, found.to_dict(), kinds=kinds)


def _facts(found: SpreadScores) -> list[str]:
    facts = found.facts
    said = [
        f"{count(found.queries, 'query', 'queries')}, {count(facts.get('documents', 0), 'judged document')}."
    ]
    if missing := found.queries - facts.get("answered", found.queries):
        said.append(f"{count(missing, 'judged query', 'judged queries')} without a ranking.")
    if found.extra:
        said.append(f"{count(found.extra, 'ranked query', 'ranked queries')} nobody judged, left out.")
    if facts.get("tied"):
        low, high = found.bounds(next(iter(found)))
        said.append(
            f"{share(facts['tied'] / facts['found'])} of the judged documents found share their score with others: any "
            f"other order of these puts {next(iter(found))} in {span(low, high)}."
        )
    guessed = [name for name in found if found.uncertainty(name).method.startswith(GUESSED)]
    said += [f"{', '.join(guessed)}: {UNBOUNDED}."] if guessed else []
    return [*said, *found.notes]


def spread_comparison(found: SpreadComparison) -> Document:
    """The differences by measure, with what follows from them."""
    data = found.to_dict()
    one, other = found.names
    rows = [
        [each["measure"], score(each["first"]), score(each["second"]), f"{each['difference']:+.4f}",
         span(each["low"], each["high"]), "-" if each["effect"] is None else f"{each['effect']:+.3f}", each["verdict"]]
        for each in data["measures"]
    ]  # fmt: skip
    headings = ["measure", one, other, "difference", "95 % interval", "effect", "verdict"]
    records = [{"slice": None, **each} for each in data["measures"]]
    said = [f"{count(found.queries, 'query', 'queries')} with a value of both."]
    if found.margin is None:
        said.append(
            "No margin was given: over so many queries any difference is sure in the end. Look at its size, or give "
            "the largest difference that does not matter as margin=."
        )
    else:
        said.append(f"A difference within {found.margin:g} does not matter.")
        said += data["notes"]
    parts = [Part(Table.of(headings, rows, ["measure", "verdict"])), Part(*map(Paragraph, said))]
    sliced = []
    for group, columns in found.slices.items():
        for name, each in columns.items():
            sliced.append([group, name, f"{each.difference:+.4f}", span(each.low, each.high), f"{each.n:,}"])
            ends = {"difference": each.difference, "low": each.low, "high": each.high, "p": each.p}
            records.append({"slice": group, "measure": name, **ends})
    if sliced:
        words = ["slice", "measure"]
        table = Table.of([*words, "difference", "95 % interval", "n"], sliced, words, grouped=True)
        parts.append(Part(Heading("Slices"), table, rank=1, name="the slices"))
    return Document(f"{other} against {one}", parts, records, data, kinds={"slice": str, "verdict": str})
