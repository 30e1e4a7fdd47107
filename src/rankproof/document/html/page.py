"""Pages: markup that escapes whatever is not markup already, the style sheet, and the frame of a page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby, islice

from rankproof.document.terminal import clean, cut


class Markup(str):
    """Text that is markup already; everything else is escaped when it enters an element."""

    __slots__ = ()


Child = str | None

_VOID = {"meta", "br", "hr", "col", "link"}


def escape(text: str) -> Markup:
    """Text as a page shows it unchanged; what cannot be shown, or would turn the text around, is spelt out.

    >>> escape('<b> & "q"'), escape(Markup("<b>"))
    ('&lt;b&gt; &amp; &quot;q&quot;', '<b>')
    """
    return text if isinstance(text, Markup) else Markup(html.escape(clean(text), quote=True))


def join(parts: Iterable[Child], between: str = "") -> Markup:
    """Parts one after the other; None is left out."""
    return Markup(between.join(escape(part) for part in parts if part is not None))


def el(name: str, /, *children: Child, **attributes: object) -> Markup:
    """An element. `cls` is the class; attributes that are None are left out; `a_b` stands for `a-b`.

    >>> el("p", "a < b", cls="lead")
    '<p class="lead">a &lt; b</p>'
    """
    opening = f"<{name}{_attributes(attributes)}>"
    return Markup(opening if name in _VOID else f"{opening}{join(children)}</{name}>")


def _attributes(attributes: dict[str, object]) -> str:
    return "".join(
        f' {_NAMES.get(name, name.replace("_", "-"))}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )


_NAMES = {"cls": "class", "for_": "for", "viewBox": "viewBox"}


LONGEST, MOST = 120, 1000
"""Characters of a name that are shown, and those that are shown where one points at it."""


def ident(text: str) -> Markup:
    """An id or a name given by the user: it keeps its own writing direction to itself, and is cut where it is long."""
    shown = text if len(text) <= LONGEST else cut(text, LONGEST)
    return el("bdi", shown, title=None if shown == text else text[:MOST])


def paragraphs(texts: Iterable[str], cls: str | None = None) -> Markup:
    """A paragraph for each text."""
    return join(el("p", each, cls=cls) for each in texts)


def fold(summary: Child, *children: Child, opened: bool = False, cls: str | None = None) -> Markup:
    """What can be folded away, without a script."""
    inner = join([el("summary", summary), *children])
    named = f' class="{escape(cls)}"' if cls else ""
    return Markup(f"<details{named}{' open' if opened else ''}>{inner}</details>")


def table(
    caption: str,
    headings: Sequence[Child],
    rows: Iterable[Sequence[Child]],
    *,
    words: Iterable[int] = (0,),
    cls: str | None = None,
    grouped: bool = False,
) -> Markup:
    """A table that scrolls in its own box; the columns in `words` hold text, the others numbers.

    `grouped` rows share their first cell with those below that have the same.
    """
    text = set(words)
    head = el("tr", *(el("th", h, scope="col", cls=_kind(i, text)) for i, h in enumerate(headings)))
    bodies = _groups(rows, text) if grouped else [el("tbody", *(_row(row, text) for row in rows))]
    named = el("caption", el("span", caption))
    whole = el("table", named, el("thead", head), *bodies, cls=cls)
    return el("div", whole, cls="scroll", tabindex=0, role="group", aria_label=caption)


def _row(cells: Sequence[Child], text: set[int]) -> Markup:
    first, *others = cells
    rest = (_cell(cell, _kind(i, text)) for i, cell in enumerate(others, start=1))
    heading = el("th", first, scope="row", cls=_kind(0, text)) if first else el("td")
    return el("tr", heading, *rest)


def _groups(rows: Iterable[Sequence[Child]], text: set[int]) -> Iterator[Markup]:
    """A body for each run of rows with the same first cell, which is the heading of them all."""
    for first, group in groupby(rows, key=lambda row: row[0]):
        members = list(group)
        heading = el("th", first, scope="rowgroup", rowspan=len(members), cls="w")
        yield el("tbody", *(_member(row, text, None if i else heading) for i, row in enumerate(members)))


def _member(row: Sequence[Child], text: set[int], heading: Markup | None) -> Markup:
    cells = (
        el("th", c, scope="row", cls="w") if i == 1 else _cell(c, _kind(i, text)) for i, c in enumerate(row)
    )
    return el("tr", heading, *islice(cells, 1, None))


def prose(text: str) -> Markup:
    """Running text in which `names` between backticks are set as code.

    >>> prose("by `min(k, R)`")
    'by <code>min(k, R)</code>'
    """
    parts = text.split("`")
    return join(el("code", part) if i % 2 and i < len(parts) - 1 else part for i, part in enumerate(parts))


def _cell(cell: Child, kind: str | None) -> Markup:
    """A cell; one that is a `td` already, with a class of its own, stays as it is."""
    if isinstance(cell, Markup) and cell.startswith("<td"):
        return cell
    return el("td", cell, cls=kind)


def _kind(column: int, text: set[int]) -> str | None:
    return "w" if column in text else None


@cache
def sheet() -> str:
    """The style sheet as it goes into a page: without its indentation."""
    text = files("rankproof.document.html").joinpath("style.css").read_text(encoding="utf-8")
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may load for the page: nothing."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with its heading; `key` is where links go."""

    key: str
    heading: str
    body: Markup

    def __str__(self) -> str:
        title = el("h2", self.heading, id=f"{self.key}-heading")
        return el("section", title, self.body, id=self.key, aria_labelledby=f"{self.key}-heading")


def page(title: str, opening: Child, sections: Sequence[Section], foot: Child) -> str:
    """The whole page as text."""
    head = join(
        [
            el("meta", charset="utf-8"),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="generator", content="rankproof"),
            el("meta", http_equiv="Content-Security-Policy", content=POLICY),
            el("title", title),
            el("style", Markup(sheet())),
        ]
    )
    header = el("header", el("h1", title), opening, _contents(sections))
    main = el("main", *(Markup(str(each)) for each in sections), id="main")
    skip = el("a", "Skip to the content", href="#main", cls="skip")
    body = el("body", skip, header, main, el("footer", el("hr"), foot))
    return f"<!DOCTYPE html>\n{el('html', el('head', head), body, lang='en')}\n"


def _contents(sections: Sequence[Section]) -> Markup:
    items = (el("li", el("a", each.heading, href=f"#{each.key}")) for each in sections)
    return el("nav", el("ul", *items), aria_label="Contents")
