"""Pages that say how things hang together agree with what is there."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from rankproof.comparing.comparison import ComparisonRow
from rankproof.comparing.gate_decision import GateRow
from rankproof.core.names import measure
from tests.test_walls import ORDER

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
LINK = re.compile(r"\]\(([^)#]+)(#[^)]*)?\)")


def links(page: Path) -> set[Path]:
    """The files that a page links to."""
    found = (match[1] for match in LINK.finditer(page.read_text(encoding="utf-8")))
    return {(page.parent / link).resolve() for link in found if "://" not in link}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    assert [str(each) for each in sorted(links(page)) if not each.exists()] == []


def test_the_index_lists_every_page() -> None:
    index = ROOT / "docs/index.md"
    assert set((ROOT / "docs").glob("*.md")) - {index} <= links(index)


def test_the_drawing_of_the_wings_is_that_of_the_walls() -> None:
    drawing = re.search(r"```wings\n(.*?)```", (ROOT / "docs/how-it-works.md").read_text(), re.DOTALL)
    assert drawing is not None
    drawn = [set(re.findall(r"\w+", line[:48])) for line in drawing[1].splitlines()]
    hidden = {"_moved", "__main__"}
    assert list(filter(None, drawn)) == [wings - hidden for wings in ORDER if wings - hidden]


@pytest.mark.parametrize("page", ["docs/how-it-works.md", "CONTRIBUTING.md"])
def test_modules_that_are_named_on_the_page_exist(page: str) -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py)?|[a-z_]+\.py)`", (ROOT / page).read_text())
    known = {str(path) for top in ("src", "tests") for path in (ROOT / top).rglob("*")}
    gone = [name for name in named if not any(path.endswith(f"/{name}") for path in known)]
    assert named
    assert not gone


def test_functions_that_the_page_of_statistics_names_exist() -> None:
    """Rows such as `paired.d_z`, `hedges_g`, `cliffs_delta`: the first names the module for all."""
    page = (ROOT / "docs/statistics.md").read_text()
    cells = [line.split(" | ")[1] for line in page.splitlines() if line.startswith("| ") and line.count(" | ") == 2]
    named = [found for cell in cells if (found := re.findall(r"`([a-z_.]+)`", cell)) and "." in found[0]]
    assert len(named) > 10
    for first, *others in named:
        module = import_module(f"rankproof.stats.{first.partition('.')[0]}")
        assert [name for name in (first.partition(".")[2], *others) if not hasattr(module, name)] == []


@pytest.mark.parametrize(("row", "page"), [(ComparisonRow, "compare"), (GateRow, "gate")])
def test_every_column_of_the_data_is_explained(row: type, page: str) -> None:
    told = set(re.findall(r"`(\w+)`", (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")))
    assert {each.name for each in fields(row)} <= told


def test_what_can_be_named_is_on_its_page() -> None:
    """Metrics, services and formats register themselves: their pages are written by hand."""
    from rankproof.document.formats import formats_by_name
    from rankproof.io.write import FORMATS
    from rankproof.judging.metrics.contexts import context_recall  # noqa: F401  (declares them all)
    from rankproof.judging.metrics.registry import METRICS
    from rankproof.judging.models.providers import PROVIDERS

    def absent(page: str, *forms: str) -> list[str]:
        text = (ROOT / page).read_text(encoding="utf-8")
        return [each for each in forms if each not in text]

    assert absent("docs/judging.md", *(f"`{name}" for name in METRICS)) == []
    assert absent("docs/models.md", *(f"`{name}:" for name in PROVIDERS)) == []
    files = [each for each in formats_by_name().values() if each.endings and each.general]
    assert [each.name for each in files if len(absent("docs/reports.md", *each.endings)) == len(each.endings)] == []
    text = (ROOT / "src/rankproof/cli/rankings.py").read_text(encoding="utf-8")
    helps = re.findall(r'"--to", "FORMAT", "(trec.*?)\.', text)
    assert [set(re.findall(r"\b(?!or\b)\w+", each)) for each in helps] == [set(FORMATS)] * 2


@pytest.mark.parametrize("name", list(signature(measure).parameters)[1:])
def test_every_argument_that_declares_a_measure_is_explained(name: str) -> None:
    assert f"`{name}=" in (ROOT / "docs/own-measure.md").read_text(encoding="utf-8")


def test_the_version_has_one_source() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    read = project["tool"]["hatch"]["version"]["path"]
    assert len(re.findall(r'^__version__ = "[^"]+"$', (ROOT / read).read_text(), re.MULTILINE)) == 1
    assert "version:" not in (ROOT / "CITATION.cff").read_text().partition("\n")[2]


DECLARING = sorted([*ROOT.glob("src/rankproof/core/measures/*.py"), *ROOT.glob("src/rankproof/judging/metrics/*.py")])
NO_EXAMPLES = 5
"""How pytest ends where a file has none."""


@pytest.mark.slow
@pytest.mark.parametrize("path", DECLARING, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_examples_of_a_module_that_declares_measures_run_alone(path: Path) -> None:
    """In a process of their own: what fills the registries may import the module before pytest does."""
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode in (0, NO_EXAMPLES), done.stdout
