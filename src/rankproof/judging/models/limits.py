"""How a model is asked: patience, tries, calls at once, what may be spent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
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
