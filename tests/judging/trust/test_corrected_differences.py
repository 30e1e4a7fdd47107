"""Two systems by one judge: the difference with its error taken out stands beside the raw one, everywhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import calibrate, compare_scores, gate_scores, judge
from rankproof.judging.trust.correcting import Checked, Uncorrected
from rankproof.scoring.scores import Scores
from rankproof.stats.judge_error import Corrected, Labelled, Side, check_labels, corrected_difference, corrected_mean
from tests.judging.trust.conftest import lot, person, truth

pytestmark = pytest.mark.cover


def flattering(relation: str, left: str, right: str) -> int:
    """Right about the old system; of the new one it likes half of what is irrelevant."""
    false = 0.5 if right.startswith("new") else 0.05
    said = lot(f"flattering {left} {right}") < (0.95 if truth(relation, left, right) else false)
    return 3 if said else 0


def rows(system: str, n: int = 240) -> list[dict[str, Any]]:
    return [
        {
            "id": f"s{i}",
            "query": f"q{i}",
            "kind": "odd" if i % 2 else "even",
            "contexts": [f"{system} c{i} {j}." for j in range(3)],
        }
        for i in range(n)
    ]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Scores of both systems, by a ledger in which a person labelled a part of the pairs."""
    ledger = tmp_path_factory.mktemp("both") / "verdicts.db"
    for system in ("old", "new"):
        judge(rows(system), "P@3", judge=flattering, ledger=ledger)
    calibrate(ledger, person, n=400, who="ana")
    return {system: judge(rows(system), "P@3", judge=flattering, ledger=ledger, by="kind") for system in ("old", "new")}


def real(kind: str | None = None) -> float:
    """The true difference."""
    means = {
        system: np.mean([
            truth("R", row["query"], text) == 3
            for row in rows(system)
            if kind in (None, row["kind"])
            for text in row["contexts"]
        ])
        for system in ("old", "new")
    }  # fmt: skip
    return float(means["new"] - means["old"])


@pytest.mark.slow
def test_compare_shows_what_the_judge_alone_gets_wrong(both: dict[str, Any]) -> None:
    compared = compare_scores(both)
    row = compared.row("new", "P@3")
    assert row.low is not None
    assert row.low > real()
    assert row.corrected is not None
    assert row.corrected_low <= real() <= row.corrected_high
    for kind in ("odd", "even"):
        part = compared.row("new", "P@3", kind)
        assert part.corrected_low <= real(kind) <= part.corrected_high
    assert "with the judge's error taken out" in compared.format("full")
    assert "error taken out" in compared.format("markdown")


@pytest.mark.slow
def test_slices_are_corrected_by_the_labels_in_them(both: dict[str, Any]) -> None:
    for kind, part in both["new"].slices.items():
        found = part.corrected("P@3")
        true = np.mean([
            truth("R", row["query"], text) == 3
            for row in rows("new")
            if row["kind"] == kind
            for text in row["contexts"]
        ])  # fmt: skip
        assert found.low <= true <= found.high < part["P@3"]
    shown = str(both["new"])
    assert "corrected" in shown[shown.index("slice") :]


@pytest.mark.slow
def test_a_group_with_few_labels_is_not_corrected(both: dict[str, Any]) -> None:
    few = both["new"].only(["P@3"], list(both["new"].queries[:20]))
    assert few.corrected("P@3") is None
    assert "50 needed" in few.corrections["P@3"].reason


@pytest.mark.slow
def test_the_gate_shows_both_and_holds_floors_against_the_corrected_mean(both: dict[str, Any]) -> None:
    found = gate_scores(both["old"], both["new"], margin=0.05, floors={"P@3": 0.45})
    difference = next(each for each in found if each.check == "difference" and not each.slice)
    floor = next(each for each in found if each.check == "floor")
    assert difference.corrected_low <= real() <= difference.corrected_high < difference.difference
    assert floor.candidate > 0.45 > floor.corrected
    assert floor.outcome == "fail"
    assert "by the judge alone" in str(found)
    assert "error taken out" in str(found)
    assert json.loads(found.format("json"))["rows"][0]["corrected"] == pytest.approx(difference.corrected)
    assert "error taken out" in found.markdown()


@pytest.mark.slow
def test_saved_scores_are_corrected_as_fresh_ones_are(both: dict[str, Any], tmp_path: Path) -> None:
    back = {name: Scores.from_dict(json.loads(json.dumps(each.to_dict()))) for name, each in both.items()}
    fresh, saved = (compare_scores(each).row("new", "P@3") for each in (both, back))
    assert (saved.corrected, saved.corrected_low) == (fresh.corrected, fresh.corrected_low)
    assert back["new"].corrected("P@3") == both["new"].corrected("P@3")
    assert back["new"].slices["odd"].corrected("P@3") == both["new"].slices["odd"].corrected("P@3")


