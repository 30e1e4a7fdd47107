"""The app in a real browser: every page by keyboard and by mouse, at three widths, and without barriers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from rankproof import History, evaluate, grid, judge, report
from rankproof.web import LABELS

from .conftest import RunningApp, Start
from .test_app import HOSTILE, PAGES

pytestmark = [pytest.mark.cover, pytest.mark.slow]

WIDTHS = (1200, 700, 320)


@pytest.fixture(autouse=True)
def closed(browser: Any) -> Iterator[None]:
    """Close the windows of a test at its end: they would go on asking a server that is no more."""
    yield
    for context in browser.contexts:
        context.close()


@pytest.fixture
def full(folder: Path) -> Path:
    """A folder that has something for every page."""
    history = History(folder / "history.db")
    for name in ("dense", "keyword", "fused"):
        history.save(evaluate(folder / "judgments.tsv", folder / f"{name}.run"), name)
    rows = [
        {
            "question": "Can I get a refund?",
            "contexts": ["Within 30 days.", "No."],
            "answer": "Within 30 days.",
        }
    ]
    (folder / "samples.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    grid({"benchmark": "sample", "k": [5, 10], "retrievers": {"words": "keyword"}}).save(folder / "grid.json")
    judge(rows, "context_relevance, faithfulness", judge=lambda *_: True, ledger=folder / "verdicts.db")
    return folder


def page_of(browser: Any, app: RunningApp, width: int = 1200, **settings: Any) -> tuple[Any, list[str]]:
    """A window that came in by the address, and what went wrong in it."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    load(page, app.address)
    return page, wrong


def load(page: Any, address: str) -> None:
    """Go to a page, and wait until it is whole: one that waits for scores loads itself again, wherever one goes."""
    page.goto(address)
    page.wait_for_function("() => !document.querySelector('.later')", timeout=60_000)


def go(page: Any, app: RunningApp, path: str) -> None:
    load(page, f"http://{app.host}{path}")


MISPLACED = """() => [...document.querySelectorAll("svg[role=img]")].flatMap((svg) => {
  const own = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map((each) => [each.textContent, each.getBoundingClientRect()]);
  const outside = texts.filter(([, box]) => box.left < own.left - 2 || box.right > own.right + 2 || box.top < own.top - 6);
  const over = texts.flatMap(([words, box], i) => texts.slice(i + 1).filter(([, other]) => box.width && other.width
    && box.left < other.right - 1 && other.left < box.right - 1
    && box.top < other.bottom - 5 && other.top < box.bottom - 5).map(([others]) => [words + " over " + others]));
  return [...outside, ...over].map(([words]) => svg.getAttribute("aria-label").slice(0, 40) + ": " + words);
})"""
"""The texts of pictures that leave them, or lie over another."""


@pytest.mark.no_cover
def test_no_page_has_errors_or_barriers_at_any_width(start: Start, browser: Any, full: Path) -> None:
    """Each page is loaded on a telephone and on a desk; the width between and the other colours need no new load."""
    from axe_playwright_python.sync_playwright import Axe

    app, kept = start(full, by=f"{full}/queries.jsonl:kind"), os.environ.get("RANKPROOF_SCREENS")
    for looks in (((320, "light"),), ((1200, "dark"), (700, "dark"), (1200, "light"))):
        width, scheme = looks[0]
        page, wrong = page_of(browser, app, width, color_scheme=scheme, bypass_csp=True)
        for path in (*PAGES, "/calibration", "/grid"):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            go(page, app, path)
            for wide, colours in looks:
                page.set_viewport_size({"width": wide, "height": 900})
                page.emulate_media(color_scheme=colours)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), (path, wide)
                if (wide, colours) in ((320, "light"), (1200, "dark")):  # each width and either colours once
                    found = Axe().run(page)
                    assert found.violations_count == 0, f"{path} at {wide}: {found.generate_report()}"
                assert page.evaluate(MISPLACED) == [], (path, wide)
                if kept:
                    name = path.strip("/").partition("?")[0] or "home"
                    page.screenshot(path=f"{kept}/{name}-{wide}-{colours}.png")
        assert wrong == []
        page.context.close()


