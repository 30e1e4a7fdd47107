"""One event of a production log: the schema, and the reasons to reject a record.

Only the time is needed. Any other field may be missing (`None`): not known. A field that is there but empty says
that there was nothing: no click, no thumb, no result. Every metric counts the events that had what it needs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from numbers import Integral, Real
from sys import float_info
from typing import Any, NamedTuple

from rankproof.document.display import Displayable
from rankproof.errors import UsageError, check_each, nearest, shorten

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
UP = {
    "up", "thumb_up", "thumbs_up", "thumbsup", "thumbs-up", "👍", "like", "positive", "good", "+1", "1", "true", "yes",
    "helpful",
}  # fmt: skip
DOWN = {
    "down", "thumb_down", "thumbs_down", "thumbsdown", "thumbs-down", "👎", "dislike", "negative", "bad", "-1", "no",
    "false",
}  # fmt: skip
NOTHING = {"", "none", "null", "nan", "n/a", "na", "<na>", "-"}
"""The spellings of "nothing", in fields that are not text."""
NO_VOTE = {*NOTHING, "0", "neutral"}
YES, NO = {"true", "1", "1.0", "yes", "t", "y"}, {"false", "0", "0.0", "no", "f", "n", ""}
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
"""Times before this were written by a clock that was not set."""
AHEAD = 86400.0
"""How many seconds a clock may be fast; what lies further in the future is rejected."""
TOO_LATE = 1e20
"""No number of nanoseconds is as large; NaN and infinity are not below it either."""
SCALES = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From these sizes on a number is a time in nanoseconds, microseconds or milliseconds, else in seconds."""


class Rejected(ValueError):
    """A record that is not an event: `reason` is the kind of error, the text names the value."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


NO_CLICK = -(10**9)
"""The rank of a value that is not a click unless a result has that id."""


class ShownResult(NamedTuple):
    """A document that was shown, with its score where it is known, and its rank from 1 on."""

    id: str
    score: float | None
    rank: int


class Click(NamedTuple):
    """What was clicked: the document, and its rank; 0 if it is not among the results.

    A number in a cell of a CSV is a rank unless a result has that id, and 0 is no click: below 0 until then.
    """

    id: str | None
    rank: int


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
        elif _is_finite(value) and abs(value) < TOO_LATE:
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


def place_clicks(clicks: tuple[Click, ...], results: tuple[ShownResult, ...] | None) -> tuple[Click, ...]:
    """The clicks with the ranks of their documents, if only ids are known."""
    if all(click.rank > 0 for click in clicks):
        return clicks
    ranks = {result.id: result.rank for result in reversed(results or ())}
    found = []
    for click in clicks:
        rank = click.rank if click.rank > 0 else ranks.get(click.id or "", 0)
        if rank or click.rank == 0:
            found.append(Click(click.id, rank))
        elif click.rank != NO_CLICK:
            found.append(Click(None, -click.rank))
    return tuple(found)


# --- the values of fields -----------------------------------------------------------------------------------------


def is_nan(value: Any) -> bool:
    """Whether a value is one of pandas' missing values."""
    return isinstance(value, float) and value != value


def _is_finite(value: Any) -> bool:
    """Whether a value is a number that a float can hold; true and false are not."""
    plain = value.__class__ is float or value.__class__ is int  # isinstance with an abstract number is slow
    known = plain or (isinstance(value, Real) and not isinstance(value, bool))
    return known and bool(abs(value) <= float_info.max)


def text(value: Any) -> str:
    """An id or a text; numbers are written out."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Rejected("bad text", f"got {shorten(value)}, expected a text")
    if isinstance(value, Integral):
        return str(int(value))
    return f"{float(value):.0f}" if float(value).is_integer() else str(value)


LATENCY = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s)")
MOST_LATENCY = 1e12
"""Milliseconds: 30 years."""


def number(value: Any) -> float:
    """Milliseconds, from 0 to a plausible maximum."""
    try:
        unit = LATENCY.fullmatch(value.strip()) if isinstance(value, str) else None
        if unit is not None:
            value = float(unit[1]) * (1.0 if unit[2] == "ms" else 1000.0)
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not 0 <= found <= MOST_LATENCY:
        raise Rejected(
            "bad number", f"latency_ms: got {shorten(value)}, expected a number from 0 to {MOST_LATENCY:.0e}"
        )
    return found


def flag(value: Any) -> bool:
    """Yes or no, by the words of JSON, CSV and people."""
    word = str(value).strip().lower()
    if word in YES:
        return True
    if word in NO:
        return False
    raise Rejected("bad flag", f"abstained: got {shorten(value)}, expected true or false")


def vote(value: Any) -> int:
    """1 for a thumb up, -1 for one down, 0 for no vote; a number is 1, 0 or -1."""
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("thumb", "score", "value", "label", "rating") if key in value), None)
    if isinstance(value, bool):
        return 1 if value else -1
    word = f"{value:g}" if isinstance(value, float) else str(value).strip().lower()
    word = re.sub(r"(?<=\d)\.0+$|[\U0001f3fb-\U0001f3ff\ufe0f]", "", word).replace(" ", "_")
    for words, found in ((UP, 1), (DOWN, -1), (NO_VOTE, 0)):
        if word in words:
            return found
    raise Rejected("bad thumb", f"thumb: got {shorten(value)}, expected up, down or null")


def results_of(value: Any) -> tuple[ShownResult, ...]:
    """The documents shown: objects with id, score and rank, or ids alone, best first.

    Ranks are the places in the list where one of those given is none, as ranks from 0 on are. Of what is null nothing
    is known but that it took a place.
    """
    found, usable = [], True
    for at, each in enumerate(_items(value, "results"), 1):
        if isinstance(each, Mapping):
            rank = of_digits(each.get("rank"))
            usable = usable and (rank is None or _is_place(rank))
            found.append((at, _result(each, at if rank is None or not usable else int(rank))))
        elif each is not None:
            found.append((at, ShownResult(text(each), None, at)))
    return tuple(each if usable else each._replace(rank=at) for at, each in found)


def _result(each: Mapping[str, Any], rank: int) -> ShownResult:
    doc = each.get("id", each.get("doc_id", each.get("document_id")))
    if doc is None:
        raise Rejected("bad results", f"results: got {shorten(dict(each))}, expected an object with id")
    score = of_digits(each.get("score"))
    if score is not None and not _is_finite(score):
        raise Rejected("bad results", f"results: got the score {shorten(score)}, expected a finite number")
    return ShownResult(text(doc), score, rank)


def of_digits(value: Any) -> Any:
    """A number that is written as a text, as tables of texts have it; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return value.strip() or None


