"""What a profile may say, and what it leaves alone."""

from __future__ import annotations

import pickle

import pytest

from rankproof import evaluate
from rankproof.core.conventions import Conventions
from rankproof.core.measure import Measure
from rankproof.core.names import REGISTRY, parse
from rankproof.core.profiles import PROFILES, as_in, find
from rankproof.errors import UsageError
from rankproof.scoring.catalogue import profile as in_words
from rankproof.scoring.evaluate import apply_profile


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_names_only_what_exists(name: str) -> None:
    profile = PROFILES[name]
    for measure, params in profile.measures.items():
        assert dict(REGISTRY[measure].with_params(params).params) | dict(params) == REGISTRY[measure](**params).params
    Conventions(**profile.conventions)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_says_in_words_what_it_changes(name: str) -> None:
    said = in_words(find(name))
    assert name in said
    assert len(said) > 80


def test_an_unknown_profile_is_met_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"got 'elastisearch'.*Did you mean 'elasticsearch'\?"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, profile="elastisearch")


def test_parameters_that_were_given_stay() -> None:
    assert str(as_in(find("elasticsearch"), parse("nDCG(ideal='top')@5"))) == "nDCG(gain='exp', ideal='top')@5"


@pytest.mark.parametrize("name", ["P(denominator='k')@5", REGISTRY["P"](denominator="k") @ 5])
def test_a_parameter_that_was_given_stays_though_it_is_the_usual_one(name: str | Measure) -> None:
    scores = evaluate({"q": {"a": 1}}, {"q": ["a"]}, name, profile="elasticsearch")
    assert (scores["P@5"], [*scores.columns]) == (0.2, ["P@5"])
    assert evaluate({"q": {"a": 1}}, {"q": ["a"]}, "P@5", profile="elasticsearch")["P@5"] == 1.0


def test_a_grade_that_was_given_stays_where_the_tool_would_take_one_from_the_judgments() -> None:
    judged, run = {"q": {"a": 1, "b": 4}}, {"q": ["a", "b"]}
    assert evaluate(judged, run, "P@2", profile="opensearch")["P@2"] == 0.5
    assert evaluate(judged, run, "P(rel=1)@2", profile="opensearch")["P@2"] == 1.0


def test_one_name_for_two_measures_of_a_profile_is_an_error() -> None:
    both = ["P@5", "P(denominator='k')@5"]
    with pytest.raises(UsageError, match=r"P@5: asked for twice under profile 'quepid', as P\(denominator"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, both, profile="quepid")
    assert [*evaluate({"q": {"a": 1}}, {"q": ["a"]}, both).means] == ["P@5"]


def test_what_was_given_survives_a_pickle() -> None:
    again = pickle.loads(pickle.dumps(parse("P(denominator='k')@5")))
    assert (str(again), str(as_in(find("quepid"), again))) == ("P@5", "P@5")


def test_conventions_that_were_given_stay() -> None:
    _, conventions, _ = apply_profile("elasticsearch", [], Conventions(ties="worst"))
    assert (conventions.ties, conventions.profile) == ("worst", "elasticsearch")


@pytest.mark.parametrize(
    ("given", "mean"), [({}, 1.0), ({"missing": "zero"}, 0.5), ({"missing": "skip"}, 1.0)], ids=str
)
def test_a_convention_that_was_given_stays_though_it_is_the_usual_one(given: dict, mean: float) -> None:
    """One of two judged queries is answered, and trec_eval 9 leaves the other out."""
    scores = evaluate({"q": {"a": 1}, "r": {"b": 1}}, {"q": ["a"]}, "RR", profile="trec_eval-9", **given)
    assert scores["RR"] == mean
    assert scores.conventions.precision == "float32"


def test_the_usual_order_of_equal_scores_can_be_asked_for_under_a_profile() -> None:
    run = {"q": {"a": 1.0, "b": 1.0}}
    assert evaluate({"q": {"a": 1}}, run, "RR", profile="ranx")["RR"] == 1
    assert evaluate({"q": {"a": 1}}, run, "RR", profile="ranx", ties="trec")["RR"] == 0.5


def test_scores_are_found_by_the_name_that_was_asked_for_and_by_their_own() -> None:
    scores = evaluate({"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}, "nDCG@10", profile="quepid")
    assert scores["nDCG@10"] == scores["nDCG(gain='exp', ideal='uncut')@10"] != pytest.approx(0.7967, abs=1e-3)


def test_two_names_that_a_profile_makes_one_measure_both_find_it() -> None:
    scores = evaluate({"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}, ["DCG", "DCG(gain='exp')"], profile="quepid")
    assert scores["DCG"] == scores["DCG(gain='exp')"]
    assert len(scores.per_query) == 1


def test_opensearch_rounds_halves_up_before_the_mean() -> None:
    ranking = {"q": ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "a"]}
    assert evaluate({"q": {"a": 1}}, ranking, "RR", profile="opensearch")["RR"] == 0.13
