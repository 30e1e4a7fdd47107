"""Judged scores as a page in which every score opens to its verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankproof.api.compare import compare_scores
from rankproof.api.evidence import Piece
from rankproof.errors import UsageError
from rankproof.judging.blame import POINTS, WORDS
from rankproof.reporting.html.judged import Scored, Shown, System, html

if TYPE_CHECKING:
    from rankproof.api.judged import JudgedScores

MOST = 200
"""Samples shown one by one: those with the worst values of the first metric."""


def page_of(scores: Mapping[str, JudgedScores], title: str = "Judged samples") -> str:
    """The page as text: one HTML file that needs nothing else, no script and no network."""
    from rankproof import __version__

    systems = [_system(name if len(scores) > 1 else "", each) for name, each in scores.items()]
    return html(title, systems, WORDS, __version__, _compared(scores))


def _compared(scores: Mapping[str, JudgedScores]) -> dict[str, Any] | None:
    """Each set of samples against the first; None where they cannot be compared: other questions, other judges."""
    shared = [
        name for name in next(iter(scores.values())) if all(_measured(each, name) for each in scores.values())
    ]
    if len(scores) < 2 or not shared:
        return None
    try:
        return compare_scores(scores, shared).to_dict()
    except UsageError:
        return None


def _measured(scores: JudgedScores, name: str) -> bool:
    return name in scores.columns and len(scores.column(name).counting) > 0


def _system(name: str, scores: JudgedScores) -> System:
    chosen = _worst_first(scores)[:MOST]
    asked = scores.blame.asked
    points = {each.sample: each.point for each in scores.blame.each()} if asked else {}
    return System(
        name,
        scores.summary(name),
        tuple(_shown(scores, sample, points.get(sample, "")) for sample in chosen),
        len(scores.queries) - len(chosen),
        scores.blame.points if asked else {},
        scores.blame.halves if asked else {},
    )


def _worst_first(scores: JudgedScores) -> list[str]:
    """The samples with evidence, those of the worst values of the first metric first, then the unmeasured."""
    first = next(iter(scores.columns))
    worst = [sample for sample, _ in scores.worst(len(scores.queries), first)]
    known = set(worst)
    order = worst + [sample for sample in scores.queries if sample not in known]
    return [sample for sample in order if sample in scores.verdicts]


def _shown(scores: JudgedScores, sample: str, point: str) -> Shown:
    pieces, place = scores.verdicts.of(sample), scores.queries.index(sample)
    found = tuple(_scored(scores, name, place, pieces) for name in scores.columns)
    return Shown(sample, POINTS.get(point, ""), found, scores.verdicts.query(sample))


def _scored(scores: JudgedScores, name: str, place: int, pieces: list[Piece]) -> Scored:
    column = scores.column(name)
    measured = column.counted is None or bool(column.counted[place])
    pairs = tuple(each for each in pieces if name in each.metrics)
    return Scored(name, float(column.values[place]) if measured else None, column.reasons[place], pairs)
