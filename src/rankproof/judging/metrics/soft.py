"""Soft verdicts: a yes with a probability. What a metric makes of them is its expectation.

Each soft verdict falls to yes or no by its own probability, apart from the others; a metric is the mean over all ways
in which they may fall. Up to `EXACT` ways are all gone through. Of more, `DRAWS` are drawn, spread evenly over the
probability of every single verdict, so that sums are hit almost exactly; the same pair falls alike everywhere.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Sequence
from itertools import product
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


def ways_to_fall(case: Case, soft: Sequence[Verdict]) -> Iterator[tuple[float, Case]]:
    """The case with each soft verdict fallen one way, and the weight of that way."""
    said = cast(dict[Ask, Said], case.said)
    sides = [(_fallen(each, False), _fallen(each, True)) for each in soft]
    for weight, fallen in _all(soft) if 2 ** len(soft) <= EXACT else _drawn(soft):
        hard: dict[Ask, Said] = {
            each.ask: side[yes] for each, side, yes in zip(soft, sides, fallen, strict=True)
        }
        yield weight, Case(case.sample, ChainMap(hard, said), case.k)


def _fallen(soft: Verdict, yes: bool) -> Verdict:
    return Verdict(soft.ask, PLAIN_YES[soft.ask.relation] if yes else 0, soft.judge)


def _all(soft: Sequence[Verdict]) -> Iterator[tuple[float, Sequence[bool]]]:
    chances = [each.probability or 0.0 for each in soft]
    for fallen in product((False, True), repeat=len(soft)):
        yield prod(p if yes else 1 - p for p, yes in zip(chances, fallen, strict=True)), fallen


def _drawn(soft: Sequence[Verdict]) -> Iterator[tuple[float, Sequence[bool]]]:
    """A Latin hypercube: every verdict meets each part of its probability once, in an order of its own."""
    places = (np.arange(DRAWS) + 0.5) / DRAWS
    columns = [(_order(each.ask).permutation(places) < (each.probability or 0.0)).tolist() for each in soft]
    for fallen in zip(*columns, strict=True):
        yield 1 / DRAWS, fallen


def _order(ask: Ask) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(pair_of((ask.relation, ask.left, ask.right))))
