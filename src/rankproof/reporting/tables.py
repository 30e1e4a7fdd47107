"""Text tables that line up and fit: any script in the cells, at most so many columns of the screen."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from rankproof.display import first_columns, width

WIDTH, HEIGHT = 80, 24
"""Columns and rows of a screen where nobody says otherwise: in files, pipes and notebooks."""
NARROWEST, WIDEST = 20, 300
READABLE = 100
"""Columns beyond which running text is hard to read."""
GAP = "  "
ELLIPSIS = "..."


_face: ContextVar[str] = ContextVar("_face", default="python")


def lay_out_for(face: Literal["python", "shell", "file"]) -> None:
    """Where the text that follows is read: a file is 80 columns wide, whatever the terminal is like."""
    _face.set(face)


def in_shell() -> bool:
    """Whether what is printed belongs to a command."""
    return _face.get() == "shell"


def page_width() -> int:
    """The columns of the page: what $COLUMNS says, else those of the terminal, else 80."""
    return min(max(_size("COLUMNS", 0, WIDTH), NARROWEST), WIDEST)


def page_height() -> int:
    """The rows that a text may have so that it is seen with the line it was asked by."""
    return max(_size("LINES", 1, HEIGHT), HEIGHT) - 1


def _size(variable: str, axis: int, usual: int) -> int:
    if _face.get() == "file":
        return usual
    said = os.environ.get(variable, "")
    if said.isascii() and said.isdigit() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.stdout.fileno())[axis] or usual if sys.stdout.isatty() else usual
    except (OSError, ValueError, AttributeError):  # a stream that is no file
        return usual


@dataclass(frozen=True, slots=True)
class Column:
    """A heading (of one or more lines) and the cells under it."""

    heading: str
    cells: Sequence[str]
    right: bool = False
    """Whether it is set flush right, as numbers are."""

    @property
    def width(self) -> int:
        """The columns of the screen it needs."""
        return max(width(text) for text in (*self.heading.split("\n"), *self.cells))


def clean(text: str) -> str:
    """The text with every character that would move the cursor written out.

    >>> clean("a\\tb\\x1b[31m")
    'a\\\\tb\\\\x1b[31m'
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(char: str) -> str:
    harmless = char.isprintable() or unicodedata.category(char) == "Zs"
    return char if harmless else char.encode("unicode_escape", "backslashreplace").decode("ascii")


def cut(text: str, limit: int) -> str:
    """The text in at most `limit` columns, cut in the middle: beginnings and ends of ids tell them apart.

    >>> cut("msmarco_v2.1_doc_00_1234567#8", 15), cut("検索エンジンの評価", 9)
    ('msmarc...4567#8', '検...評価')
    """
    text = clean(text)
    if width(text) <= limit:
        return text
    room = max(limit - len(ELLIPSIS), 0)
    head = first_columns(text, (room + 1) // 2)
    tail = first_columns(text[::-1], room - width(head))[::-1]
    return head + ELLIPSIS + tail


def pad(text: str, to: int, right: bool = False) -> str:
    """The text filled up with blanks to `to` columns."""
    blanks = " " * (to - width(text))
    return blanks + text if right else text + blanks


def table(columns: Sequence[Column], limit: int | None = None) -> list[str]:
    """The lines of a table; columns that do not fit go on below, with the first one repeated."""
    return [line for n, part in enumerate(blocks(columns, limit)) for line in ([""] * (n > 0) + part)]


def blocks(columns: Sequence[Column], limit: int | None = None) -> list[list[str]]:
    """The same in parts, each as wide as the page at most."""
    limit = page_width() if limit is None else limit
    label = _fitted(columns[0], max(limit // 2, 8))
    others = [_fitted(each, limit - label.width - len(GAP)) for each in columns[1:]]
    return [_block(part) for part in _parts(label, others, limit)]


def _fitted(column: Column, limit: int) -> Column:
    heading = "\n".join(cut(line, limit) for line in column.heading.split("\n"))
    return Column(heading, [cut(cell, limit) for cell in column.cells], column.right)


def _parts(label: Column, columns: Sequence[Column], limit: int) -> Iterator[list[Column]]:
    """The columns in runs that fit side by side behind the label."""
    part, used = [label], label.width
    for column in columns:
        if len(part) > 1 and used + len(GAP) + column.width > limit:
            yield part
            part, used = [label], label.width
        part.append(column)
        used += len(GAP) + column.width
    yield part


def _block(columns: Sequence[Column]) -> list[str]:
    """One table: headings set on a common base line, a rule, the cells."""
    headings = [each.heading.split("\n") for each in columns]
    height = max(map(len, headings))
    raised = [[""] * (height - len(lines)) + lines for lines in headings]
    widths = [each.width for each in columns]
    rows = [*zip(*raised, strict=True), tuple("-" * each for each in widths)]
    rows += zip(*(each.cells for each in columns), strict=True)
    sides = [each.right for each in columns]
    return [GAP.join(map(pad, cells, widths, sides)).rstrip() for cells in rows]


def wrap(text: str, limit: int | None = None, first: str = "", later: str | None = None) -> list[str]:
    """The words of a text in lines of at most `limit` columns; `first` and `later` begin them.

    >>> wrap("one two three", 9, "- ", "  ")
    ['- one two', '  three']
    """
    limit = min(page_width(), READABLE) if limit is None else limit
    later = first if later is None else later
    lines, line = [], first
    for word in clean(" ".join(text.split())).split(" "):
        for piece in _pieces(word, limit - width(later)):
            fits = width(line) + width(piece) + (line not in (first, later)) <= limit
            if line in (first, later):
                line += piece
            elif fits:
                line += " " + piece
            else:
                lines.append(line)
                line = later + piece
    return [*lines, line]


def _pieces(word: str, limit: int) -> Iterator[str]:
    """The word, in pieces where it is longer than a line."""
    while width(word) > limit:
        piece = first_columns(word, limit) or word[:1]
        yield piece
        word = word[len(piece) :]
    yield word
