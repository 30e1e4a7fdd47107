"""One person's way through a pool: what comes next, and what each decision does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rankproof.bench.testset.labels import GRADED, SKIPPED, UNDONE, Label
from rankproof.bench.testset.orders import ORDERS
from rankproof.bench.testset.pool import Item, Pool
from rankproof.errors import UsageError, one_of


@dataclass
class Session:
    """Where a person stands in a pool; every decision goes through `keep` at once.

    >>> from rankproof.bench.testset.pool import pooled
    >>> kept = []
    >>> session = Session(pooled({"keyword": {"q": ["a", "b"]}}, depth=2), "ana", {}, kept.append)
    >>> session.next(), session.grade(2), session.next()
    (Item(query='q', document='a'), None, Item(query='q', document='b'))
    >>> session.undo(), session.next(), [label.what for label in kept]
    (Item(query='q', document='a'), Item(query='q', document='a'), ['graded', 'undone'])
    """

    pool: Pool
    who: str
    own: dict[Item, Label]
    """What this person has decided so far."""
    keep: Callable[[Label], None]
    highest: int = 3
    """The best grade."""
    clock: Callable[[], str] = lambda: ""
    """Says when a decision is made."""

    def __post_init__(self) -> None:
        if self.pool.order not in ORDERS:
            raise one_of("order", self.pool.order, ORDERS)

    def next(self) -> Item | None:
        """What is to be judged now: the questions in turn, one finished before the next; None at the end."""
        return next((item for query in self.pool.ranks if (item := self._next_of(query))), None)

    def _next_of(self, query: str) -> Item | None:
        decided = self._decided(query)
        if self.pool.per_query is not None and len(decided) >= self.pool.per_query:
            return None
        document = ORDERS[self.pool.order](self.pool.ranks[query], decided)
        return None if document is None else Item(query, document)

    def _decided(self, query: str) -> dict[str, int]:
        """The grades of a query's documents; what was skipped counts as not relevant for what comes next."""
        ranks = self.pool.ranks[query]
        return {
            item.document: label.grade or 0
            for item, label in self.own.items()
            if item.query == query and item.document in ranks
        }

    def grade(self, grade: int) -> None:
        """Give what is next a grade."""
        if not 0 <= grade <= self.highest:
            raise UsageError(
                f"grade: got {grade}, expected a whole number from 0 to {self.highest}."
                " Next: press one of these."
            )
        self._decide(GRADED, grade)

    def skip(self) -> None:
        """Leave what is next to others: it gets no grade from this person."""
        self._decide(SKIPPED, None)

    def undo(self) -> Item | None:
        """Take the last decision back; what it was about comes next again. None where there is none."""
        if not self.own:
            return None
        item, _ = self.own.popitem()
        self.keep(Label(*item, self.who, UNDONE, None, self.clock()))
        return item

    def _decide(self, what: str, grade: int | None) -> None:
        item = self.next()
        if item is None:
            raise UsageError("everything in the pool is judged. Next: make a deeper pool.")
        label = Label(*item, self.who, what, grade, self.clock())
        self.keep(label)
        self.own[item] = label

    @property
    def done(self) -> int:
        """How many of the pool's items need nothing more from this person."""
        return sum(min(len(self._decided(query)), self._asked(query)) for query in self.pool.ranks)

    def _asked(self, query: str) -> int:
        size = len(self.pool.ranks[query])
        return size if self.pool.per_query is None else min(size, self.pool.per_query)
