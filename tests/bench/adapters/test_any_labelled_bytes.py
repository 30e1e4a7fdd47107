"""No corpus, no questions and no benchmark whatever may fail with anything but an error of ours."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankproof import Benchmark
from rankproof.errors import RankproofError
from rankproof.io.corpora import load_corpus, load_questions

VALID = [
    b'{"_id": "d1", "title": "a", "text": "one"}\n{"_id": "d2", "text": "two", "metadata": {"x": 1}}\n',
    b'{"id": "q1", "text": "why?", "relevant": {"d1": 2}}\n{"id": "q2", "text": "how?", "relevant": ["d1"]}\n',
    b'[{"id": "q1", "question": "why?", "relevant": ["d1", "d2"]}]',
    b'{"d1": "one", "d2": {"text": "two", "title": "b"}}',
    b'id,text,relevant\nq1,why?,d1 d2\nq2,"how, so?",d3\n',
    b"query_id\ttext\tdoc_id\tgrade\nq1\twhy?\td1\t2\nq1\twhy?\td2\t0\n",
    b"q1\twhy?\nq2\thow?\n",
]
PIECES = [b"\0", b"\xff", b"\xef\xbb\xbf", b"\n", b"\r", b'"', b",", b"\t", b"{", b"}", b"[", b"]", b":", b"null", b"NaN", b"\\ud800", b"1e999", b"id", b"text", b"relevant", b"PAR1", b"\x1f\x8b\x08"]  # fmt: skip


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    content = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(0, 4))):
        begin = draw(st.integers(0, len(content)))
        end = draw(st.integers(begin, min(len(content), begin + 6)))
        piece = draw(st.sampled_from(PIECES) | st.just(b"") | st.just(content[begin:end] * 2) | st.binary(max_size=3))
        content = content[:begin] + piece + content[end:]
    return content


@given(broken())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    for load in (load_corpus, load_questions, Benchmark.load):
        with suppress(RankproofError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load(path)
