"""No input whatever may fail with anything but an error of ours, and what is written is read back."""

from __future__ import annotations

import bz2
import gzip
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankproof.core.conventions import Conventions
from rankproof.core.join import Census, join
from rankproof.errors import RankproofError
from rankproof.io.load import load_judgments, load_ranking
from rankproof.io.write import FORMATS, write_judgments, write_ranking

JUDGMENTS = load_judgments({"q1": {"d1": 1, "d2": 0}, "7": {"7": 2}})
ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

VALID = [
    b"query_id,doc_id,score\nq1,d1,1\nq1,d2,0.5\n7,7,1e3\n",
    b"q1\td1\t3\nq1\td2\t0\n7\t7\t1\n",
    b"query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    b'{"q1": {"d1": 1, "d2": 0.5}, "7": {}}',
    b'{"q1": ["d1", "d2"], "7": [["7", 1], ["8", -2.5]]}',
    b'[{"query_id": "q1", "doc_id": "d1", "score": 1}, {"query_id": "q1", "doc_id": "d2", "score": 2}]',
    b'{"query_id": "q1", "doc_id": "d1", "score": 1}\n{"query_id": "q1", "doc_id": "d2", "score": 2}\n',
    b'{"query_id": "q1", "results": ["d1"]}\n{"query_id": "7", "results": [{"id": "7", "score": 1}]}\n',
    b"q1 0 d1 1\nq1 0 d2 0\n7 0 7 2\n",
    b"q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 0.25 tag\n7 Q0 7 1 1 tag\n",
]
PACKED = [gzip.compress(VALID[0]), bz2.compress(VALID[0]), gzip.compress(VALID[-1])]
PIECES = [b"\0", b"\xff", b"\xef\xbb\xbf", b"\n", b"\r", b'"', b",", b"\t", b" ", b"{", b"}", b"[", b"]", b":", b"nan", b"-inf", b"#", b"1_0", b"NaN", b"null", b"\\ud800", b"q1", b"d1", "日".encode(), b"\x1f\x8b\x08", b"BZh91AY&SY", b"PAR1"]  # fmt: skip


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    """A valid file with some of its bytes taken out, doubled, or replaced."""
    content = draw(st.sampled_from(VALID + PACKED))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(content)))
        end = draw(st.integers(begin, min(len(content), begin + 6)))
        piece = draw(st.sampled_from(PIECES) | st.just(b"") | st.just(content[begin:end] * 2) | st.binary(max_size=3))
        content = content[:begin] + piece + content[end:]
    return content


def load_all(given_as: Any) -> None:
    """Everything that can be done with an input; what fails must fail with an error of ours."""
    for load in (load_judgments, load_ranking):
        with suppress(RankproofError):
            loaded = load(given_as)
            if load is load_ranking:
                loaded.table()
                join(JUDGMENTS, loaded.blocks(JUDGMENTS, Conventions(), Census()), Conventions())


@ONE_FOLDER
@given(content=st.binary(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=20).map(b"".join))
def test_any_bytes(content: bytes, tmp_path: Path):
    file = tmp_path / "x"
    file.write_bytes(content)
    load_all(file)


@pytest.mark.slow
@settings(ONE_FOLDER, max_examples=400)
@given(content=broken())
def test_broken_files(content: bytes, tmp_path: Path):
    file = tmp_path / "x"
    file.write_bytes(content)
    load_all(file)


KEYS = st.sampled_from(["q1", "7", "query_id", "doc_id", "score", "results", "relevance", "id"]) | st.text(max_size=3)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@settings(ONE_FOLDER, max_examples=300)
@given(value=VALUES, as_lines=st.booleans())
def test_any_json(value: Any, as_lines: bool, tmp_path: Path):
    file = tmp_path / "x.json"
    lines = value if as_lines and isinstance(value, list) else [value]
    file.write_text("\n".join(json.dumps(each) for each in lines))
    if not file.read_text().startswith(("{", "[")):
        return
    load_all(file)


@settings(deadline=None)
@given(value=VALUES)
def test_anything_in_memory(value: Any):
    if not isinstance(value, str):
        load_all(value)


@settings(deadline=None)
@given(rows=st.lists(st.tuples(LEAVES, LEAVES, LEAVES) | st.tuples(KEYS, KEYS, st.integers()), min_size=1, max_size=5))
def test_any_tuples(rows: list[Any]):
    load_all(rows)


IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
PLAIN_IDS = IDS.filter(lambda text: text.split() == [text] and not text.startswith("#") and text.isprintable())
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.slow
@settings(ONE_FOLDER, max_examples=60)
@given(
    ranking=st.dictionaries(
        PLAIN_IDS, st.dictionaries(PLAIN_IDS, NUMBERS, min_size=1, max_size=4), min_size=1, max_size=4
    )
)
@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_written_is_read_back(kind: str, ranking: dict[str, dict[str, float]], tmp_path: Path):
    file = tmp_path / f"x.{kind}"
    write_ranking(load_ranking(ranking).table(), file, force=True)
    table = load_ranking(file).table()
    assert table.score is not None
    read: dict[str, dict[str, float]] = {}
    for query, doc, score in zip(table.query, table.doc, table.score.tolist(), strict=True):
        read.setdefault(query, {})[doc] = score
    assert read == ranking
    write_judgments(load_judgments(ranking), file, force=True)
    assert load_judgments(file).as_dict() == ranking


@pytest.mark.first_is_quick
@settings(ONE_FOLDER, max_examples=60)
@given(ranking=st.dictionaries(IDS, st.dictionaries(IDS, NUMBERS, min_size=1, max_size=4), min_size=1, max_size=4))
@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet"])
def test_formats_that_take_every_id(kind: str, ranking: dict[str, dict[str, float]], tmp_path: Path):
    file = tmp_path / f"x.{kind}"
    write_judgments(load_judgments(ranking), file, force=True)
    assert load_judgments(file).as_dict() == ranking
