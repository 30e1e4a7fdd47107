"""Scores as text for people: aligned tables of at most 80 columns, and under them what to know.

Colour is an addition for terminals; nothing is said by it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rankproof.core.scoring import ScoreRow, Summary
from rankproof.document.display import Displayable, width
from rankproof.document.numbers import count, score
from rankproof.document.terminal import (
    ALWAYS,
    GAP,
    WARNING,
    Column,
    Part,
    all_lines,
    bin_means,
    blocks,
    cut,
    fit_lines,
    page_width,
    spark,
    table,
    wrap,
)
from rankproof.scoring import tables
from rankproof.scoring.records import Values, queries_in
from rankproof.scoring.tables import DISTRUST, finding_lines, legend, side_by_side, telling_columns

if TYPE_CHECKING:
    from rankproof.core.audit import Finding

BEFORE = "Before you trust these numbers:"


def text(summaries: Sequence[Summary], colour: bool = False, above: Sequence[str] = ()) -> str:
    """The scores on one screen: the numbers and the most serious warning always, the rest while there is room."""
    return "\n".join(fit_lines([Part(above), *parts(summaries, colour)])) + "\n"


def full_text(summaries: Sequence[Summary], colour: bool = False, above: Sequence[str] = ()) -> str:
    """The table of one ranking, or of several side by side, with everything that belongs under it."""
    return "\n".join(all_lines([Part(above), *parts(summaries, colour)])) + "\n"


def parts(summaries: Sequence[Summary], colour: bool = False) -> list[Part]:
    """What makes the numbers wrong stands above them, where nobody reads past it."""
    wrong = [line for each in _findings(summaries, colour, "error") for line in each]
    above = [Part([DISTRUST, *wrong, ""])] if wrong else []
    told = _one(summaries[0]) if len(summaries) == 1 else _several(summaries)
    warnings = _findings(summaries, colour, "warning")
    return [*above, *told, *_under(warnings, first=LIKELY if wrong else ALWAYS)]


LIKELY, MAYBE, FURTHER, SELDOM = 1, 2, 3, 4
"""Ranks of what may be left out: sizes and groups; notes; more warnings and columns; how it was measured."""


def _one(summary: Summary) -> list[Part]:
    """One ranking."""
    first, *others = measures(summary.rows)
    heading = [cut(summary.name, page_width()), ""] if summary.name else []
    size = (
        f"{tables.size(summary)} {tables.tied_sentence(summary)} {tables.unjudged_sentence(summary)}".strip()
    )
    method = f"{tables.definitions(summary)} {tables.intervals(summary.rows)}".strip()
    groups = Part(["", *slices(summary)], LIKELY, "groups") if summary.slices else Part([])
    return [
        Part([*heading, *first]),
        *(Part(["", *lines], FURTHER, "what ties and the unjudged could change") for lines in others),
        groups,
        Part(["", *_wrapped([summary.apart])] if summary.apart else []),
        Part(["", *_wrapped([size])], LIKELY, "sizes"),
        *(Part(_wrapped([each]), MAYBE, "notes") for each in (*summary.said, *tables.notes(summary.rows))),
        Part(_wrapped([method]), SELDOM, "conventions and methods"),
    ]


def measures(rows: Sequence[ScoreRow]) -> list[list[str]]:
    """The table: a line a measure, with the columns that say something; in parts as wide as the page."""
    names = Column("measure", [row.measure for row in rows])
    return blocks(
        [names, *(Column(f.heading, [f.cell(row) for row in rows], True) for f in telling_columns(rows))]
    )


def slices(summary: Summary) -> list[str]:
    """The means of each slice: a line a slice, a column a measure."""
    groups = list(summary.slices.values())
    columns = [Column("slice", list(summary.slices))]
    for i, row in enumerate(summary.rows):
        columns.append(Column(row.measure, [score(rows[i].shown) for rows in groups], True))
        if any(rows[i].corrected is not None for rows in groups):
            columns.append(Column("corrected", [score(rows[i].corrected) for rows in groups], True))
    return table([*columns, Column("n", [count(max(row.n for row in rows)) for rows in groups], True)])


def _several(summaries: Sequence[Summary]) -> list[Part]:
    """Several rankings side by side, and under them what they share and where they differ."""
    made = [Part(["", legend(summaries)], LIKELY, "what * marks")] if legend(summaries) else []
    for summary in summaries:
        if summary.slices:
            lines = ["", cut(summary.name, page_width()), "", *slices(summary)]
            made.append(Part(lines, LIKELY, f"groups of {cut(summary.name, 20)}"))
    return [
        Part(side_by_side(summaries)),
        *made,
        Part(["", *_wrapped([summaries[0].apart])] if summaries[0].apart else []),
        Part(["", *_wrapped([tables.size(summaries[0])])], LIKELY, "sizes"),
        *(Part(_wrapped([each]), MAYBE, "notes on each ranking") for each in _of_each(summaries)),
        Part(_wrapped(_shared(summaries)), SELDOM, "conventions and methods"),
    ]


def _of_each(summaries: Sequence[Summary]) -> list[str]:
    """What differs from ranking to ranking."""
    said = []
    for summary in summaries:
        told = [
            tables.tied_sentence(summary) if summary.tied else "",
            tables.unjudged_sentence(summary),
            *tables.notes(summary.rows),
        ]
        if any(told):
            said.append(f"{cut(summary.name, 40)}: {' '.join(filter(None, told))}")
    return said


def _shared(summaries: Sequence[Summary]) -> list[str]:
    rows = [row for summary in summaries for row in summary.rows]
    return list(
        dict.fromkeys([f"{tables.definitions(each)} {tables.methods(rows)}".strip() for each in summaries])
    )


def queries(values: Values) -> str:
    """The value of every query: a table for each ranking, a line a query, a column a measure."""
    parts = []
    for ranking, by_measure in values.items():
        ids = queries_in(by_measure)
        columns = [Column("query", ids)]
        for name, by_query in by_measure.items():
            columns.append(Column(name, [score(by_query.get(query)) for query in ids], True))
        heading = [cut(ranking, page_width()), ""] if len(values) > 1 else []
        parts.append("\n".join([*heading, *table(columns), *spread_text(by_measure)]) + "\n")
    return "\n".join(parts)


def spread_text(by_measure: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The values of each measure from the lowest to the highest, as a line of blocks; no line for one query.

    >>> spread_text({"RR": {"q1": 1.0, "q2": 0.25, "q3": 0.0}})[2:]
    ['·▂█  RR']
    """
    drawn = {cut(name, 24): sorted(values.values()) for name, values in by_measure.items() if len(values) > 1}
    if not drawn:
        return []
    room = page_width() - len(GAP) - max(map(width, drawn))
    lines = [f"{spark(bin_means(row, room))}{GAP}{name}" for name, row in drawn.items()]
    return ["", "From the lowest value to the highest:", *lines]


