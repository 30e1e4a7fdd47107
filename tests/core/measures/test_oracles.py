"""Every measure against its oracle: plain loops over one list, on random inputs."""

from __future__ import annotations

import pytest

from rankproof import evaluate
from rankproof.core.measure import REGISTRY
from rankproof.core.names import parse

from .inputs import largest, random_aspects, random_case, ranked
from .oracles import ASPECT_ORACLES, ORACLES

CORPUS = 100
VARIANTS = """
P P@1 P@5 P(rel=2)@3 P(denominator='returned')@5 R R@3 R(rel=2)@5 R(denominator='min')@3 R(denominator='returned')@4
F F@5 F(beta=2) F(beta=0.5)@3 F(rel=2) Success Success@1 Success@5 Success(rel=3)@4 RelP RelP@3 RelP(rel=2)@5
SetAP SetAP@4 TP TP@3 FP FP@3 FN FN@3 TN TN@5 Accuracy Accuracy@5 Accuracy(rel=2) FirstRel FirstRel@2 FirstRel(rel=2)
Utility Utility(a=2,b=-0.5,c=-1) Utility(d=0.01) NumRet NumRet@4 NumRel NumRel(rel=2) NumRelRet NumRelRet@3
NumNonrelJudgedRet NumNonrelJudgedRet(rel=2)@5 Judged Judged@4 Judged(denominator='k')@4 Judged(negative='unjudged')@4
Unjudged Unjudged@4 Unjudged(denominator='k')@4 unj@5 RR RR@3 RR(rel=2) AP AP@4 AP(rel=2) AP(denominator='found')
AP(denominator='found')@3 AP(denominator='min')@3 GMAP yaap yaap(rel=2) Rprec Rprec(rel=2) Rprec(denominator='returned')
RprecMult@0.2 RprecMult@0.6 RprecMult@1 RprecMult@1.8 IPrec@0 IPrec@0.1 IPrec@0.3 IPrec@0.5 IPrec@0.7 IPrec@1
IPrec(rounding='trec_eval-9')@0.3 IPrec(rel=2)@0.5 IPrec11 IPrec11(rounding='trec_eval-9') IPrec11(rel=2)
bpref bpref(rel=2) GMbpref infAP infAP(rel=2) DCG DCG@3 DCG(gain='exp')@5 DCG(gain={1:3.5,2:1})@5 DCG(rel=2) nDCG nDCG@3
nDCG(gain='exp')@5 nDCG(gain={1:5,2:0,3:1})@4 nDCG(rel=2)@5 nDCG(ideal='top')@3 nDCG(ideal='returned')@3
nDCG(ideal='uncut')@3 nDCG(ideal='hits')@6 nDCG(ideal='top') nDCG(ideal='top',gain={1:5,2:0,3:1})@4
nDCG(ideal='returned',rel=2)@4 RnDCG RnDCG(gain={1:3,2:4,3:9}) nDCGrel nDCGrel(gain='exp') G G(gain={1:3,2:4,3:9}) binG
binG(rel=2) Q Q@4 Q(beta=10) Q(rel=2) ERR ERR@3 ERR(top_grade=3) ERR(top_grade=2)@5 nERR nERR@3 nERR(top_grade=4)
RBP RBP@3 RBP(p=0.5) RBP(gain='graded') RBP(gain='graded',top_grade=2) RBP(gain='topic',p=0.9) RBP(rel=2) RBPResidual
RBPResidual(p=0.5)@3 rbp_resid RBPResidual(p=0.9,negative='unjudged',tail='unjudged') SDCG@5 SDCG SDCG(top_grade=2)@3
INSQ INSQ(T=2) INST INST(T=3) INST(T=0.5,top_grade=3) BPM@5 BPM BPM(T=2)@4 BPM(T=0.4) NERR8@5 NERR8 NERR9@5 NERR9
NERR10 NERR10(p=0.5) NERR11 NERR11(T=2) Compat Compat(p=0.5) Compat(rel=2) Compat(depth=4)
"""
ASPECT_VARIANTS = """
StRecall StRecall@2 StRecall(rel=2) StRecall@5 context_recall context_recall@3 P_IA P_IA@3 P_IA(rel=2)@2 AP_IA AP_IA@4
alpha_DCG alpha_DCG@3 alpha_DCG(alpha=0.2)@5 alpha_DCG(alpha=0)@4 alpha_DCG(alpha=1) alpha_nDCG alpha_nDCG@3
alpha_nDCG(alpha=0.9,rel=2)@5 ERR_IA ERR_IA@3 nERR_IA nERR_IA@3 NRBP NRBP(alpha=0.2,beta=0.8) nNRBP nNRBP(beta=0.9)
"""
MEASURES = VARIANTS.split()
ASPECT_MEASURES = ASPECT_VARIANTS.split()


def test_every_measure_has_an_oracle() -> None:
    known = {*ORACLES, *ASPECT_ORACLES}
    assert known == {name for name, each in REGISTRY.items() if each.spec.kind == "ranking"}
    assert known == {parse(name).spec.name for name in MEASURES + ASPECT_MEASURES}


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))]
)
def test_as_on_paper(seed: int) -> None:
    judgments, run = random_case(seed)
    scores = evaluate(judgments, run, MEASURES, corpus_size=CORPUS).per_query
    for name in MEASURES:
        measure = parse(name)
        for query, grades in judgments.items():
            slow = ORACLES[measure.spec.name](
                ranked(run[query]), grades, **measure.params, corpus=CORPUS, largest=largest(judgments)
            )
            assert scores[str(measure)][query] == pytest.approx(slow, abs=1e-12, rel=1e-10), (name, query)


@pytest.mark.parametrize("seed", range(8))
def test_aspects_as_on_paper(seed: int) -> None:
    judgments, run = random_aspects(seed)
    scores = evaluate(judgments, run, ASPECT_MEASURES).per_query
    for name in ASPECT_MEASURES:
        measure = parse(name)
        for query, facets in judgments.items():
            slow = ASPECT_ORACLES[measure.spec.name](ranked(run[query]), facets, **measure.params)
            assert scores[str(measure)][query] == pytest.approx(slow, abs=1e-12, rel=1e-10), (name, query)
