"""The progress of a run, and its remaining time, on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, time
from typing import Any, TextIO

FIRST = 1.0
"""Seconds after which a person wants to know what is going on."""
EVERY = {True: 0.25, False: 10.0}
"""Seconds between two reports: on a terminal, where a line is written over, and elsewhere."""
LIVE = "RANKPROOF_LIVE"
"""The variable of the environment that names a folder in which runs write how far they are, for the app to show."""


class LiveFile:
    """What a run tells of itself while it runs, line by line, if the environment names a folder for it."""

    def __init__(self, what: str, ending: str) -> None:
        self._stream = None
        folder = os.environ.get(LIVE)
        if folder:
            name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in what)[:80]
            place = Path(folder, f"{name}-{os.getpid()}{ending}")
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                self._stream = open(place, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
            except OSError as error:
                sys.stderr.write(f"{place}: {error.strerror}, so nothing is shown of this run while it runs.\n")

    def __bool__(self) -> bool:
        return self._stream is not None

    def write(self, records: Iterable[dict[str, Any]]) -> None:
        """Add lines, so that others can read them at once."""
        if self._stream is not None:
            import json  # imported here, as every command loads this module and few runs write lines

            self._stream.write("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records))
            self._stream.flush()

    def close(self) -> None:
        """Nothing more is written."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


UNDER_WAY: dict[str, Callable[[], float]] = {}
"""The parts of the work that are under way, the innermost last, and what tells the share of each that is done.

It is asked by whoever shows it, so that the work itself loses no time.
"""


@contextmanager
def under_way(part: str, share: Callable[[], float]) -> Iterator[None]:
    """While this lasts, the share of this part of the work can be shown."""
    UNDER_WAY[part] = share
    try:
        yield
    finally:
        UNDER_WAY.pop(part, None)


def draw_in_lots(draws: int, at_once: int) -> Iterator[int]:
    """How many to draw at a time, at most `at_once`, until all are drawn; the share that was drawn can be shown.

    >>> list(draw_in_lots(10, 4))
    [4, 4, 2]
    >>> [share_in_words("scoring") for _ in draw_in_lots(4, 1)][1:3]
    ['scoring ... drawing, 25 %', 'scoring ... drawing, 50 %']
    """
    done, size = 0, max(1, at_once)
    with under_way("drawing", lambda: done / draws):
        for done in range(0, draws, size):
            yield min(size, draws - done)


def share_in_words(what: str) -> str:
    """What is being done, with the share of its innermost part; that alone while a Progress tells of it.

    >>> share_in_words("scoring")
    'scoring ...'
    """
    for part, share in [] if Progress.shown else list(UNDER_WAY.items())[-1:]:
        try:
            return f"{what}{'' if part == what else f' ... {part}'}, {100 * min(1.0, share()):.0f} %"
        except (OSError, ValueError, ZeroDivisionError):  # a file that is closed by now, a pipe, an empty file
            break
    return f"{what} ..."


class Progress:
    """Tells of a run that takes longer than a moment: a line that moves on a terminal, else now and then one."""

    shown = False
    """Whether one of them writes its line now."""

    def __init__(self, what: str, total: int | None, stream: TextIO | None = None, *, noun: str = "questions") -> None:
        self._what = what
        self._total = total
        self._noun = noun
        self._stream = sys.stderr if stream is None else stream
        self._moving = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._began = monotonic()
        self._next = self._began + FIRST
        self._told = False
        self._known: int | None = None
        self._live = LiveFile(what, ".progress.jsonl")
        self._written = 0.0
        self._last: dict[str, Any] = {}

    def tell(self, done: int, failed: int, more: str = "") -> None:
        """Say how far it is, if it is time to; what was done at the first call took no time."""
        now = monotonic()
        self._known = done if self._known is None else self._known
        if self._live:
            # Write down how far it is, a few times a second.
            counts = {"done": done, "total": self._total, "failed": failed, "more": more}
            self._last = {"what": self._what, "noun": self._noun, "at": time(), **counts}
            if now - self._written >= EVERY[True]:
                self._written = now
                self._live.write([self._last])
        if now < self._next:
            return
        gained = done - self._known
        self._next = now + (EVERY[self._moving] if gained > 0 else FIRST)
        self._told = Progress.shown = True
        left = (now - self._began) / gained * ((self._total or done) - done) if gained > 0 else None
        line = progress_line(self._what, done, self._total, failed, left, self._noun) + more
        self._stream.write(f"\r\x1b[K{line}" if self._moving else f"{line}\n")
        self._stream.flush()

    def close(self) -> None:
        """Take the moving line away."""
        Progress.shown = False
        if self._live:
            self._live.write([{**self._last, "what": self._what, "at": time(), "ended": True}])
            self._live.close()
        if self._told and self._moving:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def is_told(wanted: bool | None) -> bool:
    """Whether to tell of a run: if that was asked for, else where a person, or the app, looks at it."""
    return sys.stderr.isatty() or LIVE in os.environ if wanted is None else wanted


def progress_line(
    what: str, done: int, total: int | None, failed: int, left: float | None, noun: str = "questions"
) -> str:
    """One line of progress, with the seconds that are left where that is known.

    >>> progress_line("keyword", 50, 200, 1, 90.0)
    'keyword: 50 of 200 questions, 1 failed, about 1 min 30 s to go'
    >>> progress_line("keyword", 50, None, 0, None)
    'keyword: 50 questions'
    """
    wrong = f", {failed} failed" if failed else ""
    if total is None:
        return f"{what}: {done} {noun}{wrong}"
    to_go = f", about {_duration(left)} to go" if left is not None and done < total else ""
    return f"{what}: {done} of {total} {noun}{wrong}{to_go}"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
