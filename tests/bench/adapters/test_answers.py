"""Whatever form an answer has, it is read or refused with a reason."""

from __future__ import annotations

import math
import re
from collections import namedtuple
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.bench.adapters import Failed, adapt
from rankproof.bench.adapters.adapter import settle_orders
from rankproof.bench.retrieve import keyword
from rankproof.bench.retriever import Answer, AnswerReading, read_answer
from rankproof.errors import UsageError

DocScore = namedtuple("DocScore", "doc_id score")


def ids(raw: Any, **reading: Any) -> list[str]:
    return [name for name, _ in read_answer(raw, AnswerReading(**{"k": 10, **reading})).found]


@pytest.mark.parametrize(
    "raw",
    [
        ["d2", "d1"],
        ("d2", "d1"),
        (name for name in ("d2", "d1")),
        np.array(["d2", "d1"]),
        [("d2", 0.9), ("d1", 0.1)],
        [["d2", 0.9], ["d1", 0.1]],
        [("d2", np.float32(0.9)), ("d1", np.float32(0.1))],
        [("d1", 0.5), ("d2", 0.9), ("d2", 0.1)],
        [("d2", 3), ("d1", 1)],
        [("d2", None), ("d1", None)],
        {"d1": 0.1, "d2": 0.9},
        [{"id": "d2", "score": 0.9}, {"id": "d1", "score": 0.1}],
        [{"doc_id": "d2"}, {"doc_id": "d1"}],
        [DocScore("d2", 0.9), DocScore("d1", 0.1)],
        [SimpleNamespace(id="d2"), SimpleNamespace(id="d1")],
        [SimpleNamespace(id=None, metadata={"id": "d2"}), SimpleNamespace(id=None, metadata={"id": "d1"})],
        [(SimpleNamespace(id="d2"), 0.9), (SimpleNamespace(id="d1"), 0.1)],
        [
            SimpleNamespace(node=SimpleNamespace(node_id="d2"), score=0.9),
            SimpleNamespace(node_id="d1", score=0.1),
        ],
        {"documents": [SimpleNamespace(id="d2", score=0.9), SimpleNamespace(id="d1", score=0.1)]},
        {"results": ["d2", "d1"]},
        {"hits": {"total": 2, "hits": [{"_id": "d2", "_score": 0.9}, {"_id": "d1", "_score": 0.1}]}},
        SimpleNamespace(points=[SimpleNamespace(id="d2", score=0.9), SimpleNamespace(id="d1", score=0.1)]),
        {"answer": "see the manual", "context": [SimpleNamespace(id="d2"), SimpleNamespace(id="d1")]},
        pd.Series(["d2", "d1"]),
        pd.Series({"d1": 0.5, "d2": 0.9}),
        pl.Series(["d2", "d1"]),
        pd.DataFrame({"doc_id": ["d1", "d2"], "score": [0.5, 0.9]}).sort_values("score", ascending=False),
    ],
)
def test_every_form_of_an_answer_is_read(raw: Any) -> None:
    assert ids(raw) == ["d2", "d1"]


def test_ids_may_be_whole_numbers_or_uuids() -> None:
    assert ids([7, np.int64(3)]) == ["7", "3"]
    assert ids([UUID(int=1)]) == ["00000000-0000-0000-0000-000000000001"]


def test_kinds_of_ids_must_be_those_of_the_judgments() -> None:
    with pytest.raises(Failed, match="the integer 7 as an id where the judgments have text"):
        ids([7], integers=False)
    for raw in (["7"], [("7", 1.0)], [{"id": "7"}]):
        with pytest.raises(Failed, match="the text '7' as an id where the judgments have integers"):
            ids(raw, integers=True)
    assert ids([7], integers=True) == ["7"]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (None, "got None (NoneType), expected a list of documents"),
        ("d1", "got 'd1' (str), expected a list"),
        (b"d1", "got b'd1' (bytes)"),
        (7, "got 7 (int)"),
        ({"d1", "d2"}, "a set has no order"),
        (SimpleNamespace(answer="see the manual"), "expected a list of documents"),
        ([None], "got None (NoneType), expected an id"),
        ([1.5], "got 1.5 (float), expected an id"),
        ([True], "got True (bool), expected an id"),
        (["d1", ""], "document 2 of 2 has an empty id"),
        ([("d1", math.nan), ("d2", 1.0)], "document 'd1': got NaN as a score"),
        ([("d1", "high"), ("d2", 1.0)], "document 'd1': got 'high' as a score"),
        ([("d1", True)], "document 'd1': got True as a score"),
        ({"d1": math.nan, "d2": 0.5}, "document 'd1': got NaN as a score"),
        ({"answer": "see the manual"}, "expected {id: score}, or a list of documents under"),
        ([{"text": "no id"}], "a document without an id (it has text)"),
        ([SimpleNamespace(page_content="x", metadata={"source": "a.md"})], "id='source'"),
    ],
)
def test_what_cannot_be_trusted_is_refused_with_the_reason(raw: Any, reason: str) -> None:
    with pytest.raises(Failed) as failed:
        read_answer(raw, AnswerReading(k=10))
    assert reason in failed.value.reason


