"""Profiles: the conventions of other tools as data, so that one word switches a whole set of measures.

A profile fills in what was left open: parameters given with a measure, and conventions that were asked for, stay
as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rankproof.core.measure import Measure
from rankproof.errors import is_one_of, one_of

Parameters = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Profile:
    """The conventions of one tool, and how they are known."""

    name: str
    source: str
    """The version or the commits it was read from and proven against."""
    proof: str
    """How its golden values were made."""
    says: tuple[str, ...]
    """What the tool does, one sentence each."""
    measures: Parameters = field(default_factory=dict)
    """For each measure the parameters that make it the tool's."""
    conventions: Mapping[str, Any] = field(default_factory=dict)
    """What the tool does with ties, missing queries and the like."""
    beyond: Mapping[str, str] = field(default_factory=dict)
    """Behaviour of the tool that the profile does not follow, and the measures concerned; none named: all."""
    proven: str = ""
    """The measures whose values were shown to be equal, but for what `beyond` says; `@k`: cut off as well."""
    other: str = ""
    """The measures with another number in the tool; `beyond` says how."""
    unproven: str = ""
    """The measures that the tool has as well, without a proof that the numbers are equal."""
    free: str = "rel"
    """The parameters that one may choose in the tool too."""
    free_of: Mapping[str, str] = field(default_factory=dict)
    """Those of single measures, in place of `free`."""


_RUN = "proven by values the tool itself gave"
_GIVEN_ORDER = "Equal scores stay in the order they were given."
_ANSWERED_ONLY = "The mean is over the queries that the ranking answers."
_RETURNED_ONLY = "It is given the returned documents only: the ideal order of nDCG is their best order."
_VERDICTS = "Context precision is AP divided by the relevant chunks found, not by those that exist."
_CLAIMED = "Context recall is the share of the claims of the reference that the chunks support."
_NEGATIVE = "a negative grade takes away from its DCG; here it gains nothing"
_FIRST_GIVEN = "its MRR compares scores in double precision and keeps equal ones as they were given"
_ANY_QUERY = "its Hole takes a document for judged that was judged for any query, not for this one alone"
_IDEAL_RETURNED: Parameters = {"nDCG": {"ideal": "returned"}}
_CLAIMS: Parameters = {"StRecall": {"denominator": "declared"}}
_TREC_EVAL = (
    "AP@k P@k R@k nDCG@k Success@k RelP@k RR@k F@k SetAP@k Rprec RprecMult bpref infAP IPrec IPrec11 nDCGrel RnDCG "
    "binG G GMAP@k GMbpref Utility NumRet@k NumRel NumRelRet@k NumNonrelJudgedRet@k"
)
_TREC_EVAL_TOO = "yaap TP PrefsPossible PrefsFulfilled Prefs PrefsPair PrefsJudge PrefsBalanced"
_TREC_EVAL_FREE = {
    **dict.fromkeys(("nDCG", "RnDCG", "nDCGrel", "G"), ""),  # its relevance level leaves them alone
    "F": "rel beta",
    "IPrec": "rel recall",
    "RprecMult": "rel multiple",
    "Utility": "rel a b c d",
    "RBP": "rel p",
    "RBPResidual": "p",
}
_WHAT_IS_FOUND: Parameters = {"AP": {"denominator": "found"}}


def _by_name(*profiles: Profile) -> dict[str, Profile]:
    return {each.name: each for each in profiles}


