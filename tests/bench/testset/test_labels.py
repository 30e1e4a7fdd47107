"""Labels: kept at once, undone, merged, compared; nothing is lost in a crash or between two people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rankproof.bench.testset.labels import (
    GRADED,
    SKIPPED,
    UNDONE,
    LabelAgreement,
    LabelSession,
    QuestionLabel,
    last_labels,
    merge_labels,
    pairs,
    read_labels,
    write_label,
)
from rankproof.bench.testset.pool import Pool, pool_rankings
from rankproof.cli import run
from rankproof.errors import DataError, UsageError
from rankproof.io.load import load_judgments

POOL = pool_rankings({"keyword": {"q1": ["a", "b"], "q2": ["c"]}, "dense": {"q1": ["b", "d"]}}, 5)


def session(path: Path, who: str = "ana", pool: Pool = POOL) -> LabelSession:
    own = last_labels(read_labels(path)).get(who, {})
    return LabelSession(pool, who, own, lambda label: write_label(path, label))


def given(who: str, **grades: int | None) -> list[QuestionLabel]:
    return [QuestionLabel("q", doc, who, SKIPPED if g is None else GRADED, g) for doc, g in grades.items()]


def test_one_question_is_finished_before_the_next(tmp_path) -> None:
    path = tmp_path / "labels.jsonl"
    seen = []
    while (item := session(path).next()) is not None:
        seen.append(item.query)
        session(path).grade(1)  # a new session each time: all that counts is on the disk
    assert seen == ["q1", "q1", "q1", "q2"]
    assert session(path).done == 4


def test_undo_takes_back_the_last_decision_and_asks_again(tmp_path) -> None:
    made = session(tmp_path / "labels.jsonl")
    first = made.next()
    made.grade(3)
    made.skip()
    made.undo()
    assert made.undo() == first
    assert made.next() == first
    assert made.undo() is None
    assert last_labels(read_labels(tmp_path / "labels.jsonl"))["ana"] == {}


def test_a_budget_ends_each_query(tmp_path) -> None:
    made = session(tmp_path / "l.jsonl", pool=Pool(POOL.systems, POOL.ranks, "bandit", per_query=1))
    made.grade(0)
    assert made.next().query == "q2"  # type: ignore[union-attr]
    made.grade(0)
    assert made.next() is None
    with pytest.raises(UsageError, match="everything in the pool is judged"):
        made.grade(0)


@pytest.mark.parametrize("grade", [-1, 4])
def test_a_grade_beyond_the_scale_is_refused(tmp_path, grade: int) -> None:
    with pytest.raises(UsageError, match="from 0 to 3"):
        session(tmp_path / "l.jsonl").grade(grade)


def test_a_skipped_document_has_no_grade() -> None:
    assert merge_labels(last_labels(given("ana", a=2, b=None))) == {"q": {"a": 2}}


def test_the_last_word_of_a_person_counts() -> None:
    labels = [*given("ana", a=2), *given("ana", a=0), QuestionLabel("q", "b", "ana", UNDONE)]
    assert merge_labels(last_labels(labels)) == {"q": {"a": 0}}


def test_most_people_decide_and_the_lower_grade_where_they_are_as_many() -> None:
    labels = [*given("ana", a=3, b=1), *given("ben", a=3, b=2), *given("eva", a=0)]
    assert merge_labels(last_labels(labels)) == {"q": {"a": 3, "b": 1}}


def test_half_a_line_is_passed_over_and_the_next_one_stands_apart(tmp_path) -> None:
    path = tmp_path / "labels.jsonl"
    write_label(path, QuestionLabel("q", "a", "ana", GRADED, 1))
    whole = path.read_bytes()
    for cut in range(len('{"query": "q"'), len(whole) - 1):
        path.write_bytes(whole + whole[:cut])
        write_label(path, QuestionLabel("q", "b", "ana", GRADED, 2))
        assert [label.document for label in read_labels(path)] == ["a", "b"]


@pytest.mark.parametrize(
    "line", ["q1 0 d1 1", '{"query": "q"}', '{"query": 1, "document": "d", "who": "a", "what": "graded", "grade": 1}',
             '{"query": "q", "document": "d", "who": "a", "what": "graded", "grade": 1.5}',
             '{"query": "q", "document": "d", "who": "a", "what": "liked"}']
)  # fmt: skip
def test_a_line_that_is_no_label_is_said(tmp_path, line: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DataError, match=r"line 1: .*expected a label"):
        list(read_labels(path))


WRITER = """
import sys
from rankproof.bench.testset.labels import GRADED, QuestionLabel, write_label
for n in range(200):
    write_label(sys.argv[1], QuestionLabel("q", f"d{n}", sys.argv[2], GRADED, n % 4))
