"""Golden values of ndeval through pyndeval, with the inputs they were made from.

python -m venv env && env/bin/pip install pyndeval && env/bin/python make_ndeval.py

Of equal documents ndeval's ideal order takes the one with the larger id, as ours does. Cut-offs begin at 3, as ndeval does not normalise alpha-DCG@1 and ERR-IA@1.
"""

from __future__ import annotations

import random
from importlib.metadata import version
from typing import Any

from common import plain, write
from pyndeval import RelevanceEvaluator

CUT = ("ERR-IA", "nERR-IA", "alpha-DCG", "alpha-nDCG", "P-IA", "strec")
MEASURES = [f"{name}@{k}" for name in CUT for k in (3, 5, 10, 20)] + ["NRBP", "nNRBP", "MAP-IA"]
SETTINGS = {"half": (0.5, 0.5), "lenient, patient": (0.2, 0.8), "strict": (0.9, 0.3)}


def judged(rng: random.Random) -> dict[str, dict[str, int]]:
    """Documents in the order of their ids, each with a grade for some of the query's aspects."""
    aspects = [str(i) for i in range(1, rng.randint(2, 7))]
    docs = sorted(rng.sample([f"d{i:02}" for i in range(40)], rng.randint(3, 25)))
    return {doc: {a: int(rng.random() < 0.35) for a in aspects} for doc in docs}


def inputs(seed: int) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    rng = random.Random(seed)
    judgments = {str(i): judged(rng) for i in range(1, 9)}
    docs = [f"d{i:02}" for i in range(40)]
    run = {q: {d: rng.random() for d in rng.sample(docs, rng.randint(1, 30))} for q in judgments}
    return judgments, run


def values(judgments: Any, run: Any, alpha: float, beta: float) -> dict[str, dict[str, float]]:
    rows = [(q, a, d, g) for q, docs in judgments.items() for d, by in docs.items() for a, g in by.items()]
    scored = [(q, d, score) for q, docs in run.items() for d, score in docs.items()]
    found = RelevanceEvaluator(rows, measures=MEASURES, alpha=alpha, beta=beta).evaluate(scored)
    return {name: {q: each[name] for q, each in found.items()} for name in MEASURES}


def case(seed: int, alpha: float, beta: float) -> dict[str, Any]:
    judgments, run = inputs(seed)
    return {
        "alpha": alpha,
        "beta": beta,
        "judgments": judgments,
        "run": run,
        "per_query": values(judgments, run, alpha, beta),
    }


if __name__ == "__main__":
    made = {f"{name}, seed {seed}": case(seed, *setting) for seed in range(4) for name, setting in SETTINGS.items()}
    write("ndeval", version=version("pyndeval"), cases=plain(made))
