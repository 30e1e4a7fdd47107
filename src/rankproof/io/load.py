"""Judgments and rankings from any input: dicts, paths, data frames, tuples."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import wraps
from itertools import islice
from numbers import Real
from pathlib import Path, PurePath
from typing import Any, ParamSpec, TypeAlias, TypeVar

from rankproof.core.judgments import Judgments
from rankproof.core.names import parse
from rankproof.core.table import Rankings
from rankproof.errors import DataError, RankproofError, UsageError, check_one_of, number_in, shorten, warn_caller
from rankproof.io import corpora
from rankproof.io.column_roles import JUDGMENTS, RANKING, Wanted
from rankproof.io.files import are_paths, check_path, is_pattern, name_of, read_bytes, read_head, text_of
from rankproof.io.formats import JSON, PARQUET, TREC_JUDGMENTS, TREC_RANKING, Format, read_delimited, sniff
from rankproof.io.frames import judgments_from_frame, judgments_in_parquet, ranking_from_frame, ranking_in_parquet
from rankproof.io.inputs import KEPT, PathLike, Pipe, columns_named, keep_pipe, read_side_by_side
from rankproof.io.jsonio import graded_rankings, read_json, read_tuples, rows_inside
from rankproof.io.mappings import MappingRankings, judgments_from_mapping
from rankproof.io.read import Row, rows_in
from rankproof.io.rows import Rows, judgments_of, ranking_of
from rankproof.io.trec import TrecRankings, read_qrels
from rankproof.io.trec.chunks import BadLine, check_lines
from rankproof.io.values import is_frame, library_of, unfit

P = ParamSpec("P")
R = TypeVar("R")
Source: TypeAlias = Any
"""A mapping, a path ("-" is standard input), a data frame, tuples, or what was loaded before."""
Columns: TypeAlias = Mapping[str, str] | str | None
"""The column of each role: `{"query": "search_term_id"}`, or "query=search_term_id,doc=product_id"."""
SYSTEMS = 100
"""Entries of a mapping that may be systems, and those paths of pipes."""


def with_columns(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb, whose argument `columns` names the columns of what it reads; it opens each pipe once."""

    @wraps(verb)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        given: Any = kwargs.get("columns")
        paths = list(_paths_in((*args, *kwargs.values())))
        known = KEPT.get()
        token = KEPT.set({} if known is None else known)
        try:
            with columns_named(given) if given else nullcontext():
                if len(paths) > 1:
                    read_side_by_side(paths)
                return verb(*args, **kwargs)
        finally:
            KEPT.reset(token)

    return wrapper


def _paths_in(arguments: Iterable[object]) -> Iterator[object]:
    """The possible paths among arguments: the arguments themselves, and the systems of a small mapping."""
    for each in arguments:
        if isinstance(each, str | os.PathLike):
            yield each
        elif type(each) is dict and len(each) <= SYSTEMS:
            yield from (value for value in each.values() if type(value) not in (dict, list))


def load_judgments(data: Source) -> Judgments:
    """Judgments from a mapping, a path, a data frame, or tuples (query, document, grade).

    >>> load_judgments([("q1", "d1", 2), ("q1", "d2", 0)]).as_dict()
    {'q1': {'d1': 2.0, 'd2': 0.0}}
    """
    data = rows_inside(data) if isinstance(data, dict) and len(data) == 1 else data
    if isinstance(data, Judgments):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _judgments_at(data)
    if isinstance(data, Mapping):
        return judgments_from_mapping(data)
    if is_frame(data):
        return replace(judgments_from_frame(data), library=library_of(data))
    if hasattr(type(data), "blocks"):  # frames of Spark Connect have every attribute, as a column
        raise DataError(f"judgments: got a ranking ({data.source}). Next: swap the two arguments.")
    return judgments_of(read_tuples(_iterable(data, "judgments"), JUDGMENTS, "judgments"))


def load_ranking(data: Source, damaged: str = "error") -> Rankings:
    """Rankings from a mapping, a path, a data frame, or tuples (query, document, score).

    `damaged` says what becomes of files of a folder that cannot be read: an "error", or left out ("skip").

    >>> load_ranking([("q1", "d1", 0.5), ("q1", "d2", 0.25)]).table().score
    array([0.5 , 0.25])
    """
    check_one_of("damaged", damaged, ("error", "skip"))
    found = _ranking(data)
    skips = damaged == "skip" and hasattr(found, "damaged")
    return replace(found, damaged=damaged) if skips else found  # type: ignore[type-var]


