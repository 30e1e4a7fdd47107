"""An HTTP server on loopback that searches, and misbehaves as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

DOCUMENTS = {"d1": "refund within thirty days", "d2": "opening hours on sunday", "d3": "reset the password"}


def search(question: str) -> list[tuple[str, float]]:
    """The documents that share words with the question, those with most first."""
    words = set(question.lower().split())
    scores = {name: float(len(words & set(text.split()))) for name, text in DOCUMENTS.items()}
    return sorted(((name, score) for name, score in scores.items() if score), key=lambda pair: -pair[1])


class SearchServer(ThreadingHTTPServer):
    """Answers as a search engine would; `faults` are handed out to the requests, one each, in turn."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults: list[Callable[[Handler], bool]] = []
        self.seen: list[dict[str, Any]] = []
        self.arrivals: list[float] = []
        self.delay = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # what is written second would wait 40 ms
    protocol_version = "HTTP/1.1"
    server: SearchServer

    def do_GET(self) -> None:
        self.answer(parse_qs(urlsplit(self.path).query).get("q", [""])[0])

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(body["query"], body)

    def answer(self, question: str, body: Any = None) -> None:
        self.server.arrivals.append(time.monotonic())
        self.server.seen.append({"question": question, "body": body, "headers": dict(self.headers)})
        time.sleep(self.server.delay)
        fault = self.server.faults.pop(0) if self.server.faults else None
        if fault is None or not fault(self):
            hits = [{"_id": name, "_score": score, "text": DOCUMENTS[name]} for name, score in search(question)]
            self.send(200, json.dumps({"hits": {"hits": hits}}))

    def send(self, status: int, content: str, kind: str = "application/json", **headers: str) -> bool:
        data = content.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)
        return True

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: the output of a test is for what went wrong."""


@pytest.fixture
def server() -> Iterator[SearchServer]:
    found = SearchServer()
    thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


@pytest.fixture
def endpoint(server: SearchServer, tmp_path: Path) -> Callable[..., str]:
    """Writes the description of the server's endpoint and gives its path."""

    def written(more: str = "", limits: str = "retries = 2\ntimeout = 5") -> str:
        path = tmp_path / "endpoint.toml"
        path.write_text(
            f'url = "{server.url}/search"\nbody = {{ query = "{{question}}", size = "{{k}}" }}\n{more}\n'
            '[answer]\nids = "hits.hits[*]._id"\nscores = "hits.hits[*]._score"\n'
            f"[limits]\n{limits}\n"
        )
        return str(path)

    return written
