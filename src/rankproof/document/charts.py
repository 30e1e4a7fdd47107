"""The charts of pages: each function takes plain numbers and returns a drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rankproof.document.model import Displayable
from rankproof.document.numbers import axis_number, count, score, spread_labels, ticks
from rankproof.document.page import Child, Markup, combine, el, join
from rankproof.document.terminal import cut

WIDE = 400
"""The width of every picture in its own units; about as many pixels as on a telephone."""
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """Values to places on the page."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + share * (self.end - self.start)


def picture(title: str, says: str, height: float, *marks: Child) -> Markup:
    """A drawing with its name and, for screen readers, a description."""
    inner = join([el("title", title), el("desc", says), *marks])
    return el("svg", inner, viewBox=f"0 0 {WIDE} {number(height)}", role="img", aria_label=f"{title}: {says}")


def figure(caption: Child, drawing: Markup, *more: Child) -> Markup:
    """A drawing with a caption above it."""
    return el("figure", el("figcaption", caption), drawing, *more)


def ceiling(value: float) -> float:
    """The next round number that is not smaller: the end of an axis.

    >>> ceiling(0.2156), ceiling(1.0), ceiling(12)
    (0.3, 1.0, 20.0)
    """
    step = 10.0 ** math.floor(math.log10(value))
    return round(math.ceil(value / step - 1e-9) * step, 10)


def number(value: float) -> str:
    """A coordinate in as few characters as make a visible difference.

    >>> number(12.0), number(3.14159), number(-0.01)
    ('12', '3.1', '0')
    """
    text = f"{value:.1f}"
    if text[-2:] == ".0":  # without a function call: a page has tens of thousands of coordinates
        text = text[:-2]
    return "0" if text == "-0" else text


def line(x1: float, y1: float, x2: float, y2: float, cls: str) -> Markup:
    """A straight line."""
    return el("line", x1=number(x1), y1=number(y1), x2=number(x2), y2=number(y2), cls=cls)


def rect(x: float, y: float, width: float, height: float, cls: str, title: str | None = None) -> Markup:
    """A rectangle; its title is a tooltip."""
    box = {"x": number(x), "y": number(y), "width": number(max(width, 0)), "height": number(max(height, 0))}
    return el("rect", title and el("title", title), **box, cls=cls)


def circle(x: float, y: float, radius: float, cls: str, title: str | None = None) -> Markup:
    """A circle, or a dot."""
    return el("circle", title and el("title", title), cx=number(x), cy=number(y), r=number(radius), cls=cls)


def text(x: float, y: float, content: str, cls: str | None = None) -> Markup:
    """A line of text."""
    return el("text", content, x=number(x), y=number(y), cls=cls)


def label(x: float, y: float, content: str, cls: str, room: int = 15) -> Markup:
    """A name, shortened if it is long, with all of it as a tooltip."""
    return el("text", el("title", content), cut(content, room), x=number(x), y=number(y), cls=cls)


def path(points: Iterable[Point], cls: str, title: str | None = None) -> Markup:
    """A line through points."""
    return el(
        "path", title and el("title", title), d="M" + "L".join(f"{number(x)} {number(y)}" for x, y in points), cls=cls
    )


def x_axis(scale: Scale, y: float, top: float, values: Sequence[float]) -> Markup:
    """An axis along the bottom: numbers under it, hairlines up to `top`."""
    return join(
        combine(line(scale(v), top, scale(v), y, "grid"), text(scale(v), y + 14, axis_number(v), "tick mid"))
        for v in values
    )


def y_axis(scale: Scale, left: float, right: float, values: Sequence[float], spell: str = "") -> Markup:
    """An axis along the left side: numbers beside it, hairlines as far as `right`."""
    return join(
        combine(
            line(left, scale(v), right, scale(v), "grid"),
            text(left - 6, scale(v) + 4, axis_number(v, spell), "tick end"),
        )
        for v in values
    )


