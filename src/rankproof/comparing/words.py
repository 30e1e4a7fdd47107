"""A comparison as a document: one line per system and measure, the verdict in words, the winner if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankproof.comparing.conclusions import conclusions, corrected_table, doubt_notes, told_of, unanswered_notes
from rankproof.core.arrays import by_key
from rankproof.core.conventions import BARREN
from rankproof.core.explanation import ExplainedCase
from rankproof.document.model import (
    ALWAYS,
    FURTHER,
    LIKELY,
    MAYBE,
    PAGE,
    PAPER,
    SCREEN,
    SELDOM,
    TERMINAL,
    TEXT,
    Block,
    Cell,
    Chart,
    Column,
    Document,
    FirstFit,
    Paragraph,
    Part,
    Record,
    Table,
    warnings_under,
)
from rankproof.document.numbers import ABSENT, count, probability, score, share, signed_number, signed_span
from rankproof.document.terminal import GAP, cut, cut_apart, pad, waterfall, width
from rankproof.scoring.tables import case_blocks
from rankproof.scoring.words import wrong_data

if TYPE_CHECKING:
    from rankproof.comparing.comparison import Comparison, ComparisonRow

WORDS = ("measure", "system", "against", "verdict")
"""The columns that are not numbers."""
MANY = 6
"""With more groups than this, those that a screen leaves out are counted, not named."""
TALL = 12
"""Lines that the table of all measures may have; beyond them only the deciding one is shown in full."""
EFFECTS, DECIDED = "effects and queries needed", "how it was decided"
CALLED = 12
"""Columns that the name of a system may take above a column of numbers."""
LONGEST = 20
"""Columns that the name of a system may take beside a chart."""
BETTER, WORSE = "†", "‡"
"""How papers mark what is significant, behind the mean."""


def comparison(found: Comparison, above: Sequence[Part] = (), cases: Sequence[ExplainedCase] = ()) -> Document:
    """The whole of a comparison; `above` stands before it, and `cases` list by list behind it."""
    groups = group_rows(found.rows, "slice")
    parts = [
        wrong_data(_errors(found)),
        *above,
        *_main(found, groups),
        *(Part(_differences(found, rows), _details(rows), media=(TEXT,)) for rows in groups.values()),
        *(Part(_in_full(found, rows), media=(PAGE,)) for rows in groups.values()),
        *(_for_papers(found, rows, group) for group, rows in groups.items()),
        Part(*corrected_table(found.rows), rank=LIKELY, name="differences with the judge's error"),
        *_pairs(found),
        Part(*waterfalls(found), rank=SELDOM, name="query by query", media=(*TERMINAL, PAGE)),
        *_said(found),
        *(Part(*case_blocks(each), media=(*TERMINAL, PAGE)) for each in cases),
    ]
    return Document("Comparison", parts, _records(found))


def _errors(found: Comparison) -> list[str]:
    """What makes the numbers wrong; long names of systems are shortened."""
    return [*found.unanswered, *told_of(found.findings, "error")]


HEADINGS = ("measure", "system", "mean", "difference", "interval", "p", "verdict")
DETAILS = ("measure", "system", "won/tied/lost", "effect", "detectable", "p alone", "queries needed")
"""The second table: how often, in standard deviations, and what so many queries can show."""
PAIRS = ("measure", "system", "against", "difference", "interval", "p", "verdict")


def group_rows(rows: Sequence[ComparisonRow], by: str) -> dict[str, list[ComparisonRow]]:
    """The rows of each measure (by "measure"), or of each group of queries (by "slice", "" for all)."""
    return by_key((getattr(each, by), each) for each in rows)


def tables(found: Comparison) -> list[Block]:
    """The two tables of all queries and those of each group."""
    return [
        table
        for rows in group_rows(found.rows, "slice").values()
        for table in (_differences(found, rows), _details(rows))
    ]


def _differences(found: Comparison, rows: Sequence[ComparisonRow], **settings: Any) -> Table:
    """The first table of a group: what differs by how much."""
    lines = [cells for *_, cells in _lines(found, rows)]
    return Table.of(HEADINGS, lines, WORDS, caption=_heading(found, rows), grouped=True, **settings)


def _details(rows: Sequence[ComparisonRow]) -> Table:
    """The second table of a group: how often, and what could be shown."""
    lines = [
        ("" if i else measure, row.system, *_detail_cells(row))
        for measure, same in group_rows(rows, "measure").items()
        for i, row in enumerate(same)
    ]
    return Table.of(DETAILS, lines, WORDS, grouped=True)


def _heading(found: Comparison, rows: Sequence[ComparisonRow]) -> str:
    sizes = {name: [each.n for each in same] for name, same in group_rows(rows, "measure").items()}
    most = max(max(each) for each in sizes.values())
    fewer = [f"{name} {min(each):,}" for name, each in sizes.items() if min(each) < most]
    where = f"{rows[0].slice}: " if rows[0].slice else ""
    of_which = f" (fewer for {', '.join(fewer)})" if fewer else ""
    return f"{where}{count(most, 'query')}{of_which}, compared with {found.baseline}"


def _lines(
    found: Comparison, rows: Sequence[ComparisonRow]
) -> Iterator[tuple[str, ComparisonRow | None, tuple[str, ...]]]:
    """The first table, line by line: the measure, the row, and its cells; a baseline, over all queries, has no row."""
    for measure, same in group_rows(rows, "measure").items():
        if not same[0].slice:
            mean = score(found.baseline_means[measure])
            yield measure, None, (measure, found.baseline, mean, "", "", "", "baseline")
        for i, row in enumerate(same):
            label = "" if i or not row.slice else measure
            yield measure, row, (label, row.system, score(row.mean), *_difference_cells(found, row))


def _difference_cells(found: Comparison, row: ComparisonRow) -> tuple[str, ...]:
    p, span = probability(row.p_corrected, found.alpha), signed_span(row.low, row.high)
    return signed_number(row.difference), span, p, short_verdict(row)


def _detail_cells(row: ComparisonRow) -> tuple[str, ...]:
    return (
        f"{row.wins}/{row.ties}/{row.losses}",
        ABSENT if row.effect is None else f"{row.effect:+.2f}",
        score(row.detectable),
        probability(row.p),
        ABSENT if row.queries_needed is None else f"{row.queries_needed:,}",
    )


def short_verdict(row: ComparisonRow) -> str:
    """The verdict in a word or three."""
    if row.verdict != "unclear":
        return row.verdict
    if row.wins or row.losses:
        return "cannot tell yet"
    return "nothing relevant" if row.note == BARREN else "cannot tell yet" if row.note else "the same"


def verdict(row: ComparisonRow, margin: float | None = None) -> str:
    """The verdict as a person would say it.

    >>> from types import SimpleNamespace as Row
    >>> verdict(Row(verdict="unclear", wins=3, losses=2, queries_needed=615))
    'cannot tell yet: needs about 615 queries'
    >>> verdict(Row(verdict="equivalent"), 0.02)
    'equivalent within 0.02'
    """
    if row.verdict == "equivalent" and margin is not None:
        return f"equivalent within {margin:g}"
    short = short_verdict(row)
    needed = row.queries_needed if short == "cannot tell yet" else None
    return short if needed is None else f"{short}: needs about {count(needed, 'query')}"


def _main(found: Comparison, groups: Mapping[str, Sequence[ComparisonRow]]) -> Iterator[Part | FirstFit]:
    """The rows on one screen: all of them where they are few, else those of the first measure and a matrix."""
    if "" in groups:
        forms = _forms(found, groups[""])
        yield FirstFit([[Part(*form[0], media=(SCREEN,)), *form[1:]] for form in forms])
    sign = found.scores[found.baseline].column(found.names[0]).measure.spec.sign

    def gain(group: str) -> float:
        return min(sign * row.difference for row in next(iter(group_rows(groups[group], "measure").values())))

    for group in sorted(filter(None, groups), key=gain):  # the largest loss first, as some may not fit
        name = f"group {cut(group, 20)}" if len(groups) <= MANY else "group"
        yield Part(_differences(found, groups[group]), rank=LIKELY, name=name, media=(SCREEN,))
    if "" in groups:
        yield Part(_details(groups[""]), rank=FURTHER, name=EFFECTS, media=(SCREEN,))


def _forms(found: Comparison, rows: Sequence[ComparisonRow]) -> Iterator[list[Any]]:
    """The table over all queries in its forms, each as the blocks that no screen lacks, and parts that some do."""
    systems = list(dict.fromkeys(row.system for row in rows))
    yield [[_differences(found, rows, tall=TALL)]]
    if len(systems) == 1:
        # One system against the baseline: a line a measure.
        means = found.baseline_means
        lines = [(name, score(means[name]), *cells[2:]) for name, row, cells in _lines(found, rows) if row]
        headings = ("measure", "baseline", *HEADINGS[2:])
        yield [[Table.of(headings, lines, WORDS, caption=_heading(found, rows))]]
    first, *others = group_rows(rows, "measure").values()
    deciding = _differences(found, first)._replace(caption=_heading(found, rows))
    matrix = [Part(_matrix(others, systems), rank=LIKELY, name="the other measures", media=(SCREEN,))]
    yield [[deciding], *(matrix if others else [])]


def _matrix(measures: Sequence[Sequence[ComparisonRow]], systems: Sequence[str]) -> Table:
    """A line a measure, and for each system the difference; the verdict if there is one."""
    told = [
        {x.system: signed_number(x.difference) + ("" if x.verdict == "unclear" else f" {x.verdict}") for x in rows}
        for rows in measures
    ]
    called = zip(systems, cut_apart(systems, CALLED), strict=True)
    columns = [Column(short, [each.get(name, "") for each in told]) for name, short in called]
    return Table([Column("measure", [rows[0].measure for rows in measures]), *columns])


def _in_full(found: Comparison, rows: Sequence[ComparisonRow]) -> Table:
    """One table with the columns of both, and the verdict in full beside the names: telephones show the first."""
    headings = (*HEADINGS[:2], HEADINGS[-1], *HEADINGS[2:-1], *DETAILS[2:-1])
    lines = []
    for _, row, line in _lines(found, rows):
        told = line[-1] if row is None else verdict(row, found.margin)
        details = ("",) * len(DETAILS[2:-1]) if row is None else _detail_cells(row)[:-1]
        lines.append((*line[:2], told, *line[2:-1], *details))
    return Table.of(headings, lines, WORDS, caption=_heading(found, rows))


def _for_papers(found: Comparison, rows: Sequence[ComparisonRow], group: str) -> Part:
    """The table of a paper: what is significant is marked, the best mean bold if it is told apart."""
    best = {name: _best(found, same) for name, same in group_rows(rows, "measure").items()}
    lines = []
    for measure, row, (label, system, mean, *others, _) in _lines(found, rows):
        raised = "" if row is None else {"better": BETTER, "worse": WORSE}.get(row.verdict, "")
        lines.append((label, system, Cell(mean, best=mean == best[measure], raised=raised), *others))
    legend = (
        f"dagger: better than {found.baseline}, double dagger: worse, at {found.alpha:g}; bold: the best mean, "
        "where it is told apart from the baseline"
    )
    return Part(Paragraph(legend), Table.of(HEADINGS[:-1], lines, WORDS)._replace(caption=group), media=(PAPER,))


def _best(found: Comparison, rows: Sequence[ComparisonRow]) -> str | None:
    """The best mean of a measure as printed, if it is told apart from the baseline's, or that from all others."""
    better = [each for each in rows if each.verdict == "better" and each.mean is not None]
    if better:
        means = [each.mean for each in better if each.mean is not None]
        return score((max if all(each.difference > 0 for each in better) else min)(means))
    worst = rows and all(each.verdict == "worse" for each in rows)
    return score(found.baseline_means[rows[0].measure]) if worst else None


