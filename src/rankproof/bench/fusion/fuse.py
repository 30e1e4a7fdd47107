"""`fuse`: several rankings in, one out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankproof.bench.fusion.pool import ScorePool, lengths, pool_of, query_starts
from rankproof.bench.fusion.recipe import Recipe, Weights, fused_scores, learn, recipe
from rankproof.core.judgments import Judgments
from rankproof.core.table import Rankings, RankingTable
from rankproof.errors import DataError, UsageError, check_whole, old_arguments, shorten, warn_caller
from rankproof.io.inputs import Columns, with_columns
from rankproof.io.load import load_judgments, load_rankings, warn_of_left_out
from rankproof.io.mappings import MappingRankings
from rankproof.io.values import are_integers, as_given, judged_kinds

Fused = dict[Any, dict[Any, float]]
Kinds = tuple[bool | None, bool | None]
"""Whether the ids of queries, and of documents, are integers; None if there are none."""


@dataclass(frozen=True, eq=False)
class Opened:
    """Rankings that were read, side by side."""

    pool: ScorePool
    kinds: Kinds
    notes: tuple[str, ...] = ()
    """Notes on odd rankings."""

    def fuse_rankings(self, made: Recipe, pool: ScorePool | None = None) -> Fused:
        """The rankings, or a part of their pool, fused; ids as they were given."""
        part = self.pool if pool is None else pool
        found = part.order_documents(fused_scores(made, part))
        rankings = [
            dict(zip(as_given(list(docs), self.kinds[1]), docs.values(), strict=True)) for docs in found.values()
        ]
        return dict(zip(as_given(list(found), self.kinds[0]), rankings, strict=True))


def open_pool(loaded: Mapping[str, Rankings], depth: int | None = None, judgments: Judgments | None = None) -> Opened:
    """The pool of the rankings; their ids, and those of the judgments, must be of one kind."""
    if depth is not None:
        depth = check_whole("depth", depth, advice="give one, like 10")
    kinds = _same_kinds(loaded, judgments)
    pool = pool_of({name: _table(each) for name, each in loaded.items()}, depth)
    return Opened(pool, kinds, _notes(pool))


def _table(ranking: Rankings) -> RankingTable:
    """The ranking as columns; an order alone where one of its queries has no scores."""
    table = ranking.table()
    if table.score is None or not isinstance(ranking, MappingRankings):
        return table
    lists = (each for each in ranking.mapping.values() if not isinstance(each, Mapping) and len(each))
    bare = any(not isinstance(each[0], (tuple, list)) for each in lists)
    return replace(table, score=None, rank=-table.score) if bare else table


def _notes(pool: ScorePool) -> tuple[str, ...]:
    """Notes on odd rankings to be fused; an error if no query is in two of them."""
    if len(pool.names) == 1:
        return (f"only one ranking, {pool.names[0]!r}, so there is nothing to combine it with",)
    answers = (lengths(pool.rank, pool.query) > 0).sum(axis=1) if len(pool.docs) else np.zeros(0)
    answers = answers[query_starts(pool.query)]
    alone = [pool.queries[i] for i in np.flatnonzero(answers == 1).tolist()]
    if alone and len(alone) == len(answers):
        examples = [
            f"{name!r} has {shorten(pool.queries[int(pool.query[rows[0]])])}"
            for name, column in zip(pool.names, pool.rank.T, strict=True)
            if len(rows := np.flatnonzero(~np.isnan(column)))
        ]
        raise DataError(
            f"rankings: no query is in two of them, so there is nothing to combine: {', '.join(examples[:3])}. "
            "Next: check that they answer the same queries, with ids written the same way."
        )
    if 2 * len(alone) <= len(answers):
        return ()
    return (f"{len(alone)} of {len(answers)} queries are in one ranking only, as {shorten(alone[0])}",)


# --- ids ------------------------------------------------------------------------------------------


def _same_kinds(loaded: Mapping[str, Rankings], judgments: Judgments | None) -> Kinds:
    """Whether ids are integers; an error where some are and others are text."""
    known: list[bool | None] = [None, None] if judgments is None else list(judged_kinds(judgments))
    for name, each in loaded.items():
        for i, kind in enumerate(_kinds(each)):
            if kind is not None and known[i] is not None and kind != known[i]:
                ours, others = ("integers", "text") if kind else ("text", "integers")
                raise DataError(
                    f"ranking {name!r}, {('queries', 'documents')[i]}: got ids that are {ours} where the others are "
                    f"{others}. Next: give all as text, written the same way."
                )
            known[i] = kind if known[i] is None else known[i]
    return known[0], known[1]


def _kinds(ranking: Rankings) -> Kinds:
    if not isinstance(ranking, MappingRankings):
        return getattr(ranking, "integer_ids", (False, False))
    sized = [
        each for each in ranking.mapping.values() if hasattr(each, "__iter__") and getattr(each, "ndim", None) != 0
    ]
    filled = [each for each in sized if len(each)]
    firsts = (next(iter(each)) for each in filled)
    docs = [doc[0] if isinstance(doc, (tuple, list)) and doc else doc for doc in firsts]
    where = ranking.source
    return are_integers(ranking.mapping, f"{where}, queries"), are_integers(docs, f"{where}, documents")


@old_arguments(rankings="systems")
@with_columns
def fuse(
    systems: Any,
    method: str = "rrf",
    *,
    normalise: str | None = None,
    weights: Weights | None = None,
    judgments: Any = None,
    depth: int | None = None,
    damaged: str = "error",
    columns: Columns = None,
    **parameters: Any,
) -> Fused:
    """One ranking made of several, as `{query: {document: score}}`, best first.

    `systems` is `{name: ranking}` or a list of rankings, each anything that `evaluate` takes.
    `method` is one of `rankproof.bench.fusion.recipe.METHODS`; `parameters` are its own, like `k=60` of rrf.
    `normalise` is min-max (what methods that add up scores take by default), max, sum, z-score, rank, borda or
    none. `weights` are a list or `{name: weight}`. `judgments` of other queries are what bayesfuse, mapfuse,
    posfuse, probfuse, segfuse and slidefuse learn from. `depth` cuts each ranking first.
    Files of a folder that cannot be read are left out with `damaged="skip"`, and named.

    A query is fused from the rankings that answer it. Equal scores are ordered as everywhere here: by document id,
    descending.

    >>> keyword, dense = {"q": ["a", "b", "c"]}, {"q": ["b", "d"]}
    >>> list(fuse([keyword, dense])["q"])
    ['b', 'a', 'd', 'c']
    """
    loaded = load_rankings(systems, damaged)
    made = recipe(list(loaded), method, normalise, weights, parameters)
    training = _training(made, judgments)
    opened = open_pool(loaded, depth, training)
    warn_of_left_out(loaded.values())
    for note in opened.notes:
        warn_caller(note)
    return opened.fuse_rankings(made if training is None else learn(made, opened.pool, training))


def _training(made: Recipe, judgments: Any) -> Judgments | None:
    """The training queries of the method, if it learns."""
    name, learns = made.method.name, made.method.learn is not None
    if judgments is not None and not learns:
        raise UsageError(f"judgments: {name} learns nothing from them. Next: leave them out, or use 'tune'.")
    if judgments is None and learns:
        raise UsageError(
            f"{name} learns from judged queries. Next: give judgments= (in the shell --judgments) of queries that "
            "you will not score the result on, or let 'tune' (--tune) split them."
        )
    return None if judgments is None else load_judgments(judgments)
