"""The ledger: every verdict ever given, one per pair of texts and judge, in one SQLite file.

A verdict's key is made of the judge (with model, parameters and prompt version), the relation and the two texts,
so that only new pairs are asked about. The file is safe under several writers and a crash.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from rankproof.document.disk import whole_file
from rankproof.document.model import Displayable
from rankproof.errors import DataError, UsageError, shorten
from rankproof.store import TIMEOUT, Schema, open_to_hold, open_to_read, open_to_write, read_steps
from rankproof.text.words import digest

Key = tuple[str, str, str]
"""Relation, left text, right text."""
HUMAN = "human"
"""The kind of a judge whose verdicts count before those of any machine."""
AT_ONCE = 400
"""The number of pairs looked up in one statement."""
SHORT = 8
"""The number of bytes that identify a pair among those that could be drawn."""
LEDGER = Schema(
    noun="ledger of verdicts",
    option=("ledger=", "--ledger"),
    made_by=("judge(..., ledger=FILE)", "rankproof judge ... --ledger FILE"),
    application=0x524E4B4C,  # "RNKL"
    often=True,
    steps=read_steps("ledger"),
)


@dataclass(frozen=True, slots=True)
class LedgerEntry(Displayable):
    """The verdict of one judge on one pair, or why there is none."""

    relation: str
    left: str
    right: str
    judge: str
    """The name of the judge."""
    value: int | None = None
    probability: float | None = None
    quote: str = ""
    items: tuple[str, ...] = ()
    origin: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    """Why there is no verdict; empty if there is one."""
    at: str = ""
    """When, in UTC."""

    identity: Mapping[str, Any] = field(default_factory=dict)
    """The settings that shape the verdicts of the judge, if asked for."""

    @property
    def key(self) -> Key:
        """The pair it is about."""
        return self.relation, self.left, self.right

    @property
    def id(self) -> str:
        """A short name for the pair, used to override its verdict."""
        return digest(*self.key).hex()[:12]


Identity = Mapping[str, Any]
"""The settings that shape the verdicts of a judge; its `kind` and `name` are part of them."""
Given = tuple[Identity, str, Sequence[LedgerEntry]]
"""The verdict of a judge of that identity and name."""


class Ledger:
    """A file of verdicts. It is made when the first verdict is kept."""

    def __init__(self, path: Path, timeout: float = TIMEOUT) -> None:
        self.path = path
        self.timeout = timeout

    def find(self, keys: Iterable[Key], judge: Identity) -> dict[Key, LedgerEntry]:
        """The verdicts of this judge on the pairs; a human's verdict takes precedence."""
        wanted = {digest(*key): key for key in keys}
        if not wanted or not self.path.exists():
            return {}
        with open_to_read(self.path, self.timeout, LEDGER) as connection:
            pairs = list(wanted)
            parts = (pairs[start : start + AT_ONCE] for start in range(0, len(pairs), AT_ONCE))
            rows = (row for part in parts for row in _rows(connection, part, judge))
            return {wanted[pair]: _entry(wanted[pair], *rest) for pair, *rest in rows}

    def keep(self, judge: Identity, name: str, entries: Sequence[LedgerEntry]) -> None:
        """Store the verdicts of a judge; an entry without a verdict never replaces one."""
        self.take([(judge, name, entries)])

    def take(self, said: Iterable[Given]) -> None:
        """Store the verdicts of several judges: all or, if that fails, none."""
        with self.writer() as take:
            take(said)

    @contextmanager
    def writer(self) -> Iterator[Callable[[Iterable[Given]], None]]:
        """A function that stores verdicts, for many calls in a row, as that is faster."""
        with open_to_hold(self.path, self.timeout, LEDGER) as begin:

            def take(said: Iterable[Given]) -> None:
                with begin() as connection:
                    for judge, name, entries in said:
                        _insert(connection, _judge_number(connection, judge, name), entries)

            yield take

    def forget(self, judge: Identity, keys: Iterable[Key]) -> None:
        """Delete the verdicts of one judge on these pairs."""
        number = "(SELECT id FROM judges WHERE hash = ?)"
        gone = [(digest(*key), digest(_spelled(judge))) for key in keys]
        with open_to_write(self.path, self.timeout, LEDGER) as connection:
            connection.executemany(f"DELETE FROM verdicts WHERE pair = ? AND judge = {number}", gone)

    def ran(self, judges: Sequence[Identity]) -> None:
        """Remember which judges, in this order, a run asked: what `replay` repeats."""
        text = json.dumps([_spelled(each) for each in judges])
        with open_to_write(self.path, self.timeout, LEDGER) as connection:
            connection.execute("INSERT OR REPLACE INTO runs VALUES (?, ?)", (text, _now()))

    def keep_frame(self, keys: Iterable[Key]) -> str:
        """Remember which pairs could be drawn when labels were; returns the id of this set of pairs."""
        short = sorted({digest(*key)[:SHORT] for key in keys})
        pairs = zlib.compress(b"".join(short), 1)
        name = blake2b(b"".join(short), digest_size=8).hexdigest()
        with open_to_write(self.path, self.timeout, LEDGER) as connection:
            connection.execute("INSERT OR IGNORE INTO frames VALUES (?, ?)", (name, pairs))
        return name

    def frames(self, names: Iterable[str]) -> dict[str, frozenset[bytes]]:
        """For each known one of these ids the beginnings of the hashes of its pairs."""
        found = {}
        with open_to_read(self.path, self.timeout, LEDGER) as connection:
            for name in names:
                for (packed,) in connection.execute("SELECT pairs FROM frames WHERE id = ?", (name,)):
                    pairs = zlib.decompress(packed)
                    found[name] = frozenset(pairs[at : at + SHORT] for at in range(0, len(pairs), SHORT))
        return found

    def runs(self) -> list[list[dict[str, Any]]]:
        """The judges of each run that was recorded, the latest last."""
        with open_to_read(self.path, self.timeout, LEDGER) as connection:
            rows = connection.execute("SELECT judges FROM runs ORDER BY at, judges").fetchall()
        return [[json.loads(each) for each in json.loads(text)] for (text,) in rows]

    def judges(self) -> list[dict[str, Any]]:
        """The judges: name, identity, whether human, and their numbers of verdicts and of pairs without one."""
        with open_to_read(self.path, self.timeout, LEDGER) as connection:
            rows = connection.execute(_JUDGES).fetchall()
        names = ("name", "identity", "human", "verdicts", "unmeasured")
        return [dict(zip(names, (n, json.loads(i), bool(h), v, u), strict=True)) for n, i, h, v, u in rows]

    def entries(self, judge: Identity | None = None, human: bool | None = None) -> Iterator[LedgerEntry]:
        """Everything in the file, judge by judge; or only of one judge, or of people (or machines) alone."""
        if not self.path.exists():
            return
        asked = (None if judge is None else digest(_spelled(judge)), human)
        with open_to_read(self.path, self.timeout, LEDGER) as connection:
            for relation, left, right, identity, *rest in connection.execute(_EVERYTHING, asked):
                key = (relation, _text(left), _text(right))
                yield replace(_entry(key, *rest), identity=json.loads(identity))

    def identities(self) -> dict[str, dict[str, Any]]:
        """The identity of each judge by its name; if several share a name, the latest."""
        return {each["name"]: each["identity"] for each in self.judges()}


