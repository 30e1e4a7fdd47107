"""`rankproof spans`: the same numbers as evaluate_spans, from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankproof import evaluate_spans
from rankproof.cli import run

PAGES = {
    "refunds": "Refunds are paid within 30 days. Write to billing if yours takes longer.",
    "fees": "There is no fee for cards. Überweisungen ins Ausland kosten 3,50 €.",
}
SPANS = {"q1": [("refunds", 0, 32)], "q2": [("fees", 27, 67, 2)], "q3": [("fees", 0, 26)]}
FOUND = {"q1": ["refunds#33-72", "refunds#0-32"], "q2": ["fees#0-26"]}
PLACES = {"a": ("refunds", 33, 72), "b": ("refunds", 0, 32), "c": ("fees", 0, 26)}
OWN = {"q1": ["a", "b"], "q2": ["c"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKPROOF_HISTORY", raising=False)
    documents = [json.dumps({"id": name, "text": text}) + "\n" for name, text in PAGES.items()]
    Path("pages.jsonl").write_text("".join(documents), encoding="utf-8")
    rows = [(query, *span) for query, spans in SPANS.items() for span in spans]
    Path("spans.tsv").write_text("".join("\t".join(map(str, [*row, 1][:5])) + "\n" for row in rows))
    Path("found.json").write_text(json.dumps(FOUND))
    Path("own.json").write_text(json.dumps(OWN))
    places = "".join(f"{name},{','.join(map(str, place))}\n" for name, place in PLACES.items())
    Path("chunks.csv").write_text("id,document,start,end\n" + places)
    return tmp_path


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("tokens", ["words", "characters"])
def test_the_values_are_those_of_the_function(
    folder: Path, capsys: pytest.CaptureFixture[str], own: bool, tokens: str
) -> None:
    asked = "SpanP@2,SpanR(rel=2),SpanIoU(budget=10)"
    words = [
        "spans",
        "spans.tsv",
        "own.json" if own else "found.json",
        "--corpus",
        "pages.jsonl",
        "-m",
        asked,
    ]
    more = ["--chunks", "chunks.csv"] if own else []
    assert run([*words, *more, "--tokens", tokens, "-f", "json"]) == 0
    printed = {each["measure"]: each["mean"] for each in json.loads(capsys.readouterr().out)}
    assert printed == pytest.approx(evaluate_spans(SPANS, FOUND, PAGES, asked, tokens=tokens).means)


def test_queries_that_do_not_meet_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spans", "spans.tsv", "found.json", "--corpus", "pages.jsonl"]) == 0
    told = capsys.readouterr().out
    assert "1 of 3 judged queries without a ranking" in told
    assert "--missing skip" in " ".join(told.split())  # as the shell writes it
    scores = evaluate_spans(SPANS, {"Q1": ["refunds#0-32"]}, PAGES)
    assert [each.kind for each in scores.audit] == ["no-common-queries"]
    scores = evaluate_spans(SPANS, {**FOUND, "q3": [], "q9": ["fees#0-26"]}, PAGES)
    assert [(each.kind, each.count) for each in scores.audit] == [("extra-queries", 1)]


def test_what_makes_numbers_wrong_is_said_beside_formats_that_cannot_say_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("other.json").write_text(json.dumps({"Q1": ["refunds#0-32"]}))
    assert run(["spans", "spans.tsv", "other.json", "--corpus", "pages.jsonl", "-f", "json"]) == 3
    captured = capsys.readouterr()
    assert json.loads(captured.out)[0]["mean"] == 0
    assert "None of the 3 judged queries is in the ranking" in captured.err


def test_what_is_saved_is_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("whole.json").write_text(json.dumps({"q1": ["refunds"], "q2": ["fees"], "q3": ["fees"]}))
    words = ["spans", "spans.tsv", "found.json", "whole.json", "--corpus", "pages.jsonl", "-m", "SpanR@1"]
    assert run([*words, "--save", "cut", "--save", "whole"]) == 0
    capsys.readouterr()
    assert run(["compare", "cut", "whole", "-f", "json"]) == 3  # one of three queries has no ranking in the first
    assert "cut answered 2 of 3 queries" in capsys.readouterr().err
    assert run(["compare", "cut", "whole", "-f", "json", "--allow-missing", "0.4"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["system"], row["difference"]) == ("whole", 1.0)
    assert run(["compare", "cut", "whole", "--allow-missing", "0.4"]) == 0
    assert "rankproof audit" not in capsys.readouterr().out  # which reads no spans


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["own.json", "--corpus", "pages.jsonl"], "say where your chunks stand"),
        (["found.json", "--corpus", "pages.jsonl", "-m", "nDCG@10"], "not judged spans of text"),
        (["found.json", "--corpus", "pages.jsonl", "--tokens", "word"], "Did you mean 'words'?"),
        (["found.json", "--corpus", "pages.jsonl", "--missing", "nul"], "missing"),
        (["found.json"], "--corpus"),
        (["found.json", "--corpus", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert run(["spans", "spans.tsv", *words]) != 0
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
