"""The whole round: 20 questions, measure, find the 5 worst, apply one improvement, before and after with a verdict."""

from __future__ import annotations

import pytest

from rankproof import Benchmark, diagnose, sample
from rankproof.bench.retrieve import keyword, lsa


@pytest.mark.slow
def test_measure_find_the_worst_apply_what_is_recommended_and_compare() -> None:
    kinds = sample.kinds()
    chosen = [query for query, kind in kinds.items() if kind in ("typo", "paraphrase")][:20]
    judgments = {query: sample.judgments()[query] for query in chosen}
    questions = {query: sample.queries()[query] for query in chosen}
    bench = Benchmark(questions, judgments, sample.corpus())

    words = keyword(sample.corpus(), engine="sqlite")
    before = bench.run("before", words)
    found = diagnose(judgments, before.ranking, queries=questions, corpus=sample.corpus(), measure="nDCG@10", worst=5)
    assert len(found.worst) == 5
    assert all(each.causes for each in found.worst)
    promised = {fix.kind: fix for fix in found.first}
    assert "dense" in promised

    bench.run("after", words + lsa(sample.corpus()))
    table = bench.compare("nDCG@10")
    row = table.row("after", "nDCG@10")
    assert row.verdict == "better"
    assert promised["dense"].low is not None
    assert promised["dense"].high is not None
    assert promised["dense"].low <= row.difference <= promised["dense"].high
    assert "better" in table.markdown()
