"""Groups of queries from everything `by=` and `--by` take."""

from __future__ import annotations

import json
import math
import shutil
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

from rankproof import Scores, compare, compare_scores, diagnose, evaluate, gate, gate_scores, judge, report, sample
from rankproof.cli import run
from rankproof.errors import DataError, RankproofError, UsageError
from rankproof.io.groups import load_groups
from rankproof.io.judgments import load_labelled

KINDS = {"q1": "typo", "q2": "easy", "q3": "typo"}
JUDGED = {query: {"a": 1} for query in KINDS}
RANKED = {query: ["a"] for query in KINDS}
BEIR = [{"_id": query, "text": "why?", "metadata": {"kind": kind}} for query, kind in KINDS.items()]
ROWS = [{"query": query, "kind": kind, "words": 3} for query, kind in KINDS.items()]

FILES = {
    "pairs.tsv": "q1\ttypo\n\nq2\teasy\nq3\ttypo\n",
    "header.tsv": "query-id\tkind\nq1\ttypo\nq2\teasy\nq3\ttypo\n",
    "table.csv": 'qid,text,kind\nq1,"a, b",typo\nq2,c,easy\nq3,d,typo\n',
    "beir.jsonl": "".join(json.dumps(each) + "\n" for each in BEIR),
    "flat.jsonl": "".join(json.dumps({"_id": q, "text": "x", "kind": k}) + "\n" for q, k in KINDS.items()),
}
SOURCES: dict[str, Any] = {
    "mapping": KINDS,
    "function": KINDS.get,
    "records": BEIR,
    "pair": (ROWS, "kind"),
    "pandas": (pandas.DataFrame(ROWS), "kind"),
    "polars": (polars.DataFrame(ROWS), "kind"),
    "two columns": polars.DataFrame(ROWS).select("query", "kind"),
    "mapping of records": ({q: {"kind": k, "n": 1} for q, k in KINDS.items()}, "kind"),
}


def sizes(by: Any, judged: Any = JUDGED) -> dict[str, int]:
    return {name: len(part.queries) for name, part in evaluate(judged, RANKED, "RR", by=by).slices.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_groups_from_values(name: str) -> None:
    assert sizes(SOURCES[name]) == {"easy": 1, "typo": 2}


@pytest.mark.parametrize("name", FILES)
def test_groups_from_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    assert sizes(tmp_path / name) == {"easy": 1, "typo": 2}
    if name not in ("pairs.tsv",):
        assert sizes(f"{tmp_path / name}:kind") == {"easy": 1, "typo": 2}


JUDGMENTS = [{"query": q, "doc": "a", "grade": 1, "kind": k, "long": q == "q1"} for q, k in KINDS.items()]


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame, polars.LazyFrame])
def test_a_column_of_the_judgments(frame: Any) -> None:
    assert sizes("kind", frame(JUDGMENTS)) == {"easy": 1, "typo": 2}
    assert sizes("long", frame(JUDGMENTS)) == {"false": 2, "true": 1}


def test_queries_that_are_integers_have_groups_by_integers_and_by_text() -> None:
    judged = {q: {1: 1} for q in (1, 2, 3)}
    for by in ({1: "easy", 2: "typo", 3: "typo"}, {"1": "easy", "2": "typo", "3": "typo"}):
        found = compare(judged, {"a": judged, "b": judged}, "RR", by=by)
        assert {row.slice: row.n for row in found} == {"": 3, "easy": 1, "typo": 2}
        assert {row.slice for row in gate(judged, judged, judged, "RR", by=by)} == {"", "easy", "typo"}


def test_a_column_of_a_file_of_judgments(tmp_path: Path) -> None:
    path = tmp_path / "judged.csv"
    pandas.DataFrame(JUDGMENTS).to_csv(path, index=False)
    assert sizes("kind", str(path)) == {"easy": 1, "typo": 2}
    found = compare(str(path), {"a": RANKED, "b": RANKED}, "RR", by="kind")
    assert {row.slice for row in found} == {"", "easy", "typo"}
    assert {row.slice for row in gate(str(path), RANKED, RANKED, "RR", by="kind")} == {"", "easy", "typo"}
    assert set(report(str(path), {"a": RANKED}, "RR", by="kind").scores["a"].slices) == {"easy", "typo"}


def test_missing_cells_are_no_group() -> None:
    rows = pandas.DataFrame({"query": list(KINDS), "kind": ["typo", None, "typo"], "n": [1, 2, 3]})
    assert sizes((rows, "kind")) == {"typo": 2}
    assert sizes((rows, "n")) == {"1": 1, "2": 1, "3": 1}


