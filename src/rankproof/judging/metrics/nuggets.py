"""Nuggets: facts that a good answer must have (vital) or may have (okay)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from rankproof.core.hits import PerQuery, ratio
from rankproof.core.parameters import Cutoff
from rankproof.judging.case import Case
from rankproof.judging.metrics.registry import metric
from rankproof.judging.metrics.units import Grades, Grid, Nothing, covered
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


def credited(units: Sequence[tuple[Grades, Grades]]) -> PerQuery:
    """What vital and okay nuggets are worth, by weight, over all of them, by weight."""
    vital, okay = (np.array([sum(each[i]) for each in units], dtype=np.float64) for i in (0, 1))
    sizes = [np.array([len(each[i]) for each in units], dtype=np.float64) for i in (0, 1)]
    return ratio(vital + OKAY * okay, sizes[0] + OKAY * sizes[1])


@metric(
    "nugget_score",
    needs=("nuggets",),
    score=credited,
    choices=(0.0, 0.5, 1.0),
    presets={
        "all_score": {},
        "vital_score": {"of": "vital"},
        "weighted_score": {"of": "weighted"},
        "strict_all_score": {"partial": "none"},
        "strict_vital_score": {"of": "vital", "partial": "none"},
        "strict_weighted_score": {"of": "weighted", "partial": "none"},
    },
)
def nugget_score(
    case: Case,
    k: Cutoff = None,
    of: Literal["all", "vital", "weighted"] = "all",
    partial: Literal["half", "none"] = "half",
    by: Literal["answer", "contexts"] = "answer",
) -> tuple[Grades, Grades] | Nothing:
    """The nuggets that the answer has, one of which it has a part counting half: AutoNuggetizer's scores.

    Formula: sum of s / nuggets, with s = 1 for support, .5 for partial support, 0 for none; `partial='none'` counts
    partial support as none (the strict scores). `of='vital'` counts vital nuggets alone; `of='weighted'` okay ones
    half: (sum of s over vital + sum of s over okay / 2) / (vital + okay / 2). `by='contexts'` asks the contexts in the
    top k instead, of which the best counts. A nugget's `assignment` in the file stands, and is not asked.

    Range: 0 to 1.

    Perfect: 1, when the answer has every nugget in full.

    Worst: 0, when it has none.

    Blind to: what the answer says beyond the nuggets, right or wrong; and how it says it.

    Use: with nuggets that people or a model curated; all six published scores come from the same verdicts.

    Reference: R. Pradeep et al.: Initial nugget evaluation results for the TREC 2024 RAG track with the
    AutoNuggetizer framework, 2024.
    """
    nuggets = case.sample.nuggets or ()
    if by == "answer" and case.sample.answer is None and any(each.support is None for each in nuggets):
        return Nothing("no answer")
    if by == "contexts" and case.sample.contexts is None:
        return Nothing("no contexts")
    texts = [case.sample.answer] if by == "answer" else [each.text for each in case.contexts[:k]]
    vital, okay = (
        [_credit(case, texts, each, partial == "none", by) for each in nuggets if each.vital == kind]
        for kind in (True, False)
    )
    if of == "all":
        vital, okay = vital + okay, []
    found = (vital, [] if of == "vital" else okay)
    return found if any(found) else Nothing(f"no {'vital ' if of == 'vital' else ''}nuggets")


def _credit(case: Case, texts: Sequence[str | None], nugget: Nugget, strict: bool, by: str) -> float | None:
    if nugget.support is not None and by == "answer":
        return credit([nugget.support], strict)
    return credit([case.part(text, nugget.text) for text in texts], strict)


def credit(parts: Sequence[float | None], strict: bool = False) -> float | None:
    """The best of several supports; strictly, a part is none."""
    best = max((each for each in parts if each is not None), default=0.0)
    if best < 1 and None in parts:
        return None
    return float(best == 1) if strict else best