@dataclass(frozen=True, slots=True)
class Bar(Displayable):
    """One measure of one system, and its limits."""

    measure: str
    mean: float
    low: float
    high: float
    """The ends of its interval; NaN if there is none, as from a single query."""
    ceiling: float
    never_found: float | None = None
    ranked_too_low: float | None = None

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def drawn(self) -> tuple[float, float]:
        """The ends of its line in a chart; a mean without an interval is a dot."""
        return (self.low, self.high) if self.known else (self.mean, self.mean)


ROW = 24
NAMES = 122
"""The space for names on the left."""
VALUES = 58
"""The space for numbers, or names, on the right."""
SINGLE = 250
"""Up to this many queries each bar is drawn and named separately."""


@dataclass(frozen=True, slots=True)
class Series:
    """A curve with its name; `role` is its style."""

    name: str
    role: str
    points: Sequence[Point]


def whiskers(title: str, rows: Sequence[tuple[str, str, Bar]]) -> Markup:
    """A dot for each mean and a line for its interval; a short bar marks the ceiling."""
    bars = [bar for _, _, bar in rows]
    low, high = min(b.drawn[0] for b in bars), max(b.drawn[1] for b in bars)
    room = (high - low or abs(high) or 1.0) * 0.08
    scale = Scale(low - room, high + room, NAMES, WIDE - VALUES)
    bottom = ROW * len(rows) + 4
    marks = [x_axis(scale, bottom, 2, ticks(scale.low, scale.high))]
    says = []
    for i, (name, role, bar) in enumerate(rows):
        y = ROW * i + ROW / 2 + 2
        start, end = bar.drawn
        interval = f"{score(start)} to {score(end)}" if bar.known else "no interval"
        says.append(f"{name} {score(bar.mean)}, {interval}")
        marks += [
            label(NAMES - 10, y + 4, name, f"name end {role}"),
            line(scale(start), y, scale(end), y, f"span {role}"),
            circle(scale(bar.mean), y, 4, f"dot {role}", f"{name}: {score(bar.mean)}"),
            text(WIDE - VALUES + 8, y + 4, score(bar.mean), f"value {role}"),
        ]
    return picture(title, "; ".join(says), bottom + 20, *marks)


def losses(title: str, rows: Sequence[tuple[str, str, Bar]]) -> Markup:
    """For each system a bar up to the ceiling: reached, ranked too low, never found."""
    top = max([1.0, *(bar.ceiling for _, _, bar in rows)])
    scale = Scale(0, top, NAMES, WIDE - 14)
    bottom = ROW * len(rows) + 4
    marks = [x_axis(scale, bottom, 2, ticks(0, top))]
    says = "; ".join(
        f"{name} {score(b.mean)} reached, {score(b.ranked_too_low)} ranked too low, {score(b.never_found)} never found"
        for name, _, b in rows
    )
    for i, (name, role, bar) in enumerate(rows):
        y, x = ROW * i + 6, NAMES * 1.0
        marks.append(label(NAMES - 10, y + 12, name, f"name end {role}"))
        for kind, value in zip(PARTS, (bar.mean, bar.ranked_too_low or 0.0, bar.never_found or 0.0), strict=True):
            wide = scale(value) - scale(0)
            marks.append(rect(x, y, wide, ROW - 10, f"part {kind}", f"{name}, {PARTS[kind]}: {score(value)}"))
            x += wide
    return picture(title, says, bottom + 20, *marks)


PARTS = {"got": "reached", "low": "found, ranked too low", "never": "never found"}


def waterfall(title: str, values: Sequence[tuple[str, float]], limit: float) -> Markup:
    """A bar for each query, from the greatest gain to the greatest loss; `limit` is the end of the axis."""
    high = 150
    scale = Scale(-limit, limit, high - 12, 12)
    across_page = Scale(0, max(len(values), 1), 44, WIDE - 4)
    axis = y_axis(scale, 44, WIDE - 4, [-limit, 0, limit], "+")
    draw = _bars if len(values) <= SINGLE else _area
    zero = line(44, scale(0), WIDE - 4, scale(0), "zero")
    return picture(title, tally(values), high, axis, draw(values, scale, across_page), zero)


