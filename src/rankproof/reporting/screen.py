"""What stands on one screen: the verdict and the numbers always, all else while there is room.

A text is made of parts. `whole` has them all; `fitted` leaves out the least important ones until the rest fits,
and says in its last line what that was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankproof.reporting.numbers import count
from rankproof.reporting.tables import in_shell, page_height, wrap

ALWAYS = 0
"""The rank of what no screen may lack."""
WARNING = "more warning"
"""What a part is called of which there are several."""
COUNTED = ("more error", WARNING, "more note")


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines, how dispensable they are, and what they are called when they are left out."""

    lines: Sequence[str]
    rank: int = ALWAYS
    name: str = ""


def whole(parts: Sequence[Part]) -> list[str]:
    """Every line."""
    return _trimmed([line for part in parts for line in part.lines])


def fitted(parts: Sequence[Part], rows: int | None = None, more: Sequence[str] = ()) -> list[str]:
    """As much as `rows` lines hold, the least dispensable first, and at the end what is left out.

    `more` is what stands in the whole text only.

    >>> fitted([Part(["mean .5"]), Part(["", "a note"] * 3, 1, "notes"), Part(["by day"], 2, "days")], 5)
    ['mean .5', 'by day', 'More with .format("full"): notes.']
    """
    rows = page_height() if rows is None else rows
    everything = whole(parts)
    if len(everything) <= rows and not more:
        return everything
    kept = {i for i, part in enumerate(parts) if part.rank == ALWAYS}
    for i in sorted(range(len(parts)), key=lambda i: parts[i].rank):
        if i in kept or len(_lines(parts, kept | {i}, more)) <= rows:
            kept.add(i)
    return _lines(parts, kept, more)


def _lines(parts: Sequence[Part], kept: set[int], more: Sequence[str]) -> list[str]:
    """The lines of these parts, and what is said of the others."""
    shown = _trimmed([line for i in sorted(kept) for line in parts[i].lines])
    left = [*more] + [parts[i].name for i in range(len(parts)) if i not in kept and any(parts[i].lines)]
    if not left:
        return shown
    names = [name for name in dict.fromkeys(left) if name not in COUNTED]
    times = [count(left.count(name), name) for name in COUNTED if name in left]
    how = "--full" if in_shell() else '.format("full")'
    return [*shown, *wrap(f"More with {how}: {', '.join([*times, *names])}.")]


def _trimmed(lines: Sequence[str]) -> list[str]:
    """The lines without empty ones at either end, or two in a row."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return kept[:-1] if kept and not kept[-1] else kept
