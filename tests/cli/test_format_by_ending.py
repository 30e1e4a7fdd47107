"""Whatever the command: where nobody names a format, the ending of the file does."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

RUNS = ("judgments.txt", "first.run", "second.run", "-m", "RR")
SAMPLES = '{"id": "1", "query": "When?", "contexts": ["At noon."], "reference": "At noon.", "answer": "Noon."}\n'
COMMANDS = {
    "audit": ("audit", "judgments.txt", "first.run"),
    "explain": ("explain", "judgments.txt", "first.run", "q1", "-m", "RR"),
    "compare": ("compare", *RUNS),
    "gate": ("gate", *RUNS),
    "leaderboard": ("leaderboard", *RUNS),
    "rank-correlation": ("rank-correlation", *RUNS, "-m", "AP"),
    "judge": ("judge", "samples.jsonl", "-m", "context_precision", "--ledger", "v.db"),
    "verdicts": ("verdicts", "--ledger", "v.db"),
}


@pytest.fixture
def more(rankproof: Any, files: Path) -> Path:
    """Besides rankings samples, and a ledger of their verdicts."""
    (files / "samples.jsonl").write_text(SAMPLES)
    rankproof(*COMMANDS["judge"])
    return files


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_json(rankproof: Any, more: Path, name: str) -> None:
    done = rankproof(*COMMANDS[name], "-o", "out.json")
    assert json.loads((more / "out.json").read_text()), done.err


def test_xml_is_what_test_reports_are_in(rankproof: Any, more: Path) -> None:
    rankproof(*COMMANDS["gate"], "-o", "gate.xml")
    assert (more / "gate.xml").read_text().startswith("<?xml")


def test_a_page_stays_a_page(rankproof: Any, more: Path) -> None:
    rankproof(*COMMANDS["judge"], "-o", "out.html")
    assert (more / "out.html").read_text().lower().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("name", "form", "ending"), [("leaderboard", "junit", "xml"), ("verdicts", "parquet", "parquet")]
)
def test_an_ending_that_the_command_cannot_write_is_refused(
    rankproof: Any, more: Path, name: str, form: str, ending: str
) -> None:
    done = rankproof(*COMMANDS[name], "-o", f"out.{ending}")
    assert (done.code, f"got '{form}'" in done.err, (more / f"out.{ending}").exists()) == (2, True, False)


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("name", ["audit", "explain", "compare", "gate", "leaderboard", "rank-correlation"])
@pytest.mark.parametrize("ending", ["md", "tex", "html", "csv", "json", "jsonl", "parquet", "txt"])
def test_every_format_is_written_by_its_ending(rankproof: Any, more: Path, name: str, ending: str) -> None:
    done = rankproof(*COMMANDS[name], "-o", f"out.{ending}")
    assert "out." in done.err, done.err
    made = (more / f"out.{ending}").read_bytes()
    begins = {"md": b"", "tex": b"% needs", "html": b"<!DOCTYPE html>", "json": b"", "parquet": b"PAR1"}
    assert made.startswith(begins.get(ending, b""))
    assert len(made) > 40


def test_an_ending_of_no_format_is_told(rankproof: Any, more: Path) -> None:
    done = rankproof(*COMMANDS["audit"], "-o", "out.foo")
    assert "out.foo: .foo names no format, so it is a text" in done.err
    assert "names no format" not in rankproof(*COMMANDS["audit"], "-o", "out.txt").err
    assert "names no format" not in rankproof(*COMMANDS["audit"], "-o", "out.foo", "--force", "-f", "json").err


@pytest.mark.parametrize("form", ["table", "full", "markdown", "latex", "html", "json", "jsonl", "csv", "junit"])
@pytest.mark.parametrize("name", ["evaluate", "compare", "gate", "leaderboard", "report"])
def test_advice_is_spelt_as_options_in_every_format(rankproof: Any, files: Path, name: str, form: str) -> None:
    (files / "judgments.txt").write_text((files / "judgments.txt").read_text() + "q3 0 d1 0\nq4 0 d1 1\n")
    done = rankproof(name, "judgments.txt", "tied.run", "first.run", "-f", form)
    if done.code == 2:  # junit is of gates alone
        return
    assert not re.search(r"\b(missing|no\\?_relevant|ties)=('|&#x27;)", done.out)
    if name == "evaluate" and form in ("json", "jsonl", "csv"):
        assert "--no-relevant skip" in done.out


@pytest.mark.parametrize("words", [("gate", *RUNS), COMMANDS["audit"], ("diagnose", *COMMANDS["audit"][1:])])
def test_a_page_names_its_files(rankproof: Any, files: Path, words: tuple[str, ...]) -> None:
    page = rankproof(*words, "-f", "html").out
    assert f"{words[-3] if words[0] == 'gate' else words[-1]}; " in page
    assert "judgments: judgments.txt" in page


WORDS = ("ties='id'", "no_relevant='skip'", "missing='zero'")


@pytest.mark.first_is_quick(4)
@pytest.mark.parametrize("form", ["table", "full", "markdown", "latex", "html", "json", "jsonl", "csv", "junit"])
@pytest.mark.parametrize("name", ["evaluate", "audit", "gate", "compare", "diagnose", "explain", "report"])
def test_texts_of_the_user_that_look_like_advice_stay_as_they_are(
    rankproof: Any, files: Path, name: str, form: str
) -> None:
    for each in ("judgments.txt", "first.run", "second.run"):
        text = (files / each).read_text()
        for old, new in zip(("q2", "d2", "d9"), WORDS, strict=True):
            text = re.sub(rf"\b{old}\b", new, text)
        (files / each).write_text(text)
    (files / "q.jsonl").write_text(json.dumps({"_id": WORDS[0], "text": f"what is {WORDS[1]}"}) + "\n")
    more = ("--queries", "q.jsonl") if name in ("diagnose", "report") else ()
    more += {"evaluate": ("--per-query",), "explain": (WORDS[0],)}.get(name, ())
    runs = ("first.run",) if name in ("audit", "diagnose", "explain") else ("first.run", "second.run")
    done = rankproof(name, "judgments.txt", *runs, *more, *(() if name == "audit" else ("-m", "RR")), "-f", form)
    if done.code == 2:  # a format that the command lacks
        assert "format" in done.err
        return
    assert done.out, done.err
    assert not re.search("--(ties id|no-relevant skip|missing zero)", done.out)
    plain = html.unescape(done.out).replace("\\", "").replace("textquotesingle{}", "'")
    if name not in ("audit", "gate", "compare") and form in ("full", "json", "html"):
        assert WORDS[0] in plain
