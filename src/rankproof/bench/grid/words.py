"""A grid as text: the winner and what it is worth, every configuration, what each factor does, the front."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rankproof.comparing.words import probability, signed_number
from rankproof.comparing.words import span as difference_span
from rankproof.document.display import width
from rankproof.document.html.charts import Dot, scatter
from rankproof.document.html.page import Markup, Section, el, page, paragraphs, table
from rankproof.document.numbers import ABSENT, count, score, short_span
from rankproof.document.terminal import Column, Part, all_lines, blocks, fit_lines, wrap
from rankproof.errors import one_of
from rankproof.scoring import records as data
from rankproof.scoring.markdown import escape
from rankproof.scoring.markdown import table as markdown_table
from rankproof.scoring.tables import DISTRUST

WORDS = ("configuration", "", "factor", "level", "source")
"""The columns that hold text."""
CAPTIONS = {
    "Configurations": "On the questions that choose, the best first",
    "What each factor does": "Each level against the first of its factor",
    "What varies, and by what": "Shares of all squares; they add up to 100 %",
}


def grid_html(view: View) -> str:
    """The grid as one HTML file that needs nothing else."""
    picture = Section("front", "Quality and latency", _picture(view))
    notes = Section("notes", "Notes", paragraphs(footer(view)))
    shown = [picture, *map(_section, tables(view)), notes]
    return page("Retrieval grid", paragraphs(verdict(view)), shown, el("p", "Made by rankproof."))


def _picture(view: View) -> Markup:
    """The configurations that were run on all questions, as dots."""
    most = max(row["n"] for row in view["rows"])
    rows = [row for row in view["rows"] if row["means"] and row["n"] == most and row["p50"] is not None]
    dots = [Dot(row["name"], 1000 * row["p50"], mean_of(view, row), row["front"]) for row in rows]
    return scatter(view["measure"], dots) if dots else paragraphs(["Nothing was run on all questions."])


def _section(shown: Table) -> Section:
    heading, headings, rows = shown
    words = [n for n, name in enumerate(headings) if name in WORDS]
    body = table(CAPTIONS[heading], headings, rows, words=words)
    return Section("-".join(heading.lower().replace(",", "").split()[:2]), heading, body)


View = Mapping[str, Any]
Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Heading, headings of columns, rows: plain text in every cell."""

MOST = 20
"""Configurations that are shown on a screen; other formats show all."""
LABEL = 40
"""Columns of a screen that a name may take before every part of a table."""
LEAST = 0.0005
"""A smaller share is not shown."""
REASONS = 3
"""Reasons that are told of a configuration."""
ON_FRONT = "*"
LEGEND = (
    "Milliseconds are those of one question, all steps together: half of the questions take no longer, and 19 "
    f"of 20. {ON_FRONT} marks the front: nothing else is as good, as fast and as cheap, and better in one of these."
)


def check_format(name: str) -> None:
    """Whether there is a format of that name, before any work is done."""
    if name not in FORMATS:
        raise one_of("format", name, FORMATS)


def render_grid(view: View, name: str) -> str:
    """The grid as text in the named format."""
    check_format(name)
    return FORMATS[name](view)


# --- sentences and tables that all formats share ----------------------------------------------------


def verdict(view: View) -> list[str]:
    """The winner, and what it is worth."""
    winner, held = view["winner"], view["held_out"]
    row = next(each for each in view["rows"] if each["name"] == winner)
    reached = f"{winner}, {view['measure']} {score(row['means'][view['measure']])}."
    if len(view["rows"]) == 1:
        chosen = f"The only configuration, on {count(view['chosen_on'], 'question')}: {reached}"
    else:
        chosen = (
            f"Best of {count(len(view['rows']), 'configuration')} on the {view['chosen_on']:,} questions that choose: "
            f"{reached} Chosen as the best, it is flattered by that number."
        )
    wrong = [f"{DISTRUST} {each}" for each in view["wrong"]]
    return [*wrong, chosen, *([_held(view, held)] if held else [])]


def _held(view: View, held: View) -> str:
    worth = (
        f"On the {count(held['n'], 'question')} held out it reaches {score(held['mean'])} "
        f"{short_span(held['low'], held['high'])}"
    )
    if held["verdict"] == "baseline":
        return f"{worth}: this is what to expect of new questions."
    against = (
        f"{_rival(view, held)} has {score(held['baseline'])}, a difference of {signed_number(held['difference'])} "
        f"{difference_span(held['difference_low'], held['difference_high'])}, p {probability(held['p'])}"
    )
    return f"{worth}: this is what to expect of new questions. {against}: {held['note'] or _WORDS[held['verdict']]}."