@pytest.mark.parametrize(
    ("by", "says"),
    [
        ("kinds", "not a file, and these judgments have no columns"),
        (7, "expected a mapping"),
        ((ROWS, "kin"), "Did you mean 'kind'"),
        (ROWS, "several fields, kind, words"),
        ([{"text": "x", "kind": "a"}], "without an id"),
        ([{"_id": "q1", "kind": "a"}, {"_id": "q1", "kind": "b"}], "in group 'a' and in 'b'"),
        ([{"_id": "q1", "kind": ["a"]}], "as a group"),
        (["q1"], "expected a record"),
        (dict.fromkeys(KINDS), "a group. Next: "),
        ({"x1": "a"}, "gives none of the 3 judged queries a group"),
    ],
)
def test_what_is_no_grouping_is_an_error(by: Any, says: str) -> None:
    with pytest.raises(RankproofError, match=r".") as error:
        sizes(by)
    assert says in str(error.value)


def test_names_of_fields_may_be_numbers() -> None:
    records = [{"query_id": "q1", 3: "x", "doc_id": "d1"}]
    assert load_groups(records, "3") == {"q1": "x"}
    with pytest.raises(UsageError, match="several fields, 3, doc_id"):
        load_groups(records)
    with pytest.raises(DataError, match="nothing says which documents are relevant"):
        load_labelled([{"question": "q1", 3: "x"}])


def test_an_unknown_column_names_those_there_are() -> None:
    with pytest.raises(RankproofError, match="Did you mean 'kind'"):
        sizes("knd", pandas.DataFrame(JUDGMENTS))


