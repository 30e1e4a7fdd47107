"""The gate as text: for people, for a pull request, for CI."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from rankproof.errors import one_of
from rankproof.reporting.comparison import probability, signed
from rankproof.reporting.differences import corrected_lines, corrected_sentences
from rankproof.reporting.numbers import count, score, share
from rankproof.reporting.tables import GAP, Column, cut, page_width, table, wrap

View = Mapping[str, Any]
Line = Mapping[str, Any]
HEADINGS = ("outcome", "measure", "before", "after", "difference", "bounds", "p drop")
SAYS = {
    "pass": "No loss beyond the margin.",
    "fail": "The change makes it worse.",
    "inconclusive": "These queries cannot tell.",
}


def check(name: str) -> None:
    """Whether there is a format of that name, before any work is done."""
    if name not in _FORMATS:
        raise one_of("format", name, _FORMATS)


def render_gate(view: View, name: str) -> str:
    """The gate as text in the named format: table, markdown, json or junit."""
    check(name)
    return _FORMATS[name](view)


def text(view: View) -> str:
    """The outcome first, then the evidence, in 80 columns; a table for each group of queries."""
    lines = [headline(view), ""]
    for group in dict.fromkeys(each["slice"] for each in view["rows"]):
        heading = [*wrap(f"{group}:"), ""] if group else []
        lines += [*heading, *_table([each for each in view["rows"] if each["slice"] == group]), ""]
    lines += corrected_lines(view["rows"])
    for sentence in sentences(view):
        lines += wrap(sentence)
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Line]) -> list[str]:
    """The measure is cut where the table would not fit."""
    columns = list(zip(*map(_cells, rows), strict=True))
    columns[1] = tuple(each["measure"] for each in rows)
    laid = [
        Column(heading, list(cells), i > 1)
        for i, (heading, cells) in enumerate(zip(HEADINGS, columns, strict=True))
    ]
    room = page_width() - sum(each.width + len(GAP) for i, each in enumerate(laid) if i != 1)
    laid[1] = Column(HEADINGS[1], [cut(cell, max(room, 9)) for cell in laid[1].cells])
    return table(laid)


def markdown(view: View) -> str:
    """What a pull request shows: the outcome as a heading, the rows, then how to read them."""
    mark = {"pass": "✅", "fail": "❌", "inconclusive": "❔"}[view["outcome"]]
    lines = [
        f"### {mark} {headline(view)}",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|---|---|" + "---:|" * 5,
    ]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in _cells(each)) + " |" for each in view["rows"]
    ]
    said = [*corrected_sentences(view["rows"]), *sentences(view)]
    return "\n".join([*lines, "", *(f"- {each}" for each in said)]) + "\n"


def junit(view: View) -> str:
    """A test suite with a case a row; what is inconclusive is skipped unless the gate is strict."""
    failed, skipped = (
        sum(_as_test(view, each) == kind for each in view["rows"]) for kind in ("failure", "skipped")
    )
    suite = ElementTree.Element("testsuite", name="rankproof gate", tests=str(len(view["rows"])))
    suite.set("failures", str(failed))
    suite.set("skipped", str(skipped))
    for each in view["rows"]:
        case = ElementTree.SubElement(suite, "testcase", classname=f"gate.{each['check']}", name=_label(each))
        kind = _as_test(view, each)
        if kind != "passed":
            ElementTree.SubElement(case, kind, message=sentence_of(each)).text = sentence_of(each)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _as_test(view: View, row: Line) -> str:
    if row["outcome"] == "inconclusive":
        return "failure" if view["strict"] and _open(row) else "skipped"
    return "failure" if row["outcome"] == "fail" else "passed"


def _open(row: Line) -> bool:
    """Whether a row leaves the question open; a group that is too small decides nothing either way."""
    return row["outcome"] == "inconclusive" and not (row["slice"] and row["note"])


def as_json(view: View) -> str:
    """The gate as JSON, with full precision."""
    return json.dumps(dict(view), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def headline(view: View) -> str:
    """The outcome in a line."""
    open_rows = any(map(_open, view["rows"]))
    if view["strict"] and view["outcome"] == "fail" and open_rows:
        return "FAIL: not every row could be decided, and the gate is strict."
    failed = {each["check"] for each in view["rows"] if each["outcome"] == "fail"}
    if failed == {"floor"}:
        return "FAIL: a floor is not reached."
    if view["outcome"] == "inconclusive" and any(map(_uncovered, view["rows"])):
        return "INCONCLUSIVE: too little is judged to decide anything."
    return f"{view['outcome'].upper()}: {SAYS[view['outcome']]}"


def _uncovered(row: Line) -> bool:
    return bool(row["check"] == "coverage" and row["outcome"] != "pass")


def sentences(view: View) -> list[str]:
    """Why each row that did not pass did not, and how the gate decides."""
    said = [sentence_of(each) for each in view["rows"] if each["outcome"] != "pass"]
    return [
        *view.get("notes", ()),
        *said,
        f"Bounds are one-sided at {share(1 - view['alpha'])}; p drop is how often chance alone gives a drop as "
        "large, corrected over all rows (Holm).",
    ]


def sentence_of(row: Line) -> str:
    """One row in words."""
    what = _label(row)
    if row["check"] == "floor":
        return f"{what}: {_level(row)}, and {row['limit']:g} must be reached."
    if row["check"] == "coverage":
        return f"{what}: {share(row['candidate'])} judged, and {share(row['limit'])} is asked for."
    if row["outcome"] == "pass":
        return f"{what}: {signed(row['difference'])}, a loss of {row['limit']:g} is ruled out."
    if row["outcome"] == "fail":
        over = count(row["n"], "query", "queries")
        return f"{what}: {signed(row['difference'])} over {over}, beyond the margin of {row['limit']:g}."
    return f"{what}: {signed(row['difference'])}, cannot tell{_missing(row)}."


def _level(row: Line) -> str:
    """The mean that a floor is held against; where the judge's error can be taken out, the one without it."""
    if row["candidate"] is None:
        return "too few samples could be measured for a mean"
    raw = score(row["candidate"])
    return raw if row["corrected"] is None else f"{score(row['corrected'])} (by the judge alone {raw})"


def _missing(row: Line) -> str:
    if row["note"]:
        return f": {row['note']}"
    said = ""
    if row["detectable"] is not None:
        said += f": {row['n']} queries show losses of {score(row['detectable'])} and more"
    if row["more"] is not None:
        said += f"; about {count(row['more'], 'more query', 'more queries')} would settle it"
    return said


def _label(row: Line) -> str:
    return f"{row['measure']} ({row['slice']})" if row["slice"] else str(row["measure"])


def _cells(row: Line) -> tuple[str, ...]:
    if row["check"] != "difference":
        return (
            row["outcome"],
            _label(row),
            "",
            score(row["candidate"]),
            "",
            f"{row['check']} {row['limit']:g}",
            "",
        )
    bounds = (
        "" if row["low"] is None or row["high"] is None else f"{signed(row['low'])} {signed(row['high'])}"
    )
    before, after = score(row["baseline"]), score(row["candidate"])
    return (
        row["outcome"],
        _label(row),
        before,
        after,
        signed(row["difference"]),
        bounds,
        probability(row["p"]),
    )


_FORMATS: dict[str, Callable[[View], str]] = {
    "table": text,
    "full": text,
    "markdown": markdown,
    "json": as_json,
    "junit": junit,
}
