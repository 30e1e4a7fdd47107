"""How a model is asked: patience, tries, calls at once, what may be spent."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankproof.display import Displayable
from rankproof.errors import UsageError, nearest

MOST_PAIRS = 200
"""Pairs judged in one call, where nobody asks for fewer."""


@dataclass(frozen=True)
class Limits(Displayable):
    """How a model is asked."""

    timeout: float = 120.0
    """Seconds that one call may take."""
    tries: int = 6
    """How often a call is sent before it is given up."""
    pause: float = 0.5
    """Seconds before a call is sent again, doubled each time; what the service asks for goes before."""
    again: int = 1
    """How often what is missing or wrong in a reply is asked again."""
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


SENT = (
    *("temperature", "seed", "top_p", "top_k", "min_p", "reasoning_effort", "thinking", "verbosity"),
    *("max_tokens", "max_completion_tokens", "frequency_penalty", "presence_penalty", "service_tier"),
    *("response_format", "tool_choice"),
)
"""Options that many services know; they are sent as they are."""
OURS = ("model", "messages", "system", "tools")
"""What a call says itself."""
LONGEST_REPLY = 200_000
"""Tokens that no model gives in one reply: who limits a reply to more means the budget of the run."""


def split(options: Mapping[str, Any]) -> tuple[Limits, dict[str, Any]]:
    """How a model is asked, and what is sent to it with the texts; an option that neither is is an error."""
    own = {name: value for name, value in options.items() if name in Limits.__dataclass_fields__}
    sent = {name: value for name, value in options.items() if name not in own and name != "extra"}
    extra = options.get("extra") or {}
    if not isinstance(extra, Mapping):
        raise UsageError(f"extra: got {extra!r}, expected a mapping. Next: write extra={{'top_a': 0.2}}.")
    _check_no_secret({**sent, **extra})
    for name in sent:
        if name not in SENT:
            known = (*Limits.__dataclass_fields__, *SENT, "base_url", "key_variable", "extra")
            raise UsageError(
                f"{name}: no option of a judge.{nearest(name, known)} Next: check its spelling; what is the service's "
                f"own goes into extra={{'{name}': ...}} (--set extra.{name}=...)."
            )
    for name in extra:
        if name in OURS:
            raise UsageError(f"extra: {name!r} is what a call says itself. Next: leave it out.")
    sent = {name: value for name, value in {**sent, **extra}.items() if value is not None}
    return _checked(Limits(**{**own, **_budget(sent)})), sent


def _budget(sent: dict[str, Any]) -> dict[str, int]:
    """The budget that `max_tokens` was once, taken out of what is sent, where it can be nothing else."""
    if "max_tokens" not in sent:
        return {}
    tokens = sent["max_tokens"]
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
        raise UsageError(
            f"max_tokens: got {tokens!r}, expected the most tokens of a reply. Next: give a whole number."
        )
    if tokens <= LONGEST_REPLY:
        return {}
    warnings.warn(
        f"max_tokens limits one reply, and {tokens:,} is more than any has; it is taken for the budget of the run. "
        "Next: write budget_tokens.",
        stacklevel=2,
    )
    return {"budget_tokens": sent.pop("max_tokens")}


def _checked(found: Limits) -> Limits:
    if isinstance(found.pairs, bool) or not isinstance(found.pairs, int) or found.pairs < 1:
        raise UsageError(
            f"pairs: got {found.pairs!r}, expected a whole number of at least 1. Next: give one, like 20."
        )
    for name in ("timeout", "tries", "concurrency", "max_calls", "budget_tokens", "max_money"):
        given = getattr(found, name)
        if given is None and name in ("max_calls", "budget_tokens", "max_money"):
            continue
        if (
            isinstance(given, bool)
            or not isinstance(given, int | float)
            or given < 0
            or (not given and name in STEPS)
        ):
            least = "above 0" if name in STEPS else "from 0 on"
            raise UsageError(f"{name}: got {given!r}, expected a number {least}. Next: give such a number.")
    return found


STEPS = ("timeout", "tries", "concurrency")


def _check_no_secret(options: Mapping[str, Any]) -> None:
    for name in options:
        if str(name).lower().replace("-", "_") in ("api_key", "key", "token", "authorization", "password"):
            raise UsageError(
                f"{name}: keys are taken from the environment only. Next: set OPENAI_API_KEY or that of the service, "
                f"or name the variable with key_variable=.{nearest(str(name), ['key_variable'])}"
            )
