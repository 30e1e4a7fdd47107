"""A document as one self-contained page, as PDF, and as part of a notebook's page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from rankproof.document.model import (
    NOTEBOOK,
    PAGE,
    Block,
    Bullets,
    Chart,
    Code,
    Document,
    Heading,
    OutputFormat,
    Paragraph,
    Table,
    register,
)
from rankproof.document.terminal import clean

if TYPE_CHECKING:
    from rankproof.document.page import Markup


def page(document: Document) -> str:
    """The whole page: its own, or a section for each heading, after the blocks before any heading."""
    if document.page is not None:
        return document.page()
    from rankproof import __version__
    from rankproof.document.page import Section, el, join
    from rankproof.document.page import page as html_page

    lead: list[Block] = []
    sections: list[tuple[str, list[Block]]] = []
    for block in (block for part in document.shown(PAGE) for block in part.blocks):
        if isinstance(block, Heading):
            sections.append((block.text, []))
        else:
            (sections[-1][1] if sections else lead).append(block)
    made = []
    for n, (name, blocks) in enumerate(sections, 1):
        key = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"
        made.append(Section(f"{key}-{n}", name, join(map(_block, blocks))))
    foot = el("p", f"Made by rankproof {__version__}.")
    return html_page(document.title, None, made, foot, lead=join(map(_block, lead)))


Link: TypeAlias = "Callable[[str], Markup]"
"""A link to the page of a query."""


def part_of_page(document: Document, link: Link | None = None) -> Markup:
    """The document as markup for a section of another page, which may link the queries it lists."""
    from rankproof.document.page import join

    return join(_block(block, link) for part in document.shown(PAGE) for block in part.blocks)


def _block(block: Block, link: Link | None = None) -> str | None:
    from rankproof.document.page import Markup, el, figure

    if isinstance(block, Paragraph):
        return el("p", block.text) if block.text else None
    if isinstance(block, Bullets):
        items = (
            el(
                "li",
                el("b", label) if label else None,
                _item_text(each, f" {item}" if label else item, link),
                *(el("div", each) for each in more),
                el("ul", *(el("li", each) for each in under)) if under else None,
            )
            for (label, item, more, under), each in zip(block.parts(), block.items, strict=True)
        )
        return el("ol" if block.numbered else "ul", *items)
    if isinstance(block, Heading):
        return el("h3", block.text)
    if isinstance(block, Code):
        return el("pre", el("code", block.text))
    if isinstance(block, Table) and block.columns:
        return _table(block)
    if isinstance(block, Chart) and block.picture is not None:
        drawn = Markup(block.picture())
        return figure(block.caption, drawn) if block.caption else drawn
    return None


def _item_text(item: str, text: str, link: Link | None) -> str:
    from rankproof.document.page import join

    query = getattr(item, "query", "")
    return join([link(query), text.removeprefix(query)]) if link and query else text


def _table(block: Table) -> str:
    from rankproof.document.page import el, join, table

    words = [n for n, each in enumerate(block.columns) if not each.right]
    headings = [each.heading.replace("\n", " ") for each in block.columns]
    rows = [[_cell(cell) for cell in row] for row in block.rows]
    made = table(block.caption, headings, rows, words=words, label=headings[0])
    return join([made, el("p", block.explained())]) if block.explained() else made


def _cell(cell: str) -> str:
    from rankproof.document.page import el, join

    best, raised = getattr(cell, "best", False), getattr(cell, "raised", "")
    under = getattr(cell, "under", "")
    if not (best or raised or under):
        return str(cell)
    made = [el("b", str(cell)) if best else str(cell), el("sup", raised) if raised else None]
    return join([*made, f" {under}" if under else None])


def on_paper(document: Document) -> bytes:
    """The page printed by an installed Chromium, Chrome or Edge."""
    from rankproof.document.pdf import print_page

    return print_page(page(document))


TABLE = "border-collapse:collapse;margin:.5em 0"
CELL = "padding:.15em .6em;text-align:"


def fragment(document: Document) -> str:
    """The document inside another page, with a style of its own: no identifier, no style sheet, no script."""
    made = (_inside(block) for part in document.shown(PAGE) for block in part.blocks)
    return f"<div>{''.join(made)}</div>"


def _inside(block: Block) -> str:
    if isinstance(block, Paragraph | Heading):
        tag = "p" if isinstance(block, Paragraph) else "h4"
        return f"<{tag}>{_text(block.text)}</{tag}>" if block.text else ""
    if isinstance(block, Bullets):
        tag = "ol" if block.numbered else "ul"
        return f"<{tag}>{''.join(_item(*each) for each in block.parts())}</{tag}>"
    if isinstance(block, Code):
        return f"<pre>{_text(block.text)}</pre>"
    if isinstance(block, Table) and block.columns:
        caption = f"<p>{_text(block.caption)}</p>" if block.caption else ""
        sides = ["right" if each.right else "left" for each in block.columns]
        headings = [each.heading.replace("\n", " ") for each in block.columns]
        rows = "".join(_row("td", row, sides) for row in block.rows)
        legend = f"<p>{_text(block.explained())}</p>" if block.explained() else ""
        return f'{caption}<table style="{TABLE}">{_row("th", headings, sides)}{rows}</table>{legend}'
    return ""


def _item(label: str, item: str, more: Sequence[str], under: Sequence[str]) -> str:
    lines = "".join(f"<div>{_text(each)}</div>" for each in more)
    below = "".join(f"<li>{_text(each)}</li>" for each in under)
    text = _text(f"{label}: {item}" if label else item)
    return f"<li>{text}{lines}{f'<ul>{below}</ul>' if below else ''}</li>"


def _row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    made = (f'<{tag} style="{CELL}{side}">{_inner(cell)}</{tag}>' for cell, side in zip(cells, sides, strict=True))
    return f"<tr>{''.join(made)}</tr>"


def _inner(cell: str) -> str:
    text = f"<b>{_text(cell)}</b>" if getattr(cell, "best", False) else _text(cell)
    under = getattr(cell, "under", "")
    return f"{text} {_text(under)}" if under else text


def _text(text: str) -> str:
    return escape(clean(text))


register(
    OutputFormat("html", page, (".html", ".htm")),
    OutputFormat("pdf", on_paper, (".pdf",), binary=True),
    OutputFormat(NOTEBOOK, fragment, general=False),
)
