"""What limits the scores of a system whatever its mean: queries left unanswered, documents nobody judged, errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from rankproof.api.scores import Scores
from rankproof.core.measure import Measure

DEPTH = 10
"""How far down is looked for documents nobody judged, where the measure has no cut-off."""
UNANSWERED = ("no-common-queries", "missing-queries", "empty-rankings")
"""The findings that count queries without a document."""


@dataclass(frozen=True, slots=True)
class Soundness:
    """What is to be known of one system's scores before they are held against another's."""

    queries: int
    unanswered: int
    """Judged queries for which it returned nothing."""
    skipped: bool
    """Whether those are left out of the means; else each counts 0."""
    depth: int
    unjudged: float | None
    """The share of the first `depth` documents that nobody judged; None where that is not known."""
    ends: dict[str, tuple[float, float]] = field(default_factory=dict)
    """For a measure its mean, the worse first, with the documents nobody judged at their worst and at their best."""
    higher: dict[str, bool] = field(default_factory=dict)
    """For each of these measures whether more is better."""
    errors: tuple[str, ...] = ()
    """What the audit says makes the numbers wrong."""

    @property
    def missing(self) -> float:
        """The share of the judged queries that went unanswered."""
        return self.unanswered / self.queries if self.queries else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            **asdict(self),
            "ends": {name: list(pair) for name, pair in self.ends.items()},
            "errors": list(self.errors),
        }


def soundness(scores: Scores, measure: Measure, decided: Iterable[str] = ()) -> Soundness:
    """What limits these scores; `decided` are the measures of which it matters what nobody judged."""
    depth = int(measure.params.get("k") or DEPTH)
    bounded = {name: scores.bounds(name, of="unjudged") for name in decided}
    return Soundness(
        queries=len(scores.queries),
        unanswered=_unanswered(scores),
        skipped=scores.conventions.missing == "skip",
        depth=depth,
        unjudged=_unjudged(scores, depth),
        ends={
            name: pair if scores.column(name).measure.spec.higher else pair[::-1]
            for name, pair in bounded.items()
            if pair is not None
        },
        higher={name: scores.column(name).measure.spec.higher for name in bounded},
        errors=tuple(str(each) for each in scores.audit if each.severity == "error"),
    )


def _unanswered(scores: Scores) -> int:
    hits = scores.hits
    if hits is None or hits.answered is None:
        found = [scores.audit.of_kind(kind) for kind in UNANSWERED]
        return min(sum(each.count for each in found if each is not None), len(scores.queries))
    condensed = scores.conventions.unjudged == "skip"  # an answer may then hold nothing that is judged
    return int(np.count_nonzero(~(hits.answered & (condensed | (hits.retrieved > 0)))))


def _unjudged(scores: Scores, depth: int) -> float | None:
    if scores.hits is None:
        return scores.unjudged.get(depth)
    shown = int(np.minimum(scores.hits.retrieved, depth).sum())
    return None if not shown else float(1 - scores.hits.top(depth).count().sum() / shown)
