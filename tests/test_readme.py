"""README and docs are executed: every Python block runs, every shown output is what comes out."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankproof import sample
from rankproof.core.names import REGISTRY, forget
from tests.shell import rankproof

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """The registry as it was before a page declared measures of its own."""
    before = set(REGISTRY)
    yield
    for name in set(REGISTRY) - before:
        forget(name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with the sample's files in it, as the pages assume."""
    for path in Path(str(sample.folder())).iterdir():
        if path.suffix in {".jsonl", ".tsv", ".run"}:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    declared = next(body for language, body in blocks(ROOT / "docs/own-measure.md") if language == "python")
    (tmp_path / "patience.py").write_text(declared.partition("judgments =")[0], encoding="utf-8")
    return tmp_path


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_the_page_runs_and_prints_what_it_shows(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, object] = {"__name__": page.stem}
    shown = blocks(page)
    alone = page.name == "README.md"  # what is copied from it first must run by itself
    for (language, body), (after, expected) in zip(shown, [*shown, ("", "")][1:], strict=True):
        if language != "python":
            continue
        names = {"__name__": page.stem} if alone else names
        if body.startswith(">>>"):
            run_session(body, names, page)
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(body, f"<{page.name}>", "exec"), names)
        if after == "text":
            assert out.getvalue().rstrip() == expected.rstrip()


def run_session(body: str, names: dict[str, object], page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(body, names, page.name, page.name, 0)
    assert doctest.DocTestRunner(verbose=False).run(test, clear_globs=False).failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_shell_lines_on_the_page_work_and_print_what_they_show(page: Path, folder: Path) -> None:
    for language, body in blocks(page):
        if language != "console":
            continue
        for step in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            line, _, expected = step.partition("\n")
            words = shlex.split(line)
            assert words[0] == "rankproof", line
            ran = rankproof(folder, *words[1:])
            assert ran.returncode == 0, ran.stderr
            if expected.strip():
                assert ran.stdout.rstrip() == expected.rstrip()
