"""`rankproof fuse` as a user would run it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rankproof import fuse, sample, tune
from rankproof.cli import run
from rankproof.io.load import load_ranking


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def rankproof(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = run(["fuse", *arguments])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample's files in a folder, which is also where we stand."""
    for path in Path(str(sample.folder())).iterdir():
        if path.suffix in {".tsv", ".run"}:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scores_in(path: Path) -> dict[str, dict[str, float]]:
    table = load_ranking(path).table()
    found: dict[str, dict[str, float]] = {}
    for query, doc, score in zip(table.query, table.doc, table.score, strict=True):
        found.setdefault(query, {})[doc] = score
    return found


@pytest.mark.parametrize("name", ["fused.run", "fused.csv", "fused.jsonl.gz", "fused.parquet"])
def test_the_file_holds_what_the_function_gives(rankproof: Any, files: Path, name: str) -> None:
    pytest.importorskip("pyarrow")
    done = rankproof("keyword.run", "dense.run", "-o", f"new-{name}")
    assert (done.code, done.out, done.err) == (0, "", f"Wrote new-{name}.\n")
    expected = fuse([files / "keyword.run", files / "dense.run"])
    assert scores_in(files / f"new-{name}") == {query: docs for query, docs in expected.items() if docs}


def test_standard_output_is_a_trec_run_best_first(rankproof: Any, files: Path) -> None:
    done = rankproof("keyword.run", "dense.run", "--method", "combmnz", "--normalise", "z-score", "--depth", "5")
    expected = fuse({"a": "keyword.run", "b": "dense.run"}, "combmnz", normalise="z-score", depth=5)
    rows = [line.split() for line in done.out.splitlines()]
    assert [(row[0], row[2]) for row in rows] == [(query, doc) for query, docs in expected.items() for doc in docs]
    assert [row[3] for row in rows][:3] == ["1", "2", "3"]


def test_another_format_on_standard_output(rankproof: Any, files: Path) -> None:
    done = rankproof("keyword.run", "dense.run", "--to", "jsonl")
    assert json.loads(done.out.splitlines()[0])


def test_weights_and_parameters_reach_the_method(rankproof: Any, files: Path) -> None:
    rankproof("keyword.run", "dense.run", "--weights", "0.7,0.3", "--set", "k=5", "-o", "new.run")
    assert scores_in(files / "new.run") == fuse(["keyword.run", "dense.run"], weights=[0.7, 0.3], k=5)


def test_methods_that_learn_take_judgments(rankproof: Any, files: Path) -> None:
    done = rankproof(
        "keyword.run",
        "dense.run",
        "--method",
        "segfuse",
        "--judgments",
        "judgments.tsv",
        "--set",
        "sizes=ranx",
        "-o",
        "new.run",
    )
    assert done.code == 0
    expected = fuse(["keyword.run", "dense.run"], "segfuse", judgments="judgments.tsv", sizes="ranx")
    assert scores_in(files / "new.run") == expected


@pytest.mark.slow
def test_tuning_prints_both_parts_and_writes_all_queries(rankproof: Any, files: Path) -> None:
    done = rankproof(
        "keyword.run",
        "dense.run",
        "--tune",
        "judgments.tsv",
        "-m",
        "RR",
        "--method",
        "wsum",
        "--seed",
        "3",
        "-o",
        "new.run",
    )
    expected = tune("judgments.tsv", ["keyword.run", "dense.run"], "wsum", "RR", seed=3)
    assert done.out == str(expected)
    assert "held out" in done.out
    assert scores_in(files / "new.run") == expected.fuse(["keyword.run", "dense.run"])


def test_tuning_leaves_standard_output_to_the_ranking_where_it_goes_there(rankproof: Any, files: Path) -> None:
    done = rankproof("keyword.run", "dense.run", "--tune", "judgments.tsv", "-o", "-")
    assert "held out" in done.err
    assert len({len(line.split()) for line in done.out.splitlines()}) == 1


def test_one_run_may_be_standard_input(rankproof: Any, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stdin() -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((files / "dense.run").read_bytes())))

    stdin()
    rankproof("keyword.run", "-", "-o", "one.run")
    assert scores_in(files / "one.run") == fuse(["keyword.run", "dense.run"])
    stdin()
    done = rankproof("keyword.run", "-", "--tune", "judgments.tsv", "-o", "two.run")
    assert done.code == 0
    assert "standard input alone" in done.out


def test_one_run_is_told(rankproof: Any, files: Path) -> None:
    done = rankproof("keyword.run", "-o", "new.run")
    assert done.code == 0
    assert (
        done.err == "Wrote new.run.\n"
        "rankproof: note: only one ranking, 'keyword.run', so there is nothing to combine it with\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "rff"], "Did you mean 'rrf'"),
        (["--weights", "1,x"], "--weights: got 'x', expected a number"),
        (["--weights", "1"], "got 1 for 2 rankings"),
        (["--set", "k"], "expected NAME=VALUE"),
        (["--set", "weights=1"], "--set: got 'weights=1'"),
        (["--set", "systems=1"], "--set: got 'systems=1'"),
        (["--weights", "a,b"], "--weights: got 'a', expected a number"),
        (["--set", "k=many"], "k is 'many'"),
        (["--method", "mapfuse"], "--judgments"),
        (["--tune", "judgments.tsv", "--weights", "1,2"], "leave one of them out"),
        (["--tune", "judgments.tsv", "--set", "k=1"], "leave one of them out"),
        (["--tune", "nowhere.tsv"], "nowhere.tsv"),
        (["-o", "new.doc"], "does not say which format"),
        (["-o", "nowhere/new.run"], "cannot be written"),
        (["third.run"], "third.run"),
    ],
)
def test_mistakes_are_one_line_that_helps(rankproof: Any, files: Path, arguments: list[str], words: str) -> None:
    done = rankproof("keyword.run", "dense.run", *arguments)
    assert done.code == 2
    assert words in done.err
    assert done.out == ""
    assert done.err.count("\n") == 1
