"""Documents that come twice in one ranking: found by key, proven byte for byte, settled by the rule."""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array
from rankproof.io.trec.lines import Repeated
from rankproof.io.trec.rows import DOC, QUERY, Rows
from rankproof.io.trec.words import are_equal

BITS = 17
"""How many bits number a place in the table that finds equal keys."""


def without_repeats(rows: Rows, rule: str) -> Rows:
    """Each document of a query once; under the rule 'error' a document twice is an error."""
    if not _may_repeat(rows.key):
        return rows
    worth = -rows.score if rule == "best" else np.arange(len(rows.key))
    order = np.lexsort((np.arange(len(rows.key)), worth, rows.key))
    again = np.flatnonzero(rows.key[order][1:] == rows.key[order][:-1]) + 1
    leader = _leaders(len(order), again)
    twice = order[again]
    first = order[leader[again]]
    same = _same_documents(rows, first, twice)
    if not same.any():
        return rows
    if rule == "error":
        raise _error(rows, first[same], twice[same])
    keep = np.ones(len(rows.key), dtype=bool)
    keep[twice[same]] = False
    return rows.keep(keep)


def _may_repeat(key: Array) -> bool:
    """Whether two keys are equal.

    Each key writes its number at the place its first bits name; only those overwritten need a comparison.
    """
    place = (key >> np.uint64(64 - BITS)).view(np.int64)
    table = np.empty(1 << BITS, dtype=np.int32)
    number = np.arange(len(key), dtype=np.int32)
    table[place] = number
    winner = table[place]
    lost = np.flatnonzero(winner != number)
    beaten = np.sort(key[lost])
    return bool((key[lost] == key[winner[lost]]).any() or (beaten[1:] == beaten[:-1]).any())


def _leaders(count: int, again: Array) -> Array:
    """For each place in the order the first place of its group of equal keys."""
    place = np.arange(count)
    place[again] = 0
    return np.maximum.accumulate(place)


def _same_documents(rows: Rows, a: Array, b: Array) -> Array:
    begin, length, chunk = rows.begin, rows.length, rows.lines.chunk
    same = are_equal(chunk, begin[a], chunk, begin[b], np.minimum(length[a], length[b]))
    same &= (length[a] == length[b]) & (rows.query[a] == rows.query[b])
    return same


def _error(rows: Rows, first: Array, twice: Array) -> Repeated:
    """The error for the repetition that comes first in the file."""
    at = int(np.argmin(rows.row[twice]))
    one, other = int(rows.row[first[at]]), int(rows.row[twice[at]])
    query, doc = rows.lines.field(other, QUERY).decode(), rows.lines.field(other, DOC).decode()
    return Repeated((rows.lines.line_of(one), rows.lines.line_of(other)), query, doc)
