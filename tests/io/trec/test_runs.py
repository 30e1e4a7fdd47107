"""TREC runs: the same as a slow reader in plain Python, on regular files and on every odd one."""

from __future__ import annotations

import bz2
import gzip
import math
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof import evaluate
from rankproof.core.conventions import Conventions
from rankproof.core.join import Census, join
from rankproof.errors import DataError, RankproofError
from rankproof.io.load import load_judgments
from rankproof.io.mappings import MappingRankings, judgments_from_mapping
from rankproof.io.trec import TrecRankings

NO = Conventions()


def found_by(rankings, judgments, conventions=NO, census=None):
    """What the join finds, as plain values."""
    census = Census() if census is None else census
    hits = join(judgments, rankings.blocks(judgments, conventions, census), conventions)
    columns = [hits.query, hits.rank, hits.doc, hits.grade, hits.retrieved, hits.answered]
    ties = [hits.rank if hits.first is None else hits.first, hits.rank if hits.last is None else hits.last]
    return [column.tolist() for column in columns + ties]


def slowly(content):
    """`{query: [(doc, score)]}` of a run, by Python's own means."""
    run = {}
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        fields = [field.decode() for field in line.split()]
        if fields and not fields[0].startswith("#"):
            query, _, doc, _, score, _ = fields
            run.setdefault(query, []).append((doc, float(score)))
    return run


def check(judgments, content, conventions=NO):
    """The reader finds what the slow one finds."""
    table = judgments_from_mapping(judgments)
    slow = found_by(MappingRankings(slowly(content)), table, conventions)
    assert found_by(TrecRankings(content), table, conventions) == slow


def small_chunks(monkeypatch, size):
    monkeypatch.setattr("rankproof.io.trec.chunks.SIZE", size)
    monkeypatch.setattr("rankproof.io.trec.SIZE", size)
    monkeypatch.setattr("rankproof.io.trec.chunks.TAIL", 16)
    monkeypatch.setattr("rankproof.io.trec.chunks.WHOLE", 3 * size)


IDS = [
    lambda rnd: str(rnd.randrange(10**7)),
    lambda rnd: f"d{rnd.randrange(100)}",
    lambda rnd: f"msmarco_passage_{rnd.randrange(70):02}_{rnd.randrange(10**9)}",
    lambda rnd: rnd.choice(["é", "日本", "\U0001f600", "a" * 40, "a" * 41, "x"]) + str(rnd.randrange(90)),
]
SCORES = [
    lambda rnd: f"{rnd.random() * 30:.6f}",
    lambda rnd: repr(rnd.random() * 30),
    lambda rnd: repr(round(rnd.uniform(-30, 30), 4)),
    lambda rnd: str(rnd.randrange(20)),
    lambda rnd: f"{rnd.uniform(-1, 1) * 10 ** rnd.randrange(-9, 9):.{rnd.randrange(12)}f}",
    lambda rnd: rnd.choice(
        ["1e-5", "-inf", "inf", "+3", ".5", "5.", "-0", "0", "-.25", "1E3", "123456789012345678901234"]
    ),
    lambda rnd: rnd.choice(["12345678.12345678", "0.1234567890123456", "99999999", "123456789", "9007199254740993"]),
]


