"""One run through the pairs of many samples: calls under way side by side, replies read, open pairs asked again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Any

from rankproof.judging.models.calls import Call, calls_for
from rankproof.judging.models.limits import Budget, ModelLimits, tokens_in
from rankproof.judging.models.providers import Reply, Service
from rankproof.judging.models.replies import Reading, read
from rankproof.judging.models.transport import Hopeless, Line
from rankproof.judging.run import Tell, add
from rankproof.judging.verdicts import Account, Ask, Keep, Relation, Unmeasured, Verdict
from rankproof.net import Failed, Pace
from rankproof.net.client import open_clients

REPLY_TOKENS = {
    Relation.CONTEXT_ANSWERS: 32,
    Relation.TEXT_SUPPORTS: 32,
    Relation.TEXT_SUPPORTS_IN_PART: 32,
    Relation.STATEMENT_BEARS: 16,
    Relation.ANSWER_ADDRESSES: 16,
    Relation.TEXT_CLAIMS: 160,
}
"""About how many tokens a reply needs for a pair of each relation."""
FRAME_TOKENS = 60
"""About how many tokens the names around a call take: model, roles, options."""
NONE = Reply("")
"""Stands where nothing came back: asking once more would not help."""


def call_text(call: Call) -> str:
    """Everything that a call sends: instructions, texts, schema."""
    return json.dumps([call.instructions, call.body, call.schema], ensure_ascii=False)


def sizes(call: Call) -> tuple[int, int]:
    """About how many tokens a call sends and gets."""
    return FRAME_TOKENS + tokens_in(call_text(call)), 20 + sum(
        REPLY_TOKENS[ask.relation] for ask in call.places.values()
    )


@asynccontextmanager
async def over_http(session: Session) -> AsyncIterator[Line]:
    """The line to a service, open for as long as the block."""
    limits = session.limits
    async with open_clients(limits.concurrency, limits.timeout) as clients:
        yield Line(
            *(session.service, session.model, clients, session.pace, session.given),
            timeout=limits.timeout,
            retries=limits.retries,
            dropped=session.dropped,
        )


Connect = Callable[["Session"], AbstractAsyncContextManager[Line]]
"""Opens the line over which a session asks."""


@dataclass
class Session:
    """Everything that one run needs; every pair reaches `keep` once, with a verdict or with the reason why not."""

    name: str
    service: Service
    model: str
    given: Mapping[str, Any]
    limits: ModelLimits
    budget: Budget
    pace: Pace
    keep: Keep
    dropped: set[str] = field(default_factory=set)
    """Options that the service refused."""
    connect: Connect = over_http
    share_of_price: float = 1.0
    """The share of the usual price."""
    hopeless: str = ""
    """Why no further call can succeed, once that is known."""
    account: Account = field(default_factory=Account)
    tell: Tell | None = None
    """Hears which share of the groups is done, and what that cost."""
    begun: int = 0
    """Groups of which all calls are under way or done."""
    under_way: int = 0
    """Calls that were begun and are not done."""

    async def settle(self, groups: Iterable[Sequence[Ask]]) -> Account:
        """Ask about the pairs of each group."""
        limits = self.limits
        self.pace.open()
        calls = self._calls(groups)
        async with self.connect(self) as line:
            size = len(groups) if isinstance(groups, Sized) else 0
            # One call goes first: it shows which options the service refuses, before many calls are sent.
            for first in islice(calls, 1):
                await self._one(line, first, size)
            try:
                async with asyncio.TaskGroup() as workers:
                    for _ in range(limits.concurrency):
                        workers.create_task(self._work(line, calls, size))
            except BaseExceptionGroup as group:
                # What goes wrong here, as a ledger that is locked, all workers meet: one error, not many.
                raise group.exceptions[0] from None
        for problem, times in line.problems.items():
            self._note(f"{problem}, tried again", times)
        return self.account

    def _calls(self, groups: Iterable[Sequence[Ask]]) -> Iterator[Call]:
        for group in groups:
            calls = list(calls_for(group, self.limits.canaries, self.limits.pairs))
            yield from calls[:-1]
            self.begun += 1
            yield from calls[-1:]

    async def _work(self, line: Line, calls: Iterator[Call], size: int) -> None:
        """Take one call after the other: as many workers as calls may be under way keep memory flat."""
        for call in calls:
            await self._one(line, call, size)

    async def _one(self, line: Line, call: Call, size: int) -> None:
        self.under_way += 1
        await self._settle(line, call, self.limits.again)
        self.under_way -= 1
        # Say which share of so many groups is done, and what it has cost so far.
        if self.tell is not None and size:
            spent = self.budget.spent
            cost = "" if spent.money is None else f", ${spent.money:.2f}"
            self.tell(max(0, self.begun - self.under_way) / size, f"; {spent.calls:,} calls{cost} so far")

    async def _settle(self, line: Line, call: Call, again: int) -> None:
        """Settle the pairs of one call; those that its reply leaves open are asked again, without the others."""
        reply, problem = await self._ask(line, call)
        for part in self.take(call, reply, problem, again):
            await self._settle(line, part, again - 1)

    def take(self, call: Call, reply: Reply, problem: str, again: int) -> list[Call]:
        """Store the verdicts of a reply; other pairs go into further calls, or are given up."""
        problem = problem or reply.problem
        reading = Reading(open=dict.fromkeys(call.asks, problem)) if problem else read(call, reply.content)
        for each, times in reading.problems.items():
            self._note(each, times)
        self.keep(self._verdicts(call, reply, reading))
        if again and reading.open and reply is not NONE:
            most = max(1, len(reading.open) // 2) if reply.problem else self.limits.pairs
            return list(calls_for(reading.open, self.limits.canaries, min(most, self.limits.pairs)))
        if reading.open:
            for reason in reading.open.values():
                self._note(f"unmeasured: {reason}", 1)
            self.keep([Unmeasured(ask, reason) for ask, reason in reading.open.items()])
        return []

    async def _ask(self, line: Line, call: Call) -> tuple[Reply, str]:
        """The reply, or why there is none."""
        need = sizes(call)
        if refused := self.hopeless or self.budget.refuses(*need):
            return NONE, refused
        reply = NONE
        try:
            reply = await line.ask(call)
        except Hopeless as error:
            self.hopeless = str(error)
            return NONE, self.hopeless
        except Failed as error:
            return NONE, str(error)
        finally:
            self.book(call, need, reply)
        return reply, ""

    def book(self, call: Call, reserved: tuple[int, int], reply: Reply) -> None:
        """Write down what a call took."""
        taken = (reply.prompt_tokens, reply.reply_tokens)
        if reply is not NONE and not any(taken):  # a budget holds where the service counts nothing, too
            taken = (reserved[0], tokens_in(str(reply.content)))
        cost = self.budget.book(reserved, *taken, self.share_of_price)
        size = len(call_text(call).encode("utf-8", "replace"))
        add(self.account, Account(1, reply.prompt_tokens, reply.reply_tokens, cost, bytes_sent=size))

    def _verdicts(self, call: Call, reply: Reply, reading: Reading) -> list[Verdict]:
        """The verdicts of a reply, each with where it comes from."""
        batch = blake2b(call.body.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        places = {ask: number for number, ask in enumerate(call.places.values(), start=1)}
        origin = {"prompt": call.prompt, "batch": batch, "model": reply.model}
        said = [
            Verdict(ask, value, self.name, None, reading.quotes.get(ask, ""), (), {**origin, "place": places[ask]})
            for ask, value in reading.values.items()
        ]
        claims = [
            Verdict(ask, None, self.name, items=items, origin={**origin, "place": places[ask]})
            for ask, items in reading.claims.items()
        ]
        return said + claims

    def _note(self, problem: str, times: int) -> None:
        self.account.problems[problem] = self.account.problems.get(problem, 0) + times