def test_infinite_scores_are_scores() -> None:
    assert ids([("d1", -math.inf), ("d2", math.inf)]) == ["d1", "d2"]  # rising: not decided yet
    assert ids({"d1": -math.inf, "d2": math.inf}) == ["d2", "d1"]


def test_nothing_is_an_answer() -> None:
    assert read_answer([], AnswerReading(k=10)) == Answer([])
    assert read_answer({}, AnswerReading(k=10)) == Answer([])


def test_more_than_asked_for_and_documents_twice_are_put_right_and_counted() -> None:
    answer = read_answer(["d1", "d2", "d1", "d3", "d4"], AnswerReading(k=2))
    assert ([name for name, _ in answer.found], answer.cut, answer.repeated) == (["d1", "d2"], 2, 1)
    answer = read_answer([("d1", 0.1), ("d2", 0.5), ("d1", 0.9), ("d3", 0.2)], AnswerReading(k=2))
    assert (answer.found, answer.cut, answer.repeated) == ([("d1", 0.9), ("d2", 0.5)], 1, 1)


def test_of_equal_scores_the_first_in_the_list_stays_first() -> None:
    assert ids([("d3", 1.0), ("d1", 1.0), ("d2", 1.0)], k=2) == ["d3", "d1"]


def settled(*lists: list[tuple[str, float]], k: int = 2) -> list[list[tuple[str, float]]]:
    return [each.found for each in settle_orders([read_answer(each, AnswerReading(k)) for each in lists], k)]


def test_rising_scores_are_turned_around_only_where_they_are_distances() -> None:
    rising, one, falling = [("d1", 0.1), ("d2", 0.4), ("d3", 0.9)], [("d1", 0.3)], [("d2", 0.9), ("d1", 0.2)]
    assert settled(rising, rising, one) == [[("d1", -0.1), ("d2", -0.4)]] * 2 + [[("d1", -0.3)]]
    assert settled(rising, rising, falling) == [[("d3", 0.9), ("d2", 0.4)]] * 2 + [falling]
    assert settled(rising) == [[("d3", 0.9), ("d2", 0.4)]]  # two rises, which chance makes often
    assert settled([*rising, ("d4", 1.0)]) == [[("d1", -0.1), ("d2", -0.4)]]
    assert settled([("d1", 0.0), ("d2", 0.0), ("d3", 0.0), ("d4", 1.0)]) == [[("d4", 1.0), ("d1", 0.0)]]


def test_the_field_of_the_id_can_be_named_or_computed() -> None:
    page = SimpleNamespace(id="chunk-1", metadata={"source": "a.md"}, ref="r1")
    assert ids([page], id="source") == ["a.md"]
    assert ids([page], id="ref") == ["r1"]
    assert ids([page], id=lambda document: document.metadata["source"][0]) == ["a"]
    assert ids([("d1", "a title", 3), ["d2", "another"]], id=lambda row: row[0]) == ["d1", "d2"]
    with pytest.raises(Failed, match="without 'nowhere'"):
        ids([page], id="nowhere")


