"""Ids are text; integers are taken where both sides have them. Everything else is an error."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any

from rankproof.core.judgments import Judgments
from rankproof.core.names import parse
from rankproof.errors import DataError, RankproofError, UsageError, shorten
from rankproof.io.files import PathLike, name_of, read_bytes, text_of


def are_integers(ids: Iterable[Any], what: str) -> bool | None:
    """Whether the ids are whole numbers (True) or text (False); None where there are none.

    >>> are_integers(["d1", "d2"], "documents"), are_integers([7, 8], "documents")
    (False, True)
    """
    known: Collection[Any] = ids if isinstance(ids, (list, tuple)) else list(ids)
    if not known:
        return None
    try:
        # Joining is the fastest loop over a list that refuses whatever is not text.
        "".join(known)
    except TypeError:
        _check_all_integers(known, what)
        return True
    return False


PROBED = 8192
"""Dicts up to this length are known by their size in memory."""


def keys_are_integers(tables: Sequence[dict[Any, Any]], what: str) -> bool | None:
    """`are_integers` of the keys of many dicts.

    >>> keys_are_integers([{"d1": 1}, {"d2": 1}], "documents")
    False
    """
    if _stored_as_text(tables) and any(tables):
        return False
    return are_integers(chain.from_iterable(tables), what)


def _stored_as_text(tables: Sequence[dict[Any, Any]]) -> bool:
    """Whether the interpreter itself vouches that all keys are text.

    CPython stores a dict that never had a key of another type in narrower entries, without hashes. So its
    size in memory tells, and not one of millions of keys has to be touched.
    """
    return (
        sys.implementation.name == "cpython" and set(map(dict.__sizeof__, tables)) <= _sizes_of_text_dicts()
    )


@cache
def _sizes_of_text_dicts() -> set[int]:
    """The sizes that dicts have when all their keys are text, and never otherwise."""
    text: dict[str, None] = {}
    other: dict[int, None] = {}
    sizes: tuple[set[int], set[int]] = ({text.__sizeof__()}, set())
    for number in range(PROBED):
        text[str(number)] = other[number] = None
        sizes[0].add(text.__sizeof__())
        sizes[1].add(other.__sizeof__())
    return sizes[0] - sizes[1]


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy, and not a truth value.

    >>> is_integer(7), is_integer(7.0), is_integer(True)
    (True, False, False)
    """
    return hasattr(type(value), "__index__") and not isinstance(value, bool) and not hasattr(value, "__len__")


def is_id(value: Any) -> bool:
    """Whether a value can be an id: text, or a whole number."""
    return isinstance(value, str) or is_integer(value)


def _check_all_integers(ids: Collection[Any], what: str) -> None:
    for each in ids:
        if not is_id(each):
            raise DataError(
                f"{what}: got {shorten(each)} ({type(each).__name__}) as an id, expected text. "
                "Next: give every id as text."
            )
    text = [each for each in ids if isinstance(each, str)]
    if text:
        number = next(each for each in ids if not isinstance(each, str))
        raise DataError(
            f"{what}: got ids of two kinds, text ({shorten(text[0])}) and integers ({number}), expected one. "
            "Next: give every id as text."
        )


def check_same_kind(ours: bool | None, judged: bool | None, what: str) -> None:
    """The ids of rankings and judgments must both be text, or both integers."""
    if ours is not None and judged is not None and ours != judged:
        kind = {True: "integers", False: "text"}
        raise DataError(
            f"{what}: got ids that are {kind[ours]} where the judgments have {kind[judged]}. "
            "Next: give both as text, written the same way; 'rankproof convert' writes a file whose ids are text, "
            "like convert judgments.parquet judgments.qrels."
        )


def plain_digits(ids: Iterable[str]) -> bool:
    """Whether every id is a whole number as it is printed: no zeros before it, no sign but a minus.

    >>> plain_digits(["7", "120"]), plain_digits(["007"]), plain_digits(["d7"])
    (True, False, False)
    """
    return all(map(re.compile("0|-?[1-9][0-9]*").fullmatch, ids))


def as_text(judgments: Judgments) -> Judgments:
    """The judgments for rankings whose ids are text, as retrievers and searches give them."""
    return replace(judgments, integer_ids=(False, False))


