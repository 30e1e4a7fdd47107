"""`Benchmark`: questions come in from anywhere, runs are scored and compared, a winner is named only where it is one."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rankproof import Benchmark, Comparison, History, compare, diagnose, evaluate, fuse, gate, report, sample
from rankproof.errors import DataError, RankproofError, UsageError

QUESTIONS = {"q1": "Refund, please?", "q2": "Opening\thours?", "q3": "Nothing known?"}
GRADES = {"q1": {"d1": 3, "d2": 1}, "q2": {"d2": 1}, "q3": {}}
DOCUMENTS = {"d1": {"title": "Refunds", "text": "30 days", "topic": "money"}, "d2": "9 to 5", "d3": "other"}


def graded() -> Benchmark:
    return Benchmark(QUESTIONS, GRADES, DOCUMENTS)


def find(text: str) -> list[str]:
    return {"R": ["d2", "d1"], "O": ["d3", "d2"]}.get(text[0], [])


def test_a_run_needs_a_name() -> None:
    for name in ("", 5, None):
        with pytest.raises(UsageError, match="run: name: got"):
            graded().run(name, find)  # type: ignore[arg-type]


# --- making one -----------------------------------------------------------------------------------


def test_relevant_may_be_a_list_a_set_or_grades() -> None:
    bench = Benchmark()
    bench.add_query("q1", "Refund?", {"d1": 3, "d2": 1})
    bench.add_query("q2", "Hours?", ["d2"])
    bench.add_query("q3", "More?", {"d4"})
    bench.add_query("q4", "None?", [])
    assert bench.judgments is not None
    assert bench.judgments.as_dict() == {
        "q1": {"d1": 3.0, "d2": 1.0},
        "q2": {"d2": 1.0},
        "q3": {"d4": 1.0},
        "q4": {},
    }
    assert len(bench) == 4
    bench.add_query("q5", "Later?", ["d1"])
    assert len(bench) == 5


def test_added_questions_join_those_given() -> None:
    bench = Benchmark({"q1": "Refund?"}, {"q1": ["d1"]})
    bench.add_query("q2", "Hours?", ["d2"])
    run = bench.run("both", lambda text: ["d1"])
    assert run.scores.values("RR@10") == {"q1": 1.0, "q2": 0.0}


def test_what_cannot_be_added_is_refused() -> None:
    bench = graded()
    for arguments, message in (
        (("q1", "Again?", ["d1"]), "question 'q1' exists already"),
        (("q9", "  ", ["d1"]), "a question without words"),
        (("q9", "Text?", "d1"), "relevant: got 'd1', expected a list or set"),
        (("q9", "Text?", None), "relevant: got None"),
        (("q9", "Text?", {"d1": "high"}), "grade"),
        ((1.5, "Text?", ["d1"]), "got 1.5 as an id"),
    ):
        with pytest.raises(DataError) as error:
            bench.add_query(*arguments)
        assert message in str(error.value)
    with pytest.raises(DataError, match="ids that are integers and ids that are text"):
        bench.add_query("q9", "Text?", [7])
    assert len(bench) == 3


def test_without_queries_the_ids_of_the_judgments_are_the_questions() -> None:
    asked: list[str] = []
    Benchmark(judgments={"Refund?": ["d1"]}).run("x", lambda text: asked.append(text) or ["d1"])
    assert asked == ["Refund?"]


def test_only_judged_questions_are_asked() -> None:
    bench = Benchmark({**QUESTIONS, "q4": "Unjudged?"}, GRADES)
    run = bench.run("find", find)
    assert len(run.rows) == 3
    assert "1 of 4 questions were not asked" in str(run)
    with pytest.raises(DataError, match="1 judged questions have no text, for example 'q3'"):
        Benchmark({"q1": "a", "q2": "b"}, GRADES).run("find", find)
    with pytest.raises(UsageError, match="there is no question to ask"):
        Benchmark().run("find", find)


def test_without_judgments_a_run_has_no_scores_and_says_so() -> None:
    run = Benchmark(QUESTIONS).run("find", find)
    assert run.ranking["q1"] == {"d2": 2.0, "d1": 1.0}
    assert "p95" in str(run)
    with pytest.raises(UsageError, match="there are no judgments to score it by"):
        run.evaluate()


def test_ids_that_are_integers_are_taken_where_the_judgments_have_them() -> None:
    bench = Benchmark()
    bench.add_query("q1", "Refund?", [7])
    run = bench.run("numbers", lambda text: [3, 7])
    assert run.scores["RR@10"] == 0.5
    assert evaluate(bench.judgments, run, "RR")["RR"] == 0.5
    assert "where the judgments have integers" in bench.run("text", lambda text: ["7"]).failures["q1"]
    text = Benchmark({"q1": "Refund?"}, {"q1": ["007"]})
    assert "the integer 7 as an id where the judgments have text" in text.run("n", lambda t: [7]).failures["q1"]


# --- loading and saving ---------------------------------------------------------------------------

Query = namedtuple("Query", "query_id text")
Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
Doc = namedtuple("Doc", "doc_id title text")


class IrDataset:
    def queries_iter(self) -> Any:
        return (Query(*each) for each in QUESTIONS.items())

    def qrels_iter(self) -> Any:
        return (Qrel(query, doc, grade, "0") for query, docs in GRADES.items() for doc, grade in docs.items())

    def docs_iter(self) -> Any:
        return iter([Doc("d1", "Refunds", "30 days"), Doc("d2", "", "9 to 5")])


def records() -> list[dict[str, Any]]:
    return [{"id": name, "question": text, "relevant": GRADES[name]} for name, text in QUESTIONS.items()]


def rows() -> list[dict[str, Any]]:
    return [
        {"query_id": name, "query": QUESTIONS[name], "doc_id": doc, "grade": grade}
        for name, docs in GRADES.items()
        for doc, grade in (docs or {"": 0}).items()
    ]


def as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def content(bench: Benchmark) -> tuple[Any, Any]:
    assert bench.judgments is not None
    return bench.queries, bench.judgments.as_dict()


def test_every_source_loads_the_same_questions(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records()))
    (tmp_path / "b.json").write_text(json.dumps(records()))
    (tmp_path / "b.csv").write_text(as_csv(rows()))
    (tmp_path / "json-in.csv").write_text(as_csv([{**r, "relevant": json.dumps(r["relevant"])} for r in records()]))
    pl.DataFrame(rows()).write_parquet(tmp_path / "b.parquet")
    sources = [
        records(),
        tmp_path / "b.jsonl",
        str(tmp_path / "b.json"),
        tmp_path / "b.csv",
        tmp_path / "json-in.csv",
        tmp_path / "b.parquet",
        pl.DataFrame(rows()),
        pd.DataFrame(rows()),
        IrDataset(),
    ]
    for source in sources:
        questions, judged = content(Benchmark.load(source))
        assert questions == QUESTIONS, source
        assert judged == GRADES or judged == {name: GRADES[name] for name in ("q1", "q2")}, source


def test_a_folder_keeps_its_aspects_beside_a_question_without_documents(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\taspect\nq1\td1\t1\tx\nq1\td2\t1\ty\n")
    questions = [{"_id": "q1", "text": "Both?"}, {"_id": "q2", "text": "None?", "metadata": {"judged": True}}]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(each) + "\n" for each in questions))
    judged, found = Benchmark.load(tmp_path).judgments, {"q1": ["d1", "x", "d2"], "q2": ["d1"]}
    assert judged is not None
    assert judged.as_dict() == {"q1": {"d1": 1.0, "d2": 1.0}, "q2": {}}
    own, whole = (evaluate(each, found, "alpha_nDCG@10,P@2") for each in (tmp_path, judged))
    assert {name: 2 * whole[name] for name in whole} == dict(own)


def test_lists_of_ids_in_a_cell_are_taken_apart(tmp_path: Path) -> None:
    for cell in ("d1 d2", "d1;d2", "d1|d2", '"d1, d2"', '"[""d1"", ""d2""]"'):
        (tmp_path / "b.csv").write_text(f"id,text,relevant\nq1,Refund?,{cell}\n")
        assert content(Benchmark.load(tmp_path / "b.csv")) == (
            {"q1": "Refund?"},
            {"q1": {"d1": 1.0, "d2": 1.0}},
        )


def test_a_saved_benchmark_loads_the_same(tmp_path: Path) -> None:
    for name in ("folder", "file.jsonl"):
        graded().save(tmp_path / name)
        assert content(Benchmark.load(tmp_path / name))[0] == QUESTIONS
    loaded = Benchmark.load(tmp_path / "folder")
    assert content(loaded)[1] == GRADES
    assert loaded.corpus is not None
    assert loaded.corpus.fingerprint == graded().corpus.fingerprint
    assert content(Benchmark.load(tmp_path / "file.jsonl"))[1] == GRADES
    assert evaluate(tmp_path / "folder", loaded.run("find", find).ranking)["RR@10"] == 0.75


def test_the_sample_is_a_benchmark() -> None:
    for bench in (Benchmark.sample(), Benchmark.load("sample")):
        assert (len(bench), len(bench.corpus or ())) == (60, 156)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "q1", "text": "Refund?"}\n', "nothing says which documents are relevant"),
        ('{"id": "q1", "relevant": ["d1"]}\n', "line 1: a record without a text"),
        ('{"id": "q1", "text": "a", "relevant": 7}\n', "got 7, expected a list of ids"),
        ("id,text,doc_id,grade\nq1,a,d1,1\nq1,b,d2,1\n", "line 3: question 'q1' has another text"),
        ("id,text,doc_id,grade\nq1,a,d1,1\nq1,a,d1,2\n", "document 'd1' is judged twice"),
        ("id,text,doc_id,grade\nq1,a,d1,high\n", "got 'high' as a grade"),
    ],
)
def test_what_is_wrong_with_labelled_questions_is_said(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "b.txt").write_text(text)
    with pytest.raises(RankproofError) as error:
        Benchmark.load(tmp_path / "b.txt")
    assert message in str(error.value)


# --- runs flow on -----------------------------------------------------------------------------------


def test_unknown_documents_are_reported_and_stay() -> None:
    run = graded().run("odd", lambda text: ["d1", "d77", "d88"])
    assert run.unknown == {name: ["d77", "d88"] for name in QUESTIONS}
    assert "3 questions found documents that are not in the corpus ('d77', ...;" in " ".join(str(run).split())
    assert list(run.ranking["q1"]) == ["d1", "d77", "d88"]


def test_a_run_gives_what_evaluate_gives_on_its_ranking() -> None:
    bench = Benchmark.sample()
    dense = sample.rankings()["dense"]
    by_text = {text: dense[name] for name, text in bench.queries.items()}
    run = bench.run("dense", lambda text: list(by_text[text].items()), k=100)
    assert run.ranking == dense
    expected = evaluate(sample.judgments(), dense)
    assert run.scores.means == expected.means
    assert run.evaluate("AP@20", no_relevant="skip")["AP@20"] == pytest.approx(
        evaluate(sample.judgments(), dense, "AP@20", no_relevant="skip")["AP@20"]
    )


def with_hits(names: list[str], share: float, seed: int) -> Any:
    """A retriever that finds the right document first for a share of the questions."""
    lucky = set(random.Random(seed).sample(names, round(len(names) * share)))
    return lambda text: ["right", "wrong"] if text in lucky else ["wrong", "right"]


def many(n: int = 80) -> tuple[Benchmark, list[str]]:
    texts = [f"question {i}" for i in range(n)]
    return Benchmark({f"q{i}": text for i, text in enumerate(texts)}, {f"q{i}": ["right"] for i in range(n)}), texts


def test_a_winner_is_named_only_where_it_is_better_than_every_other() -> None:
    bench, texts = many()
    bench.run("weak", with_hits(texts, 0.1, 1))
    bench.run("strong", with_hits(texts, 0.9, 2))
    assert bench.compare("RR").winner == "strong"
    assert bench.compare("RR", baseline="strong").winner == "strong"
    bench.run("also strong", with_hits(texts, 0.88, 3))
    found = bench.compare("RR, P@1")
    assert isinstance(found, Comparison)
    assert found.winner is None
    assert found.row("strong", "RR").verdict == "better"
    assert [each["system"] for each in found.standings] == ["strong", "also strong", "weak"]
    assert "No winner: strong leads on RR, and also strong cannot be told from it." in str(found)
    assert bench.compare("RR", runs=["weak", "also strong"]).winner == "also strong"


def test_the_markdown_table_is_sorted_and_has_latencies_beside_quality() -> None:
    bench, texts = many()
    bench.run("weak", with_hits(texts, 0.1, 1))
    bench.run("strong", with_hits(texts, 0.9, 2))
    lines = bench.compare("RR, P@1").markdown().split("\n")
    assert lines[0] == "| system | RR | P@1 | p50 | p95 | p99 | failed |"
    assert [line.split("|")[1].strip() for line in lines[2:4]] == ["strong", "weak"]
    assert "ms" in lines[2]
    assert json.loads(bench.compare("RR").format("json"))
    plain = bench.compare("RR").to_dict()
    assert plain["winner"] == "strong"
    assert plain["standings"][0]["means"]["RR"] == pytest.approx(0.95)
    assert max(map(len, str(bench.compare("RR")).split("\n"))) <= 80


@pytest.mark.slow
def test_a_comparison_takes_conventions_and_groups() -> None:
    bench, texts = many()
    bench.run("weak", with_hits(texts, 0.1, 1))
    bench.run("strong", with_hits(texts, 0.9, 2))
    found = bench.compare("RR", by=lambda query: "even" if int(query[1:]) % 2 == 0 else "odd", margin=0.01, alpha=0.1)
    assert {row.slice for row in found} == {"", "even", "odd"}
    assert (found.margin, found.alpha, found.winner) == (0.01, 0.1, "strong")
    assert bench.compare("RR", missing="skip", seed=3).winner == "strong"


def test_comparisons_that_cannot_be_are_refused() -> None:
    bench, texts = many()
    with pytest.raises(UsageError, match="compare needs two runs or more, there are 0"):
        bench.compare()
    bench.run("one", with_hits(texts, 0.5, 1))
    with pytest.raises(UsageError, match="there are 1"):
        bench.compare()
    with pytest.raises(UsageError, match="run: got 'onee'"):
        bench.compare(runs=["one", "onee"])
    bench.run("two", with_hits(texts, 0.5, 1))
    with pytest.raises(UsageError, match="baseline: got 'three'"):
        bench.compare(baseline="three")


def test_runs_of_changed_questions_are_scored_by_the_new_judgments() -> None:
    bench = Benchmark({"q1": "Refund?"}, {"q1": ["d1"]})
    bench.run("before", lambda text: ["d1"])
    bench.add_query("q2", "Hours?", ["d1"])
    bench.run("after", lambda text: ["d1"])
    row = bench.compare("RR").row("after", "RR")
    assert (row.n, row.difference) == (2, 0.5)


def test_runs_flow_into_compare_gate_report_and_history(tmp_path: Path) -> None:
    bench, texts = many()
    before, after = (
        bench.run("before", with_hits(texts, 0.1, 1)),
        bench.run("after", with_hits(texts, 0.9, 2)),
    )
    judgments = bench.judgments
    assert compare(judgments, bench.runs, "RR").winner == "after"
    assert gate(judgments, before, after, "RR").outcome == "pass"
    assert "after" in report(judgments, bench.runs).markdown()
    assert fuse(bench.runs) == fuse({name: run.ranking for name, run in bench.runs.items()})
    history = History(tmp_path / "h.db")
    history.save(before.scores, "before")
    assert history.scores("before").means == before.scores.means


@pytest.mark.slow
def test_a_run_is_diagnosed_with_the_questions_and_the_corpus() -> None:
    bench = Benchmark.sample()
    keyword = sample.rankings()["keyword"]
    by_text = {text: keyword.get(name, {}) for name, text in bench.queries.items()}
    bench.run("keyword", lambda text: list(by_text[text].items()), k=50)
    found = bench.diagnose("keyword")
    expected = diagnose(sample.judgments(), keyword, queries=sample.queries(), corpus=sample.corpus())
    assert found.mean == expected.mean
    assert [each.kind for each in found.first] == [each.kind for each in expected.first]
    with pytest.raises(UsageError, match="run: got 'kyword'"):
        bench.diagnose("kyword")
    unjudged = Benchmark(QUESTIONS)
    unjudged.run("find", find)
    with pytest.raises(UsageError, match="no judgments to score it by"):
        unjudged.diagnose("find")


# --- the exercise -----------------------------------------------------------------------------------


def test_measure_find_the_worst_improve_and_show_the_difference() -> None:
    """20 questions with their users' words, some of them no document has; a list of synonyms is the improvement."""
    things = [
        "invoice",
        "backup",
        "password",
        "device",
        "refund",
        "licence",
        "update",
        "folder",
        "sync",
        "account",
    ]
    users = [
        "bill",
        "copy",
        "passphrase",
        "machine",
        "reimbursement",
        "permit",
        "upgrade",
        "directory",
        "mirror",
        "login",
    ]
    pages = {f"page-{name}": f"how to handle the {name} in the settings" for name in things}
    bench = Benchmark(corpus=pages)
    for name, other in zip(things, users, strict=True):
        bench.add_query(f"{name}-plain", f"where is my {name}", [f"page-{name}"])
        bench.add_query(f"{name}-user", f"where is my {other}", [f"page-{name}"])
    assert len(bench) == 20

    def keyword(text: str) -> list[str]:
        words = set(text.split())
        return [name for name, page in pages.items() if words & set(page.split()[-4:])]

    synonyms = dict(zip(users, things, strict=True))

    def improved(text: str) -> list[str]:
        return keyword(" ".join(synonyms.get(word, word) for word in text.split()))

    before = bench.run("before", keyword, k=10)
    worst = before.scores.worst(5, "nDCG@10")
    assert [value for _, value in worst] == [0.0] * 5
    assert all(name.endswith("-user") for name, _ in worst)
    assert before.scores["nDCG@10"] == 0.5

    after = bench.run("after", improved, k=10)
    assert all(after.scores.values("nDCG@10")[name] == 1.0 for name, _ in worst)
    found = bench.compare("nDCG@10, R@10")
    row = found.row("after", "nDCG@10")
    assert (found.winner, row.verdict, row.wins, row.losses) == ("after", "better", 10, 0)
    table = found.markdown()
    assert table.index("| after | 1.0000") < table.index("| before | 0.5000")
    assert "after is the winner" in table


