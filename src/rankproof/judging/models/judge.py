"""The judge that asks a language model, call by call or as one batch."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from rankproof.document.model import Displayable
from rankproof.errors import UsageError
from rankproof.judging.function_judge import run
from rankproof.judging.models.calls import CLAIMS, VERDICTS, Call, calls_for
from rankproof.judging.models.limits import MOST_PAIRS, Budget, ModelLimits, price, split
from rankproof.judging.models.providers import Reply, Service, service_of
from rankproof.judging.models.session import NONE, Connect, Session, call_text, over_http, sizes
from rankproof.judging.models.transport import Wire
from rankproof.judging.run import add
from rankproof.judging.verdicts import Account, Ask, Keep
from rankproof.net import Failed, Pace
from rankproof.net.client import open_clients

BATCH_PRICE = 0.5
"""The share of the usual price that services charge for a batch."""
SAMPLES_OF_A_BATCH = 5_000
"""Samples whose calls go into one batch; services take some 50,000 calls, and 200 MB."""
ENDED = ("completed", "ended", "failed", "expired", "cancelled")


async def settle_in_batches(session: Session, groups: Iterable[Sequence[Ask]]) -> Account:
    """Settle all pairs by one batch, and by a further one for what its replies leave open."""
    session.share_of_price = BATCH_PRICE
    limits = session.limits
    calls = [call for group in groups for call in calls_for(group, limits.canaries, limits.pairs)]
    known = limits.batch if isinstance(limits.batch, str) else ""
    async with open_clients(1, limits.timeout) as clients:
        wire = Wire(session.service, next(clients), limits.timeout, limits.retries)
        for again in range(limits.again, -1, -1):
            calls = await _round(session, wire, calls, again, known)
            known = ""
    return session.account


async def _round(session: Session, wire: Wire, calls: Sequence[Call], again: int, known: str) -> list[Call]:
    """One batch; the calls that are left to be made after it."""
    needs = {id(call): sizes(call) for call in calls}
    affordable = [call for call in calls if not session.budget.refuses(*needs[id(call)])]
    reserved = {id(call): needs[id(call)] for call in affordable}
    replies: Mapping[str, Reply] = {}
    problem = ""
    try:
        replies = await _replies(session, wire, affordable, known) if affordable else {}
    except Failed as error:
        problem = str(error)
    except (LookupError, TypeError, AttributeError, ValueError):
        # An answer without what its protocol promises.
        problem = "the service's reply is not what its protocol says"
    left: list[Call] = []
    for call in calls:
        need, reply = reserved.get(id(call)), replies.get(name_of(call), NONE)
        if need is not None:
            session.book(call, need, reply)
        why = "" if reply is not NONE else problem or ("the batch has no reply" if need else "the budget is spent")
        left += session.take(call, reply, why, again)
    return left


def name_of(call: Call) -> str:
    """The key of a call: the same for the same words."""
    return blake2b(f"{call.prompt} {call.body}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


async def _replies(session: Session, wire: Wire, calls: Sequence[Call], known: str) -> dict[str, Reply]:
    provider = session.service.provider
    kind = BATCHES[provider.batches]
    number = known or str((await kind.send(session, wire, {name_of(call): call for call in calls}))["id"])
    print(f"rankproof: batch {number}, {len(calls):,} calls; to go on with it later: batch={number}", file=sys.stderr)
    state = await wire.json("GET", f"{kind.path}/{number}")
    while str(state.get(kind.status)) not in ENDED:
        await asyncio.sleep(session.limits.poll)
        state = await wire.json("GET", f"{kind.path}/{number}")
    where = kind.results(state)
    lines = await wire.lines(where) if where else []
    parts = [(str(line.get("custom_id")), line.get(kind.part)) for line in lines]
    return {
        name: provider.reply(part.get(kind.content))
        for name, part in parts
        if isinstance(part, Mapping) and kind.succeeded in part.items()
    }


@dataclass(frozen=True)
class BatchProtocol:
    """How a service takes batches, says how far they are, and gives their results."""

    path: str
    """The path of batches."""
    send: Callable[[Session, Wire, Mapping[str, Call]], Awaitable[Any]]
    """Sends calls by their names; gives what the service says of the batch."""
    status: str
    """The field that says how far a batch is."""
    results: Callable[[Any], str]
    """The path of the results, from what the service says of an ended batch; empty if there are none."""
    part: str
    """The field of a line of results with what came of its call."""
    succeeded: tuple[str, Any]
    """The item of that part if the call succeeded."""
    content: str
    """The field of that part with the reply."""


async def _send_file(session: Session, wire: Wire, calls: Mapping[str, Call]) -> Any:
    """A file of lines, one a call, and a batch of that file."""
    provider, model, given = session.service.provider, session.model, session.given
    endpoint = f"/v1{provider.path}"
    lines = (
        {"custom_id": name, "method": "POST", "url": endpoint, "body": provider.body(model, call, given)}
        for name, call in calls.items()
    )
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    file = ("calls.jsonl", content.encode("utf-8", "replace"), "application/jsonl")
    sent = await wire.json("POST", "/files", data={"purpose": "batch"}, files={"file": file})
    made = {"input_file_id": sent["id"], "endpoint": endpoint, "completion_window": "24h"}
    return await wire.json("POST", "/batches", json=made)


async def _send_list(session: Session, wire: Wire, calls: Mapping[str, Call]) -> Any:
    """One list of requests."""
    body = session.service.provider.body
    made = [{"custom_id": name, "params": body(session.model, call, session.given)} for name, call in calls.items()]
    return await wire.json("POST", MESSAGE_BATCHES, json={"requests": made})


MESSAGE_BATCHES = "/v1/messages/batches"
BATCHES = {
    "openai": BatchProtocol(
        *("/batches", _send_file, "status"),
        results=lambda state: f"/files/{name}/content" if (name := state.get("output_file_id")) else "",
        part="response",
        succeeded=("status_code", 200),
        content="body",
    ),
    "anthropic": BatchProtocol(
        *(MESSAGE_BATCHES, _send_list, "processing_status"),
        results=lambda state: f"{MESSAGE_BATCHES}/{state['id']}/results",
        part="result",
        succeeded=("type", "succeeded"),
        content="message",
    ),
}


@dataclass(frozen=True)
class ModelJudge(Displayable):
    """A model that is asked, sample by sample, with as few calls as can be."""

    provider: str
    model: str
    service: Service = field(repr=False)
    limits: ModelLimits = field(default_factory=ModelLimits)
    given: Mapping[str, Any] = field(default_factory=dict)
    """The options sent with the texts: temperature, seed and the like."""
    budget: Budget = field(default_factory=lambda: Budget(""), repr=False, compare=False)
    pace: Pace = field(default_factory=lambda: Pace(most=ModelLimits.concurrency), repr=False, compare=False)
    dropped: set[str] = field(default_factory=set, repr=False, compare=False)
    """Options that the service refused, such as a temperature: they are not sent any more."""
    connect: Connect = field(default=over_http, repr=False, compare=False)
    """How it is reached."""
    known: Mapping[str, Any] = field(default_factory=dict)
    """The identity beside its name."""
    tells = True
    """It says itself how far it is, with what that cost."""

    @property
    def at_once(self) -> int | None:
        """How many samples it is best asked about together: a batch of any size may take a day."""
        return SAMPLES_OF_A_BATCH if self.limits.batch else None

    @property
    def name(self) -> str:
        """The name that it is asked for by."""
        return f"{self.provider}:{self.model}"

    @property
    def identity(self) -> Mapping[str, Any]:
        """Everything that shapes its verdicts; no key, and nothing of how fast it is asked."""
        at = {"url": self.service.url} if self.limits.by_address else {}
        given = {"given": dict(self.given)} if self.given else {}
        prompts = {"prompts": [CLAIMS, VERDICTS]}
        # The other pairs of a call may change a verdict, so fewer pairs a call count as another judge.
        fewer = {"pairs": self.limits.pairs} if self.limits.pairs != MOST_PAIRS else {}
        return {"kind": "model", "name": self.name, **self.known, **at, **given, **fewer, **prompts}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Ask about every pair; each verdict is stored as soon as it arrives."""
        self.service.check()
        asked = Session(
            *(self.name, self.service, self.model, self.given, self.limits, self.budget, self.pace, keep),
            tell=getattr(groups, "tell", None),
            dropped=self.dropped,
            connect=self.connect,
        )
        return run(settle_in_batches(asked, groups) if self.limits.batch else asked.settle(groups))

    def estimate(self, groups: Iterable[Sequence[Ask]]) -> Account:
        """The largest cost of asking, without asking."""
        account = Account(money=0.0 if price(self.name, 1, 1) is not None else None)
        limits = self.limits
        for call in (call for group in groups for call in calls_for(group, limits.canaries, limits.pairs)):
            add(account, Account(1, *sizes(call), bytes_sent=len(call_text(call).encode("utf-8", "replace"))))
        if account.money is not None:
            whole = price(self.name, account.prompt_tokens, account.reply_tokens) or 0.0
            account.money = whole * (BATCH_PRICE if self.limits.batch else 1.0)
        return account


def model_judge(spec: str, **options: Any) -> ModelJudge:
    """The judge `provider:MODEL`: anthropic, or openai and the services that speak its protocol, by their names.

    `base_url` is where the service is; `key_variable` names the environment variable with its key. The fields of
    Limits say how it is asked; what many services know (temperature, seed, top_p, reasoning_effort, max_tokens of a
    reply) and what stands in `extra` goes to the model, and is part of the judge's identity.
    """
    provider, _, model = spec.partition(":")
    if not model:
        raise UsageError(f"judge: got {spec!r}, expected provider:MODEL. Next: name one, as openai:MODEL.")
    service = service_of(provider, options.pop("base_url", None), options.pop("key_variable", None))
    limits, given = split(options)
    if limits.batch and not service.provider.batches:
        raise UsageError(f"batch: {provider} has no batches that rankproof knows. Next: leave batch out.")
    if limits.max_money is not None and price(spec, 1, 1) is None:
        raise UsageError(
            f"max_money: the price of {spec} is not known. Next: limit budget_tokens or max_calls instead."
        )
    budget = Budget(spec, limits.max_calls, limits.budget_tokens, limits.max_money)
    return ModelJudge(provider, model, service, limits, given, budget, Pace(most=limits.concurrency))
