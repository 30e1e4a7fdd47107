"""Sending alerts: to whom, by webhooks too, and the state that is kept; for a stream, as its windows close."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rankproof.monitoring.alerts import Alert, AlertRule, alert_sentence, check_alerts, read_state, write_state
from rankproof.monitoring.sums import OnlineEstimate

if TYPE_CHECKING:
    from rankproof.monitoring.monitor import Monitor
    from rankproof.monitoring.sessions import LineCounts
    from rankproof.monitoring.webhook import Delivery
    from rankproof.monitoring.windows import Calendar

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
        self._told, self._written = dict(self._before), dict(self._before)
        self._on_alert, self._deliveries = on_alert, deliveries
        self._fired: dict[str, Alert] = {}
        """The last alert of each rule that fired in the stream."""

    def take(self, closed: Sequence[OnlineEstimate]) -> None:
        """Look at windows of a stream that closed."""
        fired = []
        for rule in self._rules:
            if rule.over == "log" or (rule.above, rule.below) == (None, None):
                continue
            place = (rule.metric, rule.slice, rule.group)
            for each in closed:
                if (each.metric, each.slice, each.group) != place or not rule.broken_by(each):
                    continue
                last, at = self._told.get(rule.name), each.start or 0
                if last is None or at >= last + max(rule.cool_down, 1):
                    self._told[rule.name] = at
                    fired.append(Alert(rule, True, alert_sentence(self._calendar, rule, each), each))
        self._fired |= {alert.rule.name: alert for alert in fired}
        self._send(fired)
        if fired or self._deliveries:  # a stream may end at any time
            self._remember()
        if self._on_alert is not None:
            for alert in fired:
                self._on_alert(alert)

    def end(self, found: Monitor) -> None:
        """Check every rule over all estimates, send new alerts, and wait for their delivery."""
        checked = check_alerts(found, self._rules, self._told)
        found.notes.extend(
            f"alert {each.rule.name!r} looks at nothing: no event has {each.rule.metric}"
            f"{f' and {each.rule.slice}={each.rule.group}' if each.rule.slice else ''}. Next: check both."
            for each in checked
            if not each.fired
            and not each.rule.outage
            and (each.rule.metric, each.rule.slice, each.rule.group)
            not in {(e.metric, e.slice, e.group) for e in found.estimates}
        )
        found.alerts.extend(each if each.fired else self._fired.get(each.rule.name, each) for each in checked)
        self._send([each for each in checked if each.fired], again=True)
        found.undelivered.extend(reason for each in self._deliveries if (reason := each.end(AT_END)) is not None)
        self._remember(anyway=bool(self._rules))

    def close(self) -> None:
        """Stop waiting for deliveries, as the log could not be read to its end."""
        for each in self._deliveries:
            each.end(0)

    def _send(self, fired: Sequence[Alert], again: bool = False) -> None:
        """Send these; with `again` also those that wait, if there are none."""
        for each in self._deliveries:
            if fired or (again and each.undelivered()):
                each.give(fired, self._calendar, self._counts)

    def _remember(self, anyway: bool = False) -> None:
        """Save when each rule was last sent; an alert that was not delivered counts as not sent."""
        if self._path is None:
            return
        waiting = {name for each in self._deliveries for name in each.undelivered()}
        told = {name: at for name, at in self._told.items() if name not in waiting}
        told |= {name: at for name, at in self._before.items() if name in waiting}
        if anyway or told != self._written:
            write_state(self._path, told)
            self._written = told
