"""The app as a web server: pages, parts of pages that take longer, grades; and `serve`, which runs it."""

from __future__ import annotations

import getpass
import secrets
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from rankproof.errors import DataError, RankproofError, UsageError, reason
from rankproof.web.guard import Guard
from rankproof.web.pages import PAGES, page_or_error, parts, static_file
from rankproof.web.query_pages import what_if
from rankproof.web.site import Page, Site, Unlinked, fragment, page_text, problem, sections, whole_number
from rankproof.web.verdict_pages import label, override
from rankproof.web.workspace import Settings, Workspace

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Route
except ImportError:
    raise UsageError("the app needs starlette and uvicorn. Next: pip install 'rankproof[app]'.") from None

EVERY = 1.0
"""Seconds between two checks of the folder."""
YEAR = 365 * 24 * 3600
WHO, SEEN = "rankproof-who", "rankproof-seen"
Write = Callable[[Site, Mapping[str, str]], None]
"""Saves what a form or a script sent."""


class Watcher(threading.Thread):
    """Checks the folder every second, so that new files appear by themselves."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(name="rankproof-watch", daemon=True)
        self.workspace = workspace
        self.version = 1
        self.ended = threading.Event()

    def run(self) -> None:
        """Check until the app ends; a missing folder is looked for again."""
        while not self.ended.wait(EVERY):
            try:
                if self.workspace.refresh():
                    self.version += 1
                    self.workspace.ready()
            except (RankproofError, OSError):
                continue


def application(settings: Settings, token: str, hosts: tuple[str, ...]) -> Guard:
    """The app as an ASGI application for these hosts."""
    workspace = Workspace(settings)
    watcher = Watcher(workspace)
    handler = Handler(workspace, watcher)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> Any:
        watcher.start()
        if workspace.judgments_file is not None:
            workspace.ready()
        yield
        watcher.ended.set()
        workspace.close()

    routes = [
        Route("/", handler.page),
        Route("/part", handler.part),
        Route("/state", handler.state),
        Route("/whatif", handler.whatif),
        Route("/grade", handler.writing(grade), methods=["POST"]),
        Route("/override", handler.writing(override), methods=["POST"]),
        Route("/calibrate", handler.writing(label), methods=["POST"]),
        Route("/who", handler.who, methods=["POST"]),
        Route("/static/{name}", handler.static),
        Route("/{page}", handler.page),
    ]
    guard = Guard(Starlette(routes=routes, lifespan=lifespan), token, hosts)
    handler.csrf = guard.csrf
    return guard


class Handler:
    """Handlers of requests. Each runs in its own thread, so that none waits for another."""

    def __init__(self, workspace: Workspace, watcher: Watcher) -> None:
        self.workspace = workspace
        self.watcher = watcher
        self.csrf = ""

    def _site(self, request: Request) -> Site:
        try:
            who = unquote(request.cookies.get(WHO, "")) or getpass.getuser()
        except (OSError, KeyError, ImportError):  # this system knows no name
            who = ""
        try:
            seen = float(request.cookies.get(SEEN, "0"))
        except ValueError:
            seen = 0.0
        csrf = "" if self.workspace.settings.read_only else self.csrf
        return Site(self.workspace, who=who[:60], csrf=csrf, seen=seen)

    def page(self, request: Request) -> Response:
        """A page; with `save` in the address as one self-contained file."""
        name = request.path_params.get("page", "home")
        choices = _sent(request.query_params.items())
        alone = choices.pop("save", "") == "yes"
        site = self._site(request)
        site = replace(site, links=Unlinked()) if alone else site
        state = self._state()  # before the page is made: what comes while it is made must change it
        made, status = page_or_error(PAGES[name], site, choices) if name in PAGES else (NOT_FOUND, 404)
        text = page_text(site, made, name if status == 200 else "", alone=alone, state=state)
        answer = HTMLResponse(text, status_code=status)
        if alone:
            answer.headers["Content-Disposition"] = f'attachment; filename="rankproof-{name}.html"'
        if name == "home" and status == 200:
            answer.set_cookie(SEEN, f"{time.time():.0f}", max_age=YEAR, httponly=True, samesite="lax")
        return answer

    def part(self, request: Request) -> Response:
        """A part of a page."""
        choices = _sent(request.query_params.items())
        try:
            return HTMLResponse(parts(self._site(request), choices.get("name", ""), choices))
        except RankproofError as error:
            return HTMLResponse(fragment(problem(error)), status_code=404)

    def state(self, request: Request) -> Response:
        """A value that changes if there is something new to see."""
        return PlainTextResponse(self._state())

    def _state(self) -> str:
        space = self.workspace
        scored = space.runs if space.judgments_file is not None else ()
        return f"{self.watcher.version} {sum(space.scores_if_ready(name) is not None for name in scored)}"

    def whatif(self, request: Request) -> Response:
        """The numbers of a query under another grade."""
        asked = request.query_params
        try:
            grade = None if asked.get("grade", "") == "" else float(asked["grade"])
            systems = [each for each in asked.get("systems", "").split("\n") if each]
            found = what_if(self._site(request), asked["query"], asked["document"], grade, systems, asked["measure"])
        except (RankproofError, KeyError, ValueError) as error:
            return JSONResponse({"problem": str(error)}, status_code=400)
        return JSONResponse({"sides": found})

    def writing(self, write: Write) -> Callable[[Request], Awaitable[Response]]:
        """A handler that saves; it is on the disk before the response is sent."""

        async def save(request: Request) -> Response:
            return await run_in_threadpool(self._save, request, await request.body(), write)

        return save

    def _save(self, request: Request, body: bytes, write: Write) -> Response:
        """A write by a form or a script, after checking that it comes from our page."""
        sent, site = _fields(body), self._site(request)
        if not site.csrf:
            return PlainTextResponse("This app was started read-only.\n", status_code=403)
        if not secrets.compare_digest(sent.get("csrf", "").encode(), site.csrf.encode()):
            return PlainTextResponse("This form was not made by our page. Load the page again.\n", status_code=403)
        by_script = "application/json" in request.headers.get("accept", "")
        try:
            write(site, sent)
        except RankproofError as error:
            if by_script:
                return JSONResponse({"problem": str(error)}, status_code=400)
            page = Page("That did not work", sections(("problem", "What happened", problem(error))))
            return HTMLResponse(page_text(site, page, ""), status_code=400)
        if by_script:
            return JSONResponse({"done": True})
        return RedirectResponse(_back(sent.get("back") or request.headers.get("referer", "")), status_code=303)

    async def who(self, request: Request) -> Response:
        """Set the name under which grades are written."""
        answer = await self.writing(lambda site, sent: None)(request)
        if answer.status_code < 400:
            name = _fields(await request.body()).get("who", "").strip()[:60]
            answer.set_cookie(WHO, quote(name), max_age=YEAR, httponly=True, samesite="lax")
        return answer

    def static(self, request: Request) -> Response:
        """Style and scripts."""
        found = static_file(request.path_params["name"])
        if found is None:
            return PlainTextResponse("There is no such file.\n", status_code=404)
        return Response(found[0], media_type=found[1])


def _fields(body: bytes) -> dict[str, str]:
    return _sent(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _sent(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What was sent by its names; browsers send each line end of a form as two characters."""
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def grade(site: Site, sent: Mapping[str, str]) -> None:
    """Save one grade; or take back that of this document, or with `back` the last one that this person gave."""
    if not site.who.strip():
        raise UsageError("the name of the grader is missing. Next: give your name at the top of the page.")
    space, text = site.workspace, sent.get("grade", "")
    item = (sent.get("query", ""), sent.get("document", ""))
    if text == "undo":
        own = space.labels.get(site.who, {})
        items = [each for each in own if "back" in sent or tuple(each) == item]
        if items:
            space.grade(site.who, items[-1].query, items[-1].document, None, undo=True)
        return
    value = None if text == "skip" else whole_number(text)
    if value is None and text != "skip":
        raise UsageError(f"grade: got {text[:20]!r}, expected a whole number. Next: press a digit.")
    space.grade(site.who, *item, value)


