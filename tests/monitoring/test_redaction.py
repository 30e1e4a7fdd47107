"""Personal data planted in every field and damaged line of a log, and searched for in everything that is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from rankproof import simulate_log
from rankproof.monitoring.event_values import mask_value
from rankproof.monitoring.events import KEY
from tests.shell import rankproof

pytestmark = pytest.mark.slow

NAME = "Zq7miller"
PLANTED = {
    "@zq7.example": "ann@zq7.example",
    "%40zq7": "ann%40zq7.example",
    "777 66 55": "+49 30 777 66 55",
    "555-0142": "(212) 555-0142",
    "203.0.113.77": "203.0.113.77",
    "db8:85a3": "2001:db8:85a3::8a2e:370:7334",
    "1111 1111": "4111 1111 1111 1111",
    "1111\u00a01111": "4111\u00a01111\u00a01111\u00a01111",
    "0044 0532": "DE89 3704 0044 0532 0130 00",
}
"""What is masked: a part that nothing else holds, and the whole."""
CARD = 4111111111111111
SECRETS = " and ".join(PLANTED.values())
BY = "variant,channel,user,session,query,answer,id,card,amount,user_id,userId,conversation_id,meta.country,meta.user_id"
PLACE = f"{NAME.lower()}@zq7.example"
"""A folder that is named after somebody."""
HIDE = {
    "masks": ["--redact", "masks"],
    "hook": ["--redact", "hook:drop"],
    "hash": ["--hash"],
    "masks and hash": ["--redact", "masks", "--hash"],
    "hook and hash": ["--redact", "hook:drop", "--hash"],
}


def _record(at: int, event: dict[str, Any]) -> dict[str, Any]:
    who = NAME if at % 2 else f"{NAME}{at % 7}"
    user, session, name = (f"{each}@zq7.example" for each in (who, f"{NAME}.s{at // 2}", f"{NAME}.e{at}"))
    return event | {
        "id": name,
        "session": session,
        "user": user,
        "query": f"{event['query']} {SECRETS}",
        "answer": f"I don't know, ask {SECRETS}",
        "results": [each | {"text": SECRETS} for each in event["results"]],
        "variant": f"v{at % 2} {SECRETS}",
        "channel": f"c{at % 3} {SECRETS}",
        "card": CARD,
        "amount": float(CARD),
        "user_id": user,
        "userId": user,
        "conversation_id": session,
        "meta": {"country": SECRETS, "user_id": user},
    }


def _damaged() -> list[str]:
    time = {"ts": 1.7e9}
    bad: list[Any] = [
        {"ts": SECRETS}, [SECRETS], {SECRETS: 1}, {"when": "2025-03-03T10:00:00Z", "q": SECRETS},
        *(time | {field: SECRETS} for field in ("thumb", "latency_ms", "abstained")),
        *(time | {field: [{SECRETS: SECRETS}]} for field in ("results", "clicks", "citations")),
        *(time | {field: {SECRETS: SECRETS}} for field in ("query", "user", "session")),
    ]  # fmt: skip
    return [*map(json.dumps, bad), f'{{"cut": "{SECRETS}', f"\0{SECRETS}"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    found = tmp_path_factory.mktemp("personal")
    events = simulate_log(30, seed=1, users=8, days=3).records()
    records = [_record(at, each) for at, each in enumerate(events)]
    (found / PLACE).mkdir()
    for path in (found / "log.jsonl", found / PLACE / "log.jsonl"):
        path.write_text("\n".join([*map(json.dumps, records), *_damaged()]), "utf-8")
    (found / "damaged.jsonl").write_text("\n".join(_damaged()), "utf-8")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), found / "log.parquet")
    own = simulate_log(60, seed=9).records()
    queries = (json.dumps({"_id": f"q{at}", "text": each["query"]}) for at, each in enumerate(own))
    (found / "set.jsonl").write_text("\n".join(queries), "utf-8")
    (found / "hook.py").write_text(
        "def drop(event):\n"
        "    event.query = event.answer = event.variant = event.user = event.session = event.id = None\n"
        "    event.query, event.other = f'what is {event.ts}', {}\n"
        "    return event\n"
    )
    (found / "rules.toml").write_text(
        '[[alert]]\nmetric = "dont_know"\nabove = 0.0\nover = "any"\nevidence = "value"\nleast = 1\n'
    )
    return found


@pytest.fixture(scope="module")
def bodies() -> Iterator[tuple[str, list[str]]]:
    sent: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", sent
    server.shutdown()
    server.server_close()


def _found_in(texts: dict[str, str], hide: str) -> dict[str, list[str]]:
    """The parts that are in each text, of what should not be there."""
    parts = [NAME] if hide == "hash" else [*PLANTED, str(CARD), "zq7", NAME]
    return {place: there for place, text in texts.items() if (there := [each for each in parts if each in text])}


@pytest.mark.parametrize("hide", HIDE)
def test_nothing_personal_gets_out_of_monitor(hide, folder, bodies, monkeypatch) -> None:
    monkeypatch.setenv(KEY, "k" * 20)
    address, sent = bodies
    runs = [("log.jsonl", "json"), ("log.parquet", "full"), (f"{PLACE}/log.jsonl", "full"), ("stream", "json")]
    if hide in ("masks", "hash"):  # the others only have both, or less to hide: their JSON holds all that forms print
        runs += [("log.jsonl", form) for form in ("table", "full", "csv", "html", "prometheus", "otel")]
        runs += [("log.parquet", "json"), (f"{PLACE}/log.jsonl", "json")]
    for log, form in runs:
        sent.clear()
        for name in ("rejected.jsonl", "state.json"):
            (folder / name).unlink(missing_ok=True)
        words = ["log.jsonl", "--lateness", "60"] if log == "stream" else [log]
        words += [*HIDE[hide], "--by", BY, "-f", form, "--webhook", address]
        words += ["--rejected", "rejected.jsonl", "--state", "state.json", "--alerts", "rules.toml"]
        done = rankproof(folder, "monitor", *words)
        assert done.returncode == 1, done.stderr
        assert sent
        told = {"out": done.stdout, "errors": done.stderr.replace(f"reading {PLACE}", ""), "sent": "".join(sent)}
        told |= {name: (folder / name).read_text("utf-8") for name in ("rejected.jsonl", "state.json")}
        assert ("not JSON" in told["rejected.jsonl"]) == (log != "log.parquet")
        assert _found_in(told, hide) == {}, f"{log} as {form}"
    done = rankproof(folder, "monitor", "damaged.jsonl", *HIDE[hide])
    assert done.returncode == 3
    assert _found_in({"out": done.stdout, "errors": done.stderr}, hide) == {}


@pytest.mark.parametrize("hide", [each for each in HIDE if "hook" not in each])
def test_nothing_personal_gets_to_a_judge(hide, folder, monkeypatch) -> None:
    monkeypatch.setenv(KEY, "k" * 20)
    for form in ("full", "json"):
        words = ["log.jsonl", *HIDE[hide], "--by", BY, "--judge", "lexical", "--judge-sample", "15", "-f", form]
        done = rankproof(folder, "monitor", *words, "--ledger", "ledger.db")
        assert done.returncode == 0, done.stderr
        assert _found_in({"out": done.stdout, "errors": done.stderr}, hide) == {}
    ledger = (folder / "ledger.db").read_bytes().decode("latin-1")
    assert "ask [email]" in ledger
    assert _found_in({"ledger": ledger}, "masks") == {}
    (folder / "ledger.db").unlink()


@pytest.mark.parametrize("hide", ["masks", "hook"])
def test_nothing_personal_gets_out_of_drift(hide, folder) -> None:
    for log in ("log.jsonl", "log.parquet", f"{PLACE}/log.jsonl"):
        for form in ("full", "json", "csv", "html"):
            files = ["--next-queries", "next.jsonl", "--next-run", "next.run", "--force"]
            done = rankproof(folder, "drift", "set.jsonl", log, *HIDE[hide], *files, "-f", form)
            assert done.returncode == 0, done.stderr
            told = {"out": done.stdout, "errors": done.stderr.replace(f"reading {PLACE}", "")}
            told |= {name: (folder / name).read_text("utf-8") for name in ("next.jsonl", "next.run")}
            assert told["next.jsonl"]
            assert _found_in(told, hide) == {}, f"{log} as {form}"


@pytest.mark.parametrize("command", ["variants", "interleaving", "clicks"])
def test_experiments_name_no_user_and_no_query(command, tmp_path) -> None:
    records = simulate_log(900, seed=1, variants=("A", "B")).records()
    log = [
        each | {"user": f"{NAME}{each['user']}", "query": f"{each['query']} {NAME}", "teams": ["x", "y"] * 5}
        for each in records
    ]
    (tmp_path / "log.jsonl").write_text("\n".join([*map(json.dumps, log), *_damaged()]), "utf-8")
    words = [*(["--swapped"] if command == "clicks" else []), "-f", "json"]
    done = rankproof(tmp_path, "experiment", command, "log.jsonl", *words)
    assert done.returncode == 0, done.stderr
    assert _found_in({"out": done.stdout, "errors": done.stderr}, "masks") == {}


@pytest.mark.parametrize("command", [["monitor"], ["monitor", "--hash"], ["drift", "set.jsonl"]])
def test_a_hook_that_gives_no_event_is_an_error(command, folder, monkeypatch) -> None:
    monkeypatch.setenv(KEY, "k" * 20)
    (folder / "odd.py").write_text("five = 5\ndef number(event): return 5\ndef nothing(event): pass\n")
    (folder / "log.csv").write_text("ts,query\n" + "1700000000,where is it\n" * 300)
    dropped = ("nothing", 3, "no |the hook dropped all of it")
    said = (("five", 2, "not a function"), ("number", 2, "the hook gave int"), dropped)
    for (hook, code, says), log in product(said, ("log.jsonl", "log.csv")):
        done = rankproof(folder, *command, log, "--redact", f"odd:{hook}")
        assert done.returncode == code, done.stderr
        assert re.search(says, done.stderr)
        assert "Next:" in done.stderr
        assert "Traceback" not in done.stderr


def test_what_is_masked_and_what_is_not() -> None:
    for text in (
        "ann@zq7", "ann＠zq7.example", "+1.212.555.0142", "212-555-0142", "06 12 34 56 78", "06.12.34.56.78",
        "0171 2345678", "4111.1111.1111.1111", "3782 822463 10005", "de89 3704 0044 0532 0130 00", "fe80::1", CARD,
        "de89370400440532013000", "NO93 8601 1117 947", "DE89-3704-0044-0532-0130-00", "(030) 1234567", "6212341111111111116",
        np.int64(CARD), float(CARD), 6212341111111111116,
    ):  # fmt: skip
        (left,) = mask_value([text])
        assert left in ("[email]", "[phone]", "[card]", "[iban]", "[ip]"), text
    for text in (
        "10:30:45", "order 12345 of 2025-03-03 for 10.50", "2025-03-03T10:00:00Z", "std::vector a::b", "5@10", 0.1234567890123456,
        "version 1.2.3", "20 000 000", "1700000000.123", "a24bcdef0123456789abcdef", 10**12 - 1, None, True,
        "3.14159265358979", "0.4111111111111111", "978-3-16-148410-0", "9783161484100", "ISBN 978 0 306 40615 7", "4111 1111 1111 1112",
        "1700000000123", 1700000000123456789, "20250303100000", "2019 2020 2021 2022", "03.04.2025 10:30", "01-02-2025 03 04",
        "SKU AB12 3456 7890 1234", "999.1.2.3", "52.5200066 13.4049540", "10.0.19041.1",
    ):  # fmt: skip
        assert mask_value({"x": [text]}) == {"x": [text]}
    for text, masked in (
        ("card 4111 1111 1111 1111 123, 12/27", "card [card] 123, 12/27"), ("item 55 4111111111111111 2", "item 55 [card] 2"),
        ("to BE68 5390 0754 7034 FROM ann@zq7 and bob@zq7", "to [iban] FROM [email] and [email]"),
    ):  # fmt: skip
        assert mask_value(text) == masked
    assert mask_value({"ann@zq7": "ann@zq7"}) == {"ann@zq7": "[email]"}
