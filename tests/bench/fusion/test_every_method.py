"""What holds for every method: order of inputs, agreement, ties, holes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankproof import fuse
from rankproof.bench.fusion import METHODS
from rankproof.bench.fusion.scores import NORMALISATIONS

UNTRAINED = [name for name, method in METHODS.items() if method.learn is None]
READ_SCORES = [name for name, method in METHODS.items() if "score" in method.reads]
WEIGHED = [name for name, method in METHODS.items() if "weights" in method.reads]
WEIGHTS = {"one": 0.5, "two": 0.25, "three": 1.0}
READ_RANKS = [name for name in METHODS if name not in READ_SCORES]


def shuffled(table: dict[str, Any], seed: int) -> dict[str, Any]:
    keys = np.random.default_rng(seed).permutation(list(table)).tolist()
    return {key: table[key] for key in keys}


@pytest.mark.parametrize("name", METHODS)
def test_no_order_of_the_input_makes_a_difference(name: str, rankings: Any, judgments: Any, settings_of: Any) -> None:
    expected = fuse(rankings, name, **settings_of(name, judgments))
    for seed in range(3):
        others = {key: shuffled({q: shuffled(docs, seed) for q, docs in ranking.items()}, seed)
                  for key, ranking in shuffled(rankings, seed).items()}  # fmt: skip
        found = fuse(others, name, **settings_of(name, shuffled(judgments, seed)))
        # not approximately: a sum in another order can make or break a tie
        assert found == expected
        assert all(list(found[query]) == list(expected[query]) for query in expected)


@pytest.mark.parametrize("name", METHODS)
def test_every_document_gets_a_finite_score_and_stands_in_order(
    name: str, rankings: Any, judgments: Any, settings_of: Any
) -> None:
    found = fuse(rankings, name, **settings_of(name, judgments))
    for query, docs in found.items():
        assert set(docs) == {doc for ranking in rankings.values() for doc in ranking[query]}
        assert np.isfinite(list(docs.values())).all()
        ordered = sorted(sorted(docs, reverse=True), key=lambda doc: -docs[doc])
        assert list(docs) == ordered


@pytest.mark.parametrize("name", UNTRAINED)
def test_rankings_that_agree_are_left_in_their_order(name: str, settings_of: Any) -> None:
    ranking = {"q": {f"d{i}": 9.0 - i for i in (3, 0, 4, 1, 2)}}
    found = fuse(dict.fromkeys(WEIGHTS, ranking), name, **settings_of(name, None))
    assert list(found["q"]) == ["d0", "d1", "d2", "d3", "d4"]


@pytest.mark.parametrize("name", METHODS)
def test_a_query_is_fused_from_the_rankings_that_answer_it(
    name: str, rankings: Any, judgments: Any, settings_of: Any
) -> None:
    del rankings["one"]["q3"], rankings["two"]["q3"]
    rankings["three"]["q5"] = {}
    settings = settings_of(name, judgments)
    found = fuse(rankings, name, **settings)
    assert set(found["q3"]) == set(rankings["three"]["q3"])
    assert set(found["q5"]) == set(rankings["one"]["q5"]) | set(rankings["two"]["q5"])


def test_a_query_answered_with_nothing_stays_so() -> None:
    assert fuse([{"q": [], "r": ["a"]}, {"q": [], "r": ["a"]}])["q"] == {}
    assert fuse([{"q": []}, {"q": []}], "combsum") == {"q": {}}


@pytest.mark.parametrize("name", READ_RANKS)
def test_ranks_are_taken_from_scores_by_the_rule_for_ties(name: str, judgments: Any, settings_of: Any) -> None:
    tied = {f"q{q}": {"d01": 1.0, "d03": 1.0, "d02": 1.0, "d04": 2.0} for q in range(8)}
    in_order = {query: ["d04", "d03", "d02", "d01"] for query in tied}
    other = {query: ["d02", "d05"] for query in tied}
    settings = settings_of(name, judgments)
    assert fuse([tied, other], name, **settings) == fuse([in_order, other], name, **settings)


def test_lists_are_in_their_own_order() -> None:
    assert list(fuse([{"q": ["a", "b"]}, {"q": ["a", "b"]}])["q"]) == ["a", "b"]


@pytest.mark.parametrize("name", READ_RANKS)
def test_scores_beyond_their_order_say_nothing_to_methods_of_ranks(
    name: str, rankings: Any, judgments: Any, settings_of: Any
) -> None:
    bent = {key: {q: {doc: np.exp(score) for doc, score in docs.items()} for q, docs in ranking.items()}
            for key, ranking in rankings.items()}  # fmt: skip
    settings = settings_of(name, judgments)
    assert fuse(bent, name, **settings) == fuse(rankings, name, **settings)


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("name", READ_SCORES)
@pytest.mark.parametrize("scale", ["min-max", "sum", "z-score", "rank", "borda"])
def test_normalised_scores_know_no_unit(name: str, scale: str, rankings: Any, judgments: Any, settings_of: Any) -> None:
    # powers of two keep every digit, so that what was equal stays equal
    other = {
        **rankings,
        "two": {q: {d: 4 * s + 64 for d, s in docs.items()} for q, docs in rankings["two"].items()},
    }
    settings = settings_of(name, judgments) | {"normalise": scale}
    found, expected = fuse(other, name, **settings), fuse(rankings, name, **settings)
    for query, docs in expected.items():
        assert found[query] == pytest.approx(docs, abs=1e-12)


@pytest.mark.parametrize("name", [n for n in WEIGHED if n not in ("wmnz", "mixed")])  # these two count rankings
def test_a_ranking_without_weight_does_not_move_the_first_place(name: str, rankings: Any) -> None:
    weights = {"one": 1.0, "two": 0.0, "three": 0.0}
    found = fuse(rankings, name, weights=weights)
    for query, docs in rankings["one"].items():
        best = max(sorted(docs, reverse=True), key=docs.__getitem__)
        assert next(iter(found[query])) == best


@pytest.mark.parametrize("name", WEIGHED)
def test_only_the_ratio_of_weights_orders(name: str, rankings: Any) -> None:
    doubled = {key: 2 * weight for key, weight in WEIGHTS.items()}
    once, twice = fuse(rankings, name, weights=WEIGHTS), fuse(rankings, name, weights=doubled)
    assert all(list(once[query]) == list(twice[query]) for query in once)


def test_weights_by_place_are_weights_by_name(rankings: Any) -> None:
    assert fuse(rankings, "wsum", weights=list(WEIGHTS.values())) == fuse(rankings, "wsum", weights=WEIGHTS)


@pytest.mark.parametrize("name", METHODS)
def test_depth_cuts_each_ranking_first(name: str, rankings: Any, judgments: Any, settings_of: Any) -> None:
    def cut(docs: dict[str, float]) -> dict[str, float]:
        kept = sorted(sorted(docs, reverse=True), key=lambda doc: -docs[doc])[:4]
        return {doc: docs[doc] for doc in kept}

    short = {key: {q: cut(docs) for q, docs in ranking.items()} for key, ranking in rankings.items()}
    settings = settings_of(name, judgments)
    assert fuse(rankings, name, depth=4, **settings) == fuse(short, name, **settings)


def test_every_method_and_normalisation_says_what_it_is() -> None:
    functions = [*(method.function for method in METHODS.values()), *NORMALISATIONS.values()]
    for function in functions:
        text = function.__doc__ or ""
        missing = [word for word in ("Formula:", "Range:", "Reference:", ">>> ") if word not in text]
        assert not missing, f"{function.__name__}: {missing}"


def test_integer_ids_come_back_as_integers() -> None:
    found = fuse([{1: [10, 11]}, {1: [11, 12]}])
    assert list(found) == [1]
    assert list(found[1]) == [11, 10, 12]
