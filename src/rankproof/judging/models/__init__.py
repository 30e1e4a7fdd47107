"""Judges that are language models: requests, replies, transport; and here the options of such a judge.

Timeouts, tries and concurrency are ours; options that many services know are sent with every call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from rankproof.document.model import Displayable
from rankproof.document.numbers import for_face
from rankproof.errors import UsageError, WrongCall, check_number, check_whole
from rankproof.net.retries import Retries
from rankproof.suggestions import nearest

MOST_PAIRS = 200
"""Pairs judged in one call by default."""
MOST_AT_ONCE = 1000
MOST_SECONDS = 1e6
"""Of a wait, eleven days: clocks of sockets overflow not far beyond."""


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
    """Calls that are sent, at most; one that is sent again counts again."""
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

    base_url: str | None
    key_variable: str | None
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
"""Tokens that no model gives in one reply: who limits a reply to more means the whole run."""


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
            how = for_face(f"extra={{{name!r}: ...}}", f"--set extra.{name}=...")
            raise WrongCall(
                f"{name}: no option of a judge.{nearest(name, ModelArguments.__annotations__)} Next: check its "
                f"spelling; options of the service itself go into {how}."
            )
    for name in extra:
        if name in OURS:
            raise UsageError(f"extra: {name!r} is set by the call itself. Next: leave it out.")
    sent = {name: value for name, value in {**sent, **extra}.items() if value is not None}
    if "max_tokens" in sent:
        advice = "give the most tokens of a reply; budget_tokens limits the whole run"
        check_whole("max_tokens", sent["max_tokens"], 1, LONGEST_REPLY, advice=advice)
    return _checked(ModelLimits(**own)), sent


def _checked(found: ModelLimits) -> ModelLimits:
    for name, least, most in (("pairs", 1, None), ("concurrency", 1, MOST_AT_ONCE), ("again", 0, None)):
        check_whole(name, getattr(found, name), least, most)
    check_number("tries", found.tries, above=0)
    check_number("timeout", found.timeout, above=0)
    for name in ("timeout", "pause", "poll"):
        check_number(name, getattr(found, name), least=0, most=MOST_SECONDS)
    for name in ("canaries", "by_address"):  # a word such as "no" would count as yes
        if not isinstance(getattr(found, name), bool):
            raise UsageError(f"{name}: got {getattr(found, name)!r}, expected True or False. Next: write one of them.")
    if isinstance(found.batch, str) and found.batch.strip().lower() in ("", "yes", "no", "on", "off", "true", "false"):
        raise UsageError(f"batch: got {found.batch!r}, expected True, False or an id. Next: write one of them.")
    for name in ("max_calls", "budget_tokens", "max_money"):
        if getattr(found, name) is not None:
            check_number(name, getattr(found, name), least=0)
    return found


def _check_no_secret(options: Mapping[str, Any]) -> None:
    for name in options:
        if str(name).lower().replace("-", "_") in ("api_key", "key", "token", "authorization", "password"):
            raise UsageError(
                f"{name}: keys are taken from the environment only. Next: set OPENAI_API_KEY or that of the service, "
                f"or name the variable with key_variable=.{nearest(str(name), ['key_variable'])}"
            )
