"""A comparison as text: one line a system and measure, the verdict in words, the winner if there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankproof.errors import one_of
from rankproof.reporting import data
from rankproof.reporting.blocks import waterfall
from rankproof.reporting.findings import finding_lines
from rankproof.reporting.latex import escape
from rankproof.reporting.numbers import ABSENT, count, score, share
from rankproof.reporting.tables import GAP, WIDTH, Column, cut, pad, table, width, wrap

View = Mapping[str, Any]
Line = Mapping[str, Any]
LONGEST = 20
"""Columns that the name of a system may take beside a chart."""
HEADINGS = ("measure", "system", "mean", "difference", "interval", "p", "won/lost", "verdict")


def check(name: str) -> None:
    """Whether there is a format of that name, before any work is done."""
    if name not in _FORMATS:
        raise one_of("format", name, _FORMATS)


def render_comparison(view: View, name: str) -> str:
    """The comparison as text in the named format."""
    check(name)
    return _FORMATS[name](view)


def text(view: View) -> str:
    """The comparison in at most 80 columns."""
    lines = [*tables(view), *waterfalls(view["rows"][0]["measure"], view["moved"])]
    for sentence in sentences(view):
        lines += wrap(sentence)
    return "\n".join([*lines, *_findings(view), *view.get("cases", ())]) + "\n"


def _findings(view: View) -> list[str]:
    """What makes the numbers wrong in full; warnings are counted."""
    errors = _errors(view)
    warnings = len({each.kind for each, _ in view["findings"] if each.severity == "warning"})
    lines = ["", "Before you trust these numbers:"] if errors else []
    for found, names in errors:
        lines += finding_lines(found, where=f"{names}: ")
    if warnings:
        said = f"The audit has {count(warnings, 'warning')}: 'rankproof audit JUDGMENTS RUN' says which."
        lines += wrap(said)
    return lines


def _errors(view: View) -> list[tuple[Any, str]]:
    """What makes the numbers wrong, each with the names of the systems it is about."""
    found = ((each, names) for each, names in view["findings"] if each.severity == "error")
    return [(each, ", ".join(cut(name, 30) for name in names)) for each, names in found]


def tables(view: View) -> list[str]:
    """A table for all queries and one for each group, all laid out alike."""
    cells = {group: _cells(view, group) for group in dict.fromkeys(each["slice"] for each in view["rows"])}
    lay = _wide if all(_fits(each) for each in cells.values()) else _narrow
    return [
        line
        for group, rows in cells.items()
        for line in [*wrap(_heading(view, group)[0]), "", *lay(rows), ""]
    ]


def waterfalls(measure: str, moved: Mapping[str, Sequence[float]]) -> list[str]:
    """For each system the differences query by query as one line of blocks."""
    top = max((abs(value) for values in moved.values() for value in values), default=0.0)
    if not top:
        return []
    room = WIDTH - len(GAP) - min(max(map(width, moved)), LONGEST)
    falls = [(cut(name, LONGEST), waterfall(values, top, room)) for name, values in moved.items()]
    padded = max(width(name) for name, _ in falls)
    lines = [f"{pad(name, padded)}{GAP}{drawn}" for name, drawn in falls]
    most = f"a full block is {score(top)}"
    return [*wrap(f"{measure} query by query, from most lost to most won; {most}:"), "", *lines, ""]


def markdown(view: View) -> str:
    """The comparison as markdown tables."""
    parts = []
    for group in dict.fromkeys(each["slice"] for each in view["rows"]):
        rows = [HEADINGS, tuple("---" for _ in HEADINGS), *_cells(view, group)]
        body = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
        parts.append("\n".join(_heading(view, group)) + body)
    errors = [f"**{names}**: {found}" for found, names in _errors(view)]
    return "\n\n".join([*parts, *sentences(view), *errors]) + "\n"


def latex(view: View) -> str:
    """The comparison as a LaTeX table; a dagger marks what is better or worse than the baseline."""
    rows = [
        " & ".join(map(escape, row[:-1])) + (r"$^\dagger$" if row[-1] in _DECIDED else "")
        for row in _cells(view, "")
    ]
    head = " & ".join(HEADINGS[:-1])
    body = " \\\\\n".join(rows)
    rules = (
        "\\begin{tabular}{llrrrrr}",
        "\\toprule",
        head,
        "\\midrule",
        body,
        "\\bottomrule",
        "\\end{tabular}",
    )
    return "\n".join(f"{each} \\\\" if each in (head, body) else each for each in rules) + "\n"


_DECIDED = ("better", "worse")


def sentences(view: View) -> list[str]:
    """What the table comes to, in words."""
    rows = [each for each in view["rows"] if not each["slice"]]
    deciding = [each for each in rows if each["measure"] == rows[0]["measure"]]
    said = [
        view.get("winning") or _winner(view, deciding),
        *(_unclear(each) for each in deciding if each["verdict"] == "unclear"),
    ]
    return [*view.get("notes", ()), *said, _method(view, len(rows), len(view["rows"]) - len(rows))]


def _winner(view: View, deciding: Sequence[Line]) -> str:
    measure, name = deciding[0]["measure"], view["winner"]
    if name is None:
        return f"No winner: nothing is better than {view['baseline']} on {measure} beyond chance."
    row = next(each for each in deciding if each["system"] == name)
    return f"{name} is better than {view['baseline']} on {measure}, by {signed(row['difference'])}."


def _unclear(row: Line) -> str:
    """Why there is no verdict, and what would give one."""
    name, baseline = row["system"], row["baseline"]
    if not row["wins"] and not row["losses"]:
        return f"{name} and {baseline} have the same value on every query: there is nothing to tell apart."
    if row["note"]:
        return f"{name} against {baseline}: cannot tell, {row['note']}."
    needed = row["queries_needed"]
    more = (
        ""
        if needed is None
        else f"; about {count(needed, 'query', 'queries')} would show a true one of this size"
    )
    return (
        f"{name} against {baseline}: cannot tell yet. {row['n']} queries show differences of "
        f"{score(row['detectable'])} and more; this one is {signed(row['difference'])}{more}."
    )


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


def _heading(view: View, group: str) -> list[str]:
    n = next(each["n"] for each in view["rows"] if each["slice"] == group)
    where = f"{group}: {count(n, 'query', 'queries')}" if group else f"{count(n, 'query', 'queries')}"
    return [f"{where}, compared with {view['baseline']}", ""]


def _cells(view: View, group: str) -> list[tuple[str, ...]]:
    """The table's rows: under each measure the baseline, then the systems."""
    rows = [each for each in view["rows"] if each["slice"] == group]
    lines: list[tuple[str, ...]] = []
    for measure in dict.fromkeys(each["measure"] for each in rows):
        same = [each for each in rows if each["measure"] == measure]
        if not group:
            mean = score(view["means"][measure])
            lines.append((measure, f"{view['baseline']}", mean, "", "", "", "", "baseline"))
        lines += [_line(measure if group and not i else "", each) for i, each in enumerate(same)]
    return lines


