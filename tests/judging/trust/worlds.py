"""Simulated judgments of people and of a machine, of which the truth is known; benchmarks use them too."""

from __future__ import annotations

import numpy as np

Table = dict[str, dict[str, int]]


def world(rng: np.random.Generator, queries: int, docs: int = 24) -> tuple[Table, Table, dict[str, list[str]]]:
    """Graded documents, a generous judge, and a run that knows more than the judge does."""
    people, machine, run = {}, {}, {}
    for name in (f"q{i}" for i in range(queries)):
        chance = np.clip(0.8 * rng.beta(1, 3) + rng.uniform(-0.25, 0.25, docs), 0.01, 0.97)
        grade = (rng.random(docs) < chance) * rng.integers(1, 4, docs)
        off = np.clip(grade + rng.integers(-1, 3, docs), 0, 3)
        said = np.where(rng.random(docs) < 0.7, grade, off)
        order = np.argsort(-(chance + 0.2 * (grade > 0) + rng.normal(0, 0.3, docs)))[:16]
        people[name] = {f"d{i}": int(each) for i, each in enumerate(grade)}
        machine[name] = {f"d{i}": int(each) for i, each in enumerate(said)}
        run[name] = [f"d{i}" for i in order.tolist()]
    return people, machine, run


def some_queries(rng: np.random.Generator, people: Table, n: int) -> Table:
    """All judgments of `n` queries."""
    return {name: people[name] for name in rng.choice(list(people), n, replace=False).tolist()}


def some_pairs(rng: np.random.Generator, people: Table, n: int) -> Table:
    """`n` judgments of any queries."""
    pairs = [(query, doc) for query, grades in people.items() for doc in grades]
    found: Table = {}
    for query, doc in (pairs[i] for i in rng.choice(len(pairs), n, replace=False).tolist()):
        found.setdefault(query, {})[doc] = people[query][doc]
    return found
