"""What is a line, a blank, a comment and an aspect: the same for detection, for the readers, and in every format."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import subprocess
import sys
import tracemalloc
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rankproof import evaluate
from rankproof.errors import DataError
from rankproof.io.load import load_judgments, load_ranking
from rankproof.io.trec.chunks import LINE
from tests.shell import rankproof

SPACES = "\u00a0\u1680\u2003\u2007\u2009\u2028\u2029\u202f\u205f\u3000\u0085\u001c\u001d\u001e\u001f\ufeff"
"""Blanks to Unicode, to none of trec_eval's readers."""
ASCII_BLANKS = " \t\x0b\x0c"


def write(folder: Path, name: str, text: str | bytes) -> Path:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


@pytest.mark.first_is_quick
@pytest.mark.parametrize("place", ["{0}a", "a{0}b", "b{0}"])
def test_other_spaces_belong_to_an_id_in_every_format(place: str, tmp_path: Path) -> None:
    for space in SPACES:
        query, doc = place.format(space), "d" + place.format(space)
        if query.startswith("\ufeff"):
            continue  # a byte order mark at the beginning of a file
        judged, ranked = {query: {doc: 1.0}}, {query: {doc: 0.5}}
        files = {
            "q.txt": f"{query} 0 {doc} 1\n", "q.tsv": f"query_id\tdoc_id\tgrade\n{query}\t{doc}\t1\n",
            "q.csv": f"query_id,doc_id,grade\n{query},{doc},1\n", "q.json": json.dumps(judged),
            "q.jsonl": json.dumps({"query_id": query, "doc_id": doc, "grade": 1}) + "\n",
        }  # fmt: skip
        for name, text in files.items():
            assert load_judgments(write(tmp_path, name, text)).as_dict() == judged, (name, space)
        runs = {
            "r.txt": f"{query} Q0 {doc} 1 0.5 t\n", "r.tsv": f"query_id\tdoc_id\tscore\n{query}\t{doc}\t0.5\n",
            "r.csv": f"query_id,doc_id,score\n{query},{doc},0.5\n", "r.json": json.dumps(ranked),
        }  # fmt: skip
        for name, text in runs.items():
            table = load_ranking(write(tmp_path, name, text)).table()
            assert (table.query, table.doc) == ([query], [doc]), (name, space)
            assert evaluate(judged, tmp_path / name, "RR")["RR"] == 1.0
        groups = write(tmp_path, "groups", f"{query}\tthe group\n")
        assert list(evaluate(judged, ranked, "RR", by=groups).slices) == ["the group"]


def test_each_blank_of_trec_eval_separates(tmp_path: Path) -> None:
    for one, other in itertools.product(ASCII_BLANKS, repeat=2):
        run = write(tmp_path, "r", f"q1{one}Q0{other}d1{one}{other}1{one}0.5{other}t\r\n")
        assert evaluate({"q1": {"d1": 1}}, run, "RR")["RR"] == 1.0
        judged = write(tmp_path, "q", f"{one}q1{one}0{other}d1{one}1{other}\r\n")
        assert load_judgments(judged).as_dict() == {"q1": {"d1": 1.0}}


@pytest.mark.parametrize("query", ["#python", "#", "##", "#1"])
def test_a_query_may_begin_with_a_hash(query: str, tmp_path: Path) -> None:
    """In TREC files a lone `#` begins a comment; everything that is a row otherwise is a row."""
    judged, ranked = {query: {"d1": 1.0, "#d": 0.0}, "q": {"d1": 1.0}}, {query: {"#d": 2.0, "d1": 1.0}}
    expected = evaluate(judged, ranked, "RR")["RR"]
    rows = "".join(f"{q} 0 {d} {g:g}\n" for q, row in judged.items() for d, g in row.items())
    run = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, row in ranked.items() for d, s in row.items())
    files = {"q.txt": rows, "q.csv": rows.replace(" 0 ", ",").replace(" ", ","), "q.json": json.dumps(judged)}
    if query == "#":
        del files["q.txt"]
        run = json.dumps(ranked)
    for text in files.values():
        found = evaluate(write(tmp_path, "q", text), write(tmp_path, "r", run), "RR")
        assert found["RR"] == expected
        assert not [note for note in found.definition["notes"] if "passed over" in note]


