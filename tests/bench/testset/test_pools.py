"""Pools: what is in them, and which documents come first."""

from __future__ import annotations

import random

import pytest

import rankproof
from rankproof.bench.testset.pool import ORDERS, Pool, pool_lines, pool_rankings, read_pool
from rankproof.errors import DataError, UsageError

RUNS = {
    "keyword": {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 1.0}},
    "dense": {"q1": {"c": 9.0, "d": 8.0, "a": 7.0}},
}


def gone_through(ranks: dict[str, dict[str, int]], order: str, relevant: set[str]) -> list[str]:
    grades: dict[str, int] = {}
    while (document := ORDERS[order](ranks, grades)) is not None:
        assert document not in grades
        grades[document] = int(document in relevant)
    return list(grades)


def test_a_pool_holds_the_best_of_each_run_once() -> None:
    made = rankproof.pool(RUNS, depth=2)
    assert {(item.query, item.document) for item in made} == {
        *(("q1", each) for each in "abcd"),
        ("q2", "x"),
    }
    assert made.ranks["q1"]["c"] == {"dense": 1}
    assert made.work == 5


def test_what_is_judged_is_left_out_and_the_budget_is_shared() -> None:
    made = rankproof.pool(RUNS, judgments={"q1": {"a": 0}, "q2": {"x": 1}}, budget=2)
    assert [item.document for item in made] == ["b", "c", "d"]
    assert (made.per_query, made.work) == (2, 2)


def test_a_budget_too_small_for_the_queries_is_said() -> None:
    with pytest.raises(UsageError, match="at least one judgment for each of the 2 queries"):
        rankproof.pool(RUNS, budget=1)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"depth": 0}, "depth"),
        ({"order": "bandits"}, "Did you mean 'bandit'"),
        ({"order": ["depth"]}, "one of 'depth'"),
    ],
)
def test_what_cannot_be_is_said(bad: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        rankproof.pool(RUNS, **bad)  # type: ignore[arg-type]


def test_runs_without_documents_are_an_error() -> None:
    with pytest.raises(DataError, match="nothing to judge"):
        pool_rankings({"a": {"q": []}}, 3)


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_goes_through_each_document_once(order: str) -> None:
    rng = random.Random(order)
    for _ in range(30):
        names = [f"d{n}" for n in range(rng.randint(1, 25))]
        runs = {f"s{n}": {"q": rng.sample(names, rng.randint(1, len(names)))} for n in range(rng.randint(1, 5))}
        ranks = pool_rankings(runs, 20).ranks["q"]
        found = gone_through(dict(ranks), order, set(rng.sample(names, len(names) // 3)))
        assert sorted(found) == sorted(ranks)


def test_depth_goes_down_all_runs_at_once_and_round_robin_takes_turns() -> None:
    ranks = pool_rankings({"x": {"q": ["a", "b", "c"]}, "y": {"q": ["d", "e", "f"]}}, 3).ranks["q"]
    by_depth = gone_through(dict(ranks), "depth", set())
    assert [set(by_depth[:2]), set(by_depth[2:4])] == [{"a", "d"}, {"b", "e"}]
    assert gone_through(dict(ranks), "round-robin", set()) == ["a", "d", "b", "e", "c", "f"]


def test_informative_leaves_to_the_end_what_all_rank_alike() -> None:
    ranks = pool_rankings({"x": {"q": ["same", "a", "b"]}, "y": {"q": ["same", "c", "d"]}}, 3).ranks["q"]
    found = gone_through(dict(ranks), "informative", set())
    assert found[-1] == "same"
    assert set(found[:2]) == {"a", "c"}


def test_the_bandit_finds_relevant_documents_with_fewer_judgments() -> None:
    """One good run among three bad ones: of 20 judgments, far more are relevant than by depth."""
    good = [f"g{n}" for n in range(20)]
    runs = {"good": {"q": good}} | {f"bad{i}": {"q": [f"b{i}-{n}" for n in range(20)]} for i in range(3)}
    ranks = dict(pool_rankings(runs, 20).ranks["q"])
    hits = {order: sum(each in good for each in gone_through(ranks, order, set(good))[:20]) for order in ORDERS}
    assert hits["bandit"] >= 16
    assert hits["depth"] == hits["round-robin"] == 5


def test_a_pool_survives_its_file(tmp_path) -> None:
    made = rankproof.pool({"ключ": {"q 1": ["док", 'a"b']}}, order="bandit", budget=1)
    path = tmp_path / "pool.jsonl"
    path.write_text("".join(pool_lines(made)), encoding="utf-8")
    assert read_pool(path) == Pool(("ключ",), made.ranks, "bandit", 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a pool"),
        ("q1 0 d1 1\n", "line 1"),
        ('{"pool": 9, "order": "depth", "systems": [], "per_query": null}\n', "not a pool of version 1"),
        ('{"pool": 1, "order": "depth", "systems": ["a"], "per_query": null}\n{"query": 1}\n', "line 2"),
    ],
)
def test_a_file_that_is_no_pool_is_said(tmp_path, text: str, words: str) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        read_pool(path)
