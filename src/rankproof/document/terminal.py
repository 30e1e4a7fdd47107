"""Text for a terminal: aligned tables, and charts of characters."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from rankproof.document.numbers import FACE

WIDTH, HEIGHT = 80, 24
"""The default size of a screen: in files, pipes and notebooks."""
NARROWEST, WIDEST = 20, 300
READABLE = 100
"""The largest width of running text, beyond which it is hard to read."""
GAP = "  "
LEAST = 8
"""The smallest width of a label in front of an item."""
ELLIPSIS = "..."
NO_WIDTH = ("Mn", "Me", "Cf")
"""Unicode categories of zero width: accents that combine, joiners, marks of direction."""


def in_shell() -> bool:
    """Whether what is printed belongs to a command."""
    return FACE.get() == "shell"


def page_width() -> int:
    """The width of the page: $COLUMNS, else that of the terminal, else 80."""
    return min(max(_size("COLUMNS", 0, WIDTH), NARROWEST), WIDEST)


def page_height() -> int:
    """The number of rows that a text may have so that it is seen together with its command."""
    return max(_size("LINES", 1, HEIGHT), HEIGHT) - 1


def _size(variable: str, axis: int, usual: int) -> int:
    if FACE.get() == "file":
        return usual
    said = os.environ.get(variable, "")
    if said.isascii() and said.isdigit() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.stdout.fileno())[axis] or usual if sys.stdout.isatty() else usual
    except (OSError, ValueError, AttributeError):  # a stream that is not a file
        return usual


class Column(NamedTuple):
    """A heading (of one or more lines) and the cells under it."""

    heading: str
    cells: Sequence[str]
    right: bool = False
    most: int = 0
    """The largest width that it may take; 0 for no limit."""

    @property
    def width(self) -> int:
        """The width that it needs."""
        return max(width(text) for text in (*self.heading.split("\n"), *self.cells))


def clean(text: str) -> str:
    """The text with every character that would move the cursor escaped.

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


def cut_apart(texts: Sequence[str], limit: int) -> list[str]:
    """Each text in at most `limit` columns; of those that would look the same, what they begin with is left out.

    >>> cut_apart([f"{'long-' * 4}{name}{'-run' * 4}" for name in ("one", "two")], 14)
    ['...one-run-run', '...two-run-run']
    """
    made = {text: cut(text, limit) for text in texts}
    alike: dict[str, list[str]] = {}
    for text, short in made.items():
        alike.setdefault(short, []).append(text)
    for group in (each for each in alike.values() if len(each) > 1):
        shared = next(i for i, chars in enumerate(zip_longest(*group)) if len(set(chars)) > 1)
        made |= {text: first_columns(ELLIPSIS + clean(text[shared:]), limit) for text in group}
    if len(set(made.values())) < len(made):
        cuts = [text for text, short in made.items() if short != clean(text)]
        made |= {text: first_columns(made[text], limit - len(f" #{n}")) + f" #{n}" for n, text in enumerate(cuts, 1)}
    return [made[text] for text in texts]


def cut_names(names: Iterable[str], limit: int) -> dict[str, str]:
    """What each name is called in sentences: cut, and apart from the others."""
    listed = list(names)
    return dict(zip(listed, cut_apart(listed, limit), strict=True))


def pad(text: str, to: int, right: bool = False) -> str:
    """The text filled up with blanks to `to` columns."""
    blanks = " " * (to - width(text))
    return blanks + text if right else text + blanks


def table(columns: Sequence[Column], limit: int | None = None) -> list[str]:
    """The lines of a table; columns that do not fit go on below, with the first one repeated."""
    return [line for n, part in enumerate(blocks(columns, limit)) for line in ([""] * (n > 0) + part)]