def test_comments_are_passed_over_and_counted(tmp_path: Path) -> None:
    judged = write(
        tmp_path,
        "q",
        "# query iteration document grade\nq1 0 d1 1\n#\n  # q1 0 d2 1\n#q1 0 d3 high\nq1 0 d4 0\n",
    )
    run = write(tmp_path, "r", "#a run\nq1 Q0 d1 1 0.5 t\n# q1 Q0 d9 1 9 t\n")
    scores = evaluate(judged, run, "RR")
    assert scores.judgments is not None
    assert scores.judgments.as_dict() == {"q1": {"d1": 1.0, "d4": 0.0}}
    notes = scores.definition["notes"]
    assert f"{judged}: passed over 4 lines that begin with # and are no data" in notes
    assert f"{run}: passed over 2 lines that begin with # and are no data" in notes
    said = " ".join(rankproof(tmp_path, "audit", "q", "r").stdout.split())
    assert "passed over 4 lines" in said
    assert "passed over 2 lines" in said
    apart = write(tmp_path, "apart", "q1 Q0 d1 1 0.5 t\n# one\nq2 Q0 d1 1 1 t\n# two\nq1 Q0 d2 2 0.25 t\n")
    assert (
        f"{apart}: passed over 2 lines that begin with # and are no data"
        in evaluate(judged, apart, "RR").definition["notes"]
    )
    with pytest.raises(DataError, match="line 6"):
        evaluate(write(tmp_path, "bad", "# one\nq1 0 d1 1\n#tag 0 d 1\n# two\n\nq1 0 d2 x\n"), run)


def test_trec_eval_takes_every_such_line_for_a_comment(tmp_path: Path) -> None:
    write(tmp_path, "q", "q1 0 d1 1\n#q1 0 d2 1\n#tag 0 d1 1\n")
    write(tmp_path, "r", "#tag Q0 d1 1 9 t\nq1 Q0 d1 1 0.5 t\n#q1 Q0 d2 1 9 t\n")
    assert "num_rel \tall\t1\n" in rankproof(tmp_path, "trec_eval", "-c", "-m", "num_rel", "q", "r").stdout.replace(
        "               ", " "
    )
    assert rankproof(tmp_path, "trec_eval", "-c", "-m", "num_q", "q", "r").stdout.split() == [
        "num_q",
        "all",
        "1",
    ]


Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")


def test_iteration_is_the_second_column_of_a_file(tmp_path: Path) -> None:
    """Whatever the rows come in: it names an aspect if it is not always the same, and nothing if it is."""
    import pandas as pd
    import polars as pl

    for kinds, aspects in ((("1", "2", "1"), True), (("0", "0", "0"), False), (("Q0", "Q0", "Q0"), False)):
        rows = [("q1", "d1", 1, kinds[0]), ("q1", "d2", 1, kinds[1]), ("q1", "d3", 0, kinds[2])]
        named = [Qrel(*row) for row in rows]
        dicts = [row._asdict() for row in named]
        columns = {name: [row[name] for row in dicts] for name in Qrel._fields}
        csv = "query_id,doc_id,relevance,iteration\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
        sources = {
            "file": write(tmp_path, "q.txt", "".join(f"{q} {i} {d} {g}\n" for q, d, g, i in rows)),
            "named": named, "dicts": dicts, "pandas": pd.DataFrame(columns), "polars": pl.DataFrame(columns),
            "csv": write(tmp_path, "q.csv", csv),
            "jsonl": write(tmp_path, "q.jsonl", "".join(json.dumps(row) + "\n" for row in dicts)),
        }  # fmt: skip
        for name, source in sources.items():
            judged = load_judgments(source)
            assert (judged.facets is not None) == aspects, name
            value = evaluate(source, {"q1": ["d1", "d2"]}, "StRecall@1")["StRecall@1"]
            assert value == (0.5 if aspects else 1.0), name


def test_measures_of_aspects_warn_where_there_are_none() -> None:
    names = ["alpha_nDCG@5", "StRecall@5", "ERR_IA", "NRBP", "AP_IA", "P_IA@5"]
    plain = evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a"]}, names)
    found = plain.audit.of_kind("no-aspects")
    assert found is not None
    assert (found.severity, found.count) == ("warning", len(names))
    assert "alpha_nDCG@5" in found.message
    told = evaluate({"q": {"a": {"1": 1}, "b": {"2": 1}}}, {"q": ["a"]}, names)
    assert told.audit.of_kind("no-aspects") is None
    assert evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP", "nDCG@5"]).audit.of_kind("no-aspects") is None


