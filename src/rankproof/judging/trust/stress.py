"""Does a verdict depend on the other pairs in a call? Every pair is asked again with others, and flips are counted.

Four ways: the pairs of a sample in another order, two samples in one call, each pair alone, and two claims
joined (which a text supports when it supports both, and contradicts when it contradicts either).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Any, Unpack

import numpy as np

from rankproof.core.arrays import by_key
from rankproof.core.defaults import DEFAULT_METRICS
from rankproof.document.formats import plain_data
from rankproof.document.model import Document, Paragraph, Part, Result
from rankproof.document.numbers import count, for_face
from rankproof.errors import DataError, check_whole
from rankproof.judging.judge import Judge
from rankproof.judging.metrics.registry import Asked, parse_all
from rankproof.judging.models import UnseededArguments
from rankproof.judging.run import JudgeRun, asks_of, settle
from rankproof.judging.samples import read_samples
from rankproof.judging.trust.agreement import count_changed
from rankproof.judging.verdicts import Account, Ask, InMemory, Relation, Verdict
from rankproof.stats.judge_error import Share, share_of

Groups = Sequence[Sequence[Ask]]
Said = Mapping[Ask, int]


def _together(groups: Groups, rng: np.random.Generator) -> Groups:
    mixed = [groups[i] for i in rng.permutation(len(groups))]
    return [[ask for group in mixed[i : i + 2] for ask in group] for i in range(0, len(mixed), 2)]


WAYS: Mapping[str, Callable[[Groups, np.random.Generator], Groups]] = {
    "asked again": lambda groups, rng: groups,
    # Of the pairs of each sample, and with them of the texts in a call.
    "in another order": lambda groups, rng: [[group[i] for i in rng.permutation(len(group))] for group in groups],
    "with another sample": _together,
    "each by itself": lambda groups, rng: [[ask] for group in groups for ask in group],
}


def _merged(groups: Groups, before: Said) -> tuple[Groups, dict[Ask, tuple[Ask, Ask]]]:
    """Neighbouring claims about one text made one, with the pairs that each is made of."""
    parts: dict[Ask, tuple[Ask, Ask]] = {}
    found = []
    for group in groups:
        texts = by_key((ask.right, ask) for ask in group if ask.relation == Relation.TEXT_SUPPORTS)
        made = {
            Ask(Relation.TEXT_SUPPORTS, f"{a.left.strip()} {b.left.strip()}", a.right): (a, b)
            for asks in texts.values()
            for a, b in pairwise(asks)
            if a in before and b in before
        }
        parts |= made
        found.append(list(made))
    return [group for group in found if group], parts


MOST = 100
"""Samples that are asked about if nobody says otherwise; the same again for each way."""
COMPANY = ("in another order", "with another sample", "each by itself")
"""The ways of asking again that change what stands beside a pair."""


@dataclass(frozen=True)
class Stress(Result):
    """The flips of a judge: for each way of asking again and each relation the share that changed."""

    judge: str
    samples: int
    rates: dict[str, dict[str, Share]]
    lost: dict[str, int]
    """For each way the pairs that had a verdict in only one of both."""
    account: Account

    @property
    def flips(self) -> dict[str, int]:
        """For each way how many verdicts changed."""
        return {way: sum(each.yes for each in rates.values()) for way, rates in self.rates.items()}

    def _counted(self, way: str) -> tuple[int, int]:
        rates = self.rates.get(way, {}).values()
        return sum(each.yes for each in rates) + self.lost.get(way, 0), sum(each.n for each in rates)

    @property
    def remedy(self) -> str:
        """What to do about verdicts that change, in words."""
        again, n = self._counted("asked again")
        counts = {way: self._counted(way)[0] for way in COMPANY if way in self.rates and n > 0}
        # 2.4 standard errors: as three ways are looked at, at most one judge in forty is accused by chance.
        swayed = [way for way, yes in counts.items() if yes - again > 2.4 * math.sqrt(yes + again + 1)]
        if swayed:
            return (
                f"Company sways this judge ({', '.join(swayed)}: more changes than when it is asked the same again). "
                f"Next: ask about fewer pairs a call ({for_face('', '--set ')}pairs=20), or one by one (pairs=1); "
                "'rankproof judge --trial' says how many it bears."
            )
        if n and again > n / 100:
            options = for_face("temperature=0, seed=1", "--set temperature=0 --set seed=1")
            return (
                "It says other things when asked the same again, so this is chance, not company. "
                f"Next: give it a temperature of 0 and a seed ({options}), if the service knows them; fewer pairs a "
                "call would not help."
            )
        return "Company does not sway it as far as these samples show; nothing to fix."

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**plain_data(self), "remedy": self.remedy}

    def _document(self) -> Document:
        from rankproof.judging.trust.words import flip_records, flips

        opening = f"{self.judge}, asked again about {count(self.samples, 'sample')}: how many verdicts changed."
        missing = [f"{way} {n:,}" for way, n in self.lost.items() if n]
        told = [f"With a verdict in only one of both: {', '.join(missing)}.", ""] if missing else []
        part = Part(Paragraph(opening), flips("asked", self.rates), *map(Paragraph, [*told, self.remedy]))
        return Document(f"Stress of {self.judge}", [part], flip_records(self.rates), self.to_dict())

    def _in_one_line(self) -> str:
        return f"<Stress of {self.judge} over {count(self.samples, 'sample')}: {self.flips}>"


def stress(
    samples: Any,
    metrics: Asked | None = None,
    *,
    judge: Any = "lexical",
    n: int = MOST,
    seed: int = 0,
    **options: Unpack[UnseededArguments],
) -> Stress:
    """Ask a judge again about the first `n` samples: in another order, with another sample, each pair alone,
    and with two claims joined; nothing is kept. A judge by rules can flip only in the last of these.

    >>> rows = [{"question": "What is red?", "contexts": ["The rose is red."], "reference": "The rose is red."}]
    >>> stress(rows, "context_recall").flips["in another order"]
    0
    """
    n, seed = check_whole("n", n), check_whole("seed", seed, 0)
    asking = Judge(judge, **options)
    groups = _groups(asking, samples, DEFAULT_METRICS if metrics is None else metrics, n)
    account = Account()

    def values(asked: Groups) -> Said:
        """What the judges say of every pair that they settle; nothing is kept, nor looked up."""
        said, took = settle(asked, asking.judges, InMemory())
        account.add(took)
        return {a: v.value for a, v in said.items() if isinstance(v, Verdict) and v.value is not None}

    before, rng = values(groups), np.random.default_rng(seed)
    ways = {way: (before, values(again(groups, rng))) for way, again in WAYS.items()}
    merged, parts = _merged(groups, before)
    if merged:
        # Whether what is said of two claims as one follows from what is said of each: the least of both.
        expected = {ask: min(before[each] for each in two) for ask, two in parts.items()}
        ways["two claims made one"] = expected, values(merged)
    if not any(chain.from_iterable(ways.values())):
        why = f", as {next(iter(account.problems)).removeprefix('unmeasured: ')}" if account.problems else ""
        raise DataError(
            f"{asking.name}: settled none of {count(sum(map(len, groups)), 'pair')}{why}, so nothing can be said of "
            "it. Next: look at what the judge answers."
        )
    rates, lost = {}, {}
    for way, (before, after) in ways.items():
        changed = count_changed((ask, before[ask] != after[ask]) for ask in before.keys() & after.keys())
        rates[way] = {relation: share_of(*counts) for relation, counts in sorted(changed.items())}
        lost[way] = len(before.keys() ^ after.keys())
    return Stress(asking.name, len(groups), rates, lost, account)


def _groups(asking: Judge, samples: Any, metrics: Asked, n: int) -> list[list[Ask]]:
    """What each sample asks, claims apart: those are the same in every way."""
    run = JudgeRun(parse_all(metrics), asking.judges, InMemory())
    judged = run.judge_samples(islice(read_samples(samples), n))
    groups = [
        [ask for ask in asks_of(each.case, run.metrics) if ask.relation != Relation.TEXT_CLAIMS] for each in judged
    ]
    if not any(groups):
        raise DataError("the metrics ask no judge about these samples. Next: name metrics like context_recall.")
    return groups
