"""Calls to a service, one by one or as a batch: options it refuses are left out, errors are retried or final."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankproof.document.model import Displayable
from rankproof.document.numbers import setting
from rankproof.judging.models.calls import Call, bytes_of, sizes
from rankproof.judging.models.providers import NONE, UNREADABLE, Reply, Service
from rankproof.judging.models.replies import unique_values
from rankproof.judging.verdicts import Account, Ask
from rankproof.net.client import Response, exchange, hide_secrets, open_clients, without_access, without_keys
from rankproof.net.retries import (
    AGAIN,
    CROWDED,
    LONGEST,
    LONGEST_WAIT,
    Attempts,
    Failed,
    Pace,
    attempts,
    retry_after,
    settle_in_loop,
)
from rankproof.text.words import digest

if TYPE_CHECKING:
    from rankproof.judging.models.judge import ModelJudge, Session

HOPELESS = {
    401: "the service refused the key",
    402: "the account has no credit",
    403: "the service forbids this",
    404: "no such model or address",
    405: "the address takes no calls",
}
"""Statuses after which no call can succeed."""
NO_CREDIT = b"insufficient_quota"
"""OpenAI's error for an empty account, which has the status of too many requests."""
RETRY_DELAY = re.compile(rb'"retryDelay"\s*:\s*"([0-9]{1,6}(?:\.[0-9]+)?)s"')
"""How long Google's services ask to wait: it stands in the body of the error, not in a header."""
ERROR_INSIDE = re.compile(rb'\s*\{\s*"error"\s*:\s*\{[^{}]*"code"\s*:\s*"?([45][0-9]{2})\b')
"""An error that comes with the status 200, as OpenRouter's do, and the status that it should have had."""
WEB_PAGE = "a web page came in the place of a reply, as of a login or a wrong {} (many end in /v1)"
"""Why there is no reply where the address is not that of the service, or somebody stands before it."""
LARGEST = 8 << 20
"""Bytes of a reply that are read."""
DROPPABLE = {
    "response_format": ("response_format", "json_schema", "schema", "structured output"),
    "temperature": ("temperature",),
    "tool_choice": ("tool_choice",),
    "max_tokens": ("max_completion_tokens",),
}
"""Options that are left out if a service refuses them, by the words of which one is in the refusal."""
INSTEAD = {"max_tokens": "max_completion_tokens"}
"""The replacement of a refused option."""
REFUSED = (0, 400, 422)
"""Statuses of a call that is wrong for the service; 0 is an error without a status, raised by a model in hand."""
SAME_REFUSALS = 5
"""After this many equal refusals, without any reply, all calls are assumed to be refused."""
BLOCKED = re.compile(rb"content.?(filter|(management )?policy)|safety system|block_?reason|prohibited_content", re.I)
"""The words in which services say that they blocked one prompt, which says nothing of the next."""


class Hopeless(Failed):
    """No further call to this service can succeed."""


