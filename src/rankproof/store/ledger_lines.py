"""A ledger as JSON lines, one verdict each: to be read, kept in version control, or given to others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from rankproof.errors import DataError, UsageError, shorten
from rankproof.outputs import whole_file
from rankproof.store.ledger import Entry

NAMES = tuple(each.name for each in fields(Entry))


def write_lines(target: Path, entries: Iterable[Entry], *, force: bool = False) -> int:
    """Write entries as lines; how many they are."""
    number = 0
    with whole_file(target, force=force) as stream:
        for number, each in enumerate(entries, 1):  # noqa: B007  (the last number is what is returned)
            stream.write(line_of(each).encode("utf-8", "backslashreplace"))
    return number


def line_of(entry: Entry) -> str:
    """One entry as a line; what is empty is left out."""
    plain = {name: getattr(entry, name) for name in NAMES}
    kept = {name: value for name, value in plain.items() if value not in (None, "", (), {}) or name == "left"}
    return json.dumps(kept, ensure_ascii=False) + "\n"


def read_lines(source: Path) -> Iterator[tuple[str, Entry]]:
    """The entries of a file with the place of each."""
    try:
        with source.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    where = f"{source}, line {number}"
                    yield where, _entry(line, where)
    except OSError as error:
        raise UsageError(f"{source}: {error.strerror}. Next: name a file that can be read.") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{source}: not UTF-8, expected JSON lines; nothing was imported."
            " Next: give the file that was meant."
        ) from error


def _entry(line: str, where: str) -> Entry:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise _unfit(where, f"no valid JSON ({error})") from error
    if not isinstance(data, Mapping) or not {"relation", "left", "right", "judge"} <= set(data):
        raise _unfit(where, f"got {shorten(line.strip())}, expected relation, left, right, judge and a value")
    unknown = set(data) - set(NAMES) - {"id"}
    if unknown:
        raise _unfit(where, f"unknown fields {shorten(sorted(unknown))}")
    return _typed({name: data[name] for name in NAMES if name in data}, where)


def _typed(data: dict[str, Any], where: str) -> Entry:
    texts = ("relation", "left", "right", "judge", "quote", "reason", "at")
    for name in texts:
        if not isinstance(data.get(name, ""), str):
            raise _unfit(where, f"got {shorten(data[name])} as {name!r}, expected a text")
    for name in ("origin", "identity"):
        if not isinstance(data.get(name, {}), Mapping):
            raise _unfit(where, f"got {shorten(data[name])} as {name!r}, expected an object")
    return Entry(**{**data, "items": tuple(data.get("items") or ())})


def _unfit(where: str, why: str) -> DataError:
    return DataError(f"{where}: {why}. Nothing was imported. Next: correct the line.")
