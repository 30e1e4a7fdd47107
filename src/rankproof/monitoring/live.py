"""The queries of a log as a sample of what people ask, in which no user speaks for the others."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from rankproof.errors import DataError
from rankproof.io.files import read_bytes, text_of
from rankproof.io.read import rows_of
from rankproof.monitoring.events import Event, EventSchema, Rejected
from rankproof.monitoring.vectors import normal_form

SAMPLE = 2000
"""Live queries that are looked at."""
MOST_OF_ONE = 40
"""Queries of one user among them at most."""
NO_TIME = 1e9


@dataclass(frozen=True)
class LiveQueries:
    """A sample of live queries; users take turns, each with a random query of theirs."""

    texts: list[str]
    users: list[str]
    """Who asked: the user, else the session, else nobody else."""
    turn: list[int]
    """0 for the first query of each user, and so on."""
    shown: dict[str, list[str]]
    """What was listed for a query when it was asked last, best first."""
    events: int
    """Events of the log that have a query."""
    without: int
    """Events without one, and records that are no event."""
    askers: int
    """Users (or sessions) of the whole log."""
    unit: str
    """What an asker is: user, session or query."""
    first: float | None
    last: float | None
    """The times of the first and the last event."""


def live_queries(log: Any, seed: int = 0) -> LiveQueries:
    """The live queries of a log: texts, events, records, a data frame, or a path.

    A user who sends the same query again in a session asks once. Users take turns until the sample is full, so one
    who sends half of the log is one among many.
    """
    events, without = [], 0
    for each in _events(log):
        if each is None or not each.query or not normal_form(each.query):
            without += 1
        else:
            events.append(each)
    if not events:
        raise DataError(
            f"the log: there is no query in {without:,} records. Next: check that one of its fields is 'query'."
        )
    unit = (
        "user"
        if _many(e.user for e in events)
        else "session"
        if _many(e.session for e in events)
        else "query"
    )
    asked: dict[str, dict[tuple[str | None, str], str]] = {}
    shown: dict[str, list[str]] = {}
    for number, event in enumerate(events):
        text = str(event.query)
        asker = {"user": event.user, "session": event.session}.get(unit) or f"#{number}"
        asked.setdefault(asker, {})[event.session, normal_form(text)] = text
        if event.results:
            shown[text] = [each.id for each in event.results]
    times = [event.ts for event in events if event.ts]
    turns = list(_in_turns({who: list(found.values()) for who, found in asked.items()}, seed))
    return LiveQueries(
        texts=[text for _, _, text in turns],
        users=[who for who, _, _ in turns],
        turn=[turn for _, turn, _ in turns],
        shown=shown,
        events=len(events),
        without=without,
        askers=len(asked),
        unit=unit,
        first=min(times, default=None),
        last=max(times, default=None),
    )


def _many(values: Iterable[str | None]) -> bool:
    """Whether most events have it, and it is not always the same."""
    given = list(values)
    known = [each for each in given if each]
    return len(known) > len(given) / 2 and len(set(known)) > 1


def _in_turns(asked: dict[str, list[str]], seed: int) -> Iterator[tuple[str, int, str]]:
    rng = np.random.default_rng(seed)
    names = list(asked)
    waiting = {names[at]: iter(rng.permutation(len(asked[names[at]]))) for at in rng.permutation(len(names))}
    taken = 0
    for turn in range(MOST_OF_ONE):
        for who in list(waiting):
            place = next(waiting[who], None)
            if place is None:
                del waiting[who]
                continue
            yield who, turn, asked[who][int(place)]
            taken += 1
            if taken >= SAMPLE:
                return


def _events(log: Any) -> Iterator[Event | None]:
    """The events of a log; None for a record that is none."""
    schema = EventSchema()
    for each in _records(log):
        if isinstance(each, Event):
            yield each
        elif isinstance(each, str):
            yield Event(ts=0.0, query=each)
        elif isinstance(each, Mapping):
            yield _event(each, schema)
        else:
            yield None


def _records(log: Any) -> Iterator[Any]:
    if isinstance(log, str | os.PathLike) and PurePath(log).suffix.lower() in (".txt", ""):
        text = text_of(read_bytes(log), str(log))
        if text.lstrip()[:1] not in ("{", "["):
            return (line for line in text.splitlines() if line.strip())
        log = [json.loads(line) for line in text.splitlines() if line.strip()]
    return (row.value for row in rows_of(log, "the log"))


def _event(record: Mapping[str, Any], schema: EventSchema) -> Event | None:
    """The record as an event; neither a time nor the name "query" is needed here."""
    found, _ = schema.places(record)
    needed = {name: record[found[name]] for name in ("user", "session", "query", "results") if name in found}
    if "query" not in needed and isinstance(record.get("text"), str):
        needed["query"] = record["text"]
    try:
        event = schema.event({**needed, "ts": record[found["ts"]] if "ts" in found else NO_TIME})
    except Rejected:
        return None
    if "ts" not in found:
        event.ts = 0.0
    return event
