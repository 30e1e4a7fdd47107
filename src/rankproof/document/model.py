"""What can be printed: a result as headings, paragraphs, tables, lists, drawings, test cases, records and plain data.

Nothing here knows a format, nor what it is that is printed. A word or a number in a block is plain text: whoever
prints it escapes it. A result is made into a `Document` once, and every format is a printer of documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from rankproof.document.terminal import ALWAYS as ALWAYS
from rankproof.document.terminal import WARNING as WARNING
from rankproof.document.terminal import Column as Column

SCREEN, TEXT, PAGE, PAPER = "screen", "text", "page", "paper"
"""The places that something is printed for: one screen of a terminal, a text of 80 columns that holds everything, a
page that scrolls, and the tables of a paper."""
EVERYWHERE = (SCREEN, TEXT, PAGE, PAPER)
TERMINAL = (SCREEN, TEXT)

Record: TypeAlias = Mapping[str, Any]
"""A row of plain values by the names of their columns, with full precision."""


class Cell(str):
    """A cell with something beside its text: it is a plain string to whoever does not look."""

    __slots__ = ("best", "raised", "under")
    best: bool
    """The best of its column or row: bold, or marked."""
    raised: str
    """What stands above its end on paper and pages: a dagger, or the letters of a group."""
    under: str
    """What belongs to it and may stand under it, like the interval of a mean."""

    def __new__(cls, text: str, *, best: bool = False, raised: str = "", under: str = "") -> Cell:
        """The text, and what is beside it."""
        made = super().__new__(cls, text)
        made.best, made.raised, made.under = best, raised, under
        return made


class Heading(NamedTuple):
    """What the blocks that follow are about."""

    text: str
    level: int = 2
    ruled: bool = False
    """Whether a screen draws a line under it: where sections are long."""


class Paragraph(NamedTuple):
    """Running text. On a screen paragraphs follow each other without an empty line; an empty one keeps two apart."""

    text: str


class ListItem(str):
    """An item of a list with more than its text: it is a plain string to whoever does not look."""

    __slots__ = ("lines", "under")
    lines: Sequence[str]
    """What goes on below it, each on a line of its own."""
    under: Sequence[str]
    """A list of its own, below all that."""

    def __new__(cls, text: str, *, lines: Sequence[str] = (), under: Sequence[str] = ()) -> ListItem:
        """The text, and what is below it."""
        made = super().__new__(cls, text)
        made.lines, made.under = lines, under
        return made


class Bullets(NamedTuple):
    """A list. Each item may have a label in front, like how serious it is."""

    items: Sequence[str]
    labels: Sequence[str] = ()
    numbered: bool = False
    short: bool = False
    """Whether in a terminal one line of each item is enough."""

    def parts(self) -> Iterator[tuple[str, str, Sequence[str], Sequence[str]]]:
        """Each item as label, text, the lines that go on below it, and the list under it."""
        for label, item in zip(self.labels or [""] * len(self.items), self.items, strict=True):
            yield label, str(item), getattr(item, "lines", ()), getattr(item, "under", ())


class Table(NamedTuple):
    """Columns side by side, the first of which names the rows."""

    columns: Sequence[Column]
    caption: str = ""
    grouped: bool = False
    """Whether the first column names groups of rows; where there is no room beside them, it stands above each."""
    shrink: Sequence[int] = ()
    """The columns that are cut where the table is too wide for a screen."""
    tall: int = 0
    """The lines beyond which a screen takes the next form, where there is another; 0 for any number."""
    stacked: bool = False
    """Whether what belongs under its cells stands there on a screen too, and not beside them."""
    rest: tuple[int, str] | None = None
    """Rank and name of the columns that do not fit beside the first ones; None where they are shown all the same."""

    @classmethod
    def of(
        cls, headings: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[str], **settings: Any
    ) -> Table:
        """A table of rows; the columns in `words` hold text, the others numbers.

        >>> [(each.heading, each.right) for each in Table.of(["n", "name"], [["1", "a"]], ["name"]).columns]
        [('n', True), ('name', False)]
        """
        cells = list(zip(*rows, strict=True)) or [()] * len(headings)
        columns = [Column(name, own, name not in words) for name, own in zip(headings, cells, strict=True)]
        return cls(columns, **settings)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells row by row."""
        return list(zip(*(each.cells for each in self.columns), strict=True))


class Chart(NamedTuple):
    """A drawing: of characters for a terminal, and as a picture for a page. Either may be missing."""

    caption: str
    lines: Callable[[int], Sequence[str]] | None = None
    """The drawing in lines of so many columns."""
    picture: Callable[[], str] | None = None
    """The drawing as markup, of `document.charts`."""
    close: bool = False
    """Whether the caption stands right above the lines."""


class SuiteCase(NamedTuple):
    """One thing that was tested: passed, failure, error or skipped, and what is said of it."""

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
    """What is to be copied as it is, like a command."""

    text: str


Block: TypeAlias = Heading | Paragraph | Bullets | Table | Chart | Code | Cases


@dataclass(frozen=True, slots=True, init=False)
class Part:
    """Blocks that stand or go together: how dispensable they are, what they are called when they are left out."""

    blocks: tuple[Block, ...]
    rank: int
    """0 for what is always shown; the higher, the sooner it is left out of a screen."""
    name: str
    media: tuple[str, ...]
    """Where it is printed; a named part of a text alone is announced on the screen."""

    def __init__(
        self, *blocks: Block, rank: int = ALWAYS, name: str = "", media: tuple[str, ...] = EVERYWHERE
    ) -> None:
        """The blocks in their order."""
        for attribute, value in zip(Part.__slots__, (blocks, rank, name, media), strict=True):
            object.__setattr__(self, attribute, value)


class FirstFit(NamedTuple):
    """Several forms of the same: a screen takes the first that fits, the last one if none does; others the first."""

    forms: Sequence[Sequence[Part]]


@dataclass(frozen=True, slots=True)
class Document:
    """A result as it can be printed, its parts in reading order, and beside them its values."""

    title: str
    parts: Sequence[Part | FirstFit]
    records: Sequence[Record] = ()
    """Flat rows, for CSV and the like."""
    tree: Any = None
    """What JSON holds; the records where it is None."""
    indent: int | None = 2
    """How far JSON is indented; None for one line."""
    page: Callable[[], str] | None = None
    """A page of its own, where the parts are not all that a page can show."""
    kinds: Mapping[str, type] = field(default_factory=dict)
    """The type of each field of the records that does not show in its values."""

    def shown(
        self, medium: str, fits: Callable[[Sequence[Part]], bool] = lambda form: True
    ) -> Iterator[Part]:
        """The parts for one medium, in their order; `fits` chooses between forms."""
        for each in self.parts:
            forms = each.forms if isinstance(each, FirstFit) else [[each]]
            chosen = next((form for form in forms if fits(form)), forms[-1])
            yield from (part for part in chosen if medium in part.media and part.blocks)

    def cases(self) -> Iterator[Cases]:
        """The suites of test cases."""
        for part in self.shown(TEXT):
            yield from (block for block in part.blocks if isinstance(block, Cases))
