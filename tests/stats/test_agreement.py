"""Agreement of judges against statsmodels, textbook tables and the definition written out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_oracle

from rankproof.errors import DataError, UsageError
from rankproof.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def two_judges(seed: int, n: int = 80, labels: int = 4) -> tuple[list[int], list[int]]:
    draw = rng(seed)
    first = draw.integers(0, labels, n)
    second = np.where(draw.random(n) < 0.6, first, draw.integers(0, labels, n))
    return first.tolist(), second.tolist()


@pytest.mark.parametrize(("weights", "oracle"), [("none", None), ("linear", "linear"), ("quadratic", "quadratic")])
def test_cohens_kappa_agrees_with_statsmodels(weights: Any, oracle: Any) -> None:
    for seed in range(20):
        first, second = two_judges(seed)
        counts = np.zeros((4, 4))
        np.add.at(counts, (first, second), 1)
        expected = cohens_kappa(counts, wt=oracle, return_results=False)
        found = cohen_kappa(first, second, weights)
        assert found.value == pytest.approx(expected)
        assert found.method == ("Cohen's kappa" if oracle is None else f"Cohen's kappa, {oracle} weights")


def test_the_table_of_fleiss_levin_and_paik() -> None:
    """Statistical Methods for Rates and Proportions, table 18.1: 100 diagnoses, seen .89, chance .66, kappa .68."""
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    pairs = [(i, j) for i, line in enumerate(table) for j, times in enumerate(line) for _ in range(times)]
    found = cohen_kappa(*zip(*pairs, strict=True))
    assert (found.observed, found.expected) == pytest.approx((0.89, 0.66))
    assert found.value == pytest.approx(0.676, abs=5e-4)


def test_the_table_of_fleiss() -> None:
    """Fleiss 1971 by way of the usual worked example: 14 raters, 10 items, 5 labels, kappa = .210."""
    counts = [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
              [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]]  # fmt: skip
    found = fleiss_kappa([[label for label, times in enumerate(line) for _ in range(times)] for line in counts])
    assert (found.value, found.observed, found.expected) == pytest.approx((0.210, 0.378, 0.213), abs=5e-4)
    assert list(found.prevalence.values()) == pytest.approx([0.143, 0.200, 0.279, 0.150, 0.229], abs=5e-4)


def test_fleiss_kappa_agrees_with_statsmodels() -> None:
    for seed in range(20):
        ratings = rng(seed).integers(0, 3, (30, 5))
        counts = np.array([np.bincount(line, minlength=3) for line in ratings])
        assert fleiss_kappa(ratings.tolist()).value == pytest.approx(fleiss_oracle(counts))


KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_own_example(level: Any, alpha: float) -> None:
    """Computing Krippendorff's alpha-reliability, 2011, section C: 4 observers, 12 units, labels missing."""
    found = krippendorff_alpha(list(zip(*KRIPPENDORFF, strict=True)), level)
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found.n == 11


def by_definition(ratings: list[list[Any]], distance: Any) -> float:
    """All pairs within items against all pairs whatever their item."""
    units = [[x for x in line if x is not None] for line in ratings]
    units = [unit for unit in units if len(unit) > 1]
    flat = [x for unit in units for x in unit]
    seen = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in itertools.permutations(unit, 2)) / len(
        flat
    )
    chance = sum(distance(a, b) for a, b in itertools.permutations(flat, 2)) / (len(flat) * (len(flat) - 1))
    return 1 - seen / chance


def test_krippendorffs_alpha_agrees_with_its_definition() -> None:
    for seed in range(20):
        draw = rng(seed)
        ratings = [[None if draw.random() < 0.3 else int(x) for x in line] for line in draw.integers(0, 4, (20, 3))]
        units = [[x for x in line if x is not None] for line in ratings]
        each = np.bincount([x for unit in units if len(unit) > 1 for x in unit], minlength=4)
        ordinal = lambda a, b: (each[min(a, b) : max(a, b) + 1].sum() - (each[a] + each[b]) / 2) ** 2  # noqa: B023, E731
        for level, distance in {
            "nominal": lambda a, b: float(a != b),
            "interval": lambda a, b: (a - b) ** 2,
            "ordinal": ordinal,
        }.items():
            assert krippendorff_alpha(ratings, level).value == pytest.approx(by_definition(ratings, distance))  # type: ignore[arg-type]


# --- laws ------------------------------------------------------------------------------------------------


def test_full_agreement_is_1_and_order_does_not_matter() -> None:
    first, second = two_judges(1)
    assert cohen_kappa(first, first).value == 1.0
    assert fleiss_kappa([[x, x] for x in first]).value == pytest.approx(1.0)
    assert krippendorff_alpha([[x, x, None] for x in first]).value == 1.0
    turn = rng(2).permutation(len(first))
    assert cohen_kappa([first[i] for i in turn], [second[i] for i in turn]).value == pytest.approx(
        cohen_kappa(first, second).value
    )
    assert cohen_kappa(first, second, "linear").value == pytest.approx(cohen_kappa(second, first, "linear").value)


