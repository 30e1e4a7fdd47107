"""Small charts of characters: bars, intervals and sparks that fit into a line of text.

They hold no colour and need no terminal; where a stream has no blocks, `in_ascii` writes them otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

SPARKS = "▁▂▃▄▅▆▇█"
NOTHING = "·"
REACHED, TOO_LOW, NEVER = "█", "▒", "░"
LINE, DOT = "─", "●"

_ASCII = str.maketrans(
    dict(zip(SPARKS + NOTHING + TOO_LOW + NEVER + LINE + DOT, "_.-=+*%#'x:-o", strict=True))
)


def in_ascii(text: str) -> str:
    """The charts of a text in characters that every stream has.

    >>> in_ascii("▁▂█ ──●──")
    '_.# --o--'
    """
    return text.translate(_ASCII)


def spark(values: Sequence[float], top: float | None = None) -> str:
    """A character a value, as high as the value is beside `top` (the largest one); what is 0 is a point.

    >>> spark([0, 0.1, 0.5, 1])
    '·▁▄█'
    """
    highest = max(values, default=0.0) if top is None else top
    return "".join(_spark(value, highest) for value in values)


def _spark(value: float, top: float) -> str:
    if value <= 0 or top <= 0:
        return NOTHING
    return SPARKS[min(max(round(value / top * len(SPARKS)), 1), len(SPARKS)) - 1]


def binned(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values: the means of neighbours, as even in number as can be.

    >>> binned([1, 2, 3, 4, 10], 2)
    [1.5, 5.666666666666667]
    """
    n = len(values)
    if n <= width:
        return list(values)
    ends = [i * n // width for i in range(width + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]


def waterfall(values: Sequence[float], top: float, width: int = 60) -> str:
    """Differences from the greatest loss to the greatest gain; a stroke stands where the losses end.

    >>> waterfall([1, -0.5, 0, 0.25], 1)
    '▄|·▂█'
    """
    rising = binned(sorted(values), width - 1)
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