def _pairs(found: Comparison) -> Iterator[Part]:
    """Every system against every other: on a screen by the deciding measure, if there are few; elsewhere by all."""
    if not found.pairs:
        return
    measures: dict[str, list[tuple[str, ...]]] = {}
    for each in found.pairs:
        rows = measures.setdefault(each.measure, [])
        label = "" if rows else each.measure
        rows.append((label, each.system, each.baseline, *_difference_cells(found, each)))
    caption = f"Every pair of systems, corrected over {count(len(found.pairs), 'comparison')} ({found.correction}):"

    def made(some: Sequence[Sequence[tuple[str, ...]]]) -> Table:
        lines = [line for rows in some for line in rows]
        columns = [each._replace(most=LONGEST) for each in Table.of(PAIRS, lines, WORDS).columns]
        return Table(columns, caption, grouped=True)

    first, *others = measures.values()
    few = len(first) <= TALL
    yield Part(made([first]), rank=ALWAYS if few else LIKELY, name="" if few else "every pair", media=(SCREEN,))
    if others:
        yield Part(made(others), rank=FURTHER, name="pairs by the other measures", media=(SCREEN,))
    yield Part(made([first, *others]), media=(TEXT, PAGE, PAPER))


def waterfalls(found: Comparison) -> list[Block]:
    """For each system the differences query by query as one line of blocks."""
    sign = found.scores[found.baseline].column(found.names[0]).measure.spec.sign
    moved = {name: [sign * value for _, value in found.moved(name)] for name in found.scores if name != found.baseline}
    # In order, so that the first and the last are the furthest from 0.
    top = max((abs(value) for values in moved.values() for value in (*values[:1], *values[-1:])), default=0.0)
    if not top:
        return []
    names = cut_apart(list(moved), LONGEST)

    def falls(room: int) -> list[str]:
        room -= len(GAP) + min(max(map(width, moved)), LONGEST)
        padded = max(map(width, names))
        rows = zip(names, moved.values(), strict=True)
        return [f"{pad(name, padded)}{GAP}{waterfall(values, top, room)}" for name, values in rows]

    caption = f"{found.names[0]} query by query, from most lost to most won; a full block is {score(top)}:"
    return [Chart(caption, falls)]


