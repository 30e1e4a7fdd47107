"""Runs, standings and grids as documents.

Of a grid: the winner and what it is worth, every configuration, what each factor does, the front.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rankproof.comparing.gate_words import smallest_margin_sentence
from rankproof.core.arrays import by_key
from rankproof.document.charts import Dot, scatter
from rankproof.document.model import (
    PAGE,
    PAPER,
    SCREEN,
    TERMINAL,
    TEXT,
    Block,
    Bullets,
    Chart,
    Document,
    Heading,
    Paragraph,
    Part,
    Table,
)
from rankproof.document.numbers import (
    ABSENT,
    count,
    duration,
    for_face,
    milliseconds,
    probability,
    score,
    short_span,
    signed_number,
    signed_span,
    time_span,
)
from rankproof.document.terminal import GAP, Column, cut_apart, page_width, width
from rankproof.errors import shorten
from rankproof.scoring.words import wrong_data

if TYPE_CHECKING:
    from rankproof.bench.grid import Grid
    from rankproof.bench.grid.outcome import Effect, GridRow, Level
    from rankproof.bench.runner.run_plan import RunRow
    from rankproof.bench.runs import Run
    from rankproof.bench.testset.labels import LabelAgreement
    from rankproof.bench.testset.questions import QuestionPlan


SHOWN = 3
"""Questions that are named for each reason."""


def run(found: Run) -> Document:
    """What was asked and how fast, the scores if there are judgments, and what failed."""
    known = sum(row.remembered for row in found.rows)
    asked = (
        f"{found.name}: {count(len(found.rows), 'question')}, up to {count(found.k, 'document')} each, in "
        f"{duration(found.seconds)}{f', {known} of them known from before' if known else ''}"
    )
    scored = found.judgments is not None and found.latencies
    unscored = for_face(
        "Not scored: there are no judgments. Next: Benchmark.load(FILE) for questions and what is relevant in one "
        "file, or Benchmark(queries, judgments=...).",
        "Not scored: there are no judgments. Next: give --judgments FILE, or 'rankproof evaluate' the ranking.",
    )
    said = [*_failures(found.failures), *([unscored] if found.judgments is None else []), *found.notes]
    records = [{"question": each.question, **run_details(each)} for each in found.rows]
    rows = [(f"p{x.share * 100:g}", duration(x.value), time_span(x.low, x.high)) for x in found.latency]
    parts = [
        Part(Paragraph(asked)),
        *([Part(Paragraph("")), *found.scores._document().parts] if scored else []),
        Part(Table.of(("latency", "time", "95 % interval"), rows, ("latency", "95 % interval"))) if rows else Part(),
        Part(Paragraph(""), *map(Paragraph, said)) if said else Part(),
    ]
    return Document(f"Run {found.name}", parts, records, found.to_dict(), kinds={"failure": str})


def run_details(row: RunRow) -> dict[str, Any]:
    """The outcome of one question."""
    return {
        "found": len(row.answer.found) if row.answer else 0,
        "seconds": row.seconds,
        "attempts": row.attempts,
        "failure": row.failure or None,
    }


NAMED = re.compile(r"""(?<=\w )(?:'[^']*'|"[^"]*")|(?<=document )\d+ of \d+|(?<=integer )\d+|(?<=got ).*(?= \(\w+\))""")
"""What a reason names, as an id: reasons that differ in it alone are one."""


def _failures(found: Mapping[str, str]) -> list[str]:
    """Which questions failed, by reason, the most frequent first, each with its first example."""
    kinds = by_key((NAMED.sub("", reason), name) for name, reason in found.items())
    told = []
    for names in sorted(kinds.values(), key=len, reverse=True)[:REASONS]:
        shown = ", ".join(shorten(name, 40) for name in names[:SHOWN]) + ", ..." * (len(names) > SHOWN)
        verb = "failed and counts as a miss" if len(names) == 1 else "failed and count as misses"
        first = "" if len({found[name] for name in names}) == 1 else "the first: "
        told.append(f"{count(len(names), 'question')} {verb} ({shown}): {first}{found[names[0]]}")
    rest = len(kinds) - len(told)
    more = f"{count(rest, 'more reason')}; the rows (JSON, CSV) have that of every question."
    return [*told, more] if rest else told


