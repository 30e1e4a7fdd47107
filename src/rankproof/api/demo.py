"""The demonstration: the embedded sample, three retrievers, and what the tool says about them."""

from __future__ import annotations

from collections.abc import Iterator

from rankproof import sample
from rankproof.api.compare import compare
from rankproof.api.evaluate import evaluate, prepare
from rankproof.api.explain import explain
from rankproof.api.scores import Scores
from rankproof.reporting.formats import render

MEASURES = "nDCG@10, RR@10, R@5, P@5, Success@5"
MAIN = "nDCG@10"


def demo() -> Iterator[str]:
    """The demonstration's parts, one text after the other."""
    judgments, rankings = prepare(sample.judgments()), sample.rankings()
    scores = {name: evaluate(judgments, ranking, MEASURES) for name, ranking in rankings.items()}
    yield _opening()
    yield render([each.summary(name) for name, each in scores.items()], "table")
    yield f"Is one better than another? {'-' * 51}\n"
    yield str(compare(judgments, rankings, f"{MAIN}, R@5"))
    best = max(scores, key=lambda name: scores[name][MAIN])
    yield _worst(best, scores[best])
    query = _telling_query(scores["keyword"], scores["dense"])
    yield f"How one of these numbers comes about {'-' * 43}\n"
    yield f"Question {query}: {sample.queries()[query]}\n"
    yield str(explain(judgments, rankings["keyword"], query, MAIN))
    yield _closing()


def _opening() -> str:
    documents, queries = sample.documents(), sample.queries()
    topics = {document["topic"] for document in documents.values()}
    return (
        f"A support knowledge base of {len(documents)} documents in {len(topics)} topics, {len(queries)} questions\n"
        "as customers ask them, judged by hand from 0 (does not help) to 3 (answers it),\n"
        "and three retrievers: keyword search, dense search, and both fused.\n"
    )


def _worst(name: str, scores: Scores) -> str:
    """The answerable questions with the lowest values."""
    texts, kinds = sample.queries(), sample.kinds()
    answerable = [(query, value) for query, value in scores.worst(60, MAIN) if kinds[query] != "no answer"]
    lines = [f"The questions that {name} serves worst:", ""]
    lines += [f"  {value:.4f}  {query:6}{texts[query][:60]}" for query, value in answerable[:5]]
    return "\n".join(lines) + "\n"


def _telling_query(first: Scores, second: Scores) -> str:
    """The question on which two retrievers differ most, of those that the first answers in part."""
    a, b = first.values(MAIN), second.values(MAIN)
    return max((query for query in a if 0 < a[query] < 1), key=lambda query: abs(a[query] - b[query]))


def _closing() -> str:
    return (
        "Next, on your own data:\n\n"
        "  rankproof audit JUDGMENTS RUN             what to know before any number\n"
        "  rankproof evaluate JUDGMENTS RUN ...      the first table\n"
        "  rankproof compare JUDGMENTS RUN RUN ...   the second\n"
        "  rankproof explain JUDGMENTS RUN QUERY     one number, step by step\n"
        "  rankproof measures                        what can be measured\n"
    )
