"""Derivations of how much was returned, relevant, judged."""

from __future__ import annotations

from collections.abc import Callable

from rankproof.core.derivation.registry import writes
from rankproof.core.derivation.steps import (
    Case,
    Found,
    Step,
    Written,
    at_least,
    counted,
    cut_at,
    quotient,
    said,
    share,
    shown,
    wanted,
)
from rankproof.core.measures import census


@writes(census.number_returned)
def number_returned(c: Case, k: int | None) -> Written:
    """How long the ranking is."""
    return Written((shown(c, k),))


@writes(census.number_relevant)
def number_relevant(c: Case, rel: float) -> Written:
    """What there is to find."""
    return Written((wanted("result", c, rel),))


@writes(census.number_relevant_returned)
def number_relevant_returned(c: Case, k: int | None, rel: float) -> Written:
    """What was found of it."""
    return _number(c, k, at_least(rel), lambda each: each.grade >= rel)


@writes(census.number_not_relevant_judged_returned)
def number_not_relevant_judged_returned(c: Case, k: int | None, rel: float) -> Written:
    """What was found and judged not relevant."""
    return _number(c, k, f"judged not relevant (0 <= grade < {rel:g})", lambda each: 0 <= each.grade < rel)


def _number(c: Case, k: int | None, what: str, counts: Callable[[Found], bool]) -> Written:
    good = [each for each in c.found if (k is None or each.rank <= k) and counts(each)]
    return Written((counted("result", f"{what} {cut_at(k)}", good),), {each.rank: 1.0 for each in good})


@writes(census.judged)
def judged(c: Case, k: int | None, denominator: str, negative: str) -> Written:
    """Judged documents shown by documents shown."""
    seen = _seen(c, k, negative)
    return share(counted("found", _what(k, negative), seen), shown(c, k, denominator), seen)


@writes(census.unjudged)
def unjudged(c: Case, k: int | None, denominator: str, negative: str) -> Written:
    """The documents shown that nobody judged, by documents shown."""
    seen = counted("found", _what(k, negative), _seen(c, k, negative))
    here, out_of = float(c.shown(k)), shown(c, k, denominator)
    left = Step(
        "left", "documents shown less these", (), f"{said(here)} - {said(seen.number)}", here - seen.number
    )
    end = quotient("result", "the one divided by the other", left.number, out_of.number)
    return Written((seen, left, out_of, end))


def _seen(c: Case, k: int | None, negative: str) -> list[Found]:
    return [
        each
        for each in c.found
        if (k is None or each.rank <= k) and not (negative == "unjudged" and each.grade < 0)
    ]


def _what(k: int | None, negative: str) -> str:
    return f"judged documents {cut_at(k)}{' (grade >= 0)' if negative == 'unjudged' else ''}"
