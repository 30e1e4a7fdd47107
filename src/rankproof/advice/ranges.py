"""Ranges of numbers and dates, in ids and in metadata, nearly all documents of which are lost: an old index, say."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

from rankproof.core.corpus import Document

FEWEST = 10
"""Documents with a number below which no range of it is looked for."""

MOST_RANGES = 3
"""Ranges of one number that are named."""

Key: TypeAlias = float | str
"""A number, or a date as ISO 8601 writes it."""

_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,15}(?![0-9])")
_DATE_IN_ID = re.compile(
    r"(?<![0-9])((?:1[5-9]|2[01])[0-9]{2})([-_/.])(0[1-9]|1[0-2])\2(0[1-9]|[12][0-9]|3[01])(?![0-9])"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?([T ].*)?$")


@dataclass(frozen=True, slots=True)
class Range:
    """Neighbours by a number or a date."""

    what: str
    """In words: "number in ids like CACM-# up to 1598"."""
    docs: frozenset[str]
    ordered: frozenset[str]
    """All documents that have the number."""


def ranges(
    docs: Collection[str], corpus: Mapping[str, Document], lost: Collection[str], nearly: float
) -> tuple[list[Range], int]:
    """For each number the ranges of which at least the share `nearly` is lost; and how many ranges there are of all.

    >>> pages = {f"p{n}": Document(f"p{n}", "") for n in range(40)}
    >>> found, of = ranges(pages, pages, {f"p{n}" for n in range(12)}, 0.9)
    >>> [each.what for each in found], of
    (['number in ids like p# up to 11'], 820)
    """
    found: list[Range] = []
    number = 0
    for name, keys in (*_in_ids(docs).items(), *_in_metadata(docs, corpus)):
        distinct = len(set(keys.values()))
        if len(keys) >= FEWEST and distinct >= 3:
            number += distinct * (distinct + 1) // 2
            found += _lost_ranges(name, keys, lost, nearly)
    return found, number


def _in_ids(docs: Collection[str]) -> dict[str, dict[str, Key]]:
    """The dates in ids, and the numbers of those written alike, each by its place; or of all the last one."""
    dates: dict[str, Key] = {
        doc: "-".join(at.group(1, 3, 4)) for doc in docs if (at := _DATE_IN_ID.search(doc))
    }
    alike = defaultdict(list)
    for doc in docs:
        alike[_NUMBER.sub("#", doc)].append(doc)
    found: dict[str, dict[str, Key]] = {"date in ids": dates}
    for form, some in alike.items():
        if len(some) >= FEWEST:
            rows = [_NUMBER.findall(doc) for doc in some]
            for place in range(len(rows[0])):
                nth = f"number {place + 1}" if len(rows[0]) > 1 else "number"
                found[f"{nth} in ids like {form}"] = {
                    doc: int(row[place]) for doc, row in zip(some, rows, strict=True)
                }
    if len(alike) > 1:
        found["last number in ids"] = {doc: int(row[-1]) for doc in docs if (row := _NUMBER.findall(doc))}
    return found


def _in_metadata(
    docs: Collection[str], corpus: Mapping[str, Document]
) -> Iterator[tuple[str, dict[str, Key]]]:
    for name in dict.fromkeys(field for doc in docs for field in corpus[doc].metadata):
        keys = {doc: key for doc in docs if (key := _key(corpus[doc].metadata.get(name))) is not None}
        kinds = Counter(map(type, keys.values())).most_common(1)
        yield name, {doc: key for doc, key in keys.items() if type(key) is kinds[0][0]}


def _key(value: Any) -> Key | None:
    if isinstance(value, date):  # a datetime is one too
        return value.isoformat()
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and _DATE.match(value):
        return value
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _lost_ranges(name: str, keys: Mapping[str, Key], lost: Collection[str], nearly: float) -> Iterator[Range]:
    """The ranges that hold most lost documents, one after the other."""
    by_key: defaultdict[Key, list[str]] = defaultdict(list)
    for doc, key in keys.items():
        by_key[key].append(doc)
    values = sorted(by_key)
    # A found document costs as much as keeps the share of lost ones in a range at `nearly` or above.
    cost = nearly / (1 - nearly)
    worth = [sum(1.0 if doc in lost else -cost for doc in by_key[value]) for value in values]
    for _ in range(MOST_RANGES):
        first, last, total = _best(worth)
        if total <= 0 or (first, last) == (0, len(values) - 1):
            return
        docs = frozenset(doc for value in values[first : last + 1] for doc in by_key[value])
        what = f"{name} {_said(values, first, last)}"
        yield Range(what, docs, frozenset(keys))
        worth[first : last + 1] = [-math.inf] * (last + 1 - first)


def _best(worth: Sequence[float]) -> tuple[int, int, float]:
    """The range with the largest sum (Kadane)."""
    best, start, total = (0, 0, -math.inf), 0, 0.0
    for n, each in enumerate(worth):
        if total <= 0:
            start, total = n, 0.0
        total += each
        if total > best[2]:
            best = (start, n, total)
    return best


def _said(values: Sequence[Key], first: int, last: int) -> str:
    low, high = (each if isinstance(each, str) else f"{each:.15g}" for each in (values[first], values[last]))
    if first == 0:
        return f"up to {high}"
    if last == len(values) - 1:
        return f"from {low} on"
    return f"from {low} to {high}" if first < last else f"of {low}"