def _ranking(data: Source) -> Rankings:
    data = rows_inside(data) if isinstance(data, dict) and len(data) == 1 else data
    if hasattr(type(data), "blocks"):
        return data  # type: ignore[no-any-return]
    if isinstance(data, Judgments):
        raise DataError(f"ranking: got judgments ({data.source}). Next: swap the two arguments.")
    if isinstance(data, (str, os.PathLike)):
        return _ranking_at(data)
    if isinstance(data, Mapping):
        return MappingRankings(data)
    if is_frame(data):
        return ranking_from_frame(data)
    if are_paths(data):
        return _in_parts(data)
    # A connection, or a session, with the name of a table in it.
    if (
        isinstance(data, tuple)
        and len(data) == 2
        and isinstance(data[1], str)
        and hasattr(data[0], "execute" if not hasattr(data[0], "sql") else "sql")
    ):
        from rankproof.io.counted.engines import ranking_in_table  # few evaluations need it

        return ranking_in_table(*data, of_frame=ranking_from_frame)
    return ranking_of(read_tuples(_iterable(data, "ranking"), RANKING, "ranking"))


def load_counted(path: PathLike) -> Rankings:
    """Counted rows from a file (Parquet, CSV, TSV or JSON lines): what the query of `rankproof sql` gave."""
    from rankproof.io.counted import counted_rows

    source, columns = name_of(path), dict[str, list[Any]]()
    for number, (_, row) in enumerate(rows_in(path, headless=None)):
        if not isinstance(row, Mapping):
            raise DataError(f"{source}: rows without named columns. Next: write the rows with a header.")
        for name in row:
            columns.setdefault(name, [None] * number)
        for name, column in columns.items():
            column.append(row.get(name))
    return counted_rows(columns, source)


def _iterable(data: Source, what: str) -> Iterable[Any]:
    if isinstance(data, (bytes, bytearray)) or not isinstance(data, Iterable):
        expected = "a mapping, a path, a data frame or an iterable of tuples"
        raise unfit(what, data, expected, "turn it into one of these", typed=True)
    return data


def _judgments_at(path: PathLike) -> Judgments:
    source = _kept(path)
    if isinstance(source, Pipe):
        return _judgments_in(source, name_of(path))
    where, split = corpora.split_of(Path(path))
    folder = corpora.folder_at(check_path(where))
    if folder is None:
        return _judgments_in(where, str(path))
    file = corpora.judgments_file(folder, split)
    judgments = _judgments_in(file, str(file))
    return replace(judgments, notes=(*judgments.notes, corpora.choice_note(folder, file)))


def _ranking_at(path: PathLike) -> Rankings:
    source = _kept(path)
    if isinstance(source, Pipe):
        return _ranking_in(source, name_of(path))
    if is_pattern(path):
        return _in_parts(path)
    folder = corpora.folder_at(check_path(path))
    if folder is not None and corpora.is_beir(folder):
        what = "a BEIR folder" if Path(path).is_dir() else "a BEIR archive"
        raise DataError(f"{path}: {what}, expected a ranking. Next: give the path of a file.")
    if Path(path).is_dir():
        if not os.fspath(path):
            raise DataError("'': a path without a name, expected a ranking. Next: give the path of a file or a folder.")
        return _in_parts(path)
    return _ranking_in(Path(path), str(path))


def _in_parts(paths: Any) -> Rankings:
    from rankproof.io.split_rankings import parts_at  # most rankings are one file

    return parts_at(paths, load_ranking)


def _kept(path: PathLike) -> PathLike:
    """The path, or a pipe read to its end: what writes into several pipes may fill one after the other."""
    source = keep_pipe(path)
    return source.keep() if isinstance(source, Pipe) else source


