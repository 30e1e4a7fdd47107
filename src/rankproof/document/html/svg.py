"""Drawing: scales and marks. Colours and type are left to the style sheet, so that both themes hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rankproof.document.html.page import Child, Markup, el, join
from rankproof.document.terminal import cut

WIDE = 400
"""The width of every picture in its own units; about as many pixels on a telephone."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """Values to places on the page."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value stands."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + share * (self.end - self.start)


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers from `low` to `high`.

    >>> ticks(0, 1), ticks(0.52, 0.71)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.55, 0.6, 0.65, 0.7])
    """
    if not high > low:
        return [low]
    rough = (high - low) / about
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 2.5, 5, 10) if size * each >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def ceiling(value: float) -> float:
    """The next round number that is not below: where an axis ends.

    >>> ceiling(0.2156), ceiling(1.0), ceiling(12)
    (0.3, 1.0, 20.0)
    """
    step = 10.0 ** math.floor(math.log10(value))
    return round(math.ceil(value / step - 1e-9) * step, 10)


def picture(title: str, says: str, height: float, *marks: Child) -> Markup:
    """A drawing with its name and, for those who cannot see it, what it shows."""
    inner = join([el("title", title), el("desc", says), *marks])
    return el("svg", inner, viewBox=f"0 0 {WIDE} {number(height)}", role="img", aria_label=f"{title}: {says}")


def figure(caption: Child, drawing: Markup, *more: Child) -> Markup:
    """A drawing with a caption above it."""
    return el("figure", el("figcaption", caption), drawing, *more)


def number(value: float) -> str:
    """A coordinate in as few characters as can be seen.

    >>> number(12.0), number(3.14159), number(-0.01)
    ('12', '3.1', '0')
    """
    return f"{value + 0.0:.1f}".removesuffix(".0").replace("-0", "0", 1 if abs(value) < 0.05 else 0)


def line(x1: float, y1: float, x2: float, y2: float, cls: str) -> Markup:
    """A straight line."""
    return el("line", x1=number(x1), y1=number(y1), x2=number(x2), y2=number(y2), cls=cls)


def rect(x: float, y: float, width: float, height: float, cls: str, title: str | None = None) -> Markup:
    """A rectangle; its title is shown where one points at it."""
    told = None if title is None else el("title", title)
    box = {"x": number(x), "y": number(y), "width": number(max(width, 0)), "height": number(max(height, 0))}
    return el("rect", told, **box, cls=cls)


def circle(x: float, y: float, radius: float, cls: str, title: str | None = None) -> Markup:
    """A circle, or a dot."""
    told = None if title is None else el("title", title)
    return el("circle", told, cx=number(x), cy=number(y), r=number(radius), cls=cls)


def text(x: float, y: float, content: str, cls: str | None = None) -> Markup:
    """A line of text."""
    return el("text", content, x=number(x), y=number(y), cls=cls)


def label(x: float, y: float, content: str, cls: str, room: int = 15) -> Markup:
    """A name, cut where it is long; the whole of it is shown where one points at it."""
    return el("text", el("title", content), cut(content, room), x=number(x), y=number(y), cls=cls)


def path(points: Iterable[Point], cls: str, title: str | None = None) -> Markup:
    """A line through points."""
    told = None if title is None else el("title", title)
    return el("path", told, d="M" + "L".join(f"{number(x)} {number(y)}" for x, y in points), cls=cls)


def across(scale: Scale, y: float, top: float, values: Sequence[float]) -> Markup:
    """An axis along the bottom: numbers under it, hairlines up to `top`."""
    return join(
        join((line(scale(v), top, scale(v), y, "grid"), text(scale(v), y + 14, short(v), "tick mid")))
        for v in values
    )


def upwards(scale: Scale, left: float, right: float, values: Sequence[float], spell: str = "") -> Markup:
    """An axis along the left side: numbers beside it, hairlines as far as `right`."""
    return join(
        join(
            (
                line(left, scale(v), right, scale(v), "grid"),
                text(left - 6, scale(v) + 4, short(v, spell), "tick end"),
            )
        )
        for v in values
    )


def short(value: float, sign: str = "") -> str:
    """A number on an axis.

    >>> short(0.25), short(1.0), short(0.5, "+"), short(0.0, "+")
    ('.25', '1', '+.5', '0')
    """
    if value == 0:
        return "0"
    return f"{value:{sign}.4g}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:{sign},.4g}"


def apart(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places moved as little as keeps labels `gap` apart, within bounds, in their order.

    >>> apart([10, 11, 40], 12, 0, 100)
    [10, 22, 40]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    last = low - gap
    for i in order:
        last = moved[i] = max(moved[i], last + gap)
    bound = high
    for i in reversed(order):
        moved[i] = min(moved[i], bound)
        bound = moved[i] - gap
    return moved
