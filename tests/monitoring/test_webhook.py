"""Alerts go to a webhook only if asked for, with evidence, again if it fails, and its address is never shown."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic, sleep
from typing import Any

import pytest

from rankproof import monitor, simulate_log
from rankproof.errors import UsageError
from rankproof.monitoring import alerts, webhook

pytestmark = pytest.mark.cover

TOKEN = "T0k3n-zq7hunter2bananas"
RULES = [
    {"name": "empty", "metric": "no_result", "above": 0.2, "over": "any"},
    {"metric": "ctr", "above": 0.99},
]


class Receiver(ThreadingHTTPServer):
    """Answers with the statuses in turn, the last one for good, and keeps what came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses, self.reply = [200], b"ok"
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/services/{TOKEN}?key=abc{TOKEN}"


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # what is written second would wait 40 ms
    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, dict(self.headers), body))
        statuses = self.server.statuses
        self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
        self.send_header("Content-Length", str(len(self.server.reply)))
        self.send_header("Location", f"https://elsewhere.example/{TOKEN}")
        self.end_headers()
        self.wfile.write(self.server.reply)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: the output of a test is for what went wrong."""


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(webhook, "PAUSE", 0.01)
    monkeypatch.setattr(webhook, "TIMEOUT", 120.0)  # what a busy machine answers late is not asked for again
    found = Receiver()
    threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    return list(simulate_log(1500, seed=1, days=8, outage=(5, 8, 12)).records())


def test_what_fires_is_sent_once_with_its_evidence(receiver, records) -> None:
    receiver.statuses = [503, 429, 204]
    found = monitor(records, alerts=RULES, webhook=receiver.url)
    assert found.undelivered == []
    assert len(receiver.got) == 3
    path, _, body = receiver.got[-1]
    assert path.endswith(f"/services/{TOKEN}?key=abc{TOKEN}")
    told = json.loads(body)
    (alert,) = told["alerts"]
    assert alert["name"] == "empty"
    assert alert["rule"]["above"] == 0.2 < alert["estimate"]["low"] < alert["estimate"]["value"]
    assert alert["estimate"]["n"] > 30
    assert alert["says"] == told["text"] == found.alerts[0].sentence
    assert told["log"]["events"] == found.events
    assert {json.loads(each[2])["id"] for each in receiver.got} == {told["id"]}


@pytest.mark.slow
def test_nothing_is_sent_if_nothing_fires_or_nobody_asked(receiver, records) -> None:
    monitor(records, alerts=RULES[1:], webhook=receiver.url)
    monitor(records, alerts=RULES)
    assert receiver.got == []


@pytest.mark.slow
@pytest.mark.parametrize("status", [500, 404, 301, 0])
def test_a_failed_delivery_is_said_without_the_secret_and_sent_again(receiver, records, tmp_path, status) -> None:
    url, state = receiver.url, tmp_path / "state.json"
    receiver.statuses, receiver.reply = [status or 200], f"no such hook {TOKEN} at {receiver.url}".encode()
    if not status:  # nobody listens
        url = url.replace(str(receiver.server_address[1]), "9")
    found = monitor(records, alerts=RULES, webhook=[url], state=state)
    assert [each.fired for each in found.alerts] == [True, False]
    (reason,) = found.undelivered
    assert reason.startswith("webhook 127.0.0.1:")
    assert "bananas" not in reason + json.dumps(found.to_dict()) + state.read_text()
    assert len(receiver.got) == {500: 4, 404: 1, 301: 1, 0: 0}[status]
    receiver.statuses, receiver.got = [200], []
    again = monitor(records, alerts=RULES, webhook=receiver.url, state=state)
    assert [each.fired for each in again.alerts] == [True, False]
    assert len(receiver.got) == 1
    assert [e.fired for e in monitor(records, alerts=RULES, webhook=url, state=state).alerts] == [
        False,
        False,
    ]


@pytest.mark.slow
def test_in_the_shell_the_alert_stands_and_the_failure_is_said(receiver, tmp_path) -> None:
    log, rules = tmp_path / "log.jsonl", tmp_path / "alerts.toml"
    simulate_log(800, seed=1, days=8, outage=(5, 8, 12)).save(log)
    rules.write_text('[[alert]]\nmetric = "no_result"\nabove = 0.2\nover = "any"\n')
    call = [sys.executable, "-m", "rankproof", "monitor", str(log), "--webhook", "${HOOK}"]
    environment = {"HOOK": receiver.url, "PATH": "/usr/bin", "COLUMNS": "80"}

    def run(*more: str, **added: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*call, *more], capture_output=True, text=True, env=environment | added, check=False)

    done = run("--alerts", str(rules))
    assert (done.returncode, len(receiver.got)) == (1, 1)
    receiver.statuses = [400]
    failed = run("--alerts", str(rules))
    assert failed.returncode == 1
    assert "alert: no_result" in failed.stderr
    assert "not delivered: HTTP 400" in failed.stderr
    assert failed.stdout == done.stdout
    assert TOKEN not in done.stderr + failed.stderr + failed.stdout
    assert run().returncode == 2
    assert "HOOK is not in the environment" in run("--alerts", str(rules), HOOK="").stderr


def test_what_is_no_address_is_refused_without_showing_it(records) -> None:
    odd = ("https://h:99999/" + TOKEN, "https://[::1/" + TOKEN, "https://h /" + TOKEN, f"https://me:{TOKEN}@h/")
    for wrong in ("hooks.example/" + TOKEN, "ftp://h/" + TOKEN, "https://", *odd):
        with pytest.raises(UsageError, match="https") as error:
            monitor(records, alerts=RULES, webhook=wrong)
        assert TOKEN not in str(error.value)


STREAM = [{"name": "silent", "metric": "dont_know", "above": 0.5, "evidence": "value", "cool_down": "1h"}]


def stream(hours: int = 12, wait: Any = None, after: int = 8) -> Iterator[dict[str, Any]]:
    """An event every ten seconds, all of which say from the third hour on that they do not know."""
    for at in range(hours * 360):
        if wait is not None and at == after * 360:
            wait()
        yield {"ts": 1740960000 + 10 * at, "user": f"u{at % 97}", "abstained": at >= 1080, "clicks": []}


def test_a_webhook_of_a_stream_is_sent_while_it_runs_and_once(receiver, tmp_path) -> None:
    state, told = tmp_path / "state.json", []
    during: list[Any] = []

    def wait() -> None:
        until = monotonic() + 30
        while not receiver.got and monotonic() < until:
            sleep(0.01)
        during.extend(json.loads(each[2]) for each in receiver.got)

    how = {"alerts": STREAM, "lateness": 60, "window": "hour", "on_alert": told.append, "state": state}
    found = monitor(stream(60, wait, 59), webhook=receiver.url, **how)
    sent = [each["estimate"]["start"] for got in receiver.got for each in json.loads(got[2])["alerts"]]
    assert during, "nothing came while the stream ran"
    assert during[0]["alerts"][0]["name"] == "silent"
    assert during[0]["log"]["events"] < found.events
    assert sent == sorted(set(sent))
    assert len(sent) >= len(told) > 10
    assert found.undelivered == []
    assert json.loads(state.read_text())["told"]["silent"]


@pytest.mark.parametrize("trouble", ["hangs", "drips", "fails", "nobody"])
def test_no_stream_waits_for_a_webhook_or_ends_by_it(receiver, tmp_path, monkeypatch, trouble) -> None:
    monkeypatch.setattr(alerts, "AT_END", 0.5)
    state, url, stop = tmp_path / "state.json", receiver.url, threading.Event()
    if trouble in ("hangs", "drips"):

        def answer(self: Handler) -> None:
            self.server.got.append((self.path, dict(self.headers), b""))
            self.send_response(200)
            self.end_headers()
            while not stop.wait(0.05):
                if trouble == "drips":
                    self.wfile.write(b"x")

        monkeypatch.setattr(Handler, "do_POST", answer)
    elif trouble == "fails":
        receiver.statuses = [500]
    else:
        url = url.replace(str(receiver.server_address[1]), "9")
    begin = monotonic()
    found = monitor(stream(), alerts=STREAM, lateness=60, window="hour", webhook=[url], state=state, by=[])
    took = monotonic() - begin
    stop.set()
    assert took < 20
    assert found.events == 12 * 360
    assert found.alerts[0].fired
    (reason,) = found.undelivered
    assert reason.startswith("webhook 127.0.0.1:")
    assert "bananas" not in reason
    assert json.loads(state.read_text())["told"] == {}


def test_alerts_that_were_not_delivered_go_with_the_next_ones(receiver, tmp_path) -> None:
    receiver.statuses = [500, 500, 500, 500, 200]
    told: list[Any] = []
    first = lambda: len(receiver.got) >= 4  # noqa: E731

    def wait() -> None:
        until = monotonic() + 30
        while not first() and monotonic() < until:
            sleep(0.01)

    state = tmp_path / "state.json"
    how = {"alerts": STREAM, "lateness": 60, "window": "hour", "state": state}
    found = monitor(stream(60, wait, 58), webhook=receiver.url, on_alert=told.append, **how)
    bodies = [json.loads(each[2]) for each in receiver.got]
    assert found.undelivered == []
    assert len(bodies[0]["alerts"]) >= 1
    assert bodies[4]["alerts"][0] == bodies[0]["alerts"][0]
    assert sum(len(each["alerts"]) for each in bodies[4:]) >= len(told)
    assert json.loads(state.read_text())["told"]["silent"]


def test_an_alert_in_a_broken_letter_is_sent(receiver) -> None:
    records = [{**each, "variant": "\ud800"} for each in stream(6)]
    rule = {"metric": "dont_know", "above": 0.1, "evidence": "value", "slice": "variant=\ud800"}
    found = monitor(records, alerts=[rule], webhook=receiver.url)
    assert found.undelivered == []
    assert json.loads(receiver.got[0][2])["alerts"][0]["slice"] == "variant=\ud800"
