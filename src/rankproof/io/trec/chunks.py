"""The bytes of a run in chunks that end where a query ends."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path, PurePath
from queue import SimpleQueue
from threading import Lock, Semaphore
from typing import BinaryIO, NamedTuple, TypeVar

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.numbers import for_face

SIZE = 1 << 21
"""How many bytes are read at once: the arrays made of them should stay in the processor's cache."""
PAD = 16
"""Unused bytes before and after the text, so that words of eight bytes can be taken anywhere."""
WHOLE = 4 * SIZE
"""The ranking of a query that takes more is handed out in several chunks."""
LARGE = 30 << 20
TAIL = 1 << 15
"""How far back the end of the last query is searched at first."""
FEW_LINES = 1 << 11
"""How many bytes are searched at once for the end of a line."""
MANY = 1 << 12
"""From this many words on it pays to take them by twos."""
NEWLINE = 10
LINE = 1 << 24
"""The longest line that is read: a longer one is not a text, and splitting it takes many times its size."""
BOM = b"\xef\xbb\xbf"


class BadLine(Exception):
    """A line cannot be read; the caller, which knows the file, makes a DataError of it."""

    def __init__(self, line: int, found: str) -> None:
        super().__init__(found)
        self.line = line
        self.found = found

    def advice(self, source: str, ending: str) -> str:
        """What to do; if not even the first line has the columns, the file is in another format."""
        if self.line or "columns, expected" not in self.found or not os.path.isfile(source):
            return "correct the line or drop it"
        made = f"{PurePath(source).stem}{ending}"
        how = for_face(f"convert({source!r}, {made!r})", f"rankproof convert {shlex.join((source, made))}")
        return f"correct the line or drop it; if this is no TREC file, make one of it: {how}"


class Chunk(NamedTuple):
    """Some whole lines of text, with room around them."""

    buffer: Array
    """The bytes: PAD of anything, the text, at least PAD of anything."""
    size: int
    """How long the text is; its last byte is a newline."""
    numbers: Array | None = None
    """The line numbers, for lines that do not just follow each other in the source."""
    goes_on: bool = False
    """Whether the query of its last line may go on in the next chunk, as one of many megabytes does."""

    @property
    def text(self) -> Array:
        """The text without what is around it."""
        return self.buffer[PAD : PAD + self.size]

    @property
    def lines(self) -> int:
        """How many lines the text has."""
        return int(np.count_nonzero(self.text == NEWLINE))

    def texts(self, begin: Array, end: Array, errors: str = "strict") -> list[str]:
        """What stands from some places of the buffer to others, as text."""
        raw, places = self.buffer.data, zip(begin.tolist(), end.tolist(), strict=True)
        return [str(raw[a:b], "utf-8", errors) for a, b in places]

    def words(self, at: Array) -> Array:
        """Eight bytes from each place of the buffer on, as one number whose lowest byte is the first.

        Of many it is a third faster to put each together from the two aligned words that it lies in. The last bytes of
        the buffer, of which there may be no whole word, are padding.
        """
        aligned: Array = self.buffer[: len(self.buffer) & -8].view("<u8")
        if len(at) < MANY or not aligned.flags.aligned:
            view: Array = np.ndarray((len(self.buffer) - 7,), "<u8", self.buffer.data, strides=(1,))
            return view[at]
        word = at >> 3
        bits = (at & 7).astype(np.uint64)
        bits <<= np.uint64(3)
        low = aligned.take(word, mode="wrap")
        word += 1
        high = aligned.take(word, mode="wrap")
        low >>= bits
        bits ^= np.uint64(63)
        high <<= np.uint64(1)  # and 63 - bits more: by 64 at once nothing is defined
        high <<= bits
        low |= high
        return low


def chunk_of(content: bytes, numbers: Array | None = None) -> Chunk:
    """A chunk with just this content."""
    content = content.removeprefix(BOM)
    end = b"" if content.endswith(b"\n") or not content else b"\n"
    buffer = np.frombuffer(b"".join([bytes(PAD), content, end, bytes(PAD)]), dtype=np.uint8)
    return Chunk(buffer, len(content) + len(end), numbers)


