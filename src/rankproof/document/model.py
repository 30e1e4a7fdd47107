"""A result that can be printed, as headings, paragraphs, tables, lists, drawings, test cases, records and plain data.

Nothing here depends on a format or a subject; what a block holds is plain text, which the printer escapes. Every
format is a printer of documents, which a module in `formats/` registers. `Result` is the base of everything that can
be printed: it makes its document in `_document`, and inherits every method.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

from rankproof.document.disk import check_free, write_file
from rankproof.document.formats import NOTEBOOK, as_text, check, from_ending, names, plain_data
from rankproof.document.terminal import Column as Column
from rankproof.document.terminal import first_columns, width
from rankproof.errors import explain_calls

SCREEN, TEXT, PAGE, PAPER = "screen", "text", "page", "paper"
"""The media: a screen of a terminal, a text of 80 columns with everything, a page that scrolls, tables of a paper."""
EVERYWHERE = (SCREEN, TEXT, PAGE, PAPER)
TERMINAL = (SCREEN, TEXT)
ALWAYS, LIKELY, MAYBE, FURTHER, SELDOM = range(5)
"""The ranks of parts: a screen without room leaves out those of the last first."""
BEFORE = "Before you trust these numbers:"
WARNING = "more warning"
"""The plural name of a part that occurs several times."""
Record: TypeAlias = Mapping[str, Any]
"""A row of plain values by the names of their columns, with full precision."""


class Cell(str):
    """A cell with more than its text: a plain string for code that needs only the text."""

    __slots__ = ("best", "raised", "under")
    best: bool
    """Whether it is the best of its column or row: bold, or marked."""
    raised: str
    """Its superscript on paper and pages: a dagger, or the letters of a group."""
    under: str
    """Text that may be printed under it, like the interval of a mean."""

    def __new__(cls, text: str, *, best: bool = False, raised: str = "", under: str = "") -> Cell:
        """The text, and its additions."""
        made = super().__new__(cls, text)
        made.best, made.raised, made.under = best, raised, under
        return made


class Heading(NamedTuple):
    """The heading of the blocks that follow."""

    text: str
    level: int = 2
    ruled: bool = False
    """Whether a screen draws a line under it, for long sections."""
    mark: str = ""
    """A symbol before it in Markdown, which is read among other text; a page may have no font for it."""


class Paragraph(NamedTuple):
    """Running text. On a screen paragraphs follow each other without an empty line; an empty one keeps two apart."""

    text: str


class ListItem(str):
    """An item of a list with more than its text: a plain string for code that needs only the text."""

    __slots__ = ("lines", "query", "under")
    lines: Sequence[str]
    """Its further lines, each on a line of its own."""
    under: Sequence[str]
    """A nested list, below these lines."""
    query: str
    """The query that it is about, whose id begins the text; empty if it is about something else."""

    def __new__(cls, text: str, *, lines: Sequence[str] = (), under: Sequence[str] = (), query: str = "") -> ListItem:
        """The text, and the lines and the list below it."""
        made = super().__new__(cls, text)
        made.lines, made.under, made.query = lines, under, query
        return made


class Bullets(NamedTuple):
    """A list. Each item may have a label in front, like its severity."""

    items: Sequence[str]
    labels: Sequence[str] = ()
    numbered: bool = False
    short: bool = False
    """Whether in a terminal one line of each item is enough."""

    def parts(self) -> Iterator[tuple[str, str, Sequence[str], Sequence[str]]]:
        """Each item as label, text, its further lines, and the list under it."""
        for label, item in zip(self.labels or [""] * len(self.items), self.items, strict=True):
            yield label, str(item), getattr(item, "lines", ()), getattr(item, "under", ())


class Table(NamedTuple):
    """Columns side by side, the first of which names the rows."""

    columns: Sequence[Column]
    caption: str = ""
    grouped: bool = False
    """Whether the first column names groups of rows; if there is no room beside them, it is printed above each."""
    shrink: Sequence[int] = ()
    """The columns that are shortened if the table is too wide for a screen."""
    tall: int = 0
    """The number of lines above which a screen takes the next form, if there is one; 0 for no limit."""
    stacked: bool = False
    """Whether the text under its cells is there on a screen too, and not beside them."""
    rest: tuple[int, str] | None = None
    """Rank and name of the columns that do not fit beside the first ones; None if they are always shown."""
    legend: str = ""
    """Which cells are marked as the best; every format that marks one says so under the table."""

    @classmethod
    def of(cls, headings: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[str], **settings: Any) -> Table:
        """A table of rows; the columns in `words` hold text, the others numbers.

        >>> [(each.heading, each.right) for each in Table.of(["n", "name"], [["1", "a"]], ["name"]).columns]
        [('n', True), ('name', False)]
        """
        cells = list(zip(*rows, strict=True)) or [()] * len(headings)
        columns = [Column(name, own, name not in words) for name, own in zip(headings, cells, strict=True)]
        return cls(columns, **settings)

    def marked_legend(self, mark: str = "bold:") -> str:
        """The legend behind the mark of a format; "" if no cell is marked."""
        marked = any(isinstance(cell, Cell) and cell.best for each in self.columns for cell in each.cells)
        return f"{mark} {self.legend}" if marked and self.legend else ""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells row by row."""
        return list(zip(*(each.cells for each in self.columns), strict=True))