def tally(values: Sequence[tuple[str, float]]) -> str:
    """How many queries got better, stayed and got worse.

    >>> tally([("q1", 0.5), ("q2", 0.0), ("q3", 0.0)])
    '1 better, 2 equal, 0 worse'
    """
    better = sum([value > 0 for _, value in values])
    worse = sum([value < 0 for _, value in values])
    return f"{better:,} better, {len(values) - better - worse:,} equal, {worse:,} worse"


def _bars(values: Sequence[tuple[str, float]], scale: Scale, place: Scale) -> Markup:
    wide = place(1) - place(0)
    return join(
        rect(
            place(i),
            min(scale(value), scale(0)),
            wide * 0.8 if wide > 2 else wide,
            abs(scale(value) - scale(0)),
            "gain" if value > 0 else "drop",
            f"{query}: {axis_number(round(value, 4), '+')}",
        )
        for i, (query, value) in enumerate(values)
        if value
    )


def _area(values: Sequence[tuple[str, float]], scale: Scale, place: Scale) -> Markup:
    """The bars of many queries as two areas, which take less room in the file."""
    gains = [(place(i), scale(value)) for i, (_, value) in enumerate(values) if value > 0]
    drops = [(place(i + 1), scale(value)) for i, (_, value) in enumerate(values) if value < 0]
    zero = scale(0)
    shapes = [("gain", gains), ("drop", drops)]
    return join(path([(points[0][0], zero), *points, (points[-1][0], zero)], kind) for kind, points in shapes if points)


def curves(title: str, along: Sequence[float], series: Sequence[Series], names: tuple[str, str]) -> Markup:
    """Curves with their names at their ends; `names` are those of the two axes."""
    high, right = 240, WIDE - 108
    x, y = Scale(along[0], along[-1], 34, right), Scale(0, 1, high - 34, 24)
    marked = ticks(0, 1) if along[-1] == 1 else [along[0], *(v for v in along if v % 5 == 0)]
    axes = combine(x_axis(x, y(0), y(1), marked), y_axis(y, 34, right, ticks(0, 1)))
    ends = spread_labels([y(each.points[-1][1]) for each in series], 13, 14, y(0))
    drawn = []
    for each, end in zip(series, ends, strict=True):
        points = [(x(a), y(b)) for a, b in each.points]
        drawn += [
            path(points, f"curve {each.role}", each.name),
            line(right + 2, points[-1][1], right + 8, end, "lead"),
            label(right + 11, end + 4, each.name, f"name {each.role}", 13),
        ]
    called = [text((34 + right) / 2, high - 4, names[0], "axis mid"), text(2, 10, names[1], "axis")]
    says = f"{names[1]} by {names[0]} for {count(len(series), 'system')}; the table has the values"
    return picture(title, says, high, axes, *drawn, *called)


