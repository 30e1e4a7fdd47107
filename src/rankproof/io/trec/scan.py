"""One chunk of a run: its queries, what it holds of the judged documents, and their ranks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.join import (
    SAMPLE,
    Block,
    Census,
    Ordered,
    doubtful_scores,
    note_ranks,
    note_scores,
    rank_block,
)
from rankproof.core.judgments import Judgments
from rankproof.core.rules import Conventions, find_repeats
from rankproof.errors import shorten
from rankproof.io.trec.chunks import NEWLINE, PAD, SIZE, BadLine, Chunk, chunk_of
from rankproof.io.trec.index import (
    COLUMNS,
    DOC,
    QUERY,
    RANK,
    SCORE,
    SMALL,
    Index,
    Rows,
    are_different,
    are_equal,
    hashes,
    starts_of_runs,
)
from rankproof.io.trec.lines import Lines, Repeated, parse, split, text_of_line

BITS = 17
"""How many bits number a place in the table that finds equal keys."""


def without_repeats(rows: Rows, rule: str) -> Rows:
    """Each document of a query once; under the rule 'error' a document twice is an error."""
    if not _may_repeat(rows.key):
        return rows
    first, again = find_repeats(rows.key, rows.score, rule)
    same = _same_documents(rows, first, again)
    if not same.any():
        return rows
    if rule == "error":
        raise _error(rows, first[same], again[same])
    keep = np.ones(len(rows.key), dtype=bool)
    keep[again[same]] = False
    return rows.keep(keep)


def _may_repeat(key: Array) -> bool:
    """Whether two keys are equal.

    Each key writes its number at the place its first bits name; only those overwritten need a comparison.
    """
    if len(key) > 8 << BITS:  # nearly all would be overwritten
        return not are_different(key)
    place = (key >> np.uint64(64 - BITS)).view(np.int64)
    table = np.empty(1 << BITS, dtype=np.int32)
    number = np.arange(len(key), dtype=np.int32)
    table[place] = number
    winner = table[place]
    lost = np.flatnonzero(winner != number)
    beaten = np.sort(key[lost])
    return bool((key[lost] == key[winner[lost]]).any() or (beaten[1:] == beaten[:-1]).any())


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


@dataclass(frozen=True, eq=False, slots=True)
class Scanned:
    """What some lines gave."""

    queries: Array
    """The judged queries that were found, one for each run of lines."""
    others: list[str]
    """The queries that nobody judged, in the same way."""
    ordered: list[Ordered]
    noticed: Census = field(default_factory=Census)


def scan(chunk: Chunk, index: Index, judgments: Judgments, conventions: Conventions) -> Scanned:
    """Read a chunk of whole queries; a line that cannot be read is a BadLine."""
    lines, score = _by_pieces(chunk, conventions.ties) or (split(chunk, COLUMNS), None)
    if not len(lines):
        return Scanned(np.zeros(0, dtype=np.intp), [], [], Census(comments=lines.comments))
    score = _scores(lines, conventions.ties) if score is None else score
    return scan_lines(lines, score, index, judgments, conventions)


LONG_LINE = 1 << 12
WHOLE = 8 * SIZE
"""A longer chunk is one ranking: its fields are found in pieces, and only those that are needed are kept."""


def _by_pieces(chunk: Chunk, ties: str) -> tuple[Lines, Array] | None:
    """Queries, documents and scores of a long chunk; None for a short one, or one with any line out of the ordinary."""
    if not WHOLE < chunk.size < SMALL or chunk.numbers is not None:
        return None
    count = chunk.lines
    begin, end = (np.empty((DOC + 1, count), dtype=np.int32) for _ in range(2))
    score = np.empty(count)
    row = at = 0
    while at < chunk.size:
        ends = np.flatnonzero(chunk.text[at + SIZE : at + SIZE + LONG_LINE] == NEWLINE)
        last = at + SIZE + int(ends[0]) + 1 if len(ends) else chunk.size
        try:
            lines = split(Chunk(chunk.buffer[at : last + 2 * PAD], last - at), COLUMNS)
            if lines.line is not None:
                return None
            rows = slice(row, row + len(lines))
            score[rows] = _scores(lines, ties)
        except BadLine:  # told by whoever reads all lines at once, with its number
            return None
        for column in (QUERY, DOC):
            begin[column, rows], end[column, rows] = lines.begin[column] + at, lines.end[column] + at
        row, at = rows.stop, last
    return Lines(chunk, begin, end, None), score


def scan_lines(
    lines: Lines, score: Array, index: Index, judgments: Judgments, conventions: Conventions
) -> Scanned:
    """What lines with these scores hold."""
    starts = query_starts(lines)
    begin = lines.begin[QUERY, starts]
    judged = index.queries.find(lines.chunk, begin, lines.end[QUERY, starts] - begin)
    others = lines.fields(starts[judged < 0], QUERY)
    query = np.repeat(judged.astype(lines.begin.dtype), np.diff(np.append(starts, len(lines))))
    rows = _rows(lines, query, score, index)
    kept = without_repeats(rows, conventions.duplicates)
    noticed = Census(dropped=len(rows.row) - len(kept.row), comments=lines.comments)
    note_scores(kept.score, starts_of(kept.query), noticed)
    return Scanned(judged[judged >= 0], others, _ranked(kept, index, judgments, conventions), noticed)


def _scores(lines: Lines, ties: str) -> Array:
    """The scores, or minus the rank column where that decides."""
    column = RANK if ties == "rank" else SCORE
    score = parse(lines.chunk, lines.begin[column], lines.end[column])
    bad = np.flatnonzero(np.isnan(score))
    if len(bad):
        raise _no_number(lines, int(bad[0]), column)
    return -score if ties == "rank" else score


def note_ranks_of(chunk: Chunk, census: Census) -> None:
    """Hold the first ranks of a chunk against their scores."""
    ends = np.flatnonzero(chunk.text == NEWLINE)[: 2 * SAMPLE]
    lines = split(chunk_of(bytes(chunk.text[: ends[-1] + 1])), COLUMNS)
    starts = query_starts(lines)
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(lines))))
    score, rank, _ = numbers(lines, 0)
    note_ranks(group[:SAMPLE], score[:SAMPLE], rank[:SAMPLE], census)


def query_starts(lines: Lines) -> Array:
    """The rows at which the lines of another query begin."""
    begin = lines.begin[QUERY]
    return starts_of_runs(lines.chunk, begin, lines.end[QUERY] - begin)


def numbers(lines: Lines, first: int) -> Array:
    """Scores, ranks (NaN where there is none) and line numbers of a chunk that begins at line `first`."""
    rank = parse(lines.chunk, lines.begin[RANK], lines.end[RANK])
    line = np.arange(len(lines)) if lines.line is None else lines.line
    return np.stack([_scores(lines, ""), rank, line + first])


def _no_number(lines: Lines, row: int, column: int) -> BadLine:
    line, found = lines.line_of(row), shorten(lines.field(row, column).decode())
    what = "rank" if column == RANK else "score"
    return BadLine(line, f"the {what} is {found}, expected a number: {text_of_line(lines.chunk, line)}")


def _rows(lines: Lines, query: Array, score: Array, index: Index) -> Rows:
    """The lines of judged queries."""
    begin, end = lines.begin[DOC], lines.end[DOC]
    row = np.arange(len(query), dtype=begin.dtype)
    if (query < 0).any():
        row = np.flatnonzero(query >= 0)
        query, score, begin, end = query[row], score[row], begin[row], end[row]
    length = end - begin
    key = hashes(lines.chunk, begin, length, index.salt, query)
    return Rows(lines, row, query, score, begin, length, key)


def starts_of(query: Array) -> Array:
    """Where each run of one query begins."""
    return np.append(0, np.flatnonzero(query[1:] != query[:-1]) + 1)[: len(query)]


def _ranked(rows: Rows, index: Index, judgments: Judgments, conventions: Conventions) -> list[Ordered]:
    """The rankings in strict order of score, and those that are not."""
    if not len(rows.row):
        return []
    start = starts_of(rows.query)
    length = np.diff(np.append(start, len(rows.row)))
    hit, judged = index.find(rows.key, rows.query, rows.lines.chunk, rows.begin, rows.length)
    ranking = np.searchsorted(start, hit, side="right") - 1
    strict = _in_strict_order(rows.score, start, conventions)
    found = _Found(rows, start, length, hit, judged, ranking)
    parts = [found.ordered(strict, conventions)] if strict.any() else []
    if not strict.all():
        parts.append(rank_block(found.block(~strict), judgments, conventions))
    return parts


def _in_strict_order(score: Array, start: Array, conventions: Conventions) -> Array:
    """Which rankings have each score below the one before."""
    if conventions.precision == "float32":
        score = score.astype(np.float32)
    falls = np.append(True, score[1:] < score[:-1])
    falls[start] = True
    return np.logical_and.reduceat(falls, start)


class _Found(NamedTuple):
    """Rankings and the judged documents in them."""

    rows: Rows
    start: Array
    length: Array
    hit: Array
    judged: Array
    ranking: Array

    def ordered(self, which: Array, conventions: Conventions) -> Ordered:
        """Those of the rankings that are in order: a row's place is its rank."""
        number = np.cumsum(which) - 1
        mine = which[self.ranking]
        ranking = self.ranking[mine]
        return Ordered(
            query=self.rows.query[self.start[which]],
            length=self.length[which],
            ranking=number[ranking],
            judged=self.judged[mine],
            rank=self.hit[mine] - self.start[ranking] + 1,
            doubtful=doubtful_scores(self.rows.score[self.hit[mine]], conventions),
        )

    def block(self, which: Array) -> Block:
        """Those of the rankings whose scores must be compared."""
        number = np.cumsum(which) - 1
        mine = which[self.ranking]
        row = slice(None) if which.all() else np.flatnonzero(np.repeat(which, self.length))
        line = self.rows.row[row]
        return Block(
            query=self.rows.query[self.start[which]],
            start=np.append(0, np.cumsum(self.length[which])),
            score=self.rows.score[row],
            ranking=number[self.ranking[mine]],
            judged=self.judged[mine],
            found=self.rows.score[self.hit[mine]],
            ids=lambda places: self.rows.lines.fields(line[places], DOC),
        )
