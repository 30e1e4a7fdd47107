"""One event of a production log, the schema that makes a record one, what is rejected, and personal data kept out.

Only the time is required. Any other field may be missing (`None`): unknown. A field that is present but empty says
that there was nothing: no click, no thumb, no result. Every metric counts the events that have the fields it needs.

monitor(log, change=private(hash_ids=True, redact=mask))
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, tzinfo
from hashlib import blake2b
from typing import Any

import numpy as np

from rankproof.document.model import Displayable
from rankproof.errors import UsageError, UserCode, check_each, not_known, shorten
from rankproof.io.column_roles import list_in_words
from rankproof.monitoring.event_block import name_of_value
from rankproof.monitoring.event_values import (
    EMPTY,
    NOTHING,
    PARSERS,
    TEXTS,
    Click,
    Rejected,
    ShownResult,
    is_finite,
    is_nan,
    mask_value,
    place_clicks,
    plain_key,
)

FIELDS: dict[str, tuple[str, ...]] = {
    "ts": ("timestamp", "time", "@timestamp", "created_at", "event_time", "date"),
    "id": ("event_id", "request_id", "trace_id"),
    "session": ("session_id", "conversation_id", "thread_id"),
    "user": ("user_id", "user.id", "enduser.id"),
    "query": ("question", "user_input", "query_text", "prompt"),
    "results": ("documents", "retrieved", "hits", "retrieved_contexts", "retrieved_context_ids"),
    "answer": ("response", "completion"),
    "citations": ("cited", "sources"),
    "clicks": ("clicked", "click"),
    "thumb": ("thumbs", "feedback", "vote"),
    "latency_ms": ("latency", "duration_ms", "elapsed_ms", "took_ms"),
    "abstained": ("abstain", "refused", "no_answer"),
    "variant": ("arm", "experiment_arm", "bucket"),
}
"""The fields of an event, each with the other names it is known by."""
FIELD_NAMES = "names of fields"
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
"""Times before this were written by a clock that was not set."""
AHEAD = 86400.0
"""How many seconds a clock may be fast; what lies further in the future is rejected."""
TOO_LATE = 1e20
"""No number of nanoseconds is as large; NaN and infinity are not below it either."""
SCALES = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From these sizes on a number is a time in nanoseconds, microseconds or milliseconds, else in seconds."""


@dataclass(slots=True)
class Event(Displayable):
    """One search or question with its results; `None` means not known, an empty tuple means none."""

    ts: float
    """Seconds since 1970, UTC."""
    id: str | None = None
    session: str | None = None
    user: str | None = None
    query: str | None = None
    results: tuple[ShownResult, ...] | None = None
    answer: str | None = None
    citations: tuple[str, ...] | None = None
    clicks: tuple[Click, ...] | None = None
    """In order of time."""
    thumb: int | None = None
    """1 up, -1 down, 0 no vote."""
    latency_ms: float | None = None
    abstained: bool | None = None
    variant: str | None = None
    other: dict[str, Any] = field(default_factory=dict)
    """All other fields of the record, for slices."""


