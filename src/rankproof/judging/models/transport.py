"""One call over the wire: sent, tried again where that may help, given up with a reason where it does not."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import cycle
from types import TracebackType
from typing import Any

from rankproof.document.display import Displayable
from rankproof.errors import missing_extra, shorten
from rankproof.judging.models.asking import Call
from rankproof.judging.models.providers import Reply, Service
from rankproof.judging.models.reading import once

FIRST = 8
"""Calls at once to begin with."""


class Pace(Displayable):
    """A gate that widens with each round of good replies, and halves when the service is overloaded.

    >>> pace = Pace(most=64)
    >>> pace.slower(); pace.width
    4
    """

    def __init__(self, most: int, first: int = FIRST) -> None:
        self.most = most
        self.width = min(first, most)
        self._inside = 0
        self._good = 0
        self._crowded = False
        self._changed: asyncio.Condition | None = None

    def open(self) -> None:
        """Begin in a new event loop, as wide as was good before."""
        self._inside, self._changed = 0, None

    async def __aenter__(self) -> None:
        condition = self._condition()
        async with condition:
            await condition.wait_for(lambda: self._inside < self.width)
            self._inside += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        condition = self._condition()
        async with condition:
            self._inside -= 1
            condition.notify(max(0, self.width - self._inside))

    def faster(self) -> None:
        """One more reply came in time; a round of them widens the gate."""
        self._good += 1
        if self._good >= self.width and self.width < self.most:
            more = max(1, self.width // 4) if self._crowded else self.width
            self.width, self._good = min(self.width + more, self.most), 0

    def slower(self) -> None:
        """The service had too much to do."""
        self.width, self._good, self._crowded = max(1, self.width // 2), 0, True

    def _condition(self) -> asyncio.Condition:
        if self._changed is None:
            self._changed = asyncio.Condition()
        return self._changed


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
DROPPABLE = {
    "response_format": ("response_format", "json_schema", "schema", "structured output"),
    "temperature": ("temperature",),
    "tool_choice": ("tool_choice",),
    "max_tokens": ("max_completion_tokens",),
}
"""What is left out when a service refuses it, by the words of which one stands in the refusal."""
INSTEAD = {"max_tokens": "max_completion_tokens"}
"""What is sent in the place of what was refused."""
SAME_REFUSALS = 5
"""So often the same refusal, with no reply so far, is taken for an answer to all calls."""
SECRET = re.compile(r"(?i)\b(?:sk|pk|key|bearer|token)[-_ :=]+[\w*.\-]{6,}|\b[\w\-]{32,}\b")
"""What looks like a key, in whole or in part."""
LONGEST_REASON = 200


class Hopeless(Exception):
    """No further call to this service can succeed."""


class Failed(Exception):
    """This call got no answer."""


@dataclass
class Line(Displayable):
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
    """What the service refuses; it is known from one run to the next."""
    problems: dict[str, int] = field(default_factory=dict)
    """What went wrong and was tried again."""
    reached: bool = False
    """Whether the service ever answered."""
    refusals: dict[str, int] = field(default_factory=dict)
    """How often each refusal came before any reply; empty once there was one."""
    replied: bool = False

    async def ask(self, call: Call) -> Reply:
        """The reply to a call, after as many tries as are allowed."""
        wait, problem, attempt = 0.0, "", 0
        while attempt < self.tries:
            await asyncio.sleep(wait)
            async with self.pace:
                left_out = frozenset(self.dropped)
                status, headers, body, problem = await self._send(call, left_out)
            if not problem and status == 200:
                self.replied = True
                self.pace.faster()
                return self._read(body)
            if field_ := _unknown(status, body, left_out):
                # Calls that were under way with it come here as well: each is sent again, and none counts a try.
                self._drop(field_, body)
                wait = 0.0
                continue
            problem = problem or self._refused(status, body)
            self._note(problem)
            if status in CROWDED:
                self.pace.slower()
            wait = _waiting(headers, self.pause * 2**attempt)
            if wait > LONGEST_WAIT:
                raise Hopeless(f"{problem} and asks to wait for {_duration(wait)}")
            attempt += 1
        raise Failed(problem) if self.reached else Hopeless(f"{problem}, and no call was ever answered")

    async def _send(self, call: Call, left_out: frozenset[str]) -> tuple[int, Mapping[str, str], bytes, str]:
        """Status, headers and body, or what went wrong on the way."""
        import httpx2

        sent = self.service.provider.body(self.model, call, self.given)
        named = {INSTEAD.get(name, "") if name in left_out else name: value for name, value in sent.items()}
        sent = {name: value for name, value in named.items() if name}
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
        """Why the service gave no answer, as it says itself, without anything that looks like a key."""
        if status in HOPELESS:
            raise Hopeless(f"{HOPELESS[status]} (HTTP {status})")
        if NO_CREDIT in body:
            raise Hopeless(f"{HOPELESS[402]} (HTTP {status})")
        if status in AGAIN:
            return f"the service answered HTTP {status}"
        problem = f"the service refused the call{_reason(body)} (HTTP {status})"
        times = self.refusals[problem] = self.refusals.get(problem, 0) + 1
        if times >= SAME_REFUSALS and not self.replied and status in (400, 422):
            raise Hopeless(problem)
        raise Failed(problem)

    def _drop(self, name: str, body: bytes) -> None:
        """Leave a field out from now on, and say so once."""
        if name not in self.dropped:
            self.dropped.add(name)
            told = f"{INSTEAD[name]!r} is sent" if name in INSTEAD else "it is left out"
            self._note(f"the service refuses {name!r}, so {told}{_reason(body)}")

    def _note(self, problem: str) -> None:
        self.problems[problem] = self.problems.get(problem, 0) + 1

    def __repr__(self) -> str:
        return f"<Line to {shorten(self.service.url)}>"


def _unknown(status: int, body: bytes, left_out: frozenset[str]) -> str:
    """What a service refuses of what was sent, if it can be left out."""
    if status not in (400, 422):
        return ""
    said = body.decode("utf-8", "replace").lower()
    found = (name for name, words in DROPPABLE.items() if any(word in said for word in words))
    return next((name for name in found if name not in left_out), "")


def _reason(body: bytes) -> str:
    """What a service says of a refusal, cut short and without keys; empty where it says nothing.

    >>> _reason(b'{"error": {"message": "Model is overloaded, key sk-123456789"}}')
    ': Model is overloaded, [key]'
    """
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    while isinstance(found, dict):
        found = next((found[name] for name in ("error", "message", "detail", "msg") if found.get(name)), "")
    said = " ".join("".join(c if c.isprintable() else " " for c in str(found)).split())
    said = SECRET.sub("[key]", said)
    return f": {said[:LONGEST_REASON]}{'...' if len(said) > LONGEST_REASON else ''}" if said else ""


def _duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> _duration(86400.0), _duration(600.0)
    ('24 hours', '10 minutes')
    """
    return f"{seconds / 3600:.0f} hours" if seconds >= 7200 else f"{seconds / 60:.0f} minutes"


def _waiting(headers: Mapping[str, str], pause: float) -> float:
    """Seconds until the next try: what the service asks for, else the pause, never in step with others."""
    asked = _retry_after(headers.get("retry-after", ""))
    if asked is not None:
        return asked
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