def _judgments_in(path: PathLike, source: str) -> Judgments:
    kind = sniff(read_head(path), source)
    if kind == TREC_RANKING:
        raise _swapped(source, "a ranking (6 columns)", "judgments (4 columns)")
    if kind == TREC_JUDGMENTS:
        return replace(read_qrels(path, source=source), untyped=True)
    if kind == PARQUET:
        return judgments_in_parquet(path, source)
    found = _content(path, kind, JUDGMENTS, source)
    if isinstance(found, Rows):
        return replace(judgments_of(found), untyped=kind != JSON)
    return replace(judgments_from_mapping(graded_rankings(found, source), source), untyped=True)


def _ranking_in(path: PathLike, source: str) -> Rankings:
    kind = sniff(read_head(path), source)
    if kind == TREC_JUDGMENTS:
        raise _swapped(source, "judgments (4 columns)", "a ranking (6 columns)")
    if kind == TREC_RANKING:
        return TrecRankings(path, source=source)
    if kind == PARQUET:
        return ranking_in_parquet(path, source)
    found = _content(path, kind, RANKING, source)
    if isinstance(found, Rows):
        return replace(ranking_of(found), untyped=kind != JSON)
    return MappingRankings(found, source, untyped=True)


def _content(path: PathLike, kind: Format, wanted: Wanted, source: str) -> Rows | dict[str, Any]:
    content = read_bytes(path)
    if kind != JSON:
        try:
            check_lines(content)
        except BadLine as bad:
            raise DataError(f"{source}, line {bad.line + 1}: {bad.found}. Next: correct the line or drop it.") from bad
    text = text_of(content, source)
    return read_json(text, wanted, source) if kind == JSON else read_delimited(text, kind.delimiter, wanted, source)


def _swapped(source: str, got: str, expected: str) -> DataError:
    return DataError(
        f"{source}: this looks like {got}, expected {expected}. "
        "Next: swap the two arguments, or check which file this is."
    )


def load_rankings(rankings: Any, damaged: str = "error") -> dict[str, Rankings]:
    """The rankings by name; a list is named by its files, or ranking 1, ranking 2, ..."""
    named = systems_by_name(rankings if isinstance(rankings, Mapping) else _named(rankings), "rankings", 1)
    loaded = {name: load_ranking(each, damaged) for name, each in named.items()}
    return {  # one that is in memory has no other name than the one given here
        name: replace(each, source=f"ranking {name!r}") if isinstance(each, MappingRankings) else each
        for name, each in loaded.items()
    }


def systems_by_name(systems: Any, verb: str, least: int = 2) -> dict[str, Any]:
    """The systems with their names as text; an error if they are fewer, or one ranking in place of several.

    >>> systems_by_name({"q1": ["a", "b"], "q2": ["c"]}, "compare")
    Traceback (most recent call last):
    ...
    rankproof.errors.UsageError: compare: got one ranking, expected 2 or more systems by name. Next: write {'before': \
ranking, 'after': other}; evaluate(judgments, ranking) scores one.
    """
    named = isinstance(systems, Mapping)
    if named and len(systems) >= least and not any(map(_is_of_a_query, islice(systems.values(), 2))):
        by_name = {str(name): each for name, each in systems.items()}
        if "" in by_name or len(by_name) < len(systems):
            raise UsageError(f"{verb}: got the names {shorten([*systems])}, expected a text each. Next: give those.")
        return by_name
    empty = systems is None or (isinstance(systems, Mapping | list | tuple) and not systems)
    one = not empty and (not named or any(map(_is_of_a_query, systems.values())))
    got = "one ranking" if one else "none" if empty else str(len(systems))
    if one and isinstance(systems, list | tuple) and not isinstance(systems[0], list | tuple | str | os.PathLike):
        got = f"a list of {len(systems)}"
    # Rankings that are fused or pooled are not scored.
    other = "; evaluate(judgments, ranking) scores one" if not empty and verb != "rankings" else ""
    raise UsageError(
        f"{verb}: got {got}, expected {least} or more systems by name. Next: write {{'before': "
        f"ranking, 'after': other}}{other}."
    )


def _is_of_a_query(found: Any) -> bool:
    """Whether this is what a ranking holds for one query: documents, where a system has queries or rows."""
    if isinstance(found, Mapping):
        return isinstance(next(iter(found.values()), None), Real)
    first = found[0] if isinstance(found, list | tuple) and found and not are_paths(found) else None
    scored = isinstance(first, list | tuple) and len(first) == 2 and isinstance(first[1], float)
    return scored or isinstance(first, str)