def test_pages_print_whole_and_without_what_only_a_screen_needs(start: Start, browser: Any, full: Path) -> None:
    app = start(full, by=f"{full}/queries.jsonl:kind")
    page, wrong = page_of(browser, app, 720)
    page.emulate_media(media="print")
    for path in (*PAGES, "/grid"):
        go(page, app, path)
        assert not page.is_visible(".bar"), path
        assert page.is_visible("h1"), path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), path
    assert wrong == []


def test_what_if_takes_the_names_of_rankings_whole(start: Start, browser: Any, folder: Path) -> None:
    """Headings shorten what is longer than 120 characters."""
    for name in ("dense", "keyword"):
        (folder / f"{name}.run").rename(folder / f"{name}-{'x' * 150}.run")
    app = start(folder)
    page, wrong = page_of(browser, app)
    go(page, app, f"/query?id=q02&a=dense-{'x' * 150}&b=keyword-{'x' * 150}")
    page.locator(".ranking li").first.focus()
    page.keyboard.press("w")
    page.keyboard.press("0")
    page.wait_for_function("() => document.getElementById('whatif').innerText.includes('would be')")
    assert wrong == []


def test_words_of_a_part_that_comes_later_join_those_of_the_page(start: Start, browser: Any, folder: Path) -> None:
    app = start(folder)
    page, wrong = page_of(browser, app)
    go(page, app, "/gate?a=dense&b=keyword")
    found = page.evaluate("""() => [...document.querySelectorAll("thead th[title] a")].map((each) =>
      document.querySelectorAll("#words [id='" + decodeURIComponent(each.hash.slice(1)) + "']").length)""")
    assert found == [1] * len(found)
    assert len(found) == 8
    assert wrong == []


def test_from_a_red_gate_to_another_verdict_by_keyboard(start: Start, browser: Any, full: Path) -> None:
    app = start(full)
    page, wrong = page_of(browser, app)
    go(page, app, "/gate?a=dense&b=keyword")
    assert "FAIL" in page.locator("#decision").inner_text()
    link = page.locator("#rows tbody tr:first-child a")
    query = link.inner_text()
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#rankings")
    item = page.locator(".side").last.locator("li").first
    document = item.get_attribute("data-doc")
    item.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    with page.expect_navigation():
        page.keyboard.press("3")
    page.wait_for_function("() => document.body.innerText.includes('with the grades given here')")
    line = json.loads((full / LABELS).read_text().splitlines()[-1])
    assert (line["query"], line["document"], line["grade"]) == (query, document, 3)
    assert page.evaluate("document.activeElement.dataset.doc") == document
    page.get_by_text("To the decision").click()
    page.wait_for_selector("#given")
    assert "1 grade" in page.locator("#given").inner_text()
    assert wrong == []


def test_keys_work_from_anywhere_on_the_page_of_a_query(start: Start, browser: Any, full: Path) -> None:
    page, wrong = page_of(browser, app := start(full))
    go(page, app, "/query?id=q02&a=dense&b=fused")
    page.keyboard.press("3")
    assert "press an arrow key" in page.locator("#whatif").inner_text()
    first = page.locator(".ranking li").first.get_attribute("data-doc")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.doc") == first
    titles = {
        each["_id"]: each["title"] for each in map(json.loads, (full / "documents.jsonl").read_text().splitlines())
    }
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith(f"rank 1, {titles[first]}, {first}, ")  # what a screen reader says of it
    assert f"{titles[first]} {first}" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowDown")
    chosen = page.evaluate("document.activeElement.dataset.doc")
    assert chosen != first
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.dataset.doc") == chosen
    assert not (full / LABELS).exists()
    go(page, app, "/query?id=q02&a=dense&b=fused")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the rankings"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.doc") == first
    assert wrong == []


