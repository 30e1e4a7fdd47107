"""Measures of graded relevance: DCG, nDCG and their kin."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from rankproof.core.hits import Hits, PerQuery, ratio
from rankproof.core.measure import measure
from rankproof.core.measures.sets import returned
from rankproof.core.parameters import Cutoff, GainOf, Grade


def at_least(h: Hits, rel: float) -> Hits:
    """The rows whose grade counts; `rel` 0 lets all through."""
    return h if rel <= 0 else h.relevant(rel)


def discounted(g: Hits) -> PerQuery:
    """The sum of gain / log2(rank + 1)."""
    return g.once("discounted", lambda: g.sum(g.grade / np.log2(g.rank + 1)))  # type: ignore[no-any-return]


@measure(
    "DCG",
    presets={"dcg_burges": {"gain": "exp"}},
    additive=True,
    optimistic=True,
    undefined=False,
    bounds=(0.0, math.inf),
)
def dcg(h: Hits, k: Cutoff = None, gain: GainOf = "linear", rel: Grade = 0) -> PerQuery:
    """Discounted cumulative gain: what the reader gains, less and less down the list.

    Formula: DCG = sum of gain / log2(rank + 1); the gain is the grade, or 2^grade - 1 with `gain='exp'`,
    or what a mapping of grade to gain says. Grades below `rel` gain nothing.

    Range: 0 upwards.

    Perfect: the DCG of all judged documents, best first; it differs from query to query.

    Worst: 0, when nothing found has a gain.

    Blind to: what could have been gained: means over queries follow those with many good documents.

    Use: as the part of nDCG that moves; alone where gain is in a unit of its own (sales, minutes).

    Reference: K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM TOIS 2002;
    with the discount of C. Burges et al.: Learning to rank using gradient descent, ICML 2005.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 3, "b": 1}}, {"q": ["x", "a", "y", "b"]}, "DCG")["DCG"], 3)
    2.323
    """
    return discounted(at_least(h, rel).top(k).valued(gain))


Ideal = Literal["all", "top", "returned", "uncut", "hits"]


def _expected_ndcg(
    h: Hits, k: Cutoff = None, gain: GainOf = "linear", ideal: Ideal = "all", rel: Grade = 0
) -> PerQuery:
    """The mean over tie orders, where the ideal order is the same in all of them."""
    counted = at_least(h, rel)
    gained = discounted(counted.spread.top(k).valued(gain))
    return ratio(gained, discounted(_ideal(counted, counted.top(k).valued(gain), k, gain, ideal, rel)))


@measure(
    "nDCG",
    also=("ndcg_cut",),
    presets={"ndcg_burges": {"gain": "exp"}},
    additive=True,
    expected=_expected_ndcg,
)
def ndcg(
    h: Hits,
    k: Cutoff = None,
    gain: GainOf = "linear",
    ideal: Ideal = "all",
    rel: Grade = 0,
) -> PerQuery:
    """Normalised DCG: the gain, discounted down the list, as a share of what the ideal order gains.

    Formula: nDCG@k = DCG@k / DCG@k of the ideal order. `ideal='all'`: of all judged documents; `'uncut'`: of
    them without a cut; `'hits'`: of them cut at the number of documents in the top k, where fewer than k came
    back; `'returned'`: of what the ranking returned; `'top'`: of its top k.

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
    return ratio(discounted(shown), discounted(_ideal(counted, shown, k, gain, ideal, rel)))


def _ideal(counted: Hits, shown: Hits, k: int | None, gain: GainOf, ideal: str, rel: float) -> Hits:
    """The best order of the documents that `ideal` allows, by gain."""
    if ideal == "top":
        return shown.reordered
    if ideal == "returned":
        return counted.valued(gain).reordered.top(k)
    best = at_least(counted.judged, rel).valued(gain).ideal
    if ideal == "hits":
        return best.keep(best.rank <= returned(counted, k)[best.query])
    return best if ideal == "uncut" else best.top(k)