"""


@pytest.mark.slow
def test_two_people_write_to_one_file_at_once(tmp_path) -> None:
    path = tmp_path / "labels.jsonl"
    people = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), who]) for who in ("ana", "ben")]
    assert [each.wait(60) for each in people] == [0, 0]
    found = last_labels(read_labels(path))
    assert {who: len(own) for who, own in found.items()} == {"ana": 200, "ben": 200}
    (pair,) = pairs(found)
    assert (pair.n, pair.same, pair.kappa, LabelAgreement.of(found).alpha) == (200, 1.0, 1.0, 1.0)


def test_a_label_without_a_time_is_as_late_as_the_line_above_it(tmp_path: Path) -> None:
    lines = [
        {"query": "q", "document": "a", "who": "ana", "what": "graded", "grade": 1, "when": "2026-01-02"},
        {"query": "q", "document": "a", "who": "ana", "what": "graded", "grade": 2},
        {"query": "q", "document": "b", "who": "ana", "what": "graded", "grade": 0, "when": "2026-01-03"},
        {"query": "q", "document": "b", "who": "ana", "what": "graded", "grade": 3, "when": "2026-01-01"},
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert merge_labels(last_labels(read_labels(tmp_path / "labels.jsonl"))) == {"q": {"a": 2, "b": 0}}


def test_kappa_is_of_what_both_graded() -> None:
    """Yes/no labels by hand: 2 x 2 table 20, 5, 10, 15 of 50: kappa .4."""
    counts = {(1, 1): 20, (1, 0): 5, (0, 1): 10, (0, 0): 15}
    votes = [both for both, n in counts.items() for _ in range(n)]
    ana = [QuestionLabel("q", f"d{i}", "ana", GRADED, a) for i, (a, _) in enumerate(votes)]
    ben = [QuestionLabel("q", f"d{i}", "ben", GRADED, b) for i, (_, b) in enumerate(votes)]
    only_ana = [QuestionLabel("q", "other", "ana", GRADED, 1)]
    (pair,) = pairs(last_labels([*ana, *ben, *only_ana]))
    assert pair.n == 50
    assert pair.same == pytest.approx(0.7)
    assert pair.kappa == pytest.approx(0.4)
    assert len(pair.apart) == 15


def test_people_with_nothing_in_common_are_not_compared() -> None:
    found = last_labels([*given("ana", a=1), *given("ben", b=1)])
    assert pairs(found) == []
    assert LabelAgreement.of(found).alpha is None


def test_several_files_of_labels_count_as_one(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path, grade, when in (("new.jsonl", 3, "2026-02-01"), ("old.jsonl", 1, "2026-01-01")):
        write_label(path, QuestionLabel("q", "d", "ana", GRADED, grade, when))
    write_label("old.jsonl", QuestionLabel("q", "e", "ben", GRADED, 2, "2026-01-01"))
    assert run(["label", "--labels", "new.jsonl", "--labels", "old.jsonl", "--qrels", "made.tsv"]) == 0
    assert load_judgments("made.tsv").as_dict() == {"q": {"d": 3, "e": 2}}
    assert run(["label", "--labels", "new.jsonl", "--labels", "gone.jsonl", "--agreement"]) == 2