def test_a_telephone_shows_the_verdict_beside_long_names(
    start: Start, browser: Any, full: Path, tmp_path: Path
) -> None:
    runs = [full / f"hybrid-bm25-plus-e5-large-v2-rerank-top50-2026-11-{day}.run" for day in (21, 22)]
    for path, name in zip(runs, ("dense", "fused"), strict=True):
        (full / f"{name}.run").rename(path)
    page, _ = page_of(browser, app := start(full), 390)
    reported = tmp_path / "report.html"
    page_text = report(full / "judgments.tsv", {path.stem: path for path in runs}).html()
    reported.write_text(page_text)
    for address in (f"http://{app.host}/compare?a={runs[0].stem}&b={runs[1].stem}", reported.as_uri()):
        load(page, address)
        cut = page.evaluate(
            """() => [...document.querySelectorAll("table")].flatMap((table) => {
              const at = [...table.querySelectorAll("thead th")].findIndex((each) => each.textContent === "verdict");
              return at < 0 ? [] : [table.querySelectorAll("thead th")[at], ...table.querySelectorAll("td.w")];
            }).filter((each) => each.getBoundingClientRect().right > innerWidth).map((each) => each.textContent)"""
        )
        assert page.get_by_text("verdict", exact=True).count(), address
        assert cut == [], address


def test_another_grade_is_tried_without_writing_it(start: Start, browser: Any, full: Path) -> None:
    app = start(full)
    page, _ = page_of(browser, app)
    go(page, app, "/query?id=q02&a=dense&b=fused")
    page.locator(".side").first.locator("li").first.focus()
    page.keyboard.press("w")
    page.keyboard.press("3")
    page.wait_for_function("() => document.getElementById('whatif').innerText.includes('would be')")
    assert not (full / LABELS).exists()
    with page.expect_navigation():
        page.keyboard.press("3")  # now the page counts this grade, and what is tried begins with its number
    page.keyboard.press("w")
    page.keyboard.press("3")
    page.wait_for_function("() => document.getElementById('whatif').innerText.includes('would be')")
    number = page.locator("#numbers li a").first.inner_text()
    assert f"{number} would be {number.split()[-1]} (0.0000)" in page.locator("#whatif").inner_text()


