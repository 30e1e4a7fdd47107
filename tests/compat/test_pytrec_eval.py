"""`rankproof.compat.pytrec_eval` answers as pytrec_eval does, and refuses what it dies of."""

import math
import random

import numpy as np
import pytest

from rankproof import evaluate
from rankproof.compat import pytrec_eval as ours
from rankproof.errors import DataError, RankproofError, UsageError
from tests.each import with_each

theirs = pytest.importorskip("pytrec_eval")

GRADES = (-2, -1, -1, 0, 0, 0, 1, 1, 1, 2, 3)
CLOSE = (0.9, 0.900000001, 16777216.0, 16777217.0)
"""Scores of which two and two are equal in single precision."""


def scores(rnd, documents):
    some = [rnd.random(), round(rnd.random(), 1), rnd.choice(CLOSE), -rnd.random()]
    return {document: rnd.choice(some) for document in documents}


def random_input(seed):
    """Judgments and a run with ties, negative grades, unjudged documents, and queries on one side only."""
    rnd = random.Random(seed)
    documents = [f"d{i}" for i in range(rnd.choice([5, 30, 60]))]
    queries = [f"q{i}" for i in range(12)]
    judged = {query: rnd.sample(documents, rnd.randrange(1, len(documents))) for query in queries[:10]}
    qrel = {query: {d: rnd.choice(GRADES) for d in [*some]} for query, some in judged.items()}
    for grades in qrel.values():
        if max(grades.values()) < 0:
            grades[next(iter(grades))] = 0
    run = {q: scores(rnd, rnd.sample(documents, rnd.randrange(1, len(documents)))) for q in queries[2:]}
    return qrel, run


def same(a, b):
    return list(a) == list(b) and all(values_agree(a[query], b[query]) for query in a)


def values_agree(a, b):
    return list(a) == list(b) and all(math.isclose(a[k], b[k], rel_tol=1e-9, abs_tol=1e-12) for k in a)


@pytest.mark.slow
@with_each("seed", range(60))
@pytest.mark.parametrize(("level", "judged_only"), [(1, False), (2, False), (1, True)])
def test_every_measure_on_random_input(seed, level, judged_only):
    qrel, run = random_input(seed)
    if judged_only:
        run = {query: {**ranking, some_judged(qrel.get(query)): 0.5} for query, ranking in run.items()}
    measures = theirs.supported_measures
    expected = theirs.RelevanceEvaluator(qrel, measures, level, judged_only).evaluate(run)
    assert same(ours.RelevanceEvaluator(qrel, measures, level, judged_only).evaluate(run), expected)


def some_judged(grades):
    """A document that stays when unjudged ones go: without any, trec_eval divides by 0."""
    return next(document for document, grade in grades.items() if grade >= 0) if grades else "d0"


@pytest.mark.parametrize(
    "measures",
    [
        {"map"},
        {"ndcg_cut.10"},
        {"ndcg_cut_10", "ndcg_cut.3,5"},
        {"P_5", "P.10,20"},
        {"P", "P_3"},
        {"iprec_at_recall_0.5,0.1"},
        {"set_F.0.5"},
        {"set_F_2"},
        {"11pt_avg_0.5"},
        {"Rprec_mult.0.5,3"},
        {"official"},
        {"set"},
        {"all_trec"},
        {"recip_rank.1"},
        {"success_1,5"},
        {"relstring.4"},
    ],
)
def test_names_and_keys(measures):
    qrel, run = random_input(7)
    expected = theirs.RelevanceEvaluator(qrel, measures).evaluate(run)
    assert same(ours.RelevanceEvaluator(qrel, measures).evaluate(run), expected)


def test_lists_of_names_are_the_same():
    assert ours.supported_measures == theirs.supported_measures
    assert ours.supported_nicknames == theirs.supported_nicknames


@pytest.mark.parametrize(("measure", "values"), [("map", [0.5, 1.0]), ("num_ret", [3, 4]), ("gm_map", [-1.0, -2.0])])
def test_aggregation(measure, values):
    expected = theirs.compute_aggregated_measure(measure, values)
    assert ours.compute_aggregated_measure(measure, values) == pytest.approx(expected, rel=1e-15)


def test_files_are_read_alike():
    run, qrel = (
        ["q1 Q0 d1 1 2.5 x\n", "q1 Q0 d2 2 2 x\n", "q2 Q0 d1 1 -1e3 x\n"],
        ["q1 0 d1 1\n", "q2 0 d1 -1\n"],
    )
    assert ours.parse_run(run) == theirs.parse_run(run)
    assert ours.parse_qrel(qrel) == theirs.parse_qrel(qrel)


def test_nothing_to_evaluate():
    evaluator = ours.RelevanceEvaluator({"q1": {"a": 1}, "q2": {}}, {"map"})
    assert evaluator.evaluate({}) == {}
    assert evaluator.evaluate({"q2": {"a": 1.0}, "q3": {"a": 1.0}}) == {}


def test_an_empty_ranking_counts_zero_where_pytrec_eval_dies():
    evaluator = ours.RelevanceEvaluator({"q1": {"a": 1}}, {"map", "P_5", "num_ret", "iprec_at_recall_0.0"})
    values = evaluator.evaluate({"q1": {}})["q1"]
    assert values == {"num_ret": 0, "map": 0, "iprec_at_recall_0.00": 0, "P_5": 0}


