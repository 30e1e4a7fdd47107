"""The rarer files of trec_eval: judgments by several judges, preferences, z-scores.

Ordinary judgments and results are read by `rankproof.io`; these files are small and read line by line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from rankproof.errors import DataError, shorten
from rankproof.io.files import read_bytes, text_of
from rankproof.io.sniff import fields as cut


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
