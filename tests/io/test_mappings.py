"""Dicts and lists in memory: the same rows as a slow oracle finds, and errors that name what is wrong."""

from __future__ import annotations

import math
import random
import re
from collections import OrderedDict
from decimal import Decimal
from types import MappingProxyType

import numpy as np
import pytest

from rankproof.core.conventions import Conventions
from rankproof.core.join import Census, join
from rankproof.errors import DataError, UsageError
from rankproof.io.mappings import MappingRankings, judgments_from_mapping

NO = Conventions()


def rows(judgments, run, conventions=NO, census=None):
    """`{query: [(rank, doc, grade, first, last)]}` and `{query: retrieved}` as the join finds them."""
    table = judgments_from_mapping(judgments)
    census = Census() if census is None else census
    hits = join(table, MappingRankings(run).blocks(table, conventions, census), conventions)
    first = hits.rank if hits.first is None else hits.first
    last = hits.rank if hits.last is None else hits.last
    found = {query: [] for query in table.queries}
    for q, r, d, g, f, z in zip(hits.query, hits.rank, hits.doc, hits.grade, first, last, strict=True):
        found[table.queries[q]].append((int(r), table.docs[d], float(g), int(f), int(z)))
    return found, dict(zip(table.queries, hits.retrieved.tolist(), strict=True))


def entries_of(ranking, duplicates):
    """The entries of any kind of ranking as (doc, score), each document once."""
    if isinstance(ranking, dict):
        given = list(ranking.items())
    elif ranking and isinstance(ranking[0], tuple):
        given = list(ranking)
    else:
        given = [(doc, -place) for place, doc in enumerate(ranking)]
    kept = {}
    for doc, score in given:
        if doc in kept and not (duplicates == "best" and score > kept[doc]):
            continue
        kept.pop(doc, None)
        kept[doc] = score
    return list(kept.items())


def oracle(judgments, run, ties, duplicates):
    """The same by sorting every whole ranking."""
    found, retrieved = {}, {}
    for query, grades in judgments.items():
        entries = entries_of(run.get(query, []), duplicates)
        if ties != "input":
            entries.sort(key=lambda entry: entry[0].encode(), reverse=ties != "id")
        entries.sort(key=lambda entry: -entry[1])
        first = {score: rank for rank, (_, score) in reversed(list(enumerate(entries, 1)))}
        last = {score: rank for rank, (_, score) in enumerate(entries, 1)}
        found[query] = [
            (rank, doc, grades[doc], first[score], last[score])
            for rank, (doc, score) in enumerate(entries, 1)
            if doc in grades
        ]
        retrieved[query] = len(entries)
    return found, retrieved


def random_ranking(rnd, docs):
    kind = rnd.choice(["dict", "dict", "list", "pairs", "tuple"])
    chosen = rnd.sample(docs, rnd.randrange(len(docs)))
    if kind in ("dict", "pairs"):
        score = rnd.choice([lambda: rnd.randrange(-2, 3), lambda: round(rnd.random(), 1), rnd.random])
        pairs = [(doc, score()) for doc in chosen]
        repeated = [(doc, score()) for doc in chosen[:3]] if rnd.random() < 0.3 else []
        return dict(pairs) if kind == "dict" else pairs + repeated
    chosen += chosen[:2] if rnd.random() < 0.3 else []
    return tuple(chosen) if kind == "tuple" else chosen


def random_case(seed):
    rnd = random.Random(seed)
    docs = [f"d{i}" for i in range(rnd.choice([5, 40, 400]))] + ["é", "日本", "\U0001f600", "z"]
    judged = {f"q{i}": rnd.sample(docs, rnd.randrange(len(docs))) for i in range(12)}
    judgments = {query: {doc: float(rnd.randrange(-1, 4)) for doc in some} for query, some in judged.items()}
    run = {f"q{i}": random_ranking(rnd, docs) for i in range(15) if rnd.random() < 0.9}
    return judgments, run


@pytest.mark.first_is_quick
@pytest.mark.parametrize("duplicates", ["first", "best"])
@pytest.mark.parametrize("ties", ["trec", "input", "id", "expected", "best", "worst"])
def test_hits_are_those_of_sorting_each_ranking(ties, duplicates):
    for seed in range(25):
        judgments, run = random_case(seed)
        found = rows(judgments, run, Conventions(ties=ties, duplicates=duplicates))
        assert found == oracle(judgments, run, ties, duplicates)


def test_many_blocks_give_what_one_gives(monkeypatch):
    judgments, run = random_case(3)
    whole = rows(judgments, run, Conventions(duplicates="first"))
    monkeypatch.setattr("rankproof.io.mappings.BLOCK", 7)
    assert rows(judgments, run, Conventions(duplicates="first")) == whole


