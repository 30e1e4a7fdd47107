"""Hits of many queries in few bytes: columns are kept as narrow as their numbers allow, or are not kept at all.

Whoever asks for a column gets it as wide as in any other `Hits`, made anew each time, so no arithmetic can overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.core.arrays import Array, narrow
from rankproof.core.hits import Hits

ALL = slice(None)


class PackedHits(Hits):
    """Hits whose columns of whole numbers take two or four bytes each, or follow from others."""

    def cut(self, name: str, rows: slice) -> Any:
        """Some rows of a column, without the whole of it being made."""
        kept = self.__dict__[name]
        if kept is None:
            return None
        return _wide(kept[rows]) if isinstance(kept, np.ndarray) else kept.of(rows)


def _wide(column: Array) -> Array:
    return column.astype(np.intp) if column.dtype.kind == "i" else column


class _PackedColumn:
    """A column of packed hits: narrow in the object's own dictionary, wide where it is asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, hits: Any, kind: Any = None) -> Any:
        return None if hits is None else hits.cut(self.name, ALL)  # on the class: the default of the field

    def __set__(self, hits: Any, column: Any) -> None:
        hits.__dict__[self.name] = narrow(column) if isinstance(column, np.ndarray) else column


for _name in ("query", "rank", "grade", "doc", "retrieved", "first", "last"):
    setattr(PackedHits, _name, _PackedColumn(_name))


@dataclass(frozen=True, eq=False, slots=True)
class LookedUp:
    """A column that a table has for the judgment of each row."""

    table: Array
    doc: Array

    def of(self, rows: slice) -> Array:
        """Some rows of the column."""
        return _wide(self.table.take(self.doc[rows]))


@dataclass(frozen=True, eq=False, slots=True)
class Numbered:
    """The column that numbers the rows from 0, or those of each query from 1."""

    count: int
    start: Array | None = None
    query: Array | None = None

    def of(self, rows: slice) -> Array:
        """Some rows of the column."""
        number = np.arange(*rows.indices(self.count))
        return number if self.start is None or self.query is None else number + 1 - self.start.take(self.query[rows])
