"""Questions to a judge, its verdicts, and their store until they are counted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from numbers import Real
from time import monotonic
from typing import Any, NamedTuple, NoReturn, Protocol, cast

from rankproof.document.model import Displayable
from rankproof.errors import one_of, shorten
from rankproof.store.ledger import HUMAN, Given, Ledger, LedgerEntry
from rankproof.text.words import digest

SUPPORTS, SILENT, CONTRADICTS = 1, 0, -1
"""What a text says about a claim."""
ABSTAINS = -1
"""The value of an answer that says it has none."""


class Relation(StrEnum):
    """How the two texts of a pair are related; ledgers and your own judges use the letters.

    >>> Relation.TEXT_SUPPORTS == "S", Relation("R").name
    (True, 'CONTEXT_ANSWERS')
    """

    CONTEXT_ANSWERS = "R"
    """How well a chunk (right) answers a question (left)."""
    TEXT_SUPPORTS = "S"
    """What a text (right) says about a claim (left)."""
    TEXT_SUPPORTS_IN_PART = "P"
    """How much of a claim (left) a text (right) supports: nothing, a part, all."""
    STATEMENT_BEARS = "Q"
    """Whether a statement (right) bears on a question (left)."""
    ANSWER_ADDRESSES = "A"
    """How far an answer (right) addresses a question (left)."""
    TEXT_CLAIMS = "C"
    """The claims that a text (right) makes; its verdict holds them as `items`."""

    def __repr__(self) -> str:
        return f"Relation.{self.name}"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise one_of("relation", value, map(str, cls))


VALUES: dict[Relation, tuple[int, ...]] = {
    Relation.CONTEXT_ANSWERS: (0, 1, 2, 3),
    Relation.TEXT_SUPPORTS: (CONTRADICTS, SILENT, SUPPORTS),
    Relation.TEXT_SUPPORTS_IN_PART: (0, 1, 2),
    Relation.STATEMENT_BEARS: (0, 1),
    Relation.ANSWER_ADDRESSES: (ABSTAINS, 0, 1, 2, 3),
    Relation.TEXT_CLAIMS: (),
}
"""The values of each relation."""


WITH_VALUES = tuple(relation for relation, values in VALUES.items() if values)
"""The relations that are judged by a value."""
WITHOUT_PARTS = tuple(each for each in WITH_VALUES if each != Relation.TEXT_SUPPORTS_IN_PART)
"""Those of them that are judged unless grades of support are asked for."""
PLAIN_YES = {relation: max(VALUES[relation]) for relation in WITH_VALUES}
"""What a plain yes means under each relation; a plain no is 0."""
YES = 2
"""The grade from which a chunk holds an answer, and an answer addresses its question."""
SOFT = "soft"
"""The mark, in a verdict's origin, of one that is a probability and nothing else."""


def is_yes(relation: Relation, value: int) -> bool:
    """Whether a value says yes: a grade of at least 2, or the highest value of its relation.

    >>> is_yes("R", 2), is_yes("S", -1)
    (True, False)
    """
    return value >= min(YES, PLAIN_YES[Relation(relation)])


class Ask(NamedTuple):
    """One pair to be judged."""

    relation: Relation
    left: str
    right: str