@pytest.mark.parametrize("score", [3, 3.0, np.float32(3), np.int64(3), Decimal(3), 1e308, -math.inf, math.inf])
def test_any_real_number_is_a_score(score):
    assert rows({"q": {"d": 1}}, {"q": {"d": score}})[0] == {"q": [(1, "d", 1.0, 1, 1)]}


@pytest.mark.parametrize(
    "score",
    [
        "3",
        "1.5",
        None,
        True,
        False,
        np.True_,
        b"3",
        3 + 0j,
        math.nan,
        np.float64("nan"),
        [1],
        {"a": 1},
        10**400,
    ],
)
@pytest.mark.parametrize("make", [dict, list], ids=["dict", "pairs"])
def test_anything_else_is_an_error_that_names_query_and_document(score, make):
    ranking = make([("good", 2.0), ("bad", score)])
    with pytest.raises(DataError, match=r"query 'q', document 'bad'.*(score|NaN)"):
        rows({"q": {"good": 1}}, {"q": ranking})


@pytest.mark.parametrize("doc", [1.5, None, True, b"d", ("a",), frozenset()])
def test_document_ids_must_be_text(doc):
    with pytest.raises(DataError, match=r"query 'q'.*id.*expected text"):
        rows({"q": {"a": 1}}, {"q": {doc: 1.0}})
    with pytest.raises(DataError, match=r"query 'q'"):
        rows({"q": {"a": 1}}, {"q": ["a", doc]})


@pytest.mark.parametrize("query", [1.5, None, True, b"q"])
def test_query_ids_must_be_text(query):
    with pytest.raises(DataError, match=r"ranking, queries: got .* as an id, expected text"):
        rows({"q": {"a": 1}}, {query: {"a": 1.0}})
    with pytest.raises(DataError, match=r"judgments, queries: got .* as an id, expected text"):
        rows({query: {"a": 1}}, {})


def test_integers_on_both_sides_are_taken_in_decimal():
    judgments, run = {7: {10: 1, 9: 2}}, {7: {9: 0.5, 10: 0.5, np.int64(11): 0.5}}
    assert rows(judgments, run)[0] == {"7": [(1, "9", 2.0, 1, 3), (3, "10", 1.0, 1, 3)]}


@pytest.mark.parametrize(
    ("judgments", "run", "said"),
    [
        (
            {7: {"a": 1}},
            {"7": {"a": 1.0}},
            "ranking, queries: got ids that are text where the judgments have integers",
        ),
        (
            {"7": {"a": 1}},
            {7: {"a": 1.0}},
            "ranking, queries: got ids that are integers where the judgments have text",
        ),
        (
            {"7": {1: 1}},
            {"7": {"1": 1.0}},
            "query '7': got ids that are text where the judgments have integers",
        ),
        (
            {"7": {"1": 1}},
            {"7": {1: 1.0}},
            "query '7': got ids that are integers where the judgments have text",
        ),
        ({"7": {"1": 1, 1: 1}}, {}, "query '7': got ids of two kinds, text ('1') and integers (1)"),
        (
            {"7": {"1": 1}},
            {"7": {"2": 1.0, 2: 2.0}},
            "query '7': got ids of two kinds, text ('2') and integers (2)",
        ),
        ({"7": {"1": 1}}, {"7": ["2", 2]}, "query '7': got ids of two kinds, text ('2') and integers (2)"),
    ],
)
def test_mixed_kinds_of_ids_are_errors(judgments, run, said):
    with pytest.raises(DataError) as error:
        rows(judgments, run)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("ranking", "said"),
    [
        ("d1 d2", "put the document ids into a list"),
        ({"d1", "d2"}, "as a set has no order"),
        (None, "leave the query out"),
        (3, "got 3 (int)"),
        (iter(["d1"]), "expected {doc: score}, [doc, ...] or [(doc, score), ...]"),
        ([("d1", 1.0, 2)], "got ('d1', 1.0, 2), expected a pair (doc, score)"),
        ([("d1", 1.0), "d2"], "got ('d1', 1.0) (tuple) as a document id, expected text"),
        ([{"id": "d1"}], "got {'id': 'd1'} (dict) as a document id, expected text"),
        ([(["d1"], 1.0)], "got ['d1'] (list) as a document id, expected text"),
    ],
)
def test_what_is_no_ranking_is_an_error(ranking, said):
    with pytest.raises(DataError) as error:
        rows({"q": {"d1": 1}}, {"q": ranking})
    assert "query 'q'" in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize("run", [["d1"], "run.txt", None, {("q", "d")}])
def test_what_is_no_mapping_is_an_error(run):
    with pytest.raises(DataError, match="expected a mapping"):
        MappingRankings(run)
    with pytest.raises(DataError, match="expected a mapping"):
        judgments_from_mapping(run)


