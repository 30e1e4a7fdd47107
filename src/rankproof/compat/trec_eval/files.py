"""The rarer files of trec_eval: judgments by several judges, preferences, z-scores.

Ordinary judgments and results are read by `rankproof.io`; these files are small and read line by line.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, NamedTuple, TypeAlias, TypeVar

import numpy as np

from rankproof.core.table import RankingTable
from rankproof.errors import DataError, shorten
from rankproof.io.files import HEAD, opened, read_bytes, text_of
from rankproof.io.formats import fields as cut
from rankproof.io.trec import TrecRankings


class Judged(NamedTuple):
    """One judgment of one judge; `part` tells the partial orders of a judge apart."""

    topic: str
    judge: str
    part: str
    document: str
    level: float


class Norm(NamedTuple):
    """Mean and standard deviation of a measure for a topic over some reference runs."""

    mean: float
    deviation: float


def read_preferences(path: str, *, parts: bool) -> list[Judged]:
    """``topic judge [part] document level`` lines; `parts` says whether the third field is there.

    A judgment given twice is kept once; two that contradict each other are an error.
    """
    names = ("topic", "judge", "part", "document", "level")
    known: dict[tuple[str, str, str, str], tuple[float, int]] = {}
    for number, fields in _lines(path, names if parts else (*names[:2], *names[3:])):
        topic, judge, *part, document, level = fields
        key = (topic, judge, part[0] if part else "", document)
        given = _number(path, number, "level", level)
        level_before, line_before = known.setdefault(key, (given, number))
        if level_before != given:
            raise DataError(
                f"{path}, lines {line_before} and {number}: document {shorten(document)} of topic "
                f"{shorten(topic)} is judged twice, {level_before:g} and {given:g}."
                " Next: keep one of the lines."
            )
    return [Judged(*key, level) for key, (level, _) in known.items()]


def read_zscores(path: str) -> dict[tuple[str, str], Norm]:
    """``topic measure mean deviation`` lines."""
    norms = {}
    for number, (topic, measure, mean, deviation) in _lines(path, ("topic", "measure", "mean", "deviation")):
        given = [_number(path, number, "mean", mean), _number(path, number, "deviation", deviation)]
        norms[topic, measure] = Norm(*given)
    return norms


def _lines(path: str, names: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line with its number; blank lines and comments are passed over."""
    for number, line in enumerate(_text(path).split("\n"), 1):
        fields = cut(line)
        if not fields or line.startswith("#"):
            continue
        if len(fields) != len(names):
            raise DataError(
                f"{path}, line {number}: got {len(fields)} fields in {shorten(line)}, "
                f"expected {len(names)}: {' '.join(names)}."
                " Next: mend the line, or name another format by -R."
            )
        yield number, fields


def _text(path: str) -> str:
    text = text_of(read_bytes(path), path)
    if not text.strip():
        raise DataError(f"{path}: the file is empty. Next: give the file that was meant.")
    return text


def _number(path: str, line: int, what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(
            f"{path}, line {line}: the {what} is {text!r}, expected a number. Next: mend the line."
        )
    return value


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
