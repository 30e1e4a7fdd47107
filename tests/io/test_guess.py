"""Columns go by many names; what cannot be told is asked."""

from __future__ import annotations

import pytest

from rankproof.errors import DataError, MissingExtra, UsageError
from rankproof.io.column_roles import JUDGMENTS, RANKING, guess
from rankproof.io.frames import make_frame
from rankproof.io.values import BACKENDS, is_frame


@pytest.mark.parametrize(
    ("columns", "query", "doc"),
    [
        (["query_id", "doc_id"], "query_id", "doc_id"),
        (["qid", "docno"], "qid", "docno"),
        (["query-id", "corpus-id"], "query-id", "corpus-id"),
        (["q_id", "docid"], "q_id", "docid"),
        (["topic", "document"], "topic", "document"),
        (["user_id", "item_id"], "user_id", "item_id"),
        (["Query ID", "Doc ID"], "Query ID", "Doc ID"),
        (["queryId", "passageId"], "queryId", "passageId"),
        (["query", "query_id", "doc", "doc_id"], "query_id", "doc_id"),
        (["question", "question_id", "chunk", "chunk_id"], "question_id", "chunk_id"),
    ],
)
def test_names_of_ids(columns: list[str], query: str, doc: str):
    for wanted, number in ((JUDGMENTS, "relevance"), (RANKING, "score")):
        took = guess([*columns, number], wanted, "x")
        assert (took["query"], took["doc"]) == (query, doc)


@pytest.mark.parametrize(
    "name", ["grade", "relevance", "rel", "label", "judgment", "judgement", "Relevance Grade", "rating"]
)
def test_names_of_grades(name: str):
    assert guess(["qid", "docid", "text", name], JUDGMENTS, "x")["grade"] == name


@pytest.mark.parametrize("name", ["score", "sim", "Similarity", "rsv", "relevance_score"])
def test_names_of_scores(name: str):
    assert guess(["qid", "docid", "text", name], RANKING, "x")["score"] == name


def test_a_grade_comes_before_a_score_in_judgments_and_after_it_in_a_ranking():
    columns = ["qid", "docid", "relevance", "score"]
    assert guess(columns, JUDGMENTS, "x")["grade"] == "relevance"
    assert guess(columns, RANKING, "x")["score"] == "score"


@pytest.mark.parametrize(
    "columns",
    [
        ["qid", "query_id", "docid", "score"],
        ["qid", "docid", "doc_id", "score"],
        ["qid", "docid", "sim", "score"],
    ],
)
def test_two_columns_of_one_role(columns: list[str]):
    with pytest.raises(
        DataError, match=r"cannot tell which column is the (query|doc|score): .* Next: keep one of them"
    ):
        guess(columns, RANKING, "x")


@pytest.mark.parametrize("backend", BACKENDS)
def test_frames_are_made_of_each_library(backend: str):
    pytest.importorskip(backend)
    frame = make_frame({"query": ["a", "b"], "P@5": [0.5, None]}, backend)
    assert type(frame).__module__.startswith(backend)
    assert is_frame(frame)


def test_frames_of_no_library():
    with pytest.raises(UsageError, match=r"backend: got 'panda', expected one of .* Did you mean 'pandas'"):
        make_frame({"a": [1]}, "panda")


def test_frames_without_a_library(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for name in BACKENDS:
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
    with pytest.raises(MissingExtra, match="A data frame needs polars, pandas or pyarrow, not installed"):
        make_frame({"a": [1]})


def test_what_is_no_frame():
    for value in ({}, [], "path", 7, None, (x for x in "ab")):
        assert not is_frame(value)