@dataclass
class Line(Displayable):
    """A line to a service: a client, its pace, and what was learnt about what the service takes."""

    judge: ModelJudge
    clients: Iterator[Any]
    """One for each call in turn."""
    again: Account = field(default_factory=Account)
    """What calls took that were sent once more, with why they were."""
    reached: bool = False
    """Whether the service ever answered."""
    refusals: Counter[str] = field(default_factory=Counter)
    """How often each refusal, or reply that nobody can read, came."""
    replied: bool = False

    async def ask(self, call: Call) -> Reply:
        """The reply to a call, after as many tries as are allowed."""
        course: Attempts[Response] = attempts(self.judge.limits.retries, self.judge.pace)
        why: list[str] = []
        response = await settle_in_loop(course, lambda: self._tried(call, why))
        failure = response.failure
        if failure is None:
            try:
                found = json.loads(response.body, object_pairs_hook=unique_values)
            except (ValueError, RecursionError):
                found = None
            reply = self.judge.service.provider.reply(found)
            if reply.problem != UNREADABLE:
                self.replied = True
            elif self._is_usual(odd := f"{UNREADABLE}{reason_in(response.body, self.judge.service)}", response.body):
                raise Hopeless(odd)
            return reply
        if failure.wait > LONGEST_WAIT:
            wait = failure.wait
            hours = f"{wait / 3600:.0f} hours" if wait >= 7200 else f"{wait / 60:.0f} minutes"
            raise Hopeless(f"{failure} and asks to wait for {hours}")
        raise failure if self.reached else Hopeless(f"{failure}, and no call was ever answered")

    async def _tried(self, call: Call, why: list[str]) -> Response:
        """One try, after those that failed for reasons why; leaving out a refused option does not count as one."""
        while True:
            if why:  # the first time was booked with the call
                if refused := self.judge.budget.refuses_to_send():
                    raise Failed(refused)
                self.judge.budget.spent.calls += 1
                self.again.add(Account(1, bytes_sent=bytes_of(call), failed=1))
                if why[-1]:
                    self.again.note(f"{why[-1]}, tried again")
            left_out = frozenset(self.judge.dropped)
            async with self.judge.pace:
                response = await self._send(call, left_out)
            # Calls that were under way with a field that was just refused come here as well.
            if not (field_ := _unknown(response, left_out)):
                break
            # Leave a field out from now on, and say so once.
            why.append("")
            if field_ not in self.judge.dropped:
                self.judge.dropped.add(field_)
                told = f"{INSTEAD[field_]!r} is sent" if field_ in INSTEAD else "it is left out"
                why[-1] = f"the service refuses {field_!r}, so {told}{reason_in(response.body, self.judge.service)}"
        if response.failure is None and response.status != 200:
            response = replace(response, failure=self._refused(response))
        if response.failure is None:
            self.judge.pace.faster()
            return response
        why.append(str(response.failure))
        if response.status in CROWDED:
            self.judge.pace.slower()
        return response

    async def _send(self, call: Call, left_out: frozenset[str]) -> Response:
        sent = {INSTEAD.get(n, "") if n in left_out else n: value for n, value in self.judge.body(call).items()}
        sent.pop("", None)  # what nothing is sent instead of
        service = self.judge.service
        response = await exchange(
            *(next(self.clients), "POST", service.url + service.provider.path),
            within=self.judge.limits.timeout,
            largest=LARGEST,
            content=json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace"),
            headers={"Content-Type": "application/json", **service.headers},
        )
        if response.status == 200 and response.body.lstrip()[:1] == b"<":
            return Response(failure=Failed(WEB_PAGE.format(setting("base_url")), again=True))
        self.reached = self.reached or response.status > 0
        told = ERROR_INSIDE.match(response.body) if response.status == 200 else None
        status = int(told[1]) if told else response.status
        return replace(response, status=status, body=hide_secrets(response.body, service.secrets))

    def _refused(self, response: Response) -> Failed:
        """Why the service gave no answer, if another try may help; else that is raised."""
        status, body = response.status, response.body
        if status in HOPELESS or NO_CREDIT in body:
            raise Hopeless(f"{HOPELESS.get(status, HOPELESS[402])} (HTTP {status})")
        if 300 <= status < 400:
            place = hide_secrets(without_access(response.headers.get("Location", "")), self.judge.service.secrets)
            place = place.removesuffix(self.judge.service.provider.path) or "elsewhere"
            raise Hopeless(f"the service moved to {place} (HTTP {status}): give {setting('base_url')} that")
        if status in AGAIN:
            asked = RETRY_DELAY.search(body)
            wait = retry_after(response.headers) or (float(asked[1]) if asked else 0.0)
            return Failed(f"the service answered HTTP {status}", again=True, wait=wait)
        said = reason_in(body, self.judge.service)
        problem = f"the service refused the call{said} (HTTP {status})"
        problem = problem if status else said.removeprefix(": ")  # raised by a model in hand
        raise (Hopeless if status in REFUSED and self._is_usual(problem, body) else Failed)(problem)

    def _is_usual(self, problem: str, body: bytes) -> bool:
        """Whether the service has answered so several times by now, and with nothing else, whatever the prompt."""
        self.refusals[problem] += 1
        return self.refusals[problem] >= SAME_REFUSALS and not self.replied and not BLOCKED.search(body)


