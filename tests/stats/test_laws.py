"""What holds for every statistic of differences, on whatever numbers: no NaN, units and order do not matter."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rankproof.errors import RankproofError
from rankproof.stats.agreement import kendall_tau_b, rbo_of, stability
from rankproof.stats.corrections import correct, tukey
from rankproof.stats.differences import difference_interval, equivalence
from rankproof.stats.intervals import interval
from rankproof.stats.paired import sign_flip
from rankproof.stats.significance import (
    bootstrap,
    cliffs_delta,
    d_z,
    hedges_g,
    paired_t,
    queries_needed,
    smallest_detectable,
    spread,
    wilcoxon,
)
from rankproof.stats.variance import anova

SIZES = st.floats(1e-9, 1e9) | st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1 / 3])
NUMBERS = st.builds(lambda size, sign: size * sign, SIZES, st.sampled_from([1, -1]))
ROWS = st.lists(NUMBERS, min_size=1, max_size=25).map(np.array) | st.builds(
    lambda x, n: np.full(n, x), NUMBERS, st.integers(1, 30)
)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


TESTS: dict[str, Callable[[Any], Any]] = {
    "sign flips": lambda d: sign_flip(d, rng(), permutations=200),
    "greater": lambda d: sign_flip(d, rng(), "greater", 200),
    "t": paired_t,
    "less": lambda d: paired_t(d, "less"),
    "wilcoxon": wilcoxon,
    "bootstrap": lambda d: bootstrap(d, rng(), resamples=100),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "d_z": d_z,
    "hedges": lambda d: hedges_g(d, d[::-1]),
    "cliff": lambda d: cliffs_delta(d, d[::-1]),
    "equivalence": lambda d: equivalence(d, 0.1),
}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: kendall_tau_b(np.ones(2), np.ones(2)), r"kendall_tau_b: first: got array.*expected a mapping"),
        (lambda: kendall_tau_b([1, 2], [1, 2]), r"first: got \[1, 2\], expected a mapping"),
        (lambda: rbo_of({"a": "x", "b": "y"}, {"a": 1, "b": 2}), "scores: got 'x' at position 0"),
        (lambda: stability([np.ones(2), np.ones(2)]), "stability: systems: got"),
        (lambda: paired_t(["a", "b"]), "differences: got 'a' at position 0, expected numbers"),
        (lambda: paired_t([1, [2, 3]]), r"differences: got \[2, 3\] at position 1"),
        (lambda: difference_interval("abc"), "differences: got 'abc', expected numbers"),
        (lambda: interval([0.5, "x"]), "values: got 'x' at position 1"),
        (lambda: correct("abc"), "p-values: got 'abc', expected numbers"),
        (lambda: correct(0.5), "p-values: got 0.5, expected numbers from 0 to 1"),
        (lambda: anova([[1], [1, 2]]), "table: got"),
        (lambda: sign_flip(np.array([0.1]), None), "sign_flip: rng: got None, expected a Generator"),
        (lambda: bootstrap(np.array([0.1, 0.2]), 3), "bootstrap: rng: got 3, expected a Generator"),
    ],
)
def test_what_is_no_number_is_named_with_its_place(wrong: Any, said: str) -> None:
    with pytest.raises(RankproofError, match=said):
        wrong()


def numbers(found: Any) -> list[float]:
    """All numbers of a result, nested ones too."""
    if is_dataclass(found):
        return [x for each in fields(found) for x in numbers(getattr(found, each.name))]
    return [float(found)] if isinstance(found, int | float) else []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TESTS, *OTHERS])
@settings(max_examples=60, deadline=None)
@given(row=ROWS)
def test_every_number_is_finite(name: str, row: Any) -> None:
    found = {**TESTS, **OTHERS}[name](row)
    assert all(map(math.isfinite, numbers(found)))
    assert 0 <= getattr(found, "p", 0.5) <= 1


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("name", list(TESTS))
@settings(max_examples=40, deadline=None)
@given(
    row=st.lists(st.integers(-20, 20), min_size=1, max_size=25).map(np.array),
    unit=st.sampled_from([0.125, 4.0, 1024.0]),
)
def test_units_and_order_do_not_matter(name: str, row: Any, unit: float) -> None:
    p = TESTS[name](row).p
    assert TESTS[name](row * unit).p == pytest.approx(p, abs=1e-12)
    assert TESTS[name](row[::-1]).p == p


@settings(max_examples=60, deadline=None)
@given(row=ROWS)
def test_adding_to_every_difference_moves_one_sided_p_one_way(row: Any) -> None:
    """More in favour of the first system never makes "first is better" less likely."""
    assume(len(row) <= 16)  # counted, not drawn
    more = float(np.abs(row).max()) / 2 + 0.1
    assert sign_flip(row + more, rng(), "greater").p <= sign_flip(row, rng(), "greater").p + 1e-9


@pytest.mark.first_is_quick
@pytest.mark.parametrize("method", ["bca", "percentile", "t"])
@settings(max_examples=40, deadline=None)
@given(row=ROWS)
def test_intervals_are_finite_and_in_order(method: Any, row: Any) -> None:
    assume(len(row) > 1)
    found = difference_interval(row, rng(), method=method, resamples=200)
    assert math.isfinite(found.low)
    assert math.isfinite(found.high)
    assert found.low <= found.high


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(row=ROWS)
def test_what_is_detectable_is_a_number_or_none(row: Any) -> None:
    wide = spread(row)
    assume(wide is not None)
    assert math.isfinite(smallest_detectable(wide, len(row)) or 0)
    needed = queries_needed(float(row.mean()), wide)
    assert needed is None or needed >= 2


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(table=st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=2, max_size=12).map(np.array))
def test_tables_give_finite_numbers(table: Any) -> None:
    found = anova(table)
    assert all(map(math.isfinite, numbers(found)))
    for pair in tukey(dict(zip("abc", table.T, strict=True)), rng(), 50):
        assert 0 < pair.p <= 1
        assert math.isfinite(pair.difference)
