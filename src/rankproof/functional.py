"""Measures of one query on plain lists: the same measures, without reading judgments and rankings.

    >>> precision_at_k(["d1", "d2", "d3"], {"d1", "d3"}, 2)
    0.5

`retrieved` is a list of document ids, best first (or a mapping of id to score); `relevant` is a set or list of
the relevant ids, or a mapping of id to grade.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

from rankproof.core.conventions import ScoringArguments
from rankproof.core.measure import Measure
from rankproof.core.names import parse
from rankproof.errors import UsageError, explain_calls, old_arguments
from rankproof.scoring.evaluate import evaluate

Retrieved = Sequence[str] | Mapping[str, float]
Relevant = Collection[str] | Mapping[str, float]


@old_arguments(corpus="corpus_size")
def value(
    measure: str | Measure, retrieved: Retrieved, relevant: Relevant, **conventions: Unpack[ScoringArguments]
) -> float:
    """Any measure, by name, of one query.

    >>> value("RBP(p=0.5)", ["d1", "d2", "d3"], {"d1", "d3"})
    0.625
    """
    chosen = parse(measure)
    return evaluate({"query": relevant}, {"query": retrieved}, [chosen], **conventions)[chosen]


def precision_at_k(retrieved: Retrieved, relevant: Relevant, k: int) -> float:
    """The share of the first `k` documents that are relevant.

    >>> precision_at_k(["d1", "d2"], {"d1"}, 5)
    0.2
    """
    return value(parse("P") @ k, retrieved, relevant)


def recall_at_k(retrieved: Retrieved, relevant: Relevant, k: int) -> float:
    """The share of the relevant documents that are among the first `k`.

    >>> recall_at_k(["d1", "d2"], {"d1", "d9"}, 5)
    0.5
    """
    return value(parse("R") @ k, retrieved, relevant)


def f1_at_k(retrieved: Retrieved, relevant: Relevant, k: int) -> float:
    """The harmonic mean of precision and recall in the first `k` places.

    >>> round(f1_at_k(["d1", "d2", "d3", "d4", "d5"], {"d1", "d3", "d6", "d7"}, 5), 4)
    0.4444
    """
    return value(parse("F1") @ k, retrieved, relevant)


def hit_rate_at_k(retrieved: Retrieved, relevant: Relevant, k: int) -> float:
    """1 if a relevant document is among the first `k`, else 0.

    >>> hit_rate_at_k(["d2", "d1"], {"d1"}, 1), hit_rate_at_k(["d2", "d1"], {"d1"}, 2)
    (0.0, 1.0)
    """
    return value(parse("Success") @ k, retrieved, relevant)


def reciprocal_rank(retrieved: Retrieved, relevant: Relevant, k: int | None = None) -> float:
    """One divided by the rank of the first relevant document; 0 if none is found.

    >>> reciprocal_rank(["d2", "d1"], {"d1"})
    0.5
    """
    return value(_cut("RR", k), retrieved, relevant)


def average_precision(retrieved: Retrieved, relevant: Relevant, k: int | None = None) -> float:
    """The precision at each relevant document found, summed and divided by how many there are.

    >>> round(average_precision(["d1", "d2", "d3"], {"d1", "d3"}), 4)
    0.8333
    """
    return value(_cut("AP", k), retrieved, relevant)


def ndcg_at_k(
    retrieved: Retrieved, relevant: Relevant, k: int | None = None, *, gain: Any = "linear", ideal: str = "all"
) -> float:
    """The discounted gain of the first `k` places as a share of the best possible.

    >>> round(ndcg_at_k(["a", "b", "c", "d", "e"], {"a": 1, "b": 0, "c": 3, "d": 2, "e": 0, "f": 3}, 5), 4)
    0.5316
    """
    return value(_cut("nDCG", k)(gain=gain, ideal=ideal), retrieved, relevant)


def dcg_at_k(retrieved: Retrieved, relevant: Relevant, k: int | None = None, *, gain: Any = "linear") -> float:
    """The gain of the first `k` places, each divided by the logarithm of its rank plus one.

    >>> round(dcg_at_k(["x", "a", "y", "b"], {"a": 3, "b": 1}), 3)
    2.323
    """
    return value(_cut("DCG", k)(gain=gain), retrieved, relevant)


def expected_reciprocal_rank(
    retrieved: Retrieved, relevant: Relevant, k: int | None = None, *, top_grade: float | None = None
) -> float:
    """The expected reciprocal rank at which a user who reads downwards is satisfied.

    >>> round(expected_reciprocal_rank(["a", "b", "c"], {"a": 3, "b": 2, "c": 0}, top_grade=3), 4)
    0.8984
    """
    return value(_cut("ERR", k)(top_grade=top_grade), retrieved, relevant)


@explain_calls
def context_precision(retrieved: Sequence[Any], relevant: Relevant | None = None, k: int | None = None) -> float:
    """Precision at each relevant chunk, averaged over the relevant chunks found.

    Either ids and the relevant ones among them, or the verdicts alone, in rank order.

    >>> context_precision(["c1", "c2", "c3"], {"c1"}), context_precision([0, 1, 1])
    (1.0, 0.5833333333333333)
    """
    if relevant is not None:
        return value(_cut("AP", k)(denominator="found"), retrieved, relevant)
    names, judged = _verdicts("context_precision", retrieved)
    return value(_cut("AP", k)(denominator="found"), names, judged)


@explain_calls
def context_recall(supported: Sequence[float]) -> float:
    """The share of the reference answer's claims that the context supports; one verdict a claim.

    >>> context_recall([1, 1, 1, 0])
    0.75
    """
    return _share("context_recall", supported)


@explain_calls
def context_entity_recall(reference: Iterable[str], context: Iterable[str]) -> float:
    """The share of the reference's entities that the context mentions.

    >>> round(context_entity_recall(["Brazil", "Brasília", "April 21 1960"], ["Brasília", "Brazil"]), 4)
    0.6667
    """
    mentioned = set(context)
    return _share("context_entity_recall", [float(entity in mentioned) for entity in dict.fromkeys(reference)])


@explain_calls
def context_relevance(bears: Sequence[float]) -> float:
    """The share of the context's statements that are relevant to the question; one verdict a statement.

    >>> round(context_relevance([1, 0, 1]), 4)
    0.6667
    """
    return _share("context_relevance", bears)


class ConfusionMatrix(NamedTuple):
    """Retrieved or not, relevant or not: the four counts. `tn` is None if the corpus size is unknown."""

    tp: int
    fp: int
    fn: int
    tn: int | None = None


def confusion_matrix(
    retrieved: Retrieved, relevant: Relevant, corpus_size: int | None = None, k: int | None = None
) -> ConfusionMatrix:
    """How many documents were rightly and wrongly retrieved, and rightly and wrongly left out.

    >>> confusion_matrix(["a", "b", "c", "d", "e"], {"a", "b", "x", "y", "z", "w"}, corpus_size=10_000)
    ConfusionMatrix(tp=2, fp=3, fn=4, tn=9991)
    """
    names = ["TP", "FP", "FN"] + (["TN"] if corpus_size is not None else [])
    chosen = [_cut(name, k) for name in names]
    scores = evaluate({"query": relevant}, {"query": retrieved}, chosen, corpus_size=corpus_size)
    return ConfusionMatrix(*(int(scores[each]) for each in chosen))


def _cut(name: str, k: int | None) -> Measure:
    return parse(name) if k is None else parse(name) @ k


def _verdicts(owner: str, verdicts: Sequence[Any]) -> tuple[list[str], dict[str, float]]:
    for each in verdicts:
        if each not in (0, 1):
            raise UsageError(
                f"{owner}: got the verdict {each!r}, expected 0 or 1 (or True or False). "
                "Next: turn it into one of these."
            )
    names = [str(place) for place in range(len(verdicts))]
    return names, {name: float(each) for name, each in zip(names, verdicts, strict=True)}


def _share(owner: str, verdicts: Sequence[Any]) -> float:
    if not len(verdicts):
        raise UsageError(
            f"{owner}: there is nothing to divide by; without a single item it has no value. "
            "Next: leave such a query out."
        )
    names, judged = _verdicts(owner, verdicts)
    return value("P", names, judged)
