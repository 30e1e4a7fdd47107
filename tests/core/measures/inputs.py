"""Random judgments and rankings with everything that goes wrong in real ones."""

from __future__ import annotations

import random
from typing import Any

Run = dict[str, dict[str, float]]

GRADES = (-2, -1, 0, 0, 1, 1, 2, 3)


def random_case(seed: int, queries: int = 40, deepest: int = 14) -> tuple[dict[str, dict[str, float]], Run]:
    """Judgments and scores: ties, unjudged documents, negative grades, empty rankings, nothing relevant."""
    rng = random.Random(seed)
    judgments = {f"q{i}": _grades(rng, deepest) for i in range(queries)}
    return judgments, {query: _scores(rng, deepest) for query in judgments}


def _grades(rng: random.Random, deepest: int) -> dict[str, float]:
    docs = rng.sample([f"d{i:02}" for i in range(deepest + 4)], rng.randint(1, deepest))
    choice = rng.choice([GRADES, GRADES, (0, 1), (0, 0, -1), (1,), (0, 0.5, 1.5)])
    return {doc: float(rng.choice(choice)) for doc in docs}


def _scores(rng: random.Random, deepest: int) -> dict[str, float]:
    docs = rng.sample([f"d{i:02}" for i in range(deepest + 4)], rng.randint(0, deepest))
    finest = rng.choice([3, 1000])
    return {doc: float(rng.randint(0, finest)) for doc in docs}


def random_aspects(seed: int, queries: int = 40) -> tuple[dict[str, dict[str, dict[str, float]]], Run]:
    """Judgments by aspect, some of which no document covers."""
    rng = random.Random(seed)
    judgments = {f"q{i}": _facets(rng) for i in range(queries)}
    return judgments, {query: _scores(rng, 10) for query in judgments}


def _facets(rng: random.Random) -> dict[str, dict[str, float]]:
    aspects = [f"a{i}" for i in range(rng.randint(1, 5))]
    docs = rng.sample([f"d{i:02}" for i in range(14)], rng.randint(1, 9))
    density = rng.choice([0.0, 0.3, 0.7])
    return {doc: {a: float(rng.random() < density) * rng.choice([1, 1, 2]) for a in aspects} for doc in docs}


def ranked(scores: dict[str, float]) -> list[str]:
    """The documents by score descending, equal scores by id descending."""
    return [doc for doc, _ in sorted(scores.items(), key=lambda each: (each[1], each[0]), reverse=True)]


def largest(judgments: dict[str, dict[str, Any]]) -> float:
    return max(0.0, *(grade for grades in judgments.values() for grade in grades.values()))
