"""What cannot be fused is refused with words that say why and what to do."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import fuse
from rankproof.bench.fusion import METHODS
from rankproof.errors import DataError, UsageError

ONE, TWO = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "c": 1.0}}
BOTH = {"bm25": ONE, "dense": TWO}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "rff"}, "Did you mean 'rrf'"),
        ({"method": "comb-some"}, "Did you mean 'combsum'"),
        ({"method": "combsum", "normalise": "minmax"}, "Did you mean 'min-max'"),
        ({"method": "rrf", "normalise": "min-max"}, "reads ranks only"),
        ({"method": "rrf", "kk": 10}, "unknown parameter 'kk', expected k"),
        ({"method": "isr", "k": 10}, "unknown parameter 'k', expected none"),
        ({"method": "rrf", "k": -1}, "k is -1, expected a number of at least 0"),
        ({"method": "rrf", "k": math.nan}, "k is nan"),
        ({"method": "rbc", "phi": 1}, "above 0 and below 1"),
        ({"method": "rrf", "depth": 0}, "depth: got 0"),
        ({"method": "rrf", "depth": True}, "depth: got True"),
        ({"method": "weighted-sum"}, "needs a weight for each ranking"),
        ({"method": "combsum", "weights": [1, 1]}, "takes no weights"),
        ({"method": "weighted-sum", "weights": [1]}, "got 1 for 2 rankings"),
        ({"method": "weighted-sum", "weights": [1, -0.5]}, "'dense': got -0.5"),
        ({"method": "weighted-sum", "weights": [1, math.nan]}, "'dense': got nan"),
        ({"method": "weighted-sum", "weights": [1, math.inf]}, "'dense': got inf"),
        ({"method": "weighted-sum", "weights": [1, "2"]}, "'dense': got '2'"),
        ({"method": "weighted-sum", "weights": [1, True]}, "'dense': got True"),
        ({"method": "weighted-sum", "weights": [0, 0]}, "all are 0"),
        ({"method": "weighted-sum", "weights": 0.5}, "expected a list of numbers"),
        ({"method": "weighted-sum", "weights": "0.5,0.5"}, "expected a list of numbers"),
        ({"method": "weighted-sum", "weights": {"bm25": 1, "dens": 1}}, "Did you mean 'dense'"),
        ({"method": "weighted-sum", "weights": {"bm25": 1}}, "'dense' has none"),
        ({"method": "rrf", "judgments": {"q": {"a": 1}}}, "learns nothing"),
        ({"method": "segfuse", "judgments": {"q": {"a": 1}}, "sizes": "rank"}, "Did you mean 'ranx'"),
        ({"method": "probfuse", "judgments": {"q": {"a": 1}}, "segments": 0}, "segments is 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match="(?s)" + words.replace("(", r"\(")):
        fuse(BOTH, **settings)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.learn])
def test_methods_that_learn_say_that_they_need_judgments(name: str) -> None:
    with pytest.raises(UsageError, match="learns from judged queries"):
        fuse(BOTH, name)


def test_judgments_of_none_of_the_queries_are_refused() -> None:
    with pytest.raises(DataError, match="nothing to learn from"):
        fuse(BOTH, "mapfuse", judgments={"other": {"a": 1}})


def test_judgments_without_a_relevant_document_are_noticed() -> None:
    query = next(iter(next(iter(BOTH.values()))))
    with pytest.warns(UserWarning, match="no relevant document of its queries is in the rankings, so bayesfuse cannot"):
        found = fuse(BOTH, "bayesfuse", judgments={query: {"nowhere": 1}})
    assert len(set(found[query].values())) == 1


def test_one_ranking_works_and_says_so() -> None:
    with pytest.warns(UserWarning, match="only one ranking, 'bm25'"):
        found = fuse({"bm25": ONE})
    assert list(found["q"]) == ["a", "b"]


def test_no_query_in_common_is_refused() -> None:
    with pytest.raises(DataError, match=r"no query is in two of them.*'bm25' has 'q1'.*'dense' has '1'"):
        fuse({"bm25": {"q1": ["a"]}, "dense": {"1": ["a"]}})


def test_no_ranking_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match="got none"):
        fuse([])
    with pytest.raises(UsageError, match="expected"):
        fuse("one.run")
    with pytest.raises(UsageError, match="expected"):
        fuse(7)


@pytest.mark.parametrize("method", ["combsum", "combmed"])
def test_scores_that_are_not_there_are_missed(method: str) -> None:
    with pytest.raises(DataError, match=r"'dense' has no scores.*normalise='rank'"):
        fuse({"bm25": ONE, "dense": {"q": ["a"]}}, method)
    assert fuse({"bm25": ONE, "dense": {"q": ["a"]}}, method, normalise="rank")


def test_one_query_without_scores_is_enough_to_miss_them() -> None:
    mixed = {"r": [("a", 1.0)], "q": ["a", "b"], "s": {"b": 2.0, "a": 3.0}, "t": []}
    with pytest.raises(DataError, match="'dense' has no scores"):
        fuse({"bm25": {query: {"a": 1.0} for query in mixed}, "dense": mixed}, "combsum")
    found = fuse({"one": mixed, "two": mixed})
    assert {query: list(docs) for query, docs in found.items()} == {
        "r": ["a"],
        "q": ["a", "b"],
        "s": ["a", "b"],
        "t": [],
    }


def test_nan_and_infinite_scores_are_refused() -> None:
    with pytest.raises(DataError, match=r"'dense'.*'c'.*nan"):
        fuse({"bm25": ONE, "dense": {"q": {"c": math.nan}}})
    with pytest.raises(DataError, match="'dense', query 'q', document 'c': got the score inf"):
        fuse({"bm25": ONE, "dense": {"q": {"c": math.inf}}}, "combsum")
    assert fuse({"bm25": ONE, "dense": {"q": {"c": math.inf}}}, "rrf")


def test_a_nan_in_a_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.run").write_text("q Q0 a 1 2 x\nq Q0 b 2 nan x\n")
    with pytest.raises(DataError, match=r"bad\.run.*2"):
        fuse([tmp_path / "bad.run", ONE])


def test_a_document_twice_is_named_with_both_lines(tmp_path: Path) -> None:
    (tmp_path / "twice.run").write_text("q Q0 a 1 2 x\nq Q0 b 2 1 x\nq Q0 a 3 0 x\n")
    with pytest.raises(DataError, match=r"twice\.run.*'q'.*'a'.*\(lines 1 and 3\)"):
        fuse([tmp_path / "twice.run", ONE])
    with pytest.raises(DataError, match="'a' twice"):
        fuse([{"q": ["a", "b", "a"]}, ONE])


def test_text_and_integers_as_ids_do_not_meet_in_silence() -> None:
    with pytest.raises(DataError, match="'two', queries: got ids that are integers"):
        fuse({"one": {"1": ["a"]}, "two": {1: ["a"]}})
    with pytest.raises(DataError, match="'two', documents: got ids that are integers"):
        fuse({"one": {"q": ["7"]}, "two": {"q": [7]}})
    with pytest.raises(DataError, match="queries: got ids that are text where the others are integers"):
        fuse([ONE, TWO], "mapfuse", judgments={1: {2: 1}})


@pytest.mark.parametrize("junk", [None, 3, "nowhere.run", {"a": 1}, {"q": None}, {"q": {"a": "x"}}, object()])
@pytest.mark.parametrize("method", ["rrf", "combsum"])
def test_no_junk_gets_through_or_crashes(junk: Any, method: str) -> None:
    with pytest.raises((UsageError, DataError)):
        fuse([ONE, junk], method)


def test_extreme_scores_leave_no_nan() -> None:
    wide = {"q": {"a": 1e300, "b": -1e300, "c": 5e-324, "d": 5e-324}}
    for normalise in ("min-max", "z-score", "sum", "rank", "borda"):
        found = fuse([wide, ONE], "combsum", normalise=normalise)
        assert np.isfinite(list(found["q"].values())).all(), normalise
