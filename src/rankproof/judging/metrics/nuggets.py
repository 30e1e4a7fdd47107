"""Nuggets: facts that a good answer must have (vital) or may have (okay)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from rankproof.core.hits import PerQuery, ratio
from rankproof.core.parameters import Cutoff
from rankproof.judging.case import Case
from rankproof.judging.metrics.arithmetic import covered
from rankproof.judging.metrics.registry import metric
from rankproof.judging.metrics.units import Grid, Nothing
from rankproof.judging.samples.sample import Nugget

OKAY = 0.5
"""What an okay nugget weighs beside a vital one in the weighted recall."""


def nuggets_of(case: Case) -> tuple[Nugget, ...]:
    """The nuggets of a sample; where none were given, each claim of the reference is a vital one."""
    if case.sample.nuggets is not None:
        return case.sample.nuggets
    return tuple(map(Nugget, case.reference_claims))


def weighted(units: Sequence[tuple[Grid, Grid]]) -> PerQuery:
    """Vital and okay nuggets covered, by weight, over all of them, by weight."""
    vital, okay = (covered([each[i] for each in units]) for i in (0, 1))
    sizes = [np.array([len(each[i]) for each in units], dtype=np.float64) for i in (0, 1)]
    return ratio(vital * sizes[0] + OKAY * okay * sizes[1], sizes[0] + OKAY * sizes[1])


@metric(
    "nugget_recall",
    needs=("contexts",),
    score=weighted,
    presets={"vital_recall": {"of": "vital"}, "weighted_nugget_recall": {"of": "weighted"}},
)
def nugget_recall(
    case: Case,
    k: Cutoff = None,
    of: Literal["all", "vital", "weighted"] = "all",
    by: Literal["contexts", "answer"] = "contexts",
) -> tuple[Grid, Grid] | Nothing:
    """The share of the nuggets of a good answer that the retrieved contexts hold.

    Formula: nuggets supported by a context in the top k / nuggets. `of='vital'` counts vital ones alone,
    `of='weighted'` counts okay ones half; `by='answer'` asks the answer instead of the contexts. Where a sample
    has no nuggets, the claims of its reference are vital ones.

    Range: 0 to 1.

    Perfect: 1, when every nugget is there.

    Worst: 0, when none is.

    Blind to: everything that is no nugget.

    Use: where people have said which facts matter; recall of what matters, not of what happens to be written.

    Reference: E. M. Voorhees: Overview of the TREC 2003 question answering track.
    """
    texts = [case.sample.answer or ""] if by == "answer" else [each.text for each in case.contexts[:k]]
    vital, okay = (_grid(case, texts, kind) for kind in (True, False))
    if of == "all":
        vital, okay = vital + okay, []
    found = (vital, [] if of == "vital" else okay)
    return found if any(found) else Nothing("no nuggets, and no claims in the reference")


def _grid(case: Case, texts: list[str], vital: bool) -> Grid:
    return [
        [case.supports(text, each.text) for text in texts] for each in nuggets_of(case) if each.vital == vital
    ]
