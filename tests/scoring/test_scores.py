"""`evaluate` and `Scores`: names, views, slices, and the way out and back."""

from __future__ import annotations

import json
import random
import re

import pytest

import rankproof
from rankproof import AP, RR, P, R, Scores, evaluate, nDCG, prepare
from rankproof.errors import DataError, UsageError

JUDGED = {"q1": {"d1": 1, "d2": 1, "d4": 1}, "q2": {"d1": 1, "d2": 1}}
RUN = {"q1": ["d1", "d3", "d5", "d2", "d7"], "q2": ["d6", "d8", "d1", "d9", "d2"]}


@pytest.fixture
def scores() -> Scores:
    return evaluate(JUDGED, RUN, [P @ 5, R @ 5, RR, AP, nDCG @ 5], by={"q1": "short", "q2": "long"})


def test_a_mean_is_found_by_its_name_its_measure_and_other_names(scores: Scores) -> None:
    assert scores["P@5"] == scores[P @ 5] == scores["precision@5"] == scores["P_5"] == pytest.approx(0.4)
    assert scores["MRR"] == scores["RR"] == scores["recip_rank"] == pytest.approx(2 / 3)
    assert scores["MAP"] == pytest.approx(0.4333, abs=5e-5)
    assert "NDCG@5" in scores
    assert "nDCG@10" not in scores
    assert list(scores) == ["P@5", "R@5", "RR", "AP", "nDCG@5"]


def test_what_was_not_measured_is_a_key_error_that_says_what_was(scores: Scores) -> None:
    with pytest.raises(KeyError, match=r"nDCG@10 was not measured; there are P@5, R@5"):
        scores["nDCG@10"]
    with pytest.raises(KeyError, match="unknown measure"):
        scores["nonsense"]


def test_values_per_query_and_the_worst_first(scores: Scores) -> None:
    assert scores.per_query["recall@5"] == {"q1": pytest.approx(2 / 3), "q2": 1.0}
    assert [query for query, _ in scores.worst(1, "RR")] == ["q2"]
    assert set(scores.per_query) == set(scores)


def test_lower_is_better_measures_have_their_highest_as_worst() -> None:
    found = evaluate(JUDGED, RUN, "FirstRel")
    assert found.worst(1) == [("q2", 3.0)]


def test_default_measures() -> None:
    assert list(evaluate(JUDGED, RUN)) == ["nDCG@10", "RR@10", "AP", "P@5", "R@5", "R@100", "Success@5"]


def test_a_profile_keeps_the_names_one_asked_for() -> None:
    found = evaluate(JUDGED, RUN, "nDCG@5, P@5", profile="elasticsearch")
    assert found["nDCG@5"] == found["nDCG(gain='exp', ideal='hits')@5"]
    assert found.definition["conventions"]["profile"] == "elasticsearch"
    assert found.per_query["nDCG@5"].keys() == JUDGED.keys()


def test_what_was_asked_for_explicitly_wins_over_the_profile() -> None:
    found = evaluate(JUDGED, RUN, "nDCG(gain='linear', ideal='all')@5, P@5", profile="quepid", ties="id")
    assert found.conventions.ties == "id"


def test_slices(scores: Scores) -> None:
    assert set(scores.slices) == {"short", "long"}
    assert scores.slices["long"]["RR"] == pytest.approx(1 / 3)
    assert scores.slices["short"].per_query["RR"] == {"q1": 1.0}
    assert scores.slices["long"].ceiling("P@5") == pytest.approx(0.4)


def test_slices_by_a_function_and_their_errors() -> None:
    assert evaluate(JUDGED, RUN, "RR", by=lambda q: q[-1]).slices["2"]["RR"] == pytest.approx(1 / 3)
    with pytest.raises(DataError, match="gives none of the 2 judged queries a group"):
        evaluate(JUDGED, RUN, "RR", by={"query1": "a"})
    with pytest.raises(UsageError, match="not a file, and these judgments have no columns"):
        evaluate(JUDGED, RUN, "RR", by="kind")


