"""Many systems and names of any length: the page keeps its width, on a screen and on paper, and nothing overlaps."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from rankproof import Report, report

from .test_browser import browser as browser

pytestmark = pytest.mark.slow

ODD = ("x" * 10_000, "<b>|`a`\n*b* & \\c_{d}", "two words " * 40, "検索" * 300)
PAPER = 718
"""Pixels between the margins of A4."""

WIDER = """() => {
  const wide = document.documentElement.clientWidth;
  return [...document.querySelectorAll('table, svg, p, h1, h2, h3, li, td, th, figure, pre')]
    .filter(each => each.getBoundingClientRect().right > wide + 1)
    .map(each => `${each.tagName} ${each.textContent.slice(0, 40)}`);
}"""
OVERLAPPING = """() => {
  const all = [...document.querySelectorAll('table, svg')].map(each => [each, each.getBoundingClientRect()])
    .filter(([, box]) => box.width);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return all.flatMap(([one, a], i) => all.slice(i + 1)
    .filter(([other, b]) => !one.contains(other) && meet(a, b))
    .map(([other]) => `${one.textContent.slice(0, 40)} / ${other.textContent.slice(0, 40)}`));
}"""


def made(systems: int, names: tuple[str, ...] = ()) -> Report:
    random_ = random.Random(1)
    judged = {f"q{i}": {f"d{j}": 1 for j in range(5)} for i in range(30)}
    called = [*names, *(f"system number {i}" for i in range(systems - len(names)))]
    documents = [*(f"d{j}" for j in range(5)), *(f"e{j}" for j in range(15))]
    runs = {name: {q: {d: random_.random() for d in documents} for q in judged} for name in called}
    return report(judged, runs, by={q: f"group {i % 3}" for i, q in enumerate(judged)})


@pytest.mark.parametrize(("systems", "names"), [(10, ()), (25, ()), (6, ODD), (12, ODD)])
def test_nothing_is_wider_than_the_page_or_lies_on_another(
    browser: Any, tmp_path: Path, systems: int, names: tuple[str, ...]
) -> None:
    where = tmp_path / "page.html"
    where.write_text(made(systems, names).html(), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(where.as_uri())
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) <= 1200
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate(width) <= 390
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.emulate_media(media="print")
    wider, overlapping, wide = page.evaluate(WIDER), page.evaluate(OVERLAPPING), page.evaluate(width)
    paper = page.pdf(format="A4")
    page.close()
    assert (wider, overlapping) == ([], [])
    assert wide <= PAPER
    assert paper.startswith(b"%PDF-")


@pytest.mark.skipif(not which("pdftotext"), reason="poppler is not installed")
def test_on_paper_every_value_of_ten_systems_can_be_read(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(made(10).html(), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    page.close()
    text = subprocess.run(["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, text=True).stdout
    for title in ("Precision by recall", "Success in the first k", "Queries won / lost"):
        assert title in text
    assert all(text.count(f"system number {i}") > 3 for i in range(10))
