"""Alerts: rules in TOML that need evidence, sent once until their cool-down is over, and how they are sent and kept.

[[alert]]
name = "answers"          # its name in messages; by default the metric
metric = "dont_know"
above = 0.2               # or below = ..., or changed = "worse" (or "any"): it changed within the log
                          # or, without a metric, outage = "any" (or silence, source, burst)
slice = "variant=B"       # by default all events
over = "last"             # the last window; "any" window, or the whole "log"
evidence = "interval"     # the whole interval must be beyond the limit; "value": only the value
least = 100               # the fewest events for an alert [30]
cool_down = "12h"         # do not repeat the alert before this time has passed [24h]
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankproof.document.disk import write_file
from rankproof.document.model import Displayable
from rankproof.document.numbers import count, for_face
from rankproof.errors import UsageError, UserCode, check_each, check_number, check_one_of, check_whole, not_known
from rankproof.io.files import check_path, read_bytes, text_of, toml_of
from rankproof.monitoring.difference_words import outage_sentence
from rankproof.monitoring.online_metrics import OnlineEstimate, OnlineMetric, Percentile, by_name, interval_of, value_of
from rankproof.monitoring.sessions_and_windows import SECOND
from rankproof.monitoring.words import Absent

if TYPE_CHECKING:
    from rankproof.monitoring.monitor import Monitor
    from rankproof.monitoring.sessions_and_windows import Calendar, LineCounts
    from rankproof.monitoring.webhook import Delivery

KEYS = (
    "name", "metric", "above", "below", "changed", "outage", "slice", "over", "evidence", "least", "cool_down",
)  # fmt: skip
OUTAGES = ("any", "silence", "source", "burst")
CHOICES = {
    "over": ("last", "any", "log"), "evidence": ("interval", "value"), "changed": ("worse", "any"), "outage": OUTAGES,
}  # fmt: skip
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LEAST = 30
QUIET = "It was sent before, and its cool-down is not over."
MOST_OUTAGES = 5
"""The number of outages that one alert names."""


@dataclass(frozen=True, slots=True)
class AlertRule(Displayable):
    """One rule; exactly one of `above`, `below`, `changed` and `outage` is there; `outage` has no metric."""

    name: str
    metric: str
    above: float | None = None
    below: float | None = None
    slice: str = ""
    group: str = ""
    over: str = "last"
    evidence: str = "interval"
    least: int = LEAST
    cool_down: int = 86400 * SECOND
    changed: str = ""
    outage: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What it looks at."""
        return self.metric, self.slice, self.group

    def broken_by(self, each: OnlineEstimate) -> bool:
        """Whether an estimate is beyond the limit, as surely as the rule asks."""
        low, high = (each.low, each.high) if self.evidence == "interval" else (each.value, each.value)
        beyond = low > self.above if self.above is not None else self.below is not None and high < self.below
        return beyond and self.is_enough(each)

    def is_enough(self, each: OnlineEstimate) -> bool:
        """Whether an estimate can say anything: of one user alone there is no interval."""
        return each.n >= self.least and not (self.evidence == "interval" and math.isnan(each.low))

    def is_quiet(self, state: Mapping[str, int], at: int) -> bool:
        """Whether it was sent, and its cool-down is not over at this time."""
        last = state.get(self.name)
        return last is not None and at < last + max(self.cool_down, 1)


@dataclass(frozen=True, slots=True)
class Alert(Displayable):
    """The result of an alert rule."""

    rule: AlertRule
    fired: bool
    sentence: str
    estimate: OnlineEstimate | None = None


def read_rules(path: str | os.PathLike[str]) -> list[AlertRule]:
    """The rules of a TOML file."""
    name = os.fspath(path)
    return rules_of(toml_of(text_of(read_bytes(check_path(path)), name), name).get("alert"), name)


