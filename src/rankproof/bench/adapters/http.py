"""One request over HTTP, by the standard library: connections are kept open; what fails says why."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, RemoteDisconnected
from typing import Any
from urllib.parse import SplitResult, quote, quote_plus, urlsplit

from rankproof.bench.adapters.alike import Failed, as_failure
from rankproof.errors import UsageError, shorten

QUESTION = ("{question}", "{query}", "{text}")
K = "{k}"
_SECRET = re.compile(r"\$\{(\w+)\}")


def filled(template: Any, question: str, k: int) -> Any:
    """A template with the question and k in their places; `{k}` alone becomes a number.

    >>> filled({"q": "{question}", "size": "{k}", "from": 0}, "why?", 10)
    {'q': 'why?', 'size': 10, 'from': 0}
    """
    if isinstance(template, Mapping):
        return {key: filled(value, question, k) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(each, question, k) for each in template]
    if not isinstance(template, str):
        return template
    return k if template == K else _replaced(template, question, k)


def filled_json(template: str, question: str, k: int) -> str:
    """The text of a JSON body, with the question as it stands inside quotes.

    >>> filled_json('{"q": "{question}", "size": {k}}', 'say "hi"', 10)
    '{"q": "say \\\\"hi\\\\"", "size": 10}'
    """
    return _replaced(template, json.dumps(question)[1:-1], k)


def filled_url(template: str, question: str, k: int) -> str:
    """The URL, with the question percent-encoded.

    >>> filled_url("http://x/search?q={question}&n={k}", "a b&c", 10)
    'http://x/search?q=a%20b%26c&n=10'
    """
    return _replaced(template, quote(question, safe=""), k)


def _replaced(template: str, question: str, k: int) -> str:
    # In one pass, so that a question which has "{k}" in it stays what it is.
    words = {**dict.fromkeys(QUESTION, question), K: str(k)}
    return re.sub("|".join(map(re.escape, words)), lambda found: words[found[0]], template)


def asks(template: Any) -> bool:
    """Whether the question has a place in the template."""
    return any(each in json.dumps(template) for each in QUESTION)


def with_secrets(template: Any, where: str) -> Any:
    """The template with `${NAME}` replaced by what the environment has under that name, in every text in it."""
    if isinstance(template, Mapping):
        return {key: with_secrets(value, where) for key, value in template.items()}
    if isinstance(template, list):
        return [with_secrets(each, where) for each in template]
    return (
        _SECRET.sub(lambda found: _secret(found[1], where), template)
        if isinstance(template, str)
        else template
    )


def _secret(name: str, where: str) -> str:
    if name not in os.environ:
        raise UsageError(
            f"{where}: the environment has no {name}. Next: set it, as in {name}=... rankproof run ..."
        )
    return os.environ[name]


def json_with_secrets(template: str, where: str) -> str:
    """The text of a JSON body with `${NAME}` replaced, as it stands inside quotes."""
    return _SECRET.sub(lambda found: json.dumps(_secret(found[1], where))[1:-1], template)


def secrets_in(*templates: str) -> dict[str, str]:
    """What must never be shown, with the words that stand for it."""
    names = {name for each in templates for name in _SECRET.findall(each)}
    return {os.environ[name]: f"${{{name}}}" for name in names if os.environ.get(name)}


def hidden(text: str, secrets: Mapping[str, str]) -> str:
    """The text without the secrets, however they are written in it.

    >>> hidden("bad key s3cret", {"s3cret": "${KEY}"})
    'bad key ${KEY}'
    >>> hidden("GET /?key=a%26b", {"a&b": "${KEY}"})
    'GET /?key=${KEY}'
    """
    forms = {form: name for secret, name in secrets.items() for form in _written(secret) if form}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, forms[form])
    return text


def _written(secret: str) -> set[str]:
    """How a secret may come back: as it is, in a URL, in JSON, in what Python shows of a text, without line ends."""
    plain = {secret, secret.strip(), " ".join(secret.split())}
    coded = {code(each) for each in plain for code in (quote, quote_plus, lambda text: quote(text, safe=""))}
    once = {show(each)[1:-1] for each in plain for show in (json.dumps, repr)}
    twice = {show(each)[1:-1] for each in once for show in (json.dumps, repr)}
    return plain | coded | once | twice


TRANSIENT = (408, 425, 429, 500, 502, 503, 504)
"""Answers after which asking again may help."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


