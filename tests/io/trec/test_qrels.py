"""TREC judgments: four columns, in every odd form, and errors with the line."""

from __future__ import annotations

import gzip
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankproof.errors import DataError, RankproofError
from rankproof.io.trec import read_qrels


@pytest.mark.parametrize(
    "content",
    [
        b"q1 0 d1 2\nq1 0 d2 -1\nq2 0 d1 0.5\n",
        b"q1\t0\td1\t2\r\nq1\t0\td2\t-1\r\nq2\t0\td1\t0.5\r\n",
        b"\xef\xbb\xbf# judged by hand\n\nq1   0 d1 2 \nq2 0 d1 .5\n  q1 0\td2 -1",
        b"q2 Q0 d1 5e-1\nq1 Q0 d1 +2\nq1 Q0 d2 -1\nq1 Q0 d2 -1.0\n",
    ],
    ids=["plain", "tabs and CRLF", "odd", "mixed and repeated"],
)
def test_forms_of_the_same_judgments(content):
    judgments = read_qrels(content)
    assert judgments.as_dict() == {"q1": {"d1": 2.0, "d2": -1.0}, "q2": {"d1": 0.5}}
    assert judgments.repeated == content.count(b"d2") - 1
    assert judgments.facets is None


def test_the_second_column_names_aspects_where_it_differs():
    judgments = read_qrels(b"q 1 a 1\nq 2 a 0\nq 2 b 3\nr 1 c 1\n")
    assert judgments.as_dict() == {"q": {"a": 1.0, "b": 3.0}, "r": {"c": 1.0}}
    assert judgments.facets.aspect.tolist() == [0, 1, 1, 0]
    assert judgments.facets.declared.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"q 0 d", "got 3 columns, expected 4: 'q 0 d'"),
        (b"q 0 d 1 x", "got 5 columns, expected 4: 'q 0 d 1 x'"),
        (b"q 0 d yes", "the grade is 'yes', expected a finite number: 'q 0 d yes'"),
        (b"q 0 d nan", "the grade is 'nan', expected a finite number"),
        (b"q 0 d inf", "the grade is 'inf', expected a finite number"),
        (b"q 0 d\0 1", "a NUL byte, expected text"),
        (b"q 0 d\xff 1", "are not valid UTF-8"),
    ],
)
@pytest.mark.parametrize("before", [b"", b"a 0 d 1\n" * 100, b"# c\r\n\r\n"])
def test_a_bad_line_is_an_error_with_its_number_and_text(line, said, before):
    with pytest.raises(DataError) as error:
        read_qrels(before + line + b"\nz 0 d 1\n", "the file")
    assert str(error.value).startswith(f"the file, line {before.count(10) + 1}: ")
    assert said in str(error.value)


def test_conflicting_judgments_are_an_error_with_both_lines():
    with pytest.raises(DataError, match=r"file: document 'd' of query 'q' .* 1 and 2 \(lines 2 and 5\)"):
        read_qrels(b"# c\nq 0 d 1\nq 0 e 2\n\nq 0 d 2\n", "file")


@pytest.mark.parametrize("content", [b"", b"\n \n", b"# only this\n"])
def test_no_judgments_are_an_error(content):
    with pytest.raises(DataError, match="no judgments in it"):
        read_qrels(content)


def test_files_and_archives(tmp_path):
    path = tmp_path / "qrels"
    path.write_bytes(gzip.compress(b"q 0 d 1\n"))
    assert read_qrels(path).source == str(path)
    assert read_qrels(path, "named").source == "named"
    path.write_bytes(gzip.compress(b"q 0 d 1\n" * 99)[:-9])
    with pytest.raises(DataError, match="truncated"):
        read_qrels(path)


def could_be_a_row(fields: list[str]) -> bool:
    """A query may be called #python."""
    try:
        return len(fields) == 4 and fields[0] != "#" and "_" not in fields[3] and not math.isnan(float(fields[3]))
    except ValueError:
        return False


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@example(b"#\x01 \x01 \x01 0")
@example(b"#q 0 d yes")
@given(st.one_of(st.binary(max_size=200), st.text("q01d# \t\n-.é", max_size=200).map(str.encode)))
def test_no_input_crashes_the_reader_and_what_is_read_is_right(content):
    try:
        judgments = read_qrels(content)
    except RankproofError:
        return
    expected = {}
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        fields = [field.decode() for field in line.split()]
        if fields and (not fields[0].startswith("#") or could_be_a_row(fields)):
            graded = expected.setdefault(fields[0], {})
            graded[fields[2]] = max(float(fields[3]), graded.get(fields[2], float("-inf")))
    assert judgments.as_dict() == expected
