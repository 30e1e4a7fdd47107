"""A document as one self-contained page, as PDF, and as part of a notebook's page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from rankproof.document.charts import figure
from rankproof.document.formats import NOTEBOOK, OutputFormat, register
from rankproof.document.model import PAGE, Block, Bullets, Cell, Chart, Code, Document, Heading, Paragraph, Table
from rankproof.document.page import Markup, Section, el, head_cell, join, table
from rankproof.document.page import page as html_page
from rankproof.document.terminal import SPARKS


def page(document: Document) -> str:
    """The whole page: its own, or a section for each heading, after the blocks before any heading."""
    if document.page is not None:
        return document.page()
    lead: list[Block] = []
    sections: list[tuple[str, list[Block]]] = []
    for block in document.blocks(PAGE):
        if isinstance(block, Heading):
            sections.append((block.text, []))
        else:
            (sections[-1][1] if sections else lead).append(block)
    made = []
    for n, (name, blocks) in enumerate(sections, 1):
        key = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"
        made.append(Section(f"{key}-{n}", name, join(map(_block, blocks))))
    return html_page(document.title, None, made, lead=join(map(_block, lead)))


Link: TypeAlias = Callable[[str], Markup]


def part_of_page(document: Document, link: Link | None = None) -> Markup:
    """The document as markup for a section of another page, which may link the queries it lists."""
    return join(_block(block, link) for block in document.blocks(PAGE))


def _block(block: Block, link: Link | None = None) -> Markup | None:
    if isinstance(block, Paragraph):
        return el("p", block.text) if block.text else None
    if isinstance(block, Bullets):
        items = (
            el(
                "li",
                el("b", label) if label else None,
                _linked(each, f" {item}" if label else item, link),
                *(el("div", line) for line in more),
                el("ul", *(el("li", line) for line in under)) if under else None,
            )
            for (label, item, more, under), each in zip(block.parts(), block.items, strict=True)
        )
        return el("ol" if block.numbered else "ul", *items)
    if isinstance(block, Heading):
        return el("h3", block.text)
    if isinstance(block, Code):
        return el("pre", el("code", block.text))
    if isinstance(block, Table) and block.columns:
        words = [n for n, each in enumerate(block.columns) if not each.right]
        headings = [each.heading.replace("\n", " ") for each in block.columns]
        columns = [map(_cell, each.cells) if each.right else map(_wrapped, each.cells) for each in block.columns]
        rows = zip(*columns, strict=True)
        made = table(block.caption, map(_wrapped, headings), rows, words=words, label=headings[0])
        return join([made, el("p", block.marked_legend())]) if block.marked_legend() else made
    if isinstance(block, Chart) and block.picture is not None:
        drawn = Markup(block.picture())
        return figure(block.caption, drawn) if block.caption else drawn
    return None


def _linked(item: str, text: str, link: Link | None) -> str:
    query = getattr(item, "query", "")
    return join([link(query), text.removeprefix(query)]) if link and query else text


def _cell(cell: str, raises: bool = True) -> str:
    if not isinstance(cell, Cell):
        return cell
    raised = el("sup", cell.raised) if raises and cell.raised else None
    return join([el("b", cell) if cell.best else cell, raised, f" {cell.under}" if cell.under else None])


LONG = 48
"""Up to this many characters words may be a column as narrow as their longest one; what is longer gets more room."""


def _wrapped(cell: str) -> Markup | None:
    """Words take several lines where they are long, so that they push no number off a screen; a drawing stays whole."""
    if not cell:
        return None
    drawn = any(each in SPARKS for each in cell)
    return el("span", cell, cls="spark") if drawn else el("bdi", _cell(cell), cls="long" if len(cell) > LONG else None)


def on_paper(document: Document) -> bytes:
    """The page printed by an installed Chromium, Chrome or Edge."""
    from rankproof.document.pdf import print_page

    return print_page(page(document))


TABLE = "border-collapse:collapse;margin:.5em 0"
CELL = "padding:.15em .6em;text-align:"


def fragment(document: Document) -> str:
    """The document inside another page, with a style of its own: no identifier, no style sheet, no script."""
    return el("div", *map(_inside, document.blocks(PAGE)))


def _inside(block: Block) -> Markup | None:
    if isinstance(block, Heading):
        return el("h4", block.text) if block.text else None
    if isinstance(block, Table) and block.columns:
        sides = [f"{CELL}{'right' if each.right else 'left'}" for each in block.columns]
        headings = [each.heading.replace("\n", " ") for each in block.columns]
        heads = (head_cell(each, linked=False, style=side) for each, side in zip(headings, sides, strict=True))
        around = [el("p", text) if text else None for text in (block.caption, block.marked_legend())]
        cells = ([(_cell(each, False), side) for each, side in zip(row, sides, strict=True)] for row in block.rows)
        rows = (el("tr", *(el("td", cell, style=side) for cell, side in row)) for row in cells)
        return join([around[0], el("table", el("tr", *heads), *rows, style=TABLE), around[1]])
    return None if isinstance(block, Chart) else _block(block)


register(
    OutputFormat("html", page, (".html", ".htm")),
    OutputFormat("pdf", on_paper, (".pdf",), binary=True),
    OutputFormat(NOTEBOOK, fragment, general=False),
)
