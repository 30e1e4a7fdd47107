"""One call over the wire: sent, tried again where that may help, given up with a reason where it does not."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import cycle
from typing import Any

from rankproof.errors import missing_extra, shorten
from rankproof.judging.models.asking import Call
from rankproof.judging.models.pace import Pace
from rankproof.judging.models.providers import Reply, Service
from rankproof.judging.models.reading import once

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""Statuses after which the same call may succeed."""
CROWDED = frozenset({429, 503, 529})
"""Those that say there are too many calls."""
HOPELESS = {
    401: "the service refused the key",
    402: "the account has no credit",
    403: "the service forbids this",
    404: "no such model or address",
}
"""Statuses after which no call can succeed."""
CLIENTS = 8
"""Clients that share the calls."""
NO_CREDIT = b"insufficient_quota"
"""What OpenAI calls an account that is empty; its status is that of a crowd."""
LARGEST = 8 << 20
"""Bytes of a reply that are read."""
LONGEST_WAIT = 120.0
"""Seconds that are waited when the service asks for more."""
LONGEST_PAUSE = 30.0
DROPPABLE = ("response_format", "temperature", "tool_choice")
"""What is left out when a service says that it does not know it."""


class Hopeless(Exception):
    """No further call to this service can succeed."""


class Failed(Exception):
    """This call got no answer."""


@dataclass
class Line:
    """A line to a service: a client, its pace, and what was learnt about what the service takes."""

    service: Service
    model: str
    clients: Iterator[Any]
    """One for each call in turn."""
    pace: Pace
    given: Mapping[str, Any]
    timeout: float
    tries: int
    pause: float
    dropped: set[str] = field(default_factory=set)
    problems: dict[str, int] = field(default_factory=dict)
    """What went wrong and was tried again."""
    reached: bool = False
    """Whether the service ever answered."""

    async def ask(self, call: Call) -> Reply:
        """The reply to a call, after as many tries as are allowed."""
        wait, problem = 0.0, ""
        for attempt in range(self.tries):
            await asyncio.sleep(wait)
            async with self.pace:
                status, headers, body, problem = await self._send(call)
            if not problem and status == 200:
                self.pace.faster()
                return self._read(body)
            problem = problem or self._refused(status, body)
            self._note(problem)
            if status in CROWDED:
                self.pace.slower()
            wait = 0.0 if self._learnt(status, body) else _waiting(headers, self.pause * 2**attempt)
        raise Failed(problem) if self.reached else Hopeless(f"{problem}, and no call was ever answered")

    async def _send(self, call: Call) -> tuple[int, Mapping[str, str], bytes, str]:
        """Status, headers and body, or what went wrong on the way."""
        import httpx2

        sent = self.service.provider.body(self.model, call, self.given)
        sent = {name: value for name, value in sent.items() if name not in self.dropped}
        try:
            async with asyncio.timeout(self.timeout):
                return await self._exchange(sent)
        except TimeoutError:
            return 0, {}, b"", f"no reply within {self.timeout:g} s"
        except httpx2.TransportError as error:
            return 0, {}, b"", f"the connection failed ({type(error).__name__})"
        except (httpx2.DecodingError, httpx2.TooManyRedirects) as error:
            return 0, {}, b"", f"the reply cannot be read ({type(error).__name__})"

    async def _exchange(self, sent: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes, str]:
        content = json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace")
        headers = {"Content-Type": "application/json", **self.service.headers}
        request = next(self.clients).stream("POST", self.service.endpoint, content=content, headers=headers)
        async with request as response:
            self.reached = True
            parts, size = [], 0
            async for part in response.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > LARGEST:
                    return 0, {}, b"", f"the reply is larger than {LARGEST >> 20} MiB"
            body = self.service.without_key(b"".join(parts))
            return response.status_code, response.headers, body, ""

    def _read(self, body: bytes) -> Reply:
        try:
            found = json.loads(body, object_pairs_hook=once)
        except (ValueError, RecursionError):
            found = None
        return self.service.provider.reply(found)

    def _refused(self, status: int, body: bytes) -> str:
        """Why the service gave no answer; what the service says about it may quote a key, so it is not repeated."""
        if status in HOPELESS:
            raise Hopeless(f"{HOPELESS[status]} (HTTP {status})")
        if NO_CREDIT in body:
            raise Hopeless(f"{HOPELESS[402]} (HTTP {status})")
        if status not in AGAIN and not self._may_drop(status, body):
            raise Failed(f"the service refused the call (HTTP {status})")
        return f"the service answered HTTP {status}"

    def _may_drop(self, status: int, body: bytes) -> str:
        """What a service says it does not know, of what can be left out."""
        said = body.decode("utf-8", "replace")
        if status not in (400, 422):
            return ""
        return next((name for name in DROPPABLE if name in said and name not in self.dropped), "")

    def _learnt(self, status: int, body: bytes) -> bool:
        name = self._may_drop(status, body)
        self.dropped |= {name} if name else set()
        return bool(name)

    def _note(self, problem: str) -> None:
        self.problems[problem] = self.problems.get(problem, 0) + 1

    def __repr__(self) -> str:
        return f"<Line to {shorten(self.service.url)}>"


