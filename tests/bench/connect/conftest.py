"""What the tests of stores share: a small corpus, vectors made without a model, servers on loopback."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rankproof.core.corpus import Corpus

TOPICS = ("refund", "hour", "fee")
CORPUS = Corpus.of(
    {
        "faq/1": {
            "title": "Refunds",
            "text": "Refunds are paid within 30 days.",
            "topic": "money",
            "year": 2024,
        },
        "faq/2": {"text": "Opening hours are nine to five.", "topic": "time", "year": 2025},
        "faq/3": {
            "title": "Fees",
            "text": 'There is no fee. Ask anybody\'s \\ help & be "sure".',
            "topic": "money",
        },
    }
)
POSTGRES_REQUIRED = os.environ.get("RANKPROOF_POSTGRES") == "required"
"""Where this is set a missing PostgreSQL is a failure."""


def embed(texts: list[str]) -> list[list[float]]:
    """A vector by topics; two texts about the same topic are alike."""
    return [[text.lower().count(topic) + 0.01 for topic in TOPICS] for text in texts]


@pytest.fixture
def corpus() -> Corpus:
    return CORPUS


# --- PostgreSQL --------------------------------------------------------------------------------------


def _program(name: str) -> str | None:
    known = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(known[-1]) if known else shutil.which(name)


def _as_somebody() -> list[str]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


@pytest.fixture(scope="session")
def postgres_at() -> Iterator[str]:
    """Where a PostgreSQL listens that was started for these tests, as psycopg connects to it."""
    initdb, server = _program("initdb"), _program("postgres")
    if initdb is None or server is None:
        assert not POSTGRES_REQUIRED, "PostgreSQL is not installed"
        pytest.skip("PostgreSQL is not installed")
    folder = tempfile.mkdtemp(prefix="pg")  # not tmp_path: the path of a socket must be short
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        make = [
            initdb,
            "-D",
            f"{folder}/data",
            "-U",
            "tester",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ]
        subprocess.run([*_as_somebody(), *make, "--no-sync"], check=True, capture_output=True, cwd="/")
        run = [server, "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses=", "-F"]
        with open(f"{folder}/log", "wb") as log:
            process = subprocess.Popen([*_as_somebody(), *run], stdout=log, stderr=log, cwd="/")
        try:
            where = f"host={folder} user=tester dbname=postgres"
            _wait(where, process)
            yield where
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(where: str, process: subprocess.Popen[bytes]) -> None:
    import psycopg

    for _ in range(200):
        assert process.poll() is None, "PostgreSQL ended"
        try:
            psycopg.connect(where).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("PostgreSQL does not answer")


# --- a server that speaks HTTP -------------------------------------------------------------------------


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        assert self.body.endswith("\n"), "a bulk request ends with a line feed"
        return [json.loads(line) for line in self.body.splitlines()]


@dataclass
class Speaker:
    """A server on loopback: what it was asked, and a function from a request to (status, answer, headers)."""

    url: str
    seen: list[Asked] = field(default_factory=list)
    answer: Callable[[Asked], tuple[Any, ...]] = lambda asked: (200, {})


@pytest.fixture
def speaker() -> Iterator[Speaker]:
    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True  # what is written second would wait 40 ms
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, self.rfile.read(length).decode())
            made.seen.append(asked)
            status, answer, *more = made.answer(asked)
            content = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in (more[0] if more else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_POST = do  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Speaker(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()
