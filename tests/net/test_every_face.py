"""Whoever asks over HTTP keeps to the same rules: endpoints, stores, embedders, models and batches of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

import pytest

from rankproof import Benchmark
from rankproof.bench.adapters.endpoint import of_endpoint
from rankproof.bench.connect import elasticsearch
from rankproof.bench.retrieve import dense_search
from rankproof.errors import DataError
from rankproof.judging.models.judge import model_judge
from rankproof.judging.verdicts import Ask
from rankproof.net.retries import AGAIN

KEY = "zq7hunter2bananas-Pelican44"
PAUSE = 0.01


class Refusing(ThreadingHTTPServer):
    """Answers every request in the same way, and notes when each came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.headers, self.body = 500, dict[str, str](), b""
        self.arrivals: list[float] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # what is written second would wait 40 ms
    protocol_version = "HTTP/1.1"
    server: Refusing

    def do_POST(self) -> None:
        self.server.arrivals.append(time.monotonic())
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.server.status)
        for name, value in {**self.server.headers, "Content-Length": str(len(self.server.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: the output of a test is for what went wrong."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Refusing]:
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setattr(dense_search, "FIRST_PAUSE", PAUSE)
    found = Refusing()
    thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


def run(retriever: Any) -> str:
    made = Benchmark({"q1": "why?"}).run("faulty", retriever, retries=1, backoff=PAUSE)
    return f"{made} {made.failures}"


def by_endpoint(url: str) -> str:
    headers = {"Authorization": "Bearer ${MY_KEY}"}
    described = {"url": url, "headers": headers, "body": {"q": "{question}"}, "answer": {"ids": "ids"}}
    return run(of_endpoint(described))


def by_store(url: str) -> str:
    return run(elasticsearch(url, "documents", api_key=KEY))


def by_embedder(url: str) -> str:
    with pytest.raises(DataError) as caught:
        dense_search.endpoint(url, "m", key="MY_KEY", retries=1).documents(["a text"])
    return str(caught.value)


def by_model(url: str, **options: Any) -> str:
    kept: list[Any] = []
    options = {"tries": 2, "pause": PAUSE, "key_variable": "MY_KEY", **options}
    judge = model_judge("openai:m", base_url=url, **options)
    account = judge.judge([[Ask("R", "why?", "a text")]], kept.extend)
    return f"{kept} {account.problems}"


def by_batch(url: str) -> str:
    return by_model(url, batch=True)


FACES: tuple[Callable[[str], str], ...] = (by_endpoint, by_store, by_embedder, by_model, by_batch)


@pytest.mark.slow
@pytest.mark.parametrize("face", FACES)
def test_the_same_statuses_are_tried_again(server: Refusing, face: Callable[[str], str]) -> None:
    for status in sorted(AGAIN | {302, 400, 401, 403, 404, 405, 413, 418, 422, 501}):
        server.status, server.arrivals = status, []
        face(server.url)
        assert len(server.arrivals) == (2 if status in AGAIN else 1), status


@pytest.mark.slow
@pytest.mark.parametrize("face", FACES)
def test_as_long_is_waited_as_was_asked_for_and_not_for_too_long(server: Refusing, face: Callable[[str], str]) -> None:
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3600))
    for asked, least in (("0.3", 0.3), ("3600", None), (later, None), (later[:-3] + "-0000", None)):
        server.status, server.headers, server.arrivals = 429, {"Retry-After": asked}, []
        face(server.url)
        if least is None:
            assert len(server.arrivals) == 1, asked
        else:
            assert server.arrivals[1] - server.arrivals[0] >= least


@pytest.mark.first_is_quick
@pytest.mark.parametrize("face", FACES)
def test_what_no_retry_after_may_hold_changes_nothing(server: Refusing, face: Callable[[str], str]) -> None:
    odd = (
        "soon",
        "",
        "-5",
        "nan",
        "inf",
        "1e9",
        "1_000",
        "9" * 400,
        "120, 120",
        "Wed, 21 Oct 2015 07:28:00 GMT",
    )
    for asked in (*odd, f"Wed, 21 Oct {'9' * 30} 07:28:00 GMT", "Wed, 99 Oct 2015 07:28:00 GMT"):
        server.status, server.headers, server.arrivals = 503, {"retry-after": asked}, []
        face(server.url)
        assert len(server.arrivals) == 2, asked
        assert server.arrivals[1] - server.arrivals[0] < 2, asked


@pytest.mark.slow
@pytest.mark.parametrize("face", FACES)
def test_a_key_that_comes_back_is_not_shown(server: Refusing, face: Callable[[str], str]) -> None:
    forms = (KEY, f"Bearer {KEY}", quote(f"&{KEY}", safe=""), f"{KEY[:6]}*****", f"***{KEY[-6:]}.", KEY[:14])
    for status in (400, 401, 429, 500):
        for form in forms:
            server.status, server.body = status, f'{{"error": {{"message": "no: {form}"}}}}'.encode()
            said = face(server.url)
            assert not [KEY[n : n + 6] for n in range(len(KEY) - 5) if KEY[n : n + 6] in said], said


@pytest.mark.slow
def test_a_pause_that_is_asked_for_holds_all_calls_to_a_model(server: Refusing) -> None:
    server.status, server.headers = 429, {"Retry-After": "0.2"}
    groups = [[Ask("R", "why?", f"text {n}")] for n in range(6)]
    judge = model_judge("openai:m", base_url=server.url, tries=2, pause=PAUSE)
    judge.judge(groups, lambda verdicts: None)
    first, *others = sorted(server.arrivals)
    assert len(others) >= 6
    assert min(others) - first >= 0.2
