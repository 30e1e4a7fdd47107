"""Reranking: the first documents of a retriever are put in another's order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankproof.bench.adapters.callables import described
from rankproof.bench.retrieve.checks import check_count, check_number
from rankproof.bench.retrieve.proximity import proximity
from rankproof.bench.retrieve.scorers import Scorer, as_scorer, scored
from rankproof.bench.retrieve.search import Allowed, Answer, Search, as_search, ordered
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.errors import DataError, MissingExtra, UsageError, shorten
from rankproof.io.corpora import load_corpus

DEPTH = 50
OWN_WEIGHT = 0.25
"""How much the embedded scorer counts where nobody says: it has less to go by than most retrievers."""


@dataclass(frozen=True, repr=False)
class Rerank:
    """A reranker: put it behind a retriever with `>>`; call it for another scorer or depth.

    The `depth` first documents are ordered by the scorer; the rest stay below as they were. Without a scorer
    it is `proximity`, which sees which words of the question are in a text, how rare they are and how close together.
    `weight` is how much the scorer counts against the scores of the retriever, both brought to 0 to 1: 1, which is
    usual, for the scorer alone; 0.25 is usual without a scorer.

    >>> from rankproof.bench.retrieve import keyword, rerank
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
    """The documents with their texts, where the retriever does not know them."""
    name: str | None = None
    """What stands for the scorer in the settings."""

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
        made = Rerank(
            base.scorer,
            base.depth if depth is None else depth,
            base.weight if weight is None else weight,
            base.corpus if corpus is None else load_corpus(corpus),
            name or base.name,
        )
        check_count("depth", made.depth)
        check_number("weight", made.share, most=1)
        return made

    @property
    def share(self) -> float:
        """How much the scorer counts."""
        usual = OWN_WEIGHT if self.scorer is None else 1.0
        return usual if self.weight is None else self.weight

    def after(self, retriever: Any) -> Search:
        """What the retriever finds, reranked."""
        first = as_search(retriever)
        corpus = first.corpus if self.corpus is None else self.corpus
        if corpus is None:
            raise UsageError(
                f"rerank: the texts of what {first} finds are not known. Next: rerank(corpus=...) with the documents."
            )
        return Search(
            name=f"({first}) >> {self}" if first.parts else f"{first} >> {self}",
            describe=lambda: {
                "kind": "rerank",
                "retriever": dict(first.settings),
                **self._described(corpus),
            },
            answer=_answer(first, self, self.scorer or proximity(corpus), corpus),
            corpus=corpus,
            reranked=True,
        )

    def __rrshift__(self, retriever: Any) -> Search:
        return self.after(retriever)

    def _described(self, corpus: Corpus) -> dict[str, Any]:
        scorer: Any = self.name or ("proximity" if self.scorer is None else described(self.scorer))
        return {"scorer": scorer, "depth": self.depth, "weight": self.share, "corpus": corpus.fingerprint}

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
    try:
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        raise MissingExtra(
            "this reranker needs sentence-transformers, not installed. Next: pip install sentence-transformers"
        ) from error
    return rerank(CrossEncoder(model, **options), name=model)


def as_reranking(anything: Any) -> Rerank:
    """What stands behind `>>`."""
    return anything if isinstance(anything, Rerank) else rerank(anything)


def _answer(first: Search, made: Rerank, scorer: Scorer, corpus: Corpus) -> Answer:
    def again(question: str, found: Found, k: int) -> Found:
        head, tail = found[: made.depth], found[made.depth : max(k, made.depth)]
        texts = [_text(corpus, document) for document, _ in head]
        scores = _mixed(made.share, scored(scorer, question, texts), [score for _, score in head])
        return _joined([document for document, _ in head], scores, tail)[:k]

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        found = first.search(questions, max(k, made.depth), allowed)
        return [again(question, each, k) for question, each in zip(questions, found, strict=True)]

    return answer


def _mixed(share: float, scores: Array, before: Sequence[float]) -> Array:
    """The scores as they are, or together with those before, both on one scale."""
    if share == 1:
        return scores
    return share * _from_0_to_1(scores) + (1 - share) * _from_0_to_1(np.array(before))


def _joined(documents: Sequence[str], scores: Array, tail: Found) -> Found:
    """What was scored, best first, and below it the rest in its order."""
    head = ordered(dict(zip(documents, scores.tolist(), strict=True)), len(documents))
    lowest = head[-1][1] if head else 0.0
    return [*head, *((document, lowest - place) for place, (document, _) in enumerate(tail, start=1))]


def _from_0_to_1(scores: Array) -> Array:
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    return np.ones(len(scores)) if low >= high else (scores - low) / (high - low)


def _text(corpus: Corpus, document: str) -> str:
    if document not in corpus:
        raise DataError(
            f"rerank: document {shorten(document)} was found and is not in the corpus. "
            "Next: give rerank(corpus=...) the documents that the retriever searches."
        )
    return corpus[document].whole