def rules_of(listed: Any, source: str = "alerts") -> list[AlertRule]:
    """Rules from mappings, as TOML gives them under `alert`."""
    expected = "tables [[alert]], or mappings, with metric and above or below"
    if not (tables := () if listed is None else check_each(source, listed, Mapping, expected)):
        raise UsageError(f"{source}: got none, expected {expected}. Next: write one.")
    rules = [_rule(each, f"{source}, alert {at}") for at, each in enumerate(tables, 1)]
    names = [each.name for each in rules]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"{source}: two alerts are called {twice[0]!r}. Next: give each a name of its own.")
    return rules


def _rule(given: Mapping[str, Any], where: str) -> AlertRule:
    for key in given:
        if key not in KEYS:
            said = f"{where}: got the key {key!r}, expected some of {', '.join(KEYS)}"
            raise not_known(said, key, KEYS, "correct it")
    limited = [key for key in ("above", "below", "changed", "outage") if key in given]
    if len(limited) > 1 or ("outage" in given and "metric" in given):
        both = " and ".join(limited if len(limited) > 1 else ("metric", "outage"))
        raise UsageError(f"{where}: got {both}, expected one of them. Next: write an alert for each.")
    if not limited or ("outage" not in given and not isinstance(given.get("metric"), str)):
        raise UsageError(
            f"{where}: expected a metric, and above, below or changed; or outage. Next: write one of these."
        )
    limits: dict[str, Any] = {
        key: check_number(f"{where}, {key}", given[key]) for key in ("above", "below") if key in given
    }
    part = given.get("slice", "")
    name, sign, group = part.partition("=") if isinstance(part, str) else ("", "", "")
    if part and not (name and sign and group):
        raise UsageError(f"{where}: slice: got {part!r}, expected FIELD=VALUE. Next: write like variant=B.")
    if "name" in given and not (isinstance(given["name"], str) and given["name"].strip()):
        raise UsageError(f"{where}: name: got {given['name']!r}, expected a text. Next: write one.")
    chosen = {key: given[key] for key in CHOICES if key in given}
    for key, value in chosen.items():
        check_one_of(f"{where}, {key}", value, CHOICES[key])
    limit = "".join(f" {key} {value:g}" for key, value in limits.items()) or " changed"
    if "outage" in given:
        limit = "" if given["outage"] == "any" else f" ({given['outage']})"
    metric = given.get("metric", "outage")
    usual = f"{metric}{limit}{f' ({name}={group})' if name else ''}"
    least = check_whole(f"{where}, least", given.get("least", LEAST))
    cool_down = _duration(given.get("cool_down", "24h"), where)
    called = " ".join(given.get("name", usual).split())
    return AlertRule(called, metric, slice=name, group=group, least=least, cool_down=cool_down, **limits, **chosen)


def check_rules(rules: Sequence[AlertRule], by: Sequence[str], known: Sequence[OnlineMetric | Percentile]) -> None:
    """Refuse rules that nothing could ever break: of slices that are not told apart, or with limits that no share
    reaches; `known` are the metrics that are known to be shares."""
    for rule in rules:
        if rule.slice and rule.slice not in by:
            wanted = [*by, rule.slice]
            raise UsageError(
                f"alert {rule.name!r}: slice: {rule.slice} is not told apart, only {', '.join(by) or 'nothing'} is. "
                f"Next: give {for_face(f'by={wanted}', '--by ' + ','.join(wanted))}."
            )
        limit = rule.below if rule.above is None else rule.above
        share = any(isinstance(each, OnlineMetric) and each.name == rule.metric for each in known)
        if share and limit is not None and not 0 <= limit <= 1:
            raise UsageError(
                f"alert {rule.name!r}: got {limit:g}, but {rule.metric} is a share from 0 to 1. "
                "Next: give such a limit."
            )


