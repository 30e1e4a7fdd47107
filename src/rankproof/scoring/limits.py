"""Details beside the means: facts, ceiling, bounds, values by query, and scores as plain data.

Each is the mean of a limit over the queries that count; scores that were read back have the saved values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np

from rankproof.core import scoring
from rankproof.core.audit import Audit
from rankproof.core.audit.queries import BEYOND
from rankproof.core.hits import Array, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.names import parse
from rankproof.core.rules import Conventions
from rankproof.core.scoring import Pair, ScoreColumn, average
from rankproof.document.display import Displayable
from rankproof.errors import UsageError, is_one_of

if TYPE_CHECKING:
    from rankproof.scoring.protocol import ScoresLike
    from rankproof.scoring.scores import Scores


def facts_of(hits: Hits | None, judgments: Judgments | None, columns: list[ScoreColumn]) -> dict[str, Any]:
    """Judged documents, the share of ties, and for each cut-off the share nobody judged; as plain data."""
    unjudged = _unjudged_share(hits, columns)
    return {
        "documents": 0 if judgments is None else len(judgments.doc_ids),
        "tied": _tied_share(hits),
        "unjudged": {str(k): share for k, share in unjudged.items()},
    }


def _tied_share(hits: Hits | None) -> float | None:
    """The share of judged documents found that share their score; None if none was found."""
    if hits is None or not len(hits.rank):
        return None
    if hits.first is None or hits.last is None:
        return 0.0
    return float((hits.first != hits.last).mean())


def _unjudged_share(hits: Hits | None, columns: list[ScoreColumn]) -> dict[int, float]:
    """For each cut-off asked for, the share of documents in the top k that nobody judged."""
    if hits is None:
        return {}
    cuts = sorted({k for column in columns if (k := column.measure.cutoff)})
    found = {}
    for k in cuts:
        shown = np.minimum(hits.retrieved, k).sum()
        if shown:
            found[k] = float(1 - hits.by_parts(methodcaller("count", k)).sum() / shown)
    return found


SEED = 0
"""Where random orders of equal scores start."""


def ceiling(scores: Scores, measure: str | Measure) -> float:
    """The best mean that any ranking could reach under these judgments."""

    column = scores.column(measure)
    if scores.hits is None:
        return _read_back(scores, column.measure.name, "ceiling")  # type: ignore[no-any-return]
    return _reached(scores, column)[0]


def ends(scores: ScoresLike, measure: str | Measure) -> Pair:
    """The range of a query's value: the bounds that the measure declares, limited above by the best that any query of
    these judgments could reach. Where a document is relevant to each query, no query scores more than .2 in P@5."""
    column = scores.column(measure)
    spec = column.measure.spec
    best = scores.highest_reachable(measure) if spec.higher and spec.average != "sum" else None  # a count's is itself
    above = spec.bounds[1] if best is None or best <= spec.bounds[0] else min(best, spec.bounds[1])
    return spec.bounds[0], max(above, float(column.counting.max(initial=-np.inf)))


def highest_reachable(scores: Scores, measure: str | Measure) -> float | None:
    """The best that any of the queries could reach, those of all where these are a slice; None: not known."""
    scores = scores.parent or scores
    name = scores.column(measure).measure.name
    if scores.hits is None:
        return scores.stored.get("rows", {}).get(name, {}).get("most")  # type: ignore[no-any-return]
    return _reached(scores, scores.column(measure))[1]


def _reached(scores: Scores, column: ScoreColumn) -> Pair:
    """The mean of the ceilings of queries, and the largest of all; worked out once."""
    name = column.measure.name
    if name not in scores.reached and scores.hits is not None:
        values = scores.hits.by_parts(lambda hits: scoring.ceiling(column.measure, hits))
        scores.reached[name] = _mean(column, values), float(values.max(initial=0.0))
    return scores.reached[name]


def bounds(scores: Scores, measure: str | Measure, of: str, grade: float) -> Pair | None:
    """Where the mean could lie, over orders of equal scores or over documents nobody judged."""
    if not is_one_of(of, ("ties", "unjudged")):
        raise UsageError(f"bounds: got of={of!r}, expected 'ties' or 'unjudged'. Next: choose one.")
    if of == "unjudged" and _over_tie_orders(scores):
        return None
    if of == "ties" and not scores.facts["tied"]:
        return scores[measure], scores[measure]
    if of == "unjudged":
        return _limit(scores, measure, of, lambda m, h: scoring.unjudged_bounds(m, h, grade))  # type: ignore[no-any-return]
    rng = np.random.default_rng(SEED)
    return _limit(scores, measure, of, lambda m, h: scoring.tie_bounds(m, h, rng))  # type: ignore[no-any-return]


def split(scores: Scores, measure: str | Measure) -> Pair | None:
    """How far the mean is below its ceiling: never found, and ranked too low."""
    if scores.column(measure).measure.spec.average == "geometric" or _over_tie_orders(scores):
        return None  # a difference of geometric means is no mean of differences
    return _limit(scores, measure, "split", scoring.split)  # type: ignore[no-any-return]


def _over_tie_orders(scores: Scores) -> bool:
    """Whether the values are of several or extreme orders of equal scores, and so not of one ranking."""
    tied = scores.hits is not None and scores.hits.first is not None
    return tied and scores.conventions.ties in ("expected", "best", "worst")


def _limit(scores: Scores, measure: str | Measure, what: str, compute: Callable[[Measure, Hits], Any]) -> Any:
    """The mean of a limit over the queries that count."""
    column = scores.column(measure)
    if scores.hits is None:
        return _read_back(scores, column.measure.name, what)
    found = scores.hits.by_parts(lambda hits: compute(column.measure, hits))
    return None if found is None else tuple(_mean(column, each) for each in found)


def _mean(column: ScoreColumn, values: Array) -> float:
    return average(column.measure, values if column.counted is None else values[column.counted])


def _read_back(scores: Scores, name: str, what: str) -> Any:
    row = scores.stored.get("rows", {}).get(name, {})
    if what == "split":
        pair = (row.get("never_found"), row.get("ranked_too_low"))
        return None if None in pair else pair
    found = row.get(what)
    return tuple(found) if isinstance(found, list) else found


@dataclass(frozen=True, eq=False, repr=False)
class PerQueryValues(Displayable, Mapping[str, dict[str, float]]):
    """`{measure: {query: value}}`, made when asked for; other names of a measure find it too."""

    names: Collection[str]
    """The canonical names of the measures."""
    key: Callable[[str | Measure], str]
    """The canonical name for any name of a measure."""
    values_of: Callable[[str], dict[str, float]]
    """The value of each query, for a canonical name."""
    _made: dict[str, dict[str, float]] = field(default_factory=dict, init=False)

    def __getitem__(self, measure: str | Measure) -> dict[str, float]:
        name = self.key(measure)
        if name not in self._made:
            self._made[name] = self.values_of(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def _in_one_line(self) -> str:
        return f"<values by query of {', '.join(self.names)}>"


def as_data(scores: ScoresLike) -> dict[str, Any]:
    """Everything about the scores as plain data that JSON can hold."""
    definition = dict(scores.definition)
    definition.setdefault("conventions", scores.conventions.to_dict())
    definition.setdefault("fingerprint", scores.fingerprint)
    return {
        "queries": list(scores.queries),
        "rows": {name: scores.row(name).to_dict() for name in scores.columns},
        "per_query": {name: scores.values(name) for name in scores.columns},
        "names": scores.names,
        "groups": {name: [scores.query_ids[i] for i in rows.tolist()] for name, rows in scores.groups.items()},
        "facts": scores.facts,
        "definition": definition,
        "audit": scores.audit.to_dict(),
    }


def read_back(data: Mapping[str, Any], kind: type[Scores]) -> Scores:
    """Scores of that kind as `as_data` wrote them."""
    queries = tuple(data["queries"])
    index = {query: i for i, query in enumerate(queries)}
    return kind(
        query_ids=queries,
        columns={name: _column(name, values, index) for name, values in data["per_query"].items()},
        conventions=Conventions.from_dict(data["definition"]["conventions"]),
        groups={name: np.array([index[q] for q in each]) for name, each in data["groups"].items()},
        beyond=Audit.from_dict(data["audit"]).of_kind(BEYOND),
        names=dict(data["names"]),
        stored=json.loads(json.dumps(dict(data))),
    )


def _column(name: str, values: Mapping[str, float], index: Mapping[str, int]) -> ScoreColumn:
    column = np.zeros(len(index))
    counted = np.zeros(len(index), dtype=bool)
    for query, value in values.items():
        column[index[query]], counted[index[query]] = value, True
    return ScoreColumn(parse(name), column, None if counted.all() else counted)