def _said(found: Comparison) -> Iterator[Part]:
    yield Part(Paragraph(""))
    # Below a long table nobody sees what is above it, and the warning is about one system: neither is dropped here.
    several = sum(bool(each["unanswered"]) for each in found.data.values()) > 1
    grave = {*doubt_notes(found), *(unanswered_notes(found.data) if several else ())}
    for n, each in enumerate(sentences(found)):
        rank = 0 if n == len(found.notes) or each in grave else MAYBE
        yield Part(Paragraph(each), rank=rank, name=DECIDED)
    first = LIKELY if _errors(found) else ALWAYS  # an error says it already
    yield from warnings_under(told_of(found.findings, "warning"), first, heading=False)


def sentences(found: Comparison) -> list[str]:
    """The table in words: notes, conclusions, and last how p was computed."""
    return [*found.notes, *conclusions(found), method(found)]


def method(found: Comparison) -> str:
    """How p, the verdicts and the intervals were computed."""
    rows = sum(not each.slice for each in found.rows)
    sliced = len(found.rows) - rows
    margin = "" if found.margin is None else f", equivalent within {found.margin:g}"
    apart = f", those in groups apart over {sliced}" if sliced else ""
    corrected = f", corrected over {rows} comparisons ({found.correction}){apart}" if rows > 1 or sliced else ""
    return (
        f"p by random sign flips query by query{corrected}; verdicts at {found.alpha:g}{margin}; "
        f"intervals at {share(1 - found.alpha)}, which contain 0 exactly if p finds nothing."
    )


def _records(found: Comparison) -> list[Record]:
    """A row a system, measure and group; with what limits both sides, and what makes the numbers wrong where it is."""
    errors = {"errors": " ".join(found.wrong)} if found.wrong else {}
    families = {"baseline": found.rows, "all pairs": found.pairs}
    return [
        {
            **({"family": family} if found.pairs else {}),
            **each.to_dict(),
            **_limits(found.data[each.system]),
            **_limits(found.data[each.baseline], "baseline_"),
            **errors,
        }
        for family, rows in families.items()
        for each in rows
    ]


def _limits(data: Mapping[str, Any], side: str = "") -> Record:
    """The queries without an answer, the share of documents nobody judged, and the audit's warnings."""
    told = {"missing": data["unanswered"], "warnings": " ".join(data["warnings"]), "unjudged": data["unjudged"]}
    return {f"{side}{name}": value for name, value in told.items()}
