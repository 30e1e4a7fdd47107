"""What a query and what a document cost in memory, in a process of its own."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankproof import evaluate
from rankproof.core import hits
from rankproof.core.conventions import Conventions
from rankproof.core.join import Census
from rankproof.errors import DataError
from rankproof.io import trec
from rankproof.io.mappings import judgments_from_mapping
from rankproof.io.trec import TrecRankings, chunks, index, read_qrels
from rankproof.io.trec.scan import Scan
from tests.memory import MOST_HELD, needs_kernel_count

READ = f"""{MOST_HELD}
import sys
from rankproof import evaluate
evaluate(*sys.argv[1:], "RR")["RR"]
print(most_held())
"""


def peak(folder: Path, judged: list[str], ranked: list[str]) -> int:
    (folder / "judged").write_text("".join(judged))
    (folder / "ranked").write_text("".join(ranked))
    words = [sys.executable, "-c", READ, str(folder / "judged"), str(folder / "ranked")]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def many_queries(folder: Path, count: int) -> int:
    names = range(count)
    return peak(folder, [f"q{i} 0 d{i} 1\n" for i in names], [f"q{i} Q0 d{i} 1 1.5 t\n" for i in names])


def many_judgments(folder: Path, count: int) -> int:
    """Queries with five judgments each, of which three are found, in Parquet files."""
    (folder / "ranked").mkdir(exist_ok=True)
    query = np.repeat(np.arange(count), 5)
    doc = np.arange(5 * count)
    for name, first in (("judged.parquet", 0), ("ranked/part.parquet", 2)):
        table = {
            "query_id": pa.array(np.char.add("q", query.astype(str))),
            "doc_id": pa.array(np.char.add("d", (doc + first).astype(str))),
            "score" if first else "relevance": pa.array(doc * 7919 % 4 / (4 if first else 1)),
        }
        pq.write_table(pa.table(table), folder / name)
    words = [sys.executable, "-c", READ, str(folder / "judged.parquet"), str(folder / "ranked")]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def many_documents(folder: Path, count: int) -> int:
    ranked = [f"q1 Q0 d{i} {i + 1} {count - i}.5 t\n" for i in range(count)]
    return peak(folder, ["q1 0 d7 1\n"], ranked)


def tied_documents(folder: Path, count: int) -> int:
    ranked = [f"q1 Q0 d{i} {i + 1} {i * 7919 % 1000}.5 t\n" for i in range(count)]
    return peak(folder, ["q1 0 d7 1\n"], ranked)


@needs_kernel_count
@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "most"), [(many_queries, 180), (many_judgments, 480), (many_documents, 86), (tied_documents, 86)]
)
def test_what_one_more_costs_is_bounded(of, most: int, tmp_path: Path) -> None:
    # so many that as many pieces are worked on at a time in both
    few, many = (100_000, 300_000) if of is many_judgments else (500_000, 1_500_000)
    assert of(tmp_path, many) - of(tmp_path, few) < most * (many - few)


@needs_kernel_count
@pytest.mark.slow
@pytest.mark.cover
@pytest.mark.parametrize("verb", ["audit", "diagnose"])
def test_looking_at_every_row_takes_no_object_for_each(verb: str, tmp_path: Path) -> None:
    judged, ranked, few, many = tmp_path / "judged.qrels", tmp_path / "ranked.run", 2_000, 8_000
    judged.write_text("".join(f"q{i} 0 doc_{i} 1\nq{i} 0 other_{i} 2\n" for i in range(many)))
    held = []
    for count in (few, many):
        rows = (f"q{i} Q0 doc_{(i + j) % many} {j + 1} {100 - j}.5 t\n" for i in range(count) for j in range(100))
        ranked.write_text("".join(rows))
        script = READ.replace('evaluate(*sys.argv[1:], "RR")["RR"]', f"{verb}(*sys.argv[1:])")
        script = script.replace("import evaluate", f"import {verb}")
        words = [sys.executable, "-c", script, str(judged), str(ranked)]
        held.append(int(subprocess.run(words, capture_output=True, text=True, check=True).stdout))
    assert held[1] - held[0] < 150 * 100 * (many - few)


@pytest.mark.slow
def test_judgments_of_a_large_file_are_the_same_as_of_a_small_one(tmp_path: Path) -> None:
    """From some megabytes on judgments are read in pieces, and their ids kept as bytes: no result may show it."""
    lines = [
        f"{'q' * (i % 9)}ü{i} 0 {'d' * (j * 7)}\U0001f40d{j} {(i + j) % 3}\n" for i in range(700) for j in range(7)
    ]
    content = "".join(lines).encode()
    whole = read_qrels(content)
    for least, piece in ((1, 50), (1, 1 << 12), (1, len(content))):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trec, "MUCH", least)
            patch.setattr(trec, "PIECE", piece)
            found = read_qrels(content)
        assert type(found.query_ids) is not type(whole.query_ids), "read as a small file is"
        assert (found.queries, found.docs) == (whole.queries, whole.docs)
        assert list(found.doc_ids) == whole.docs
        assert found.as_dict() == whole.as_dict()
        assert found.start.tolist() == whole.start.tolist()
        assert found.doc_ids[3:9] == whole.docs[3:9]
        assert found.doc_ids[-1] == whole.docs[-1]
        assert [found.index[each] for each in whole.queries] == list(range(700))
        assert "nobody" not in found.index
        assert "nobody" not in found.query_ids
        assert list(found.doc_ids[8:2:-2]) == whole.docs[8:2:-2]
        run = {query: list(docs) for query, docs in whole.as_dict().items()}
        one, other = (evaluate(judged, run, "AP, RR@3") for judged in (found, whole))
        for name in ("queries", "per_query", "slices", "judgments"):
            assert type(getattr(one, name)) is type(getattr(other, name)), name
        assert (one.queries, one.queries[2:5], hash(one.queries)) == (
            other.queries,
            other.queries[2:5],
            hash(other.queries),
        )
        assert (repr(one), one.to_dict()["queries"]) == (repr(other), other.to_dict()["queries"])
        assert json.dumps(one.queries) == json.dumps(other.queries)
        assert pickle.loads(pickle.dumps(found)).as_dict() == whole.as_dict()


ODD = {
    "aspects": b"q1 1 a 1\nq1 2 a 0\n",
    "a document twice": b"q1 0 a 1\nq1 0 a 1\n",
    "grades that contradict": b"q1 0 a 1\nq1 0 a 2\n",
    "queries apart": b"q1 0 a 1\nq2 0 a 1\nq1 0 b 2\n",
    "a comment": b"# judged by hand\nq1 0 a 1\n",
    "blank lines": b"\n\nq1  0 a\t1\r\n\n",
    "no number": b"q1 0 a 1\nq1 0 b high\n",
    "five columns": b"q1 0 a 1\nq1 0 b 1 x\n",
    "a machine": b"q1 machine:m a 1\nq2 machine:m a 1\n",
    "a mark inside": b"q1 0 a 1\n\xef\xbb\xbfq1 0 b 1\n",
    "a mark in front": b"\xef\xbb\xbfq1 0 a 1\nq1 0 b 1\n",
    "no last line end": b"q1 0 a 1\nq1 0 b 1",
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_odd_judgments_are_read_the_same_in_pieces(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def said() -> object:
        try:
            found = read_qrels(content)
        except DataError as error:
            return str(error)
        facets = found.facets and found.facets.aspect.tolist()
        return list(found.as_dict().items()), facets, found.repeated, found.machine, found.notes

    expected = said()
    monkeypatch.setattr(trec, "MUCH", 1)
    for piece in (1, 12, 1000):
        monkeypatch.setattr(trec, "PIECE", piece)
        assert said() == expected


@pytest.mark.slow
def test_values_and_limits_worked_out_in_blocks_are_those_of_all_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    names = [f"d{i}" for i in range(12)]
    judged = {f"q{i}": {each: int(rng.integers(-1, 4)) for each in rng.permutation(names)[:6]} for i in range(90)}
    run = {f"q{i}": {each: int(rng.integers(0, 5)) for each in rng.permutation(names)[:8]} for i in range(80)}
    asked = "nDCG@5, RR@10, AP, AP@4, P@5, R@3, Success@5, ERR@5, Bpref, RBP(p=.8), R-Precision"

    columns = []

    def said(block: int) -> list[object]:
        monkeypatch.setattr(hits, "QUERIES", block)
        scores = evaluate(judged, run, asked, by={q: q[-1] for q in judged}, no_relevant="skip")
        columns.append({name: each.values.tolist() for name, each in scores.columns.items()})
        parts = [scores, *scores.slices.values()]
        return [each.to_dict() for part in parts for each in part.summary().rows]

    whole = said(1 << 20)
    for found, expected in zip(said(7), whole, strict=True):
        for name, value in expected.items():
            if value is None or isinstance(value, str | bool):
                assert found[name] == value, name
            else:
                assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-12), name
    assert columns[0] == columns[1], "values have the same bits"


ODD_LINES = {
    "none": "",
    "a comment": "# a comment\n",
    "no number": "q1 Q0 d5 1 high t\n",
    "a document twice": "q1 Q0 d5 1 0 t\n",
    "five columns": "q1 Q0 x 1\n",
    "an empty line": "\n",
    "a line end of Windows": "q1 Q0 x 1 7 t\r\n",
    "another query": "q2 Q0 d5 1 0 t\n",
    "queries nobody judged": "q8 Q0 d5 1 0 t\nq9 Q0 d5 1 0 t\n",
    "a long id": f"q1 Q0 {'ü' * 900} 1 7 t\n",
}


@pytest.mark.first_is_quick(8)
@pytest.mark.parametrize("rules", [{}, {"ties": "id"}, {"ties": "rank"}, {"duplicates": "best"}], ids=str)
@pytest.mark.parametrize("odd", ODD_LINES.values(), ids=ODD_LINES)
def test_a_long_ranking_is_read_the_same_in_pieces(
    odd: str, rules: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"q1 Q0 d{i * 7 % 300} {i + 1} {(300 - i) // 3} t\n" for i in range(300)]
    content = "".join([*lines[:200], odd, *lines[200:], "q3 Q0 d5 1 0 t\n"]).encode()
    judgments = {"q1": {f"d{i}": i % 3 for i in range(0, 300, 5)}, "q2": {"d5": 1}, "q3": {"d5": 1}}

    def said() -> object:
        try:
            scores = evaluate(judgments, TrecRankings(content), "AP, nDCG@10, R@100", **rules)
        except DataError as error:
            return str(error)
        # how many rankings stand in the part whose ranks are looked at depends on its size
        return (
            scores.means,
            [scores.bounds(each) for each in scores],
            replace(scores.census, ranks=0, ranks_contrary=0),
        )

    expected = said()
    monkeypatch.setattr(chunks, "WHOLE", 1)
    monkeypatch.setattr(chunks, "TAIL", 16)
    for size in (50, 1000):
        monkeypatch.setattr(chunks, "SIZE", size)
        monkeypatch.setattr(index, "ROWS", size)
        assert said() == expected


def test_what_is_read_of_a_long_ranking_does_not_grow_with_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its text the documents' ids alone are kept, so long run names and many decimals cost nothing."""
    monkeypatch.setattr(chunks, "WHOLE", 1 << 10)
    monkeypatch.setattr(chunks, "SIZE", 1 << 9)
    held = []
    monkeypatch.setattr(trec, "scan_judged", lambda found, *_: held.append(found.rows.chunk.size) or found)
    lines = [f"q1 Q0 d{i:04} {i + 1} {5000 - i}.{'123456789' * 9} {'name' * 50}\n" for i in range(500)]
    run = TrecRankings("".join(lines).encode())
    judged = judgments_from_mapping({"q1": {"d0001": 1}})
    for piece in run.pieces(whole := Scan(judged, Conventions()), Census()):
        run.scan_piece(piece, whole)
    assert held == [500 * len("d0000")]
