"""Chunks of Markdown: by sections, never cut inside a heading, a list, a table or code."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from rankproof.bench.chunk.blocks import Block, blocks
from rankproof.bench.chunk.chunker import Chunker, Piece
from rankproof.bench.chunk.packing import packed
from rankproof.bench.chunk.separators import Places
from rankproof.bench.chunk.units import Length, check_unit, check_whole, length_in
from rankproof.core.text.pieces import between
from rankproof.core.text.spans import Span


def markdown(size: int = 200, unit: str = "words") -> Chunker:
    """Chunks of sections, each knowing the headings it stands under; a longer section is cut between its blocks.

    Paragraphs longer than `size` are cut between sentences. Headings, lists, tables and code are never cut: one
    that is longer than `size` is a chunk for itself. A heading stays with what follows it.

    >>> chunks = markdown()("# Fees\\n\\nNone.\\n\\n## Refunds\\n\\n- by card\\n- by post\\n")
    >>> [(chunk.headings, chunk.text) for chunk in chunks]
    [(('Fees',), '# Fees\\n\\nNone.'), (('Fees', 'Refunds'), '## Refunds\\n\\n- by card\\n- by post')]
    """
    check_unit("markdown", unit)
    check_whole("markdown", "size", size, 1)
    return Chunker("markdown", {"size": size, "unit": unit}, partial(_cut, size=size, unit=unit))


def _cut(text: str, size: int, unit: str) -> list[Piece]:
    length, places = length_in(unit, text), Places(text)
    starts: list[int] = []
    headings: list[tuple[str, ...]] = []
    for section in _sections(blocks(text)):
        parts = _parts(section, places, size, length)
        for span in packed(parts, size, length):
            starts.append(span.start)
            headings.append(section.headings)
    spans = between(text, Span(0, len(text)), starts)
    return [Piece(*span, headings[max(bisect_right(starts, span.start) - 1, 0)]) for span in spans]


@dataclass
class Section:
    """Blocks under the same headings; the headings themselves come first."""

    headings: tuple[str, ...] = ()
    titles: list[Block] = field(default_factory=list)
    body: list[Block] = field(default_factory=list)


def _sections(found: list[Block]) -> Iterator[Section]:
    section, above = Section(), list[Block]()
    for block in found:
        if block.kind == "blank":
            continue
        if block.kind != "heading":
            section.body.append(block)
            continue
        if section.body or (section.titles and section.titles[-1].level >= block.level):
            yield section
            section = Section()
        above = [*(each for each in above if each.level < block.level), block]
        section.headings = tuple(each.title for each in above if each.title)
        section.titles.append(block)
    if section.titles or section.body:
        yield section


def _parts(section: Section, places: Places, size: int, length: Length) -> list[Span]:
    """What must stay together, the headings with the first of it."""
    parts = [span for block in section.body for span in _uncut(block, places, size, length)]
    if not section.titles:
        return parts
    start = section.titles[0].start
    return [Span(start, parts[0].end), *parts[1:]] if parts else [Span(start, section.titles[-1].end)]


def _uncut(block: Block, places: Places, size: int, length: Length) -> list[Span]:
    whole = Span(block.start, block.end)
    return places.cut(whole, size, length, SENTENCES) if block.kind == "text" else [whole]


SENTENCES = 2
"""The level at which a paragraph is cut."""