def test_limits(scores: Scores) -> None:
    assert scores.ceiling("P@5") == pytest.approx((3 / 5 + 2 / 5) / 2)
    assert scores.ceiling("RR") == 1.0
    never_found, too_low = scores.split("RR") or (0, 0)
    assert (never_found, too_low) == (0.0, pytest.approx(1 / 3))
    never_found, too_low = scores.split("R@5") or (0, 0)
    assert (never_found, too_low) == (pytest.approx(1 / 6), 0.0)
    assert scores.bounds("RR", of="unjudged") == (pytest.approx(2 / 3), 1.0)
    assert scores.bounds("AP", of="unjudged") is None or scores.bounds("AP", of="unjudged")[1] <= 1  # type: ignore[index]
    low, high = scores.interval("RR")
    assert 0 <= low <= scores["RR"] <= high <= 1.5


def test_bounds_under_ties() -> None:
    found = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5}}, "RR")
    assert found["RR"] == pytest.approx(1 / 3)
    assert found.bounds("RR") == (pytest.approx(1 / 3), 1.0)


def test_out_and_back_through_json(scores: Scores) -> None:
    back = Scores.from_dict(json.loads(json.dumps(scores.to_dict())))
    assert back.means == scores.means
    assert {m: back.per_query[m] for m in back} == {m: scores.per_query[m] for m in scores}
    assert back.definition == scores.definition
    assert {type(each) for each in scores.definition["conventions"].values()} <= {str, float, int, type(None)}
    assert back.interval("AP") == scores.interval("AP")
    assert back.ceiling("P@5") == scores.ceiling("P@5")
    assert back.split("RR") == scores.split("RR")
    assert back.slices["long"].means == scores.slices["long"].means
    assert [f.kind for f in back.audit] == [f.kind for f in scores.audit]
    assert json.loads(json.dumps(back.to_dict())) == json.loads(json.dumps(scores.to_dict()))


def test_skipped_queries_stay_skipped_on_the_way_back() -> None:
    found = evaluate({"q1": {"a": 1}, "q2": {"a": 0}}, {"q1": ["a"]}, "AP", no_relevant="skip")
    back = Scores.from_dict(json.loads(json.dumps(found.to_dict())))
    assert back.per_query["AP"] == {"q1": 1.0}
    assert back["AP"] == 1.0


def test_frames(scores: Scores) -> None:
    pandas, polars = scores.frame("pandas"), scores.frame("polars")
    assert list(pandas.columns) == ["query", "P@5", "R@5", "RR", "AP", "nDCG@5"]
    assert pandas["RR"].tolist() == polars["RR"].to_list() == [1.0, pytest.approx(1 / 3)]


def test_judgments_prepared_once_give_the_same() -> None:
    prepared = prepare(JUDGED)
    for _ in range(2):
        assert evaluate(prepared, RUN, "AP").means == evaluate(JUDGED, RUN, "AP").means


def test_evaluate_does_not_change_what_it_is_given() -> None:
    judged, run = {"q": {"a": 1}}, {"q": [("a", 1.0), ("b", 0.5)]}
    evaluate(judged, run, "AP, nDCG@3", ties="expected", unjudged="relevant")
    assert (judged, run) == ({"q": {"a": 1}}, {"q": [("a", 1.0), ("b", 0.5)]})


def test_measures_of_another_kind_are_refused_with_the_way_to_them() -> None:
    with pytest.raises(UsageError, match="reads two rankings"):
        evaluate(JUDGED, RUN, "RBO")


def test_results_do_not_depend_on_the_run_before() -> None:
    rnd = random.Random(5)
    judged = {f"q{i}": {f"d{j}": rnd.randrange(3) for j in range(8)} for i in range(20)}
    run = {q: {f"d{j}": float(rnd.randrange(3)) for j in range(30)} for q in judged}
    first = evaluate(judged, run, "ERR@10, nDCG@10", ties="expected")
    evaluate(JUDGED, RUN, "AP", ties="expected")
    again = evaluate(judged, run, "ERR@10, nDCG@10", ties="expected")
    assert first.means == again.means
    assert first.interval("nDCG@10") == again.interval("nDCG@10")


def test_public_names() -> None:
    for name in rankproof.__all__:
        assert getattr(rankproof, name) is not None
    assert str(rankproof.nDCG @ 10) == "nDCG@10"
    with pytest.raises(AttributeError, match="no attribute 'precison'"):
        rankproof.precison  # noqa: B018