def _back(address: str) -> str:
    try:
        split = urlsplit(address)
    except ValueError:  # such as a bracket that is not closed
        return "/"
    path = "/" + split.path.lstrip("/\\")
    return f"{path}?{split.query}" if split.query else path


NOT_FOUND = Page(
    "There is no such page",
    sections(("problem", "What happened", "This app has no page at this address. Next: choose one above.")),
)
LOCAL = ("127.0.0.1", "localhost", "::1")


def make_server(settings: Settings, host: str = "127.0.0.1", port: int = 0) -> tuple[Any, socket.socket, str]:
    """A server that is ready to run, if it listens, and its address with the token."""
    listening = _listen(host, port)
    own = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    shown = f"[{host}]" if ":" in host else host
    names = {*LOCAL, host} | (set() if host in LOCAL else {socket.gethostname()})
    hosts = tuple(f"[{each}]:{own}" if ":" in each else f"{each}:{own}" for each in names)
    app = application(settings, token, hosts)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, lifespan="on", timeout_graceful_shutdown=2
    )
    return uvicorn.Server(config), listening, f"http://{shown}:{own}/?token={token}"


def serve(
    settings: Settings, *, host: str = "127.0.0.1", port: int = 0, ready: Callable[[str], None] = lambda address: None
) -> None:
    """Run the app until Ctrl-C; `ready` gets the address as soon as the app answers."""
    server, listening, address = make_server(settings, host, port)
    threading.Thread(target=_when_started, args=(server, lambda: ready(address)), daemon=True).start()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        print("", file=sys.stderr)


def _when_started(server: Any, then: Callable[[], None]) -> None:
    while not server.started and not server.should_exit:
        time.sleep(0.02)
    if server.started:
        then()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise DataError(
            f"port {port} of {host} cannot be used: {reason(error)}. Next: choose another --port, or leave it out."
        ) from None
    listening.listen(128)
    return listening
