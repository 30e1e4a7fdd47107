"""What intervals of corrected rank measures hold, and how much narrower than labels alone they are.

    python benchmarks/two_judgments.py

The first table has the case of A. Divekar (PRECISE, 2026): on ESCI, labels of 30 queries give P@4 a standard error of
4.45 points, and 3.50 with a model's grades of all queries. ESCI is not here, so its moments are: queries whose P@4
varies as it does there, and a judge as right as that one must be. The second has judges and runs of another kind, in
which a run knows more than the judge: whole queries labelled, and pairs labelled at random.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rankproof import calibrate_judgments, evaluate
from tests.judging.trust.worlds import Table, some_pairs, some_queries, world

MEASURES = "P@5, RR@10, nDCG@10, AP, Success@5, ERR@10"
RIGHT = (0.97, 0.68)
"""Sensitivity and specificity of the judge of the published case."""


def published(rng: np.random.Generator, queries: int = 1000) -> tuple[Table, Table, dict[str, list[str]]]:
    """Four documents a query; P@4 has a standard deviation of 4.45 points times the root of 30."""
    people, machine, run = {}, {}, {}
    for name in (f"q{i}" for i in range(queries)):
        truth = rng.random(4) < rng.beta(7.6, 2.5)
        said = np.where(truth, rng.random(4) < RIGHT[0], rng.random(4) >= RIGHT[1])
        people[name] = {f"d{i}": int(each) for i, each in enumerate(truth)}
        machine[name] = {f"d{i}": int(each) for i, each in enumerate(said)}
        run[name] = [f"d{i}" for i in range(4)]
    return people, machine, run


def the_published_case(draws: int = 20) -> tuple[float, float]:
    """The mean standard error of P@4 by 30 labelled queries alone, and with the judge, in points."""
    rng, errors = np.random.default_rng(0), []
    for _ in range(draws):
        people, machine, run = published(rng)
        found = calibrate_judgments(machine, some_queries(rng, people, 30), {"run": run}, "P@4").estimate("run", "P@4")
        errors.append((found.alone, found.error))
    alone, error = 100 * np.mean(errors, axis=0)
    return float(alone), float(error)


def coverage(labels: object, n: int, queries: int, draws: int = 60) -> None:
    """How often the interval holds the mean of very many queries."""
    rng = np.random.default_rng(1)
    parts = [evaluate(*world(rng, 400)[::2], MEASURES) for _ in range(8)]
    truth = {name: float(np.mean([each[name] for each in parts])) for name in parts[0].columns}
    rows: dict[str, list[tuple[bool, float, float, float]]] = {name: [] for name in truth}
    for _ in range(draws):
        people, machine, run = world(rng, queries)
        found = calibrate_judgments(machine, labels(rng, people, n), {"run": run}, MEASURES)
        for name, value in truth.items():
            raw, each = found.runs["run"][name]
            inside = each.low <= value <= each.high
            rows[name].append((inside, each.value - value, raw - value, each.high - each.low))
    print(f"\n{labels.__name__}, {n} of {queries} queries: measure, truth, held, bias, bias of the judge, width")
    for name, found in rows.items():
        held, bias, raw, width = np.mean(found, axis=0)
        print(f"{name:10} {truth[name]:.3f}  {held:.0%}  {bias:+.3f}  {raw:+.3f}  {width:.3f}")


if __name__ == "__main__":
    alone, error = the_published_case()
    print("standard error of P@4 by 30 labelled queries, in points: alone, with the judge")
    print(
        f"published  4.45  3.50  {3.50 / 4.45 - 1:+.0%}\nhere       {alone:.2f}  {error:.2f}  {error / alone - 1:+.0%}"
    )
    coverage(some_queries, 30, 200)
    coverage(some_pairs, 300, 60)
