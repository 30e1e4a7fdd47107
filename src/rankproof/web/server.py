"""The app as a web server: pages, parts of pages that take longer, grades; and `serve`, which runs it."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote

from rankproof.errors import DataError, RankproofError, UsageError
from rankproof.web.guard import Guard
from rankproof.web.pages import PAGES, page_or_error, parts, static_file
from rankproof.web.query_pages import what_if
from rankproof.web.site import Page, Site, Unlinked, fragment, page_text, problem, sections, whole_number
from rankproof.web.verdict_pages import label, override
from rankproof.web.workspace import Settings, Workspace

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

EVERY = 1.0
"""Seconds between two checks of the folder."""
YEAR = 365 * 24 * 3600
WHO, SEEN = "rankproof-who", "rankproof-seen"


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


def application(settings: Settings, *, token: str = "", hosts: tuple[str, ...] = ("127.0.0.1", "localhost")) -> Any:
    """The app as an ASGI application for these hosts."""
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError:
        raise UsageError("the app needs starlette and uvicorn. Next: pip install 'rankproof[app]'.") from None

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
        Route("/grade", handler.grade, methods=["POST"]),
        Route("/override", handler.override, methods=["POST"]),
        Route("/calibrate", handler.calibrate, methods=["POST"]),
        Route("/who", handler.who, methods=["POST"]),
        Route("/static/{name}", handler.static),
        Route("/{page}", handler.page),
    ]
    inner = Starlette(routes=routes, lifespan=lifespan)
    guard = Guard(inner, token or secrets.token_urlsafe(24), hosts)
    handler.csrf = guard.csrf
    return guard


class Handler:
    """Handlers of requests. Each runs in its own thread, so that none waits for another."""

    def __init__(self, workspace: Workspace, watcher: Watcher) -> None:
        self.workspace = workspace
        self.watcher = watcher
        self.csrf = ""

    def _site(self, request: Request) -> Site:
        who = unquote(request.cookies.get(WHO, "")) or _login()
        try:
            seen = float(request.cookies.get(SEEN, "0"))
        except ValueError:
            seen = 0.0
        csrf = "" if self.workspace.settings.read_only else self.csrf
        return Site(self.workspace, who=who[:60], csrf=csrf, seen=seen)

    def page(self, request: Request) -> Response:
        """A page; with `save` in the address as one self-contained file."""
        from starlette.responses import HTMLResponse

        name = request.path_params.get("page", "home")
        choices = dict(request.query_params)
        alone = choices.pop("save", "") == "yes"
        site = self._site(request)
        site = replace(site, links=Unlinked()) if alone else site
        state = self._state()  # before the page is made: what comes while it is made must change it
        make = PAGES.get(name)
        if make is None:
            made, status = _not_found(), 404
        else:
            made, status = page_or_error(make, site, choices)
        text = page_text(site, made, name if status == 200 else "", alone=alone, state=state)
        answer = HTMLResponse(text, status_code=status)
        if alone:
            answer.headers["Content-Disposition"] = f'attachment; filename="rankproof-{name}.html"'
        if name == "home" and status == 200:
            answer.set_cookie(SEEN, f"{time.time():.0f}", max_age=YEAR, httponly=True, samesite="lax")
        return answer

    def part(self, request: Request) -> Response:
        """A part of a page."""
        from starlette.responses import HTMLResponse

        choices = dict(request.query_params)
        try:
            return HTMLResponse(parts(self._site(request), choices.get("name", ""), choices))
        except RankproofError as error:
            return HTMLResponse(fragment(problem(error)), status_code=404)

    def state(self, request: Request) -> Response:
        """A value that changes if there is something new to see."""
        from starlette.responses import PlainTextResponse

        return PlainTextResponse(self._state())

    def _state(self) -> str:
        space = self.workspace
        scored = space.runs if space.judgments_file is not None else ()
        return f"{self.watcher.version} {sum(space.scores_if_ready(name) is not None for name in scored)}"

    def whatif(self, request: Request) -> Response:
        """The numbers of a query under another grade."""
        from starlette.responses import JSONResponse

        asked = request.query_params
        try:
            grade = None if asked.get("grade", "") == "" else float(asked["grade"])
            systems = [each for each in asked.get("systems", "").split("\n") if each]
            found = what_if(self._site(request), asked["query"], asked["document"], grade, systems, asked["measure"])
        except (RankproofError, KeyError, ValueError) as error:
            return JSONResponse({"problem": str(error)}, status_code=400)
        return JSONResponse({"sides": found})

    async def grade(self, request: Request) -> Response:
        """Save one grade; it is on the disk before the response is sent."""
        from starlette.concurrency import run_in_threadpool

        def write(site: Site, sent: Mapping[str, str]) -> None:
            if not site.who.strip():
                raise UsageError("the name of the grader is missing. Next: give your name at the top of the page.")
            if sent.get("grade") == "undo":
                undo(site, sent.get("query", ""), sent.get("document", ""), last="back" in sent)
                return
            text = sent.get("grade", "")
            if text != "skip" and whole_number(text) is None:
                raise UsageError(f"grade: got {text[:20]!r}, expected a whole number. Next: press a digit.")
            value = None if text == "skip" else whole_number(text)
            site.workspace.grade(site.who, sent.get("query", ""), sent.get("document", ""), value)

        return await run_in_threadpool(_written, self, request, await request.body(), write)

    async def override(self, request: Request) -> Response:
        """Save a person's verdict that replaces a judge's."""
        from starlette.concurrency import run_in_threadpool

        return await run_in_threadpool(_written, self, request, await request.body(), override)

    async def calibrate(self, request: Request) -> Response:
        """Save a person's label of a drawn pair."""
        from starlette.concurrency import run_in_threadpool

        return await run_in_threadpool(_written, self, request, await request.body(), label)

    async def who(self, request: Request) -> Response:
        """Set the name under which grades are written."""
        from starlette.concurrency import run_in_threadpool

        answer: Response = await run_in_threadpool(
            _written, self, request, await request.body(), lambda site, sent: None
        )
        sent = dict(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True))
        if answer.status_code < 400:
            answer.set_cookie(WHO, quote(sent.get("who", "").strip()[:60]), max_age=YEAR, httponly=True, samesite="lax")
        return answer

    def static(self, request: Request) -> Response:
        """Style and scripts."""
        from starlette.responses import PlainTextResponse
        from starlette.responses import Response as Plain

        found = static_file(request.path_params["name"])
        if found is None:
            return PlainTextResponse("There is no such file.\n", status_code=404)
        return Plain(found[0], media_type=found[1])


