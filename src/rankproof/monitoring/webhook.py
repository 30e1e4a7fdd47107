"""Alerts by webhook, only where one is asked for: one POST of JSON with the evidence, retried, its address kept secret.

Whoever knows the address of a webhook can write to it, so messages say its host alone. A delivery that fails is said,
changes no exit code, and the alert counts as not told: the next run sends it again.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from rankproof.errors import UsageError
from rankproof.monitoring.words import row
from rankproof.net.client import Client, Request, Response
from rankproof.net.retries import Attempts, Pace, Retries, attempts, settle

if TYPE_CHECKING:
    from rankproof.monitoring.alerts import Alert
    from rankproof.monitoring.monitor import Monitor

FORMAT = 1
"""The version of the keys in JSON."""
KEY = "RANKPROOF_WEBHOOK_KEY"
"""The environment variable with a key by which the body is signed, if it is set."""
SIGNATURE = "X-Rankproof-Signature"
TRIES, PAUSE, TIMEOUT = 4, 0.5, 10.0
SHORTEST = 6
"""Characters from which on a part of an address may be a secret."""


class Webhook:
    """An address that alerts are sent to; `${NAME}` in it is taken from the environment."""

    def __init__(self, url: str) -> None:
        found = re.sub(r"\$\{(\w+)\}", lambda name: _of_environment(name[1]), url)
        where = urlsplit(found)
        if where.scheme not in ("http", "https") or not where.hostname:
            raise UsageError(
                "webhook: expected an address that begins with https:// or http://. "
                "Next: give one, or '${NAME}' if it is in the environment."
            )
        self.url, self.host = found, where.hostname + (f":{where.port}" if where.port else "")
        parts = {part for part in re.split(r"[/?&=]", f"{where.path}?{where.query}") if len(part) >= SHORTEST}
        self._secrets = dict.fromkeys({found, *parts, where.password or ""} - {""}, "[webhook]")
        self._headers = {"Content-Type": "application/json", "User-Agent": "rankproof"}
        if where.username is not None:
            login = f"{unquote(where.username)}:{unquote(where.password or '')}"
            self._headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"

    def send(self, payload: Mapping[str, Any]) -> str | None:
        """Why it could not be delivered, None if it was; any 2xx is taken for that."""
        body = json.dumps(payload, ensure_ascii=False, sort_keys=True).encode()
        headers = dict(self._headers)
        if key := os.environ.get(KEY):
            headers[SIGNATURE] = f"sha256={hmac.new(key.encode(), body, hashlib.sha256).hexdigest()}"
        client = Client(TIMEOUT, self._secrets)
        request = Request("POST", self.url, headers, body)

        def ask() -> Response:
            response = client.ask(request)
            return replace(response, failure=None) if 200 <= response.status < 300 else response

        course: Attempts[Response] = attempts(Retries(TRIES, PAUSE), Pace())
        try:
            failure = settle(course, ask).failure
        finally:
            client.close()
        if failure is None:
            return None
        times = f" after {failure.attempts} attempts" if failure.attempts > 1 else ""
        return f"webhook {self.host}: not delivered{times}: {failure.reason}"


def _of_environment(name: str) -> str:
    if not os.environ.get(name):
        raise UsageError(f"webhook: {name} is not in the environment. Next: export it.")
    return os.environ[name]


def deliver(found: Monitor, hooks: Sequence[Webhook]) -> list[str]:
    """Send what fired to each; the reasons of those that did not get it."""
    fired = [each for each in found.alerts if each.fired]
    if not fired:
        return []
    body = payload(found, fired)
    return [reason for hook in hooks if (reason := hook.send(body)) is not None]


def payload(found: Monitor, fired: Sequence[Alert]) -> dict[str, Any]:
    """What is sent: a text that chats show, and each alert with its rule and the numbers behind it.

    The id is the same for the same alerts on the same events, so that who gets it twice can tell.
    """
    told = [_alert(found, each) for each in fired]
    log = {
        "events": found.events,
        "first": found.calendar.stamp(found.counts.first),
        "last": found.calendar.stamp(found.counts.last),
    }
    name = hashlib.blake2b(json.dumps([told, log], sort_keys=True).encode(), digest_size=12).hexdigest()
    text = "\n".join(each.sentence for each in fired)
    return {
        "format": FORMAT,
        "source": "rankproof monitor",
        "id": name,
        "text": text,
        "alerts": told,
        "log": log,
    }


def _alert(found: Monitor, each: Alert) -> dict[str, Any]:
    rule = each.rule
    limits = {"above": rule.above, "below": rule.below, "changed": rule.changed, "outage": rule.outage}
    return {
        "name": rule.name,
        "metric": rule.metric,
        "slice": f"{rule.slice}={rule.group}" if rule.slice else None,
        "rule": {key: value for key, value in limits.items() if value not in (None, "")}
        | {"over": rule.over, "evidence": rule.evidence, "least": rule.least},
        "says": each.sentence,
        "estimate": None if each.estimate is None else row(each.estimate, found.calendar),
    }
