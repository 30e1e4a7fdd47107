"""A comparison on one screen: the deciding measure in full, the others in a word, the most serious warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankproof.reporting.differences import (
    DETAILS,
    HEADINGS,
    cells,
    columns_of,
    corrected_lines,
    details,
    fits,
    heading,
    lay_out,
    pair_lines,
    short_verdict,
    signed,
)
from rankproof.reporting.findings import finding_lines
from rankproof.reporting.numbers import score
from rankproof.reporting.screen import ALWAYS, Part
from rankproof.reporting.tables import Column, cut, table, wrap

View = Mapping[str, Any]
TALL = 12
"""Lines that the table of all measures may have; beyond them only the deciding one is shown in full."""
LIKELY, MAYBE, FURTHER, SELDOM = 1, 2, 3, 4
EFFECTS, DECIDED = "effects and queries needed", "how it was decided"
CALLED = 12
"""Columns that the name of a system may take above a column of numbers."""


def parts(view: View, wrong: Sequence[str], falls: Sequence[str], said: Sequence[str]) -> list[Part]:
    """Everything in reading order; `said` are the sentences, the verdict behind the notes."""
    verdict = len(view.get("notes", ()))
    groups = [each for each in dict.fromkeys(row["slice"] for row in view["rows"]) if each]
    overall = any(not row["slice"] for row in view["rows"])
    main, matrix = _main(view) if overall else ([], [])
    return [
        Part(wrong),
        Part([*view.get("above", ()), ""]),
        Part([*wrap(heading(view, "")), "", *main] if overall else []),
        Part(["", *matrix], LIKELY, "the other measures"),
        *(Part(["", *_group(view, group)], LIKELY, f"group {cut(group, 20)}") for group in groups),
        Part(["", *lay_out(columns_of(DETAILS, details(view, "")))] if overall else [], FURTHER, EFFECTS),
        Part(["", *corrected_lines(view["rows"])], LIKELY, "differences with the judge's error"),
        Part(["", *pair_lines(view)]),
        Part(["", *falls], SELDOM, "query by query"),
        Part([""]),
        *(Part(wrap(each), MAYBE if n != verdict else ALWAYS, DECIDED) for n, each in enumerate(said)),
        Part(_warning(view)),
        Part(view.get("cases", ())),
    ]


def _warning(view: View) -> list[str]:
    """The most serious warning; errors stand above the numbers. A judge of the model that ranked goes first."""
    for finding, names in sorted(view["findings"], key=lambda each: each[0].kind != "judge-kin"):
        if finding.severity == "warning":
            return finding_lines(finding, where=f"{', '.join(cut(name, 30) for name in names)}: ")
    return []


def _main(view: View) -> tuple[list[str], list[str]]:
    """The rows over all queries: all of them where they are few, else those of the first measure and a matrix."""
    lines = lay_out(columns_of(HEADINGS, cells(view, "")))
    if len(lines) <= TALL:
        return lines, []
    rows = [row for row in view["rows"] if not row["slice"]]
    systems = list(dict.fromkeys(row["system"] for row in rows))
    if len(systems) == 1 and fits(alone := _alone(view, rows)):
        return table(alone), []
    deciding = [row for row in rows if row["measure"] == rows[0]["measure"]]
    first = columns_of(HEADINGS, cells({**view, "rows": deciding}, ""))
    return lay_out(first), _matrix([row for row in rows if row not in deciding], systems)


def _group(view: View, group: str) -> list[str]:
    return [*wrap(heading(view, group)), "", *lay_out(columns_of(HEADINGS, cells(view, group)))]


def _alone(view: View, rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """One system against the baseline: a line a measure."""
    by_measure = {row["measure"]: row for row in rows}
    listed = [
        (view["means"][name], cell) for name, cell in zip(by_measure, _rows_of(view, rows), strict=True)
    ]
    _, _, means, *others = zip(*(cell for _, cell in listed), strict=True)
    return [
        Column("measure", list(by_measure)),
        Column("baseline", [score(mean) for mean, _ in listed], True),
        Column("mean", means, True),
        *(Column(name, each, name != "verdict") for name, each in zip(HEADINGS[3:], others, strict=True)),
    ]


def _rows_of(view: View, rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    return [each for each in cells({**view, "rows": list(rows)}, "") if each[-1] != "baseline"]


def _matrix(rows: Sequence[Mapping[str, Any]], systems: Sequence[str]) -> list[str]:
    """A line a measure, and for each system the difference; the verdict where there is one."""
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    known = {(row["measure"], row["system"]): row for row in rows}
    if not measures:
        return []
    columns = [
        Column(cut(name, CALLED), [_told(known.get((each, name))) for each in measures]) for name in systems
    ]
    return table([Column("measure", measures), *columns])


def _told(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    word = short_verdict(row)
    return f"{signed(row['difference'])} {'' if row['verdict'] == 'unclear' else word}".strip()
