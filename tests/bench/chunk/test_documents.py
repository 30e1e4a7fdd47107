"""Chunks, documents and spans: corpora of chunks, and how rankings and judgments go from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.bench.chunk import (
    as_documents,
    chunks_judged,
    chunks_to_spans,
    documents_found,
    documents_judged,
    documents_ranked,
    fixed,
    markdown,
    recursive,
    spans_to_documents,
)
from rankproof.bench.chunk.chunker import chunked
from rankproof.bench.retrieve import keyword
from rankproof.bench.retriever import Found, Retriever
from rankproof.core.corpus import Corpus, Document, JudgedSpan, Place, SpanJudgments, place_of
from rankproof.errors import DataError, UsageError

CORPUS = Corpus.of(
    {
        "a#1": {"title": "Refunds", "text": "# Refunds\n\nWithin 30 days.", "topic": "money"},
        "b": {"title": "Only a title", "text": ""},
        "c": {"title": "", "text": "  "},
        "d": "Fees are low.",
    }
)


def test_a_corpus_of_chunks() -> None:
    chunks = chunked(CORPUS, markdown(100))
    assert list(chunks) == ["a#1#0-26", "b#0-0", "d#0-13"]
    first = chunks["a#1#0-26"]
    assert (first.title, first.text) == ("Refunds", "# Refunds\n\nWithin 30 days.")
    assert first.metadata == {
        "topic": "money",
        "document": "a#1",
        "start": 0,
        "end": 26,
        "headings": ("Refunds",),
    }
    assert chunks["b#0-0"].whole == "Only a title\n"
    assert chunked(CORPUS, recursive(2)).fingerprint != chunked(CORPUS, recursive(4)).fingerprint
    for odd in (None, 5, b"text", {"text": "a"}):
        with pytest.raises(UsageError, match=r"expected a text or a Document\. Next: "):
            fixed(5)(odd)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected a chunker"):
        chunked(CORPUS, 200)  # type: ignore[arg-type]


def test_documents_are_cut_in_every_form_in_which_they_are_searched(tmp_path: Path) -> None:
    texts = {"a": "One cat. Two dogs.", "b": "No cat."}
    expected = chunked(Corpus.of(texts), fixed(2))
    (tmp_path / "c.jsonl").write_text(
        "".join(f'{{"_id": "{name}", "text": "{text}"}}\n' for name, text in texts.items())
    )
    for documents in (texts, tmp_path / "c.jsonl", str(tmp_path / "c.jsonl"), Corpus.of(texts)):
        assert chunked(documents, fixed(2)).fingerprint == expected.fingerprint
    with pytest.raises(UsageError, match="nofile"):
        chunked("nofile", fixed(2))


def test_every_chunk_is_found_in_its_document() -> None:
    for chunk in chunked(CORPUS, fixed(2, 1)).values():
        document, start, end = place_of(chunk.id)
        assert CORPUS[document].text[start:end] == chunk.text
        assert place_of(chunk.id, {chunk.id: chunk}) == Place(document, start, end)


def test_ids_of_ones_own() -> None:
    assert place_of("x7", {"x7": ("d", 0, 4)}) == Place("d", 0, 4)
    assert place_of("x7", {"x7": {"document": "d", "start": 0, "end": 4}}) == Place("d", 0, 4)
    with pytest.raises(DataError, match=r"got 'x7', expected the id of a chunk like.*Next: .*chunks="):
        place_of("x7")
    with pytest.raises(DataError, match="got None, expected the id of a chunk"):
        place_of(None)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="is none of the 1 in chunks="):
        place_of("x8", {"x7": ("d", 0, 4)})
    for told in (("d", 0), {"document": "d"}, "d 0 4", None, ("d", "x", 4)):
        with pytest.raises(DataError, match="expected its document, start and end"):
            place_of("x7", {"x7": told})


FOUND = [("d1#0-9", 3.0), ("d2#0-9", 2.5), ("d1#9-12", 2.0), ("d2#9-20", 1.5), ("d1#0-9", 1.0)]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("best", [("d1", 3.0), ("d2", 2.5)]),
        ("first", [("d1", 2.0), ("d2", 1.0)]),
        ("sum", [("d1", 5.0), ("d2", 4.0)]),  # a chunk that comes again is not counted again
    ],
)
def test_documents_of_chunks(how: str, expected: Found) -> None:
    assert documents_found(FOUND, how) == expected


def test_first_keeps_the_order_whatever_the_scores() -> None:
    reranked = [("d2#0-9", 0.1), ("d1#0-9", 0.9), ("d2#9-20", 0.8)]
    assert documents_found(reranked, "first") == [("d2", 2.0), ("d1", 1.0)]
    assert documents_found(reranked, "best") == [("d1", 0.9), ("d2", 0.8)]


def test_scores_below_zero_and_equal_ones() -> None:
    below = [("d1#0-1", -1.0), ("d2#0-1", -1.5), ("d2#1-2", -1.5)]
    assert documents_found(below, "best") == [("d1", -1.0), ("d2", -1.5)]
    assert documents_found(below, "sum") == [("d1", -1.0), ("d2", -3.0)]
    assert documents_found([("d2#0-1", 1.0), ("d1#0-1", 1.0)]) == [("d2", 1.0), ("d1", 1.0)]


def test_rankings_in_all_forms() -> None:
    expected = {"q": {"d2": 2.0, "d1": 1.0}}
    assert documents_ranked({"q": {"d1#0-1": 1.0, "d2#0-1": 2.0}}) == expected
    assert documents_ranked({"q": [("d2#0-1", 2.0), ("d1#0-1", 1.0)]}) == expected
    assert documents_ranked({"q": ["d2#0-1", "d1#0-1"]}) == expected
    assert documents_ranked({"q": []}) == {"q": {}}
    with pytest.raises(UsageError, match="expected scores to add"):
        documents_ranked({"q": ["d2#0-1"]}, "sum")
    with pytest.raises(UsageError, match="Did you mean 'best'"):
        documents_ranked({"q": ["d2#0-1"]}, "besst")


places = st.tuples(st.sampled_from("abc"), st.integers(0, 30), st.integers(1, 20)).map(
    lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2])
)
rankings = st.lists(st.tuples(places, st.integers(-5, 5)), max_size=20).map(
    lambda drawn: [(f"{place[0]}#{place[1]}-{place[2]}", float(score)) for place, score in drawn]
)


@given(rankings, st.sampled_from(["best", "first", "sum"]))
def test_each_document_comes_once_best_first(found: Found, how: str) -> None:
    documents = documents_found(found, how)
    assert {name for name, _ in documents} == {name[0] for name, _ in found}
    assert len(dict(documents)) == len(documents)
    assert [score for _, score in documents] == sorted((score for _, score in documents), reverse=True)


def test_judgments_of_chunks_as_those_of_documents() -> None:
    assert documents_judged({"q": {"d1#0-9": 1, "d1#9-12": 3, "d2#0-4": 0}, "r": ["d2#0-4"], "s": {}}) == {
        "q": {"d1": 3, "d2": 0},
        "r": {"d2": 1},
        "s": {},
    }


@dataclass(frozen=True)
class OfChunks:
    """A retriever that always finds the same chunks."""

    settings: Any = ()

    def search(self, questions: Sequence[str], k: int) -> list[Found]:
        return [FOUND[: min(k, 4)] for _ in questions]


def test_a_retriever_of_chunks_answers_with_documents() -> None:
    retriever = as_documents(OfChunks({"name": "chunks"}), "sum", deeper=4)
    assert isinstance(retriever, Retriever)
    assert retriever.search(["why?"], 1) == [[("d1", 5.0)]], "it looked at 4 chunks"
    assert retriever("why?", k=1) == [("d1", 5.0)]
    assert as_documents(keyword(chunked({"a": "One cat.", "b": "A dog."}, fixed(2))))("cat")[0][0] == "a"
    assert as_documents(OfChunks(), "sum", deeper=1).search(["why?"], 1) == [[("d1", 3.0)]]
    assert retriever.settings == {"documents_of": {"name": "chunks"}, "how": "sum", "deeper": 4}
    assert as_documents(lambda text: ["d1#0-9", "d2#0-4", "d1#9-12"])("why?", 1) == [("d1", 3.0)]
    with pytest.raises(DataError, match=r"got None .*, expected a list of documents"):
        as_documents(lambda text: None)("why?")
    with pytest.raises(UsageError, match=r"got 3 .*, expected a function of a question"):
        as_documents(3)
    with pytest.raises(UsageError, match="expected one of 'best', 'first', 'sum'"):
        as_documents(OfChunks(), "mean")
    with pytest.raises(UsageError, match="deeper: got 0"):
        as_documents(OfChunks(), deeper=0)


# --- spans ---------------------------------------------------------------------------------------------


def spans(*judged: tuple[str, int, int, float]) -> SpanJudgments:
    return SpanJudgments({"q": tuple(JudgedSpan(*each) for each in judged)})


@pytest.mark.parametrize(
    ("span", "overlap", "expected"),
    [
        (("d", 2, 8, 1), 0.5, ["d#0-10"]),  # within one chunk
        (("d", 8, 12, 1), 0.5, ["d#0-10", "d#10-20"]),  # half in each
        (("d", 7, 12, 1), 0.5, ["d#0-10"]),  # the greater part in one
        (("d", 7, 12, 1), 0.3, ["d#0-10", "d#10-20"]),
        (("d", 5, 29, 2), 0.5, ["d#0-10", "d#10-20", "d#20-30"]),  # a chunk that lies within the span
        (("d", 9, 21, 1), 1.0, ["d#10-20"]),
        (("d", 8, 12, 1), 1.0, ["d#0-10", "d#10-20"]),  # none is whole: those that share most
        (("d", 40, 50, 1), 0.5, []),
        (("e", 2, 8, 1), 0.5, []),
    ],
)
def test_chunks_that_hold_a_span(span: Any, overlap: float, expected: list[str]) -> None:
    chunks = ["d#0-10", "d#10-20", "d#20-30"]
    assert chunks_judged(spans(span), chunks, overlap) == {"q": dict.fromkeys(expected, span[3])}


def test_the_highest_grade_counts_and_a_query_without_spans_stays() -> None:
    judged = SpanJudgments({"q": (JudgedSpan("d", 0, 4, 1), JudgedSpan("d", 5, 9, 3)), "r": ()})
    assert chunks_judged(judged, ["d#0-10"]) == {"q": {"d#0-10": 3}, "r": {}}
    assert spans_to_documents(judged) == {"q": {"d": 3}, "r": {}}


def test_spans_that_nobody_loaded_are_met_with_what_loads_them() -> None:
    with pytest.raises(UsageError, match=r"expected a SpanJudgments \(load_spans makes one\)"):
        chunks_judged({"q": [("d", 0, 9)]}, ["d#0-10"])  # type: ignore[arg-type]


@pytest.mark.parametrize("overlap", [0, 1.5, True, "half"])
def test_an_overlap_that_cannot_be(overlap: Any) -> None:
    with pytest.raises(UsageError, match="expected a share above 0 and up to 1"):
        chunks_judged(spans(("d", 0, 1, 1)), ["d#0-10"], overlap)


words = st.lists(st.sampled_from(["fee", "refund.", "a", "hour", "\n\n", "中文"]), min_size=1, max_size=40).map(
    " ".join
)


@given(words, st.data(), st.integers(1, 8))
def test_no_span_is_lost_whatever_the_chunks(text: str, data: st.DataObject, size: int) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    chunks = chunked(Corpus([Document("d", text)]), recursive(size))
    judged = chunks_judged(spans(("d", start, end, 2)), chunks)["q"]
    assert judged or not text[start:end].strip()
    for name in judged:
        place = place_of(name)
        assert place.start < end
        assert start < place.end


@given(words, st.integers(1, 8))
def test_chunks_as_spans_and_back(text: str, size: int) -> None:
    chunks = chunked(Corpus([Document("d", text)]), fixed(size))
    judged = {"q": dict.fromkeys(chunks, 2)}
    assert chunks_judged(chunks_to_spans(judged), chunks) == judged


def test_a_corpus_of_chunks_says_where_they_stand() -> None:
    mine = {"x": ("d", 0, 10), "y": ("d", 10, 20)}
    assert chunks_judged(spans(("d", 2, 8, 1)), mine) == {"q": {"x": 1}}
    assert chunks_to_spans({"q": ["y"]}, mine).by_query == {"q": (JudgedSpan("d", 10, 20, 1),)}


@pytest.mark.parametrize(
    "verb", [documents_found, documents_judged, documents_ranked, chunks_to_spans, spans_to_documents]
)
@pytest.mark.parametrize("wrong", [None, 5])
def test_what_holds_no_chunks_is_refused_in_words(verb: Any, wrong: Any) -> None:
    with pytest.raises(UsageError, match=rf"got {wrong}, expected .* Next:"):
        verb(wrong)
