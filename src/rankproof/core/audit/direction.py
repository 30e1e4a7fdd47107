"""Whether a ranking stands on its head: distances read as scores, or lists given worst first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rankproof.core.audit.case import Case
from rankproof.core.audit.finding import Finding, count_of
from rankproof.core.hits import Array, Hits
from rankproof.core.names import parse

BEYOND_CHANCE = 4.5
"""So many standard errors an order at random reaches once in 300,000 times."""

CERTAIN = 6.0
"""So many it does not reach."""

LONG = 5
"""In shorter lists without rising scores the last document can be the right one for other reasons."""

FEW = 2
"""So many rankings that rise may be an accident where none is to be expected."""

FAR_BETTER = 1.25
"""A quarter more than what it scores as it stands: less can be a poor ranking rather than a turned one."""


def upside_down(case: Case) -> Iterator[Finding]:
    """Rankings whose scores rise from the first document on, or that are far better read from their end."""
    if case.conventions.unjudged == "relevant" or not len(case.hits.grade):
        return
    lead = _lead_of_the_end(case.hits)
    rising = _rise(case)
    if lead < -BEYOND_CHANCE:
        return
    if not rising and lead <= BEYOND_CHANCE:
        yield from _both_ways(case)
        return
    there, back = (float(parse("nDCG")(each).mean()) for each in (case.hits, _backwards(case.hits)))
    better = lead > BEYOND_CHANCE and back > FAR_BETTER * there
    if not rising and not better:
        return
    census, long = case.census, float(case.hits.retrieved.mean()) >= LONG
    said = (
        f"In {census.rising:,} of {count_of(census.lists, 'ranking')} the scores rise from the first document given "
        "to the last, and the last is read as the best."
        if rising
        else "The ranking is better from its end than from its beginning."
    )
    yield Finding(
        "error" if better and (rising or (lead > CERTAIN and long)) else "warning",
        "upside-down",
        census.rising if rising else case.hits.n,
        f"{said} Read backwards it reaches nDCG {back:.3f} instead of {there:.3f}.",
        (),
        "if these are distances (less is better), give them with a minus sign, or give lists of ids, best first.",
    )


def _both_ways(case: Case) -> Iterator[Finding]:
    """Rankings of which some rise from the first document on, more than by chance, and the others do not."""
    census, length = case.census, case.hits.retrieved[case.hits.retrieved > 1]
    if not len(length):
        return
    chance = census.lists * float(np.mean([1 / math.gamma(min(each, 20) + 1) for each in length]))
    if census.rising > chance + BEYOND_CHANCE * math.sqrt(chance) + FEW:
        yield Finding(
            "warning",
            "upside-down",
            census.rising,
            f"In {census.rising:,} of {count_of(census.lists, 'ranking')} the scores rise from the first document "
            "given to the last, in the others they do not, and the relevant ones stand no nearer to the beginning "
            "than to the end.",
            (),
            "see whether part of the rankings has distances (less is better), and give those with a minus sign.",
        )


def _rise(case: Case) -> bool:
    """Whether scores rise in most rankings, and more often than in any order by chance."""
    census = case.census
    steps = census.rises + census.falls
    return 2 * census.rising > census.lists and census.rises - census.falls > BEYOND_CHANCE * math.sqrt(
        steps / 3
    )


def _lead_of_the_end(hits: Hits) -> float:
    """How many standard errors the relevant documents stand nearer to the end than in an order by chance."""
    relevant = hits.relevant(1) if bool((hits.grade >= 1).any()) else hits.relevant(np.nextafter(0, 1))
    found, length = relevant.count(), hits.retrieved
    place = relevant.sum(relevant.rank - (length.take(relevant.query) + 1) / 2)
    variance = found * (length - found) * (length + 1) / 12
    return float(place.sum() / math.sqrt(variance.sum())) if variance.sum() > 0 else 0.0


def _backwards(hits: Hits) -> Hits:
    """The same rankings read from their end."""
    rank: Array = hits.retrieved.take(hits.query) + 1 - hits.rank
    turned = replace(hits, rank=rank, first=None, last=None, doubtful=None)
    return turned.keep(np.lexsort((rank, hits.query)))


CHECKS = (upside_down,)
