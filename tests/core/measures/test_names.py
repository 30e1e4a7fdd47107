"""Measures go by many names; each leads to one measure with the parameters that the name stands for."""

from __future__ import annotations

import math

import pytest

from rankproof import evaluate
from rankproof.core.names import parse
from rankproof.errors import UsageError
from rankproof.functional import value
from tests.each import with_each

KNOWN = {
    "trec_eval": {
        "map": "AP", "gm_map": "GMAP", "map_cut_100": "AP@100", "P_10": "P@10", "recall_1000": "R@1000", "Rprec": "Rprec",
        "recip_rank": "RR", "ndcg": "nDCG", "ndcg_cut_10": "nDCG@10", "ndcg_cut.10": "nDCG@10", "success_5": "Success@5",
        "iprec_at_recall_0.10": "IPrec@0.1", "11pt_avg": "IPrec11", "infAP": "infAP", "gm_bpref": "GMbpref", "bpref": "bpref",
        "Rprec_mult_0.20": "RprecMult@0.2", "utility": "Utility", "binG": "binG", "G": "G", "ndcg_rel": "nDCGrel",
        "Rndcg": "RnDCG", "relative_P_5": "RelP@5", "set_P": "P", "set_relative_P": "RelP", "set_recall": "R",
        "set_map": "SetAP", "set_F": "F", "set_F.4": "F(beta=2)", "set_F_0.25": "F(beta=0.5)", "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRelRet",
        "num_nonrel_judged_ret": "NumNonrelJudgedRet", "yaap": "yaap",
        "unj_5": "Unjudged(denominator='k', negative='unjudged')@5",
    },
    "ranx": {
        "hits": "TP", "hits@5": "TP@5", "hit_rate@5": "Success@5", "precision@5": "P@5", "recall@5": "R@5", "f1": "F",
        "f1@5": "F@5", "r-precision": "Rprec", "r_precision": "Rprec", "mrr": "RR", "mrr@10": "RR@10", "map": "AP", "map@100": "AP@100",
        "ndcg@10": "nDCG@10", "ndcg_burges@10": "nDCG(gain='exp')@10", "dcg@5": "DCG@5", "dcg_burges": "DCG(gain='exp')",
        "bpref": "bpref", "rbp.95": "RBP(p=0.95)", "rbp.50": "RBP(p=0.5)",
        "rbp.8": "RBP", "rbp.85": "RBP(p=0.85)", "RBP.995@10": "RBP(p=0.995)@10",
    },
    "BEIR": {"NDCG@10": "nDCG@10", "MAP@100": "AP@100", "Recall@100": "R@100", "P@10": "P@10", "MRR@10": "RR@10",
             "R_cap@100": "R(denominator='min')@100", "Hole@10": "Unjudged(denominator='k')@10"},
    "mteb": {"ndcg_at_10": "nDCG@10", "map_at_100": "AP@100", "mrr_at_10": "RR@10", "recall_at_5": "R@5",
             "precision_at_1": "P@1", "hit_rate_at_3": "Success@3"},
    "ir_measures": {
        "SetP": "P", "SetR": "R", "SetF": "F", "SetF(beta=4)": "F(beta=2)", "SetAP": "SetAP", "SetRelP": "RelP", "α_nDCG@20": "alpha_nDCG@20",
        "α_DCG": "alpha_DCG", "IPrec@0.1": "IPrec@0.1",
        "Judged@10": "Judged@10", "alpha_nDCG@20": "alpha_nDCG@20", "StRecall@5": "StRecall@5", "nNRBP": "nNRBP",
        "NERR8@10": "NERR8@10", "Compat(p=0.95)": "Compat", "Compat(p=0.9)": "Compat(p=0.9)", "INST": "INST",
        "BPM@10": "BPM@10", "nDCG(rel=2)@10": "nDCG(rel=2)@10", "Bpref": "bpref", "Rprec": "Rprec", "ERR@20": "ERR@20",
        "AP_IA": "AP_IA", "P_IA@5": "P_IA@5", "ERR_IA@20": "ERR_IA@20", "RBP(p=0.9)": "RBP(p=0.9)", "SDCG@10": "SDCG@10",
    },
    "ndeval": {"alpha-nDCG@10": "alpha_nDCG@10", "ERR-IA@5": "ERR_IA@5", "MAP-IA": "AP_IA", "strec@5": "StRecall@5"},
    "judges": {
        "context_precision": "AP(denominator='found')", "context_recall": "StRecall(denominator='declared')",
        "context_entity_recall": "StRecall(denominator='declared')", "context_relevance": "P",
        "completeness": "StRecall(denominator='declared')", "contextual_precision@5": "AP(denominator='found')@5",
    },
    "everyday": {
        "MAP": "AP", "MRR": "RR", "MRR@10": "RR@10", "Hit@5": "Success@5", "HitRate@5": "Success@5", "HR@10": "Success@10",
        "Hits@10": "Success@10", "Success@5": "Success@5", "F1@5": "F@5", "F2@5": "F(beta=2)@5", "F0.5": "F(beta=0.5)",
        "F(beta=2)@5": "F(beta=2)@5", "F(beta=1)@5": "F@5", "precision@5": "P@5", "Recall": "R", "average_precision": "AP",
        "reciprocal_rank": "RR", "nDCG( gain = exp ) @ 10": "nDCG(gain='exp')@10", "P(rel=1.0)@5": "P@5",
    },
}  # fmt: skip

