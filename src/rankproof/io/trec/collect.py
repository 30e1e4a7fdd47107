"""Rankings from the pieces of one file or of many: each query once, wherever its rows are.

Every piece is read once, and only its judged documents are kept. Queries with rows in several pieces
are noted, and a second pass collects only their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from rankproof.core.arrays import distinct, narrow
from rankproof.core.conventions import Conventions
from rankproof.core.hits import Array
from rankproof.core.join import Census, Ordered, note_scores, rank_block
from rankproof.core.judgments import Judgments
from rankproof.errors import DataError
from rankproof.io.rows import RowRankings
from rankproof.io.trec.chunks import BadLine, in_order
from rankproof.io.trec.lines import Repeated
from rankproof.io.trec.scan import Scan, Scanned

GATHERED = 1 << 23
"""How many rows of queries that stand in several places are gathered at a time."""
PASSES = 16
"""How often the files are read again for that at most."""


class PieceSource(Protocol):
    """A file, or a table, that is read piece by piece: the same pieces however often it is read."""

    @property
    def source(self) -> str:
        """Its name in messages."""

    def pieces(self, scan: Scan | None, census: Census | None) -> Iterator[Any]:
        """The pieces, one after the other; a query that goes on is never cut. Without a census, as they are read again,
        their rows know their numbers; without a scan nothing is looked for."""

    def scan_piece(self, piece: Any, scan: Scan) -> Scanned:
        """The rows of a piece; a row that cannot be read is a BadLine, or a complete DataError."""

    def divide(self, piece: Any, scan: Scan, apart: Array, file: int) -> tuple[Any, Any]:
        """The rows of a piece that was read again: those of other queries than those apart, and those of these, which
        get the number of the file; None for none."""

    def gather_queries(self, taken: list[Any]) -> Iterator[Any]:
        """Divided rows, query after query, in pieces."""

    def error(self, bad: BadLine, piece: Any, number: int, sources: Sequence[PieceSource]) -> DataError:
        """The error for a bad row of the piece with this number; of gathered ones the number is -1."""


SHOWN = 5
"""How many queries without judgments are named."""


Others: TypeAlias = tuple[list[str], Array]
"""Queries that nobody judged: some of them, and a key of each, as there may be more of them than fit."""
Piece: TypeAlias = tuple[int, int, Any]
"""The number of a file, that of a piece in it, and the piece, or the error that ended the file."""


def collect_rankings(
    sources: Sequence[PieceSource],
    judgments: Judgments,
    conventions: Conventions,
    census: Census,
    *,
    keep_going: bool = False,
    tell: Callable[[int], None] = lambda file: None,
) -> list[Ordered]:
    """The rankings of judged queries; with `keep_going` a file that cannot be read is left out as a whole.

    The files that were left out are named in the census. `tell` is called with the number of each file as it begins.
    """
    scan = Scan(judgments, conventions)
    found, others = _first_pass(sources, scan, census, keep_going, tell)
    seen = np.zeros(len(judgments.query_ids), dtype=np.intp)
    rows = np.zeros(len(seen), dtype=np.intp)
    for each in found.values():
        np.add.at(seen, each.queries, 1)
        for ordered in each.ordered:
            np.add.at(rows, ordered.query, ordered.length)
    apart = seen > 1
    gathered: list[Scanned] = []
    if apart.any():
        gathered = list(_gathered(sources, scan, found, apart, rows))
    kept = [*found.values(), *gathered]
    for each in kept:
        for name in ("dropped", "comments", "lists", "rising", "rises", "falls"):
            setattr(census, name, getattr(census, name) + getattr(each.noticed, name))
    # A sixteenth of the different keys at a time, as all at once take several times the room.
    shares = ([np.zeros(0, dtype=np.int64), *(keys[keys & 15 == bits] for _, keys in others)] for bits in range(16))
    census.extra += sum(len(distinct(np.concatenate(share))) for share in shares)
    examples = list(dict.fromkeys(name for names, _ in others for name in names))
    census.extra_examples += examples[: max(0, SHOWN - len(census.extra_examples))]
    return [ordered for each in kept for ordered in each.ordered]


def _first_pass(
    sources: Sequence[PieceSource], scan: Scan, census: Census, keep_going: bool, tell: Callable[[int], None]
) -> tuple[dict[tuple[int, int], Scanned], list[Others]]:
    """The content of each piece, and the unjudged queries."""
    found: dict[tuple[int, int], Scanned] = {}
    others: dict[int, list[Others]] = {}
    damaged: dict[int, DataError] = {}

    def read() -> Iterator[Piece]:
        for file, source in enumerate(sources):
            tell(file)
            try:
                for number, piece in enumerate(source.pieces(scan, census)):
                    yield file, number, piece
                    if file in damaged:
                        break
            except DataError as error:
                yield file, -1, error

    def work(item: Piece) -> Scanned | BadLine | DataError:
        file, _, piece = item
        if isinstance(piece, DataError):
            return piece
        try:
            return sources[file].scan_piece(piece, scan)
        except (BadLine, DataError) as bad:
            return bad

    _ = scan.index  # made before the threads begin
    for (file, number, piece), result in in_order(work, read()):
        twice = isinstance(result, Repeated)  # a file that can be read is not left out for what it says
        if isinstance(result, BadLine):
            result = sources[file].error(result, piece, number, sources)
        if isinstance(result, DataError):
            if twice or not keep_going:
                raise result
            damaged.setdefault(file, result)
            continue
        once = dict.fromkeys(result.others)
        keys = np.fromiter(map(hash, once), np.int64, len(once))
        others.setdefault(file, []).append((list(once)[:SHOWN], keys))
        found[file, number] = replace(result, others=[], ordered=list(map(_narrow, result.ordered)))
    for file, error in damaged.items():
        census.left_out.append(str(error).partition(" Next: ")[0])
        others.pop(file, None)
    kept = {at: each for at, each in found.items() if at[0] not in damaged}
    return kept, [each for some in others.values() for each in some]


def _narrow(ordered: Ordered) -> Ordered:
    """The same in a quarter of the memory: the content of all pieces is kept until the last was read."""
    columns = (getattr(ordered, each.name) for each in fields(Ordered))
    return Ordered(*(None if column is None else narrow(column) for column in columns))  # type: ignore[arg-type]


def _gathered(
    sources: Sequence[PieceSource],
    scan: Scan,
    found: dict[tuple[int, int], Scanned],
    apart: Array,
    rows: Array,
) -> Iterator[Scanned]:
    """The queries that stand in several places; the rest of their pieces is put back into `found`."""
    names = np.flatnonzero(apart)
    part = np.cumsum(rows[names]) // GATHERED
    if len(names) and part[-1] >= PASSES:
        raise DataError(
            f"{sources[0].source}{' and others' if len(sources) > 1 else ''}: {len(names):,} queries with "
            f"{int(rows[names].sum()):,} rows stand in several places each, expected at most {PASSES * GATHERED:,} "
            "such rows. Next: write them with the rows of each query together, sorted or partitioned by query."
        )
    affected = {at for at, each in found.items() if apart[each.queries].any()}
    for number in np.unique(part).tolist():
        some = np.zeros_like(apart)
        some[names[part == number]] = True
        taken = []
        for file, at, piece in _again(sources, scan, affected):
            if number == part[0]:
                outside, _ = sources[file].divide(piece, scan, apart, file)
                found[file, at] = (
                    Scanned(np.zeros(0, dtype=np.intp), [], [])
                    if outside is None
                    else sources[file].scan_piece(outside, scan)
                )
            _, inside = sources[file].divide(piece, scan, some, file)
            if inside is not None:
                taken.append(inside)
        gatherer = sources[min(file for file, _ in affected)]
        for piece in gatherer.gather_queries(taken):
            try:
                yield gatherer.scan_piece(piece, scan)
            except BadLine as bad:
                raise gatherer.error(bad, piece, -1, sources) from bad


def _again(
    sources: Sequence[PieceSource], scan: Scan, affected: set[tuple[int, int]]
) -> Iterator[tuple[int, int, Any]]:
    for file in sorted({file for file, _ in affected}):
        for number, piece in enumerate(sources[file].pieces(scan, None)):
            if (file, number) in affected:
                yield file, number, piece


def scan_rows(rankings: RowRankings, scan: Scan) -> Scanned:
    """The judged documents among rows in memory."""
    noticed = Census()
    blocks = list(rankings.blocks(scan.judgments, scan.conventions, noticed))
    for block in blocks:
        note_scores(block.score, block.start[:-1], noticed)
    noticed.extra, noticed.extra_examples, noticed.notes = 0, [], []
    known = scan.judgments.index
    return Scanned(
        np.concatenate([np.zeros(0, dtype=np.intp), *(block.query for block in blocks)]),
        [query for query in dict.fromkeys(rankings.rows.query) if query not in known],
        [rank_block(block, scan.judgments, scan.conventions) for block in blocks],
        noticed,
    )
