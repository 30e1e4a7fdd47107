"""`rankproof report` and `rankproof explain -o page.html`, with real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankproof import report, sample
from rankproof.cli import run
from rankproof.errors import UsageError


def rankproof(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = run(list(words))
    return code, capsys.readouterr().err


TEXTS = ("--queries", "queries.jsonl", "--corpus", "documents.jsonl")


@pytest.mark.slow
def test_the_page_is_the_one_that_python_writes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "report",
        "judgments.tsv",
        "keyword.run",
        "dense.run",
        "-m",
        "nDCG@10,AP",
        *TEXTS,
        "-o",
        "shell.html",
    )
    code, err = rankproof(*words, capsys=capsys)
    assert (code, err) == (0, "Wrote shell.html.\n")
    runs = {"keyword.run": "keyword.run", "dense.run": "dense.run"}
    made = report("judgments.tsv", runs, "nDCG@10,AP", queries="queries.jsonl", corpus="documents.jsonl")
    page = made.save("python.html").read_text()
    assert "missing='skip'" in page.replace("&#x27;", "'")  # an advice, which each writes in its own words
    for name, word in (("missing", "skip"), ("no_relevant", "skip"), ("ties", "expected")):
        page = page.replace(f"{name}=&#x27;{word}&#x27;", f"--{name.replace('_', '-')} {word}")
    assert page == (folder / "shell.html").read_text()


@pytest.mark.slow
def test_the_ending_decides_what_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, start in {
        "a.html": "<!DOCTYPE html>",
        "a.md": "# Retrieval report",
        "a.tex": "% needs: booktabs",
    }.items():
        code, _ = rankproof("report", "judgments.tsv", "dense.run", "fused.run", "-o", name, capsys=capsys)
        assert code == 0
        assert (folder / name).read_text().startswith(start)


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("-o", "a.doc"), 2, "'.doc'"),
        (("-o", "nowhere/a.html"), 2, "No such file or directory"),
        (("-o", "a.html", "-b", "dens.run"), 2, "Did you mean 'dense.run'?"),
        (("-o", "a.html", "--queries", "querys.jsonl"), 2, "Did you mean 'queries.jsonl'?"),
        (("-o", "a.html", "--queries", "bad.jsonl"), 3, "bad.jsonl, line 2: not valid JSON"),
        (("-o", "a.html", "--queries", "noid.jsonl"), 3, "noid.jsonl, line 1: a record without an id"),
        (("-o", "a.html", "--corpus", "latin.tsv"), 3, "latin.tsv, line 1: the bytes"),
        (("-o", "a.html", "--alpha", "2"), 2, "alpha: got 2.0"),
        (("--alpha", "2"), 2, "alpha: got 2.0"),
    ],
)
def test_what_cannot_be_is_said(
    folder: Path, words: tuple[str, ...], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.jsonl").write_text('{"_id": "q01", "text": "x"}\n{"_id"\n')
    (folder / "noid.jsonl").write_text('{"text": "x"}\n')
    (folder / "latin.tsv").write_bytes("d\tcafé\n".encode("latin-1"))
    got, err = rankproof("report", "judgments.tsv", "keyword.run", "dense.run", *words, capsys=capsys)
    assert got == code
    assert says in err
    assert not (folder / "a.html").exists()


def test_texts_may_be_tabbed_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "texts.tsv").write_text("q02\tWhat does <FH-301> mean?\n\nq30\tTwice\n")
    rankproof(
        "report",
        "judgments.tsv",
        "keyword.run",
        "dense.run",
        "--queries",
        "texts.tsv",
        "-o",
        "a.html",
        capsys=capsys,
    )
    assert "What does &lt;FH-301&gt; mean?" in (folder / "a.html").read_text()


@pytest.mark.parametrize("option", ["--documents", "--corpus"])
@pytest.mark.parametrize("kept_in", ["notes", "notes.csv", "notes.json", "notes.jsonl"])
def test_documents_may_be_whatever_a_corpus_is_kept_in(
    tmp_path: Path, option: str, kept_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    Path("notes/a.md").write_text("Paying late")
    Path("notes/b.md").write_text("Moving house")
    Path("notes.csv").write_text("id,title,text\na.md,Paying late,x\nb.md,Moving house,x\n")
    Path("notes.json").write_text('{"a.md": "Paying late", "b.md": "Moving house"}')
    Path("notes.jsonl").write_text('{"id": "a.md", "text": "Paying late"}\n{"id": "b.md", "text": "x"}\n')
    Path("judged.tsv").write_text("query_id\tdoc_id\tgrade\nq1\ta.md\t1\n")
    Path("my.run").write_text("q1 Q0 b.md 1 2 t\nq1 Q0 a.md 2 1 t\n")
    for words in (["report", "judged.tsv", "my.run"], ["explain", "judged.tsv", "my.run", "q1"]):
        assert run([*words, option, kept_in, "-o", "page.html"]) == 0
        assert "Paying late" in Path("page.html").read_text()


@pytest.mark.parametrize("command", ["evaluate", "audit"])
def test_the_documents_say_how_many_there_are(folder: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for corpus in ("documents.jsonl", str(len(sample.corpus()))):
        words = (command, "judgments.tsv", "dense.run", "-m", "Accuracy@10", "--corpus", corpus)
        assert run(words) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert rankproof(command, "judgments.tsv", "dense.run", "--corpus", "document.jsonl", capsys=capsys) == (
        2,
        "rankproof: document.jsonl: no such file. Did you mean 'documents.jsonl'? Next: check the path.\n",
    )


def test_a_query_is_explained_as_a_page_with_another_ranking_beside_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "explain",
        "judgments.tsv",
        "dense.run",
        "q02",
        "--beside",
        "keyword.run",
        "--corpus-size",
        "156",
        *TEXTS,
    )
    assert rankproof(*words, "-o", "q02.html", capsys=capsys) == (0, "Wrote q02.html.\n")
    page = (folder / "q02.html").read_text()
    for part in ("What does error FH-301 mean?", "nDCG@10 of dense.run is 0.3869.", "TN 146", "the ideal"):
        assert part in page


def test_another_ranking_beside_is_for_pages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, err = rankproof("explain", "judgments.tsv", "dense.run", "q02", "--beside", "fused.run", capsys=capsys)
    assert code == 2
    assert "-o FILE.html" in err


def test_markdown_and_latex_keep_strange_names_as_text() -> None:
    judged = {f"q{i}": {"a": 1} for i in range(3)}
    systems = {name: {q: ["a"] for q in judged} for name in ("a|b_c", "<b>&%$\\")}
    made = report(judged, systems, "RR")
    assert "a\\|b\\_c" in made.markdown()
    assert r"a\textbar{}b\_c" in made.format("latex")
    assert r"\textless{}b\textgreater{}\&\%\$\textbackslash{}" in made.format("latex")


def test_saving_under_an_unknown_ending_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a file's ending: got '.doc', expected"):
        report({"q": {"a": 1}}, {"one": {"q": ["a"]}}, "RR").save(tmp_path / "a.doc")
