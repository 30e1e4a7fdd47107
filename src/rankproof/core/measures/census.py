"""Counts of the data: how much was returned, relevant, judged."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from rankproof.core.derive import (
    Case,
    Found,
    Step,
    Written,
    at_least,
    count_step,
    cut_at,
    number_text,
    quotient,
    relevant_step,
    share,
    shown_step,
    top_of,
    writes,
)
from rankproof.core.hits import Hits, PerQuery, ratio
from rankproof.core.measure import Cutoff, Grade
from rankproof.core.measures.counts import SHOWN
from rankproof.core.measures.sets import divisor, found_count, relevant_count, returned_count, top_share
from rankproof.core.names import measure

Denominator = Literal["k", "returned"]
Negative = Literal["judged", "unjudged"]
TOTAL: dict[str, Any] = {**SHOWN, "additive": True, "average": "sum"}
"""What is declared of a number that is added up over queries."""


@measure(
    "NumRet",
    also=("num_ret",),
    # No ranking is better than another here.
    ceiling=lambda h, k, **_: returned_count(h, k),
    worth=None,
    reorder=False,
    **TOTAL,
)
def number_returned(h: Hits, k: Cutoff = None) -> PerQuery:
    """How many documents were returned; over queries it is added up.

    Formula: the number of documents in the ranking, or in its top k.
    Range: 0 upwards.
    Perfect: it has no best value: it says how much there was to look at.
    Worst: 0 shows a query that was not answered.
    Blind to: relevance.
    Use: to see that a ranking is complete before any other number is believed.
    Reference: C. Buckley, trec_eval (measure `num_ret`).

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": ["a", "x", "y"]}, "NumRet")["NumRet"]
    3.0
    """
    return returned_count(h, k)


@measure(
    "NumRel",
    also=("num_rel",),
    # The judgments alone decide.
    ceiling=lambda h, rel, **_: relevant_count(h, rel),
    worth=None,
    reorder=False,
    **TOTAL,
)
def number_relevant(h: Hits, rel: Grade = 1) -> PerQuery:
    """How many relevant documents there are to find; over queries it is added up.

    Formula: R = number of judged documents with a grade of at least `rel`.
    Range: 0 upwards.
    Perfect: it has no best value: it describes the judgments.
    Worst: 0 shows a query that nothing can be found for.
    Blind to: the ranking.
    Use: to see how large the task is.
    Reference: C. Buckley, trec_eval (measure `num_rel`).

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "NumRel")["NumRel"]
    2.0
    """
    return relevant_count(h, rel)


@measure("NumRelRet", also=("num_rel_ret",), optimistic=True, **TOTAL)
def number_relevant_returned(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """How many relevant documents were returned; over queries it is added up.

    Formula: the number of relevant documents in the ranking, or in its top k.
    Range: 0 upwards.
    Perfect: the number of relevant documents, or k where that is less.
    Worst: 0.
    Blind to: order; and the sum follows queries with many relevant documents.
    Use: to see how much of all there is was found.
    Reference: C. Buckley, trec_eval (measure `num_rel_ret`).

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "NumRelRet")["NumRelRet"]
    1.0
    """
    return found_count(h, k, rel)


@measure(
    "NumNonrelJudgedRet",
    also=("num_nonrel_judged_ret",),
    higher=False,
    # A perfect ranking may stop before its first wrong document.
    ceiling=lambda h, **_: np.zeros(h.n),
    worth=None,
    reorder=False,
    **TOTAL,
)
def number_not_relevant_judged_returned(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """How many returned documents were judged and found not relevant; over queries it is added up.

    Formula: the number of documents (in the top k) with a grade of at least 0 and below `rel`.
    Range: 0 upwards; lower is better.
    Perfect: 0.
    Worst: the number of documents returned.
    Blind to: order, and documents nobody judged.
    Use: beside NumRelRet, to see how many of the rest were really looked at.
    Reference: C. Buckley, trec_eval (measure `num_nonrel_judged_ret`).

    >>> from rankproof import evaluate
    >>> measure = "NumNonrelJudgedRet"
    >>> evaluate({"q": {"a": 1, "x": 0}}, {"q": ["a", "x", "y"]}, measure)[measure]
    1.0
    """
    shown = h.top(k)
    return shown.keep((shown.grade >= 0) & (shown.grade < rel)).count()


def _looked_at(h: Hits, negative: str) -> Hits:
    """The rows that count as judged."""
    return h.relevant(0) if negative == "unjudged" else h


@measure(
    "Judged",
    additive=True,
    ceiling=lambda h, k, denominator, negative: top_share(_looked_at(h.ideal, negative).count(), k, denominator),
    worth="judged",
    reorder=False,
    undefined=False,
    when={("negative", "unjudged"): {"worth": None}},
)
def judged_share(
    h: Hits, k: Cutoff = None, denominator: Denominator = "returned", negative: Negative = "judged"
) -> PerQuery:
    """The share of the documents shown that somebody judged.

    Formula: judged documents in the top k / min(k, retrieved); `denominator='k'` divides by k. `negative='unjudged'`
        takes a grade below 0 for "not judged", as trec_eval does.
    Range: 0 to 1.
    Perfect: 1: every other measure stands on firm ground.
    Worst: 0: it stands on none.
    Blind to: relevance and order.
    Use: before comparing a new system on old judgments: a low share means its documents were never looked at.
    Reference: J. Zobel: How reliable are the results of large-scale retrieval experiments? SIGIR 1998.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x", "b", "y"]}, "Judged@4")["Judged@4"]
    0.5
    """
    return ratio(_looked_at(h, negative).top(k).count(), divisor(h, k, denominator))


@measure(
    "Unjudged",
    presets={"unj": {"denominator": "k", "negative": "unjudged"}, "hole": {"denominator": "k"}},
    higher=False,
    additive=True,
    ceiling=lambda h, **_: np.zeros(h.n),
    worth="judged",
    reorder=False,
    undefined=False,
    when={("negative", "unjudged"): {"worth": None}},
)
def unjudged_share(
    h: Hits, k: Cutoff = None, denominator: Denominator = "returned", negative: Negative = "judged"
) -> PerQuery:
    """The share of the documents shown that nobody judged.

    Formula: documents in the top k without a judgment / min(k, retrieved); `denominator='k'` divides by k.
        `negative='unjudged'` takes a grade below 0 for "not judged", as trec_eval does.
    Range: 0 to 1; lower is better.
    Perfect: 0: every other measure stands on firm ground.
    Worst: 1: it stands on none.
    Blind to: relevance and order.
    Use: as a warning light beside every comparison.
    Reference: J. Zobel: How reliable are the results of large-scale retrieval experiments? SIGIR 1998.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x", "b", "y"]}, "Unjudged@2")["Unjudged@2"]
    0.5
    """
    missing = returned_count(h, k) - _looked_at(h, negative).top(k).count()
    return ratio(missing, divisor(h, k, denominator))


def _number(c: Case, k: int | None, what: str, least: float, below: float = math.inf) -> Written:
    """How many of the documents shown have a grade from one to below another."""
    good = [each for each in top_of(c.found, k) if least <= each.grade < below]
    return Written((count_step("result", f"{what} {cut_at(k)}", good),), {each.rank: 1.0 for each in good})


writes(number_returned)(lambda c, k: Written((shown_step(c, k),)))
writes(number_relevant)(lambda c, rel: Written((relevant_step("result", c, rel),)))
writes(number_relevant_returned)(lambda c, k, rel: _number(c, k, at_least(rel), rel))
writes(number_not_relevant_judged_returned)(
    lambda c, k, rel: _number(c, k, f"judged not relevant (0 <= grade < {rel:g})", 0, rel)
)


@writes(judged_share)
def _judged_share_on_paper(c: Case, k: int | None, denominator: str, negative: str) -> Written:
    seen = _seen(c, k, negative)
    return share(count_step("found", _what(k, negative), seen), shown_step(c, k, denominator), seen)


@writes(unjudged_share)
def _unjudged_share_on_paper(c: Case, k: int | None, denominator: str, negative: str) -> Written:
    seen = count_step("found", _what(k, negative), _seen(c, k, negative))
    here, out_of = float(c.count_shown(k)), shown_step(c, k, denominator)
    written = f"{number_text(here)} - {number_text(seen.number)}"
    left = Step("left", "documents shown less these", (), written, here - seen.number)
    end = quotient("result", "the one divided by the other", left.number, out_of.number)
    return Written((seen, left, out_of, end))


def _seen(c: Case, k: int | None, negative: str) -> list[Found]:
    return [each for each in top_of(c.found, k) if negative == "judged" or each.grade >= 0]


def _what(k: int | None, negative: str) -> str:
    return f"judged documents {cut_at(k)}{' (grade >= 0)' if negative == 'unjudged' else ''}"
