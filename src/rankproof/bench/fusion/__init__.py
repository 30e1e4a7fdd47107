"""Fusion: several rankings of the same queries become one, by `fuse`.

A `ScorePool` has one row per document that any of them returned, and one column per ranking. A method is a function
from the columns of a pool to one score per row; a `Recipe` is a method with all its settings, checked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankproof.bench.fusion import ranks, scores
from rankproof.bench.fusion.pool import ScorePool, open_pool
from rankproof.bench.fusion.scores import BY_RANK, NORMALISATIONS
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Parameter, parameters_of
from rankproof.document.model import Displayable
from rankproof.document.numbers import for_face, setting
from rankproof.errors import DataError, UsageError, check_number, check_one_of, not_known, one_of, shorten, warn_caller
from rankproof.io.load import Columns, load_judgments, load_rankings, warn_of_left_out, with_columns
from rankproof.io.values import as_given


@dataclass(frozen=True)
class Method(Displayable):
    """A way to fuse: what its function takes by position it reads from the pool, the rest are its parameters."""

    name: str
    function: Callable[..., Array]
    learn: Callable[..., Array] | None = None
    """The function that learns from training queries, for the methods that do."""
    weighted: bool = False
    """Whether it makes no sense without weights."""
    also: tuple[str, ...] = ()

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The columns that it reads: rank, score, query, weights, learned."""
        return positional_names(self.function)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Its parameters."""
        return parameters_of(self.function, skip=len(self.reads))


def positional_names(function: Callable[..., Array]) -> tuple[str, ...]:
    """The names of the arguments that are given by position."""
    listed = inspect.signature(function).parameters.values()
    return tuple(each.name for each in listed if each.kind is not each.KEYWORD_ONLY)


_ALL = (
    Method("rrf", ranks.rrf),
    Method("isr", ranks.isr),
    Method("log-isr", ranks.log_isr),
    Method("logn-isr", ranks.logn_isr),
    Method("rbc", ranks.rbc),
    Method("borda", ranks.borda, also=("bordafuse", "w_bordafuse")),
    Method("condorcet", ranks.condorcet, also=("w_condorcet",)),
    Method("combsum", scores.comb_sum, also=("sum",)),
    Method("combmnz", scores.comb_mnz, also=("mnz",)),
    Method("combgmnz", scores.comb_gmnz, also=("gmnz",)),
    Method("combmin", scores.comb_min, also=("min",)),
    Method("combmax", scores.comb_max, also=("max",)),
    Method("combmed", scores.comb_med, also=("med",)),
    Method("combanz", scores.comb_anz, also=("anz",)),
    Method("weighted-sum", scores.weighted_sum, weighted=True, also=("wsum",)),
    Method("wmnz", scores.wmnz, weighted=True),
    Method("mixed", scores.mixed, weighted=True),
    Method("bayesfuse", ranks.bayes, ranks.learn_bayes),
    Method("mapfuse", ranks.mapfuse, ranks.learn_map),
    Method("posfuse", ranks.posfuse, ranks.learn_pos),
    Method("probfuse", ranks.probfuse, ranks.learn_prob),
    Method("segfuse", ranks.segfuse, ranks.learn_seg),
    Method("slidefuse", ranks.slidefuse, ranks.learn_pos),
)
METHODS: dict[str, Method] = {each.name: each for each in _ALL}


def find_method(name: str) -> Method:
    """The method of that name, however it is spelled; an unknown one is met with the nearest.

    >>> find_method("CombSUM").name, find_method("log_isr").name, find_method("wsum").name
    ('combsum', 'log-isr', 'weighted-sum')
    """
    plain = {_plain(spelling): method for method in _ALL for spelling in (method.name, *method.also)}
    found = plain.get(_plain(str(name)))
    if found is None:
        raise one_of("method", name, METHODS)
    return found


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


NONE = "none"
DEFAULT = "min-max"
"""The normalisation of methods that compare scores, if none is named."""
RELEVANT = 1
"""The grade from which a document counts as relevant where a method learns."""
LARGEST = 1e300
"""A score beyond this is treated as infinite, as sums of such scores overflow."""
Weights = Mapping[str, float] | Sequence[float]
Fused = dict[Any, dict[Any, float]]


@dataclass(frozen=True, eq=False)
class Recipe(Displayable):
    """How to fuse."""

    method: Method
    normalise: str = NONE
    weights: tuple[float, ...] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    learned: Array | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, by the names that `fuse` knows."""
        normalise = {} if self.normalise == NONE else {"normalise": self.normalise}
        weights = {} if self.weights is None else {"weights": self.weights}
        return {**normalise, **weights, **self.parameters}


