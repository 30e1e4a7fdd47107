"""What goes wrong is one message on standard error and an exit code; never a traceback, never a half result."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

RUN = ("judgments.txt", "first.run")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("label", "pol.jsonl", "--agreement"), 2, "pol.jsonl: no such file"),
        (("label", "pol.jsonl", "--qrels", "new.tsv"), 2, "pol.jsonl: no such file"),
        (("rank-correlation", "judgments.txt", "first.run"), 3, "Next: give scores, or two rankings with judgments."),
        (("evaluat",), 2, "unknown command 'evaluat'. Did you mean 'evaluate'?"),
        (("evaluate", *RUN, "--tie", "id"), 2, "--ties"),
        (("evaluate", *RUN, "--ties", "trek"), 2, "ties: got 'trek'"),
        (
            ("evaluate", *RUN, "--import", "my.py"),
            2,
            "write it before the command: rankproof --import FILE|MODULE eval",
        ),
        (("experiment", "variants", "--version"), 2, "before the command: rankproof --version experiment variants ..."),
        (("evaluate", *RUN, "-f", "markdwn"), 2, "Did you mean 'markdown'?"),
        (("evaluate", *RUN, "-m", "nDCH@10"), 2, "Did you mean 'nDCG'?"),
        (("evaluate", *RUN, "-m", "P@0"), 2, "expected a whole number of at least 1"),
        (("evaluate", *RUN, "-m", "P(rell=2)"), 2, "Did you mean 'rel'?"),
        (("evaluate", *RUN, "--profile", "elastic"), 2, "'elasticsearch'"),
        (("evaluate", *RUN, "--corpus-size", "0"), 2, "--corpus-size: got 0"),
        (("evaluate", *RUN, "--corpus-size", "1.5"), 2, "--corpus-size: got 1.5"),
        (("gate", *RUN, "second.run", "--margin", "-1"), 2, "--margin: got -1.0"),
        (("compare", *RUN, "second.run", "--alpha", "3"), 2, "--alpha: got 3.0"),
        (("leaderboard", *RUN, "first.run"), 2, "first.run: given more than once. Next: name each file once."),
        (("evaluate", *RUN, "-m", "Accuracy"), 2, "corpus"),
        (
            ("evaluate", "judgments.txt"),
            2,
            "as the judgments and no run, expected one or more. Next: name them after the judgments, or give --counted",
        ),
        (("evaluate", "-", "-"), 2, "read once"),
        (("compare", *RUN, "first.run"), 2, "first.run: given more than once. Next: name each file once."),
        (("evaluate", "judgments.txt", "firs.run"), 2, "Did you mean 'first.run'?"),
        (("evaluate", "first.run", "judgments.txt"), 3, "swap the two arguments"),
        (("evaluate", *RUN, "-o", "no/such/folder/x"), 2, "name a file that can be written"),
        (("evaluate", *RUN, "--by", "judgments.txt"), 3, "judgments.txt, line 1"),
        (("app", ".", "--export", "first.run/site"), 3, "Next: check the path, its rights and the room on the disk."),
        (("explain", *RUN, "q3"), 2, "query 'q3' is not judged"),
        (("evaluate", *RUN, "-m", "P@1(rel=2)"), 2, "write it like P(rel=2)@1"),
        (("evaluate", *RUN, "-m", "P@1("), 2, "write it like @10"),
        (("explain", *RUN, "q1", "--versus", "quepids"), 2, "rankproof: --versus: got 'quepids'"),
        (("explain", *RUN, "q1", "-f", "xml"), 2, "format: got 'xml'"),
        (("audit", *RUN, "-f", "xml"), 2, "format: got 'xml'"),
        (("measures", "ndgc"), 2, "Did you mean"),
        (("profiles", "ranks"), 2, "Did you mean 'ranx'?"),
        (("convert", "first.run", "x.unknown"), 2, "does not say which format"),
    ],
)
def test_each_error_names_what_was_got_and_what_to_do(
    arguments: tuple[str, ...], code: int, says: str, rankproof: Any, files: Path
) -> None:
    done = rankproof(*arguments)
    assert done.code == code
    assert done.out == ""
    assert done.err.startswith("rankproof: ")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_a_bad_line_is_named_with_its_file(rankproof: Any, files: Path) -> None:
    (files / "bad.run").write_text("q1 Q0 d1 1 5 x\nq1 Q0 d2 2 five x\n")
    done = rankproof("evaluate", "judgments.txt", "bad.run")
    assert done.code == 3
    assert "bad.run" in done.err
    assert "line 2" in done.err
    assert "five" in done.err


def test_a_missing_package_is_named_with_the_line_that_installs_it(
    rankproof: Any, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = rankproof("evaluate", *RUN, "-f", "parquet", "-o", "x.parquet")
    assert done.code == 2
    assert "pip install 'rankproof[arrow]'" in done.err


def test_a_group_file_must_not_contradict_itself(rankproof: Any, files: Path) -> None:
    (files / "kinds.tsv").write_text("q1\teasy\nq1\thard\n")
    done = rankproof("evaluate", *RUN, "--by", "kinds.tsv")
    assert done.code == 3
    assert "line 2" in done.err


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=60), st.sampled_from(["judgments", "run"]))
def test_no_file_ends_in_a_traceback(rankproof: Any, files: Path, content: bytes, which: str) -> None:
    (files / "any").write_bytes(content)
    arguments = ("any", "first.run") if which == "judgments" else ("judgments.txt", "any")
    for command in ("evaluate", "audit"):
        done = rankproof(command, *arguments)
        assert done.code in (0, 2, 3)
        assert (done.code == 0) == (done.err == "") or done.out


def test_a_size_may_be_written_as_a_power_of_ten(rankproof: Any, files: Path) -> None:
    for words in (("evaluate", "-m", "Accuracy"), ("diagnose",)):
        done = rankproof(words[0], *RUN, *words[1:], "--corpus-size", "1e4")
        assert done.out == rankproof(words[0], *RUN, *words[1:], "--corpus-size", "10000").out != ""
