"""No answer depends on the order in which queries, documents or judgments came, whichever verb is asked."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankproof import compare, diagnose, evaluate, gate, grid, leaderboard, questions_needed, rank_correlation, sample

MEASURES = "nDCG@10, AP, RR, R@5, Success@1"


def made(seed: int, n: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Judgments with grades, four systems that score every document differently, and groups of queries."""
    rng = np.random.default_rng(seed)
    names = [f"q{i}" for i in range(n)]
    judged = {q: {f"d{j}": int(rng.integers(0, 4)) for j in range(8)} for q in names}
    for each in judged.values():
        each["d0"] = 2
    systems = {
        system: {
            q: {f"d{j}": float(s) for j, s in enumerate(rng.permutation(15) * 0.1 - skill * (np.arange(15) > 7))}
            for q in names[: n - miss]
        }
        for system, skill, miss in (("one", 0.3, 0), ("two", 0.6, 0), ("three", 0.5, 1), ("four", 0.3, 2))
    }
    return judged, systems, {q: f"kind {i % 3}" for i, q in enumerate(names)}


def shuffled(table: dict[str, Any], rnd: random.Random) -> dict[str, Any]:
    """The same mapping in another order, all the way down."""
    keys = rnd.sample(list(table), len(table))
    return {key: shuffled(table[key], rnd) if isinstance(table[key], dict) else table[key] for key in keys}


def of_evaluate(judged: Any, systems: Any, by: Any) -> Any:
    found = evaluate(judged, systems["three"], MEASURES, by=by)
    return {name: [found[name], found.interval(name), sorted(found.values(name).items())] for name in found} | {
        group: dict(each) for group, each in found.slices.items()
    }


def of_aspects(judged: Any, systems: Any, by: Any) -> Any:
    """Measures whose ideal order meets many documents that add as much as each other."""
    aspects = {
        q: {doc: {"ab"[grade % 2]: 1, "cd"[grade // 2]: 1} for doc, grade in docs.items()} for q, docs in judged.items()
    }
    found = evaluate(aspects, systems["three"], "alpha_nDCG@3, alpha_DCG, nERR_IA, nNRBP, AP_IA", by=by)
    return {name: [found[name], found.ceiling(name), sorted(found.values(name).items())] for name in found}


VERBS: dict[str, Callable[..., Any]] = {
    "evaluate": of_evaluate,
    "evaluate by aspects": of_aspects,
    "compare": lambda j, s, by: [
        row.to_dict() for row in compare(j, s, "nDCG@10, RR", by=by, margin=0.05, permutations=2_000)
    ],
    "gate": lambda j, s, by: gate(j, s["one"], s["two"], MEASURES, by=by).to_dict(),
    "gate about these": lambda j, s, by: gate(j, s["two"], s["one"], MEASURES, by=by, about="these").to_dict(),
    "leaderboard": lambda j, s, by: leaderboard(j, s, "nDCG@10").to_dict(),
    "diagnose": lambda j, s, by: diagnose(j, s["three"], by=by).to_dict(),
    "rank_correlation": lambda j, s, by: rank_correlation(
        {name: evaluate(j, each, MEASURES) for name, each in s.items()}, measure="nDCG@10", versus="RR"
    ).to_dict(),
    "questions_needed": lambda j, s, by: str(questions_needed(j, s["one"], s["two"])),
}


def plain(value: Any) -> Any:
    """Plain data with the keys in one order and numbers to the ninth decimal, as sums round; lists keep their order.

    Only the examples of a finding follow the input: they are the first that were met.
    """

    def kept(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {key: each for key, each in pairs if key != "examples"}

    told = json.dumps(value, sort_keys=True, default=str)
    return json.loads(told, object_pairs_hook=kept, parse_float=lambda number: round(float(number), 9) + 0.0)


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=[pytest.mark.slow] if verb == "compare" else []) for verb in VERBS]
)
def test_the_order_of_the_input_changes_no_answer(verb: str) -> None:
    for seed, n in ((0, 12), (1, 40)):
        judged, systems, by = made(seed, n)
        usual = plain(VERBS[verb](judged, systems, by))
        for other in range(2):
            rnd = random.Random(other)
            mixed = {name: shuffled(each, rnd) for name, each in systems.items()}
            assert plain(VERBS[verb](shuffled(judged, rnd), mixed, shuffled(by, rnd))) == usual


@pytest.mark.slow
def test_equal_values_are_listed_in_one_order() -> None:
    """Ties are the rule where a query has one relevant document; the text, too, is one."""
    rng = np.random.default_rng(5)
    judged = {f"q{i}": {f"{'old' if i % 4 == 0 else 'new'}-{i}": 1} for i in range(40)}
    lists = {q: ["x", *(doc for doc in docs if "new" in doc), "y"] for q, docs in judged.items()}
    before = {q: list(rng.permutation(docs)) for q, docs in lists.items()}
    after = {q: list(rng.permutation(docs)) for q, docs in lists.items()}

    def told(judged: Any, before: Any, after: Any) -> list[str]:
        pair = compare(judged, {"before": before, "after": after})
        return [
            diagnose(judged, after).format("full"),
            diagnose(judged, after).format("table"),
            pair.format("full", worst=4),
            json.dumps(evaluate(judged, after).worst(12)),
        ]

    usual = told(judged, before, after)
    for seed in range(3):
        rnd = random.Random(seed)
        assert told(*(shuffled(each, rnd) for each in (judged, before, after))) == usual


@pytest.mark.slow
def test_the_order_of_the_questions_changes_no_effect_of_a_grid() -> None:
    def found(questions: Any, judged: Any) -> Any:
        plan = {
            "corpus": sample.corpus(),
            "questions": questions,
            "judgments": judged,
            "retrievers": {"words": "keyword", "dense": "lsa"},
            "k": [5, 10],
        }
        told = grid(plan).to_dict()
        return plain([told[key] for key in ("effects", "shares", "winner", "held_out")])

    rnd = random.Random(0)
    questions, judged = sample.queries(), sample.judgments()
    assert found(shuffled(questions, rnd), shuffled(judged, rnd)) == found(questions, judged)