def random_run(rnd, *, together, ordered, chunk=1 << 20):
    """Lines of a run and judgments for some of its queries: of few lines if a chunk holds hardly one."""
    make_id, make_score = rnd.choice(IDS), rnd.choice(SCORES)
    lines, judgments = [], {}
    for number in range(rnd.randrange(1, 12)):
        query = rnd.choice(["q", "query-with-a-long-name-", "é"]) + str(number)
        docs = sorted({make_id(rnd) for _ in range(rnd.choice([1, 5, 30 if chunk < 100 else 150]))})
        rnd.shuffle(docs)
        scores = [make_score(rnd) for _ in docs]
        if ordered:
            scores.sort(key=float, reverse=True)
        if rnd.random() < 0.8:
            judged = [*rnd.sample(docs, min(len(docs), 4)), "never"]
            judgments[query] = {doc: rnd.randrange(4) for doc in judged}
        lines += [
            [query, "Q0", doc, str(i), score, "run"] for i, (doc, score) in enumerate(zip(docs, scores, strict=True))
        ]
    if not together:
        rnd.shuffle(lines)
    return lines, judgments or {"none": {"d": 1}}


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["trec", "input", "expected"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_regular_runs(ties, precision, monkeypatch):
    for seed in range(25):
        rnd = random.Random(seed)
        lines, judgments = random_run(rnd, together=True, ordered=rnd.random() < 0.5)
        content = "".join(" ".join(line) + "\n" for line in lines).encode()
        check(judgments, content, Conventions(ties=ties, precision=precision))
        with monkeypatch.context() as patch:
            small_chunks(patch, rnd.choice([30, 200, 3000]))
            check(judgments, content, Conventions(ties=ties, precision=precision))


@pytest.mark.slow
@pytest.mark.parametrize("size", [40, 500, 1 << 20])
def test_lines_of_a_query_may_stand_apart(size, monkeypatch):
    small_chunks(monkeypatch, size)
    for seed in range(30):
        rnd = random.Random(seed)
        lines, judgments = random_run(rnd, together=False, ordered=False, chunk=size)
        content = "".join("\t".join(line) + "\n" for line in lines).encode()
        check(judgments, content, Conventions(ties=rnd.choice(["trec", "input"])))


@pytest.mark.slow
@pytest.mark.parametrize("size", [40, 1 << 20])
def test_irregular_lines(size, monkeypatch):
    small_chunks(monkeypatch, size)
    for seed in range(40):
        rnd = random.Random(seed)
        lines, judgments = random_run(rnd, together=rnd.random() < 0.8, ordered=True, chunk=size)
        text = ["\ufeff"] if rnd.random() < 0.3 else []
        for line in lines:
            blank = rnd.choice([" ", "\t", "  ", " \t "])
            text.append(rnd.choice(["", "", "", "\n", "# note\n", " \n", "#a b c d e f\n", "  # x\n"]))
            text.append(rnd.choice(["", " "]) + blank.join(line) + rnd.choice(["", " "]) + rnd.choice(["\n", "\r\n"]))
        content = "".join(text).encode()
        check(judgments, content.rstrip() if rnd.random() < 0.5 else content)


@pytest.mark.parametrize("make", SCORES)
def test_scores_are_read_exactly_as_python_reads_them(make):
    rnd = random.Random(1)
    fields = [make(rnd) for _ in range(500)]
    content = "".join(f"q Q0 d{i} 0 {field} x\n" for i, field in enumerate(fields)).encode()
    assert TrecRankings(content).table().score.tolist() == list(map(float, fields))


# --- duplicates --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["first", "best"])
@pytest.mark.parametrize("size", [60, 1 << 20])
def test_repeated_documents_are_settled_by_the_rule(rule, size, monkeypatch):
    small_chunks(monkeypatch, size)
    for seed in range(30):
        rnd = random.Random(seed)
        lines, judgments = random_run(rnd, together=True, ordered=False, chunk=size)
        doubled = []
        for line in lines:
            doubled.append(line)
            if rnd.random() < 0.1:
                doubled.append([*line[:4], str(rnd.randrange(30)), "again"])
        content = "".join(" ".join(line) + "\n" for line in doubled).encode()
        check(judgments, content, Conventions(duplicates=rule, ties="input"))


@pytest.mark.parametrize("size", [30, 1 << 20])
def test_a_repeated_document_is_an_error_with_both_lines(size, monkeypatch):
    small_chunks(monkeypatch, size)
    lines = [f"q Q0 d{i} 0 {-i} x" for i in range(300)]
    lines.insert(250, "q Q0 d7 0 5.5 x")
    content = "\n".join(["# made by hand", "p Q0 d7 0 1 x", *lines]).encode()
    judgments = judgments_from_mapping({"q": {"d1": 1}, "p": {"d7": 1}})
    with pytest.raises(DataError, match=r"run, lines 10 and 253: document 'd7' of query 'q' comes twice"):
        found_by(TrecRankings(content), judgments)


def test_a_repeated_document_far_apart_is_found_with_its_lines():
    content = b"q Q0 d1 0 3 x\np Q0 d1 0 3 x\n\nq Q0 d1 0 2 x\n"
    judgments = judgments_from_mapping({"q": {"d1": 1}, "p": {"d7": 1}})
    with pytest.raises(DataError, match=r"run, lines 1 and 4: document 'd1' of query 'q'"):
        found_by(TrecRankings(content), judgments)


# --- what is wrong -----------------------------------------------------------------------------

GOOD = b"".join(b"q%d Q0 d%d 0 %d.5 x\n" % (i // 10, i, 1000 - i) for i in range(400))


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"q Q0 d 1 0.5", "got 5 columns, expected 6: 'q Q0 d 1 0.5'"),
        (b"q Q0 d 1 0.5 a b", "got 7 columns, expected 6: 'q Q0 d 1 0.5 a b'"),
        (b"q", "got 1 columns, expected 6"),
        (b"q Q0 d 1 zero x", "the score is 'zero', expected a number: 'q Q0 d 1 zero x'"),
        (b"q Q0 d 1 nan x", "the score is 'nan', expected a number"),
        (b"q Q0 d 1 1_0 x", "the score is '1_0', expected a number"),
        (b"q Q0 d 1 0x10 x", "the score is '0x10', expected a number"),
        (b"q Q0 d 1 1,5 x", "the score is '1,5', expected a number"),
        (b"q Q0 d 1 1.5.5 x", "the score is '1.5.5', expected a number"),
        (b"q Q0 d 1 - x", "the score is '-', expected a number"),
        (b"q Q0 d 1 . x", "the score is '.', expected a number"),
        (b"q Q0 d 1 12a.5 x", "the score is '12a.5', expected a number"),
        (b"q Q0 d 1 \xd9\xa1 x", "expected a number"),
        (b"q Q0 d\0 1 0.5 x", "a NUL byte, expected text"),
        (b"q Q0 d\xff\xfe 1 0.5 x", "are not valid UTF-8"),
    ],
)
@pytest.mark.parametrize("before", [b"", GOOD, b"# c\r\n\r\n"], ids=["alone", "in a large file", "after comments"])
@pytest.mark.parametrize("size", [100, 1 << 20])
def test_a_bad_line_is_an_error_with_its_number_and_text(line, said, before, size, monkeypatch):
    small_chunks(monkeypatch, size)
    content = before + line + b"\n" + (GOOD if before == GOOD else b"").replace(b"q", b"r")
    with pytest.raises(DataError) as error:
        found_by(TrecRankings(content, "the file"), judgments_from_mapping({"q1": {"d11": 1}}))
    assert str(error.value).startswith(f"the file, line {before.count(10) + 1}: ")
    assert said in str(error.value)
    run = TrecRankings(content, "the file")
    for read in (run.table, run.by_query, lambda: run.table_near("q1")):
        with pytest.raises(DataError, match=f"the file, line {before.count(10) + 1}: "):
            read()
    with pytest.raises(DataError, match=r"the file, (line|queries)"):  # a part of it tells whether its ids are digits
        found_by(run, judgments_from_mapping({1: {11: 1}}))


