"""Judged samples as one page: each score opens to the claims behind it, their verdicts, quotes and judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankproof.comparing.compare import compare_scores
from rankproof.comparing.comparison import Comparison
from rankproof.comparing.words import sentences
from rankproof.core.scoring import Summary
from rankproof.document.numbers import count, score, share, signed_number, signed_span
from rankproof.document.page import Child, Markup, Section, el, fold, ident, join, page, paragraphs, table
from rankproof.document.terminal import cut
from rankproof.errors import UsageError
from rankproof.judging.blame import POINTS, WORDS
from rankproof.judging.evidence import Piece
from rankproof.judging.words import PairWords, certainty, nouns, verdict
from rankproof.scoring import tables
from rankproof.scoring.tables import telling_columns

if TYPE_CHECKING:
    from rankproof.judging.judged_scores import JudgedScores


MOST = 200
"""Samples shown one by one: those with the worst values of the first metric."""


def page_of(scores: Mapping[str, JudgedScores], title: str = "Judged samples") -> str:
    """The page as text: one HTML file that needs nothing else, no script and no network."""
    from rankproof import __version__

    systems = [_system(name if len(scores) > 1 else "", each) for name, each in scores.items()]
    return samples_page(title, systems, WORDS, __version__, _compared_scores(scores))


def _compared_scores(scores: Mapping[str, JudgedScores]) -> Comparison | None:
    """Each set of samples against the first; None if they cannot be compared: other questions, other judges."""
    shared = [
        name
        for name in next(iter(scores.values()))
        if all(name in each.columns and len(each.column(name).counting) > 0 for each in scores.values())
    ]
    if len(scores) < 2 or not shared:
        return None
    try:
        return compare_scores(scores, shared)
    except UsageError:
        return None


def _system(name: str, scores: JudgedScores) -> JudgedSystem:
    # The samples with evidence, those of the worst values of the first metric first, then the unmeasured.
    first = next(iter(scores.columns))
    worst = [sample for sample, _ in scores.worst(len(scores.queries), first)]
    known = set(worst)
    order = worst + [sample for sample in scores.queries if sample not in known]
    chosen = [sample for sample in order if sample in scores.verdicts][:MOST]
    asked = scores.blame.asked
    points = {each.sample: each.point for each in scores.blame.each()} if asked else {}
    return JudgedSystem(
        name,
        scores.summary(name),
        tuple(_shown(scores, sample, points.get(sample, "")) for sample in chosen),
        len(scores.queries) - len(chosen),
        scores.blame.points if asked else {},
        scores.blame.halves if asked else {},
    )


def _shown(scores: JudgedScores, sample: str, point: str) -> Shown:
    pieces, place = scores.verdicts.of(sample), scores.queries.index(sample)
    found = tuple(_scored(scores, name, place, pieces) for name in scores.columns)
    return Shown(sample, POINTS.get(point, ""), found, scores.verdicts.query(sample))


def _scored(scores: JudgedScores, name: str, place: int, pieces: list[Piece]) -> Scored:
    column = scores.column(name)
    measured = column.counted is None or bool(column.counted[place])
    pairs = tuple(each for each in pieces if name in each.metrics)
    return Scored(name, float(column.values[place]) if measured else None, column.reasons[place], pairs)


LONGEST = 160
"""The number of characters of a question that are shown beside its sample."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One metric of one sample: its value or why it has none, and the pairs behind it."""

    metric: str
    value: float | None
    reason: str
    pairs: tuple[PairWords, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One sample as a reader sees it."""

    id: str
    failure: str
    """Where something was lost, in words; empty if nothing was."""
    scores: tuple[Scored, ...]
    question: str = ""


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """All of one set of samples."""

    name: str
    summary: Summary
    samples: tuple[Shown, ...]
    left_out: int = 0
    """Samples that are not shown one by one."""
    points: Mapping[str, int] = field(default_factory=dict)
    halves: Mapping[str, int] = field(default_factory=dict)


def samples_page(
    title: str,
    systems: Sequence[JudgedSystem],
    words: Mapping[str, str],
    version: str,
    compared: Comparison | None = None,
) -> str:
    """The page as one file that needs nothing else; `words` say what each point of failure is."""
    sections = [] if compared is None else [Section("compared", "Compared", _compared(compared))]
    sections += [section for i, each in enumerate(systems) for section in _sections(each, words, f"s{i}")]
    size = f"{count(systems[0].summary.queries, 'sample')}, {count(len(systems[0].summary.rows), 'metric')}."
    return page(title, el("p", size, cls="size"), sections, el("p", f"Made by rankproof {version}."))


def _sections(system: JudgedSystem, words: Mapping[str, str], key: str) -> list[Section]:
    named = f": {system.name}" if system.name else ""
    found = [Section(f"{key}-scores", f"Scores{named}", score_table(system.summary))]
    if system.halves and sum(system.halves.values()):
        found.append(Section(f"{key}-blame", f"Which half failed{named}", _blame(system, words)))
    left = f" The other {system.left_out:,} are left out." if system.left_out else ""
    lead = el("p", f"Each sample opens to its scores, each score to what was judged.{left}")
    found.append(Section(f"{key}-samples", f"Samples{named}", join([lead, *map(_sample, system.samples)])))
    return found


def _compared(found: Comparison) -> Markup:
    """Each system against the first, sample by sample."""
    rows: list[list[Child]] = [
        [
            *(each.measure, ident(each.system), signed_number(each.difference)),
            *(signed_span(each.low, each.high), f"{each.wins}/{each.losses}", each.verdict),
        ]
        for each in found.rows
        if not each.slice
    ]
    headings = ("metric", "system", "difference", "95 % interval", "won/lost", "verdict")
    told = paragraphs(sentences(found))
    return join([told, table(f"Against {found.baseline}", headings, rows, words=(0, 1, 5))])


def score_table(summary: Summary) -> Markup:
    """The means with coverage and bounds, and what has to be said about them."""
    fields = telling_columns(summary.rows)
    headings = ["metric", *(each.heading.replace("\n", " ") for each in fields)]
    rows = [[row.measure, *(each.cell(row) for each in fields)] for row in summary.rows]
    findings = [f"{each.severity}: {each}" for each in summary.findings]
    said = [*tables.sentences_under(summary), *findings]
    return join([table("Means over samples", headings, rows), paragraphs(said)])


def _blame(system: JudgedSystem, words: Mapping[str, str]) -> Markup:
    total = sum(system.points.values())
    lead = (
        f"{count(system.halves['retrieval'], 'failure')} of retrieval, "
        f"{count(system.halves['generation'], 'failure')} of generation."
    )
    rows = [[point, words.get(point, ""), f"{times:,}", share(times / total)] for point, times in system.points.items()]
    headings = ("point", "what happened", "samples", "share")
    return join([el("p", lead), table("Points of failure", headings, rows, words=(0, 1))])


def _sample(shown: Shown) -> Markup:
    values = ", ".join(f"{each.metric} {score(each.value)}" for each in shown.scores)
    lost = f"; {shown.failure}" if shown.failure else ""
    question = join([" ", ident(cut(" ".join(shown.question.split()), LONGEST))]) if shown.question else ""
    summary = join([el("b", ident(shown.id)), question, el("small", f" {values}{lost}")])
    return fold(summary, *map(_score, shown.scores))


def _score(scored: Scored) -> Markup:
    why = f" ({scored.reason})" if scored.reason else ""
    summary = f"{scored.metric} {score(scored.value)}{why}"
    if not scored.pairs:
        return el("p", f"{summary}. No judge was asked.")
    headings = ("verdict", "of", "about", "quote", "by")
    rows = [_row(each) for each in scored.pairs]
    return fold(summary, table(f"What {scored.metric} counts", headings, rows, words=range(5)))


def _row(pair: PairWords) -> list[Child]:
    left, right = nouns(pair.relation, pair.right)
    said = verdict(pair.relation, pair.value, pair.reason) + certainty(pair.probability)
    quote = el("q", ident(pair.quote)) if pair.quote else ""
    return [said, _text(left, pair.left), _text(right, pair.right), quote, pair.judge]


def _text(noun: str, text: str) -> Markup:
    return join([el("small", f"{noun}: "), ident(text)])
