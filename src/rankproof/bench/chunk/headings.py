"""Chunks of Markdown: by sections, never cut inside a heading, a list, a table or code."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

from rankproof.bench.chunk.chunker import Chunker, Places, check_size, length_in, pack_parts
from rankproof.text.tokens import spans_between
from rankproof.text.words import Span

Kind = Literal["heading", "list", "table", "code", "text", "blank"]

FENCE = re.compile(r"\s*(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?=[ \t]|$)")
UNDERLINE = re.compile(r" {0,3}(?P<marks>=+|-+)[ \t]*$")
RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
INDENTED = re.compile(r"(?: {4}|\t)[ \t]*\S")
CLOSING = re.compile(r"(?:^|[ \t])#+$")
"""The signs that may end a heading."""
DELIMITER = re.compile(r":?-+:?")
FRONT = re.compile(r"(?:---|\+\+\+)[ \t]*$")


class TextLine(NamedTuple):
    """One line without its end, with its place."""

    text: str
    start: int
    end: int

    @property
    def blank(self) -> bool:
        """Whether nothing is on it."""
        return not self.text.strip()


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Some lines that belong together."""

    kind: Kind
    start: int
    end: int
    level: int = 0
    """The level of a heading: 1 for the highest."""
    title: str = ""


def lines_of(text: str) -> list[TextLine]:
    """The lines as Markdown counts them: ended by a line feed, a carriage return, or both."""
    found = re.finditer(r"([^\r\n]*)(\r\n|\r|\n|$)", text)
    return [TextLine(each[1], each.start(), each.end()) for each in found if each.end() > each.start()]


def blocks(text: str) -> list[TextBlock]:
    """The blocks of a text, in order; together they are the whole text.

    >>> [(block.kind, block.title) for block in blocks("# Fees\\n\\nNone.\\n- a\\n- b\\n")]
    [('heading', 'Fees'), ('blank', ''), ('text', ''), ('list', '')]
    """
    lines, found, at = lines_of(text), list[TextBlock](), 0
    while at < len(lines):
        block, at = _block(lines, at)
        found.append(block)
    return found


def _block(lines: list[TextLine], at: int) -> tuple[TextBlock, int]:
    """The block that begins with a line, and the line after it."""
    line = lines[at]
    if at == 0 and (stop := _front_matter(lines)):
        return _made("code", lines, at, stop), stop
    if line.blank:
        return _made("blank", lines, at, at + 1), at + 1
    if found := HEADING.match(line.text):
        title = CLOSING.sub("", line.text[found.end() :].strip()).strip()
        return TextBlock("heading", line.start, line.end, len(found["marks"]), title), at + 1
    for kind, end in (("code", _code), ("list", _list), ("table", _table)):
        if stop := end(lines, at):
            return _made(kind, lines, at, stop), stop  # type: ignore[arg-type]
    return _paragraph(lines, at)


def _made(kind: Kind, lines: list[TextLine], first: int, stop: int) -> TextBlock:
    return TextBlock(kind, lines[first].start, lines[stop - 1].end)


def _front_matter(lines: list[TextLine]) -> int:
    """The line after the settings that some pages begin with; 0 if there are none."""
    if not FRONT.match(lines[0].text):
        return 0
    mark = lines[0].text.strip()
    ends = (number for number, line in enumerate(lines[1:], 2) if line.text.rstrip() == mark)
    stop = next(ends, 0)
    return stop if stop > 2 and not lines[1].blank else 0


def _code(lines: list[TextLine], at: int) -> int:
    """The line after a fenced or indented block of code; 0 if none begins."""
    if found := FENCE.match(lines[at].text):
        return _after_fence(lines, at, found["mark"])
    if not INDENTED.match(lines[at].text):
        return 0
    stop = at
    while stop < len(lines) and (lines[stop].blank or INDENTED.match(lines[stop].text)):
        stop += 1
    while lines[stop - 1].blank:
        stop -= 1
    return stop