def read_chunks(stream: BinaryIO) -> Iterator[Chunk]:
    """The content of a stream, cut where a line's query is another than that of the line before.

    Only a query of more than WHOLE is cut in between, and its chunks say that it goes on. The line of an error is
    counted from the end of the last chunk.
    """
    keep_freed_memory()
    kept = stream.read(len(BOM)).removeprefix(BOM)
    goes_on = False
    while True:
        buffer = np.empty(PAD + len(kept) + max(SIZE, len(kept)) + 1 + PAD, dtype=np.uint8)
        text = buffer.data[PAD : len(buffer) - PAD]
        text[: len(kept)] = kept
        size, kept = len(kept), b""  # of a ranking of some megabytes it is as much as the text itself
        size += _fill(stream, text[size:-1])
        if size > LINE:
            _check_line(buffer[PAD : PAD + size])
        if size < len(text) - 1:
            break
        cut = _last_cut(text[:size])
        if cut:
            goes_on = False
        elif goes_on or size > WHOLE:
            cut = _newline_before(text, 0, size) + 1
            goes_on = cut > 0 or goes_on
        kept = bytes(text[cut:size])
        whole = Chunk(buffer, cut, goes_on=goes_on)
        yield from _small(whole) if goes_on or not cut else [whole]
    if size and text[size - 1] != NEWLINE:
        text[size] = NEWLINE
        size += 1
    if size:
        yield Chunk(buffer, size)


def _small(chunk: Chunk) -> Iterator[Chunk]:
    """The lines of a chunk, if there are any, in chunks of about SIZE, which take no copy."""
    begin = 0
    while begin < chunk.size:
        end = chunk.size
        if begin + SIZE < end:
            end = _next_newline(chunk.text.data, begin + SIZE, end) + 1
        yield chunk._replace(buffer=chunk.buffer[begin : end + 2 * PAD], size=end - begin)
        begin = end


def whole_queries(pieces: Iterator[Chunk]) -> Iterator[Iterator[Chunk]]:
    """Chunks in groups, so that no query goes on in the next group; each group must be used up before the next.

    Nearly every group is one chunk.
    """

    def others(chunk: Chunk) -> Iterator[Chunk]:
        while chunk.goes_on and (after := next(pieces, None)) is not None:
            chunk = after
            yield chunk

    return (chain([first], others(first)) for first in pieces)


def _check_line(text: Array) -> None:
    """Refuse a text that ends in a line longer than lines are."""
    if not (text[-LINE:] == NEWLINE).any():
        line = int(np.count_nonzero(text == NEWLINE))
        raise BadLine(line, f"it is longer than {LINE >> 20} MiB, expected a line of text")


def keep_freed_memory() -> None:
    """Have the C library keep what is freed, as far as a few megabytes go.

    By default glibc returns arrays of a megabyte to the system at once and gets them back page by page: a
    third of the whole time. Once it has seen a large piece freed it keeps pieces up to that size. The piece
    itself is never touched, so it costs nothing.
    """
    np.empty(LARGE, dtype=np.uint8)


def _fill(stream: BinaryIO, room: memoryview) -> int:
    """Read until the room is full or the stream has ended; how much was read."""
    filled = 0
    while filled < len(room):
        got = stream.readinto(room[filled:])  # type: ignore[attr-defined]
        if not got:
            break
        filled += got
    return filled


def check_lines(content: bytes) -> None:
    """Refuse content with a line longer than lines are."""
    begin = 0
    while len(content) - begin > LINE:
        end = content.rfind(b"\n", begin, begin + LINE + 1)
        if end < 0:
            _check_line(np.frombuffer(content, dtype=np.uint8, count=begin + LINE))
        begin = end + 1


def _last_cut(text: memoryview) -> int:
    """Where the last query that is not complete begins; 0 when the text holds a single query.

    No more than a few lines are copied at a time: of one long ranking the text is most of what is in memory.
    """
    back = TAIL
    while True:
        begin = max(0, len(text) - back)
        cut = _first_line_of_last_query(text, begin)
        if cut or not begin:
            return cut
        back *= 4


