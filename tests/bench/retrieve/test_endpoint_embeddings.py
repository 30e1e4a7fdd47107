"""Embeddings over HTTP, from a server on loopback that also goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from rankproof.bench.retrieve import dense, endpoint
from rankproof.errors import DataError, RankproofError, UsageError

CORPUS = {"d1": "aaab", "d2": "abbb", "d3": "abc"}
Answer = tuple[int, dict[str, str], bytes]


def letters(text: str) -> list[int]:
    return [text.count(letter) for letter in "abc"]


def good(asked: dict[str, Any]) -> Answer:
    rows = [{"index": n, "embedding": letters(text)} for n, text in enumerate(asked["input"])]
    return 200, {}, json.dumps({"data": rows[::-1], "model": asked["model"]}).encode()


@contextmanager
def serving(*answers: Callable[[dict[str, Any]], Answer]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that gives one answer after the other, and the last one from then on."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True  # what is written second would wait 40 ms
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            make = answers[min(len(seen), len(answers) - 1)]
            seen.append({**body, "path": self.path, "key": self.headers.get("Authorization")})
            status, headers, content = make(body)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()


def failing(status: int, content: bytes = b"", **headers: str) -> Callable[[dict[str, Any]], Answer]:
    return lambda asked: (status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def changed(change: Callable[[list[Any]], Any]) -> Callable[[dict[str, Any]], Answer]:
    def answer(asked: dict[str, Any]) -> Answer:
        rows = [{"index": n, "embedding": letters(text)} for n, text in enumerate(asked["input"])]
        return 200, {}, json.dumps({"data": change(rows)}).encode()

    return answer


def test_it_asks_as_openai_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret-key")
    with serving(good) as (url, seen):
        search = dense(CORPUS, endpoint(url, "m", key="MY_KEY", dimensions=3, batch=2))
        assert search("bb", 1)[0][0] == "d2"
    assert [each["input"] for each in seen] == [["abc", "abbb"], ["aaab"], ["bb"]]
    assert {each["path"] for each in seen} == {"/v1/embeddings"}
    assert {each["key"] for each in seen} == {"Bearer s3cret-key"}
    assert seen[0]["dimensions"] == 3
    assert "s3cret" not in json.dumps(search.settings) + repr(search)


def test_no_key_goes_to_other_servers_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-only")
    with serving(good) as (url, seen):
        dense(CORPUS, endpoint(url, "m"))
    assert seen[0]["key"] is None


@pytest.mark.parametrize(
    "first", [failing(429, Retry_After="0"), failing(500), failing(503, b"busy"), failing(200, b'{"da')]
)
def test_what_passes_is_asked_again(first: Callable[[dict[str, Any]], Answer]) -> None:
    with serving(first, good) as (url, seen):
        assert dense(CORPUS, endpoint(url, "m"))("bb", 1)[0][0] == "d2"
    assert [len(each["input"]) for each in seen] == [3, 3, 1]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (failing(429), "asked 2 times, HTTP 429"),
        (failing(500, b"oops"), "HTTP 500: 'oops'"),
        (failing(401, b"no"), "asked once, HTTP 401: 'no'"),
        (failing(200, b"<html>sign in</html>", Content_Type="text/html"), "text/html: no whole JSON"),
        (failing(429, Retry_After="3600"), "asked once, HTTP 429"),
        (failing(302, Location="http://elsewhere/"), "moved to http://elsewhere/"),
        (changed(lambda rows: rows[:-1]), "got 2 vectors for 3 texts"),
        (changed(lambda rows: [*rows, rows[0]]), "got 4 vectors for 3 texts"),
        (
            changed(lambda rows: [rows[0], rows[0], rows[1]]),
            "got 3 vectors for 3 texts, expected one for each",
        ),
        (changed(lambda rows: [{"index": row["index"]} for row in rows]), "OpenAI's format"),
        (changed(lambda rows: "none"), "OpenAI's format"),
        (failing(200, b"[1, 2]"), "OpenAI's format"),
        (
            changed(lambda rows: [{**row, "embedding": [1.0] * (1 + row["index"])} for row in rows]),
            "as many numbers",
        ),
        (changed(lambda rows: [{**row, "embedding": [float("nan")]} for row in rows]), "NaN or infinite"),
        (changed(lambda rows: [{**row, "embedding": None} for row in rows]), "embedder: got"),
    ],
)
def test_what_does_not_pass_is_said(answer: Callable[[dict[str, Any]], Answer], said: str) -> None:
    with serving(answer) as (url, _), pytest.raises(DataError) as caught:
        dense(CORPUS, endpoint(url, "m", retries=1))
    assert said in str(caught.value)


def test_a_server_that_is_not_there() -> None:
    with serving(good) as (url, _):
        pass
    with pytest.raises(DataError, match="asked 2 times"):
        dense(CORPUS, endpoint(url, "m", retries=1))


def test_vectors_of_another_size_in_a_later_batch() -> None:
    with (
        serving(good, changed(lambda rows: [{**row, "embedding": [1.0]} for row in rows])) as (url, _),
        pytest.raises(DataError, match="vectors of 1 and of 3 numbers"),
    ):
        dense(CORPUS, endpoint(url, "m", batch=2))


def test_a_key_that_the_server_repeats_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-abcdef-0123456789-tail99"
    monkeypatch.setenv("MY_KEY", key)
    content = b"Incorrect key: Bearer " + key.encode() + b", and a lot more is said here about keys in general"
    with serving(failing(401, content)) as (url, _), pytest.raises(RankproofError) as caught:
        dense(CORPUS, endpoint(url, "m", key="MY_KEY"))
    assert "401" in str(caught.value)
    assert not any(key[n : n + 6] in str(caught.value) for n in range(len(key) - 5))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"base_url": "localhost:8000"}, "base_url: got 'localhost:8000'"),
        ({"base_url": "ftp://host/v1"}, "base_url: got"),
        ({"base_url": None}, "base_url: got None"),
        ({"base_url": "http://host:99999/v1"}, "base_url: got"),
        ({"base_url": "http://[::1"}, "base_url: got"),
        ({"key": "sk-this-is-a-key"}, "not a key itself"),
        ({"key": "NO_SUCH_VARIABLE"}, "no variable NO_SUCH_VARIABLE"),
        ({"batch": 0}, "batch: got 0"),
        ({"retries": -1}, "retries: got -1"),
    ],
)
def test_what_is_wrong_with_the_arguments(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        endpoint(**{"base_url": "http://localhost/v1", "model": "m", **arguments})
    assert said in str(caught.value)
    assert "sk-this" not in str(caught.value)


def test_openai_itself_needs_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="no variable OPENAI_API_KEY"):
        endpoint("https://api.openai.com/v1", "text-embedding-3-small")
