"""How a retriever is to be asked: how many questions at once, how long to wait, how often to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from rankproof.bench.adapters import Adapted
from rankproof.document.display import Displayable
from rankproof.errors import UsageError, check_number, check_whole, nearest
from rankproof.net.retries import Retries


class Limits(TypedDict, total=False):
    """What can be said about how a retriever is to be asked."""

    concurrency: int
    """Questions asked at once: threads, or tasks where the retriever is async. [1; async and endpoints 8]"""
    timeout: float | None
    """Seconds after which a question has failed, whatever it does. [60; endpoints 30]"""
    retries: int
    """How often a failed question is asked again. [0; endpoints 2]"""
    backoff: float
    """Seconds before it is asked again; doubled every time. [0.5]"""
    rate: float | None
    """Calls a second at most."""
    warm_up: int
    """How many questions are asked first without being counted. [0]"""


@dataclass(frozen=True, slots=True)
class Plan(Displayable):
    """The limits, all of them settled."""

    concurrency: int = 1
    timeout: float | None = 60.0
    retries: int = 0
    backoff: float = 0.5
    rate: float | None = None
    warm_up: int = 0
    batch: int | None = 32
    """Questions in one call of a retriever that takes several; None: all."""
    splits: bool = True
    """Whether a batch that failed is asked again question by question."""

    def patience(self, questions: int) -> float | None:
        """Seconds to wait for so many questions in one call."""
        return None if self.timeout is None else self.timeout * questions

    @property
    def retrying(self) -> Retries:
        """How often, and after how long, a failed question is asked again."""
        return Retries(self.retries + 1, self.backoff)


def plan_for(retriever: Adapted, limits: Mapping[str, Any]) -> Plan:
    """What was asked for, else what the retriever's owner says, else what is usual."""
    known = [each.name for each in fields(Plan) if each.name != "splits"]
    for name in limits:
        if name not in known:
            raise UsageError(
                f"unknown setting {name!r}.{nearest(name, known)} Next: use one of {', '.join(known)}."
            )
    usual = {"concurrency": 8} if retriever.awaited else {}
    # A command is started anew for every call: asked question by question, it would be started as often.
    splits = retriever.limits.get("batch", 0) is not None
    return _checked(Plan(**{**usual, **retriever.limits, **limits, "splits": splits}))


def _checked(plan: Plan) -> Plan:
    check_whole("concurrency", plan.concurrency, 1)
    check_whole("retries", plan.retries, 0)
    check_whole("warm_up", plan.warm_up, 0)
    if plan.batch is not None:
        check_whole("batch", plan.batch, 1)
    for name in ("timeout", "rate"):
        if getattr(plan, name) is not None:
            check_number(name, getattr(plan, name), above=0)
    if plan.backoff != 0:
        check_number("backoff", plan.backoff, above=0)
    return plan
