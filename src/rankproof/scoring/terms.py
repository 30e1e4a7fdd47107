"""The terms of the output, each with what it means; docs/glossary.md is made from them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rankproof.document.model import Document
from rankproof.document.terminal import wrap
from rankproof.errors import UsageError, nearest, shorten
from rankproof.scoring.catalogue import reference

TERMS = {
    "judgment": "A person's (or a machine's) grade for one document under one query. A file of them is also called "
    "qrels.",
    "grade": "How relevant a document is to a query: 0 is not relevant, larger is better. From the relevance level on "
    "(1 by default) it counts as relevant.",
    "ranking": "The documents that a system returned for each query, best first; also called a run.",
    "corpus": "All documents that could be returned. Measures that count what was rightly left out need its size.",
    "convention": "A rule that shapes every number: the order of equal scores, what an unjudged document counts, what "
    "a missing query counts. docs/definitions.md lists them, and results keep those they were made with.",
    "mean": "The average over the queries that count (n of them). A sum or a geometric mean is named as such.",
    "interval": "The range in which the mean over queries like these lies, at the confidence in its heading (95 %): if "
    "the queries were drawn again, 95 of 100 such intervals would hold the true mean. It belongs to one mean; "
    "whether two systems differ is shown by the interval of the difference. docs/statistics.md says how it is made.",
    "bootstrap": "A way to make an interval: the queries are given random weights many times, and the mean is "
    "computed each time. BCa is the variant that corrects for bias and skewness; the Bayesian bootstrap uses "
    "smooth weights.",
    "ceiling": "The best mean that any ranking could reach under these judgments: queries without relevant "
    "documents, or with fewer than k, keep it below 1. Compare a mean with its ceiling, not with 1.",
    "never found": "The part of the distance to the ceiling that is lost because relevant documents are nowhere in the "
    "rankings: retrieval lost it, and no reranker can bring it back.",
    "ranked too low": "The part of the distance to the ceiling that is lost because relevant documents were returned "
    "too far down: a better order would win it back.",
    "n": "The number of queries that the mean is taken over.",
    "unjudged": "A document that nobody judged counts as not relevant. The column 'if the unjudged were relevant' has "
    "the smallest and the largest mean that judging all of them could give if the relevant ones had grade 1, or the "
    "lowest that is relevant to the measure; of a higher grade the bounds are wider: bounds(..., grade=3).",
    "equal scores": "Documents with the same score have no order of their own. The column gives the smallest and the "
    "largest mean that any order of them has; the option ties names the order that is used.",
    "difference": "The system's mean minus the baseline's, over the same queries.",
    "baseline": "The system that all others are compared with: the first, or the one that is named as baseline.",
    "p": "The probability that chance alone (the signs of the differences flipped at random, query by query) gives a "
    "difference at least as large. It is corrected over all rows that are tested together; 'p alone' is "
    "not.",
    "sign flips": "The test behind p: if two systems are alike, each query's difference could as well have the other "
    "sign. So the signs are flipped at random many times, and p is the share of flips with a mean as far from 0 as "
    "the one seen.",
    "Holm": "A correction of p if several differences are tested at once: the smallest p is multiplied by their "
    "number, the next by one less, and so on. The probability of any false verdict stays below alpha.",
    "alpha": "The rate of false verdicts that you accept if nothing differs: 0.05 unless you say otherwise.",
    "verdict": "Of a comparison: better or worse if chance is ruled out (p at most alpha), equivalent if the "
    "difference is shown to be within the margin, else 'cannot tell yet'. Of a judge: what it says of a pair of texts.",
    "margin": "The difference that would not matter to you. With it systems can be shown to be equivalent, and a "
    "gate passes what loses less.",
    "equivalent": "The difference is shown to be smaller than the margin, in both directions. That takes more than an "
    "interval within the margin: it is corrected over all comparisons, and with fewer than 100 queries it must rule "
    "out the rare changes that so few need not show.",
    "effect": "The mean difference in standard deviations of the differences from query to query (Cohen's d_z): 0.2 "
    "is small, 0.5 medium, 0.8 large. It says how consistent a gain is, not how big.",
    "detectable": "The smallest true difference that this many queries show at least four times out of five. A smaller "
    "one may exist and stay unseen.",
    "queries needed": "How many queries like these would show a true difference as large as the one seen, four times "
    "out of five.",
    "won/tied/lost": "On how many queries the system is above the baseline, equal to it, and below it.",
    "bounds": "The smallest and the largest value that a number can have, whatever is not known turns out to be: the "
    "order of equal scores, what nobody judged, verdicts that are open.",
    "coverage": "The share that was judged: of the documents returned, or of the pairs of texts that a metric needs.",
    "unmeasured": "Without a verdict: nobody judged it, or the judge could not tell. It is in no mean, never 0 and "
    "never 1.",
    "sample": "One question with what was retrieved for it, and if there are any, the answer and a reference.",
    "claim": "One statement of a text that can be true or false by itself; an answer is split into claims.",
    "judge": "Whatever gives verdicts on pairs of texts: rules over words, a model, a function of yours, people.",
    "cascade": "Several judges in order: each is asked only what those before it could not settle.",
    "ledger": "The file that keeps every verdict with its judge, so that nothing is asked (and paid) twice.",
    "corrected": "The mean with the judge's error taken out, by labels of people; see prediction-powered inference.",
    "kappa": "The agreement of two judges beyond what chance would give: 1 is full agreement, 0 no more than chance.",
    "nugget": "A fact that a good answer has: vital if it must be there, okay if it may. Strict scores count what is "
    "there in full alone, the others a part as half; weighted ones count okay nuggets half.",
    "support": "How far a source backs what it is cited for: 1 in full, .5 in part, 0 not at all, as in TREC's RAG "
    "track.",
    "MIRAGE": "Four rates, by answers without contexts, with the right one and with those retrieved: noise "
    "vulnerability, context acceptability, context insensitivity, context misinterpretation. They add up to 1.",
    "noise vulnerability": "The share of questions answered right from the one right context, and wrong from what was "
    "retrieved (MIRAGE).",
    "context acceptability": "The share of questions answered right from the right context, and right from what was "
    "retrieved (MIRAGE).",
    "context insensitivity": "The share of questions answered wrong from the right context, as without any (MIRAGE).",
    "context misinterpretation": "The share of questions answered right without contexts, and wrong from the right "
    "one (MIRAGE).",
    "prediction-powered inference": "A mean that uses a machine's labels for everything and corrects them by its mean "
    "error where people labelled too; the machine gets the weight that makes the interval narrowest (PPI++).",
    "tau-b": "Kendall's rank correlation of two orders: 1 the same, 0 unrelated, -1 reversed; ties are allowed for.",
    "tau-AP": "A rank correlation like tau in which mistakes at the top of the order weigh more.",
    "RBO": "Rank-biased overlap: how much two rankings share, with most weight at the top; the lists may hold "
    "different items.",
    "swap rate": "How often two halves of the queries disagree about which of two systems is better.",
    "front": "The configurations that no other one beats in quality, latency and cost at once (the Pareto front).",
    "p50": "The time within which half of the questions were answered (the median); p95: 19 of 20; p99: 99 of 100.",
    "hole": "Documents that no question ever gets back although they should come up for some, and that share "
    "something: a field, a part of their ids, a word. A filter, an old index or a step that skips them makes one. "
    "BEIR's measure Hole is Unjudged(denominator='k').",
    "band": "A word for a number, by its share of the ceiling: poor, acceptable, good or excellent.",
    "regime": "Precision and recall, each high or not, together: what the ranking feels like to whoever asks.",
    "elsewhere": "What to count on for other queries, of a gain that was measured on these: luck brings a part of what "
    "is claimed, so it is less, as often too high as too low.",
    "held out": "Questions that did not choose the winner: only on them is its mean not flattered.",
    "profile": "The conventions of another tool under one name, such as trec_eval-9; see 'rankproof profiles'.",
    "gate": "The decision whether a change may ship: pass if a loss beyond the margin is ruled out, fail if one is "
    "shown, else inconclusive.",
    "audit": "What looks wrong in the data before any number: ids that do not match, missing queries, ties, swapped "
    "arguments, much that nobody judged.",
    "click-through": "The share of searches with results of which one was clicked (ctr); ctr@k: one of the first k; "
    "ctr_citation: answers with citations of which one was clicked.",
    "first click": "The mean of 1 / rank of the first click, over searches with a click (mrr_first_click).",
    "thumbs up": "The share of votes that are up (thumbs_up); vote_share: the share of events with a vote.",
    "don't know": "The share of answers that say so, by the flag or else by their words (dont_know), a lower bound.",
    "no result": "The share of searches that found nothing (no_result).",
    "citation coverage": "The share of answers that cite a document; those that say 'I don't know' are left out.",
    "latency": "The milliseconds that 50, 95 or 99 % of events stay below (latency_p50, p95, p99).",
    "score margin": "The best score minus the second best: 10, 50 or 90 % of searches lie below margin_p10, p50, p90.",
    "heavy user": "One who sends more than 5 % of all events; the metrics without them stand beside.",
    "lateness": "How late an event of a stream may be; what comes later counts in the whole only.",
    "cool-down": "How long an alert that was told is not told again.",
    "mismatch": "Users are not shared among variants as planned (sample ratio mismatch), so no difference can be "
    "trusted.",
    "abandonment": "The share of sessions without a click and a thumb up. Who read the answer and left content is "
    "among them, so look at its changes rather than at its level.",
    "reformulation": "The share of searches that the same person asked again within 5 minutes in similar words.",
    "interleaving": "A list made of the results of two or more rankings, which pick in turns (team draft); the ranking "
    "whose documents get more clicks is preferred. It needs far fewer users than an A/B test.",
    "propensity": "How often a rank is looked at, compared with the first. Clicks divided by propensities are what "
    "clicks would be if every rank were looked at (inverse propensity).",
    "position bias": "Users look at the first ranks more than at later ones, so clicks follow the place as well as the "
    "document.",
    "attraction": "The share of shown documents that would be clicked if each were looked at: clicks with the position "
    "bias taken out.",
    "change point": "The window from which on a metric has another level, after weekdays and hours are taken out.",
    "drift": "What people ask has moved away from what the evaluation set asks, in wording, length, language, "
    "vocabulary or kinds of queries.",
    "kind": "A group of similar queries: missing if the set has none of it, too few or too many if it is asked more "
    "or less often than the set has it.",
    "to label next": "Live queries, each of which brings the most live queries nearer to the set.",
    "stale judgment": "A judged document that vanished from the corpus, or changed.",
    "twin": "A query that the set asks twice, or that something was trained on (leakage).",
    "counterfactual": "The DCG by clicks that another ranking would have had, with the position bias taken out.",
    "coverage of a set": "The share of live queries with a query of the evaluation set near them, and which kinds of "
    "live queries have none.",
    "outage": "A stretch of time without or nearly without events, in which a source was silent, or with a burst of "
    "errors.",
    "session": "What one person does until 30 minutes pass without an event.",
    "variant": "One arm of an A/B test; the others are held against the control.",
    "anytime-valid": "An interval or a p-value that holds at all looks together, so that a test may be looked at every "
    "day, and ended when one likes.",
    "re-weighted": "The mean of the set if each kind of query counted as often as people ask it.",
    "classifier test": "Whether a classifier, trained on some queries, tells live ones from those of the set among "
    "others better than by chance.",
    "Bonferroni": "A correction if several differences or intervals are looked at together: alpha is divided by "
    "their number. Safe whatever they have to do with each other, and wider than Holm or Tukey.",
    "Benjamini-Hochberg": "A correction of p that limits the share of false findings among all findings, not the "
    "probability of any false one: more is found, and a part of it (alpha) may be wrong.",
    "Tukey": "A test of all pairs of systems at once: each query's values are shuffled among the systems, and p is the "
    "share of draws in which any two differ by as much.",
    "Student's t": "The interval of a mean by its standard error; here it is corrected for skewness and for "
    "how few the queries are, and used where many of them carry the spread.",
    "Gaffke's bounds": "An interval of a mean that allows for values that were not seen, up to the ends of the "
    "range: used where few queries carry the spread.",
    "Rogan-Gladen": "A corrected share from yes and no: the judge's share, with what it misses (sensitivity) and "
    "what it takes wrongly (specificity) taken out; its interval is by the delta method.",
    "sensitivity": "Of what people say yes to, the share that the judge says yes to as well. Specificity is the "
    "same of what they say no to.",
    "letters": "Two systems that share a letter cannot be told apart by this test; two that share none can.",
    "excess": "What a machine's judgments give a system beyond people's, less what they give the other systems on "
    "average.",
    "gain": "What a change would add to the mean: as measured on these queries, with its interval. In a measure: "
    "what one grade is worth.",
    "Borda": "A fusion of rankings by places: a document gets a point for each one below it.",
    "Condorcet": "A fusion of rankings by majority: a document beats another that more rankings put lower.",
    "reciprocal rank fusion": "A fusion of rankings by 1 / (k + rank), added up over them; scores are not looked "
    "at (k is 60).",
    "z-score": "A score less the mean of its list, in standard deviations of the list, so that scores of systems "
    "can be added. min-max maps them to 0 to 1 instead.",
}
"""Every word of the output that needs an explanation"""
OTHERS = {
    each: word
    for word, others in {
        "click-through": "ctr; click-through rate; ctr citation",
        "abandonment": "abandonment rate",
        "reformulation": "reformulation rate",
        "interleaving": "team draft; multileaving",
        "propensity": "inverse propensity; propensities",
        "change point": "change; cusum",
        "coverage of a set": "near; nearest in the set; nearer",
        "outage": "silence; burst; source",
        "variant": "control; a/b test",
        "mismatch": "sample ratio mismatch",
        "classifier test": "classifier",
        "twin": "leakage",
        "counterfactual": "counterfactual dcg",
        "thumbs up": "vote share",
        "first click": "mrr first click",
        "don't know": "dont know",
        "latency": "latency p50; latency p95; latency p99",
        "score margin": "margin p10; margin p50; margin p90",
        "anytime-valid": "sequential test; betting; p (by holm)",
        "re-weighted": "post-stratification; re-weighted score; on what people ask",
        "drift": "two-sample test; maximum mean discrepancy; mmd; kernel; kernel test; without a shift; wording; "
        "length; language; vocabulary",
        "interval": "confidence; 95 % interval; confidence interval; 95 %; estimate",
        "bootstrap": "bca; bayesian bootstrap; percentile bootstrap; resamples; resampling; dirichlet",
        "grade": "relevance level",
        "coverage": "judged",
        "judgment": "qrels",
        "ranking": "run",
        "corpus": "corpus size",
        "p50": "median; p95; p99; percentile; quantile",
        "front": "pareto front",
        "Holm": "holm correction; p (holm)",
        "p": "p-value; p alone; p drop; significance; significant",
        "equal scores": "ties; equal; equal scores in any other order",
        "won/tied/lost": "won",
        "unjudged": "not judged; if the unjudged were relevant",
        "effect": "d z; cohen's d; effect size",
        "band": "bands",
        "elsewhere": "on other queries",
        "verdict": "cannot tell yet",
        "gate": "inconclusive; outcome",
        "detectable": "power; found from",
        "prediction-powered inference": "ppi; ppi++",
        "nugget": "nuggets; vital; okay",
        "support": "partial support; full support",
        "tau-b": "tau; kendall; kendall's tau; kendall's tau-b",
        "Bonferroni": "bonferroni correction",
        "Benjamini-Hochberg": "benjamini; false discovery rate; fdr",
        "Tukey": "randomised tukey",
        "Student's t": "student; student's t-test; t-test",
        "Gaffke's bounds": "gaffke; gaffke's bound",
        "Rogan-Gladen": "delta method",
        "sign flips": "permutation; permutation test; permutations; randomisation test",
        "reciprocal rank fusion": "rrf",
        "Borda": "borda count",
        "z-score": "min-max; normalisation",
        "kappa": "fleiss' kappa; cohen's kappa; krippendorff; krippendorff's alpha; krippendorff alpha; ac1",
        "bounds": "with the rest at worst and best",
        "sensitivity": "specificity",
    }.items()
    for each in others.split("; ")
}
"""Synonyms."""


def term_names() -> list[str]:
    """Every word that is explained."""
    return [*TERMS, *OTHERS]


def is_term(word: str) -> bool:
    """Whether the word is a term of the output, rather than a measure."""
    return _found(word) is not None


def _found(word: str) -> str | None:
    """The heading under which a word is explained, in whatever case and number it is written."""
    key = re.sub(r"^ctr@\d+$", "ctr", " ".join(word.replace("_", " ").split()).lower())
    known = {each.lower(): each for each in TERMS} | OTHERS
    return known.get(key) or known.get(key.removesuffix("s")) or known.get(key.replace(" ", "-"))


def term(word: str, measures: Iterable[str] = ()) -> Document:
    """The meaning of a word of the output.

    >>> term("Detectable").title
    'detectable'
    """
    found = _found(word)
    if found is None:
        raise UsageError(
            f"explain: got {shorten(word)}, which is neither a word of the output nor a measure."
            f"{nearest(word, [*term_names(), *measures])} Next: one of {', '.join(TERMS)}; or a measure, like nDCG@10."
        )
    text = "\n".join([found, "", *wrap(TERMS[found])])
    return reference(found, text, [{"name": found, "title": TERMS[found]}])
