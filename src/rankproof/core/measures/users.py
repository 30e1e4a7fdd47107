"""Rank-biased precision and related measures: a reader who goes on to the next document with some probability.

And compatibility: how close a ranking is to the best order of all relevant documents.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from rankproof.core.arrays import distinct, so_far
from rankproof.core.derive import (
    Case,
    Found,
    Step,
    Term,
    Written,
    at_least,
    cut_at,
    divide_steps,
    number_text,
    parts,
    sum_step,
    top_of,
    writes,
)
from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import Count, Cutoff, Depth, Grade, Maximum, Persistence
from rankproof.core.measures.ndcg_and_err import discounted_terms
from rankproof.core.measures.sets import returned_count
from rankproof.core.names import measure

Scale = Literal["binary", "graded", "topic"]


def scaled_grades(h: Hits, top_grade: float | None) -> Array:
    """Each row's grade as a share of the largest there is, 0 to 1."""
    top = h.top_grade if top_grade is None else top_grade
    return np.clip(h.grade, 0, top) / top if top else np.zeros(len(h.grade))


def _worth(h: Hits, gain: str, top_grade: float | None) -> Array:
    if gain == "binary":
        return np.ones(len(h.grade))
    if gain == "graded":
        return scaled_grades(h, top_grade)
    top = np.ones(h.n)  # each grade as a share of its query's largest, or of 1 if that is larger
    np.maximum.at(top, h.judged.query, h.judged.grade)
    return np.maximum(h.grade, 0) / top[h.query]


@measure(
    "RBP",
    also=("rank_biased_precision",),
    presets={f"rbp.{p}": {"p": p / 100} for p in (50, 80, 90, 95)},
    additive=True,
    optimistic=True,
    undefined=False,
    divides_by="none",
    when={("gain", "topic"): {"optimistic": False}},
)
def rank_biased_precision(
    h: Hits, k: Cutoff = None, rel: Grade = 1, p: Persistence = 0.8, gain: Scale = "binary", top_grade: Maximum = None
) -> PerQuery:
    """The gain per examined document of a reader who goes on to the next with probability p.

    Formula: RBP = (1 - p) sum over relevant documents of p^(rank - 1). `gain='graded'` multiplies each by grade /
        top_grade, at most 1 (top_grade is the largest grade in the judgments, unless given); `gain='topic'` by grade /
        the largest grade of the query, or / 1 if that is larger, as trec_eval 10 does.
    Range: 0 to 1.
    Perfect: near 1 only with relevant documents without end; few of them keep it well below.
    Worst: 0, when no relevant document is found.
    Blind to: what could have been found; nearly to ranks beyond 3 / (1 - p).
    Use: with p as the patience of your readers: .5 impatient, .8 usual, .95 patient. See RBPResidual too.
    Reference: A. Moffat, J. Zobel: Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 2008.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "RBP")["RBP"], 4)
    0.328
    """
    good = h.relevant(rel).top(k)
    return (1 - p) * good.sum(_worth(good, gain, top_grade) * p ** (good.rank - 1.0))


def _least_residual(h: Hits, tail: str, **params: Any) -> PerQuery:
    """Judged documents first; where the tail counts only after one nobody judged, nothing else."""
    return np.zeros(h.n) if tail == "unjudged" else rank_biased_residual(h.ideal, **params)


@measure(
    "RBPResidual",
    also=("rbp_resid", "rbp_residual"),
    higher=False,
    additive=True,
    ceiling=_least_residual,
    worth="judged",
    reorder=False,
    undefined=False,
    when={("tail", "unjudged"): {"additive": False, "worth": None}, ("negative", "unjudged"): {"worth": None}},
)
def rank_biased_residual(
    h: Hits,
    k: Cutoff = None,
    p: Persistence = 0.8,
    negative: Literal["judged", "unjudged"] = "judged",
    tail: Literal["always", "unjudged"] = "always",
) -> PerQuery:
    """How much RBP could still rise if everything nobody judged, and everything after the end, were relevant.

    Formula: 1 - (1 - p) sum over judged documents in the top k of p^(rank - 1). `negative='unjudged'` takes a grade
        below 0 for "not judged"; `tail='unjudged'` says 0 where every document returned was judged, and counts what
        lies after the end only otherwise: both as trec_eval 10.
    Range: 0 to 1; lower is better.
    Perfect: near 0: the judgments decide the value.
    Worst: 1: the judgments say nothing about this ranking.
    Blind to: relevance.
    Use: beside RBP, which lies between its value and value + residual.
    Reference: A. Moffat, J. Zobel: Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 2008.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, "RBPResidual(p=0.5)")["RBPResidual(p=0.5)"]
    0.5
    """
    known = (h.relevant(0) if negative == "unjudged" else h).top(k)
    residual = 1 - (1 - p) * known.sum(p ** (known.rank - 1.0))
    return residual if tail == "always" else np.where(returned_count(h, k) > known.count(), residual, 0.0)


