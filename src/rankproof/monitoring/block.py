"""Many events as columns of NumPy: what every reader makes, and all that the metrics look at.

Texts are gone here: ids are 64-bit hashes, a query is a hash with a sketch of its character trigrams. A value that is
not known is NaN. One event of the usual shape takes a short way from JSON to its row; any other goes through `Event`,
and both give the same row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.monitoring.events import DOWN, UP, Event, EventSchema
from rankproof.monitoring.refusals import refuses

VALUES = (
    "results",  # how many were shown
    "margin",  # the best score minus the second best
    "clicks",  # how many
    "first_click",  # the rank of the first click in time, 0 if it is not known
    "top_click",  # the best rank that was clicked, 0 if none is known
    "cited_click",  # whether a cited document was clicked, where some are cited
    "citations",  # how many documents the answer cites
    "answered",  # whether there is an answer
    "abstained",  # whether it says "I don't know"
    "thumb",  # 1, -1, or 0 for no vote
    "latency_ms",
)
"""The columns of numbers, before those that sessions add."""
NAN = math.nan
THUMBS: dict[Any, int] = {**dict.fromkeys(UP, 1), **dict.fromkeys(DOWN, -1), None: 0}
MOST_VALUES = 50
"""Values of a slice that are told apart; those that come later are one."""
REST = "(other values)"
SKETCH = 4
"""Words of 64 bits in the sketch of a query."""


@dataclass(frozen=True, eq=False)
class EventBlock:
    """Events as columns; 0 is an id that is not known, -1 a slice."""

    time: Array
    """Microseconds since 1970, UTC."""
    ids: Array
    """Rows: event, session, user, query; hashes of 64 bits."""
    sketch: Array
    """Rows: words of the trigram sketch of the query."""
    values: Array
    """Rows as in `VALUES`, then the fields that were asked for; 32-bit floats."""
    slices: Array
    """Rows as in the slices that were asked for; codes of `Codes`."""

    def __len__(self) -> int:
        return len(self.time)

    def rows(self, which: Array) -> EventBlock:
        """Some of the events."""
        ids, sketch, values, slices = (
            each[:, which] for each in (self.ids, self.sketch, self.values, self.slices)
        )
        return EventBlock(self.time[which], ids, sketch, values, slices)

    def part(self, start: int, end: int) -> EventBlock:
        """The events from one place to another, not copied."""
        wide = (each[:, start:end] for each in (self.ids, self.sketch, self.values, self.slices))
        ids, sketch, values, slices = wide
        return EventBlock(self.time[start:end], ids, sketch, values, slices)


EVENT, SESSION, USER, QUERY = range(4)


def join_blocks(blocks: Sequence[EventBlock]) -> EventBlock:
    """Several blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    names = ("ids", "sketch", "values", "slices")
    ids, sketch, values, slices = (
        np.concatenate([getattr(each, name) for each in blocks], axis=1) for name in names
    )
    return EventBlock(np.concatenate([each.time for each in blocks]), ids, sketch, values, slices)


