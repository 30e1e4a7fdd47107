"""A page as text: elements that escape everything but markup, and drawings of scales and marks."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from rankproof.document.terminal import clean, cut


class Markup(str):
    """Text that is markup already; everything else is escaped when it enters an element."""

    __slots__ = ()


Child = str | None
_VOID = {"meta", "br", "hr", "col", "link", "input"}


def escape(text: str, *, exact: bool = False) -> Markup:
    """Text as a page shows it unchanged; invisible characters, and marks that reverse the text, are written as escapes.

    Those of a value that must stay `exact` are written in the way of HTML.

    >>> escape('<b> & "q"'), escape(Markup("<b>"))
    ('&lt;b&gt; &amp; &quot;q&quot;', '<b>')
    """
    if isinstance(text, Markup):
        return text
    shown = (text if exact else clean(text)).translate(_ESCAPES)
    return Markup("".join(each if each.isprintable() else f"&#{ord(each)};" for each in shown) if exact else shown)


_ESCAPES = str.maketrans({each: html.escape(each) for each in "&<>\"'"})


def join(parts: Iterable[Child], between: str = "") -> Markup:
    """Parts one after the other; None is left out."""
    told = [part if isinstance(part, Markup) else escape(part) for part in parts if part is not None]
    return Markup(between.join(told))


def combine(*children: Child) -> Markup:
    """Some parts one after the other, without an element around them."""
    return join(children)


def el(name: str, /, *children: Child, **attributes: object) -> Markup:
    """An element. `cls` is the class; attributes that are None are left out; `a_b` stands for `a-b`.

    >>> el("p", "a < b", cls="lead")
    '<p class="lead">a &lt; b</p>'
    """
    opening = f"<{name}{_attributes(attributes)}>"
    return Markup(opening if name in _VOID else f"{opening}{join(children)}</{name}>")


def _attributes(attributes: dict[str, object]) -> str:
    return "".join(
        f' {_NAMES.get(name, name.replace("_", "-"))}="{escape(str(value), exact=name in EXACT)}"'
        for name, value in attributes.items()
        if value is not None
    )


EXACT = {"value", "data_doc", "data_query"}
"""Attributes whose values forms and scripts send back as they are, so that they hold every character."""
_NAMES = {"cls": "class", "for_": "for", "viewBox": "viewBox"}
LONGEST, MOST = 120, 1000
"""The number of characters of a name that are shown, and that its tooltip shows."""


def ident(text: str) -> Markup:
    """An id or a name given by the user: its writing direction is isolated, and a long one is shortened."""
    shown = text if len(text) <= LONGEST else cut(text, LONGEST)
    return el("bdi", shown, title=None if shown == text else text[:MOST])


def paragraphs(texts: Iterable[str], cls: str | None = None) -> Markup:
    """A paragraph for each text."""
    return join(el("p", each, cls=cls) for each in texts)


def fold(summary: Child, *children: Child, opened: bool = False, cls: str | None = None) -> Markup:
    """A part that can be folded, without a script."""
    inner = join([el("summary", summary), *children])
    named = f' class="{escape(cls)}"' if cls else ""
    return Markup(f"<details{named}{' open' if opened else ''}>{inner}</details>")


def table(
    caption: str,
    headings: Iterable[Child],
    rows: Iterable[Sequence[Child]],
    *,
    words: Iterable[int] = (0,),
    cls: str | None = None,
    grouped: bool = False,
    label: str = "",
) -> Markup:
    """A table that scrolls in its own box; the columns in `words` hold text, the others numbers.

    `label` is its name for screen readers, if it has no caption.

    `grouped` rows share their first cell with those below that have the same.
    """
    text = set(words)
    head = el("tr", *(head_cell(each, cls="w" if i in text else None) for i, each in enumerate(headings)))
    bodies = _groups(rows, text) if grouped else [el("tbody", *(_row(row, text) for row in rows))]
    named = el("caption", el("span", caption)) if caption else None
    whole = el("table", named, el("thead", head), *bodies, cls=cls)
    return el("div", whole, cls="scroll", tabindex=0, role="group", aria_label=caption or label)


def _groups(rows: Iterable[Sequence[Child]], text: set[int]) -> Iterator[Markup]:
    """A body for each run of rows with the same first cell, which is the heading of them all."""
    for first, group in groupby(rows, key=lambda row: row[0]):
        members = list(group)
        heading = el("th", first, scope="rowgroup", rowspan=len(members), cls="w")
        yield el("tbody", *(_row(row, text, 1, None if i else heading) for i, row in enumerate(members)))


def _row(cells: Sequence[Child], text: set[int], at: int = 0, group: Child = None) -> Markup:
    """A row that is named by its cell at `at`, and its cells behind that; `group` comes before them."""
    named = el("th", cells[at], scope="row", cls="w" if at in text else None) if cells[at] else el("td")
    rest = (  # a cell that is a `td` already, with a class of its own, stays as it is
        cell if isinstance(cell, Markup) and cell.startswith("<td") else el("td", cell, cls="w" if i in text else None)
        for i, cell in enumerate(cells[at + 1 :], start=at + 1)
    )
    return el("tr", group, named, *rest)


def prose(text: str) -> Markup:
    """Running text in which `names` between backticks are set as code.

    >>> prose("by `min(k, R)`")
    'by <code>min(k, R)</code>'
    """
    parts = text.split("`")
    return join(el("code", part) if i % 2 and i < len(parts) - 1 else part for i, part in enumerate(parts))


@cache
def read_terms() -> tuple[dict[str, str], dict[str, str]]:
    """The meaning of each word of the output, and the word for each of their other names."""
    meanings: dict[str, str] = {}
    others: dict[str, str] = {}
    for line in _lines_of("terms.txt"):
        head, _, meaning = line.partition(": ")
        word, _, names = head.removesuffix(")").partition(" (")
        meanings[word] = meaning
        others |= dict.fromkeys(filter(None, names.split("; ")), word)
    return meanings, others


def term_of(word: str) -> str | None:
    """The term under which a word is explained, in whatever case and number it is written.

    >>> term_of("p alone"), term_of("90 % interval"), term_of("colour")
    ('p', 'interval', None)
    """
    key = re.sub(r"^(ctr)@\d+$", r"\1", " ".join(word.replace("_", " ").split()).lower())
    key = re.sub(r"\b\d[\d.]* %", "95 %", key)
    meanings, others = read_terms()
    known = {each.lower(): each for each in meanings} | others
    return known.get(key) or known.get(key.removesuffix("s")) or known.get(key.replace(" ", "-"))


def head_cell(heading: Child, **attributes: object) -> Markup:
    """The cell above a column: a word of ours has its meaning as a tooltip; without text it heads nothing."""
    if not heading:
        return el("td", **attributes)
    term = term_of(re.sub("<[^>]*>", "", heading))
    return el("th", heading, scope="col", title=term and read_terms()[0][term], **attributes)


def _lines_of(name: str) -> list[str]:
    from importlib.resources import files  # which takes long to load

    return files("rankproof.document").joinpath(name).read_text(encoding="utf-8").splitlines()


@cache
def sheet() -> str:
    """The style sheet of a page, without indentation."""
    return "\n".join(line.strip() for line in _lines_of("style.css") if line.strip())


POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The content policy: a browser may load nothing for the page."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with its heading; `key` is the target of links."""

    key: str
    heading: str
    body: Markup

    def __str__(self) -> str:
        title = el("h2", self.heading, id=f"{self.key}-heading")
        return el("section", title, self.body, id=self.key, aria_labelledby=f"{self.key}-heading")


