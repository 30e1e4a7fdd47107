"""Scores as a markdown table, for issues, pull requests and notebooks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rankproof.core.scoring import ScoreRow, Summary
from rankproof.document.numbers import score, short_span
from rankproof.document.terminal import clean
from rankproof.scoring import tables
from rankproof.scoring.records import Values, queries_in
from rankproof.scoring.tables import DISTRUST, MARK, best_means, legend, sentence, telling_columns

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")


def text(summaries: Sequence[Summary]) -> str:
    """The table of one ranking, or of several side by side, and what belongs above and under it."""
    lines = _one(summaries[0]) if len(summaries) == 1 else _several(summaries)
    return "\n".join([*_wrong(summaries), *lines]) + "\n"


def escape(text: str) -> str:
    """The text as markdown shows it unchanged.

    >>> escape("a|b_c*")
    'a\\\\|b\\\\_c\\\\*'
    """
    return _SPECIAL.sub(r"\\\1", clean(text))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table: the first column flush left, the others flush right."""
    rule = ["---", *["---:"] * (len(headings) - 1)]
    return ["| " + " | ".join(cells) + " |" for cells in (headings, rule, *rows)]


def _one(summary: Summary) -> list[str]:
    lines = [f"**{escape(summary.name)}**", ""] if summary.name else []
    lines += measures(summary.rows)
    for group, rows in summary.slices.items():
        lines += ["", f"**{escape(group)}**", "", *measures(rows)]
    return lines + _paragraphs(tables.sentences_under(summary)) + _findings(summary)


def measures(rows: Sequence[ScoreRow]) -> list[str]:
    """A line a measure, with the columns that say something."""
    fields = telling_columns(rows)
    headings = ["measure", *(each.heading.replace("\n", " ") for each in fields)]
    return table(
        headings, [[escape(row.measure), *map(escape, (f.cell(row) for f in fields))] for row in rows]
    )


def _several(summaries: Sequence[Summary]) -> list[str]:
    headings = ["measure", *(escape(each.name) for each in summaries)]
    rows = []
    for i, row in enumerate(summaries[0].rows):
        rows.append([escape(row.measure), *(_cell(summaries, each, each.rows[i]) for each in summaries)])
    every = [row for each in summaries for row in each.rows]
    shared = [tables.size(summaries[0]), tables.definitions(summaries[0]), tables.methods(every)]
    said = filter(None, [legend(summaries), " ".join(filter(None, shared))])
    lines = table(headings, rows) + _paragraphs(list(said))
    return lines + [line for each in summaries for line in _findings(each)]


def _cell(summaries: Sequence[Summary], summary: Summary, row: ScoreRow) -> str:
    mark = escape(MARK) if row.measure in best_means(summaries, summary) else ""
    return f"{escape(score(row.shown))}{mark} {escape(short_span(*row.ends))}"


def queries(values: Values) -> str:
    """The value of every query."""
    parts = []
    for ranking, by_measure in values.items():
        ids = queries_in(by_measure)
        rows = [[escape(q), *(escape(score(by.get(q))) for by in by_measure.values())] for q in ids]
        heading = [f"**{escape(ranking)}**", ""] if len(values) > 1 else []
        parts.append("\n".join([*heading, *table(["query", *map(escape, by_measure)], rows)]) + "\n")
    return "\n".join(parts)


def _paragraphs(said: Sequence[str]) -> list[str]:
    return [line for each in said for line in ("", escape(each))]


def _findings(summary: Summary) -> list[str]:
    """The warnings, below the numbers that they are about."""
    warned = (each for each in summary.findings if each.severity != "error")
    return [line for each in warned for line in ("", f"- {escape(sentence(each))}")]


def _wrong(summaries: Sequence[Summary]) -> list[str]:
    """What makes the numbers wrong, above them."""
    told = []
    for summary in summaries:
        where = f"{summary.name}: " if len(summaries) > 1 else ""
        errors = (each for each in summary.findings if each.severity == "error")
        told += [f"- {escape(where + sentence(each))}" for each in errors]
    return [DISTRUST, "", *told, ""] if told else []
