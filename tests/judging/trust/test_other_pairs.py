"""Labels speak of the pairs they were drawn from: what another system brought is bounded, and that is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rankproof import calibrate, compare_scores, judge
from rankproof.judging.verdicts import Ask
from rankproof.store.ledger import Ledger
from tests.database import database
from tests.each import with_each

from .conftest import lot

N = 200


def truth(relation: str, left: str, right: str) -> int:
    return 0 if "new" in right else 3 if lot(f"truth {left} {right}") < 0.5 else 0


def machine(relation: str, left: str, right: str) -> int:
    """Nearly right on what it was tried on, and taken in by all that is new."""
    if "new" in right:
        return 3
    right_once = lot(f"machine {left} {right}") < 0.9
    return truth(relation, left, right) if right_once else 3 - truth(relation, left, right)


def person(ask: Ask) -> int:
    return truth(ask.relation, ask.left, ask.right)


def rows(new: float = 0.0, n: int = N) -> list[dict[str, Any]]:
    """Samples in which this share of the contexts is new."""
    return [
        {
            "id": f"s{i}",
            "query": f"q{i}",
            "contexts": [f"{'new' if lot(f'new {i} {j}') < new else 'old'} context {i} {j}." for j in range(5)],
            "answer": f"{'new' if lot(f'new answer {i}') < new else 'old'} answer {i}.",
        }
        for i in range(n)
    ]


@pytest.fixture
def labelled(metric: str, tmp_path: Path) -> Path:
    calibrate(rows(), person, judge=machine, ledger=tmp_path / "labelled.db", metrics=metric, n=120)
    return tmp_path / "labelled.db"


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["P@3", "DCG@5", "P@5", "answer_relevance"])
@with_each("new", [0.0, 0.3, 0.47, 1.0])
def test_what_could_not_be_drawn_is_bounded(labelled: Path, metric: str, new: float) -> None:
    ledger = Path(shutil.copy(labelled, labelled.with_name(f"{new}.db")))
    real = judge(rows(new), metric, judge=truth)[metric]
    found = judge(rows(new), metric, judge=machine, ledger=ledger)
    corrected = found.corrected(metric)
    if new == 1.0:
        assert corrected is None  # nothing that was labelled is left
        return
    assert corrected is not None
    assert corrected.low <= real <= corrected.high
    text = " ".join(str(found.format("full")).split())
    if not new:
        assert "not there when labels were drawn" not in text
        return
    seen = sum(1 for piece in found.verdicts if "new" in piece.right) / sum(1 for _ in found.verdicts)
    assert f"{seen:.0%}".replace("%", " %") + " of these pairs were not there when labels were drawn" in text
    assert corrected.high - corrected.low >= new * 0.7
    again = type(found).from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.corrected(metric) == corrected


@pytest.mark.slow
def test_differences_and_whole_samples_are_bounded_too(tmp_path: Path) -> None:
    ledger, metrics = tmp_path / "v.db", "context_precision, P@3"
    calibrate(rows(), person, judge=machine, ledger=ledger, metrics=metrics, n=150, whole=True)
    old, new = (judge(rows(share), metrics, judge=machine, ledger=ledger) for share in (0.0, 0.1))
    right = {share: judge(rows(share), metrics, judge=truth) for share in (0.0, 0.1)}
    for name in ("context_precision", "P@3"):
        corrected = new.corrected(name)
        assert corrected is not None
        assert corrected.low <= right[0.1][name] <= corrected.high
        row = compare_scores({"old": old, "new": new}).row("new", name)
        assert row.corrected_low is not None
        assert row.corrected_high is not None
        assert row.corrected_low <= right[0.1][name] - right[0.0][name] <= row.corrected_high


@pytest.mark.slow
def test_labels_drawn_again_from_all_pairs_speak_of_all(tmp_path: Path) -> None:
    ledger = tmp_path / "v.db"
    calibrate(rows(), person, judge=machine, ledger=ledger, metrics="P@5", n=100)
    judge(rows(0.5), "P@5", judge=machine, ledger=ledger)
    told = calibrate(ledger)  # with the labels that there are
    assert told.left > 0
    assert calibrate(ledger, person, n=200).relations["R"].of > 5 * N
    found = judge(rows(0.5), "P@5", judge=machine, ledger=ledger)
    corrected, real = found.corrected("P@5"), judge(rows(0.5), "P@5", judge=truth)["P@5"]
    assert corrected is not None
    assert corrected.low <= real <= corrected.high
    assert "not there when labels were drawn" not in found.format("full")


@pytest.mark.slow
def test_only_labels_within_the_cut_off_count(tmp_path: Path) -> None:
    ledger = tmp_path / "v.db"
    calibrate(rows(), person, judge=machine, ledger=ledger, metrics="P@2", n=60)
    assert all(int(each.right.split()[-1].rstrip(".")) < 2 for each in Ledger(ledger).entries(human=True))
    found = judge(rows(), "P@2, P@5", judge=machine, ledger=ledger)
    two, five = found.corrected("P@2"), found.corrected("P@5")
    assert two is not None
    assert two.n == 60
    assert five is not None
    assert "60 % of these pairs were not there" in five.method


@pytest.mark.slow
def test_labels_of_an_older_ledger_say_that_their_pairs_are_not_on_record(tmp_path: Path) -> None:
    ledger = tmp_path / "v.db"
    calibrate(rows(), person, judge=machine, ledger=ledger, metrics="P@3", n=60)
    with database(ledger) as connection:
        connection.execute("DROP TABLE frames")
        connection.execute("UPDATE verdicts SET origin = json_remove(origin, '$.frame')")
        connection.execute("PRAGMA user_version = 1")
    corrected = judge(rows(), "P@3", judge=machine, ledger=ledger).corrected("P@3")
    assert corrected is not None
    assert "drawn from pairs that are not on record" in corrected.method
