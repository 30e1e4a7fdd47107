"""Quality against latency: a dot for each configuration, those on the front in colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankproof.reporting.html.markup import Markup, join
from rankproof.reporting.html.svg import WIDE, Scale, across, circle, figure, picture, text, ticks, upwards
from rankproof.reporting.numbers import score

HIGH, LEFT, RIGHT = 260, 44, WIDE - 12


@dataclass(frozen=True, slots=True)
class Dot:
    """One configuration."""

    name: str
    milliseconds: float
    quality: float
    front: bool


def scatter(measure: str, dots: Sequence[Dot]) -> Markup:
    """The picture; up and to the left is better where more of the measure is."""
    x = Scale(0, max(dot.milliseconds for dot in dots) * 1.05 or 1.0, LEFT, RIGHT)
    low, high = min(dot.quality for dot in dots), max(dot.quality for dot in dots)
    room = (high - low or abs(high) or 1.0) * 0.08
    y = Scale(low - room, high + room, HIGH - 34, 24)
    axes = [across(x, HIGH - 34, 24, ticks(0, x.high)), upwards(y, LEFT, RIGHT, ticks(y.low, y.high))]
    called = [
        text((LEFT + RIGHT) / 2, HIGH - 4, "milliseconds (p50)", "axis mid"),
        text(2, 10, measure, "axis"),
    ]
    marks = (_dot(dot, x, y) for dot in sorted(dots, key=lambda dot: dot.front))
    says = f"on the front: {', '.join(dot.name for dot in dots if dot.front)}; the table has the values"
    drawing = picture(f"{measure} by latency", says, HIGH, *axes, join(marks), *called)
    return figure("Up and to the left is better; in colour what nothing beats in both", drawing)


def _dot(dot: Dot, x: Scale, y: Scale) -> Markup:
    told = f"{dot.name}: {score(dot.quality)}, {dot.milliseconds:.3g} ms"
    role = "best" if dot.front else "other"
    return circle(x(dot.milliseconds), y(dot.quality), 4, f"dot {role}", told)
