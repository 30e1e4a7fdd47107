"""What a measure is worth over every order of equal scores, against counting them out one by one."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations, product
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from rankproof import evaluate
from rankproof.core.conventions import tied_values
from rankproof.core.expected_and_extreme_values import arrangements, draw_places
from rankproof.core.hits import Hits
from rankproof.core.measure import Measure
from rankproof.core.names import REGISTRY, forget, measure, parse
from tests.each import with_each

NAMES = [f"q{i}" for i in range(50)]


def every_order(run: dict[str, float]) -> list[dict[str, float]]:
    """All rankings without ties that the scores allow."""
    levels = sorted(set(run.values()), reverse=True)
    groups = [[d for d, s in run.items() if s == level] for level in levels]
    orders = product(*(permutations(group) for group in groups))
    return [{d: -float(i) for i, d in enumerate(d for group in order for d in group)} for order in orders]


def values_of_every_order(
    make: Any, m: Measure, judged: Any, run: dict[str, float], aspects: bool = False
) -> list[float]:
    orders = every_order(run)
    table = {f"q{i}": judged for i in range(len(orders))}
    hits = make(table, {f"q{i}": order for i, order in enumerate(orders)}, aspects=aspects)
    return m(hits.aspects if m.spec.aspects else hits).tolist()


def random_case(seed: int, grades: tuple[int, ...] = (-1, 0, 1, 2)) -> tuple[dict[str, float], dict[str, float]]:
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(7)]
    judged = {d: float(rng.choice(grades)) for d in docs if rng.random() < 0.7} | {"missed": 1.0}
    return judged, {d: float(rng.integers(0, 3)) for d in docs}


MEASURES = [  # the first are quick, one of each form that the mean over orders has
    "RR(rel=2)@3", "AP(denominator='min')@2", "AP(denominator='found')@3", "bpref(rel=2)", "nDCG(gain='exp')@2", "F@3",
    "RR", "RR@2", "AP", "AP@3", "AP(rel=2)", "AP(denominator='k')@3", "P_plus", "P_plus@2", "AP(denominator='found')",
    "Success@1", "Success@3", "P@2", "P@3", "P(rel=2)@3", "P(denominator='returned')@4", "R@3", "R(denominator='min')@1",
    "nDCG", "nDCG@3", "nDCG(gain={1: 5, 2: 1})@3", "nDCG(ideal='top')@3", "nDCG(ideal='returned')@2",
    "nDCG(ideal='uncut')@3", "DCG(rel=2)@4", "RBP(gain='graded')@3", "RBP(gain='topic')", "ERR(top_grade=4)", "Q(rel=2)",
]  # fmt: skip
REST = [name for name, m in REGISTRY.items() if m.spec.kind == "ranking" and not m.spec.aspects and name != "accuracy"]


def at_three(name: str) -> Measure:
    m = REGISTRY[name]
    return m @ 3 if m.spec.at == "k" and m.params["k"] is None else m


ALL = [*(parse(name) for name in MEASURES), *(at_three(name) for name in REST)]


@cache
def tied_draw(make: Any, seed: int) -> tuple[Hits, Hits]:
    """The hits of a ranking with ties, and those of all its orders; made once for all measures."""
    judged, run = random_case(seed)
    orders = {f"q{i}": order for i, order in enumerate(every_order(run))}
    every = make(dict.fromkeys(orders, judged), orders, corpus_size=1000)
    return make({"q": judged}, {"q": run}, corpus_size=1000), every


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("m", dict.fromkeys(ALL), ids=str)
@with_each("seed", range(6))
def test_expected_best_and_worst_are_the_mean_and_the_ends_of_all_orders(make: Any, m: Measure, seed: int) -> None:
    hits, every = tied_draw(make, seed)
    assert hits.first is not None, "nothing judged is tied in this draw"
    values = [round(v, 12) for v in m(every).tolist()]
    ends = (max(values), min(values)) if m.spec.higher else (min(values), max(values))
    for rule, wanted in zip(("expected", "best", "worst"), (fmean(values), *ends), strict=True):
        found, note = tied_values(m, hits, rule, NAMES)
        assert found[0] == pytest.approx(wanted, abs=1e-9), rule
        assert note == ""


ASPECTS = [name for name, m in REGISTRY.items() if m.spec.aspects]


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize("name", ASPECTS)
@with_each("seed", range(4))
def test_documents_about_several_aspects_change_places_as_a_whole(make: Any, name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(6)]
    judged = {(d, a): float(rng.integers(0, 2)) for d in docs for a in "uvw" if rng.random() < 0.4} | {("d0", "u"): 1.0}
    run = {d: float(rng.integers(0, 2)) for d in docs}
    m = at_three(name)
    values = values_of_every_order(make, m, judged, run, aspects=True)
    hits = make({"q": judged}, {"q": run}, aspects=True)
    for rule, wanted in zip(("expected", "best", "worst"), (fmean(values), max(values), min(values)), strict=True):
        assert tied_values(m, hits, rule, NAMES)[0][0] == pytest.approx(wanted, abs=1e-9), rule


def test_without_ties_all_rules_give_the_value_itself(make: Any) -> None:
    hits = make({"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}})
    for rule in ("expected", "best", "worst"):
        values, note = tied_values(parse("RR"), hits, rule, NAMES)
        assert (values.tolist(), note) == ([0.5], "")


def test_queries_with_and_without_ties_keep_their_places(make: Any) -> None:
    table = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}, "q3": {"c": 1}, "q4": {"a": 2, "b": 1}}
    run = {"q1": {"a": 1, "b": 1}, "q2": {"x": 2, "a": 1}, "q4": {"x": 3, "a": 1, "b": 1, "y": 1}}
    for q in ("q5", "q6", "q7"):  # one ends with a wrong document, and the next begins with a relevant one
        table[q], run[q] = {"a": 1, "n": 0, "m": 0}, {"a": 5, "n": 4, "x": 2, "y": 2, "m": 1}
    for name in ("RR", "AP", "nDCG", "nDCG(ideal='top')@2", "P@1", "Success@2", "bpref"):
        together = tied_values(parse(name), make(table, run), "expected", NAMES)[0]
        for i, q in enumerate(table):
            alone = make({q: table[q]}, {q: run[q]} if q in run else {})
            assert together[i] == pytest.approx(tied_values(parse(name), alone, "expected", NAMES)[0][0])


# --- one score for everything --------------------------------------------------------------------------


def test_constant_scores_give_precision_by_chance(make: Any) -> None:
    run = {f"d{i}": 0.0 for i in range(40)}
    hits = make({"q": {"d3": 1, "d9": 1, "d20": 1, "d31": 1}}, {"q": run})
    assert tied_values(parse("P@10"), hits, "expected", NAMES)[0][0] == pytest.approx(0.1)
    assert tied_values(parse("P@10"), hits, "best", NAMES)[0][0] == pytest.approx(0.4)
    assert tied_values(parse("P@10"), hits, "worst", NAMES)[0][0] == 0


def test_ndcg_gives_each_tied_rank_the_mean_gain_of_its_tie(make: Any) -> None:
    judged = {"a": 3, "b": 0, "c": 2, "d": 1, "e": 0}
    run = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5, "e": 0.5}
    found = tied_values(parse("nDCG"), make({"q": judged}, {"q": run}), "expected", NAMES)[0][0]
    discount = [1 / np.log2(i + 2) for i in range(5)]
    by_hand = 5 / 3 * sum(discount[:3]) + 1 / 2 * sum(discount[3:])
    assert found == pytest.approx(by_hand / (3 * discount[0] + 2 * discount[1] + discount[2]))


# --- measures no form is known for -------------------------------------------------------------------------


@pytest.fixture
def spread_out() -> Any:
    """The distance between the first and the last relevant document: no sum, and no order is known to be best."""

    @measure("Distance", worth=None, higher=False)
    def distance(h: Any) -> Any:
        """How far apart the relevant documents stand."""
        good = h.relevant(1)
        ends = np.zeros(h.n)
        np.maximum.at(ends, good.query, good.rank)
        return ends - np.where(good.count() > 0, good.sum(good.rank * (good.nth == 1)), 0)

    yield distance
    forget("Distance")


def test_few_orders_are_counted_out_even_where_no_best_order_is_known(make: Any, spread_out: Measure) -> None:
    judged, run = {"a": 1, "b": 1, "c": 0}, {"x": 2.0, "a": 2.0, "b": 1.0, "c": 1.0, "y": 1.0}
    values = values_of_every_order(make, spread_out, judged, run)
    hits = make({"q": judged}, {"q": run})
    for rule, wanted in (("expected", fmean(values)), ("best", min(values)), ("worst", max(values))):
        found, note = tied_values(spread_out, hits, rule, NAMES)
        assert (found[0], note) == (pytest.approx(wanted), "")


def test_many_orders_are_estimated_and_the_note_says_how_well(make: Any, spread_out: Measure) -> None:
    docs = [f"d{i}" for i in range(300)]
    judged = dict.fromkeys(docs[:5], 1)
    run = dict.fromkeys(docs, 1.0)
    hits = make({"q": judged, "r": judged, "p": {"z": 1}}, {"q": run, "r": run, "p": {"z": 1.0}})
    found, note = tied_values(spread_out, hits, "expected", NAMES)
    exact = 301 * 4 / 6  # the mean range of 5 of the numbers 1 to 300, and below its variance
    variance = 301 * 295 * 2 * 4 / (36 * 7)
    assert "2 queries with too many orders" in note
    assert "1,000 seeded orders" in note
    error = float(note.rsplit(" ", 1)[1])
    assert error == pytest.approx((2 * variance / 1000) ** 0.5 / 3, rel=0.1)
    assert abs(found.mean() - exact * 2 / 3) < 4 * error
    assert found[2] == 0


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_the_drawn_orders_of_a_query_are_the_same_whatever_else_is_scored(ties: str) -> None:
    judged = {f"q{q}": {f"d{i}": i % 4 for i in range(30)} for q in range(5)}
    run = {query: {f"d{i}": 1.0 for i in range(60)} for query in judged}
    found = evaluate(judged, run, "ERR@20", ties=ties).values("ERR@20")
    assert ties != "expected" or len(set(found.values())) == 5, "each query has draws of its own"
    turned = {query: dict(reversed(grades.items())) for query, grades in reversed(judged.items())}
    fewer = {query: judged[query] for query in ("q3", "q1")}
    for others, names in ((judged, "infAP, ERR@20"), (turned, "ERR@20"), (fewer, "ERR@20")):
        values = evaluate(others, run, names, ties=ties).values("ERR@20")
        assert values == {query: found[query] for query in others}


def test_the_best_of_many_orders_says_that_it_was_only_searched(make: Any, spread_out: Measure) -> None:
    docs = [f"d{i}" for i in range(300)]
    run = dict.fromkeys(docs, 1.0)
    hits = make({q: dict.fromkeys(docs[:5], 1) for q in "qr"}, {"q": run, "r": run})
    best, note = tied_values(spread_out, hits, "best", NAMES)
    worst, _ = tied_values(spread_out, hits, "worst", NAMES)
    assert best[0] < worst[0]
    assert "for 2 queries it is the best of 1,000 seeded orders" in note
    assert "a better one may exist" in note


def test_a_value_that_hits_remember_is_not_written_over(make: Any) -> None:
    @measure("Shown", worth=None)
    def shown(h: Any) -> Any:
        """The number of judged documents at rank 1, from a remembered count."""
        return h.top(1).count()

    hits = make({"q": {"a": 1}}, {"q": {"x": 1.0, "a": 1.0}})
    before = shown(hits).tolist()
    for rule in ("expected", "best", "worst"):
        tied_values(shown, hits, rule, NAMES)
        assert shown(hits).tolist() == before
    forget("Shown")


# --- the parts ---------------------------------------------------------------------------------------------


def test_arrangements_are_all_there_and_none_twice() -> None:
    made = arrangements(5, (2, 1))
    assert len({(frozenset(row[:2]), row[2]) for row in made.tolist()}) == len(made) == 30
    assert {tuple(row) for row in arrangements(6, (3,)).tolist()} == set(combinations(range(6), 3))


@pytest.mark.parametrize(("size", "count"), [(10, 4), (100, 5), (40, 5), (6, 6)])
def test_drawn_places_differ_and_fall_everywhere_alike(size: int, count: int) -> None:
    places = draw_places(size, count, 20_000, np.random.default_rng(1))
    assert (np.diff(np.sort(places, axis=1), axis=1) > 0).all()
    for column in places.T:
        seen = np.bincount(column, minlength=size)
        expected = 20_000 / size
        assert ((seen - expected) ** 2 / expected).sum() < size + 6 * np.sqrt(2 * size)


def test_large_rankings_are_worked_through_in_parts(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {f"q{i}": {"a": 1, "b": 2} for i in range(9)}
    run = {q: {"x": 1.0, "a": 1.0, "y": 1.0, "b": 1.0} for q in table}
    whole = [tied_values(parse(n), make(table, run), "expected", NAMES)[0] for n in ("P@2", "nDCG(ideal='top')@2")]
    monkeypatch.setattr("rankproof.core.expected_and_extreme_values.ROWS_AT_ONCE", 20)
    parts = [tied_values(parse(n), make(table, run), "expected", NAMES)[0] for n in ("P@2", "nDCG(ideal='top')@2")]
    assert np.allclose(whole, parts)
    assert parts[0].tolist() == [0.5] * 9
