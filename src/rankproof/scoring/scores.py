"""`Scores`: the result of `evaluate`. Numbers at once; intervals, limits and audit when asked for.

The end of the module sends scores to experiment trackers, MLflow and Weights & Biases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from rankproof.core.hits import Array, Hits
from rankproof.core.join import Census, Rankings
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.scoring import Pair, ScoreRow, Summary
from rankproof.errors import DataError, UsageError, explain_calls, missing_extra, shorten
from rankproof.scoring import limits
from rankproof.scoring.protocol import ScoresLike

if TYPE_CHECKING:
    from rankproof.core.audit import Audit


@explain_calls
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
        """The best that any of the queries could reach; None: not known."""
        return limits.highest_reachable(self, measure)

    def ceiling(self, measure: str | Measure) -> float:
        """The best mean that any ranking could reach under these judgments."""
        return limits.ceiling(self, measure)

    def bounds(self, measure: str | Measure, of: str = "ties", grade: float = 1) -> Pair | None:
        """The range of the mean: over orders of equal scores (`of="ties"`), or if documents nobody judged
        were relevant at `grade` (`of="unjudged"`). None if no bound is known to be true; both ends are
        the mean itself where nothing is tied."""
        return limits.bounds(self, measure, of, grade)

    def split(self, measure: str | Measure) -> Pair | None:
        """How far the mean is below its ceiling, as (never found, ranked too low); None if it cannot be split."""
        return limits.split(self, measure)

    def only(self, measures: Sequence[str], queries: Sequence[str]) -> Self:
        """The scores of these measures and queries, in this order, without slices; audit and facts as they were."""
        part = super().only(measures, queries)
        part.stored = {"definition": self.definition, "audit": self.audit.to_dict(), "facts": self.facts}
        if len(queries) == len(self.query_ids):
            part.stored["rows"] = self.stored.get("rows", {})
        return part

    def _slice(self, queries: Array) -> Self:
        return replace(
            super()._slice(queries),
            hits=None if self.hits is None else self.hits.select(queries),
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
            from rankproof.core.explained import claim  # loads what is known of other tools

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
        """The data shown under a table: judged documents, the share of ties, the share nobody judged."""
        if "facts" in self.stored:
            return dict(self.stored["facts"])
        return limits.facts_of(self.hits, self.judgments, list(self.columns.values()))

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
        from rankproof.core.audit import Audit, audit_hits, audit_spelling, explain_unmet
        from rankproof.core.audit.finding import READ_WHOLE

        if self.hits is None or self.judgments is None:
            return Audit.from_dict(self.stored.get("audit", []))
        measures = [column.measure for column in self.columns.values()]
        found = audit_hits(self.judgments, self.hits, self.census, measures, self.conventions)
        if self.ranking is None:
            return found
        if found.of_kind("no-common-documents") is not None:
            return explain_unmet(found, self.judgments, self.hits, self.ranking.part(READ_WHOLE))
        return audit_spelling(found, self.judgments, self.hits, self.ranking)

    @cached_property
    def definition(self) -> dict[str, Any]:
        """Every policy and parameter that shaped the numbers, as plain data."""
        if self.judgments is None:
            return dict(self.stored.get("definition", {}))
        return {
            "conventions": self.conventions.to_dict(),
            "measures": {
                name: {
                    "measure": column.measure.spec.name,
                    "title": column.measure.spec.title,
                    "params": column.measure.params,
                }
                for name, column in self.columns.items()
            },
            "judgments": self.judgments.source,
            "fingerprint": self.fingerprint,
            "ranking": "" if self.ranking is None else self.ranking.source,
            "notes": self.census.notes,
        }

    # --- out and back --------------------------------------------------------------------------

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ScoresLike:
        """Scores as `to_dict` wrote them; those of a judge are `JudgedScores`."""
        if not isinstance(data, Mapping) or not {"queries", "per_query", "definition"} <= set(data):
            raise DataError(
                f"scores: got {shorten(data)}, expected the result of Scores.to_dict. Next: pass that on unchanged."
            )
        if "judged" in data:
            from rankproof import JudgedScores  # imported here from a later wing, by its public name

            return JudgedScores.from_dict(data)
        return limits.read_back(data, Scores)


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
    run = client.create_run(_experiment(client, experiment), run_name=name, tags=dict(tags or {}))
    found: str = run.info.run_id
    for measure, mean in scores.items():
        client.log_metric(found, names[measure], mean)
    for key, value in _params(scores).items():
        client.log_param(found, key, value)
    client.log_dict(found, scores.to_dict(), "rankproof.json")
    client.set_terminated(found)
    return found


def _experiment(client: Any, name: str | None) -> str:
    """The id of the experiment of that name, made if there is none; MLflow's default one without a name."""
    if name is None:
        return "0"
    known = client.get_experiment_by_name(name)
    found: str = client.create_experiment(name) if known is None else known.experiment_id
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
