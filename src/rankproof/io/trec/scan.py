"""One chunk of a run: its queries, its judged documents, and their ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rankproof.core.arrays import offsets
from rankproof.core.conventions import Conventions, comparable_scores, find_repeats
from rankproof.core.hits import Array
from rankproof.core.join import SAMPLE, Block, Census, Ordered, doubtful_scores, note_ranks, note_scores, rank_block
from rankproof.core.judgments import Judgments
from rankproof.io.trec.chunks import NEWLINE, PAD, BadLine, Chunk, chunk_of, in_order
from rankproof.io.trec.index import SMALL, Index, are_different, are_equal, hashes, index_of, starts_of
from rankproof.io.trec.lines import COLUMNS, DOC, QUERY, RANK, SCORE, Lines, Repeated, joined_fields, parse, split

BITS = 17
"""How many bits number a place in the table that finds equal keys."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The judgments to look for in every piece, and the conventions."""

    judgments: Judgments
    conventions: Conventions
    fits: dict[tuple[bool, bool], bool] = field(default_factory=dict)
    """For kinds of ids whether those of the judgments are the same, as far as it was looked up."""

    @property
    def index(self) -> Index:
        """The judged documents by their keys."""
        return index_of(self.judgments)


@dataclass(frozen=True, eq=False)
class Rows:
    """The lines of judged queries as columns."""

    chunk: Chunk
    """The buffer of the documents' ids."""
    query: Array
    """Which query of the judgments."""
    score: Array
    begin: Array
    """Where each document's id begins."""
    length: Array
    """How long each document's id is."""
    key: Array
    """A number made of query and document."""
    line: Array | None
    """Which line (from 0) each row is; None: row for row."""

    def __len__(self) -> int:
        return len(self.key)

    def line_of(self, row: int) -> int:
        """Which line (from 0) a row is."""
        return row if self.line is None else int(self.line[row])

    def docs(self, rows: Array) -> list[str]:
        """The documents of some rows."""
        begin = self.begin[rows]
        return self.chunk.texts(begin, begin + self.length[rows])

    def keep(self, rows: Array) -> Rows:
        """Only the rows where `rows` is true."""
        columns = (self.query, self.score, self.begin, self.length, self.key)
        query, score, begin, length, key = (column[rows] for column in columns)
        line = np.flatnonzero(rows) if self.line is None else self.line[rows]
        return Rows(self.chunk, query, score, begin, length, key, line)


def without_repeats(rows: Rows, rule: str, queries: Sequence[str]) -> Rows:
    """Each document of a query once; under the rule 'error' a document twice is an error."""
    if not _may_repeat(rows.key):
        return rows
    first, again = find_repeats(rows.key, rows.score, rule)
    same = (rows.length[first] == rows.length[again]) & (rows.query[first] == rows.query[again])
    first, again = first[same], again[same]
    same = are_equal(rows.chunk, rows.begin[first], rows.chunk, rows.begin[again], rows.length[first])
    if not same.any():
        return rows
    if rule == "error":
        at = np.flatnonzero(same)[np.argmin(again[same])]  # the repetition that comes first in the file
        places = rows.line_of(int(first[at])), rows.line_of(int(again[at]))
        raise Repeated(places, queries[int(rows.query[again[at]])], *rows.docs(again[at : at + 1]))
    keep = np.ones(len(rows.key), dtype=bool)
    keep[again[same]] = False
    return rows.keep(keep)


def _may_repeat(key: Array) -> bool:
    """Whether two keys are equal.

    Each key writes its number at the place its first bits name. Those overwritten are held against the one that
    stands there, and try again among themselves.
    """
    if len(key) > 8 << BITS:  # nearly all would be overwritten
        return not are_different(key)
    table = np.empty(1 << BITS, dtype=np.int32)
    while len(key) > 1:
        place = (key >> np.uint64(64 - BITS)).view(np.int64)
        number = np.arange(len(key), dtype=np.int32)
        table[place] = number
        winner = table[place]
        lost = np.flatnonzero(winner != number)
        beaten = key[lost]
        if (beaten == key[winner[lost]]).any():
            return True
        key = beaten
    return False


@dataclass(frozen=True, eq=False, slots=True)
class Scanned:
    """The content of some lines."""

    queries: Array
    """The judged queries that were found, one for each run of lines."""
    others: list[str]
    """The queries that nobody judged, in the same way."""
    ordered: list[Ordered]
    noticed: Census = field(default_factory=Census)


def scan_lines(lines: Lines, score: Array, scan: Scan) -> Scanned:
    """The content of complete queries, in lines with these scores."""
    return scan_judged(judged_lines(lines, score, scan.index), scan)


class JudgedLines(NamedTuple):
    """The rows of judged queries among some lines."""

    runs: Array
    """The query of each run of lines, -1 for one that nobody judged."""
    others: list[str]
    """The queries that nobody judged, one for each run."""
    rows: Rows
    comments: int


def judged_lines(lines: Lines, score: Array, index: Index) -> JudgedLines:
    """The rows of judged queries among lines with these scores."""
    starts, sizes = lines.runs(QUERY)
    begin = lines.begin[QUERY, starts]
    judged = index.queries.find(lines.chunk, begin, lines.end[QUERY, starts] - begin)
    others = lines.fields(starts[judged < 0], QUERY)
    query = np.repeat(judged.astype(lines.begin.dtype), sizes)
    begin, end, line = lines.begin[DOC], lines.end[DOC], lines.line
    if len(others):
        row = np.flatnonzero(query >= 0)
        query, score, begin, end = query[row], score[row], begin[row], end[row]
        line = row if line is None else line[row]
    length = end - begin
    key = hashes(lines.chunk, begin, length, index.salt, query)
    return JudgedLines(judged, others, Rows(lines.chunk, query, score, begin, length, key, line), lines.comments)