def _after_fence(lines: list[TextLine], at: int, mark: str) -> int:
    """The line after the closing fence; the end of the text where it is missing."""
    closing = re.compile(rf"\s*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
    ends = (number + 1 for number in range(at + 1, len(lines)) if closing.match(lines[number].text))
    return next(ends, len(lines))


def _list(lines: list[TextLine], at: int) -> int:
    """The line after a list, all that is indented under its items with it; 0 if none begins."""
    if not _begins_item(lines[at]):
        return 0
    stop, loose = at, False
    while stop < len(lines) and _goes_on(lines, stop, at, loose):
        fence = FENCE.match(lines[stop].text)
        loose = lines[stop].blank
        stop = _after_fence(lines, stop, fence["mark"]) if fence else stop + 1
    while lines[stop - 1].blank:
        stop -= 1
    return stop


def _goes_on(lines: list[TextLine], stop: int, at: int, loose: bool) -> bool:
    """Whether a line is part of the list that began at `at`; `loose` after a blank line."""
    line = lines[stop]
    if stop == at or line.blank or _begins_item(line) or line.text.startswith(("  ", "\t")):
        return True
    # A line that is neither indented nor an item goes on with an item's paragraph, if it begins nothing else.
    return not (loose or HEADING.match(line.text) or FENCE.match(line.text) or RULE.match(line.text))


def _begins_item(line: TextLine) -> bool:
    return ITEM.match(line.text) is not None and RULE.match(line.text) is None


def _table(lines: list[TextLine], at: int) -> int:
    """The line after a table; 0 if none begins."""
    if at + 1 == len(lines) or "|" not in lines[at].text:
        return 0
    under = lines[at + 1].text.strip()
    cells = under.removeprefix("|").removesuffix("|").split("|")
    if "|" not in under or not all(DELIMITER.fullmatch(cell.strip()) for cell in cells):
        return 0
    stop = at + 2
    while stop < len(lines) and not lines[stop].blank and not _interrupts(lines, stop):
        stop += 1
    return stop


def _paragraph(lines: list[TextLine], at: int) -> tuple[TextBlock, int]:
    """A paragraph, or the heading that a line of strokes makes of it, and the line after it."""
    stop = at + 1
    while stop < len(lines) and not lines[stop].blank:
        if found := UNDERLINE.match(lines[stop].text):
            marks = found["marks"]
            title = " ".join(line.text.strip() for line in lines[at:stop])
            level = 1 if marks[0] == "=" else 2
            return TextBlock("heading", lines[at].start, lines[stop].end, level, title), stop + 1
        if _interrupts(lines, stop) or _table(lines, stop):
            break
        stop += 1
    return _made("text", lines, at, stop), stop


def _interrupts(lines: list[TextLine], at: int) -> bool:
    """Whether a line begins a block of its own, although there is no blank line before it."""
    text = lines[at].text
    return bool(HEADING.match(text) or FENCE.match(text) or RULE.match(text) or _begins_item(lines[at]))


def markdown(size: int = 200, unit: str = "words") -> Chunker:
    """Chunks of sections, each with the headings above it; a longer section is cut between its blocks.

    Paragraphs longer than `size` are cut between sentences. Headings, lists, tables and code are never cut: one
    that is longer than `size` is a chunk for itself. A heading stays with what follows it.

    >>> chunks = markdown()("# Fees\\n\\nNone.\\n\\n## Refunds\\n\\n- by card\\n- by post\\n")
    >>> [(chunk.headings, chunk.text) for chunk in chunks]
    [(('Fees',), '# Fees\\n\\nNone.'), (('Fees', 'Refunds'), '## Refunds\\n\\n- by card\\n- by post')]
    """
    check_size("markdown", size, unit)
    return Chunker("markdown", {"size": size, "unit": unit}, partial(_cut, size=size, unit=unit))


def _cut(text: str, size: int, unit: str) -> list[tuple[int, int, tuple[str, ...]]]:
    length, places = length_in(unit, text), Places(text)
    starts: list[int] = []
    headings: list[tuple[str, ...]] = []
    for section in _sections(blocks(text)):
        parts: list[Span] = []  # what must not be split, the headings joined to the first one
        for block in section.body:
            whole = Span(block.start, block.end)
            parts += places.cut(whole, size, length, SENTENCES) if block.kind == "text" else [whole]
        if section.titles:
            end = parts[0].end if parts else section.titles[-1].end
            parts[:1] = [Span(section.titles[0].start, end)]
        for span in pack_parts(parts, size, length):
            starts.append(span.start)
            headings.append(section.headings)
    spans = spans_between(text, Span(0, len(text)), starts)
    return [(*span, headings[max(bisect_right(starts, span.start) - 1, 0)]) for span in spans]


@dataclass
class HeadedSection:
    """Blocks under the same headings; the headings themselves come first."""

    headings: tuple[str, ...] = ()
    titles: list[TextBlock] = field(default_factory=list)
    body: list[TextBlock] = field(default_factory=list)


def _sections(found: list[TextBlock]) -> Iterator[HeadedSection]:
    section, above = HeadedSection(), list[TextBlock]()
    for block in found:
        if block.kind == "blank":
            continue
        if block.kind != "heading":
            section.body.append(block)
            continue
        if section.body or (section.titles and section.titles[-1].level >= block.level):
            yield section
            section = HeadedSection()
        above = [*(each for each in above if each.level < block.level), block]
        section.headings = tuple(each.title for each in above if each.title)
        section.titles.append(block)
    if section.titles or section.body:
        yield section


SENTENCES = 2
"""The level at which a paragraph is cut."""