DEPTH = 1000
"""How far a reader of the C/W/L measures goes, if no cut-off says less; that of the tool cwl_eval."""


@measure("SDCG", additive=True, optimistic=True, undefined=False)
def scaled_dcg(h: Hits, k: Depth = None, top_grade: Maximum = None) -> PerQuery:
    """DCG as a share of a list of k documents of the highest grade.

    Formula: sum of grade/top_grade, at most 1, / log2(rank + 1) over the top k, divided by the sum of 1 / log2(rank +
        1); k is 1,000 if not given, top_grade the largest grade in the judgments.
    Range: 0 to 1.
    Perfect: 1, with k documents of the highest grade; out of reach if there are fewer.
    Worst: 0, when nothing found has a grade above 0.
    Blind to: what could have been found.
    Use: instead of nDCG, when judgments are too few to say what the ideal order is.
    Reference: A. Moffat, P. Bailey, F. Scholer, P. Thomas: Incorporating user expectations and behavior into the
        measurement of search effectiveness, ACM TOIS 2017.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "SDCG@3")["SDCG@3"], 4)
    0.7039
    """
    depth = DEPTH if k is None else k
    shown = h.top(depth)
    most = (1 / np.log2(np.arange(2, depth + 2))).sum()
    return shown.sum(scaled_grades(shown, top_grade) / np.log2(shown.rank + 1)) / most  # type: ignore[no-any-return]


@writes(rank_biased_precision)
def _rbp_on_paper(c: Case, k: int | None, rel: float, p: float, gain: str, top_grade: float | None) -> Written:
    top = c.top_grade if top_grade is None else top_grade
    if gain == "topic":
        top = max([1.0, *(each.grade for each in c.judged)])
    terms = []
    for each in c.relevant(rel, k):
        part = 1.0 if gain == "binary" else portion(each.grade, top, capped=gain == "graded")
        factor = "" if gain == "binary" else f"{number_text(part)} x "
        terms.append(_looked_at(each, p, part, factor))
    scale = "" if gain == "binary" else f"grade / {number_text(top)} x "
    says = f"{scale}{p:g}^(rank - 1), for those that are {at_least(rel)} {cut_at(k)}"
    sums = sum_step("found", says, terms)
    end = Step("result", "times 1 - p", (), f"(1 - {p:g}) x {number_text(sums.number)}", (1 - p) * sums.number)
    return Written((sums, end), parts(sums, 1 / (1 - p)))


def _looked_at(each: Found, p: float, part: float = 1.0, factor: str = "") -> Term:
    return Term(f"{factor}{p:g}^{each.rank - 1}", part * p ** (each.rank - 1), each.rank, each.doc)


def portion(grade: float, top: float, capped: bool = True) -> float:
    """The grade as a share of the largest."""
    if not top:
        return 0.0
    return max(min(grade, top) if capped else grade, 0.0) / top


@writes(rank_biased_residual)
def _residual_on_paper(c: Case, k: int | None, p: float, negative: str, tail: str) -> Written:
    least = 0.0 if negative == "unjudged" else -math.inf
    seen = [each for each in top_of(c.found, k) if each.grade >= least]
    if tail == "unjudged" and c.count_shown(k) <= len(seen):
        return Written((Step("result", f"every document {cut_at(k)} was judged", value=0.0),))
    sums = sum_step("found", f"{p:g}^(rank - 1) of judged documents {cut_at(k)}", [_looked_at(e, p) for e in seen])
    says = "what is left of 1 when they are taken off, times 1 - p"
    value = 1 - (1 - p) * sums.number
    return Written((sums, Step("result", says, (), f"1 - (1 - {p:g}) x {number_text(sums.number)}", value)))


