"""A part of a text, by the places where it begins and ends."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """The characters from `start` up to, not including, `end`.

    >>> Span(0, 5).of("Hello there.")
    'Hello'
    """

    start: int
    end: int

    def of(self, text: str) -> str:
        """The words themselves."""
        return text[self.start : self.end]


def trimmed(text: str, start: int, end: int) -> Span:
    """The part without the white space around it; empty where there is nothing else.

    >>> trimmed("a  b  c", 1, 5)
    Span(start=3, end=4)
    """
    part = text[start:end]
    lead = len(part) - len(part.lstrip())
    return Span(start + lead, max(start + lead, start + len(part.rstrip())))
