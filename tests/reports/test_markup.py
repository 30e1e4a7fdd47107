"""Every page is one sound HTML file: balanced, self-contained, accessible, and ids stay text."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from rankproof import report, sample

VOID = {"meta", "br", "hr", "link", "col", "img"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str | None]
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def all(self, *tags: str) -> list[Node]:
        found = [self] if self.tag in tags else []
        return found + [each for child in self.children for each in child.all(*tags)]

    def words(self) -> str:
        return self.text + "".join(child.words() for child in self.children)


class Tree(HTMLParser):
    """The page as a tree; an end tag that does not close the innermost open element is an error."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.root = self.at = Node("", {})
        self.feed(page)
        self.close()
        assert self.at is self.root, f"<{self.at.tag}> is never closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"<{tag}> has an attribute twice: {names}"
        node = Node(tag, dict(attrs), self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_endtag(self, tag: str) -> None:
        assert self.at.tag == tag, f"</{tag}> closes <{self.at.tag}>"
        assert self.at.parent is not None
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.text += data


@pytest.fixture
def tree(page: str) -> Node:
    return Tree(page).root


def test_ids_are_unique_and_every_link_leads_to_one(tree: Node) -> None:
    def every(node: Node) -> list[Node]:
        return [node, *(each for child in node.children for each in every(child))]

    ids = Counter(each.attributes["id"] for each in every(tree) if "id" in each.attributes)
    assert max(ids.values()) == 1
    links = [each.attributes["href"] or "" for each in tree.all("a")]
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    labels = [each.attributes["aria-labelledby"] for each in tree.all("section")]
    assert all(label in ids for label in labels)


def test_a_page_needs_no_script_and_nothing_from_elsewhere(page: str, tree: Node) -> None:
    assert not tree.all("script", "link", "img", "iframe", "object", "embed", "form", "base")
    assert not re.search(r"url\(|@import|@font-face|https?://", page)
    handlers = re.compile(r"on\w+|src|style")
    assert not [
        name for each in tree.all("p", "bdi", "td", "a", "rect") for name in each.attributes if handlers.fullmatch(name)
    ]


def test_what_a_reader_of_the_page_needs_is_there(tree: Node) -> None:
    assert tree.all("html")[0].attributes["lang"] == "en"
    assert tree.all("title")[0].words()
    assert len(tree.all("main")) == len(tree.all("h1")) == 1
    levels = [int(each.tag[1]) for each in tree.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_every_table_has_a_caption_headings_and_cells_to_fit(tree: Node) -> None:
    for table in tree.all("table"):
        assert table.all("caption")[0].words()
        columns = table.all("thead")[0].all("th")
        assert all(each.attributes["scope"] == "col" and each.words() for each in columns)
        for body in table.all("tbody"):
            rows = body.all("tr")
            headed = [row.all("th")[-1] for row in rows if row.all("th")]
            assert all(each.attributes["scope"] == "row" and each.words() for each in headed)
            assert not any(row.all("td")[0].words() for row in rows if not row.all("th"))
            spanned = sum(int(each.attributes.get("rowspan") or 1) - 1 for each in body.all("th"))
            cells = sum(len(row.all("th", "td")) for row in rows)
            assert cells + spanned == len(columns) * len(rows), table.words()[:80]


def test_tables_scroll_with_the_keyboard_and_are_no_landmarks(tree: Node) -> None:
    boxes = [each for each in tree.all("div") if each.attributes.get("class") == "scroll"]
    assert boxes
    assert all(each.attributes["tabindex"] == "0" and each.attributes["aria-label"] for each in boxes)
    assert {each.attributes["role"] for each in boxes} == {"group"}


def test_the_verdict_stands_beside_the_mean_and_says_what_would_give_one() -> None:
    runs = {name: sample.rankings()[name] for name in ("fused", "dense")}
    text = report(sample.judgments(), runs, "nDCG@10").html()
    assert '<td class="w"><span>cannot tell yet</span><small>needs about' in text
    assert text.index(">mean</a>") < text.index(">verdict</a>") < text.index(">difference</a>")
    assert ">interval of the mean</a>" in text
    assert ">interval of the difference</a>" in text


def test_every_picture_says_what_it_shows(tree: Node) -> None:
    for svg in tree.all("svg"):
        assert svg.attributes["role"] == "img"
        assert svg.children[0].tag == "title"
        assert svg.children[1].tag == "desc"
        assert svg.children[1].words()


def test_no_coordinate_is_missing(page: str) -> None:
    assert not re.search(r'="[^"]*\b(nan|inf|None)\b', page)


@pytest.mark.parametrize("bad", ["<script>", "<img", "\u202e", "\x1b", "\x00", "<!--"])
def test_ids_that_mean_harm_stay_text(page: str, bad: str) -> None:
    assert bad not in page
