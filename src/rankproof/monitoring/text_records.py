"""The records of a text file, in any code: JSON lines, one JSON value, CSV; what cannot be read is kept as rejected.

A file that ends in the middle (a log that is being written, an archive cut off) gives what can be read of it.
"""

from __future__ import annotations

import codecs
import csv
import importlib
import importlib.util
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from rankproof.document.model import Displayable
from rankproof.errors import DataError, reason, shorten
from rankproof.io.files import MOST
from rankproof.monitoring.event_values import Rejected
from rankproof.monitoring.events import EventSchema
from rankproof.monitoring.privacy import mask_value
from rankproof.monitoring.spans import Placed, resolve_spans

PIECE = 1 << 16
"""Bytes that are read at once: as much may be lost where an archive is cut off."""
SHOWN = 3
"""The number of rejected lines of each reason that are kept to be shown."""


@dataclass
class Rejects(Displayable):
    """Rejected lines: how many for each reason, and the first of each."""

    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    write: Callable[[str], object] | None = None
    """Takes every rejected line as JSON with its place and reason."""
    silent: bool = False
    """Whether the line must not be kept, as it may contain personal data."""

    def add(self, error: Rejected, where: str, line: Any) -> None:
        """Count one line."""
        self.reasons[error.reason] += 1
        where = mask_value(where) if self.silent else where  # a path may name a person
        shown = self.examples.setdefault(error.reason, [])
        if len(shown) < SHOWN:
            shown.append(f"{where}: {error.reason if self.silent else error}")
        if self.write is not None:
            told = {"where": where, "reason": error.reason}
            if not self.silent:
                raw = line.decode("utf-8", "backslashreplace") if isinstance(line, bytes) else line
                told |= {"error": str(error), "line": raw}
            self.write(json.dumps(told, ensure_ascii=False, default=str) + "\n")

    @property
    def total(self) -> int:
        """All rejected lines."""
        return self.reasons.total()


def decoder() -> Callable[[bytes], Any]:
    """What reads a line of JSON: orjson if it happens to be installed, which is three times faster; what it does not
    take (NaN, half surrogates, long whole numbers) is read again."""
    if importlib.util.find_spec("orjson") is not None:
        return importlib.import_module("orjson").loads  # type: ignore[no-any-return]
    decode = json.JSONDecoder().decode
    return lambda line: decode(line.decode("utf-8"))


def records_of(stream: BinaryIO, name: str, rejects: Rejects) -> Iterator[Placed | None]:
    """The records of a text, with their places; None if a pipe has nothing more for now."""
    head = bytes(stream.peek(PIECE))  # type: ignore[attr-defined]
    wide = next((code for mark, code in WIDE.items() if head.startswith(mark)), None) or _without_mark(head)
    if wide is not None:
        stream = io.BufferedReader(_InUtf8(stream, wide), PIECE)
        head = bytes(stream.peek(PIECE))
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    first = head.lstrip().split(b"\n", 1)[0].strip()
    # One object over several lines, as collectors write it.
    is_one = first == b"{" or (first.startswith(b"{") and not first.endswith(b"}") and b"\n" in head)
    if begin == b"[" or is_one:
        yield from resolve_spans(_whole(stream, name, rejects))
    elif begin == b"{" or not is_header(head):
        yield from resolve_spans(json_lines(stream, name, rejects))
    else:
        yield from csv_rows(stream, name, rejects)


WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""The marks at the beginning of files in other codes, as spreadsheets and PowerShell write them."""


def _without_mark(head: bytes) -> str | None:
    """The code of a text without a mark: its first letters, which are ASCII in JSON and CSV, have zeros beside them."""
    zeros = "".join("0" if each == 0 else "x" for each in head[:8])
    return {"x0x0x0x0": "utf-16-le", "0x0x0x0x": "utf-16-be", "x000x000": "utf-32-le", "000x000x": "utf-32-be"}.get(
        zeros
    )


class _InUtf8(io.RawIOBase):
    """A text in another code as bytes of UTF-8."""

    def __init__(self, stream: BinaryIO, code: str) -> None:
        self._stream, self._left = stream, b""
        self._decoder = codecs.getincrementaldecoder(code)("replace")

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        ended = False
        while not self._left and not ended:
            piece = self._stream.read1(PIECE)  # type: ignore[attr-defined]
            ended = not piece
            self._left = self._decoder.decode(piece, ended).encode("utf-8", "replace")
        some, self._left = self._left[: len(room)], self._left[len(room) :]
        room[: len(some)] = some
        return len(some)


def is_header(head: bytes) -> bool:
    """Whether the first line of a text names the columns of a CSV."""
    first = head.decode("utf-8", "replace").lstrip("\ufeff").split("\n", 1)[0].strip()
    schema = EventSchema()
    for mark in DELIMITERS:
        known = [schema.field_of(cell.strip().strip('"')) is not None for cell in first.split(mark)]
        if sum(known) >= min(2, len(known)):
            return True
    return False


DELIMITERS = (",", "\t", ";")


def _whole(stream: BinaryIO, name: str, rejects: Rejects) -> Iterator[Placed | None]:
    """The records of a text that is one JSON value."""
    data: list[Any] = []
    try:
        data.extend(_values(stream.read().decode("utf-8")))
    except (ValueError, RecursionError) as error:
        if not data:
            raise DataError(f"{name}: no valid JSON ({error}). Next: write one event a line (JSONL).") from error
        rejects.add(Rejected("not JSON", f"the rest cannot be read: {reason(error)}"), name, "")
    if len(data) == 1 and isinstance(data[0], list):
        data = data[0]
    yield from ((name, at, each) for at, each in enumerate(data, 1))


def _values(text: str) -> Iterator[Any]:
    """The values of JSON one after another, as jq prints them and some collectors write them, without lines."""
    decode, at = json.JSONDecoder().raw_decode, AROUND.match(text).end()  # type: ignore[union-attr]
    while at < len(text):
        value, end = decode(text, at)
        yield value
        at = AROUND.match(text, end).end()  # type: ignore[union-attr]


AROUND = re.compile("[\ufeff\0\\s]*")
"""What may stand around a value: the mark of a file that was put behind another, and the zeros of one cut while it was
written to."""


def json_lines(stream: BinaryIO, name: str, rejects: Rejects) -> Iterator[Placed | None]:
    """Each line that is JSON."""
    decode, number = decoder(), 0
    for lines in _pieces(stream, name, rejects):
        if lines is None:
            yield None
            continue
        for line in lines:
            number += 1
            try:
                yield name, number, decode(line)
            except (ValueError, RecursionError):
                if line.strip():
                    yield from _again(line, name, number, rejects)


def _again(line: bytes, name: str, at: int, rejects: Rejects) -> Iterator[Placed]:
    """A line that the decoder did not take: other numbers, something around the value, or several values."""
    try:
        found = list(_values(line.decode("utf-8")))
        if len(found) > 1 and not all(isinstance(each, dict) for each in found):
            raise ValueError("several values, not all of which are objects")  # one line, rejected once
    except (ValueError, RecursionError) as error:
        reason = Rejected("not JSON", f"got {shorten(line.decode('utf-8', 'replace').strip())}, expected JSON")
        if isinstance(error, UnicodeDecodeError):
            reason = Rejected("not UTF-8", f"the bytes {line[:30]!r} are no UTF-8")
        rejects.add(reason, f"{name}, line {at}", line)
    else:
        yield from ((name, at, each) for each in found)


def _pieces(stream: BinaryIO, name: str, rejects: Rejects) -> Iterator[list[bytes] | None]:
    """Lines in lists as they come; None after what a pipe had ready."""
    rest, first, skipped = b"", True, False
    while True:
        try:
            piece = stream.read1(PIECE)  # type: ignore[attr-defined]
        except (DataError, EOFError, OSError) as error:
            rejects.add(Rejected("damaged file", f"the rest cannot be read: {reason(error)}"), name, "")
            piece = b""
        if not piece:
            break
        if first:
            piece, first = piece.removeprefix(b"\xef\xbb\xbf"), False
        lines = (rest + piece).split(b"\n")
        if skipped and len(lines) > 1:
            lines[0], skipped = b"", False  # the end of a line that was rejected, which still counts as one
        rest = b"" if skipped else lines.pop()
        if skipped:
            continue
        if len(rest) > MOST:
            rejects.add(Rejected("long line", f"a line of more than {MOST:,} bytes"), name, rest[:200])
            rest, skipped = b"", True
        yield lines
        if len(piece) < PIECE:
            yield None
    if rest:
        yield [rest]


def csv_rows(stream: BinaryIO, name: str, rejects: Rejects) -> Iterator[Placed]:
    """Each row of a CSV as a mapping; an empty cell is null."""
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    try:
        yield from _rows(text, name, rejects)
    finally:
        with suppress(ValueError):  # after an error the file may be closed already
            text.detach()


def _rows(text: io.TextIOWrapper, name: str, rejects: Rejects) -> Iterator[Placed]:
    first = text.readline()
    mark = max(DELIMITERS, key=first.count)
    header = next(csv.reader([first], delimiter=mark))
    reader = csv.reader(text, delimiter=mark)
    csv.field_size_limit(MOST)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            rejects.add(Rejected("bad CSV", str(error)), f"{name}, line {reader.line_num + 1}", "")
            continue
        if cells is None:
            return
        at = reader.line_num + 1
        if not cells:
            continue
        if len(cells) != len(header):
            text_of = f"got {len(cells)} cells, expected {len(header)} as in the header"
            rejects.add(Rejected("bad CSV", text_of), f"{name}, line {at}", cells)
        elif any("\udc80" <= each <= "\udcff" for cell in cells if not cell.isascii() for each in cell):
            rejects.add(Rejected("not UTF-8", f"got {shorten(cells)}"), f"{name}, line {at}", cells)
        else:
            yield name, at, {key: cell if cell else None for key, cell in zip(header, cells, strict=True)}
