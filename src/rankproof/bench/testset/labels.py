"""Labels: who gave which document which grade, one line a decision, never rewritten.

A file of labels only grows: an undo is one more line. So nothing is lost when a session ends in the middle,
several people can write to one file, and their files can be put one behind the other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rankproof.bench.testset.pool import Item
from rankproof.errors import DataError, UsageError, shorten

GRADED, SKIPPED, UNDONE = "graded", "skipped", "undone"
BEGINNING = '{"query": '


@dataclass(frozen=True, slots=True)
class Label:
    """One decision of one person."""

    query: str
    document: str
    who: str
    what: str
    """graded, skipped or undone."""
    grade: int | None = None
    when: str = ""

    @property
    def item(self) -> Item:
        """What was decided on."""
        return Item(self.query, self.document)


Labels = dict[str, dict[Item, Label]]
"""What stands now, by person and item, in the order it was given."""


def standing(labels: Iterable[Label]) -> Labels:
    """What each person's decisions come to: the last on each item, undone ones left out."""
    found: Labels = {}
    for label in labels:
        own = found.setdefault(label.who, {})
        own.pop(label.item, None)
        if label.what != UNDONE:
            own[label.item] = label
    return found


def merged(labels: Labels) -> dict[str, dict[str, int]]:
    """One grade for each item: the one most people gave; of equally many, the lowest.

    >>> made = [Label("q", "d", who, GRADED, grade) for who, grade in (("ana", 2), ("ben", 0), ("eva", 2))]
    >>> merged(standing(made))
    {'q': {'d': 2}}
    """
    given: dict[Item, list[int]] = {}
    for own in labels.values():
        for item, label in own.items():
            if label.grade is not None:
                given.setdefault(item, []).append(label.grade)
    grades: dict[str, dict[str, int]] = {}
    for item, votes in given.items():
        grades.setdefault(item.query, {})[item.document] = max(sorted(set(votes)), key=votes.count)
    return grades


def read_labels(path: str | os.PathLike[str]) -> Iterator[Label]:
    """The decisions in a file, oldest first; none where there is no file yet.

    A line that begins as ours and does not end is what an interrupted write left behind: it is passed over.
    """
    if not Path(path).exists():
        return
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip() and (line.endswith("}") or not line.startswith(BEGINNING)):
            yield _label(line, f"{path}, line {number}")


def _text(path: str | os.PathLike[str]) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}. Next: name a file that can be read.") from error


def _label(line: str, where: str) -> Label:
    try:
        return _checked(json.loads(line))
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"{where}: got {shorten(line)}, expected a label: query, document, who, what, grade ({error}). "
            "Next: name a file that 'rankproof label' wrote."
        ) from error


def _checked(record: dict[str, Any]) -> Label:
    label = Label(**record)
    texts = (label.query, label.document, label.who)
    if not all(isinstance(each, str) for each in texts) or label.what not in (GRADED, SKIPPED, UNDONE):
        raise ValueError("a field of the wrong kind")
    if (label.what == GRADED) != (type(label.grade) is int):
        raise ValueError("a grade goes with what is graded, and with nothing else")
    return label


def write_label(path: str | os.PathLike[str], label: Label) -> None:
    """Add one decision to the file, safely on the disk before the next question is asked."""
    line = json.dumps(asdict(label), ensure_ascii=False) + "\n"
    try:
        with open(path, "a+b") as stream:
            stream.write(_mended(stream) + line.encode("utf-8", "surrogateescape"))
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}. Next: name a file that can be written.") from error


def _mended(stream: BinaryIO) -> bytes:
    """The end of a line that an interrupted write did not come to, so that ours begins on one of its own."""
    if stream.seek(0, os.SEEK_END) == 0:
        return b""
    stream.seek(-1, os.SEEK_END)
    return b"" if stream.read(1) == b"\n" else b"\n"