def reason_in(body: bytes, service: Service) -> str:
    """The error text of a service behind a colon, shortened and without keys; empty if there is none."""
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    while found and isinstance(found, dict | list):
        inside = found if isinstance(found, list) else map(found.get, ("error", "message", "detail", "msg"))
        found = next(filter(None, inside), "")
    said = " ".join("".join(c if c.isprintable() else " " for c in str(found)).split())
    said = without_keys(said, service.secrets)
    return f": {said[:LONGEST]}{'...' if len(said) > LONGEST else ''}" if said else ""


def _unknown(response: Response, left_out: frozenset[str]) -> str:
    """Which option of a request the service refuses, if it can be left out."""
    if response.status not in REFUSED:
        return ""
    said = response.body.decode("utf-8", "replace").lower()
    found = (name for name, words in DROPPABLE.items() if any(word in said for word in words))
    return next((name for name in found if name not in left_out), "")


@dataclass(frozen=True)
class Wire:
    """Requests beside the calls themselves: files and batches."""

    judge: ModelJudge
    client: Any

    async def json(self, method: str, path: str, **sent: Any) -> Any:
        """The JSON that the service answers with."""
        try:
            return json.loads(await self._request(method, path, **sent))
        except (ValueError, RecursionError) as error:
            raise Failed(UNREADABLE) from error

    async def lines(self, path: str) -> list[dict[str, Any]]:
        """The records of a file of lines; one that is cut off, or is no record, is left out."""
        found = []
        for line in (await self._request("GET", path)).decode("utf-8", "replace").split("\n"):
            with suppress(ValueError, RecursionError):
                found.append(json.loads(line, object_pairs_hook=unique_values))
        return [each for each in found if isinstance(each, dict)]

    async def _request(self, method: str, path: str, **sent: Any) -> bytes:
        async def tried() -> Response:
            url, headers = self.judge.service.url + path, self.judge.service.headers
            response = await exchange(
                self.client, method, url, headers=headers, timeout=self.judge.limits.timeout, **sent
            )
            if response.failure is not None or response.status == 200:
                return response
            said = HOPELESS.get(response.status, f"the service answered HTTP {response.status}")
            again, wait = response.status in AGAIN, retry_after(response.headers)
            return replace(response, failure=Failed(said, again=again, wait=wait))

        course: Attempts[Response] = attempts(self.judge.limits.retries, Pace())
        response = await settle_in_loop(course, tried)
        if response.failure is not None:
            raise response.failure
        return hide_secrets(response.body, self.judge.service.secrets)


BATCH_PRICE = 0.5
"""The share of the usual price that services charge for a batch."""
ENDED = ("completed", "ended", "failed", "expired", "cancelled")


async def settle_in_batches(session: Session, groups: Iterable[Sequence[Ask]]) -> Account:
    """Settle all pairs by one batch, and by a further one for what its replies leave open."""
    judge, limits = session.judge, session.judge.limits
    calls = [call for group in groups for call in session.calls(group)]
    known = limits.batch if isinstance(limits.batch, str) else ""
    async with open_clients(1, limits.timeout) as clients:
        wire = Wire(judge, next(clients))
        for again in range(limits.again, -1, -1):
            calls = await _round(session, wire, calls, again, known)
            known = ""
    return session.account


async def _round(session: Session, wire: Wire, calls: Sequence[Call], again: int, known: str) -> list[Call]:
    """One batch; the calls that are left to be made after it."""
    needs = ((call, sizes(call)) for call in calls)
    reserved = {id(call): need for call, need in needs if not session.judge.budget.refuses(*need)}
    affordable = {name_of(call): call for call in calls if id(call) in reserved}
    replies, problem = dict[str, Reply | str](), ""
    try:
        replies = await _replies(wire, affordable, known) if affordable else {}
    except Failed as error:
        problem = str(error)
    except (LookupError, TypeError, AttributeError, ValueError):
        # An answer without what its protocol promises.
        problem = UNREADABLE
    left: list[Call] = []
    for call in calls:
        need, reply, why = reserved.get(id(call)), replies.get(name_of(call), ""), ""
        if isinstance(reply, str):
            why = problem or (f"the batch has no reply{reply}" if need else "the budget is spent")
            reply = NONE
        if need is not None:
            session.book(call, need, reply)
        left += session.take(call, reply, why, again)
    return left