def _rival(view: View, held: View) -> str:
    """What the winner is compared with: the baseline, or what came second to it."""
    name = str(held["against"])
    return name if name == view["baseline"] else f"It is the baseline itself; the second best, {name},"


_WORDS = {
    "better": "better beyond chance",
    "worse": "worse beyond chance",
    "equivalent": "the same",
    "unclear": "not beyond chance",
}


def configurations(view: View, most: int | None = None) -> Table:
    """The configurations, the best first, those that failed last; at most so many, and those on the front."""
    shown = _shown(view, most)
    measures = list(next(row["means"] for row in shown if row["means"]))
    fields = [field for field in _fields(measures) if field.wanted(view["rows"])]
    rows = [[field.cell(row) for field in fields] for row in shown]
    return "Configurations", [field.heading for field in fields], rows


def _shown(view: View, most: int | None) -> list[View]:
    sign = -1 if view["higher"] else 1
    kept = (view["baseline"], view["winner"])
    ordered = sorted(view["rows"], key=lambda row: (not row["means"], -row["n"], sign * mean_of(view, row)))
    return (
        ordered
        if most is None
        else [row for n, row in enumerate(ordered) if n < most or row["front"] or row["name"] in kept]
    )


def mean_of(view: View, row: View) -> float:
    """The mean that decides; 0 where it failed."""
    return float(row["means"].get(view["measure"], 0))


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the table of configurations."""

    heading: str
    cell: Callable[[View], str]
    wanted: Callable[[Sequence[View]], bool] = lambda rows: True


def _fields(measures: Sequence[str]) -> list[Field]:
    first, *others = measures
    return [
        Field("configuration", lambda row: row["name"]),
        Field("", lambda row: ON_FRONT if row["front"] else ""),
        Field(first, lambda row: score(row["means"].get(first))),
        Field("interval", lambda row: short_span(row["low"], row["high"])),
        Field("p50 ms", lambda row: _milliseconds(row["p50"])),
        Field("p95 ms", lambda row: _milliseconds(row["p95"])),
        Field("cost", lambda row: f"{row['cost']:g}", lambda rows: any(row["cost"] for row in rows)),
        Field("n", lambda row: f"{row['n']:,}", lambda rows: len({row["n"] for row in rows}) > 1),
        *(Field(each, partial(_score, each)) for each in others),
    ]


def _score(measure: str, row: View) -> str:
    return score(row["means"].get(measure))


def _milliseconds(seconds: float | None) -> str:
    """A time with three figures.

    >>> _milliseconds(0.001234), _milliseconds(1.5), _milliseconds(None)
    ('1.23', '1,500', '-')
    """
    if seconds is None:
        return ABSENT
    ms = seconds * 1000
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.3g}"


def effects(view: View) -> Table:
    """What each factor does on average."""
    rows = []
    for effect in view["effects"]:
        for n, level in enumerate(effect["levels"]):
            factor, share = (effect["factor"], f"{effect['share']:.1%}") if n == 0 else ("", "")
            rows.append(
                [factor, level["name"], score(level["mean"]), *(_off(level) if n else ("",) * 3), share]
            )
    return "What each factor does", ["factor", "level", "mean", "difference", "interval", "p", "share"], rows


def _off(level: View) -> tuple[str, str, str]:
    return (
        signed_number(level["difference"]),
        difference_span(level["low"], level["high"]),
        probability(level["p"]),
    )


ABOUT_EFFECTS = (
    "Each level against the first of its factor, averaged over what was run with all of them; intervals hold for all "
    "levels at once (Bonferroni), p is by sign flips and corrected over all levels (Holm). Shares are of one analysis "
    "of the whole design: factors, interactions, questions and the rest (question by configuration) add up to 100 %."
)


def failures(view: View) -> list[str]:
    """The configurations that failed, each with its reason."""
    return [f"{row['name']} failed: {row['failure']}" for row in view["rows"] if row["failure"]]


def unanswered_questions(view: View) -> list[str]:
    """The configurations that left questions without an answer."""
    rows = [row for row in view["rows"] if row["missed"] and not row["failure"]]
    return [
        f"{row['name']}: {count(row['missed'], 'question')} failed and counted as a miss: {_why(row['reasons'])}"
        for row in rows
    ]


def _why(reasons: Mapping[str, int]) -> str:
    """The most frequent reasons, with how often where there are several."""
    told = list(reasons.items())[:REASONS]
    said = "; ".join(f"{times} x {reason}" if len(reasons) > 1 else reason for reason, times in told)
    return said + (f"; {len(reasons) - REASONS} more reasons" if len(reasons) > REASONS else "")


def tables(view: View, most: int | None = None) -> list[Table]:
    """The tables that have something to say."""
    shown = [configurations(view, most)]
    shown += [effects(view)] if view["effects"] else []
    return shown + ([shares(view)] if view["effects"] and view["shares"] else [])


def shares(view: View) -> Table:
    """How much of all that varies comes from where; the parts add up to all of it."""
    parts = {
        name: part for name, part in view["shares"].items() if part >= LEAST or name in ("questions", "rest")
    }
    left = 1 - sum(parts.values())
    if left >= LEAST:
        parts["all others"] = left
    return (
        "What varies, and by what",
        ["source", "share"],
        [[name, f"{part:.1%}"] for name, part in parts.items()],
    )


def footer(view: View) -> list[str]:
    """What is said under everything."""
    about = [ABOUT_EFFECTS] if view["effects"] else []
    return [LEGEND, *about, *view["notes"], *unanswered_questions(view), *failures(view)]


# --- formats ----------------------------------------------------------------------------------------


def screen(view: View) -> str:
    """The grid on one screen: the verdict and the best configurations always."""
    return "\n".join(fit_lines(_parts(view, FEW))) + "\n"


def grid_text(view: View) -> str:
    """The grid with everything known of it."""
    return "\n".join(all_lines(_parts(view, MOST))) + "\n"


def _parts(view: View, most: int) -> list[Part]:
    said = [line for each in verdict(view) for line in wrap(each)]
    (heading, headings, rows), *others = tables(view, most)
    first, *more = _blocks(headings, rows)
    listed = [
        *said,
        "",
        heading,
        "",
        *first,
        *(line for each in _left_out(view, most) for line in wrap(each)),
    ]
    factors = [["", name, "", *_joined(_blocks(heads, cells))] for name, heads, cells in others]
    about = [ABOUT_EFFECTS] if view["effects"] else []
    return [
        Part(listed),
        *(Part(["", *each], FURTHER, "the other measures") for each in more),
        *(Part(each, LIKELY, "what each factor does") for each in factors),
        Part([""]),
        *(Part(wrap(each), SELDOM, "how to read the tables") for each in (LEGEND, *about)),
        *(Part(wrap(each), MAYBE, "notes") for each in view["notes"]),
        *(Part(wrap(each), FIRST, "what failed") for each in (*unanswered_questions(view), *failures(view))),
    ]


def _joined(parts: Sequence[list[str]]) -> list[str]:
    return [line for part in parts for line in (*part, "")]


FIRST, LIKELY, MAYBE, FURTHER, SELDOM = 1, 2, 3, 4, 5
FEW = 8
"""Configurations that one screen shows."""


def _left_out(view: View, most: int) -> list[str]:
    left = len(view["rows"]) - len(_shown(view, most))
    return [f"{count(left, 'configuration')} more: -f csv, json or markdown shows all."] if left else []


def _blocks(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """A table in parts; where names are too long to stand before every part of it, numbers do."""
    if any(width(row[0]) > LABEL for row in rows):
        headings, rows = ["#", *headings], [[str(n), *row] for n, row in enumerate(rows, 1)]
    words = {"configuration", "", "factor", "level", "source"}
    cells = zip(*rows, strict=True)
    return blocks(
        [Column(name, list(own), name not in words) for name, own in zip(headings, cells, strict=True)]
    )


def grid_markdown(view: View) -> str:
    """The grid in markdown."""
    lines = [line for each in verdict(view) for line in (escape(each), "")]
    for heading, headings, rows in tables(view):
        body = markdown_table([escape(each) for each in headings], [[escape(c) for c in row] for row in rows])
        lines += [f"## {heading}", "", *body, ""]
    return "\n".join([*lines, *(f"- {escape(each)}" for each in footer(view))]) + "\n"


def _html(view: View) -> str:

    return grid_html(view)


def _records(view: View) -> list[data.Record]:
    return [_record(row) for row in view["rows"]]


NESTED = ("name", "levels", "means", "reasons")
"""What is no field of its own in a table of plain values."""


def _record(row: View) -> data.Record:
    rest = {name: value for name, value in row.items() if name not in NESTED}
    return {"configuration": row["name"], **row["levels"], **row["means"], **rest}


def _csv(view: View) -> str:
    """A line a configuration; one that failed has no means."""
    records = _records(view)
    fields = dict.fromkeys(name for each in records for name in each)
    return data.as_csv([{name: each.get(name) for name in fields} for each in records])


def _json(view: View) -> str:
    return json.dumps(view, ensure_ascii=False, indent=1) + "\n"


FORMATS: Mapping[str, Callable[[View], str]] = {
    "table": screen,
    "full": grid_text,
    "markdown": grid_markdown,
    "html": _html,
    "csv": _csv,
    "json": _json,
    "jsonl": lambda view: data.as_jsonl(_records(view)),
}
