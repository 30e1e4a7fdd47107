"""From pairs to what was said of them: looked up first, then asked, one judge of a cascade after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rankproof.judging.checking import checked
from rankproof.judging.keeping import Keeping, Said
from rankproof.judging.verdicts import Account, Ask, Judge, Keep, Unmeasured, Verdict
from rankproof.judging.watching import Tell, Watched
from rankproof.store.ledger import HUMAN


def settle(
    groups: Sequence[Sequence[Ask]], judges: Sequence[Judge], kept: Keeping, tell: Tell | None = None
) -> tuple[dict[Ask, Said], Account]:
    """What was said of each pair, and what it took; a judge gets only what those before it left open.

    `tell` hears which share of the groups is done; by the judge itself, where it has more to say.
    """
    said: dict[Ask, Said] = {}
    account = Account()
    for judge in judges:
        asks = _open(groups, judge, said)
        said |= {ask: each for ask, each in kept.find(asks, judge).items() if settled(each)}
        todo = once_each(groups, _open(groups, judge, said))
        if todo:
            taking = _taking(judge, {ask for part in todo for ask in part}, said, kept)
            try:
                add(account, judge.judge(_watched(todo, judge, tell), taking))
            finally:
                kept.flush()  # also when it is interrupted: what is paid for is not lost
    for ask in (ask for group in groups for ask in group):
        said.setdefault(ask, Unmeasured(ask, "no judge was asked"))
    return said, account


def _watched(todo: list[list[Ask]], judge: Judge, tell: Tell | None) -> Sequence[Sequence[Ask]]:
    """The groups, watched by whoever is to tell how far the judge is."""
    return todo if tell is None else Watched(todo, tell, getattr(judge, "tells", False))


def settled(said: Said | None) -> bool:
    """Whether there is a verdict."""
    return isinstance(said, Verdict)


def _open(groups: Iterable[Sequence[Ask]], judge: Judge, said: dict[Ask, Said]) -> list[Ask]:
    """The pairs without a verdict that the judge can judge, each once."""
    asks = dict.fromkeys(ask for group in groups for ask in group)
    can = getattr(judge, "relations", None)
    return [ask for ask in asks if not settled(said.get(ask)) and (can is None or ask.relation in can)]


def once_each(groups: Iterable[Sequence[Ask]], asks: Iterable[Ask]) -> list[list[Ask]]:
    """These pairs in their groups, each in the first that has it."""
    left = dict.fromkeys(asks)
    parts = ([ask for ask in group if left.pop(ask, ask) is None] for group in groups)
    return [part for part in parts if part]


def _taking(judge: Judge, wanted: Collection[Ask], said: dict[Ask, Said], kept: Keeping) -> Keep:
    """What a judge gives its verdicts to: they are checked, count at once, and are kept at once."""

    def keep(given: Sequence[Said]) -> None:
        found = [checked(each) for each in given if each.ask in wanted]
        said.update({each.ask: each for each in found})
        if worth := [each for each in found if _worth_keeping(each, judge)]:
            kept.keep(judge, worth)

    return keep


def _worth_keeping(said: Said, judge: Judge) -> bool:
    """Not what was only read back, nor that a person was not asked yet."""
    if getattr(judge, "reads_only", False):
        return False
    return settled(said) or judge.identity.get("kind") != HUMAN


def add(total: Account, part: Account) -> None:
    """Add one account to another; a price that is not known makes the sum unknown."""
    total.calls += part.calls
    total.prompt_tokens += part.prompt_tokens
    total.reply_tokens += part.reply_tokens
    total.bytes_sent += part.bytes_sent
    if part.money is not None:
        total.money = (total.money or 0.0) + part.money
    for problem, times in part.problems.items():
        total.problems[problem] = total.problems.get(problem, 0) + times