def test_a_box_over_points_chooses_the_same_queries_everywhere(start: Start, browser: Any, full: Path) -> None:
    app = start(full)
    page, _ = page_of(browser, app)
    go(page, app, "/compare?a=dense&b=keyword")
    every = page.locator("#rows tbody tr:visible").count()
    box = page.locator("#sorted svg").bounding_box()
    page.locator("#sorted").scroll_into_view_if_needed()
    box = page.locator("#sorted svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.11, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] - 40, steps=4)
    page.mouse.up()
    chosen = page.locator("#rows tbody tr:visible").count()
    assert 0 < chosen < every
    numbers = page.eval_on_selector_all("#rows tbody tr:not([hidden])", "rows => rows.map(r => r.dataset.i)")
    bright = page.eval_on_selector_all("#scatter circle:not(.off)", "all => all.map(c => c.dataset.i)")
    assert sorted(numbers) == sorted(bright)
    page.select_option("#filters select[name=outcome]", "won")
    assert page.locator("#rows tbody tr:visible").count() <= chosen
    page.locator("#filters button[type=reset]").click()
    page.wait_for_function(f"() => document.querySelectorAll('#rows tbody tr:not([hidden])').length === {every}")
    page.fill("#filters input[name=text]", "q02")
    assert page.locator("#rows tbody tr:visible").count() == 1


def test_documents_are_graded_one_key_each_by_two_people_at_once(start: Start, browser: Any, full: Path) -> None:
    app = start(full)
    windows = {name: page_of(browser, app)[0] for name in ("ana", "ben")}
    for name, page in windows.items():
        go(page, app, "/judge")
        page.fill("input[name=who]", name)
        with page.expect_navigation():
            page.get_by_text("Change").click()
    entries = "history.length"
    before = [page.evaluate(entries) for page in windows.values()]
    for key in "0123":
        for page in windows.values():
            with page.expect_navigation():
                page.keyboard.press(key if page is windows["ana"] else str(3 - int(key)))
    labels = [json.loads(line) for line in (full / LABELS).read_text().splitlines()]
    assert [(each["who"], each["grade"]) for each in labels if each["who"] == "ana"] == [("ana", n) for n in range(4)]
    assert sum(each["who"] == "ben" for each in labels) == 4
    with windows["ana"].expect_navigation():
        windows["ana"].keyboard.press("u")
    assert json.loads((full / LABELS).read_text().splitlines()[-1])["what"] == "undone"
    assert [page.evaluate(entries) for page in windows.values()] == before  # "back" leaves the page at once
    assert "ana, ben" in windows["ana"].locator("#agreement").inner_text()


def test_a_page_that_was_asked_for_comes_though_the_folder_changes_meanwhile(
    start: Start, browser: Any, full: Path
) -> None:
    """Whoever has left a page is not brought back to it by its loading itself again."""
    page, wrong = page_of(browser, app := start(full))
    held: list[Any] = []
    page.route(
        "**/audit*", lambda route: held.append(route)
    )  # a method of a list cannot carry what Playwright notes on it
    with page.expect_request("**/audit*"):
        page.evaluate("document.querySelector('nav a[href*=audit]').click()")
    with page.expect_response("**/state"):
        (full / "dense.run").write_text((full / "keyword.run").read_text())
    with page.expect_response(lambda answer: answer.url.endswith("/state")):
        pass  # once more, so that the change is seen
    held[0].continue_()
    page.wait_for_url(f"http://{app.host}/audit*")
    assert wrong == []


def test_keys_pressed_before_the_next_document_is_shown_grade_nothing(start: Start, browser: Any, full: Path) -> None:
    """They were meant for a document that nobody has seen yet."""
    page, wrong = page_of(browser, app := start(full))
    go(page, app, "/judge")
    chosen = page.locator("article h4").inner_text()
    with page.expect_navigation():
        page.evaluate("""() => "33210".split("").forEach((key, i) => document.body.dispatchEvent(
            new KeyboardEvent("keydown", { key, repeat: i === 1, bubbles: true })))""")
    page.wait_for_function("words => document.querySelector('article h4').textContent !== words", arg=chosen)
    assert [json.loads(line)["grade"] for line in (full / LABELS).read_text().splitlines()] == [3]
    go(page, app, "/query?id=q02&a=dense&b=fused")
    page.keyboard.press("ArrowDown")
    with page.expect_navigation():
        page.evaluate("""() => "12".split("").forEach((key) => document.activeElement.dispatchEvent(
            new KeyboardEvent("keydown", { key, bubbles: true })))""")
    with page.expect_navigation():  # the page that follows takes the next
        page.keyboard.press("0")
    assert [json.loads(line)["grade"] for line in (full / LABELS).read_text().splitlines()] == [3, 1, 0]
    assert wrong == []


def test_the_page_of_a_query_keeps_to_its_comparison(start: Start, browser: Any, full: Path) -> None:
    """Its rankings, its measure and its filters: in the links at the top, back, and to the queries beside."""
    page, wrong = page_of(browser, app := start(full))
    go(page, app, "/compare?a=dense&b=keyword&m=RR%4010")
    page.select_option("#filters select[name=outcome]", "lost")
    lost = page.locator("#rows tbody tr:visible th a").all_inner_texts()
    assert len(lost) > 2
    page.locator("#rows tbody tr:visible th a").nth(1).click()
    page.wait_for_selector("#rankings")
    for words, query in (("Next query", lost[2]), ("Previous query", lost[1]), ("Previous query", lost[0])):
        page.get_by_text(words, exact=True).click()
        page.wait_for_function("id => new URLSearchParams(location.search).get('id') === id", arg=query)
    assert not page.get_by_text("Previous query", exact=True).count()
    compared = page.locator("nav a", has_text="Compare").get_attribute("href")
    assert compared == "/compare?a=dense&b=keyword&m=RR%4010&outcome=lost"
    page.get_by_text("Back to keyword against dense").click()
    page.wait_for_selector("#filters")
    assert page.locator("#rows tbody tr:visible th a").all_inner_texts() == lost
    page.select_option("select[name=m]", "AP")
    page.locator("form.choices button[type=submit]").first.click()
    page.wait_for_url("**m=AP**outcome=lost**")
    page.locator("#filters button[type=reset]").click()
    page.wait_for_function("() => !location.search.includes('outcome')")
    assert wrong == []


def test_without_scripts_no_page_asks_for_keys_that_do_nothing(start: Start, browser: Any, full: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    app = start(full)
    page.goto(app.address)
    page.goto(f"http://{app.host}/query?id=q02")
    words = page.locator("main").inner_text()
    assert "Choose a document" not in words
    assert "the page Judge does not" in words


def test_a_question_is_found_by_a_word_that_its_row_has_no_room_for(start: Start, browser: Any, folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    lines[3]["text"] = f"{'very ' * 40}UNUSUAL {'long ' * 40}"
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)))
    app = start(folder).enter()
    page, wrong = page_of(browser, app)
    go(page, app, "/compare")
    page.fill("input[name=text]", "unusual")
    assert page.inner_text("#shown") == "1 of 60"
    assert wrong == []


