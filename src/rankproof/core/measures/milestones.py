"""Measures taken at milestones of the query itself: at multiples of R, at every relevant document."""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import measure
from rankproof.core.measures.sets import wanted
from rankproof.core.parameters import GainOf, Grade, Positive


@measure("RprecMult", also=("Rprec_mult",), at="multiple")
def precision_at_multiple(h: Hits, multiple: Positive = 1, rel: Grade = 1) -> PerQuery:
    """Precision after a multiple of R documents, where R is the number of relevant ones.

    Formula: relevant in the top k / k with k = floor(multiple R + 0.9).

    Range: 0 to 1.

    Perfect: 1, when every document down to there is relevant; out of reach for a multiple above 1.

    Worst: 0, when none is.

    Blind to: the order within the top k, and how relevant a document is.

    Use: to see whether a ranking is good at the top or deep down, on queries with different R.

    Reference: C. Buckley, trec_eval (measure `Rprec_mult`).

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b", "y"]}, "RprecMult@2")["RprecMult@2"]
    0.5
    """
    depth = np.floor(multiple * wanted(h, rel) + 0.9)
    good = h.relevant(rel)
    return ratio(good.keep(good.rank <= depth[good.query]).count(), depth)


@measure("nDCGrel", also=("ndcg_rel",), worth=None, reorder=False)
def ndcg_at_relevant(h: Hits, gain: GainOf = "linear") -> PerQuery:
    """nDCG averaged over the ranks of the documents with a gain.

    Formula: mean over all documents with a gain of nDCG at the rank of the document; for one that was not
    found: DCG of the whole ranking / DCG of the whole ideal order.

    Range: 0 to 1.

    Perfect: 1, when the best documents come first, by falling grade.

    Worst: 0, when nothing found has a gain.

    Blind to: wrong documents after the last with a gain. A fair document moved up can lower it, where better
    ones were expected by then.

    Use: for nDCG without a choice of a cut-off.

    Reference: C. Buckley, trec_eval (measure `ndcg_rel`).

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "nDCGrel")["nDCGrel"], 4)
    0.8066
    """
    found, best = h.valued(gain), h.valued(gain).ideal
    good, best = found.keep(found.grade > 0), best.keep(best.grade > 0)
    reached = good.through(good.grade / np.log2(good.rank + 1))
    ideal = _running_ideal(best, good)
    missed = best.count() - good.count()
    end = ratio(good.sum(good.grade / np.log2(good.rank + 1)), best.sum(best.grade / np.log2(best.rank + 1)))
    return ratio(good.sum(ratio(reached, ideal)) + missed * end, best.count())


def _running_ideal(best: Hits, rows: Hits) -> Array:
    """For each row, the DCG of the ideal order down to the row's rank."""
    running = np.append(best.through(best.grade / np.log2(best.rank + 1)), 0.0)
    last = np.minimum(rows.rank, best.count()[rows.query]).astype(np.intp)
    return running[best.starts[rows.query] + last - 1]