def test_a_ranking_of_five_columns_is_met_as_such(tmp_path: Path) -> None:
    for text, lacks in (
        ("q1 Q0 d1 1 0.5\nq1 Q0 d2 2 0.25\n", "without the name of the run"),
        ("q1 0 d1 1 0.5\nq1 0 d2 2 0.25\nq1 0 d3 3 0.125\n", "without the name of the run"),
        ("q1 Q0 d1 0.5 bm25\nq1 Q0 d2 0.25 bm25\n", "without the rank"),
    ):
        for load in (load_ranking, load_judgments):
            with pytest.raises(DataError, match=f"5 columns, {lacks}.*Next: ") as error:
                load(write(tmp_path, "r", text))
            assert ("awk" in str(error.value)) == lacks.endswith("run")  # it adds the last column
    with pytest.raises(DataError, match="preference judgments"):
        load_judgments(write(tmp_path, "p", "q1 j1 1 d1 1.0\nq1 j1 1 d2 0.0\n"))


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    "length",
    [1 << 10, 1025, 1 << 16, *(pytest.param(n, marks=pytest.mark.slow) for n in (100_000, 10_000_000))],
)
def test_long_ids_are_ids(length: int, tmp_path: Path) -> None:
    """In the first line, in the query and in the document, that differ in their last letter only."""
    one, other = "i" * length + "1", "i" * length + "2"
    judged = write(tmp_path, "q", f"{one} 0 {one} 1\n{one} 0 {other} 0\n{other} 0 {one} 1\n{other} 0 {other} 0\n")
    run = f"{one} Q0 {other} 1 2 t\n{one} Q0 {one} 2 1 t\n{other} Q0 {one} 1 2 t\n{other} Q0 {other} 2 1 t\n"
    if length > 1 << 20:
        judged = write(tmp_path, "q", f"{one} 0 d1 1\n")
        run = f"{one} Q0 d1 1 2 t\n"
        assert evaluate(judged, write(tmp_path, "r", run), "RR")["RR"] == 1.0
        return
    assert evaluate(judged, write(tmp_path, "r", run), "RR")["RR"] == 0.75
    mixed = "".join(sorted(run.splitlines(True), key=lambda line: line.split()[3]))
    assert evaluate(judged, write(tmp_path, "r", mixed), "RR")["RR"] == 0.75
    with pytest.raises(DataError, match="comes twice"):
        evaluate(judged, write(tmp_path, "r", run + f"{other} Q0 {one} 3 0.5 t\n"), "RR")