def timeline(
    title: str, points: Sequence[tuple[str, float, float, float]], marks: Sequence[tuple[str, int, int, str]] = ()
) -> Markup:
    """A value over time: of each window its label, the value, and the ends of its interval (NaN if there is none).

    `marks` are a kind, the first and the last window, and what to say: an "outage" is shaded, a "change" is a line
    before its first window.
    """
    high, left, right = 170, 52, WIDE - 8
    known = [v for _, *each in points for v in each if not math.isnan(v)]
    x, y = Scale(0, max(len(points) - 1, 1), left, right), Scale(min(known), max(known), high - 30, 14)
    parts = [y_axis(y, left, right, ticks(y.low, y.high, 3))]
    for at in dict.fromkeys((0, len(points) // 2, len(points) - 1)):
        parts.append(text(x(at), high - 12, points[at][0], f"tick {'end' if at and at == len(points) - 1 else 'mid'}"))
    for at, (label_of, value, low, top) in enumerate(points):
        if not math.isnan(low):
            parts.append(line(x(at), y(low), x(at), y(top), "lead"))
        if not math.isnan(value):
            parts.append(circle(x(at), y(value), 2.5, "dot best", f"{label_of}: {score(value)}"))
    half = (x(1) - x(0)) / 2
    for kind, first, last, name in marks:
        begin, wide = x(first) - half, 1.5 if kind == "change" else x(last) - x(first) + 2 * half
        parts.insert(1, rect(begin, 14, wide, high - 44, kind, name))
    drawn = [(x(at), y(value)) for at, (_, value, _, _) in enumerate(points) if not math.isnan(value)]
    spanned = f"{count(len(points), 'window')} from {points[0][0]} to {points[-1][0]}"
    told = "".join(f"; {name}" for *_, name in marks)
    says = f"{spanned}, {score(min(known))} to {score(max(known))}{told}"
    return picture(title, says, high, *parts, path(drawn, "curve best"))


HIGH, LEFT, RIGHT = 260, 44, WIDE - 12


@dataclass(frozen=True, slots=True)
class Dot:
    """One configuration."""

    name: str
    milliseconds: float
    quality: float
    front: bool


def scatter(measure: str, dots: Sequence[Dot]) -> Markup:
    """The picture; up and to the left is better if higher values of the measure are."""
    x = Scale(0, max(dot.milliseconds for dot in dots) * 1.05 or 1.0, LEFT, RIGHT)
    low, high = min(dot.quality for dot in dots), max(dot.quality for dot in dots)
    room = (high - low or abs(high) or 1.0) * 0.08
    y = Scale(low - room, high + room, HIGH - 34, 24)
    axes = [x_axis(x, HIGH - 34, 24, ticks(0, x.high)), y_axis(y, LEFT, RIGHT, ticks(y.low, y.high))]
    called = [text((LEFT + RIGHT) / 2, HIGH - 4, "milliseconds (p50)", "axis mid"), text(2, 10, measure, "axis")]
    marks = []
    for dot in sorted(dots, key=lambda dot: dot.front):
        told = f"{dot.name}: {score(dot.quality)}, {dot.milliseconds:.3g} ms"
        role = "best" if dot.front else "other"
        marks.append(circle(x(dot.milliseconds), y(dot.quality), 4, f"dot {role}", told))
    says = f"on the front: {', '.join(dot.name for dot in dots if dot.front)}; the table has the values"
    drawing = picture(f"{measure} by latency", says, HIGH, *axes, join(marks), *called, *_named(dots, x, y))
    return figure("Up and to the left is better; in colour what nothing beats in both", drawing)


LETTER, LINE = 6.2, 12
"""About how wide a letter of a name is, and how high a line."""


def _named(dots: Sequence[Dot], x: Scale, y: Scale) -> list[Markup]:
    """The names of what nothing beats beside their dots, where they cover no other and no dot; the best first."""
    named: list[Markup] = []
    taken: list[tuple[float, float, float]] = []
    for dot in sorted((dot for dot in dots if dot.front), key=lambda dot: -dot.quality):
        at, height = x(dot.milliseconds), y(dot.quality)
        left = at > (LEFT + RIGHT) / 2
        row = [x(each.milliseconds) for each in dots if abs(y(each.quality) - height) < LINE]
        edges = [at - place if left else place - at for place in (LEFT if left else RIGHT, *row)]
        room = int((min(edge for edge in edges if edge > 4) - 12) / LETTER)  # as far as the next dot
        wide = min(len(dot.name), room) * LETTER + 8
        start, end = (at - wide, at) if left else (at, at + wide)
        if room >= 4 and all(abs(height - h) >= LINE or end < s or start > e for h, s, e in taken):
            taken.append((height, start, end))
            beside = at - 8 if left else at + 8
            named.append(label(beside, height + 4, dot.name, "small end" if left else "small", room))
    return named
