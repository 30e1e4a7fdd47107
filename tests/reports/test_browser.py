"""The pages in a real browser: both themes, a telephone's width, on paper."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from rankproof import compare, sample

from .conftest import PAGES

pytestmark = pytest.mark.slow

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REQUIRED = os.environ.get("RANKPROOF_BROWSER") == "required"
"""Where this is set a missing browser is a failure."""

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
SHOWN = ("sample", "one system", "hostile ids", "many queries", "one query")
WIDTHS = {"desk": 1200, "telephone": 390}

CONTRAST = """
() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const ground = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  document.querySelectorAll('details').forEach(each => each.open = true);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const poor = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ['title', 'desc'].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const ink = channels(element.ownerSVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) poor.push([walker.currentNode.data.trim().slice(0, 40), ratio.toFixed(2)]);
  }
  return poor;
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven from here; nothing is downloaded."""
    missing = [what for what, there in (("chromium", CHROMIUM), ("playwright", find_spec("playwright"))) if not there]
    if missing:
        (pytest.fail if REQUIRED else pytest.skip)(f"not installed: {', '.join(missing)}")
    from playwright import sync_api

    with sync_api.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield opened
        opened.close()


def keep(page: Any, name: str) -> None:
    """Leave a picture to be looked at where `RANKPROOF_SHOTS` says."""
    if folder := os.environ.get("RANKPROOF_SHOTS"):
        page.screenshot(path=Path(folder, name), full_page=True)


@pytest.fixture(params=SHOWN)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A page as a file."""
    where = tmp_path / request.param.replace(" ", "-") / "page.html"
    where.parent.mkdir()
    where.write_text(PAGES[request.param](), encoding="utf-8")
    return where


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_shows_without_errors_requests_or_sideways_scrolling(browser: Any, path: Path, width: str) -> None:
    page = browser.new_page(viewport={"width": WIDTHS[width], "height": 900})
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(CONTRAST) == [], theme
        size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert size[0] <= size[1], theme
        keep(page, f"{path.parent.name}-{width}-{theme}.png")
    page.close()
    assert said == []
    assert asked == [path.as_uri()]


@pytest.mark.parametrize(("medium", "width"), [("screen", 1200), ("print", 718)])
def test_long_names_push_no_number_off_a_screen_or_a_sheet(
    browser: Any, tmp_path: Path, medium: str, width: int
) -> None:
    """718 pixels are what the margins leave of a sheet of A4."""
    long = "candidate-2024-11-embedding-model-large-v3-reranked-with-cross-encoder-and-rrf-variant"
    runs = {f"{long}-{n:02}": run for n, run in enumerate(sample.rankings().values())}
    found = compare(sample.judgments(), runs, "nDCG@10, R@10", by=sample.kinds())
    where = found.save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.emulate_media(media=medium)
    page.goto(where.as_uri())
    assert (
        page.evaluate("Math.max(...[...document.querySelectorAll('.scroll')].map(e => e.scrollWidth - e.clientWidth))")
        <= 0
    )
    page.close()


def test_words_that_a_page_explains_have_a_dotted_line(browser: Any, tmp_path: Path) -> None:
    """On the letters: a line under a cell passes over a box inside it, as headings of tables of results have."""
    path = tmp_path / "compared.html"
    compare(sample.judgments(), sample.rankings(), "nDCG@10").save(path)
    page = browser.new_page()
    page.goto(path.as_uri())
    lines = """() => [...document.querySelectorAll("thead th[title]")].map((each) => [...each.querySelectorAll("*"), each]
        .find((one) => !one.children.length)).map((one) => getComputedStyle(one).textDecorationStyle)"""
    assert (found := page.evaluate(lines)) == ["dotted"] * len(found)
    assert len(found) > 5
    page.close()


def test_the_meaning_of_a_heading_is_reached_by_keyboard_and_printed(browser: Any, tmp_path: Path) -> None:
    """Without a script and without a mouse: a tooltip takes one."""
    path = tmp_path / "compared.html"
    compare(sample.judgments(), sample.rankings(), "nDCG@10").save(path)
    page = browser.new_page(viewport={"width": 360, "height": 700})
    page.goto(path.as_uri())
    for heading in page.query_selector_all("thead th[title] a"):
        heading.focus()
        page.keyboard.press("Enter")
        meaning = page.locator("dt:target + dd")
        assert meaning.inner_text() == heading.evaluate("each => each.closest('th').title")
        assert meaning.evaluate("each => each.getBoundingClientRect().top < innerHeight")
    page.emulate_media(media="print")
    assert page.is_visible("#words dd")
    page.close()


def test_a_telephone_breaks_no_name_of_a_measure_in_two(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGES["sample"](), encoding="utf-8")
    page = browser.new_page(viewport={"width": 360, "height": 900})
    page.goto(path.as_uri())
    lines = """() => [...document.querySelectorAll("#systems tbody th[rowspan]")].map((each) => {
        const range = document.createRange();
        range.selectNodeContents(each);
        return range.getClientRects().length;
    })"""
    assert page.evaluate(lines) == [1] * 4
    page.close()


def test_the_themes_differ_and_paper_is_white(browser: Any, path: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(path.as_uri())
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(ground)
    page.emulate_media(media="print", color_scheme="dark")
    paper = page.evaluate(ground)
    page.close()
    assert dark != light
    assert paper == "rgb(255, 255, 255)"


def test_no_label_of_a_picture_leaves_it_or_lies_on_another(browser: Any, path: Path) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(path.as_uri())
    overlaps = page.evaluate(OVERLAPS)
    page.close()
    assert overlaps == []


OVERLAPS = """
() => [...document.querySelectorAll('svg')].filter(svg => svg.getBoundingClientRect().width).flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll('text')].map(each => [each.lastChild.data, each.getBoundingClientRect()]);
  const out = boxes.filter(([, b]) => b.left < frame.left - 1 || b.right > frame.right + 1).map(([t]) => `${t} leaves`);
  const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4;
  const over = boxes.flatMap(([t, a], i) => boxes.slice(i + 1).filter(([, b]) => meets(a, b)).map(([u]) => `${t} / ${u}`));
  return [...out, ...over];
})
"""


def test_everything_that_folds_or_scrolls_is_reached_by_the_keyboard(browser: Any, path: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(path.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every(each => each.tabIndex === 0)")
    folded = page.query_selector("details:not([open]) > summary")
    if folded is not None:
        folded.focus()
        page.keyboard.press("Enter")
        assert folded.evaluate("each => each.parentElement.open")
    page.close()
