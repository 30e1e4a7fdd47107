"""Access control: only this machine's browser with the token, from our own pages."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

LARGEST = 1 << 20
"""The largest body of a request, in bytes."""

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

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Refuses requests that do not come from our own pages, and adds the policy to every response."""

    def __init__(self, app: App, token: str, hosts: Iterable[str]) -> None:
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
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "").lower()
        problem = self._stranger(scope, headers, host)
        if problem:
            await _plain(send, 403, problem)
            return
        name = f"rankproof-{host.rpartition(':')[2]}"
        given = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        if scope["method"] == "GET" and self._is_token(given.get("token", "")):
            await self._welcome(scope, given, name, send)
            return
        if not self._is_token(_cookies(headers).get(name, "")):
            await _plain(send, 403, "This page needs the address that 'rankproof app' printed, with its token.")
            return
        read: list[Message] = []
        if scope["method"] == "POST":
            body = await _body(receive)
            if body is None:
                await _plain(send, 413, TOO_LARGE)
                return
            read.append({"type": "http.request", "body": body, "more_body": False})

        async def receive_again() -> Message:
            return read.pop() if read else await receive()  # after the body that the sender hangs up

        await self.app(scope, receive_again, _with_headers(send))

    def _stranger(self, scope: Scope, headers: dict[str, str], host: str) -> str:
        """Why a request is refused before anything is read; empty if it is not."""
        if host not in self.hosts:
            return f"This app does not answer under the name {host[:80]!r}."
        origin = headers.get("origin")
        if origin is not None and origin.lower().partition("://")[2] != host:
            return "This request comes from a page of another site."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return "Only GET and POST are answered."
        if scope["method"] == "POST" and headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return "This request comes from a page of another site."
        length = headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > LARGEST:
            return TOO_LARGE
        return ""

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    async def _welcome(self, scope: Scope, given: dict[str, str], name: str, send: Send) -> None:
        """The token becomes a cookie, and is removed from the address."""
        given.pop("token")
        target = f"{scope['path']}?{urlencode(given)}" if given else scope["path"]
        target = "/" + target.lstrip("/")  # never the name of another host
        cookie = f"{name}={self.token}; Path=/; HttpOnly; SameSite=Lax"
        headers = [(b"location", target.encode("latin-1", "replace")), (b"set-cookie", cookie.encode())]
        await _with_headers(send)({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _cookies(headers: dict[str, str]) -> dict[str, str]:
    try:
        return {name: each.value for name, each in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


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


async def _plain(send: Send, status: int, words: str) -> None:
    send = _with_headers(send)
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{words}\n".encode("utf-8", "replace")})


def _with_headers(send: Send) -> Send:
    ours = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return sending