class Chart(NamedTuple):
    """A drawing: of characters for a terminal, and as a picture for a page. Either may be missing."""

    caption: str
    lines: Callable[[int], Sequence[str]] | None = None
    """A function of a width: the lines of the drawing."""
    picture: Callable[[], str] | None = None
    """The drawing as markup, of `document.charts`."""
    close: bool = False
    """Whether the caption is directly above the lines."""


class SuiteCase(NamedTuple):
    """One test case: passed, failure, error or skipped, with its message."""

    name: str
    group: str
    outcome: str
    said: str


class Cases(NamedTuple):
    """A suite of test cases, for tools that read these; tables say the same to people."""

    name: str
    cases: Sequence[SuiteCase]
    about: str = ""


class Code(NamedTuple):
    """Text to be copied unchanged, like a command."""

    text: str


Block: TypeAlias = Heading | Paragraph | Bullets | Table | Chart | Code | Cases


@dataclass(slots=True, init=False)
class Part:
    """Blocks that are shown or left out together, with their rank and their name for the note on what was left out."""

    blocks: tuple[Block, ...]
    rank: int
    """0 is always shown; the higher, the sooner it is left out of a screen."""
    name: str
    media: tuple[str, ...]
    """The media it is printed for; a named part that only the full text has is announced on the screen."""

    def __init__(self, *blocks: Block, rank: int = ALWAYS, name: str = "", media: tuple[str, ...] = EVERYWHERE) -> None:
        self.blocks, self.rank, self.name, self.media = blocks, rank, name, media


class FirstFit(NamedTuple):
    """Alternative forms: a screen takes the first that fits, the last one if none does; other media the first."""

    forms: Sequence[Sequence[Part]]


def first_rows(table: Table, rows: int, rank: int, name: str, media: tuple[str, ...] = EVERYWHERE) -> list[Part]:
    """The table; a screen shows its first rows if it has many more, and the others, by that name, if there is room."""
    first, rest = (
        table._replace(columns=[each._replace(cells=each.cells[some]) for each in table.columns], caption=caption)
        for some, caption in ((slice(rows), table.caption), (slice(rows, None), ""))
    )
    if len(table.columns[0].cells) <= rows + 1:
        return [Part(table, media=media)]
    short = [Part(first, media=(SCREEN,)), Part(rest, rank=rank, name=name, media=(SCREEN,))]
    return [Part(table, media=tuple(each for each in media if each != SCREEN)), *short]


@dataclass(frozen=True, slots=True)
class Document:
    """A result as it can be printed, its parts in reading order, and beside them its values."""

    title: str
    parts: Sequence[Part | FirstFit]
    records: Sequence[Record] = ()
    """Flat rows, for CSV and the like."""
    tree: Any = None
    """The content of JSON; the records if it is None."""
    indent: int | None = 2
    """The indentation of JSON; None for one line."""
    page: Callable[[], str] | None = None
    """A page of its own, if a page can show more than the parts."""
    kinds: Mapping[str, type] = field(default_factory=dict)
    """The type of each field of the records that does not follow from its values."""

    def parts_for(
        self, medium: str | None = None, fits: Callable[[Sequence[Part]], bool] = lambda form: True
    ) -> Iterator[Part]:
        """The parts for one medium, or for all, in their order; `fits` chooses between forms."""
        for each in self.parts:
            forms = each.forms if isinstance(each, FirstFit) else [[each]]
            chosen = next((form for form in forms if fits(form)), forms[-1])
            yield from (part for part in chosen if medium in (None, *part.media) and part.blocks)

    def blocks(self, medium: str, fits: Callable[[Sequence[Part]], bool] = lambda form: True) -> Iterator[Block]:
        """The blocks of these parts."""
        return (block for part in self.parts_for(medium, fits) for block in part.blocks)


LONGEST = 100
"""The largest width of the `repr` of a result."""
VALUE, FEW = 32, 4
"""The largest width of one value in it; the number of parts that are written out."""
STYLE = "white-space:pre-wrap;margin:.5em 0;background:none"


