"""A comparison as a document: one line a system and measure, the verdict in words, the winner if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

from rankproof.comparing.conclusions import conclusions
from rankproof.comparing.differences import (
    DETAILS,
    HEADINGS,
    PAIRS,
    by_measure,
    cells,
    corrected_table,
    details,
    heading,
    pair_cells,
    pair_heading,
    probability,
    short_verdict,
    signed_number,
    span,
    verdict,
)
from rankproof.core.explained import Explained, ExplainedCase, ExplainedLine
from rankproof.document.display import width
from rankproof.document.model import (
    PAGE,
    PAPER,
    SCREEN,
    TERMINAL,
    TEXT,
    Block,
    Bullets,
    Cell,
    Chart,
    Code,
    Column,
    Document,
    FirstFit,
    Paragraph,
    Part,
    Record,
    Table,
)
from rankproof.document.numbers import ABSENT, score, share
from rankproof.document.terminal import GAP, cut, pad, waterfall
from rankproof.scoring.tables import sentence
from rankproof.scoring.words import wrong_data

View = Mapping[str, Any]
Row = Mapping[str, Any]
WORDS = ("measure", "system", "against", "verdict")
"""The columns that are no numbers."""
TALL = 12
"""Lines that the table of all measures may have; beyond them only the deciding one is shown in full."""
LIKELY, MAYBE, FURTHER, SELDOM = 1, 2, 3, 4
EFFECTS, DECIDED = "effects and queries needed", "how it was decided"
CALLED = 12
"""Columns that the name of a system may take above a column of numbers."""
LONGEST = 20
"""Columns that the name of a system may take beside a chart."""
BETTER, WORSE = "†", "‡"
"""How papers mark what is significant, behind the mean."""

__all__ = [
    "case_blocks",
    "comparison",
    "probability",
    "sentences",
    "signed_number",
    "span",
    "tables",
    "waterfalls",
    "wrong_data",
]


def comparison(view: View) -> Document:
    """The whole of a comparison; `view` is what `Comparison` says of itself."""
    groups = list(dict.fromkeys(row["slice"] for row in view["rows"]))
    falls = waterfalls(view["rows"][0]["measure"], view["moved"])
    parts = [
        wrong_data(_errors(view)),
        *view.get("above", ()),
        *_main(view, groups),
        *(Part(*_details(view, group), media=(TEXT,)) for group in groups),
        *(Part(_in_full(view, group), media=(PAGE,)) for group in groups),
        *([_for_papers(view)] if "" in groups else []),
        Part(*corrected_table(view["rows"]), rank=LIKELY, name="differences with the judge's error"),
        Part(*_pairs(view)),
        Part(*falls, rank=SELDOM, name="query by query", media=(*TERMINAL, PAGE)),
        *_said(view),
        *view.get("cases", ()),
    ]
    return Document("Comparison", parts, _records(view))


def _errors(view: View) -> list[str]:
    """What makes the numbers wrong, each with the names of the systems it is about."""
    return [
        f"{', '.join(cut(name, 30) for name in names)}: {sentence(found)}"
        for found, names in view["findings"]
        if found.severity == "error"
    ]


# --- tables ---------------------------------------------------------------------------------------------


def _main(view: View, groups: Sequence[str]) -> Iterator[Part | FirstFit]:
    """The rows on one screen: all of them where they are few, else those of the first measure and a matrix."""
    if "" in groups:
        yield FirstFit([[Part(*form[0], media=(SCREEN,)), *form[1:]] for form in _forms(view)])
    for group in filter(None, groups):
        table = Table.of(HEADINGS, cells(view, group), WORDS, caption=heading(view, group), grouped=True)
        yield Part(table, rank=LIKELY, name=f"group {cut(group, 20)}", media=(SCREEN,))
    if "" in groups:
        yield Part(
            Table.of(DETAILS, details(view, ""), WORDS, grouped=True),
            rank=FURTHER,
            name=EFFECTS,
            media=(SCREEN,),
        )


def _forms(view: View) -> Iterator[list[Any]]:
    """The table over all queries in its forms, each as the blocks that no screen lacks, and parts that some do."""
    rows = [row for row in view["rows"] if not row["slice"]]
    systems = list(dict.fromkeys(row["system"] for row in rows))
    settings: dict[str, Any] = {"caption": heading(view, ""), "grouped": True}
    yield [[Table.of(HEADINGS, cells(view, ""), WORDS, **settings, tall=TALL)]]
    if len(systems) == 1:
        yield [[_alone(view, rows)]]
    first = [row for row in rows if row["measure"] == rows[0]["measure"]]
    deciding = Table.of(HEADINGS, cells({**view, "rows": first}, ""), WORDS, **settings)
    others = [row for row in rows if row not in first]
    matrix = [Part(_matrix(others, systems), rank=LIKELY, name="the other measures", media=(SCREEN,))]
    yield [[deciding], *(matrix if others else [])]


def _alone(view: View, rows: Sequence[Row]) -> Table:
    """One system against the baseline: a line a measure."""
    own = [each for each in cells({**view, "rows": rows}, "") if each[-1] != "baseline"]
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    lines = [(name, score(view["means"][name]), *cell[2:]) for name, cell in zip(measures, own, strict=True)]
    return Table.of(("measure", "baseline", *HEADINGS[2:]), lines, WORDS, caption=heading(view, ""))


def _matrix(rows: Sequence[Row], systems: Sequence[str]) -> Table:
    """A line a measure, and for each system the difference; the verdict where there is one."""
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    known = {(row["measure"], row["system"]): row for row in rows}
    columns = [
        Column(cut(name, CALLED), [_told(known.get((each, name))) for each in measures]) for name in systems
    ]
    return Table([Column("measure", measures), *columns])


def _told(row: Row | None) -> str:
    if row is None:
        return ""
    word = "" if row["verdict"] == "unclear" else short_verdict(row)
    return f"{signed_number(row['difference'])} {word}".strip()


def _details(view: View, group: str) -> list[Block]:
    """What differs by how much, and beside it how often and what could be shown."""
    return [
        Table.of(HEADINGS, cells(view, group), WORDS, caption=heading(view, group), grouped=True),
        Table.of(DETAILS, details(view, group), WORDS, grouped=True),
    ]


def tables(view: View) -> list[Block]:
    """The two tables of all queries and those of each group."""
    groups = dict.fromkeys(each["slice"] for each in view["rows"])
    return [table for group in groups for table in _details(view, group)]


def _in_full(view: View, group: str) -> Table:
    """One table with the columns of both, and the verdict in full."""
    headings = (*HEADINGS[:-1], *DETAILS[2:-1], HEADINGS[-1])
    compared = [each for _, same in by_measure(view, group) for each in same]
    more = iter(zip(details(view, group), compared, strict=True))
    rows = []
    for row in cells(view, group):
        detail, each = (("",) * len(DETAILS), None) if row[-1] == "baseline" else next(more)
        said = row[-1] if each is None else verdict(each, view["margin"])
        rows.append((*row[:-1], *detail[2:-1], said))
    return Table.of(headings, rows, WORDS, caption=heading(view, group))


def _for_papers(view: View) -> Part:
    """The table of a paper: what is significant is marked, the best mean bold if it is told apart."""
    rows = [each for each in view["rows"] if not each["slice"]]
    verdicts = {(each["measure"], each["system"]): each["verdict"] for each in rows}
    best = {name: _best(view, [each for each in rows if each["measure"] == name]) for name in view["means"]}
    lines, measure = [], ""
    for label, system, mean, *others, _ in cells(view, ""):
        measure = label or measure
        raised = {"better": BETTER, "worse": WORSE}.get(verdicts.get((measure, system), ""), "")
        lines.append((label, system, Cell(mean, best=best.get(measure) == system, raised=raised), *others))
    legend = (
        f"dagger: better than {view['baseline']}, double dagger: worse, at {view['alpha']:g}; bold: the best mean, "
        "where it is told apart from the baseline"
    )
    return Part(Paragraph(legend), Table.of(HEADINGS[:-1], lines, WORDS), media=(PAPER,))


def _best(view: View, rows: Sequence[Row]) -> str | None:
    """The system with the best mean of a measure, if it is told apart from the baseline, or the baseline from all."""
    better = [each for each in rows if each["verdict"] == "better" and each["mean"] is not None]
    if better:
        signs = {row["difference"] > 0 for row in better}
        return str((max if signs == {True} else min)(better, key=lambda each: each["mean"])["system"])
    return str(view["baseline"]) if rows and all(each["verdict"] == "worse" for each in rows) else None


def _pairs(view: View) -> list[Block]:
    """Every system against every other; nothing where that was not asked for."""
    if not view.get("pairs"):
        return []
    made = Table.of(PAIRS, pair_cells(view), WORDS, caption=pair_heading(view))
    return [Table([Column(x.heading, x.cells, x.right, LONGEST) for x in made.columns], made.caption)]


def waterfalls(measure: str, moved: Mapping[str, Sequence[float]]) -> list[Block]:
    """For each system the differences query by query as one line of blocks."""
    top = max((abs(value) for values in moved.values() for value in values), default=0.0)
    if not top:
        return []
    caption = f"{measure} query by query, from most lost to most won; a full block is {score(top)}:"
    return [Chart(caption, partial(_falls, moved, top))]


def _falls(moved: Mapping[str, Sequence[float]], top: float, room: int) -> list[str]:
    room -= len(GAP) + min(max(map(width, moved)), LONGEST)
    falls = [(cut(name, LONGEST), waterfall(values, top, room)) for name, values in moved.items()]
    padded = max(width(name) for name, _ in falls)
    return [f"{pad(name, padded)}{GAP}{drawn}" for name, drawn in falls]


# --- sentences ------------------------------------------------------------------------------------------


def _said(view: View) -> Iterator[Part]:
    """The sentences, and below them what to know of the data."""
    yield Part(Paragraph(""))
    verdict_at = len(view.get("notes", ()))
    for n, each in enumerate(sentences(view)):
        yield Part(Paragraph(each), rank=0 if n == verdict_at else MAYBE, name=DECIDED)
    # A judge of the model that ranked goes first.
    for found, names in sorted(view["findings"], key=lambda each: each[0].kind != "judge-kin"):
        if found.severity == "warning":
            told = f"{', '.join(cut(name, 30) for name in names)}: {sentence(found)}"
            yield Part(Bullets([told], ["warning"]), media=(SCREEN,))
            break
    if any(view["warnings"].values()):
        told = ", ".join(f"{cut(name, 30)} {times}" for name, times in view["warnings"].items() if times)
        how = Paragraph(f"Warnings of the audit: {told}. Read them with:")
        yield Part(how, Code(view["audit"]), media=(TEXT,))


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


def _records(view: View) -> list[Record]:
    """A row a system, measure and group; with what makes the numbers wrong, where something does."""
    pairs = view.get("pairs", ())
    told = [f"{', '.join(on)}: {each}" for each, on in view["findings"] if each.severity == "error"]
    errors = {"errors": " ".join(told)} if told else {}
    family = [({"family": "baseline"} if pairs else {}, view["rows"]), ({"family": "all pairs"}, pairs)]
    return [{**of, **each, **errors} for of, rows in family for each in rows]


# --- single queries, list beside list -------------------------------------------------------------------

TOP = 10
"""Documents listed of each ranking."""
MISSED = 3
"""Documents named that were not found."""


def case_blocks(case: ExplainedCase, text: str | None = None) -> list[Block]:
    """The query, its values, and the first documents of each list with their grades."""
    told = "" if text is None else f": {text}"
    measure = case.sides[0][1].measure
    values = ", ".join(f"{cut(name, 24)} {score(own.value)}" for name, own in case.sides)
    lines = list(zip_longest(*(own.lines[:TOP] for _, own in case.sides)))
    columns = [
        column
        for n, (name, _) in enumerate(case.sides)
        for column in _listed(name, [each[n] for each in lines])
    ]
    table = Table(
        columns, f"{case.query}{told} ({case.why}; {measure} {values})", shrink=range(2, len(columns), 3)
    )
    return [table, *(Paragraph(_missing(name, own)) for name, own in case.sides if own.missed)]


def _listed(name: str, lines: Sequence[ExplainedLine | None]) -> list[Column]:
    ranks = ["" if each is None else ABSENT if each.rank is None else str(each.rank) for each in lines]
    grades = ["" if each is None else ABSENT if each.grade is None else f"{each.grade:g}" for each in lines]
    documents = ["" if each is None else each.document for each in lines]
    return [Column("rank", ranks, True), Column("grade", grades, True), Column(name, documents)]


def _missing(name: str, own: Explained) -> str:
    """The relevant documents that a list does not hold."""
    named = ", ".join(f"{cut(document, 30)} ({grade:g})" for document, grade in own.missed[:MISSED])
    more = f" and {len(own.missed) - MISSED} more" if len(own.missed) > MISSED else ""
    return f"not in {cut(name, 24)}: {named}{more}"