class Client:
    """Sends requests; connections that nobody uses at the moment are kept for the next."""

    def __init__(self, timeout: float | None, secrets: Mapping[str, str] | None = None) -> None:
        self.timeout = timeout
        self._secrets = secrets or {}
        self._idle: deque[HTTPConnection] = deque()
        self._closed = False

    def json(self, request: Request) -> Any:
        """The JSON that the server answers, or `Failed`."""
        where = urlsplit(request.url)
        kept = self._kept()
        if kept is not None:
            # The server may have closed a connection that was idle: that is no failure of the question.
            with suppress(RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                return self._exchanged(kept, where, request)
        return self._exchanged(self._connected(where), where, request)

    def allow(self, seconds: float | None) -> None:
        """Wait that long for an answer from now on."""
        self.timeout = seconds
        self._closed = False

    def close(self) -> None:
        """Close the connections that nobody uses, and the others as soon as they are done with."""
        self._closed = True
        while (kept := self._kept()) is not None:
            kept.close()

    def _kept(self) -> HTTPConnection | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _connected(self, where: SplitResult) -> HTTPConnection:
        kind = HTTPSConnection if where.scheme == "https" else HTTPConnection
        return kind(where.hostname or "", where.port, timeout=self.timeout)

    def _exchanged(self, connection: HTTPConnection, where: SplitResult, request: Request) -> Any:
        reused = connection.sock is not None
        try:
            response, content = _exchange(connection, where, request)
        except (OSError, HTTPException) as error:
            connection.close()
            if reused and isinstance(error, RemoteDisconnected | ConnectionResetError | BrokenPipeError):
                raise
            raise _unreached(error) from error
        self._idle.append(connection)
        if self._closed:  # while this one was in use, by a question that nobody waits for any more
            self.close()
        return _parsed(response, content, self._secrets)


def _exchange(connection: HTTPConnection, where: SplitResult, request: Request) -> tuple[HTTPResponse, bytes]:
    target = (where.path or "/") + (f"?{where.query}" if where.query else "")
    connection.request(request.method, target, request.body, dict(request.headers))
    response = connection.getresponse()
    return response, _unpacked(response.read(), response.headers.get("Content-Encoding", ""))


def _unpacked(content: bytes, encoding: str) -> bytes:
    """The content itself: some servers compress what nobody asked them to."""
    if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        return content
    with suppress(zlib.error):
        return zlib.decompress(content, wbits=zlib.MAX_WBITS | 32)  # whichever of the two it is
    return content


def _unreached(error: Exception) -> Failed:
    if isinstance(error, TimeoutError):
        return Failed("no answer in time", again=True)
    return as_failure(error)


def _parsed(response: HTTPResponse, content: bytes, secrets: Mapping[str, str]) -> Any:
    said = f"HTTP {response.status}"
    if response.status in TRANSIENT:
        wait = _asked_to_wait(response)
        asked = f", which asks to wait {wait:g} s" if wait else ""
        raise Failed(f"{said}{asked}{_excerpt(content, secrets)}", again=True, wait=wait)
    if 300 <= response.status < 400:
        place = hidden(response.headers.get("Location", "elsewhere"), secrets)
        raise Failed(f"{said}: moved to {place}, expected an answer. Next: put the new address into the URL")
    if response.status >= 400:
        raise Failed(f"{said}{_excerpt(content, secrets)}")
    try:
        return json.loads(content)
    except ValueError:
        kind = response.headers.get("Content-Type", "no content type")
        raise Failed(f"{said}, {kind}: no whole JSON{_excerpt(content, secrets)}", again=True) from None


def _excerpt(content: bytes, secrets: Mapping[str, str]) -> str:
    # Secrets are taken out before anything is cut, as half of one is too much.
    text = " ".join(hidden(content.decode("utf-8", "replace"), secrets)[:200].split())
    return f": {shorten(text, 160)}" if text else ""


def _asked_to_wait(response: HTTPResponse) -> float:
    """The seconds in Retry-After: a number, or a moment."""
    said = response.headers.get("Retry-After", "").strip()
    if said.replace(".", "", 1).isdigit():
        return float(said)
    with suppress(ValueError, TypeError):
        return max((parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds(), 0.0)
    return 0.0
