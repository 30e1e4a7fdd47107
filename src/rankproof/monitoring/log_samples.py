"""Samples of a log: its queries as live traffic, in which no user dominates, and events with their answers for a judge.

The judge is an argument: anything that takes rows of query, contexts and answer and returns values by row, so that
questions no user answers (is the answer faithful?) get an interval. Texts are masked before it sees them. Its sample
depends only on the seed and on the events, not on their order: each event has a pseudo-random number made from its
content, and those with the lowest numbers are judged, so a duplicate event counts once.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import math
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np

from rankproof.core.audit import Finding
from rankproof.document.model import Displayable
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError
from rankproof.io.values import is_frame
from rankproof.monitoring.difference_words import unread
from rankproof.monitoring.event_block import join_blocks
from rankproof.monitoring.events import Event, EventSchema, Hook, Rejects, apply_hook, changed_events, mask
from rankproof.monitoring.online_metrics import OnlineEstimate, OnlineMetric, metrics
from rankproof.monitoring.read import LogReader, read_events
from rankproof.monitoring.rows import RowMaker
from rankproof.monitoring.sessions_and_windows import LAST
from rankproof.monitoring.window_sums import Sums
from rankproof.monitoring.words import no_event
from rankproof.scoring.protocol import ScoresLike

SAMPLE = 2000
"""The number of live queries in the sample."""
MOST_OF_ONE = 40
"""The largest number of queries of one user."""
NO_TIME = 1e9
LISTED = "listed ids"
NEEDED = ("ts", "id", "user", "session", "query", "results")
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


def live_queries(log: Any, seed: int = 0, change: Hook | None = None) -> LiveQueries:
    """The live queries of a log: texts, events, records, a data frame, or a path.

    A user who sends the same query again in a session asks once. Users take turns until the sample is full, so one
    who sends half of the log is one among many.
    """
    rejects, without = Rejects(silent=change is not None), 0
    taken: dict[Any, tuple[str, str, str | None, str | None]] = {}  # as logs are long, nothing else is kept
    shown: dict[str, tuple[str, ...]] = {}
    first, last = math.inf, -math.inf
    for event in changed_events(change, _events(log, rejects, change is not None)):
        words = normal_form(event.query) if event.query else ""
        if not words or event.query is None:
            without += 1
            continue
        taken.setdefault((event.id, words) if event.id else len(taken), (event.query, words, event.user, event.session))
        if listed := event.other.get(LISTED) or event.results:
            shown[event.query] = tuple(each if isinstance(each, str) else each.id for each in listed)
        if event.ts:
            first, last = min(first, event.ts), max(last, event.ts)
    seen = list(taken.values())
    if not seen:
        if not (without or rejects.total):
            raise no_event(rejects)
        advice = "check that one of its fields is 'query'"
        if not without:
            advice = "mend them, or write queries as JSON lines or a CSV with the field 'query'"
        raise DataError(
            f"the log: there is no query with a word in {count(without + rejects.total, 'record')}."
            f"{unread(rejects.reasons, 'record')} Next: {advice}."
        )
    known = {at: [row[at] for row in seen if row[at]] for at in (2, 3)}
    # What most events have, and what is not always the same.
    column = next((at for at, ids in known.items() if len(ids) > len(seen) / 2 and len(set(ids)) > 1), None)
    asked: dict[str, dict[tuple[str | None, str], str]] = {}
    for number, row in enumerate(seen):
        asker = (None if column is None else row[column]) or f"#{number}"
        asked.setdefault(asker, {})[row[3], row[1]] = row[0]
    turns = list(islice(_in_turns({who: list(found.values()) for who, found in asked.items()}, seed), SAMPLE))
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


def _in_turns(asked: dict[str, list[str]], seed: int) -> Iterator[tuple[str, int, str]]:
    rng = np.random.default_rng(seed)
    names = list(asked)
    waiting = [names[at] for at in rng.permutation(len(names))]
    for turn in range(MOST_OF_ONE):
        for who in waiting:
            if not turn:
                asked[who] = [asked[who][at] for at in rng.permutation(len(asked[who]))]
            yield who, turn, asked[who][turn]
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
    if isinstance(log, Iterable) and not isinstance(log, str | os.PathLike | Mapping) and not is_frame(log):
        log = list(log)
        texts = [each for each in log if isinstance(each, str)]
        if texts and not all(map(os.path.isfile, texts)):  # else they are the files of a log
            log = [Event(ts=0.0, query=each) if isinstance(each, str) else each for each in log]
    schema = QuerySchema()
    schema.whole = whole
    return read_events(log, schema, rejects)


LONGEST = 400
"""The number of characters of a query that are used."""


def normal_form(text: str) -> str:
    """A text without case, compatibility forms and punctuation, with single blanks.

    >>> normal_form("  Where’s my  ORDER?")
    'where s my order'
    """
    if text.isascii():
        return " ".join(text[:LONGEST].lower().translate(_ASCII_MARKS).split())
    folded = unicodedata.normalize("NFKC", text[:LONGEST]).casefold()
    return " ".join("".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in folded).split())


_ASCII_MARKS = {point: " " for point in range(128) if not chr(point).isalnum()}
CONTEXTS = "contexts"
"""The name in `other` of an event under which a hook finds the texts of retrieved documents."""
LISTS = ("contexts", "retrieved_contexts")
TEXTS = ("text", "content", "page_content", "passage", "snippet", "body")
"""Keys of a record, and of a result in it, under which such texts are."""
Rows = list[dict[str, Any]]
PROBLEMS = ("judge-problems", "nothing-measured", "unmeasured")
"""Kinds of findings that say why there is no number."""
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
    thin: tuple[str, ...] = ()
    """Metrics without a mean: what could be measured is fewer than half, and not like the rest."""
    problems: tuple[Finding, ...] = ()
    """What went wrong with the judge: an error if nothing was measured, or every call failed."""


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
    log: Any, schema: EventSchema, number: int, seed: int, change: Hook | None, texts: Mapping[str, str] | None = None
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
    like: Sums,
    change: Hook | None,
    texts: Mapping[str, str] | None,
) -> tuple[JudgedEvents, list[OnlineMetric], list[OnlineEstimate], list[OnlineEstimate]]:
    """What was judged, the metrics, their estimates over the log and those by window, with the settings of `like`."""
    events, found = sample_events(log, schema, number, seed, change, texts)
    if not events:
        raise DataError("judge: no event has a query and an answer. Next: log both, or name their columns.")
    rows = [{"id": f"e{at}", "query": each.query, "answer": each.answer} for at, each in enumerate(events)]
    for row, each in zip(rows, events, strict=True):
        if contexts := each.other.get(CONTEXTS):
            row[CONTEXTS] = contexts
    scores = judge(rows)
    values = _values(scores, rows)
    audited = scores if isinstance(scores, ScoresLike) else None
    thin = () if audited is None else tuple(name for name in values if audited.thin(name))
    problems = () if audited is None else tuple(each for each in audited.audit if each.kind in PROBLEMS)
    names = list(values)
    # The texts for the judge are left out: of an event, only its user, time, slices and values are counted.
    maker = RowMaker(EventSchema(), like.by, names, None if change is None else lambda event: event)  # changed already
    records = []
    for at, each in enumerate(events):
        known = {name: getattr(each, name) for name in ("ts", "user", "session", "variant")}
        other = {key: value for key, value in each.other.items() if key not in (*LISTS, "results")}
        other |= {name: getattr(each, field) for field, name in (columns or {}).items() if field in known}
        given = {name: value for name, value in (other | known).items() if value is not None}
        records.append(given | {name: column[at] for name, column in values.items()})
    block = join_blocks(list(LogReader(maker, Rejects()).blocks(records)))
    unknown = np.full((2, len(block)), np.nan, dtype=np.float32)  # their sessions are not used
    fields = metrics((), names)[-len(names) :]
    declared = [replace(each, sentence=f"{each.name} by the judge, of a sample") for each in fields]
    sums = Sums(declared, like.by, maker.codes, like.calendar, names, like.level, like.cluster)
    sums.add(replace(block, values=np.vstack([block.values, unknown])))
    sums.close(LAST)
    shown = values.keys() - thin
    estimates = [each for each in sums.estimates(sums.total) if each.metric in shown]
    name_of_judge = str(getattr(judge, "name", None) or getattr(judge, "__name__", "a judge"))
    told = {name: sum(value is not None for value in column) for name, column in values.items()}
    sample = JudgedEvents(name_of_judge, seed, found, len(events), told, thin, problems)
    return sample, declared, estimates, [each for each in sums.windows if each.metric in shown]


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
