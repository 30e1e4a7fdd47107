"""How a model is asked: patience, tries, calls at once; what tokens cost and what may be spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypedDict

from rankproof.document.model import Displayable
from rankproof.errors import UsageError, WrongCall, check_number, check_whole, nearest, warn_caller
from rankproof.judging.verdicts import Account
from rankproof.net import Retries

CALLED = {"gemini": "google", "bedrock": "aws"}
"""The name of a provider in the list of prices, if it is another."""


@lru_cache(4096)
def price(model: str, prompt_tokens: int, reply_tokens: int) -> float | None:
    """US dollars for that many tokens of a model (`provider:name`); None if the price is not known."""
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    provider, _, name = model.partition(":")
    provider = CALLED.get(provider, provider)
    try:
        usage = Usage(input_tokens=prompt_tokens, output_tokens=reply_tokens)
        return float(calc_price(usage, model_ref=name, provider_id=provider).total_price)
    except LookupError:
        return None


def tokens_in(text: str) -> int:
    """About how many tokens a text has, rather too many: a quarter of its ASCII characters, all of the others.

    >>> tokens_in("twelve chars"), tokens_in("検索")
    (4, 3)
    """
    plain = len(text.encode("ascii", "ignore"))
    return plain // 4 + len(text) - plain + 1


@dataclass
class Budget(Displayable):
    """The limits, and what was spent so far; None means no limit."""

    model: str
    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    """In US dollars."""
    spent: Account = field(default_factory=Account)
    _under_way: list[tuple[int, int]] = field(default_factory=list)

    def refuses(self, prompt_tokens: int, reply_tokens: int) -> str:
        """Why a call of that size cannot be afforded; empty if it can, and then it is under way."""
        waiting_prompt = sum(each[0] for each in self._under_way) + prompt_tokens
        waiting_reply = sum(each[1] for each in self._under_way) + reply_tokens
        used = self.spent.prompt_tokens + self.spent.reply_tokens
        if self.calls is not None and self.spent.calls + len(self._under_way) >= self.calls:
            return f"the budget of {self.calls:,} calls is spent"
        if self.tokens is not None and used + waiting_prompt + waiting_reply > self.tokens:
            return f"the budget of {self.tokens:,} tokens is spent"
        if self.money is not None:
            more = price(self.model, waiting_prompt, waiting_reply) or 0.0
            if (self.spent.money or 0.0) + more > self.money:
                return f"the budget of ${self.money:g} is spent"
        self._under_way.append((prompt_tokens, reply_tokens))
        return ""

    def book(
        self, reserved: tuple[int, int], prompt_tokens: int, reply_tokens: int, share: float = 1.0
    ) -> float | None:
        """Write down what a call took in the end, and say what it cost."""
        self._under_way.remove(reserved)
        self.spent.calls += 1
        self.spent.prompt_tokens += prompt_tokens
        self.spent.reply_tokens += reply_tokens
        usual = price(self.model, prompt_tokens, reply_tokens)
        cost = None if usual is None else usual * share
        if cost is not None:
            self.spent.money = (self.spent.money or 0.0) + cost
        return cost


MOST_PAIRS = 200
"""Pairs judged in one call by default."""


@dataclass(frozen=True)
class ModelLimits(Displayable):
    """How a model is asked."""

    timeout: float = 120.0
    """Seconds that one call may take."""
    tries: int = 6
    """How often a call is sent before it is given up."""
    pause: float = 0.5
    """Seconds before a call is sent again, doubled each time; longer where the service asks for more."""
    again: int = 1
    """How often pairs that are missing or wrong in a reply are asked again."""
    concurrency: int = 64
    """Calls under way at once, at most."""
    pairs: int = MOST_PAIRS
    """Pairs judged in one call, at most; 1 asks one by one."""
    canaries: bool = True
    """Whether pairs with a known answer ride along, as an alarm."""
    max_calls: int | None = None
    budget_tokens: int | None = None
    """Tokens of the whole run, sent and got."""
    max_money: float | None = None
    """In US dollars."""
    batch: bool | str = False
    """Whether to use the service's batches: half the price, within a day; or the id of one to go on with."""
    poll: float = 30.0
    """Seconds between two looks at a batch."""
    by_address: bool = False
    """Whether the same model at another address is another judge."""

    @property
    def retries(self) -> Retries:
        """How often, and after how long, a call is sent again."""
        return Retries(self.tries, self.pause)


