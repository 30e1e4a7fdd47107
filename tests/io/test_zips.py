"""BEIR archives: read as the folder in them is, with what cannot be right refused."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from rankproof import Benchmark, evaluate
from rankproof.errors import DataError, UsageError
from rankproof.io.corpora import load_corpus, load_questions
from rankproof.io.frames import write_parquet
from rankproof.io.judgments import load_labelled
from rankproof.io.load import load_judgments, load_ranking
from rankproof.io.write import convert
from tests.shell import rankproof

FILES = {
    "corpus.jsonl": '{"_id": "d1", "title": "Refunds", "text": "Within 30 days."}\n{"_id": "d2", "text": "Else"}\n',
    "queries.jsonl": '{"_id": "q1", "text": "Can I get a refund?"}\n{"_id": "q2", "text": "And else?"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    "qrels/dev.tsv": "query-id\tcorpus-id\tscore\nq2\td2\t2\n",
}


def packed(path: Path, files: dict[str, str], within: str = "", method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(within + name, content)
    return path


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize("within", ["", "scifact/", "deep/er/"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_an_archive_is_read_as_its_folder(within: str, method: int, tmp_path: Path) -> None:
    path = packed(tmp_path / "scifact.zip", FILES, within, method)
    judgments = load_judgments(path)
    assert judgments.as_dict() == {"q1": {"d1": 1.0}}
    assert load_judgments(f"{path}#dev").as_dict() == {"q2": {"d2": 2.0}}
    note = judgments.notes[-1]
    assert "qrels/test.tsv" in note
    assert "dev" in note
    assert load_questions(path) == {"q1": "Can I get a refund?", "q2": "And else?"}
    assert load_corpus(path)["d1"].title == "Refunds"
    assert load_labelled(f"{path}#dev").judgments.as_dict() == {"q2": {"d2": 2.0}}
    assert "q1" in Benchmark.load(path).run("own", lambda text: ["d1"]).ranking
    assert evaluate(path, {"q1": ["d2", "d1"]}, "RR")["RR"] == 0.5


def test_a_table_of_parquet_in_an_archive_is_read(tmp_path: Path) -> None:
    table = io.BytesIO()
    write_parquet({"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [0.5, 0.25]}, table)
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as packed:
        packed.writestr("runs/bm25.parquet", table.getvalue())
    assert list(load_ranking(tmp_path / "runs.zip" / "runs" / "bm25.parquet").table().doc) == ["d1", "d2"]


def test_names_that_a_mac_or_a_folder_entry_adds_are_passed_over(tmp_path: Path) -> None:
    path = packed(tmp_path / "x.zip", {"x/": "", **{f"x/{name}": each for name, each in FILES.items()}})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/x/._corpus.jsonl", b"\0\1")
        archive.writestr("x/../../qrels/evil.tsv", "q\td\t1\n")
    assert load_judgments(path).as_dict() == {"q1": {"d1": 1.0}}
    assert len(load_corpus(path)) == 2


def test_splits_are_named_where_one_must_be_chosen(tmp_path: Path) -> None:
    both = {"qrels/dev.tsv": FILES["qrels/dev.tsv"], "qrels/train.tsv": FILES["qrels/test.tsv"]}
    path = packed(tmp_path / "x.zip", both)
    with pytest.raises(UsageError, match="several splits, 'dev', 'train'"):
        load_judgments(path)
    with pytest.raises(UsageError, match="no split 'tset', only 'dev', 'train'"):
        load_judgments(f"{path}#tset")
    with pytest.raises(DataError, match="a BEIR archive, expected a ranking"):
        load_ranking(path)
    with pytest.raises(DataError, match=r"without queries\.jsonl"):
        load_questions(path)


def test_archives_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    whole = packed(tmp_path / "x.zip", FILES).read_bytes()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"the archive is damaged .*Next:"):
        load_judgments(cut)
    stored = packed(tmp_path / "s.zip", FILES, method=zipfile.ZIP_STORED)
    stored.write_bytes(stored.read_bytes().replace(b"q1\td1\t1", b"q1\td1\t7"))
    with pytest.raises(DataError, match=r"the archive is damaged .*CRC"):
        load_judgments(stored)
    locked = bytearray(whole)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        at = archive.getinfo("qrels/test.tsv").header_offset
    central = whole.find(b"PK\x01\x02")
    while central >= 0:
        locked[central + 8] |= 1
        central = whole.find(b"PK\x01\x02", central + 1)
    locked[at + 6] |= 1
    cut.write_bytes(locked)
    with pytest.raises(DataError, match=r"cannot be unpacked .*password"):
        load_judgments(cut)
    other = packed(tmp_path / "o.zip", {"readme.txt": "hello"})
    with pytest.raises(DataError, match="a ZIP archive or an Excel file"):
        load_judgments(other)


@pytest.mark.slow
def test_an_archive_that_unpacks_beyond_measure_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("qrels/test.tsv", "w") as out,
    ):
        out.write(b"query-id\tcorpus-id\tscore\n")
        for _ in range(70):
            out.write(b"q1\td1\t1\n" * (1 << 17))
    assert path.stat().st_size < 500_000
    with pytest.raises(DataError, match="unpacks to more than 200 times its size"):
        load_judgments(path)


def test_the_shell_takes_an_archive(tmp_path: Path) -> None:
    path = packed(tmp_path / "scifact.zip", FILES, "scifact/")
    (tmp_path / "run.txt").write_text("q1 Q0 d1 1 2.0 t\n")
    done = rankproof(tmp_path, "evaluate", "scifact.zip", "run.txt", "-m", "RR")
    assert done.returncode == 0
    assert "1.0000" in done.stdout
    convert(path, tmp_path / "judged.trec")
    assert (tmp_path / "judged.trec").read_text().split() == ["q1", "0", "d1", "1"]