class EventSchema:
    """The mapping of keys to fields, and the rules for times without a zone or far in the future.

    >>> EventSchema().event({"time": "2025-03-03T10:00:00Z", "query": "refund?", "thumb": "up"}).thumb
    1
    """

    def __init__(
        self,
        columns: Mapping[str, str] | None = None,
        *,
        timezone: tzinfo = UTC,
        now: float = math.inf,
        sparse: Iterable[str] = (),
    ) -> None:
        """`columns` names keys: {"query": "question_text"}; `sparse` the fields that are written only where they are
        not empty, so that an event without one had none."""
        if columns is not None and not isinstance(columns, Mapping):
            raise UsageError(
                f"columns: got {shorten(columns)}, expected fields of events and their columns. "
                "Next: give them as {'query': 'question_text'}."
            )
        self.names = {key: name for name, others in FIELDS.items() for key in (*others, name)}
        self.unmet = dict(columns or {})
        """The columns that were named and that no record has had so far."""
        self.mapped = frozenset(self.unmet.values())
        for name, key in self.unmet.items():
            if name not in FIELDS:
                said = f"columns: got {name!r}, expected a field of events ({', '.join(FIELDS)})"
                raise not_known(said, name, FIELDS, "name one of them")
            if list(self.unmet.values()).count(key) > 1:
                raise UsageError(
                    f"columns: got {key!r} for two fields, expected one each. Next: leave one of them out."
                )
            self.names = {other: each for other, each in self.names.items() if each != name}
            self.names[key] = name
        self.sparse = frozenset(check_each("sparse", sparse, str, FIELD_NAMES))
        if unknown := self.sparse - EMPTY.keys():
            raise UsageError(
                f"sparse: got {shorten(min(unknown))}, expected some of {', '.join(EMPTY)}. Next: name one of them."
            )
        self.timezone, self.latest = timezone, now + AHEAD
        self._known: dict[tuple[str, ...], tuple[dict[str, str], tuple[str, ...]]] = {}

    def places(self, keys: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
        """The key of each field, and the keys that are none; the field's own name goes before others."""
        keys = tuple(keys)
        if keys not in self._known:
            found: dict[str, str] = {}
            for key in keys:
                name = self.field_of(key)
                if name and (name not in found or key == name):
                    found[name] = key
            self.unmet = {name: key for name, key in self.unmet.items() if name not in found}
            if len(self._known) > 1000:
                self._known.clear()
            self._known[keys] = found, tuple(key for key in keys if key not in found.values())
        return self._known[keys]

    @property
    def keys(self) -> list[str]:
        """The keys that records had so far."""
        return list(dict.fromkeys(str(key) for keys in self._known for key in keys))

    def check_columns(self) -> None:
        """Refuse a column that was named and that no record has, unless its field is logged only where not empty."""
        there = self.keys
        for name, key in self.unmet.items() if there else ():
            if name not in self.sparse:
                said = f"columns: no event has {key!r}, which was named for {name}"
                raise not_known(f"{said}; the columns are {list_in_words(there)}", key, there, "name one of them")

    def field_of(self, key: Any) -> str | None:
        """The field that a key names, in any spelling: user_id, userId, User ID; None if it is none."""
        return self.names.get(key if key in self.names or not isinstance(key, str) else plain_key(key))

    def event(self, record: Any) -> Event:
        """The record as an event; `Rejected` if it is not one."""
        if not isinstance(record, Mapping):
            raise Rejected("no object", f"got {shorten(record)}, expected an object with a field ts")
        found, others = self.places(record)
        if "ts" not in found:
            lists = [key for key in others if isinstance(record[key], list) and not found]
            told = f"; write the items of {lists[0]} one a line" if lists else ""
            raise Rejected("no time", f"no field ts among {shorten(', '.join(map(str, record)))}{told}")
        event = Event(self.time(record[found["ts"]]))
        for name, key in found.items():
            value = record[key]
            if isinstance(value, str) and name not in TEXTS and value.strip().lower() in NOTHING:
                value = None
            if name in PARSERS and value is not None and not is_nan(value):
                try:
                    setattr(event, name, PARSERS[name](value))
                except Rejected as error:
                    if f"{name}:" in str(error):
                        raise
                    raise Rejected(error.reason, f"{name}: {error}") from error
        for name in EMPTY.keys() & {*found, *self.sparse}:
            if getattr(event, name) is None:
                setattr(event, name, EMPTY[name])
        if event.clicks:
            event.clicks = place_clicks(event.clicks, event.results)
        event.other = {key: record[key] for key in others}
        return event

    def time(self, value: Any) -> float:
        """Seconds since 1970 of a number or an ISO time; one without a zone is in the zone of the schema."""
        found: Any = _time_of_text(value.strip()) if isinstance(value, str) else value
        if isinstance(found, np.datetime64):
            found = found.astype("datetime64[us]").item()
        if is_finite(found) and abs(found) < TOO_LATE:
            seconds = float(found) / next((scale for least, scale in SCALES if abs(found) >= least), 1.0)
        elif isinstance(found, date):
            found = found if isinstance(found, datetime) else datetime.combine(found, time.min)
            seconds = (found if found.tzinfo else found.replace(tzinfo=self.timezone)).timestamp()
        else:
            raise Rejected("bad time", f"ts: got {shorten(value)}, expected a time such as 2025-03-03T10:00:00Z")
        if not EARLIEST <= seconds <= self.latest:
            raise Rejected("time out of range", f"ts: {shorten(value)} lies before 2000 or in the future")
        return seconds


def _time_of_text(text: str) -> float | datetime:
    if NUMBER.fullmatch(text):
        return float(text)
    try:
        return datetime.fromisoformat("" if text.isdigit() and len(text) > 8 else text)
    except ValueError:
        return math.inf  # it is none


NUMBER = re.compile(r"(\d{9,13}|\d{15,30})(\.\d+)?")
IDS = ("user", "session", "id")
"""The fields that are hashed; within others `id` may be that of a document."""
KEY = "RANKPROOF_HASH_KEY"
"""The environment variable with the key of the hashes: without it they cannot be traced to users."""
SHORTEST = 16
"""The least number of characters of a key."""


Hook = Callable[[Event], Event | None]
"""Alters an event before anything of it is kept, or drops it."""


def mask(event: Event) -> Event:
    """The event with addresses, numbers of cards, accounts and telephones masked in all but its ids.

    >>> mask(Event(0.0, query="refund for ann@example.org, +49 30 1234567")).query
    'refund for [email], [phone]'
    """
    event.query, event.answer, event.variant = map(mask_value, (event.query, event.answer, event.variant))
    event.other = mask_value(event.other)
    return event


def apply_hook(change: Hook, event: Event) -> Event | None:
    """What a hook makes of an event, None if it drops it; anything else is an error."""
    try:
        found = change(event)
    except Exception as error:
        UserCode(change, "the event with ts", event.ts).note_on(error)
        raise
    if found is not None and not isinstance(found, Event):
        raise UsageError(
            f"the hook gave {type(found).__name__}, expected the event or None. Next: return the event it is given."
        )
    return found


def changed_events(change: Hook | None, events: Iterable[Event]) -> Iterator[Event]:
    """What a hook makes of events, without those it drops."""
    return iter(events) if change is None else filter(None, (apply_hook(change, each) for each in events))


def private(*, hash_ids: bool = False, redact: Hook | None = None) -> Hook:
    """A hook for `monitor(..., change=)`: first `redact`, then user, session and event ids as hashes under the key.

    Other fields that are known to hold such ids (`user_id` beside `user`, `meta.session_id`) are hashed as well.
    """
    schema, key = EventSchema(), os.environ.get(KEY, "")
    if hash_ids and len(key) < SHORTEST:
        raise UsageError(
            f"hash: {KEY} holds {len(key)} characters, expected a secret key of at least {SHORTEST}. "
            f"Next: export {KEY}=$(openssl rand -hex 16), and keep it if ids must stay the same."
        )

    def hashed(value: str | None) -> str | None:
        if value is None:
            return None
        return blake2b(value.encode("utf-8", "surrogatepass"), key=key.encode()[:64], digest_size=12).hexdigest()

    def hashed_within(value: Any, is_id: bool, names: tuple[str, ...]) -> Any:
        if isinstance(value, dict):
            return {
                key: hashed_within(each, is_id or schema.field_of(key) in names, IDS[:2]) for key, each in value.items()
            }
        if isinstance(value, list | tuple):
            return [hashed_within(each, is_id, IDS[:2]) for each in value]
        return hashed(name_of_value(value)) if is_id and value is not None else value

    def change(event: Event) -> Event | None:
        changed = apply_hook(redact, event) if redact is not None else event
        if changed is not None and hash_ids:
            changed.user, changed.session, changed.id = map(hashed, (changed.user, changed.session, changed.id))
            changed.other = hashed_within(changed.other, False, IDS)
        return changed

    return change


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

    def add(self, error: Rejected, name: str, at: int | None, line: Any) -> None:
        """Count one line of a source; a source that is damaged as a whole has no number."""
        self.reasons[error.reason] += 1
        where = name if at is None else f"{name}, line {at}"
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
