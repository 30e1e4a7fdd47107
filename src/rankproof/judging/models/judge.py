"""The judge that asks a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankproof.display import Displayable
from rankproof.errors import UsageError
from rankproof.judging.judges.loop import run
from rankproof.judging.models.asking import Call, calls_for
from rankproof.judging.models.batches import BATCH_PRICE, SAMPLES_OF_A_BATCH, settle_in_batches
from rankproof.judging.models.budget import Budget
from rankproof.judging.models.limits import MOST_PAIRS, Limits, split
from rankproof.judging.models.pace import Pace
from rankproof.judging.models.prices import price
from rankproof.judging.models.providers import Service, service_of
from rankproof.judging.models.session import Connect, Session, over_http, sizes, written
from rankproof.judging.prompts import CLAIMS, VERDICTS
from rankproof.judging.verdicts import Account, Ask, Keep


@dataclass(frozen=True)
class ModelJudge(Displayable):
    """A model that is asked, sample by sample, with as few calls as can be."""

    provider: str
    model: str
    service: Service = field(repr=False)
    limits: Limits = field(default_factory=Limits)
    given: Mapping[str, Any] = field(default_factory=dict)
    """What is sent beside the texts: temperature, seed and the like."""
    budget: Budget = field(default_factory=lambda: Budget(""), repr=False, compare=False)
    pace: Pace = field(default_factory=lambda: Pace(Limits.concurrency), repr=False, compare=False)
    dropped: set[str] = field(default_factory=set, repr=False, compare=False)
    """What the service was found to refuse, as a temperature: it is not sent any more."""
    connect: Connect = field(default=over_http, repr=False, compare=False)
    """How it is reached."""
    known: Mapping[str, Any] = field(default_factory=dict)
    """What else tells it from another model of that name."""
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
        # What stands beside a pair may sway a verdict: fewer pairs a call are asked for to have other verdicts.
        fewer = {"pairs": self.limits.pairs} if self.limits.pairs != MOST_PAIRS else {}
        return {"kind": "model", "name": self.name, **self.known, **at, **given, **fewer, **prompts}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Ask about every pair; what is settled is kept as soon as it is."""
        self.service.check()
        asked = Session(
            *(self.name, self.service, self.model, self.given, self.limits, self.budget, self.pace, keep),
            tell=getattr(groups, "tell", None),
            dropped=self.dropped,
            connect=self.connect,
        )
        return run(settle_in_batches(asked, groups) if self.limits.batch else asked.settle(groups))

    def estimate(self, groups: Iterable[Sequence[Ask]]) -> Account:
        """What asking would take at most, without asking."""
        account = Account(money=0.0 if price(self.name, 1, 1) is not None else None)
        for call in self._calls(groups):
            prompt, reply = sizes(call)
            account.calls += 1
            account.prompt_tokens += prompt
            account.reply_tokens += reply
            account.bytes_sent += len(written(call).encode("utf-8", "replace"))
        if account.money is not None:
            whole = price(self.name, account.prompt_tokens, account.reply_tokens) or 0.0
            account.money = whole * (BATCH_PRICE if self.limits.batch else 1.0)
        return account

    def _calls(self, groups: Iterable[Sequence[Ask]]) -> Iterator[Call]:
        limits = self.limits
        return (call for group in groups for call in calls_for(group, limits.canaries, limits.pairs))


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
        raise UsageError(f"batch: {provider} has no batches that are known here. Next: leave batch out.")
    if limits.max_money is not None and price(spec, 1, 1) is None:
        raise UsageError(
            f"max_money: the price of {spec} is not known. Next: limit budget_tokens or max_calls instead."
        )
    budget = Budget(spec, limits.max_calls, limits.budget_tokens, limits.max_money)
    return ModelJudge(provider, model, service, limits, given, budget, Pace(limits.concurrency))