def test_a_query_with_only_negative_grades_has_nothing_relevant():
    assert ours.RelevanceEvaluator({"q": {"a": -2}}, {"map"}).evaluate({"q": {"a": 1.0}}) == {"q": {"map": 0.0}}


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ours.RelevanceEvaluator({"q": {"a": 1}}, {"P_0"}), UsageError, "at least 1"),
        (lambda: ours.RelevanceEvaluator({"q": {"a": 1}}, {"ndcg.1"}), UsageError, "grade=gain"),
        (
            lambda: ours.RelevanceEvaluator({"q": {"a": 1}}, {"mapp"}),
            UsageError,
            "unsupported measure mapp. Did you mean 'map'",
        ),
        (lambda: ours.RelevanceEvaluator({"q": {"a": 1}}, {"P_5x"}), UsageError, "unsupported measure P_5x"),
        (lambda: ours.RelevanceEvaluator({"q": {"a": 1}}, {"prefs"}), UsageError, "unsupported measure"),
        (
            lambda: ours.RelevanceEvaluator({"q": {"a": 1.5}}, {"map"}),
            DataError,
            "got grade 1.5, expected a whole number",
        ),
        (
            lambda: ours.RelevanceEvaluator({"q": {"a": 1}}, {"map"}, relevance_level=0),
            UsageError,
            "at least 1",
        ),
        (
            lambda: ours.RelevanceEvaluator({"q": {"a": 1}}, {"utility.1"}),
            UsageError,
            "got 1 numbers, expected 4",
        ),
        (lambda: ours.parse_run(["q Q0 a 1 x t"]), DataError, "line 1: got 'x', expected a number as score"),
        (lambda: ours.parse_run(["q Q0 a 1"]), DataError, "line 1: got 4 fields"),
        (
            lambda: ours.parse_qrel(["q 0 a 1", "q 0 a 1"]),
            DataError,
            "line 2: document 'a' comes a second time",
        ),
        (lambda: ours.compute_aggregated_measure("map", []), UsageError, "got no values"),
    ],
)
def test_what_cannot_be_is_an_error(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("score", [math.nan, "1", None])
def test_a_score_that_is_no_number_is_an_error(score):
    evaluator = ours.RelevanceEvaluator({"q": {"a": 1, "b": 0}}, {"recip_rank"})
    with pytest.raises(DataError):
        evaluator.evaluate({"q": {"a": score, "b": 2.0}})


def test_infinite_scores_are_in_order():
    evaluator = ours.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"})
    assert evaluator.evaluate({"q": {"a": math.inf, "b": 2.0}})["q"]["recip_rank"] == 1.0


@pytest.mark.slow
@with_each("seed", range(40))
def test_set_f_is_the_same_to_the_last_digit(seed):
    """Of some thousand values rounded to four places one is another where the order of operations is another."""
    rnd = random.Random(seed)
    documents = [f"d{i}" for i in range(200)]
    qrel = {f"q{i}": dict.fromkeys(rnd.sample(documents, rnd.randrange(1, 90)), 1) for i in range(40)}
    run = {query: scores(rnd, rnd.sample(documents, rnd.randrange(1, 200))) for query in qrel}
    expected = theirs.RelevanceEvaluator(qrel, {"set_F", "set_P", "set_recall"}).evaluate(run)
    assert ours.RelevanceEvaluator(qrel, {"set_F", "set_P", "set_recall"}).evaluate(run) == expected
    assert evaluate(qrel, run, "set_F").per_query["F"] == {q: row["set_F"] for q, row in expected.items()}


@pytest.mark.slow
@with_each("seed", range(60))
def test_true_and_false_are_taken_for_1_and_0(seed):
    qrel, run = random_input(seed)
    rnd = random.Random(seed)
    for table in (qrel, run):
        for row in table.values():
            for document in rnd.sample(list(row), rnd.randrange(1, len(row) + 1)):
                row[document] = rnd.random() < 0.5
    level = rnd.choice([True, np.int64(1), np.int32(2), 1])
    expected = theirs.RelevanceEvaluator(qrel, theirs.supported_measures, level).evaluate(run)
    assert same(ours.RelevanceEvaluator(qrel, theirs.supported_measures, level).evaluate(run), expected)


def test_no_run_has_no_values():
    evaluator = ours.RelevanceEvaluator({"q": {"a": True}}, {"map"})
    assert evaluator.evaluate(None) == evaluator.evaluate({}) == {}


def test_none_in_the_place_of_an_argument_is_said_in_words():
    judged = {"q": {"a": 1}}
    for call, said in (
        (lambda: ours.RelevanceEvaluator(None, {"map"}), "query_relevance: got None, expected a mapping"),
        (lambda: ours.RelevanceEvaluator({"q": None}, {"map"}), "query 'q': got None .*expected {doc: grade}"),
        (lambda: ours.RelevanceEvaluator(judged, None), "measures: got None, expected names of measures"),
        (lambda: ours.RelevanceEvaluator(judged, {None}), "measures: got {None}, expected names of measures"),
        (lambda: ours.parse_run(None), "f_run: got None"),
        (lambda: ours.parse_qrel(None), "f_qrel: got None"),
        (lambda: ours.compute_aggregated_measure("map", None), "values: got None"),
        (lambda: ours.compute_aggregated_measure(None, [1.0]), "measure: got None, expected a text"),
    ):
        with pytest.raises(RankproofError, match=f"{said}.* Next: "):
            call()