def test_filters_that_come_back_with_a_page_are_in_force(start: Start, browser: Any, full: Path) -> None:
    page, _ = page_of(browser, app := start(full))
    go(page, app, "/compare?a=dense&b=keyword")
    page.fill("#filters input[name=text]", "q1")
    chosen = page.locator("#rows tbody tr:visible").count()
    page.locator("#rows tbody tr:visible a").first.click()
    page.wait_for_selector("#rankings")
    page.go_back()
    page.wait_for_function("() => document.querySelector('#filters input[name=text]').value === 'q1'")
    page.wait_for_timeout(200)
    assert page.locator("#rows tbody tr:visible").count() == chosen


def test_a_verdict_is_overridden_with_its_reason(start: Start, browser: Any, full: Path) -> None:
    app = start(full)
    page, _ = page_of(browser, app)
    go(page, app, "/verdicts")
    card = page.locator(".verdict", has_text="Say otherwise").first
    card.get_by_text("Say otherwise").click()
    card.locator("select[name=value]").select_option("0")
    card.locator("input[name=why]").fill("it is <b>beside</b> the point")
    with page.expect_navigation():
        card.get_by_text("Save", exact=True).click()
    assert "because: it is <b>beside</b> the point" in page.locator("main").inner_text()


def test_a_dead_server_says_that_a_grade_was_not_written(start_process: Start, browser: Any, full: Path) -> None:
    app = start_process(full)
    page, _ = page_of(browser, app)
    go(page, app, "/query?id=q02")
    judging, _ = page_of(browser, app)
    go(judging, app, "/judge")
    assert app.process is not None
    app.process.kill()
    app.process.wait(10)
    page.locator(".ranking li").first.focus()
    page.keyboard.press("2")
    page.wait_for_function("() => document.getElementById('whatif').innerText.includes('NOT written')")
    judging.keyboard.press("2")
    judging.wait_for_function("() => document.querySelector('[role=alert]')?.innerText.includes('NOT written')")
    assert not (full / LABELS).exists()


def test_a_new_run_is_seen_within_two_seconds_of_work(start: Start, browser: Any, full: Path) -> None:
    app = start(full)
    page, _ = page_of(browser, app)
    page.wait_for_function("() => document.body.innerText.includes('the best first')")
    page.wait_for_timeout(1500)
    (full / "newest.run").write_bytes((full / "dense.run").read_bytes())
    page.wait_for_function("() => document.body.innerText.includes('newest')", timeout=15_000)


