"""Write cases.json, the judgments and rankings on which every tool is run, and verdicts.json for the judges of text.

Run with any Python: `python make_cases.py`. The generator is seeded, so the file is always the same.
"""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

Judgments = dict[str, dict[str, float]]
Run = dict[str, dict[str, float]]

HERE = Path(__file__).parent


def case(name: str, judgments: Judgments, run: Run) -> dict[str, Any]:
    return {"name": name, "judgments": judgments, "run": run}


def one(name: str, judgments: dict[str, float], run: dict[str, float]) -> dict[str, Any]:
    """A case of one query."""
    return case(name, {"q1": judgments}, {"q1": run})


def listed(*docs: str) -> dict[str, float]:
    """Documents in this order, with falling scores."""
    return {doc: float(len(docs) - place) for place, doc in enumerate(docs)}


def by_hand() -> list[dict[str, Any]]:
    graded = {"a": 3, "b": 2, "c": 3, "d": 0, "e": 1, "f": 2}
    return [
        one("six graded, all found", graded, listed("a", "b", "c", "d", "e", "f")),
        one("six graded, worst order", graded, listed("d", "e", "b", "f", "a", "c")),
        one("one unjudged document in between", {"a": 3, "b": 2, "c": 3, "e": 1}, listed("a", "b", "c", "x", "e", "y")),
        one("four hits, more judged", {"a": 3, "b": 2, "c": 3, "e": 1, "g": 1}, listed("a", "b", "c", "x")),
        one("binary", {"a": 1, "b": 0, "c": 1, "d": 0, "e": 1}, listed("b", "a", "x", "c", "d")),
        one("a single relevant document, first", {"a": 1}, listed("a")),
        one("a single relevant document, not found", {"a": 1}, listed("b")),
        one("a single document, judged 0", {"a": 0, "b": 1}, listed("a")),
        one("highest grade at the end", {"a": 1, "b": 1, "c": 3}, listed("a", "b", "x", "y", "c")),
        one("all scores equal", graded, dict.fromkeys("abcdef", 1.0)),
        one("all scores equal, half unjudged", {"a": 1, "c": 2, "e": 3}, dict.fromkeys("abcdef", 0.5)),
        one("ties in two groups", graded, {"a": 2.0, "d": 2.0, "x": 2.0, "b": 1.0, "c": 1.0, "e": 1.0, "f": 0.5}),
        one("a tie across the cut at 3", graded, {"x": 9.0, "a": 5.0, "d": 4.0, "c": 4.0, "e": 4.0, "b": 1.0}),
        one("scores of zero and below", graded, {"a": 1.0, "b": 0.5, "c": 0.0, "d": -0.5, "e": -1.0, "f": -2.0}),
        one("all scores below zero", graded, {"a": -6.0, "b": -5.0, "c": -4.0, "d": -3.0, "e": -2.0, "f": -1.0}),
        one("negative grades", {"a": 2, "b": -1, "c": 0, "d": 1, "e": -2}, listed("b", "a", "e", "c", "x", "d")),
        one("negative grades only", {"a": -1, "b": -1}, listed("a", "b", "x")),
        one("grades below 1", {"a": 0.5, "b": 1, "c": 2, "d": 0.25}, listed("a", "c", "x", "d", "b")),
        one("no relevant document", {"a": 0, "b": 0}, listed("a", "x", "b")),
        one("nothing judged was found", {"a": 2, "b": 1}, listed("x", "y", "z")),
        one("equal in float32", {"a": 1, "b": 0, "c": 2}, {"a": 1.0, "b": 1.0 + 1e-9, "c": 1.0 + 2e-9}),
        one("equal in float32, ids against the scores", {"a": 2, "z": 0}, {"a": 0.1 + 3e-10, "z": 0.1, "m": 0.1 + 1e-10}),
        one("huge and tiny scores", {"a": 1, "b": 2, "c": 0}, {"a": 1e-30, "b": 1e30, "c": 5.0}),
        one("ids of differing lengths", {"d1": 1, "d10": 2, "d2": 0, "d100": 3}, {"d1": 1.0, "d10": 1.0, "d2": 1.0, "d100": 1.0}),
        one("ids beyond ASCII", {"é": 1, "z": 2, "日本": 3, "Ω": 0}, {"é": 1.0, "z": 1.0, "日本": 1.0, "Ω": 1.0, "a": 2.0}),
        case(
            "a judged query is missing from the run",
            {"q1": {"a": 1, "b": 2}, "q2": {"a": 2, "c": 1}, "q3": {"b": 1}},
            {"q1": listed("a", "x", "b"), "q3": listed("x", "b")},
        ),
        case(
            "a query of the run is not judged",
            {"q1": {"a": 1, "b": 2}},
            {"q1": listed("b", "a"), "q2": listed("a", "b")},
        ),
        case(
            "one of two queries has no relevant document",
            {"q1": {"a": 0, "b": 0}, "q2": {"a": 1, "b": 3, "c": 0}},
            {"q1": listed("a", "b"), "q2": listed("c", "b", "x", "a")},
        ),
    ]  # fmt: skip