def blocks(columns: Sequence[Column], limit: int | None = None) -> list[list[str]]:
    """The same in parts, each as wide as the page at most, and each with the names of the rows."""
    limit = page_width() if limit is None else limit
    n, columns = _naming(columns), [_fitted(each, limit) for each in columns]
    free = max(limit // 2, limit - sum(each.width + len(GAP) for each in columns[n:]))
    names: list[Column] = []
    for i, each in enumerate(columns[:n]):
        names.append(_fitted(each, max(free // (n - i), LEAST)))
        free -= names[-1].width + len(GAP)
    room = limit - sum(each.width + len(GAP) for each in names)
    headings = [each.heading for each in columns[n:] if "\n" not in each.heading]
    short = dict(zip(headings, cut_apart(headings, max(room, LEAST)), strict=True))
    part, used = [*names], 0
    parts = [part]
    for each in columns[n:]:
        column = _fitted(each._replace(heading=short.get(each.heading, each.heading)), max(room, LEAST))
        if used and used + column.width > room:
            part, used = [*names], 0
            parts.append(part)
        part.append(column)
        used += column.width + len(GAP)
    return list(map(_block, parts))


def _naming(columns: Sequence[Column]) -> int:
    """How many columns name the rows: the first, and the next ones of text until no two rows are named alike."""
    for n, column in enumerate(columns[1:], 1):
        rows = list(zip(*(each.cells for each in columns[:n]), strict=True))
        if column.right or len(set(rows)) == len(rows):
            return n
    return 1


def _fitted(column: Column, limit: int) -> Column:
    heading = "\n".join(cut(line, limit) for line in column.heading.split("\n"))
    return Column(heading, cut_apart(column.cells, limit), column.right)


def _block(columns: Sequence[Column]) -> list[str]:
    """One table: headings aligned at the bottom, a rule, the cells."""
    headings = [each.heading.split("\n") for each in columns]
    height = max(map(len, headings))
    raised = [[""] * (height - len(lines)) + lines for lines in headings]
    widths = [each.width for each in columns]
    rows = [*zip(*raised, strict=True), tuple("-" * each for each in widths)]
    rows += zip(*(each.cells for each in columns), strict=True)
    sides = [each.right for each in columns]
    return [GAP.join(map(pad, cells, widths, sides)).rstrip() for cells in rows]


def without_backticks(text: str) -> str:
    """Our own words without the marks of code, for where they would be seen.

    >>> without_backticks("by `min(k, R)`")
    'by min(k, R)'
    """
    return text.replace("`", "")


def wrap(text: str, limit: int | None = None, first: str = "", later: str | None = None) -> list[str]:
    """The words of a text in lines of at most `limit` columns; `first` and `later` begin them.

    >>> wrap("one two three", 9, "- ", "  ")
    ['- one two', '  three']
    """
    limit = min(page_width(), READABLE) if limit is None else limit
    later = first if later is None else later
    lines, line = [], first
    for word in clean(" ".join(text.split())).split(" "):
        while word:
            if line in (first, later):  # a word longer than a line goes on in the next one
                piece = first_columns(word, limit - width(line)) or word[:1]
                line, word = line + piece, word[len(piece) :]
            elif width(line) + 1 + width(word) <= limit:
                line, word = f"{line} {word}", ""
            if word:
                lines.append(line)
                line = later
    return [*lines, line]


SPARKS = "▁▂▃▄▅▆▇█"
NOTHING = "·"
REACHED, TOO_LOW, NEVER = "█", "▒", "░"
LINE, DOT = "─", "●"
_ASCII = str.maketrans(dict(zip(SPARKS + NOTHING + TOO_LOW + NEVER + LINE + DOT, "_.-=+*%#'x:-o", strict=True)))


def in_ascii(text: str) -> str:
    """The charts of a text in ASCII, which every stream can encode.

    >>> in_ascii("▁▂█ ──●──")
    '_.# --o--'
    """
    return text.translate(_ASCII)


def spark(values: Sequence[float], top: float | None = None) -> str:
    """A character for each value, its height relative to `top` (the largest one); 0 is a point.

    >>> spark([0, 0.1, 0.5, 1])
    '·▁▄█'
    """
    highest, n = max(values, default=0.0) if top is None else top, len(SPARKS)
    return "".join(
        NOTHING if value <= 0 or highest <= 0 else SPARKS[min(max(round(value / highest * n), 1), n) - 1]
        for value in values
    )


def bin_means(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values: the means of neighbours, as even in number as can be.

    >>> bin_means([1, 2, 3, 4, 10], 2)
    [1.5, 5.666666666666667]
    """
    n = len(values)
    if n <= width:
        return list(values)
    ends = [i * n // width for i in range(width + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]


def waterfall(values: Sequence[float], top: float, width: int = 60) -> str:
    """Differences from the greatest loss to the greatest gain; a stroke marks the end of the losses.

    >>> waterfall([1, -0.5, 0, 0.25], 1)
    '▄|·▂█'
    """
    rising = bin_means(sorted(values), width - 1)
    lost = [-each for each in rising if each < 0]
    return f"{spark(lost, top)}|{spark(rising[len(lost) :], top)}"


def parts(shares: Sequence[float], width: int, fills: str = REACHED + TOO_LOW + NEVER) -> str:
    """One bar in pieces, each as long as its share of `width`; ends are rounded so that the sum is right.

    >>> parts([0.5, 0.25, 0.125], 8)
    '████▒▒░'
    """
    drawn, until = "", 0.0
    for share, fill in zip(shares, fills, strict=False):
        until += share
        drawn += fill * (round(min(until, 1.0) * width) - len(drawn))
    return drawn


def interval(low: float, mean: float, high: float, scale: tuple[float, float], width: int) -> str:
    """A mean on the line of its interval, between the ends of a scale.

    >>> interval(0.25, 0.5, 0.75, (0, 1), 9)
    '  ──●──'
    """
    room = (scale[1] - scale[0]) or 1.0
    start, at, end = (round((each - scale[0]) / room * (width - 1)) for each in (low, mean, high))
    return " " * start + LINE * (at - start) + DOT + LINE * (end - at)


def width(text: str) -> int:
    """The width of a text on a screen: wide East Asian characters take two columns, accents none.

    >>> width("abc"), width("検索"), width("e\\u0301")
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_width_of, text))


def _width_of(char: str) -> int:
    if unicodedata.category(char) in NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def first_columns(text: str, limit: int) -> str:
    """As many characters from the start as fit into `limit` columns."""
    used = 0
    for i, char in enumerate(text):
        used += _width_of(char)
        if used > limit:
            return text[:i]
    return text
