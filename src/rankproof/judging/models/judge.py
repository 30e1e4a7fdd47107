"""The judge that asks a language model: concurrent calls, replies read, open pairs asked again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from rankproof.document.model import Displayable
from rankproof.document.numbers import count
from rankproof.errors import UsageError
from rankproof.judging.function_judge import run
from rankproof.judging.models import MOST_PAIRS, ModelLimits, split
from rankproof.judging.models.calls import CLAIMS, VERDICTS, Call, bytes_of, calls_for, sizes, tokens_in
from rankproof.judging.models.providers import NONE, Reply, Service, service_of
from rankproof.judging.models.replies import Reading, read
from rankproof.judging.models.transport import BATCH_PRICE, Hopeless, Line, settle_in_batches
from rankproof.judging.run import BATCH
from rankproof.judging.verdicts import Account, Ask, Keep, Unmeasured, Verdict
from rankproof.net.client import open_clients
from rankproof.net.retries import Failed, Pace
from rankproof.text.words import digest


@asynccontextmanager
async def over_http(judge: ModelJudge) -> AsyncIterator[Line]:
    """The connection to a service, open during the block."""
    async with open_clients(judge.limits.concurrency, judge.limits.timeout) as clients:
        yield Line(judge, clients)


SAMPLES_OF_A_BATCH = 5_000
"""Samples whose calls go into one batch; services take some 50,000 calls, and 200 MB."""


@dataclass(frozen=True)
class ModelJudge(Displayable):
    """A model as a judge, asked sample by sample with as few calls as possible."""

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
    connect: Callable[[ModelJudge], AbstractAsyncContextManager[Line]] = field(
        default=over_http, repr=False, compare=False
    )
    """Opens the line over which it is asked."""
    known: Mapping[str, Any] = field(default_factory=dict)
    """The identity beside its name."""

    @property
    def at_once(self) -> int:
        """The best number of samples to ask about together: a batch of any size may take a day."""
        # Within a budget they are few: claims go first, and a budget that ends with them has measured nothing.
        most, parts = (SAMPLES_OF_A_BATCH, 4) if self.limits.batch else (BATCH, 20)
        calls = self.budget.calls()
        return most if calls is None else int(max(1, min(most, calls / parts)))

    @property
    def name(self) -> str:
        """The name by which users request it."""
        return f"{self.provider}:{self.model}"

    @property
    def identity(self) -> Mapping[str, Any]:
        """Everything that affects its verdicts; no key, and no settings of speed."""
        at = {"url": self.service.url} if self.limits.by_address else {}
        given = {"given": dict(self.given)} if self.given else {}
        prompts = {"prompts": [CLAIMS, VERDICTS]}
        # The other pairs of a call may change a verdict, so fewer pairs a call count as another judge.
        fewer = {"pairs": self.limits.pairs} if self.limits.pairs != MOST_PAIRS else {}
        return {"kind": "model", "name": self.name, **self.known, **at, **given, **fewer, **prompts}

    @property
    def share_of_price(self) -> float:
        """The share of the usual price that its calls cost."""
        return BATCH_PRICE if self.limits.batch else 1.0

    @property
    def cost_so_far(self) -> str:
        """What stands beside the progress of a run."""
        spent = self.budget.spent
        return f"; {count(spent.calls, 'call')}{'' if spent.money is None else f', ${spent.money:.2f}'} so far"

    def body(self, call: Call) -> dict[str, Any]:
        """What is sent for a call."""
        return self.service.provider.body(self.model, call, self.given)

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Ask about every pair; each verdict is stored as soon as it arrives."""
        self.service.check()
        session = Session(self, keep)
        return run(settle_in_batches(session, groups) if self.limits.batch else session.settle(groups))

    def estimate(self, groups: Iterable[Sequence[Ask]]) -> Account:
        """The largest cost of asking, without asking."""
        account, limits = Account(), self.limits
        for call in (call for group in groups for call in calls_for(group, limits.canaries, limits.pairs)):
            account.add(Account(1, *sizes(call), bytes_sent=bytes_of(call)))
        whole = price(self.name, account.prompt_tokens, account.reply_tokens)
        account.money = None if whole is None else whole * self.share_of_price
        return account


