"""What judging would ask, before anything is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from rankproof.display import Displayable
from rankproof.judging.case import Case
from rankproof.judging.keeping import InMemory
from rankproof.judging.run import Run, batches
from rankproof.judging.samples.sample import Sample
from rankproof.judging.settling import add, once_each, settle, settled
from rankproof.judging.verdicts import Account, Ask


@dataclass(slots=True)
class Plan(Displayable):
    """How many pairs samples have, how many are in the ledger already, and what asking the rest may take."""

    judge: str
    samples: int = 0
    known: int = 0
    asks: Counter[str] = field(default_factory=Counter)
    """How many pairs are to be asked, by relation."""
    account: Account | None = None
    """Calls, tokens and money at most, where the judge can say so."""

    def __str__(self) -> str:
        listed = ", ".join(f"{relation} {count:,}" for relation, count in sorted(self.asks.items()))
        total = self.asks.total()
        said = f"{self.samples:,} samples; {self.known:,} pairs are known, {total:,} to ask of {self.judge}"
        return f"{said}{f' ({listed})' if listed else ''}. {self._cost()}".strip()

    def _cost(self) -> str:
        if self.account is None:
            return ""
        money = "the price is not known" if self.account.money is None else f"${self.account.money:.4f}"
        tokens = f"{self.account.prompt_tokens:,} + {self.account.reply_tokens:,} tokens"
        return f"At most about {self.account.calls:,} calls, {tokens}, {money}."


def plan(run: Run, samples: Iterable[Sample]) -> Plan:
    """Count what a run would ask; texts that the judge would split into claims are split by rules here.

    What a judge of a cascade settles for nothing is settled, so that only the rest is asked of those after it.
    """
    found = Plan(">".join(each.name for each in run.judges))
    for batch in map(run.made_whole, batches(samples, run.judges)):
        cases = [Case(each, k=run.k) for each in batch]
        groups = [
            [*c, *rest] for c, rest in zip(run.groups(cases, True), run.groups(cases, False), strict=True)
        ]
        _count(found, run, groups)
        found.samples += len(batch)
    return found


def _count(found: Plan, run: Run, groups: list[list[Ask]]) -> None:
    asks = dict.fromkeys(ask for group in groups for ask in group)
    known = {ask for judge in run.judges for ask, said in run.kept.find(asks, judge).items() if settled(said)}
    todo = once_each(groups, [ask for ask in asks if ask not in known])
    found.known += len(known)
    found.asks.update(ask.relation for group in todo for ask in group)
    for judge in run.judges:
        estimate = getattr(judge, "estimate", None)
        if estimate is not None:
            found.account = found.account or Account()
            add(found.account, estimate(todo))
        elif getattr(judge, "free", False):
            said, _ = settle(todo, [judge], InMemory())
            todo = once_each(todo, [ask for ask, each in said.items() if not settled(each)])