PROFILES = _by_name(
    Profile(
        name="trec_eval-10",
        source="trec_eval 10.0",
        proof="proven by the outputs of its own regression tests",
        says=(
            "Ours are its conventions: ties by document id descending, scores in double precision, "
            "a judged query without a ranking counts 0 (its option -c).",
            "RBP has a persistence of .9 and takes each grade as a share of its query's largest; its "
            "residual is 0 where every document returned was judged.",
        ),
        measures={
            "RBP": {"p": 0.9, "gain": "topic"},
            "RBPResidual": {"p": 0.9, "negative": "unjudged", "tail": "unjudged"},
        },
        proven=f"{_TREC_EVAL} RBP@k RBPResidual@k unj@k",
        unproven=_TREC_EVAL_TOO,
        free_of=_TREC_EVAL_FREE,
    ),
    Profile(
        name="trec_eval-9",
        source="trec_eval 9.0.8, and what is built on it",
        proof=f"{_RUN}, through pytrec_eval-terrier 0.5.11",
        says=(
            "Scores are compared in single precision, so that close ones become ties.",
            "The recall points of IPrec and of the 11-point average are rounded down from R x + 0.9.",
            _ANSWERED_ONLY,
        ),
        measures={"IPrec": {"rounding": "trec_eval-9"}, "IPrec11": {"rounding": "trec_eval-9"}},
        conventions={"precision": "float32", "missing": "skip"},
        proven=_TREC_EVAL,
        unproven=_TREC_EVAL_TOO,
        free_of=_TREC_EVAL_FREE,
    ),
    Profile(
        name="mteb",
        source="mteb 2.26.24",
        proof=_RUN,
        says=("AP, nDCG, P, R and the hit rate come from trec_eval 9.", _ANSWERED_ONLY),
        conventions={"precision": "float32", "missing": "skip"},
        beyond={
            "its MRR compares scores in double precision": "RR",
            _ANY_QUERY: "Unjudged",
            "its means are rounded to 5 decimals": "",
        },
        proven="AP@k nDCG@k P@k R@k Success@k RR@k",
        unproven="Unjudged",
        free="",
    ),
    Profile(
        name="ranx",
        source="ranx 0.3.21, with make_comparable=True",
        proof=_RUN,
        says=(_GIVEN_ORDER, "A grade below 1 gains nothing in DCG and nDCG."),
        measures={"DCG": {"rel": 1}, "nDCG": {"rel": 1}},
        conventions={"ties": "input"},
        beyond={
            "in rankings of more than 15 documents equal scores come in no fixed order": "",
            (
                "its bpref counts negative grades as judged not relevant; one query without relevant, or without "
                "not relevant, judgments makes it 0 or NaN for other queries too"
            ): "bpref",
            "its RBP weighs a document by its grade, so that it can exceed 1": "RBP",
        },
        proven="DCG@k DCG(gain='exp')@k nDCG@k nDCG(gain='exp')@k AP@k RR@k P@k R@k F@k Success@k TP@k Rprec bpref",
        other="RBP",
    ),
    Profile(
        name="torchmetrics",
        source="torchmetrics 1.9.0, functional.retrieval",
        proof=_RUN,
        says=(
            _RETURNED_ONLY,
            "R and R-precision are over the relevant documents returned.",
            "AP is divided by the relevant documents found in the top k.",
            "nDCG is the mean over the orders of equal scores.",
            "In AP, P, R and RR a document scored 0 or less is not relevant.",
            "Scores are compared, and values computed, in single precision.",
            _ANSWERED_ONLY,
        ),
        measures={
            **_IDEAL_RETURNED,
            "AP": {"denominator": "found", "scores": "positive"},
            "P": {"scores": "positive"},
            "RR": {"scores": "positive"},
            "R": {"denominator": "returned", "scores": "positive"},
            "Rprec": {"denominator": "returned"},
        },
        conventions={"ties": "expected", "precision": "float32", "missing": "skip"},
        beyond={
            (
                "outside nDCG equal scores come in no fixed order; here all measures are means over their orders"
            ): "AP P R RR Rprec Success",
            "a negative grade takes away from its nDCG; here it gains nothing": "nDCG",
        },
        proven="nDCG@k AP@k RR@k P@k P(denominator='returned')@k R@k Success@k Rprec",
    ),
    Profile(
        name="sklearn",
        source="scikit-learn 1.9.1: ndcg_score, dcg_score, average_precision_score",
        proof=_RUN,
        says=(
            _RETURNED_ONLY,
            "Gain is linear, and equal scores are averaged over their orders.",
            "AP is divided by the relevant documents returned.",
            _ANSWERED_ONLY,
        ),
        measures={**_IDEAL_RETURNED, **_WHAT_IS_FOUND},
        conventions={"ties": "expected", "missing": "skip"},
        beyond={
            "average_precision_score takes all documents of one score as one step": "AP",
            "ndcg_score refuses negative grades and rankings of one document": "nDCG",
            f"in dcg_score {_NEGATIVE}": "DCG",
        },
        proven="nDCG@k DCG@k AP",
        unproven="P R F Accuracy TP FP FN TN",
        free_of={"nDCG": "", "DCG": ""},
    ),
    Profile(
        name="spark",
        source="pyspark 4.1.4, mllib.evaluation.RankingMetrics",
        proof=_RUN,
        says=(
            "AP@k is divided by k where more documents are relevant than that.",
            "It is given lists of documents: equal scores stay in the order they were given.",
            _ANSWERED_ONLY,
        ),
        measures={"AP": {"denominator": "min"}},
        conventions={"ties": "input", "missing": "skip"},
        beyond={"called from Python its nDCG never sees a grade: every relevant document gains 1": "nDCG"},
        proven="AP@k P@k R@k",
        unproven="nDCG",
    ),
    Profile(
        name="elasticsearch",
        source="Elasticsearch's rank_eval API, modules/rank-eval at d04e400",
        proof="formulas written from its source, proven by the values of its own unit tests; it was not run",
        says=(
            "The gain is 2^grade - 1, and nDCG's ideal order is cut to the number of hits.",
            "P is divided by the hits, even when fewer than k came back.",
            _GIVEN_ORDER,
        ),
        measures={"DCG": {"gain": "exp"}, "nDCG": {"gain": "exp", "ideal": "hits"}, "P": {"denominator": "returned"}},
        conventions={"ties": "input"},
        beyond={
            _NEGATIVE: "DCG nDCG ERR",
            "its ERR is told the largest grade there can be; set top_grade= to the same": "ERR",
            "its metrics look at 10 hits when no k is given; here no k means all": "",
        },
        proven="DCG@k nDCG@k P@k R@k RR@k ERR@k",
        free_of={"ERR": "top_grade"},
    ),
    Profile(
        name="opensearch",
        source="OpenSearch's search-relevance workbench at 0b75cf8 (3.6 to 3.9)",
        proof="proven by values of its own classes, compiled and run without the server",
        says=(
            "The gain is 2^grade - 1.",
            "P is divided by min(k, hits).",
            "In P, R, AP and RR a document is relevant from max(half the highest grade, the 90th percentile) of "
            "its query's grades on.",
            "Each query's value is rounded to 2 decimals, halves up, before the mean.",
            "A query without hits has no value.",
            _GIVEN_ORDER,
        ),
        measures={
            "DCG": {"gain": "exp"},
            "nDCG": {"gain": "exp"},
            "P": {"denominator": "returned", "threshold": "query"},
            **{name: {"threshold": "query"} for name in ("R", "AP", "RR")},
        },
        conventions={"ties": "input", "rounded": 2, "missing": "skip"},
        beyond={
            "before 3.6 any grade above 0 was relevant to it; set rel= to have that": "P R AP RR",
            _NEGATIVE: "DCG nDCG",
        },
        proven="DCG@k nDCG@k P@k R@k AP@k RR@k P(rel=0.001)@k R(rel=0.001)@k AP(rel=0.001)@k RR(rel=0.001)@k",
        unproven="Jaccard RBO",
        free="",
    ),
    Profile(
        name="quepid",
        source="Quepid's scorers at 218dcdd and their support code at 3bfa92d",
        proof="proven by values of its own scorers, run without the server",
        says=(
            "The gain is 2^grade - 1, and nDCG's ideal order is not cut.",
            "P is divided by the hits, even when fewer than k came back.",
            "Queries without hits are left out of the case score.",
            _GIVEN_ORDER,
        ),
        measures={"DCG": {"gain": "exp"}, "nDCG": {"gain": "exp", "ideal": "uncut"}, "P": {"denominator": "returned"}},
        conventions={"ties": "input", "missing": "skip"},
        beyond={
            "its AP is NaN for a query without relevant documents": "AP",
            "its DCG is NaN where a document has no rating": "DCG",
            "a grade between 0 and 1 is relevant to it; set rel= where there are any": "P AP RR",
            _NEGATIVE: "DCG nDCG ERR",
            "its ERR is told the largest grade there can be; set top_grade= to the same": "ERR",
        },
        proven="nDCG@k DCG@k AP@k P@k RR@k ERR@k",
        free_of={"ERR": "top_grade"},
    ),
    Profile(
        name="ragas",
        source="ragas 0.4.3",
        proof=f"{_RUN} on given verdicts",
        says=(_VERDICTS, _CLAIMED),
        measures={**_WHAT_IS_FOUND, **_CLAIMS},
        beyond={"it adds 1e-10 (1e-8 for entities) to the denominator, so that its perfect score is below 1": ""},
        proven="AP StRecall",
        unproven="P R",
        free="",
    ),
    Profile(
        name="deepeval",
        source="deepeval 4.3.1",
        proof=f"{_RUN} on given verdicts",
        says=(_VERDICTS, _CLAIMED),
        measures={**_WHAT_IS_FOUND, **_CLAIMS},
        proven="AP StRecall P",
        free="",
    ),
)
"""Every profile by its name."""


