"""What is found in a folder: each kind of file, and what is damaged."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rankproof import History, evaluate, judge, leaderboard, sample
from rankproof.errors import UsageError
from rankproof.io.load import load_ranking
from rankproof.io.write import convert
from rankproof.web import TABLES, Settings, Workspace, compare_pages
from rankproof.web.compare_pages import board, board_part
from rankproof.web.folder import COMPANIONS, FileKind, find_files, named_by_stem
from rankproof.web.grading import save_grade
from rankproof.web.pages import parts
from rankproof.web.site import Site

from .conftest import fill

pytestmark = pytest.mark.cover


def kinds(folder: Path) -> dict[str, FileKind]:
    return {each.name: each.kind for each in find_files([folder])}


AS_ANOTHER_USER = """
import os, sys
from rankproof.cli import run
from rankproof.web.folder import find_files
folder = sys.argv[1]
find_files([folder])  # loads what is needed while it may be read
run(["gate", folder + "/ranked", folder + "/a.run", folder + "/a.run"])
if os.geteuid() == 0:  # to whom nothing is forbidden
    os.setuid(65534)
for each in find_files([folder]):
    print(each.name, each.kind.name, each.problem)
os.chdir("/")
print(run(["gate", folder + "/q.tsv", folder + "/shut", folder + "/a.run"]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="files are protected otherwise there")
def test_what_may_only_be_read_is_known_and_what_may_not_is_said() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "q.tsv").write_text("q1\t0\td1\t1\n")
        (folder / "a.run").write_text("q1 Q0 d1 1 0.5 r\n")
        (folder / "secret.run").write_text("q1 Q0 d1 1 0.5 r\n")
        (folder / "shut").mkdir()
        (folder / "shut" / "b.run").write_text("q1 Q0 d1 1 0.5 r\n")
        History(folder / "results.db").save(evaluate({"q": ["a"]}, {"q": ["a"]}, "RR"), "a")
        judge([{"question": "Why?", "contexts": ["So."]}], "context_relevance", ledger=folder / "verdicts.db")
        for name, rights in (("secret.run", 0), ("shut", 0), ("", 0o555)):
            (folder / name).chmod(rights)
        ran = subprocess.run([sys.executable, "-c", AS_ANOTHER_USER, str(folder)], capture_output=True, text=True)
        assert "results.db HISTORY \n" in ran.stdout, ran.stdout + ran.stderr
        assert "verdicts.db LEDGER \n" in ran.stdout
        assert "secret.run DAMAGED cannot be read: Permission denied. Next: check its rights." in ran.stdout
        assert ran.stdout.endswith("\n3\n"), ran.stdout  # 1 would be the verdict that it is worse
        assert "shut: Permission denied. Next: check" in ran.stderr
    finally:
        for name in ("", "shut"):
            (folder / name).chmod(0o755)
        shutil.rmtree(folder)


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
    "golden.json": (json.dumps([{"id": 1, "question": "why?", "expected_docs": ["d1"]}], indent=1), FileKind.JUDGMENTS),
    "line.json": (json.dumps([{"question": "why?", "gold_ids": ["d1"]}]), FileKind.JUDGMENTS),
    "relevant.jsonl": ('{"question": "why?", "relevant": ["d1", "d2"]}\n', FileKind.JUDGMENTS),
    "expected.csv": ("id,question,expected_docs\n1,why?,d1\n", FileKind.JUDGMENTS),
    "answers_2026.csv": ("question,doc\nwhy?,d1\n", FileKind.JUDGMENTS),
    "qrels.lists.json": (json.dumps({"q1": ["d1", "d2"]}), FileKind.JUDGMENTS),
    "found.jsonl": ('{"query_id": "q1", "retrieved": ["d1", "d2"]}\n', FileKind.RUN),
    "pairs.csv": ("question,doc\nwhy?,d1\n", FileKind.UNCLEAR),
    "two.json": (json.dumps([{"id": 1, "question": "why?", "relevant_doc_ids": ["d1"], "ground_truth": "So."}]), FileKind.UNCLEAR),
    "single.json": (json.dumps({"q1": ["d1"], "q2": ["d2"]}), FileKind.UNCLEAR),
    "ragas.csv": ("question,answer,contexts,ground_truth\nwhy?,So.,[],So.\n", FileKind.SAMPLES),
    "log.csv": ("when,who,query,results,clicked,ms\n2026-10-01,u0,why?,d1|d2,,54\n", FileKind.LOG),
    "events.jsonl": ('{"timestamp": 1, "user": "u0", "query": "why?", "results": ["d1"], "clicks": []}\n', FileKind.LOG),
    "empty.run": ("", FileKind.DAMAGED),
    "cut.json": ('{"q1": {"d1"', FileKind.DAMAGED),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTENT)
def test_a_file_is_known_by_what_it_holds(tmp_path: Path, name: str) -> None:
    text, kind = CONTENT[name]
    (tmp_path / name).write_text(text)
    (found,) = find_files([tmp_path])
    assert found.kind is kind
    assert bool(found.problem) == (kind in (FileKind.DAMAGED, FileKind.UNCLEAR))
    if kind is FileKind.UNCLEAR:
        assert "Next: say which: rankproof convert" in found.problem


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