def test_texts_that_mean_harm_do_none(start: Start, browser: Any, tmp_path: Path) -> None:
    inside = tmp_path / "runs"
    inside.mkdir()
    long = HOSTILE * 300
    (inside / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": long}) + "\n")
    (inside / "documents.jsonl").write_text(json.dumps({"_id": "d1", "title": long, "text": long}) + "\n")
    (inside / "judgments.json").write_text(json.dumps({"q1": {"d1": 1, long: 2}}))
    for name in ("a<script>alert(1)</script>", "b'\"><svg onload=alert(1)>"):
        (inside / f"{name.replace('/', '')}.json").write_text(json.dumps({"q1": {long: 0.75, "d1": 0.5}}))
    app = start(inside)
    page, wrong = page_of(browser, app, 320)
    for path in ("/", "/compare", "/query?id=q1", "/gate", "/queries", "/judge", "/audit", "/leaderboard"):
        go(page, app, path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), path
    assert wrong == []


def test_a_page_that_waits_for_many_rankings_loads_itself_once_a_second_at_most(
    start: Start, browser: Any, folder: Path
) -> None:
    for n in range(200):
        (folder / f"copy-{n}.run").write_bytes((folder / "dense.run").read_bytes())
    app = start(folder)
    page, wrong = page_of(browser, app)
    came: list[float] = []
    page.on("request", lambda request: came.append(monotonic()) if request.is_navigation_request() else None)
    page.wait_for_timeout(5000)
    page.wait_for_function("() => !document.body.innerText.includes('Reading ')", timeout=60_000)
    assert min((later - before for before, later in pairwise(came)), default=1.0) > 0.9
    assert len(came) == len(set(came))
    number = len(came)
    page.wait_for_timeout(2500)
    assert len(came) <= number + 1, "it loads itself again without news"
    assert wrong == []


ODD = ("line\nend", "tab\there", "other\u202eway", "return\rof carriage", "latin\udcff")


def test_a_ranking_of_any_name_can_be_chosen_in_a_form(start: Start, browser: Any, folder: Path) -> None:
    for name in ODD:
        (folder / f"{name}.run").write_bytes((folder / "dense.run").read_bytes())
    app = start(folder)
    page, wrong = page_of(browser, app)
    for path in ("/compare", "/query?id=q02"):
        go(page, app, path)
        for name in ODD:
            choice = page.locator("form.choices select[name=b]")
            options = choice.locator("option").all_inner_texts()
            (chosen,) = (each for each in options if each.startswith(re.split(r"\W", ascii(name)[1:])[0]))
            choice.select_option(label=chosen)
            with page.expect_navigation():
                page.locator("form.choices button[type=submit]").first.click()
            page.wait_for_function("() => !document.querySelector('.later')", timeout=60_000)
            assert page.locator("form.choices select[name=b] option:checked").inner_text() == chosen
            assert "cannot be shown" not in page.locator("main").inner_text()
    assert wrong == []


def test_a_document_is_graded_by_taps_on_a_telephone_whatever_its_id(
    start: Start, browser: Any, tmp_path: Path
) -> None:
    ids = ("first", "line\nend", "tab\there", "other\u202eway")
    (tmp_path / "judgments.json").write_text(json.dumps({"q": {"first": 1, "second": 0}, "r": {"first": 2}}))
    for name in ("one", "other"):
        (tmp_path / f"{name}.json").write_text(json.dumps({each: list(ids) for each in "qr"}))
    app = start(tmp_path)
    page, wrong = page_of(browser, app, 390, has_touch=True, is_mobile=True)
    for row, document in enumerate(ids):
        go(page, app, "/query?id=q")
        if not row:
            page.locator(".keys [data-key='2']").tap()
            assert "Choose a document first" in page.locator("#whatif").inner_text()
        page.locator(".side").first.locator("li").nth(row).tap()
        page.locator(".keys [data-key='w']").tap()
        page.locator(".keys [data-key='0']").tap()
        page.wait_for_function("() => document.getElementById('whatif').innerText.includes('would be')")
        with page.expect_navigation():
            page.locator(".keys [data-key='2']").tap()
        line = json.loads((tmp_path / LABELS).read_text().splitlines()[-1])
        assert (line["query"], line["document"], line["grade"]) == ("q", document, 2)
        with page.expect_navigation():
            page.locator(".keys [data-key='u']").tap()
        assert json.loads((tmp_path / LABELS).read_text().splitlines()[-1])["what"] == "undone"
    go(page, app, "/judge")
    shown = page.locator("#grading input[name=document]").input_value()
    assert shown in ids
    with page.expect_navigation():
        page.locator("#grading [data-key='3']").tap()
    line = json.loads((tmp_path / LABELS).read_text().splitlines()[-1])
    assert (line["document"].replace("\r", ""), line["grade"]) == (shown.replace("\r", ""), 3)
    assert wrong == []
