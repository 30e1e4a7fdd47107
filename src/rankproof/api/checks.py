"""What can be asked of a comparison or a gate: checked before any work is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from rankproof.api.evaluate import evaluate
from rankproof.api.scores import Scores
from rankproof.core.audit.meeting import NOTHING_SHARED, check_found, ranked_otherwise
from rankproof.errors import DataError, UsageError, nearest, shorten


def check_conventions(given: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """Refuse arguments that neither the function nor `evaluate`, which gets them, knows."""
    parameters = [*signature(function).parameters.values(), *signature(evaluate).parameters.values()]
    known = dict.fromkeys(each.name for each in parameters if each.kind == each.KEYWORD_ONLY)
    for name in given:
        if name not in known:
            raise UsageError(
                f"{function.__name__}: unknown argument {name!r}.{nearest(name, known)} "
                f"Next: name one of {', '.join(known)}."
            )


def check_alpha(alpha: Any, most: float = 1) -> None:
    """Refuse an error rate that is none."""
    if not _is_number(alpha) or not 0 < alpha < most:
        raise UsageError(
            f"alpha: got {alpha!r}, expected a number above 0 and below {most:g}. Next: leave it out for 0.05."
        )


def check_seed(seed: Any) -> None:
    """Refuse a seed that starts no generator."""
    if not isinstance(seed, int) or seed < 0:
        raise UsageError(
            f"seed: got {seed!r}, expected a whole number from 0 on. Next: give a whole number, like 0."
        )


def check_margin(margin: Any, what: str = "", least: str = "a number above 0") -> None:
    """Refuse a margin that is no size; one of 0 is a size where `least` says so."""
    fits = _is_number(margin) and (margin > 0 or (margin == 0 and least != "a number above 0"))
    if not fits or margin == math.inf:
        raise UsageError(
            f"margin: got {margin!r}{what}, expected {least}. Next: give the difference that would not matter, "
            "like 0.01, or leave it out."
        )


def check_spelling(scores: Scores, name: str) -> None:
    """Refuse scores of a ranking that finds nothing only because its ids are spelt otherwise."""
    if scores.ranking is None or scores.judgments is None or scores.audit.of_kind(NOTHING_SHARED) is None:
        return
    check_found(ranked_otherwise(scores.judgments, scores.ranking.table().doc), name)


def check_floor(limit: Any, measure: str) -> None:
    """Refuse a floor that nothing can be held against."""
    if not _is_number(limit) or not math.isfinite(limit):
        raise UsageError(
            f"floor: got {limit!r} for {measure}, expected a number, like 0.4."
            " Next: give the lowest mean allowed."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def named(systems: Mapping[Any, Any]) -> dict[str, Any]:
    """The systems by their names as text."""
    return {str(name): each for name, each in systems.items()}


def averaged_otherwise(scores: Scores) -> list[str]:
    """The measures whose mean is no mean of the queries' values, so that it has no difference query by query."""
    return [name for name, each in scores.columns.items() if each.measure.spec.average != "mean"]


def check_not_thin(scores: Mapping[str, Scores], measure: str) -> None:
    """Refuse to put systems in order by means over the few samples that a judge could settle."""
    for name, each in scores.items():
        if each.thin(measure):
            raise DataError(
                f"{shorten(name)}: fewer than half of the samples could be measured by {measure}, so no order "
                "follows. Next: let another judge settle the rest (a cascade), or name another metric."
            )


def check_averages(scores: Scores) -> None:
    """Refuse to decide by measures that are not averaged by the mean."""
    odd = averaged_otherwise(scores)
    if odd:
        raise UsageError(
            f"{', '.join(odd)}: averaged by {_average(scores, odd[0])}, so there are no differences query by query to "
            "test. Next: name measures that are means over the queries, like AP for GMAP."
        )


def _average(scores: Scores, name: str) -> str:
    return {"geometric": "the geometric mean", "sum": "a sum"}.get(
        scores.column(name).measure.spec.average, "no mean"
    )
