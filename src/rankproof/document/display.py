"""How results are shown: `repr` in one short line, in a notebook as tables and text.

`Displayable` is the base of all results of public functions. A class has its one-line form in `_in_one_line`
and its text in `__str__`; the rest follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Sized
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

from rankproof.document.terminal import first_columns, width

LONGEST = 100
"""The largest width of the `repr` of a result."""
VALUE, FEW = 32, 4
"""The largest width of one value in it; the number of parts that are written out."""
RULE = re.compile(r"-+(?:  +-+)*")
NUMBER = re.compile(r"[<>+-]?[\d.,]+ ?%?")
TABLE = "border-collapse:collapse;margin:.5em 0"
CELL = "padding:.15em .6em;text-align:"
TEXT = "white-space:pre-wrap;margin:.5em 0;background:none"


def escape(text: str) -> str:
    """Text escaped for HTML."""
    from html import escape  # imported here, as it loads all HTML entities

    return escape(text)


class Displayable:
    """A result that is shown: `repr` is one short line, and a notebook shows tables as tables."""

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
        if type(self).__str__ is not object.__str__:
            return html(str(self))
        return f"<code>{escape(repr(self))}</code>"


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
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
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


def html(text: str) -> str:
    """A text as a notebook shows it: headings, rule and rows become a table, other text is kept.

    >>> html("n    RR\\n-  ----\\n2  0.50")[:40]
    '<div><table style="border-collapse:colla'
    """
    parts = [
        _table(part) if isinstance(part, list) else f'<pre style="{TEXT}">{escape(part)}</pre>' if part.strip() else ""
        for part in _parts(text.split("\n"))
    ]
    return f"<div>{''.join(parts)}</div>"


def _parts(lines: Sequence[str]) -> Iterator[str | list[str]]:
    """The text between tables, and the lines of each table: headings, rule and rows, up to an empty line."""
    start = at = 0
    while at < len(lines):
        if not (RULE.fullmatch(lines[at]) and at > start and lines[at - 1].strip()):
            at += 1
            continue
        head = at
        while head > start and lines[head - 1].strip():
            head -= 1
        end = at + 1
        while end < len(lines) and lines[end].strip() and _fits(lines[end], lines[at]):
            end += 1
        yield "\n".join(lines[start:head])
        yield list(lines[head:end])
        start = at = end
    yield "\n".join(lines[start:])


def _edges(rule: str) -> list[tuple[int, int]]:
    """Where the columns of a table begin and end."""
    return [each.span() for each in re.finditer("-+", rule)]


def _fits(line: str, rule: str) -> bool:
    """Whether a line is a row of the table: only blanks are between the columns."""
    gaps = [(0, 0), *_edges(rule), (width(line), width(line))]
    return all(not _between(line, end, start).strip() for (_, end), (start, _) in pairwise(gaps))


def _table(lines: Sequence[str]) -> str:
    at = next(i for i, line in enumerate(lines) if i and RULE.fullmatch(line))
    edges = _edges(lines[at])
    cells = [[_between(line, *edge).strip() for edge in edges] for line in lines]
    heads = [" ".join(filter(None, column)) for column in zip(*cells[:at], strict=True)]
    rows = cells[at + 1 :]
    right = [
        all(NUMBER.fullmatch(row[i]) or row[i] in ("", "-") or row[i][0] in "[+" for row in rows)
        for i in range(len(edges))
    ]
    made = [_row("th", heads, right), *(_row("td", row, right) for row in rows)]
    return f'<table style="{TABLE}">{"".join(made)}</table>'


def _row(tag: str, cells: Sequence[str], right: Sequence[bool]) -> str:
    made = (
        f'<{tag} style="{CELL}{"right" if flush else "left"}">{escape(cell)}</{tag}>'
        for cell, flush in zip(cells, right, strict=True)
    )
    return f"<tr>{''.join(made)}</tr>"


def _between(line: str, start: int, end: int) -> str:
    """The part of a line between two columns of the screen."""
    if line.isascii():
        return line[start:end]
    head = _up_to(line, start)
    return _up_to(line[len(head) :], end - start)


def _up_to(line: str, limit: int) -> str:
    """The first columns of a line; an accent after a blank belongs to what follows, as a cell may begin with one."""
    head = first_columns(line, limit)
    at = head.rfind(" ") + 1
    return head[:at] if at and not width(head[at:]) else head
