"""Verdicts that stand in the ledger already: of people, and of earlier runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.errors import UsageError, nearest
from rankproof.judging.judges.called import said_of
from rankproof.judging.keeping import said_in
from rankproof.judging.verdicts import Account, Ask, Judge, Keep, Unmeasured
from rankproof.store.ledger import HUMAN, Ledger

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


MISSING = "not in the ledger"


@dataclass(frozen=True, slots=True)
class Replay:
    """What one judge said before."""

    ledger: Ledger
    recorded: Mapping[str, Any]
    """The identity of the judge that is replayed."""
    replays: str
    """Its name."""
    reads_only: bool = True
    """What it says is in the ledger already."""

    @property
    def name(self) -> str:
        """The name of the judge whose verdicts these are: a replay gives no verdicts of its own."""
        return self.replays

    @property
    def identity(self) -> Mapping[str, Any]:
        """That of the judge replayed, so that scores compare with those made then."""
        return self.recorded

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Look up each pair; what is not there stays unmeasured."""
        for group in groups:
            keys = {(ask.relation, ask.left, ask.right): ask for ask in group}
            before = {("C", "", ask.right): ask for ask in group if ask.relation == "C"}
            found = self.ledger.find([*keys, *before], self.recorded)
            # Claims that were asked for without their question, as earlier versions did, serve as well.
            for key, ask in before.items():
                if key in found:
                    found.setdefault((ask.relation, ask.left, ask.right), found[key])
            keep(
                [
                    said_in(found[key], ask) if key in found else Unmeasured(ask, MISSING)
                    for key, ask in keys.items()
                ]
            )
        return Account()


def replayed(name: str, ledger: Ledger | None) -> list[Judge]:
    """The judges of the one run in the ledger, or those that are named as they were then."""
    if ledger is None:
        raise UsageError(
            "judge 'replay': needs the ledger to replay. Next: name it with ledger= or --ledger."
        )
    known, runs = ledger.identities(), _runs(ledger)
    if name:
        names = [part.strip() for part in name.split(">")]
    elif len(runs) == 1:
        names = list(runs[0])
    else:
        raise UsageError(
            f"judge 'replay': {ledger.path} holds {len(runs) or 'no'} runs"
            f"{''.join(f', {chr(39)}replay:{chr(62).join(run)}{chr(39)}' for run in runs)}, expected one. "
            "Next: name the one to replay."
        )
    for each in names:
        if each not in known:
            raise UsageError(
                f"judge 'replay:{name}': {ledger.path} has no verdicts of {each!r}, only of {', '.join(known)}."
                f"{nearest(each, known)}"
                " Next: name one of these."
            )
    return [Replay(ledger, known[each], each) for each in names]


def _runs(ledger: Ledger) -> list[tuple[str, ...]]:
    """The judges of each run by name; where no run was recorded, each machine for itself."""
    judges = ledger.judges()
    names = {str(each["identity"]): each["name"] for each in judges}
    runs = [tuple(names[str(each)] for each in run if str(each) in names) for run in ledger.runs()]
    alone: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}
    for each in judges:
        alone[each["human"]].append((each["name"],))
    return list(dict.fromkeys(run for run in runs if run)) or alone[False] or alone[True]
