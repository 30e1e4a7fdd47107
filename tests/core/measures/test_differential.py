"""The same inputs, ties and all, through trec_eval's C code and through ir_measures."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from rankproof import evaluate
from rankproof.core.names import parse
from rankproof.core.profiles import find
from tests.core.profiles.test_golden_values import cases as golden_cases

from .inputs import random_case

pytrec_eval = pytest.importorskip("pytrec_eval")
ir_measures = pytest.importorskip("ir_measures")

CUTS = (1, 3, 5, 10)
TREC = [
    *(
        "map",
        "gm_map",
        "Rprec",
        "bpref",
        "recip_rank",
        "infAP",
        "gm_bpref",
        "utility",
        "11pt_avg",
        "binG",
        "G",
    ),
    *("ndcg", "ndcg_rel", "Rndcg", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    *("num_ret", "num_rel", "num_rel_ret"),
    *(f"{name}_{k}" for name in ("P", "recall", "ndcg_cut", "map_cut", "relative_P", "success") for k in CUTS),
    *(f"iprec_at_recall_{i / 10:.2f}" for i in range(11)),
    *(f"Rprec_mult_{i / 5:.2f}" for i in range(1, 11)),
]


def whole_grades(seed: int, queries: int = 60) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Whole grades, and in every query one that is not negative: what trec_eval survives."""
    judgments, run = random_case(seed, queries)
    whole = {query: {doc: int(grade) for doc, grade in grades.items()} for query, grades in judgments.items()}
    for grades in whole.values():
        grades["zero"] = 0
    return whole, run


def as_trec_eval_9(name: str) -> str:
    """Our name for it; recall points were rounded in another way then."""
    measure = parse(name)
    return str(measure(rounding="trec_eval-9") if "rounding" in measure.spec.parameters else measure)


def log_of_floored(value: float) -> float:
    return math.log(max(value, 0.00001))


@pytest.mark.first_is_quick(5)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("level", [1, 2])
def test_as_trec_eval(seed: int, level: int) -> None:
    judgments, run = whole_grades(100 + seed)
    answered = {query: scores for query, scores in run.items() if scores}
    names = {name: as_trec_eval_9(name) for name in TREC}
    theirs = pytrec_eval.RelevanceEvaluator(judgments, set(_families()), relevance_level=level).evaluate(answered)
    leveled = {name: _at_level(ours, level) for name, ours in names.items()}
    ours = evaluate(judgments, answered, list(leveled.values())).per_query
    for name, measure in leveled.items():
        for query in answered:
            if name == "Rndcg" and max(judgments[query].values()) < level:
                continue  # here alone trec_eval lets the level decide whether gains count
            mine, known = ours[measure][query], theirs[query][name]
            if name.startswith("gm_"):
                mine = log_of_floored(mine)
            assert mine == pytest.approx(known, abs=1e-9), (name, query)


def _families() -> set[str]:
    cut = ",".join(map(str, CUTS))
    whole = {name for name in TREC if not name.split("_")[-1].replace(".", "").isdigit()}
    cut_names = ("P", "recall", "ndcg_cut", "map_cut", "relative_P", "success")
    return {*whole, "iprec_at_recall", "Rprec_mult", *(f"{name}.{cut}" for name in cut_names)}


def _at_level(name: str, level: int) -> str:
    """-l moves the measures of yes or no; those of gains keep all grades."""
    measure = parse(name)
    binary = "rel" in measure.spec.parameters and "gain" not in measure.spec.parameters
    return str(measure(rel=level) if binary else measure)


IR_MEASURES = {
    "P@5": "P@5", "P(rel=2)@5": "P(rel=2)@5", "R@5": "R@5", "AP": "AP", "AP(rel=2)@5": "AP(rel=2)@5", "RR": "RR",
    "nDCG": "nDCG", "nDCG@5": "nDCG@5", "nDCG(gain='exp')@5": "nDCG(dcg='exp-log2')@5", "Success@3": "Success@3",
    "Rprec": "Rprec", "bpref": "Bpref", "infAP": "infAP", "SetP": "SetP", "SetR": "SetR", "SetF": "SetF", "SetAP": "SetAP",
    "IPrec(rounding='trec_eval-9')@0.1": "IPrec@0.1", "NumRet": "NumRet", "NumRel": "NumRel", "RBP(p=0.5)": "RBP(p=0.5,rel=1)",
    "Judged@5": "Judged@5",
}  # fmt: skip
"""Our name of each measure, and that of ir_measures."""