def test_integers_in_the_judgments_cannot_be_found_in_text():
    with pytest.raises(DataError, match=r"queries: got ids that are text where the judgments have integers"):
        found_by(TrecRankings(GOOD), judgments_from_mapping({1: {"d": 1}}))


def test_ranks_can_decide():
    content = b"q Q0 a 2 9 x\nq Q0 b 1 8 x\n"
    hits = found_by(TrecRankings(content), judgments_from_mapping({"q": {"a": 1}}), Conventions(ties="rank"))
    assert hits[1] == [2]
    with pytest.raises(DataError, match=r"line 1: the rank is 'two', expected a number"):
        found_by(
            TrecRankings(content.replace(b" 2 ", b" two ")),
            judgments_from_mapping({"q": {"a": 1}}),
            Conventions(ties="rank"),
        )


def test_queries_without_judgments_are_counted():
    census = Census()
    found_by(TrecRankings(GOOD), judgments_from_mapping({"q1": {"d11": 1}}), NO, census)
    assert (census.extra, census.extra_examples) == (39, ["q0", "q2", "q3", "q4", "q5"])


def test_dropped_documents_are_counted():
    census = Census()
    content = b"q Q0 a 2 9 x\nq Q0 a 1 8 x\nz Q0 a 1 8 x\nz Q0 a 1 8 x\n"
    found_by(TrecRankings(content), judgments_from_mapping({"q": {"a": 1}}), Conventions(duplicates="best"), census)
    assert census.dropped == 1


# --- tables, archives --------------------------------------------------------------------------


def test_a_table_holds_every_line(monkeypatch):
    small_chunks(monkeypatch, 50)
    table = TrecRankings(b"# c\nq Q0 a 2 9 x\r\n\nq Q0 b 1 8.5 x\np Q0 a 3 1e2 x", "file").table()
    assert (table.query, table.doc) == (["q", "q", "p"], ["a", "b", "a"])
    assert table.score.tolist() == [9, 8.5, 100]
    assert table.rank.tolist() == [2, 1, 3]
    assert table.line.tolist() == [2, 4, 5]
    assert table.source == "file"


