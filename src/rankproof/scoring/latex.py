"""Scores as a LaTeX table in booktabs style, for papers."""

from __future__ import annotations

from collections.abc import Sequence

from rankproof.core.scoring import Summary
from rankproof.document.numbers import score, short_span
from rankproof.document.terminal import clean
from rankproof.scoring import tables
from rankproof.scoring.records import Values, queries_in
from rankproof.scoring.tables import best_means, telling_columns

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "'": r"\textquotesingle{}",
}
"""Square brackets too: after a line's end LaTeX would take one as an argument."""


def text(summaries: Sequence[Summary]) -> str:
    """The table of one ranking, or of several side by side, with the conventions as a comment above it."""
    body = _one(summaries[0]) if len(summaries) == 1 else _several(summaries)
    return "\n".join([*_comments(summaries), *body]) + "\n"


def escape(text: str) -> str:
    r"""The text as LaTeX sets it unchanged.

    >>> escape("run_1 & 50%")
    'run\\_1 \\& 50\\%'
    """
    return "".join(_SPECIAL.get(char, char) for char in clean(text))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A tabular: the first column flush left, the others flush right; cells are escaped already."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    opening = [
        rf"\begin{{tabular}}{{l{'r' * (len(headings) - 1)}}}",
        r"\toprule",
        line(headings),
        r"\midrule",
    ]
    return [*opening, *map(line, rows), r"\bottomrule", r"\end{tabular}"]


def _one(summary: Summary) -> list[str]:
    fields = telling_columns(summary.rows)
    headings = ["measure", *(escape(each.heading.replace("\n", " ")) for each in fields)]
    return table(
        headings, [[escape(row.measure), *(escape(f.cell(row)) for f in fields)] for row in summary.rows]
    )


def _several(summaries: Sequence[Summary]) -> list[str]:
    """Rankings as rows, as papers have it; the best mean of each measure in bold."""
    rows = []
    for summary in summaries:
        won = best_means(summaries, summary)
        means = [_bold(escape(score(row.shown)), row.measure in won) for row in summary.rows]
        rows.append([escape(summary.name), *means])
        rows.append(["", *(rf"\scriptsize {escape(short_span(row.low, row.high))}" for row in summary.rows)])
    return table(["ranking", *(escape(row.measure) for row in summaries[0].rows)], rows)


def _bold(cell: str, wanted: bool) -> str:
    return rf"\textbf{{{cell}}}" if wanted else cell


def queries(values: Values) -> str:
    """The value of every query, a tabular for each ranking."""
    parts = []
    for ranking, by_measure in values.items():
        ids = queries_in(by_measure)
        rows = [[escape(q), *(escape(score(by.get(q))) for by in by_measure.values())] for q in ids]
        parts.append(
            "\n".join([f"% {clean(ranking)}", *table(["query", *map(escape, by_measure)], rows)]) + "\n"
        )
    return "\n".join(parts)


def _comments(summaries: Sequence[Summary]) -> list[str]:
    rows = [row for each in summaries for row in each.rows]
    said = ["needs: booktabs, textcomp", tables.size(summaries[0])]
    said += [tables.definitions(each) for each in summaries] + [tables.methods(rows)]
    return [f"% {clean(each)}" for each in dict.fromkeys(said) if each]
