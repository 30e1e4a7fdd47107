"""Judged samples as one page: each score expands to the claims behind it, their verdicts, quotes and judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rankproof.comparing.compare import compare_scores
from rankproof.comparing.words import sentences
from rankproof.core.scoring import Summary
from rankproof.document.numbers import count, score, share, signed_number, signed_span
from rankproof.document.page import Child, Markup, Section, el, fold, ident, join, page, paragraphs, table
from rankproof.document.terminal import cut
from rankproof.errors import UsageError
from rankproof.judging.evidence import POINTS, WORDS, Piece
from rankproof.judging.words import certainty, nouns, verdict
from rankproof.scoring import tables
from rankproof.scoring.tables import telling_columns

if TYPE_CHECKING:
    from rankproof.judging.judged_scores import JudgedScores


MOST = 200
"""Samples shown one by one: those with the worst values of the first metric."""
LONGEST = 160
"""The number of characters of a question that are shown beside its sample."""


def page_of(scores: Mapping[str, JudgedScores], title: str = "Judged samples") -> str:
    """The page as text: one HTML file that needs nothing else, no script and no network."""
    summaries = [each.summary(name if len(scores) > 1 else "") for name, each in scores.items()]
    sections = list(_compared(scores))
    for i, (each, summary) in enumerate(zip(scores.values(), summaries, strict=True)):
        sections += _sections(each, summary, f"s{i}")
    size = f"{count(summaries[0].queries, 'sample')}, {count(len(summaries[0].rows), 'metric')}."
    return page(title, el("p", size, cls="size"), sections)


def _compared(scores: Mapping[str, JudgedScores]) -> Iterator[Section]:
    """Each set of samples against the first, unless they cannot be compared: other questions, other judges."""
    shared = [
        name
        for name in next(iter(scores.values()))
        if all(name in each.columns and len(each.column(name).counting) > 0 for each in scores.values())
    ]
    if len(scores) < 2 or not shared:
        return
    try:
        found = compare_scores(scores, shared)
    except UsageError:
        return
    rows: list[list[Child]] = [
        [
            *(each.measure, ident(each.system), signed_number(each.difference)),
            *(signed_span(each.low, each.high), f"{each.wins}/{each.losses}", each.verdict),
        ]
        for each in found.rows
        if not each.slice
    ]
    headings = ("metric", "system", "difference", "95 % interval", "won/lost", "verdict")
    against = table(f"Against {found.baseline}", headings, rows, words=(0, 1, 5))
    yield Section("compared", "Compared", join([paragraphs(sentences(found)), against]))


def _sections(scores: JudgedScores, summary: Summary, key: str) -> Iterator[Section]:
    """One set of samples: its means, which half failed, and samples that open to what was judged."""
    named = f": {summary.name}" if summary.name else ""
    yield Section(f"{key}-scores", f"Scores{named}", score_table(summary))
    blame, lost = scores.blame, dict[str, str]()
    if blame.asked:
        lost = {each.sample: POINTS.get(each.point, "") for each in blame.each()}
        if sum(blame.halves.values()):
            halves = (f"{count(times, 'failure')} of {half}" for half, times in blame.halves.items())
            total = sum(blame.points.values())
            rows = [[point, WORDS[point], f"{n:,}", share(n / total)] for point, n in blame.points.items()]
            points = table("Points of failure", ("point", "what happened", "samples", "share"), rows, words=(0, 1))
            yield Section(f"{key}-blame", f"Which half failed{named}", join([el("p", f"{', '.join(halves)}."), points]))
    # The samples with evidence, those of the worst values of the first metric first, then the unmeasured.
    worst = [sample for sample, _ in scores.worst(len(scores.queries), next(iter(scores.columns)))]
    chosen = [sample for sample in dict.fromkeys([*worst, *scores.queries]) if sample in scores.verdicts][:MOST]
    others = len(scores.queries) - len(chosen)
    left = f" The other {others:,} are left out." if others else ""
    lead = el("p", f"Each sample opens to its scores, each score to what was judged.{left}")
    shown = (_sample(scores, sample, lost.get(sample, "")) for sample in chosen)
    yield Section(f"{key}-samples", f"Samples{named}", join([lead, *shown]))


def score_table(summary: Summary) -> Markup:
    """The means with coverage and bounds, and what has to be said about them."""
    fields = telling_columns(summary.rows)
    headings = ["metric", *(each.heading.replace("\n", " ") for each in fields)]
    rows = [[row.measure, *(each.cell(row) for each in fields)] for row in summary.rows]
    said = [*tables.sentences_under(summary), *(f"{each.severity}: {each}" for each in summary.findings)]
    return join([table("Means over samples", headings, rows), paragraphs(said)])


def _sample(scores: JudgedScores, sample: str, failure: str) -> Markup:
    """A sample with its scores, each of which opens; `failure` says where something was lost."""
    place, pieces = scores.queries.index(sample), scores.verdicts.of(sample)
    shown, values = [], []
    for metric in scores.columns:
        column = scores.column(metric)
        measured = column.counted is None or bool(column.counted[place])
        value = f"{metric} {score(float(column.values[place]) if measured else None)}"
        why = f" ({reason})" if (reason := column.reasons[place]) else ""
        rows = [_row(each) for each in pieces if metric in each.metrics]
        values.append(value)
        if rows:
            judged = table(f"What {metric} counts", ("verdict", "of", "about", "quote", "by"), rows, words=range(5))
            shown.append(fold(f"{value}{why}", judged))
        else:
            shown.append(el("p", f"{value}{why}. No judge was asked."))
    asked = scores.verdicts.query(sample)
    question = join([" ", ident(cut(" ".join(asked.split()), LONGEST))]) if asked else ""
    beside = f" {', '.join(values)}{f'; {failure}' if failure else ''}"
    return fold(join([el("b", ident(sample)), question, el("small", beside)]), *shown)


def _row(pair: Piece) -> list[Child]:
    left, right = nouns(pair.relation, pair.right)
    said = verdict(pair.relation, pair.value, pair.reason) + certainty(pair.probability)
    quote = el("q", ident(pair.quote)) if pair.quote else ""
    return [said, _text(left, pair.left), _text(right, pair.right), quote, pair.judge]


def _text(noun: str, text: str) -> Markup:
    return join([el("small", f"{noun}: "), ident(text)])
