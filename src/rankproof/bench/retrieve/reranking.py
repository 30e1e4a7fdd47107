"""Reranking: another scorer orders the first documents of a retriever."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from rankproof.bench.adapters.adapter import describe, finish
from rankproof.bench.retrieve.dense_search import load_model
from rankproof.bench.retrieve.lsa import rarity
from rankproof.bench.retrieve.search import Allowed, Answer, Search, as_search, best_documents
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.errors import DataError, UsageError, UserCode, check_number, check_whole, shorten
from rankproof.io.corpora import load_corpus
from rankproof.text.tokens import words
from rankproof.text.words import stem

Scorer: TypeAlias = Callable[[str, list[str]], Any]
"""From a question and texts to a score for each text; may be async."""


def as_scorer(anything: Any) -> Scorer:
    """A function `(question, texts) -> scores`, or the `predict` of a cross-encoder as one."""
    if callable(getattr(anything, "predict", None)):

        def predicted(question: str, texts: list[str]) -> Any:
            with UserCode(anything.predict, "the question", question):
                return finish(anything.predict([(question, text) for text in texts]))

        return predicted
    if callable(anything) and not isinstance(anything, type):
        scorer: Scorer = anything
        return scorer
    raise UsageError(
        f"rerank: got {shorten(anything)} ({type(anything).__name__}), expected a function (question, texts) -> scores."
        " Next: give a function."
    )


def score_texts(scorer: Scorer, question: str, texts: list[str]) -> Array:
    """The scores of the texts, checked; nothing is asked if there are none.

    >>> score_texts(lambda question, texts: [len(text) for text in texts], "why?", ["so", "because"]).tolist()
    [2.0, 7.0]
    """
    if not texts:
        return np.zeros(0)
    with UserCode(scorer, "the question", question):
        given = finish(scorer(question, texts))
    try:
        scores: Array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"rerank: got {shorten(given)}, expected a number for each text ({error}). Next: return a list of numbers."
        ) from error
    if scores.shape == (len(texts), 1):
        scores = scores[:, 0]
    if scores.shape != (len(texts),):
        raise DataError(
            f"rerank: got scores of shape {scores.shape} for {len(texts)} texts, expected one number for each."
            " Next: return one score per text."
        )
    if not np.isfinite(scores).all():
        worst = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise DataError(
            f"rerank: the score of {shorten(texts[worst])} is {scores[worst]}, expected a number."
            " Next: return finite scores."
        )
    return scores


K1, B = 1.2, 0.75


def proximity(corpus: Corpus) -> Callable[[str, list[str]], list[float]]:
    """A scorer for `rerank` that takes the rarity of words from the corpus.

    >>> scorer = proximity(Corpus.of({"d1": "annual plans: refund", "d2": "a plan", "d3": "annual", "d4": "none"}))
    >>> close, far = scorer("annual plan", ["the annual plans have a fee", "plans with a fee are annual"])
    >>> close > far
    True
    """

    # Counted when first needed: a composition that is only described must cost nothing.
    @cache
    def known() -> tuple[Callable[[str], float], float]:
        """How rare a word is in the corpus, and the mean number of words of its documents."""
        found = [stems(each.whole) for each in corpus.values()]
        frequency = Counter(word for each in found for word in set(each))
        return lambda word: rarity(frequency[word], len(found)), sum(map(len, found)) / max(len(found), 1)

    def score(question: str, texts: list[str]) -> list[float]:
        wanted = frozenset(stems(question))
        return [_score(wanted, stems(text), *known()) for text in texts]

    return score


def stems(text: str) -> list[str]:
    """The words of a text without their endings.

    >>> stems("Two plans")
    ['two', 'plan']
    """
    return [_stem(word) for word in words(text)]


_stem = lru_cache(maxsize=1 << 16)(stem)


def _score(wanted: frozenset[str], text: Sequence[str], weight: Callable[[str], float], length: float) -> float:
    """BM25, and the same again with closeness for the number of times."""
    places = [(place, word) for place, word in enumerate(text) if word in wanted]
    norm = K1 * (1 - B + B * len(text) / (length or 1))
    times = Counter(word for _, word in places)
    # For each two neighbours among the words that are wanted: how rare the other is, by how near it stands.
    close: defaultdict[str, float] = defaultdict(float)
    for (before, first), (after, second) in pairwise(places):
        if first != second:
            close[first] += weight(second) / (after - before) ** 2
            close[second] += weight(first) / (after - before) ** 2
    alone = sum(weight(word) * n * (K1 + 1) / (n + norm) for word, n in times.items())
    return alone + sum(min(1, weight(word)) * n * (K1 + 1) / (n + norm) for word, n in close.items())


DEPTH = 50
OWN_WEIGHT = 0.25
"""The default weight of the embedded scorer: it knows less than most retrievers."""


@dataclass(frozen=True, repr=False)
class Rerank:
    """A reranker: put it behind a retriever with `>>`; call it for another scorer or depth.

    The `depth` first documents are ordered by the scorer; the rest stay below as they were. Without a scorer
    it is `proximity`, which sees which words of the question are in a text, how rare they are and how close together.
    `weight` is how much the scorer counts against the scores of the retriever, both brought to 0 to 1: 1, which is
    usual, for the scorer alone; 0.25 is usual without a scorer.

    >>> from rankproof.bench.retrieve import keyword
    >>> pages = keyword({"d1": "fees fees fees", "d2": "fees and much else"})
    >>> pages >> rerank
    keyword >> rerank
    >>> longest = pages >> rerank(lambda question, texts: [len(text) for text in texts], depth=10, name="length")
    >>> longest, longest("fees")
    (keyword >> rerank(length, depth=10), [('d2', 18.0), ('d1', 14.0)])
    """

    scorer: Scorer | None = None
    depth: int = DEPTH
    weight: float | None = None
    corpus: Corpus | None = None
    """The documents with their texts, if the retriever does not know them."""
    name: str | None = None
    """The name of the scorer in the settings."""

    def __call__(
        self,
        scorer: Any = None,
        *,
        depth: int | None = None,
        weight: float | None = None,
        corpus: Any = None,
        name: str | None = None,
    ) -> Rerank:
        """The same with other settings."""
        base = self if scorer is None else replace(self, scorer=as_scorer(scorer), name=None)
        documents = None if corpus is None else load_corpus(corpus)
        given: dict[str, Any] = {"depth": depth, "weight": weight, "corpus": documents, "name": name or None}
        made = replace(base, **{key: value for key, value in given.items() if value is not None})
        check_whole("depth", made.depth)
        check_number("weight", made.share, least=0, most=1)
        return made

    @property
    def share(self) -> float:
        """How much the scorer counts."""
        usual = OWN_WEIGHT if self.scorer is None else 1.0
        return usual if self.weight is None else self.weight

    def rerank(self, retriever: Any) -> Search:
        """The documents that the retriever finds, reranked."""
        first = as_search(retriever)
        corpus = first.corpus if self.corpus is None else self.corpus
        if corpus is None:
            raise UsageError(
                f"rerank: the texts of what {first} finds are not known. Next: rerank(corpus=...) with the documents."
            )

        def settings() -> dict[str, Any]:
            scorer: Any = self.name or ("proximity" if self.scorer is None else describe(self.scorer))
            own = {"scorer": scorer, "depth": self.depth, "weight": self.share, "corpus": corpus.fingerprint}
            return {"kind": "rerank", "retriever": dict(first.settings), **own}

        return Search(
            name=f"({first}) >> {self}" if first.parts else f"{first} >> {self}",
            describe=settings,
            answer=_answer(first, self, self.scorer or proximity(corpus), corpus),
            corpus=corpus,
            reranked=True,
        )

    def __rrshift__(self, retriever: Any) -> Search:
        return self.rerank(retriever)

    def __repr__(self) -> str:
        name = self.name or getattr(self.scorer, "__name__", "") or type(self.scorer).__name__
        said = [] if self.scorer is None else [name]
        said += [] if self.depth == DEPTH else [f"depth={self.depth}"]
        said += [] if self.weight is None else [f"weight={self.weight:g}"]
        return f"rerank({', '.join(said)})" if said else "rerank"


rerank = Rerank()
"""The reranker that is embedded; call it for another."""


def cross_encoder(model: str, **options: Any) -> Rerank:
    """Reranking by a cross-encoder of sentence-transformers; `options` are those of `CrossEncoder`."""
    return rerank(load_model("reranker", "sentence_transformers", "CrossEncoder", model, options), name=model)


def _answer(first: Search, made: Rerank, scorer: Scorer, corpus: Corpus) -> Answer:
    def again(question: str, found: Found, k: int) -> Found:
        head, tail = found[: made.depth], found[made.depth : max(k, made.depth)]
        for document, _ in head:
            if document not in corpus:
                raise DataError(
                    f"rerank: document {shorten(document)} was found and is not in the corpus. "
                    "Next: give rerank(corpus=...) the documents that the retriever searches."
                )
        scores = score_texts(scorer, question, [corpus[document].whole for document, _ in head])
        if made.share < 1:  # together with the scores before, both on one scale
            before = np.array([score for _, score in head])
            scores = made.share * _from_0_to_1(scores) + (1 - made.share) * _from_0_to_1(before)
        by_document = {document: score for (document, _), score in zip(head, scores.tolist(), strict=True)}
        best = best_documents(by_document, len(head))
        lowest = best[-1][1] if best else 0.0
        return [*best, *((document, lowest - place) for place, (document, _) in enumerate(tail, start=1))][:k]

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        found = first.search(questions, max(k, made.depth), allowed)
        return [again(question, each, k) for question, each in zip(questions, found, strict=True)]

    return answer


def _from_0_to_1(scores: Array) -> Array:
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    return np.ones(len(scores)) if low >= high else (scores - low) / (high - low)
