"""Records to columns: those of the usual shape directly, others through `Event`; both give the same numbers.

A record is processed as soon as it is read, while it is in the cache of the processor: decoding some dozens first
and reading them field by field was slower by a half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.monitoring.event_block import (
    NAN,
    VALUES,
    Codes,
    EventBlock,
    UnusualShape,
    as_bytes,
    hash_bytes,
    join_blocks,
    sketch_bytes,
)
from rankproof.monitoring.event_values import DOWN, MOST_LATENCY, UP, Rejected, mask_value, vote
from rankproof.monitoring.events import Event, EventSchema, Hook, apply_hook
from rankproof.text.refusals import refuses

THUMBS: dict[Any, int] = {**dict.fromkeys(UP, 1), **dict.fromkeys(DOWN, -1), None: 0}
NAMED = ("id", "session", "user", "query")
SLICED = (*NAMED, "variant", "thumb", "abstained")
"""Fields of an event that can be slices too."""
NUMBERS = {float, int}
TIMES = {"ts", "time"}
"""Keys of a click that give its place among others."""
SMALL = 1024
"""The number of rows that become columns at once."""
Row = tuple[float, str | None, str | None, str | None, str | None, Sequence[float], tuple[float, ...], tuple[int, ...]]
"""Time, event, session, user, query, scores of results if all have one, values, codes of slices."""


class RowMaker:
    """The parts of events that are kept; `by` are the slices, `fields` further numbers whose means are wanted."""

    def __init__(
        self, schema: EventSchema, by: Sequence[str] = (), fields: Sequence[str] = (), change: Hook | None = None
    ) -> None:
        self.schema, self.by, self.fields, self.change = schema, tuple(by), tuple(fields), change
        self.codes = [Codes() for _ in self.by]
        self._users: dict[int, str] = {}

    def remember(self, hashes: Array, name: Callable[[int], str | None]) -> None:
        """Keep the names of users who send much of a block: they may have to be named."""
        some = hashes[:: max(len(hashes) // 2000, 1)]
        users, counts = np.unique(some, return_counts=True)
        for user in users[counts > 0.02 * len(some)].tolist():
            if user and user not in self._users and len(self._users) < 10_000:
                self._users[user] = self.show_id(str(name(int(np.flatnonzero(hashes == np.uint64(user))[0]))))

    def show_id(self, value: Any) -> Any:
        """An id as it may be shown: with a hook nothing personal is, though users stay as many as they are."""
        return value if self.change is None else mask_value(value)

    def name_of(self, user: int) -> str:
        """The name of a user who sends much, else his hash."""
        return self._users.get(user, f"{user:016x}")

    def slice_places(self, keys: Iterable[str]) -> list[tuple[str, str]]:
        """Where the value of each slice is in records of these keys: ("field", name) or ("key", path)."""
        found, others = self.schema.places(keys)
        places = []
        for name in self.by:
            field = name if name in found or name in others else self.schema.field_of(name)
            places.append(("field", field) if field in SLICED and field in found else ("key", name))
        return places


class RecordColumns:
    """Records in, blocks out; `reject` is called for each record that is not an event."""

    def __init__(self, maker: RowMaker, reject: Callable[..., object]) -> None:
        self._maker, self._reject = maker, reject
        self._rows: list[Row] = []
        self._parts: list[EventBlock] = []
        self._kept = 0
        self._plan = lru_cache(1000)(lambda keys: (*maker.schema.places(keys), maker.slice_places(keys)))
        """Where the fields, and the slices, of records with these keys are."""

    def __len__(self) -> int:
        return self._kept + len(self._rows)

    def add(self, name: str, at: int, record: Any) -> bool:
        """One more record with its place; whether it is an event."""
        row: Row | None
        try:
            row = self._usual(record)
        except (UnusualShape, KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
            try:
                row = self._any(record)
            except Rejected as error:
                self._reject(error, name, at, record)
                return False
            if row is None:
                return False
        self._rows.append(row)
        if len(self._rows) == SMALL:
            self._keep()
        return True

    def block(self) -> EventBlock:
        """All that was added since the last block, in its order."""
        if self._rows or not self._parts:
            self._keep()
        parts, self._parts, self._kept = self._parts, [], 0
        return join_blocks(parts)

    def _any(self, record: Any) -> Row | None:
        """The row of any record, which says what every column means; None if the caller's own hook drops it."""
        maker, event = self._maker, self._maker.schema.event(record)
        if maker.change is not None:
            changed = apply_hook(maker.change, event)
            if changed is None:
                return None
            event = changed
        values = (*_values_of(event), *(_number(event.other.get(name)) for name in maker.fields))
        slices = tuple(
            codes.code(maker.show_id(getattr(event, key)) if kind == "field" else looked_up(event.other, key))
            for codes, (kind, key) in zip(maker.codes, maker.slice_places(record), strict=True)
        )
        return event.ts, event.id, event.session, event.user, event.query, (), values, slices

    def _usual(self, r: dict[str, Any]) -> Row:
        """The row of a record of the usual shape, fast; any other shape raises."""
        maker = self._maker
        if r.__class__ is not dict or maker.change is not None or maker.schema.sparse:
            raise UnusualShape
        found, others, sliced = self._plan(tuple(r))
        ts = r[found["ts"]]
        if ts.__class__ is not float or not 1e9 <= ts < 1e11 or ts > maker.schema.latest:
            ts = maker.schema.time(ts)
        size = margin = clicks = first = top = cited = citations = abstained = thumb = latency = NAN
        hits: Any = ()
        scores: Any = ()
        if "results" in found:
            hits = r[found["results"]] or ()
            size = len(hits)
            if size:
                if hits.__class__ is not list:
                    raise UnusualShape
                if hits[0].__class__ is dict:
                    scores = [hit["score"] for hit in hits if hit["id"].__class__ is str]
                    if len(scores) != size or not {*map(type, scores)} <= NUMBERS or not isfinite(sum(scores)):
                        raise UnusualShape
                elif not all(hit.__class__ is str for hit in hits):
                    raise UnusualShape
        quoted: Any = ()
        if "citations" in found:
            quoted = r[found["citations"]] or ()
            citations = len(quoted)
            if citations and (quoted.__class__ is not list or not all(each.__class__ is str for each in quoted)):
                raise UnusualShape
        if "clicks" in found:
            made = r[found["clicks"]] or ()
            clicks = len(made)
            if clicks:
                if made.__class__ is not list:
                    raise UnusualShape
                docs, ranks = _clicked(made, hits)
                first, top = ranks[0], min(filter(None, ranks), default=0)
                if citations > 0:
                    cited = float(not docs.isdisjoint(quoted))
            else:
                first = top = 0
                if citations > 0:
                    cited = 0.0
        answer = r[found["answer"]] if "answer" in found else None
        if "abstained" in found:
            abstained = r[found["abstained"]]
            if abstained.__class__ is not bool:
                raise UnusualShape
        elif answer is not None:
            abstained = refuses(answer)
        if "thumb" in found:
            thumb = r[found["thumb"]]
            thumb = THUMBS[thumb] if thumb is None or thumb.__class__ is str else vote(thumb)
        if "latency_ms" in found:
            latency = r[found["latency_ms"]]
            if latency.__class__ not in NUMBERS or not 0 <= latency <= MOST_LATENCY:
                raise UnusualShape
        named = [r[found[name]] if name in found else None for name in NAMED]
        for each in named:
            if each is not None and each.__class__ is not str:
                raise UnusualShape
        answered = NAN if answer is None else answer.strip() != ""
        values: tuple[float, ...] = (
            size, margin, clicks, first, top, cited, citations, answered, abstained, thumb, latency,
        )  # fmt: skip
        if maker.fields:
            values += tuple(_number(r[name]) if name in others else NAN for name in maker.fields)
        slices: tuple[int, ...] = ()
        for codes, (kind, key) in zip(maker.codes, sliced, strict=True):
            if kind == "key":
                value = looked_up(r, key) if key.partition(".")[0] in others or key in others else None
            else:
                value = r[found[key]] if key != "thumb" else int(thumb)
                if key == "variant" and value is not None and value.__class__ is not str:
                    raise UnusualShape
            slices += (codes.code(value),)
        event, session, user, query = named
        return ts, event, session, user, query, scores, values, slices

    def _keep(self) -> None:
        """The rows as columns: a few at a time, so that what they are made of is still in the cache."""
        rows, self._rows = self._rows, []
        n, maker = len(rows), self._maker
        time, *named, scores, values, slices = zip(*rows, strict=True) if rows else [()] * 8
        asked = as_bytes([each.lower() if each else "" for each in named[NAMED.index("query")]])
        hashes = [hash_bytes(*as_bytes([text or "" for text in each])) for each in named[:-1]]
        users = named[NAMED.index("user")]
        maker.remember(hashes[NAMED.index("user")], users.__getitem__)
        with np.errstate(over="ignore"):  # the margin of scores beyond 1e38 is infinite
            columns = np.array(values, dtype=np.float32).reshape(n, len(VALUES) + len(maker.fields)).T.copy()
        lengths = np.array(list(map(len, scores)), dtype=np.int64)
        begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        flat = np.array(list(chain.from_iterable(scores)), dtype=np.float64)
        margins(flat, begins, lengths, columns[VALUES.index("margin")])
        codes = np.array(slices, dtype=np.int32).reshape(n, len(maker.by)).T
        seconds = np.round(np.array(time, dtype=np.float64) * 1e6).astype(np.int64)
        ids = np.stack([*hashes, hash_bytes(*asked)])
        self._parts.append(EventBlock(seconds, ids, sketch_bytes(*asked), columns, codes))
        self._kept += n