def name_of(call: Call) -> str:
    """The key of a call: the same for the same words."""
    return digest(f"{call.prompt} {call.body}").hex()


async def _replies(wire: Wire, calls: Mapping[str, Call], known: str) -> dict[str, Reply | str]:
    """The replies of a known batch, and of a new one to the calls that it has none for; or why there is none."""
    found = await _results(wire, known, len(calls)) if known else {}
    left = {name: call for name, call in calls.items() if not isinstance(found.get(name), Reply)}
    if left:
        sent = await BATCHES[wire.judge.service.provider.batches].send(wire, left)
        found |= await _results(wire, str(sent["id"]), len(left))
    return found


async def _results(wire: Wire, number: str, calls: int) -> dict[str, Reply | str]:
    provider = wire.judge.service.provider
    kind = BATCHES[provider.batches]
    print(f"rankproof: batch {number}, {calls:,} calls; to go on with it later: batch={number}", file=sys.stderr)
    while str((state := await wire.json("GET", f"{kind.path}/{number}")).get(kind.status)) not in ENDED:
        await asyncio.sleep(wire.judge.limits.poll)
    if not (places := kind.results(state)):
        raise Failed(f"the batch ended without results, as {state[kind.status]}; the service's page of it says why")
    found: dict[str, Reply | str] = {}
    for line in [line for where in places for line in await wire.lines(where)]:
        part = part if isinstance(part := line.get(kind.part), Mapping) else {}
        if kind.succeeded in part.items():
            found[str(line.get("custom_id"))] = provider.reply(part.get(kind.content))
        else:
            failed = json.dumps(part.get(kind.content) or part or line).encode()
            found[str(line.get("custom_id"))] = reason_in(failed, wire.judge.service)
    return found


@dataclass(frozen=True)
class BatchProtocol:
    """How a service takes batches, says how far they are, and gives their results."""

    path: str
    """The path of batches."""
    send: Callable[[Wire, Mapping[str, Call]], Awaitable[Any]]
    """Sends calls by their names; gives what the service says of the batch."""
    status: str
    """The field that says how far a batch is."""
    results: Callable[[Any], list[str]]
    """The paths of the results and of the failures, from what the service says of an ended batch."""
    part: str
    """The field of a line of results with what came of its call."""
    succeeded: tuple[str, Any]
    """The item of that part if the call succeeded."""
    content: str
    """The field of that part with the reply."""


async def _send_file(wire: Wire, calls: Mapping[str, Call]) -> Any:
    endpoint = f"/v1{wire.judge.service.provider.path}"
    bodies = {name: wire.judge.body(call) for name, call in calls.items()}
    lines = ({"custom_id": n, "method": "POST", "url": endpoint, "body": body} for n, body in bodies.items())
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    file = ("calls.jsonl", content.encode("utf-8", "replace"), "application/jsonl")
    sent = await wire.json("POST", "/files", data={"purpose": "batch"}, files={"file": file})
    made = {"input_file_id": sent["id"], "endpoint": endpoint, "completion_window": "24h"}
    return await wire.json("POST", "/batches", json=made)


async def _send_list(wire: Wire, calls: Mapping[str, Call]) -> Any:
    made = [{"custom_id": name, "params": wire.judge.body(call)} for name, call in calls.items()]
    return await wire.json("POST", MESSAGE_BATCHES, json={"requests": made})


FILES = ("output_file_id", "error_file_id")
MESSAGE_BATCHES = "/v1/messages/batches"
BATCHES = {
    "openai": BatchProtocol(
        *("/batches", _send_file, "status"),
        results=lambda state: [f"/files/{state[each]}/content" for each in FILES if state.get(each)],
        part="response",
        succeeded=("status_code", 200),
        content="body",
    ),
    "anthropic": BatchProtocol(
        *(MESSAGE_BATCHES, _send_list, "processing_status"),
        results=lambda state: [f"{MESSAGE_BATCHES}/{state['id']}/results"],
        part="result",
        succeeded=("type", "succeeded"),
        content="message",
    ),
}
