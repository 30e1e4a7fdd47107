"""`rankproof evaluate`: the right numbers in every format, and nothing but results on standard output."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from rankproof import evaluate
from rankproof.core.names import REGISTRY
from rankproof.errors import DataError

DEFAULT = ["nDCG@10", "RR@10", "AP", "P@5", "R@5", "R@100", "Success@5"]


def cells(table: str, label: str) -> list[str]:
    """The cells of the first line that begins with the label."""
    return next(line for line in table.splitlines() if line.split()[:1] == [label]).split()


def test_the_table_has_the_worked_values(rankproof: Any, files: Path) -> None:
    done = rankproof(
        "evaluate",
        "judgments.txt",
        "first.run",
        "-m",
        "P@1,P@3,P@5,R@1,R@3,R@5,F@3,F@5,Hit@1,Hit@3,MAP,MRR,nDCG@5,nDCG@3",
    )
    assert (done.code, done.err) == (0, "")
    worked = {
        "P@1": ".5000",
        "P@3": ".3333",
        "P@5": ".4000",
        "R@1": ".1667",
        "R@3": ".4167",
        "R@5": ".8333",
        "F@3": ".3667",
        "F@5": ".5357",
    }
    worked |= {
        "Success@1": ".5000",
        "Success@3": "1.0000",
        "AP": ".4333",
        "RR": ".6667",
        "nDCG@5": ".6076",
        "nDCG@3": ".3879",
    }
    for name, value in worked.items():
        assert cells(done.out, name)[1].lstrip("0") == value.lstrip("0"), name


def test_the_default_measures_are_those_of_the_library(rankproof: Any, files: Path) -> None:
    done = rankproof("evaluate", "judgments.txt", "first.run", "-f", "json")
    assert [record["measure"] for record in json.loads(done.out)] == DEFAULT


def test_everything_fits_80_columns(rankproof: Any, files: Path) -> None:
    for arguments in (
        (),
        ("-q",),
        ("second.run", "tied.run"),
        ("-m", "nDCG(gain='exp', ideal='returned')@10"),
    ):
        done = rankproof("evaluate", "judgments.txt", "first.run", *arguments)
        assert done.code == 0
        assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.first_is_quick
@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet"])
def test_files_for_machines_have_full_precision(form: str, rankproof: Any, files: Path) -> None:
    done = rankproof("evaluate", "judgments.txt", "first.run", "tied.run", "-f", form, "-o", "out")
    assert (done.code, done.out, done.err) == (0, "", "Wrote out.\n")
    found = {(each["ranking"], each["measure"]): float(each["mean"]) for each in records(files / "out", form)}
    expected = {}
    for name in ("first.run", "tied.run"):
        scores = evaluate(files / "judgments.txt", files / name)
        expected |= {(name, measure): mean for measure, mean in scores.items()}
    assert found == expected


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet"])
def test_per_query_records_are_the_values_of_the_library(form: str, rankproof: Any, files: Path) -> None:
    assert rankproof("evaluate", "judgments.txt", "first.run", "-q", "-f", form, "-o", "out", "-m", "RR,AP").code == 0
    found = {(each["measure"], each["query"]): float(each["value"]) for each in records(files / "out", form)}
    assert found == {
        ("RR", "q1"): 1.0,
        ("RR", "q2"): 1 / 3,
        ("AP", "q1"): 0.5,
        ("AP", "q2"): (1 / 3 + 2 / 5) / 2,
    }


def records(path: Path, form: str) -> list[dict[str, Any]]:
    if form == "parquet":
        import pyarrow.parquet as pq

        return pq.read_table(path).to_pylist()
    text = path.read_text()
    if form == "csv":
        return list(csv.DictReader(io.StringIO(text)))
    return json.loads(text) if form == "json" else [json.loads(line) for line in text.splitlines()]


def test_a_record_carries_its_definition_and_its_interval(rankproof: Any, files: Path) -> None:
    done = rankproof("evaluate", "judgments.txt", "first.run", "-m", "AP", "-f", "jsonl", "--missing", "skip")
    record = json.loads(done.out)
    assert "missing=skip" in record["conventions"]
    assert record["low"] <= record["mean"] <= record["high"]
    assert record["n"] == 2
    assert record["interval"]


def test_per_query_tables_show_queries_then_means(rankproof: Any, files: Path) -> None:
    done = rankproof("evaluate", "judgments.txt", "first.run", "-q", "-m", "RR")
    assert cells(done.out, "q2") == ["q2", "0.3333"]
    assert cells(done.out, "RR")[1] == "0.6667"


def test_several_rankings_stand_side_by_side_and_none_of_two_queries_is_marked_as_the_best(
    rankproof: Any, files: Path
) -> None:
    done = rankproof("evaluate", "judgments.txt", "first.run", "second.run", "-m", "RR", "-m", "R@5")
    assert cells(done.out, "measure") == ["measure", "first.run", "second.run"]
    # the second ranking has d6 last, so its first relevant document of q2 stands at rank 2: RR (1 + 1/2) / 2
    assert [each for each in cells(done.out, "RR") if each.startswith("0.")] == ["0.6667", "0.7500"]
    assert [each for each in cells(done.out, "R@5") if each.startswith("0.")] == ["0.8333", "0.8333"]
    assert "not a claim that the difference is real" not in done.out


def test_more_rankings_than_fit_become_rows(rankproof: Any, files: Path) -> None:
    names = [f"a-ranking-with-a-long-name-{i}.run" for i in range(6)]
    for name in names:
        (files / name).write_text((files / "first.run").read_text())
    done = rankproof("evaluate", "judgments.txt", *names, "-m", "RR,AP")
    assert cells(done.out, "ranking") == ["ranking", "RR", "AP"]
    assert max(map(len, done.out.splitlines())) <= 80
    assert all(name in done.out for name in names)


def test_rankings_of_one_name_are_told_apart_by_their_paths(rankproof: Any, files: Path) -> None:
    for folder in ("a", "b"):
        (files / folder).mkdir()
        (files / folder / "x.run").write_text((files / "first.run").read_text())
    done = rankproof("evaluate", "judgments.txt", "a/x.run", "b/x.run", "-m", "RR")
    assert cells(done.out, "measure") == ["measure", "a/x.run", "b/x.run"]


def test_measures_with_parentheses_may_stand_in_a_list(rankproof: Any, files: Path) -> None:
    done = rankproof("evaluate", "judgments.txt", "first.run", "-m", "nDCG(gain=exp, ideal='top')@5,P@5", "-f", "json")
    assert [each["measure"] for each in json.loads(done.out)] == ["nDCG(gain='exp', ideal='top')@5", "P@5"]


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ((), 0.75),  # trec: d9 before d1, so RR is (1/2 + 1) / 2
        (("--ties", "input"), 1.0),
        (("--ties", "id"), 1.0),
        (("--ties", "worst"), 0.75),
        (("--ties", "expected"), 0.875),
        (("--profile", "ranx"), 1.0),
        (("--profile", "ranx", "--ties", "id"), 1.0),
        (("--profile", "ranx", "--ties", "trec"), 0.75),
        (("--unjudged", "skip"), 1.0),
    ],
)
def test_conventions_are_options(arguments: tuple[str, ...], value: float, rankproof: Any, files: Path) -> None:
    done = rankproof("evaluate", "judgments.txt", "tied.run", "-m", "RR", "-f", "json", *arguments)
    assert json.loads(done.out)[0]["mean"] == pytest.approx(value)


def test_groups_are_scored_apart(rankproof: Any, files: Path) -> None:
    (files / "kinds.tsv").write_text("q1\teasy\n\nq2\thard\n")
    done = rankproof("evaluate", "judgments.txt", "first.run", "-m", "RR", "--by", "kinds.tsv")
    assert cells(done.out, "easy") == ["easy", "1.0000", "1"]
    assert cells(done.out, "hard") == ["hard", "0.3333", "1"]


@pytest.mark.slow
def test_standard_input_is_a_file_like_any_other(files: Path) -> None:
    import subprocess
    import sys

    with open("first.run", "rb") as stream:
        command = [
            sys.executable,
            "-m",
            "rankproof",
            "evaluate",
            "judgments.txt",
            "-",
            "-m",
            "RR",
            "-f",
            "csv",
        ]
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=True)
    assert "standard input,,RR,0.6666666666666666" in done.stdout


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_texts_for_papers_have_the_same_numbers(form: str, rankproof: Any, files: Path) -> None:
    done = rankproof("evaluate", "judgments.txt", "first.run", "second.run", "-f", form, "-m", "RR")
    assert "0.6667" in done.out
    assert "0.7500" in done.out
    assert ("\\toprule" in done.out) == (form == "latex")


def test_every_measure_can_be_printed(rankproof: Any, files: Path) -> None:
    names = [name for name, each in REGISTRY.items() if each.spec.kind == "ranking"]
    done = rankproof("evaluate", "judgments.txt", "tied.run", "-m", ",".join(names), "--corpus-size", "1000")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    for name in names:
        assert cells(done.out, name)


def test_the_worst_queries_are_listed(rankproof: Any, files: Path) -> None:
    done = rankproof("evaluate", "judgments.txt", "first.run", "second.run", "-m", "RR,AP", "--worst", "1")
    first, second = done.out.split(": the 1 query with the worst RR\n")[1:]
    assert cells(first, "q2") == ["q2", "0.3333"]
    assert cells(second, "q2") == ["q2", "0.5000"]
    assert rankproof("evaluate", "judgments.txt", "first.run", "--worst", "1", "-f", "csv").code == 2


def test_runs_are_called_as_asked(rankproof: Any, files: Path) -> None:
    words = ("judgments.txt", "first.run", "second.run", "-m", "RR", "--names", "before, after")
    for command in ("evaluate", "compare", "report"):
        done = rankproof(command, *words)
        assert done.code == 0
        assert "before" in done.out
        assert "first.run" not in done.out
    assert "compared with after" in rankproof("compare", *words, "-b", "after").out
    for wrong in ("one", "a,a", "a,", "a,b,c"):
        done = rankproof("compare", *words[:-1], wrong)
        assert (done.code, done.out) == (2, "")
        assert "expected 2 different names" in done.err


@pytest.mark.cover
@pytest.mark.slow
def test_next_steps_are_in_the_words_of_the_shell(rankproof: Any, files: Path) -> None:
    (files / "one.run").write_text("q1 Q0 d1 1 1 one\n")
    both = {"compare": "first.run", "leaderboard": "first.run", "gate": "first.run", "report": "first.run"}
    for command in ("evaluate", "audit", "diagnose", *both):
        for form in ("table", "full", "markdown", "html", "latex"):
            words = (command, "judgments.txt", "one.run", *filter(None, [both.get(command)]), "-f", form)
            done = rankproof(*words)
            if "expected one of" in done.err:
                continue
            assert rankproof(*words, "-o", "page", "--force").code in (0, 1, 3)
            for page in (done.out, (files / "page").read_text()):
                told = " ".join(page.split())
                assert not re.search("missing=('|&#x27;)skip", told), (command, form)
                must = command in ("evaluate", "audit", "diagnose") and form != "latex"
                assert "leave them out with --missing skip." in told or not must, (command, form)
    assert "--missing skip" in rankproof("audit", "judgments.txt", "one.run", "-f", "json").out


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("a.csv", b"ranking,"),
        ("a.json", b"[\n"),
        ("a.jsonl", b'{"ranking"'),
        ("a.MD", b"**first.run**"),
        ("a.tex", b"% needs"),
        ("a.parquet", b"PAR1"),
        ("a.txt", b"first.run\n"),
    ],
)
def test_the_ending_of_the_file_says_the_format(rankproof: Any, files: Path, name: str, starts: bytes) -> None:
    assert rankproof("evaluate", "judgments.txt", "first.run", "-m", "RR", "-o", name).code == 0
    assert (files / name).read_bytes().startswith(starts)


def test_a_format_that_is_given_stands_before_the_ending(rankproof: Any, files: Path) -> None:
    rankproof("evaluate", "judgments.txt", "first.run", "-m", "RR", "-o", "a.json", "-f", "csv")
    assert (files / "a.json").read_bytes().startswith(b"ranking,")
    told = rankproof("evaluate", "judgments.txt", "first.run", "-m", "RR", "-o", "a.xml")
    assert (told.code, "format: got 'junit', expected one of 'table'" in told.err) == (2, True)


@pytest.mark.parametrize("form", ["table", "full", "markdown", "html", "latex", "csv", "json"])
def test_groups_that_were_asked_for_are_in_every_format(rankproof: Any, files: Path, form: str) -> None:
    (files / "groups.tsv").write_text("query\tgroup\nq1\tshort\nq2\tlong\n")
    for command in ("evaluate judgments.txt first.run", "evaluate judgments.txt first.run second.run"):
        shown = rankproof(*command.split(), "--by", "groups.tsv", "-f", form).out
        assert [each for each in ("short", "long") if each not in shown] == [], (command, form)
    for command in ("compare", "gate"):
        shown = rankproof(command, "judgments.txt", "first.run", "second.run", "--by", "groups.tsv", "-f", form).out
        assert [each for each in ("short", "long") if each not in shown] == [], (command, form)


def test_unjudged_documents_count_at_the_grade_that_was_asked_for(rankproof: Any, files: Path) -> None:
    both = ("judgments.txt", "first.run")
    for grade in (1, 3):
        words = ("-m", "nDCG@3", "--unjudged", "relevant", "--unjudged-grade", str(grade), "-f", "json")
        shown = json.loads(rankproof("evaluate", *both, *words).out)
        expected = evaluate(*both, "nDCG@3", unjudged="relevant", unjudged_grade=grade)
        assert shown[0]["mean"] == expected["nDCG@3"]
    assert rankproof("evaluate", *both, "--unjudged-grad", "3").err.count("?)") == 1
    assert "?." not in rankproof("evaluate", *both, "--unjudgedd", "skip").err


def test_parts_in_the_folder_where_one_stands_are_called_by_it(rankproof: Any, files: Path) -> None:
    for at, query in enumerate(("q1", "q2")):
        (files / f"part-0000{at}.run").write_text(f"{query} Q0 d{at + 1} 1 2.0 x\n")
    shown = json.loads(rankproof("evaluate", "judgments.txt", "part-*.run", "-m", "RR", "-f", "json").out)
    assert [each["ranking"] for each in shown] == [files.name]


ALONE = ("evaluate FILES -m Accuracy", "audit FILES", "explain FILES q1", "report FILES", "diagnose FILES")
BESIDE = ("compare FILES second.run", "gate FILES second.run", "leaderboard FILES second.run")


@pytest.mark.parametrize("command", [*ALONE, *BESIDE])
def test_a_corpus_of_another_collection_is_an_error(rankproof: Any, files: Path, command: str) -> None:
    lines = [json.dumps({"id": f"{name}.md", "text": "words"}) for name in ("d1", "d2", "d4", "d5")]
    (files / "other.jsonl").write_text("\n".join(lines))
    done = rankproof(*command.replace("FILES", "judgments.txt first.run").split(), "--corpus", "other.jsonl")
    assert (done.code, done.out) == (3, "")
    assert "None of the 3 documents judged relevant is in the corpus." in done.err
    assert "'.md' at their end" in done.err


def test_documents_in_place_of_their_number_are_counted() -> None:
    judged, ranked, corpus = {"q": {"a": 1}}, {"q": ["b", "a"]}, dict.fromkeys("abcd", "text")
    counted, told = (evaluate(judged, ranked, "Accuracy", corpus_size=size) for size in (corpus, 4))
    assert counted["Accuracy"] == told["Accuracy"]
    assert counted.conventions.to_dict()["corpus"] == 4
    with pytest.raises(DataError, match="The only document judged relevant is not in the corpus"):
        evaluate(judged, ranked, "RR", corpus_size={"z": "text"})


@pytest.mark.parametrize("command", ["evaluate judgments.txt", "compare judgments.txt first.run"])
@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_formats_for_machines_say_which_queries_went_unanswered(
    rankproof: Any, files: Path, command: str, form: str
) -> None:
    (files / "half.run").write_text("q1 Q0 d1 1 5 half\n")
    done = rankproof(*command.split(), "half.run", "-m", "P@1", "-f", form)
    said = "1 of 2 judged queries without a ranking: each counts 0."
    assert re.search(f"rankproof: .*{re.escape(said)}", done.err)
    if form == "csv":
        record = next(csv.DictReader(io.StringIO(done.out)))
    else:
        record = json.loads(done.out)[0] if form == "json" else json.loads(done.out.splitlines()[0])
    assert (str(record["missing"]), said in record["warnings"]) == ("1", True)
