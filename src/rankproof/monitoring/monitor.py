"""`monitor`: the log of a search engine or an assistant in, online metrics with intervals by user out.

print(monitor("search.jsonl", by=["variant"], timezone="Europe/Berlin"))
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rankproof.document.model import Document, Result
from rankproof.document.numbers import count, setting
from rankproof.errors import (
    DataError,
    NotThere,
    UsageError,
    UserCode,
    check_each,
    check_number,
    check_one_of,
    check_whole,
    shorten,
)
from rankproof.io.corpora import load_corpus
from rankproof.monitoring import words
from rankproof.monitoring.alerts import Alarm, Alert, AlertRule, check_rules, read_rules, rules_of
from rankproof.monitoring.change_point import MetricChange, metric_changes
from rankproof.monitoring.event_block import USER, EventBlock
from rankproof.monitoring.events import FIELD_NAMES, Event, EventSchema, Rejects
from rankproof.monitoring.interleave import VariantDifference, compare_variants
from rankproof.monitoring.log_samples import JudgedEvents, JudgeOfRows, SampleSchema, judge_events
from rankproof.monitoring.online_metrics import (
    CUTOFFS,
    PERCENTILES,
    OnlineEstimate,
    OnlineMetric,
    Percentile,
    by_name,
    metrics,
)
from rankproof.monitoring.outages import Outage, StepCounts
from rankproof.monitoring.read import LogReader
from rankproof.monitoring.rows import RowMaker
from rankproof.monitoring.sessions_and_windows import LAST, SECOND, Calendar, LineCounts, Sessions, zone_named
from rankproof.monitoring.window_sums import HeavyUser, Senders, Sums
from rankproof.suggestions import nearest

JUDGED = 100
"""The default number of events that a judge is asked about."""
CLUSTERS = ("user", "session")
TURNS, OF_A_TURN = 8, 100
"""In so many steps at least a file that was sorted is summed, so that few windows are open at once."""


@dataclass(eq=False)
class Monitor(Result):
    """Online metrics of a log: `estimates` over all events, `windows` over time, and by slice."""

    more_formats = ("prometheus", "otel")

    estimates: list[OnlineEstimate]
    """Each metric over the whole log: of all events, and of each value of each slice."""
    windows: list[OnlineEstimate]
    """The same by window."""
    profile: list[OnlineEstimate]
    """The same by weekday (0 is Monday) and by hour, in the time zone."""
    counts: LineCounts
    read: int
    """Lines that were events, before duplicates were merged."""
    rejected: dict[str, int]
    """The number of rejected lines, by reason."""
    examples: dict[str, list[str]]
    """The first rejected lines of each reason."""
    heavy: list[HeavyUser]
    metrics: tuple[OnlineMetric | Percentile, ...]
    calendar: Calendar
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    alerts: list[Alert] = field(default_factory=list)
    """The result of each alert rule."""
    judged: JudgedEvents | None = None
    """The events that a judge was asked about; its metrics are among the others."""
    undelivered: list[str] = field(default_factory=list)
    """Why webhooks did not get the alerts."""
    outages: list[Outage] = field(default_factory=list)
    """Hours without events, sources that went silent, bursts of errors."""

    def __getitem__(self, metric: str) -> float:
        """The value of a metric over the whole log."""
        return self.estimate(metric).value

    def estimate(self, metric: str, slice: str = "", group: str = "") -> OnlineEstimate:
        """One metric over the whole log, or of one value of a slice."""
        for each in self.estimates:
            if each.key == (metric, slice, group):
                return each
        known = {each.metric for each in self.estimates}
        if metric in known:
            groups = sorted({f"{e.slice}={e.group}" for e in self.estimates if e.slice}) or ["none"]
            raise NotThere(
                f"slice: got {slice}={group}, which has no {metric}; there are {', '.join(groups[:10])}. "
                f"Next: choose one, or name the slice with {setting('by')}."
            )
        declared = {each.name: each for each in self.metrics}
        if metric in declared:
            needs = " and ".join(declared[metric].needs)
            raise NotThere(f"{metric}: no event has what it needs ({needs}). Next: log it, or name its column.")
        raise NotThere(f"metric: got {metric!r}, which is none.{nearest(metric, declared)} Next: see .metrics.")

    def series(self, metric: str, slice: str = "", group: str = "") -> list[OnlineEstimate]:
        """One metric by window, in order of time."""
        self.estimate(metric, slice, group)
        return [each for each in self.windows if each.key == (metric, slice, group)]

    @cached_property
    def changes(self) -> list[MetricChange]:
        """The metrics that moved for good, and from which window on; false alarms at 5 % over all of them."""
        return metric_changes(self.windows, self.calendar)

    @cached_property
    def variants(self) -> list[VariantDifference]:
        """Each variant against the first (or the one called control), with intervals that hold at every look."""
        return compare_variants([each for each in self.estimates if each.slice == "variant"])

    @property
    def events(self) -> int:
        """Events, each counted once."""
        return self.counts.events

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return words.as_dict(self)

    def _document(self) -> Document:
        return words.monitor(self)

    def _in_one_line(self) -> str:
        shown = ", ".join(f"{e.metric}={e.value:.3g}" for e in self.estimates[:3] if not e.slice)
        return f"<Monitor of {count(self.events, 'event')}: {shown}>"


def monitor(
    log: Any,
    *,
    by: Sequence[str] | None = None,
    window: str = "day",
    timezone: str = "UTC",
    columns: Mapping[str, str] | None = None,
    sparse: Iterable[str] = (),
    fields: Sequence[str] = (),
    cutoffs: Sequence[int] = CUTOFFS,
    cluster: str = "user",
    level: float = 0.95,
    lateness: float | None = None,
    change: Callable[[Event], Event | None] | None = None,
    on_rejected: Callable[[str], object] | None = None,
    on_window: Callable[[list[OnlineEstimate]], object] | None = None,
    alerts: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | None = None,
    state: str | os.PathLike[str] | None = None,
    webhook: str | Sequence[str] = (),
    judge: JudgeOfRows | None = None,
    judge_sample: int = JUDGED,
    corpus: Any = None,
    seed: int = 0,
    on_alert: Callable[[Alert], object] | None = None,
) -> Monitor:
    """Online metrics of a log with intervals, by window and slice.

    `log` is a path (JSONL, CSV, Parquet; a pattern, a folder, "-"), several of them, a data frame, or mappings; the
    fields of an event are `ts, id, session, user, query, results, answer, citations, clicks, thumb, latency_ms,
    abstained, variant`, of which only `ts` is required; `columns` gives other names for them. `by` are
    fields whose values are shown separately (by default `variant`), `fields` those with numbers to take means of.
    `sparse` fields are logged only if they are not empty. A stream is read with `lateness`, the seconds by
    which an event may be late: windows are passed to `on_window` as they close. `change` is called with each event
    before anything of it is kept, and may alter or drop it (see `events.py`). `cluster` says which events belong
    together: those of one user or only those of one session. `alerts` are rules (a TOML file, or mappings; see
    `alerts.py`), and `state` is a file that remembers which alerts fired. Only if `webhook` names an address (or
    several), alerts that fire are sent there; undelivered ones are in `.undelivered`, and are sent again next time.
    Alerts of a stream are passed to `on_alert` as windows close.

    `judge` (a `rankproof.Judge`, or a function of rows with query, contexts and answer) scores a random sample of
    `judge_sample` events, whose texts are masked first (by `mask`, after `change`). Contexts are the texts of the
    results, or those that `corpus` has for their ids; the log is read a second time.

    >>> from rankproof import simulate_log
    >>> found = monitor(simulate_log(300, seed=1).records())
    >>> found.events, round(found["ctr"], 2)
    (331, 0.66)
    """
    if judge is not None:
        if not callable(judge):
            raise UsageError(
                f"judge: got {shorten(judge)}, expected a judge or a function of rows. Next: give rankproof.Judge(...)."
            )
        log = read_twice(log, "judge")
        check_whole("judge_sample", judge_sample)
    check_number("level", level, above=0, below=1, advice="give a share, like 0.95")
    check_one_of("cluster", cluster, CLUSTERS)
    zone = zone_named(timezone)
    schema = EventSchema(columns, timezone=zone, now=time.time(), sparse=sparse)
    wanted = tuple(dict.fromkeys(check_each("by", "variant" if by is None else by, str, FIELD_NAMES)))
    fields = check_each("fields", fields, str, FIELD_NAMES)
    rules: list[AlertRule] = []
    if alerts is not None:
        rules = read_rules(alerts) if isinstance(alerts, (str, os.PathLike)) else rules_of(alerts)
    deliveries: list[Any] = []
    if addresses := [webhook] if isinstance(webhook, str) else list(webhook):
        # What speaks HTTP is slow to import, and hardly anybody asks for it.
        from rankproof.monitoring.webhook import Delivery, Webhook

        deliveries = [Delivery(Webhook(each)) for each in addresses]
    if alerts is None and (deliveries or state is not None):
        used = "webhook: it sends" if deliveries else "state: it remembers"
        raise UsageError(f"{used} alerts, and there is no rule. Next: give {setting('alerts')}.")
    maker = RowMaker(schema, wanted, fields, change)
    rejects = Rejects(write=on_rejected, silent=change is not None)
    reader = LogReader(maker, rejects)
    calendar = Calendar(zone, window)
    declared = metrics(cutoffs, fields)
    sums = Sums(declared, wanted, maker.codes, calendar, fields, level, cluster)
    check_rules(rules, wanted, metrics(cutoffs))
    for rule in rules if judge is None else ():  # a stream would report it only at its end
        if not rule.outage:
            by_name(rule.metric, (*declared, *PERCENTILES), f"alert {rule.name!r}, metric")
    if lateness is not None:
        check_number("lateness", lateness, least=0, advice="give seconds")
    steps = StepCounts(wanted, maker.codes, fields)
    sessions = Sessions(None if lateness is None else round(lateness * SECOND))
    alarm = Alarm(rules, state, deliveries, calendar, sessions.counts, on_alert)
    told = [on_window, alarm.take if lateness is not None else None]
    watch = _Watch(sums, sessions, steps, [call for call in told if call is not None])
    with closing(alarm):
        for block in reader.blocks(log):
            watch.take(block)
        watch.end()
        if not sessions.counts.events:
            raise words.no_event(rejects)
        if not any(cell.by.any() or cell.histograms for cell in sums.total.values()):
            raise DataError(
                f"the log has {count(sessions.counts.events, 'event')} with a time, and nothing that a metric needs "
                f"under a known name. Next: name the columns, like {words.columns_named('query', 'question_text')}; "
                "a query counts only with a user or a session."
            )
        found = watch.result(reader)
        if judge is not None:
            sample_schema = SampleSchema(columns, timezone=zone, now=time.time(), sparse=sparse)
            texts = None
            if corpus is not None:
                documents = load_corpus(corpus)
                texts = {name: documents[name].whole for name in documents}
            found.judged, more, estimates, windows = judge_events(
                log, judge, judge_sample, seed=seed, schema=sample_schema, columns=columns, like=sums, change=change,
                texts=texts,
            )  # fmt: skip
            found.metrics += tuple(more)
            found.estimates = _in_order([*found.estimates, *estimates])
            found.windows = _in_order([*found.windows, *windows])
        alarm.end(found)
    return found


def read_twice(log: Any, what: str) -> Any:
    """A log that can be read again."""
    if any(isinstance(each, str) and each == "-" for each in (log if isinstance(log, (list, tuple)) else [log])):
        raise UsageError(f"{what}: a log from standard input cannot be read twice. Next: write it to a file.")
    return list(log) if isinstance(log, Iterator) else log


def _in_order(estimates: list[OnlineEstimate]) -> list[OnlineEstimate]:
    """Slice by slice, and window by window; the metrics of each in their order."""
    places = {key: at for at, key in enumerate(dict.fromkeys((e.slice, e.group) for e in estimates))}
    return sorted(estimates, key=lambda each: (places[each.slice, each.group], each.start or 0))


OnWindow = Callable[[list[OnlineEstimate]], object]


class _Watch:
    """Blocks to sums, window by window."""

    def __init__(self, sums: Sums, sessions: Sessions, steps: StepCounts, on_window: Sequence[OnWindow]) -> None:
        self.sums, self.sessions, self.steps, self._on_window = sums, sessions, steps, on_window
        self.senders = Senders()

    def take(self, block: EventBlock) -> None:
        self.sessions.add(block)
        if (over := self.sessions.ready()) is not None:
            self._count(over)

    def end(self) -> None:
        """Add all remaining events, in turns, so that few windows are open at once."""
        windows = self.sums.calendar.windows_between(*self.sessions.reach)
        for block in self.sessions.rest(max(TURNS, windows // OF_A_TURN)):
            self._count(block)
        self._close(LAST)

    def _count(self, block: EventBlock) -> None:
        self.sums.add(block)
        self.steps.add(block)
        self.senders.add(block.ids[USER])
        self._close(self.sessions.closed)

    def _close(self, until: int) -> None:
        closed = self.sums.close(until)
        for call in self._on_window if closed else ():
            with UserCode(call, f"{len(closed):,} windows"):
                call(list(closed))

    def result(self, reader: LogReader) -> Monitor:
        sums, counts = self.sums, self.sessions.counts
        windows = sorted(sums.windows, key=lambda each: (each.slice, each.group))  # each in order of time
        settings = {
            "window": sums.calendar.window,
            "timezone": str(sums.calendar.zone),
            "by": list(sums.by),
            "level": sums.level,
            "cluster": sums.cluster,
        }
        rejects = reader.rejects
        slices = list(dict.fromkeys(["", *(name for name, _ in sums.total)]))
        # All events first, then the slices, each with the most events first; the profile by time.
        by_size = sorted(sums.total, key=lambda key: (slices.index(key[0]), -sums.total[key].events))
        by_time = sorted(sums.profile, key=lambda key: (key[0] == "hour", int(key[1])))
        made = Monitor(
            sums.estimates({key: sums.total[key] for key in by_size}), windows,
            sums.estimates({key: sums.profile[key] for key in by_time}), counts,
            reader.read, dict(rejects.reasons.most_common()), rejects.examples,
            self.senders.heavy(sums, reader.maker, counts.events), (*sums.metrics, *PERCENTILES), sums.calendar,
            settings, outages=self.steps.outages(sums.calendar),
        )  # fmt: skip
        made.notes.extend(words.notes_on(made, reader.maker))
        if self.steps.vast:
            made.notes.append(
                "the log spans too long a time to be searched for outages. Next: look for wrong times, or give a part."
            )
        return made