@pytest.mark.parametrize("ranking", [["a", "b", "a"], [("a", 1), ("b", 2), ("a", 3)]])
def test_a_document_twice_is_an_error_unless_a_rule_is_chosen(ranking):
    with pytest.raises(DataError, match=r"query 'q': document 'a' comes twice"):
        rows({"q": {"a": 1}}, {"q": ranking})
    census = Census()
    rows({"q": {"a": 1}}, {"q": ranking}, Conventions(duplicates="best"), census)
    assert census.dropped == 1


def test_queries_that_nobody_judged_are_counted_and_left_out():
    census = Census()
    _, retrieved = rows({"q": {"a": 1}}, {f"x{i}": ["d1"] for i in range(9)} | {"q": ["a"]}, NO, census)
    assert retrieved == {"q": 1}
    assert (census.extra, census.extra_examples) == (9, ["x0", "x1", "x2", "x3", "x4"])


def test_an_empty_ranking_is_an_answer_and_a_missing_one_is_not():
    judgments = judgments_from_mapping({"none": {"a": 1}, "empty": {"a": 1}, "some": {"a": 1}})
    run = MappingRankings({"some": ["a"], "empty": {}})
    hits = join(judgments, run.blocks(judgments, NO, Census()), NO)
    assert hits.answered.tolist() == [False, True, True]


def test_other_mappings_and_arrays_serve_as_well():
    ordered = OrderedDict([("a", 1), ("b", 1)])
    ordered.move_to_end("a")
    run = MappingProxyType({"q": ordered, "r": np.array(["b", "a"])})
    found = rows({"q": {"a": 1}, "r": {"a": 1}}, run, Conventions(ties="input"))[0]
    assert found == {"q": [(2, "a", 1.0, 1, 2)], "r": [(2, "a", 1.0, 2, 2)]}


def test_ties_by_rank_need_a_rank_column():
    with pytest.raises(UsageError, match="no rank column"):
        rows({"q": {"a": 1}}, {"q": {"a": 1.0}}, Conventions(ties="rank"))


def test_a_table_holds_every_document_in_the_order_given():
    table = MappingRankings({"q": {"a": 1, "b": 2}, "r": ["c", "c"], "s": [], "t": [("d", 4)]}, "x").table()
    assert (list(table.query), list(table.doc)) == (["q", "q", "r", "r", "t"], ["a", "b", "c", "c", "d"])
    assert table.score.tolist() == [1, 2, 2, 1, 4]
    assert table.empty == ("s",)


def test_a_table_of_lists_alone_has_no_scores():
    table = MappingRankings({1: [7, 8]}).table()
    assert (table.query, table.doc, table.score) == (["1", "1"], ["7", "8"], None)


def test_a_table_checks_its_scores():
    with pytest.raises(DataError, match=r"query 'q', document 'b': got 'x' \(str\) as the score"):
        MappingRankings({"q": {"a": 1, "b": "x"}}).table()


# --- judgments --------------------------------------------------------------------------------


@pytest.mark.parametrize("docs", [{"a", "b"}, ["a", "b"], ("a", "b"), frozenset({"a", "b"}), {"a": True, "b": 1}])
def test_relevant_documents_have_grade_1(docs):
    if isinstance(docs, dict):
        with pytest.raises(DataError, match=r"query 'q', document 'a': got True \(bool\) as the grade"):
            judgments_from_mapping({"q": docs})
    else:
        assert judgments_from_mapping({"q": docs}).as_dict() == {"q": {"a": 1.0, "b": 1.0}}


def test_grades_and_sets_may_stand_side_by_side():
    judgments = judgments_from_mapping({"q": {"a": -1, "b": 2.5}, "r": {"c"}, "s": {}, "t": ["d", "d"]})
    assert judgments.as_dict() == {"q": {"a": -1.0, "b": 2.5}, "r": {"c": 1.0}, "s": {}, "t": {"d": 1.0}}
    assert judgments.repeated == 1


@pytest.mark.parametrize("grade", ["1", None, math.nan, math.inf, b"1", [1], 10**400, {"a": 1}])
def test_a_grade_must_be_a_finite_number(grade):
    with pytest.raises(DataError, match=r"judgments, query 'q', document 'bad': got .* as the grade"):
        judgments_from_mapping({"q": {"good": 1, "bad": grade}})


@pytest.mark.parametrize("docs", ["d1", None, 3, [("d1", 1)], [1.5], [None]])
def test_what_is_no_judgment_is_an_error_that_names_the_query(docs):
    with pytest.raises(DataError, match=r"judgments, query 'q': got"):
        judgments_from_mapping({"q": docs})