def _first_line_of_last_query(text: memoryview, begin: int) -> int:
    """The start of a line behind `begin` after which the query stays that of the last line; 0 when there is none.

    By halving: at `low` there is a line of another query, from `high` on a line of the last one.
    """
    end = _newline_before(text, begin, len(text)) + 1
    low, high = _next_newline(text, begin, end) + 1, _newline_before(text, begin, end - 1) + 1
    last = _query_at(text, high, end)
    if not begin < low < high or _query_at(text, low, end) == last:
        return 0
    while (middle := _newline_before(text, low, (low + high) // 2) + 1) > low or (
        middle := _next_newline(text, (low + high) // 2, end) + 1
    ) < high:
        if _query_at(text, middle, end) == last:
            high = middle
        else:
            low = middle
    return high


def _next_newline(text: memoryview, begin: int, end: int) -> int:
    """Where the first line between two places ends; -1 if none does."""
    for at in range(begin, end, FEW_LINES):
        found = bytes(text[at : min(at + FEW_LINES, end)]).find(b"\n")
        if found >= 0:
            return at + found
    return -1


def _newline_before(text: memoryview, begin: int, end: int) -> int:
    """Where the last line between two places ends; -1 if none does."""
    while begin < end:
        low = max(begin, end - FEW_LINES)
        found = bytes(text[low:end]).rfind(b"\n")
        if found >= 0:
            return low + found
        end = low
    return -1


def _query_at(text: memoryview, line: int, end: int) -> bytes:
    return next(iter(bytes(text[line : _next_newline(text, line, end)]).split(None, 1)), b"")


Item = TypeVar("Item")
Result = TypeVar("Result")
MOST = 8
"""More threads than this wait for the one that reads."""


def cores() -> int:
    """How many cores this process may use, up to MOST: those it may run on, and what its container is held to."""
    some = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST, some, *(max(1, round(limit)) for limit in _limits_of_containers()))


def _limits_of_containers() -> Iterator[float]:
    """The limits of CPU time, in cores, that Linux holds this process to."""
    root = Path("/sys/fs/cgroup")
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, own = line.split(":", 2)
            older = "cpu" in kinds.split(",")  # of version 1, which has a tree for each kind of limit
            names = ("cpu/{}/cpu.cfs_quota_us", "cpu/{}/cpu.cfs_period_us") if older else ("{}/cpu.max",)
            for group in {own.strip("/"), "."} if older or not kinds else ():  # seen from inside, it may be the root
                with suppress(OSError, ValueError):  # no such group, or the limit is "max"
                    quota, period = map(int, " ".join((root / n.format(group)).read_text() for n in names).split())
                    yield from [quota / period] * (quota > 0)


def in_order(work: Callable[[Item], Result], items: Iterator[Item]) -> Iterator[tuple[Item, Result]]:
    """Each item with what `work` makes of it, in as many threads as there are cores.

    With one core, for a single item, and where no thread can be had, it is this thread that works.

    >>> list(in_order(len, iter(["a", "bb", "ccc"])))
    [('a', 1), ('bb', 2), ('ccc', 3)]
    """
    first = list(islice(items, 2))
    rest, threads = chain(first, items), cores()
    if len(first) < 2 or threads < 2:
        yield from ((item, work(item)) for item in rest)
        return
    # Imported here because it costs a start of the program more than a small run.
    from concurrent.futures import Future, ThreadPoolExecutor

    line: SimpleQueue[SimpleQueue[tuple[Item, Result] | None]] = SimpleQueue()
    # One more than there are threads may be read before the oldest is done: what bounds the memory.
    reading, room = Lock(), Semaphore(threads + 2)

    def pull() -> None:
        """Work on one item after the other, each in the thread that has just read it: it is in the core's cache."""
        more = True
        while more:
            room.acquire()
            place: SimpleQueue[tuple[Item, Result] | None] = SimpleQueue()
            try:
                with reading:
                    line.put(place)
                    taken = list(islice(rest, 1))
                for item in taken:
                    place.put((item, work(item)))
                more = bool(taken)
            finally:
                place.put(None)  # there was no more, or an error came before the result

    pulls: list[Future[None]] = []
    with ThreadPoolExecutor(threads) as pool:
        try:
            with suppress(RuntimeError):  # no more threads can be started
                for _ in range(threads):
                    pulls.append(pool.submit(pull))
            while pulls and (done := line.get().get()) is not None:
                yield done
                room.release()
            if not pulls:
                yield from ((item, work(item)) for item in rest)
        finally:
            rest = chain()
            room.release(threads)
    for each in pulls:
        each.result()
