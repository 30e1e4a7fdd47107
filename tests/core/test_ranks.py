"""Ranks of judged documents are those that sorting the whole ranking gives, however it is stored."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rankproof import agreement, evaluate, evaluate_spans, pool
from rankproof.core.conventions import Conventions
from rankproof.core.join import Census, join
from rankproof.io.mappings import MappingRankings, judgments_from_mapping


def by_sorting(run: dict[str, float]) -> dict[str, tuple[int, int, int]]:
    """For each document its rank, and the first and last it could have among equal scores."""
    order = sorted(run, key=lambda doc: (run[doc], doc), reverse=True)
    scores = [run[doc] for doc in order]
    spans = {score: (scores.index(score) + 1, scores.index(score) + scores.count(score)) for score in scores}
    return {doc: (rank, *spans[run[doc]]) for rank, doc in enumerate(order, 1)}


def by_joining(judged: list[str], run: dict[str, float]) -> dict[str, tuple[int, int, int]]:
    judgments = judgments_from_mapping({"q": dict.fromkeys(judged, 1)})
    blocks = MappingRankings({"q": run}).blocks(judgments, Conventions(), Census())
    hits = join(judgments, blocks, Conventions())
    first, last = (hits.rank if each is None else each for each in (hits.first, hits.last))
    docs = [judgments.docs[i] for i in hits.doc.tolist()]
    return dict(zip(docs, zip(hits.rank.tolist(), first.tolist(), last.tolist(), strict=True), strict=True))


@pytest.mark.parametrize("kinds", [1_000_000, 40], ids=["distinct", "tied"])
@pytest.mark.parametrize("falling", [True, False], ids=["best first", "in any order"])
@pytest.mark.parametrize(("length", "judged"), [(10, 3), (300, 2), (300, 200)])
def test_ranks_are_those_of_the_sorted_ranking(kinds: int, falling: bool, length: int, judged: int) -> None:
    rnd = random.Random(length + judged)
    scores = rnd.sample(range(kinds), length) if kinds > length else rnd.choices(range(kinds), k=length)
    scores = sorted(scores, reverse=True) if falling else scores
    run = {f"d{i}": score / 7 for i, score in enumerate(scores)}
    docs = rnd.sample(sorted(run), judged)
    expected = by_sorting(run)
    assert by_joining(docs, run) == {doc: expected[doc] for doc in docs}


def test_a_rank_column_without_scores_is_the_order_for_every_verb(tmp_path: Path) -> None:
    (ranked := tmp_path / "ranked.csv").write_text("query_id,doc_id,rank\nq,second,2\nq,first,1\nq,third,3\n")
    assert evaluate({"q": {"first": 1}}, ranked, "RR").means == {"RR": 1.0}
    assert agreement(ranked, {"q": ["first", "second", "third"]}, "RBO").means == {"RBO": 1.0}
    assert [each.document for each in pool({"one": ranked}, depth=1)] == ["first"]
    corpus = {"first": "Here it is.", "second": "Not here.", "third": "Nor here."}
    assert evaluate_spans({"q": [("first", 0, 4)]}, ranked, corpus, "SpanR@1").means == {"SpanR@1": 1.0}
