"""Documents of one make are read by columns: it must make no difference but time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.bench.adapters import Failed
from rankproof.bench.retriever import AnswerReading, columns_of_alike, one_by_one

FIELDS = ["_id", "id", "doc_id", "Doc-ID", "score", "_score", "similarity", "text", "source"]
values = st.sampled_from(["d1", "d2", "", None, 7, 0.5])
inside = st.dictionaries(st.sampled_from(["id", "doc_id", "docId", "source"]), values, max_size=2)
records = st.dictionaries(st.sampled_from(FIELDS), values, max_size=3).flatmap(
    lambda record: st.just(record) | inside.map(lambda more: {**record, "metadata": more})
)


def read_one_by_one(items: list[Any], asked: str | None) -> Any:
    try:
        return one_by_one(items, AnswerReading(10, asked))
    except Failed:
        return None


@given(
    st.lists(records, min_size=1, max_size=4) | records.map(lambda record: [record] * 3),
    st.sampled_from([lambda record: record, lambda record: SimpleNamespace(**record)]),
    st.sampled_from([None, "source", "id"]),
)
def test_by_columns_is_as_one_by_one(found: list[dict[str, Any]], make: Any, asked: str | None) -> None:
    items = [make(record) for record in found]
    columns = columns_of_alike(items, asked)
    if columns is not None:
        assert columns == read_one_by_one(items, asked)


class Node:
    """A document of a library that keeps ids behind a property."""

    def __init__(self, name: str) -> None:
        self.hidden = name

    @property
    def node_id(self) -> str:
        return self.hidden


@pytest.mark.parametrize(
    ("items", "asked"),
    [
        ([{"id": "a", "score": 0.5, "text": "x"}] * 2, None),
        ([{"id": None, "metadata": {"doc_id": "a"}}] * 2, None),
        ([SimpleNamespace(id="a", score=0.5)] * 2, None),
        ([SimpleNamespace(id=None, page_content="x", metadata={"source": "a"})] * 2, "source"),
        ([Node("a")] * 2, None),
    ],
)
def test_the_usual_documents_are_read_by_columns(items: list[Any], asked: str | None) -> None:
    columns = columns_of_alike(items, asked)
    assert columns is not None
    assert columns[0] == ["a", "a"]
