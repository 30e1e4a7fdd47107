"""Expected reciprocal rank: a reader who goes down the list and stops when satisfied."""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import measure
from rankproof.core.measures.running import earlier, positive, running
from rankproof.core.paper import (
    Case,
    Found,
    Step,
    Term,
    Written,
    cut_at,
    parts,
    quotient,
    said,
    summed,
    writes,
)
from rankproof.core.parameters import Cutoff, Maximum


def satisfied(h: Hits, top_grade: float | None) -> Array:
    """For each row the chance that its document satisfies the reader: (2^grade - 1) / 2^top.

    It is a difference here, as 2^grade may be beyond any number.
    """
    top = h.top_grade if top_grade is None else top_grade
    return np.exp2(np.clip(h.grade, 0, top) - top) - np.exp2(-float(top))  # type: ignore[no-any-return]


@measure("ERR", also=("expected_reciprocal_rank",), optimistic=True, undefined=False, divides_by="none")
def expected_reciprocal_rank(h: Hits, k: Cutoff = None, top_grade: Maximum = None) -> PerQuery:
    """The mean of 1 / rank at which a reader stops, satisfied more likely the better a document is.

    Formula: sum over ranks of 1/rank times s(rank) times the product of 1 - s over the ranks above, with
    s = (2^grade - 1) / 2^top_grade. Without `top_grade` it is the largest grade in the judgments; give it
    when collections are to be compared.

    Range: 0 to 1 - 2^-top_grade at rank 1, slightly more with good documents after it; below 1.

    Perfect: the best documents first; how much that is depends on the query's grades, so see nERR.

    Worst: 0, when nothing found has a grade above 0.

    Blind to: what comes after a document that satisfies nearly everyone.

    Use: for web search, where one very good page ends the search.

    Reference: O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan: Expected reciprocal rank for graded relevance,
    CIKM 2009.

    >>> from rankproof import evaluate
    >>> name = "ERR(top_grade=3)"
    >>> evaluate({"q": {"a": 3}}, {"q": ["x", "a"]}, name)[name]
    0.4375
    """
    shown = positive(h).top(k)
    stop = satisfied(shown, top_grade)
    reached = earlier(shown, running(shown, 1 - stop, np.multiply), 1.0)
    return shown.sum(reached * stop / shown.rank)


@measure("nERR", divides_by="all")
def normalised_err(h: Hits, k: Cutoff = None, top_grade: Maximum = None) -> PerQuery:
    """ERR as a share of what the ideal order reaches.

    Formula: ERR@k / ERR@k of all judged documents, best first; `top_grade` is the largest grade in the judgments
    unless given.

    Range: 0 to 1.

    Perfect: 1, when the best documents come first, by falling grade.

    Worst: 0, when nothing found has a grade above 0.

    Blind to: what comes after a document that satisfies nearly everyone.

    Use: instead of ERR, when queries whose best document is only fair should not count less.

    Reference: O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan: Expected reciprocal rank for graded relevance,
    CIKM 2009.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 3}}, {"q": ["x", "a"]}, "nERR")["nERR"]
    0.5
    """
    best = expected_reciprocal_rank(h.ideal, k=k, top_grade=top_grade)
    return ratio(expected_reciprocal_rank(h, k=k, top_grade=top_grade), best)


@writes(expected_reciprocal_rank)
def err(c: Case, k: int | None, top_grade: float | None) -> Written:
    """Who stops where, and what that is worth."""
    top = c.top_grade if top_grade is None else top_grade
    step = _stopped("result", f"1/rank x the chance to get there x s, {cut_at(k)}", c.found, k, top)
    return Written((_chance(top), step), parts(step))


@writes(normalised_err)
def normalised_err_on_paper(c: Case, k: int | None, top_grade: float | None) -> Written:
    """ERR, ERR of the ideal order, and one by the other."""
    top = c.top_grade if top_grade is None else top_grade
    own = _stopped("found", f"ERR: 1/rank x the chance to get there x s, {cut_at(k)}", c.found, k, top)
    best = _stopped("ideal", f"ideal ERR: all judged documents, best first, {cut_at(k)}", c.judged, k, top)
    end = quotient("result", "ERR divided by the ideal ERR", own.number, best.number)
    return Written((_chance(top), own, best, end), parts(own, best.number))


def _chance(top: float) -> Step:
    return Step("gain", f"s, the chance that a document satisfies: (2^grade - 1) / 2^{top:g}")


def _stopped(kind: str, says: str, documents: list[Found], k: int | None, top: float) -> Step:
    terms, going = [], 1.0
    for each in documents:
        if each.grade > 0 and (k is None or each.rank <= k):
            stop = 2.0 ** (min(each.grade, top) - top) - 2.0**-top
            expression = f"1/{each.rank} x {said(going)} x {said(stop)}"
            terms.append(Term(expression, going * stop / each.rank, each.rank, each.doc))
            going *= 1 - stop
    return summed(kind, says, terms)