def recipe(
    names: Sequence[str],
    method: str,
    normalise: str | None = None,
    weights: Weights | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Recipe:
    """The recipe for rankings of these names, or an error that says what is wrong.

    >>> recipe(["bm25", "dense"], "wsum", weights={"dense": 2, "bm25": 1}).settings
    {'normalise': 'min-max', 'weights': (1.0, 2.0)}
    """
    found = find_method(method)
    given = parameters or {}
    known = found.parameters
    for name in given:
        if name not in known:
            said = f"{found.name}: unknown parameter {name!r}, expected {', '.join(known) or 'none'}"
            raise not_known(said, name, known, "leave it out, or name one of these")
    return Recipe(
        method=found,
        normalise=_normalisation(found, normalise),
        weights=_weights(found, weights, names),
        parameters={
            name: each.kind.check(found.name, name, given.get(name, each.default)) for name, each in known.items()
        },
    )


def learn(made: Recipe, pool: ScorePool, judgments: Judgments) -> Recipe:
    """The recipe with what its method learns from the judged queries of the pool."""
    if made.method.learn is None:
        return made
    training = pool.of(judgments.index)
    if not training.queries:
        raise DataError(
            f"{judgments.source}: none of its queries is in the rankings, so {made.method.name} has nothing to "
            "learn from. Next: give judgments of some of these queries."
        )
    # The columns of a pool whose queries are judged, and which rows are relevant.
    good = [{doc for doc, grade in judgments.of(each).items() if grade >= RELEVANT} for each in training.queries]
    rows = zip(training.query.tolist(), training.docs, strict=True)
    evidence = {
        "rank": training.rank,
        "query": training.query,
        "relevant": np.array([doc in good[query] for query, doc in rows], dtype=bool),
        "judged": np.array([len(docs) for docs in good], dtype=np.float64),
    }
    if not evidence["relevant"].any():
        warn_caller(
            f"{judgments.source}: no relevant document of its queries is in the rankings, so {made.method.name} cannot "
            "tell them apart. Next: give judgments of queries that some ranking answers."
        )
    return replace(made, learned=_call(made.method.learn, evidence, made.parameters))


def fused_scores(made: Recipe, pool: ScorePool) -> Array:
    """One score a row of the pool."""
    if not len(pool.docs):
        return np.zeros(0)
    weights = np.ones(len(pool.names)) if made.weights is None else np.array(made.weights)
    columns: dict[str, Any] = {"rank": pool.rank, "query": pool.query, "weights": weights}
    columns["learned"] = made.learned
    if "score" in made.method.reads:
        columns["score"] = _normalised(pool, made.normalise)
    return _call(made.method.function, columns, made.parameters)


def fused_rankings(made: Recipe, pool: ScorePool) -> Fused:
    """The rankings of a pool, fused; ids as they were given."""
    found = pool.order_documents(fused_scores(made, pool))
    rankings = [dict(zip(as_given(list(docs), pool.kinds[1]), docs.values(), strict=True)) for docs in found.values()]
    return dict(zip(as_given(list(found), pool.kinds[0]), rankings, strict=True))


def _normalised(pool: ScorePool, name: str) -> Array:
    """The scores of a pool brought to one scale."""
    if name in BY_RANK:
        return NORMALISATIONS[name](pool.rank, pool.query)
    if pool.unscored:
        raise DataError(
            f"ranking {pool.unscored[0]!r} has no scores, only an order. Next: "
            f"{setting('normalise', 'rank')} or 'borda', which make scores of ranks, or a method of ranks, like rrf."
        )
    unfit = np.argwhere(abs(pool.score) > LARGEST)
    if len(unfit):
        row, column = unfit[0].tolist()
        raise DataError(
            f"ranking {pool.names[column]!r}, query {shorten(pool.queries[pool.query[row]])}, document "
            f"{shorten(pool.docs[row])}: got the score {pool.score[row, column]:g}, which cannot be added to others. "
            f"Next: {setting('normalise', 'rank')}, or a method that reads ranks, like rrf."
        )
    return pool.score if name == NONE else NORMALISATIONS[name](pool.score, pool.query)


def _call(function: Callable[..., Array], columns: Mapping[str, Any], parameters: Mapping[str, Any]) -> Array:
    """The function on the columns and the parameters that it names."""
    named = inspect.signature(function).parameters
    own = {name: value for name, value in parameters.items() if name in named}
    return function(*(columns[name] for name in positional_names(function)), **own)


def _normalisation(method: Method, name: str | None) -> str:
    if "score" not in method.reads:
        if name not in (None, NONE):
            raise UsageError(
                f"normalise: got {name!r}, but {method.name} reads ranks only, which no normalisation changes. "
                "Next: leave it out, or choose a method that reads scores, like combsum."
            )
        return NONE
    if name is None:
        return DEFAULT
    check_one_of("normalise", name, (NONE, *NORMALISATIONS))
    return name


def _weights(method: Method, weights: Any, names: Sequence[str]) -> tuple[float, ...] | None:
    if weights is None and not method.weighted:
        return None
    if weights is None:
        raise UsageError(
            f"{method.name} needs a weight for each ranking. Next: give "
            + for_face(
                "weights=, as a list or by name; or find them with 'tune'.",
                "--weights W,W,...; or find them with --tune JUDGMENTS.",
            )
        )
    if "weights" not in method.reads:
        raise UsageError(
            f"{method.name} takes no weights. Next: leave them out, or choose weighted-sum, mixed, wmnz, rrf, rbc, "
            "borda or condorcet."
        )
    if isinstance(weights, Mapping):
        unknown = [name for name in weights if name not in names]
        missing = [name for name in names if name not in weights]
        if unknown:
            said = f"weights: there is no ranking {unknown[0]!r}"
            raise not_known(said, unknown[0], names, "name the rankings as given")
        if missing:
            raise UsageError(f"weights: ranking {missing[0]!r} has none. Next: give it one; 0 leaves it out.")
        weights = [weights[name] for name in names]
    if isinstance(weights, str) or not hasattr(weights, "__len__"):
        raise UsageError(
            f"weights: got {weights!r}, expected a list of numbers or {{name: weight}}. Next: give one of these."
        )
    weights = list(weights)
    if len(weights) != len(names):
        raise UsageError(
            f"weights: got {len(weights)} for {len(names)} rankings, expected one for each."
            " Next: give one weight per ranking."
        )
    checked = [
        check_number(f"weights: {name!r}", weight, least=0, advice="give 0 or more")
        for name, weight in zip(names, weights, strict=True)
    ]
    if not any(checked):
        raise UsageError("weights: all are 0, so nothing would be left. Next: weigh at least one ranking.")
    return tuple(checked)


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
    """Fuse several rankings into one, as `{query: {document: score}}`, best first.

    `systems` is `{name: ranking}` or a list of rankings, each anything that `evaluate` takes.
    `method` is one of `rankproof.bench.fusion.METHODS`; `parameters` are its own, like `k=60` of rrf.
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
    name, learns = made.method.name, made.method.learn is not None
    if judgments is not None and not learns:
        raise UsageError(f"judgments: {name} learns nothing from them. Next: leave them out, or use 'tune'.")
    if judgments is None and learns:
        raise UsageError(
            f"{name} learns from judged queries. Next: give {setting('judgments')} of queries that you will not score "
            f"the result on, or let {for_face(repr('tune'), '--tune')} split them."
        )
    training = None if judgments is None else load_judgments(judgments)
    pool = open_pool(loaded, depth, training)
    warn_of_left_out(loaded.values())
    return fused_rankings(made if training is None else learn(made, pool, training), pool)