def margins(scores: Array, begins: Array, lengths: Array, margin: Array) -> None:
    """The best score minus the second best of each list of two or more."""
    several = np.flatnonzero(lengths > 1)
    if not len(several):
        return
    starts = begins[:-1]
    rises = scores[1:] > scores[:-1]
    between = begins[1:-1] - 1  # the last of one list and the first of the next
    rises[between[(between >= 0) & (between < len(rises))]] = False
    disordered = set((np.searchsorted(begins, np.flatnonzero(rises), side="right") - 1).tolist())
    with np.errstate(over="ignore"):
        margin[several] = scores[starts[several]] - scores[starts[several] + 1]
        for at in disordered:
            best = np.sort(scores[starts[at] : begins[at + 1]])[-2:]
            margin[at] = best[1] - best[0]


def _clicked(clicks: list[Any], hits: Sequence[Any]) -> tuple[set[str | None], list[int]]:
    """The documents that were clicked, and the rank of each click, 0 if it is not known: the results say the other."""
    docs, ranks = set(), []
    shown: list[str] | None = None
    for click in clicks:
        if click.__class__ is dict:
            if len(click) > 2 and not TIMES.isdisjoint(click):
                raise UnusualShape
            doc, rank = (click.get("id"), click.get("rank")) if len(click) == 1 else (click["id"], click["rank"])
        else:
            doc, rank = (click, None) if click.__class__ is str else (None, click)
        if not (doc is None or doc.__class__ is str) or not (rank is None or (rank.__class__ is int and rank > 0)):
            raise UnusualShape
        if not doc or rank is None:
            if shown is None:
                if any(hit.__class__ is dict and hit.get("rank") not in (None, at) for at, hit in enumerate(hits, 1)):
                    raise UnusualShape
                shown = [hit if hit.__class__ is str else hit["id"] for hit in hits]  # each at its place
            if click.__class__ is int and str(click) in shown:
                raise UnusualShape  # it is the id of a result
            if rank is None:
                if doc is None:
                    raise UnusualShape
                rank = shown.index(doc) + 1 if doc in shown else 0
            elif rank <= len(shown):
                doc = shown[rank - 1]
        docs.add(doc)
        ranks.append(rank)
    return docs, ranks


