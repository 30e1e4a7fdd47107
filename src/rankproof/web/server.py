"""The app as a web server, for this machine's browser and requests from our own pages only: `serve` runs it."""

from __future__ import annotations

import getpass
import hashlib
import hmac
import re
import secrets
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from rankproof.errors import DataError, RankproofError, UsageError, reason
from rankproof.web import Settings, Workspace
from rankproof.web.grading import save_grade, what_if
from rankproof.web.pages import PAGES, page_or_error, parts, static_file
from rankproof.web.site import Site, Unlinked, error_page, fragment, page_text, problem
from rankproof.web.verdict_pages import label, override

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request, cookie_parser
    from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ImportError:
    raise UsageError("the app needs starlette and uvicorn. Next: pip install 'rankproof[app]'.") from None

LARGEST = 1 << 20
"""The largest body of a request, in bytes."""
UNKNOWN = "This page needs the address that 'rankproof app' printed, with its token.\n"
TOO_LARGE = f"The request is too large; at most {LARGEST:,} bytes are read."
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with "no-referrer" a browser sends no origin with our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
EVERY = 1.0
"""Seconds between two checks of the folder."""
YEAR = 365 * 24 * 3600
VISIT = 30 * 60
"""Seconds without the first page that end a visit; one that loads itself again meanwhile keeps what is new."""
WHO, SEEN, BEFORE = "rankproof-who", "rankproof-seen", "rankproof-before"
Write = Callable[[Site, Mapping[str, str]], None]
"""Saves what a form or a script sent."""