def warn_of_left_out(rankings: Iterable[Rankings]) -> None:
    """Name the damaged files that a ranking was read without, if no audit does."""
    for each in rankings:
        for why in dict.fromkeys(getattr(each, "left_out", ())):
            warn_caller(f"left out: {why}")


def _named(rankings: Any) -> dict[str, Any]:
    if isinstance(rankings, (str, os.PathLike)) or not isinstance(rankings, Iterable):
        raise UsageError(
            f"rankings: got {shorten(rankings)}, expected {{name: ranking}} or a list of rankings."
            " Next: give one of these."
        )
    listed = list(rankings)
    names = [PurePath(os.fspath(each)).name if isinstance(each, (str, os.PathLike)) else "" for each in listed]
    if "" in names or len(set(names)) < len(names):
        names = [f"ranking {number}" for number in range(1, len(listed) + 1)]
    return dict(zip(names, listed, strict=True))


SYSTEM = ("ranking", "system", "run", "model", "name")
SCORE = ("mean", "score", "value")
"""The fields of a record in which a system and its score are looked for."""


def read_ordering(path: PathLike, measure: str | None = None) -> dict[str, float]:
    """`{system: score}` from lines SYSTEM SCORE, CSV, JSON or JSON lines; `measure` picks one of several."""
    name = name_of(path)
    pair = re.compile(r"[\s,;]+(?=\S+$)").split
    rows = list(rows_in(path, of_object=_systems, headless=lambda line, _: tuple(pair(line.strip())), header=SYSTEM))
    found: dict[str, float] = {}
    for where, row in _of_measure(rows, measure, name):
        system, score = _pair(row, where, measure)
        if found.setdefault(system, score) != score:
            raise DataError(
                f"{where}: a second score of {shorten(system)}, expected one a system. Next: keep one of them."
            )
    if not found:
        raise DataError(
            f"{name}: no scores in it, expected a line SYSTEM<TAB>SCORE for each system."
            " Next: give the file that was meant."
        )
    return found


def _systems(whole: dict[str, Any], name: str) -> Iterator[Row]:
    """`{system: score}`, or a single record."""
    if any(field in whole for field in SYSTEM):
        return iter([Row(f"{name}, line 1", whole)])
    return (Row(f"{name}, {shorten(key)}", (key, value)) for key, value in whole.items())


def _of_measure(rows: list[Row], measure: str | None, name: str) -> list[Row]:
    """The rows of the given measure, over all queries; by default of the only measure."""
    records = [each for each in rows if not (isinstance(each[1], Mapping) and each[1].get("slice"))]
    told = {_canonical(row["measure"]) for _, row in records if isinstance(row, Mapping) and "measure" in row}
    if not told:
        return records
    if measure is None and len(told) > 1:
        raise UsageError(
            f"{name}: scores by several measures, {', '.join(sorted(told))}. Next: name the one that is meant."
        )
    wanted = next(iter(told)) if measure is None else _canonical(measure)
    kept = [each for each in records if _canonical(each[1].get("measure", "")) == wanted]
    if not kept:
        raise UsageError(
            f"{name}: no scores by {wanted}, only by {', '.join(sorted(told))}. Next: choose one of these."
        )
    return kept


def _canonical(measure: Any) -> str:
    """The canonical name of a measure we know; another's is left as it is."""
    try:
        return parse(str(measure)).name
    except RankproofError:
        return str(measure)


def _pair(row: Any, where: str, measure: str | None) -> tuple[str, float]:
    pair = row
    if isinstance(row, Mapping):
        fields = (measure or SCORE[0], *SCORE)
        system = next((row[each] for each in SYSTEM if row.get(each) not in (None, "")), None)
        pair = (system, next((row[each] for each in fields if row.get(each) is not None), None))
    if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] is None:
        raise unfit(where, row, "a system and its score", "correct the line")
    number = number_in(pair[1])
    if not math.isfinite(number):
        if len(str(pair[0]).split()) == 5:  # the columns of a ranking before its last
            raise unfit(where, " ".join(pair), "a system and its score", "give scores, or two rankings with judgments")
        raise unfit(where, pair[1], "a finite number", "correct the score", role="the score")
    return str(pair[0]), number
