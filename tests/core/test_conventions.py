"""Every convention against a slow oracle written as plain loops over one query at a time."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest

from rankproof import evaluate
from rankproof.core.conventions import Conventions
from rankproof.core.measure import LARGEST
from rankproof.core.names import REGISTRY
from rankproof.errors import DataError, UsageError
from tests.each import with_each

Judged = dict[str, dict[str, float]]
Run = dict[str, dict[str, float]]


def random_data(seed: int) -> tuple[Judged, Run]:
    """Small queries with ties, unjudged documents, negative grades, missing and extra queries."""
    rnd = random.Random(seed)
    docs = [f"d{i}" for i in range(14)] + ["é", "漢", "D1"]
    judged = {
        f"q{i}": {d: rnd.choice([-1, 0, 0, 1, 1, 2, 3]) for d in rnd.sample(docs, rnd.randrange(1, 9))}
        for i in range(12)
    }
    run = {
        f"q{i}": {
            d: rnd.choice([rnd.random(), float(rnd.randrange(4))]) for d in rnd.sample(docs, rnd.randrange(0, 15))
        }
        for i in range(2, 15)
    }
    return judged, run


def ordered(ranking: dict[str, float], ties: str) -> list[str]:
    names = list(ranking)
    if ties == "trec":
        names.sort(key=lambda d: d.encode(), reverse=True)
    if ties == "id":
        names.sort(key=lambda d: d.encode())
    return sorted(names, key=lambda d: -ranking[d])


def ap(order: list[str], judged: dict[str, float]) -> float:
    wanted = [d for d, g in judged.items() if g >= 1]
    found, total = 0, 0.0
    for rank, doc in enumerate(order, 1):
        if judged.get(doc, 0) >= 1:
            found += 1
            total += found / rank
    return total / len(wanted) if wanted else 0.0


def p5(order: list[str], judged: dict[str, float]) -> float:
    return sum(judged.get(doc, 0) >= 1 for doc in order[:5]) / 5


def dcg(order: list[str], judged: dict[str, float]) -> float:
    return sum(max(judged.get(doc, 0), 0) / np.log2(rank + 1) for rank, doc in enumerate(order, 1))


ORACLES = {"AP": ap, "P@5": p5, "DCG": dcg}
SEEDS = range(30)


@pytest.mark.parametrize("ties", ["trec", "id", "input"])
@with_each("seed", SEEDS)
def test_tie_rules(seed: int, ties: str) -> None:
    judged, run = random_data(seed)
    scores = evaluate(judged, run, list(ORACLES), ties=ties)
    for name, oracle in ORACLES.items():
        for query, grades in judged.items():
            expected = oracle(ordered(run.get(query, {}), ties), grades)
            assert scores.per_query[name][query] == pytest.approx(expected, abs=1e-12)


def orders_within_ties(ranking: dict[str, float]) -> Iterator[list[str]]:
    groups = [
        list(g) for _, g in itertools.groupby(sorted(ranking, key=lambda d: -ranking[d]), key=lambda d: ranking[d])
    ]
    for choice in itertools.product(*(list(itertools.permutations(group)) for group in groups)):
        yield [doc for group in choice for doc in group]


@pytest.mark.slow
@with_each("seed", SEEDS)
def test_best_worst_and_expected_over_all_orders(seed: int) -> None:
    rnd = random.Random(seed)
    docs = "abcdef"
    judged = {"q": {d: rnd.choice([-1, 0, 1, 2, 3]) for d in rnd.sample(docs, 4)}}
    run = {"q": {d: float(rnd.randrange(3)) for d in docs}}
    all_values = {
        name: [oracle(order, judged["q"]) for order in orders_within_ties(run["q"])] for name, oracle in ORACLES.items()
    }
    for name, values in all_values.items():
        assert evaluate(judged, run, name, ties="best")[name] == pytest.approx(max(values), abs=1e-12)
        assert evaluate(judged, run, name, ties="worst")[name] == pytest.approx(min(values), abs=1e-12)
        assert evaluate(judged, run, name, ties="expected")[name] == pytest.approx(np.mean(values), abs=1e-12)


@with_each("seed", SEEDS)
def test_unjudged_taken_out_or_counted_as_relevant(seed: int) -> None:
    judged, run = random_data(seed)
    skipped = evaluate(judged, run, list(ORACLES), unjudged="skip")
    filled = evaluate(judged, run, list(ORACLES), unjudged="relevant", unjudged_grade=2)
    for name, oracle in ORACLES.items():
        for query, grades in judged.items():
            order = ordered(run.get(query, {}), "trec")
            condensed = [d for d in order if d in grades]
            enlarged = {**dict.fromkeys(order, 2.0), **grades}
            assert skipped.per_query[name][query] == pytest.approx(oracle(condensed, grades), abs=1e-12)
            assert filled.per_query[name][query] == pytest.approx(oracle(order, enlarged), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["skip", "relevant"])
@with_each("seed", SEEDS)
def test_ties_stay_ties_when_the_unjudged_are_taken_out_or_counted(seed: int, policy: str) -> None:
    rnd = random.Random(seed)
    docs = "abcdef"
    judged = {"q": {d: rnd.choice([0, 1, 2, 3]) for d in rnd.sample(docs, 3)}}
    run = {"q": {d: float(rnd.randrange(3)) for d in docs}}
    grades = judged["q"] if policy == "skip" else {**dict.fromkeys(docs, 1.0), **judged["q"]}
    for name, oracle in ORACLES.items():
        orders = list(orders_within_ties(run["q"]))
        kept = [[d for d in order if policy == "relevant" or d in grades] for order in orders]
        values = [oracle(order, grades) for order in kept]
        for rule, expected in (("best", max(values)), ("worst", min(values)), ("expected", np.mean(values))):
            assert evaluate(judged, run, name, ties=rule, unjudged=policy)[name] == pytest.approx(expected, abs=1e-12)


@with_each("seed", SEEDS)
def test_missing_queries_and_queries_without_relevant_documents(seed: int) -> None:
    judged, run = random_data(seed)
    values = {q: ap(ordered(run.get(q, {}), "trec"), judged[q]) for q in judged}
    answered = {q for q in judged if q in run}
    relevant = {q for q, grades in judged.items() if any(g >= 1 for g in grades.values())}
    for missing, no_relevant, kept in [
        ("zero", "zero", set(judged)),
        ("skip", "zero", answered),
        ("zero", "skip", relevant),
        ("skip", "skip", answered & relevant),
    ]:
        scores = evaluate(judged, run, "AP", missing=missing, no_relevant=no_relevant)
        assert set(scores.per_query["AP"]) == kept
        assert scores["AP"] == pytest.approx(sum(values[q] for q in kept) / len(kept), abs=1e-12)


def test_an_empty_ranking_is_an_answer_and_a_missing_one_is_not() -> None:
    judged = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q1": ["a"], "q2": []}
    assert evaluate(judged, run, "RR", missing="skip")["RR"] == 0.5
    assert evaluate(judged, run, "RR")["RR"] == pytest.approx(1 / 3)


@pytest.mark.slow
def test_one_table_has_one_n_whatever_is_measured() -> None:
    """Every measure there is, beside AP and alone: a query without a relevant document counts in none."""
    judged = {"q1": {"a": 1}, "q2": {"a": 0, "b": 0}, "q3": {"a": 2, "c": -1}}
    run = {"q1": ["a"], "q2": ["b", "a"], "q3": ["c", "a"]}
    names = [name for name, measure in REGISTRY.items() if measure.spec.kind == "ranking"]
    scores = evaluate(judged, run, names, no_relevant="skip", corpus_size=100)
    assert {scores.row(name).n for name in names} == {2}
    for name in names:
        alone = evaluate(judged, run, name, no_relevant="skip", corpus_size=100)
        assert (alone.row(name).n, alone[name]) == (2, scores[name])


def test_a_query_must_be_relevant_to_every_measure_of_the_table() -> None:
    judged = {"q1": {"a": 1}, "q2": {"a": 2}}
    run = {"q1": ["a"], "q2": ["a"]}
    scores = evaluate(judged, run, ["R@5", "R(rel=2)@5", "NumRet"], no_relevant="skip")
    assert {tuple(values) for values in scores.per_query.values()} == {("q2",)}
    assert list(evaluate(judged, run, "R@5", no_relevant="skip").per_query["R@5"]) == ["q1", "q2"]


def test_nothing_left_to_average_is_an_error_not_a_number() -> None:
    scores = evaluate({"q": {"a": 0}}, {"q": ["a"]}, "AP", no_relevant="skip")
    assert repr(scores) == "<Scores of 1 query: AP=->"  # a debugger shows it, and its audit says why
    for show in (lambda: scores["AP"], lambda: str(scores), scores.to_dict):
        with pytest.raises(DataError, match="no query is left to average, as each has no answer or no relevant"):
            show()


def test_single_precision_makes_ties_of_close_scores() -> None:
    judged, run = {"q": {"a": 1}}, {"q": {"a": 16777217.0, "b": 16777216.0}}
    assert evaluate(judged, run, "RR")["RR"] == 1.0
    assert evaluate(judged, run, "RR", profile="trec_eval-9")["RR"] == 0.5


def test_rankings_may_hold_infinite_scores() -> None:
    judged = {"q": {"a": 1}}
    assert evaluate(judged, {"q": {"a": float("-inf"), "b": 0.0}}, "RR")["RR"] == 0.5
    assert evaluate(judged, {"q": {"a": float("inf"), "b": 0.0}}, "RR")["RR"] == 1.0


def test_the_order_of_queries_and_documents_in_the_input_does_not_matter() -> None:
    judged, run = random_data(3)
    turned = {q: dict(reversed(docs.items())) for q, docs in reversed(judged.items())}
    run_turned = {q: dict(reversed(docs.items())) for q, docs in reversed(run.items())}
    one, other = evaluate(judged, run), evaluate(turned, run_turned)
    for name in one:
        assert other.per_query[name] == pytest.approx(one.per_query[name], abs=1e-15)


@pytest.mark.parametrize(
    ("argument", "value", "says"),
    [
        ("ties", "trek", "Did you mean 'trec'"),
        ("missing", "skipp", "Did you mean 'skip'"),
        ("no_relevant", 0, "expected one of 'zero', 'skip'"),
        ("unjudged", "none", "expected one of 'nonrelevant', 'skip', 'relevant'"),
        ("duplicates", "last", "expected one of 'error', 'first', 'best'"),
        ("corpus_size", 0, "whole number of at least 1"),
        ("corpus_size", True, "whole number of at least 1"),
        ("context_k", 2.5, "whole number of at least 1"),
        ("unjudged_grade", float("nan"), "finite number"),
        ("unjudged_grade", 2 * LARGEST, "finite number"),
        ("profile", "elastic", "Did you mean 'elasticsearch'"),
    ],
)
def test_a_wrong_convention_is_an_error_with_the_nearest_word(argument: str, value: object, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        evaluate({"q": ["a"]}, {"q": ["a"]}, "RR", **{argument: value})  # type: ignore[arg-type]


def test_rounding_is_told_where_it_is_done() -> None:
    plain, rounded = Conventions().in_words(), Conventions(rounded=4).in_words()
    assert rounded == [*plain, "rounded=4: each query's value is rounded before the mean"]


@pytest.mark.parametrize(
    ("measure", "counted"),
    [("nDCG", 1), ("nDCG(rel=1)", 0), ("nERR", 1), ("P@5", 0), ("P(threshold='query')@5", 1), ("AP", 0)],
)
def test_a_query_counts_where_it_has_a_document_relevant_to_the_measure(measure: str, counted: int) -> None:
    judged = {"q": {"a": 0.5}, "r": {"b": 0}, "s": {"c": 1}}
    scores = evaluate(judged, {"q": ["a"], "r": ["b"], "s": ["c"]}, measure, no_relevant="skip")
    assert scores.row(measure).n == counted + 1


@pytest.mark.parametrize("unjudged", ["nonrelevant", "skip"])
def test_a_grade_for_the_unjudged_that_has_no_effect_is_refused(unjudged: str) -> None:
    judged, ranked = {"q": {"a": 1}}, {"q": ["b", "a"]}
    with pytest.raises(UsageError, match=f"unjudged_grade=2: has no effect with unjudged='{unjudged}'"):
        evaluate(judged, ranked, "nDCG@10", unjudged=unjudged, unjudged_grade=2)
    evaluate(judged, ranked, "nDCG@10", unjudged=unjudged, unjudged_grade=1.0)
    assert evaluate(judged, ranked, "DCG@1", unjudged="relevant", unjudged_grade=2)["DCG@1"] == 2
