"""The file itself: versions, two writers, a crash, damage, locks, folders that cannot be written."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from rankproof import History, evaluate
from rankproof.errors import DataError, UsageError

DATA = Path(__file__).parent / "data"
SCORES = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["x", "b"]}, "RR, nDCG@10")
SAVE_MANY = """
import sys
from rankproof import History, evaluate
judged = {f"q{i}": {"a": 1} for i in range(500)}
scores = evaluate(judged, {q: ["x", "a"] for q in judged}, "RR, AP, nDCG@10, P@5")
print("ready", flush=True)
for i in range(int(sys.argv[3])):
    History(sys.argv[1]).save(scores, f"{sys.argv[2]}-{i}")
    print(i, flush=True)
"""

AS_ANOTHER_USER = """
import os, sys, tempfile
from rankproof import History, evaluate
from rankproof.errors import RankproofError
scores = evaluate({"q": ["a"]}, {"q": ["a"]}, "RR")
with tempfile.TemporaryDirectory() as folder:  # loads what is needed while it may be read
    History(folder + "/x.db").save(scores, "x")
    History(folder + "/x.db").scores("x")
if os.geteuid() == 0:  # to whom nothing is forbidden
    os.setuid(65534)
print(History(sys.argv[1]).scores("a")["RR"])
try:
    History(sys.argv[1]).save(scores, "b")
except RankproofError as error:
    print(type(error).__name__, error)
"""


def from_dump(path: Path, dump: str = "version1.sql") -> Path:
    connection = sqlite3.connect(path)
    connection.executescript((DATA / dump).read_text())
    connection.close()
    return path


def tables(path: Path) -> tuple[int, set[str]]:
    connection = sqlite3.connect(path)
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return version, names


def test_a_history_of_version_1_is_read_without_a_change_and_brought_up_to_date_when_written(
    tmp_path: Path,
) -> None:
    path = from_dump(tmp_path / "old.db")
    before = path.read_bytes()
    (entry,) = History(path).entries()
    assert (entry.name, entry.tags, entry.means["RR"]) == ("the first one", {}, 0.75)
    assert History(path).scores("the first one").values("RR") == {"q1": 1.0, "q2": 0.5}
    assert path.read_bytes() == before
    History(path).save(SCORES, "second", tags={"a": "b"})
    assert tables(path) == (2, {"experiments", "measured", "tags"})
    first, second = History(path).entries()
    assert (first, second.tags) == (entry, {"a": "b"})


def test_a_new_history_is_the_same_as_one_that_was_brought_up_to_date(tmp_path: Path) -> None:
    History(tmp_path / "new.db").save(SCORES, "a")
    old = from_dump(tmp_path / "old.db")
    History(old).save(SCORES, "a")
    assert tables(tmp_path / "new.db") == tables(old)


def test_a_history_from_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    History(path).save(SCORES, "a")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    for act in (History(path).entries, lambda: History(path).save(SCORES, "b")):
        with pytest.raises(DataError, match=r"version 99, and this rankproof reads up to version 2.* --upgrade"):
            act()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to have a header" * 40, b"SQLite format 3\0 cut"]
)
def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "results.db"
    path.write_bytes(content)
    for act in (History(path).entries, lambda: History(path).save(SCORES, "b")):
        with pytest.raises(DataError, match="no history, or a damaged one"):
            act()
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE experiments (theirs)")
    connection.close()
    before = path.read_bytes()
    for act in (History(path).entries, lambda: History(path).save(SCORES, "b")):
        with pytest.raises(DataError, match="a database of another kind"):
            act()
    assert path.read_bytes() == before


@pytest.mark.slow
def test_damage_inside_is_noticed_or_did_not_matter(tmp_path: Path) -> None:
    whole, broken, rnd, noticed = tmp_path / "whole.db", tmp_path / "broken.db", random.Random(1), 0
    for i in range(6):
        History(whole).save(SCORES, f"run {i}")
    content = whole.read_bytes()
    expected = [History(whole).scores(f"run {i}").to_dict() for i in range(6)]
    for _ in range(30):
        at = rnd.randrange(100, len(content) - 600)
        broken.write_bytes(content[:at] + rnd.randbytes(500) + content[at + 500 :])
        try:
            found = [History(broken).scores(f"run {i}").to_dict() for i in range(6)]
        except (DataError, UsageError):
            noticed += 1
        else:
            assert found == expected
    assert noticed


def test_values_that_were_changed_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    History(path).save(SCORES, "a")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE measured SET per_query = substr(per_query, 1, length(per_query) - 1) || x'00'")
    connection.commit()
    connection.close()
    with pytest.raises(DataError, match="damaged one"):
        History(path).scores("a")


def test_a_locked_file_is_waited_for_and_then_named(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    History(path).save(SCORES, "a")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    with pytest.raises(DataError, match=r"locked by another program for more than 0.2 seconds; nothing was"):
        History(path, timeout=0.2).save(SCORES, "b")
    assert time.monotonic() - began >= 0.2
    assert [each.name for each in History(path).entries()] == ["a"]
    other.execute("ROLLBACK")
    other.close()
    History(path, timeout=0.2).save(SCORES, "b")


def test_a_failed_save_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    History(path).save(SCORES, "a")
    before = path.read_bytes()
    with pytest.raises(UsageError):
        History(path).save(SCORES, "a")
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["results.db"]


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", SAVE_MANY, str(path), name, str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_two_programs_write_at_once_into_a_file_neither_has_made(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    both = [writer(path, name, 25) for name in ("left", "right")]
    for each in both:
        each.communicate(timeout=120)
        assert each.returncode == 0
    expected = {f"{name}-{i}" for name in ("left", "right") for i in range(25)}
    assert {each.name for each in History(path).entries()} == expected


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_program_killed_while_writing_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    path, rnd = tmp_path / "results.db", random.Random(3)
    finished = set()
    for round_ in range(8):
        process = writer(path, f"round{round_}", 100_000)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if round_ % 2:  # once it has saved something, else at any moment
            finished.add(f"round{round_}-{process.stdout.readline().strip()}")
        time.sleep(rnd.uniform(0.0, 0.2))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        finished |= {f"round{round_}-{line}" for line in out.split("\n")[:-1]}
        if path.exists():
            saved = {each.name for each in History(path).entries()}
            assert finished <= saved
            assert len(saved - finished) <= round_ + 1  # saved, and killed before it could say so
            for name in rnd.sample(sorted(saved), min(3, len(saved))):
                assert History(path).scores(name)["RR"] == 0.5
    assert len(finished) >= 4
    History(path).save(SCORES, "after all that")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="folders are protected otherwise there")
def test_a_folder_that_cannot_be_written_can_still_be_read() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        History(folder / "results.db").save(SCORES, "a")
        folder.chmod(0o555)
        words = [sys.executable, "-c", AS_ANOTHER_USER, str(folder / "results.db")]
        ran = subprocess.run(words, capture_output=True, text=True)
        assert ran.stdout.startswith("0.75\nUsageError"), ran.stdout + ran.stderr
        assert "cannot be written" in ran.stdout
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
