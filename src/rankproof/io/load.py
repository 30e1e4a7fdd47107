"""Judgments and rankings from whatever they are given as: dicts, paths, data frames, tuples."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from rankproof.core.join import Rankings
from rankproof.core.judgments import Judgments
from rankproof.errors import DataError, shorten
from rankproof.io import beir
from rankproof.io.delimited import read_delimited
from rankproof.io.files import STDIN, check_path, name_of, read_bytes, read_head, text_of
from rankproof.io.frames import is_frame, judgments_from_frame, ranking_from_frame
from rankproof.io.guess import JUDGMENTS, RANKING, Wanted
from rankproof.io.jsonio import graded, read_json
from rankproof.io.mappings import MappingRankings, judgments_from_mapping
from rankproof.io.parquet import read_parquet
from rankproof.io.row_rankings import ranking_of
from rankproof.io.rows import Rows, judgments_of, notes_of
from rankproof.io.sniff import JSON, PARQUET, TREC_JUDGMENTS, TREC_RANKING, Format, sniff
from rankproof.io.trec import TrecRankings, read_qrels
from rankproof.io.tuples import read_tuples

T = TypeVar("T")
Source: TypeAlias = Any
"""A mapping, a path ("-" is standard input), a data frame, tuples, or what was loaded before."""


def load_judgments(data: Source) -> Judgments:
    """Judgments from a mapping, a path, a data frame, or tuples (query, document, grade).

    >>> load_judgments([("q1", "d1", 2), ("q1", "d2", 0)]).as_dict()
    {'q1': {'d1': 2.0, 'd2': 0.0}}
    """
    if isinstance(data, Judgments):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _judgments_at(data)
    if isinstance(data, Mapping):
        return judgments_from_mapping(data)
    if is_frame(data):
        return judgments_from_frame(data)
    if hasattr(data, "blocks"):
        raise DataError(f"judgments: got a ranking ({data.source}). Next: swap the two arguments.")
    return judgments_of(read_tuples(_iterable(data, "judgments"), JUDGMENTS, "judgments"))


def load_ranking(data: Source) -> Rankings:
    """Rankings from a mapping, a path, a data frame, or tuples (query, document, score).

    >>> load_ranking([("q1", "d1", 0.5), ("q1", "d2", 0.25)]).table().score
    array([0.5 , 0.25])
    """
    if hasattr(data, "blocks"):
        return data  # type: ignore[no-any-return]
    if isinstance(data, Judgments):
        raise DataError(f"ranking: got judgments ({data.source}). Next: swap the two arguments.")
    if isinstance(data, (str, os.PathLike)):
        return _ranking_at(data)
    if isinstance(data, Mapping):
        return MappingRankings(data)
    if is_frame(data):
        return ranking_from_frame(data)
    return ranking_of(read_tuples(_iterable(data, "ranking"), RANKING, "ranking"))


def _iterable(data: Source, what: str) -> Iterable[Any]:
    if isinstance(data, (bytes, bytearray)) or not isinstance(data, Iterable):
        raise DataError(
            f"{what}: got {shorten(data)} ({type(data).__name__}), expected a mapping, a path, a data frame "
            "or an iterable of tuples. Next: turn it into one of these."
        )
    return data


# --- files -------------------------------------------------------------------------------------


def _judgments_at(path: str | os.PathLike[str]) -> Judgments:
    if os.fspath(path) == STDIN:
        return _from_stdin(lambda where: _judgments_in(where, name_of(STDIN)))
    where, split = beir.split_of(Path(path))
    if not check_path(where).is_dir():
        return _judgments_in(where, str(path))
    file = beir.judgments_file(where, split)
    judgments = _judgments_in(file, str(file))
    notes = [*notes_of(judgments), beir.choice_note(where, file)]
    return replace(judgments, prepared={**judgments.prepared, "notes": notes})


def _ranking_at(path: str | os.PathLike[str]) -> Rankings:
    if os.fspath(path) == STDIN:
        return _from_stdin(lambda where: _ranking_in(where, name_of(STDIN)))
    if check_path(path).is_dir():
        raise DataError(f"{path}: a folder, expected a ranking. Next: give the path of a file.")
    return _ranking_in(Path(path), str(path))


def _judgments_in(path: Path, source: str) -> Judgments:
    kind = sniff(read_head(path), source)
    if kind == TREC_RANKING:
        raise _swapped(source, "a ranking (6 columns)", "judgments (4 columns)")
    if kind == TREC_JUDGMENTS:
        return read_qrels(path, source=source)
    if kind == PARQUET:
        return judgments_from_frame(read_parquet(path, JUDGMENTS, source), source)
    found = _content(path, kind, JUDGMENTS, source)
    if isinstance(found, Rows):
        return judgments_of(found)
    return judgments_from_mapping(graded(found, source), source)


def _ranking_in(path: Path, source: str) -> Rankings:
    kind = sniff(read_head(path), source)
    if kind == TREC_JUDGMENTS:
        raise _swapped(source, "judgments (4 columns)", "a ranking (6 columns)")
    if kind == TREC_RANKING:
        return TrecRankings(path, source=source)
    if kind == PARQUET:
        return ranking_from_frame(read_parquet(path, RANKING, source), source)
    found = _content(path, kind, RANKING, source)
    return ranking_of(found) if isinstance(found, Rows) else MappingRankings(found, source)


def _content(path: Path, kind: Format, wanted: Wanted, source: str) -> Rows | dict[str, Any]:
    text = text_of(read_bytes(path), source)
    if kind == JSON:
        return read_json(text, wanted, source)
    return read_delimited(text, kind.delimiter, wanted, source)


def _from_stdin(load: Callable[[Path], T]) -> T:
    """What standard input holds, put into a file first: it is looked at before it is read."""
    handle, name = tempfile.mkstemp(prefix="rankproof-")
    try:
        with os.fdopen(handle, "wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        loaded = load(Path(name))
    except BaseException:  # Ctrl-C too must leave no copy behind
        os.unlink(name)
        raise
    weakref.finalize(loaded, os.unlink, name)
    return loaded


def _swapped(source: str, got: str, expected: str) -> DataError:
    return DataError(
        f"{source}: this looks like {got}, expected {expected}. "
        "Next: swap the two arguments, or check which file this is."
    )
