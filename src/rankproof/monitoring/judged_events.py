"""A sample of a log for a judge, so that questions no user answers (is the answer faithful?) get an interval.

The judge is handed in: anything that takes rows of query, contexts and answer and gives values by row. Texts are
masked before it sees them. The sample depends on the seed and on the events alone, not on their order: each event has
a random number made from its content, and those with the least ones are judged, so an event that came twice is one.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankproof.document.model import Displayable
from rankproof.errors import DataError, UsageError
from rankproof.monitoring.block import join_blocks
from rankproof.monitoring.events import Event, EventSchema, Rejects, apply_hook, mask
from rankproof.monitoring.online_metrics import OnlineEstimate, OnlineMetric, metrics
from rankproof.monitoring.read import LogReader, read_events
from rankproof.monitoring.rows import RowMaker
from rankproof.monitoring.sessions_and_windows import LAST, Calendar
from rankproof.monitoring.sums import Sums

CONTEXTS = "contexts"
"""The name in `other` of an event under which a hook finds the texts of retrieved documents."""
LISTS = ("contexts", "retrieved_contexts")
TEXTS = ("text", "content", "page_content", "passage", "snippet", "body")
"""Keys of a record, and of a result in it, under which such texts are."""
Rows = list[dict[str, Any]]
JudgeOfRows = Callable[[Rows], Any]
"""Gives `{metric: [value of each row, None if there is none]}`, or scores as `rankproof.Judge` does."""


@dataclass(frozen=True)
class JudgedEvents(Displayable):
    """The judged sample."""

    judge: str
    seed: int
    events: int
    """Lines of the log with a query and an answer."""
    sampled: int
    values: dict[str, int]
    """How many got a value, by metric."""


class SampleSchema(EventSchema):
    """Events with the texts of their contexts beside them."""

    def event(self, record: Any) -> Event:
        """The event; `other` has its contexts if their texts are known."""
        event = super().event(record)
        texts = next((record[name] for name in LISTS if isinstance(record.get(name), list)), None)
        if texts is None:
            results = record.get(self.places(record)[0].get("results", ""))
            texts = [_text(each) for each in results] if isinstance(results, list) else []
        event.other[CONTEXTS] = [each for each in map(_text, texts) if each]
        return event


def _text(value: Any) -> str | None:
    if isinstance(value, Mapping):
        return next((value[key] for key in TEXTS if isinstance(value.get(key), str)), None)
    return value if isinstance(value, str) and " " in value else None  # without a blank it is an id


def sample_events(
    log: Any,
    schema: EventSchema,
    number: int,
    seed: int,
    change: Callable[[Event], Event | None] | None,
    texts: Mapping[str, str] | None = None,
) -> tuple[list[Event], int]:
    """A random sample of the events with a query and an answer, and of how many lines."""
    heap: list[tuple[int, int, Event]] = []
    taken: set[int] = set()
    found = 0
    for at, event in enumerate(read_events(log, schema)):
        if not event.query or not (event.answer or "").strip():
            continue
        found += 1
        # A random number that the same event always has.
        what = [seed, event.id] if event.id else [seed, event.ts, event.user, event.session, event.query, event.answer]
        place = int.from_bytes(hashlib.blake2b(json.dumps(what).encode(), digest_size=8).digest(), "big")
        if place in taken or (len(heap) >= number and place >= -heap[0][0]):
            continue
        if texts is not None and not event.other.get(CONTEXTS):
            event.other[CONTEXTS] = [texts[each.id] for each in event.results or () if each.id in texts]
        changed = event if change is None else apply_hook(change, event)
        if changed is None:
            continue
        changed = mask(changed)  # always: a hook may hash ids alone
        taken.add(place)
        heapq.heappush(heap, (-place, at, changed))
        if len(heap) > number:
            taken.discard(-heapq.heappop(heap)[0])
    return [event for _, _, event in sorted(heap, key=lambda each: each[:2], reverse=True)], found


def judge_events(
    log: Any,
    judge: JudgeOfRows,
    number: int,
    *,
    seed: int,
    schema: SampleSchema,
    columns: Mapping[str, str] | None,
    by: Sequence[str],
    calendar: Calendar,
    level: float,
    cluster: str,
    change: Callable[[Event], Event | None] | None = None,
    texts: Mapping[str, str] | None = None,
) -> tuple[JudgedEvents, list[OnlineMetric], list[OnlineEstimate], list[OnlineEstimate]]:
    """What was judged, the metrics, their estimates over the log and those by window."""
    events, found = sample_events(log, schema, number, seed, change, texts)
    if not events:
        raise DataError("judge: no event has a query and an answer. Next: log both, or name their columns.")
    rows = [
        {"id": f"e{at}", "query": each.query, "answer": each.answer}
        | ({CONTEXTS: each.other[CONTEXTS]} if each.other.get(CONTEXTS) else {})
        for at, each in enumerate(events)
    ]
    values = _values(judge(rows), rows)
    names = list(values)
    # The texts for the judge are left out: of an event, only its user, time, slices and values are counted.
    maker = RowMaker(EventSchema(), by, names, None if change is None else lambda event: event)  # changed already
    records = []
    for at, each in enumerate(events):
        known = {name: getattr(each, name) for name in ("ts", "user", "session", "variant")}
        other = {key: value for key, value in each.other.items() if key not in (*LISTS, "results")}
        other |= {name: getattr(each, field) for field, name in (columns or {}).items() if field in known}
        given = {name: value for name, value in (other | known).items() if value is not None}
        records.append(given | {name: column[at] for name, column in values.items()})
    block = join_blocks(list(LogReader(maker, Rejects()).blocks(records)))
    unknown = np.full((2, len(block)), np.nan, dtype=np.float32)  # their sessions are not used
    declared = [
        replace(each, sentence=f"{each.name} by the judge, of a sample") for each in metrics((), names)[-len(names) :]
    ]
    sums = Sums(declared, by, maker.codes, calendar, names, level, cluster)
    sums.add(replace(block, values=np.vstack([block.values, unknown])))
    sums.close(LAST)
    estimates = [each for each in sums.estimates(sums.total) if each.metric in values]
    name_of_judge = str(getattr(judge, "name", None) or getattr(judge, "__name__", "a judge"))
    told = {name: sum(value is not None for value in column) for name, column in values.items()}
    sample = JudgedEvents(name_of_judge, seed, found, len(events), told)
    return sample, declared, estimates, [each for each in sums.windows if each.metric in values]


def _values(found: Any, rows: Rows) -> dict[str, list[float | None]]:
    """The values of each metric by row, from a mapping or from scores."""
    if hasattr(found, "query_ids") and hasattr(found, "columns"):
        values = {str(name): found.values(name) for name in found.columns}
        return {name: [_share(name, each.get(row["id"])) for row in rows] for name, each in values.items()}
    if not isinstance(found, Mapping) or not all(
        isinstance(each, Sequence | np.ndarray) and len(each) == len(rows) for each in found.values()
    ):
        raise UsageError(
            f"judge: expected {{metric: one value for each of {len(rows)} rows}}. Next: return such a mapping."
        )
    return {str(name): [_share(name, each) for each in column] for name, column in found.items()}


def _share(name: str, value: Any) -> float | None:
    if value is None or value != value:
        return None
    if isinstance(value, str) or not 0 <= float(value) <= 1:
        raise UsageError(f"judge: got {value!r} for {name}, expected a number from 0 to 1. Next: scale it so.")
    return float(value)