def model_judge(spec: str, **options: Any) -> ModelJudge:
    """The judge `provider:MODEL`: anthropic, or openai and the services that speak its protocol, by their names.

    `base_url` is where the service is; `key_variable` names the environment variable with its key. The fields of
    Limits say how it is asked; what many services know (temperature, seed, top_p, reasoning_effort, max_tokens of a
    reply) and what stands in `extra` goes to the model, and is part of the judge's identity.
    """
    provider, _, model = spec.partition(":")
    if not model:
        raise UsageError(f"judge: got {spec!r}, expected provider:MODEL. Next: name one, like openai:MODEL.")
    service = service_of(provider, options.pop("base_url", None), options.pop("key_variable", None))
    limits, given = split(options)
    if limits.batch and not service.provider.batches:
        raise UsageError(f"batch: {provider} has no batches that rankproof knows. Next: leave batch out.")
    if limits.max_money is not None and price(spec, 1, 1) is None:
        raise UsageError(f"max_money: the price of {spec} is not known. Next: limit budget_tokens or max_calls.")
    return ModelJudge(provider, model, service, limits, given, Budget(spec, limits), Pace(most=limits.concurrency))


@dataclass
class Session:
    """Everything that one run needs; every pair reaches `keep` once, with a verdict or with the reason why not."""

    judge: ModelJudge
    keep: Keep
    hopeless: str = ""
    """Why no further call can succeed, once that is known."""
    account: Account = field(default_factory=Account)

    async def settle(self, groups: Iterable[Sequence[Ask]]) -> Account:
        """Ask about the pairs of each group."""
        self.judge.pace.open()
        calls = (call for group in groups for call in self.calls(group))
        async with self.judge.connect(self.judge) as line:
            # One call goes first: it shows which options the service refuses, before many calls are sent.
            await self._work(line, islice(calls, 1))
            try:
                async with asyncio.TaskGroup() as workers:
                    for _ in range(self.judge.limits.concurrency):
                        workers.create_task(self._work(line, calls))
            except BaseExceptionGroup as group:
                # What goes wrong here, as a ledger that is locked, all workers meet: one error, not many.
                raise group.exceptions[0] from None
        self.account.add(line.again)
        return self.account

    def calls(self, asks: Iterable[Ask], most: int | None = None) -> Iterator[Call]:
        """The calls for the pairs of one sample, with at most so many pairs in each."""
        limits = self.judge.limits
        return calls_for(asks, limits.canaries, limits.pairs if most is None else min(most, limits.pairs))

    async def _work(self, line: Line, calls: Iterable[Call]) -> None:
        """Take one call after the other: as many workers as calls may be under way keep memory flat."""
        for call in calls:
            await self._settle(line, call, self.judge.limits.again)

    async def _settle(self, line: Line, call: Call, again: int) -> None:
        """Settle the pairs of one call; those that its reply leaves open are asked again, without the others."""
        reply, problem = await self._ask(line, call)
        for part in self.take(call, reply, problem, again):
            await self._settle(line, part, again - 1)

    def take(self, call: Call, reply: Reply, problem: str, again: int) -> list[Call]:
        """Store the verdicts of a reply; other pairs go into further calls, or are given up."""
        problem = problem or reply.problem
        reading = Reading(open=dict.fromkeys(call.asks, problem)) if problem else read(call, reply.content)
        for each, times in (+reading.problems).items():
            self.account.note(each, times)
        self.account.failed -= bool(reading.values or reading.claims)  # as which it was booked
        self.keep(self._verdicts(call, reply, reading))
        if again and reading.open and reply is not NONE:
            most = max(1, len(reading.open) // 2) if reply.problem else None
            return list(self.calls(reading.open, most))
        if reading.open:
            for reason in reading.open.values():
                self.account.note(f"unmeasured: {reason}")
            self.keep([Unmeasured(ask, reason) for ask, reason in reading.open.items()])
        return []

    async def _ask(self, line: Line, call: Call) -> tuple[Reply, str]:
        need = sizes(call)
        if refused := self.hopeless or self.judge.budget.refuses(*need):
            return NONE, refused
        reply = NONE
        try:
            reply = await line.ask(call)
        except Failed as error:
            if isinstance(error, Hopeless):
                self.hopeless = str(error)
            return NONE, str(error)
        finally:
            self.book(call, need, reply)
        return reply, ""

    def book(self, call: Call, reserved: tuple[int, int], reply: Reply) -> None:
        """Write down what a call took."""
        taken = (reply.prompt_tokens, reply.reply_tokens)
        if reply is not NONE and not any(taken):  # a budget holds where the service counts nothing, too
            taken = (reserved[0], tokens_in(str(reply.content)))
        cost = self.judge.budget.book(reserved, *taken, self.judge.share_of_price)
        self.account.add(Account(1, reply.prompt_tokens, reply.reply_tokens, cost, bytes_sent=bytes_of(call), failed=1))

    def _verdicts(self, call: Call, reply: Reply, reading: Reading) -> list[Verdict]:
        batch = digest(call.body, size=6).hex()
        places = {ask: number for number, ask in enumerate(call.places.values(), start=1)}
        return [
            Verdict(
                *(ask, reading.values.get(ask), self.judge.name),
                quote=reading.quotes.get(ask, ""),
                items=reading.claims.get(ask, ()),
                origin={"prompt": call.prompt, "batch": batch, "model": reply.model, "place": places[ask]},
            )
            for ask in (*reading.values, *reading.claims)
        ]


CALLED = {"gemini": "google", "bedrock": "aws"}
"""The name of a provider in the list of prices, if it is another."""
USUAL_CALL = (2_000, 500)
"""Tokens that a call of a usual size sends and gets."""


@lru_cache(4096)
def price(model: str, prompt_tokens: int, reply_tokens: int) -> float | None:
    """US dollars for that many tokens of a model (`provider:name`); None if the price is not known."""
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    provider, _, name = model.partition(":")
    usage = Usage(input_tokens=prompt_tokens, output_tokens=reply_tokens)
    try:
        return float(calc_price(usage, model_ref=name, provider_id=CALLED.get(provider, provider)).total_price)
    except LookupError:
        return None


@dataclass
class Budget(Displayable):
    """What was spent so far, beside the limits."""

    model: str
    limits: ModelLimits = field(default_factory=ModelLimits)
    spent: Account = field(default_factory=Account)
    _under_way: list[tuple[int, int]] = field(default_factory=list)

    def calls(self) -> float | None:
        """About how many calls of a usual size it pays for; None if there is no limit."""
        limits, each = self.limits, price(self.model, *USUAL_CALL)
        costs = (limits.max_calls, 1), (limits.budget_tokens, sum(USUAL_CALL)), (limits.max_money, each)
        return min((limit / cost for limit, cost in costs if limit is not None and cost), default=None)

    def refuses(self, prompt_tokens: int, reply_tokens: int) -> str:
        """Why a call of that size cannot be afforded; empty if it can, and then it is under way."""
        waiting_prompt = sum(each[0] for each in self._under_way) + prompt_tokens
        waiting_reply = sum(each[1] for each in self._under_way) + reply_tokens
        used = self.spent.prompt_tokens + self.spent.reply_tokens
        if refused := self.refuses_to_send():
            return refused
        tokens, money = self.limits.budget_tokens, self.limits.max_money
        if tokens is not None and used + waiting_prompt + waiting_reply > tokens:
            return f"the budget of {tokens:,} tokens is spent"
        more = 0.0 if money is None else price(self.model, waiting_prompt, waiting_reply) or 0.0
        if money is not None and (self.spent.money or 0.0) + more > money:
            return f"the budget of ${money:g} is spent"
        self._under_way.append((prompt_tokens, reply_tokens))
        return ""

    def refuses_to_send(self) -> str:
        """Why nothing more can be sent; empty if it can."""
        most = self.limits.max_calls
        if most is None or self.spent.calls + len(self._under_way) + 1 <= most:
            return ""
        return f"the budget of {count(most, 'call')} is spent"

    def book(self, reserved: tuple[int, int], prompt_tokens: int, reply_tokens: int, share: float) -> float | None:
        """Write down what a call took in the end, and say what it cost."""
        self._under_way.remove(reserved)
        usual = price(self.model, prompt_tokens, reply_tokens)
        cost = None if usual is None else usual * share
        self.spent.add(Account(1, prompt_tokens, reply_tokens, cost))
        return cost
