"""TREC judgments: query, aspect, document, grade."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, repeat

import numpy as np

from rankproof.core.audit.queries import BY_MACHINE
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments, judgments_from_rows
from rankproof.errors import DataError, shorten
from rankproof.io.files import PathLike, name_of, read_bytes
from rankproof.io.trec.chunks import BadLine, check_lines, chunk_of
from rankproof.io.trec.decimals import parse
from rankproof.io.trec.lines import Lines, comment_note, split, text_of_line, without_comments
from rankproof.io.trec.words import starts_of_runs

COLUMNS = 4
QUERY, ASPECT, DOC, GRADE = range(COLUMNS)
MACHINE = "machine:"
"""What the second column begins with where a judge that is no person made the judgments."""


def read_qrels(
    path_or_bytes: PathLike | bytes, source: str | None = None, *, all_comments: bool = False
) -> Judgments:
    """The judgments in a file of four columns; the second names an aspect if it is not always the same.

    A line that begins with `#` is a row if it can be one, unless all such lines are comments, as in trec_eval.

    >>> read_qrels(b"q1 0 d1 2\\nq1 0 d2 0\\n").as_dict()
    {'q1': {'d1': 2.0, 'd2': 0.0}}
    """
    content = path_or_bytes if isinstance(path_or_bytes, bytes) else read_bytes(path_or_bytes)
    source = source or ("judgments" if isinstance(path_or_bytes, bytes) else name_of(path_or_bytes))
    try:
        check_lines(content)
        chunk = chunk_of(content)
        lines = split(without_comments(chunk) if all_comments else chunk, COLUMNS)
        grade = _grades(lines)
    except BadLine as bad:
        raise DataError(
            f"{source}, line {bad.line + 1}: {bad.found}. Next: mend the line or drop it."
        ) from bad
    if not len(lines):
        raise DataError(
            f"{source}: no judgments in it, expected lines of query, aspect, document, grade. "
            "Next: check which file this is."
        )
    aspects = _column(lines, ASPECT)
    line = range(1, len(lines) + 1) if lines.line is None else (lines.line + 1).tolist()
    judgments = judgments_from_rows(
        _column(lines, QUERY),
        lines.fields(slice(None), DOC),
        grade,
        aspects if len(set(aspects)) > 1 else None,
        source=source,
        line=line,
    )
    made = next((each for each in aspects if each.startswith(MACHINE)), None)
    prepared: dict[str, object] = {} if made is None else {"machine": made}
    notes = [] if made is None else [_by_machine(source, made)]
    if lines.comments:
        notes.append(comment_note(source, lines.comments))
    return replace(judgments, prepared={**prepared, "notes": notes}) if notes else judgments


def _column(lines: Lines, column: int) -> list[str]:
    """A column as text; rows that follow each other share one text where it is the same."""
    starts = starts_of_runs(lines.chunk, lines.begin[column], lines.end[column] - lines.begin[column])
    counts = np.diff(np.append(starts, len(lines)))
    return list(chain.from_iterable(map(repeat, lines.fields(starts, column), counts.tolist())))


def _by_machine(source: str, mark: str) -> str:
    return (
        f"{source}: these judgments were {BY_MACHINE} ({mark.removeprefix(MACHINE)}), not by people: levels "
        "may be off, so hold them against judgments of people before they are believed"
    )


def _grades(lines: Lines) -> Array:
    grade = parse(lines.chunk, lines.begin[GRADE], lines.end[GRADE])
    bad = np.flatnonzero(~np.isfinite(grade))
    if len(bad):
        row = int(bad[0])
        line, found = lines.line_of(row), shorten(lines.field(row, GRADE).decode())
        raise BadLine(
            line, f"the grade is {found}, expected a finite number: {text_of_line(lines.chunk, line)}"
        )
    return grade
