"""Corrections for asking several questions at once: adjusted p-values, in the order given.

An adjusted p at or below alpha is a finding at level alpha, over the whole family.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rankproof.core.hits import Array
from rankproof.errors import DataError, is_one_of, one_of


def bonferroni(ps: Sequence[float]) -> list[float]:
    """Each p times the number of tests: the chance of even one false finding stays at alpha.

    Reference: O. J. Dunn: Multiple comparisons among means, JASA 1961.

    >>> bonferroni([0.01, 0.25, 0.5])
    [0.03, 0.75, 1.0]
    """
    p = _checked(ps)
    return [float(each) for each in np.minimum(p * len(p), 1)]


def holm(ps: Sequence[float]) -> list[float]:
    """Step down: the same promise as Bonferroni's and never weaker.

    Formula: the i-th smallest p times (m - i + 1), none smaller than the one before it, at most 1.

    Reference: S. Holm: A simple sequentially rejective multiple test procedure, Scand. J. Statistics 1979.

    >>> holm([0.25, 0.0625, 0.125])
    [0.25, 0.1875, 0.25]
    """
    p = _checked(ps)
    order = np.argsort(p, kind="stable")
    return _placed(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), order)


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Step up: among what is called a finding, on average at most alpha is false.

    Formula: the i-th smallest p times m / i, none larger than the one after it.

    Reference: Y. Benjamini, Y. Hochberg: Controlling the false discovery rate, J. Royal Stat. Soc. B 1995.

    >>> benjamini_hochberg([0.25, 0.0625, 0.125])
    [0.25, 0.1875, 0.1875]
    """
    p = _checked(ps)
    order = np.argsort(p, kind="stable")[::-1]
    scaled = p[order] * len(p) / np.arange(len(p), 0, -1)
    return _placed(np.minimum.accumulate(scaled), order)


def uncorrected(ps: Sequence[float]) -> list[float]:
    """The p-values as they are."""
    return [float(p) for p in _checked(ps)]


CORRECTIONS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": uncorrected,
}


def correct(ps: Sequence[float], method: str = "holm") -> list[float]:
    """Adjusted p-values by a named method: holm, benjamini-hochberg, bonferroni or none.

    >>> correct([0.01, 0.5])
    [0.02, 0.5]
    """
    if not is_one_of(method, CORRECTIONS):
        raise one_of("correction", method, CORRECTIONS)
    return CORRECTIONS[method](ps)


def surely(alpha: float, tests: int, method: str = "holm") -> float:
    """The p that is a finding at level alpha among so many tests, whatever the p-values of the others are.

    >>> surely(0.05, 10), surely(0.05, 10, "none")
    (0.005, 0.05)
    """
    return alpha if method == "none" else alpha / tests


def _checked(ps: Sequence[float]) -> Array:
    p = np.asarray(ps, dtype=np.float64)
    bad = p[~((p >= 0) & (p <= 1))]
    if len(bad):
        raise DataError(f"p-values: got {bad[0]}, expected numbers from 0 to 1. Next: give probabilities.")
    return p


def _placed(adjusted: Array, order: Array) -> list[float]:
    """Adjusted values back in the places their p-values came from."""
    placed = np.empty(len(order))
    placed[order] = np.minimum(adjusted, 1)
    return placed.tolist()
