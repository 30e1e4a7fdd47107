"""The parameters of a measure: ``-m ndcg_cut.5,10``, ``-m iprec_at_recall..25``, ``-m ndcg.1=3,2=9``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rankproof.compat.trec_eval.catalogue import CATALOGUE, Entry, split_request, wanted
from rankproof.errors import UsageError


@dataclass(frozen=True)
class Column:
    """One line of output: a measure with at most one cut-off."""

    entry: Entry
    name: str
    """As it is printed."""
    at: float | None = None
    """The rank, or the point of recall, where the measure has one."""
    numbers: tuple[float, ...] = ()
    pairs: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """What to compute, and what the user should know about how the request was read."""

    columns: tuple[Column, ...]
    notes: tuple[str, ...]


Request: TypeAlias = tuple[str, str | None]
"""The name of a measure, and its parameters where there are any."""


def requested(measures: Sequence[str], version: int) -> list[Request]:
    """The names and parameters of the ``-m`` options; none means 'official'."""
    return [split_request(measure, version) for measure in measures or ("official",)]


def plan(requests: Sequence[Request], version: int) -> Plan:
    """The columns that the requests ask for, in printing order.

    >>> [c.name for c in plan(requested(["P.10,5", "map"], 10), 10).columns]
    ['map', 'P_5', 'P_10']
    """
    notes: list[str] = []
    parameters: dict[str, str] = {}
    for name, given in requests:
        if given is not None:
            _note_ignored(name, given, parameters, notes)
            parameters.setdefault(name, given)
    entries = wanted((name for name, _ in requests), version)
    columns = [column for entry in entries for column in columns_of(entry, parameters.get(entry.name), notes)]
    return Plan(tuple(columns), tuple(notes))


def _note_ignored(name: str, given: str, known: dict[str, str], notes: list[str]) -> None:
    """trec_eval drops these without a word; so the words are ours."""
    if name in known:
        both = f"{known[name]},{given}"
        notes.append(f"{name}.{given} is ignored: only the first list counts. Next: -m {name}.{both}")
    elif name not in CATALOGUE or CATALOGUE[name].takes == "nothing":
        notes.append(f"{name}.{given}: {name} takes no parameters; they are ignored")


def columns_of(entry: Entry, given: str | None, notes: list[str]) -> list[Column]:
    """The columns of one measure, one for each cut-off."""
    if entry.takes == "cutoffs":
        ranks = entry.defaults if given is None else _ranks(entry.name, given, notes)
        return [Column(entry, f"{entry.name}_{int(k)}", at=k) for k in ranks]
    if entry.takes == "points":
        points = entry.defaults if given is None else _points(entry.name, given)
        return [Column(entry, f"{entry.name}_{point:3.2f}", at=point) for point in points]
    if entry.takes == "nothing" or given is None:
        return [Column(entry, entry.name, numbers=entry.defaults)]
    if entry.takes == "pairs":
        return [Column(entry, f"{entry.name}_{given}", pairs=_pairs(entry.name, given))]
    return [Column(entry, f"{entry.name}_{given}", numbers=_fitting(entry, given))]


def _fitting(entry: Entry, text: str) -> tuple[float, ...]:
    numbers = _numbers(entry.name, text)
    if entry.takes == "numbers" and len(numbers) != len(entry.defaults):
        raise UsageError(
            f"{entry.name}: got {len(numbers)} numbers, expected {len(entry.defaults)}."
            " Next: give that many, or none for the usual ones."
        )
    return numbers


def _numbers(name: str, text: str) -> tuple[float, ...]:
    return tuple(_number(name, word) for word in text.split(","))


def _number(name: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(
            f"{name}: got parameter {word!r}, expected a number."
            " Next: write numbers after the point, parted by commas."
        )
    return value


def _ranks(name: str, text: str, notes: list[str]) -> list[float]:
    """Rank cut-offs in increasing order, cut to whole numbers."""
    given = _numbers(name, text)
    ranks = sorted(float(int(k)) for k in given)
    if ranks[0] <= 0:
        raise UsageError(f"{name}.{text}: a cut-off must be at least 1. Next: give whole numbers from 1 on.")
    notes.extend(f"{name}: cut-off {k:g} is cut to {int(k)}" for k in given if k != int(k))
    return _distinct(name, text, ranks)


def _points(name: str, text: str) -> list[float]:
    return _distinct(name, text, sorted(_numbers(name, text)))


def _distinct(name: str, text: str, values: list[float]) -> list[float]:
    if len(set(values)) < len(values):
        raise UsageError(f"{name}.{text}: duplicate cut-offs. Next: name each once.")
    return values


def _pairs(name: str, text: str) -> dict[str, float]:
    pairs: dict[str, float] = {}
    for pair in text.split(","):
        key, equals, value = pair.partition("=")
        if not equals or not _known_key(name, key):
            raise UsageError(
                f"{name}: got {pair!r}, expected grade=gain pairs like 1=3.5,2=9{_or_p(name)}."
                " Next: write the pairs so."
            )
        pairs.setdefault(key, _number(name, value))
    return pairs


def _known_key(name: str, key: str) -> bool:
    return key.lstrip("+-").isdigit() or (key == "p" and name.startswith("rbp"))


def _or_p(name: str) -> str:
    return ", or p=0.8" if name.startswith("rbp") else ""
