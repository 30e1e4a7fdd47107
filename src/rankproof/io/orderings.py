"""Scores of systems from a file: `{system: score}`, a table of them, or what `evaluate` writes."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rankproof.core.names import parse
from rankproof.errors import DataError, RankproofError, UsageError, shorten
from rankproof.io.files import PathLike, name_of, read_bytes, text_of

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
