"""The queries of a log as a sample of live traffic, in which no user dominates."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import PurePath
from typing import Any

import numpy as np

from rankproof.document.model import Displayable
from rankproof.document.numbers import count
from rankproof.errors import DataError
from rankproof.io.files import read_bytes, text_of
from rankproof.io.values import is_frame
from rankproof.monitoring.events import Event, EventSchema, Rejects, changed_events
from rankproof.monitoring.read import read_events
from rankproof.monitoring.vectors import normal_form

SAMPLE = 2000
"""The number of live queries in the sample."""
MOST_OF_ONE = 40
"""The largest number of queries of one user."""
NO_TIME = 1e9
LISTED = "listed ids"
NEEDED = ("ts", "user", "session", "query", "results")
"""The fields of an event that are used."""


@dataclass(frozen=True)
class LiveQueries(Displayable):
    """A sample of live queries; users take turns, each with a random query of theirs."""

    texts: list[str]
    users: list[str]
    """The user, else the session, else the event itself."""
    turn: list[int]
    """0 for the first query of each user, and so on."""
    shown: dict[str, list[str]]
    """The documents listed for a query when it was last asked, best first."""
    events: int
    """Events of the log that have a query."""
    without: int
    """Events without one."""
    rejected: dict[str, int]
    """The number of rejected records, by reason."""
    askers: int
    """Users (or sessions) of the whole log."""
    unit: str
    """The unit of the sample: user, session or query."""
    first: float | None
    last: float | None
    """The times of the first and the last event."""


def live_queries(log: Any, seed: int = 0, change: Callable[[Event], Event | None] | None = None) -> LiveQueries:
    """The live queries of a log: texts, events, records, a data frame, or a path.

    A user who sends the same query again in a session asks once. Users take turns until the sample is full, so one
    who sends half of the log is one among many.
    """
    rejects, without = Rejects(), 0
    seen: list[tuple[str, str, str | None, str | None]] = []  # as logs are long, nothing else of an event is kept
    shown: dict[str, tuple[str, ...]] = {}
    first, last = math.inf, -math.inf
    for event in changed_events(change, _events(log, rejects, change is not None)):
        words = normal_form(event.query) if event.query else ""
        if not words or event.query is None:
            without += 1
            continue
        seen.append((event.query, words, event.user, event.session))
        if listed := event.other.get(LISTED) or event.results:
            shown[event.query] = tuple(each if isinstance(each, str) else each.id for each in listed)
        if event.ts:
            first, last = min(first, event.ts), max(last, event.ts)
    if not seen:
        if not (read := without + rejects.total):
            dropped = "" if change is None else ", or the hook dropped all of it"
            raise DataError(f"the log is empty{dropped}. Next: check the path, and how the log was made.")
        raise DataError(
            f"the log: there is no query with a word in {count(read, 'record')}. "
            "Next: check that one of its fields is 'query'."
        )
    column = next((at for at in (2, 3) if _many([row[at] for row in seen])), None)
    asked: dict[str, dict[tuple[str | None, str], str]] = {}
    for number, row in enumerate(seen):
        asker = (None if column is None else row[column]) or f"#{number}"
        asked.setdefault(asker, {})[row[3], row[1]] = row[0]
    turns = list(_in_turns({who: list(found.values()) for who, found in asked.items()}, seed))
    return LiveQueries(
        texts=[text for _, _, text in turns],
        users=[who for who, _, _ in turns],
        turn=[turn for _, turn, _ in turns],
        shown={text: list(shown[text]) for _, _, text in turns if text in shown},
        events=len(seen),
        without=without,
        rejected=dict(rejects.reasons),
        askers=len(asked),
        unit={2: "user", 3: "session", None: "query"}[column],
        first=None if math.isinf(first) else first,
        last=None if math.isinf(last) else last,
    )


def _many(values: Sequence[str | None]) -> bool:
    """Whether most events have it, and it is not always the same."""
    known = [each for each in values if each]
    return len(known) > len(values) / 2 and len(set(known)) > 1


def _in_turns(asked: dict[str, list[str]], seed: int) -> Iterator[tuple[str, int, str]]:
    rng = np.random.default_rng(seed)
    names = list(asked)
    waiting = [names[at] for at in rng.permutation(len(names))]
    order: dict[str, list[int]] = {}
    taken = 0
    for turn in range(MOST_OF_ONE):
        for who in waiting:
            if who not in order:
                order[who] = rng.permutation(len(asked[who])).tolist()
            yield who, turn, asked[who][order[who][turn]]
            taken += 1
            if taken >= SAMPLE:
                return
        waiting = [who for who in waiting if len(asked[who]) > turn + 1]


class QuerySchema(EventSchema):
    """Texts, or records of which only the query is needed: neither a time nor the name "query"."""

    whole = False
    """Whether results are wanted as such, not only their ids."""

    def event(self, record: Any) -> Event:
        """The event, with the time 0 if it has none."""
        if isinstance(record, Event):
            return record
        if not isinstance(record, Mapping):
            return super().event(record)
        found, _ = self.places(record)
        needed = {name: record[found[name]] for name in NEEDED if name in found}
        if "query" not in needed and isinstance(record.get("text"), str):
            needed["query"] = record["text"]
        ids = None if self.whole else _ids_alone(needed.get("results"))
        if ids is not None:
            del needed["results"]
        event = super().event({"ts": NO_TIME, **needed})
        if ids:
            event.other[LISTED] = ids
        if "ts" not in needed:
            event.ts = 0.0
        return event


def _ids_alone(results: Any) -> list[str] | None:
    """The ids of results of the usual shape, which the log has in order; None if they must be looked at one by one."""
    if results.__class__ is not list:
        return None
    try:
        ids = [hit if hit.__class__ is str else hit["id"] for hit in results]
        scores = [hit["score"] for hit in results if hit.__class__ is dict and "score" in hit]
    except (KeyError, TypeError):
        return None
    usual = {*map(type, ids)} <= {str} and {*map(type, scores)} <= {float, int} and isfinite(sum(scores))
    return ids if usual else None


def _events(log: Any, rejects: Rejects, whole: bool) -> Iterator[Event]:
    if isinstance(log, str | os.PathLike) and ".txt" in PurePath(log).suffixes:
        text = text_of(read_bytes(log), str(log))
        if text.lstrip()[:1] not in ("{", "["):
            log = [line for line in text.splitlines() if line.strip()]
    if not isinstance(log, str | os.PathLike) and not is_frame(log) and isinstance(log, Iterable):
        log = list(log)
        texts = [each for each in log if isinstance(each, str)]
        if texts and not all(map(os.path.isfile, texts)):  # else they are the files of a log
            log = [Event(ts=0.0, query=each) if isinstance(each, str) else each for each in log]
    schema = QuerySchema()
    schema.whole = whole
    return read_events(log, schema, rejects)
