"""A page as text: elements that escape everything but markup, and drawings of scales and marks."""

from __future__ import annotations

import html
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
    told = "".join(
        f' {_NAMES.get(key, key.replace("_", "-"))}="{escape(str(value), exact=key in EXACT)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{told}>" if name in _VOID else f"<{name}{told}>{join(children)}</{name}>")


EXACT = {"value", "data_doc", "data_query", "data_system"}
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
    return el("details", el("summary", summary), *children, cls=cls, open="" if opened else None)


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

    `grouped` rows share their first cell with those below; `label` names it for screen readers if it has no caption.
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


def head_cell(heading: Child, *, linked: bool = True, **attributes: object) -> Markup:
    """The cell above a column: a word of ours has its meaning as a tooltip, and leads to it at the end of the page if
    that is `linked`; without text it heads nothing."""
    if not heading:
        return el("td", **attributes)
    term = term_of(re.sub("<[^>]*>", "", heading))
    if term and linked:
        heading = el("a", heading, href=f"#{_place_of(term)}")
    return el("th", heading, scope="col", title=term and read_terms()[0][term], **attributes)


def _place_of(term: str) -> str:
    """The id of a word among those that a page explains.

    >>> _place_of("queries needed")
    'word-queries-needed'
    """
    return f"word-{term.replace(' ', '-')}"


def explain_words(text: str) -> Markup | None:
    """The meaning of every word to which a heading in this text leads: a tooltip takes a mouse, and paper has none."""
    used = set(re.findall('href="#(word-[^"]+)"', text))
    told = ((_place_of(word), word, meaning) for word, meaning in read_terms()[0].items())
    found = [el("div", el("dt", word, id=at), el("dd", meaning)) for at, word, meaning in told if escape(at) in used]
    return el("dl", *found, cls="words") if found else None


def _lines_of(name: str) -> list[str]:
    from importlib.resources import files  # which takes long to load

    return files("rankproof.document").joinpath(name).read_text(encoding="utf-8").splitlines()


@cache
def sheet() -> str:
    """The style sheet of a page, without indentation."""
    return "\n".join(line.strip() for line in _lines_of("style.css") if line.strip())


POLICY = "default-src 'none'; style-src 'unsafe-inline'"
CLOSED = el("meta", http_equiv="Content-Security-Policy", content=POLICY)
"""The content policy of a page in one file: a browser may load nothing for it."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with its heading; `key` is the target of links."""

    key: str
    heading: str
    body: Markup

    def __str__(self) -> str:
        title = el("h2", self.heading, id=f"{self.key}-heading")
        return el("section", title, self.body, id=self.key, aria_labelledby=f"{self.key}-heading")


def with_words(sections: Sequence[Section], lead: Child = None) -> Sequence[Section]:
    """The sections of a page, and one more for the words that they or what comes before them explain."""
    words = explain_words(join([lead, *map(str, sections)]))
    return [*sections, Section("words", "Words on this page", words)] if words else sections


def page(title: str, opening: Child, sections: Sequence[Section], foot: str = "", lead: Child = None) -> str:
    """The whole page as text; `lead` comes before all sections, `foot` behind the version that made it."""
    from rankproof import __version__

    head = el("head", *METAS, CLOSED, el("title", title), el("style", Markup(sheet())))
    shown = with_words(sections, lead)
    header = el("header", el("h1", title), opening, contents(shown) if sections else None)
    main = el("main", lead, *(Markup(str(each)) for each in shown), id="main")
    skip = el("a", "Skip to the content", href="#main", cls="skip")
    body = el("body", skip, header, main, el("footer", el("hr"), el("p", f"Made by rankproof {__version__}.{foot}")))
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
