"""Reports on paper: PDF printed by a real browser, LaTeX set by a real TeX."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rankproof import compare, evaluate, monitor, report, sample, simulate_log
from rankproof.cli import run
from rankproof.document.formats import as_text, check
from rankproof.document.pdf import ENVIRONMENT, find_browser
from rankproof.errors import MissingExtra, RankproofError, UsageError
from rankproof.scoring.words import queries
from rankproof.scoring.words import scores as words

from .conftest import HOSTILE
from .test_browser import CHROMIUM, REQUIRED

needs_browser = pytest.mark.skipif(not CHROMIUM and not REQUIRED, reason="chromium is not installed")
needs_tex = pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")

DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{booktabs,textcomp}
\usepackage[paperwidth=60cm,paperheight=60cm,margin=1cm]{geometry}
\begin{document}
%s
\end{document}
"""


@pytest.fixture
def made():
    return report(sample.judgments(), sample.rankings(), "nDCG@10, R@10", by=sample.kinds())


@needs_browser
@pytest.mark.slow
def test_the_page_is_printed_by_a_browser(made, tmp_path: Path) -> None:
    paper = made.save(tmp_path / "report.pdf").read_bytes()
    assert paper.startswith(b"%PDF-")
    assert paper.rstrip().endswith(b"%%EOF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) > 3
    assert len(paper) < 3_000_000


@needs_browser
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
def test_no_sheet_ends_with_a_heading_and_names_have_the_room_there_is(tmp_path: Path) -> None:
    """Neither with the heads of a table whose rows are on the next one, nor with a summary."""
    made = report(
        sample.judgments(),
        sample.rankings(),
        "nDCG@10, R@10, RR@10, AP",
        by=sample.kinds(),
        queries=sample.queries(),
        corpus=sample.corpus(),
    )
    path = made.save(tmp_path / "report.pdf")
    text = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout
    sheets = [[line for line in sheet.splitlines() if line.strip()] for sheet in text.split("\f") if sheet.strip()]
    assert len(sheets) < 27
    for sheet in sheets:
        assert not re.search(r"\bdocument\b.*\badds\b|\bdifference\b|not found$|^ *[▶▸▼▾]", sheet[-1]), sheet[-3:]


@needs_browser
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
def test_many_charts_stand_two_beside_each_other(tmp_path: Path) -> None:
    path = monitor(simulate_log(300, seed=2, days=10).records()).save(tmp_path / "monitor.pdf")
    text = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout
    captions = [len(re.findall(r"\w by day", line)) for line in text.splitlines() if " by day" in line]
    assert captions.count(2) > 5
    assert captions.count(1) <= 1


@needs_browser
@pytest.mark.slow
def test_the_shell_writes_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = [str(sample.folder() / name) for name in ("judgments.tsv", "keyword.run", "dense.run")]
    assert run(["report", *files, "-m", "RR", "-o", "r.PDF"]) == 0
    assert Path("r.PDF").read_bytes().startswith(b"%PDF-")


@pytest.mark.slow
def test_without_a_browser_the_error_says_what_to_install(
    made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    with pytest.raises(MissingExtra, match=r"Next: install one \(apt install chromium\), or pip install"):
        made.save(tmp_path / "report.pdf")
    assert run(["report", "no.tsv", "no.run", "-o", "r.pdf"]) == 2
    assert "none was found" in capsys.readouterr().err
    assert not (tmp_path / "report.pdf").exists()


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for a browser is a program of the shell")
@pytest.mark.parametrize("printed", ["", "%PDF-1.4 the beginning"])
def test_a_page_printed_in_part_replaces_nothing(
    printed: str, made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a browser leaves, with exit code 0, where the folder for temporary files is full."""
    browser, old = tmp_path / "browser", tmp_path / "report.pdf"
    browser.write_text(
        "#!/bin/sh\nfor word; do case $word in --print-to-pdf=*) "
        f"printf '%s' '{printed}' > \"${{word#*=}}\";; esac; done\n"
    )
    browser.chmod(0o755)
    old.write_text("%PDF- of yesterday")
    monkeypatch.setenv(ENVIRONMENT, str(browser))
    with pytest.raises(RankproofError, match=r"printed (a part|nothing).*Next: make room"):
        made.save(old, force=True)
    assert old.read_text() == "%PDF- of yesterday"


FULL_DISK = """
import resource, sys
from rankproof.cli import run
resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60))
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of processes are POSIX")
def test_a_full_folder_for_temporary_files_is_named(tmp_path: Path) -> None:
    files = [str(sample.folder() / name) for name in ("judgments.tsv", "keyword.run")]
    old, there = tmp_path / "out.pdf", {**os.environ, "TMPDIR": str(tmp_path), ENVIRONMENT: sys.executable}
    old.write_text("%PDF- of yesterday")
    words = [sys.executable, "-c", FULL_DISK, "evaluate", *files, "-o", str(old), "--force"]
    done = subprocess.run(words, env=there, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert f"{tmp_path}: the page that a PDF is printed from cannot be written" in done.stderr
    assert "Next: make room there, or name another folder in TMPDIR." in done.stderr
    assert old.read_text() == "%PDF- of yesterday"


def test_a_browser_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, "/no/such/browser")
    with pytest.raises(UsageError, match="/no/such/browser"):
        find_browser()


def test_a_browser_that_prints_nothing_is_an_error(made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "browser"
    script.write_text("#!/bin/sh\necho broken >&2\n")
    script.chmod(0o755)
    monkeypatch.setenv(ENVIRONMENT, str(script))
    with pytest.raises(Exception, match="printed nothing: broken"):
        made.save(tmp_path / "page.pdf")


def set_by_tex(body: str, folder: Path) -> str:
    """What TeX says of the body; a failure shows its log."""
    (folder / "paper.tex").write_text(DOCUMENT % body, encoding="utf-8")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(words, cwd=folder, capture_output=True, env={**os.environ, "max_print_line": "1000"})
    log = done.stdout.decode("latin-1")
    assert done.returncode == 0, log[-1500:]
    return log


@needs_tex
@pytest.mark.slow
def test_tex_sets_the_tables_of_a_report(made, tmp_path: Path) -> None:
    log = set_by_tex(made.format("latex"), tmp_path)
    assert "LaTeX Warning: Reference" not in log
    assert not re.findall(r"Overfull \\hbox.*", log)


@needs_tex
@pytest.mark.slow
def test_tex_sets_a_comparison_scores_and_their_queries(tmp_path: Path) -> None:
    scores = {name: evaluate(sample.judgments(), each, "nDCG@10, RR") for name, each in sample.rankings().items()}
    summaries = [each.summary(name) for name, each in scores.items()]
    values = {name: {m: each.values(m) for m in each} for name, each in scores.items()}
    compared = compare(sample.judgments(), sample.rankings(), "nDCG@10, RR", margin=0.02)
    parts = [
        as_text(words(summaries), check("latex")),
        as_text(words(summaries[:1]), check("latex")),
        compared.format("latex"),
    ]
    set_by_tex("\n\n".join(parts), tmp_path)
    set_by_tex(
        r"\scriptsize "
        + as_text(queries({"dense": {"RR": dict(list(values["dense"]["RR"].items())[:20])}}), check("latex")),
        tmp_path,
    )


@needs_tex
@pytest.mark.slow
def test_tex_sets_names_that_mean_harm(tmp_path: Path) -> None:
    names = [
        name
        for name in (*HOSTILE, "\\input{x}", "%_&#$^~{}", "a--b ,,c`` ''d ?`!`", "\\end{document}")
        if name.isascii()
    ]
    judged = {f"q{i}": {"a": 1} for i in range(3)}
    systems = {name: {query: ["a"] for query in judged} for name in names}
    made = report(judged, systems, "RR, nDCG(gain='exp')@10", title=names[0])
    set_by_tex(made.format("latex"), tmp_path)