def _duration(given: Any, where: str) -> int:
    """Microseconds of text like 12h."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd])\s*", given) if isinstance(given, str) else None
    if found is None:
        raise UsageError(f"{where}: cool_down: got {given!r}, expected a time like 30m, 12h or 7d. Next: write one.")
    return round(float(found[1]) * UNITS[found[2]] * SECOND)


def _checked(found: Monitor, rule: AlertRule, state: dict[str, int]) -> Alert:
    """The result of a rule; `state` has the last time each was sent, and is updated."""
    if rule.outage:
        return _checked_outage(found, rule, state)
    nothing = f"{rule.name}: nothing."
    if rule.changed:
        return _checked_change(found, rule, state) or Alert(rule, False, nothing)
    if not (looked := _looked_at(found, rule)):
        return Alert(rule, False, f"{rule.name}: no event has the fields it needs.")
    alerts = []
    for each in filter(rule.broken_by, looked):
        at = each.start if each.start is not None else found.counts.last
        alerts.append(_alert(rule, state, at, alert_sentence(found.calendar, rule, each), each))
        if alerts[-1].fired:
            return alerts[-1]
    return alerts[0] if alerts else Alert(rule, False, nothing, looked[-1])


def _looked_at(found: Monitor, rule: AlertRule) -> list[OnlineEstimate]:
    """The estimates that a rule with a limit is about."""
    everything = found.estimates if rule.over == "log" else found.windows
    looked = [each for each in everything if each.key == rule.key]
    return looked[-1:] if rule.over == "last" else looked


def _alert(rule: AlertRule, state: dict[str, int], at: int, told: str, estimate: OnlineEstimate | None = None) -> Alert:
    """What is told of this time, unless the rule was sent before and its cool-down is not over."""
    if rule.is_quiet(state, at):
        return Alert(rule, False, f"{told} {QUIET}", estimate)
    state[rule.name] = at
    return Alert(rule, True, told, estimate)


def _checked_change(found: Monitor, rule: AlertRule, state: dict[str, int]) -> Alert | None:
    """Whether the metric changed, for the worse if the rule says so."""
    higher = by_name(rule.metric, found.metrics).higher
    for each in found.changes:
        improved = (each.after > each.before) == higher
        if (each.metric, each.slice, each.group) == rule.key and not (improved and rule.changed == "worse"):
            before, after = (value_of(each.metric, value) for value in (each.before, each.after))
            told = f"{rule.name}: {each.metric} changed on {each.window} from {before} to {after} (p {each.p:.2g})."
            starts = (e.start or 0 for e in found.series(*rule.key))
            at = next(start for start in starts if found.calendar.label(start) == each.window)
            return _alert(rule, state, at, told)
    return None


def _checked_outage(found: Monitor, rule: AlertRule, state: dict[str, int]) -> Alert:
    """Whether there were outages that were not sent before."""
    of = f"{rule.slice}={rule.group}" if rule.slice else ""
    met = [each for each in found.outages if rule.outage in ("any", each.kind) and of in ("", each.what)]
    new = [each for each in met if not rule.is_quiet(state, each.end)]
    if not new:
        return Alert(rule, False, f"{rule.name}: {QUIET if met else 'nothing.'}")
    state[rule.name] = max(each.end for each in new)
    listed = "; ".join(outage_sentence(each, found.calendar) for each in new[-MOST_OUTAGES:])
    more = f"; and {len(new) - MOST_OUTAGES} before" if len(new) > MOST_OUTAGES else ""
    return Alert(rule, True, f"{rule.name}: {listed}{more}.")


def alert_sentence(calendar: Calendar, rule: AlertRule, each: OnlineEstimate) -> str:
    """The value, the limit that it crossed, and the time."""
    limit = f"above {rule.above:g}" if rule.above is not None else f"below {rule.below:g}"
    where = f" of {each.slice}={each.group}" if each.slice else ""
    when = "the whole log"
    if each.start is not None:
        when = f"the {calendar.window} of {calendar.label(each.start)}"
    value = value_of(each.metric, each.value) + ("" if math.isnan(each.low) else f" {interval_of(each)}")
    return f"{rule.name}: {each.metric}{where} is {value}, {limit}, in {when} ({count(each.n)} counted)."


def read_state(path: str | os.PathLike[str]) -> dict[str, int]:
    """The last time each rule was sent; empty if the file does not exist yet."""
    if not os.path.exists(path):
        return {}
    content = read_bytes(path)
    try:
        return {str(name): int(at) for name, at in json.loads(content)["told"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise UsageError(
            f"{os.fspath(path)}: it is not a file in which alerts are remembered. Next: name another, or remove it."
        ) from error


AT_END = 120.0
"""Seconds that the end of a log waits for webhooks."""


class Alarm:
    """Rules over the windows of a stream as they close, each of which is the last one then, and over the whole log."""

    def __init__(
        self,
        rules: Sequence[AlertRule],
        state: str | os.PathLike[str] | None,
        deliveries: Sequence[Delivery],
        calendar: Calendar,
        counts: LineCounts,
        on_alert: Callable[[Alert], object] | None,
    ) -> None:
        self._rules, self._path, self._calendar, self._counts = rules, state, calendar, counts
        self._before = read_state(state) if state is not None else {}
        self._told, self._on_alert, self._deliveries = dict(self._before), on_alert, deliveries
        self._fired: dict[str, Alert] = {}
        """The last alert of each rule that fired in the stream."""

    def take(self, closed: Sequence[OnlineEstimate]) -> None:
        """Look at windows of a stream that closed."""
        fired = []
        for rule in self._rules:
            for each in closed if rule.over != "log" else ():
                if each.key == rule.key and rule.broken_by(each):
                    told = alert_sentence(self._calendar, rule, each)
                    alert = _alert(rule, self._told, each.start or 0, told, each)
                    fired += [alert] if alert.fired else []
        self._fired |= {alert.rule.name: alert for alert in fired}
        if fired:
            self._send(fired)
        if fired or self._deliveries:  # a stream may end at any time
            self._remember()
        if self._on_alert is not None:
            for alert in fired:
                with UserCode(self._on_alert, "the alert", alert.rule.name):
                    self._on_alert(alert)

    def end(self, found: Monitor) -> None:
        """Check every rule over all estimates, send new alerts, and wait for their delivery."""
        for rule in (each for each in self._rules if not each.outage):
            by_name(rule.metric, found.metrics, f"alert {rule.name!r}, metric")  # refuses an unknown one
            looked = _looked_at(found, rule)
            if not (looked if rule.changed else any(map(rule.is_enough, looked))):
                most = max((each.n for each in looked), default=0)
                of = f" and {rule.slice}={rule.group}" if rule.slice else ""
                users = " of two users or more" if rule.evidence == "interval" else ""
                said = (
                    f"alert {rule.name!r} says nothing: got {count(most, 'event')} with {rule.metric}{of} at most, "
                    f"expected {rule.least:,}{users}. Next: check the names, lower least, or look over a longer time."
                )
                found.notes.append(Absent(said))
        checked = [_checked(found, rule, self._told) for rule in self._rules]
        found.alerts.extend(each if each.fired else self._fired.get(each.rule.name, each) for each in checked)
        self._send([each for each in checked if each.fired])
        found.undelivered.extend(reason for each in self._deliveries if (reason := each.end(AT_END)) is not None)
        self._remember()

    def close(self) -> None:
        """Stop waiting for deliveries, as the log could not be read to its end."""
        for each in self._deliveries:
            each.end(0)

    def _send(self, fired: Sequence[Alert]) -> None:
        """Send these, and those that wait."""
        for each in self._deliveries:
            each.give(fired, self._calendar, self._counts)

    def _remember(self) -> None:
        """Save when each rule was last sent; an alert that was not delivered counts as not sent."""
        if self._path is not None:
            waiting = {name for each in self._deliveries for name in each.waiting_rules()}
            told = {name: at for name, at in self._told.items() if name not in waiting}
            told |= {name: at for name, at in self._before.items() if name in waiting}
            write_file(self._path, json.dumps({"told": dict(sorted(told.items()))}, indent=2) + "\n", force=True)