def _wrapped(paragraphs: Sequence[str]) -> list[str]:
    return [line for each in paragraphs if each for line in wrap(each)]


def _under(warnings: Sequence[list[str]], first: int) -> list[Part]:
    """The warnings, the first one before all others."""
    return [
        Part(["", BEFORE, *lines] if not n else lines, FURTHER if n else first, WARNING)
        for n, lines in enumerate(warnings)
    ]


def _findings(summaries: Sequence[Summary], colour: bool, severity: str) -> list[list[str]]:
    """The findings of a severity, each once, with the rankings it is about where there are several."""
    about: dict[Finding, list[str]] = {}
    for summary in summaries:
        for finding in (each for each in summary.findings if each.severity == severity):
            about.setdefault(finding, []).append(cut(summary.name, 40))
    told = []
    for finding, names in about.items():
        which = ", ".join(names) if len(names) < len(summaries) else "every run"
        told.append(finding_lines(finding, colour, f"{which}: " if len(summaries) > 1 else ""))
    return told


Listed = Sequence[tuple[str, float]]


def worst_queries(measure: str, by_ranking: Mapping[str, Listed]) -> str:
    """A table for each ranking, the worst query first.

    >>> print(worst_queries("RR", {"my.run": [("q2", 0.0), ("q7", 0.5)]}))
    my.run: the 2 queries with the worst RR
    <BLANKLINE>
    query      RR
    -----  ------
    q2     0.0000
    q7     0.5000
    <BLANKLINE>
    """
    return "\n".join(_one_query(measure, cut(name, 30), listed) for name, listed in by_ranking.items())


