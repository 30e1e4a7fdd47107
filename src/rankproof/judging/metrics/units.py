"""What a metric counts in one sample: nested lists of yes and no (or of grades), None where nobody judged.

A `Grid` has a row for each thing that is counted (a claim, a chunk) and a cell for each place that may show it; a
row is settled when one cell says yes or none is open. `Grades` are grades by rank. Several of these make a tuple.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

Grid: TypeAlias = list[list[bool | None]]
Grades: TypeAlias = list[Any]
Units: TypeAlias = Any
"""A Grid, Grades, or a tuple of such."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Why a metric has no value for a sample, whatever is judged."""

    reason: str
    lost: bool = False
    """Whether that is the system's doing: such a sample could have had any value, and counts in the bounds so."""
    high: float = 1.0
    """The highest value it could have had; the lowest is 0."""


def share(parts: Iterable[bool | None]) -> Grid:
    """A grid of things that are each shown in one place."""
    return [[part] for part in parts]


def count(units: Units) -> int:
    """How many things are counted."""
    return sum(map(count, units)) if isinstance(units, tuple) else len(units)


def settled(units: Units) -> int:
    """How many of them are settled.

    >>> settled([[True, None], [False, None], [False]]), settled([0, None, 3])
    (2, 2)
    """
    if isinstance(units, tuple):
        return sum(map(settled, units))
    return sum(_is_settled(unit) for unit in units)


def _is_settled(unit: Any) -> bool:
    return True in unit or None not in unit if isinstance(unit, list) else unit is not None


def only_settled(units: Units) -> Units:
    """The units without those that are open.

    >>> only_settled([[True, None], [False, None], [False]])
    [[True, False], [False]]
    """
    if isinstance(units, tuple):
        return tuple(map(only_settled, units))
    return [filled(unit, False) for unit in units if _is_settled(unit)]


def filled(units: Units, value: Any) -> Units:
    """The units with one value wherever nothing is known."""
    if isinstance(units, (list, tuple)):
        return type(units)(filled(each, value) for each in units)
    return value if units is None else units


def holes(units: Units) -> int:
    """How many places are open."""
    return sum(map(holes, units)) if isinstance(units, (list, tuple)) else units is None


def ways(units: Units, choices: Sequence[Any]) -> Iterator[Units]:
    """The units with the open places filled in every possible way."""
    for values in product(choices, repeat=holes(units)):
        yield _poured(units, iter(values))


def _poured(units: Units, values: Iterator[Any]) -> Units:
    if isinstance(units, (list, tuple)):
        return type(units)([_poured(each, values) for each in units])
    return next(values) if units is None else units