@pytest.mark.slow
@pytest.mark.parametrize("pack", [bytes, lambda content: gzip.compress(content, 1)])
def test_a_line_without_end_is_refused_in_little_memory(pack, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Bytes of memory per byte of the longest line that is read, be the file as long as it may."""
    line = b"0123456789abcdef" * (LINE // 16 * 6)
    good = b"q1 Q0 d1 1 0.5 t\n"
    for name, content in (("first", line), ("later", good * 3 + line)):
        file = write(tmp_path, name, pack(content))
        for read in (
            lambda path: evaluate({"q1": {"d1": 1}}, path),
            lambda path: evaluate(path, {"q1": ["d1"]}),
        ):
            tracemalloc.start()
            with pytest.raises(DataError, match=r"longer than 16 MiB|times its size|columns|not a format") as told:
                read(file)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 14 * LINE, (name, peak)
            assert len(str(told.value)) < 600


def test_work_is_in_order_with_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from rankproof.io.trec import chunks

    expected = [(i, i * i) for i in range(50)]
    for count in (1, 2, 8):
        monkeypatch.setattr(chunks, "cores", lambda count=count: count)
        assert list(chunks.in_order(lambda i: i * i, iter(range(50)))) == expected
    started: list[object] = []

    def start(self: threading.Thread) -> None:
        started.append(self)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    assert list(chunks.in_order(lambda i: i * i, iter(range(50)))) == expected
    assert started


@pytest.mark.parametrize("count", [1, 2, 8])
def test_work_ends_with_its_errors_and_where_it_is_no_longer_wanted(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    import threading

    from rankproof.io.trec import chunks

    monkeypatch.setattr(chunks, "cores", lambda: count)
    before, read = threading.active_count(), []

    def items(most: int) -> Iterator[int]:
        for i in range(most):
            read.append(i)
            yield i
        raise OSError("the disk is gone")

    def work(i: int) -> int:
        if i == 30:
            raise ZeroDivisionError("30")
        return i

    with pytest.raises(ZeroDivisionError):
        list(chunks.in_order(work, items(100)))
    for item, _ in (found := chunks.in_order(work, items(100))):
        if item == 5:
            break
    found.close()
    assert len(read) < 30 + 6 + 2 * (count + 3)
    for most in (0, 1, 2, 20):
        worked = chunks.in_order(work, items(most))
        assert most < 2 or [next(worked) for _ in range(most)] == [(i, i) for i in range(most)]
        with pytest.raises(OSError, match="the disk is gone"):
            next(worked)
    assert threading.active_count() == before


def test_no_item_is_lost_where_only_some_threads_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from rankproof.io.trec import chunks

    expected = [(i, i * i) for i in range(500)]
    true, left = threading.Thread.start, []

    def start(self: threading.Thread) -> None:
        if not left:
            raise RuntimeError("can't start new thread")
        left.pop()
        true(self)

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(chunks, "cores", lambda: 4)
    for some in (0, 1, 3):
        left[:] = [None] * some
        assert list(chunks.in_order(lambda i: i * i, iter(range(500)))) == expected
        assert not left


def test_words_are_the_same_wherever_the_buffer_lies() -> None:
    from rankproof.io.trec import chunks

    rng = np.random.default_rng(1)
    for size in (100_000, 100_001, 100_007):
        for shift in (0, 1, 4):
            buffer = rng.integers(0, 256, size + shift, dtype=np.uint8)[shift:]
            at = rng.integers(0, size - chunks.PAD, 2 * chunks.MANY)
            expected = [int.from_bytes(buffer[i : i + 8].tobytes(), "little") for i in at.tolist()]
            for kind in (np.int32, np.int64):
                assert chunks.Chunk(buffer, 0).words(at.astype(kind)).tolist() == expected
            assert chunks.Chunk(buffer, 0).words(at[:9]).tolist() == expected[:9]


@pytest.mark.parametrize("ending", [".run", ".run.gz"])
def test_a_line_too_long_is_counted_from_the_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    from rankproof.io.trec import chunks

    monkeypatch.setattr(chunks, "SIZE", 1 << 11)
    monkeypatch.setattr(chunks, "LINE", 1 << 13)
    lines = [f"q{i // 40} Q0 d{i} {i % 40 + 1} {100 - i % 40} x" for i in range(1000)]
    lines[777:777] = ["# nothing", "x" * (3 << 13)]
    file = tmp_path / f"long{ending}"
    content = "\n".join(lines).encode()
    file.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    with pytest.raises(DataError, match=r"long\.run(\.gz)?, line 779: it is longer than"):
        evaluate({"q1": {"d41": 1}}, file)


CORES = "import sys, rankproof.io.trec.chunks as c; open(sys.argv[1], 'w').write('0'); print(c.cores())"


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="limits of containers are those of Linux")
def test_no_more_threads_work_than_a_container_has_cores() -> None:
    """In a real group of processes, with the kinds of limits that this kernel has."""
    root = Path("/sys/fs/cgroup")
    older = (root / "cpu").is_dir()
    group = (root / "cpu" if older else root) / f"rankproof-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("no group of processes can be made here")
    try:
        for limit, expected in ((20_000, 1), (100_000, 1), (160_000, 2), (900_000, 8)):
            try:
                file = group / ("cpu.cfs_quota_us" if older else "cpu.max")
                file.write_text(str(limit) if older else f"{limit} 100000")
            except OSError:
                pytest.skip("no limit can be set here")
            words = [sys.executable, "-c", CORES, str(group / "cgroup.procs")]
            found = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            assert int(found) == min(expected, len(os.sched_getaffinity(0)))
    finally:
        group.rmdir()
