"""Where verdicts are kept between being given and being counted: in a ledger's file, or in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from itertools import islice
from time import monotonic
from typing import Protocol

from rankproof.judging.verdicts import Ask, Judge, Unmeasured, Verdict, checked
from rankproof.store.ledger import HUMAN, Entry, Given, Ledger

Said = Verdict | Unmeasured
MOMENT = 0.2
"""Seconds: what a judge says within them is written down together."""
MOST = 10_000
"""Verdicts remembered where there is no ledger, so that memory stays flat over any number of samples."""
DEAR = ("model", HUMAN)
"""The kinds of judges whose verdicts were paid for, in money or time: each is on the disk before the next is asked."""


class Keeping(Protocol):
    """Finds what was said, and keeps what is said."""

    def find(self, asks: Iterable[Ask], judge: Judge) -> dict[Ask, Said]:
        """What the judge (or a human) said of these pairs."""

    def keep(self, judge: Judge, said: Sequence[Said]) -> None:
        """Take down what the judge said."""

    def flush(self) -> None:
        """See to it that all that was taken down stays."""


class InMemory:
    """Verdicts of this process alone, the latest ones."""

    def __init__(self) -> None:
        self._said: dict[tuple[int, Ask], Said] = {}
        self._lock = threading.Lock()

    def find(self, asks: Iterable[Ask], judge: Judge) -> dict[Ask, Said]:
        """What the judge said of these pairs."""
        keys = {ask: (id(judge), ask) for ask in asks}
        return {ask: self._said[key] for ask, key in keys.items() if key in self._said}

    def keep(self, judge: Judge, said: Sequence[Said]) -> None:
        """Remember what the judge said, and forget the oldest where it becomes too much."""
        with self._lock:
            self._said |= {(id(judge), each.ask): each for each in said}
            for oldest in list(islice(self._said, max(0, len(self._said) - MOST))):
                del self._said[oldest]

    def flush(self) -> None:
        """Nothing of it outlives the process."""


class InLedger:
    """Verdicts in a file that outlives the process and can be shared."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._waiting: list[tuple[Judge, Sequence[Said]]] = []
        self._written = 0.0
        self._open = ExitStack()
        self._take: Callable[[Iterable[Given]], None] | None = None
        self._lock = threading.Lock()

    def find(self, asks: Iterable[Ask], judge: Judge) -> dict[Ask, Said]:
        """What the judge said of these pairs, and before it what humans said."""
        wanted = {(ask.relation, ask.left, ask.right): ask for ask in asks}
        found = self.ledger.find(wanted, judge.identity)
        return {wanted[key]: said_in(entry, wanted[key]) for key, entry in found.items()}

    def keep(self, judge: Judge, said: Sequence[Said]) -> None:
        """Write down what the judge said: at once, or with what a quick judge says in the same moment."""
        with self._lock:
            self._waiting.append((judge, said))
            if judge.identity.get("kind") in DEAR or monotonic() - self._written >= MOMENT:
                self._write()

    def flush(self) -> None:
        """Write down what still waits, and close the file."""
        with self._lock:
            try:
                self._write()
            finally:
                self._take = None
                self._open.close()

    def _write(self) -> None:
        """Write down what waits; it waits on where that fails."""
        if not self._waiting:
            return
        if self._take is None:
            self._take = self._open.enter_context(self.ledger.writer())
        self._take(
            (judge.identity, judge.name, [entry_of(each, judge.name) for each in said])
            for judge, said in self._waiting
        )
        self._waiting = []
        self._written = monotonic()


def said_in(entry: Entry, ask: Ask) -> Said:
    """A line of the ledger as a verdict, or as the reason why there is none."""
    if entry.reason:
        return Unmeasured(ask, entry.reason)
    origin = {**entry.origin, "at": entry.at}
    return checked(
        Verdict(ask, entry.value, entry.judge, entry.probability, entry.quote, entry.items, origin)
    )


def entry_of(said: Said, judge: str) -> Entry:
    """A verdict, or the reason why there is none, as a line of the ledger."""
    ask = said.ask
    if isinstance(said, Unmeasured):
        return Entry(ask.relation, ask.left, ask.right, judge, reason=said.reason or "no reason was given")
    origin = {key: value for key, value in said.origin.items() if key != "at"}
    return Entry(
        *(ask.relation, ask.left, ask.right, said.judge),
        value=said.value,
        probability=said.probability,
        quote=said.quote,
        items=said.items,
        origin=origin,
    )