Line = Mapping[str, Any]
TIMES = ("p50", "p95", "p99")


def standings_table(lines: Sequence[Line], measures: Sequence[str]) -> Table:
    """The standings: for each system its means, its latencies, how many questions failed."""
    rows = []
    for each in lines:
        means = [score(each["means"][name]) for name in measures]
        times = [duration(each[name]) for name in TIMES]
        rows.append([each["system"], *means, *times, count(each["failed"])])
    return Table.of(["system", *measures, *TIMES, "failed"], rows, ["system"])


WORDS = ("configuration", "front", "factor", "level", "by what")
"""The columns that hold text."""
FIRST, LIKELY, MAYBE, FURTHER, SELDOM = 1, 2, 3, 4, 5
FEW = 8
"""Configurations that one screen shows beside those on the front."""
LABEL = 40
"""Columns of a screen that a name may take before every part of a table; longer ones are numbered."""
SHORTEST = 9
"""Columns that are left of a name on a narrow screen."""
LEAST = 0.0005
"""A smaller share is not shown."""
REASONS = 3
"""How many reasons are shown for a run or a configuration."""
ON_FRONT = "*"
LEGEND = f"{ON_FRONT} the front: nothing else is as good, as fast and as cheap"
"""In the heading, where it takes no line of the screen."""
ABOUT_TIMES = (
    "Milliseconds are those of one question, all steps together: half of the questions take no longer, and 19 of 20. "
    "What is on the front is better than each other one in quality, speed or cost."
)
ABOUT_EFFECTS = (
    "Each level against the first of its factor, averaged over what was run with all of them; intervals hold for all "
    "levels at once (Bonferroni), p is by sign flips and corrected over all levels (Holm). Shares are of one analysis "
    "of the whole design: factors, interactions, questions and the rest (question by configuration) add up to 100 %."
)


def grid(found: Grid) -> Document:
    """The verdict and the best configurations first; a screen shows the best, everything else all of them."""
    # The configurations, the best first, those that failed last.
    sign = -1 if found.higher else 1
    rows = sorted(found.rows, key=lambda row: (not row.means, -row.n, sign * _mean(found, row)))
    best = [row for n, row in enumerate(rows) if n < FEW or row.front or row.name in (found.baseline, found.winner)]
    left = "the other configurations" if len(best) < len(rows) else ""
    fewer = any(0 < row.n < rows[0].n for row in rows)
    legend = f"{ON_FRONT} the front, which nothing beats; of all {rows[0].n:,} questions first" if fewer else LEGEND
    name, heading = "what each factor does", Heading(f"Configurations ({legend})")
    rest = (FURTHER, "the other measures")
    legends = [ABOUT_TIMES, *([ABOUT_EFFECTS] if found.effects else [])]
    parts = [
        wrong_data(found.wrong),
        Part(*map(Paragraph, _verdict(found))),
        Part(Heading("Quality and latency"), _picture(found), media=(PAGE,)),
        Part(heading, _configurations(found, best, rest), media=(SCREEN,)),
        Part(heading, _configurations(found, rows), media=(TEXT, PAGE, PAPER), name=left),
        *(Part(*each, rank=LIKELY, name=name) for each in _factors(found)),
        Part(Paragraph("")),
        Part(Heading("Notes"), media=(PAGE,)),
        *(Part(Paragraph(each), rank=SELDOM, name="how to read the tables") for each in legends),
        *(Part(Paragraph(each), rank=MAYBE, name="notes") for each in found.notes),
        *(Part(Paragraph(each), rank=FIRST, name="what failed") for each in _grid_failures(found)),
    ]
    records = []
    for row in found.rows:  # levels and means are fields of their own
        apart = ("name", "levels", "means", "reasons")
        more = {name: value for name, value in row.to_dict().items() if name not in apart}
        records.append({"configuration": row.name, **row.levels, **row.means, **more})
    return Document("Retrieval grid", parts, records, found.to_dict(), 1)


