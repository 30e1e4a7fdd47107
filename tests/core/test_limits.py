"""Ceilings, bounds and the split of what is missing, against trying out every possibility."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations, permutations
from typing import Any

import numpy as np
import pytest

from rankproof.core.measure import Measure, seen_by
from rankproof.core.names import REGISTRY, parse
from rankproof.core.scoring import ceiling, split, tie_bounds, unjudged_bounds
from tests.core.measures.oracles import VARIANTS
from tests.core.measures.test_oracles import ASPECT_MEASURES
from tests.each import with_each

RANKING = [name for name, m in REGISTRY.items() if m.spec.kind == "ranking" and not m.spec.aspects]
OPTIMISTIC = [name for name in RANKING if REGISTRY[name].spec.optimistic]
WORKED_OUT = [
    "R(denominator='min')", "R(rel=2)@4", "AP(denominator='min')@3", "nDCG(gain={-1: 2, 1: 3, 2: 1})@3", "nDCG(rel=2)@4",
    "R@3", "R", "R(denominator='min')@2", "AP", "AP@3", "AP@2", "AP(rel=2)", "AP(denominator='k')@3",
    "AP(denominator='found')", "AP(denominator='found')@4", "nDCG", "nDCG@3", "nDCG@1", "nDCG(gain='exp')@4",
    "nDCG(ideal='uncut')@3", "nDCG(gain={1: 3, 2: 1})@3",
]  # fmt: skip


def case(seed: int) -> tuple[dict[str, float], list[str]]:
    """Grades of some of eight documents, and a ranking of six of them."""
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(8)]
    judged = {d: float(rng.choice([-1, 0, 1, 2, 3])) for d in docs if rng.random() < 0.5}
    return judged or {"d0": 1.0}, [docs[i] for i in rng.permutation(8)[:6]]


def ranked(docs: Sequence[str]) -> dict[str, float]:
    return {d: -float(i) for i, d in enumerate(docs)}


def at(name: str, k: int) -> Measure:
    m = REGISTRY[name]
    return m @ k if m.spec.at == "k" and m.params["k"] is None else m


def if_judged(make: Any, m: Measure, judged: dict[str, float], docs: list[str], grade: float) -> list[float]:
    """The value for every choice of unjudged documents that might be relevant."""
    open_ones = [d for d in docs if d not in judged]
    choices = list(chain.from_iterable(combinations(open_ones, n) for n in range(len(open_ones) + 1)))
    table = {f"q{i}": judged | dict.fromkeys(choice, grade) for i, choice in enumerate(choices)}
    return m(make(table, {q: ranked(docs) for q in table})).tolist()


@pytest.mark.first_is_quick(5)
@pytest.mark.parametrize("name", WORKED_OUT)
@with_each("seed", range(12))
def test_bounds_for_unjudged_documents_are_the_ends_of_all_possibilities(make: Any, name: str, seed: int) -> None:
    judged, docs = case(seed)
    m = parse(name)
    for grade in (1, 2):
        values = if_judged(make, m, judged, docs, max(grade, m.params["rel"]))
        found = unjudged_bounds(m, make({"q": judged}, {"q": ranked(docs)}), grade)
        assert found is not None
        assert (found[0][0], found[1][0]) == pytest.approx((min(values), max(values)), abs=1e-12)


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    "name", ["AP", "AP@40", "AP(denominator='min')@30", "AP(denominator='found')@25", "nDCG", "nDCG@20"]
)
@with_each("seed", range(5))
def test_bounds_of_long_rankings_agree_with_trying_every_number(make: Any, name: str, seed: int) -> None:
    """For each number m the first and the last m unjudged documents: the ends that short rankings proved."""
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(60)]
    judged = {d: float(rng.integers(0, 2)) for d in rng.choice(docs, 9 + seed, replace=False)} | {"missed": 1.0}
    open_ones = [d for d in docs if d not in judged]
    choices = [c for m in range(len(open_ones) + 1) for c in (open_ones[:m], open_ones[len(open_ones) - m :])]
    table = {f"q{i}": judged | dict.fromkeys(choice, 1.0) for i, choice in enumerate(choices)}
    values = parse(name)(make(table, {q: ranked(docs) for q in table}))
    low, high = unjudged_bounds(parse(name), make({"q": judged}, {"q": ranked(docs)}))  # type: ignore[misc]
    assert (low[0], high[0]) == pytest.approx((values.min(), values.max()), abs=1e-12)


@pytest.mark.parametrize("name", OPTIMISTIC)
@with_each("seed", range(6))
def test_measures_that_call_themselves_optimistic_are_bounded_by_all_being_relevant(
    make: Any, name: str, seed: int
) -> None:
    judged, docs = case(seed)
    judged["missed"] = 3.0
    for m in (REGISTRY[name], at(name, 3)):
        values = if_judged(make, m, judged, docs, 1)
        found = unjudged_bounds(m, make({"q": judged}, {"q": ranked(docs)}), 1)
        assert found is not None
        assert (found[0][0], found[1][0]) == pytest.approx((min(values), max(values)), abs=1e-12)


@pytest.mark.parametrize(
    ("docs", "k", "high"), [("abx", None, 1 / 3), ("abx", 3, 1 / 3), ("abx", 2, 0), ("ab", None, 0), ("ab", 9, 0)]
)
def test_only_a_document_that_is_shown_can_raise_the_reciprocal_rank(
    make: Any, docs: str, k: int | None, high: float
) -> None:
    m = parse("RR") if k is None else parse("RR") @ k
    found = unjudged_bounds(m, make({"q": {"a": 0, "b": 0, "c": 1}}, {"q": ranked([*docs])}))
    assert found is not None
    assert (found[0][0], found[1][0]) == (0, high)


@pytest.mark.slow
def test_bounds_of_many_queries_stand_in_their_order(make: Any) -> None:
    cases = {f"q{i}": case(i) for i in range(20)}
    table, run = {q: c[0] for q, c in cases.items()}, {q: ranked(c[1]) for q, c in cases.items()}
    for name in WORKED_OUT:
        together = unjudged_bounds(parse(name), make(table, run))
        alone = [unjudged_bounds(parse(name), make({q: table[q]}, {q: run[q]})) for q in table]
        assert np.allclose(together, np.array(alone)[:, :, 0].T), name


@pytest.mark.parametrize("name", ["nDCG(ideal='returned')", "nDCG(ideal='top')@5", "F@5"])
def test_no_bound_is_shown_where_none_is_known_to_be_true(make: Any, name: str) -> None:
    found = unjudged_bounds(parse(name), make({"q": {"a": 1}}, {"q": ranked(["x", "a"])}))
    assert found is None


def test_no_bound_is_shown_at_a_grade_that_would_rescale_the_others(make: Any) -> None:
    hits = make({"q": {"a": 1}}, {"q": ranked(["x", "a"])})
    assert unjudged_bounds(parse("ERR"), hits, 1) is not None
    assert unjudged_bounds(parse("ERR"), hits, 2) is None
    assert unjudged_bounds(parse("ERR(top_grade=3)"), hits, 2) is not None


def test_fully_judged_rankings_have_bounds_of_no_width(make: Any) -> None:
    hits = make({"q": {"a": 1, "b": 0}}, {"q": ranked(["b", "a"])})
    for name in ("P@2", "AP", "nDCG@2", "R@1", "RR"):
        low, high = unjudged_bounds(parse(name), hits)  # type: ignore[misc]
        assert low[0] == pytest.approx(parse(name)(hits)[0]) == high[0]


# --- ceiling -----------------------------------------------------------------------------------------------


CAPPED = """
P@5 RR@3 nDCG(gain={1:3,2:1})@2 G(gain={1:3,2:1}) nDCGrel(gain={1:3,2:0.5}) nDCG(gain={0:1,2:0},ideal='top')@2
Judged(denominator='k')@6 Judged(denominator='k',negative='unjudged')@3 RBPResidual(tail='unjudged',negative='unjudged')
"""
ONE_EACH = {"a": 2, "b": 1, "c": 0, "d": -1}
BY_ASPECT = {("a", "1"): 1, ("a", "2"): 2, ("b", "1"): 1, ("b", "3"): 2, ("c", "4"): 0}


@pytest.mark.parametrize(
    ("judged", "names"),
    [(ONE_EACH, [*CAPPED.split(), *VARIANTS]), (BY_ASPECT, ASPECT_MEASURES)],
    ids=["all", "aspects"],
)
def test_the_ceiling_is_the_best_of_all_rankings(make: Any, judged: Any, names: list[str]) -> None:
    runs = {"".join(p): ranked(p) for n in range(1, 6) for p in permutations("abcdx", n)}
    settings: dict[str, Any] = {"aspects": judged is BY_ASPECT, "corpus_size": 8}
    every, one = (
        make(dict.fromkeys(runs, judged), runs, **settings),
        make({"q": judged}, {"q": ranked("x")}, **settings),
    )
    for m in map(parse, names):
        if m.spec.name in ("NumRet", "AP_IA"):  # the more the better without end; aspects stand in each other's way
            continue
        values = m(seen_by(m, every))
        best = values.max() if m.spec.higher else values.min()
        assert ceiling(m, one)[0] == pytest.approx(best), m


def test_precision_at_5_with_two_relevant_documents_cannot_exceed_two_fifths(make: Any) -> None:
    assert ceiling(parse("P@5"), make({"q": {"a": 1, "b": 3, "c": 0}}, {})).tolist() == [0.4]


# --- ties ---------------------------------------------------------------------------------------------------


def test_tie_bounds_are_the_worst_and_best_order(make: Any) -> None:
    hits = make({"q": {"a": 1}}, {"q": {"a": 1.0, "x": 1.0, "y": 1.0}})
    low, high = tie_bounds(parse("RR"), hits)  # type: ignore[misc]
    assert (low[0], high[0]) == (pytest.approx(1 / 3), 1.0)


def test_no_tie_bounds_without_ties(make: Any) -> None:
    assert tie_bounds(parse("RR"), make({"q": {"a": 1}}, {"q": ranked(["a"])})) is None


def test_tie_bounds_that_could_only_be_searched_are_not_shown(make: Any) -> None:
    docs = [f"d{i}" for i in range(60)]
    hits = make({"q": dict.fromkeys(docs[:6], 1)}, {"q": dict.fromkeys(docs, 1.0)})
    assert tie_bounds(parse("AP(denominator='found')@9"), hits) is None


# --- what is missing ----------------------------------------------------------------------------------------


def test_what_is_missing_splits_into_never_found_and_ranked_too_low(make: Any) -> None:
    hits = make({"q": {"a": 1, "b": 1, "c": 1, "d": 1}}, {"q": ranked(["x", "a", "b"])})
    never, low = split(parse("AP"), hits)  # type: ignore[misc]
    assert never[0] == pytest.approx(1 - 2 / 4)
    assert low[0] == pytest.approx(2 / 4 - (1 / 2 + 2 / 3) / 4)


@pytest.mark.parametrize(
    "name", ["P@3", "R@3", "AP", "AP@2", "nDCG@3", "RR", "Success@1", "DCG@2", "nDCG(gain={1: 3, 2: 1})@2"]
)
@with_each("seed", range(8))
def test_the_two_parts_add_up_to_the_ceiling_and_are_never_negative(make: Any, name: str, seed: int) -> None:
    judged, docs = case(seed)
    hits = make({"q": judged}, {"q": ranked(docs)})
    never, low = split(parse(name), hits)  # type: ignore[misc]
    assert never[0] >= 0
    assert low[0] >= 0
    assert parse(name)(hits)[0] + never[0] + low[0] == pytest.approx(ceiling(parse(name), hits)[0])


@pytest.mark.parametrize("name", ["P", "F", "P(denominator='returned')@5", "nDCG(ideal='top')@2"])
def test_no_split_where_a_shorter_ranking_or_no_order_is_what_is_missing(make: Any, name: str) -> None:
    assert split(parse(name), make({"q": {"a": 1}}, {"q": ranked(["x", "a", "y", "z", "w"])})) is None
