"""Every measure against its oracle: plain loops over one list, on random inputs."""

from __future__ import annotations

import pytest

from rankproof import evaluate
from rankproof.core.names import REGISTRY, parse

from .inputs import largest, random_aspects, random_case, ranked
from .oracles import ASPECT_ORACLES, ORACLES, VARIANTS

CORPUS = 100
ASPECT_VARIANTS = """
StRecall StRecall@2 StRecall(rel=2) StRecall@5 context_recall context_recall@3 P_IA P_IA@3 P_IA(rel=2)@2 AP_IA AP_IA@4
alpha_DCG alpha_DCG@3 alpha_DCG(alpha=0.2)@5 alpha_DCG(alpha=0)@4 alpha_DCG(alpha=1) alpha_nDCG alpha_nDCG@3
alpha_nDCG(alpha=0.9,rel=2)@5 ERR_IA ERR_IA@3 nERR_IA nERR_IA@3 NRBP NRBP(alpha=0.2,beta=0.8) nNRBP nNRBP(beta=0.9)
"""
ASPECT_MEASURES = ASPECT_VARIANTS.split()


def test_every_measure_has_an_oracle() -> None:
    known = {*ORACLES, *ASPECT_ORACLES}
    assert known == {name for name, each in REGISTRY.items() if each.spec.kind == "ranking"}
    assert known == {parse(name).spec.name for name in VARIANTS + ASPECT_MEASURES}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_as_on_paper(seed: int) -> None:
    judgments, run = random_case(seed)
    scores = evaluate(judgments, run, VARIANTS, corpus_size=CORPUS).per_query
    for name in VARIANTS:
        measure = parse(name)
        for query, grades in judgments.items():
            slow = ORACLES[measure.spec.name](
                ranked(run[query]), grades, **measure.params, corpus=CORPUS, largest=largest(judgments)
            )
            assert scores[str(measure)][query] == pytest.approx(slow, abs=1e-12, rel=1e-10), (name, query)


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("seed", range(8))
def test_aspects_as_on_paper(seed: int) -> None:
    judgments, run = random_aspects(seed)
    scores = evaluate(judgments, run, ASPECT_MEASURES).per_query
    for name in ASPECT_MEASURES:
        measure = parse(name)
        for query, facets in judgments.items():
            slow = ASPECT_ORACLES[measure.spec.name](ranked(run[query]), facets, **measure.params)
            assert scores[str(measure)][query] == pytest.approx(slow, abs=1e-12, rel=1e-10), (name, query)
