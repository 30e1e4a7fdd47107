"""`Scores`: the result of `evaluate`. Numbers at once; intervals, limits and audit on demand.

The end of the module sends scores to experiment trackers, MLflow and Weights & Biases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from rankproof.core import scoring
from rankproof.core.arrays import Array
from rankproof.core.audit import Audit
from rankproof.core.audit.queries import BEYOND
from rankproof.core.conventions import Conventions
from rankproof.core.hits import Hits
from rankproof.core.join import Census
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.names import parse
from rankproof.core.scoring import Pair, ScoreColumn, ScoreRow, Summary
from rankproof.core.table import Rankings
from rankproof.errors import DataError, UsageError, is_one_of, missing_extra, shorten
from rankproof.scoring.protocol import ScoresLike


def check_stored(data: Any, *more: str) -> None:
    """Refuse what is no result as `to_dict` writes it."""
    stored = {"queries", "per_query", "definition", "groups", "audit", "names", *more}
    if not isinstance(data, Mapping) or not stored <= set(data):
        raise DataError(
            f"scores: got {shorten(data)}, expected the result of Scores.to_dict. Next: pass that on unchanged."
        )


@dataclass(eq=False, repr=False)
class Scores(ScoresLike):
    """Means by measure (`scores["nDCG@10"]`), values by query, and everything known about both."""

    hits: Hits | None = None
    judgments: Judgments | None = None
    ranking: Rankings | None = None
    census: Census = field(default_factory=Census)
    parent: Scores | None = None
    """The scores that these are a slice of."""
    reached: dict[str, Pair] = field(default_factory=dict)
    """The mean and the largest of the queries' ceilings by measure, as far as they were asked for."""

    def highest_reachable(self, measure: str | Measure) -> float | None:
        """The best that any query could reach, over all queries if these are a slice; None if unknown."""
        return (self.parent or self)._reached(measure)[1]

    def ceiling(self, measure: str | Measure) -> float:
        """The best mean that any ranking could reach under these judgments."""
        return self._reached(measure)[0]

    def no_gain(self) -> list[str]:
        """The measures that are 0 for this ranking and for any other."""
        flat = [each.measure for each in self.columns.values() if each.measure.spec.higher and not each.values.any()]
        hits = self.hits
        return [m.name for m in flat if hits is not None and not hits.by_parts(partial(scoring.ceiling, m)).any()]

    def _reached(self, measure: str | Measure) -> tuple[float, float | None]:
        """The mean of the ceilings of queries, and the largest of all; worked out once, or read back."""
        column = self.column(measure)
        name = column.measure.name
        if self.hits is None:
            return self._read_back(column, "ceiling"), self._read_back(column, "most")
        if name not in self.reached:
            values = self.hits.by_parts(lambda hits: scoring.ceiling(column.measure, hits))
            self.reached[name] = column.mean_of(values), float(values.max(initial=0.0))
        return self.reached[name]

    def bounds(self, measure: str | Measure, of: str = "ties", grade: float = 1) -> Pair | None:
        """The range of the mean: over orders of equal scores (`of="ties"`), or if documents nobody judged
        were relevant at `grade` (`of="unjudged"`). None if no bound is known to be true; both ends are
        the mean itself where nothing is tied."""
        if not is_one_of(of, ("ties", "unjudged")):
            raise UsageError(f"bounds: got of={of!r}, expected 'ties' or 'unjudged'. Next: choose one.")
        if of == "unjudged":
            if self._over_tie_orders:
                return None
            return self._limit(measure, of, lambda m, h: scoring.unjudged_bounds(m, h, grade))
        if not self.facts["tied"]:
            return self[measure], self[measure]
        return self._limit(measure, of, scoring.tie_bounds)

    def split(self, measure: str | Measure) -> Pair | None:
        """The distance of the mean from its ceiling, as (never found, ranked too low); None if it cannot be split."""
        if self.column(measure).measure.spec.average == "geometric" or self._over_tie_orders:
            return None  # a difference of geometric means is no mean of differences
        return self._limit(measure, "split", scoring.split)

    @property
    def _over_tie_orders(self) -> bool:
        """Whether the values are of several or extreme orders of equal scores, and so not of one ranking."""
        tied = self.hits is not None and self.hits.first is not None
        return tied and self.conventions.ties in ("expected", "best", "worst")

    def _limit(self, measure: str | Measure, what: str, compute: Callable[[Measure, Hits], Any]) -> Pair | None:
        """The mean of a limit over the queries that count; scores that were read back have the saved one."""
        column = self.column(measure)
        if self.hits is None:
            return self._read_back(column, what)  # type: ignore[no-any-return]
        ends = self.hits.by_parts(lambda hits: compute(column.measure, hits))
        return None if ends is None else (column.mean_of(ends[0]), column.mean_of(ends[1]))

    def _read_back(self, column: ScoreColumn, what: str) -> Any:
        row = self.stored.get("rows", {}).get(column.measure.name, {})
        if what == "split":
            pair = (row.get("never_found"), row.get("ranked_too_low"))
            return None if None in pair else pair
        found = row.get(what)
        return tuple(found) if isinstance(found, list) else found

    def only(self, measures: str | Sequence[str], queries: Sequence[str]) -> Self:
        """The scores of these measures and queries, in this order, without slices; audit and facts as they were."""
        part = super().only(measures, queries)
        part.stored = {"definition": self.definition, "audit": self.audit.to_dict(), "facts": self.facts}
        if len(part.query_ids) == len(self.query_ids):
            part.stored["rows"] = self.stored.get("rows", {})
        return part

    def _slice(self, queries: Array) -> Self:
        same = np.array_equal(queries, np.arange(len(self.query_ids)))  # many copies would take much memory
        return replace(
            super()._slice(queries),
            hits=self.hits if same or self.hits is None else self.hits.select(queries),
            judgments=None,
            ranking=None,
            census=Census(),
            parent=self.parent or self,
            reached={},
        )

    def row(self, measure: str | Measure) -> ScoreRow:
        """All details of one mean."""
        found, profile = super().row(measure), self.conventions.profile
        note = found.note
        if profile:
            from rankproof.core.explanation import claim  # loads what is known of other tools

            note = "; ".join(filter(None, (note, claim(profile, self.column(measure).measure).note)))
        split = self.split(measure) or (None, None)
        return replace(
            found,
            ceiling=self.ceiling(measure),
            ties=self.bounds(measure) if self.facts["tied"] else None,
            unjudged=self.bounds(measure, of="unjudged"),
            never_found=split[0],
            ranked_too_low=split[1],
            note=note,
            most=self.highest_reachable(measure),
        )

    def summary(self, name: str = "") -> Summary:
        """The part of these scores that a report shows."""
        said = self.conventions.in_words()
        return replace(super().summary(name), conventions=said, profile=self.conventions.profile)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Judged documents, the shares of ties and of what nobody judged, and what has no gain to reach in a group."""
        if "facts" in self.stored:
            return dict(self.stored["facts"])
        cuts = sorted({k for column in self.columns.values() if (k := column.measure.cutoff)})
        hits, tied = self.hits, None  # no judged document was found
        if hits is not None and len(hits.rank):
            tied = 0.0 if hits.first is None or hits.last is None else float((hits.first != hits.last).mean())
        shares = [(k, hits.unjudged_share(k)) for k in cuts] if hits is not None else []
        barren = {group: some.no_gain() for group, some in self.slices.items() if isinstance(some, Scores)}
        return {
            "documents": 0 if self.judgments is None else len(self.judgments.doc_ids),
            "tied": tied,
            "unjudged": {str(k): share for k, share in shares if share is not None},
            **({"barren": barren} if any(barren.values()) else {}),
        }

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of the judgments: the same for the same judgments in any order and form."""
        from rankproof.store.answers import of_judgments

        if self.judgments is None:
            return str(self.stored.get("definition", {}).get("fingerprint", ""))
        return of_judgments(self.judgments)

    @cached_property
    def _audited(self) -> Audit:
        """What is known of the data, whatever the groups."""
        from rankproof.core.audit import READ_WHOLE, FindingCase
        from rankproof.core.audit.full_audit import explain_unmet
        from rankproof.core.audit.hit_checks import audit_hits, audit_spelling

        if self.hits is None or self.judgments is None:
            return Audit.from_dict(self.stored.get("audit", []))
        measures = [column.measure for column in self.columns.values()]
        case = FindingCase(self.judgments, self.hits, self.census, measures, self.conventions)
        found = audit_hits(case)
        if self.ranking is None:
            return found
        if found.of_kind("no-common-documents") is not None:
            return explain_unmet(found, case, self.ranking.part(READ_WHOLE))
        return audit_spelling(found, case, self.ranking)

    @cached_property
    def definition(self) -> dict[str, Any]:
        """Every policy and parameter that shaped the numbers, as plain data."""
        if self.judgments is None:
            return dict(self.stored.get("definition", {}))
        return {
            "conventions": self.conventions.to_dict(),
            "measures": {name: column.measure.to_dict() for name, column in self.columns.items()},
            "judgments": self.judgments.source,
            "fingerprint": self.fingerprint,
            "ranking": "" if self.ranking is None else self.ranking.source,
            "notes": self.census.notes,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ScoresLike:
        """Scores as `to_dict` wrote them; those of a judge are `JudgedScores`."""
        check_stored(data)
        if "judged" in data:
            from rankproof import JudgedScores  # imported here from a later wing, by its public name

            return JudgedScores.from_dict(data)
        queries = tuple(data["queries"])
        index = {query: i for i, query in enumerate(queries)}
        columns = {}
        for name, by_query in data["per_query"].items():
            places = [index[query] for query in by_query]
            values, counted = np.zeros(len(index)), np.zeros(len(index), dtype=bool)
            values[places], counted[places] = list(by_query.values()), True
            columns[name] = ScoreColumn(parse(name), values, None if counted.all() else counted)
        return Scores(
            query_ids=queries,
            columns=columns,
            conventions=Conventions.from_dict(data["definition"]["conventions"]),
            groups={name: np.array([index[q] for q in each]) for name, each in data["groups"].items()},
            beyond=Audit.from_dict(data["audit"]).of_kind(BEYOND),
            names=dict(data["names"]),
            stored=json.loads(json.dumps(dict(data))),
        )


_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9.\-]+")


