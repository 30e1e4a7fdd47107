"""People as judges: their verdicts are read from the ledger, and asked for where somebody is there to answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.judging.judges.replies import said_of
from rankproof.judging.verdicts import Account, Ask, Keep, Unmeasured
from rankproof.store.ledger import HUMAN

UNASKED = "no human has judged it"


@dataclass(frozen=True, slots=True)
class HumanJudge:
    """One person. `reply` is asked for each pair that is not in the ledger; None: nobody is there."""

    who: str
    reply: Callable[[Ask], Any] | None = None
    relations: tuple[str, ...] = ("R", "S", "P", "Q", "A")

    @property
    def name(self) -> str:
        """human:NAME."""
        return f"{HUMAN}:{self.who}"

    @property
    def identity(self) -> Mapping[str, Any]:
        """Who it is."""
        return {"kind": HUMAN, "name": self.who}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Ask for each pair, and keep each verdict at once: a person's minute is never lost."""
        account = Account()
        for ask in (ask for group in groups for ask in group):
            reply = None if self.reply is None else self.reply(ask)
            account.calls += self.reply is not None
            keep([Unmeasured(ask, UNASKED) if reply is None else said_of(ask, reply, self.name)])
        return account


def human_judge(who: str, reply: Callable[[Ask], Any] | None = None) -> HumanJudge:
    """The judge of that name."""
    return HumanJudge(who, reply)
