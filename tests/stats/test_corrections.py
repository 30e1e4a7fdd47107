"""Corrections against statsmodels, scipy and the papers' own numbers."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from rankproof.errors import DataError, UsageError
from rankproof.stats.corrections import benjamini_hochberg, bonferroni, correct, holm

NAMES = {"holm": "holm", "benjamini-hochberg": "fdr_bh", "bonferroni": "bonferroni"}


@pytest.mark.slow  # the first call loads most of statsmodels
@pytest.mark.parametrize("name", sorted(NAMES))
def test_adjusted_values_agree_with_statsmodels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "collect", lambda: 0)  # theirs collects after each call, late in a run half a second
    draw = np.random.default_rng(1)
    for trial in range(100):
        ps = draw.random(int(draw.integers(1, 40))) ** 3
        if trial % 3 == 0:
            ps = np.round(ps, 1)  # ties, zeros and ones
        assert correct(ps.tolist(), name) == pytest.approx(multipletests(ps, method=NAMES[name])[1].tolist(), abs=1e-14)


def test_false_discoveries_agree_with_scipy() -> None:
    ps = np.random.default_rng(2).random(25)
    assert benjamini_hochberg(ps.tolist()) == pytest.approx(stats.false_discovery_control(ps).tolist())


def test_the_example_of_benjamini_and_hochberg() -> None:
    """Their paper's 15 p-values at 0.05: Bonferroni finds 3, their procedure 4."""
    ps = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    found = [sum(p <= 0.05 for p in method(ps)) for method in (bonferroni, holm, benjamini_hochberg)]
    assert found == [3, 3, 4]


def test_order_of_the_input_does_not_matter() -> None:
    draw = np.random.default_rng(3)
    ps = np.round(draw.random(12), 1)
    turn = draw.permutation(12)
    for name in NAMES:
        assert correct(ps[turn].tolist(), name) == np.array(correct(ps.tolist(), name))[turn].tolist()


def test_nothing_and_one_need_no_correction() -> None:
    for name in [*NAMES, "none"]:
        assert correct([], name) == []
        assert correct([0.03], name) == [0.03]
    assert correct([0.03, 0.2], "none") == [0.03, 0.2]


@pytest.mark.parametrize("ps", [[0.1, 1.5], [-0.1], [0.2, float("nan")]])
def test_what_is_no_p_value_is_refused(ps: list[float]) -> None:
    for name in [*NAMES, "none"]:
        with pytest.raises(DataError, match="expected numbers from 0 to 1"):
            correct(ps, name)


def test_an_unknown_correction_is_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean 'holm'"):
        correct([0.1], "hol")
