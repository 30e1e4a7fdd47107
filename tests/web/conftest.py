"""The app as its readers meet it: a process of its own over a folder, asked over HTTP, seen in a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from rankproof import sample
from rankproof.comparing.comparison import Comparison
from rankproof.document.formats.html import part_of_page
from rankproof.web import Settings
from rankproof.web.server import make_server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REQUIRED = os.environ.get("RANKPROOF_BROWSER") == "required"
"""Where this is set a missing browser is a failure."""


def parts_on_page(found: Comparison) -> list[str]:
    """What `compare` says, part by part: the page has the words first, where a terminal has the tables first."""
    whole = found._document()
    return [part_of_page(replace(whole, parts=[each])) for each in whole.parts]


@dataclass
class Reply:
    """What the app answered."""

    status: int
    headers: dict[str, str]
    text: str


@dataclass
class RunningApp:
    """An app that answers."""

    address: str
    """With its token, as it was printed."""
    process: subprocess.Popen[str] | None = None
    """The process it runs in, where it has one of its own."""
    cookies: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    @property
    def token(self) -> str:
        return urlsplit(self.address).query.removeprefix("token=")

    def ask(
        self,
        path: str,
        *,
        send: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
        method: str = "",
    ) -> Reply:
        """One request as a browser that has the cookies would send it."""
        connection = HTTPConnection(self.host, timeout=60)
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} | (headers or {})
        body = None if send is None else urlencode(send)
        if body is not None:
            sent = {"Content-Type": "application/x-www-form-urlencoded"} | sent
        try:
            connection.request(method or ("GET" if send is None else "POST"), path, body, sent)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        finally:
            connection.close()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)

    def enter(self) -> RunningApp:
        """Come in by the address that was printed."""
        split = urlsplit(self.address)
        assert self.ask(f"{split.path}?{split.query}").status == 303
        return self

    @property
    def csrf(self) -> str:
        """What the forms of the pages send along."""
        return self.ask("/live").text.partition('data-csrf="')[2].partition('"')[0]

    def grade(self, query: str, document: str, grade: str, **more: str) -> Reply:
        """Press a key."""
        sent = {"csrf": self.csrf, "query": query, "document": document, "grade": grade, **more}
        return self.ask("/grade", send=sent, headers={"Accept": "application/json"})


Start = Callable[..., RunningApp]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts apps over folders, each on a thread of its own; all are ended with the test."""
    running: list[tuple[Any, Thread]] = []

    def begin(*places: Path, **settings: Any) -> RunningApp:
        server, listening, address = make_server(Settings(tuple(map(str, places)), **settings))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        for _ in range(6000):
            if server.started:
                break
            time.sleep(0.01)
        assert server.started
        running.append((server, thread))
        return RunningApp(address)

    yield begin
    for server, thread in running:
        server.should_exit = True
        thread.join(10)


@pytest.fixture
def start_process() -> Iterator[Start]:
    """Starts apps as people do, each a process of its own; all are ended with the test."""
    apps: list[subprocess.Popen[str]] = []

    def begin(*arguments: str | Path) -> RunningApp:
        process = subprocess.Popen(
            [sys.executable, "-m", "rankproof", "app", "--no-browser", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        apps.append(process)
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        return RunningApp(address, process)

    yield begin
    for each in apps:
        if each.poll() is None:
            each.kill()
        each.communicate()


def fill(folder: Path) -> Path:
    """The files of the sample, as a team has them in a folder."""
    for path in sample.folder().iterdir():
        if path.suffix in {".jsonl", ".tsv", ".run"}:
            shutil.copy(path, folder / path.name)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "runs"
    inside.mkdir()
    return fill(inside)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium."""
    if CHROMIUM is None:
        if REQUIRED:
            pytest.fail("no Chromium")
        pytest.skip("no Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield found
        found.close()