def _waiting(headers: Mapping[str, str], pause: float) -> float:
    """Seconds until the next try: what the service asks for, else the pause, never in step with others."""
    asked = _retry_after(headers.get("retry-after", ""))
    if asked is not None:
        return min(asked, LONGEST_WAIT)
    return min(pause, LONGEST_PAUSE) * random.uniform(0.75, 1.25)


def _retry_after(text: str) -> float | None:
    """Seconds, given as such or as a date; None where it says neither.

    >>> _retry_after("1.5"), _retry_after("soon"), _retry_after("Wed, 21 Oct 2015 07:28:00 GMT")
    (1.5, None, 0.0)
    """
    try:
        return max(0.0, float(text)) if math.isfinite(float(text)) else None
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


@asynccontextmanager
async def open_clients(most: int, timeout: float) -> AsyncIterator[Iterator[Any]]:
    """Clients in an endless row, of which each may have as many connections as calls may be under way.

    What a client does for a call takes the longer the more connections it has; so a few share the calls.
    """
    try:
        import httpx2
    except ImportError as error:
        raise missing_extra("asking a model", "httpx2", "judge") from error
    limits = httpx2.Limits(max_connections=most, max_keepalive_connections=most)
    trusted = _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    async with AsyncExitStack() as opened:
        clients = [
            await opened.enter_async_context(
                httpx2.AsyncClient(verify=trusted, limits=limits, timeout=timeout, follow_redirects=False)
            )
            for _ in range(min(CLIENTS, most))
        ]
        yield cycle(clients)


@lru_cache(maxsize=1)
def _trusted(file: str | None, folder: str | None) -> Any:
    """Who is believed to be who they say; read once for as long as the variables that name the files stay."""
    import httpx2

    return httpx2.create_ssl_context()


@dataclass(frozen=True)
class Wire:
    """Requests beside the calls themselves: files and batches."""

    service: Service
    client: Any
    timeout: float
    tries: int
    pause: float

    async def json(self, method: str, path: str, **sent: Any) -> Any:
        """The JSON that the service answers with."""
        body = await self._request(method, path, **sent)
        try:
            return json.loads(body)
        except ValueError as error:
            raise Failed("the service's reply is not what its protocol says") from error

    async def lines(self, path: str) -> list[dict[str, Any]]:
        """The records of a file of lines; one that is cut off, or is no record, is left out."""
        found = []
        for line in (await self._request("GET", path)).decode("utf-8", "replace").split("\n"):
            try:
                found += [json.loads(line, object_pairs_hook=once)] if line.strip() else []
            except (ValueError, RecursionError):
                continue
        return [each for each in found if isinstance(each, dict)]

    async def _request(self, method: str, path: str, **sent: Any) -> bytes:
        import httpx2

        problem = ""
        for attempt in range(self.tries):
            try:
                reply = await self.client.request(
                    method,
                    self.service.url + path,
                    headers=self.service.headers,
                    timeout=self.timeout,
                    **sent,
                )
            except httpx2.TransportError as error:
                problem, wait = f"the connection failed ({type(error).__name__})", self.pause * 2**attempt
            else:
                if reply.status_code == 200:
                    return self.service.without_key(reply.content)
                problem = f"the service answered HTTP {reply.status_code}"
                if reply.status_code not in AGAIN:
                    raise Failed(HOPELESS.get(reply.status_code, problem))
                wait = _waiting(reply.headers, self.pause * 2**attempt)
            await asyncio.sleep(wait)
        raise Failed(problem)
