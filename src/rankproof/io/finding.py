"""The judged documents among rankings that are dicts, looked up on whichever side it takes less."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from typing import Any, NamedTuple, cast

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.io.ids import as_given, judged_kinds
from rankproof.io.numbers import packed

Ranking = dict[Any, Any]
LookUp = Callable[[Any, int], int]
"""Which judgment a document is, of those of one query; the second argument where it is none."""

WORTH = 2
"""With so many judged documents for each listed one, it is the listed that are looked up."""


class Found(NamedTuple):
    """Judged documents among some rankings."""

    ranking: Array
    judged: Array
    score: Array


@dataclass(frozen=True, eq=False, slots=True)
class Finder:
    """Looks for the documents of some judgments in one run after the other."""

    judgments: Judgments
    docs: Sequence[Any]
    """The judged documents as the user wrote them."""
    again: bool
    """Whether these judgments met a run before: then more will come, and what helps them is worth making."""

    def find(self, rankings: list[Ranking], first: int, length: Array, score: Array) -> Found:
        """The judged documents among the rankings of some queries, from the query `first` on."""
        start = self.judgments.start[first : first + len(rankings) + 1]
        judged = start[-1] - start[0]
        if self.again and judged >= WORTH * len(score):
            some = self._look_ups()[first : first + len(rankings)]
            return _listed_among_judged(rankings, length, score, some)
        if judged > len(score):
            _bring_ids(rankings)
        return _judged_among_listed(rankings, start, self.docs)

    def _look_ups(self) -> list[LookUp]:
        """The look-up of each query, made once for all runs."""
        known = self.judgments.prepared
        key = f"look-ups of {'integers' if judged_kinds(self.judgments)[1] else 'text'}"
        if key not in known:
            ends = self.judgments.start.tolist()
            known[key] = [
                dict(zip(self.docs[begin:end], range(begin, end), strict=True)).get
                for begin, end in pairwise(ends)
            ]
        return cast(list[LookUp], known[key])


def finder(judgments: Judgments) -> Finder:
    """What finds the judged documents of one more run."""
    again = "met a run" in judgments.prepared
    judgments.prepared["met a run"] = True
    return Finder(judgments, as_given(judgments.docs, judged_kinds(judgments)[1]), again)


def _judged_among_listed(rankings: list[Ranking], start: Array, docs: Sequence[Any]) -> Found:
    counts = start[1:] - start[:-1]
    wanted = chain.from_iterable(map(repeat, rankings, counts.tolist()))
    score = packed(list(map(dict.get, wanted, docs[start[0] : start[-1]], repeat(np.nan))))
    hit = (score == score).nonzero()[0]
    return Found(np.arange(len(rankings)).repeat(counts).take(hit), hit + start[0], score.take(hit))


def _listed_among_judged(
    rankings: list[Ranking], length: Array, score: Array, look_ups: list[LookUp]
) -> Found:
    found = chain.from_iterable(map(map, look_ups, rankings, repeat(repeat(-1))))
    judged = np.fromiter(found, dtype=np.intp, count=len(score))
    row = (judged >= 0).nonzero()[0]
    return Found(np.arange(len(rankings)).repeat(length).take(row), judged.take(row), score.take(row))


def _bring_ids(rankings: list[Ranking]) -> None:
    """Touch every id in the order of the rankings, which is mostly that of memory: look-ups in another order,
    where there are many, then find them in the processor's cache."""
    list(chain.from_iterable(rankings))
