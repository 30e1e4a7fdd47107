"""A document as markdown, for issues, pull requests and notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankproof.document.formats import OutputFormat, register
from rankproof.document.model import PAGE, Block, Bullets, Code, Column, Document, Heading, Paragraph, Table
from rankproof.document.terminal import clean

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")
_BEGINS = re.compile(r"^([-+]|\d+[.)])(?= )")
MARK = r"\*"
"""Stands behind what is best of its row or column."""


def text(document: Document) -> str:
    """Headings, paragraphs, tables and lists with an empty line between."""
    made = (_block(block) for part in document.shown(PAGE) for block in part.blocks)
    return "\n\n".join(each for each in made if each) + "\n"


register(OutputFormat("markdown", text, (".md", ".markdown")))


def escape(text: str) -> str:
    """The text as markdown shows it unchanged.

    >>> escape("a|b_c*")
    'a\\\\|b\\\\_c\\\\*'
    """
    return _SPECIAL.sub(r"\\\1", clean(text))


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return _line(block.text)
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_line(block.text)}"
    if isinstance(block, Bullets):
        return "\n".join(_listed(block))
    if isinstance(block, Code):
        fence = "`" * (3 + block.text.count("```"))
        return f"{fence}\n{clean(block.text)}\n{fence}"
    if isinstance(block, Table) and block.columns:
        caption = [f"**{_line(block.caption)}**", ""] if block.caption else []
        headings = [escape(each.heading.replace("\n", " ")) for each in block.columns]
        rows = zip(*map(_cells, block.columns), strict=True)
        rule = ["---:" if each.right else "---" for each in block.columns]
        lines = ("| " + " | ".join(cells) + " |" for cells in (headings, rule, *rows))
        return "\n".join([*caption, *lines])
    return ""


def _listed(block: Bullets) -> Iterator[str]:
    """Lines of an item are set apart by a backslash; what is under it is a list of its own."""
    for n, (label, item, more, under) in enumerate(block.parts(), 1):
        mark = f"{n}." if block.numbered else "-"
        lines = [f"{label}: {item}" if label else item, *more]
        yield f"{mark} " + f"\\\n{' ' * len(mark)} ".join(map(_line, lines))
        yield from (f"{' ' * len(mark)} - {_line(each)}" for each in under)


def _line(text: str) -> str:
    """Running text in one line; what would begin a list there is escaped too.

    >>> _line("- a 1. b"), _line("12. May")
    ('\\\\- a 1. b', '12\\\\. May')
    """
    return _BEGINS.sub(lambda m: f"{m[1][:-1]}\\{m[1][-1]}", escape(" ".join(text.split())))


def _cells(column: Column) -> list[str]:
    cells = []
    for each in column.cells:
        best, under = getattr(each, "best", False), getattr(each, "under", "")
        cells.append(f"{escape(each)}{MARK if best else ''} {escape(under)}".rstrip())
    return cells
