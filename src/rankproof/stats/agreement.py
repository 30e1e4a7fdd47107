"""Do judges agree more than chance would have them? Kappas and Krippendorff's alpha.

Chance-corrected numbers sink when one label is rare, however well the judges agree: so each comes with the
agreement seen, the agreement expected, and the prevalence of the labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.errors import DataError, one_of

Weights = Literal["none", "linear", "quadratic"]
"""What a disagreement of two labels costs: 1, their distance, or its square."""
Level = Literal["nominal", "ordinal", "interval"]
"""The kind of labels: names, ranks, or numbers."""
LIKE = "all judgments have the same label, so chance alone would agree as well"


@dataclass(frozen=True, slots=True)
class Agreement(Displayable):
    """How far judges agree: 1 is full agreement, 0 that of chance, None if chance alone would agree as well."""

    value: float | None
    observed: float
    """The agreement seen (1 less the disagreement, where labels have distances)."""
    expected: float
    """The agreement that chance would give."""
    prevalence: dict[Any, float]
    """The share of each label among all judgments."""
    n: int
    """Items that at least two judges judged."""
    method: str
    note: str = ""


def cohen_kappa(
    first: Sequence[Any], second: Sequence[Any], weights: Weights = "none", labels: Sequence[Any] = ()
) -> Agreement:
    """Two judges on the same items; with weights, near misses cost less (`labels` gives their order).

    Formula: 1 - (weighted disagreement seen) / (that expected from each judge's own shares).

    Reference: J. Cohen: A coefficient of agreement for nominal scales, 1960; Weighted kappa, 1968.

    >>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]).value
    0.5
    """
    if weights not in get_args(Weights):
        raise one_of("weights", weights, get_args(Weights))
    units = _both_given(first, second)
    known = _labels(units, labels, ordered=weights != "none")
    pairs = np.zeros((len(known), len(known)))
    place = {label: i for i, label in enumerate(known)}
    np.add.at(pairs, tuple(np.array([[place[label] for label in unit] for unit in units]).T), 1)
    pairs /= len(units)
    # What each pair of labels costs, 1 at most.
    apart = np.abs(np.subtract.outer(np.arange(len(known)), np.arange(len(known)))) / max(1, len(known) - 1)
    cost = {"none": (apart > 0).astype(float), "linear": apart, "quadratic": apart**2}[weights]
    seen, chance = float((pairs * cost).sum()), float(pairs.sum(axis=1) @ cost @ pairs.sum(axis=0))
    shares = (pairs.sum(axis=0) + pairs.sum(axis=1)) / 2
    method = "Cohen's kappa" if weights == "none" else f"Cohen's kappa, {weights} weights"
    return _agreement(seen, chance, dict(zip(known, shares.tolist(), strict=True)), len(units), method)


def _both_given(first: Sequence[Any], second: Sequence[Any]) -> list[list[Any]]:
    if len(first) != len(second):
        raise DataError(
            f"judges: got {len(first):,} and {len(second):,} labels, expected as many of each."
            " Next: give both judges' labels of the same items."
        )
    units = [_given(pair) for pair in zip(first, second, strict=True)]
    if any(len(pair) < 2 for pair in units):
        raise DataError("judges: got a missing label. Next: leave the item out, or use krippendorff_alpha.")
    return units


def fleiss_kappa(ratings: Sequence[Sequence[Any]]) -> Agreement:
    """Several judges, the same number (not always the same people) for every item; a line of labels an item.

    Reference: J. L. Fleiss: Measuring nominal scale agreement among many raters, Psych. Bulletin 1971.

    >>> round(fleiss_kappa([[1, 1, 1], [0, 0, 0], [1, 0, 1]]).value, 3)
    0.55
    """
    units = [_given(line) for line in ratings]
    known, judges = _labels(units), _one_size(units)
    counts = _counts(units, known)
    shares = counts.sum(axis=0) / counts.sum()
    alike = float((counts * (counts - 1)).sum()) / (len(units) * judges * (judges - 1))
    shared = dict(zip(known, shares.tolist(), strict=True))
    return _agreement(1 - alike, 1 - float((shares**2).sum()), shared, len(units), "Fleiss' kappa")


def _one_size(units: list[list[Any]]) -> int:
    sizes = sorted({len(unit) for unit in units})
    if len(sizes) > 1 or sizes[0] < 2:
        raise DataError(
            f"ratings: items with {' and '.join(map(str, sizes))} labels, expected as many each, 2 or more. "
            "Next: use krippendorff_alpha, which allows missing labels."
        )
    return sizes[0]


def krippendorff_alpha(
    ratings: Sequence[Sequence[Any]], level: Level = "nominal", labels: Sequence[Any] = ()
) -> Agreement:
    """Any number of judges, with missing labels as None; a line of labels an item.

    Formula: 1 - (mean squared distance within items) / (that between all labels, whatever their item).
    Distance: 1 between different names; the number of labels between two ranks; the difference of two
    numbers.

    Reference: K. Krippendorff: Computing Krippendorff's alpha-reliability, 2011.

    >>> round(krippendorff_alpha([[1, 1], [0, 0], [1, 0], [None, 1]]).value, 3)
    0.444
    """
    if level not in get_args(Level):
        raise one_of("level", level, get_args(Level))
    units = [unit for unit in map(_given, ratings) if len(unit) > 1]
    known = _labels(units, labels, ordered=level == "ordinal")
    counts = _counts(units, known)
    each = counts.sum(axis=0)
    distance = _distance(known, each, level)
    # Each item weighs as many judgments as it has. A label meeting itself costs nothing, so it may stay in.
    pairs = counts.T @ (counts / (counts.sum(axis=1, keepdims=True) - 1))
    seen = float((pairs * distance).sum() / each.sum())
    chance = float(each @ distance @ each / (each.sum() * (each.sum() - 1)))
    shared = dict(zip(known, (each / each.sum()).tolist(), strict=True))
    return _agreement(seen, chance, shared, len(units), f"Krippendorff's alpha, {level}")


def _distance(known: list[Any], each: Array, level: str) -> Array:
    """The squared distance of each pair of labels."""
    if level == "nominal":
        return 1.0 - np.eye(len(known))
    at = _numbers(known) if level == "interval" else np.cumsum(each) - each / 2
    squared: Array = np.subtract.outer(at, at) ** 2
    return squared


def _numbers(known: list[Any]) -> Array:
    if not all(isinstance(label, int | float) and math.isfinite(label) for label in known):
        raise DataError(
            f"labels: got {known}, expected finite numbers at level 'interval'."
            " Next: give numbers, or choose level='nominal'."
        )
    return np.array(known, dtype=np.float64)


# --- shared ------------------------------------------------------------------------------------------


def _agreement(seen: float, chance: float, shares: dict[Any, float], n: int, method: str) -> Agreement:
    """From the disagreement seen and the one expected."""
    value = 1 - seen / chance if chance > 0 else None
    return Agreement(value, 1 - seen, 1 - chance, shares, n, method, "" if chance > 0 else LIKE)


def _given(line: Sequence[Any]) -> list[Any]:
    """The labels that are there; NaN is missing, as None is."""
    return [label for label in line if label is not None and label == label]


def _labels(units: Sequence[Sequence[Any]], order: Sequence[Any] = (), ordered: bool = False) -> list[Any]:
    """All labels in order: the one given, else their own, which text does not have."""
    used = {label for unit in units for label in unit}
    if not used:
        raise DataError("labels: got no item that two judges labelled. Next: have some judged twice.")
    unknown = used - set(order)
    if order and unknown:
        raise DataError(
            f"labels: got {sorted(map(str, unknown))}, expected one of {list(order)}. Next: name every label in order=."
        )
    if ordered and not order and any(isinstance(label, str) for label in used):
        raise DataError("labels: got text, expected its order. Next: give labels=['worst', ..., 'best'].")
    try:
        return list(order) or sorted(used)
    except TypeError as error:
        raise DataError(f"labels: got a mix of kinds ({error}). Next: use all numbers or all text.") from None


def _counts(units: Sequence[Sequence[Any]], known: list[Any]) -> Array:
    place = {label: i for i, label in enumerate(known)}
    counts = np.zeros((len(units), len(known)))
    for i, unit in enumerate(units):
        for label in unit:
            counts[i, place[label]] += 1
    return counts
