"""The demonstration: the embedded sample, three retrievers, and what the tool says about them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankproof import sample
from rankproof.api.evaluate import SEED, prepare, evaluate
from rankproof.api.explain import explain
from rankproof.api.scores import Scores
from rankproof.reporting.formats import render
from rankproof.stats.intervals import interval

MEASURES = "nDCG@10, RR@10, R@5, R@20, P@5, Success@5"
MAIN = "nDCG@10"


def demo() -> Iterator[str]:
    """The demonstration's parts, one text after the other."""
    judgments, rankings = prepare(sample.judgments()), sample.rankings()
    scores = {name: evaluate(judgments, ranking, MEASURES, by=sample.kinds()) for name, ranking in rankings.items()}
    yield _opening()
    yield render([each.summary(name) for name, each in scores.items()], "table")
    yield _differences(scores)
    yield _by_kind(scores)
    best = max(scores, key=lambda name: scores[name][MAIN])
    yield _worst(best, scores[best])
    query = _telling_query(scores["keyword"], scores["dense"])
    yield f"How one of these numbers comes about: {MAIN} of question {query} with the keyword search.\n"
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


def _differences(scores: dict[str, Scores]) -> str:
    """Every pair of retrievers on the main measure: the mean difference query by query, with its interval."""
    lines = [f"Differences in {MAIN}, query by query, with 95 % intervals:", ""]
    names = list(scores)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            difference = scores[second].column(MAIN).values - scores[first].column(MAIN).values
            found = interval(difference, np.random.default_rng(SEED), 0.95)
            says = "real" if found.low > 0 or found.high < 0 else "could be chance"
            pair = f"{second} - {first}"
            lines.append(f"  {pair:20}{difference.mean():+8.4f}  [{found.low:+.4f}, {found.high:+.4f}]  {says}")
    return "\n".join(lines) + "\n"


def _by_kind(scores: dict[str, Scores]) -> str:
    """The main measure for each kind of question."""
    kinds = list(next(iter(scores.values())).slices)
    lines = [f"{MAIN} by kind of question:", "", "  " + f"{'':16}" + "".join(f"{name:>10}" for name in scores) + "     n"]
    for kind in kinds:
        parts = [each.slices[kind] for each in scores.values()]
        values = "".join(f"{part[MAIN]:10.4f}" for part in parts)
        lines.append(f"  {kind:16}{values}{len(parts[0].queries):6}")
    return "\n".join(lines) + "\n"


def _worst(name: str, scores: Scores) -> str:
    """The answerable questions with the lowest values."""
    texts, kinds = sample.queries(), sample.kinds()
    answerable = [(query, value) for query, value in scores.worst(60, MAIN) if kinds[query] != "no answer"]
    lines = [f"The questions that {name} serves worst:", ""]
    lines += [f"  {value:.4f}  {query:6}{texts[query][:60]}" for query, value in answerable[:5]]
    return "\n".join(lines) + "\n"


def _telling_query(first: Scores, second: Scores) -> str:
    """The question on which two retrievers differ most."""
    a, b = first.values(MAIN), second.values(MAIN)
    return max(a, key=lambda query: abs(a[query] - b[query]))


def _closing() -> str:
    return (
        "Next, on your own data:\n\n"
        "  rankproof audit JUDGMENTS RUN             what to know before any number\n"
        "  rankproof evaluate JUDGMENTS RUN ...      the table above\n"
        "  rankproof explain JUDGMENTS RUN QUERY     one number, step by step\n"
        "  rankproof measures                        what can be measured\n"
    )