@pytest.mark.parametrize("seed", range(5))
def test_as_ir_measures(seed: int) -> None:
    """Without ties, for which ir_measures has a different rule in each of its engines."""
    judgments, run = whole_grades(200 + seed)
    rng = random.Random(seed)
    answered = {query: {doc: rng.random() for doc in scores} for query, scores in run.items() if scores}
    ours = evaluate(judgments, answered, list(IR_MEASURES)).per_query
    wanted = {named_theirs(theirs): str(parse(mine)) for mine, theirs in IR_MEASURES.items()}
    supported = [each for each in wanted if _can(each)]
    assert len(supported) >= 18
    for each in ir_measures.iter_calc(supported, judgments, answered):
        if each.query_id not in answered:
            continue  # it says 0 for everything there, also for the number of relevant documents
        mine = ours[wanted[each.measure]][each.query_id]
        assert mine == pytest.approx(each.value, abs=1e-6), (each.measure, each.query_id)


OF_PROFILE = {
    **{each: each for each in (
        *("AP", "AP@5", "P@5", "P(rel=2)@5", "R@3", "nDCG", "nDCG@5", "Success@3", "RR", "Rprec", "infAP", "IPrec@0.5", "SetAP"),
        *("SetP", "SetR", "NumRet"),
    )},
    "Bpref": "bpref", "SetF": "SetF", "RR@5": "RR@5", "Judged@5": "Judged@5", "NumRel": "NumRel",
}  # fmt: skip
"""What the profile claims, ties and queries without a ranking among it: their name and ours."""


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["ir_measures", "pyterrier"])
def test_the_profile_gives_the_numbers_of_ir_measures(profile: str) -> None:
    """On the inputs of the golden values, of which its engine refuses fractions and never ends on negative grades."""
    known, compared, apart = find(profile), 0, set()
    assert {parse(ours).spec.name for ours in OF_PROFILE.values()} == {
        parse(each.removesuffix("@k")).spec.name for each in known.proven.split()
    }
    for name, case in golden_cases().items():
        grades = [grade for judged in case["judgments"].values() for grade in judged.values()]
        if not all(isinstance(grade, int) and grade >= 0 for grade in grades) or len(grades) > 2_000:
            continue
        for theirs, ours in OF_PROFILE.items():
            measure = named_theirs(theirs)
            scores = evaluate(case["judgments"], case["run"], ours, profile=profile)
            mine = scores.per_query[ours]
            found = {
                each.query_id: each.value for each in ir_measures.iter_calc([measure], case["judgments"], case["run"])
            }
            if found == pytest.approx(dict(mine), abs=1e-9):
                mean = ir_measures.calc_aggregate([measure], case["judgments"], case["run"])[measure]
                if theirs not in ("NumRet", "NumRel"):  # sums, not means
                    assert scores[ours] == pytest.approx(mean, abs=1e-9), (name, theirs)
                compared += 1
            else:
                apart.add(parse(ours).spec.name)
    said = {name for about in known.beyond.values() for name in about.split()}
    assert apart == said - {"Compat"}
    assert compared > 300


def named_theirs(name: str) -> Any:
    """Their measure, made as their documentation says; their parser of names asks Python for what 3.14 lacks."""
    return eval(name, dict(vars(ir_measures)))


def _can(measure: Any) -> bool:
    """Some of ir_measures' engines are packages of their own, which may not be there."""
    engines = (ir_measures.pytrec_eval, ir_measures.judged, ir_measures.compat)
    return any(engine.is_available() and engine.supports(measure) for engine in engines)


@pytest.mark.parametrize("seed", range(3))
def test_compatibility_as_ir_measures(seed: int) -> None:
    """Over long rankings, as ir_measures stops at the end of the ranking where the formula goes on."""
    rng = random.Random(seed)
    docs = [f"d{i:03}" for i in range(150)]
    judgments = {str(q): {doc: rng.randint(0, 3) for doc in rng.sample(docs, 30)} for q in range(10)}
    run = {query: {doc: rng.random() for doc in docs} for query in judgments}
    ours = evaluate(judgments, run, "Compat(p=0.8)").per_query["Compat(p=0.8)"]
    for each in ir_measures.compat.iter_calc([named_theirs("Compat(p=0.8)")], judgments, run):
        assert ours[each.query_id] == pytest.approx(each.value, abs=1e-9)