def lot(pair: tuple[str, str, str], seed: int, what: str = "random") -> float:
    """The number of a pair, from 0 to 1, as if drawn by lot: it follows from its texts and the seed."""
    return int.from_bytes(digest(f"{seed} {what} ", digest(*pair), size=8)) / 2**64


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one judge says of one pair, and where that comes from."""

    ask: Ask
    value: int | None
    """One of the relation's values; None for C."""
    judge: str
    """Who said so, as people call it: 'lexical', 'openai:MODEL', 'human:ana'."""
    probability: float | None = None
    """How sure the judge is of a yes (R at least 2, S supports, Q 1, A at least 2), if it says so."""
    quote: str = ""
    """The words of the right text that show it."""
    items: tuple[str, ...] = ()
    """The claims, for C."""
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Provenance: batch, position in it, prompt version, the model's fingerprint, when."""

    @property
    def soft(self) -> bool:
        """Whether it is a probability alone, which metrics count by; its value is then the likelier one."""
        return self.probability is not None and bool(self.origin.get(SOFT))


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A pair that stays without a verdict, and why."""

    ask: Ask
    reason: str
    probability: float | None = field(default=None, repr=False, compare=False)
    """How likely a yes is nevertheless, if the judge says so."""


@dataclass(slots=True)
class Account(Displayable):
    """The cost of judging: calls, tokens, money, time and problems."""

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    money: float | None = None
    """In US dollars; None if the price is not known."""
    problems: dict[str, int] = field(default_factory=dict)
    """What went wrong on the way, in words, with how often."""
    bytes_sent: int = 0
    """Of instructions, texts and schemas, to models."""
    failed: int = 0
    """Calls whose reply, if there was one, settled nothing."""

    def add(self, part: Account) -> None:
        """Add another account; one that costs nothing adds no money, and one of unknown price makes the sum unknown."""
        paid = [each.money for each in (self, part) if each.prompt_tokens or each.money is not None]
        self.money = None if not paid or None in paid else sum(each or 0.0 for each in paid)
        for name in ("calls", "prompt_tokens", "reply_tokens", "bytes_sent", "failed"):
            setattr(self, name, getattr(self, name) + getattr(part, name))
        for problem, times in part.problems.items():
            self.note(problem, times)

    def note(self, problem: str, times: int = 1) -> None:
        """Count what went wrong."""
        self.problems[problem] = self.problems.get(problem, 0) + times


Keep = Callable[[Sequence[Verdict | Unmeasured]], None]
"""Takes what a judge has settled as soon as it has it, so that an interruption loses nothing."""


class Judge(Protocol):
    """Anything that settles pairs."""

    @property
    def name(self) -> str:
        """What reports call it."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that shapes its verdicts: kind, model, parameters, prompt version. Never a key to a service."""

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Settle each pair of each group, a group being what one sample needs; every pair reaches `keep` once."""


def check_verdict(said: Verdict | Unmeasured) -> Verdict | Unmeasured:
    """The verdict if it is one.

    >>> from rankproof.judging.verdicts import Ask, Relation
    >>> check_verdict(Verdict(Ask(Relation.STATEMENT_BEARS, "why?", "since"), 7, "some judge")).reason
    'got 7, expected one of 0, 1'
    """
    problem = "" if isinstance(said, Unmeasured) else _problem(said)
    return Unmeasured(said.ask, problem) if problem else said


def _problem(said: Verdict) -> str:
    relation, value, probability = said.ask.relation, said.value, cast(Any, said.probability)
    if relation == Relation.TEXT_CLAIMS:
        fine = all(isinstance(each, str) and each.strip() for each in said.items)
        return "" if fine else f"got {shorten(said.items)}, expected claims"
    if isinstance(value, bool) or not isinstance(value, int) or value not in VALUES[relation]:
        return f"got {shorten(value)}, expected one of {', '.join(map(str, VALUES[relation]))}"
    number = isinstance(probability, Real) and not isinstance(probability, bool)
    if probability is not None and not (number and 0 <= probability <= 1):
        return f"got {shorten(probability)}, expected a probability from 0 to 1"
    shown = isinstance(said.quote, str) and said.quote in said.ask.right
    return "" if shown else f"the quote {shorten(said.quote)} is not in the text"


Said = Verdict | Unmeasured
MOMENT = 0.2
"""Seconds. The verdicts that a judge gives within them are written together."""
MOST = 10_000
"""Verdicts remembered if there is no ledger, so that memory stays flat over any number of samples."""
DEAR = ("model", HUMAN)
"""The kinds of judges whose verdicts were paid for, in money or time: each is on the disk before the next is asked."""


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
        wanted = list(asks)
        found = self.ledger.find(wanted, judge.identity)
        return {ask: verdict_in(found[ask], ask) for ask in wanted if ask in found}

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
            (judge.identity, judge.name, [entry_of(each, judge.name) for each in said]) for judge, said in self._waiting
        )
        self._waiting = []
        self._written = monotonic()


Keeping = InMemory | InLedger
"""Looks up earlier verdicts, and keeps new ones."""


def pair_in(entry: LedgerEntry) -> Ask:
    """The pair that a line of the ledger is about."""
    return Ask(Relation(entry.relation), entry.left, entry.right)


def verdict_in(entry: LedgerEntry, ask: Ask) -> Said:
    """A line of the ledger as a verdict, or as the reason why there is none."""
    if entry.reason:
        return Unmeasured(ask, entry.reason)
    origin = {**entry.origin, "at": entry.at}
    return check_verdict(Verdict(ask, entry.value, entry.judge, entry.probability, entry.quote, entry.items, origin))


def entry_of(said: Said, judge: str) -> LedgerEntry:
    """A verdict, or the reason why there is none, as a line of the ledger."""
    ask = said.ask
    if isinstance(said, Unmeasured):
        return LedgerEntry(ask.relation, ask.left, ask.right, judge, reason=said.reason or "no reason was given")
    return LedgerEntry(
        *(ask.relation, ask.left, ask.right, said.judge),
        value=said.value,
        probability=said.probability,
        quote=said.quote,
        items=said.items,
        origin={key: value for key, value in said.origin.items() if key != "at"},
    )
