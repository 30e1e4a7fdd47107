"""Dense search is exact, whatever the embedder hands over, and says what it cannot use."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rankproof.bench.retrieve import (
    as_search,
    cross_encoder,
    dense,
    lsa,
    model2vec,
    named_embedder,
    sentence_transformers,
)
from rankproof.bench.retrieve.nearest_vectors import Vectors
from rankproof.errors import DataError, MissingExtra, UsageError
from tests.database import database

RNG = np.random.default_rng(5)


def brute_force(rows: np.ndarray, question: np.ndarray, k: int) -> list[int]:
    """Every product in double precision, sorted as a whole; equal ones in order."""
    products = [(-float(np.dot(row.astype(float), question.astype(float))), n) for n, row in enumerate(rows)]
    return [n for _, n in sorted(products)][:k]


@pytest.mark.first_is_quick(5)
@pytest.mark.parametrize("rows", [1, 5, 64, 65, 700, 20_000])
@pytest.mark.parametrize("k", [1, 10, 100, 1000])
def test_the_nearest_are_those_that_sorting_all_gives(rows: int, k: int) -> None:
    vectors = RNG.standard_normal((rows, 24)).astype(np.float32)
    questions = RNG.standard_normal((5, 24)).astype(np.float32)
    for question, (places, products) in zip(questions, Vectors(vectors).nearest(questions, k), strict=True):
        assert places.tolist() == brute_force(vectors, question, k)
        assert products.tolist() == sorted(products.tolist(), reverse=True)


def test_the_nearest_among_those_allowed() -> None:
    vectors = RNG.standard_normal((9000, 16)).astype(np.float32)
    (question,) = RNG.standard_normal((1, 16)).astype(np.float32)
    allowed = RNG.random(9000) < 0.03
    [(places, _)] = Vectors(vectors).nearest(question[None], 50, allowed)
    kept = np.flatnonzero(allowed)
    assert places.tolist() == kept[brute_force(vectors[kept], question, 50)].tolist()


def test_equal_vectors_have_equal_scores_wherever_they_stand() -> None:
    few = RNG.standard_normal((7, 384)).astype(np.float32)
    vectors = few[np.arange(9001) % 7]
    questions = RNG.standard_normal((9, 384)).astype(np.float32)
    for places, products in Vectors(vectors).nearest(questions, 3000):
        assert len(set(products.tolist())) == 3
        assert all(np.diff(places[products == value]).min() > 0 for value in set(products.tolist()))


@pytest.mark.slow
def test_a_question_has_the_same_answer_alone_and_among_others() -> None:
    vectors = Vectors(RNG.standard_normal((5000, 100)).astype(np.float32))
    questions = RNG.standard_normal((70, 100)).astype(np.float32)
    together = vectors.nearest(questions, 20)
    for question, (places, products) in zip(questions, together, strict=True):
        [(own, values)] = vectors.nearest(question[None], 20)
        assert (own.tolist(), values.tolist()) == (places.tolist(), products.tolist())


def letters(texts: list[str]) -> list[list[int]]:
    return [[text.count(letter) for letter in "abc"] for text in texts]


async def letters_later(texts: list[str]) -> np.ndarray:
    await asyncio.sleep(0)
    return np.array(letters(texts), dtype=np.float64)


class Model:
    """What sentence-transformers and model2vec have in common."""

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array(letters(texts), dtype=np.float16)


class LangChain:
    """What embeddings of LangChain have."""

    def embed_documents(self, texts: list[str]) -> list[list[int]]:
        return letters(texts)

    def embed_query(self, text: str) -> list[int]:
        return letters([text])[0]


CORPUS = {"d1": "aaab", "d2": "abbb", "d3": "abc", "d4": "zzz", "d5": "abbb"}


@pytest.mark.parametrize("embedder", [letters, letters_later, Model(), LangChain(), named_embedder(letters, "l")])
def test_any_embedder_gives_cosines(embedder: Any) -> None:
    found = dense(CORPUS, embedder)("bb")
    assert [name for name, _ in found] == ["d5", "d2", "d3", "d1"]
    assert [score for _, score in found] == pytest.approx([3 / 10**0.5] * 2 + [3**-0.5, 10**-0.5], rel=1e-6)


def test_it_works_while_a_loop_is_running() -> None:
    async def inside() -> list[tuple[str, float]]:
        return dense(CORPUS, letters_later)("bb", 1)

    assert asyncio.run(inside())[0][0] == "d5"


def test_products_as_they_are() -> None:
    found = dense(CORPUS, letters, similarity="dot")("bb")
    assert found == [("d5", 6.0), ("d2", 6.0), ("d3", 2.0), ("d1", 2.0)]


def test_products_may_be_large_or_tiny() -> None:
    for scale in (1e-25, 1e25):
        found = dense(CORPUS, lambda texts, by=scale: np.array(letters(texts)) * by)("bb", 1)
        assert found[0][1] == pytest.approx(3 / 10**0.5, rel=1e-6)


def test_blank_texts_are_not_embedded_and_not_found() -> None:
    seen: list[str] = []

    def embed(texts: list[str]) -> list[list[int]]:
        seen.extend(texts)
        return letters(texts)

    with pytest.warns(UserWarning, match="no text"):
        search = dense({"d1": "abc", "d2": "  "}, embed)
    assert search.search(["", " \n", "a", "zz"], 5) == [[], [], [("d1", pytest.approx(3**-0.5))], []]
    assert seen == ["abc", "a", "zz"]


def test_prefixes_stand_before_each_text() -> None:
    seen: list[str] = []

    def embed(texts: list[str]) -> list[list[int]]:
        seen.extend(texts)
        return letters(texts)

    dense({"d1": "abc"}, embed, document_prefix="passage: ", question_prefix="query: ")("a")
    assert seen == ["passage: abc", "query: a"]


def test_texts_go_out_in_batches_each_once() -> None:
    sizes: list[int] = []

    def embed(texts: list[str]) -> list[list[int]]:
        sizes.append(len(texts))
        return letters(texts)

    dense({f"d{n}": "a" * (n % 10 + 1) for n in range(100)}, embed, batch=4)
    assert sizes == [4, 4, 2]


def test_questions_and_documents_may_be_embedded_apart() -> None:
    model = SimpleNamespace(
        encode=letters, encode_query=lambda texts: letters(["b"] * len(texts)), encode_document=letters
    )
    assert dense(CORPUS, model)("anything", 1)[0][0] == "d5"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda texts: [[1.0, float("nan")]] * len(texts), "the vector of 'abbb' has numbers that are NaN"),
        (lambda texts: [[1.0, float("inf")]] * len(texts), "NaN or infinite (4 of 4 vectors"),
        (lambda texts: [[1e300, 1.0]] * len(texts), "NaN or infinite"),
        (lambda texts: [[1.0]] * (len(texts) - 1), "an array of shape (3, 1) for 4 texts"),
        (lambda texts: [1.0] * len(texts), "an array of shape (4,) for 4 texts"),
        (lambda texts: [[]] * len(texts), "shape (4, 0)"),
        (lambda texts: [[1.0], [1.0, 2.0], [1.0], [1.0]], "a list of as many numbers. Next:"),
        (lambda texts: None, "expected"),
        (lambda texts: "vectors", "expected"),
        (lambda texts: [["x"]] * len(texts), "expected for each text"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_vectors_that_are_none(given: Any, said: str) -> None:
    with pytest.raises(DataError, match=re.escape(said)):
        dense(CORPUS, given)


@pytest.mark.slow
def test_long_work_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    def slow(texts: list[str]) -> list[list[int]]:
        time.sleep(0.45)
        return letters(texts)

    dense({f"d{n}": "a" * (n + 1) for n in range(8)}, slow, batch=2)
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("embedding: 6 of 8 texts, about ")


@pytest.mark.slow
def test_a_model_of_model2vec(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    static = pytest.importorskip("model2vec").StaticModel
    known = {"[UNK]": 0, "fees": 1, "hours": 2, "opening": 3}
    splitter = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="[UNK]"))
    splitter.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model = static(np.eye(4, dtype=np.float32), splitter)
    model.save_pretrained(tmp_path / "model")
    pages = {"d1": "opening hours", "d2": "fees"}
    for embedder in (model, model2vec(str(tmp_path / "model"))):
        assert dense(pages, embedder)("hours", 1) == [("d1", pytest.approx(0.5**0.5))]


def test_one_bad_batch_among_good_ones_is_found() -> None:
    sizes = iter([2, 2, 3])
    with pytest.raises(DataError, match="vectors of 2 and of 3 numbers"):
        dense({f"d{n}": f"t{n}" for n in range(6)}, lambda texts: np.ones((len(texts), next(sizes))), batch=2)


def test_questions_of_another_size_are_an_error() -> None:
    embedder = named_embedder(letters, "x", questions=lambda texts: [[1.0] for _ in texts])
    with pytest.raises(DataError, match="vectors of 1 numbers for questions and of 3 for documents"):
        dense(CORPUS, embedder)("a")


def test_what_an_embedder_raises_comes_through() -> None:
    def broken(texts: list[str]) -> list[list[float]]:
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        dense(CORPUS, broken)


@pytest.mark.parametrize("wrong", ["text-embedding-3-small", 3, dict, [[1.0]]])
def test_what_is_no_embedder(wrong: object) -> None:
    with pytest.raises(UsageError, match="expected a function from texts to vectors"):
        dense(CORPUS, wrong)


def test_options_are_checked() -> None:
    with pytest.raises(UsageError, match="Did you mean 'cosine'"):
        dense(CORPUS, letters, similarity="cosin")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="batch: got 0"):
        dense(CORPUS, letters, batch=0)
    with pytest.raises(UsageError, match="no embedder"):
        dense(CORPUS, similarity="dot")


def test_without_an_embedder_it_is_latent_semantic_analysis() -> None:
    assert dense(CORPUS).settings == lsa(CORPUS).settings


@pytest.mark.parametrize("make", [sentence_transformers, model2vec])
def test_a_library_that_is_absent_is_said(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, make.__name__, None)
    with pytest.raises(MissingExtra, match="Next: pip install"):
        make("some-model")


# --- vectors in a file ----------------------------------------------------------------------------


def test_vectors_are_kept_and_not_made_again(tmp_path: Path) -> None:
    made: list[str] = []

    def embed(texts: list[str]) -> list[list[int]]:
        made.extend(texts)
        return letters(texts)

    cache = tmp_path / "vectors.db"
    first = dense(CORPUS, named_embedder(embed, "letters 1"), cache=cache)("bb")
    again = dense({**CORPUS, "d6": "cc"}, named_embedder(embed, "letters 1"), cache=cache)
    assert made == ["abbb", "zzz", "abc", "aaab", "bb", "cc"]
    assert again("bb")[:4] == first
    assert len(made) == 6
    dense(CORPUS, named_embedder(embed, "letters 2"), cache=cache)
    assert len(made) == 10


def test_what_was_embedded_before_a_failure_is_kept(tmp_path: Path) -> None:
    def failing(texts: list[str]) -> list[list[int]]:
        if "abc" in texts:
            raise RuntimeError("stopped")
        return letters(texts)

    with pytest.raises(RuntimeError):
        dense(CORPUS, named_embedder(failing, "l"), batch=1, cache=tmp_path / "v.db")
    made: list[str] = []

    def embed(texts: list[str]) -> list[list[int]]:
        made.extend(texts)
        return letters(texts)

    dense(CORPUS, named_embedder(embed, "l"), batch=1, cache=tmp_path / "v.db")
    assert made == ["abc", "aaab"]


def test_a_bare_function_is_not_kept_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"named_embedder\(function"):
        dense(CORPUS, letters, cache=tmp_path / "vectors.db")


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with database(other) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    before = other.read_bytes()
    with pytest.raises(DataError, match="left as it is"):
        dense(CORPUS, named_embedder(letters, "l"), cache=other)
    assert other.read_bytes() == before


def test_settings_tell_embedders_apart() -> None:
    made = [
        dense(CORPUS, letters),
        dense(CORPUS, named_embedder(letters, "l")),
        dense(CORPUS, letters, similarity="dot"),
        dense(CORPUS, letters, question_prefix="q: "),
        dense(CORPUS, lambda texts: [[1.0, 2.0] for _ in texts]),
        dense({"d1": "a"}, letters),
    ]
    assert len({json.dumps(each.settings, sort_keys=True) for each in made}) == len(made)
    assert repr(made[1]) == "dense[l]"
    assert as_search(made[0]) is made[0]


@pytest.mark.parametrize("make", [sentence_transformers, model2vec, cross_encoder])
def test_a_module_that_only_has_the_name_of_a_package_is_not_that_package(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = "model2vec" if make is model2vec else "sentence_transformers"
    monkeypatch.setitem(sys.modules, package, ModuleType(package))
    name = package.replace("_", "-")
    with pytest.raises(MissingExtra, match=rf"needs {name}, not installed\. Next: pip install {name}"):
        make("some-model")


@pytest.mark.slow
def test_a_model_without_its_weights_says_what_to_do(tmp_path: Path) -> None:
    pytest.importorskip("model2vec")
    with pytest.raises(UsageError, match=r"the weights of .* cannot be loaded: .*Next: check its name"):
        model2vec(str(tmp_path / "nothing"))
