"""A server that speaks JSON over HTTP as Elasticsearch and OpenSearch do, with one index on it."""

from __future__ import annotations

import json
import weakref
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from rankproof.bench.adapters.failed import Failed
from rankproof.bench.adapters.http import Client, Request
from rankproof.bench.connect.store import StoreError, said, without_secrets
from rankproof.errors import UsageError

NEXT = {
    "HTTP 400": "check the names of the fields, the filter, and k (an index answers 10,000 documents at most).",
    "HTTP 401": "give user= and password=, or api_key=.",
    "HTTP 403": "ask for the right to read this index.",
    "HTTP 404": "check the name of the index, or fill it first.",
    "HTTP 429": "ask fewer questions at a time, or later again.",
}
"""What to do about what a server answers."""


class Server:
    """A server with one index on it."""

    def __init__(self, name: str, url: str, index: str, *, timeout: float = 30.0, **access: Any) -> None:
        if not url.startswith(("http://", "https://")):
            raise UsageError(
                f"{name}: got {without_secrets(url)!r}, expected a URL like 'http://localhost:9200'. "
                "Next: write it with http:// or https://."
            )
        self.name, self.index = name, quote(index, safe=",*-_.+")
        self.url = without_secrets(url).rstrip("/")
        self.headers = _headers(url, **access)
        self.secrets = _secrets(self.headers, access.get("password"), urlsplit(url).password)
        self.client = Client(timeout, dict.fromkeys(self.secrets, "***"))
        weakref.finalize(self, self.client.close)

    def json(self, method: str, path: str, body: Any = None) -> Any:
        """What the server answers; `body` is JSON, or lines of it."""
        kind = {"Content-Type": "application/x-ndjson" if isinstance(body, list) else "application/json"}
        encoded = None if body is None else _encoded(body)
        try:
            return self.client.json(Request(method, self.url + path, {**self.headers, **kind}, encoded))
        except Failed as failed:
            raise self._explained(failed) from None

    def _explained(self, failed: Failed) -> StoreError:
        advice = NEXT.get(failed.reason[:8], f"check that {self.url} is there and answers.")
        words = said(failed, self.secrets)
        return StoreError(f"{self.name}: {words}. Next: {advice}", again=failed.again, wait=failed.wait)


def _headers(
    url: str,
    *,
    api_key: str | None = None,
    user: str | None = None,
    password: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What goes with every request; a user and a password may stand in the URL as well."""
    found = {"Accept": "application/json", **(headers or {})}
    parts = urlsplit(url)
    if api_key is not None:
        found["Authorization"] = f"ApiKey {api_key}"
    elif user is not None:
        found["Authorization"] = _basic(user, password or "")
    elif parts.username and "Authorization" not in found:
        found["Authorization"] = _basic(unquote(parts.username), unquote(parts.password or ""))
    return found


def _secrets(headers: Mapping[str, str], *passwords: str | None) -> list[str]:
    """What no message may show: passwords, and what headers hold, with and without the word before it."""
    sent = [value for name, value in headers.items() if name != "Accept"]
    return [each for each in (*sent, *(value.partition(" ")[2] for value in sent), *passwords) if each]


def _encoded(body: Any) -> bytes:
    lines = body if isinstance(body, list) else [body]
    return "".join(f"{json.dumps(each, default=str)}\n" for each in lines).encode()


def _basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode('ascii')}"