class Codes:
    """The values of one slice as small numbers, in the order they were met."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._codes: dict[Any, int] = {None: -1}

    def code(self, value: Any) -> int:
        """The number of a value; one that is not known is -1."""
        try:
            return self._codes[value]
        except KeyError:
            pass
        except TypeError:  # a list, which is no value of a slice
            return self.code(str(value))
        name = str(value)
        code = next((i for i, each in enumerate(self.names) if each == name), len(self.names))
        if code == len(self.names):
            if code >= MOST_VALUES:
                code = MOST_VALUES
                name = REST
            if code == len(self.names):
                self.names.append(name)
        if len(self._codes) < 100_000:
            self._codes[value] = code
        return code


# --- hashes of texts ----------------------------------------------------------------------------------------------

_MIX, _SEED = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


def mixed(hashes: Array) -> Array:
    """The hashes with all bits stirred, so that each of them can choose a group."""
    h = hashes ^ (hashes >> np.uint64(32))
    h = h * _MIX
    return np.asarray(h ^ (h >> np.uint64(29)))


def as_bytes(texts: Sequence[str]) -> tuple[Array, Array]:
    """The bytes of all texts one after another, and where each begins; one place more at the end."""
    encoded = [each.encode("utf-8", "surrogatepass") for each in texts]
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(each) for each in encoded], out=ends[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def hash_bytes(data: Array, begins: Array) -> Array:
    """A 64-bit hash of each text; that of an empty one is 0, which means that it is not known.

    >>> a, b, empty = hash_bytes(*as_bytes(["a", "b", ""])).tolist()
    >>> a != b, empty
    (True, 0)
    """
    lengths = np.diff(begins)
    padded = np.concatenate([data, np.zeros(8, dtype=np.uint8)])
    words = np.ndarray((len(data) + 1,), "<u8", padded, strides=(1,))  # eight bytes from each place on
    found = lengths.astype(np.uint64) * _SEED
    left, at = np.flatnonzero(lengths), 0
    while len(left):
        word, size = words[begins[:-1][left] + at], lengths[left] - at
        short = size < 8
        word = np.where(short, word & ~(~np.uint64(0) << (8 * np.minimum(size, 7)).astype(np.uint64)), word)
        mixed_in = (found[left] ^ word) * _MIX
        found[left] = (mixed_in ^ (mixed_in >> np.uint64(32))) * _SEED
        left, at = left[size > 8], at + 8
    return np.where(lengths > 0, np.maximum(mixed(found), np.uint64(1)), np.uint64(0))


def sketch_bytes(data: Array, begins: Array) -> Array:
    """The character trigrams of each text as bits, in `SKETCH` words; rows are words."""
    found = np.zeros((SKETCH, len(begins) - 1), dtype=np.uint64)
    if len(data) < 3:
        return found
    wide = data.astype(np.uint32)
    trigram = np.zeros(len(data), dtype=np.uint32)
    trigram[:-2] = wide[:-2] | wide[1:-1] << np.uint32(8) | wide[2:] << np.uint32(16)
    bit = (trigram * np.uint32(2654435761)) >> np.uint32(24)
    left = np.repeat(begins[1:], np.diff(begins)) - np.arange(len(data))
    for word in range(SKETCH):
        inside = (bit >> np.uint32(6) == word) & (left >= 3)
        bits = np.where(inside, np.uint64(1) << (bit & np.uint32(63)).astype(np.uint64), np.uint64(0))
        found[word] = _sums(bits, begins, np.bitwise_or)
    return found


def _sums(words: Array, begins: Array, by: np.ufunc) -> Array:
    """The words of each text taken together; 0 for an empty one."""
    found = np.zeros(len(begins) - 1, dtype=np.uint64)
    some = np.diff(begins) > 0
    if some.any():
        found[some] = by.reduceat(words, begins[:-1][some])
    return found


def count_hashes(hashes: Array) -> tuple[Array, Array]:
    """Each different hash with how often it comes."""
    found = np.sort(hashes)
    starts = np.flatnonzero(np.append(True, found[1:] != found[:-1]))
    return found[starts], np.diff(np.append(starts, len(found)))


def hash_texts(texts: Iterable[str | None]) -> Array:
    """The hashes of texts, 0 for None."""
    return hash_bytes(*as_bytes([each or "" for each in texts]))


# --- from records -------------------------------------------------------------------------------------------------

Row = tuple[float, str | None, str | None, str | None, str | None, tuple[float, ...], tuple[int, ...]]
"""Time, event, session, user, query, values, codes of slices."""


class RowMaker:
    """Records to rows; `by` are the slices, `fields` further numbers whose means are wanted."""

    def __init__(
        self,
        schema: EventSchema,
        by: Sequence[str] = (),
        fields: Sequence[str] = (),
        change: Callable[[Event], Event | None] | None = None,
    ) -> None:
        self.schema, self.by, self.fields = schema, tuple(by), tuple(fields)
        self.codes = [Codes() for _ in self.by]
        self._change = change
        self._latest = schema.latest
        self._users: dict[int, str] = {}

    @property
    def changes(self) -> bool:
        """Whether the caller has a hook that must see each event."""
        return self._change is not None

    def block(self, rows: Sequence[Row]) -> EventBlock:
        """The rows as columns."""
        if not rows:
            return self.empty()
        time, event, session, user, query, values, slices = zip(*rows, strict=True)
        asked = as_bytes([(each or "").lower() for each in query])
        users = hash_texts(user)
        self.remember(users, user)
        return EventBlock(
            np.round(np.array(time, dtype=np.float64) * 1e6).astype(np.int64),
            np.stack([hash_texts(event), hash_texts(session), users, hash_bytes(*asked)]),
            sketch_bytes(*asked),
            np.array(values, dtype=np.float32).T.reshape(len(VALUES) + len(self.fields), len(rows)),
            np.array(slices, dtype=np.int32).T.reshape(len(self.by), len(rows)),
        )

    def remember(self, hashes: Array, names: Sequence[str | None]) -> None:
        """Keep the names of users who send much of a block: they may have to be named."""
        users, counts = count_hashes(hashes)
        for user in users[counts > 0.02 * len(hashes)].tolist():
            name = names[int(np.flatnonzero(hashes == np.uint64(user))[0])]
            if len(self._users) < 10_000 and name is not None:
                self._users[user] = name

    def name_of(self, user: int) -> str:
        """The name of a user who sends much, else his hash."""
        return self._users.get(user, f"{user:016x}")

    def empty(self) -> EventBlock:
        """A block of no events."""
        ids, sketch = (np.zeros((n, 0), dtype=np.uint64) for n in (4, SKETCH))
        values = np.zeros((len(VALUES) + len(self.fields), 0), dtype=np.float32)
        slices = np.zeros((len(self.by), 0), dtype=np.int32)
        return EventBlock(np.zeros(0, dtype=np.int64), ids, sketch, values, slices)

    def row(self, record: Any) -> Row | None:
        """The row of one record; None if the caller's own hook drops it, `Rejected` if it is no event."""
        if self._change is None:
            try:
                return self._usual(record)
            except (KeyError, TypeError, ValueError, AttributeError, IndexError):
                pass  # not of the usual shape: the long way says what it is, or why it is none
        event = self.schema.event(record)
        if self._change is not None:
            changed = self._change(event)
            if changed is None:
                return None
            event = changed
        return self.row_of(event)

    def _usual(self, r: dict[str, Any]) -> Row:
        """The row of a record of the usual shape, at speed; whatever is not of that shape raises."""
        found, _ = self.schema.places(r)
        if self.schema.sparse:
            raise KeyError
        ts = r[found["ts"]]
        if ts.__class__ is not float or not 1e9 <= ts < 1e11 or ts > self._latest:
            ts = self.schema.time(ts)
        size = margin = clicks = first = top = cited = citations = abstained = thumb = latency = NAN
        hits: Any = ()
        if "results" in found:
            hits = r[found["results"]] or ()
            size = len(hits)
            if size and hits.__class__ is not list:
                raise TypeError
            if size > 1:
                scores = sorted([hit["score"] for hit in hits], reverse=True)
                margin = scores[0] - scores[1]
                if not math.isfinite(sum(scores)):
                    raise ValueError
            elif size:
                hits[0]["id"]
        quoted: Any = ()
        if "citations" in found:
            quoted = r[found["citations"]] or ()
            citations = len(quoted)
            if citations and quoted.__class__ is not list:
                raise TypeError
        if "clicks" in found:
            made = r[found["clicks"]] or ()
            clicks = len(made)
            if clicks:
                if made.__class__ is not list or "ts" in made[0] or "time" in made[0]:
                    raise TypeError
                ranks = [click["rank"] for click in made]
                first, top = ranks[0], min(ranks)
                if not (top.__class__ is int and top > 0):
                    raise TypeError
            else:
                first = top = 0
            if citations > 0:
                cited = float(clicks > 0 and not {click["id"] for click in made}.isdisjoint(quoted))
        answer = r[found["answer"]] if "answer" in found else None
        if "abstained" in found:
            abstained = r[found["abstained"]]
            if abstained.__class__ is not bool:
                raise TypeError
        elif answer is not None:
            abstained = refuses(answer)
        if "thumb" in found:
            thumb = THUMBS[r[found["thumb"]]]
        if "latency_ms" in found:
            latency = r[found["latency_ms"]]
            if latency.__class__ not in (float, int) or not 0 <= latency < math.inf:
                raise TypeError
        event, session, user, query = (r[found[name]] if name in found else None for name in NAMED)
        for each in (event, session, user, query):
            if each is not None and each.__class__ is not str:
                raise TypeError
        values: tuple[Any, ...] = (size, margin, clicks, first, top, cited, citations)
        values += (NAN if answer is None else answer.strip() != "", abstained, thumb)
        values += (latency,)
        if self.fields:
            values += tuple(_number(r.get(name)) for name in self.fields)
        slices = tuple(
            code.code(_looked_up(r, found.get(name, name)))
            for code, name in zip(self.codes, self.by, strict=True)
        )
        return ts, event, session, user, query, values, slices

    def row_of(self, event: Event) -> Row:
        """The row of an event: the long way, which says what every column means."""
        values: tuple[float, ...] = (*_of_results(event), *_of_clicks(event), *_of_answer(event))
        values += (
            NAN if event.thumb is None else event.thumb,
            NAN if event.latency_ms is None else event.latency_ms,
        )
        values += tuple(_number(event.other.get(name)) for name in self.fields)
        slices = []
        for code, name in zip(self.codes, self.by, strict=True):
            value = getattr(event, name) if name in IDS else _looked_up(event.other, name)
            slices.append(code.code(value))
        return (event.ts, event.id, event.session, event.user, event.query, values, tuple(slices))


