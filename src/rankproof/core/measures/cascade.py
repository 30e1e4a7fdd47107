"""Expected reciprocal rank: a reader who goes down the list and stops when satisfied."""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import measure
from rankproof.core.measures.running import earlier, positive, running
from rankproof.core.parameters import Cutoff, Maximum


def satisfied(h: Hits, top_grade: float | None) -> Array:
    """For each row the chance that its document satisfies the reader: (2^grade - 1) / 2^top.

    It is a difference here, as 2^grade may be beyond any number.
    """
    top = h.top_grade if top_grade is None else top_grade
    return np.exp2(np.clip(h.grade, 0, top) - top) - np.exp2(-float(top))  # type: ignore[no-any-return]


@measure("ERR", also=("expected_reciprocal_rank",), optimistic=True, undefined=False)
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


@measure("nERR")
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
