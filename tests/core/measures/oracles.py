"""Every measure a second time, slowly: plain loops over one ranked list and one dict of grades.

Nothing here is shared with rankproof; each oracle follows the definition of its measure as a person would on paper.
An oracle gets the ranked documents, the grades by document (or grades by document and aspect), all parameters of the
measure, and the largest grade of all judgments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Ranking = list[str]
Grades = dict[str, float]
Facets = dict[str, dict[str, float]]

ORACLES: dict[str, Callable[..., float]] = {}
ASPECT_ORACLES: dict[str, Callable[..., float]] = {}
VARIANTS: list[str] = []
DEPTH = 1000


def oracle(name: str, variants: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """The oracle of a measure, and the forms of it that are held against it."""

    def keep(function: Callable[..., float]) -> Callable[..., float]:
        ORACLES[name] = function
        VARIANTS.extend(variants.split())
        return function

    return keep


def aspect_oracle(name: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    def keep(function: Callable[..., float]) -> Callable[..., float]:
        ASPECT_ORACLES[name] = function
        return function

    return keep


def over(a: float, b: float) -> float:
    return a / b if b else 0.0


def cut(ranking: Ranking, k: int | None) -> Ranking:
    return ranking if k is None else ranking[:k]


def is_relevant(doc: str, grades: Grades, rel: float) -> bool:
    return doc in grades and grades[doc] >= rel


def tp(ranking: Ranking, grades: Grades, k: int | None, rel: float) -> int:
    return sum(is_relevant(doc, grades, rel) for doc in cut(ranking, k))


def total(grades: Grades, rel: float) -> int:
    return sum(grade >= rel for grade in grades.values())


def best_first(grades: Grades) -> list[float]:
    return sorted(grades.values(), reverse=True)


# --- sets -------------------------------------------------------------------------------------------


@oracle("P", "P P@1 P@5 P(rel=2)@3 P(denominator='returned')@5")
def p(ranking: Ranking, grades: Grades, k: Any, rel: float, denominator: str, **_: Any) -> float:
    if k is None or denominator == "returned":
        return over(tp(ranking, grades, k, rel), len(cut(ranking, k)))
    return tp(ranking, grades, k, rel) / k


@oracle("R", "R R@3 R(rel=2)@5 R(denominator='min')@3 R(denominator='returned')@4")
def r(ranking: Ranking, grades: Grades, k: Any, rel: float, denominator: str, **_: Any) -> float:
    wanted = total(grades, rel)
    if denominator == "min" and k is not None:
        wanted = min(wanted, k)
    if denominator == "returned":
        wanted = tp(ranking, grades, None, rel)
    return over(tp(ranking, grades, k, rel), wanted)


@oracle("F", "F F@5 F(beta=2) F(beta=0.5)@3 F(rel=2)")
def f(ranking: Ranking, grades: Grades, k: Any, rel: float, beta: float, **_: Any) -> float:
    precision = over(tp(ranking, grades, k, rel), len(ranking) if k is None else k)
    recall = over(tp(ranking, grades, k, rel), total(grades, rel))
    return over((1 + beta**2) * precision * recall, beta**2 * precision + recall)


@oracle("Success", "Success Success@1 Success@5 Success(rel=3)@4")
def success(ranking: Ranking, grades: Grades, k: Any, rel: float, **_: Any) -> float:
    return float(any(is_relevant(doc, grades, rel) for doc in cut(ranking, k)))


@oracle("RelP", "RelP RelP@3 RelP(rel=2)@5")
def rel_p(ranking: Ranking, grades: Grades, k: Any, rel: float, **_: Any) -> float:
    return over(tp(ranking, grades, k, rel), min(len(ranking) if k is None else k, total(grades, rel)))


@oracle("SetAP", "SetAP SetAP@4")
def set_ap(ranking: Ranking, grades: Grades, k: Any, rel: float, **_: Any) -> float:
    hits = tp(ranking, grades, k, rel)
    return over(hits, len(cut(ranking, k))) * over(hits, total(grades, rel))


# --- counts -----------------------------------------------------------------------------------------


@oracle("TP", "TP TP@3")
@oracle("NumRelRet", "NumRelRet NumRelRet@3")
def true_positives(ranking: Ranking, grades: Grades, k: Any, rel: float, **_: Any) -> float:
    return tp(ranking, grades, k, rel)


@oracle("FP", "FP FP@3")
def false_positives(ranking: Ranking, grades: Grades, k: Any, rel: float, **_: Any) -> float:
    return sum(not is_relevant(doc, grades, rel) for doc in cut(ranking, k))


@oracle("FN", "FN FN@3")
def false_negatives(ranking: Ranking, grades: Grades, k: Any, rel: float, **_: Any) -> float:
    shown = set(cut(ranking, k))
    return sum(grade >= rel and doc not in shown for doc, grade in grades.items())


@oracle("TN", "TN TN@5")
def true_negatives(ranking: Ranking, grades: Grades, k: Any, rel: float, corpus: int, **_: Any) -> float:
    shown_or_relevant = {*cut(ranking, k), *(doc for doc, grade in grades.items() if grade >= rel)}
    return corpus - len(shown_or_relevant)


@oracle("Accuracy", "Accuracy Accuracy@5 Accuracy(rel=2)")
def accuracy(ranking: Ranking, grades: Grades, k: Any, rel: float, corpus: int, **_: Any) -> float:
    right = tp(ranking, grades, k, rel) + true_negatives(ranking, grades, k, rel, corpus)
    return right / corpus


@oracle("FirstRel", "FirstRel FirstRel@2 FirstRel(rel=2)")
def first_rel(ranking: Ranking, grades: Grades, k: Any, rel: float, **_: Any) -> float:
    for rank, doc in enumerate(cut(ranking, k), 1):
        if is_relevant(doc, grades, rel):
            return rank
    return len(cut(ranking, k)) + 1


@oracle("Utility", "Utility Utility(a=2,b=-0.5,c=-1) Utility(d=0.01)")
def utility(
    ranking: Ranking,
    grades: Grades,
    rel: float,
    a: float,
    b: float,
    c: float,
    d: float,
    corpus: int,
    **_: Any,
) -> float:
    hits, wanted = tp(ranking, grades, None, rel), total(grades, rel)
    left = corpus - len(ranking) - wanted + hits
    return a * hits + b * (len(ranking) - hits) + c * (wanted - hits) + d * left


@oracle("NumRet", "NumRet NumRet@4")
def num_ret(ranking: Ranking, grades: Grades, k: Any, **_: Any) -> float:
    return len(cut(ranking, k))


@oracle("NumRel", "NumRel NumRel(rel=2)")
def num_rel(ranking: Ranking, grades: Grades, rel: float, **_: Any) -> float:
    return total(grades, rel)


@oracle("NumNonrelJudgedRet", "NumNonrelJudgedRet NumNonrelJudgedRet(rel=2)@5")
def num_nonrel(ranking: Ranking, grades: Grades, k: Any, rel: float, **_: Any) -> float:
    return sum(doc in grades and 0 <= grades[doc] < rel for doc in cut(ranking, k))


def judged_docs(ranking: Ranking, grades: Grades, k: Any, negative: str) -> int:
    low = 0 if negative == "unjudged" else -math.inf
    return sum(doc in grades and grades[doc] >= low for doc in cut(ranking, k))


@oracle("Judged", "Judged Judged@4 Judged(denominator='k')@4 Judged(negative='unjudged')@4")
def judged(ranking: Ranking, grades: Grades, k: Any, denominator: str, negative: str, **_: Any) -> float:
    shown = len(cut(ranking, k)) if k is None or denominator == "returned" else k
    return over(judged_docs(ranking, grades, k, negative), shown)


@oracle("Unjudged", "Unjudged Unjudged@4 Unjudged(denominator='k')@4 unj@5")
def unjudged(ranking: Ranking, grades: Grades, k: Any, denominator: str, negative: str, **_: Any) -> float:
    shown = len(cut(ranking, k)) if k is None or denominator == "returned" else k
    return over(len(cut(ranking, k)) - judged_docs(ranking, grades, k, negative), shown)


# --- ranks ------------------------------------------------------------------------------------------


@oracle("RR", "RR RR@3 RR(rel=2)")
def rr(ranking: Ranking, grades: Grades, k: Any, rel: float, **_: Any) -> float:
    for rank, doc in enumerate(cut(ranking, k), 1):
        if is_relevant(doc, grades, rel):
            return 1 / rank
    return 0.0


def precisions(ranking: Ranking, grades: Grades, k: Any, rel: float) -> list[float]:
    """Precision at each relevant document found."""
    found, seen = [], 0
    for rank, doc in enumerate(cut(ranking, k), 1):
        if is_relevant(doc, grades, rel):
            seen += 1
            found.append(seen / rank)
    return found


@oracle(
    "AP",
    "AP AP@4 AP(rel=2) AP(denominator='found') AP(denominator='found')@3 AP(denominator='min')@3 "
    "AP(denominator='k') AP(denominator='k')@4",
)
def ap(ranking: Ranking, grades: Grades, k: Any, rel: float, denominator: str = "all", **_: Any) -> float:
    at = precisions(ranking, grades, k, rel)
    there = total(grades, rel)
    wanted = {"all": there, "found": len(at), "min": min(there, k or math.inf), "k": k or there}
    return over(sum(at), wanted[denominator])


@oracle("GMAP", "GMAP")
def gmap(ranking: Ranking, grades: Grades, k: Any, rel: float, **_: Any) -> float:
    return ap(ranking, grades, k, rel)


@oracle("yaap", "yaap yaap(rel=2)")
def yaap(ranking: Ranking, grades: Grades, rel: float, **_: Any) -> float:
    found = sum(precisions(ranking, grades, None, rel))
    return math.log((1 + found) / (1 + total(grades, rel) - found))


@oracle("Rprec", "Rprec Rprec(rel=2) Rprec(denominator='returned')")
def rprec(ranking: Ranking, grades: Grades, rel: float, denominator: str, **_: Any) -> float:
    depth = total(grades, rel) if denominator == "all" else tp(ranking, grades, None, rel)
    return over(tp(ranking, grades, depth, rel), depth)


@oracle("RprecMult", "RprecMult@0.2 RprecMult@0.6 RprecMult@1 RprecMult@1.8")
def rprec_mult(ranking: Ranking, grades: Grades, multiple: float, rel: float, **_: Any) -> float:
    depth = int(multiple * total(grades, rel) + 0.9)
    return over(tp(ranking, grades, depth, rel), depth)


@oracle(
    "IPrec",
    "IPrec@0 IPrec@0.1 IPrec@0.3 IPrec@0.5 IPrec@0.7 IPrec@1 IPrec(rounding='trec_eval-9')@0.3 IPrec(rel=2)@0.5",
)
def iprec(ranking: Ranking, grades: Grades, recall: float, rel: float, rounding: str, **_: Any) -> float:
    exact = recall * total(grades, rel)
    need = int(exact + 0.9) if rounding == "trec_eval-9" else int(exact) + (exact - int(exact) >= 0.5)
    return max((at for nth, at in enumerate(precisions(ranking, grades, None, rel), 1) if nth >= need), default=0.0)


@oracle("IPrec11", "IPrec11 IPrec11(rounding='trec_eval-9') IPrec11(rel=2)")
def iprec11(ranking: Ranking, grades: Grades, rel: float, rounding: str, **_: Any) -> float:
    return sum(iprec(ranking, grades, i / 10, rel, rounding) for i in range(11)) / 11


@oracle("bpref", "bpref bpref(rel=2)")
@oracle("GMbpref", "GMbpref")
def bpref(ranking: Ranking, grades: Grades, rel: float, **_: Any) -> float:
    wanted = total(grades, rel)
    wrong = sum(0 <= grade < rel for grade in grades.values())
    above, value = 0, 0.0
    for doc in ranking:
        if is_relevant(doc, grades, rel):
            value += 1 - (min(above, wanted) / min(wrong, wanted) if above else 0)
        elif grades.get(doc, -1) >= 0:
            above += 1
    return over(value, wanted)


@oracle("infAP", "infAP infAP(rel=2)")
def inf_ap(ranking: Ranking, grades: Grades, rel: float, **_: Any) -> float:
    relevant = wrong = pooled = 0
    value = 0.0
    for j, doc in enumerate(ranking):
        if doc not in grades:
            continue
        if is_relevant(doc, grades, rel):
            if j == 0:
                value += 1
            else:
                judged_above = (relevant + wrong + pooled) / j
                guess = (relevant + 1e-5) / (relevant + wrong + 2e-5)
                value += 1 / (j + 1) + j / (j + 1) * judged_above * guess
            relevant += 1
        elif grades[doc] >= 0:
            wrong += 1
        else:
            pooled += 1
    return over(value, total(grades, rel))


# --- grades -----------------------------------------------------------------------------------------


def gain_of(grade: float, gain: Any) -> float:
    if isinstance(gain, dict):
        return gain.get(grade, max(grade, 0))
    return max(grade, 0) if gain == "linear" else 2 ** max(grade, 0) - 1


def gained(grades: list[float], k: Any, gain: Any) -> float:
    return sum(gain_of(grade, gain) / math.log2(rank + 1) for rank, grade in enumerate(grades[:k], 1))


def kept(ranking: Ranking, grades: Grades, rel: float) -> list[float]:
    """The grade at each rank; 0 where it does not count."""
    return [grades[doc] if doc in grades and (rel <= 0 or grades[doc] >= rel) else 0.0 for doc in ranking]


@oracle("DCG", "DCG DCG@3 DCG(gain='exp')@5 DCG(gain={1:3.5,2:1})@5 DCG(rel=2)")
def dcg(ranking: Ranking, grades: Grades, k: Any, gain: Any, rel: float, **_: Any) -> float:
    return gained(kept(ranking, grades, rel), k, gain)


@oracle(
    "nDCG",
    "nDCG nDCG@3 nDCG(gain='exp')@5 nDCG(gain={1:5,2:0,3:1})@4 nDCG(rel=2)@5 nDCG(ideal='top')@3 "
    "nDCG(ideal='returned')@3 nDCG(ideal='uncut')@3 nDCG(ideal='hits')@6 nDCG(ideal='top') "
    "nDCG(ideal='top',gain={1:5,2:0,3:1})@4 nDCG(ideal='returned',rel=2)@4",
)
def ndcg(ranking: Ranking, grades: Grades, k: Any, gain: Any, ideal: str, rel: float, **_: Any) -> float:
    shown = kept(ranking, grades, rel)
    everything = [g for g in grades.values() if rel <= 0 or g >= rel]
    of = {"top": shown[:k], "returned": shown}.get(ideal, everything)
    best = sorted(of, key=lambda g: -gain_of(g, gain))
    depth = {"uncut": None, "hits": len(cut(ranking, k))}.get(ideal, k)
    return over(gained(shown, k, gain), gained(best, depth, gain))


def levels(grades: Grades, gain: Any) -> list[float]:
    return sorted((g for g in (gain_of(each, gain) for each in grades.values()) if g > 0), reverse=True)


@oracle("RnDCG", "RnDCG RnDCG(gain={1:3,2:4,3:9})")
def rndcg(ranking: Ranking, grades: Grades, gain: Any, **_: Any) -> float:
    best, shown = levels(grades, gain), [gain_of(g, gain) for g in kept(ranking, grades, 0)]
    ends = [i for i in range(1, len(best) + 1) if i == len(best) or best[i] != best[i - 1]]
    points = [over(gained(shown, end, "linear"), gained(best, end, "linear")) for end in ends]
    if best and len(ranking) >= len(best) + 2:
        points.append(gained(shown, None, "linear") / gained(best, None, "linear"))
    return over(sum(points), len(points))


@oracle("nDCGrel", "nDCGrel nDCGrel(gain='exp')")
def ndcg_rel(ranking: Ranking, grades: Grades, gain: Any, **_: Any) -> float:
    best, shown = levels(grades, gain), [gain_of(g, gain) for g in kept(ranking, grades, 0)]
    points = [
        gained(shown, rank, "linear") / gained(best, rank, "linear") for rank, value in enumerate(shown, 1) if value > 0
    ]
    end = over(gained(shown, None, "linear"), gained(best, None, "linear"))
    return over(sum(points) + (len(best) - len(points)) * end, len(best))


@oracle("G", "G G(gain={1:3,2:4,3:9})")
def g(ranking: Ranking, grades: Grades, gain: Any, **_: Any) -> float:
    best, cost, value, total_gain = levels(grades, gain), 0.0, 0.0, 0.0
    for i, grade in enumerate(kept(ranking, grades, 0)):
        cost += max(best[i], 1) if i < len(best) else 1
        total_gain += gain_of(grade, gain)
        value += gain_of(grade, gain) / math.log2(2 + cost - total_gain)
    return over(value, sum(best))


@oracle("binG", "binG binG(rel=2)")
def bin_g(ranking: Ranking, grades: Grades, rel: float, **_: Any) -> float:
    wrong, value = 0, 0.0
    for doc in ranking:
        if is_relevant(doc, grades, rel):
            value += 1 / math.log2(2 + wrong)
        else:
            wrong += 1
    return over(value, total(grades, rel))


@oracle("P_plus", "P_plus P_plus@3 P_plus(beta=10) P_plus(rel=2)@5 P_plus(rel=-5)")
def p_plus(ranking: Ranking, grades: Grades, k: Any, rel: float, beta: float, **_: Any) -> float:
    best = [grade for grade in best_first(grades) if grade >= rel]
    shown = [grades[doc] for doc in cut(ranking, k) if is_relevant(doc, grades, rel)]
    count, gain, ideal, value = 0, 0.0, 0.0, 0.0
    for rank, doc in enumerate(cut(ranking, k), 1):
        ideal += max(best[rank - 1], 0) if rank <= len(best) else 0
        if is_relevant(doc, grades, rel):
            count, gain = count + 1, gain + max(grades[doc], 0)
            value += (count + beta * gain) / (rank + beta * ideal)
            if grades[doc] == max(shown):
                break
    return over(value, count)


@oracle("Q", "Q Q@4 Q(beta=10) Q(rel=2) Q(rel=-5)")
def q(ranking: Ranking, grades: Grades, k: Any, rel: float, beta: float, **_: Any) -> float:
    best = [grade for grade in best_first(grades) if grade >= rel]
    count, gain, ideal, value = 0, 0.0, 0.0, 0.0
    for rank, doc in enumerate(cut(ranking, k), 1):
        ideal += max(best[rank - 1], 0) if rank <= len(best) else 0
        if is_relevant(doc, grades, rel):
            count, gain = count + 1, gain + max(grades[doc], 0)
            value += (count + beta * gain) / (rank + beta * ideal)
    return over(value, len(best))


def err_of(grades: list[float], top: float) -> float:
    reach, value = 1.0, 0.0
    for rank, grade in enumerate(grades, 1):
        stop = (2 ** min(max(grade, 0), top) - 1) / 2**top
        value += reach * stop / rank
        reach *= 1 - stop
    return value


@oracle("ERR", "ERR ERR@3 ERR(top_grade=3) ERR(top_grade=2)@5")
def err(ranking: Ranking, grades: Grades, k: Any, top_grade: Any, largest: float, **_: Any) -> float:
    return err_of([grades.get(doc, 0) for doc in cut(ranking, k)], largest if top_grade is None else top_grade)


@oracle("nERR", "nERR nERR@3 nERR(top_grade=4)")
def nerr(ranking: Ranking, grades: Grades, k: Any, top_grade: Any, largest: float, **_: Any) -> float:
    top = largest if top_grade is None else top_grade
    best = err_of(best_first(grades)[:k], top)
    return over(err(ranking, grades, k, top_grade, largest), best)


# --- readers ----------------------------------------------------------------------------------------


def scaled(ranking: Ranking, grades: Grades, top: float) -> list[float]:
    return [min(max(grades.get(doc, 0), 0), top) / top if top else 0.0 for doc in ranking]


@oracle(
    "RBP",
    "RBP RBP@3 RBP(p=0.5) RBP(gain='graded') RBP(gain='graded',top_grade=2) RBP(gain='topic',p=0.9) RBP(rel=2)",
)
def rbp(
    ranking: Ranking,
    grades: Grades,
    k: Any,
    rel: float,
    p: float,
    gain: str,
    top_grade: Any,
    largest: float,
    **_: Any,
) -> float:
    top = {
        "binary": 1,
        "graded": largest if top_grade is None else top_grade,
        "topic": max(1, *grades.values()),
    }[gain]
    value = 0.0
    for i, doc in enumerate(cut(ranking, k)):
        if is_relevant(doc, grades, rel):
            worth = 1.0 if gain == "binary" else min(max(grades[doc], 0), top) / top
            value += (1 - p) * worth * p**i
    return value


@oracle(
    "RBPResidual",
    "RBPResidual RBPResidual(p=0.5)@3 rbp_resid RBPResidual(p=0.9,negative='unjudged',tail='unjudged')",
)
def rbp_resid(ranking: Ranking, grades: Grades, k: Any, p: float, negative: str, tail: str, **_: Any) -> float:
    shown = cut(ranking, k)
    value, missing = p ** len(shown), 0
    for i, doc in enumerate(shown):
        if doc not in grades or (negative == "unjudged" and grades[doc] < 0):
            value += (1 - p) * p**i
            missing += 1
    return value if missing or tail == "always" else 0.0


@oracle("SDCG", "SDCG@5 SDCG SDCG(top_grade=2)@3")
def sdcg(ranking: Ranking, grades: Grades, k: Any, top_grade: Any, largest: float, **_: Any) -> float:
    depth = k or DEPTH
    shown = scaled(ranking[:depth], grades, largest if top_grade is None else top_grade)
    return gained(shown, depth, "linear") / gained([1.0] * depth, depth, "linear")


def cwl(gains: list[float], depth: int, go_on: Callable[[int, float, float], float]) -> float:
    """Gain per document seen; `go_on(rank, gain, gain so far)` is the chance to go on after a rank."""
    padded = (gains + [0.0] * depth)[:depth]
    reach, so_far, seen, value = 1.0, 0.0, 0.0, 0.0
    for rank, gain in enumerate(padded, 1):
        seen += reach
        value += reach * gain
        so_far += gain
        reach *= go_on(rank, gain, so_far)
    return value / seen


def cwl_oracle(name: str, variants: str, chance: Callable[..., Callable[[int, float, float], float]]) -> None:
    @oracle(name, variants)
    def value(ranking: Ranking, grades: Grades, top_grade: Any, largest: float, **params: Any) -> float:
        gains = scaled(ranking, grades, largest if top_grade is None else top_grade)
        return cwl(gains, params.get("k") or DEPTH, chance(**params))


def tiring(T: float, rank: float) -> float:
    return ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2


cwl_oracle("INSQ", "INSQ INSQ(T=2)", lambda T, **_: lambda rank, gain, so_far: tiring(T, rank))
cwl_oracle(
    "INST",
    "INST INST(T=3) INST(T=0.5,top_grade=3)",
    lambda T, **_: lambda rank, gain, so_far: tiring(T, rank - so_far),
)
cwl_oracle(
    "BPM",
    "BPM@5 BPM BPM(T=2)@4 BPM(T=0.4)",
    lambda T, **_: lambda rank, gain, so_far: float(so_far < T * (1 - 1e-9)),
)
cwl_oracle("NERR8", "NERR8@5 NERR8", lambda **_: lambda rank, gain, so_far: 1 - gain)
cwl_oracle("NERR9", "NERR9@5 NERR9", lambda **_: lambda rank, gain, so_far: rank / (rank + 1) * (1 - gain))
cwl_oracle("NERR10", "NERR10 NERR10(p=0.5)", lambda p, **_: lambda rank, gain, so_far: p * (1 - gain))
cwl_oracle("NERR11", "NERR11 NERR11(T=2)", lambda T, **_: lambda rank, gain, so_far: tiring(T, rank) * (1 - gain))


def rbo(one: Ranking, other: Ranking, p: float, depth: int) -> float:
    return sum(p ** (d - 1) * len(set(one[:d]) & set(other[:d])) / d for d in range(1, depth + 1))


@oracle("Compat", "Compat Compat(p=0.5) Compat(rel=2) Compat(depth=4)")
def compat(ranking: Ranking, grades: Grades, rel: float, p: float, depth: int, **_: Any) -> float:
    place = {doc: i for i, doc in enumerate(ranking)}
    relevant = [doc for doc, grade in grades.items() if grade >= rel]
    ideal = sorted(relevant, key=lambda doc: (-grades[doc], place.get(doc, math.inf)))
    return over(rbo(ranking, ideal, p, depth), rbo(ideal, ideal, p, depth))


# --- aspects ----------------------------------------------------------------------------------------


def about(doc: str, facets: Facets, rel: float) -> list[str]:
    return [aspect for aspect, grade in facets.get(doc, {}).items() if grade >= rel]


def coverable(facets: Facets, rel: float) -> set[str]:
    return {aspect for doc in facets for aspect in about(doc, facets, rel)}


@aspect_oracle("StRecall")
def st_recall(ranking: Ranking, facets: Facets, k: Any, rel: float, denominator: str, **_: Any) -> float:
    covered = {aspect for doc in cut(ranking, k) for aspect in about(doc, facets, rel)}
    declared = {aspect for grades in facets.values() for aspect in grades}
    return over(len(covered), len(declared if denominator == "declared" else coverable(facets, rel)))


def grades_for(aspect: str, facets: Facets) -> Grades:
    return {doc: grades[aspect] for doc, grades in facets.items() if aspect in grades}


@aspect_oracle("P_IA")
def p_ia(ranking: Ranking, facets: Facets, k: Any, rel: float, **_: Any) -> float:
    sides = coverable(facets, rel)
    shown = len(ranking) if k is None else k
    return over(sum(over(tp(ranking, grades_for(s, facets), k, rel), shown) for s in sides), len(sides))


@aspect_oracle("AP_IA")
def ap_ia(ranking: Ranking, facets: Facets, k: Any, rel: float, **_: Any) -> float:
    sides = coverable(facets, rel)
    return over(sum(ap(ranking, grades_for(s, facets), k, rel) for s in sides), len(sides))


def novelty(ranking: Ranking, facets: Facets, rel: float, alpha: float, weight: Callable[[int], float]) -> float:
    seen: dict[str, int] = {}
    value = 0.0
    for rank, doc in enumerate(ranking, 1):
        for aspect in about(doc, facets, rel):
            value += (1 - alpha) ** seen.get(aspect, 0) * weight(rank)
            seen[aspect] = seen.get(aspect, 0) + 1
    return value


def greedy(facets: Facets, rel: float, alpha: float) -> Ranking:
    """At each rank the document that adds most; of equals the one with the larger id."""
    left = [doc for doc in sorted(facets) if about(doc, facets, rel)]
    seen: dict[str, int] = {}
    order: Ranking = []
    while left:
        worth = {doc: sum((1 - alpha) ** seen.get(a, 0) for a in about(doc, facets, rel)) for doc in left}
        best = [doc for doc in left if worth[doc] == max(worth.values())][-1]
        left.remove(best)
        order.append(best)
        for aspect in about(best, facets, rel):
            seen[aspect] = seen.get(aspect, 0) + 1
    return order


def full_marks(facets: Facets, k: Any, rel: float, alpha: float, weight: Callable[[int], float]) -> float:
    depth = len(greedy(facets, rel, alpha)) if k is None else k
    one = sum((1 - alpha) ** (rank - 1) * weight(rank) for rank in range(1, depth + 1))
    return one * len(coverable(facets, rel))


def novelty_oracles(plain: str, normalised: str, weight: Callable[[int], float]) -> None:
    def value(ranking: Ranking, facets: Facets, k: Any, rel: float, alpha: float, **_: Any) -> float:
        gained = novelty(cut(ranking, k), facets, rel, alpha, weight)
        return over(gained, full_marks(facets, k, rel, alpha, weight))

    def share(ranking: Ranking, facets: Facets, k: Any, rel: float, alpha: float, **_: Any) -> float:
        best = novelty(cut(greedy(facets, rel, alpha), k), facets, rel, alpha, weight)
        return over(novelty(cut(ranking, k), facets, rel, alpha, weight), best)

    ASPECT_ORACLES[plain], ASPECT_ORACLES[normalised] = value, share


novelty_oracles("alpha_DCG", "alpha_nDCG", lambda rank: 1 / math.log2(rank + 1))
novelty_oracles("ERR_IA", "nERR_IA", lambda rank: 1 / rank)


@aspect_oracle("NRBP")
def nrbp(ranking: Ranking, facets: Facets, rel: float, alpha: float, beta: float, **_: Any) -> float:
    gained = novelty(ranking, facets, rel, alpha, lambda rank: beta ** (rank - 1))
    return over((1 - (1 - alpha) * beta) * gained, len(coverable(facets, rel)))


@aspect_oracle("nNRBP")
def nnrbp(ranking: Ranking, facets: Facets, rel: float, alpha: float, beta: float, **_: Any) -> float:
    best = nrbp(greedy(facets, rel, alpha), facets, rel, alpha, beta)
    return over(nrbp(ranking, facets, rel, alpha, beta), best)
