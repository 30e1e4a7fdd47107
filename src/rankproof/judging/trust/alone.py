"""What a machine says by itself: beside what people said of the same pairs, and not in its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rankproof.judging.keeping import InLedger, Said
from rankproof.judging.settling import settle
from rankproof.judging.trust.labels import people
from rankproof.judging.verdicts import Ask, Judge
from rankproof.store.ledger import HUMAN, Ledger


class Afresh(InLedger):
    """Keeps verdicts in a ledger, and finds none there: everything is asked."""

    def find(self, asks: Iterable[Ask], judge: Judge) -> dict[Ask, Said]:
        """Nothing."""
        return {}


class Nowhere:
    """Finds nothing and keeps nothing: for asking what must leave no trace."""

    def find(self, asks: Iterable[Ask], judge: Judge) -> dict[Ask, Said]:
        """Nothing."""
        return {}

    def keep(self, judge: Judge, said: Sequence[Said]) -> None:
        """Forget it."""

    def flush(self) -> None:
        """Nothing waits to be written."""


def settle_alone(groups: Iterable[Sequence[Ask]], judges: Sequence[Judge], ledger: Ledger) -> None:
    """Ask machines about the pairs that people judged, where no machine was asked because people had."""
    labelled = {Ask(*each.key) for each in people(ledger)}
    asking = [each for each in judges if each.identity.get("kind") != HUMAN]
    if not labelled or not asking:
        return
    known = {Ask(*each.key) for judge in asking for each in ledger.entries(judge.identity)}
    todo = [part for group in groups if (part := [a for a in group if a in labelled and a not in known])]
    if todo:
        settle(todo, asking, Afresh(ledger))
