"""`rankproof diagnose`: a thin skin over `diagnose`."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rankproof import Diagnosis, sample
from tests import shell

pytestmark = pytest.mark.cover

FILES = ("judgments.tsv", "keyword.run")
TEXTS = ("--queries", "queries.jsonl", "--corpus", "documents.jsonl")


def rankproof(*words: str, cwd: Path | None = None) -> CompletedProcess[str]:
    return shell.rankproof(cwd or Path(str(sample.folder())), "diagnose", *words)


@pytest.mark.slow
def test_the_table_is_what_diagnose_prints(whole: Diagnosis) -> None:
    ran = rankproof(*FILES, *TEXTS, "--full")
    assert (ran.returncode, ran.stderr) == (0, "")
    said = " ".join(whole.format("full").split()).replace("missing='skip'", "--missing skip")
    said = said.replace("no_relevant='skip'", "--no-relevant skip")
    assert ran.stdout.split() == said.split()
    assert max(map(len, ran.stdout.splitlines())) <= 80


def test_json_and_markdown_and_a_file(tmp_path: Path) -> None:
    data = json.loads(rankproof(*FILES, "-m", "RR", "-k", "5", "--worst", "3", "-f", "json").stdout)
    assert (data["measure"], data["k"], len(data["worst"])) == ("RR", 5, 3)
    target = tmp_path / "found.md"
    assert rankproof(*FILES, "-f", "markdown", "-o", str(target)).stdout == ""
    assert "## Fix this first" in target.read_text()


def test_kinds_of_ones_own_come_from_a_file(tmp_path: Path) -> None:
    lines = "\n".join(f"{query}\t{kind}" for query, kind in sample.kinds().items())
    (tmp_path / "kinds.tsv").write_text(lines)
    assert "paraphrase" in rankproof(*FILES, "--by", str(tmp_path / "kinds.tsv"), "--full").stdout


def test_accuracy_shows_its_trap_where_only_the_number_of_documents_is_known() -> None:
    ran = rankproof(*FILES, "-m", "Accuracy@10", "--corpus-size", "100000", "--full")
    assert ran.returncode == 0, ran.stderr
    assert "returning nothing at all" in " ".join(ran.stdout.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*FILES, "-f", "tabel"), "Did you mean 'table'?"),
        ((*FILES, "-k", "0"), "k: got 0"),
        ((*FILES, "--corpus", "nowhere.jsonl"), "nowhere.jsonl"),
        (("judgments.tsv", "nowhere.run"), "nowhere.run"),
        ((*FILES, "--missing", "skipp"), "missing: got 'skipp'"),
    ],
)
def test_mistakes_end_with_one_message(words: tuple[str, ...], said: str) -> None:
    ran = rankproof(*words)
    assert ran.returncode in (2, 3)
    assert ran.stdout == ""
    assert said in ran.stderr


def test_a_query_and_documents_without_text_are_notes(tmp_path: Path) -> None:
    (tmp_path / "j.qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "r.run").write_text("q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\n")
    (tmp_path / "q.csv").write_text("id,text\nq1,what is a\nq2,\n")
    (tmp_path / "c.jsonl").write_text('{"_id": "a", "text": "a"}\n{"_id": "b", "text": ""}\n')
    ran = rankproof("j.qrels", "r.run", "--queries", "q.csv", "--corpus", "c.jsonl", "-f", "json", cwd=tmp_path)
    assert ran.returncode == 0
    assert "1 of 2 queries has no text, like 'q2'." in json.loads(ran.stdout)["notes"]
    (note,) = ran.stderr.splitlines()
    assert note.startswith("rankproof: note: 1 of 2 documents have no text"), note