class SentArguments(TypedDict, total=False):
    """Options that many services know; they are sent unchanged."""

    temperature: float | None
    top_p: float | None
    top_k: int | None
    min_p: float | None
    reasoning_effort: str | None
    thinking: Mapping[str, Any] | None
    verbosity: str | None
    max_tokens: int | None
    max_completion_tokens: int | None
    frequency_penalty: float | None
    presence_penalty: float | None
    service_tier: str | None
    response_format: Any
    tool_choice: Any


class UnseededArguments(SentArguments, total=False):
    """Every option of a judge that is a model but its seed, which some functions have for themselves."""

    base_url: str | Mapping[str, str] | None
    key_variable: str | Mapping[str, str] | None
    extra: Mapping[str, Any] | None
    timeout: float
    tries: int
    pause: float
    again: int
    concurrency: int
    pairs: int
    canaries: bool
    max_calls: int | None
    budget_tokens: int | None
    max_money: float | None
    batch: bool | str
    poll: float
    by_address: bool


class ModelArguments(UnseededArguments, total=False):
    """Every option of a judge that is a model."""

    seed: int | None


class ChatArguments(ModelArguments, total=False):
    """The options of a model in hand; `model` is the name that is sent with each call."""

    model: str | None


SENT = ("seed", *SentArguments.__annotations__)
OURS = ("model", "messages", "system", "tools")
"""The size of a call itself."""
LONGEST_REPLY = 200_000
"""Tokens that no model gives in one reply: who limits a reply to more means the budget of the run."""


def split(options: Mapping[str, Any]) -> tuple[ModelLimits, dict[str, Any]]:
    """How a model is asked, and what is sent to it with the texts; an option that neither is is an error."""
    own = {name: value for name, value in options.items() if name in ModelLimits.__dataclass_fields__}
    sent = {name: value for name, value in options.items() if name not in own and name != "extra"}
    extra = options.get("extra") or {}
    if not isinstance(extra, Mapping):
        raise UsageError(f"extra: got {extra!r}, expected a mapping. Next: write extra={{'top_a': 0.2}}.")
    _check_no_secret({**sent, **extra})
    for name in sent:
        if name not in SENT:
            raise WrongCall(
                f"{name}: no option of a judge.{nearest(name, ModelArguments.__annotations__)} Next: check its "
                f"spelling; options of the service itself go into extra={{'{name}': ...}} (--set extra.{name}=...)."
            )
    for name in extra:
        if name in OURS:
            raise UsageError(f"extra: {name!r} is set by the call itself. Next: leave it out.")
    sent = {name: value for name, value in {**sent, **extra}.items() if value is not None}
    return _checked(ModelLimits(**{**own, **_budget(sent)})), sent


def _budget(sent: dict[str, Any]) -> dict[str, int]:
    """`max_tokens` as the budget that it once was, if it can mean nothing else; it is not sent then."""
    if "max_tokens" not in sent:
        return {}
    tokens = check_whole("max_tokens", sent["max_tokens"], advice="give the most tokens of a reply")
    if tokens <= LONGEST_REPLY:
        return {}
    warn_caller(
        f"max_tokens limits one reply, and {tokens:,} is more than any has; it is taken for the budget of the run. "
        "Next: write budget_tokens."
    )
    return {"budget_tokens": sent.pop("max_tokens")}


def _checked(found: ModelLimits) -> ModelLimits:
    check_whole("pairs", found.pairs, advice="give one, like 20")
    for name in ("timeout", "tries", "concurrency", "max_calls", "budget_tokens", "max_money"):
        given = getattr(found, name)
        if given is not None or name not in ("max_calls", "budget_tokens", "max_money"):
            check_number(name, given, least=None if name in STEPS else 0, above=0 if name in STEPS else None)
    return found


STEPS = ("timeout", "tries", "concurrency")


def _check_no_secret(options: Mapping[str, Any]) -> None:
    for name in options:
        if str(name).lower().replace("-", "_") in ("api_key", "key", "token", "authorization", "password"):
            raise UsageError(
                f"{name}: keys are taken from the environment only. Next: set OPENAI_API_KEY or that of the service, "
                f"or name the variable with key_variable=.{nearest(str(name), ['key_variable'])}"
            )
