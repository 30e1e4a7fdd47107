"""The frame of a page: head, title, contents, sections, foot. One file, nothing fetched, no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankproof.reporting.html.markup import Child, Markup, el, join
from rankproof.reporting.html.style import sheet

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