def test_a_baseline_that_broke_is_warned_of() -> None:
    bench = Benchmark({"q1": "Refund?", "q2": "Hours?"}, {"q1": ["d1"], "q2": ["d2"]})
    bench.run("broken", lambda text: None)
    bench.run("fine", lambda text: ["d1", "d2"])
    with pytest.warns(UserWarning, match="the baseline 'broken' is broken: 2 of its 2 questions failed"):
        bench.compare()
    bench.compare(baseline="fine")


def test_questions_may_be_a_column_of_a_frame() -> None:
    for column in (pd.Series(["why?", "who?"]), pl.Series(["why?", "who?"])):
        assert Benchmark(column).queries == {"why?": "why?", "who?": "who?"}


def test_a_grade_that_is_no_number_is_said_to_be_none() -> None:
    with pytest.raises(DataError, match=r"got nan \(float\) as the grade"):
        Benchmark.load([{"id": "q1", "text": "why?", "relevant": {"d1": float("nan")}}])


def test_k_may_be_a_whole_number_of_numpy() -> None:
    assert Benchmark(["why?"]).run("one", lambda text: ["d1", "d2"], np.int64(1)).ranking == {"why?": {"d1": 2.0}}


def test_reasons_that_name_an_id_each_are_one_with_an_example() -> None:
    bench = Benchmark({f"q{at}": f"question {at}" for at in range(45)}, {f"q{at}": ["a"] for at in range(45)})
    for name, search in (
        ("nan", lambda text: [(f"doc {text}", float("nan"))]),
        ("score", lambda text: [(f"doc {text}", "high")]),
        ("text", lambda text: "found " + text),
        ("lists in a list", lambda text: [[f"doc {text}", "other"]]),
        ("set", lambda text: {f"doc {text}"}),
    ):
        run = bench.run(name, search)
        assert len(set(run.failures.values())) == 45
        shown = str(run)
        assert "45 questions failed" in shown
        assert "the first: " in " ".join(shown.split())
        assert len(shown.splitlines()) < 12, shown


