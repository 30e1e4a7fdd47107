"""One event of a production log, and the schema that makes a record one.

Only the time is needed. Any other field may be missing (`None`): not known. A field that is there but empty says
that there was nothing: no click, no thumb, no result. Every metric counts the events that had what it needs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from rankproof.document.model import Displayable
from rankproof.errors import UsageError, check_each, nearest, shorten
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
    place_clicks,
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
    "thumb": ("thumbs", "feedback", "rating", "vote"),
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
        for name, key in (columns or {}).items():
            if name not in FIELDS:
                raise UsageError(
                    f"columns: got {name!r}, expected a field of events ({', '.join(FIELDS)})."
                    f"{nearest(name, FIELDS)} Next: name one of them."
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
            self.unmet = {name: key for name, key in self.unmet.items() if key not in keys}
            found: dict[str, str] = {}
            for key in keys:
                name = self.field_of(key)
                if name and (name not in found or key == name):
                    found[name] = key
            if len(self._known) > 1000:
                self._known.clear()
            self._known[keys] = found, tuple(key for key in keys if key not in found.values())
        return self._known[keys]

    def field_of(self, key: Any) -> str | None:
        """The field that a key names, in any spelling: user_id, userId, User ID; None if it is none."""
        if key in self.names or not isinstance(key, str):
            return self.names.get(key)
        return self.names.get(re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\s-]+", "_", key.strip()).lower())

    def _is_timed(self, value: Any) -> bool:
        try:
            return isinstance(value, str) and not value.strip().isdigit() and bool(self.time(value))
        except Rejected:
            return False

    def event(self, record: Any) -> Event:
        """The record as an event; `Rejected` if it is not one."""
        if not isinstance(record, Mapping):
            raise Rejected("no object", f"got {shorten(record)}, expected an object with a field ts")
        found, others = self.places(record)
        if "ts" not in found:
            timed = next((f"; {name!r} holds times" for name in record if self._is_timed(record[name])), "")
            raise Rejected("no time", f"no field ts among {shorten(', '.join(map(str, record)))}{timed}")
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
            elif name in EMPTY:
                setattr(event, name, EMPTY[name])
        for name in self.sparse:
            if getattr(event, name) is None:
                setattr(event, name, EMPTY[name])
        if event.clicks:
            event.clicks = place_clicks(event.clicks, event.results)
        event.other = {key: record[key] for key in others}
        return event

    def time(self, value: Any) -> float:
        """Seconds since 1970 of a number or an ISO time; one without a zone is in the zone of the schema."""
        if isinstance(value, str):
            seconds = self._of_text(value)
        elif is_finite(value) and abs(value) < TOO_LATE:
            seconds = float(value) / next((scale for least, scale in SCALES if abs(value) >= least), 1.0)
        elif isinstance(value, datetime):
            seconds = (value if value.tzinfo else value.replace(tzinfo=self.timezone)).timestamp()
        else:
            raise Rejected("bad time", f"ts: got {shorten(value)}, expected a time such as 2025-03-03T10:00:00Z")
        if not EARLIEST <= seconds <= self.latest:
            raise Rejected("time out of range", f"ts: {shorten(value)} lies before 2000 or in the future")
        return seconds

    def _of_text(self, value: str) -> float:
        text = value.strip()
        if NUMBER.fullmatch(text):
            return self.time(float(text))
        if COMPACT.fullmatch(text):  # where any digit would be accepted in place of the letter T
            text = f"{text[:8]}T{text[8:]}"
        try:
            found = datetime.fromisoformat("" if text.isdigit() and len(text) > 8 else text)
        except ValueError:
            raise Rejected(
                "bad time", f"ts: got {shorten(value)}, expected a time such as 2025-03-03T10:00:00Z"
            ) from None
        return (found if found.tzinfo else found.replace(tzinfo=self.timezone)).timestamp()


NUMBER = re.compile(r"(\d{9,13}|\d{15,30})(\.\d+)?")
COMPACT = re.compile(r"\d{14}")
"""A time such as 20250303100000."""