@pytest.mark.first_is_quick
@pytest.mark.parametrize("size", [500, 40, 1 << 20])
def test_what_is_read_of_one_query_is_what_the_whole_has_of_it(size, monkeypatch):
    small_chunks(monkeypatch, size)
    for seed in range(8):
        rnd = random.Random(seed)
        lines, _ = random_run(rnd, together=rnd.random() < 0.5, ordered=True, chunk=size)
        gaps = ["", "", "# note\n", "\r\n", " "] if seed % 2 else [""]
        content = "".join(rnd.choice(gaps) + " ".join(line) + "\n" for line in lines).encode()
        run = TrecRankings(content)
        whole, of_query = run.table(), run.by_query()
        assert list(of_query) == list(whole.by_query())
        for query, rows in list(whole.by_query().items())[:4]:
            wanted = [whole.doc[row] for row in rows], whole.score[rows].tolist(), whole.rank[rows].tolist()
            for found in (of_query[query].table(), run.table_near(query)):
                assert (found.doc, found.score.tolist(), found.rank.tolist()) == wanted
                assert set(found.query) == {query}
        assert not len(run.table_near("q"))
        assert run.table_near(*of_query).doc == whole.doc
    for nothing in (b"", b"# only a comment\n", b"\n\n"):
        assert not TrecRankings(nothing).by_query()
        assert not len(TrecRankings(nothing).table_near("q"))


@pytest.mark.first_is_quick
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress], ids=["plain", "gz", "bz2"])
@pytest.mark.parametrize("size", [100, 1 << 20])
def test_archives_are_read_as_they_come(compress, size, tmp_path, monkeypatch):
    small_chunks(monkeypatch, size)
    judgments = judgments_from_mapping({"q1": {"d11": 1, "d15": 2}})
    apart = GOOD + b"q1 Q0 late 0 2000 x\n"
    for content in (GOOD, apart):
        path = tmp_path / "run"
        path.write_bytes(compress(content))
        assert found_by(TrecRankings(path), judgments) == found_by(TrecRankings(content), judgments)
    path.write_bytes(compress(GOOD)[:-20])
    if compress is not bytes:
        with pytest.raises(DataError, match="truncated"):
            found_by(TrecRankings(path), judgments)


def test_a_query_longer_than_many_chunks(monkeypatch):
    small_chunks(monkeypatch, 64)
    content = b"".join(b"q Q0 d%d 0 %d x\n" % (i, -i) for i in range(1000)) + b"p Q0 d1 0 1 x\n"
    hits = found_by(TrecRankings(content), judgments_from_mapping({"q": {"d999": 1}, "p": {"d1": 1}}))
    assert hits[1] == [1000, 1]


# --- anything at all ---------------------------------------------------------------------------

FIELD = st.sampled_from([b"q", b"q1", b"d", b"d2", b"1", b"0.5", b"-2", b"nan", b"x", b"#", "é".encode(), b"a" * 20])
PIECE = st.one_of(
    FIELD,
    st.sampled_from([b" ", b"\t", b"\n", b"\r\n", b"\xef\xbb\xbf", b"\0", b"\x0b"]),
    st.binary(max_size=4),
)
LINE = st.lists(FIELD, min_size=6, max_size=6).map(b" ".join)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=300),
        st.lists(PIECE, max_size=60).map(b"".join),
        st.lists(LINE, max_size=20).map(b"\n".join),
    )
)
def test_no_input_crashes_the_reader_and_what_is_read_is_right(content):
    judgments = judgments_from_mapping({"q": {"d": 1, "d2": 2}, "q1": {"d": 1, "a" * 20: 1}})
    conventions = Conventions(duplicates="first")
    try:
        fast = found_by(TrecRankings(content), judgments, conventions)
    except RankproofError:
        return
    run = slowly(content)
    assert not any(math.isnan(score) for entries in run.values() for _, score in entries)
    assert fast == found_by(MappingRankings(run), judgments, conventions)


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("judged", ["zz", " d2 "])
def test_a_run_of_one_line_is_not_taken_for_empty(tmp_path: Path, end: str, judged: str) -> None:
    (tmp_path / "one.run").write_text(f"q1 Q0 d2 1 2 t{end}")
    (tmp_path / "one.run.gz").write_bytes(gzip.compress((tmp_path / "one.run").read_bytes()))
    for name in ("one.run", "one.run.gz"):
        found = evaluate({"q1": {judged: 1}}, tmp_path / name, "P@1").audit
        assert found == evaluate({"q1": {judged: 1}}, {"q1": ["d2"]}, "P@1").audit
        assert found.of_kind("no-common-queries") is None
        assert (found.of_kind("spaces-in-ids") is not None) == (judged == " d2 ")


def test_blanks_around_ids_are_layout_in_lines_of_cells_alone(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text('query_id,doc_id,grade\nq1," d2 ",2\n q1 , d3 ,1\n')
    (tmp_path / "j.jsonl").write_text('{"query_id": "q1", "doc_id": " d2 ", "grade": 2}\n')
    assert load_judgments(tmp_path / "j.csv").as_dict() == {"q1": {"d2": 2.0, "d3": 1.0}}
    assert load_judgments(tmp_path / "j.jsonl").as_dict() == {"q1": {" d2 ": 2.0}}
