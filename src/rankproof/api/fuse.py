"""`fuse`: several rankings in, one out."""

from __future__ import annotations

import warnings
from typing import Any

from rankproof.api.pooling import Fused, open_pool
from rankproof.bench.fusion.recipe import Recipe, Weights, learned, recipe
from rankproof.core.judgments import Judgments
from rankproof.errors import UsageError
from rankproof.io.guess import Columns, with_columns
from rankproof.io.load import load_judgments, load_rankings


@with_columns
def fuse(
    rankings: Any,
    method: str = "rrf",
    *,
    normalise: str | None = None,
    weights: Weights | None = None,
    judgments: Any = None,
    depth: int | None = None,
    columns: Columns = None,
    **parameters: Any,
) -> Fused:
    """One ranking made of several, as `{query: {document: score}}`, best first.

    `rankings` is `{name: ranking}` or a list of rankings, each anything that `evaluate` takes.
    `method` is one of `rankproof.bench.fusion.methods.METHODS`; `parameters` are its own, like `k=60` of rrf.
    `normalise` is min-max (what methods that add up scores take by default), max, sum, z-score, rank, borda or
    none. `weights` are a list or `{name: weight}`. `judgments` of other queries are what bayesfuse, mapfuse,
    posfuse, probfuse, segfuse and slidefuse learn from. `depth` cuts each ranking first.

    A query is fused from the rankings that answer it. Equal scores are ordered as everywhere: by document id,
    the highest first.

    >>> keyword, dense = {"q": ["a", "b", "c"]}, {"q": ["b", "d"]}
    >>> list(fuse([keyword, dense])["q"])
    ['b', 'a', 'd', 'c']
    """
    loaded = load_rankings(rankings)
    made = recipe(list(loaded), method, normalise, weights, parameters)
    training = _training(made, judgments)
    opened = open_pool(loaded, depth, training)
    for note in opened.notes:
        warnings.warn(note, stacklevel=2)
    return opened.fused(made if training is None else learned(made, opened.pool, training))


def _training(made: Recipe, judgments: Any) -> Judgments | None:
    """What the method learns from, if it does."""
    name, learns = made.method.name, made.method.learn is not None
    if judgments is not None and not learns:
        raise UsageError(f"judgments: {name} learns nothing from them. Next: leave them out, or use 'tune'.")
    if judgments is None and learns:
        raise UsageError(
            f"{name} learns from judged queries. Next: give judgments= (in the shell --judgments) of queries that "
            "you will not score the result on, or let 'tune' (--tune) split them."
        )
    return None if judgments is None else load_judgments(judgments)
