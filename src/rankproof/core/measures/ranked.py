"""Measures of where the relevant documents stand: reciprocal rank, average precision."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankproof.core.hits import Hits, PerQuery, ratio
from rankproof.core.measure import measure
from rankproof.core.measures.sets import wanted
from rankproof.core.parameters import Cutoff, Grade


@measure("RR", also=("MRR", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"), optimistic=True)
def reciprocal_rank(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """One over the rank of the first relevant document; its mean is MRR.

    Formula: RR = 1 / rank of the first relevant document; 0 if there is none (in the top k).

    Range: 0 to 1.

    Perfect: 1, with a relevant document at rank 1.

    Worst: 0, with none.

    Blind to: everything after the first relevant document.

    Use: when one answer is wanted and the reader goes down the list until it is found.

    Reference: E. M. Voorhees: The TREC-8 question answering track report, TREC 1999.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "MRR")["MRR"]
    0.5
    """
    good = h.relevant(rel).top(k)
    return good.sum((good.nth == 1) / good.rank)


@measure(
    "AP",
    also=("MAP", "map_cut", "average_precision", "mean_average_precision"),
    presets={"context_precision": {"denominator": "found"}},
)
def average_precision(
    h: Hits, k: Cutoff = None, rel: Grade = 1, denominator: Literal["all", "found", "min"] = "all"
) -> PerQuery:
    """The mean over the relevant documents of the precision at their ranks; its mean is MAP.

    Formula: AP = (sum over relevant documents found of P@rank) / R. `denominator='found'` divides by the
    relevant documents found (context precision), `'min'` by min(k, R).

    Range: 0 to 1.

    Perfect: 1, when all relevant documents come first; at k < R only with `'found'` or `'min'`.

    Worst: 0, when no relevant document is found.

    Blind to: how relevant a document is; `'found'` also to what was missed.

    Use: one number for precision and recall together when relevance is yes or no.

    Reference: C. Buckley, E. M. Voorhees: Evaluating evaluation measure stability, SIGIR 2000.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y", "b"]}, "MAP")["MAP"]
    0.75
    """
    good = h.relevant(rel).top(k)
    if denominator == "found":
        divisor = good.count()
    else:
        divisor = np.minimum(wanted(h, rel), np.inf if k is None or denominator == "all" else k)
    return ratio(good.sum(good.nth / good.rank), divisor)
