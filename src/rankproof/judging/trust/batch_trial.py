"""Does asking about many pairs together cost accuracy? Labelled pairs that come with rankproof, asked in both ways.

The pairs are in `trial-1.txt`, each with the verdict of a careful reader. What a model said of them is kept in the
ledger under a judge of its own, apart from what it said of the user's texts, so that nothing is asked twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from rankproof.judging.models.calls import MOST_TEXTS, Call, calls_for
from rankproof.judging.models.judge import ModelJudge
from rankproof.judging.run import add, settle
from rankproof.judging.trust.agreement import Afresh, is_yes
from rankproof.judging.verdicts import (
    Account,
    Ask,
    InMemory,
    Keep,
    Keeping,
    Relation,
    Said,
    Unmeasured,
    Verdict,
    pair_in,
    verdict_in,
)
from rankproof.store.ledger import Ledger

PAIRS = "trial-1"
"""The name of the pairs; its number is part of the key under which verdicts on them are kept."""
TRIAL = "trial"
VALUE = {"+": 1, "0": 0, "-": -1}
ANSWERED = {"+": 3, "-": 0, "?": -1}
NONE = "none"
"""The value for a pair without a verdict: never right."""
SAID_BY_A_REPLY = (
    *("missing from the reply", "given twice", "got ", "no quote shows it", "the quote "),
    *("a check of the judge failed", "the reply ", "the model refused"),
)
"""How reasons begin that are due to the model; pairs that failed due to the connection are asked again."""


@dataclass(frozen=True)
class TrialCase:
    """A question with texts, and what is right of each pair."""

    name: str
    language: str
    subject: str
    truth: Mapping[Ask, int]
    texts: int


@cache
def cases(name: str = PAIRS) -> tuple[TrialCase, ...]:
    """The labelled pairs, case by case."""
    text = files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    blocks = (block.splitlines() for block in text.split("\n\n"))
    return tuple(_case(block) for block in blocks if block[0].startswith("case "))


def _case(lines: Sequence[str]) -> TrialCase:
    called, language, about = lines[0].removeprefix("case ").split(", ", 2)
    marked = [line.partition(" ")[::2] for line in lines[1:]]
    question = next(rest for mark, rest in marked if mark == "?")
    texts = [(rest, mark[1]) for mark, rest in marked if mark[0] == "t"]
    truth: dict[Ask, int] = {}
    for text, mark in texts:
        truth[Ask(Relation.CONTEXT_ANSWERS, question, text)] = 3 if mark == "+" else 0
        for marks, claim in (rest.split(" ", 1) for letter, rest in marked if letter == "c"):
            truth[Ask(Relation.TEXT_SUPPORTS, claim, text)] = VALUE[marks[texts.index((text, mark))]]
    truth |= {
        Ask(Relation.STATEMENT_BEARS, question, rest): int(mark[1] == "+") for mark, rest in marked if mark[0] == "s"
    }
    truth |= {
        Ask(Relation.ANSWER_ADDRESSES, question, rest): ANSWERED[mark[1]] for mark, rest in marked if mark[0] == "a"
    }
    return TrialCase(called, language, about.partition(":")[0], truth, len(texts))


def groups_of(listed: Iterable[TrialCase]) -> list[list[Ask]]:
    """The pairs as samples with as many contexts as go into a call would need them."""
    groups: list[list[Ask]] = []
    texts = MOST_TEXTS
    for case in listed:
        if texts + case.texts > MOST_TEXTS:
            groups.append([])
            texts = 0
        groups[-1] += case.truth
        texts += case.texts
    return groups


def kind(ask: Ask, value: int | None) -> str:
    """The meaning of a value, in the words by which agreement is counted."""
    if value is None:
        return NONE
    return "yes" if is_yes(ask.relation, value) else "otherwise" if value < 0 else "no"


# --- asking ---------------------------------------------------------------------------------------------


@dataclass
class TrialResult:
    """A model that is asked about the labelled pairs, so many a call; kept apart from what it says else."""

    model: ModelJudge
    pairs: int

    def __post_init__(self) -> None:
        self.model = replace(self.model, limits=replace(self.model.limits, pairs=self.pairs))

    @property
    def name(self) -> str:
        """Its name in the ledger."""
        return f"{self.model.name} ({TRIAL}, pairs={self.pairs})"

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, the pairs, and how many go into a call."""
        own = {key: value for key, value in self.model.identity.items() if key != "pairs"}
        canaries = {} if self.model.limits.canaries else {"canaries": False}
        return {"kind": TRIAL, "name": self.name, "of": own, "set": PAIRS, "pairs": self.pairs, **canaries}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Ask the model."""
        return self.model.judge(groups, keep)

    def calls(self, groups: Iterable[Sequence[Ask]]) -> list[Call]:
        """The calls that it takes, if nothing is asked again."""
        return [c for group in groups for c in calls_for(group, self.model.limits.canaries, self.pairs)]


@dataclass
class TrialOutcome:
    """The verdicts on the pairs in one way of asking, and their cost."""

    pairs: int
    values: dict[Ask, int]
    reasons: dict[Ask, str]
    account: Account = field(default_factory=Account)
    asked: int = 0
    """Pairs that were asked just now, not found in the ledger."""


def ask_all(tried: TrialResult, groups: Sequence[Sequence[Ask]], ledger: Ledger | None) -> TrialOutcome:
    """The verdicts of the model. Pairs in the ledger, and pairs that a reply left out, are not asked again."""
    known, before = _known(ledger, tried)
    todo = [part for group in groups if (part := [ask for ask in group if ask not in known])]
    asked = [ask for part in todo for ask in part]
    kept: Keeping = InMemory() if ledger is None else Afresh(ledger)
    found, account = settle(todo, [tried], kept) if todo else ({}, Account())
    if asked and ledger is not None:
        first = asked[0]
        # Write down with the first pair what asking took, so that a second trial can say so.
        took = {name: getattr(account, name) for name in Account.__dataclass_fields__}
        for entry in ledger.entries(tried.identity):
            if entry.key == tuple(first):
                own = replace(entry, origin={**entry.origin, "took": took}, identity={})
                ledger.keep(tried.identity, tried.name, [own])
    add(account, before)
    said = {**known, **found}
    return TrialOutcome(
        tried.pairs,
        {ask: e.value for ask, e in said.items() if isinstance(e, Verdict) and e.value is not None},
        {ask: each.reason for ask, each in said.items() if isinstance(each, Unmeasured)},
        account,
        len(asked),
    )


def _known(ledger: Ledger | None, tried: TrialResult) -> tuple[dict[Ask, Said], Account]:
    """The verdicts that the ledger has of such a trial, and their cost at that time."""
    found: dict[Ask, Said] = {}
    account = Account()
    for entry in () if ledger is None else ledger.entries(tried.identity):
        if not entry.reason or entry.reason.startswith(SAID_BY_A_REPLY):
            found[pair_in(entry)] = verdict_in(entry, pair_in(entry))
        if took := entry.origin.get("took"):
            add(account, Account(**took))
    return found, account


# --- places ---------------------------------------------------------------------------------------------


def thirds(calls: Iterable[Call]) -> dict[str, dict[Ask, int]]:
    """For each pair in which third of its call it stands (0 to 2): by its text, and in the list of pairs."""
    found: dict[str, dict[Ask, int]] = {"of the texts": {}, "of the list": {}}
    of_texts = (Relation.CONTEXT_ANSWERS, Relation.TEXT_SUPPORTS)
    for call in calls:
        own = set(call.asks)
        listed = [ask for ask in _listed(call) if ask in own]
        texts = list(
            dict.fromkeys(
                ask.right for ask in call.asks if ask.relation in (Relation.CONTEXT_ANSWERS, Relation.TEXT_SUPPORTS)
            )
        )
        for place, ask in enumerate(listed):
            found["of the list"][ask] = 3 * place // len(listed)
            if ask.relation in of_texts:
                found["of the texts"][ask] = 3 * texts.index(ask.right) // len(texts)
    return found


def _listed(call: Call) -> Iterator[Ask]:
    """The pairs in the order in which the model reads them."""
    for relation, groups in json.loads(call.body)["pairs"].items():
        for lefts, rights in groups.items():
            yield from (call.places[relation, a, b] for a in lefts.split() for b in rights.split())
