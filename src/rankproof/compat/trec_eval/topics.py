"""Which topics are evaluated: the two versions differ where results are missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Topics:
    """The topics to evaluate in the order of printing."""

    shown: tuple[str, ...]
    divisor: int
    """By how many topics means are divided."""
    missing: str | None = None
    """The first judged topic without results, where that stops the evaluation."""


def select_topics(judged: Iterable[str], answered: Collection[str], version: int, complete: bool) -> Topics:
    """Version 9 evaluates answered topics and counts the others only in the divisor; 10 evaluates all.

    >>> select_topics(["q2", "q1"], {"q1"}, 9, complete=True)
    Topics(shown=('q1',), divisor=2, missing=None)
    """
    ordered = tuple(sorted(judged))
    if version == 10 and complete:
        return Topics(ordered, len(ordered))
    both = tuple(topic for topic in ordered if topic in answered)
    if version == 9:
        return Topics(both, len(ordered) if complete else len(both))
    missing = next((topic for topic in ordered if topic not in answered), None)
    shown = both if missing is None else ordered[: ordered.index(missing)]
    return Topics(shown, len(shown), missing)
