"""Spans and blocks of a text: paragraphs, headings, list items, rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple


class Span(NamedTuple):
    """The characters from `start` up to, not including, `end`.

    >>> Span(0, 5).of("Hello there.")
    'Hello'
    """

    start: int
    end: int

    def of(self, text: str) -> str:
        """The text of the span."""
        return text[self.start : self.end]


def trim(text: str, start: int, end: int) -> Span:
    """The part without the white space around it; empty if there is nothing else.

    >>> trim("a  b  c", 1, 5)
    Span(start=3, end=4)
    """
    part = text[start:end]
    lead = len(part) - len(part.lstrip())
    return Span(start + lead, max(start + lead, start + len(part.rstrip())))


BETWEEN = "\n\n=-=-=\n\n"
"""The separator between them: no words, and not a rule of Markdown."""


def join_texts(texts: Iterable[str]) -> str:
    """The texts joined into one.

    >>> are_several(join_texts(["One.", "Two."])), are_several("One.\\n\\n---\\n\\nStill one.")
    (True, False)
    """
    return BETWEEN.join(texts)


def are_several(text: str) -> bool:
    """Whether a text is several joined ones."""
    return BETWEEN in text


HEADING = re.compile(r"\s{0,3}#{1,6}\s")
"""The line is a unit of its own."""
ITEM = re.compile(r"\s*(?:[-*+•◦▪‣·–—●○■]\s+|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]\s+|\|)")
"""A unit begins with the line; numbers and letters count where the line before has ended."""
BULLET = re.compile(r"\s*(?:[-*+•◦▪‣●○■]\s+|\|)")
RULE = re.compile(r"\s*(?:[-=*_~`+|: ]{3,}|```.*)$")
"""A line of strokes, or a fence of code."""
INLINE_BULLET = re.compile(r"\s[•◦▪‣●○■⁃]\s")
ENDED = re.compile(r"[.!?…:;。！？；：।॥؟۔]['\"”’»)\]」』）]*\s*$")
GOES_ON = re.compile(
    r"(?:[,;،、，؛(\[–—-]|(?<!\w)(?:and|or|of|the|a|an|to|in|for|with|by|und|oder|der|die|das|von|et|ou|de|y|o))\s*$",
    re.IGNORECASE,
)


def blocks(text: str) -> Iterator[Span]:
    """The parts of a text that line breaks keep apart, in order; none is empty.

    >>> text = "# Fees\\nNone are\\ncharged.\\n\\n- Refunds\\n- Returns"
    >>> [part.of(text) for part in blocks(text)]
    ['# Fees', 'None are\\ncharged.', '- Refunds', '- Returns']
    """
    for paragraph in _paragraphs(text):
        for block in _joined(text, paragraph):
            yield from _items(text, block)


def _paragraphs(text: str) -> Iterator[list[Span]]:
    """Runs of lines that are not empty."""
    lines: list[Span] = []
    place = 0
    for line in text.splitlines(keepends=True):
        span = trim(text, place, place + len(line))
        place += len(line)
        if span.start < span.end:
            lines.append(span)
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines


def _joined(text: str, lines: list[Span]) -> Iterator[Span]:
    """The lines of a paragraph, with wrapped ones joined."""
    width = max(line.end - line.start for line in lines)
    start = lines[0].start
    for line, following in pairwise(lines):
        if _breaks(text, line, following, width):
            yield Span(start, line.end)
            start = following.start
    yield Span(start, lines[-1].end)


def _breaks(text: str, line: Span, following: Span, width: int) -> bool:
    """Whether the line break between two lines is meant, rather than made by wrapping."""
    one, other = line.of(text), following.of(text)
    if any(HEADING.match(each + " ") or RULE.match(each) for each in (one, other)) or BULLET.match(other):
        return True
    if ENDED.search(one):
        return True
    if GOES_ON.search(one) or other[0].islower():
        return False
    return (ITEM.match(one) is not None and ITEM.match(other) is not None) or _had_room(one, other, width)


def _had_room(one: str, other: str, width: int) -> bool:
    """Whether the next line's first word would have fit on this line, if lines were only wrapped."""
    word = other.split(None, 1)[0]
    spaced = word.isascii() or " " in one
    return len(one) + (len(word) + 1 if spaced else 1) <= width


def _items(text: str, block: Span) -> Iterator[Span]:
    """The items of a list that was written in one line with bullets."""
    start = block.start
    for bullet in INLINE_BULLET.finditer(text, block.start, block.end):
        part = trim(text, start, bullet.start())
        if part.start < part.end:
            yield part
        start = bullet.start() + 1
    yield trim(text, start, block.end)
