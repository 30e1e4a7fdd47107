"""Alerts by webhook, only on request: one POST of JSON with the evidence, retried, its address kept secret.

Anyone who knows the address of a webhook can write to it, so messages show its host only. A failed delivery is
reported, changes no exit code, and the alert counts as unsent: the next run sends it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rankproof.errors import UsageError
from rankproof.monitoring.words import row
from rankproof.net.client import Client, Request, Response, is_address
from rankproof.net.retries import Attempts, Pace, Retries, attempts, settle

if TYPE_CHECKING:
    from rankproof.monitoring.alerts import Alert
    from rankproof.monitoring.sessions_and_windows import Calendar, LineCounts

FORMAT = 1
"""The version of the keys in JSON."""
HEADERS = {"Content-Type": "application/json", "User-Agent": "rankproof"}
TRIES, PAUSE, TIMEOUT = 4, 0.5, 10.0
MOST_WAITING = 1000
"""The number of alerts that wait for an address that does not answer; with more, the oldest are dropped."""
SHORTEST = 6
"""Characters from which on a part of an address may be a secret."""


class Webhook:
    """An address that alerts are sent to; `${NAME}` in it is taken from the environment."""

    def __init__(self, url: str) -> None:
        for name in re.findall(r"\$\{(\w+)\}", url):
            if not os.environ.get(name):
                raise UsageError(f"webhook: {name} is not in the environment. Next: export it.")
        found = re.sub(r"\$\{(\w+)\}", lambda name: os.environ[name[1]], url)
        if not is_address(found) or urlsplit(found).username is not None:
            raise UsageError(
                "webhook: expected an address that begins with https:// or http://, without blanks, name or password, "
                "and a port up to 65535. Next: give one, or '${NAME}' if it is in the environment."
            )
        where = urlsplit(found)
        self.url, self.host = found, (where.hostname or "") + (f":{where.port}" if where.port else "")
        parts = {part for part in re.split(r"[/?&=]", f"{where.path}?{where.query}") if len(part) >= SHORTEST}
        self._secrets = dict.fromkeys({found, *parts}, "[webhook]")

    def send(self, payload: Mapping[str, Any]) -> str | None:
        """Why it could not be delivered, None if it was; any 2xx is taken for that."""
        client = Client(TIMEOUT, self._secrets)
        request = Request("POST", self.url, HEADERS, json.dumps(payload, sort_keys=True).encode())

        def ask() -> Response:
            response = client.ask(request)
            return replace(response, failure=None) if 200 <= response.status < 300 else response

        course: Attempts[Response] = attempts(Retries(TRIES, PAUSE), Pace())
        with closing(client):
            failure = settle(course, ask).failure
        if failure is None:
            return None
        times = f" after {failure.attempts} attempts" if failure.attempts > 1 else ""
        return f"webhook {self.host}: not delivered{times}: {failure.reason}"


class Delivery:
    """Sends alerts to one address in the background, so that no stream waits for it; those that could not be delivered
    are sent again with the next ones."""

    def __init__(self, hook: Webhook) -> None:
        self._hook, self._changed = hook, Condition()
        self._waiting: deque[tuple[Alert, dict[str, Any]]] = deque(maxlen=MOST_WAITING)
        self._new = self._ended = False
        self._thread: Thread | None = None
        self.failure: str | None = None
        """Why the last attempt failed, None if it did not."""

    def give(self, alerts: Sequence[Alert], calendar: Calendar, counts: LineCounts) -> None:
        """Send these, and what waits."""
        log = {"events": counts.events, "first": calendar.stamp(counts.first), "last": calendar.stamp(counts.last)}
        with self._changed:
            self._waiting.extend((each, {"alert": _alert(calendar, each), "log": log}) for each in alerts)
            self._new = True
            if self._thread is None:
                self._thread = Thread(target=self._work, name="rankproof webhook", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def waiting_rules(self) -> set[str]:
        """The rules whose alerts wait."""
        with self._changed:
            return {alert.rule.name for alert, _ in self._waiting}

    def end(self, seconds: float) -> str | None:
        """Wait this long for deliveries; returns why something was not delivered, if so."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(seconds)
        if not self.waiting_rules():
            return None
        return self.failure or f"webhook {self._hook.host}: not delivered: no answer after {seconds:g} seconds"

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._new or self._ended)
                if not self._new:
                    return
                some, self._new = list(self._waiting), False
            failure = self._hook.send(payload(some)) if some else None
            with self._changed:
                self.failure = failure
                if failure is None:
                    for each in some:
                        if self._waiting and self._waiting[0] is each:
                            self._waiting.popleft()


def payload(some: Sequence[tuple[Alert, dict[str, Any]]]) -> dict[str, Any]:
    """What is sent: a text that chats show, each alert with its rule and numbers, and an id by which duplicates can be
    dropped: the same for the same alerts on the same events."""
    told, log = [each["alert"] for _, each in some], some[-1][1]["log"]
    name = hashlib.blake2b(json.dumps([told, log], sort_keys=True).encode(), digest_size=12).hexdigest()
    return {
        "format": FORMAT,
        "source": "rankproof monitor",
        "id": name,
        "text": "\n".join(alert.sentence for alert, _ in some),
        "alerts": told,
        "log": log,
    }


def _alert(calendar: Calendar, each: Alert) -> dict[str, Any]:
    rule = each.rule
    limits = {"above": rule.above, "below": rule.below, "changed": rule.changed, "outage": rule.outage}
    return {
        "name": rule.name,
        "metric": rule.metric,
        "slice": f"{rule.slice}={rule.group}" if rule.slice else None,
        "rule": {key: value for key, value in limits.items() if value not in (None, "")}
        | {"over": rule.over, "evidence": rule.evidence, "least": rule.least},
        "says": each.sentence,
        "estimate": None if each.estimate is None else row(each.estimate, calendar),
    }