PAIRS = [(tool, theirs, ours) for tool, names in KNOWN.items() for theirs, ours in names.items()]


@with_each("pair", PAIRS)
def test_name_of_another_tool(pair: tuple[str, str, str]) -> None:
    _, theirs, ours = pair
    assert str(parse(theirs)) == ours


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("P@0", "P: k is 0, expected a whole number of at least 1."),
        ("nDCG@-1", "nDCG: k is -1, expected a whole number of at least 1."),
        ("P@2.5", "P: k is 2.5, expected a whole number of at least 1."),
        ("IPrec@1.5", "IPrec: recall is 1.5, expected a number from 0 to 1."),
        ("RBP(p=1)", "RBP: p is 1, expected a number above 0 and below 1."),
        ("INST(T=0.2)", "INST: T is 0.2, expected a number of at least 0.5."),
        ("nDCG(gain='exponential')@5", "nDCG: gain is 'exponential', expected 'linear', 'exp' or a mapping of grade to a gain of at least 0, others gaining themselves."),
        ("nDCG(gain={1:-1,2:1})", "nDCG: gain is {1: -1, 2: 1}, expected 'linear', 'exp' or a mapping of grade to a gain of at least 0, others"),
        ("G(gain={2:-0.5})", "a mapping of grade to a gain of at least 0"),
        ("P(relevance=2)@5", "P: unknown parameter 'relevance', expected k, rel, denominator, scores, threshold."),
        ("NumRet(rel=2)", "NumRet: unknown parameter 'rel', expected k. Next: see 'rankproof measures NumRet'"),
        ("AP(denominator='foudn')", "Did you mean 'found'?"),
        ("Presision@5", "Did you mean 'precision'?"),
        ("P(k=5)@10", "measure 'P(k=5)@10': got two cut-offs, k=5 and @10, expected one. Next: write @10 alone."),
        ("recall_5(k=10)", "got two cut-offs, k=10 and @5, expected one."),
        ("P(rel=1,rel=2)@5", "got rel with two values, expected one. Next: leave one of them out."),
        ("P(rel=2)(k=5)", "got parameters twice, expected them once. Next: write them like (rel=2, gain='exp')."),
        ("NumRel@5", "NumRel: got @5, but this measure has no cut-off."),
    ],
)  # fmt: skip
def test_a_wrong_name_is_told(asked: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(asked)
    assert said in str(caught.value)


def test_accuracy_asks_for_the_collection() -> None:
    with pytest.raises(UsageError, match=r"Accuracy needs the number of documents.*corpus_size="):
        evaluate({"q": ["a"]}, {"q": ["a"]}, "Accuracy")
    with pytest.raises(UsageError, match="or ask for Success@1, if you mean the hit rate"):
        evaluate({"q": ["a"]}, {"q": ["a"]}, "accuracy@1")
    with pytest.raises(UsageError, match=r"got a collection of 2 documents, but one query alone has 3 different ones"):
        evaluate({"q": ["a", "b"]}, {"q": ["a", "x"]}, "Accuracy", corpus_size=2)
    with pytest.raises(UsageError, match="Utility needs the number of documents"):
        evaluate({"q": ["a"]}, {"q": ["a"]}, "Utility(d=1)")


def test_utility_is_printed_without_the_collection_where_wrong_documents_pay() -> None:
    scores = evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, "Utility(b=0.5)")
    assert (scores["Utility(b=0.5)"], scores.ceiling("Utility(b=0.5)")) == (1.5, 1.5)
    assert "1.5000" in scores.format()


def test_no_order_of_equal_scores_matters_to_utility() -> None:
    many = {"q": {f"d{i}": 1.0 for i in range(40)}}
    scores = evaluate({"q": {f"d{i}": i % 2 for i in range(20)}}, many, "Utility", ties="best")
    assert (scores["Utility"], scores.column("Utility").note) == (-20.0, "")


def test_a_grade_that_a_gain_does_not_name_gains_itself_and_the_pages_say_so() -> None:
    judged = {"a": 3.0, "b": 2.0, "c": 1.0}
    assert value("DCG(gain={3: 1})", ["a", "b", "c"], judged) == pytest.approx(1 + 2 / math.log2(3) + 1 / 2)
    assert "a grade that it does not name gains itself" in parse("DCG").spec.doc


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0, 3.0, 4.0])
def test_f_by_the_name_of_ir_measures_is_what_it_computes(weight):
    ir_measures = pytest.importorskip("ir_measures")
    judged = {"q": {"a": 1, "b": 2, "c": 0, "d": 1}}
    ranked = {"q": {"a": 9.0, "z": 8.0, "b": 7.0, "x": 6.0, "y": 5.0}}
    theirs = ir_measures.calc_aggregate([ir_measures.SetF(beta=weight)], judged, ranked)
    for name in ("SetF(beta={})", "set_F(beta={})", "setf(beta={})", "set_F.{}", "set_F_{}", "setf_{}"):
        name = name.format(weight)
        assert evaluate(judged, ranked, name)[name] == pytest.approx(next(iter(theirs.values())), abs=1e-12)
