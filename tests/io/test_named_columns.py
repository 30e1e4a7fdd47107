"""Columns of exports: named by who gives them, or known by what test sets call them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankproof import Benchmark, audit, compare, diagnose, evaluate, explain, fuse, gate, pool
from rankproof.bench.retrieve import keyword
from rankproof.errors import DataError, UsageError
from tests.shell import rankproof

COLUMNS = {"query": "suchbegriff", "doc": "artikel", "grade": "note", "score": "wert"}
WORDS = ",".join(f"{role}={name}" for role, name in COLUMNS.items())
GRADES = [("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d3", 2)]
SCORES = [("q1", "d2", 2.0), ("q1", "d1", 1.0), ("q2", "d3", 3.0)]
FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "pandas", "polars", "records")


def given(form: str, folder: Path, rows: list[tuple[Any, ...]], value: str) -> Any:
    """The rows under names that nobody knows, beside columns that are not wanted."""
    names = ("quelle", "suchbegriff", "artikel", value)
    whole = [("x", *row) for row in rows]
    records = [dict(zip(names, row, strict=True)) for row in whole]
    path = folder / f"{value}.{form}"
    if form in ("csv", "tsv"):
        mark = "," if form == "csv" else "\t"
        path.write_text("".join(mark.join(map(str, row)) + "\n" for row in (names, *whole)))
    elif form in ("json", "jsonl"):
        path.write_text(json.dumps(records) if form == "json" else "".join(json.dumps(r) + "\n" for r in records))
    elif form == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(
            pytest.importorskip("pyarrow").Table.from_pylist(records), path
        )
    elif form in ("pandas", "polars"):
        return pytest.importorskip(form).DataFrame(records)
    else:
        return records
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_named_columns_of_every_format(form: str, tmp_path: Path) -> None:
    judged, ranked = given(form, tmp_path, GRADES, "note"), given(form, tmp_path, SCORES, "wert")
    expected = evaluate(GRADES, SCORES, "nDCG@10").per_query
    for columns in (COLUMNS, WORDS):
        assert evaluate(judged, ranked, "nDCG@10", columns=columns).per_query == expected
    with pytest.raises(DataError, match="Next: " if form == "tsv" else "columns={"):
        evaluate(judged, SCORES, "nDCG@10")


def test_every_verb_takes_columns(tmp_path: Path) -> None:
    judged, ranked = given("csv", tmp_path, GRADES, "note"), given("csv", tmp_path, SCORES, "wert")
    assert compare(judged, {"a": ranked, "b": SCORES}, "RR@10", columns=WORDS)
    assert gate(judged, SCORES, ranked, "RR@10", columns=WORDS)
    assert explain(judged, ranked, "q1", "RR@10", columns=WORDS)
    audit(judged, ranked, columns=WORDS)
    named = {role: COLUMNS[role] for role in ("query", "doc", "score")}
    assert fuse({"a": ranked, "b": SCORES}, columns=named)
    assert pool({"a": ranked}, columns=named)


RANKED = ("query", "doc", "score")
SHELL = {
    "evaluate": ("evaluate", "note.csv", "wert.csv", "-m", "RR@10"),
    "compare": ("compare", "note.csv", "wert.csv", "b.csv", "-m", "RR@10"),
    "gate": ("gate", "note.csv", "wert.csv", "b.csv", "-m", "RR@10"),
    "leaderboard": ("leaderboard", "note.csv", "wert.csv", "b.csv", "-m", "RR@10"),
    "report": ("report", "note.csv", "wert.csv", "-m", "RR@10"),
    "audit": ("audit", "note.csv", "wert.csv"),
    "diagnose": ("diagnose", "note.csv", "wert.csv"),
    "explain": ("explain", "note.csv", "wert.csv", "q1", "-m", "RR@10"),
    "convert": ("convert", "note.csv", "out.qrels", "--force"),
    "fuse": ("fuse", "wert.csv", "b.csv"),
    "rank": ("rank", "wert.csv", "-o", "ranked", "--force"),
}


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize("name", SHELL)
def test_every_command_takes_columns(name: str, tmp_path: Path) -> None:
    given("csv", tmp_path, GRADES, "note")
    path = given("csv", tmp_path, SCORES, "wert")
    (tmp_path / "b.csv").write_text(path.read_text())
    roles = {"convert": ("query", "doc", "grade"), "fuse": RANKED, "rank": RANKED}.get(name, tuple(COLUMNS))
    words = ",".join(f"{role}={COLUMNS[role]}" for role in roles)
    done = rankproof(tmp_path, *SHELL[name], "--columns", words)
    assert done.returncode in (0, 4), done.stderr
    assert rankproof(tmp_path, *SHELL[name]).returncode == 3
    new = {"audit": (), "convert": (), "evaluate": ("-o", "new.csv", "--save", "mine")}.get(name, ("-o", "new.csv"))
    for more in ((), new):
        before = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
        wrong = rankproof(tmp_path, *SHELL[name], *more, "--columns", f"{words},rank=nowhere")
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert "no input has a column 'nowhere'" in wrong.stderr
        after = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
        assert after == before, "nothing is written before the names are known to be right"


@pytest.mark.parametrize("columns", ["query", "qurey=a", "query=a,query=b", "doc=", {"query": 3}])
def test_what_names_no_column_is_an_error(columns: Any) -> None:
    with pytest.raises(UsageError, match="expected ROLE=COLUMN"):
        evaluate(GRADES, SCORES, "RR", columns=columns)


@pytest.mark.parametrize("form", ["pandas", "polars", "csv", "jsonl", "parquet"])
def test_one_column_has_one_role_in_a_table(form: str, tmp_path: Path) -> None:
    rows = [{"a": "q1", "b": "d1", "value": 1}, {"a": "q2", "b": "d3", "value": 2}]
    judged, ranked = (written(rows, form, tmp_path) for _ in range(2))
    for columns in (
        "query=a,doc=a,score=value,grade=value",
        "query=a,doc=b,score=value,rank=value,grade=value",
    ):
        with pytest.raises(UsageError, match="expected a column of its own for each"):
            evaluate(judged, ranked, "RR", columns=columns)
    assert evaluate(judged, ranked, "RR", columns="query=a,doc=b,score=value,grade=value").means["RR"] == 1.0


RECORDS: dict[str, list[dict[str, Any]]] = {
    "expected": [
        {"id": "q1", "question": "why", "expected": "d1"},
        {"id": "q2", "question": "who", "expected": "d3"},
    ],
    "expected_doc": [{"query_id": "q1", "expected_doc": "d1"}, {"query_id": "q2", "expected_doc": "d3"}],
    "doc_ids": [{"query_id": "q1", "doc_ids": ["d1"]}, {"query_id": "q2", "doc_ids": ["d3"]}],
    "ground_truth_ids": [
        {"id": "q1", "question": "why", "ground_truth_ids": ["d1"], "note": "x"},
        {"id": "q2", "question": "who", "ground_truth_ids": ["d3"], "note": "y"},
    ],
}
ANSWERS = [
    {"id": "q1", "question": "why", "ground_truth_ids": ["d1"], "retrieved_ids": ["d2", "d1"]},
    {"id": "q2", "question": "who", "ground_truth_ids": ["d3"], "retrieved_ids": ["d3"]},
]


def written(records: list[dict[str, Any]], form: str, path: Path) -> Any:
    if form in ("pandas", "polars"):
        return pytest.importorskip(form).DataFrame(records)
    file = path / f"{len(list(path.iterdir()))}.{form}"
    if form == "jsonl":
        file.write_text("".join(json.dumps(each) + "\n" for each in records))
    elif form == "parquet":
        arrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(records), file)
    else:
        cells = [[json.dumps(v) if isinstance(v, list) else str(v) for v in each.values()] for each in records]
        quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [list(records[0]), *cells]]
        file.write_text("\n".join(quoted) + "\n")
    return file


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "pandas", "polars"])
@pytest.mark.parametrize("name", RECORDS)
def test_what_test_sets_call_it_is_known(name: str, form: str, tmp_path: Path) -> None:
    ranking = {"q1": ["d2", "d1"], "q2": ["d3"]}
    assert evaluate(written(RECORDS[name], form, tmp_path), ranking, "RR")["RR"] == 0.75


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "pandas", "polars"])
def test_one_file_may_hold_what_was_expected_and_what_was_found(form: str, tmp_path: Path) -> None:
    both = written(ANSWERS, form, tmp_path)
    assert evaluate(both, both, "RR").per_query["RR"] == {"q1": 0.5, "q2": 1.0}


def test_a_benchmark_takes_named_columns_for_all_that_it_reads(tmp_path: Path) -> None:
    questions = [{"key": "a", "phrase": "red shoe"}, {"key": "b", "phrase": "blue hat"}]
    judged = [{"key": "a", "sku": "1", "stars": 3}, {"key": "b", "sku": "2", "stars": 1}]
    pages = [{"sku": "1", "blurb": "A red shoe."}, {"sku": "2", "blurb": "A blue hat."}]
    roles = "query=key,question=phrase,doc=sku,grade=stars,text=blurb"
    forms: list[Any] = [[questions, judged, pages]]
    frames = [pytest.importorskip("polars").DataFrame(each) for each in forms[0]]
    forms.append(frames)
    forms.append([tmp_path / f"{number}.csv" for number in range(3)])
    forms.append([tmp_path / f"{number}.parquet" for number in range(3)])
    for frame, csv, parquet in zip(frames, *forms[2:], strict=True):
        frame.write_csv(csv)
        frame.write_parquet(parquet)
    for form in forms:
        bench = Benchmark(*form, columns=roles)
        assert bench.queries == {"a": "red shoe", "b": "blue hat"}
        assert bench.judgments.as_dict() == {"a": {"1": 3.0}, "b": {"2": 1.0}}  # type: ignore[union-attr]
        assert [each.text for each in bench.corpus.values()] == ["A red shoe.", "A blue hat."]  # type: ignore[union-attr]
    together = [{**one, **two} for one, two in zip(questions, judged, strict=True)]
    found = Benchmark.load(together, columns="query=key,question=phrase,doc=sku,grade=stars")
    assert found.judgments.as_dict() == bench.judgments.as_dict()  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="no input has a column 'wordz'"):
        Benchmark(questions, columns="query=key,text=phrase,title=wordz")


def test_a_benchmark_reads_lists_of_what_is_expected() -> None:
    for name in ("expected_doc_ids", "ground_truth_ids", "gold", "relevant_ids"):
        for value in (["a", "b"], '["a", "b"]', {"a": 1, "b": 1}, ("a", "b")):
            found = Benchmark.load([{"id": "q", "question": "Which?", name: value}])
            assert found.judgments.as_dict() == {"q": {"a": 1.0, "b": 1.0}}  # type: ignore[union-attr]
        for nothing in (None, "", []):
            found = Benchmark.load([{"id": "q", "question": "Which?", name: nothing}])
            assert found.judgments.as_dict() == {"q": {}}  # type: ignore[union-attr]


INTEGERS = ({7: {40: 1}, 8: {41: 1}}, [(7, 40, 1), (8, 41, 1)], "parquet")


@pytest.mark.parametrize("judged", INTEGERS, ids=["dict", "rows", "parquet"])
def test_judgments_with_integers_meet_documents_and_questions_of_a_file(judged: Any, tmp_path: Path) -> None:
    """A CSV has no types, and a corpus keeps its ids as text: `40` is the document 40, `040` is none."""
    if judged == "parquet":
        judged = tmp_path / "judged.parquet"
        rows = [{"query_id": q, "doc_id": d, "grade": g} for q, d, g in INTEGERS[1]]
        pytest.importorskip("polars").DataFrame(rows).write_parquet(judged)
    (tmp_path / "questions.csv").write_text("key,words\n7,red shoe\n8,blue hat\n")
    (tmp_path / "pages.csv").write_text("sku,blurb\n40,a red shoe\n41,a blue hat\n42,a green coat\n")
    (tmp_path / "found.csv").write_text("query_id,doc_id,score\n7,42,2\n7,40,1\n8,41,3\n")
    roles = "query=key,question=words,doc=sku,text=blurb"
    bench = Benchmark(tmp_path / "questions.csv", judged, tmp_path / "pages.csv", columns=roles)
    run = bench.run("words", keyword(bench.corpus), progress=False)
    assert (run.scores["RR@10"], len(run.failures)) == (1.0, 0)
    padded = bench.run("padded", lambda text: ["040", "041"], progress=False)
    assert padded.scores["RR@10"] == 0.0
    whole = bench.run("integers", lambda text: [41, 40], progress=False)
    assert whole.scores["RR@10"] == 0.75
    assert bench.diagnose("words").fixes
    questions, pages = bench.queries, bench.corpus
    found = diagnose(judged, tmp_path / "found.csv", "RR@10", queries=questions, corpus=pages)
    assert "keyword-instead" in {fix.kind for fix in found.fixes}


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "json"])
def test_questions_of_every_format_are_read_by_verbs_that_show_them(kind: str, tmp_path: Path) -> None:
    texts = pytest.importorskip("polars").DataFrame({"key": ["a", "b"], "words": ["red shoe", "blue hat"]})
    write = {"jsonl": texts.write_ndjson}.get(kind) or getattr(texts, f"write_{kind}")
    write(tmp_path / f"questions.{kind}")
    (tmp_path / "judged").write_text("a 0 d1 1\nb 0 d2 1\n")
    (tmp_path / "run").write_text("a Q0 d1 1 1 x\nb Q0 d2 1 1 x\n")
    roles = ("--queries", f"questions.{kind}", "--columns", "query=key,question=words")
    explained = rankproof(tmp_path, "explain", "judged", "run", "a", *roles)
    assert explained.stdout.startswith("Query a: red shoe\n"), explained.stderr
    for verb in (("explain", "judged", "run", "a"), ("report", "judged", "run")):
        done = rankproof(tmp_path, *verb, *roles, "-o", f"{verb[0]}.html")
        assert done.returncode == 0, done.stderr
        assert "red shoe" in (tmp_path / f"{verb[0]}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["csv", "jsonl", "pandas", "records"])
@pytest.mark.parametrize("role", ["query", "doc", "score"])
def test_a_named_column_that_is_not_there_is_told_by_its_name(form: str, role: str, tmp_path: Path) -> None:
    ranked = given(form, tmp_path, SCORES, "wert")
    with pytest.raises(
        DataError, match=f"no column 'zzz', which was named as the {role}.*'suchbegriff', 'artikel', 'wert'"
    ):
        evaluate(GRADES, ranked, "RR@10", columns={**COLUMNS, role: "zzz"})


@pytest.mark.parametrize(("written", "got"), [("foo", "'foo', expected"), ("query=a,scroe", "'scroe', expected")])
def test_a_role_without_a_column_is_told_as_it_was_written(written: str, got: str) -> None:
    with pytest.raises(UsageError, match=got):
        evaluate(GRADES, SCORES, "RR@10", columns=written)