def drawn(rng: random.Random, name: str, *, queries: int, pool: int, judged: int, depth: int,
          grades: list[int], levels: int = 0) -> dict[str, Any]:  # fmt: skip
    """A random case: `levels` > 0 draws scores from so few values that many are tied."""
    judgments: Judgments = {}
    run: Run = {}
    for number in range(queries):
        docs = [f"d{place}" for place in rng.sample(range(pool), pool)]
        judgments[f"q{number}"] = {doc: rng.choice(grades) for doc in sorted(docs)[:judged]}
        score = (lambda: float(rng.randrange(1, levels + 1))) if levels else (lambda: rng.random() * 20)
        run[f"q{number}"] = {doc: score() for doc in docs[:depth]}
    return case(name, judgments, run)


def by_lot() -> list[dict[str, Any]]:
    rng = random.Random(20261121)
    return [
        drawn(rng, "small, graded", queries=4, pool=12, judged=8, depth=9, grades=[0, 1, 2, 3]),
        drawn(rng, "small, binary", queries=4, pool=12, judged=9, depth=7, grades=[0, 1]),
        drawn(rng, "small, graded, tied", queries=4, pool=12, judged=8, depth=10, grades=[0, 1, 2, 3], levels=3),
        drawn(rng, "small, few relevant", queries=5, pool=14, judged=10, depth=14, grades=[0, 0, 0, 0, 1]),
        drawn(rng, "small, negative grades", queries=4, pool=12, judged=10, depth=10, grades=[-1, 0, 1, 2]),
        drawn(rng, "small, all judged", queries=3, pool=10, judged=10, depth=10, grades=[0, 1, 2, 3]),
        drawn(rng, "more judged than returned", queries=3, pool=40, judged=35, depth=6, grades=[0, 1, 2, 3]),
        drawn(rng, "deep, graded", queries=3, pool=150, judged=45, depth=120, grades=[0, 0, 1, 2, 3]),
        drawn(rng, "deep, binary, tied", queries=3, pool=150, judged=40, depth=120, grades=[0, 0, 1], levels=12),
        drawn(rng, "deep, sparse", queries=3, pool=300, judged=3, depth=110, grades=[1]),
        drawn(rng, "grades up to 4", queries=3, pool=20, judged=15, depth=12, grades=[0, 1, 2, 3, 4]),
    ]


def verdicts() -> list[list[int]]:
    """Every list of up to four verdicts, and some longer ones."""
    short = [list(each) for length in range(5) for each in itertools.product((0, 1), repeat=length)]
    rng = random.Random(20261122)
    return short + [[rng.randrange(2) for _ in range(length)] for length in (5, 6, 7, 8, 10, 10, 20, 40)]


if __name__ == "__main__":
    (HERE / "verdicts.json").write_text(json.dumps(verdicts()) + "\n", encoding="utf-8")
    cases = by_hand() + by_lot()
    (HERE / "cases.json").write_text(json.dumps(cases, ensure_ascii=False, indent=None, separators=(",", ":")).replace(
        '{"name"', '\n{"name"') + "\n", encoding="utf-8")  # fmt: skip
    print(len(cases), "cases")
