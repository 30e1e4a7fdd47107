"""Retrievers combine: sums, rerankers, filters and expansions, in any order, and print as they are written."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankproof
from rankproof.bench.retrieve import (
    Search,
    as_search,
    cross_encoder,
    dense,
    expand,
    hybrid,
    keyword,
    lsa,
    rerank,
    where,
)
from rankproof.bench.retriever import Found, Retriever
from rankproof.core.corpus import Corpus
from rankproof.errors import DataError, MissingExtra, UsageError
from rankproof.io.corpora import load_corpus
from rankproof.net.retries import Failed


@pytest.fixture(scope="module")
def words(pages: Corpus) -> Search:
    return keyword(pages)


@pytest.fixture(scope="module")
def combinations(words: Search, latent: Search) -> list[Search]:
    return [
        words,
        latent,
        words + latent,
        words >> rerank,
        (words + latent) >> rerank(depth=20),
        words + (latent >> rerank),
        expand(words),
        expand(words, terms=20) + latent,
        where(words + latent, topic="billing"),
        where(words, topic="billing") >> rerank,
        where(expand(words), topic=["billing", "account"]),
        hybrid({"a": words, "b": latent}, "weighted-sum", weights={"a": 1, "b": 3}),
        words >> rerank >> rerank(first_letter, name="first letter"),
    ]


def first_letter(question: str, texts: list[str]) -> list[float]:
    return [-ord(text[0]) for text in texts]


def test_they_print_as_they_are_written(combinations: list[Search]) -> None:
    assert list(map(repr, combinations)) == [
        "keyword",
        "lsa",
        "keyword + lsa",
        "keyword >> rerank",
        "(keyword + lsa) >> rerank(depth=20)",
        "keyword + (lsa >> rerank)",
        "expand(keyword)",
        "expand(keyword, terms=20) + lsa",
        "where(keyword + lsa, topic='billing')",
        "where(keyword, topic='billing') >> rerank",
        "where(expand(keyword), topic=['billing', 'account'])",
        "hybrid([keyword, lsa], 'weighted-sum', weights=[1.0, 3.0])",
        "keyword >> rerank >> rerank(first letter)",
    ]


def test_all_are_retrievers_with_settings_of_their_own(combinations: list[Search]) -> None:
    assert all(isinstance(each, Retriever) for each in combinations)
    said = [json.dumps(each.settings, sort_keys=True) for each in combinations]
    assert len(set(said)) == len(said)


@pytest.mark.slow
def test_alone_and_among_others_once_and_again(combinations: list[Search], questions: list[str]) -> None:
    asked = [*questions[:6], "", '"', questions[0]]
    for each in combinations:
        together = each.search(asked, 12)
        assert together == [each(question, 12) for question in asked]
        assert together == each.search(asked, 12)
        assert [found[:4] for found in together] == each.search(asked, 4)


def test_what_is_found_is_in_order_once_and_finite(combinations: list[Search], questions: list[str]) -> None:
    for each in combinations:
        for found in each.search(questions[:10], 30):
            assert found == sorted(found, key=lambda pair: (pair[1], pair[0]), reverse=True)
            assert len({name for name, _ in found}) == len(found) <= 30
            assert all(math.isfinite(score) for _, score in found)


def test_no_questions_no_answers(combinations: list[Search]) -> None:
    assert all(each.search([], 5) == [] for each in combinations)


# --- fusion ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("rrf", {}),
        ("rrf", {"k": 10, "weights": [1, 2]}),
        ("combsum", {"normalise": "z-score"}),
        ("weighted-sum", {"weights": [0.3, 0.7]}),
        ("condorcet", {}),
    ],
)
def test_a_hybrid_is_what_fuse_makes_of_the_same_rankings(
    words: Search, latent: Search, questions: list[str], method: str, options: dict[str, Any]
) -> None:
    asked = questions[:8]
    found = hybrid([words, latent], method, **options).search(asked, 15)
    rankings = [dict(zip(asked, map(dict, each.search(asked, 100)), strict=True)) for each in (words, latent)]
    fused = rankproof.fuse(rankings, method, **options)
    assert found == [list(fused[question].items())[:15] for question in asked]


def test_a_sum_of_three_is_one_fusion(words: Search, latent: Search) -> None:
    more = expand(words)
    for each in ((words + latent) + more, words + (latent + more)):
        assert each("refund", 9) == hybrid([words, latent, more])("refund", 9)
    assert repr(words + latent + more) == "keyword + lsa + expand(keyword)"


def test_any_function_joins_from_either_side(words: Search, pages: Corpus) -> None:
    name = next(iter(pages))

    def mine(text: str) -> list[str]:
        return [name]

    assert name in dict((words + mine)("refund"))
    assert name in dict((mine + words)("refund"))
    assert dict((mine >> rerank(corpus=pages))("refund")).keys() == {name}


class Store:
    """A retriever that is no `Search`, as a connector is."""

    @property
    def settings(self) -> dict[str, str]:
        return {"kind": "store"}

    def search(self, questions: Sequence[str], k: int) -> list[Found]:
        return [[("d2", 2.0), ("d1", 1.0), ("d3", 0.5)][:k] for _ in questions]


TEXTS = {
    "d1": {"text": "fees", "year": 2020},
    "d2": {"text": "hours", "year": 2024},
    "d3": {"text": "fees fees", "year": 2024},
}


def test_any_retriever_joins() -> None:
    assert (Store() >> rerank(corpus=TEXTS, weight=1))("fees")[0][0] in ("d1", "d3")
    assert where(Store(), corpus=TEXTS, year=2024)("x", 1) == [("d2", 2.0)]
    assert where(Store(), corpus=TEXTS, year=2020)("x", 1) == [("d1", 1.0)]
    assert repr(Store() + keyword(TEXTS)) == "Store + keyword"
    for wrong in (lambda: Store() >> rerank, lambda: where(Store(), year=2024)):
        with pytest.raises(UsageError, match=r"corpus=\.\.\."):
            wrong()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda a: hybrid([a]), "got 1 retrievers"),
        (lambda a: hybrid([a, "bm25"]), "there is no program 'bm25'"),
        (lambda a: hybrid([a, a], "rff"), "method: got 'rff'"),
        (lambda a: hybrid([a, a], weights=[1]), "got 1 for 2 rankings"),
        (lambda a: hybrid([a, a], "weighted-sum"), "needs a weight"),
        (lambda a: hybrid([a, a], "probfuse"), "learns from judged queries"),
        (lambda a: hybrid([a, a], depth=0), "depth: got 0"),
        (lambda a: hybrid({"a": a, "b": a}, weights={"a": 1, "c": 2}), "there is no ranking 'c'"),
        (lambda a: a + 3, "got 3 (int)"),
        (lambda a: a >> 3, "expected a function (question, texts) -> scores"),
        (lambda a: a >> "model", "expected a function (question, texts) -> scores"),
        (lambda a: rerank(depth=0), "depth: got 0"),
        (lambda a: rerank(weight=2), "weight: got 2"),
        (lambda a: expand(a, documents=0), "documents: got 0"),
        (lambda a: expand(a, weight=1.5), "weight: got 1.5"),
        (lambda a: expand(a + a), "expected keyword search"),
        (lambda a: expand(lambda text: []), "expected keyword search"),
        (lambda a: where(a), "got no condition"),
        (lambda a: where(a, topik="x"), "Did you mean 'topic'?"),
        (lambda a: where(a, "billing"), "expected a function of a document"),
    ],
)
def test_what_cannot_be_combined(words: Search, make: Any, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        make(words)
    assert said in str(caught.value)


# --- reranking ------------------------------------------------------------------------------------


def test_a_scorer_orders_the_first_and_leaves_the_rest() -> None:
    corpus = {f"d{n}": "fee " * (10 - n) + "x" * n for n in range(10)}
    first = keyword(corpus)
    before = [name for name, _ in first("fee")]
    again = (first >> rerank(lambda question, texts: [text.count("x") for text in texts], depth=4))("fee")
    assert [name for name, _ in again[:4]] == sorted(before[:4], reverse=True)
    assert [name for name, _ in again[4:]] == before[4:]
    # the last of the first four is d0, which has no x
    assert [score for _, score in again[3:6]] == [again[3][1], again[3][1] - 1, again[3][1] - 2]


def test_a_scorer_may_be_asynchronous_an_array_or_a_model() -> None:
    first = keyword({"d1": "fees", "d2": "fees fees"})

    async def later(question: str, texts: list[str]) -> np.ndarray:
        return np.array([[len(text)] for text in texts], dtype=np.float32)

    class CrossEncoder:
        def predict(self, pairs: list[tuple[str, str]]) -> list[float]:
            return [len(text) for _, text in pairs]

    for scorer in (later, CrossEncoder(), lambda q, texts: tuple(map(len, texts))):
        assert (first >> scorer)("fees") == [("d2", 9.0), ("d1", 4.0)]


def test_a_scorer_may_count_in_part() -> None:
    first = keyword({"d1": "fees", "d2": "fees and hours", "d3": "fees and opening hours"})

    def longest(question: str, texts: list[str]) -> list[int]:
        return [len(text) for text in texts]

    assert [n for n, _ in (first >> rerank(longest))("fees")] == ["d3", "d2", "d1"]
    assert [n for n, _ in (first >> rerank(longest, weight=0))("fees")] == ["d1", "d2", "d3"]
    both = (first >> rerank(longest, weight=0.5))("fees")
    assert all(0 <= score <= 1 for _, score in both)


@pytest.mark.parametrize(
    ("scorer", "said"),
    [
        (lambda q, texts: [1.0], "scores of shape (1,) for 2 texts"),
        (lambda q, texts: [1.0, float("nan")], "is nan, expected a number"),
        (lambda q, texts: [1.0, float("inf")], "is inf"),
        (lambda q, texts: None, "scores of shape ()"),
        (lambda q, texts: ["good", "bad"], "expected a number for each text"),
        (lambda q, texts: [[1.0], [1.0, 2.0]], "expected a number for each text"),
    ],
)
def test_scores_that_are_none(scorer: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        (keyword({"d1": "fees", "d2": "fees fees"}) >> scorer)("fees")
    assert said in str(caught.value)


def test_a_document_without_a_text_is_said() -> None:
    with pytest.raises(DataError, match="'d2' was found and is not in the corpus"):
        (Store() >> rerank(corpus={"d1": "fees"}))("fees")


def test_the_embedded_scorer_prefers_rare_words_that_stand_together() -> None:
    texts = {f"x{n}": "plan of a kind" for n in range(20)}
    corpus = {"near": "the annual refund plan", "far": "annual " + "word " * 8 + "refund", **texts}
    found = (keyword(corpus) >> rerank(weight=1))("annual refund", 3)
    assert [name for name, _ in found[:2]] == ["near", "far"]


def test_a_cross_encoder_that_is_absent_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match="pip install sentence-transformers"):
        cross_encoder("a-model")


# --- filters --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def labelled() -> Corpus:
    rng = random.Random(11)
    vocabulary = [a + b for a in "bcdfgh" for b in "aeiou"]
    return Corpus.of(
        {
            f"d{n:04}": {"text": " ".join(rng.choices(vocabulary, k=12)), "label": n % 50, "tag": f"t{n % 3}"}
            for n in range(2000)
        }
    )


@pytest.mark.parametrize("engine", ["tantivy", "sqlite", "dense", "lsa", "function"])
def test_a_filter_gives_the_best_of_what_fits(labelled: Corpus, engine: str) -> None:
    pytest.importorskip("tantivy")
    search = searches(labelled, engine)
    kept = where(search, label=7)
    everything = search.search(["ba ce", "fi"], 2000)
    for all_found, found in zip(everything, kept.search(["ba ce", "fi"], 15), strict=True):
        assert found == [pair for pair in all_found if labelled[pair[0]].metadata["label"] == 7][:15]
        assert len(found) > 10


def searches(corpus: Corpus, engine: str) -> Any:
    if engine in ("tantivy", "sqlite"):
        return keyword(corpus, engine=engine)  # type: ignore[arg-type]
    if engine == "lsa":
        return lsa(corpus, dimensions=8)
    if engine == "function":
        inner = keyword(corpus)

        class Plain:
            @property
            def settings(self) -> dict[str, str]:
                return {"kind": "plain"}

            def search(self, questions: Sequence[str], k: int) -> list[Found]:
                return inner.search(questions, k)

        return as_search(Plain(), corpus)
    return dense(corpus, lambda texts: [[text.count(c) + 0.1 for c in "bcdfgh"] for text in texts])


BAD: dict[str, Any] = {
    "got [023] answers? to [12] questions?, expected one a question": [("d1", 1.0)],
    "got NaN as a score": [("d1", float("nan"))],
    "expected an id": [None],
    "expected a list of documents": "d1",
}


@pytest.mark.parametrize("said", BAD)
def test_a_retriever_that_answers_wrongly_is_told_so_in_every_composition(said: str) -> None:
    """Answers are read in one way, so that none ends in an error of Python or as nothing found."""

    class Wrong:
        settings: ClassVar[dict[str, str]] = {"kind": "wrong"}

        def search(self, questions: Sequence[str], k: int) -> Any:
            return [BAD[said]] * (len(questions) + ("answers" in said))

    page = {"d1": {"text": "fees", "year": 2020}}
    made = as_search(Wrong(), load_corpus(page))
    for search in (made, made + keyword(page), keyword(page) + made, made >> rerank, where(made, year=2020)):
        with pytest.raises(DataError, match=rf"Wrong: .*{said}.* Next: ") as told:
            search.search(["fees?", "more?"], 5)
        assert isinstance(told.value, Failed)  # so that a run asks again where that may help


def test_conditions_of_every_kind(labelled: Corpus) -> None:
    search = keyword(labelled)

    def fits(**values: Any) -> set[str]:
        return {name for name, _ in where(search, **values)("ba", 2000)}

    everything = {name for name, _ in search("ba", 2000)}
    labels = {name: labelled[name].metadata["label"] for name in everything}
    assert fits(label=3) == {name for name in everything if labels[name] == 3}
    assert fits(label=[3, 4]) == fits(label={3, 4}) == fits(label=(4, 3)) == fits(label=3) | fits(label=4)
    assert fits(label=lambda value: value < 10) == {name for name in everything if labels[name] < 10}
    assert fits(label=3, tag="t1") == fits(label=3) & fits(tag="t1")
    assert fits(label=99) == set()
    by_document = where(search, lambda document: document.id.endswith("3"), tag="t0")("ba", 2000)
    assert {name for name, _ in by_document} == {name for name in fits(tag="t0") if name.endswith("3")}


def test_conditions_hold_for_values_as_files_and_frames_have_them(tmp_path: Path) -> None:
    rows = [
        {"id": "d1", "text": "fees", "tags": ["a", "b"], "year": 2020},
        {"id": "d2", "text": "fees", "tags": ["c"], "year": 2024},
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "pages.parquet")
    (tmp_path / "pages.csv").write_text("id,text,year\nd1,fees,2020\nd2,fees,2024\n")

    def found(corpus: Any, **conditions: Any) -> list[str]:
        return [name for name, _ in where(keyword(corpus), **conditions)("fees")]

    for corpus in (rows, tmp_path / "pages.parquet", pd.read_parquet(tmp_path / "pages.parquet")):
        assert found(corpus, tags="b") == found(corpus, tags={"b"}) == found(corpus, tags=["b", "x"]) == ["d1"]
        assert found(corpus, tags={"not": ["a", "x"]}) == found(corpus, year={"from": 2021}) == ["d2"]
        assert found(corpus, tags=lambda tags: len(tags) > 1) == ["d1"]
    assert found(tmp_path / "pages.csv", year=2020) == found(tmp_path / "pages.csv", year={2020, 7}) == ["d1"]


def test_filters_within_filters(labelled: Corpus) -> None:
    search = keyword(labelled)
    both = where(where(search, label=[1, 2, 3]), tag="t1")
    assert both("ba", 50) == where(search, label=[1, 2, 3], tag="t1")("ba", 50)


def test_a_filter_reaches_into_sums_before_they_are_cut(labelled: Corpus) -> None:
    one, other = keyword(labelled), lsa(labelled, dimensions=8)
    kept = where(one + other, label=7)
    assert kept("ba ce", 20) == (where(one, label=7) + where(other, label=7))("ba ce", 20)


def test_documents_without_the_field_do_not_fit() -> None:
    corpus = {"d1": {"text": "fees", "year": 2020}, "d2": {"text": "fees"}}
    assert [name for name, _ in where(keyword(corpus), year=lambda year: True)("fees")] == ["d1"]


# --- expansion ------------------------------------------------------------------------------------


def test_expansion_is_rm3_by_its_formula() -> None:
    rng = random.Random(2)
    vocabulary = [a + b for a in "bcdfghklm" for b in "aeiouy"]
    corpus = Corpus.of({f"d{n}": " ".join(rng.choices(vocabulary, k=8)) for n in range(300)})
    search = keyword(corpus, engine="sqlite")
    frequency = Counter(word for each in corpus.values() for word in set(each.text.split()))
    found = search("ba ce", 4)
    total = sum(score for _, score in found)
    heavy: Counter[str] = Counter()
    for name, score in found:
        kept = [word for word in corpus[name].text.split() if frequency[word] <= 30]
        for word in kept:
            heavy[word] += score / total / len(kept)  # type: ignore[assignment]
    best = sorted(heavy.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
    asked = {"ba": 0.35, "ce": 0.35}
    for word, weight in best:
        asked[word] = asked.get(word, 0) + 0.3 * weight / sum(weight for _, weight in best)
    expected: Counter[str] = Counter()
    for word, weight in asked.items():
        for name, score in search(word, 300):
            expected[name] += weight * score  # type: ignore[assignment]
    again = expand(search, documents=4, terms=5, weight=0.7)("ba ce", 300)
    assert dict(again) == pytest.approx(dict(expected), rel=1e-9)


@pytest.mark.slow
def test_both_engines_expand_alike(pages: Corpus, questions: list[str]) -> None:
    pytest.importorskip("tantivy")
    one, other = (expand(keyword(pages, engine=engine)) for engine in ("tantivy", "sqlite"))  # type: ignore[arg-type]
    same = [len({name for name, _ in one(each, 10)} & {name for name, _ in other(each, 10)}) for each in questions]
    assert sum(same) / len(same) > 9


def test_the_question_alone_is_the_question(words: Search, questions: list[str]) -> None:
    for each in questions[:5]:
        alone, plain = expand(words, weight=1)(each, 10), words(each, 10)
        assert [name for name, _ in alone] == [name for name, _ in plain]


def test_expanding_a_question_that_finds_nothing(words: Search) -> None:
    assert expand(words).search(["", "zzzzqq"], 5) == [[], []]


def test_distances_are_turned_around_within_a_combination_as_they_are_in_a_run(words: Search) -> None:
    def nearest(question: str) -> list[tuple[str, float]]:
        return [(f"d{place}", place / 10) for place in range(5)]

    def nothing(question: str) -> list[str]:
        return []

    order = ["d0", "d1", "d2", "d3", "d4"]
    corpus = load_corpus(dict.fromkeys(order, "a page"))
    for made in (hybrid([nearest, nothing]), where(nearest, lambda document: True, corpus=corpus)):
        assert [name for name, _ in made("why?", 5)] == order
        run = rankproof.Benchmark(judgments={"q1": ["d0"]}).run("made", made, k=5)
        assert run.scores["RR@5"] == 1