@pytest.mark.parametrize("judgments", [{}, {"q": {}}])
def test_empty_judgments(judgments: dict[str, dict[str, int]]) -> None:
    if not judgments:
        with pytest.raises(DataError):
            evaluate(judgments, {"q": ["a"]}, "AP")
    else:
        assert evaluate(judgments, {"q": ["a"]}, "AP")["AP"] == 0.0


def test_one_query_says_nothing_about_the_mean() -> None:
    found = evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "RR")
    assert found.interval("RR") == (float("-inf"), float("inf"))
    assert (found.row("RR").low, found.row("RR").high) == (None, None)
    json.dumps(found.to_dict(), allow_nan=False)


def test_limits_of_one_order_are_not_shown_for_means_over_orders() -> None:
    judged, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    assert evaluate(judged, run, "RR").split("RR") == (0.0, 0.5)
    for rule in ("expected", "best", "worst"):
        found = evaluate(judged, run, "RR", ties=rule)
        assert found.split("RR") is None
        assert found.bounds("RR", of="unjudged") is None
        assert found.bounds("RR") == (0.5, 1.0)


@pytest.mark.parametrize("run", [{"q": ["x", "a"]}, {"q": {"x": 2.0, "a": 1.0}}, {"q": {"x": 1.0, "y": 1.0}}, {}])
def test_where_nothing_is_tied_both_tie_bounds_are_the_mean(run: dict[str, object]) -> None:
    scores = evaluate({"q": {"a": 1}}, run, ["RR", "AP"])
    for each in (scores, Scores.from_dict(scores.to_dict())):
        assert [each.bounds(m) for m in each] == [(each[m], each[m]) for m in each]


def test_bounds_for_the_unjudged_where_equal_scores_hold_no_judged_document() -> None:
    scores = evaluate({"q": {"a": 1}}, {"q": {"x": 1.0, "y": 1.0}}, ["P@2", "RR"])
    assert [scores.bounds(m, of="unjudged") for m in scores] == [(0.0, 1.0), (0.0, 1.0)]


EVERYWHERE = "Success@5, RR, P@5, AP, nDCG@10, DCG, TP, GMAP, FirstRel, NumRet, Utility, yaap"


@pytest.mark.slow
def test_no_face_shows_an_interval_of_no_width_for_a_few_equal_values() -> None:
    """And what is saved gives the same intervals, of groups too, as the range is saved with it."""
    for n in (2, 3, 5, 9, 12):
        relevant = {f"q{i}": {"a": 1} for i in range(n)}
        groups = {f"q{i}": "odd" if i % 2 else "even" for i in range(n)}
        for ranking in (["a", "b"], ["b", "c", "a"], ["x"]):
            scores = evaluate(relevant, dict.fromkeys(relevant, ranking), EVERYWHERE, by=groups)
            back = Scores.from_dict(json.loads(json.dumps(scores.to_dict())))
            pairs = [(scores, back), *((scores.slices[g], back.slices[g]) for g in scores.slices)]
            for measure in scores:
                for one, other in pairs:
                    low, high = one.interval(measure)
                    assert (low, high) == other.interval(measure), (n, ranking, measure)
                    assert low < high, (n, ranking, measure)
                    assert low <= one[measure] <= high
            text = "".join(scores.format(form) for form in ("table", "markdown", "latex"))
            assert not re.search(r"\[([\d.]+), \1\]", text)


def test_no_query_is_thought_to_score_more_than_any_of_them_could() -> None:
    relevant = {f"q{i}": {"a": 1} for i in range(20)}
    scores = evaluate(relevant, {q: ["a"] if i else ["b"] for i, q in enumerate(relevant)}, "P@5, Success@5, DCG@5")
    hits, precision = scores.interval("Success@5"), scores.interval("P@5")
    assert precision == pytest.approx((hits[0] / 5, hits[1] / 5), abs=1e-6)
    assert scores.interval("DCG@5") == pytest.approx(hits, abs=1e-6)
    assert precision[1] < scores.ceiling("P@5") == pytest.approx(0.2)