NAMED = ("id", "session", "user", "query")
IDS = ("id", "session", "user", "query", "variant", "thumb", "abstained")
"""Fields of an event that can be slices too."""


def _number(value: Any) -> float:
    """A number of a field whose mean is wanted; anything else is not known."""
    if isinstance(value, bool):
        return float(value)
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else NAN


def _looked_up(record: Mapping[str, Any], name: str) -> Any:
    """A value by its key, or by a path of keys with dots between."""
    if name in record:
        return record[name]
    found: Any = record
    for key in name.split("."):
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    return found


def _of_results(event: Event) -> tuple[float, float]:
    if event.results is None:
        return NAN, NAN
    scores = sorted((each.score for each in event.results if each.score is not None), reverse=True)
    full = len(scores) > 1 and len(scores) == len(event.results)
    return len(event.results), scores[0] - scores[1] if full else NAN


def _of_clicks(event: Event) -> tuple[float, ...]:
    if event.clicks is None:
        return NAN, NAN, NAN, NAN
    ranks = [each.rank for each in event.clicks if each.rank]
    first = event.clicks[0].rank if event.clicks else 0
    cited = NAN
    if event.citations:
        shown = {each.rank: each.id for each in event.results or ()}
        clicked = {each.id or shown.get(each.rank) for each in event.clicks}
        cited = float(not clicked.isdisjoint(event.citations))
    return len(event.clicks), first, min(ranks, default=0), cited


def _of_answer(event: Event) -> tuple[float, float, float]:
    citations = NAN if event.citations is None else len(event.citations)
    answered = NAN if event.answer is None else float(event.answer.strip() != "")
    if event.abstained is not None:
        return citations, answered, float(event.abstained)
    return citations, answered, NAN if event.answer is None else float(refuses(event.answer))