def _verdict(found: Grid) -> Iterator[str]:
    """The winner, and what it is worth."""
    reached = f"{found.winner}, {found.measure} {score(found.row(found.winner).means[found.measure])}."
    if len(found.rows) == 1:
        yield f"The only configuration, on {count(found.chosen_on, 'question')}: {reached}"
    else:
        yield (
            f"Best of {count(len(found.rows), 'configuration')} on the {found.chosen_on:,} questions that choose: "
            f"{reached} It was chosen by this number, which is therefore too high."
        )
    held = found.held
    if held is not None:
        worth = (
            f"On the {count(held.n, 'question')} held out it reaches {score(held.mean)} "
            f"{short_span(held.low, held.high)}: this is what to expect of new questions."
        )
        rival = held.against
        if rival != found.baseline:
            rival = f"It is the baseline itself; the second best, {rival},"
        if held.verdict != "baseline":
            worth += (
                f" {rival} has {score(held.baseline)}, a difference of {signed_number(held.difference)} "
                f"{signed_span(held.difference_low, held.difference_high)}, p {probability(held.p)}: "
                f"{held.note or _VERDICTS[held.verdict]}."
            )
        yield worth


_VERDICTS = {
    "better": "better beyond chance",
    "worse": "worse beyond chance",
    "equivalent": "the same",
    "unclear": "not beyond chance",
}


def _grid_failures(found: Grid) -> Iterator[str]:
    """The configurations that left questions without an answer, and those that failed, each with its reasons."""
    for row in found.rows:
        if row.missed and not row.failure:
            failed = count(row.missed, "question")
            yield f"{row.name}: {failed} failed and counted as a miss: {_why(row.reasons)}"
    yield from (f"{row.name} failed: {row.failure}" for row in found.rows if row.failure)


def _why(reasons: Mapping[str, int]) -> str:
    """The most frequent reasons, with how often if there are several."""
    times, examples = Counter[str](), dict[str, str]()
    for reason, often in reasons.items():
        times[kind := NAMED.sub("", reason)] += often
        examples.setdefault(kind, reason)
    told = [f"{often} x " * (len(times) > 1) + examples[kind] for kind, often in times.most_common(REASONS)]
    return "; ".join(told) + f"; {len(times) - REASONS} more reasons" * (len(times) > REASONS)


def _mean(found: Grid, row: GridRow) -> float:
    """The mean that decides; 0 if it failed."""
    return float(row.means.get(found.measure, 0))


def _configurations(found: Grid, rows: Sequence[GridRow], rest: tuple[int, str] | None = None) -> Table:
    every = found.rows
    first, *others = list(next(row.means for row in rows if row.means))
    columns: dict[str, list[str]] = {}
    if any(width(row.name) > LABEL for row in rows):
        columns["#"] = [str(n) for n, _ in enumerate(rows, start=1)]
    columns["configuration"] = [row.name for row in rows]
    columns["front"] = [ON_FRONT if row.front else "" for row in rows]
    columns[first] = [score(row.means.get(first)) for row in rows]
    if len({row.n for row in every}) > 1:
        columns["n"] = [f"{row.n:,}" for row in rows]
    if rest is not None:  # on a screen each name leaves room for the mean and n beside it
        beside = sum(Column(*each).width + len(GAP) for each in columns.items() if each[0] != "configuration")
        columns["configuration"] = cut_apart(columns["configuration"], max(page_width() - beside, SHORTEST))
    columns["interval"] = [short_span(row.low, row.high) for row in rows]
    columns["p50 ms"] = [milliseconds(row.p50) for row in rows]
    columns["p95 ms"] = [milliseconds(row.p95) for row in rows]
    if any(row.cost for row in every):
        columns["cost"] = [f"{row.cost:g}" for row in rows]
    columns |= {name: [score(row.means.get(name)) for row in rows] for name in others}
    return Table.of(list(columns), list(zip(*columns.values(), strict=True)), WORDS, rest=rest)


def _factors(found: Grid) -> Iterator[list[Block]]:
    """The mean effect of each factor, and which share of the variance each source has."""
    if not found.effects:
        return
    headings = ("factor", "level", "mean", "difference", "interval", "p", "of variance")
    rows = [_level(effect, n, each) for effect in found.effects for n, each in enumerate(effect.levels)]
    yield [Heading("What each factor does"), Table.of(headings, rows, WORDS)]
    if found.shares:
        kept = {name: part for name, part in found.shares.items() if part >= LEAST or name in ("questions", "rest")}
        left = 1 - sum(kept.values())
        kept |= {"all others": left} if left >= LEAST else {}
        shares = [(name, f"{part:.1%}") for name, part in kept.items()]
        yield [Heading("What varies, and by what"), Table.of(("by what", "of variance"), shares, WORDS)]


