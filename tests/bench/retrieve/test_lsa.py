"""Latent semantic analysis: right beside numpy's own decomposition, the same every time, good with misspellings."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

from rankproof import sample
from rankproof.bench.retrieve import keyword, lsa
from rankproof.bench.retrieve.lsa import Sparse, _learned, strongest
from rankproof.core.corpus import Corpus
from rankproof.errors import UsageError
from rankproof.text.tokens import words

RNG = np.random.default_rng(3)


@pytest.mark.first_is_quick
@pytest.mark.parametrize(("rows", "width", "number"), [(40, 30, 5), (200, 300, 20), (10, 500, 8), (300, 12, 12)])
def test_the_strongest_directions_are_those_of_the_exact_decomposition(rows: int, width: int, number: int) -> None:
    left, _ = np.linalg.qr(RNG.standard_normal((rows, min(rows, width))))
    right, _ = np.linalg.qr(RNG.standard_normal((width, min(rows, width))))
    matrix = (left * 0.7 ** np.arange(min(rows, width))) @ right.T
    exact = np.linalg.svd(matrix)[2][:number]
    found = strongest(lambda x: matrix @ x, lambda y: matrix.T @ y, width, number)
    assert abs(exact @ found) == pytest.approx(np.eye(number), abs=2e-3)


def test_no_more_directions_than_there_are() -> None:
    matrix = np.outer(np.ones(5), [1.0, 2.0, 2.0])
    found = strongest(lambda x: matrix @ x, lambda y: matrix.T @ y, 3, 3)
    assert abs(found).T.tolist() == [pytest.approx([1 / 3, 2 / 3, 2 / 3], abs=1e-5)]


@pytest.mark.slow
def test_documents_lie_where_the_exact_decomposition_puts_them(pages: Corpus) -> None:
    counts = [Counter(words(each.whole)) for each in list(pages.values())[:50]]
    space = _learned(counts, 20)
    by_word, features = (dense_of(each) for each in space.entries(counts))
    rows = by_word / np.linalg.norm(by_word, axis=1, keepdims=True) @ features
    axes = np.linalg.svd(rows, full_matrices=False)[2][:20].T
    exact, found = rows @ axes, space.place_texts(counts)
    assert np.corrcoef(cosines(exact).ravel(), cosines(found).ravel())[0, 1] > 0.99


def dense_of(sparse: Sparse) -> np.ndarray:
    whole = np.zeros((len(sparse.starts) - 1, sparse.width))
    whole[sparse.row, sparse.columns] = sparse.values
    return whole


def cosines(rows: np.ndarray) -> np.ndarray:
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize("rows", [0, 1, 50, 3000])
def test_products_of_sparse_matrices(rows: int) -> None:
    whole = np.where(RNG.random((rows, 17)) < 0.2, RNG.standard_normal((rows, 17)), 0)
    sparse = Sparse.of([{int(c): row[c] for c in np.flatnonzero(row)} for row in whole], 17)
    right, left = RNG.standard_normal((17, 3)), RNG.standard_normal((rows, 3))
    assert sparse.times(right) == pytest.approx(whole @ right, abs=1e-4)
    assert sparse.transpose().times(left) == pytest.approx(whole.T @ left, abs=1e-3)
    assert dense_of(sparse.transpose()) == pytest.approx(whole.T, abs=1e-6)


@pytest.mark.slow
def test_it_is_the_same_in_every_process(questions: list[str]) -> None:
    code = (
        "from rankproof import sample; from rankproof.bench.retrieve import keyword, lsa\n"
        "print(lsa(dict(list(sample.corpus().items())[:40])).search(list(sample.queries().values())[:9], 20))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    found = lsa(dict(list(sample.corpus().items())[:40])).search(questions[:9], 20)
    assert ran.stdout.decode().strip() == str(found)


@pytest.mark.slow
def test_the_order_of_the_documents_makes_no_difference(pages: Corpus, latent: Any, questions: list[str]) -> None:
    turned = Corpus(reversed(list(pages.values())))
    assert lsa(turned).search(questions, 10) == latent.search(questions, 10)


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("refunnd", "billing-refunds-01"),
        ("two-facter autentication", "account-twofactor-01"),
        ("pasword", "account-password-01"),
    ],
)
def test_misspelt_words_are_found(pages: Corpus, latent: Any, question: str, page: str) -> None:
    assert page not in dict(keyword(pages)(question.removeprefix("two-")))
    assert page in [name for name, _ in latent(question, 5)]


def test_small_and_odd_corpora() -> None:
    assert lsa({"d1": "fees"})("fees") == [("d1", pytest.approx(1.0))]
    assert [name for name, _ in lsa({"d1": "fees", "d2": "fees"})("fees")] == ["d2", "d1"]
    assert lsa(Corpus.of({"a": "", "b": "  "}))("fees") == []
    search = lsa(Corpus.of({"d1": "fees", "d2": "", "d3": "東京の天気"}))
    assert [name for name, _ in search("天気", 1)] == ["d3"]
    assert search.search(["", "🙂", '"'], 5) == [[], [], []]


@pytest.mark.slow
def test_dimensions_are_as_asked_or_as_many_as_there_are(pages: Corpus, latent: Any) -> None:
    assert lsa(pages, dimensions=7).settings["dimensions"] == 7
    assert latent.settings["dimensions"] == len(pages) // 3
    assert lsa({"d1": "a", "d2": "b"}, dimensions=50).settings["dimensions"] <= 2
    with pytest.raises(UsageError, match="dimensions: got 0"):
        lsa(pages, dimensions=0)