def page(title: str, opening: Child, sections: Sequence[Section], foot: Child, lead: Child = None) -> str:
    """The whole page as text; `lead` comes before all sections."""
    policy = el("meta", http_equiv="Content-Security-Policy", content=POLICY)
    head = el("head", *METAS, policy, el("title", title), el("style", Markup(sheet())))
    header = el("header", el("h1", title), opening, contents(sections) if sections else None)
    main = el("main", lead, *(Markup(str(each)) for each in sections), id="main")
    skip = el("a", "Skip to the content", href="#main", cls="skip")
    body = el("body", skip, header, main, el("footer", el("hr"), foot))
    return f"<!DOCTYPE html>\n{el('html', head, body, lang='en')}\n"


METAS = (
    el("meta", charset="utf-8"),
    el("meta", name="viewport", content="width=device-width, initial-scale=1"),
    el("meta", name="generator", content="rankproof"),
)
"""The head of every page begins with these."""


def contents(sections: Sequence[Section]) -> Markup:
    """Links to the sections of a page."""
    items = (el("li", el("a", each.heading, href=f"#{each.key}")) for each in sections)
    return el("nav", el("ul", *items), aria_label="Contents")


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


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers from `low` to `high`, two of them at least: one alone gives no measure.

    >>> ticks(0, 1), ticks(0.52, 0.71)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.55, 0.6, 0.65, 0.7])
    """
    if not high > low:
        return [low]
    rough = (high - low) / about
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 2.5, 5, 10) if size * each >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)] if last > first else ticks(low, high, 2 * about)


def ceiling(value: float) -> float:
    """The next round number that is not smaller: the end of an axis.

    >>> ceiling(0.2156), ceiling(1.0), ceiling(12)
    (0.3, 1.0, 20.0)
    """
    step = 10.0 ** math.floor(math.log10(value))
    return round(math.ceil(value / step - 1e-9) * step, 10)


def picture(title: str, says: str, height: float, *marks: Child) -> Markup:
    """A drawing with its name and, for screen readers, a description."""
    inner = join([el("title", title), el("desc", says), *marks])
    return el("svg", inner, viewBox=f"0 0 {WIDE} {number(height)}", role="img", aria_label=f"{title}: {says}")


def figure(caption: Child, drawing: Markup, *more: Child) -> Markup:
    """A drawing with a caption above it."""
    return el("figure", el("figcaption", caption), drawing, *more)


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


def axis_number(value: float, sign: str = "") -> str:
    """A number on an axis.

    >>> axis_number(0.25), axis_number(1.0), axis_number(0.5, "+"), axis_number(0.0, "+")
    ('.25', '1', '+.5', '0')
    """
    if value == 0:
        return "0"
    return f"{value:{sign}.4g}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:{sign},.4g}"


def spread_labels(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places moved as little as keeps labels `gap` apart, within bounds, in their order.

    >>> spread_labels([10, 11, 40], 12, 0, 100)
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
