"""The ledger: pairs asked once, replayed without a judge, overridden by people, safe under writers and a crash."""

from __future__ import annotations

import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rankproof import Verdicts, judge
from rankproof.errors import DataError, UsageError
from rankproof.judging.verdicts import Relation
from rankproof.store.ledger import LEDGER, Ledger, LedgerEntry
from tests.database import database

pytestmark = pytest.mark.cover

QUESTION = "Why?"


class Counting:
    """A judge that says yes, and remembers what it was asked."""

    def __init__(self, version: str = "1") -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.version = version
        self.__name__ = "counting"

    def __call__(self, relation: str, left: str, right: str) -> bool:
        self.asked.append((relation, left, right))
        return True


def rows(*texts: str) -> list[dict[str, Any]]:
    return [{"question": QUESTION, "contexts": list(texts), "answer": "It is so."}]


def test_only_new_pairs_are_asked(tmp_path: Path) -> None:
    path, said = tmp_path / "l.db", Counting()
    judge(rows("a.", "b.", "c."), "context_precision", judge=said, ledger=path)
    assert len(said.asked) == 3
    judge(rows("c.", "b.", "a."), "context_precision@2", judge=said, ledger=path)  # another order, another k
    assert len(said.asked) == 3
    judge(rows("a.", "d.", "c."), "context_precision", judge=said, ledger=path)  # one chunk swapped
    assert said.asked[3:] == [("R", QUESTION, "d.")]


def test_another_judge_never_gets_the_verdicts_of_this_one(tmp_path: Path) -> None:
    path, first, second = tmp_path / "l.db", Counting("1"), Counting("2")
    judge(rows("a."), "context_precision", judge=first, ledger=path)
    judge(rows("a."), "context_precision", judge=second, ledger=path)
    assert len(second.asked) == 1
    assert [each["identity"].get("version") for each in Verdicts(path).judges()] == ["1", "2"]


