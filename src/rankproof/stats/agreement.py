"""Agreement: of judges on labels (kappas and Krippendorff's alpha), and of orders of systems (tau, RBO).

Chance-corrected numbers are low if one label is rare, however well the judges agree: so each comes with the
observed agreement, the expected agreement, and the prevalence of the labels. An order of systems is a mapping of name
to score; the better score comes first, `higher=False` if less is better. The end of the module is about how far one
order can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from rankproof.core.arrays import Array, finite_row
from rankproof.core.measures.pairs import rank_biased_overlap, tau_ap
from rankproof.document.model import Displayable
from rankproof.document.numbers import count
from rankproof.errors import DataError, check_one_of, explain_calls, shorten
from rankproof.stats.paired import check_share
from rankproof.stats.variance import by_query

Weights = Literal["none", "linear", "quadratic"]
"""What a disagreement of two labels costs: 1, their distance, or its square."""
Level = Literal["nominal", "ordinal", "interval"]
"""The kind of labels: names, ranks, or numbers."""


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


@explain_calls
def cohen_kappa(
    first: Sequence[Any], second: Sequence[Any], weights: Weights = "none", labels: Sequence[Any] = ()
) -> Agreement:
    """Two judges on the same items; with weights, near misses cost less (`labels` gives their order).

    Formula: 1 - (weighted disagreement seen) / (that expected from each judge's own shares).
    Reference: J. Cohen: A coefficient of agreement for nominal scales, 1960; Weighted kappa, 1968.

    >>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]).value
    0.5
    """
    check_one_of("weights", weights, get_args(Weights))
    one, other = _given(first), _given(second)
    if len(first) != len(second):
        raise DataError(
            f"judges: got {len(first):,} and {len(second):,} labels, expected as many of each."
            " Next: give both judges' labels of the same items."
        )
    if len(one) < len(first) or len(other) < len(second):
        raise DataError("judges: got a missing label. Next: leave the item out, or use krippendorff_alpha.")
    units = list(zip(one, other, strict=True))
    known = _labels(units, labels, ordered=weights != "none")
    place, k = {label: i for i, label in enumerate(known)}, len(known)
    pairs = np.bincount([place[a] * k + place[b] for a, b in units], minlength=k * k).reshape(k, k) / len(units)
    # What each pair of labels costs, 1 at most.
    apart = np.abs(np.subtract.outer(np.arange(len(known)), np.arange(len(known)))) / max(1, len(known) - 1)
    cost = {"none": (apart > 0).astype(float), "linear": apart, "quadratic": apart**2}[weights]
    seen, chance = float((pairs * cost).sum()), float(pairs.sum(axis=1) @ cost @ pairs.sum(axis=0))
    shares = (pairs.sum(axis=0) + pairs.sum(axis=1)) / 2
    method = "Cohen's kappa" if weights == "none" else f"Cohen's kappa, {weights} weights"
    return _agreement(seen, chance, dict(zip(known, shares.tolist(), strict=True)), len(units), method)


@explain_calls
def fleiss_kappa(ratings: Sequence[Sequence[Any]]) -> Agreement:
    """Several judges, the same number (not always the same people) for every item; a line of labels an item.

    Reference: J. L. Fleiss: Measuring nominal scale agreement among many raters, Psych. Bulletin 1971.

    >>> round(fleiss_kappa([[1, 1, 1], [0, 0, 0], [1, 0, 1]]).value, 3)
    0.55
    """
    units = [_given(line) for line in ratings]
    known, sizes = _labels(units), sorted({len(unit) for unit in units})
    if len(sizes) > 1 or sizes[0] < 2:
        raise DataError(
            f"ratings: items with {' and '.join(map(str, sizes))} labels, expected as many each, 2 or more. "
            "Next: use krippendorff_alpha, which allows missing labels."
        )
    counts = _counts(units, known)
    shares = counts.sum(axis=0) / counts.sum()
    alike = float((counts * (counts - 1)).sum()) / (len(units) * sizes[0] * (sizes[0] - 1))
    shared = dict(zip(known, shares.tolist(), strict=True))
    return _agreement(1 - alike, 1 - float((shares**2).sum()), shared, len(units), "Fleiss' kappa")


@explain_calls
def krippendorff_alpha(
    ratings: Sequence[Sequence[Any]], level: Level = "nominal", labels: Sequence[Any] = ()
) -> Agreement:
    """Any number of judges, with missing labels as None; a line of labels an item.

    Formula: 1 - (mean squared distance within items) / (that between all labels, whatever their item). Distance: 1
        between different names; the number of labels between two ranks; the difference of two numbers.
    Reference: K. Krippendorff: Computing Krippendorff's alpha-reliability, 2011.

    >>> round(krippendorff_alpha([[1, 1], [0, 0], [1, 0], [None, 1]]).value, 3)
    0.444
    """
    check_one_of("level", level, get_args(Level))
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
    if level == "ordinal":
        at = np.cumsum(each) - each / 2
    elif all(isinstance(label, int | float) and math.isfinite(label) for label in known):
        at = np.array(known, dtype=np.float64)
    else:
        raise DataError(
            f"labels: got {known}, expected finite numbers at level 'interval'."
            " Next: give numbers, or choose level='nominal'."
        )
    return np.asarray(np.subtract.outer(at, at) ** 2)


def _agreement(seen: float, chance: float, shares: dict[Any, float], n: int, method: str) -> Agreement:
    """From the disagreement seen and the one expected."""
    value = 1 - seen / chance if chance > 0 else None
    note = "all judgments have the same label, so chance alone would agree as well" if value is None else ""
    return Agreement(value, 1 - seen, 1 - chance, shares, n, method, note)


def _given(line: Sequence[Any]) -> list[Any]:
    """The labels that are there; NaN is missing, as None is."""
    try:
        if isinstance(line, str | bytes | Mapping | Set):
            raise TypeError("its letters or its keys would be taken")
        found = [label for label in line if label is not None and label == label]
        hash(tuple(found))
    except (TypeError, ValueError):  # lists have no hash, and arrays no truth value
        raise DataError(
            f"labels: got {shorten(line)}, expected a list of texts, numbers or truth values. "
            "Next: give one label of each item, None where it is missing."
        ) from None
    return found


def _labels(units: Sequence[Sequence[Any]], order: Sequence[Any] = (), ordered: bool = False) -> list[Any]:
    """All labels in order: the one given, else their own, which text does not have."""
    used = {label for unit in units for label in unit}
    if not used:
        raise DataError("labels: got no item that two judges labelled. Next: have some judged twice.")
    named = list(dict.fromkeys(_given(order)))  # one named twice would move all after it
    if named and (unknown := used - set(named)):
        raise DataError(
            f"labels: got {sorted(map(str, unknown))}, expected one of {named}. Next: name every label in labels=."
        )
    if ordered and not named and any(isinstance(label, str) for label in used):
        raise DataError("labels: got text, expected its order. Next: give labels=['worst', ..., 'best'].")
    try:
        return named or sorted(used)
    except TypeError:
        kinds = " and ".join(sorted({type(label).__name__ for label in used}))
        raise DataError(
            f"labels: got a mix of kinds ({kinds}), expected one. Next: use all numbers or all text."
        ) from None


def _counts(units: Sequence[list[Any]], known: list[Any]) -> Array:
    """How often each label was given to each item."""
    place, k = {label: i for i, label in enumerate(known)}, len(known)
    at = [row * k + place[label] for row, unit in enumerate(units) for label in unit]
    return np.bincount(at, minlength=len(units) * k).reshape(-1, k).astype(float)


Ordering = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Alike(Displayable):
    """How similar two orderings are; `value` is None if all scores of one are equal."""

    value: float | None
    n: int
    """Systems that both order."""
    method: str
    note: str = ""


@explain_calls
def kendall_tau_b(first: Ordering, second: Ordering) -> Alike:
    """Pairs of systems in the same order less those in opposite order, with ties counted for neither.

    Formula: (same - opposite) / sqrt((pairs not tied in the first) (pairs not tied in the second)).
    Reference: M. G. Kendall: The treatment of ties in ranking problems, Biometrika 1945.

    >>> kendall_tau_b({"a": 3, "b": 2, "c": 1}, {"a": 3, "b": 1, "c": 2}).value
    0.3333333333333333
    """
    names, rows = _shared(first, second)
    (one, other), method = map(_signs, rows), "Kendall's tau-b"
    untied = int(np.count_nonzero(one)) * int(np.count_nonzero(other))
    if not untied:
        return Alike(None, len(names), method, "all scores of one ordering are equal")
    return Alike(float((one * other).sum() / untied**0.5), len(names), method)


def _signs(scores: Array) -> Array:
    """Which of each pair is higher: 1, -1, or 0 for a tie."""
    i, j = np.triu_indices(len(scores), 1)
    return np.asarray(np.sign(scores[i] - scores[j]))


@explain_calls
def tau_ap_of(first: Ordering, truth: Ordering, higher: bool = True) -> Alike:
    """Kendall's tau with more weight on the top; the second ordering is the truth.

    Reference: E. Yilmaz, J. A. Aslam, S. Robertson: A new rank correlation coefficient for information
    retrieval, SIGIR 2008.

    >>> tau_ap_of({"a": 3, "b": 2, "c": 1}, {"a": 2, "b": 3, "c": 1}).value
    0.0
    """
    return _by_order("tau-AP", first, truth, higher, lambda a, b: float(tau_ap.spec.function(a, b)))


@explain_calls
def rbo_of(first: Ordering, second: Ordering, p: float = 0.9, higher: bool = True) -> Alike:
    """The overlap of the tops of two orderings, the first places counting most.

    Reference: W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings, ACM TOIS 2010.

    >>> round(rbo_of({"a": 3, "b": 2, "c": 1}, {"a": 2, "b": 3, "c": 1}).value, 4)
    0.9
    """
    check_share("p", p)
    return _by_order("RBO", first, second, higher, lambda a, b: float(rank_biased_overlap.spec.function(a, b, p=p)))


def _by_order(
    method: str, first: Ordering, second: Ordering, higher: bool, alike: Callable[[Sequence[str], Sequence[str]], float]
) -> Alike:
    names, rows = _shared(first, second)
    tied = any(len(set(row.tolist())) < len(names) for row in rows)
    orders = [order(dict(zip(names, row.tolist(), strict=True)), higher) for row in rows]
    return Alike(alike(*orders), len(names), method, "equal scores are ordered by name" if tied else "")


def order(scores: Ordering, higher: bool = True) -> list[str]:
    """The systems, best first; scores that are equal but for rounding by name.

    >>> order({"b": 0.1 + 0.2, "a": 0.3, "c": 0.4})
    ['c', 'a', 'b']
    """
    levels = round_off_noise(np.array(list(scores.values()))) * (-1 if higher else 1)
    return [name for _, name in sorted(zip(levels.tolist(), scores, strict=True))]


def _shared(first: Ordering, second: Ordering) -> tuple[list[str], list[Array]]:
    """The systems that both order, and their scores in each."""
    names = sorted(first.keys() & second.keys())
    if len(names) < 2:
        raise DataError(
            f"orderings: got {count(len(names), 'system')} in both, expected 2 or more of the same name. "
            "Next: use the same names in both."
        )
    rows = (finite_row(np.array([scores[name] for name in names]), "scores") for scores in (first, second))
    return names, list(map(round_off_noise, rows))


def round_off_noise(means: Array) -> Array:
    """Means, or rows of means, without the noise of summation, so that equal ones are equal."""
    scale = np.abs(means).max(axis=-1, keepdims=True, initial=0.0)
    scale[scale == 0] = 1.0
    return np.asarray(np.round(means / scale, 12) * scale)


@dataclass(frozen=True, slots=True)
class Stability:
    """How far the ordering of systems depends on single queries."""

    least: float
    """The lowest tau-b between the full ordering and one with a query left out; 0 if all systems tie."""
    mean: float
    moves: tuple[int, ...]
    """Queries (by position) that change the ordering when left out."""
    first_changes: int
    """Of these, how many change the first place."""


@explain_calls
def stability(systems: Mapping[str, Array], higher: bool = True) -> Stability:
    """Leave out each query in turn: how similar is the ordering of the means to the full one?

    >>> stability({"a": np.array([1.0, 0.5, 0.5]), "b": np.array([0.0, 0.6, 0.6])}).first_changes
    1
    """
    names = sorted(systems)
    table = by_query({name: systems[name] for name in names})
    full, left = round_off_noise(table.mean(axis=0)), round_off_noise((table.sum(axis=0) - table) / (len(table) - 1))
    for each in (full, left.ravel()):
        finite_row(each, "scores")
    agreed, untied = np.zeros(len(left)), np.zeros(len(left), dtype=np.int64)
    for i, j in combinations(range(len(names)), 2):
        signs = np.sign(left[:, i] - left[:, j])
        agreed += signs * np.sign(full[i] - full[j])
        untied += signs != 0
    pairs = int(np.count_nonzero(_signs(full)))
    taus = [a / (pairs * b) ** 0.5 if pairs * b else 0.0 for a, b in zip(agreed.tolist(), untied.tolist(), strict=True)]
    usual, orders = (np.argsort(-each if higher else each, kind="stable") for each in (full, left))
    moves = tuple(np.flatnonzero((orders != usual).any(axis=1)).tolist())
    return Stability(min(taus), sum(taus) / len(taus), moves, int((orders[:, 0] != usual[0]).sum()))
