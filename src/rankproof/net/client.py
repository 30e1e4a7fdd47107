"""HTTP clients that keep connections open, with reasons for failures.

There are two, as the base install has no package for asynchronous HTTP: `Client` of the standard library, and
`open_clients` with `exchange` over httpx2, for many calls at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import zlib
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead, RemoteDisconnected
from itertools import cycle
from string import punctuation
from typing import Any, AnyStr
from urllib.parse import quote, quote_plus, urlsplit
from urllib.request import getproxies

from rankproof.errors import UsageError, missing_extra, shorten
from rankproof.net.retries import (
    AGAIN,
    LONGEST,
    ONCE,
    TIMED_OUT,
    Attempts,
    Failed,
    Pace,
    Retries,
    attempts,
    failure_of,
    retry_after,
    settle,
)

_LIKE_A_KEY = re.compile(
    r"(?i)\b(?:sk|pk)[-_ :=]+[\w*.\-]{6,}"
    # "key provided" and "Bearer authentication" are words.
    r"|\b(?:key|token|bearer)(?:[-_:=][-_ :=]*| +(?=[\w*.\-]*[\d*]))[\w*.\-]{6,}"
    # So is Elasticsearch's "search_phase_execution_exception".
    r"|\b(?!(?:[a-z]{1,20}[_\-])+[a-z]{1,20}(?![\w\-]))[\w\-]{32,}\b"
)
"""A pattern of keys, complete or partial."""
_PART = 6
"""The number of characters of a secret, at its beginning or end, that reveal it."""


def hide_secrets(text: AnyStr, secrets: Mapping[str, str]) -> AnyStr:
    """The text without the secrets, however they are encoded in it; each is replaced by its placeholder.

    >>> hide_secrets("bad key s3cret", {"s3cret": "${KEY}"})
    'bad key ${KEY}'
    >>> hide_secrets("GET /?key=a%26b", {"a&b": "${KEY}"})
    'GET /?key=${KEY}'
    """
    forms = {form: name for secret, name in secrets.items() for form in _written(secret) if form}
    for form in sorted(forms, key=len, reverse=True):
        if isinstance(text, str):
            text = text.replace(form, forms[form])
        else:
            text = text.replace(form.encode("utf-8", "replace"), forms[form].encode())
    return text


def _written(secret: str) -> set[str]:
    """The forms in which a secret may come back: unchanged, in a URL, in JSON, in a Python repr, without line ends."""
    plain = {secret, secret.strip(), " ".join(secret.split())}
    coded = {code(each) for each in plain for code in (quote, quote_plus, lambda text: quote(text, safe=""))}
    once = {show(each)[1:-1] for each in plain for show in (json.dumps, repr)}
    twice = {show(each)[1:-1] for each in once for show in (json.dumps, repr)}
    return plain | coded | once | twice


def without_keys(text: str, secrets: Mapping[str, str] | None = None) -> str:
    """The error text of a service without secrets, parts of them, and anything that looks like a key.

    >>> without_keys("Model is overloaded, key sk-123456789")
    'Model is overloaded, [key]'
    >>> without_keys("search_phase_execution_exception: no API key provided")
    'search_phase_execution_exception: no API key provided'
    >>> without_keys("bad: hunter2-b*****", {"hunter2-bananas": "${KEY}"})
    'bad: ${KEY}'
    """
    text = hide_secrets(text, secrets or {})
    for secret, name in (secrets or {}).items():
        word = secret.split()[-1] if secret.strip() else ""  # without the "Bearer" of a header
        for part in {word[:_PART], word[-_PART:]} if len(word) > 2 * _PART else ():
            if re.fullmatch(r"[\w.\-]+", part):  # not the http:/ of an address that is kept secret
                text = re.sub(rf"[^\s\"']*{re.escape(part)}[^\s\"']*", name, text)
    return _LIKE_A_KEY.sub("[key]", text)


def is_address(url: object) -> bool:
    """Whether a request can be sent to a URL: http or https, a host, perhaps a port up to 65535, and no blank.

    >>> [is_address(each) for each in ("http://localhost:80/a", "localhost:80", "http://x:99999", "http://x/a b", None)]
    [True, False, False, False, False]
    """
    if not isinstance(url, str) or " " in url or not url.isprintable():
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # no possible port or address
        return False


def without_access(url: str) -> str:
    """A URL without the name, password and parameters in it.

    >>> without_access("https://me:secret@search.example:9200/x?key=1")
    'https://search.example:9200/x'
    """
    return re.split("[?#]", re.sub("(?<=//)[^/?#]*@", "", url))[0]


@dataclass(frozen=True, slots=True)
class Request:
    """A request."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Response:
    """A response, or why there is none."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    failure: Failed | None = None
    data: Any = None
    """The JSON in the body, if it was read."""


class Client:
    """Sends requests; idle connections are kept for the next."""

    def __init__(self, timeout: float | None, secrets: Mapping[str, str] | None = None) -> None:
        self.timeout = timeout
        self._secrets = secrets or {}
        self._idle: deque[HTTPConnection] = deque()
        self._closed = False

    def json(self, request: Request, retries: Retries = ONCE) -> Any:
        """The JSON of the response, or `Failed`."""
        course: Attempts[Response] = attempts(retries, Pace())
        response = settle(course, lambda: self.ask(request))
        if response.failure is not None:
            raise response.failure
        return response.data

    def allow(self, seconds: float | None) -> None:
        """Set the timeout of further requests."""
        self.timeout = seconds
        self._closed = False

    def close(self) -> None:
        """Close the idle connections, and the others as soon as they are free."""
        self._closed = True
        while (kept := self._kept()) is not None:
            kept.close()

    def _kept(self) -> HTTPConnection | None:
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def ask(self, request: Request) -> Response:
        """The result of one request; a body that is not JSON is a failure, whatever its status."""
        try:
            if (kept := self._kept()) is not None:
                # The server may have closed an idle connection: that is not a failure of the question.
                with suppress(RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                    return self._parsed(*self._exchanged(kept, request))
            where = urlsplit(request.url)
            kind = HTTPSConnection if where.scheme == "https" else HTTPConnection
            connection = kind(where.hostname or "", where.port, timeout=self.timeout)
            return self._parsed(*self._exchanged(connection, request))
        except TimeoutError:
            return Response(failure=Failed("no answer in time", again=True, late=True))
        except IncompleteRead as error:
            return Response(failure=Failed(f"the answer ended after {len(error.partial)} bytes, not whole", again=True))
        except (OSError, HTTPException) as error:
            return Response(failure=failure_of(error))

    def _exchanged(self, connection: HTTPConnection, request: Request) -> tuple[HTTPResponse, bytes]:
        where = urlsplit(request.url)
        target = quote((where.path or "/") + (f"?{where.query}" if where.query else ""), safe=punctuation)
        try:
            connection.request(request.method, target, request.body, dict(request.headers))
            response = connection.getresponse()
            content = response.read()
        except (OSError, HTTPException):
            connection.close()
            raise
        if connection.sock is not None:  # the server did not close it
            self._idle.append(connection)
        if self._closed:  # while this one was in use, by a question that was given up
            self.close()
        return response, _unpacked(content, response.headers.get("Content-Encoding", ""))

    def _parsed(self, response: HTTPResponse, content: bytes) -> Response:
        said, status, headers = f"HTTP {response.status}", response.status, dict(response.headers)
        if status in AGAIN:
            wait = retry_after(headers)
            asked = f", which asks to wait {wait:g} s" if wait else ""
            words = f"{said}{asked}{self._excerpt(content)}"
            failure = Failed(words, again=True, wait=wait, late=status in TIMED_OUT)
        elif 300 <= status < 400:
            place = hide_secrets(response.headers.get("Location", "elsewhere"), self._secrets)
            failure = Failed(f"{said}: moved to {place}, expected an answer. Next: put the new address into the URL")
        elif status >= 400:
            failure = Failed(f"{said}{self._excerpt(content)}")
        else:
            try:
                return Response(status, headers, content, data=json.loads(content))
            except (ValueError, RecursionError):
                kind = response.headers.get("Content-Type", "no content type")
                failure = Failed(f"{said}, {kind}: no whole JSON{self._excerpt(content)}", again=True)
        return Response(status, headers, content, failure)

    def _excerpt(self, content: bytes) -> str:
        # Secrets are removed before anything is cut, as half of one is too much.
        text = " ".join(without_keys(content.decode("utf-8", "replace"), self._secrets)[:LONGEST].split())
        return f": {shorten(text, 160)}" if text else ""


def _unpacked(content: bytes, encoding: str) -> bytes:
    """The decoded content: some servers compress without being asked to."""
    if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        return content
    with suppress(zlib.error):
        return zlib.decompress(content, wbits=zlib.MAX_WBITS | 32)  # whichever of the two it is
    return content


# --- clients for an event loop ---------------------------------------------------------------------

CLIENTS = 8
"""Clients that share the calls."""


@asynccontextmanager
async def open_clients(most: int, timeout: float) -> AsyncIterator[Iterator[Any]]:
    """Clients in an endless cycle, each of which may have as many connections as there may be calls at once.

    A client works the longer for a call the more connections it has, so a few clients share the calls.
    """
    try:
        import httpx2
    except ImportError as error:
        raise missing_extra("asking a model", "httpx2", "judge") from error
    limits = httpx2.Limits(max_connections=most, max_keepalive_connections=most)
    try:
        trusted = _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        clients = [
            httpx2.AsyncClient(verify=trusted, limits=limits, timeout=timeout, follow_redirects=False)
            for _ in range(min(CLIENTS, most))
        ]
        for kind in ("http", "https", "all"):
            proxy = getproxies().get(kind, "").rpartition("://")[2]
            _ = urlsplit(f"//{proxy}").port  # one out of range would be an error at the first call
    except OSError as error:
        raise UsageError(
            f"SSL_CERT_FILE, SSL_CERT_DIR: {error.strerror or error}, expected certificates. Next: set them right, or "
            "unset them."
        ) from error
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        why = "'pip install socksio' is lacking" if isinstance(error, ImportError) else error
        raise UsageError(
            f"HTTP_PROXY, HTTPS_PROXY, ALL_PROXY: got a proxy that cannot be used ({why}), expected http://HOST:PORT. "
            "Next: set the variable right, or name the service in NO_PROXY."
        ) from error
    async with AsyncExitStack() as opened:
        yield cycle([await opened.enter_async_context(client) for client in clients])


@lru_cache(maxsize=1)
def _trusted(file: str | None, folder: str | None) -> Any:
    """The trusted certificates; read once, until the environment variables that name the files change."""
    import httpx2

    return httpx2.create_ssl_context()


async def exchange(
    client: Any, method: str, url: str, *, within: float | None = None, largest: int | None = None, **sent: Any
) -> Response:
    """One request of an asynchronous client, complete `within` seconds; any status is an answer."""
    import httpx2

    status = 0
    try:
        async with asyncio.timeout(within), client.stream(method, url, **sent) as response:
            status, parts, size = response.status_code, [], 0
            async for part in response.aiter_bytes():
                parts.append(part)
                size += len(part)
                if largest is not None and size > largest:
                    return _nothing(status, f"the reply is larger than {largest >> 20} MiB")
            return Response(status, response.headers, b"".join(parts))
    except TimeoutError:
        return _nothing(status, f"no reply within {within:g} s")
    except httpx2.TransportError as error:
        return _nothing(status, f"the connection failed ({type(error).__name__})")
    except (httpx2.DecodingError, httpx2.TooManyRedirects) as error:
        return _nothing(status, f"the reply cannot be read ({type(error).__name__})")


def _nothing(status: int, reason: str) -> Response:
    return Response(status, failure=Failed(reason, again=True))