def test_a_function_that_was_changed_is_another_judge(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    yes = [lambda relation, left, right: True, lambda relation, left, right: right == "b."]
    values = [judge(rows("a.", "b."), "P(rel=2)@2", judge=each, ledger=path)["P(rel=2)@2"] for each in yes]
    assert values == [1.0, 0.5]
    assert len({str(each["identity"]) for each in Verdicts(path).judges()}) == 2


def test_replay_needs_no_judge_and_leaves_what_is_missing_open(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    live = judge(rows("a.", "b."), "context_precision, faithfulness", judge=Counting(), ledger=path)
    again = judge(rows("a.", "b."), "context_precision, faithfulness", judge="replay", ledger=path)
    assert str(again) == str(live)
    assert again.fingerprint == live.fingerprint
    more = judge(rows("new.", "a."), "context_precision", judge="replay", ledger=path)
    assert math.isnan(more["context_precision"])
    assert more.unmeasured["context_precision"] == {"not settled: not in the ledger": 1}


def test_replay_of_several_runs_must_be_named(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    for name in ("one", "two"):
        said = Counting()
        said.__name__ = name
        judge(rows("a."), "context_precision", judge=said, ledger=path)
    with pytest.raises(UsageError, match="holds 2 runs, 'replay:function:one', 'replay:function:two'"):
        judge(rows("a."), "context_precision", judge="replay", ledger=path)
    assert judge(rows("a."), "context_precision", judge="replay:function:two", ledger=path)["context_precision"] == 1
    with pytest.raises(UsageError, match="no verdicts of 'three'"):
        judge(rows("a."), "context_precision", judge="replay:three", ledger=path)


def test_a_person_overrides_every_machine(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    judge(rows("a."), "context_precision", judge=Counting(), ledger=path)
    verdicts = Verdicts(path)
    (entry,) = verdicts.where(relation=Relation.CONTEXT_ANSWERS)
    assert verdicts.override(entry.id[:6], 0, by="ana").judge == "human:ana"
    for who in (Counting(), Counting("other"), "replay:function:counting"):
        scores = judge(rows("a."), "context_precision", judge=who, ledger=path)
        assert scores["context_precision"] == 0
        assert scores.by == {"human:ana": 1}
    verdicts.override(entry.id, 3, by="bob")  # the latest person counts
    assert judge(rows("a."), "context_precision", judge=Counting(), ledger=path)["context_precision"] == 1
    people = [each for each in verdicts if each.judge.startswith("human:")]
    assert {each.judge for each in people} == {"human:ana", "human:bob"}
    assert all(each.at.startswith("20") for each in people)


@pytest.mark.parametrize(
    ("pair", "value", "by", "said"),
    [
        ("zzzz", 1, "ana", "no pair whose id begins with 'zzzz'"),
        ("", 1, "ana", "no pair"),
        ("ok", 9, "ana", "got 9, expected one of 0, 1, 2, 3 for the relation 'context answers'"),
        ("ok", 1, " ", "got no name"),
    ],
)
def test_what_cannot_be_overridden(tmp_path: Path, pair: str, value: int, by: str, said: str) -> None:
    path = tmp_path / "l.db"
    judge(rows("a."), "context_precision", judge=Counting(), ledger=path)
    (entry,) = Verdicts(path)
    with pytest.raises(UsageError, match=said):
        Verdicts(path).override(entry.id if pair == "ok" else pair, value, by=by)


def test_entries_are_found_by_all_that_is_given(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    judge(rows("a.", "Other b."), "context_precision, faithfulness", judge=Counting(), ledger=path)
    verdicts = Verdicts(path)
    every = list(verdicts)
    for name in ("judge", "relation", "value"):
        kinds = {getattr(each, name) for each in every}
        parts = [list(verdicts.where(**{name: kind})) for kind in kinds]
        assert sum(map(len, parts)) == len(every)
        assert all(getattr(each, name) == kind for kind, part in zip(kinds, parts, strict=True) for each in part)
    assert 0 < len(list(verdicts.where(contains="OTHER"))) < len(every)
    assert [len(list(verdicts.where(unmeasured=each))) for each in (True, False)] == [0, len(every)]
    for wrong in ({"contains": 1}, {"judge": ["a"]}, {"relation": b"a"}, {"value": "x"}):
        with pytest.raises(UsageError, match="Next: "):
            verdicts.where(**wrong)


def test_out_to_lines_and_back(tmp_path: Path) -> None:
    path, lines, copy = tmp_path / "l.db", tmp_path / "l.jsonl", tmp_path / "copy.db"
    judge(rows("a.", "b ü\n"), "context_precision, faithfulness", judge=Counting(), ledger=path)
    (one, *_) = Verdicts(path).where(relation=Relation.CONTEXT_ANSWERS)
    Verdicts(path).override(one.id, 0, by="ana")
    assert Verdicts(path).export_to(lines) == Verdicts(copy).import_from(lines) == len(list(Verdicts(path)))
    assert set(map(repr, Verdicts(copy))) == set(map(repr, Verdicts(path)))
    again = judge(rows("a.", "b ü\n"), "context_precision", judge="replay:function:counting", ledger=copy)
    assert again.by == {"human:ana": 1, "function:counting": 1}


def test_texts_of_any_characters_are_kept(tmp_path: Path) -> None:
    """Half a character, as JSON may hold it, and the sign that ends texts in C."""
    path, lines, copy = tmp_path / "l.db", tmp_path / "l.jsonl", tmp_path / "copy.db"
    texts = ("half \ud83d of it.", "nul \x00 in it.", "\U0001f642 whole.", "\u2028line.")
    first = judge(rows(*texts), "context_precision", judge=Counting(), ledger=path)
    again = judge(rows(*texts), "context_precision", judge="replay", ledger=path)
    assert dict(again) == dict(first) == {"context_precision": 1.0}
    assert {each.right for each in Verdicts(path)} == set(texts)
    assert Verdicts(path).export_to(lines) == Verdicts(copy).import_from(lines) == 4
    assert {each.right for each in Verdicts(copy)} == set(texts)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: not valid JSON"),
        ("[1]", "line 2: got '\\[1\\]', expected relation, left, right, judge"),
        ('{"relation": "R", "left": "a", "right": "b", "judge": "j", "value": 7}', "line 2: got 7"),
        (
            '{"relation": "X", "left": "a", "right": "b", "judge": "j", "value": 1}',
            "line 2: got relation 'X'",
        ),
        ('{"relation": "R", "left": 1, "right": "b", "judge": "j", "value": 1}', "line 2: got 1 as 'left'"),
        ('{"relation": "R", "left": "a", "right": "b", "judge": "j", "value": 1, "x": 1}', "unknown fields"),
        (
            '{"relation": "R", "left": "a", "right": "b", "judge": "j", "value": 1, "quote": "no"}',
            "the quote",
        ),
    ],
)
def test_a_broken_line_takes_in_nothing(tmp_path: Path, line: str, said: str) -> None:
    source, target = tmp_path / "l.jsonl", tmp_path / "l.db"
    source.write_text('{"relation": "Q", "left": "a", "right": "b", "judge": "j", "value": 1}\n' + line + "\n")
    with pytest.raises(DataError, match=said):
        Verdicts(target).import_from(source)
    assert not target.exists()


def test_a_value_that_was_tampered_with_is_unmeasured(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    judge(rows("a."), "context_precision", judge=Counting(), ledger=path)
    with database(path) as connection:
        connection.execute("UPDATE verdicts SET value = 7")
    scores = judge(rows("a."), "context_precision", judge="replay", ledger=path)
    assert math.isnan(scores["context_precision"])
    assert "got 7, expected one of 0, 1, 2, 3" in str(scores.unmeasured)


def test_silence_never_replaces_a_verdict_and_is_asked_again(tmp_path: Path) -> None:
    ledger, judge_ = Ledger(tmp_path / "l.db"), {"kind": "test", "name": "t"}
    ledger.keep(judge_, "t", [LedgerEntry("Q", "a", "b", "t", value=1)])
    ledger.keep(judge_, "t", [LedgerEntry("Q", "a", "b", "t", reason="timeout")])
    assert ledger.find([("Q", "a", "b")], judge_)["Q", "a", "b"].value == 1
    silent = {"n": 0}

    def flaky(relation: str, left: str, right: str) -> bool | None:
        silent["n"] += 1
        return None if silent["n"] == 1 else True

    path = tmp_path / "other.db"
    assert math.isnan(judge(rows("a."), "context_precision", judge=flaky, ledger=path)["context_precision"])
    assert judge(rows("a."), "context_precision", judge=flaky, ledger=path)["context_precision"] == 1


# --- files -------------------------------------------------------------------------------------------


def test_files_that_are_no_ledger_are_left_alone(tmp_path: Path) -> None:
    text, other, newer = tmp_path / "text", tmp_path / "other.db", tmp_path / "newer.db"
    text.write_text("no database at all, just words")
    with database(other) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    Ledger(newer).keep({"kind": "t"}, "t", [LedgerEntry("Q", "a", "b", "t", value=1)])
    with database(newer) as connection:
        connection.execute(f"PRAGMA user_version = {LEDGER.newest + 1}")
    for path, said in ((text, "damaged"), (other, "another kind"), (newer, "upgrade rankproof")):
        before = path.read_bytes()
        with pytest.raises(DataError, match=said) as raised:
            judge(rows("a."), "context_precision", judge=Counting(), ledger=path)
        assert "ledger=" in str(raised.value) or path == newer
        assert path.read_bytes() == before


def test_a_history_is_no_ledger(tmp_path: Path) -> None:
    from rankproof import History

    path = tmp_path / "rankproof.db"
    History(path).save(judge(rows("a."), "context_precision", judge=Counting()), "x")
    with pytest.raises(DataError, match="expected a ledger of verdicts"):
        Verdicts(path).judges()


def test_a_locked_ledger_says_so(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.db", timeout=0.1)
    ledger.keep({"kind": "t"}, "t", [LedgerEntry("Q", "a", "b", "t", value=1)])
    holder = sqlite3.connect(ledger.path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(DataError, match="locked by another program"):
            ledger.keep({"kind": "t"}, "t", [LedgerEntry("Q", "a", "c", "t", value=1)])
    finally:
        holder.close()


def test_looking_up_in_a_ledger_that_is_not_there_makes_none(tmp_path: Path) -> None:
    assert Ledger(tmp_path / "none.db").find([("Q", "a", "b")], {"kind": "t"}) == {}
    with pytest.raises(UsageError, match="there is no ledger of verdicts"):
        judge(rows("a."), "context_precision", judge="replay", ledger=tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


# --- processes ---------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from rankproof.store.ledger import LedgerEntry, Ledger
ledger, who = Ledger(Path(sys.argv[1]), timeout=60), sys.argv[2]
for turn in range(int(sys.argv[3])):
    entries = [LedgerEntry("S", f"{who} {turn}", f"text {i}", who, value=1) for i in range(20)]
    ledger.keep({"kind": "test", "name": who}, who, entries)
    print(turn, flush=True)
"""


def writer(path: Path, who: str, turns: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), who, str(turns)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_several_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    running = [writer(path, f"w{i}", 15) for i in range(3)]
    for each in running:
        out, _ = each.communicate(timeout=120)
        assert each.returncode == 0
        assert len(out.split()) == 15
    assert [each["verdicts"] for each in Verdicts(path).judges()] == [300, 300, 300]


def test_what_was_kept_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    running = writer(path, "w", 10_000)
    assert running.stdout is not None
    kept = [running.stdout.readline() for _ in range(5)]
    time.sleep(0.02)
    os.kill(running.pid, signal.SIGKILL)
    rest = running.stdout.read().split()
    running.wait()
    running.stdout.close()
    turns = len(kept) + len(rest)
    (who,) = Verdicts(path).judges()
    assert who["verdicts"] % 20 == 0  # a turn is there whole or not at all
    assert turns * 20 <= who["verdicts"] <= (turns + 1) * 20
    with database(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path, many = tmp_path / "l.db", [{"question": f"q{i}", "contexts": ["a."]} for i in range(1200)]
    seen: list[str] = []

    def until(relation: str, left: str, right: str) -> bool:
        if len(seen) == 700:
            raise KeyboardInterrupt
        seen.append(left)
        return True

    until.version = "1"  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        judge(many, "context_precision", judge=until, ledger=path)
    kept = sum(each["verdicts"] for each in Verdicts(path).judges())
    assert kept >= 500  # at least what was done when the batch of the interruption began
    after: list[str] = []

    def resumed(relation: str, left: str, right: str) -> bool:
        after.append(left)
        return True

    resumed.__name__, resumed.version = "until", "1"  # type: ignore[attr-defined]
    scores = judge(many, "context_precision", judge=resumed, ledger=path)
    assert scores["context_precision"] == 1.0
    assert len(after) == 1200 - kept


def test_no_secret_gets_into_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    path = tmp_path / "l.db"
    judge(rows("a."), "context_precision", judge=Counting(), ledger=path)
    assert all(b"sk-very-secret" not in file.read_bytes() for file in tmp_path.iterdir())


def test_a_ledger_of_letters_is_read_by_relations(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "v.db")
    person = {"kind": "human", "name": "ana"}
    ledger.keep(person, "human:ana", [LedgerEntry("R", "q", "t", "human:ana", value=3)])
    scores = judge([{"id": "s1", "query": "q", "contexts": ["t"]}], "P@1", judge="replay", ledger=tmp_path / "v.db")
    assert scores["P@1"] == 1.0
    (piece,) = scores.verdicts.of("s1")
    assert piece.relation is Relation.CONTEXT_ANSWERS
    assert json.loads(json.dumps({piece.relation: piece.relation})) == {"R": "R"}
    with pytest.raises(UsageError, match="relation: got 'Z', expected one of 'R', 'S'"):
        Relation("Z")


def test_contradictions_are_listed_by_their_value(tmp_path: Path) -> None:
    """Which is below 0, as the help of the command shows it."""
    ledger = tmp_path / "l.db"
    rows = [{"question": "How long?", "contexts": ["It takes 30 days."], "answer": "It takes 14 days."}]
    judge(rows, "faithfulness", judge=lambda relation, left, right: -1, ledger=ledger)
    assert [each.value for each in Verdicts(ledger).where(relation=Relation.TEXT_SUPPORTS, value=-1)] == [-1]


def test_an_override_is_not_taken_for_a_label_that_was_drawn(tmp_path: Path) -> None:
    from rankproof import calibrate

    ledger = tmp_path / "l.db"
    judge(rows("a.", "Other b."), "context_precision, faithfulness", judge=Counting(), ledger=ledger)
    for entry in list(Verdicts(ledger).where(relation=Relation.CONTEXT_ANSWERS)):
        Verdicts(ledger).override(entry.id, 1, by="ana")
    asked: list[Any] = []
    found = calibrate(ledger, label=lambda pair: asked.append(pair), who="ana", n=100)
    assert found.drawn == len(asked) > 0
