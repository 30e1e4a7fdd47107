"""What is found in a folder: each kind of file, and what is damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankproof import History, evaluate, judge, sample
from rankproof.errors import UsageError
from rankproof.io.load import load_ranking
from rankproof.io.write import convert
from rankproof.web.folder import FileKind, find_files, named_by_stem
from rankproof.web.workspace import TABLES, Settings, Workspace

from .conftest import fill

pytestmark = pytest.mark.cover


def kinds(folder: Path) -> dict[str, FileKind]:
    return {each.name: each.kind for each in find_files([folder])}


CONTENT = {
    "qrels.txt": ("q1 0 d1 1\nq1 0 d2 0\n", FileKind.JUDGMENTS),
    "a.run": ("q1 Q0 d1 1 0.5 r\nq1 Q0 d2 2 0.25 r\n", FileKind.RUN),
    "beir.tsv": ("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t2\n", FileKind.JUDGMENTS),
    "scores.csv": ("query,doc,score\nq1,d1,0.25\nq1,d2,0.5\n", FileKind.RUN),
    "grades.csv": ("query_id,doc_id,relevance\nq1,d1,1\n", FileKind.JUDGMENTS),
    "judged.json": (json.dumps({"q1": {"d1": 1, "d2": 0}}), FileKind.JUDGMENTS),
    "ranked.json": (json.dumps({"q1": {"d1": 0.25, "d2": 0.5}}), FileKind.RUN),
    "lists.json": (json.dumps({"q1": ["d1", "d2"]}, indent=1), FileKind.RUN),
    "queries.jsonl": ('{"_id": "q1", "text": "why?"}\n', FileKind.QUERIES),
    "documents.jsonl": ('{"_id": "d1", "title": "Why", "text": "So."}\n', FileKind.CORPUS),
    "pool.jsonl": ('{"pool": 1, "order": "depth", "per_query": null, "systems": ["a"]}\n', FileKind.POOL),
    "labels.jsonl": ('{"query": "q", "document": "d", "who": "ana", "what": "graded", "grade": 1, "when": ""}\n', FileKind.LABELS),
    "samples.jsonl": ('{"question": "why?", "contexts": ["So."], "answer": "So."}\n', FileKind.SAMPLES),
    "page.html": ("<html></html>", FileKind.UNKNOWN),
    "empty.run": ("", FileKind.DAMAGED),
    "cut.json": ('{"q1": {"d1"', FileKind.DAMAGED),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTENT)
def test_a_file_is_known_by_what_it_holds(tmp_path: Path, name: str) -> None:
    text, kind = CONTENT[name]
    (tmp_path / name).write_text(text)
    (found,) = find_files([tmp_path])
    assert found.kind is kind
    assert bool(found.problem) == (kind is FileKind.DAMAGED)


def test_databases_of_ours_are_known_and_damaged_ones_named(tmp_path: Path) -> None:
    scores = evaluate(sample.judgments(), sample.rankings()["dense"], "RR")
    History(tmp_path / "history.db").save(scores, "first")
    judge(
        [{"question": "q", "contexts": ["a"]}],
        "context_relevance",
        judge=lambda *_: True,
        ledger=tmp_path / "v.db",
    )
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 500)
    assert kinds(tmp_path) == {
        "history.db": FileKind.HISTORY,
        "v.db": FileKind.LEDGER,
        "broken.db": FileKind.DAMAGED,
    }


def test_what_is_known_and_unchanged_is_not_read_again(tmp_path: Path) -> None:
    before = find_files([fill(tmp_path)])
    again = find_files([tmp_path], before)
    assert all(one is other for one, other in zip(before, again, strict=True))
    (tmp_path / "dense.run").write_text("q1 Q0 d1 1 0.5 r\n")
    changed = [each.name for each in find_files([tmp_path], before) if each not in before]
    assert changed == ["dense.run"]


def test_hidden_files_are_passed_over_and_folders_looked_into(tmp_path: Path) -> None:
    (tmp_path / ".hidden").mkdir()
    fill(tmp_path / ".hidden")
    (tmp_path / "nightly").mkdir()
    fill(tmp_path / "nightly")
    assert "nightly/dense.run" in kinds(tmp_path)
    assert not [name for name in kinds(tmp_path) if "hidden" in name]


def test_a_place_that_is_not_there_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no such file or folder\. Next:"):
        find_files([tmp_path / "nothing"])


def test_names_are_as_short_as_tells_files_apart(tmp_path: Path) -> None:
    for night in ("monday", "tuesday"):
        (tmp_path / night).mkdir()
        (tmp_path / night / "a.run").write_text("q1 Q0 d1 1 0.5 r\n")
    found = find_files([tmp_path])
    assert list(named_by_stem(found)) == ["monday/a.run", "tuesday/a.run"]
    assert list(named_by_stem(found[:1])) == ["a"]


@pytest.mark.slow
def test_the_documents_of_a_query_are_those_of_the_file_whatever_its_format(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    run = fill(tmp_path / "from") / "dense.run"
    whole = load_ranking(run).table()
    for at, ending in enumerate((*("run", "jsonl", "csv", "json", "parquet"), *["run"] * TABLES)):
        convert(run, tmp_path / f"r{at}.{ending}")
    space = Workspace(Settings((str(tmp_path),)))
    space.look_ahead("r1", "r0")
    for name in (f"r{at}" for at in range(5 + TABLES)):
        for query, rows in whole.by_query().items():
            found = space.table(name, query)
            assert list(found.doc) == [whole.doc[row] for row in rows]
            assert found.score is not None
            assert found.score.tolist() == whole.score[rows].tolist()
        assert not len(space.table(name, "another"))
    assert sum(key[0] == "documents" for key in space._results) <= TABLES + 1
    space.close()