@writes(scaled_dcg)
def _scaled_dcg_on_paper(c: Case, k: int | None, top_grade: float | None) -> Written:
    top, depth = c.top_grade if top_grade is None else top_grade, DEPTH if k is None else k
    terms = discounted_terms(top_of(c.found, depth), lambda grade: portion(grade, top))
    sums = sum_step("found", f"grade / {number_text(top)}, divided by log2(rank + 1), {cut_at(depth)}", terms)
    most = math.fsum(1 / math.log2(rank + 1) for rank in range(1, depth + 1))
    goal = Step("denominator", f"{depth:,} documents of the highest grade: sum of 1 / log2(rank + 1)", value=most)
    return divide_steps(sums, goal)


def higher_graded(h: Hits, rows: Hits) -> Array:
    """For each row how many documents of the ideal order `h` of its query have a higher grade."""
    levels = distinct(np.append(h.grade, rows.grade))
    width = len(levels) + 1
    order = h.query * width + len(levels) - np.searchsorted(levels, h.grade)
    own = rows.query * width + len(levels) - np.searchsorted(levels, rows.grade)
    return np.searchsorted(order, own) - h.starts[rows.query]


@measure("Compat", also=("compatibility", "Compatibility"))
def compatibility(h: Hits, rel: Grade = 1, p: Persistence = 0.95, depth: Count = 1000) -> PerQuery:
    """Rank-biased overlap of the ranking with the ideal order that is most like it, as a share of the best.

    Formula: RBO(ranking, ideal) / RBO(ideal, ideal) with RBO = sum over depths d to `depth` of p^(d-1) |shared in both
        top d| / d; ideal: the relevant documents by falling grade, within a grade as the ranking has them.
    Range: 0 to 1.
    Perfect: 1, when the relevant documents come first, by falling grade.
    Worst: 0, when no relevant document is found.
    Blind to: how far apart grades are, only their order counts.
    Use: for preferences and many fine grades, where a gain for each grade would be made up.
    Reference: C. L. A. Clarke, A. Vtyurina, M. D. Smucker: Assessing top-k preferences, ACM TOIS 2021.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "Compat(p=0.5)")["Compat(p=0.5)"], 4)
    0.4359
    """
    ideal, good = h.ideal.relevant(rel), h.relevant(rel).top(depth)
    above = higher_graded(ideal, good)
    place = above + 1 + so_far(good.query * (len(ideal.query) + 1) + above)
    shared = ideal.top(depth)
    weights = p ** np.arange(depth) / np.arange(1, depth + 1)
    rest = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    met = rest[np.minimum(np.maximum(place, good.rank), depth + 1) - 1]
    return ratio(good.sum(met), shared.sum(rest[shared.rank - 1]))


@writes(compatibility)
def _compatibility_on_paper(c: Case, rel: float, p: float, depth: int) -> Written:
    terms = [
        Term(f"place {place} of the ideal: S({m})", _weight(m, p, depth), each.rank, each.doc)
        for each, place in _places(c, rel, depth)
        for m in [max(each.rank, place)]
    ]
    own = sum_step("found", "each is shared by both from the deeper of its two places m on: S(m)", terms)
    ranks = range(1, min(len(c.all_relevant(rel)), depth) + 1)
    says = f"the ideal order with itself: all that are {at_least(rel)}, by falling grade"
    best = sum_step("denominator", says, [Term(f"S({rank})", _weight(rank, p, depth)) for rank in ranks])
    weights = Step("gain", f"S(m) = sum over depths d = m to {depth:,} of {p:g}^(d-1) / d")
    return divide_steps(own, best, before=[weights])


def _places(c: Case, rel: float, depth: int) -> Iterator[tuple[Found, int]]:
    """Each document found with its place in the ideal order: by grade, then as the ranking has them."""
    above = Counter[float]()
    for each in c.relevant(rel, depth):
        better = len([other for other in c.all_relevant(rel) if other.grade > each.grade])
        above[each.grade] += 1
        yield each, better + above[each.grade]


def _weight(first: int, p: float, depth: int) -> float:
    return math.fsum(p ** (d - 1) / d for d in range(first, depth + 1))