class Displayable:
    """A result that is shown: `repr` is one short line, and a notebook shows its text."""

    __slots__ = ()

    def __init_subclass__(cls, **settings: Any) -> None:
        # Here rather than by inheritance, as @dataclass keeps only a `__repr__` of the class itself.
        super().__init_subclass__(**settings)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Displayable.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return one_line(self._in_one_line())

    def _in_one_line(self) -> str:
        """Its description in one line; long ones are cut."""
        this: Any = self
        if not is_dataclass(this):
            count = f" of {len(this):,}" if isinstance(this, Sized) else ""
            return f"<{type(self).__name__}{count}>"
        shown = (f"{f.name}={brief_repr(getattr(self, f.name))}" for f in fields(this) if f.repr and f.name[0] != "_")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        from html import escape  # imported here, as it loads all HTML entities

        if type(self).__str__ is not object.__str__:
            return f'<div><pre style="{STYLE}">{escape(str(self))}</pre></div>'
        return f"<code>{escape(repr(self))}</code>"


class PlainData(Displayable):
    """A row, an entry or the like: a dataclass whose fields are plain data."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return dict(plain_data(self))


def one_line(text: str, limit: int = LONGEST) -> str:
    """The text in one line of at most `limit` columns, with its last character kept.

    >>> one_line("<Scores of 3 queries: RR=0.5, AP=0.25>", 30)
    '<Scores of 3 queries: RR= ...>'
    """
    text = "".join(each if each.isprintable() else " " for each in text)
    if width(text) <= limit:
        return text
    return f"{first_columns(text, limit - 5).rstrip(' ,')} ...{text[-1]}"


def brief_repr(value: Any) -> str:
    """A value inside a line; a long one is described by its type and size, without writing it out first.

    >>> brief_repr("a"), brief_repr((1, 2)), brief_repr(["long"] * 9), brief_repr(dict.fromkeys(range(99)))
    ("'a'", '(1, 2)', '<list of 9>', '<dict of 99>')
    """
    if isinstance(value, str):
        return repr(value if len(value) <= VALUE else f"{value[: VALUE - 3]}...")
    if isinstance(value, Displayable):
        return f"<{type(value).__name__}>"
    if _small(value):
        return repr(value)
    if isinstance(value, Sized) and getattr(value, "shape", None) != ():
        return f"<{type(value).__name__} of {len(value):,}>"
    return one_line(repr(value), VALUE)


def _small(value: Any, deep: int = 4) -> bool:
    """Whether a value is written out: a word, a number, or a few of them."""
    if isinstance(value, dict | tuple | list):
        within = value.items() if isinstance(value, dict) else value
        return len(value) <= FEW and deep > 0 and all(_small(each, deep - 1) for each in within)
    return value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) < 20)


def print_as(result: Result, name: str, **settings: Any) -> str | bytes:
    """The result in a format, which may be one that only a file takes; `settings` as for its `format`."""
    return check(name, *result.more_formats).render(result._document(**settings))


class Result(Displayable):
    """A result of a public function: printed in every format, from its document."""

    __slots__ = ()
    more_formats: ClassVar[tuple[str, ...]] = ()
    """Formats that only results of this kind have."""
    _document: Callable[..., Document]
    """The hook for subclasses: the document to print. Its arguments are those that `format` takes beside the name."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        explain_calls(cls)

    @classmethod
    def formats(cls) -> tuple[str, ...]:
        """The names that `format` and `save` take."""
        return names(*cls.more_formats)

    def format(self, name: str = "table") -> str:
        """The result as text in the format of that name, one of `formats()`."""
        return self._printed(name)

    def _printed(self, name: str, **settings: Any) -> str:
        form = check(name, *self.more_formats)
        return as_text(self._document(**settings), form)

    def markdown(self) -> str:
        """The result in markdown."""
        return self.format("markdown")

    def html(self) -> str:
        """The result as one self-contained page."""
        return self.format("html")

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the format that the file's ending names, and return the path.

        An existing file is replaced only with `force`, or if it is a page of ours.
        """
        name = from_ending(path, self.formats())
        check_free(path, force=force)
        return write_file(path, print_as(self, name), force=force)

    def __str__(self) -> str:
        return self.format()

    def _repr_html_(self) -> str:
        return str(check(NOTEBOOK, NOTEBOOK).render(self._document()))


explain_calls(Result)  # its own methods; those of subclasses when they are made


def warnings_under(warnings: Sequence[str], first: int, heading: bool = True) -> Iterator[Part]:
    """The warnings, the first one before all others; a terminal may do without their heading."""
    for n, each in enumerate(warnings):
        blocks = [Paragraph(""), Paragraph(BEFORE)] if heading and not n else []
        yield Part(*blocks, Bullets([each], ["warning"]), rank=FURTHER if n else first, name=WARNING, media=TERMINAL)
    if warnings:
        yield Part(Paragraph(BEFORE), Bullets(warnings), media=(PAGE,))
