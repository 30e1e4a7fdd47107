"""The result of `monitor` as a document, as rows and plain values; and notes for readers of its numbers."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rankproof.core.conventions import THIN
from rankproof.document.formats import plain_data
from rankproof.document.model import (
    PAGE,
    PAPER,
    SCREEN,
    TEXT,
    Block,
    Bullets,
    Column,
    Document,
    Heading,
    Paragraph,
    Part,
    Table,
)
from rankproof.document.numbers import ABSENT, count, for_face, setting, share
from rankproof.document.terminal import spark
from rankproof.errors import DataError
from rankproof.monitoring import difference_words as differences
from rankproof.monitoring.event_block import MOST_VALUES
from rankproof.monitoring.event_values import plain_key
from rankproof.monitoring.events import Rejects
from rankproof.monitoring.online_metrics import OnlineEstimate, Percentile, interval_of, value_of
from rankproof.monitoring.rows import RowMaker

if TYPE_CHECKING:
    from rankproof.monitoring.monitor import Monitor
    from rankproof.monitoring.sessions_and_windows import Calendar

FORMAT = 1
"""The version of the keys in JSON."""
METRICS_SHOWN = 10
"""Metrics above what else a screen has to say; an alert takes the place of two."""
DETAILS = ("ctr@", "ctr_citation", "vote_share", "margin", "latency_p99")
"""The beginnings of names of metrics that are shown below if there are more: each nearly repeats another one."""
GROUPS_SHOWN = 6
"""The number of values of a slice that have a column."""
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
PROFILED = ("ctr", "thumbs_up", "dont_know", "no_result", "latency_p95")
"""The metrics that are shown by weekday."""


def monitor(found: Monitor) -> Document:
    """The metrics over the whole log first, then by slice and by time, and what was read."""
    counts, calendar = found.counts, found.calendar
    sessions = f" of {count(counts.sessions, 'session')}" if counts.sessions else ""
    begin, end = (differences.minute_of(calendar, each) for each in (counts.first, counts.last))
    span = f"{begin} to {end} ({found.settings['timezone']})"
    fired = [each.sentence for each in found.alerts if each.fired]
    lead, others = _lead(found)
    # A screen always has the most serious part: the alerts, or else the first of these.
    first = 1 if fired else 0
    second = 1 if fired or found.changes else 0
    third = 1 if second or found.outages else 0
    wrong = found.judged is not None and bool(found.judged.problems)
    against: list[Block] = []
    if found.variants:
        opening = Paragraph(f"Against variant {found.variants[0].control}, {differences.ALONE}:")
        against = [opening, differences.differences_table(found.variants)]
    plain = as_dict(found)
    return Document(
        f"{count(found.events, 'event')} of production",
        [
            Part(Paragraph(f"{count(counts.events, 'event')}{sessions}, {span}")),
            Part(*([Bullets(fired, ["ALERT"] * len(fired))] if fired else [])),
            Part(_overall(found, lead), media=(SCREEN,)),
            Part(_overall(found, [*lead, *others]), media=(TEXT, PAGE, PAPER)),
            *(Part(*blocks, rank=4, name=f"{name} apart") for name, blocks in _slices(found)),
            Part(*differences.changes(found, differences.SHOWN), rank=first, name="changes", media=(SCREEN,)),
            Part(*map(Paragraph, _heavy(found)), rank=third, name="who sends most"),
            Part(*differences.outages(found, differences.SHOWN), rank=second, name="outages", media=(SCREEN,)),
            Part(*differences.outages(found), *differences.changes(found), media=(TEXT, PAGE, PAPER)),
            Part(*against, rank=2, name="variants against each other"),
            Part(*map(Paragraph, _judged(found)), rank=2 * (not wrong), name="what was judged"),
            Part(*map(Paragraph, _lines(found)), rank=3, name="what was read"),
            *(
                Part(Paragraph(f"note: {each}"), rank=0 if isinstance(each, Absent) else 3, name="notes")
                for each in found.notes
            ),
            Part(
                *([_overall(found, others)] if others else []),
                rank=4,
                name=count(len(others), "other metric"),
                media=(SCREEN,),
            ),
            Part(*_profile(found), rank=6, name="weekdays and hours"),
            Part(Heading("Over time"), *differences.charts_over_time(found), media=(PAGE,)),
            Part(Heading("What the metrics mean"), *_definitions(found), rank=5, name="what the metrics mean"),
        ],
        [*plain["estimates"], *plain["windows"], *plain["profile"]],
        plain,
        kinds={"slice": str, "group": str, "start": str, "end": str},
    )


def _lead(found: Monitor) -> tuple[list[OnlineEstimate], list[OnlineEstimate]]:
    """The metrics that a screen begins with, and those below: metrics that changed, or set off an alert, come first."""
    rows = [each for each in found.estimates if not each.slice]
    fired = [each.rule.metric for each in found.alerts if each.fired]
    moved = {*fired, *(each.metric for each in differences.lasting_changes(found)[: differences.SHOWN])}
    # First those that changed, then those that do not repeat another; each in its order.
    order = sorted(rows, key=lambda each: (each.metric not in moved, each.metric.startswith(DETAILS)))
    at = max(METRICS_SHOWN - 2 * len(fired), len(moved))
    # Details of one kind, as ctr at every rank, are read side by side: all of them are here, or all below.
    split = tuple(kind for kind in DETAILS if any(each.metric.startswith(kind) for each in order[at:]))
    shown = {e.metric for e in order[:at] if e.metric in moved or not e.metric.startswith(split)}
    return [e for e in rows if e.metric in shown], [e for e in rows if e.metric not in shown]


def _overall(found: Monitor, rows: Sequence[OnlineEstimate]) -> Table:
    series = differences.series_by_metric(found)
    columns = [
        Column("metric", [each.metric for each in rows]),
        Column("value", [value_of(each.metric, each.value) for each in rows], right=True),
        Column(f"{found.settings['level'] * 100:g} % interval", [interval_of(each) for each in rows], right=True),
        Column("of", [count(each.n) for each in rows], right=True),
    ]
    if any(len(each) > 1 for each in series.values()):
        drawn = [differences.sparkline([each.value for each in series.get(row.metric, [])]) for row in rows]
        columns.append(Column(f"by {found.settings['window']}", drawn))
    return Table(columns)


def _slices(found: Monitor) -> Iterator[tuple[str, list[Any]]]:
    """A table of each slice: metrics down, its values across."""
    for name in found.settings["by"]:
        cells: dict[tuple[str, str], str] = {}
        groups: dict[str, int] = {}
        for each in found.estimates:
            if each.slice == name:
                cells[each.metric, each.group] = f"{value_of(each.metric, each.value)} {interval_of(each)}"
                groups[each.group] = max(groups.get(each.group, 0), each.n)
        if len(groups) < 2:
            continue
        shown = sorted(groups, key=lambda each: -groups[each])[:GROUPS_SHOWN]
        metrics = dict.fromkeys(each.metric for each in found.estimates)
        rows = [(metric, *(cells.get((metric, group), ABSENT) for group in shown)) for metric in metrics]
        headings = [f"{group} ({count(groups[group])})" for group in shown]
        blocks: list[Any] = [Table.of((name, *headings), rows, (name,))]
        if len(groups) > len(shown):
            blocks.append(Paragraph(f"{name} has {len(groups)} values; the others are in JSON and CSV."))
        yield name, blocks


def _judged(found: Monitor) -> Iterator[str]:
    if found.judged is not None:
        told = ", ".join(f"{name} {count(n)}" for name, n in found.judged.values.items())
        thin = f" No mean of {', '.join(found.judged.thin)} is shown: {THIN}." if found.judged.thin else ""
        yield (
            f"{found.judged.judge} judged {count(found.judged.sampled)} of {count(found.judged.events)} lines with a "
            f"query and an answer, personal data masked (seed {found.judged.seed}); with a value: {told}.{thin}"
        )
        yield from (f"{each.severity.capitalize()}: {each}" for each in found.judged.problems)
        if any("no contexts" in each.message for each in found.judged.problems):
            corpus = setting("corpus")
            yield f"Contexts are the texts of the results: log these, or give the texts of their ids by {corpus}."


def _heavy(found: Monitor) -> Iterator[str]:
    for each in found.heavy:
        moved = [e for e in found.estimates if not e.slice and e.metric in each.without]
        moved = sorted(moved, key=lambda e: -abs(each.without[e.metric] - e.value))[:3]
        changes = ", ".join(
            f"{e.metric} {value_of(e.metric, each.without[e.metric])} (with them {value_of(e.metric, e.value)})"
            for e in moved
        )
        yield (
            f"One user, {each.user}, sends {share(each.share)} of all events ({count(each.events)}). "
            f"Without them: {changes}."
        )


def _lines(found: Monitor) -> Iterator[str]:
    counts, rejected = found.counts, sum(found.rejected.values())
    reasons = ", ".join(f"{reason} {count(n)}" for reason, n in found.rejected.items())
    what_came = (
        (counts.duplicates, "came twice and counts once", "came twice and count once"),
        (counts.merged, "added to an earlier line with its id", "added to an earlier line with their id"),
        (counts.disordered, "was out of order", "were out of order"),
        (rejected, f"was rejected ({reasons})", f"were rejected ({reasons})"),
    )
    if told := [count(n, one, many) for n, one, many in what_came if n]:
        yield f"Of {count(found.read + rejected, 'line')}, {'; '.join(told)}."
    for lines in list(found.examples.values())[:3]:
        yield f"rejected: {lines[0]}"


def _profile(found: Monitor) -> Iterator[Any]:
    """Some metrics by weekday, and how much is asked by hour."""
    cells = {(e.metric, e.slice, e.group): value_of(e.metric, e.value) for e in found.profile}
    names = [name for name in PROFILED if any(key[0] == name for key in cells)]
    rows = [(name, *(cells.get((name, "weekday", str(at)), ABSENT) for at in range(7))) for name in names]
    if rows:
        yield Table.of(("metric", *WEEKDAYS), rows, ("metric",))
    asked = [0] * 24
    for each in found.profile:
        if each.slice == "hour":
            asked[int(each.group)] = max(asked[int(each.group)], each.n)
    yield Paragraph(f"events by hour of the day, from 0 to 23: {spark(asked)}")


def _definitions(found: Monitor) -> Iterator[Any]:
    known = {each.metric for each in found.estimates}
    yield Bullets(
        [
            f"{each.name}: {each.sentence}.{'' if each.higher else ' Less is better.'}"
            if each.name in known
            else f"{each.name}: no event has {' and '.join(each.needs)}."
            for each in found.metrics
        ]
    )
    unit = "user (by session where no user is known)" if found.settings["cluster"] == "user" else "session"
    yield Paragraph(
        f"Intervals are by {unit}: events of one are similar, and count less than as many events of different ones."
    )


def row(each: OnlineEstimate, calendar: Calendar) -> dict[str, Any]:
    """An estimate as a flat row."""
    numbers = {"value": each.value, "low": each.low, "high": each.high, "error": each.error}
    return {
        "metric": each.metric,
        "slice": each.slice or None,
        "group": each.group or None,
        "start": None if each.start is None else calendar.stamp(each.start),
        "end": None if each.end is None else calendar.stamp(each.end),
        "n": each.n,
        "users": each.users,
        # Unknown and infinite values are null.
        **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
    }


def as_dict(found: Monitor) -> dict[str, Any]:
    """Everything as plain values, estimates as flat rows."""
    counts = found.counts
    return {
        "format": FORMAT,
        "settings": found.settings,
        "events": counts.events,
        "sessions": counts.sessions,
        "first": found.calendar.stamp(counts.first),
        "last": found.calendar.stamp(counts.last),
        "lines": {
            "read": found.read + sum(found.rejected.values()),
            "rejected": found.rejected,
            "examples": found.examples,
            **{name: getattr(counts, name) for name in ("duplicates", "merged", "reused", "disordered", "late")},
        },
        "metrics": [
            {
                "name": each.name,
                "says": each.sentence,
                "needs": list(each.needs),
                "counted": each.counted,
                "better": "higher" if each.higher else "lower",
                "percentile": isinstance(each, Percentile),
            }
            for each in found.metrics
        ],
        **{
            name: [row(each, found.calendar) for each in getattr(found, name)]
            for name in ("estimates", "windows", "profile")
        },
        "changes": plain_data(found.changes),
        "variants": plain_data(found.variants),
        "outages": [
            plain_data(each) | {name: found.calendar.stamp(getattr(each, name)) for name in ("start", "end")}
            for each in found.outages
        ],
        "heavy_users": plain_data(found.heavy),
        "alerts": [
            {"name": each.rule.name, "metric": each.rule.metric, "fired": each.fired, "says": each.sentence}
            for each in found.alerts
        ],
        "judged": plain_data(found.judged),
        "undelivered": found.undelivered,
        "notes": found.notes,
    }


KNOWN = 0.95
"""If fewer clicks than this share have a rank, metrics by rank mislead."""


class Absent(str):
    """A note on what was asked for by name and is not in the log: it is on every screen."""

    __slots__ = ()


def no_event(rejects: Rejects) -> DataError:
    """The error of a log without events: what was rejected, and why."""
    if not rejects.total:
        dropped = ", or the hook dropped all of it" if rejects.silent else ""
        return DataError(
            f"the log holds no event: it is empty{dropped}. Next: check the path, and how the log was made."
        )
    reason, lines = next(iter(rejects.examples.items()))
    advice = f"mend the log, or name the column of each field with {setting('columns')}"
    if reason in ("no time", "not JSON"):
        advice = f"name the columns, like {columns_named('ts', 'when')}, or mend the log"
    return DataError(
        f"the log holds no event: {count(rejects.total, 'line was', 'lines were')} rejected, most as {reason!r}. "
        f"{lines[0]}. Next: {advice}."
    )


def columns_named(field: str, column: str) -> str:
    """How the column of a field is named, in Python and on the command line."""
    return for_face(f"columns={{{field!r}: {column!r}}}", f"--columns {shlex.quote(f'{field}={column}')}")


SPARSE_NOTES = {
    "vote_share": "thumb is logged only where somebody voted, so the share who vote is not known. Next: say sparse "
    "thumb if an event without one had no vote.",
    "ctr": "clicks are logged only where somebody clicked, so click-through is not known. Next: say sparse clicks if "
    "an event without them had none.",
}
"""The notes on metrics that are 1, as what they count is logged only where it happened."""


def notes_on(found: Monitor, maker: RowMaker) -> Iterator[str]:
    """Warnings for readers of the numbers."""
    counts = found.counts
    values = {each.metric: each for each in found.estimates if not each.slice}
    for metric, told in SPARSE_NOTES.items():
        each = values.get(metric)
        if each is not None and each.value == 1 and each.n >= 10 and each.n < 0.9 * counts.events:
            yield told
    click, first = values.get("ctr"), values.get("mrr_first_click")
    ranked, clicked = first.n if first else 0, click.n * click.value if click else 0.0
    if ranked < KNOWN * clicked:
        if not ranked:  # searches without a click would be all that ctr@k counts
            for listed in (found.estimates, found.windows, found.profile):
                listed[:] = [each for each in listed if not each.metric.startswith("ctr@")]
            told = "no click has a rank, so ctr@k and mrr_first_click are left out"
        else:
            told = f"only {ranked / clicked:.0%} of the clicks have a rank, so ctr@k is too low"
        yield f"{told}. Next: log results, or clicks as numbers or objects with a rank."
    if counts.reused:
        yield (
            f"{count(counts.reused, 'event')} with the id of an earlier event and another query: kept apart. "
            "Next: name the field that holds the id of an event."
        )
    if counts.late:
        yield (
            f"{count(counts.late, 'event')} came after the window was closed: counted in the whole log only. "
            "Next: allow more lateness."
        )
    if not counts.sessions:
        yield (
            "no event names a session or a user, so each counts as one of its own: intervals are too short if "
            "some people sent many. Next: log a session or a (hashed) user."
        )
    for name, key in maker.schema.unmet.items():
        yield Absent(f"no event has the column {key}, which was named for {name}. Next: check its name.")
    for name, codes in zip(maker.by, maker.codes, strict=True):
        if len(codes.names) > MOST_VALUES:
            yield f"{name} has more than {MOST_VALUES} values; those met later are one, '(other values)'."
        if not codes.names and name != "variant":
            yield Absent(f"no event has the field {name}. Next: check its name.")
    for name in maker.fields:
        if all(each.metric != name for each in found.estimates):
            role = maker.schema.field_of(name)
            yield Absent(
                f"{name} is read as {role}, not as a field of its own. Next: check what {role} says."
                if role
                else f"no event has a number in the field {name}. Next: check its name and what it holds."
            )
    for key in maker.schema.keys if "vote_share" not in values else ():
        if plain_key(key) == "rating" and key not in (*maker.fields, *maker.by):
            yield (
                f"{key} may hold stars, so it is not read as thumb. Next: say {columns_named('thumb', key)} if it is "
                f"up or down (1 or -1); give {key} as a field for its mean."
            )
    if alone := [name for name, each in values.items() if math.isnan(each.low) and math.isfinite(each.value)]:
        what = "all events" if len(alone) == len(values) else f"the events that count for {', '.join(alone)}"
        yield f"{what} come from one user (or session), so it is not known how far others differ: no intervals."
