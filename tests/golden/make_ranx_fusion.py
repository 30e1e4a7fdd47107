"""Golden values of ranx's fusion. The first run compiles for about a minute.

python -m venv env && env/bin/pip install ranx && env/bin/python make_ranx_fusion.py

The runs have no equal scores, since ranx orders these in no fixed way.
"""

from __future__ import annotations

import random
from importlib.metadata import version
from typing import Any

from common import attempt, write
from ranx import Qrels, Run
from ranx import fusion as ranx

QUERIES = 3
DOCS = [f"d{number:02}" for number in range(24)]
WEIGHTS = [0.4, 0.35, 0.25]
NORMS = ["min-max", "max", "sum", "zmuv", "rank", "borda"]

Runs = list[dict[str, dict[str, float]]]


def made(rng: random.Random, shortest: int) -> dict[str, Any]:
    """Judgments and three runs of at least so many documents a query, all scores different."""
    judgments = {f"q{q}": dict.fromkeys(rng.sample(DOCS, 8), 1) for q in range(QUERIES)}
    runs = [{query: made_list(rng, shortest, relevant, good) for query, relevant in judgments.items()} for good in (3, 2, 1)]  # fmt: skip
    return {"judgments": judgments, "runs": runs}


def made_list(rng: random.Random, shortest: int, relevant: dict[str, int], good: float) -> dict[str, float]:
    worth = {doc: rng.random() + (good / 4 if doc in relevant else 0) for doc in DOCS}
    docs = sorted(DOCS, key=lambda doc: -worth[doc])[: rng.randint(shortest, len(DOCS))]
    scores = sorted(rng.sample(range(1, 10_000), len(docs)), reverse=True)
    return {doc: score / 100 for doc, score in zip(docs, scores, strict=True)}


def on_a_line(rng: random.Random) -> dict[str, Any]:
    """Runs that order documents on a line by their distance from a point: majorities then make no circle."""
    judgments = {f"q{q}": dict.fromkeys(rng.sample(DOCS, 8), 1) for q in range(QUERIES)}
    at = {doc: rng.random() for doc in DOCS}
    points = [rng.random() for _ in WEIGHTS]
    runs = [{query: {doc: 1 - abs(at[doc] - point) for doc in DOCS} for query in judgments} for point in points]
    return {"judgments": judgments, "runs": runs}


def fused(case: dict[str, Any]) -> dict[str, Any]:
    def by(method: str, norm: str | None = None, **params: Any) -> dict[str, dict[str, float]]:
        from ranx import fuse

        runs = [Run(run) for run in case["runs"]]
        for run in runs:
            run.sort()
        found = fuse(runs, norm=norm, method=method, params=params)
        return {query: dict(docs) for query, docs in found.run.items()}

    def trained(method: str, norm: str | None = None, **params: Any) -> dict[str, dict[str, float]]:
        qrels, runs = Qrels(case["judgments"]), [Run(run) for run in case["runs"]]
        for run in runs:
            run.sort()
        segments = {"n_segments": params.pop("n_segments")} if "n_segments" in params else {}
        learned = getattr(ranx, f"{method}_train")(qrels, runs, **segments)
        name = {"mapfuse": "map_scores", "bayesfuse": "log_odds"}.get(method, "probs")
        return by(method, norm, **{name: learned}, **params)

    values = {
        "rrf": by("rrf", k=60),
        "rrf k=5": by("rrf", k=5),
        "isr": by("isr"),
        "log-isr": by("log_isr"),
        "logn-isr": by("logn_isr", sigma=0.01),
        "rbc": by("rbc", phi=0.8),
        "borda": by("bordafuse"),
        "borda weighted": by("w_bordafuse", weights=WEIGHTS),
        "condorcet": by("condorcet"),
        "condorcet weighted": by("w_condorcet", weights=WEIGHTS),
        "combgmnz": by("gmnz", "min-max", gamma=0.5),
        "weighted-sum": by("wsum", "min-max", weights=WEIGHTS),
        "wmnz": by("wmnz", "min-max", weights=WEIGHTS),
        "mixed": by("mixed", "min-max", weights=WEIGHTS),
        "bayesfuse": trained("bayesfuse"),
        "mapfuse": trained("mapfuse"),
        "posfuse": trained("posfuse"),
        "probfuse": trained("probfuse", n_segments=7),
        "segfuse": trained("segfuse", "min-max"),
        "slidefuse": trained("slidefuse", w=3),
    }
    values |= {f"comb{name}": by(name, "min-max") for name in ("sum", "mnz", "min", "max", "med", "anz")}
    return values | {f"combmnz {norm}": by("mnz", norm) for norm in NORMS}


if __name__ == "__main__":
    rng = random.Random(11)
    inputs = {
        "some of the documents": made(rng, 6),
        "all of the documents": made(rng, len(DOCS)),
        "no circles": on_a_line(rng),
    }
    write("ranx_fusion", version=f"ranx {version('ranx')}", made="fuse of sorted Runs", weights=WEIGHTS, inputs=inputs,
          cases={name: attempt(lambda case=case: fused(case)) for name, case in inputs.items()})  # fmt: skip