class Guard:
    """Refuses requests that do not come from our own pages, and adds the policy to every response."""

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str]) -> None:
        self.app = app
        self.token = token
        self.hosts = {each.lower() for each in hosts}

    @property
    def csrf(self) -> str:
        """A secret that every form sends; it does not reveal the token."""
        return hmac.new(self.token.encode(), b"csrf", hashlib.sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = _with_headers(send)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = _with_port(headers.get("host", ""))
        if problem := self._stranger(scope, headers, host):
            await PlainTextResponse(f"{problem}\n", 403)(scope, receive, send)
            return
        name = f"rankproof-{host.rpartition(':')[2]}"
        given = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        if scope["method"] == "GET" and self._is_token(given.get("token", "")):
            await self._welcome(scope["path"], given, name)(scope, receive, send)
            return
        if not self._is_token(cookie_parser(headers.get("cookie", "")).get(name, "")):
            await PlainTextResponse(UNKNOWN, 403)(scope, receive, send)
            return
        read: list[Message] = []
        if scope["method"] == "POST":
            body = await _body(receive)
            if body is None:
                await PlainTextResponse(f"{TOO_LARGE}\n", 413)(scope, receive, send)
                return
            read.append({"type": "http.request", "body": body, "more_body": False})

        async def receive_again() -> Message:
            return read.pop() if read else await receive()  # after the body that the sender hangs up

        await self.app(scope, receive_again, send)

    def _stranger(self, scope: Scope, headers: dict[str, str], host: str) -> str:
        """Why a request is refused before anything is read; empty if it is not."""
        if host not in self.hosts and host != _address(*scope["server"]):  # that of this machine by which it came
            return f"This app does not answer under the name {host[:80]!r}."
        origin, posted = headers.get("origin"), scope["method"] == "POST"
        foreign = origin is not None and _with_port(origin.partition("://")[2]) != host
        if foreign or (posted and headers.get("sec-fetch-site", "same-origin") != "same-origin"):
            return "This request comes from a page of another site."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return "Only GET and POST are answered."
        length = headers.get("content-length", "0")
        return TOO_LARGE if not re.fullmatch("[0-9]{1,9}", length) or int(length) > LARGEST else ""

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def _welcome(self, path: str, given: dict[str, str], name: str) -> Response:
        """The token becomes a cookie, and is removed from the address."""
        given.pop("token")
        target = "/" + quote(path).lstrip("/")  # never the name of another host
        answer = RedirectResponse(f"{target}?{urlencode(given)}" if given else target, 303)
        answer.set_cookie(name, self.token, httponly=True, samesite="lax")
        return answer


def _with_port(host: str) -> str:
    """A host with its port, which browsers leave out where it is that of the web."""
    return host.lower() if re.search(":[0-9]+$", host) else f"{host.lower()}:80"


def _address(host: str, port: int) -> str:
    host = host.removeprefix("::ffff:")  # of IPv4, at a socket of IPv6
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def _body(receive: Receive) -> bytes | None:
    """The body of a request, whatever it says of its length; None if it is too large or its sender hung up."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] == "http.disconnect" or len(body) > LARGEST:
            return None
        more = message.get("more_body", False)
    return body


def _with_headers(send: Send) -> Send:
    ours = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return sending


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


def application(workspace: Workspace, token: str, hosts: tuple[str, ...]) -> Guard:
    """The app as an ASGI application for these hosts."""
    watcher = Watcher(workspace)
    handler = Handler(workspace, watcher)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> Any:
        watcher.start()
        if workspace.judgments_file is not None:
            workspace.ready()
        yield
        watcher.ended.set()
        watcher.join(EVERY)  # a check under way may still begin work
        workspace.close()

    routes = [
        Route("/", handler.page),
        Route("/part", handler.part),
        Route("/state", handler.state),
        Route("/whatif", handler.whatif),
        Route("/grade", handler.write_handler(save_grade), methods=["POST"]),
        Route("/override", handler.write_handler(override), methods=["POST"]),
        Route("/calibrate", handler.write_handler(label), methods=["POST"]),
        Route("/who", handler.who, methods=["POST"]),
        Route("/static/{name}", handler.static),
        Route("/{page:path}", handler.page),
    ]
    errors = dict.fromkeys((RankproofError, Exception), handler.error_response)
    guard = Guard(Starlette(routes=routes, lifespan=lifespan, exception_handlers=errors), token, hosts)
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
            seen = float(request.cookies.get(BEFORE) or request.cookies.get(SEEN, "0"))
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
        site = replace(site, links=Unlinked(), csrf="") if alone else site
        state = self._state()  # before the page is made: what comes while it is made must change it
        made, status = page_or_error(PAGES[name], site, choices) if name in PAGES else (NOT_FOUND, 404)
        text = page_text(site, made, name if status == 200 else "", alone=alone, state=state)
        answer = HTMLResponse(text, status_code=status)
        if alone and name in PAGES:
            answer.headers["Content-Disposition"] = f'attachment; filename="rankproof-{name}.html"'
        if name == "home" and status == 200:
            for key, at, kept in ((SEEN, time.time(), YEAR), (BEFORE, site.seen, VISIT)):
                answer.set_cookie(key, f"{at:.0f}", max_age=kept, httponly=True, samesite="lax")
        return answer

    def part(self, request: Request) -> Response:
        """A part of a page."""
        choices = _sent(request.query_params.items())
        return HTMLResponse(parts(self._site(request), choices.get("name", ""), choices))

    def error_response(self, request: Request, error: Exception) -> Response:
        """An error in the place of what was asked for: for a script, as a part of a page, or as a page."""
        status, path = 400, request.url.path
        if not isinstance(error, RankproofError):  # nobody foresaw it
            what = f"{type(error).__name__}: {error}"
            error, status = DataError(f"{what}. Next: look at the terminal of the app, which has all of it."), 500
        if path == "/whatif" or "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"problem": str(error)}, status)
        if path == "/part":
            return HTMLResponse(fragment(problem(error)), status)
        return HTMLResponse(page_text(self._site(request), error_page("That did not work", error), ""), status)

    def state(self, request: Request) -> Response:
        """A value that changes if there is something new to see."""
        return PlainTextResponse(self._state())

    def _state(self) -> str:
        space = self.workspace
        scored = space.runs if space.judgments_file is not None else ()
        return f"{self.watcher.version} {sum(space.scores_if_ready(name) is not None for name in scored)}"

    def whatif(self, request: Request) -> Response:
        """The numbers of a query under another grade."""
        return JSONResponse({"sides": what_if(self._site(request), request.query_params)})

    def write_handler(self, write: Write) -> Callable[[Request], Awaitable[Response]]:
        """A handler that saves; it is on the disk before the response is sent."""

        async def save(request: Request) -> Response:
            return await run_in_threadpool(self._save, request, await request.body(), write)

        return save

    def _save(self, request: Request, body: bytes, write: Write) -> Response:
        """A write by a form or a script, after checking that it comes from our page."""
        sent, site = _sent_in(body), self._site(request)
        if not site.csrf:
            return PlainTextResponse("This app was started read-only.\n", status_code=403)
        if not secrets.compare_digest(sent.get("csrf", "").encode(), site.csrf.encode()):
            return PlainTextResponse("This form was not made by our page. Load the page again.\n", status_code=403)
        write(site, sent)
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"done": True})
        return RedirectResponse(_back(sent.get("back") or request.headers.get("referer", "")), status_code=303)

    async def who(self, request: Request) -> Response:
        """Set the name under which grades are written."""
        answer = await self.write_handler(lambda site, sent: None)(request)
        if answer.status_code < 400:
            name = _sent_in(await request.body()).get("who", "").strip()[:60]
            answer.set_cookie(WHO, quote(name), max_age=YEAR, httponly=True, samesite="lax")
        return answer

    def static(self, request: Request) -> Response:
        """Style and scripts."""
        if (found := static_file(request.path_params["name"])) is None:
            return PlainTextResponse("There is no such file.\n", status_code=404)
        return Response(found[0], media_type=found[1])


def _sent_in(body: bytes) -> dict[str, str]:
    return _sent(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _sent(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What was sent by its names; browsers send each line end of a form as two characters."""
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def _back(address: str) -> str:
    try:
        split = urlsplit(address)
    except ValueError:  # such as a bracket that is not closed
        return "/"
    path = "/" + split.path.lstrip("/\\")
    return f"{path}?{split.query}" if split.query else path


NO_PAGE = UsageError("this app has no page at this address. Next: choose one above.")
NOT_FOUND = error_page("There is no such page", NO_PAGE)

LOCAL = ("127.0.0.1", "localhost", "::1")


def make_server(settings: Settings, host: str = "127.0.0.1", port: int = 0) -> tuple[Any, socket.socket, str]:
    """A server that is ready to run, if it listens, and its address with the token."""
    workspace = Workspace(settings)  # wrong settings are an error before anything is opened
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise DataError(
            f"{f'port {port} of ' if port else ''}{host} cannot be used: {reason(error)}. Next: choose another --port "
            "or --host, or leave it out."
        ) from None
    listening.listen(128)
    own = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    names = {*LOCAL, host} | (set() if host in LOCAL else {socket.gethostname()})
    app = application(workspace, token, tuple(_address(each, own) for each in names))
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, lifespan="on", timeout_graceful_shutdown=2
    )
    return uvicorn.Server(config), listening, f"http://{_address(host, own)}/?token={token}"


def serve(
    settings: Settings, *, host: str = "127.0.0.1", port: int = 0, ready: Callable[[str], None] = lambda address: None
) -> None:
    """Run the app until Ctrl-C; `ready` gets the address as soon as the app answers."""
    server, listening, address = make_server(settings, host, port)

    def tell_when_started() -> None:
        while not server.started and not server.should_exit:
            time.sleep(0.02)
        if server.started:
            ready(address)

    threading.Thread(target=tell_when_started, daemon=True).start()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        print("", file=sys.stderr)
