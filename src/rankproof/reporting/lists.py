"""Ranked lists of one query side by side, in the columns of a terminal."""

from __future__ import annotations

from itertools import zip_longest

from rankproof.core.explained import Case, Explained, Line
from rankproof.reporting.numbers import ABSENT, score
from rankproof.reporting.tables import GAP, cut, pad, page_width, wrap

TOP = 10
"""Documents listed of each ranking."""
MISSED = 3
"""Documents named that were not found."""


def beside(case: Case, text: str | None = None) -> list[str]:
    """The query, its values, and the first documents of each list with their grades."""
    sides = [own for _, own in case.sides]
    told = "" if text is None else f": {text}"
    values = ", ".join(f"{cut(name, 24)} {score(own.value)}" for name, own in case.sides)
    head = wrap(f"{case.query}{told} ({case.why}; {sides[0].measure} {values})", later="  ")
    room = (page_width() - 2 - len(GAP) * (len(sides) - 1)) // len(sides)
    titles = _row([f"rank  grade  {name}" for name, _ in case.sides], room)
    rows = zip_longest(*(own.lines[:TOP] for own in sides))
    return [*head, titles, *(_row([_cell(each) for each in row], room) for row in rows), *_missed(case)]


def _row(cells: list[str], room: int) -> str:
    return ("  " + GAP.join(pad(cut(cell, room), room) for cell in cells)).rstrip()


def _cell(line: Line | None) -> str:
    if line is None:
        return ""
    grade = ABSENT if line.grade is None else f"{line.grade:g}"
    return f"{ABSENT if line.rank is None else line.rank:>4}  {grade:>5}  {line.document}"


def _missed(case: Case) -> list[str]:
    """The relevant documents that a list does not hold."""
    return [line for name, own in case.sides if own.missed for line in _missing(name, own)]


def _missing(name: str, own: Explained) -> list[str]:
    named = ", ".join(f"{cut(document, 30)} ({grade:g})" for document, grade in own.missed[:MISSED])
    more = f" and {len(own.missed) - MISSED} more" if len(own.missed) > MISSED else ""
    return wrap(f"not in {cut(name, 24)}: {named}{more}", first="  ", later="    ")
