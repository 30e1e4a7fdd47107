"""The ranked list of a query in the order in which it was scored."""

from __future__ import annotations

import numpy as np

from rankproof import explain
from rankproof.core.conventions import Conventions
from rankproof.core.table import RankingTable, best_first


def test_a_list_without_scores_keeps_its_own_order_judged_or_not() -> None:
    ranking = {"q": ["b", "c", "rel", "a", "z"]}
    found = explain({"q": {"rel": 1}}, ranking, "q", "RR")
    assert [line.document for line in found.own.lines] == ranking["q"]
    table = RankingTable(["q"] * 5, ranking["q"])
    assert best_first(table, Conventions()) == ranking


def test_scores_order_equal_ones_by_the_rule_and_duplicates_are_kept_once() -> None:
    table = RankingTable(["q"] * 4, ["a", "b", "c", "a"], np.array([1.0, 2.0, 2.0, 3.0]))
    assert best_first(table, Conventions(duplicates="first")) == {"q": ["c", "b", "a"]}
    assert best_first(table, Conventions(duplicates="best")) == {"q": ["a", "c", "b"]}
    assert best_first(table, Conventions(duplicates="first", ties="id")) == {"q": ["b", "c", "a"]}


def test_a_query_that_was_answered_with_nothing_has_an_empty_list() -> None:
    assert best_first(RankingTable([], [], empty=("q",)), Conventions()) == {"q": []}
