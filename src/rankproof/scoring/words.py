"""Scores as a document: the table of one ranking, or of several side by side, and notes under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankproof.core.arrays import by_key
from rankproof.core.scoring import ScoreRow, Summary
from rankproof.document.model import (
    ALWAYS,
    FURTHER,
    LIKELY,
    MAYBE,
    PAGE,
    PAPER,
    SCREEN,
    SELDOM,
    TERMINAL,
    TEXT,
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
    Table,
    first_rows,
    warnings_under,
)
from rankproof.document.numbers import count, score, share, short_span, span
from rankproof.document.terminal import GAP, bin_means, cut, cut_apart, cut_names, spark, width
from rankproof.scoring import tables
from rankproof.scoring.tables import DISTRUST, LEGEND, UNBOUNDED, Reasons, Values, best_means, telling_columns
from rankproof.stats.intervals import GUESSED

if TYPE_CHECKING:
    from rankproof.scoring.spread import SpreadScores


GROUPS = 4
"""The number of groups that every screen shows."""


def scores(summaries: Sequence[Summary], above: Sequence[Block] = ()) -> Document:
    """Errors that make the numbers wrong come above them, where they are read first; warnings come below."""
    wrong, warnings = _findings(summaries, "error"), _findings(summaries, "warning")
    shown = _one(summaries[0]) if len(summaries) == 1 else _several(summaries)
    under = warnings_under(warnings, LIKELY if wrong else ALWAYS)
    parts = [Part(*above), wrong_data(wrong), *shown, *_under(summaries), *under]
    return Document("Scores", parts, rows := tables.records(summaries), kinds=tables.kinds_of(rows))


def wrong_data(wrong: Sequence[str]) -> Part:
    """Errors that make the numbers wrong, for the place above them; empty if there are none."""
    told = Bullets(wrong, ["error"] * len(wrong))
    return Part(Paragraph(DISTRUST), told, Paragraph("")) if wrong else Part()


def _one(summary: Summary) -> Iterator[Part]:
    yield Part(measures(summary.rows, summary.name))
    if summary.slices:
        # Somebody asked for groups, so some are shown whatever else there is.
        yield from first_rows(slices(summary), GROUPS, LIKELY, "other groups", media=(*TERMINAL, PAPER))
        yield Part(*(measures(rows, group) for group, rows in summary.slices.items()), media=(PAGE,))


def _under(summaries: Sequence[Summary]) -> Iterator[Part]:
    """What is to be known of the table: what several rankings share is said once."""
    first, several = summaries[0], len(summaries) > 1
    if first.apart:
        yield Part(Paragraph(""), Paragraph(first.apart))
    own = "" if several else f"{tables.tied_sentence(first)} {tables.unjudged_sentence(first)}"
    yield Part(Paragraph(""), Paragraph(f"{tables.size(first)} {own}".strip()), rank=LIKELY, name="sizes")
    for each in _of_each(summaries) if several else (*first.said, *tables.notes(first.rows)):
        yield Part(Paragraph(each), rank=MAYBE, name="notes on each ranking" if several else "notes")
    method = tables.intervals([row for summary in summaries for row in summary.rows])
    said = dict.fromkeys(f"{tables.definitions(each)} {method}".strip() for each in summaries)
    yield Part(*map(Paragraph, said), rank=SELDOM, name="conventions and methods")


def measures(rows: Sequence[ScoreRow], caption: str = "") -> Table:
    """A line a measure, with the columns that have a value."""
    columns = (Column(each.heading, [each.cell(row) for row in rows], True) for each in telling_columns(rows))
    names = Column("measure", [row.measure for row in rows])
    return Table([names, *columns], caption, rest=(FURTHER, "what ties and the unjudged could change"))


def slices(summary: Summary, caption: str = "") -> Table:
    """The means of each slice: one line per slice, one column per measure."""
    groups = list(summary.slices.values())
    columns = [Column("slice", list(summary.slices))]
    for i, row in enumerate(summary.rows):
        columns.append(Column(row.measure, [score(rows[i].shown) for rows in groups], True))
        if any(rows[i].corrected is not None for rows in groups):
            columns.append(Column("corrected", [score(rows[i].corrected) for rows in groups], True))
    return Table([*columns, Column("n", [count(max(row.n for row in rows)) for rows in groups], True)], caption)


TALL = 14
"""The number of lines that intervals may take on a screen."""


def _several(summaries: Sequence[Summary]) -> Iterator[Part | FirstFit]:
    """Several rankings side by side, then the groups of each."""
    yield from _side_by_side(summaries)
    for summary in summaries:
        if summary.slices:
            name = f"groups of {cut(summary.name, 20)}"
            yield Part(slices(summary, summary.name), rank=LIKELY, name=name)


def _side_by_side(summaries: Sequence[Summary]) -> Iterator[Part | FirstFit]:
    """A line a measure and a column a ranking, intervals beside the means; if that does not fit, under them, or
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
    forms = [
        Table(each, stacked=stacked, legend=LEGEND)
        for each, stacked in ((upright, False), (upright, True), (by_ranking, True))
    ]
    yield FirstFit([[Part(each, media=(TEXT, PAGE))] for each in forms])
    short = [each._replace(tall=TALL) for each in forms]
    means = [
        each._replace(cells=[Cell(cell, best=isinstance(cell, Cell) and cell.best) for cell in each.cells])
        for each in by_ranking
    ]
    without = Table(means, rest=(LIKELY, "the other measures"), legend=LEGEND)
    spans = Part(forms[-1], rank=SELDOM, name="intervals", media=(SCREEN,))
    yield FirstFit([*([Part(each, media=(SCREEN,))] for each in short), [Part(without, media=(SCREEN,)), spans]])
    yield Part(forms[-1], media=(PAPER,))


