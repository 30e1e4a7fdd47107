"""One saved result is read without the others; what is damaged in it is named, and means are checked."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from rankproof import History, evaluate
from rankproof.errors import DataError
from tests.database import database
from tests.shell import rankproof

JUDGED = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}, "q3": {"a": 1}}
RUNS = {
    "good": {q: list(docs) for q, docs in JUDGED.items()},
    "poor": {q: ["x", *docs] for q, docs in JUDGED.items()},
}


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "rankproof.db")
    for name, run in RUNS.items():
        made.save(evaluate(JUDGED, run, "RR, AP"), name, tags={"k": name})
    return made


def change(history: History, statement: str, *values: object) -> None:
    with database(history.path) as connection:
        assert connection.execute(statement, values).rowcount > 0


DAMAGE = {
    "experiments.saved_at": "UPDATE experiments SET saved_at = x'00' WHERE name = 'poor'",
    "experiments.facts": "UPDATE experiments SET facts = '[1' WHERE name = 'poor'",
    "experiments.facts ": "UPDATE experiments SET facts = '[]' WHERE name = 'poor'",
    "experiments.queries": "UPDATE experiments SET queries = 'text' WHERE name = 'poor'",
    "measured.mean": "UPDATE measured SET mean = 'high' WHERE experiment = 2",
    "measured.mean (RR)": "UPDATE measured SET mean = 0.9 WHERE experiment = 2 AND measure = 'RR'",
    "measured.mean (AP)": "UPDATE measured SET mean = -1e300 WHERE experiment = 2 AND measure = 'AP'",
    "measured.measure": "UPDATE measured SET measure = x'01' WHERE experiment = 2 AND place = 0",
    "measured.per_query (RR)": "UPDATE measured SET per_query = 5 WHERE experiment = 2 AND measure = 'RR'",
    "measured.counted (AP)": "UPDATE measured SET counted = x'789c' WHERE experiment = 2 AND measure = 'AP'",
    "measured.note": "UPDATE measured SET note = x'00' WHERE experiment = 2",
    "tags.value": "UPDATE tags SET value = x'00' WHERE experiment = 2",
}


@pytest.mark.parametrize("where", DAMAGE)
def test_damage_is_named_by_its_column_and_concerns_nobody_else(history: History, where: str) -> None:
    change(history, DAMAGE[where])
    with pytest.raises(DataError) as caught:
        history.scores("poor")
    assert where.strip() in str(caught.value)
    assert "History.remove('poor')" in str(caught.value)
    assert history.scores("good")["RR"] == 1.0
    assert history.show("good").tags == {"k": "good"}
    assert history.gate("good", "good", measures="RR", minimum=2).rows
    assert "good" in history
    assert history.last(2) == ["good", "poor"]
    history.remove("poor")
    assert [each.name for each in history.entries()] == ["good"]


def test_an_index_answers_for_one_name(history: History) -> None:
    with database(history.path) as connection:
        for statement in (
            "SELECT id FROM experiments WHERE name = 'good'",
            "SELECT mean FROM measured WHERE experiment = 1",
            "SELECT value FROM tags WHERE experiment = 1",
        ):
            plan = " ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}"))
            assert "SEARCH" in plan
            assert "SCAN" not in plan


@pytest.mark.slow
def test_thousands_are_listed_exported_and_taken_in(history: History, tmp_path: Path) -> None:
    with database(history.path) as connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO experiments "
            "SELECT i, 'run ' || i, (SELECT max(saved_at) FROM experiments), rankproof, python, git_commit, judgments, "
            "ranking, facts, queries FROM n, experiments WHERE name = 'good'"
        )
        connection.execute(
            "INSERT INTO measured SELECT e.id, place, measure, mean, note, per_query, counted "
            "FROM experiments e, measured m WHERE m.experiment = 1 AND e.id > 2"
        )
    assert len(history) == 2000
    assert [each.name for each in history.entries(2)] == ["run 1999", "run 2000"]
    listed = list(filter(None, rankproof(tmp_path, "history").stdout.splitlines()))
    assert "run 2000" in listed[-2]
    assert "older" in listed[-1]
    assert len(listed) <= 23
    assert len(rankproof(tmp_path, "history", "--full").stdout.splitlines()) > 2000
    tracemalloc.start()
    assert history.export_to(tmp_path / "all.json") == history.export_to(tmp_path / "all.json.gz") == 2000
    assert len(History(tmp_path / "new.db").import_from(tmp_path / "all.json.gz")) == 2000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (tmp_path / "all.json").stat().st_size / 2
    text = (tmp_path / "all.json").read_text()
    for broken in (text[:-3], text[: len(text) // 2], text.replace("},\n", "}\n", 1), text + text[9:]):
        (tmp_path / "broken.json").write_text(broken)
        with pytest.raises(DataError, match="nothing was imported"):
            History(tmp_path / "no.db").import_from(tmp_path / "broken.json")
        assert len(History(tmp_path / "no.db")) == 0
    assert gzip.decompress((tmp_path / "all.json.gz").read_bytes()) == (tmp_path / "all.json").read_bytes()