def _number(value: Any) -> float:
    """A number of a field whose mean is wanted, also as a CSV has it; other values count as not known."""
    try:
        plain = {"true": 1, "false": 0}.get(value.strip().lower(), value) if isinstance(value, str) else value
        found = float(plain) if isinstance(plain, (Real, Decimal, str)) else NAN
    except (OverflowError, ValueError):
        return NAN
    return found if isfinite(found) else NAN


def looked_up(record: Mapping[str, Any], name: str) -> Any:
    """A value by its key, or by a path of keys with dots between."""
    if name in record:
        return record[name]
    found: Any = record
    for key in name.split("."):
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    return found


def _values_of(event: Event) -> tuple[float, ...]:
    """The numbers of an event, as in `VALUES`."""
    size = margin = clicks = first = top = cited = citations = answered = NAN
    abstained = event.abstained
    if event.results is not None:
        size = len(event.results)
        scores = sorted((each.score for each in event.results if each.score is not None), reverse=True)
        margin = scores[0] - scores[1] if 1 < len(scores) == size else NAN
    if event.citations is not None:
        citations = len(event.citations)
    if event.clicks is not None:
        clicks = len(event.clicks)
        first = event.clicks[0].rank if event.clicks else 0
        top = min((each.rank for each in event.clicks if each.rank), default=0)
        if event.citations:
            shown = {each.rank: each.id for each in event.results or ()}
            clicked = {each.id or shown.get(each.rank) for each in event.clicks}
            cited = not clicked.isdisjoint(event.citations)
    if event.answer is not None:
        answered = event.answer.strip() != ""
        abstained = refuses(event.answer) if abstained is None else abstained
    found = size, margin, clicks, first, top, cited, citations, answered, abstained, event.thumb, event.latency_ms
    return tuple(NAN if each is None else float(each) for each in found)