def test_what_sqlite_and_python_keep_is_passed_over(tmp_path: Path) -> None:
    scores = evaluate(sample.judgments(), sample.rankings()["dense"], "RR")
    History(tmp_path / "history.db").save(scores, "first")
    for end in COMPANIONS:
        (tmp_path / f"history.db{end}").write_bytes(b"" if end == "-wal" else bytes(100))
    (tmp_path / "__pycache__").mkdir()
    for name in ("__pycache__/a.pyc", "a.pyc", ".hidden.db"):
        (tmp_path / name).write_bytes(bytes(100))
    (tmp_path / "a-wal").write_text("q1 Q0 d1 1 0.5 r\n")
    assert kinds(tmp_path) == {
        "history.db": FileKind.HISTORY,
        "a.pyc": FileKind.UNKNOWN,
        "a-wal": FileKind.RUN,
    }


TEXTS = {
    "docs.jsonl": [{"id": f"d{n}", "text": f"How to do {n}."} for n in range(9)],
    "more.jsonl": [{"id": f"x{n}", "title": "An old question", "text": "how?"} for n in range(9)],
    "queries.jsonl": [{"id": f"q{n}", "text": f"how do I {n}?"} for n in range(3)],
    "zzz.jsonl": [{"id": f"q{n}", "text": f"how do I {n}?"} for n in range(2)],
}


@pytest.mark.parametrize("judged", ["q0 0 d1 1\nq1 0 d2 1\nq2 0 d2 1\n", "q0 0 y 1\nq1 0 y 1\nq2 0 y 1\n", ""])
def test_texts_are_those_of_the_ids_that_are_used(tmp_path: Path, judged: str) -> None:
    for name, rows in TEXTS.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "a.run").write_text("".join(f"q{n} Q0 d{n} 1 0.5 r\n" for n in range(3)))
    if judged:
        (tmp_path / "judgments.qrels").write_text(judged)
    space = Workspace(Settings((str(tmp_path),)))
    assert space.questions == {row["id"]: row["text"] for row in TEXTS["queries.jsonl"]}
    assert list(space.corpus) == [f"d{n}" for n in range(9)]
    space.close()


def test_judgments_are_those_of_the_queries_that_are_ranked(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 0.5 r\nq2 Q0 d1 1 0.5 r\n")
    (tmp_path / "bad.qrels").write_text("q1 0 d1 1\nq1 0 d1 2\n")
    (tmp_path / "gold.json").write_text(json.dumps([{"question": "why?", "expected_docs": ["d1"]}]))
    (tmp_path / "judgments.qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    space = Workspace(Settings((str(tmp_path),)))
    assert space.judgments_file is not None
    assert space.judgments_file.name == "judgments.qrels"
    space.close()


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
    for name in ("r1", "r0"):
        space.documents(name)
    for name in (f"r{at}" for at in range(5 + TABLES)):
        for query, rows in whole.by_query().items():
            found = space.table(name, query)
            assert list(found.doc) == [whole.doc[row] for row in rows]
            assert found.score is not None
            assert found.score.tolist() == whole.score[rows].tolist()
        assert not len(space.table(name, "another"))
    assert sum(key[0] == "documents" for key in space._results) <= TABLES + 1
    space.close()


def test_results_of_earlier_grades_and_files_are_not_kept(folder: Path) -> None:
    """Else a day of grading takes gigabytes."""
    space = Workspace(Settings((str(folder),)))
    site, kept = Site(space, who="Ada", csrf="x"), []
    for grade in "3210":
        save_grade(site, {"query": "q02", "document": "errors-fh503-01", "grade": grade})
        (folder / "dense.run").write_text((folder / "dense.run").read_text() + "\n")
        space.refresh()
        parts(site, "gate", {"a": "keyword", "b": "dense", "given": "yes"})
        kept.append(len(space._results))
    assert kept == kept[:1] * 4
    space.close()


def test_a_leaderboard_follows_its_judgments_and_what_is_allowed(tmp_path: Path) -> None:
    judged = {f"q{i}": {"a": 1, "b": 0} for i in range(1, 30)}
    runs = {name: dict.fromkeys(judged, order) for name, order in (("good", ["a", "b"]), ("poor", ["b", "a"]))}
    wrong: dict[str, dict[str, int]] = {**judged, "q1": {"a; b": 1}}
    files = {name: tmp_path / f"{name}.json" for name in ("judgments", *runs)}
    for name, run in runs.items():
        files[name].write_text(json.dumps(run))
    for allowed in ({}, {"allow_errors": True}):
        files["judgments"].write_text(json.dumps(judged))
        space = Workspace(Settings((str(tmp_path),), allowances=allowed, measures="RR"))
        for each in (judged, wrong):
            files["judgments"].write_text(json.dumps(each))
            space.refresh()
            expected = leaderboard(each, runs, "RR", **allowed)
            assert board_part(Site(space), {})[0].result().to_dict() == expected.to_dict()
        space.close()


def test_groups_may_be_a_column_of_the_judgments(tmp_path: Path) -> None:
    """As the help of the option says it."""
    (tmp_path / "judgments.csv").write_text("query_id,doc_id,grade,kind\nq1,a,1,x\nq1,b,0,x\nq2,a,1,y\n")
    (tmp_path / "a.run").write_text("q1 Q0 a 1 1 r\n")
    space = Workspace(Settings((str(tmp_path),), by="kind"))
    assert (space.groups, sorted(space.scores("a").groups)) == ({"q1": "x", "q2": "y"}, ["x", "y"])
    with pytest.raises(UsageError, match="no query has a 'topic'"):
        Workspace(Settings((str(tmp_path),), by="topic"))
    space.close()


def test_a_leaderboard_of_some_rankings_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = Workspace(Settings((str(folder),)))
    assert "by name." not in str(board(Site(space), {}).sections)
    monkeypatch.setattr(compare_pages, "MOST", 2)
    assert "The first 2 of 3 rankings, by name." in str(board(Site(space), {}).sections)
    space.close()