def meeting(
    judgments: Judgments,
    ours: tuple[bool | None, bool | None],
    digits: Callable[[int], bool] = lambda role: False,
) -> Judgments:
    """The judgments with ids of the ranking's kind, where one side is a file that has no types and all is digits.

    `ours` says whether queries and documents of the ranking are integers; `digits` whether its queries (0) or
    documents (1) are plain digits of such a file.
    """
    kinds = list(judged_kinds(judgments))
    texts = (judgments.query_ids, judgments.doc_ids)
    for role, kind in enumerate(kinds):
        if ours[role] and kind is False and judgments.untyped and plain_digits(texts[role]):
            kinds[role] = True
        elif ours[role] is False and kind and digits(role):
            kinds[role] = False
    if kinds == list(judged_kinds(judgments)):
        return judgments
    return replace(judgments, integer_ids=(bool(kinds[0]), bool(kinds[1])))


def judged_kinds(judgments: Judgments) -> tuple[bool | None, bool | None]:
    """Whether the judgments came with integers as ids of queries, and of documents; None: no ids."""
    queries, docs = judgments.integer_ids
    return (queries if judgments.query_ids else None), (docs if len(judgments.doc_ids) else None)


def as_given(ids: Sequence[str], integers: bool | None) -> Sequence[Any]:
    """The ids as the user wrote them: back to integers where they were such."""
    return list(map(int, ids)) if integers else ids


SYSTEM = ("ranking", "system", "run", "model", "name")
SCORE = ("mean", "score", "value")
"""The fields of a record in which a system and its score are looked for."""

Row = tuple[str, Any]
"""Where it stands, for messages; a record or a pair."""


def read_ordering(path: PathLike, measure: str | None = None) -> dict[str, float]:
    """`{system: score}` from lines SYSTEM SCORE, CSV, JSON or JSON lines; `measure` picks one of several."""
    name = name_of(path)
    text = text_of(read_bytes(path), name)
    rows = list(_json(text, name) if text.lstrip()[:1] in ("{", "[") else _lines(text, name))
    found: dict[str, float] = {}
    for where, row in _of_measure(rows, measure, name):
        system, score = _pair(row, where, measure)
        if found.setdefault(system, score) != score:
            raise DataError(
                f"{where}: a second score of {shorten(system)}, expected one a system."
                " Next: keep one of them."
            )
    if not found:
        raise DataError(
            f"{name}: no scores in it, expected a line SYSTEM<TAB>SCORE for each system."
            " Next: give the file that was meant."
        )
    return found


def _json(text: str, name: str) -> Iterator[Row]:
    """The records of one JSON value, or of one value a line."""
    try:
        whole = json.loads(text)
    except ValueError:
        yield from _json_lines(text, name)
        return
    if isinstance(whole, Mapping) and not any(field in whole for field in SYSTEM):
        yield from ((f"{name}, {shorten(key)}", (key, value)) for key, value in whole.items())
    else:
        records = whole if isinstance(whole, list) else [whole]
        yield from ((f"{name}, record {i}", record) for i, record in enumerate(records, start=1))


def _json_lines(text: str, name: str) -> Iterator[Row]:
    for number, line in enumerate(text.splitlines(), start=1):
        where = f"{name}, line {number}"
        if line.strip():
            try:
                yield where, json.loads(line)
            except ValueError as error:
                raise DataError(f"{where}: not JSON: {error}. Next: write one record a line.") from error


def _lines(text: str, name: str) -> Iterator[Row]:
    """Records under a heading that names their columns, else a system and a score a line."""
    lines = [(i, line) for i, line in enumerate(text.splitlines(), start=1) if line.strip()]
    lines = [(i, line) for i, line in lines if not line.startswith("#")]
    delimiter = "\t" if lines and "\t" in lines[0][1] else ","
    heading = next(csv.reader([lines[0][1]], delimiter=delimiter)) if lines else []
    known = len(heading) > 1 and heading[0] in SYSTEM
    for i, line in lines[known:]:
        where = f"{name}, line {i}"
        if known:
            cells = next(csv.reader([line], delimiter=delimiter))
            yield where, dict(zip(heading, cells, strict=False))
        else:
            yield where, tuple(part.strip() for part in re.split(r"[\s,;]+(?=\S+\s*$)", line.strip()))


def _of_measure(rows: list[Row], measure: str | None, name: str) -> list[Row]:
    """The rows of the measure asked for, over all queries; the only measure where none is asked for."""
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
    if isinstance(row, Mapping):
        fields = (*((measure,) if measure else ()), *SCORE)
        system = next((row[each] for each in SYSTEM if row.get(each) not in (None, "")), None)
        row = (system, next((row[each] for each in fields if row.get(each) is not None), None))
    if not isinstance(row, tuple) or len(row) != 2 or row[0] is None:
        raise DataError(f"{where}: got {shorten(row)}, expected a system and its score. Next: mend the line.")
    return str(row[0]), _number(row[1], where)


def _number(value: Any, where: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(
            f"{where}: got {shorten(value)} as the score, expected a finite number. Next: mend the score."
        )
    return number
