"""A document in a terminal: `table` is one screen with the most important parts, `full` is everything."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rankproof.document import terminal
from rankproof.document.formats import FULL, OutputFormat, register
from rankproof.document.model import (
    ALWAYS,
    SCREEN,
    TEXT,
    WARNING,
    Block,
    Bullets,
    Cell,
    Chart,
    Code,
    Column,
    Document,
    Heading,
    Paragraph,
    Part,
    Table,
)
from rankproof.document.numbers import count, for_face
from rankproof.document.terminal import (
    GAP,
    LEAST,
    blocks,
    clean,
    cut,
    cut_apart,
    page_height,
    page_width,
    width,
    wrap,
)

MARK = "*"
INDENT = "  "


def screen(document: Document) -> str:
    """The parts that fit on one screen, the least dispensable first."""
    parts = [lines for part in document.parts_for(SCREEN, _form_fits) for lines in _lines_of(part)]
    more = [part.name for part in document.parts_for(TEXT) if part.name and SCREEN not in part.media]
    return "\n".join(fit_lines(parts, more=more)) + "\n"


def full_text(document: Document) -> str:
    """Everything, with the same layout for all tables of groups."""
    return "\n".join(lines_of(*document.blocks(TEXT, _form_fits))) + "\n"


register(OutputFormat("table", screen), OutputFormat(FULL, full_text, ("", ".txt", ".text", ".log")))


def _form_fits(form: Sequence[Part]) -> bool:
    """Whether the tables of a form are no wider than the page, and no taller than they may be."""
    tables = [block for part in form for block in part.blocks if isinstance(block, Table)]
    return all((each.grouped or _fits(_shown(each))) and not 0 < each.tall < len(_table(each)) for each in tables)


def _lines_of(part: Part) -> Iterator[ScreenLines]:
    """The lines of a part; columns that go on below may be parts of their own."""
    lines: list[str] = []
    more: list[ScreenLines] = []
    for block in part.blocks:
        if isinstance(block, Table) and block.rest:
            rank, name = block.rest
            first, *others = blocks(_shown(block))
            lines += [*_captioned(block.caption), *first, *_captioned(block.marked_legend(MARK)), ""]
            more += [ScreenLines(["", *each, ""], rank, name) for each in others]
        else:
            lines += _block(block)
    yield ScreenLines(lines, part.rank, part.name)
    yield from more


def lines_of(*listed: Block) -> list[str]:
    """The lines of some blocks, with the same layout for all tables of groups."""
    grouped = (each for each in listed if isinstance(each, Table) and each.grouped)
    narrow = not all(_fits(_shown(each)) for each in grouped)
    return _trimmed([line for block in listed for line in _block(block, narrow)])


def _block(block: Block, narrow: bool = False) -> list[str]:
    if isinstance(block, Paragraph):
        return wrap(block.text) if block.text else [""]
    if isinstance(block, Heading):
        lines = wrap(block.text)
        rule = ["=-"[block.level > 1] * max(map(width, lines), default=0)] if block.ruled else []
        return ["", *lines, *rule]
    if isinstance(block, Table):
        made = [*_table(block, narrow), *_captioned(block.marked_legend(MARK)), ""] if block.columns else []
        return [*_captioned(block.caption), *made]
    if isinstance(block, Bullets):
        return _shortened(block) if block.short else _bullets(block)
    if isinstance(block, Code):
        return _typed(block.text)
    if isinstance(block, Chart) and block.lines is not None:
        above = ["", *wrap(block.caption)] if block.close else _captioned(block.caption)
        return [*above, *block.lines(page_width()), ""]
    return []


def _typed(command: str) -> list[str]:
    """A command to be copied: over several lines if one is too short, without cutting a word."""
    room = page_width() - len(INDENT) - 2
    lines = textwrap.wrap(clean(command), room, break_long_words=False, break_on_hyphens=False)
    return [f"{INDENT}{line}" for line in " \\\n".join(lines).splitlines()]


def _captioned(caption: str) -> list[str]:
    return ["", *wrap(caption), ""] if caption else [""]


def _bullets(block: Bullets) -> list[str]:
    """A line or more each: behind a label, a number or a dash; without one if it has a list under it."""
    room = max(LEAST, *map(len, block.labels)) + 1 if block.labels else 3 if block.numbered else 2
    lines = []
    for n, (label, item, more, under) in enumerate(block.parts(), 1):
        mark = label or ("" if block.labels or under else f"{n}." if block.numbered else "-")
        begin = f"{INDENT}{mark}".ljust(len(INDENT) + room) if mark or block.labels else INDENT
        lines += wrap(item, first=begin, later=" " * max(len(begin), 4))
        lines += [line for each in more for line in wrap(each, first=" " * len(begin))]
        lines += [line for each in under for line in wrap(each, first="    - ", later="      ")]
    return lines


def _shortened(block: Bullets) -> list[str]:
    """A line each: an item cut in the middle, like a name; the lines under it at the end."""
    lines = []
    for _, item, _, under in block.parts():
        lines.append(INDENT + cut(item, page_width() - len(INDENT)))
        for each in under:
            first, *rest = wrap(each, page_width() - 4, "    - ", "      ")
            lines.append(first + (" ..." if rest else ""))
    return lines


def _shown(table: Table) -> list[Column]:
    """The columns for a screen: shortened if allowed, the best cells marked."""
    columns = [each._replace(cells=_cells(each, table.stacked), most=0) for each in table.columns]
    for at in table.shrink:
        others = sum(each.width + len(GAP) for n, each in enumerate(columns) if n not in table.shrink)
        room = (page_width() - others - len(GAP) * (len(table.shrink) - 1)) // len(table.shrink)
        columns[at] = columns[at]._replace(cells=cut_apart(columns[at].cells, max(room, 9)))
    return columns


def _cells(column: Column, stacked: bool) -> list[str]:
    """The texts of the cells with their marks, and the text under them beside them or in a row of its own."""
    cells = cut_apart(column.cells, column.most) if column.most else list(map(str, column.cells))
    under = [each.under if isinstance(each, Cell) else "" for each in column.cells]
    best = [isinstance(each, Cell) and each.best for each in column.cells]
    if any(best) or any(under):
        cells = [cell + (MARK if won else " ") for cell, won in zip(cells, best, strict=True)]
    if stacked:
        return [line for pair in zip(cells, under, strict=True) for line in pair]
    return [f"{cell} {below}" if below else cell for cell, below in zip(cells, under, strict=True)]


def _table(table: Table, narrow: bool = False) -> list[str]:
    columns = _shown(table)
    if table.grouped and (narrow or not _fits(columns)):
        return _under_groups(*columns)
    return terminal.table(columns)


def _fits(columns: Sequence[Column]) -> bool:
    return sum(each.width + len(GAP) for each in columns) - len(GAP) <= page_width()


def _under_groups(groups: Column, names: Column, *rest: Column) -> list[str]:
    """The same with each group on a line of its own, so that the last column stays beside its row."""
    room = page_width() - sum(each.width + len(GAP) for each in rest)
    room = room if room > 2 * LEAST else page_width()  # else the columns go on below, beside longer names
    names = names._replace(cells=cut_apart([f"{INDENT}{each}" for each in names.cells], room))
    above = cut_apart(groups.cells, page_width())
    lines = []
    for n, part in enumerate(blocks([names, *rest])):
        rows = len(part) - len(above)
        lines += [*[""] * (n > 0), *part[:rows]]
        for group, row in zip(above, part[rows:], strict=True):
            lines += [group, row] if group else [row]
    return lines


COUNTED = ("more error", WARNING, "more note", "group")


class ScreenLines(NamedTuple):
    """Some lines, with their rank and their name for the note on what was left out."""

    lines: Sequence[str]
    rank: int = ALWAYS
    name: str = ""


def fit_lines(parts: Sequence[ScreenLines], rows: int | None = None, more: Sequence[str] = ()) -> list[str]:
    """As much as fits into `rows` lines, the least dispensable first, and a note on what is left out.

    `more` names the parts that only the full text has.

    >>> mean, notes = ScreenLines(["mean .5"]), ScreenLines(["", "a note"] * 3, 1, "notes")
    >>> fit_lines([mean, notes, ScreenLines(["by day"], 2, "days")], 5)
    ['mean .5', 'by day', 'More with .format("full"): notes.']
    """
    rows = page_height() if rows is None else rows
    everything = _trimmed([line for part in parts for line in part.lines])
    if len(everything) <= rows and not more:
        return everything
    kept = {i for i, part in enumerate(parts) if part.rank == ALWAYS}
    for i in sorted(range(len(parts)), key=lambda i: parts[i].rank):
        if i in kept or len(_lines(parts, kept | {i}, more)) <= rows:
            kept.add(i)
    return _lines(parts, kept, more)


def _lines(parts: Sequence[ScreenLines], kept: set[int], more: Sequence[str]) -> list[str]:
    """The lines of these parts, and the note on the others."""
    shown = _trimmed([line for i in sorted(kept) for line in parts[i].lines])
    left = [*more] + [parts[i].name for i in range(len(parts)) if i not in kept and any(parts[i].lines)]
    if not left:
        return shown
    names = [name for name in dict.fromkeys(left) if name not in COUNTED]
    times = [count(left.count(name), name) for name in COUNTED if name in left]
    how = for_face('.format("full")', "--full")
    return [*shown, *wrap(f"More with {how}: {', '.join([*times, *names])}.")]


def _trimmed(lines: Sequence[str]) -> list[str]:
    """The lines without empty ones at either end, or two in a row."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return kept[:-1] if kept and not kept[-1] else kept