def _line(label: str, row: Line) -> tuple[str, ...]:
    return (
        label,
        row["system"],
        score(row["mean"]),
        signed(row["difference"]),
        span(row["low"], row["high"]),
        probability(row["p_corrected"]),
        f"{row['wins']}/{row['losses']}",
        row["verdict"],
    )


def _columns(cells: Sequence[tuple[str, ...]]) -> list[Column]:
    right = {"mean", "difference", "interval", "p", "won/lost"}
    return [
        Column(name, list(column), name in right)
        for name, column in zip(HEADINGS, zip(*cells, strict=True), strict=True)
    ]


def _fits(cells: Sequence[tuple[str, ...]]) -> bool:
    return sum(each.width + len(GAP) for each in _columns(cells)) - len(GAP) <= WIDTH


def _wide(cells: Sequence[tuple[str, ...]]) -> list[str]:
    return table(_columns(cells))


def _narrow(cells: Sequence[tuple[str, ...]]) -> list[str]:
    """The same with each measure on a line of its own, so that the verdict stays beside its system."""
    rows: list[tuple[str, ...]] = []
    for measure, system, *numbers in cells:
        rows += [(measure, *("" for _ in numbers))] if measure else []
        rows.append((f"  {system}", *numbers))
    _, *others = _columns([("", *row) for row in rows])
    room = WIDTH - sum(each.width + len(GAP) for each in others[1:])
    names = Column("system", [cut(row[0], room) for row in rows])
    return table([names, *others[1:]])


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.1184), signed(-0.02), signed(0.0)
    ('+0.1184', '-0.0200', '0.0000')
    """
    return f"{value:+.4f}" if abs(value) >= 0.00005 else f"{0:.4f}"


def span(low: float | None, high: float | None) -> str:
    """The ends of a difference's interval, in little room.

    >>> span(0.0362, 0.2128), span(-0.0801, 0.0208), span(None, None)
    ('[+.036, +.213]', '[-.080, +.021]', '-')
    """
    if low is None or high is None:
        return ABSENT
    ends = [
        f"{each:+.3f}".replace("0.", ".", 1) if abs(each) < 0.9995 else f"{each:+.2f}" for each in (low, high)
    ]
    return f"[{ends[0]}, {ends[1]}]"


def probability(p: float) -> str:
    """A p-value: three decimals, and never a 0.

    >>> probability(0.0421), probability(0.00002), probability(1.0)
    ('.042', '<.001', '1.000')
    """
    return "<.001" if p < 0.001 else "1.000" if p >= 0.9995 else f"{p:.3f}"[1:]


def _records(write: Callable[[Sequence[data.Record]], str]) -> Callable[[View], str]:
    return lambda view: write([dict(each) for each in view["rows"]])


_FORMATS: dict[str, Callable[[View], str]] = {
    "table": text,
    "markdown": markdown,
    "latex": latex,
    "csv": _records(data.as_csv),
    "json": _records(data.as_json),
    "jsonl": _records(data.as_jsonl),
}