def _of_each(summaries: Sequence[Summary]) -> Iterator[str]:
    """Notes that differ from ranking to ranking."""
    called = cut_names([each.name for each in summaries], 40)
    for summary in summaries:
        tied = tables.tied_sentence(summary) if summary.tied else ""
        told = list(filter(None, [tied, tables.unjudged_sentence(summary), *tables.notes(summary.rows)]))
        if told:
            yield f"{called[summary.name]}: {' '.join(told)}"


def _findings(summaries: Sequence[Summary], severity: str) -> list[str]:
    """The findings of a severity, each once, with the rankings it is about if there are several."""
    called = cut_names([each.name for each in summaries], 40)
    found = ((finding, called[summary.name]) for summary in summaries for finding in summary.findings)
    about = by_key(pair for pair in found if pair[0].severity == severity)
    told = []
    for finding, names in about.items():
        which = ", ".join(names) if len(names) < len(summaries) else "every run"
        told.append(f"{which}: {finding}" if len(summaries) > 1 else str(finding))
    return told


def queries(values: Values, reasons: Reasons | None = None) -> Document:
    """The value of every query: a table for each ranking, one line per query, one column per measure.

    Records have those too that have no value, if the reasons are told.
    """
    parts = []
    for ranking, by_measure in values.items():
        ids = list(dict.fromkeys(query for by_query in by_measure.values() for query in by_query))
        columns = [
            Column(name, [score(by_query.get(query)) for query in ids], True) for name, by_query in by_measure.items()
        ]
        table = Table([Column("query", ids), *columns], ranking if len(values) > 1 else "")
        parts.append(Part(table, *spread_text(by_measure)))
    return Document("Queries", parts, rows := tables.query_records(values, reasons), kinds=tables.kinds_of(rows))


def spread_text(by_measure: Mapping[str, Mapping[str, float]]) -> list[Block]:
    """The values of each measure from the lowest to the highest, as a line of blocks; nothing for one query."""
    short = dict(zip(by_measure, cut_apart(list(by_measure), 24), strict=True))
    drawn = {short[name]: sorted(values.values()) for name, values in by_measure.items() if len(values) > 1}

    def sparks(room: int) -> list[str]:
        room -= len(GAP) + max(map(width, drawn))
        return [f"{spark(bin_means(row, room))}{GAP}{name}" for name, row in drawn.items()]

    return [Chart("From the lowest value to the highest:", sparks, close=True)] if drawn else []


def worst_queries(measure: str, by_ranking: Mapping[str, Sequence[tuple[str, float]]]) -> list[Block]:
    """A table for each ranking, the worst query first."""
    called = cut_names(by_ranking, 30)
    return [
        Table(
            [
                Column("query", [query for query, _ in listed], most=60),
                Column(measure, [score(value) for _, value in listed], True),
            ],
            f"{called[name]}: the {count(len(listed), 'query')} with the worst {measure}",
        )
        for name, listed in by_ranking.items()
    ]


def spread_scores(found: SpreadScores) -> Document:
    """Means, intervals, ceilings, slices and the worst queries."""
    headings = ["measure", "mean", "95 % interval", "ceiling", "n"]
    records: list[dict[str, Any]] = [
        {"measure": name, "slice": group, "mean": part[name], "low": of.low, "high": of.high, "n": of.n}
        for group, part in [(None, found), *found.slices.items()]
        for name, of in [(name, part.uncertainty(name)) for name in part]
    ]
    limits = {name: score(found.ceiling(name) if found.summary.sums else None) for name in found}
    lines = [(r["measure"], score(r["mean"]), span(r["low"], r["high"]), f"{r['n']:,}") for r in records]
    rows = [(*line[:3], limits[line[0]], line[3]) for line in lines[: len(limits)]]
    sliced = [(r["slice"], *line) for r, line in zip(records, lines, strict=True) if r["slice"] is not None]
    parts = [wrong_data(found.wrong), Part(Table.of(headings, rows, ["measure"])), Part(*map(Paragraph, _facts(found)))]
    if sliced:
        table = Table.of(["slice", "measure", "mean", "95 % interval", "n"], sliced, ["slice", "measure"], grouped=True)
        parts.append(Part(Heading("Slices"), table, rank=1, name="the slices"))
    first = next(iter(found))
    worst = [[query, score(value)] for query, value in found.worst(10)] if found.summary.worst.get(first) else []
    if worst:
        table = Table.of(["query", first], worst, ["query"])
        parts.append(Part(Heading("Worst queries"), table, media=(TEXT, PAGE), name="the worst queries"))
    parts.append(Part(Bullets(found.conventions.in_words()), media=(TEXT, PAGE), name="conventions"))
    kinds = {"slice": str}
    return Document("Scores of queries spread over workers", parts, records, found.to_dict(), kinds=kinds)


def _facts(found: SpreadScores) -> list[str]:
    facts = found.facts
    said = [f"{count(found.queries, 'query')}, {count(facts.get('documents', 0), 'judged document')}."]
    if missing := found.queries - facts.get("answered", found.queries):
        said.append(f"{count(missing, 'judged query')} without a ranking.")
    if found.extra:
        said.append(f"{count(found.extra, 'ranked query')} nobody judged, left out.")
    if facts.get("tied"):
        ends = found.bounds(next(iter(found)))
        puts = f": any other order of these puts {next(iter(found))} in {span(*ends)}" if ends else ""
        shared = share(facts["tied"] / facts["found"])
        said.append(f"{shared} of the judged documents found share their score with others{puts}.")
    guessed = [name for name in found if found.uncertainty(name).method.startswith(GUESSED)]
    said += [f"{', '.join(guessed)}: {UNBOUNDED}."] if guessed else []
    return [*said, *found.notes]
