"""Scores handed to MLflow's own file store and to W&B offline, where they are installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from rankproof import Scores, evaluate, sample
from rankproof.errors import MissingExtra, UsageError
from rankproof.scoring.scores import to_mlflow, to_wandb, tracked_names

MEASURES = "nDCG@10, nDCG(gain='exp')@10, RR"


def scores() -> Scores:
    return evaluate(sample.judgments(), sample.rankings()["dense"], MEASURES)


@pytest.mark.filterwarnings("ignore")
def test_mlflow_gets_means_definitions_and_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tracking = pytest.importorskip("mlflow.tracking", reason="mlflow is not installed")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = (tmp_path / "runs").as_uri()
    mine = scores()
    first = to_mlflow(mine, "dense", experiment="search", tracking_uri=uri, tags={"model": "small"})
    second = to_mlflow(mine, "again", experiment="search", tracking_uri=uri)
    client = tracking.MlflowClient(uri)
    run = client.get_run(first)
    assert run.data.metrics == {
        "nDCG_at_10": mine["nDCG@10"],
        "nDCG_gain_exp_at_10": mine["nDCG(gain='exp')@10"],
        "RR": mine["RR"],
    }
    assert run.data.params["rankproof.ties"] == "trec"
    assert run.data.params["rankproof.judgments"] == mine.fingerprint
    assert (run.data.tags["model"], run.info.run_name, run.info.status) == ("small", "dense", "FINISHED")
    assert [each.path for each in client.list_artifacts(first)] == ["rankproof.json"]
    assert client.get_run(second).info.experiment_id == run.info.experiment_id


@pytest.mark.filterwarnings("ignore")
def test_wandb_gets_means_and_a_table(tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    settings = {"mode": "offline", "dir": str(tmp_path), "project": "search"}
    mine = scores()
    with wandb.init(**settings) as run:
        to_wandb(mine, run)
        assert run.summary["nDCG_at_10"] == mine["nDCG@10"]
        assert run.config["rankproof"]["rankproof.ties"] == "trec"
    to_wandb(mine, name="a run of its own", **settings)
    assert len(list(tmp_path.rglob("*.wandb"))) == 2


@pytest.mark.parametrize(("package", "send"), [("mlflow", to_mlflow), ("wandb", to_wandb)])
def test_an_absent_tracker_is_named_with_the_line_that_installs_it(
    package: str, send: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [package, *(each for each in sys.modules if each.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'rankproof\[{package}\]'"):
        send(scores())


def test_names_that_a_tracker_could_not_tell_apart_are_refused() -> None:
    with pytest.raises(UsageError, match="same names"):
        tracked_names(["a'b", 'a"b'])
