"""A comparison as text: one line a system and measure, the verdict in words, the winner if there is one."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from rankproof.comparing.conclusions import conclusions
from rankproof.comparing.differences import (
    DETAILS,
    HEADINGS,
    PAIRS,
    cells,
    columns_of,
    corrected_lines,
    corrected_sentences,
    details,
    fits,
    heading,
    lay_out,
    markdown_table,
    pair_cells,
    pair_heading,
    pair_lines,
    probability,
    short_verdict,
    signed,
    span,
    tables,
)
from rankproof.core.explained import Explained, ExplainedCase, ExplainedLine
from rankproof.document.display import width
from rankproof.document.numbers import ABSENT, score, share
from rankproof.document.terminal import (
    ALWAYS,
    GAP,
    Column,
    Part,
    clean,
    cut,
    fitted,
    pad,
    page_width,
    table,
    waterfall,
    wrap,
)
from rankproof.errors import one_of
from rankproof.scoring import latex as tex
from rankproof.scoring import markdown as md
from rankproof.scoring import records
from rankproof.scoring.latex import escape
from rankproof.scoring.tables import DISTRUST, finding_lines

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


TOP = 10
"""Documents listed of each ranking."""
MISSED = 3
"""Documents named that were not found."""


def beside(case: ExplainedCase, text: str | None = None) -> list[str]:
    """The query, its values, and the first documents of each list with their grades."""
    sides = [own for _, own in case.sides]
    told = "" if text is None else f": {text}"
    values = ", ".join(f"{cut(name, 24)} {score(own.value)}" for name, own in case.sides)
    head = wrap(f"{case.query}{told} ({case.why}; {sides[0].measure} {values})", later="  ")
    room = (page_width() - 2 - len(GAP) * (len(sides) - 1)) // len(sides)
    titles = _row([f"rank  grade  {name}" for name, _ in case.sides], room)
    rows = zip_longest(*(own.lines[:TOP] for own in sides))
    return [*head, titles, *(_row([_cell(each) for each in row], room) for row in rows), *_missed(case)]


def _row(cells: list[str], room: int) -> str:
    return ("  " + GAP.join(pad(cut(cell, room), room) for cell in cells)).rstrip()


def _cell(line: ExplainedLine | None) -> str:
    if line is None:
        return ""
    grade = ABSENT if line.grade is None else f"{line.grade:g}"
    return f"{ABSENT if line.rank is None else line.rank:>4}  {grade:>5}  {line.document}"


def _missed(case: ExplainedCase) -> list[str]:
    """The relevant documents that a list does not hold."""
    return [line for name, own in case.sides if own.missed for line in _missing(name, own)]


def _missing(name: str, own: Explained) -> list[str]:
    named = ", ".join(f"{cut(document, 30)} ({grade:g})" for document, grade in own.missed[:MISSED])
    more = f" and {len(own.missed) - MISSED} more" if len(own.missed) > MISSED else ""
    return wrap(f"not in {cut(name, 24)}: {named}{more}", first="  ", later="    ")


__all__ = ["probability", "sentences", "signed", "span", "tables", "waterfalls"]

Row = Mapping[str, Any]
LONGEST = 20
"""Columns that the name of a system may take beside a chart."""


def check(name: str) -> None:
    """Whether there is a format of that name, before any work is done."""
    if name not in _FORMATS:
        raise one_of("format", name, _FORMATS)


def render_comparison(view: View, name: str) -> str:
    """The comparison as text in the named format."""
    check(name)
    return _FORMATS[name](view)


def screen(view: View) -> str:
    """The comparison on one screen."""
    falls = waterfalls(view["rows"][0]["measure"], view["moved"])
    return "\n".join(fitted(parts(view, _wrong(view), falls, sentences(view)))) + "\n"


def text(view: View) -> str:
    """The comparison with everything known of it."""
    lines = [
        *_wrong(view),
        *tables(view),
        *corrected_lines(view["rows"]),
        *pair_lines(view),
        *waterfalls(view["rows"][0]["measure"], view["moved"]),
    ]
    for sentence in sentences(view):
        lines += wrap(sentence)
    warnings = _warnings(view["warnings"], view["audit"])
    return "\n".join([*lines, *warnings, *view.get("cases", ())]) + "\n"


def _wrong(view: View) -> list[str]:
    """What makes the numbers wrong, in full and above them."""
    told = [line for found, names in _errors(view) for line in finding_lines(found, where=f"{names}: ")]
    return [DISTRUST, *told, ""] if told else []


def _warnings(counts: Mapping[str, int], command: str) -> list[str]:
    """How many there are of each system, and how they are read."""
    told = ", ".join(f"{cut(name, 30)} {times}" for name, times in counts.items() if times)
    return [*wrap(f"Warnings of the audit: {told}. Read them with:"), *_typed(command)] if told else []


def _typed(command: str) -> list[str]:
    """A command to be copied: over several lines where one is too short, no word of it cut."""
    lines = textwrap.wrap(clean(command), page_width() - 4, break_long_words=False, break_on_hyphens=False)
    return [f"  {line}" for line in " \\\n".join(lines).splitlines()]


def _errors(view: View) -> list[tuple[Any, str]]:
    """What makes the numbers wrong, each with the names of the systems it is about."""
    found = ((each, names) for each, names in view["findings"] if each.severity == "error")
    return [(each, ", ".join(cut(name, 30) for name in names)) for each, names in found]


def waterfalls(measure: str, moved: Mapping[str, Sequence[float]]) -> list[str]:
    """For each system the differences query by query as one line of blocks."""
    top = max((abs(value) for values in moved.values() for value in values), default=0.0)
    if not top:
        return []
    room = page_width() - len(GAP) - min(max(map(width, moved)), LONGEST)
    falls = [(cut(name, LONGEST), waterfall(values, top, room)) for name, values in moved.items()]
    padded = max(width(name) for name, _ in falls)
    lines = [f"{pad(name, padded)}{GAP}{drawn}" for name, drawn in falls]
    most = f"a full block is {score(top)}"
    return [*wrap(f"{measure} query by query, from most lost to most won; {most}:"), "", *lines, ""]


def markdown(view: View) -> str:
    """The comparison as markdown tables with everything known of each row."""
    groups = dict.fromkeys(each["slice"] for each in view["rows"])
    parts = [
        "\n".join([md.escape(heading(view, group)), "", *markdown_table(view, group)]) for group in groups
    ]
    errors = [f"**{md.escape(names)}**: {md.escape(str(found))}" for found, names in _errors(view)]
    if view.get("pairs"):
        told = pair_cells(view)
        parts.append(
            "\n".join(
                [
                    md.escape(pair_heading(view)),
                    "",
                    *md.table(PAIRS, [[md.escape(c) for c in r] for r in told]),
                ]
            )
        )
    said = [md.escape(each) for each in (*corrected_sentences(view["rows"]), *sentences(view))]
    return "\n\n".join([*errors, *parts, *said]) + "\n"


MARKS = {"better": r"$^{\dagger}$", "worse": r"$^{\ddagger}$"}
"""How papers mark what is significant, behind the mean."""


def latex(view: View) -> str:
    """The comparison as a LaTeX table: what is significant is marked, the best mean bold if it is told apart."""
    rows = [each for each in view["rows"] if not each["slice"]]
    verdicts = {(each["measure"], each["system"]): each["verdict"] for each in rows}
    best = {name: _best(view, [each for each in rows if each["measure"] == name]) for name in view["means"]}
    lines, measure = [], ""
    for label, system, mean, *others, _ in cells(view, ""):
        measure = label or measure
        number = rf"\textbf{{{escape(mean)}}}" if best.get(measure) == system else escape(mean)
        mark = MARKS.get(verdicts.get((measure, system), ""), "")
        lines.append([escape(label), escape(system), number + mark, *map(escape, others)])
    table = tex.table(HEADINGS[:-1], lines)
    about = (
        f"dagger: better than {view['baseline']}, double dagger: worse, at {view['alpha']:g}; bold: the best mean, "
        "where it is told apart from the baseline",
        *sentences(view),
    )
    table[0] = r"\begin{tabular}{llrrrr}"
    if view.get("pairs"):
        pairs = tex.table(list(map(escape, PAIRS)), [list(map(escape, each)) for each in pair_cells(view)])
        pairs[0] = r"\begin{tabular}{lllrrrl}"
        table += ["", *(f"% {clean(each)}" for each in wrap(pair_heading(view))), *pairs]
    return "\n".join(["% needs: booktabs, textcomp", *(f"% {clean(each)}" for each in about), *table]) + "\n"


def _best(view: View, rows: Sequence[Row]) -> str | None:
    """The system with the best mean of a measure, if it is told apart from the baseline, or the baseline from all."""
    better = [each for each in rows if each["verdict"] == "better" and each["mean"] is not None]
    if better:
        signs = {row["difference"] > 0 for row in better}
        return str((max if signs == {True} else min)(better, key=lambda each: each["mean"])["system"])
    return str(view["baseline"]) if rows and all(each["verdict"] == "worse" for each in rows) else None


def sentences(view: View) -> list[str]:
    """What the table comes to, in words: notes, conclusions, and last how p was made."""
    rows = [each for each in view["rows"] if not each["slice"]]
    return [
        *view.get("notes", ()),
        *conclusions(view),
        _method(view, len(rows), len(view["rows"]) - len(rows)),
    ]


def _method(view: View, rows: int, sliced: int) -> str:
    margin = "" if view["margin"] is None else f", equivalent within {view['margin']:g}"
    apart = f", those in groups apart over {sliced}" if sliced else ""
    corrected = (
        f", corrected over {rows} comparisons ({view['correction']}){apart}" if rows > 1 or sliced else ""
    )
    return (
        f"p by random sign flips query by query{corrected}; verdicts at {view['alpha']:g}{margin}; "
        f"intervals at {share(1 - view['alpha'])}, not corrected."
    )


def _records(write: Callable[[Sequence[records.Record]], str]) -> Callable[[View], str]:
    def written(view: View) -> str:
        pairs = view.get("pairs", ())
        family = [({"family": "baseline"} if pairs else {}, view["rows"]), ({"family": "all pairs"}, pairs)]
        return write([{**of, **each, **_error_field(view)} for of, rows in family for each in rows])

    return written


def _error_field(view: View) -> dict[str, str]:
    """What makes the numbers wrong, where something does."""
    told = [f"{', '.join(on)}: {each}" for each, on in view["findings"] if each.severity == "error"]
    return {"errors": " ".join(told)} if told else {}


_FORMATS: dict[str, Callable[[View], str]] = {
    "table": screen,
    "full": text,
    "markdown": markdown,
    "latex": latex,
    "csv": _records(records.as_csv),
    "json": _records(records.as_json),
    "jsonl": _records(records.as_jsonl),
}
