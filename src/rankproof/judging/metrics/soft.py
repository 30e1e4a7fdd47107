"""Soft verdicts: a yes with a probability. What a metric makes of them is its expectation.

What a judge says of one claim by several contexts, or of several contexts for one question, hangs together: four that
say "perhaps" are no proof. So such verdicts fall together, a likelier one wherever a less likely one does, and of
several the strongest counts. Groups of them fall apart from each other, and so do all single verdicts if a case says
that they are independent. A metric is the mean over all ways in which they may fall. Up to `EXACT` ways are all gone
through. Of more, `DRAWS` are drawn, spread evenly over the probability of every group, so that sums are hit almost
exactly; the same pair falls alike everywhere.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import prod
from typing import cast

import numpy as np

from rankproof.judging.case import Case
from rankproof.judging.keeping import Said
from rankproof.judging.verdicts import PLAIN_YES, Ask, Verdict
from rankproof.store.ledger import pair_of

EXACT = 64
"""Ways that are all gone through."""
DRAWS = 64
"""Ways that are drawn where there are more."""
TOGETHER = ("R", "S", "P")
"""Relations of which one left text is asked of several contexts that are about the same thing."""


def ways_to_fall(case: Case, soft: Sequence[Verdict], by: str = "left") -> Iterator[tuple[float, Case]]:
    """The case with each soft verdict fallen one way, and the weight of that way.

    Verdicts fall together that have the same claim, or `by="right"` the same context.
    """
    said = cast(dict[Ask, Said], case.said)
    groups: dict[object, list[Verdict]] = {}
    for each in soft:
        ask = each.ask
        apart = case.independent or ask.relation not in TOGETHER
        shared = ask.right if by == "right" and ask.relation in ("S", "P") else ask.left
        groups.setdefault(ask if apart else (ask.relation, shared), []).append(each)
    falls = [_falls(each) for each in groups.values()]
    ways = _all(falls) if prod(map(len, falls)) <= EXACT else _drawn(list(groups.values()))
    for weight, yes in ways:
        hard: dict[Ask, Said] = {each.ask: _fallen(each, each.ask in yes) for each in soft}
        yield weight, Case(case.sample, ChainMap(hard, said), case.k, independent=case.independent)


def _fallen(soft: Verdict, yes: bool) -> Verdict:
    return Verdict(soft.ask, PLAIN_YES[soft.ask.relation] if yes else 0, soft.judge)


def _falls(group: Sequence[Verdict]) -> list[tuple[float, frozenset[Ask]]]:
    """The ways in which verdicts fall together: each with its weight, and those that fall to yes."""
    steps = sorted({0.0, 1.0, *(each.probability or 0.0 for each in group)})
    return [
        (high - low, frozenset(each.ask for each in group if (each.probability or 0.0) >= high))
        for low, high in pairwise(steps)
    ]


def _all(
    falls: Sequence[Sequence[tuple[float, frozenset[Ask]]]],
) -> Iterator[tuple[float, frozenset[Ask]]]:
    for way in product(*falls):
        yield prod(weight for weight, _ in way), frozenset[Ask]().union(*(yes for _, yes in way))


def _drawn(groups: Sequence[Sequence[Verdict]]) -> Iterator[tuple[float, frozenset[Ask]]]:
    """A Latin hypercube: every group meets each part of its probability once, in an order of its own."""
    places = (np.arange(DRAWS) + 0.5) / DRAWS
    columns = [_order(group[0].ask).permutation(places).tolist() for group in groups]
    for drawn in zip(*columns, strict=True):
        yield (
            1 / DRAWS,
            frozenset(
                each.ask
                for group, place in zip(groups, drawn, strict=True)
                for each in group
                if place < (each.probability or 0.0)
            ),
        )


def _order(ask: Ask) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(pair_of((ask.relation, ask.left, ask.right))))
