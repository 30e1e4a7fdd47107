"""Scores handed to experiment trackers: MLflow and Weights & Biases, where they are installed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rankproof.errors import UsageError, missing_extra
from rankproof.scoring.protocol import ScoresLike

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9.\-]+")


def tracked_names(measures: list[str]) -> dict[str, str]:
    """The measures by names that trackers accept, which must tell them apart.

    >>> tracked_names(["nDCG@10", "nDCG(gain='exp')@10"])
    {'nDCG@10': 'nDCG_at_10', "nDCG(gain='exp')@10": 'nDCG_gain_exp_at_10'}
    """
    names = {m: _NOT_ALLOWED.sub("_", m.replace("@", "_at_")).strip("_") for m in measures}
    if len(set(names.values())) < len(names):
        raise UsageError(
            f"measures: {', '.join(names)} would have the same names in a tracker. Next: log one of them."
        )
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
    """The id of the experiment of that name, made where there is none; MLflow's default one without a name."""
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
    """What shaped the numbers, as short texts."""
    conventions = scores.definition["conventions"]
    kept = {f"rankproof.{key}": str(value) for key, value in conventions.items() if value is not None}
    return {**kept, "rankproof.judgments": scores.fingerprint, "rankproof.queries": str(len(scores.queries))}