_JSON = json.JSONEncoder(default=str)
HALVES = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which a text read from JSON may contain."""
_COLUMNS = "j.name, v.value, v.probability, v.quote, v.items, v.origin, v.reason, v.at"
_KEEP = """INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (pair, judge) DO UPDATE SET value = excluded.value, probability = excluded.probability,
        quote = excluded.quote, items = excluded.items, origin = excluded.origin, reason = excluded.reason,
        at = excluded.at
    WHERE verdicts.reason <> '' OR (excluded.reason = '' AND excluded.at >= verdicts.at)"""
_JUDGES = """SELECT j.name, j.identity, j.human, sum(v.reason = ''), sum(v.reason <> '')
    FROM judges j JOIN verdicts v ON v.judge = j.id GROUP BY j.id ORDER BY j.id"""
_EVERYTHING = f"""SELECT v.relation, l.text, r.text, j.identity, {_COLUMNS}
    FROM verdicts v JOIN judges j ON j.id = v.judge
    JOIN texts l ON l.id = v."left" JOIN texts r ON r.id = v."right"
    WHERE (?1 IS NULL OR j.hash = ?1) AND (?2 IS NULL OR j.human = ?2)
    ORDER BY j.id, v.pair"""


def is_ledger(source: Any) -> bool:
    """Whether it is a ledger, or the file of one."""
    if isinstance(source, str | os.PathLike) and Path(source).is_file():
        with Path(source).open("rb") as stream:
            return stream.read(16) == b"SQLite format 3\0"
    return isinstance(source, Ledger)


def _insert(connection: sqlite3.Connection, judge: int, entries: Sequence[LedgerEntry]) -> None:
    now, texts = _now(), dict.fromkeys(text for each in entries for text in (each.left, each.right))
    ids = {text: digest(text) for text in texts}
    connection.executemany(
        "INSERT OR IGNORE INTO texts VALUES (?, ?)", [(ids[text], _storable(text)) for text in texts]
    )
    connection.executemany(_KEEP, [_columns(judge, each, ids[each.left], ids[each.right], now) for each in entries])


def _storable(text: str) -> str | bytes:
    """The text; as bytes if it contains a lone surrogate, which SQLite does not accept as text."""
    return text if text.isascii() or not HALVES.search(text) else text.encode("utf-8", "surrogatepass")


def _text(stored: str | bytes) -> str:
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")


def _spelled(identity: Identity) -> str:
    return json.dumps(dict(identity), sort_keys=True, ensure_ascii=False, default=str)


def _judge_number(connection: sqlite3.Connection, judge: Identity, name: str) -> int:
    text = _spelled(judge)
    connection.execute(
        "INSERT OR IGNORE INTO judges (hash, name, identity, human) VALUES (?, ?, ?, ?)",
        (digest(text), name, text, judge.get("kind") == HUMAN),
    )
    return int(connection.execute("SELECT id FROM judges WHERE hash = ?", (digest(text),)).fetchone()[0])


def _rows(connection: sqlite3.Connection, pairs: Sequence[bytes], judge: Identity) -> list[tuple[Any, ...]]:
    """Rows of this judge and of humans; for each pair, the one that counts comes last."""
    places = ", ".join("?" * len(pairs))
    return connection.execute(
        f"""SELECT v.pair, {_COLUMNS} FROM verdicts v JOIN judges j ON j.id = v.judge
        WHERE v.pair IN ({places}) AND (j.hash = ? OR (j.human AND v.reason = ''))
        ORDER BY j.human, v.at, j.id""",
        (*pairs, digest(_spelled(judge))),
    ).fetchall()


def _columns(number: int, each: LedgerEntry, left: bytes, right: bytes, now: str) -> tuple[Any, ...]:
    items, origin = _JSON.encode(each.items), _JSON.encode(dict(each.origin))
    quote, reason = _storable(each.quote), _storable(each.reason)
    said = (each.value, each.probability, quote, items, origin, reason, each.at or now)
    return (digest(each.relation, left, right), number, each.relation, left, right, *said)


def _entry(key: Key, judge: str, value: Any, probability: Any, quote: str, items: str, *rest: str) -> LedgerEntry:
    origin, reason, at = rest
    listed, known = tuple(json.loads(items)), json.loads(origin)
    return LedgerEntry(*key, judge, value, probability, _text(quote), listed, known, _text(reason), at)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


NAMES = tuple(each.name for each in fields(LedgerEntry))


def write_lines(target: Path, entries: Iterable[LedgerEntry], *, force: bool = False) -> int:
    """Write entries as lines, without what is empty; returns their number."""
    number = 0
    with whole_file(target, force=force) as stream:
        for number, each in enumerate(entries, 1):  # noqa: B007  (the last number is what is returned)
            plain = {name: getattr(each, name) for name in NAMES}
            kept = {name: value for name, value in plain.items() if value not in (None, "", (), {}) or name == "left"}
            stream.write(f"{json.dumps(kept, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace"))
    return number


def read_lines(source: Path) -> Iterator[tuple[str, LedgerEntry]]:
    """The entries of a file with the place of each."""
    try:
        with source.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    where = f"{source}, line {number}"
                    yield where, _line_entry(line, where)
    except OSError as error:
        raise UsageError(f"{source}: {error.strerror}. Next: name a file that can be read.") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{source}: not UTF-8, expected JSON lines; nothing was imported. Next: give a file of verdicts."
        ) from error


def _line_entry(line: str, where: str) -> LedgerEntry:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise _unfit(where, f"not valid JSON ({error})") from error
    if not isinstance(data, Mapping) or not {"relation", "left", "right", "judge"} <= set(data):
        raise _unfit(where, f"got {shorten(line.strip())}, expected relation, left, right, judge and a value")
    unknown = set(data) - set(NAMES) - {"id"}
    if unknown:
        raise _unfit(where, f"unknown fields {shorten(sorted(unknown))}")
    texts = dict.fromkeys(("relation", "left", "right", "judge", "quote", "reason", "at"), (str, "a text"))
    for name, (kind, expected) in (texts | dict.fromkeys(("origin", "identity"), (Mapping, "an object"))).items():
        if name in data and not isinstance(data[name], kind):
            raise _unfit(where, f"got {shorten(data[name])} as {name!r}, expected {expected}")
    known = {name: data[name] for name in NAMES if name in data}
    return LedgerEntry(**{**known, "items": tuple(data.get("items") or ())})


def _unfit(where: str, why: str) -> DataError:
    return DataError(f"{where}: {why}. Nothing was imported. Next: correct the line.")
