"""Measures of graded relevance: DCG, nDCG and related ones, and ERR, for a reader who stops when satisfied."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np

from rankproof.core.arrays import earlier_total, positive_rows, running_total
from rankproof.core.bounds import ndcg_bounds
from rankproof.core.derive import (
    Case,
    Found,
    Step,
    Term,
    Written,
    cut_at,
    divide_steps,
    number_text,
    parts,
    sum_step,
    top_of,
    writes,
)
from rankproof.core.expected_and_extreme_values import spread_ties
from rankproof.core.hits import Hits, PerQuery, ratio
from rankproof.core.measure import Cutoff, GainOf, Grade, Maximum
from rankproof.core.measures.sets import returned_count
from rankproof.core.names import measure


def at_least(h: Hits, rel: float) -> Hits:
    """The rows whose grade counts; `rel` 0 lets all through."""
    return h if rel <= 0 else h.relevant(rel)


def discounted_gain(g: Hits) -> PerQuery:
    """The sum of gain / log2(rank + 1)."""
    return g.once("discounted", lambda: g.sum(g.grade / np.log2(g.rank + 1)))


@measure(
    "DCG",
    presets={"dcg_burges": {"gain": "exp"}},
    additive=True,
    optimistic=True,
    undefined=False,
    bounds=(0.0, math.inf),
    divides_by="none",
)
def dcg(h: Hits, k: Cutoff = None, gain: GainOf = "linear", rel: Grade = 0) -> PerQuery:
    """Discounted cumulative gain: what the reader gains, less and less down the list.

    Formula: DCG = sum of gain / log2(rank + 1); the gain is the grade, or 2^grade - 1 with `gain='exp'`, or what a
        mapping of grade to gain says, where a grade that it does not name gains itself: `gain={1: 0, 3: 1}` leaves 2 at
        2. Grades below `rel` gain nothing.
    Range: 0 upwards.
    Perfect: the DCG of all judged documents, best first; it differs from query to query.
    Worst: 0, when nothing found has a gain.
    Blind to: what could have been gained: means over queries follow those with many good documents.
    Use: as the part of nDCG that moves; alone where gain is in a unit of its own (sales, minutes).
    Reference: K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM TOIS 2002; with the
        discount of C. Burges et al.: Learning to rank using gradient descent, ICML 2005.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 3, "b": 1}}, {"q": ["x", "a", "y", "b"]}, "DCG")["DCG"], 3)
    2.323
    """
    return discounted_gain(at_least(h, rel).top(k).valued(gain))


Ideal = Literal["all", "top", "returned", "uncut", "hits"]


def _expected_ndcg(
    h: Hits, k: Cutoff = None, gain: GainOf = "linear", ideal: Ideal = "all", rel: Grade = 0
) -> PerQuery:
    """The mean over tie orders, if the ideal order is the same in all of them."""
    counted = at_least(h, rel)
    gained = discounted_gain(spread_ties(counted).top(k).valued(gain))
    return ratio(gained, discounted_gain(_ideal(counted, counted.top(k).valued(gain), k, gain, ideal, rel)))


@measure(
    "nDCG",
    also=("ndcg_cut",),
    presets={"ndcg_burges": {"gain": "exp"}},
    additive=True,
    expected=_expected_ndcg,
    divides_by="all",
    unjudged=ndcg_bounds,
    when={
        ("ideal", "hits"): {"unjudged": None},
        # A divisor built from what was returned cannot be had from rows spread over several ranks.
        ("ideal", "returned"): {"additive": False, "divides_by": "returned", "unjudged": None},
        ("ideal", "top"): {"additive": False, "divides_by": "shown", "unjudged": None},
    },
)
def ndcg(h: Hits, k: Cutoff = None, gain: GainOf = "linear", ideal: Ideal = "all", rel: Grade = 0) -> PerQuery:
    """Normalised DCG: the gain, discounted down the list, as a share of what the ideal order gains.

    Formula: nDCG@k = DCG@k / DCG@k of the ideal order. `ideal='all'`: of all judged documents; `'uncut'`: of them
        without a cut; `'hits'`: of them cut at the number of documents in the top k, if fewer than k came back;
        `'returned'`: of what the ranking returned; `'top'`: of its top k.
    Range: 0 to 1.
    Perfect: 1, when the best documents come first, by falling grade; below 1 at k with `'uncut'`.
    Worst: 0, when nothing found has a gain.
    Blind to: documents after k, wrong documents at the end; `'top'` and `'returned'` to what was missed.
    Use: the usual choice for graded judgments.
    Reference: K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM TOIS 2002.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 3, "b": 1}}, {"q": ["x", "a", "y", "b"]}, "nDCG@4")["nDCG@4"], 4)
    0.6399
    """
    counted = at_least(h, rel)
    shown = counted.top(k).valued(gain)
    return ratio(discounted_gain(shown), discounted_gain(_ideal(counted, shown, k, gain, ideal, rel)))


def _ideal(counted: Hits, shown: Hits, k: int | None, gain: GainOf, ideal: str, rel: float) -> Hits:
    """The best order of the documents that `ideal` allows, by gain."""
    if ideal == "top":
        return shown.reordered
    if ideal == "returned":
        return counted.valued(gain).reordered.top(k)
    best = at_least(counted.judged, rel).valued(gain).ideal
    if ideal == "hits":
        return best.keep(best.rank <= returned_count(counted, k)[best.query])
    return best if ideal == "uncut" else best.top(k)


def worth(grade: float, gain: Any) -> float:
    """What a grade gains."""
    if isinstance(gain, Mapping) and grade in gain:
        return float(gain[grade])
    return float(2 ** max(grade, 0) - 1) if gain == "exp" else max(float(grade), 0.0)


@writes(dcg)
def _dcg_on_paper(c: Case, k: int | None, gain: Any, rel: float) -> Written:
    found = [each for each in c.found if _counts(each, rel)]
    total = discounted_on_paper("result", f"DCG {cut_at(k)}: gain / log2(rank + 1)", found, k, gain)
    return Written((gains(found, gain, rel), total), parts(total))


@writes(ndcg)
def _ndcg_on_paper(c: Case, k: int | None, gain: Any, ideal: str, rel: float) -> Written:
    found = [each for each in c.found if _counts(each, rel)]
    best, depth, whose = _ideal_on_paper(c, found, k, ideal, rel)
    total = discounted_on_paper("found", f"DCG {cut_at(k)}: gain / log2(rank + 1)", found, k, gain)
    goal = discounted_on_paper("ideal", f"ideal DCG: {whose}", by_gain(best, gain), depth, gain)
    return divide_steps(total, goal, "DCG divided by the ideal DCG", [gains([*found, *best], gain, rel)])


def _counts(each: Found, rel: float) -> bool:
    return rel <= 0 or each.grade >= rel


def _ideal_on_paper(
    c: Case, found: list[Found], k: int | None, ideal: str, rel: float
) -> tuple[list[Found], int | None, str]:
    """The documents of the ideal order, if it is cut, and in words what they are."""
    if ideal == "top":
        return top_of(found, k), None, f"the best order of those {cut_at(k)}"
    if ideal == "returned":
        return found, k, f"the best order of what was returned, {cut_at(k)}"
    judged = [each for each in c.judged if _counts(each, rel)]
    if ideal == "hits":
        shown = c.count_shown(k)
        return judged, shown, f"all judged documents, best first, as many as came back ({shown})"
    if ideal == "uncut" or k is None:
        return judged, None, "all judged documents, best first"
    return judged, k, f"all judged documents, best first, {cut_at(k)}"


def by_gain(documents: Iterable[Found], gain: Any) -> list[Found]:
    """The documents in the order that gains most."""
    order = sorted(documents, key=lambda each: -worth(each.grade, gain))
    return [Found(rank, each.doc, each.grade) for rank, each in enumerate(order, start=1)]


def gains(documents: Iterable[Found], gain: Any, rel: float = 0) -> Step:
    """What each grade that occurs is worth."""
    grades = sorted({each.grade for each in documents}, reverse=True)
    terms = tuple(
        Term(f"2^{grade:g} - 1" if gain == "exp" and grade > 0 else f"grade {grade:g}", worth(grade, gain))
        for grade in grades
    )
    floor = f"; grades below {rel:g} gain nothing" if rel > 0 else ""
    how = "2^grade - 1" if gain == "exp" else "the grade"
    if isinstance(gain, Mapping):
        how = "by the mapping given; a grade it does not name gains itself"
    return Step("gain", f"gain: {how}{floor}", terms)


def discounted_on_paper(kind: str, says: str, documents: list[Found], k: int | None, gain: Any) -> Step:
    """DCG of the documents at their ranks."""
    return sum_step(kind, says, discounted_terms(top_of(documents, k), lambda grade: worth(grade, gain)))


def discounted_terms(documents: Iterable[Found], gain: Callable[[float], float]) -> list[Term]:
    """What each document gains, divided by the log of its rank; those without a gain are left out."""
    return [
        Term(f"{number_text(gained)} / log2({each.rank + 1})", gained / math.log2(each.rank + 1), each.rank, each.doc)
        for each in documents
        if (gained := gain(each.grade))
    ]


@measure("ERR", also=("expected_reciprocal_rank",), optimistic=True, undefined=False, divides_by="none")
def expected_reciprocal_rank(h: Hits, k: Cutoff = None, top_grade: Maximum = None) -> PerQuery:
    """The mean of 1 / rank at which a reader stops, satisfied more likely the better a document is.

    Formula: sum over ranks of 1/rank times s(rank) times the product of 1 - s over the ranks above, with s = (2^grade -
        1) / 2^top_grade. A higher grade counts as top_grade. Without `top_grade` it is the largest grade in the
        judgments; give it when collections are to be compared.
    Range: 0 to 1 - 2^-top_grade at rank 1, slightly more with good documents after it; below 1.
    Perfect: the best documents first; how much that is depends on the query's grades, so see nERR.
    Worst: 0, when nothing found has a grade above 0.
    Blind to: what comes after a document that satisfies nearly everyone.
    Use: for web search, where one very good page ends the search.
    Reference: O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan: Expected reciprocal rank for graded relevance, CIKM 2009.

    >>> from rankproof import evaluate
    >>> name = "ERR(top_grade=3)"
    >>> evaluate({"q": {"a": 3}}, {"q": ["x", "a"]}, name)[name]
    0.4375
    """
    shown = positive_rows(h).top(k)
    top = h.top_grade if top_grade is None else top_grade
    # (2^grade - 1) / 2^top as a difference, as 2^grade may be beyond any number.
    stop = np.exp2(np.clip(shown.grade, 0, top) - top) - np.exp2(-float(top))
    reached = earlier_total(shown, running_total(shown, 1 - stop, np.multiply), 1.0)
    return shown.sum(reached * stop / shown.rank)


@measure("nERR", divides_by="all")
def normalised_err(h: Hits, k: Cutoff = None, top_grade: Maximum = None) -> PerQuery:
    """ERR as a share of what the ideal order reaches.

    Formula: ERR@k / ERR@k of all judged documents, best first; `top_grade` is the largest grade in the judgments unless
        given.
    Range: 0 to 1.
    Perfect: 1, when the best documents come first, by falling grade.
    Worst: 0, when nothing found has a grade above 0.
    Blind to: what comes after a document that satisfies nearly everyone.
    Use: instead of ERR, when queries whose best document is only fair should not count less.
    Reference: O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan: Expected reciprocal rank for graded relevance, CIKM 2009.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 3}}, {"q": ["x", "a"]}, "nERR")["nERR"]
    0.5
    """
    best = expected_reciprocal_rank(h.ideal, k=k, top_grade=top_grade)
    return ratio(expected_reciprocal_rank(h, k=k, top_grade=top_grade), best)


@writes(expected_reciprocal_rank)
def _err_on_paper(c: Case, k: int | None, top_grade: float | None) -> Written:
    top = c.top_grade if top_grade is None else top_grade
    step = _stopped("result", f"1/rank x the chance to get there x s, {cut_at(k)}", c.found, k, top)
    return Written((_chance(top), step), parts(step))


@writes(normalised_err)
def _normalised_err_on_paper(c: Case, k: int | None, top_grade: float | None) -> Written:
    top = c.top_grade if top_grade is None else top_grade
    own = _stopped("found", f"ERR: 1/rank x the chance to get there x s, {cut_at(k)}", c.found, k, top)
    best = _stopped("ideal", f"ideal ERR: all judged documents, best first, {cut_at(k)}", c.judged, k, top)
    return divide_steps(own, best, "ERR divided by the ideal ERR", [_chance(top)])


def _chance(top: float) -> Step:
    return Step("gain", f"s, the chance that a document satisfies: (2^grade - 1) / 2^{top:g}")


def _stopped(kind: str, says: str, documents: list[Found], k: int | None, top: float) -> Step:
    terms, going = [], 1.0
    for each in top_of(documents, k):
        if each.grade > 0:
            stop = 2.0 ** (min(each.grade, top) - top) - 2.0**-top
            expression = f"1/{each.rank} x {number_text(going)} x {number_text(stop)}"
            terms.append(Term(expression, going * stop / each.rank, each.rank, each.doc))
            going *= 1 - stop
    return sum_step(kind, says, terms)