def tracked_names(measures: list[str]) -> dict[str, str]:
    """The measures by names that trackers accept, which must tell them apart.

    >>> tracked_names(["nDCG@10", "nDCG(gain='exp')@10"])
    {'nDCG@10': 'nDCG_at_10', "nDCG(gain='exp')@10": 'nDCG_gain_exp_at_10'}
    """
    names = {m: _NOT_ALLOWED.sub("_", m.replace("@", "_at_")).strip("_") for m in measures}
    if len(set(names.values())) < len(names):
        raise UsageError(f"measures: {', '.join(names)} would have the same names in a tracker. Next: log one of them.")
    return names


def to_mlflow(
    scores: ScoresLike,
    name: str | None = None,
    *,
    experiment: str | None = None,
    tracking_uri: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> str:
    """Log the means as metrics of a new MLflow run, with definitions and values per query; the run's id.

    `name` is the run's name; without `tracking_uri` MLflow's own settings say where it goes.
    """
    try:
        from mlflow.tracking import MlflowClient
    except ImportError as absent:
        raise missing_extra("to_mlflow", "mlflow", "mlflow") from absent
    names = tracked_names(list(scores))
    client = MlflowClient(tracking_uri)
    where = "0"  # MLflow's default experiment
    if experiment is not None:
        known = client.get_experiment_by_name(experiment)
        where = str(client.create_experiment(experiment) if known is None else known.experiment_id)
    run = client.create_run(where, run_name=name, tags=dict(tags or {}))
    found: str = run.info.run_id
    for measure, mean in scores.items():
        client.log_metric(found, names[measure], mean)
    for key, value in _params(scores).items():
        client.log_param(found, key, value)
    client.log_dict(found, scores.to_dict(), "rankproof.json")
    client.set_terminated(found)
    return found


def to_wandb(scores: ScoresLike, run: Any = None, *, name: str | None = None, **settings: Any) -> Any:
    """Log the means to the summary of a W&B run, with definitions as its config and a table of values per query.

    Into `run`, which stays open; or into a new one made by `wandb.init(name=name, **settings)`, which is finished.
    """
    try:
        import wandb
    except ImportError as absent:
        raise missing_extra("to_wandb", "wandb", "wandb") from absent
    names = tracked_names(list(scores))
    into = wandb.init(name=name, **settings) if run is None else run
    into.config.update({"rankproof": _params(scores)})
    into.summary.update({names[measure]: mean for measure, mean in scores.items()})
    values = {measure: scores.values(measure) for measure in scores}
    rows = [[query, *(values[m].get(query) for m in values)] for query in scores.queries]
    into.log({"per_query": wandb.Table(columns=["query", *names.values()], data=rows)})
    if run is None:
        into.finish()
    return into


def _params(scores: ScoresLike) -> dict[str, str]:
    """The settings behind the numbers, as short texts."""
    conventions = scores.definition["conventions"]
    kept = {f"rankproof.{key}": str(value) for key, value in conventions.items() if value is not None}
    return {**kept, "rankproof.judgments": scores.fingerprint, "rankproof.queries": str(len(scores.queries))}
