"""What is claimed on some questions holds on others: half of the sample's questions claim, the other half say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rankproof import evaluate, sample
from rankproof.advice.fixes import Trial, fixes
from rankproof.api.diagnosing.evidence import Evidence
from rankproof.api.diagnosing.trials import _more_documents, _other_searches
from rankproof.api.evaluate import prepare
from rankproof.io.corpora import load_corpus

SPLITS = 40


def tried(run: str) -> list[Trial]:
    judged, corpus = prepare(sample.judgments()), load_corpus(sample.documents())
    scores = evaluate(judged, sample.rankings()[run], "nDCG@10")
    evidence = Evidence(scores, judged, 10, {}, sample.queries(), corpus)
    return [*_other_searches(evidence), *_more_documents(evidence)]


def part(trials: Sequence[Trial], rows: Sequence[int]) -> list[Trial]:
    return [replace(each, before=each.before[rows], after=each.after[rows]) for each in trials]


@pytest.mark.slow
@pytest.mark.parametrize("run", ["dense", "keyword"])
def test_a_claimed_gain_is_there_on_other_questions_too(run: str) -> None:
    trials, rng = tried(run), np.random.default_rng(0)
    missed = []
    for _ in range(SPLITS):
        drawn = rng.permutation(len(trials[0].before)).tolist()
        first, second = part(trials, drawn[::2]), part(trials, drawn[1::2])
        elsewhere = {each.kind: float((each.after - each.before).mean()) for each in second}
        missed += [elsewhere[fix.kind] - fix.gain for fix in fixes(first, rng) if fix.claimed]
        kept = [elsewhere[fix.kind] > 0 for fix in fixes(first, rng) if fix.claimed]
        assert sum(kept) >= len(kept) - 1
    # Half of the questions prove a gain less often than all do, and then in a kind draw: what was chosen flatters.
    assert len(missed) >= SPLITS // 2
    assert -0.08 < np.mean(missed) < 0.01