def _level(effect: Effect, n: int, level: Level) -> tuple[str, ...]:
    if n == 0:
        return effect.factor, level.name, score(level.mean), "", "", "", f"{effect.share:.1%}"
    off = signed_number(level.difference), signed_span(level.low, level.high), probability(level.p)
    return "", level.name, score(level.mean), *off, ""


def _picture(found: Grid) -> Block:
    """The configurations that were run on all questions, as dots."""
    most = max(row.n for row in found.rows)
    dots = [
        Dot(row.name, 1000 * row.p50, _mean(found, row), row.front)
        for row in found.rows
        if row.means and row.n == most and row.p50 is not None
    ]
    nothing = Paragraph("Nothing was run on all questions.")
    return Chart("", picture=lambda: scatter(found.measure, dots)) if dots else nothing


def question_plan(found: QuestionPlan) -> Document:
    """The answer in a few sentences, below what makes it wrong, and what a gate of these questions can pass."""
    said = list(_plan_sentences(found))
    above = wrong_data(found.wrong)
    parts = [above, Part(*map(Paragraph, said), media=(*TERMINAL, PAPER)), Part(Bullets(said), media=(PAGE,))]
    row = {**found.to_dict(), "wrong": " ".join(found.wrong)}
    return Document("Questions needed", parts, [row], found.to_dict())


def _plan_sentences(found: QuestionPlan) -> Iterator[str]:
    if found.spread == 0:
        yield (
            f"The difference of these two runs in {found.measure} is the same on all {found.have:,} questions, which "
            "says nothing of how it varies. Next: give two runs that differ from question to question."
        )
    elif found.needed is None:
        why = f": {found.needed_note}" if found.needed_note else "."
        yield f"{found.have} questions say too little of how {found.measure} differs to plan by{why}"
    else:
        more = max(0, found.needed - found.have)
        need = f"{more:,} more than there are" if more else "there are enough"
        yield f"A difference of {found.difference:g} in {found.measure} needs {found.needed:,} questions: {need}."
        yield (
            f"It is then seen in {100 * found.power:g} % of experiments (alpha {found.alpha:g}), as these two runs "
            f"differ by {found.spread:.4f} from question to question (standard deviation)."
        )
        yield (
            f"Of the {found.have:,} questions there are, {found.detectable_note}."
            if found.detectable is None
            else f"The {found.have:,} questions there are show a difference of {found.detectable:.4f} or more."
        )
    if found.smallest_margin is not None:
        limits = found.have, found.smallest_margin, abs(found.difference), found.queries_for_margin
        yield f"For a gate: {smallest_margin_sentence(*limits)} If most questions change a little, fewer are enough."


APART = 5
"""How many disagreements are shown."""


def label_agreement(found: LabelAgreement) -> Document:
    """A line for each two people, and what they should talk about."""
    records = [{**asdict(each), "apart": " ".join(map(" ".join, each.apart))} for each in found.pairs]
    if not found.pairs:
        nothing = "No document has labels of two people yet. Next: let a second person judge the same pool."
        return Document("Agreement", [Part(Paragraph(nothing))], records, found.to_dict())
    rows = [
        (f"{x.first}, {x.second}", f"{x.n:,}", ABSENT if x.same is None else f"{100 * x.same:.0f} %", _two(x.kappa))
        for x in found.pairs
    ]
    people = Table.of(("people", "both graded", "alike", "kappa"), rows, ("people",))
    said = (
        f"Krippendorff's alpha of all: {_two(found.alpha)}. 1 is full agreement, 0 what chance gives; below .67 the "
        "grades mean different things to different people: agree on what each means."
    )
    apart = [" ".join(item) for each in found.pairs for item in each.apart][:APART]
    told = [Paragraph(f"Furthest apart: {', '.join(apart)}.")] if apart else []
    return Document("Agreement", [Part(people), Part(Paragraph(said), *told)], records, found.to_dict())


def _two(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2f}"