def test_a_document_without_an_id_is_known_by_its_text_where_only_one_has_it() -> None:
    texts: dict[str, str | None] = {"Within 30 days.": "terms-4", "See below.": None}
    assert ids([SimpleNamespace(page_content="Within 30 days.")], id_of_text=texts.get) == ["terms-4"]
    for unknown in ("See below.", "Never."):
        with pytest.raises(Failed, match="without an id"):
            ids([{"text": unknown}], id_of_text=texts.get)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from(["id", "score", "text", "metadata", "results", "d1"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(anything, st.integers(1, 3), st.sampled_from([None, True, False]))
def test_whatever_comes_back_is_read_or_refused(raw: Any, k: int, integers: bool | None) -> None:
    try:
        answer = read_answer(raw, AnswerReading(k, integers=integers))
    except Failed:
        return
    for found in (each.found for number in (1, 3) for each in settle_orders([answer] * number, k)):
        assert len(found) <= k
        assert len({name for name, _ in found}) == len(found)
        assert all(isinstance(name, str) and name for name, _ in found)
        scores = [score for _, score in found]
        assert all(type(score) is float and not math.isnan(score) for score in scores)
        assert scores == sorted(scores, reverse=True)


class Page:
    """What a search of one's own may return."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.body = f"text of {path}"


class Slotted:
    """An object without a `__dict__`."""

    __slots__ = ("url",)

    def __init__(self, url: str) -> None:
        self.url = url

    @property
    def host(self) -> str:
        return self.url.partition("/")[0]


def reason(raw: Any, **settings: Any) -> str:
    with pytest.raises(Failed) as failed:
        read_answer(raw, AnswerReading(k=10, **settings))
    return failed.value.reason


def test_an_object_without_a_usual_field_says_what_it_has_and_how_to_name_it() -> None:
    assert reason([Page("a")]) == (
        "a document without an id (it has path, body). Next: give the documents ids, or name the field with it: "
        "id='path'"
    )
    assert reason([{"id": ""}]) == "a document without an id (it has id). Next: give the documents ids"
    assert "it has host, url" in reason([Slotted("x/a")])
    assert "it has host, url" in reason([(Slotted("x/a"), 0.5)])


@pytest.mark.parametrize(
    ("raw", "item"),
    [
        ([("d1", 0.5), ("d2", 0.25), "d3"], "item 3 of 3, 'd3', is no pair with a score, unlike the first"),
        ([{"id": "d1"}, ({"id": "d2"}, 0.5)], r"item 2 of 2, \(\{'id': 'd2'\}, 0.5\), is a pair with a score, unlike"),
        ([["d1", 0.5], ["d2"]], r"item 2 of 2, \['d2'\], is no pair with a score, unlike the first"),
        ([("d1", 0.5, "x")], r"item 1 of 1, \('d1', 0.5, 'x'\), is no pair with a score\."),
    ],
)
def test_a_list_that_mixes_documents_and_pairs_names_the_item_that_breaks_the_pattern(raw: Any, item: str) -> None:
    assert re.match(rf"{item}.*Next: return a pair \(document, score\) for each document, or", reason(raw))


@pytest.mark.parametrize("wrong", [{"id": 5}, {"id": ["a"]}, {"settings": 5}, {"batch": "yes"}])
def test_an_option_of_a_wrong_type_is_refused_before_any_question(wrong: dict[str, Any]) -> None:
    ((name, _),) = wrong.items()
    for anything in (lambda text: ["d1"], "json:loads", keyword({"d1": "text"}), SimpleNamespace(invoke=list)):
        with pytest.raises(UsageError, match=f"^{name}: got .*, expected .* Next: give"):
            adapt(anything, **wrong)


def test_objects_of_one_kind_fail_for_one_reason() -> None:
    assert len({reason([Page(name)]) for name in "abc"}) == 1
    assert reason([object()]) == reason([object()])
    assert "0x" not in reason([object()])
    assert "0x" not in reason(object())


def test_a_field_that_is_not_there_is_named_with_the_nearest() -> None:
    said = reason([Page("a")], id="pathh")
    assert "a document without 'pathh' (it has path, body). Did you mean 'path'?" in said
    assert "id='path'" in said


def test_the_id_is_taken_from_any_named_attribute_slot_or_property() -> None:
    assert ids([Page("a"), Page("b")], id="path") == ["a", "b"]
    assert ids([Slotted("x/a"), Slotted("y/b")], id="url") == ["x/a", "y/b"]
    assert ids([Slotted("x/a"), Slotted("y/b")], id="host") == ["x", "y"]


def test_a_likeness_is_the_score_where_the_list_is_in_its_order() -> None:
    for name in ("similarity", "relevance_score", "@search.score"):
        falling = [{"id": 1, name: 0.9}, {"id": 2, name: 0.5}]
        assert read_answer(falling, AnswerReading(k=10)).found == [("1", 0.9), ("2", 0.5)]
        assert read_answer(falling[::-1], AnswerReading(k=10)).found == [("2", 2.0), ("1", 1.0)]  # reranked since
    reranked = [
        {"id": "a", "similarity": 0.1, "relevance_score": 0.9},
        {"id": "b", "similarity": 0.2, "relevance_score": 0.3},
    ]
    assert read_answer(reranked, AnswerReading(k=10)).found == [("a", 0.9), ("b", 0.3)]
    assert ids([{"id": "a", "distance": 0.1}, {"id": "b", "distance": 0.9}]) == ["a", "b"]


def test_an_answer_of_chroma_is_read() -> None:
    assert ids({"ids": [["b", "a"]], "distances": [[0.1, 0.2]], "documents": [["x", "y"]], "data": None}) == ["b", "a"]
    assert "expected" in reason({"ids": [["a"], ["b"]], "distances": [[0.1], [0.2]]})