def test_rare_labels_pull_kappa_down_and_prevalence_shows_it() -> None:
    """The paradox: 90 % agreement both times, kappa .8 with even labels, below .5 with rare ones."""
    even = cohen_kappa([1] * 45 + [0] * 45 + [1] * 5 + [0] * 5, [1] * 45 + [0] * 45 + [0] * 5 + [1] * 5)
    rare = cohen_kappa([1] * 85 + [0] * 5 + [1] * 5 + [0] * 5, [1] * 85 + [0] * 5 + [0] * 5 + [1] * 5)
    assert (even.observed, rare.observed) == pytest.approx((0.9, 0.9))
    assert (even.value, rare.value) == pytest.approx((0.8, 0.444), abs=1e-3)
    assert rare.prevalence == pytest.approx({0: 0.1, 1: 0.9})


def test_one_label_only_is_a_stated_limit() -> None:
    for found in (
        cohen_kappa([1, 1], [1, 1]),
        fleiss_kappa([[1, 1], [1, 1]]),
        krippendorff_alpha([[1, 1], [1, 1]], "interval"),
    ):
        assert (found.value, found.observed) == (None, 1.0)
        assert "same label" in found.note
        assert found.prevalence == {1: 1.0}


def test_labels_may_be_given_in_order() -> None:
    words = ["poor", "fair", "good"]
    first, second = ["poor", "good", "fair", "good"], ["fair", "good", "good", "poor"]
    numbers = [[words.index(x) for x in judge] for judge in (first, second)]
    assert cohen_kappa(first, second, "linear", words).value == cohen_kappa(*numbers, "linear", [0, 1, 2]).value
    assert cohen_kappa(*numbers, "linear", [0, 0, 1, 2]).value == cohen_kappa(*numbers, "linear", [0, 1, 2]).value
    lines = list(zip(first, second, strict=True))
    assert (
        krippendorff_alpha(lines, "ordinal", words).value
        == krippendorff_alpha(list(zip(*numbers, strict=True)), "ordinal").value
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cohen_kappa([1], [1, 2]), "got 1 and 2 labels"),
        (lambda: cohen_kappa([1, None], [1, 2]), "missing label"),
        (lambda: cohen_kappa([1, float("nan")], [1, 2]), "missing label"),
        (lambda: cohen_kappa([], []), "no item"),
        (lambda: cohen_kappa(["a", 1], ["a", 1]), r"mix of kinds \(int and str\), expected one"),
        (lambda: cohen_kappa([[1], [2]], [1, 2]), r"got \[\[1\], \[2\]\], expected a list of texts"),
        (lambda: cohen_kappa([1, 2], [{}, {}]), "expected a list of texts"),
        (lambda: cohen_kappa([np.ones(2)], [1]), "expected a list of texts"),
        (lambda: cohen_kappa("yes", "yes"), "got 'yes', expected a list of texts"),
        (lambda: cohen_kappa({"a": 1}, {"a": 0}), "got {'a': 1}, expected a list of texts"),
        (lambda: fleiss_kappa(["11", "10"]), "got '11', expected a list of texts"),
        (lambda: fleiss_kappa({"a": [1, 1]}), "got 'a', expected a list of texts"),
        (lambda: krippendorff_alpha([[[1], [2]]]), "expected a list of texts"),
        (lambda: cohen_kappa(["a", "x"], ["a", "a"], labels=["a", "b"]), r"got \['x'\], expected one of"),
        (lambda: cohen_kappa(["good", "bad"], ["good", "fair"], "linear"), "got text, expected its order"),
        (lambda: krippendorff_alpha([["good", "bad"]], "ordinal"), "got text, expected its order"),
        (lambda: fleiss_kappa([[1, 1], [1]]), "items with 1 and 2 labels"),
        (lambda: fleiss_kappa([[1], [1]]), "items with 1 labels"),
        (lambda: fleiss_kappa([]), "no item"),
        (lambda: krippendorff_alpha([[1], [None, 2]]), "no item that two judges"),
        (lambda: krippendorff_alpha([["a", "b"]], "interval"), "expected finite numbers"),
        (lambda: krippendorff_alpha([[1.0, float("inf")]], "interval"), "expected finite numbers"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(call: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        call()


def test_unknown_words_are_refused() -> None:
    with pytest.raises(UsageError, match="weights: got 'square'"):
        cohen_kappa([1], [1], "square")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="level: got 'ratio'"):
        krippendorff_alpha([[1, 1]], "ratio")  # type: ignore[arg-type]
