"""A ranking given as a list of documents, or of (document, score) pairs, as a dict in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankproof.core.table import RankingTable
from rankproof.errors import DataError, shorten
from rankproof.io.ids import are_integers, is_id
from rankproof.io.numbers import as_numbers, is_number

EXPECTED = "expected {doc: score}, [doc, ...] or [(doc, score), ...]"


def ranking_as_dict(ranking: Any, duplicates: str, where: str) -> tuple[dict[Any, Any], int]:
    """`{doc: score}` in the order given, and how many repeated documents were dropped from it.

    A list of documents is in its own order: its scores count down to 1.

    >>> ranking_as_dict(["b", "a"], "error", "ranking, query 'q1'")
    ({'b': 2, 'a': 1}, 0)
    """
    if isinstance(ranking, Mapping):
        return dict(ranking), 0
    docs, scores = columns(ranking, where)
    if scores is None:
        scores = range(len(docs), 0, -1)
    table = dict(zip(docs, scores, strict=True))
    return (table, 0) if len(table) == len(docs) else _once_each(docs, scores, duplicates, where)


def columns(ranking: Any, where: str) -> tuple[Sequence[Any], Sequence[Any] | None]:
    """The documents of any kind of ranking, and their scores; None for a list that has none."""
    if isinstance(ranking, Mapping):
        return list(ranking), list(ranking.values())
    docs, scores = _entries(ranking, where), None
    kinds = set(map(type, docs))
    if kinds and all(issubclass(kind, (tuple, list)) for kind in kinds):
        docs, scores = _unzipped(docs, where)
    _check_ids(docs, where)
    return docs, scores


def check_ranking(ranking: Any, where: str) -> None:
    """A ranking that is not scored must be one nevertheless: ids of one kind, and scores that are numbers."""
    docs, scores = columns(ranking, where)
    are_integers(docs, where)
    _checked_scores(docs, scores, where)


def ranking_table(queries: Sequence[str], rankings: Sequence[Any], source: str) -> RankingTable:
    """Rankings of any kind as columns; scores count down in a list without, if others have scores."""
    query: list[str] = []
    doc: list[str] = []
    score: list[Any] = []
    scored = False
    for name, ranking in zip(queries, rankings, strict=True):
        where = f"{source}, query {shorten(name)}"
        docs, scores = columns(ranking, where)
        query.extend([name] * len(docs))
        doc.extend(map(str, docs) if are_integers(docs, where) else docs)
        scored |= scores is not None
        score.extend(_checked_scores(docs, scores, where))
    return RankingTable(
        query=query,
        doc=doc,
        score=np.array(score, dtype=np.float64) if scored else None,
        source=source,
        empty=tuple(name for name, ranking in zip(queries, rankings, strict=True) if not len(ranking)),
    )


def _checked_scores(docs: Sequence[Any], scores: Sequence[Any] | None, where: str) -> Sequence[Any]:
    if scores is None:
        return range(len(docs), 0, -1)
    numbers = as_numbers(scores)
    if numbers is None or np.isnan(numbers).any():
        for doc, score in zip(docs, scores, strict=True):
            check_score(doc, score, where)
    return scores


def _entries(ranking: Any, where: str) -> Sequence[Any]:
    if getattr(ranking, "ndim", None) == 1 and hasattr(ranking, "tolist"):
        ranking = ranking.tolist()
    if not isinstance(ranking, (list, tuple)):
        raise DataError(
            f"{where}: got {shorten(ranking)} ({type(ranking).__name__}), {EXPECTED}.{_hint(ranking)}"
        )
    return ranking


def _hint(ranking: Any) -> str:
    if isinstance(ranking, (set, frozenset)):
        return " A set has no order. Next: give a list, best document first."
    if isinstance(ranking, str):
        return " Next: put the document ids into a list."
    if ranking is None:
        return " Next: leave the query out, or give it an empty list."
    return " Next: turn it into one of these."


def _unzipped(pairs: Sequence[Any], where: str) -> tuple[Sequence[Any], Sequence[Any]]:
    if set(map(len, pairs)) != {2}:
        unfit = next(pair for pair in pairs if len(pair) != 2)
        raise DataError(
            f"{where}: got the entry {shorten(unfit)}, expected a pair (doc, score). "
            "Next: give every document its score, or none."
        )
    docs, scores = zip(*pairs, strict=True)
    return docs, scores


def _check_ids(docs: Sequence[Any], where: str) -> None:
    for kind in set(map(type, docs)):
        unfit = next(doc for doc in docs if type(doc) is kind)
        if not is_id(unfit):
            raise DataError(
                f"{where}: got the document id {shorten(unfit)} ({kind.__name__}), expected text. "
                "Next: give every id as text."
            )


def _once_each(
    docs: Sequence[Any], scores: Sequence[Any], duplicates: str, where: str
) -> tuple[dict[Any, Any], int]:
    """Each document once, by the rule for duplicates, at the place of the entry that is kept."""
    kept: dict[Any, Any] = {}
    for doc, score in zip(docs, scores, strict=True):
        check_score(doc, score, where)
        if doc in kept and duplicates == "error":
            raise _twice(doc, where)
        if doc in kept and duplicates == "best" and score > kept[doc]:
            del kept[doc]
        kept.setdefault(doc, score)
    return kept, len(docs) - len(kept)


def check_score(doc: Any, score: Any, where: str) -> None:
    """A score must be a number; NaN has no place in an order."""
    if not is_number(score) or score != score:
        raise DataError(
            f"{where}, document {shorten(doc)}: got the score {shorten(score)} ({type(score).__name__}), "
            "expected a number. Next: give the document a score, or drop it."
        )


def _twice(doc: Any, where: str) -> DataError:
    return DataError(
        f"{where}: document {shorten(doc)} comes twice. "
        "Next: keep one of them, or choose duplicates='first' or duplicates='best'."
    )