def scan_judged(found: JudgedLines, scan: Scan) -> Scanned:
    """The content of the rows of judged queries, each document once."""
    kept = without_repeats(found.rows, scan.conventions.duplicates, scan.index.queries.ids)
    noticed = Census(dropped=len(found.rows) - len(kept), comments=found.comments)
    note_scores(kept.score, starts_of(kept.query), noticed)
    return Scanned(found.runs[found.runs >= 0], found.others, _ranked(kept, scan), noticed)


def read_long(pieces: Iterator[Chunk], scan: Scan) -> JudgedLines | BadLine:
    """What is needed of a ranking of many megabytes, of its text only the documents' ids; or the line that is wrong."""

    def read(chunk: Chunk) -> tuple[int, JudgedLines | BadLine]:
        try:
            lines = split(chunk, COLUMNS)
            return chunk.lines, judged_lines(lines, scores_of(lines, scan.conventions.ties), scan.index)
        except BadLine as bad:
            return 0, bad

    # Columns that grow in place: as parts that are joined at the end they would take twice their room.
    ids, query, score, length, key = bytearray(PAD), bytearray(), bytearray(), bytearray(), bytearray()
    runs = [np.zeros(0, dtype=np.intp)]
    others: list[str] = []
    line: list[Array | range] = []
    before = comments = 0
    for _, (count, found) in in_order(read, pieces):
        if isinstance(found, BadLine):
            found.line += before
            return found
        rows = found.rows
        ids += joined_fields(rows.chunk, rows.begin, rows.begin + rows.length)
        score += rows.score.data
        key += rows.key.data
        query += rows.query.astype(np.int32).data
        length += rows.length.astype(np.int32).data
        line.append(range(before, before + count) if rows.line is None else (rows.line + before).astype(np.int32))
        runs.append(found.runs)
        others += dict.fromkeys(found.others)
        comments += found.comments
        before += count
    ids += bytes(PAD)
    chunk = Chunk(np.frombuffer(ids, dtype=np.uint8), len(ids) - 2 * PAD)
    sizes = np.frombuffer(length, dtype=np.int32)
    begin: Array = np.cumsum(sizes, dtype=np.int32 if len(ids) < SMALL else np.intp)
    begin += PAD - sizes
    plain = all(isinstance(each, range) for each in line)
    rows = Rows(
        chunk,
        np.frombuffer(query, dtype=np.int32),
        np.frombuffer(score),
        begin,
        sizes,
        np.frombuffer(key, dtype=np.uint64),
        None if plain else np.concatenate([np.asarray(each, dtype=np.int32) for each in line]),
    )
    run = np.concatenate(runs)
    return JudgedLines(run[starts_of(run)], others, rows, comments)


def scores_of(lines: Lines, ties: str) -> Array:
    """The scores, or minus the rank column where that decides."""
    return -lines.numbers(RANK, "rank") if ties == "rank" else lines.numbers(SCORE, "score")


def note_ranks_of(chunk: Chunk, census: Census) -> None:
    """Hold the first ranks of a chunk against their scores."""
    ends = np.flatnonzero(chunk.text == NEWLINE)[: 2 * SAMPLE]
    lines = split(chunk_of(bytes(chunk.text[: ends[-1] + 1])), COLUMNS)
    _, sizes = lines.runs(QUERY)
    group = np.repeat(np.arange(len(sizes)), sizes)
    score, rank, _ = numbers_of(lines, 0)
    note_ranks(group[:SAMPLE], score[:SAMPLE], rank[:SAMPLE], census)


def numbers_of(lines: Lines, first: int) -> Array:
    """Scores, ranks (NaN if there is none) and line numbers of a chunk that begins at line `first`."""
    rank = parse(lines.chunk, lines.begin[RANK], lines.end[RANK])
    line = np.arange(len(lines)) if lines.line is None else lines.line
    return np.stack([scores_of(lines, ""), rank, line + first])


def _ranked(rows: Rows, scan: Scan) -> list[Ordered]:
    """The rankings in strict order of score, and those that are not."""
    if not len(rows):
        return []
    start = starts_of(rows.query)
    length = np.diff(np.append(start, len(rows)))
    hit, judged = scan.index.find(rows.key, rows.query, rows.chunk, rows.begin, rows.length)
    ranking = np.searchsorted(start, hit, side="right") - 1
    score = comparable_scores(rows.score, scan.conventions)
    falls = np.append(True, score[1:] < score[:-1])
    falls[start] = True
    strict = np.logical_and.reduceat(falls, start)  # each score is below the one before
    parts: list[Ordered] = []
    for which in (strict, ~strict):
        if not which.any():
            continue
        mine = which[ranking]
        query, sizes, row = rows.query[start[which]], length[which], hit[mine]
        number = (np.cumsum(which) - 1)[ranking[mine]]
        if which is strict:
            rank = row - start[ranking[mine]] + 1  # a row's place
            doubtful = doubtful_scores(rows.score[row], scan.conventions)
            parts.append(Ordered(query, sizes, number, judged[mine], rank, doubtful=doubtful))
            continue
        every = None if which.all() else np.flatnonzero(np.repeat(which, length))
        score = rows.score if every is None else rows.score[every]

        def docs(places: Array, every: Array | None = every) -> list[str]:
            return rows.docs(places if every is None else every[places])

        block = Block(query, offsets(sizes), score, number, judged[mine], rows.score[row], docs)
        parts.append(rank_block(block, scan.judgments, scan.conventions))
    return parts