_IR_MEASURES = Profile(
    name="ir_measures",
    source="ir_measures 0.4.3 with its default providers",
    proof=_RUN,
    says=(*PROFILES["trec_eval-9"].says[:-1], "A judged query without a ranking counts 0."),
    measures=PROFILES["trec_eval-9"].measures,
    conventions={"precision": "float32", "missing": "zero"},
    beyond={
        (
            "its RR@k (by MS MARCO's script; RR without k is trec_eval's) and its Judged compare scores in double "
            "precision and put equal ones in ascending order of document id"
        ): "RR Judged",
        "its Compat stops at the end of the ranking, where the formula goes on": "Compat",
        "its NumRel counts 0 for a query without a ranking": "NumRel",
    },
    proven="AP@k P@k R@k nDCG@k Success@k RR@k Rprec bpref infAP IPrec SetAP F NumRet NumRel Judged@k",
    other="Compat",
    unproven="ERR INST INSQ RBP BPM SDCG alpha_nDCG alpha_DCG ERR_IA nERR_IA AP_IA NRBP nNRBP P_IA StRecall Accuracy",
    free_of={"nDCG": "", "F": "rel beta", "IPrec": "rel recall"},
)

BUILT_ON = _by_name(
    replace(
        PROFILES["trec_eval-9"],
        name="pytrec_eval",
        source="pytrec_eval-terrier 0.5.11, which is trec_eval 9.0.8 inside",
        proof=_RUN,
    ),
    _IR_MEASURES,
    replace(
        _IR_MEASURES,
        name="pyterrier",
        source="PyTerrier's Experiment at 0da72da, by ir_measures",
        proof="read from its source; ir_measures computes for it, whose values prove that profile",
        beyond={
            **_IR_MEASURES.beyond,
            "judged queries that are not among its topics are left out; leave them out of the judgments": "",
        },
    ),
    replace(
        PROFILES["trec_eval-9"],
        name="beir",
        source="BEIR's EvaluateRetrieval at 1440b9d, by pytrec_eval",
        proof="read from its source; pytrec_eval computes for it, whose values prove trec_eval-9; it was not run",
        says=(PROFILES["trec_eval-9"].says[0], _ANSWERED_ONLY),
        measures={},
        beyond={
            "it first takes out documents that have the id of their query; take them out of the ranking": "",
            f"{_FIRST_GIVEN}, and it ends in a KeyError for a judged query without a ranking": "RR",
            f"{_ANY_QUERY}, and its mean is over all queries that are ranked": "Unjudged",
            "its top_k_accuracy orders the documents by the second character of their ids, not by score": "Success",
            "its means are rounded to 5 decimals": "",
        },
        proven="",
        other="Unjudged Success",
        unproven="AP nDCG P R RR",
        free="",
        free_of={},
    ),
)
"""Tools that call trec_eval, by their own names."""


def find(name: str) -> Profile:
    """The profile of that name.

    >>> find("quepid").measures["nDCG"]
    {'gain': 'exp', 'ideal': 'uncut'}
    """
    known = {**PROFILES, **BUILT_ON}
    if not is_one_of(name, known):
        raise one_of("profile", name, known)
    return known[name]


def as_in(profile: Profile, measure: Measure) -> Measure:
    """The measure as the tool computes it; parameters that were given stay.

    >>> from rankproof.core.names import parse
    >>> as_in(find("elasticsearch"), parse("P@5"))
    P(denominator='returned')@5
    >>> as_in(find("elasticsearch"), parse("P(denominator='k')@5"))
    P@5
    """
    params = profile.measures.get(measure.spec.name, {})
    # A grade that the user asked for is never changed.
    stated = measure.stated | ({"threshold"} if "rel" in measure.stated else set())
    return measure.with_params({name: value for name, value in params.items() if name not in stated})
