"""How far the judging of all samples is, told while judges work."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Sized
from pathlib import Path
from typing import Any, Protocol

from rankproof.judging.verdicts import Ask

LINES = (".jsonl", ".ndjson")
"""Files with one sample a line, so that counting is cheap."""
CHUNK = 1 << 20


class Tell(Protocol):
    """Told how many samples are done, or which share of them, and what else there is to say."""

    def __call__(self, done: float, more: str = "") -> None:
        """Take it down, or show it."""


def count_of(source: Any) -> int | None:
    """How many samples a source holds, as far as that is known without reading them.

    >>> count_of([{"query": "a"}, {"query": "b"}]), count_of(iter([])), count_of("samples.parquet")
    (2, None, None)
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return _lines(path) if path.suffix.lower() in LINES and path.is_file() else None
    return len(source) if isinstance(source, Sized) else None


def _lines(path: Path) -> int:
    """The lines of a file, the last one too if it has no end."""
    found, last = 0, b"\n"
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            found += chunk.count(b"\n")
            last = chunk[-1:]
    return found + (last != b"\n")


class Watched(Sequence[Sequence[Ask]]):
    """Groups of pairs that tell which share of them was taken, or whose judge tells that by `tell`."""

    def __init__(self, groups: Sequence[Sequence[Ask]], tell: Tell, judge_tells: bool = False) -> None:
        self._groups = groups
        self._judge_tells = judge_tells
        self.tell = tell

    def __len__(self) -> int:
        return len(self._groups)

    def __getitem__(self, place: Any) -> Any:
        return self._groups[place]

    def __iter__(self) -> Iterator[Sequence[Ask]]:
        for taken, group in enumerate(self._groups):
            if not self._judge_tells:
                self.tell(taken / len(self._groups))
            yield group