def test_reasons_of_many_kinds_are_counted_below_the_most_frequent() -> None:
    def search(text: str) -> list[str]:
        raise ValueError(text)

    bench = Benchmark({f"q{at}": f"question {at}" for at in range(45)}, {f"q{at}": ["a"] for at in range(45)})
    shown = " ".join(str(bench.run("own", search)).split())
    assert "42 more reasons; the rows (JSON, CSV) have that of every question." in shown


def test_a_run_without_judgments_says_how_it_gets_a_score() -> None:
    shown = " ".join(str(Benchmark(["how to ask"]).run("own", lambda text: ["a"])).split())
    assert "Not scored: there are no judgments. Next: Benchmark.load(FILE)" in shown
    judged = Benchmark({"q1": "how to ask"}, {"q1": ["a"]}).run("own", lambda text: ["a"])
    assert "Not scored" not in str(judged)


def test_a_run_that_replaces_one_of_its_name_says_so() -> None:
    bench = Benchmark({"q1": "how to ask"}, {"q1": ["a"]})
    bench.run("mine", lambda text: ["b"])
    with pytest.warns(UserWarning, match="run 'mine' replaces the one before") as told:
        bench.run("mine", lambda text: ["a"])
    assert [Path(each.filename) for each in told] == [Path(__file__)]
    assert bench.runs["mine"].scores["RR@10"] == 1


def test_a_run_named_before_there_is_any_is_no_choice_among_none() -> None:
    bench = Benchmark()
    bench.add_query("q", "text", ["d"])
    with pytest.raises(UsageError, match="and there is none yet"):
        bench.diagnose("x")