def undo(site: Site, query: str, document: str, *, last: bool) -> None:
    """Take back the grade of this document, or the last one that this person gave."""
    own = site.workspace.labels.get(site.who, {})
    items = list(own) if last else [each for each in own if tuple(each) == (query, document)]
    if items:
        site.workspace.grade(site.who, items[-1].query, items[-1].document, None, undo=True)


def _written(
    handler: Handler, request: Request, body: bytes, write: Callable[[Site, Mapping[str, str]], None]
) -> Response:
    """A write by a form or a script, after checking that it comes from our page."""
    from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse

    sent = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    site = handler._site(request)
    if not site.csrf:
        return PlainTextResponse("This app was started read-only.\n", status_code=403)
    if not secrets.compare_digest(sent.get("csrf", "").encode(), site.csrf.encode()):
        return PlainTextResponse("This form was not made by our page. Load the page again.\n", status_code=403)
    try:
        write(site, sent)
    except RankproofError as error:
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"problem": str(error)}, status_code=400)
        page = Page("That did not work", sections(("problem", "What happened", problem(error))))
        from starlette.responses import HTMLResponse

        return HTMLResponse(page_text(site, page, ""), status_code=400)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"done": True})
    return RedirectResponse(_back(sent.get("back") or request.headers.get("referer", "")), status_code=303)


def _back(address: str) -> str:
    """One of our pages to go back to, whatever was sent."""
    from urllib.parse import urlsplit

    try:
        split = urlsplit(address)
    except ValueError:  # such as a bracket that is not closed
        return "/"
    path = "/" + split.path.lstrip("/\\")
    return f"{path}?{split.query}" if split.query else path


def _not_found() -> Page:
    return Page(
        "There is no such page",
        sections(("problem", "What happened", "This app has no page at this address. Next: choose one above.")),
    )


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


LOCAL = ("127.0.0.1", "localhost", "::1")


def make_server(settings: Settings, host: str = "127.0.0.1", port: int = 0) -> tuple[Any, socket.socket, str]:
    """A server that is ready to run, if it listens, and its address with the token."""
    try:
        import uvicorn
    except ImportError:
        raise UsageError("the app needs starlette and uvicorn. Next: pip install 'rankproof[app]'.") from None

    listening = _listen(host, port)
    own = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    shown = f"[{host}]" if ":" in host else host
    names = {*LOCAL, host} | (set() if host in LOCAL else {socket.gethostname()})
    hosts = tuple(f"[{each}]:{own}" if ":" in each else f"{each}:{own}" for each in names)
    app = application(settings, token=token, hosts=hosts)
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
            f"port {port} of {host} cannot be used: {error}. Next: choose another --port, or leave it out."
        ) from None
    listening.listen(128)
    return listening
