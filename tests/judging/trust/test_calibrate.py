"""Calibrating a judge: what people's labels say of it, and what they do to the scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankproof import Calibration, Verdicts, calibrate, judge
from rankproof.errors import DataError, UsageError
from rankproof.judging.verdicts import Ask, Relation
from rankproof.store.ledger import Ledger
from tests.judging.trust.conftest import METRICS, machine, person, rows, truth


def test_agreement_is_counted_as_by_hand(tmp_path: Path) -> None:
    # 20 pairs: people say yes to 8; the machine to 6 of these, and to 3 of the other 12.
    yes = {f"c{i}." for i in range(8)}
    said = {f"c{i}." for i in (*range(6), 8, 9, 10)}
    samples = [{"query": "q", "contexts": [f"c{i}." for i in range(20)]}]

    def by_machine(relation: str, left: str, right: str) -> bool:
        return right in said

    found = calibrate(
        samples,
        lambda ask: 2 if ask.right in yes else 1,
        judge=by_machine,
        ledger=tmp_path / "l.db",
        metrics="P@20",
        who="ana",
    )
    (r,) = found.relations.values()
    assert (r.n, r.of, found.left) == (20, 20, 0)
    assert (r.accuracy.value, r.commonest.value) == (15 / 20, 12 / 20)
    assert (r.sensitivity.value, r.specificity.value) == (6 / 8, 9 / 12)
    chance = (8 * 9 + 12 * 11) / 400
    assert found.kappa[Relation.CONTEXT_ANSWERS].value == pytest.approx((15 / 20 - chance) / (1 - chance))
    assert found.confusion[Relation.CONTEXT_ANSWERS] == {(2, 3): 6, (2, 0): 2, (1, 3): 3, (1, 0): 9}
    assert r.corrected is None
    assert "no correction: 20 labels drawn at random, 50 needed" in str(found)


def test_labels_are_human_verdicts_that_say_who_when_and_how_drawn(ledger: Path) -> None:
    calibrate(ledger, person, n=30, who="ana")
    labels = list(Verdicts(ledger).where(judge="human:ana"))
    assert len(labels) == 30
    total = sum(1 + i % 6 for i in range(200))
    for each in labels:
        assert each.value == truth(*each.key)
        frame = each.origin["frame"]
        assert len(Ledger(ledger).frames([frame])[frame]) == total
        assert {name: said for name, said in each.origin.items() if name != "frame"} == {
            "drawn": "random",
            "probability": 30 / total,
            "included": 30 / total,
            "of": total,
        }
        assert each.at


@pytest.mark.slow
def test_scores_stand_raw_and_corrected_side_by_side(ledger: Path) -> None:
    calibrate(ledger, person, n=150, who="ana")
    real = judge(rows(), METRICS, judge=truth)
    found = judge(rows(), METRICS, judge=machine, ledger=ledger)
    corrected = found.corrected("P@3")
    assert corrected is not None
    assert not found.interval("P@3")[0] <= real["P@3"] <= found.interval("P@3")[1]
    assert corrected.low <= real["P@3"] <= corrected.high
    assert found.corrected("context_precision") is None
    text = " ".join(str(found).split())
    assert f"{corrected.value:.4f} [{corrected.low:.4f}, {corrected.high:.4f}]" in text
    assert "No correction of context_precision: 0 samples labelled whole drawn at random, 50 needed." in text
    row = found.row("P@3")
    assert (row.mean, row.corrected) == (found["P@3"], corrected.value)
    again = type(found).from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.corrected("P@3") == corrected


@pytest.mark.slow
def test_whole_samples_correct_what_is_no_mean_over_pairs(tmp_path: Path) -> None:
    path, samples = tmp_path / "l.db", rows(300)
    calibrate(samples, person, judge=machine, ledger=path, metrics=METRICS, n=80, whole=True)
    found, real = judge(samples, METRICS, judge=machine, ledger=path), judge(samples, METRICS, judge=truth)
    for name in ("P@3", "context_precision"):
        corrected = found.corrected(name)
        assert corrected is not None
        assert corrected.n == 80
        assert corrected.low <= real[name] <= corrected.high


@pytest.mark.slow
def test_corrected_scores_cover_the_truth_over_many_draws(tmp_path: Path) -> None:
    samples, right = rows(150), 0
    real = judge(samples, "P@3", judge=truth)["P@3"]
    for seed in range(10):
        path = tmp_path / f"{seed}.db"
        calibrate(
            samples,
            person,
            judge=machine,
            ledger=path,
            metrics="P@3",
            n=60,
            informative=20 * (seed % 2),
            seed=seed,
        )
        corrected = judge(samples, "P@3", judge=machine, ledger=path).corrected("P@3")
        assert corrected is not None
        right += corrected.low <= real <= corrected.high
    assert right >= 8


def test_too_few_labels_correct_nothing_and_say_so(ledger: Path) -> None:
    calibrate(rows(), person, judge=machine, ledger=ledger, metrics="P@3", n=49)
    found = judge(rows(), "P@3", judge=machine, ledger=ledger)
    assert found.corrected("P@3") is None
    assert "No correction of P@3: 49 labelled pairs drawn at random, 50 needed." in " ".join(str(found).split())


@pytest.mark.slow
def test_overrides_that_nobody_drew_correct_nothing(ledger: Path) -> None:
    verdicts = Verdicts(ledger)
    for each in list(verdicts.where(judge="function:machine"))[:80]:
        verdicts.override(each.id, truth(*each.key), by="ana")
    assert judge(rows(), "P@3", judge=machine, ledger=ledger).corrections == {}
    found = calibrate(ledger, n=30)
    assert found.left == found.drawn  # it said that some of the drawn pairs are labelled, and that none is
    assert "0 of 30 drawn pairs labelled; 30 left." in str(found)


def test_labels_of_pairs_that_the_judge_left_open_are_labels(tmp_path: Path) -> None:
    samples = [{"query": f"Where is {name}?", "contexts": [f"{name} has a harbour."]} for name in ("Rome", "Oslo")]
    found = calibrate(samples, lambda ask: 3, judge="lexical", ledger=tmp_path / "l.db", metrics="P@1")
    assert (found.left, found.n) == (0, 0)
    assert "2 of 2 drawn pairs labelled." in str(found)
    assert "No label is of a pair drawn at random that the judge settled" in " ".join(str(found).split())


def test_without_labels_nothing_about_corrections_is_said(ledger: Path) -> None:
    assert "orrect" not in str(judge(rows(), "P@3", judge=machine, ledger=ledger))


@pytest.mark.slow
def test_a_new_judge_is_asked_about_what_people_labelled_for_the_old_one(ledger: Path) -> None:
    calibrate(ledger, person, n=60, who="ana")

    def newer(relation: str, left: str, right: str) -> int:
        return truth(relation, left, right)

    def refuse(ask: Ask) -> int | None:
        raise AssertionError("labelled before")

    found = calibrate(rows(), refuse, judge=newer, ledger=ledger, metrics=METRICS, n=60, who="ana")
    assert found.kappa[Relation.CONTEXT_ANSWERS].value == 1.0
    assert found.relations[Relation.CONTEXT_ANSWERS].n == 60


def test_the_accuracy_trap_is_told(tmp_path: Path) -> None:
    samples = [{"id": f"{i}", "query": f"q{i}", "contexts": [f"c{i}."]} for i in range(100)]

    def blind(relation: str, left: str, right: str) -> bool:
        return left in ("q3", "q50")

    found = calibrate(
        samples, lambda ask: 3 * (ask.left in ("q7", "q9", "q11")), judge=blind, ledger=tmp_path / "l.db",
        metrics="P@1", n=100,
    )  # fmt: skip
    assert found.relations[Relation.CONTEXT_ANSWERS].trap
    text = " ".join(str(found).split())
    assert "accuracy misleads here. 95 % are right, but always saying the commonest would be right in 97 %" in text
    assert "no difference shows through it" in text


def test_another_draw_of_more_keeps_the_labels_and_writes_down_the_new_chances(ledger: Path) -> None:
    calibrate(ledger, person, n=20, who="ana")
    asked: list[Ask] = []

    def counted(ask: Ask) -> int:
        asked.append(ask)
        return person(ask)

    calibrate(ledger, counted, n=50, who="ana")
    labels = list(Verdicts(ledger).where(judge="human:ana"))
    assert (len(asked), len(labels)) == (30, 50)
    assert len({each.origin["probability"] for each in labels}) == 1


def test_what_is_printed_and_plain(ledger: Path) -> None:
    found = calibrate(ledger, person, n=60, informative=20)
    assert isinstance(found, Calibration)
    assert repr(found).startswith("<Calibration of function:machine by 60 labels: R: kappa 0.")
    assert all(len(line) <= 80 for line in str(found).splitlines())
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert sum(cell["pairs"] for cell in plain["relations"]["R"]["confusion"]) == 60
    assert plain["relations"]["R"]["corrected"]["n"] > 60


def test_asking_again_takes_no_label_back(ledger: Path) -> None:
    first = calibrate(ledger, person, n=30, who="ana")
    assert calibrate(ledger, n=30, who="ana").kappa == first.kappa


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n: got 0"),
        ({"informative": -1}, "informative: got -1"),
        ({"who": " "}, "who: got no name"),
        ({"relation": "Z"}, "relation"),
        ({"whole": True}, "needs the samples"),
        ({"whole": True, "informative": 3}, "takes all pairs"),
        ({"judge": "openai:nobody"}, "no verdicts of 'openai:nobody'"),
    ],
)
def test_what_cannot_be_done_is_said(ledger: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        calibrate(ledger, person, **options)  # type: ignore[arg-type]


def test_a_ledger_of_several_machines_needs_a_name(ledger: Path) -> None:
    judge(rows(), "P@3", judge=truth, ledger=ledger)
    with pytest.raises(UsageError, match="2 machines"):
        calibrate(ledger, person)
    assert calibrate(ledger, person, judge="function:truth", n=50).kappa[Relation.CONTEXT_ANSWERS].value == 1.0


def test_labels_need_a_place_and_verdicts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="labels must be kept"):
        calibrate(rows(), person, judge=machine)
    with pytest.raises(DataError, match="no verdict to calibrate"):
        calibrate(rows(3), person, judge=lambda r, a, b: None, ledger=tmp_path / "l.db", metrics="P@3")


@pytest.mark.parametrize(("grade", "missing"), [(3, "no"), (0, "yes")])
def test_labels_that_all_say_the_same_tell_nothing_of_the_other_answer(
    tmp_path: Path, grade: int, missing: str
) -> None:
    samples = [{"id": f"{i}", "query": f"q{i}", "contexts": [f"c{i}."]} for i in range(6)]
    found = calibrate(
        samples, lambda ask: grade, judge=lambda relation, left, right: grade > 1, ledger=tmp_path / "l.db",
        metrics="P@1", n=6,
    )  # fmt: skip
    text = " ".join(str(found).split())
    assert f"no label says {missing}, so how often the judge is right there is not known" in text
    assert "where people say no" not in text
    assert "kappa is -" not in text


@pytest.mark.parametrize("given", [{"ask": person}, {"temperature": 0}, {"base_url": "http://h"}, {"metrics": "P@3"}])
def test_what_only_judging_needs_is_refused_with_a_ledger(ledger: Path, given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(UsageError, match=rf"^{name}: got one, but a ledger asks nothing"):
        calibrate(ledger, person, n=30, who="ana", **given)
