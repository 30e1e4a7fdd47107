"""Laws that every measure of the registry obeys, in all its variants.

A new measure is held to each law as soon as it is registered. Where a law does not hold for it, it has to be named
in the table of exceptions with its reason; a table that names a measure for which the law does hold fails too.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from rankproof import evaluate
from rankproof.core import measures as _declare_them  # noqa: F401  (its import fills the registry)
from rankproof.core.conventions import Conventions, tied_values
from rankproof.core.expected_and_extreme_values import extremes, spread_ties
from rankproof.core.hits import Hits
from rankproof.core.join import Census, join
from rankproof.core.measure import Measure, seen_by
from rankproof.core.names import REGISTRY, parse
from rankproof.core.scoring import ceiling, unjudged_bounds
from rankproof.io.load import load_judgments, load_ranking
from tests.each import with_each

from .inputs import random_aspects, random_case, ranked

CORPUS = 100
CLOSE = 1e-9
SEEDS = 6
"""How many random inputs each law is tried on."""

Judged = dict[str, dict[str, Any]]
Run = dict[str, Any]


def hits_of(judgments: Judged, run: Run, **conventions: Any) -> Hits:
    settled = Conventions(corpus_size=CORPUS, **conventions)
    prepared = load_judgments(judgments)
    return join(prepared, load_ranking(run).blocks(prepared, settled, Census()), settled)


def values(measure: Measure, judgments: Judged, run: Run, **conventions: Any) -> np.ndarray:
    return measure(seen_by(measure, hits_of(judgments, run, **conventions)))


def variants() -> Iterator[Measure]:
    """Every measure as it is, with each word its parameters know, and each of these at 3."""
    for measure in REGISTRY.values():
        if measure.spec.kind != "ranking":
            continue
        for variant in [measure, *_worded(measure)]:
            yield variant
            if variant.spec.at == "k":
                yield variant @ 3


def _worded(measure: Measure) -> Iterator[Measure]:
    for name, parameter in measure.spec.parameters.items():
        for word in parameter.kind.expected.split("|"):
            if "|" in parameter.kind.expected and word != parameter.default:
                yield measure.with_params({name: word})


VARIANTS = list(dict.fromkeys(variants()))


Change = Callable[[Judged, Run], tuple[Judged, Run]]


def as_made(judgments: Judged, run: Run) -> tuple[Judged, Run]:
    return judgments, run


@cache
def made_hits(aspects: bool, seed: int, change: Change = as_made) -> Hits:
    """Of random judgments, by aspect or not, and rankings without ties, changed in some way; once for all measures."""
    judgments, run = _made(aspects, seed)
    return hits_of(*change(judgments, {query: ranked(scores) for query, scores in run.items()}))


def found(measure: Measure, seed: int, change: Change = as_made) -> np.ndarray:
    return measure(seen_by(measure, made_hits(measure.spec.aspects, seed, change)))


@cache
def _made(aspects: bool, seed: int, **sizes: int) -> tuple[Judged, Run]:
    return (random_aspects if aspects else random_case)(seed, **sizes)


GREEDY = {
    "alpha_DCG": "its best order is made greedily",
    "alpha_nDCG": "its best order is made greedily",
    "ERR_IA": "its best order is made greedily",
    "nERR_IA": "its best order is made greedily",
    "NRBP": "its best order is made greedily",
    "nNRBP": "its best order is made greedily",
}


# --- what never matters -------------------------------------------------------------------------------


@pytest.mark.slow
@with_each("measure", VARIANTS)
def test_finite_always(measure: Measure) -> None:
    for seed in range(SEEDS):
        assert np.isfinite(found(measure, seed)).all()
    nothing = {"q": {"a": {"side": 0}}} if measure.spec.aspects else {"q": {"a": -1}}
    for ranking in ([], ["x"], ["a"]):
        assert np.isfinite(values(measure, nothing, {"q": ranking})).all()


@pytest.mark.slow
@with_each("measure", VARIANTS)
def test_finite_under_every_convention(measure: Measure) -> None:
    judgments, run = _made(measure.spec.aspects, 1, queries=8)
    absent = {query: scores for query, scores in run.items() if query != "q0"}
    # Whether the scores of unjudged documents are positive is not kept, so they are not called relevant then.
    policies = ["skip"] if measure.params.get("scores") == "positive" else ["skip", "relevant"]
    for ties, unjudged in product(["input", "expected", "best", "worst"], policies):
        scores = evaluate(judgments, absent, measure, ties=ties, unjudged=unjudged, corpus_size=CORPUS)
        assert math.isfinite(scores[str(measure)]), (ties, unjudged)
        assert all(math.isfinite(value) for value in scores.per_query[str(measure)].values()), (
            ties,
            unjudged,
        )


@pytest.mark.slow
@with_each("measure", VARIANTS)
def test_order_of_queries(measure: Measure) -> None:
    for seed in range(SEEDS):
        assert found(measure, seed, backwards)[::-1] == pytest.approx(found(measure, seed), abs=1e-12)


def backwards(judgments: Judged, run: Run) -> tuple[Judged, Run]:
    return dict(reversed(judgments.items())), run


@pytest.mark.slow
@with_each("measure", VARIANTS)
def test_names_of_documents(measure: Measure) -> None:
    change = prefixed if measure.spec.name in BY_ID else renamed
    for seed in range(SEEDS):
        assert found(measure, seed, change) == pytest.approx(found(measure, seed), abs=1e-12)


BY_ID = {
    "alpha_nDCG": "of documents that add as much its best order takes the one with the larger id",
    "nERR_IA": "of documents that add as much its best order takes the one with the larger id",
    "nNRBP": "of documents that add as much its best order takes the one with the larger id",
}


def renamed(judgments: Judged, run: Run, rename: Callable[[str], str] | None = None) -> tuple[Judged, Run]:
    new = rename or (lambda doc: f"{random.Random(doc).random():.9f}")
    grades = {q: {new(d): grade for d, grade in docs.items()} for q, docs in judgments.items()}
    return grades, {q: [new(d) for d in docs] for q, docs in run.items()}


def prefixed(judgments: Judged, run: Run) -> tuple[Judged, Run]:
    """Other names in the same order."""
    return renamed(judgments, run, "x{}".format)


LENGTH = {
    "P": "it is a share of the documents shown",
    "P(denominator='returned')": "it is a share of the documents shown",
    "P(scores='positive')": "it is a share of the documents shown",
    "P(threshold='query')": "it is a share of the documents shown",
    "P(denominator='returned')@3": "it is a share of the documents shown",
    "F": "P is a share of the documents shown",
    "RelP": "it is a share of the documents shown",
    "SetAP": "it is a share of the documents shown",
    "SetAP@3": "it is a share of the documents shown",
    "nDCG(ideal='hits')": "the ideal is cut to their number",
    "nDCG(ideal='hits')@3": "the ideal is cut to their number",
    "RnDCG": "the end of the ranking is a point of its own",
    "FP": "they are false positives",
    "FP@3": "they are false positives",
    "TN": "they are no true negatives any more",
    "TN@3": "they are no true negatives any more",
    "Accuracy": "they are false positives",
    "Accuracy@3": "they are false positives",
    "FirstRel": "a reader who finds nothing goes down to the end",
    "FirstRel@3": "a reader who finds nothing goes down to the end",
    "Utility": "each of them has a price",
    "NumRet": "it counts them",
    "NumRet@3": "it counts them",
    "Judged": "it is a share of the documents shown",
    "Judged@3": "it is a share of the documents shown",
    "Judged(denominator='k')": "it is a share of the documents shown",
    "Judged(negative='unjudged')": "it is a share of the documents shown",
    "Judged(negative='unjudged')@3": "it is a share of the documents shown",
    "Unjudged": "it counts them",
    "Unjudged@3": "it counts them",
    "Unjudged(denominator='k')": "it counts them",
    "Unjudged(denominator='k')@3": "it counts them",
    "Unjudged(negative='unjudged')": "it counts them",
    "Unjudged(negative='unjudged')@3": "it counts them",
    "RBPResidual(tail='unjudged')": "only then does it count what lies after the end",
    "RBPResidual(tail='unjudged')@3": "only then does it count what lies after the end",
    "P_IA": "it is a share of the documents shown",
}


@with_each("measure", VARIANTS)
def test_unjudged_documents_at_the_end(measure: Measure) -> None:
    moved = 0.0
    for seed in range(SEEDS):
        moved = max(moved, np.abs(found(measure, seed, longer) - found(measure, seed)).max())
    assert (moved > CLOSE) == (str(measure) in LENGTH)


def longer(judgments: Judged, run: Run) -> tuple[Judged, Run]:
    return judgments, {query: [*docs, "new 1", "new 2", "new 3"] for query, docs in run.items()}


# --- how high, how low ---------------------------------------------------------------------------------


@with_each("measure", VARIANTS)
def test_stated_range(measure: Measure) -> None:
    stated = re.search(r"Range: (-?\d+) (?:to|or) (\d+)", measure.spec.doc)
    low = re.search(r"Range: (\d+) ", measure.spec.doc)
    for seed in range(SEEDS):
        value = found(measure, seed)
        if low:
            assert value.min() >= int(low[1]) - CLOSE
        if stated and measure.spec.name not in GREEDY:
            assert value.max() <= int(stated[2]) + CLOSE


@with_each("measure", [one for one in VARIANTS if one.spec.name not in GREEDY])
def test_ceiling_is_never_exceeded(measure: Measure) -> None:
    for seed in range(SEEDS):
        hits = made_hits(measure.spec.aspects, seed)
        room = ceiling(measure, hits) - measure(seen_by(measure, hits))
        assert (room if measure.spec.higher else -room).min() >= -CLOSE


UNREACHED = {
    "StRecall@3": "which three documents cover most is only bounded",
    "StRecall(denominator='declared')@3": "which three documents cover most is only bounded",
    "NumRet": "a longer ranking is no better one",
    "NumRet@3": "a longer ranking is no better one",
    "AP_IA": "no order may be best for all aspects",
    "AP_IA@3": "no order may be best for all aspects",
}


@pytest.mark.slow
@with_each("measure", VARIANTS)
def test_some_perfect_ranking_reaches_the_ceiling(measure: Measure) -> None:
    """One of these does, for each query: all judged documents, or only some of them, best first."""
    missed = 0.0
    alpha = measure.params["alpha"] if measure.spec.name in GREEDY else None
    for seed in range(SEEDS):
        every = perfect_hits(measure.spec.aspects, seed, alpha)
        found = [measure(seen_by(measure, hits)) for hits in every]
        best = np.max(found, axis=0) if measure.spec.higher else np.min(found, axis=0)
        missed = max(missed, np.abs(ceiling(measure, every[0]) - best).max())
    assert (missed > CLOSE) == (str(measure) in UNREACHED)


@cache
def perfect_hits(aspects: bool, seed: int, alpha: float | None) -> list[Hits]:
    """The first few judged documents alone, best first, first none of them; then all, down to each grade."""
    judgments, _ = _made(aspects, seed)
    order = {query: _best_first(docs, alpha) for query, docs in judgments.items()}
    found = [{query: docs[:count] for query, docs in order.items()} for count in (0, 1, 3, None)]
    for least in (0, 0.5, 1):
        found.append({q: [d for d in docs if _worth(judgments[q][d]) >= least] for q, docs in order.items()})
    return [hits_of(judgments, run) for run in found]


def _best_first(docs: dict[str, Any], alpha: float | None) -> list[str]:
    if alpha is None:
        return sorted(docs, key=lambda doc: -_worth(docs[doc]))
    from .oracles import greedy

    return greedy(docs, 1, alpha)


def _worth(grade: Any) -> float:
    return sum(g >= 1 for g in grade.values()) if isinstance(grade, dict) else grade


# --- order ---------------------------------------------------------------------------------------------

HARMLESS = {
    **dict.fromkeys(("Utility", "NumRet", "NumRel", "NumNonrelJudgedRet"), "it does not look at order"),
    **dict.fromkeys(("Judged", "Unjudged", "RBPResidual"), "it does not look at grades"),
    **dict.fromkeys(("P_IA", "AP_IA", "StRecall"), "what is better depends on the aspects covered so far"),
    **dict.fromkeys(GREEDY, "what is better depends on the aspects covered so far"),
    "G": "a gain at a rank depends on all gains above it; a harmful swap exists, but is rare",
}
"""Measures that do not promise that a better order never hurts, though no swap below may show it."""


@pytest.mark.slow
@with_each("measure", VARIANTS)
def test_a_good_swap_never_hurts(measure: Measure) -> None:
    """Two documents change places so that the better one comes first."""
    if measure.spec.name in HARMLESS:
        assert not measure.spec.reorder, "it promises what this test does not look at"
        return
    worst = 0.0
    for seed in range(30):
        gained = found(measure, seed, swapped) - found(measure, seed)
        worst = min(worst, (gained if measure.spec.higher else -gained).min())
    if measure.spec.reorder and measure.steady:
        assert worst >= -CLOSE
    elif measure.params.get("k") is None:
        assert worst < -CLOSE, "no harm was done: promise it by reorder=True, or say in the table why not"


def swapped(judgments: Judged, run: Run) -> tuple[Judged, Run]:
    return judgments, {query: _swapped(docs, judgments[query]) for query, docs in run.items()}


def _swapped(docs: list[str], grades: dict[str, float]) -> list[str]:
    rng = random.Random(" ".join(docs))
    wrong = [
        (i, j)
        for i in range(len(docs))
        for j in range(i + 1, len(docs))
        if grades.get(docs[i], 0) < grades.get(docs[j], 0) and grades.get(docs[j], 0) >= 1
    ]
    if not wrong:
        return docs
    i, j = rng.choice(wrong)
    better = list(docs)
    better[i], better[j] = better[j], better[i]
    return better


# --- equal scores ---------------------------------------------------------------------------------------


@cache
def tied_hits(aspects: bool, seed: int) -> tuple[Hits, list[tuple[int, Hits]]]:
    """Short rankings with few different scores; and for each query all its orders, as so many queries before others."""
    judgments, _ = _made(aspects, seed, queries=8)
    rng = random.Random(seed)
    docs = [f"d{i:02}" for i in range(12)]
    run = {q: {d: float(rng.randint(0, 2)) for d in rng.sample(docs, 6)} for q in judgments}
    found = []
    for query, scores in run.items():
        every = {f"{query} {i}": order for i, order in enumerate(orders(scores))}
        found.append((len(every), hits_of(dict.fromkeys(every, judgments[query]) | judgments, every)))
    return hits_of(judgments, run), found


def orders(scores: dict[str, float]) -> Iterator[dict[str, float]]:
    """Every order of the documents that falls by score, as scores that are hardly other ones."""
    groups = [[d for d in scores if scores[d] == s] for s in sorted(set(scores.values()), reverse=True)]
    for chosen in product(*(permutations(group) for group in groups)):
        falling = [doc for group in chosen for doc in group]
        yield {doc: scores[doc] - place / 100 for place, doc in enumerate(falling)}


@cache
def enumerated(measure: Measure, seed: int) -> list[np.ndarray]:
    """For each query the values of every order."""
    every = tied_hits(measure.spec.aspects, seed)[1]
    return [measure(seen_by(measure, hits))[:count] for count, hits in every]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@with_each("measure", VARIANTS)
def test_mean_over_ties(measure: Measure, seed: int) -> None:
    """Exact: by the sum where the measure is one, by a closed form, or by going through the orders."""
    hits, _ = tied_hits(measure.spec.aspects, seed)
    means, note = tied_values(measure, hits, "expected", ["q"] * hits.n)
    assert note == ""
    assert means == pytest.approx([each.mean() for each in enumerated(measure, seed)], abs=1e-9)


def is_sum(measure: Measure) -> bool:
    return measure.spec.additive


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@with_each("measure", filter(is_sum, VARIANTS))
def test_sums_over_ties(measure: Measure, seed: int) -> None:
    """What declares itself a sum over rows is one: rows spread over their ranks give the mean."""
    hits, _ = tied_hits(measure.spec.aspects, seed)
    found = measure(seen_by(measure, spread_ties(hits)))
    assert found == pytest.approx([each.mean() for each in enumerated(measure, seed)], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@with_each("measure", VARIANTS)
def test_bounds_over_ties(measure: Measure, seed: int) -> None:
    """Where the best order of a tie is declared, it is the best, and its reverse the worst."""
    hits, _ = tied_hits(measure.spec.aspects, seed)
    low, high, searched = extremes(measure, hits, ["q"] * hits.n)
    assert not searched or measure.spec.worth is None or not measure.steady
    assert low == pytest.approx([each.min() for each in enumerated(measure, seed)], abs=1e-9)
    assert high == pytest.approx([each.max() for each in enumerated(measure, seed)], abs=1e-9)


# --- documents nobody judged -------------------------------------------------------------------------------
@pytest.mark.slow
@with_each("measure", VARIANTS)
def test_bounds_for_the_unjudged(measure: Measure) -> None:
    """Whichever of the unjudged documents returned are relevant, the value lies within the bounds."""
    grade = max(1.0, measure.params.get("rel", 1))
    for seed in range(3):
        hits, every = regraded_hits(measure.spec.aspects, seed, grade)
        bounds = unjudged_bounds(measure, hits)
        if bounds is None:
            assert not measure.spec.optimistic or measure.params.get("scores") == "positive"
            return
        assert every, "no way to grade was tried"
        low, high = bounds
        for found in (measure(seen_by(measure, each)) for each in every):
            assert (found >= low - CLOSE).all()
            assert (found <= high + CLOSE).all()


@cache
def regraded_hits(aspects: bool, seed: int, grade: float) -> tuple[Hits, list[Hits]]:
    """As judged, and for every way to grade the unjudged documents 0 or relevant."""
    judgments, run = _made(aspects, seed, queries=8)
    short = {query: ranked(scores)[:6] for query, scores in run.items()}
    unknown = {query: [d for d in docs if d not in judgments[query]] for query, docs in short.items()}
    found: list[Hits] = []
    ways = () if aspects else product((0.0, grade), repeat=max(len(docs) for docs in unknown.values()))
    for choice in ways:  # no measure of aspects has bounds
        graded = {q: {**judgments[q], **dict(zip(unknown[q], choice, strict=False))} for q in judgments}
        found.append(hits_of(graded, short))
    return hits_of(judgments, short), found


# --- the tables ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [LENGTH, UNREACHED, HARMLESS, GREEDY, BY_ID],
    ids=["length", "unreached", "harmless", "greedy", "by id"],
)
def test_tables_name_what_exists(table: dict[str, str]) -> None:
    known = {str(each) for each in VARIANTS}
    assert {str(parse(name)) for name in table} <= known
    assert all(reason for reason in table.values())


def test_pairs_are_within_their_range() -> None:
    rng = random.Random(0)
    docs = [f"d{i}" for i in range(12)]
    for measure in (each for each in REGISTRY.values() if each.spec.kind == "pair"):
        low = int(re.search(r"Range: (-?\d+) to 1", measure.spec.doc)[1])  # type: ignore[index]
        for _ in range(200):
            one, other = rng.sample(docs, rng.randint(0, 12)), rng.sample(docs, rng.randint(0, 12))
            assert low - CLOSE <= measure(one, other) <= 1 + CLOSE
            assert measure(docs, docs) == pytest.approx(1)
            assert math.isfinite(measure([], other))