def test_grades_by_aspect_become_facets():
    judgments = judgments_from_mapping({"q": {"a": {"x": 1, "y": 0}, "b": {"y": 2}}, "r": {"c": {"z": 1}}})
    assert judgments.as_dict() == {"q": {"a": 1.0, "b": 2.0}, "r": {"c": 1.0}}
    assert judgments.facets.start.tolist() == [0, 2, 3, 4]
    assert judgments.facets.aspect.tolist() == [0, 1, 1, 0]
    assert judgments.facets.grade.tolist() == [1, 0, 2, 1]
    assert judgments.facets.declared.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("docs", "said"),
    [
        ({"a": {"x": 1}, "b": 1}, "document 'b': got 1, expected {aspect: grade}"),
        ({"a": {"x": 1}, "b": {}}, "document 'b': got {}, expected {aspect: grade}"),
        ({"a": {"x": "1"}}, "document 'a', aspect 'x': got '1' (str) as the grade"),
        ({"a": {1.5: 1}}, "document 'a', aspects: got 1.5"),
    ],
)
def test_bad_aspects_are_errors(docs, said):
    with pytest.raises(DataError) as error:
        judgments_from_mapping({"q": docs})
    assert said in str(error.value)


def test_no_judgments_at_all_find_nothing():
    assert rows({}, {"q": ["a"]}) == ({}, {})


# --- long dicts, whose keys are not looked at one by one ---------------------------------------


def with_one_key_of(key, length, history):
    """A dict of text keys that has, or once had, another key too."""
    table = {f"d{i}": float(i) for i in range(length // 2)}
    table[key] = 1.0
    table.update({f"d{i}": float(i) for i in range(length // 2, length)})
    if history == "copied":
        return dict(table)
    if history == "shrunk":
        for i in range(length - 12):
            del table[f"d{i}"]
    return table


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("history", ["grown", "copied", "shrunk"])
@pytest.mark.parametrize("key", [7, 1.5, None, b"d", True, ("d",)])
def test_one_key_that_is_no_text_is_found_in_a_dict_of_any_length(key, history):
    for length in [*range(20, 90), 170, 171, 682, 683, 1000, 2730, 6000, 20_000]:
        with pytest.raises(DataError, match=r"query 'q': got .*id"):
            rows({"q": {"d1": 1}}, {"q": with_one_key_of(key, length, history)})


def test_long_dicts_of_subclasses_of_text_are_text():
    ranking = {np.str_(f"d{i}"): float(-i) for i in range(1000)}
    assert rows({"q": {"d7": 1}}, {"q": ranking})[0] == {"q": [(8, "d7", 1.0, 8, 8)]}


@pytest.mark.parametrize(
    ("ranking", "said"),
    [
        ({"b": float("nan")}, "query 'q2', document 'b': got nan (float) as the score"),
        ({"b": "1.5"}, "query 'q2', document 'b': got '1.5' (str) as the score"),
        ({1.5: 1}, "query 'q2': got 1.5 (float) as an id"),
        ([None], "query 'q2': got None (NoneType) as a document id"),
        ("b", "query 'q2': got 'b' (str)"),
    ],
    ids=str,
)
def test_a_query_that_nobody_judged_must_hold_a_ranking_too(ranking: object, said: str) -> None:
    """As in files and frames, where every row is read."""
    with pytest.raises(DataError, match=re.escape(said)):
        rows({"q1": {"a": 1}}, {"q1": ["a"], "q2": ranking})


@pytest.mark.parametrize("empty", [{"q": {"": 1}}, {"q": {"a": 1, "": 2}}, {"q": [""]}, {"": {"a": 1}}])
def test_an_empty_id_is_an_error_as_in_rows_of_a_table(empty):
    with pytest.raises(DataError, match=r"^judgments.*: got '' as an id, expected text that is not empty"):
        judgments_from_mapping(empty)
    for others in ({}, {"q2": ["a"]}):
        with pytest.raises(DataError, match=r"^ranking.*: got '' as an id, expected text that is not empty"):
            rows({"q": {"a": 1}, "q1": ["a"]}, empty | others)
    assert rows({"q": {0: 1}}, {"q": [0]}) == ({"q": [(1, "0", 1.0, 1, 1)]}, {"q": 1})


@pytest.mark.parametrize("large", [2**53 + 1, 2**63, 10**30])
def test_whole_scores_of_any_size_are_numbers(large):
    found = rows({"q": {"a": 1, "b": 1}}, {"q": {"a": 1, "b": large}})
    assert [doc for _, doc, *_ in found[0]["q"]] == ["b", "a"]


@pytest.mark.parametrize("first", [1, 2.5, True])
def test_a_truth_value_among_grades_is_no_grade(first):
    with pytest.raises(DataError, match="True"):
        judgments_from_mapping({"q": {"a": first, "b": True}})
