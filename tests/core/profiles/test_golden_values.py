"""Every profile gives the numbers of its tool, query by query and in the mean."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rankproof import evaluate
from rankproof.core.names import parse
from tests.each import with_each

GOLDEN = Path(__file__).parents[2] / "golden"
EXACT = 1e-9
SINGLE = 1e-6  # torchmetrics computes in single precision

Names = dict[str, str]
"""What the tool calls a measure, and what it is asked by here."""


@cache
def golden(tool: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{tool}.json").read_text(encoding="utf-8"))


@cache
def cases() -> dict[str, dict[str, Any]]:
    return {case["name"]: case for case in json.loads((GOLDEN / "cases.json").read_text(encoding="utf-8"))}


def at(pattern: dict[str, str], cuts: tuple[int, ...]) -> Names:
    """`{"P_*": "P@*"}` written out for each cut-off."""
    return {theirs.replace("*", str(k)): ours.replace("*", str(k)) for theirs, ours in pattern.items() for k in cuts}


FIVE = (1, 3, 5, 10, 100)
TREC_CUT = {"ndcg_cut_*": "nDCG@*", "map_cut_*": "AP@*", "P_*": "P@*", "recall_*": "R@*"}
TREC: Names = {
    **at(TREC_CUT, FIVE),
    **at({"success_*": "Success@*"}, (1, 3, 5, 10)),
    **at({"relative_P_*": "relative_P@*"}, FIVE),
    **{name: name for name in (
        "map", "ndcg", "recip_rank", "Rprec", "bpref", "infAP", "11pt_avg", "ndcg_rel", "binG", "G",
        "set_P", "set_recall", "set_F", "set_map", "set_relative_P", "num_ret", "num_rel", "num_rel_ret",
        *(f"iprec_at_recall_{point / 10:.2f}" for point in range(11)),
    )},
}  # fmt: skip
PRINTED: Names = {
    **TREC,
    **{name: name for name in (
        "gm_map", "gm_bpref", "Rndcg", "utility", "num_nonrel_judged_ret", "rbp", "rbp_resid", "unj_5", "unj_10", "unj_20",
        *(f"Rprec_mult_{share / 10:.2f}" for share in range(2, 21, 2)),
    )},
}  # fmt: skip
"""What trec_eval prints beyond what pytrec_eval gives."""
MTEB: Names = at({**TREC_CUT, "success_*": "Success@*", "MRR@*": "RR@*"}, FIVE)
RANX: Names = {
    **at({"ndcg@*": "nDCG@*", "ndcg_burges@*": "nDCG(gain='exp')@*", "dcg@*": "DCG@*", "dcg_burges@*": "DCG(gain='exp')@*",
          "map@*": "AP@*", "mrr@*": "RR@*", "precision@*": "P@*", "recall@*": "R@*", "f1@*": "F1@*",
          "hit_rate@*": "Success@*", "hits@*": "TP@*"}, FIVE),
    "ndcg": "nDCG", "dcg": "DCG", "map": "AP", "mrr": "RR", "precision": "P", "recall": "R", "f1": "F1",
    "hit_rate": "Success", "r-precision": "Rprec", "bpref": "bpref", "rbp.50": "RBP(p=0.5)", "rbp.95": "RBP(p=0.95)",
    "ndcg@5-l2": "nDCG(rel=2)@5", "map-l2": "AP(rel=2)", "precision@5-l2": "P(rel=2)@5", "recall@5-l2": "R(rel=2)@5",
    "mrr-l2": "RR(rel=2)",
}  # fmt: skip
TORCH: Names = {
    **at({"normalized_dcg@*": "nDCG@*", "average_precision@*": "AP@*", "reciprocal_rank@*": "RR@*", "precision@*": "P@*",
          "recall@*": "R@*", "hit_rate@*": "Success@*", "precision_adaptive@*": "P(denominator='returned')@*"}, FIVE),
    "normalized_dcg": "nDCG", "average_precision": "AP", "reciprocal_rank": "RR", "precision": "P", "recall": "R",
    "r_precision": "Rprec",
}  # fmt: skip
SKLEARN: Names = {
    **at({"ndcg_score@*": "nDCG@*", "dcg_score@*": "DCG@*"}, FIVE),
    "ndcg_score": "nDCG", "dcg_score": "DCG", "average_precision_score": "AP",
}  # fmt: skip
SPARK: Names = {
    **at({"precisionAt@*": "P@*", "recallAt@*": "R@*", "meanAveragePrecisionAt@*": "AP@*"}, FIVE),
    "meanAveragePrecision": "AP",
}  # fmt: skip
ELASTIC: Names = at(
    {"dcg@*": "DCG@*", "ndcg@*": "nDCG@*", "precision@*": "P@*", "recall@*": "R@*", "mean_reciprocal_rank@*": "RR@*",
     "expected_reciprocal_rank@*": "ERR(top_grade=4)@*"}, FIVE,
)  # fmt: skip
OPENSEARCH: Names = at(
    {"DCG@*": "DCG@*", "NDCG@*": "nDCG@*",
     "Precision@*, any grade above 0": "P(rel=0.001)@*", "Recall@*, any grade above 0": "R(rel=0.001)@*",
     "MAP@*, any grade above 0": "AP(rel=0.001)@*", "MRR@*, any grade above 0": "RR(rel=0.001)@*",
     "Precision@*": "P@*", "Recall@*": "R@*", "MAP@*": "AP@*", "MRR@*": "RR@*"}, (1, 3, 5, 8, 10),
)  # fmt: skip
QUEPID: Names = at(
    {
        "ndcg@*": "nDCG@*",
        "dcg@*": "DCG@*",
        "ap@*": "AP@*",
        "p@*": "P@*",
        "rr@*": "RR@*",
        "err@*": "ERR(top_grade=4)@*",
    },
    (3, 5, 10),
)

SINGLE_CASES = {"equal in float32", "equal in float32, ids against the scores"}
NEGATIVE = {"negative grades", "negative grades only", "small, negative grades"}
TIED = {
    name for name, case in cases().items() if any(len(set(run.values())) < len(run) for run in case["run"].values())
}
BINARY = {
    name
    for name, case in cases().items()
    if all(grade <= 1 for judged in case["judgments"].values() for grade in judged.values())
}
ONE_SIDED = {
    name
    for name, case in cases().items()
    if any({grade >= 1 for grade in judged.values()} != {True, False} for judged in case["judgments"].values())
}
ORDERED_ONLY = {
    "average_precision", "reciprocal_rank", "precision", "recall", "precision_adaptive", "hit_rate", "r_precision",
}  # fmt: skip

Left = Callable[[str, str], bool]


def left_by_ranx(case: str, measure: str) -> bool:
    """Ties among more than 15 documents, which it sorts in no fixed order; what its profile says it does not follow."""
    weighted = measure.startswith("rbp") and case not in BINARY
    return case == "deep, binary, tied" or weighted or (measure == "bpref" and case in NEGATIVE | ONE_SIDED)


def left_by_torchmetrics(case: str, measure: str) -> bool:
    base = measure.partition("@")[0]
    unordered = base in ORDERED_ONLY and case in TIED | SINGLE_CASES
    return unordered or (base == "normalized_dcg" and case in NEGATIVE)


def left_by_sklearn(case: str, measure: str) -> bool:
    return (measure == "average_precision_score" and case in TIED) or (measure.startswith("dcg") and case in NEGATIVE)


def left_by_products(case: str, measure: str) -> bool:
    """A negative grade pulls their DCG and ERR down; any grade above 0, a fraction too, is relevant to them."""
    graded = measure.lower().startswith(("dcg", "ndcg", "err", "expected"))
    return case in NEGATIVE if graded else case == "grades below 1"


def left_by_opensearch(case: str, measure: str) -> bool:
    """A negative grade pulls its DCG down."""
    return case in NEGATIVE and measure.startswith(("DCG", "NDCG"))


def left_by_trec_eval_10(case: str, measure: str) -> bool:
    """What trec_eval 9 does differently, or leaves out of the mean without -c."""
    points = measure.startswith(("iprec", "11pt"))
    return points or case in SINGLE_CASES or case == "a judged query is missing from the run"


def nothing_left(case: str, measure: str) -> bool:
    return False


def left_by_mteb(case: str, measure: str) -> bool:
    """Its MRR alone compares scores in double precision."""
    return case in SINGLE_CASES and measure.startswith("MRR")


TABLE: dict[str, tuple[str, Names, float, Left]] = {
    "trec_eval-9": ("trec_eval", TREC, EXACT, nothing_left),
    "trec_eval-10": ("trec_eval", TREC, EXACT, left_by_trec_eval_10),
    "mteb": ("mteb", MTEB, EXACT, left_by_mteb),
    "ranx": ("ranx", RANX, EXACT, left_by_ranx),
    "torchmetrics": ("torchmetrics", TORCH, SINGLE, left_by_torchmetrics),
    "sklearn": ("sklearn", SKLEARN, EXACT, left_by_sklearn),
    "spark": ("spark", SPARK, EXACT, nothing_left),
    "elasticsearch": ("elasticsearch", ELASTIC, EXACT, left_by_products),
    "opensearch": ("opensearch", OPENSEARCH, EXACT, left_by_opensearch),
    "quepid": ("quepid", QUEPID, EXACT, left_by_products),
}
MEANS_APART = {"mteb"}  # its own means are rounded to 5 decimals: compared with that tolerance


@pytest.mark.first_is_quick
@pytest.mark.parametrize("profile", TABLE)
@with_each("case", cases())
def test_a_profile_gives_the_numbers_of_its_tool(profile: str, case: str) -> None:
    tool, names, tolerance, left = TABLE[profile]
    theirs = golden(tool)["cases"][case]
    if "error" in theirs:
        return
    asked = {name: ours for name, ours in names.items() if name in theirs["per_query"] and not left(case, name)}
    if not asked:  # the profile does not claim to follow its tool here
        return
    scores = evaluate(cases()[case]["judgments"], cases()[case]["run"], list(asked.values()), profile=profile)
    wrong = []
    for name, ours in asked.items():
        values, mine = theirs["per_query"][name], scores.per_query[ours]
        for query, value in values.items():
            if value is not None and query in mine and not math.isclose(mine[query], value, abs_tol=tolerance):
                wrong.append((name, query, value, mine[query]))
        mean, slack = theirs["mean"].get(name), 1e-5 if profile in MEANS_APART else tolerance
        if mean is not None and None not in values.values() and not math.isclose(scores[ours], mean, abs_tol=slack):
            wrong.append((name, "mean", mean, scores[ours]))
    assert not wrong


@pytest.mark.parametrize("profile", TABLE)
def test_few_comparisons_are_left_out(profile: str) -> None:
    tool, names, _, left = TABLE[profile]
    measured = [(case, name) for case, each in golden(tool)["cases"].items() for name in each.get("per_query", ())]
    asked = [pair for pair in measured if pair[1] in names]
    assert {name for _, name in asked} == set(names)
    assert sum(left(*pair) for pair in asked) < len(asked) / 2


def test_grades_given_from_python_change_nothing_in_the_ndcg_of_spark() -> None:
    """So its profile says that it has another number, and the number is that of grades of 0 and 1."""
    for name, each in golden("spark")["cases"].items():
        for k in FIVE:
            graded, binary = (each["per_query"].get(f"ndcgAt@{k}{more}", {}) for more in ("", ", without grades"))
            assert graded == binary, name
        judged = {
            query: {doc: int(grade >= 1) for doc, grade in docs.items()}
            for query, docs in cases()[name]["judgments"].items()
        }
        scores = evaluate(judged, cases()[name]["run"], [f"nDCG@{k}" for k in FIVE], profile="spark")
        for k in FIVE:
            for query, value in each["per_query"].get(f"ndcgAt@{k}", {}).items():
                assert math.isclose(scores.per_query[f"nDCG@{k}"][query], value, abs_tol=EXACT), (name, k)


def test_what_elasticsearch_publishes_in_its_own_tests() -> None:
    names = {"dcg": "DCG", "ndcg": "nDCG", "precision": "P", "recall": "R", "expected_reciprocal_rank": "ERR"}
    for each in golden("elasticsearch")["published"]:
        name, _, cut = each["measure"].partition("@")
        given = {ours: each[key] for key, ours in {"max": "top_grade", "rel": "rel"}.items() if key in each}
        asked = parse(names[name]).with_params(given) @ int(cut)
        scores = evaluate({"q": each["judgments"]}, {"q": each["hits"]}, asked, profile="elasticsearch")
        assert math.isclose(scores[asked], each["value"], abs_tol=EXACT), each


# --- whole runs against trec_eval's printed output ------------------------------------------------------

RUNS = {
    "cacm-bm25": ("cacm/qrels.cacm.txt", "cacm/cacm-bm25.run.txt"),
    "dl20-doc.d_bm25": ("dl20-doc/qrels.dl20-doc.txt", "dl20-doc/d_bm25"),
    "dl20-doc.d_bm25rm3": ("dl20-doc/qrels.dl20-doc.txt", "dl20-doc/d_bm25rm3"),
}
VERSIONS = {"trec_eval-9": "9.0.8", "trec_eval-10": "10.0"}


def printed(path: Path) -> Iterator[tuple[str, str, float]]:
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        name, query, value = line.split()
        if name in PRINTED:
            yield name, query, float(value)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("profile", VERSIONS)
def test_a_whole_run_agrees_with_what_trec_eval_printed(profile: str, run: str, shared_data: Path) -> None:
    judgments, ranking = (shared_data / name for name in RUNS[run])
    expected = list(printed(shared_data / "expected" / f"{run}.trec_eval-{VERSIONS[profile]}.c.q.txt.gz"))
    scores = evaluate(judgments, ranking, sorted({PRINTED[name] for name, _, _ in expected}), profile=profile)
    wrong = []
    for name, query, value in expected:
        mine = scores[PRINTED[name]] if query == "all" else scores.per_query[PRINTED[name]][query]
        if not math.isclose(mine, value, abs_tol=0.5001e-4):
            wrong.append((name, query, value, mine))
    assert not wrong
    assert len(expected) > 1000