def test_without_labels_nothing_is_corrected_and_nothing_is_said() -> None:
    plain = {system: judge(rows(system, 12), "P@3", judge=flattering) for system in ("old", "new")}
    compared = compare_scores(plain)
    assert compared.row("new", "P@3").corrected is None
    assert "error taken out" not in str(compared)


def test_the_interval_of_a_difference_is_right_as_often_as_it_says() -> None:
    """Half of the contexts are common to both systems; labels are drawn from all pairs."""
    rng, right, naive = np.random.default_rng(8), 0, 0
    samples, depth, draws = 250, 4, 400
    for _ in range(draws):
        known = rng.random((2, samples, depth)) < np.array([0.35, 0.45])[:, None, None]
        said = rng.random(known.shape) < np.where(known, 0.85, np.array([0.2, 0.35])[:, None, None])
        common = rng.random((samples, depth)) < 0.5
        known[1], said[1] = np.where(common, known[0], known[1]), np.where(common, said[0], said[1])
        drawn = rng.random((2, samples, depth)) < 0.1
        drawn[1] = np.where(common, drawn[0], drawn[1])
        sides = []
        for side in (0, 1):
            place = np.nonzero(drawn[side])[0]
            labels = check_labels(known[side][drawn[side]] / depth, said[side][drawn[side]] / depth, place)
            sides.append(Side(said[side].mean(axis=1), labels, units=samples * depth))
        found = corrected_difference(sides[1], sides[0])
        right += found.low <= 0.05 <= found.high
        gains = said[1].mean(axis=1) - said[0].mean(axis=1)
        naive += abs(gains.mean() - 0.05) <= 1.96 * gains.std(ddof=1) / np.sqrt(samples)
    assert 0.93 <= right / draws <= 0.985
    assert naive / draws < 0.7


def checked(seed: int, whole: bool) -> tuple[Checked, Labelled]:
    """Eighty samples of two pairs, 20 of which have a pair that could not be drawn; people labelled 55 of the others."""
    rng = np.random.default_rng(seed)
    machine, fresh = rng.random(80), np.repeat([0.0, 1.0], [60, 20])
    low, high = machine - 0.1 * fresh, machine + 0.2 * fresh
    place, chance = rng.permutation(60)[:55], rng.uniform(0.5, 1, 55)
    said = (machine if whole else machine / 2)[place]
    truth = np.clip(said + rng.normal(-0.1, 0.1, 55), 0, 1)
    rows = np.column_stack([truth, said, place, chance, np.full(55, whole)])
    return Checked(not whole, machine, np.full(80, 2.0), rows, fresh, low, high), check_labels(
        truth, said, place, chance
    )


def test_what_could_not_be_drawn_is_left_to_the_judge_and_bounds_the_ends() -> None:
    """By whole samples 60 of 80 are corrected, the others are 0 to 1; by pairs each sample but for its new pair."""
    (one, mine), (two, theirs) = checked(1, whole=True), checked(2, whole=True)
    known, rest = corrected_mean(one.machine[:60], mine), one.machine[60:].sum() / 80
    found = one.mean()
    assert isinstance(found, Corrected)
    assert (found.value, found.low, found.high) == pytest.approx(
        (known.value * 0.75 + rest, known.low * 0.75, known.high * 0.75 + 0.25)
    )
    assert "12 % of these pairs were not there" in found.method
    known = corrected_difference(Side(one.machine[:60], mine), Side(two.machine[:60], theirs), limits=(-1.0, 1.0))
    difference, rest = one.minus(two), rest - two.machine[60:].sum() / 80
    assert difference is not None
    assert (difference.value, difference.low, difference.high) == pytest.approx(
        (known.value * 0.75 + rest, known.low * 0.75 - 0.25, known.high * 0.75 + 0.25)
    )
    pairs, labels = checked(3, whole=False)
    assert pairs.low is not None
    assert pairs.high is not None
    known = corrected_mean(pairs.low, labels, units=140.0)
    found = pairs.mean()
    assert isinstance(found, Corrected)
    assert (found.value, found.low, found.high) == pytest.approx(
        (known.value + 0.1 / 4, known.low, known.high + 0.3 / 4), abs=1e-12
    )


def test_what_is_kept_gives_the_same_corrections() -> None:
    for whole in (True, False):
        one, other = checked(4, whole)[0], checked(5, whole)[0]
        again = Checked.from_dict(json.loads(json.dumps(one.to_dict())))
        assert (again.mean(), again.minus(other), again.favour(other)) == (
            one.mean(),
            one.minus(other),
            one.favour(other),
        )
        plain = replace(one, fresh=None, low=None, high=None)
        told = plain.mean()
        assert isinstance(told, Corrected)
        assert "were not there" not in told.method
        assert Checked.from_dict(plain.to_dict()).mean() == told
    few = replace(one, rows=one.rows[:49])
    assert few.mean() == Uncorrected("49 labelled pairs drawn at random, 50 needed", 49)
    assert few.minus(other) is None
