"""The app as files: every link leads somewhere, nothing is asked of the network, the numbers are equal."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from contextvars import ContextVar
from html import unescape
from pathlib import Path

import pytest

from rankproof import compare, evaluate
from rankproof.cli import load_command, run
from rankproof.document.numbers import score
from rankproof.errors import DataError, UsageError
from rankproof.web import LABELS, Settings, Workspace
from rankproof.web.pages import export

from .conftest import parts_on_page

pytestmark = pytest.mark.cover


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from .conftest import fill

    folder, target = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("made") / "site"
    fill(folder)
    for name in ("dense", "fused", "keyword"):  # fewer queries, so that there are fewer pages
        lines = (folder / f"{name}.run").read_text().splitlines(keepends=True)
        (folder / f"{name}.run").write_text("".join(line for line in lines if line < "q07"))
    rows = (folder / "judgments.tsv").read_text().splitlines(keepends=True)
    (folder / "judgments.tsv").write_text("".join(row for row in rows if row < "q07" or row.startswith("query")))
    assert run(["app", str(folder), "--export", str(target)]) == 0
    (target / "from").write_text(str(folder))
    return target


def pages(site: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in site.glob("*.html")}


def test_every_link_leads_to_a_file(site: Path) -> None:
    found = pages(site)
    assert "index.html" in found
    assert len(found) > 12
    for name, text in found.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            target = unescape(link).partition("#")[0]
            assert not target or (site / target).is_file(), f"{name}: {link}"


def test_nothing_can_be_written_or_asked(site: Path) -> None:
    for name, text in pages(site).items():
        assert not re.search(r'(?:href|src|action)="(?:https?:)?//', text), name
        assert not re.search(r'method="post"|data-csrf|Computing \.\.\.', text), name


def test_the_numbers_are_those_of_evaluate(site: Path) -> None:
    folder = Path((site / "from").read_text())
    index = pages(site)["index.html"]
    for name in ("dense", "fused", "keyword"):
        scores = evaluate(folder / "judgments.tsv", folder / f"{name}.run")
        for measure in list(scores)[:6]:
            assert f"<td>{score(scores[measure])}</td>" in index


def test_verdicts_are_those_of_compare(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path((site / "from").read_text())
    monkeypatch.setattr("rankproof.document.numbers.FACE", ContextVar("FACE", default="shell"))  # which made the pages
    said = {
        pair: parts_on_page(compare(folder / "judgments.tsv", {n: folder / f"{n}.run" for n in pair}))
        for pair in (("dense", "fused"), ("dense", "keyword"))
    }
    compared = [text for name, text in pages(site).items() if name.startswith("compare-")]
    for pair, words in said.items():
        assert any(all(part in text for part in words) for text in compared), pair


def test_what_is_there_is_left_as_it_is(site: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"folder is not empty.*--force"):
        export(Settings(((site / "from").read_text(),)), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_an_error_in_the_data_stands_on_every_page_with_numbers_of_a_ranking(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A part of the documents of one ranking has an ending that the judgments do not know."""
    judged = (folder / "judgments.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "judgments.tsv").write_text(
        "".join(line for line in judged if line < "q05" or line[0:5] == "query"), encoding="utf-8"
    )
    lines = (folder / "dense.run").read_text(encoding="utf-8").splitlines()
    rows = [line.split(" ") for line in lines]
    for row in rows:
        if row[0] in ("q01", "q03"):
            row[2] += ".pdf"
    (folder / "dense.run").write_text("".join(" ".join(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "broken.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 500)
    site = tmp_path / "site"
    assert run(["app", str(folder), "--export", str(site)]) == 3
    said = capsys.readouterr().err
    assert re.search(r"^rankproof: dense: .*at their end", said, re.MULTILINE)
    assert "rankproof: broken.db: " in said
    assert "keyword" not in said
    pages = [page for page in site.glob("*.html") if "dense" in page.read_text(encoding="utf-8")]
    without_numbers = {"judge.html", "verdicts.html"}
    silent = {page.name for page in pages if "at their end" not in page.read_text(encoding="utf-8")}
    assert silent <= without_numbers
    assert len(pages) > 8


@pytest.mark.parametrize("name", ["judgments.tsv", "dense.run", "queries.jsonl"])
def test_labels_are_never_added_to_a_file_of_something_else(folder: Path, name: str) -> None:
    before = (folder / name).read_bytes()
    with pytest.raises(DataError, match=r"expected a label: query, document, who, what, grade\. Next:"):
        Workspace(Settings((str(folder),), labels=str(folder / name)))
    assert (folder / name).read_bytes() == before


def test_what_an_interval_without_a_bound_assumes_stands_under_the_means(tmp_path: Path) -> None:
    folder, target = tmp_path / "runs", tmp_path / "site"
    folder.mkdir()
    (folder / "judgments.tsv").write_text("".join(f"q{i}\t0\ta\t1\n" for i in range(6)))
    rows = (f"q{i} Q0 {doc} {rank} {9 - rank} one\n" for i in range(6) for rank, doc in enumerate([*"xyzuvw"[:i], "a"]))
    (folder / "one.run").write_text("".join(rows))
    export(Settings((str(folder),), measures=("FirstRel", "RR")), target)
    index = " ".join(unescape(pages(target)["index.html"]).split())
    assert "FirstRel: no bound is known, so the interval assumes" in index


@pytest.mark.slow
def test_a_change_is_after_minus_before_where_less_is_better_too(tmp_path: Path) -> None:
    folder, target = tmp_path / "runs", tmp_path / "site"
    folder.mkdir()
    (folder / "judgments.tsv").write_text("".join(f"q{i}\t0\ta\t1\n" for i in range(12)))
    for name, place in (("far", 5), ("near", 2)):
        lists = [[*"xyzuv"[: place - (i % 2)], "a"] for i in range(12)]
        rows = (f"q{i} Q0 {d} {r} {9 - r} x\n" for i, each in enumerate(lists) for r, d in enumerate(each))
        (folder / f"{name}.run").write_text("".join(rows))
    export(Settings((str(folder),), measures=("FirstRel",)), target)
    page = next(text for name, text in pages(target).items() if name.startswith("compare-far-near"))
    cells = re.findall(r"<td>([\d.]+)</td>\s*<td>([\d.]+)</td>\s*<td class=\"?(\w+)\"?>([-+][\d.]+)</td>", page)
    assert len(cells) == 12
    for before, after, colour, change in cells:
        assert float(change) == float(after) - float(before) == -3
        assert colour == "up"
    page = next(text for name, text in pages(target).items() if name.startswith("queries"))
    after = [float(value) for _, value in re.findall(r"<td>([\d.]+)</td>\s*<td>([\d.]+)</td>", page)]
    assert after == sorted(after, reverse=True)
    assert len(set(after)) == 2
    assert "the hardest for near first" in page or "the hardest for far first" in page


WRONG_OPTIONS = {
    "baseline": "zz",
    "margin": "-1 nan inf",
    "measures": "nope",
    "by": "nope.tsv",
    "judgments": "nope.tsv",
    "queries": "nope.jsonl",
    "corpus": "nope.jsonl",
}


@pytest.mark.parametrize("option", WRONG_OPTIONS)
def test_a_wrong_option_is_refused_before_a_page_is_made(folder: Path, tmp_path: Path, option: str) -> None:
    for value in WRONG_OPTIONS[option].split():
        site = tmp_path / f"site of {value}"
        assert run(["app", str(folder), f"--{option}", value, "--export", str(site)]) == 2
        assert not site.exists()
        with pytest.raises(UsageError, match="Next: "):
            Workspace(Settings((str(folder),), **{option: float(value) if option == "margin" else value}))  # type: ignore[arg-type]


def test_options_that_the_pages_advise_are_options_of_the_app(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "judgments.tsv").write_text("query\tdoc\tgrade\n" + "".join(f"q{n}\td{n}\t1\n" for n in range(6)))
    for name, queries in (("all", 6), ("few", 3)):
        (folder / f"{name}.run").write_text("".join(f"q{n} Q0 d{n} 1 0.5 {name}\n" for n in range(queries)))
    assert run(["app", str(folder), "--export", str(tmp_path / "site")]) == 0
    texts = [re.sub(r"<style.*?</style>", "", text, flags=re.S) for text in pages(tmp_path / "site").values()]
    advised = {option for text in texts for option in re.findall(r"(?<=[ (])--[a-z][a-z-]+", text)}
    known = {option for each in load_command("app").params for option in each.opts}
    assert "--allow-missing" in advised
    assert advised <= known | {"--ledger"}, "which stands in a whole line of rankproof judge"
    assert run(["app", str(folder), "--allow-missing", "0.9", "--export", str(tmp_path / "allowed")]) == 0
    assert not any("--allow-missing" in text for text in pages(tmp_path / "allowed").values())
    assert run(["app", str(folder), "--allow-missing", "2", "--export", str(tmp_path / "never")]) == 2


def test_a_baseline_that_cannot_be_read_is_an_error_of_the_data(folder: Path) -> None:
    (folder / "zz.run").write_bytes(b"SQLite format 3\x00" + b"\xff" * 500)
    assert Workspace(Settings((str(folder),), baseline="zz")).problems()
    assert run(["app", str(folder), "--port", "70000", "--export", str(folder / "site")]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("there", [False, True], ids=["a new folder", "an empty folder"])
def test_an_export_that_is_interrupted_leaves_nothing(folder: Path, tmp_path: Path, there: bool) -> None:
    site = tmp_path / "in" / "site"
    if there:
        site.mkdir(parents=True)
    command = [sys.executable, "-m", "rankproof", "app", str(folder), "--export", str(site)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not any((site if there else site.parent).glob(".rankproof-*/*.html")):
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (130, "")
    assert not (any(site.iterdir()) if there else site.exists())
    assert not any(site.parent.glob(".rankproof-*"))
    assert run(["app", str(folder), "--export", str(site)]) == 0
    assert {each.suffix for each in site.iterdir()} == {".html", ".js", ".css", ".svg"}


@pytest.mark.slow
@pytest.mark.parametrize("elsewhere", [False, True])
def test_an_export_goes_on_without_damaged_grades_and_says_so(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], elsewhere: bool
) -> None:
    labels = tmp_path / "grades.jsonl" if elsewhere else folder / LABELS
    labels.write_text('{"query": "q02", "document": 3}\nno label\n')
    words = ["app", str(folder), *(["--labels", str(labels)] if elsewhere else [])]
    assert run([*words, "--export", str(tmp_path / "site")]) == 3
    said = capsys.readouterr().err
    assert f"{labels.name}: {labels}, line 1: got" in said
    assert labels.name in (tmp_path / "site" / "index.html").read_text()
    pages = [each.read_text() for each in (tmp_path / "site").glob("query-*.html")]
    assert pages
    assert not any("cannot be shown" in each for each in pages)
    assert Workspace(Settings((str(folder),), labels=str(labels), read_only=True)).labels == {}
    with pytest.raises(DataError, match="expected a label"):  # a grade must not be added to another file
        Workspace(Settings((str(folder),), labels=str(labels)))
