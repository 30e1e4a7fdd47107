"""What is known about scores beside their numbers: how much was judged, how much is tied."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankproof.core.hits import Hits
from rankproof.core.judgments import Judgments
from rankproof.core.scoring import Column


def facts_of(hits: Hits | None, judgments: Judgments | None, columns: list[Column]) -> dict[str, Any]:
    """Judged documents, the share of ties, and for each cut-off the share nobody judged; as plain data."""
    unjudged = _unjudged_share(hits, columns)
    return {
        "documents": 0 if judgments is None else len(judgments.docs),
        "tied": _tied_share(hits),
        "unjudged": {str(k): share for k, share in unjudged.items()},
    }


def _tied_share(hits: Hits | None) -> float | None:
    """The share of judged documents found that share their score; None where none was found."""
    if hits is None or not len(hits.rank):
        return None
    if hits.first is None or hits.last is None:
        return 0.0
    return float((hits.first != hits.last).mean())


def _unjudged_share(hits: Hits | None, columns: list[Column]) -> dict[int, float]:
    """For each cut-off asked for, the share of documents in the top k that nobody judged."""
    if hits is None:
        return {}
    cuts = sorted({column.measure.params["k"] for column in columns if column.measure.params.get("k")})
    found = {}
    for k in cuts:
        shown = np.minimum(hits.retrieved, k).sum()
        if shown:
            found[k] = float(1 - hits.top(k).count().sum() / shown)
    return found
