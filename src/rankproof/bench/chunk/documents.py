"""From rankings and judgments of chunks to those of documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.bench.retriever import Found, Retriever
from rankproof.core.judged_spans import place_of
from rankproof.display import Displayable
from rankproof.errors import UsageError, one_of

HOW = {
    "best": "a document scores what its best chunk does",
    "first": "documents stand in the order in which their first chunks do, whatever the scores",
    "sum": "a document scores the sum of its chunks' scores",
}


def documents_found(
    found: Iterable[Any], how: str = "best", chunks: Mapping[str, Any] | None = None
) -> Found:
    """The documents of the chunks found for one question, each document once, best first.

    `found` is pairs of chunk id and score, best first; `how` is "best", "first" or "sum". A chunk that comes
    twice counts once, where it first stands. Documents with equal scores stand in the order of their first
    chunks. "first" gives scores that fall by one, as no score of a chunk says what the order does.

    >>> found = [("d1#0-9", 3.0), ("d2#0-9", 2.0), ("d2#9-20", 1.5)]
    >>> documents_found(found), documents_found(found, "sum")
    ([('d1', 3.0), ('d2', 2.0)], [('d2', 3.5), ('d1', 3.0)])
    """
    if how not in HOW:
        raise one_of("how", how, HOW)
    once: dict[str, float] = {}
    for name, score in found:
        once.setdefault(name, float(score))
    scores: dict[str, float] = {}
    for name, score in once.items():
        document = place_of(name, chunks).document
        scores[document] = _together(how, scores.get(document), score)
    if how == "first":
        return [(document, float(len(scores) - place)) for place, document in enumerate(scores)]
    return sorted(scores.items(), key=lambda pair: -pair[1])


def _together(how: str, known: float | None, score: float) -> float:
    if known is None:
        return score
    return known + score if how == "sum" else max(known, score)


def documents_ranked(
    ranking: Mapping[str, Any], how: str = "best", chunks: Mapping[str, Any] | None = None
) -> dict[str, dict[str, float]]:
    """A ranking of chunks, `{query: {chunk: score}}` or `{query: [chunks, best first]}`, as one of documents.

    >>> documents_ranked({"q": ["d1#0-9", "d2#0-9", "d1#9-12"]})
    {'q': {'d1': 3.0, 'd2': 2.0}}
    """
    return {query: dict(documents_found(pairs(found, how), how, chunks)) for query, found in ranking.items()}


def pairs(found: Any, how: str = "best") -> Found:
    """One query's ranking in any of its forms, as pairs of id and score, best first."""
    if isinstance(found, Mapping):
        return sorted(found.items(), key=lambda pair: -pair[1])
    items = list(found)
    if all(isinstance(each, str) for each in items):
        if how == "sum":
            raise UsageError(
                "how='sum': got chunks without scores, expected scores to add. Next: take how='best'."
            )
        return [(name, float(len(items) - place)) for place, name in enumerate(items)]
    return sorted(((name, float(score)) for name, score in items), key=lambda pair: -pair[1])


def documents_judged(
    judgments: Mapping[str, Any], chunks: Mapping[str, Any] | None = None
) -> dict[str, dict[str, float]]:
    """Judgments of chunks, `{query: {chunk: grade}}` or `{query: [chunks]}`, as judgments of their documents.

    A document has the highest grade of its chunks.

    >>> documents_judged({"q": {"d1#0-9": 1, "d1#9-12": 3}})
    {'q': {'d1': 3}}
    """
    return {query: _graded(judged, chunks) for query, judged in judgments.items()}


def _graded(judged: Any, chunks: Mapping[str, Any] | None) -> dict[str, float]:
    graded = judged.items() if isinstance(judged, Mapping) else ((name, 1) for name in judged)
    found: dict[str, float] = {}
    for name, grade in graded:
        document = place_of(name, chunks).document
        found[document] = max(grade, found.get(document, grade))
    return found


@dataclass(frozen=True)
class OfDocuments(Displayable):
    """A retriever of chunks that answers with documents. Made by `as_documents`."""

    of: Retriever
    how: str
    deeper: int
    chunks: Mapping[str, Any] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the retriever of chunks, and how its answers are put together."""
        return {"documents_of": dict(self.of.settings), "how": self.how, "deeper": self.deeper}

    def search(self, questions: Sequence[str], k: int) -> list[Found]:
        """For each question at most `k` documents, from the first `k * deeper` chunks."""
        found = self.of.search(questions, k * self.deeper)
        return [documents_found(each, self.how, self.chunks)[:k] for each in found]


def as_documents(
    retriever: Retriever, how: str = "best", *, deeper: int = 5, chunks: Mapping[str, Any] | None = None
) -> OfDocuments:
    """A retriever that searches chunks and answers with their documents.

    It asks for `deeper` times as many chunks as documents are wanted, since several may be of one document.
    """
    if how not in HOW:
        raise one_of("how", how, HOW)
    if isinstance(deeper, bool) or not isinstance(deeper, int) or deeper < 1:
        raise UsageError(
            f"as_documents: got deeper={deeper!r}, expected a whole number of at least 1."
            " Next: give one, like 3."
        )
    return OfDocuments(retriever, how, deeper, chunks)
