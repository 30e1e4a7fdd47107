"""What trec_eval needs of a results file besides the hits: its run id, and whole rankings."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from typing import BinaryIO, TypeAlias, TypeVar

import numpy as np

from rankproof.core.table import RankingTable
from rankproof.errors import DataError, shorten
from rankproof.io.files import HEAD, opened, read_bytes
from rankproof.io.sniff import fields as cut
from rankproof.io.trec import TrecRankings

T = TypeVar("T")
Rankings: TypeAlias = dict[str, dict[str, float]]

_AFTER_RUN_ID = re.compile(rb"^([ \t]*(?:\S+[ \t]+){5}\S+)[ \t]+[^\s][^\n]*", re.MULTILINE)


def reading(path: str, use: Callable[[TrecRankings], T]) -> T:
    """What `use` makes of the rankings in a file; as in trec_eval, lines may go on after the run id."""
    try:
        return use(TrecRankings(path, source=path, all_comments=True))
    except DataError:
        first_six, cut = _AFTER_RUN_ID.subn(rb"\1", read_bytes(path))
        if not cut:
            raise
        return use(TrecRankings(first_six, source=path, all_comments=True))


def run_id(path: str) -> str:
    """The run id in the last line that is no comment."""
    with opened(path) as stream:
        lines = _tail(stream).decode("utf-8", "replace").split("\n")
    for line in reversed(lines):
        fields = cut(line)
        if len(fields) >= 6 and not line.startswith("#"):
            return fields[5]
    raise DataError(
        f"{path}: no results in it, expected lines of topic, Q0, document, rank, score, run id."
        " Next: give the file of results that was meant."
    )


def _tail(stream: BinaryIO) -> bytes:
    """The end of the file; a compressed one has to be read through."""
    if isinstance(stream, io.BufferedReader) and stream.seekable():
        size = stream.seek(0, io.SEEK_END)
        stream.seek(max(0, size - HEAD))
        return stream.read()
    tail = b""
    while block := stream.read(HEAD):
        tail = (tail + block)[-HEAD:]
    return tail


def rankings_of(table: RankingTable) -> Rankings:
    """The scores of every document, topic by topic."""
    if table.score is None:
        raise DataError(f"{table.source}: there are no scores to sort by. Next: give results with scores.")
    rankings: Rankings = {}
    for topic, document, score in zip(table.query, table.doc, table.score.tolist(), strict=True):
        ranking = rankings.setdefault(topic, {})
        if document in ranking:
            raise DataError(
                f"{table.source}: topic {shorten(topic)} has document {shorten(document)} twice."
                " Next: keep one of the lines."
            )
        ranking[document] = score
    return rankings


def in_order(scores: Mapping[str, float], version: int, depth: int | None) -> list[str]:
    """The documents by score, equal ones by name: the order in which preferences are counted.

    >>> in_order({"b": 1.0, "a": 1.0, "c": 2.0}, 10, None)
    ['c', 'a', 'b']
    """
    precise = np.float32 if version == 9 else np.float64
    return sorted(scores, key=lambda document: (-precise(scores[document]), document))[:depth]