@pytest.mark.first_is_quick
@pytest.mark.parametrize("command", ["evaluate", "compare", "gate", "report"])
def test_the_shell_takes_a_field_of_the_queries(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in sample.folder().iterdir():
        if path.suffix in {".jsonl", ".tsv", ".run"}:
            shutil.copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    files = ["judgments.tsv", "keyword.run", "dense.run", "-m", "RR"]
    assert run([command, *files, "--by", "queries.jsonl:kind"]) in (0, 4)
    assert "paraphrase" in capsys.readouterr().out
    assert run([command, *files, "--by", "queries.jsonl"]) == 2
    assert "several fields, kind, topic" in capsys.readouterr().err
    assert run([command, *files, "--by", "knd"]) == 2
    told = capsys.readouterr().err
    assert "neither a file nor a usable column of the judgments" in told
    assert told.count("Next: ") == 1


LEFT = "of {} are in no group, so they count only in what is said of all"


def said(text: str) -> str:
    return " ".join(text.split()).replace("&#x27;", "'")


BEYOND = "The groups name {} queries not among the {} scored"


def test_queries_that_only_the_groups_name_are_told_of_in_every_result() -> None:
    judged = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    runs = {name: dict.fromkeys(judged, docs) for name, docs in (("one", ["a", "b"]), ("other", ["b", "a"]))}
    by = {**dict.fromkeys(judged, "x"), "Q1": "x", "q1 ": "y", "q99": "z"}
    told = BEYOND.format(3, 12)
    scores, found = evaluate(judged, runs["one"], "RR", by=by), compare(judged, runs, "RR", by=by)
    page = report(judged, runs, "RR", by=by)
    saved = {name: Scores.from_dict(each.to_dict()) for name, each in found.scores.items()}
    for text in (
        scores.format("full"),
        scores.format("markdown"),
        scores.apart,
        scores.html(),
        str(scores.to_dict()["audit"]),
        found.format("full"),
        found.format("markdown"),
        found.html(),
        compare_scores(saved).format("full"),
        compare_scores(saved, by=by).format("full"),
        gate(judged, *runs.values(), "RR", by=by).format("table"),
        gate_scores(*saved.values()).format("markdown"),
        page.html(),
        page.format("full"),
        diagnose(judged, runs["other"], by=by).format("full"),
    ):
        assert said(text).count(told) == 1, text
    assert "'Q1'" in scores.apart
    assert "'q99'" in scores.apart
    # Other groups leave nothing of what was said of the first ones.
    every = dict.fromkeys(judged, "all")
    assert "The groups name" not in compare_scores(saved, by=every).format("full")
    for other in (every, lambda query: "x", None):
        assert "The groups name" not in evaluate(judged, runs["one"], "RR", by=other).format("full")


def test_samples_that_only_the_groups_name_are_told_of() -> None:
    samples = [
        {"id": f"s{i}", "question": "Refund?", "contexts": ["Within 30 days."], "answer": "30 days."} for i in range(4)
    ]
    found = judge(samples, "faithfulness", by={"s0": "x", "S1": "x", "s2": "y", "s3": "y", "s1": "x"})
    assert "The groups name 1 sample not among the 4 scored" in said(found.format("full"))
    assert Scores.from_dict(found.to_dict()).apart == found.apart != ""


@pytest.mark.slow
def test_queries_in_no_group_are_told_of_in_every_result() -> None:
    judged = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    runs = {name: dict.fromkeys(judged, docs) for name, docs in (("one", ["a", "b"]), ("other", ["b", "a"]))}
    for by in ({"q1": "x", "q2": "y", "q3": "x"}, lambda query: "x" if query < "q10" else None):
        scores = evaluate(judged, runs["one"], "RR", by=by)
        left = f"{12 - sum(len(each.queries) for each in scores.slices.values())} {LEFT.format('12 queries')}"
        found = compare(judged, runs, "RR", by=by)
        gated = gate(judged, *runs.values(), "RR", by=by)
        page = report(judged, runs, "RR", by=by)
        for text in (
            scores.format("full"),
            scores.format("markdown"),
            scores.apart,
            found.format("full"),
            found.format("markdown"),
            found.html(),
            gated.format("table"),
            gated.format("markdown"),
            page.html(),
            page.format("full"),
            diagnose(judged, runs["other"], by=by).format("full"),
        ):
            assert said(text).count(left) == 1, text
        assert left in str(scores.to_dict()["audit"])
        assert Scores.from_dict(scores.to_dict()).apart == scores.apart
        again = evaluate(judged, runs["one"], "RR", by=dict.fromkeys(judged, "all"))
        assert not again.apart
        assert "no group" not in again.format("full")
        every = dict.fromkeys(judged, "all")
        assert "no group" not in compare(judged, runs, "RR", by=every).html()
    assert not evaluate(judged, runs["one"], "RR").apart


def test_samples_in_no_group_are_told_of() -> None:
    samples = [
        {"id": f"s{i}", "question": "Refund?", "contexts": ["Within 30 days."], "answer": "30 days."} for i in range(4)
    ]
    found = judge(samples, "faithfulness", by={"s0": "x"})
    assert f"3 {LEFT.format('4 samples')}" in said(found.format("full"))
    assert "s1" in found.apart


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("form", ["table", "full", "markdown", "csv", "json", "jsonl"])
@pytest.mark.parametrize("command", ["evaluate", "compare", "gate"])
def test_the_shell_tells_of_queries_in_no_group_once(
    command: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "groups").write_text("q01\ta\nq02\tb\n")
    files = [str(sample.folder() / each) for each in ("judgments.tsv", "keyword.run", "dense.run")]
    if command == "evaluate":
        files = files[:2]
    assert run([command, *files, "--by", str(tmp_path / "groups"), "-f", form]) in (0, 1, 4)
    done = capsys.readouterr()
    assert said(done.out + done.err).count("are in no group") == 1
    assert done.err.count("are in no group") == (form in ("csv", "jsonl") or (form == "json" and command != "gate"))


@pytest.mark.parametrize("convert", [polars.DataFrame.to_pandas, polars.DataFrame.to_arrow, polars.DataFrame.clone])
@pytest.mark.parametrize("kind", [date, datetime])
def test_dates_are_groups(convert: Any, kind: Any) -> None:
    days = [kind(2024, 1, 1), kind(2024, 1, 1), kind(2024, 1, 2)]
    frame = polars.DataFrame({"query": ["a", "b", "c"], "doc": ["x"] * 3, "grade": [1] * 3, "judged_on": days})
    slices = evaluate(convert(frame), {"a": ["x"]}, "RR", by="judged_on").slices
    assert {name: each.queries for name, each in slices.items()} == {"2024-01-01": ("a", "b"), "2024-01-02": ("c",)}


def test_a_column_that_is_there_is_not_said_to_be_missing(tmp_path: Path) -> None:
    rows = [{"query": "a", "doc": "x", "grade": 1, "took": timedelta(1)}]
    with pytest.raises(DataError, match="took") as odd:
        evaluate(polars.DataFrame(rows), {"a": ["x"]}, "RR", by="took")
    assert "no column" not in str(odd.value)
    (tmp_path / "judged.qrels").write_text("q1 0 d1 1\n")
    with pytest.raises(UsageError, match=r"'kind' is not a file, and these judgments have no columns\."):
        evaluate(tmp_path / "judged.qrels", {"q1": ["d1"]}, "RR", by="kind")


@pytest.mark.parametrize("groups", [{"q1": np.array(["a", "b"]), "q2": "x"}, {"q1": ["a"], "q2": "x"}])
def test_an_array_is_no_group(groups: Any) -> None:
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    records = [{"_id": query, "kind": group} for query, group in groups.items()]
    for by in (groups, groups.get, (records, "kind"), records):
        with pytest.raises(DataError, match="as a group, expected"):
            evaluate(judged, judged, by=by)


def test_a_query_whose_group_is_missing_is_in_none() -> None:
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    assert set(evaluate(judged, judged, by={"q1": math.nan, "q2": "x"}).slices) == {"x"}