def _one_query(measure: str, name: str, listed: Listed) -> str:
    head = f"{name}: the {count(len(listed), 'query', 'queries')} with the worst {measure}"
    queries = Column("query", [cut(query, 60) for query, _ in listed])
    values = Column(measure, [score(value) for _, value in listed], True)
    return "\n".join([head, "", *table([queries, values])]) + "\n"


WORDS = ("poor", "acceptable", "good", "excellent")

CUTS: Mapping[str, tuple[float, float, float]] = {
    "P@5": (0.30, 0.50, 0.70),
    "R@5": (0.40, 0.60, 0.80),
    "Success@5": (0.60, 0.80, 0.90),
    "RR@10": (0.40, 0.60, 0.80),
    "nDCG@5": (0.40, 0.60, 0.80),
}
"""For each measure where acceptable, good and excellent begin."""

NEVER = 0.05
"""Below this RR@10 the first relevant document is, as a rule, beyond the second page."""

PLACES = {
    1: "first",
    2: "second",
    3: "third",
    4: "fourth",
    5: "fifth",
    6: "sixth",
    7: "seventh",
    8: "eighth",
    9: "ninth",
    10: "tenth",
}


@dataclass(frozen=True, slots=True)
class Band(Displayable):
    """One measure's mean, what it could have been, and what that is called."""

    measure: str
    value: float
    ceiling: float
    low: float | None
    high: float | None
    """The ends of the 95 % interval of the mean."""
    word: str
    """poor, acceptable, good or excellent; "" where nothing could be reached at all."""
    said: str = ""
    """The number in words, where it has any."""

    @property
    def share(self) -> float | None:
        """The value as a share of its ceiling, which is what is banded."""
        return min(self.value / self.ceiling, 1.0) if self.ceiling > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """The band as plain data."""
        return {**asdict(self), "share": self.share, "called": self.measure}


def band(
    measure: str, value: float, ceiling: float, low: float | None = None, high: float | None = None
) -> Band:
    """The band of a mean, from its share of the ceiling.

    >>> found = band("P@5", 0.15, 0.20)
    >>> found.word, round(found.share, 4)
    ('excellent', 0.75)
    """
    if ceiling <= 0:
        return Band(measure, value, ceiling, low, high, "")
    said = in_words(value / ceiling) if measure == "RR@10" else ""
    return Band(measure, value, ceiling, low, high, word_of(measure, value / ceiling), said)


def word_of(measure: str, share: float) -> str:
    """What a share of the ceiling is called; the edge of a band belongs to the better one.

    >>> [word_of("RR@10", share) for share in (0.39, 0.4, 0.6, 0.8)]
    ['poor', 'acceptable', 'good', 'excellent']
    """
    return WORDS[sum(share >= cut - 1e-9 for cut in CUTS[measure])]


def in_words(rr: float) -> str:
    """Where the first relevant document stands, from the mean reciprocal rank.

    >>> [in_words(value) for value in (1.0, 0.5, 0.33, 0.1, 0.0)]
    ['always first', 'about second', 'about third', 'about tenth', 'hardly ever found']
    """
    if rr >= 1 - 1e-9:
        return "always first"
    if rr < NEVER:
        return "hardly ever found"
    place = round(1 / rr)
    return "mostly first" if place == 1 else f"about {PLACES.get(place, f'{place}th')}"