def _is_place(value: Any) -> bool:
    if value.__class__ is int:
        return bool(value >= 1)
    return _is_finite(value) and bool(value >= 1 and value == int(value))


def place(value: Any) -> int:
    """A rank: a whole number from 1 on."""
    if not _is_place(value):
        raise Rejected("bad rank", f"rank: got {shorten(value)}, expected a whole number from 1 on")
    return int(value)


def clicks_of(value: Any) -> tuple[Click, ...]:
    """The clicks in order of time: ids, ranks (numbers), or objects with id, rank and ts; or whether there was one."""
    word = str(value).strip().lower() if isinstance(value, (str, bool, int)) else None
    if word in ("false", "no", "") or (word == "0" and not isinstance(value, str)):
        return ()
    if word in ("true", "yes"):
        return (Click(None, 0),)
    found, times = [], []
    written = isinstance(value, str) and value.strip()[:1] not in ("[", "(", "{")
    for each in _items(value, "clicks"):
        if isinstance(each, Mapping):
            doc = each.get("id", each.get("doc_id", each.get("document_id")))
            rank = of_digits(each.get("rank", each.get("position")))
            if doc is None and rank is None:
                raise Rejected("bad clicks", f"clicks: got {shorten(dict(each))}, expected an object with id or rank")
            found.append(Click(None if doc is None else text(doc), 0 if rank is None else place(rank)))
            times.append(each.get("ts", each.get("time")))
        elif each is None:
            continue
        elif isinstance(each, Real):
            found.append(Click(None, place(each)))
        elif written and (number := re.fullmatch(r"(\d{1,9})(?:\.0)?", each)):
            found.append(Click(each, -int(number[1]) or NO_CLICK))
        else:
            found.append(Click(text(each), 0))
    if len(times) == len(found) and all(isinstance(each, (int, float, str, datetime)) for each in times):
        try:
            found = [found[i] for i in sorted(range(len(found)), key=times.__getitem__)]
        except TypeError as error:
            raise Rejected("bad clicks", "clicks: some times are numbers, others text") from error
    return tuple(found)


def citations_of(value: Any) -> tuple[str, ...]:
    """The ids of the documents that the answer cites."""
    return tuple(
        text(each.get("id", each.get("doc_id")) if isinstance(each, Mapping) else each)
        for each in _items(value, "citations")
        if each is not None
    )


def _items(value: Any, what: str) -> Sequence[Any]:
    """The items of a list; one of nulls alone says neither what there was nor that there was nothing."""
    items = _listed(value, what)
    if items and all(each is None for each in items):
        raise Rejected(f"bad {what}", f"{what}: got {shorten(value)}, expected ids, or [] if there were none")
    return items


def _listed(value: Any, what: str) -> Sequence[Any]:
    """A list, or one as CSV has it: as JSON or Python, or ids with semicolons, bars, commas or blanks between."""
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, str):
        written = value.strip()
        if written[:1] in ("[", "(", "{"):
            return _written_list(written, what)
        mark = next((each for each in ";|," if each in written), None)
        return [each.strip() for each in written.split(mark) if each.strip()]
    if hasattr(value, "tolist"):
        return _listed(value.tolist(), what)
    if isinstance(value, (Mapping, int)) and not isinstance(value, bool):
        return [value]
    raise Rejected(f"bad {what}", f"{what}: got {shorten(value)}, expected a list")


def _written_list(written: str, what: str) -> Sequence[Any]:
    """A list as JSON, as Python prints it, or as NumPy does, which writes no commas."""
    import ast
    import json

    found: Any = None
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        if BARE.fullmatch(written):
            found = [json.loads(each) if each.isdigit() else each.strip("'\"") for each in written[1:-1].split()]
        elif len(written) <= MOST_LITERAL:
            with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
                found = ast.literal_eval(written)
    if isinstance(found, (list, tuple)):
        return found
    if isinstance(found, Mapping):
        return [found]
    raise Rejected(f"bad {what}", f"{what}: got {shorten(written)}, expected a list")


BARE = re.compile(r"""\[\s*(?:[\w.-]+|'[^',]*'|"[^",]*")(?:\s+(?:[\w.-]+|'[^',]*'|"[^",]*"))*\s*\]""")
"""A list without commas."""
MOST_LITERAL = 100_000
"""Characters of a list written by Python: its parser takes much memory."""
TEXTS = ("id", "session", "user", "query", "answer", "variant", "ts")


PARSERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(TEXTS[:-1], text),
    "results": results_of,
    "citations": citations_of,
    "clicks": clicks_of,
    "thumb": vote,
    "latency_ms": number,
    "abstained": flag,
}
EMPTY: dict[str, Any] = {"results": (), "citations": (), "clicks": (), "thumb": 0}
"""What a field means that is there and null."""
