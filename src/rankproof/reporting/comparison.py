"""A comparison as text: one line a system and measure, the verdict in words, the winner if there is one."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankproof.display import width
from rankproof.errors import one_of
from rankproof.reporting import data
from rankproof.reporting import latex as tex
from rankproof.reporting import markdown as md
from rankproof.reporting.blocks import waterfall
from rankproof.reporting.comparison_screen import parts
from rankproof.reporting.conclusions import conclusions
from rankproof.reporting.differences import (
    HEADINGS,
    PAIRS,
    cells,
    corrected_lines,
    corrected_sentences,
    heading,
    markdown_table,
    pair_cells,
    pair_heading,
    pair_lines,
    probability,
    signed,
    span,
    tables,
)
from rankproof.reporting.findings import DISTRUST, finding_lines
from rankproof.reporting.latex import escape
from rankproof.reporting.numbers import score, share
from rankproof.reporting.screen import fitted
from rankproof.reporting.tables import GAP, clean, cut, pad, page_width, wrap

__all__ = ["probability", "sentences", "signed", "span", "tables", "waterfalls"]

View = Mapping[str, Any]
Line = Mapping[str, Any]
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


def _best(view: View, rows: Sequence[Line]) -> str | None:
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


def _records(write: Callable[[Sequence[data.Record]], str]) -> Callable[[View], str]:
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
    "csv": _records(data.as_csv),
    "json": _records(data.as_json),
    "jsonl": _records(data.as_jsonl),
}
