"""The context of a page: the workspace, links to other pages, and the reader's choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from rankproof.document.page import Child, Markup, Section, el, join
from rankproof.errors import RankproofError
from rankproof.scoring.scores import Scores
from rankproof.web.workspace import Workspace

T = TypeVar("T")

Choices = Mapping[str, str]
"""The parameters of an address."""


@dataclass(frozen=True)
class Page:
    """A page without its frame."""

    title: str
    sections: tuple[Section, ...]
    opening: Child = None
    scripts: tuple[str, ...] = ()
    """The scripts that it needs beside the common one."""
    skip: tuple[str, str] | None = None
    """A further link for the keyboard at the top of the page: its target and its words."""
    choices: Choices = field(default_factory=dict)
    """The context it was made with."""
    changing: bool = False
    """Whether it is reloaded when a file has changed or a part is ready."""


class Links:
    """Addresses of pages in the running app."""

    static = False
    """Whether the pages are files: nothing can be changed, and nothing is loaded later."""

    def to(self, page: str, **choices: str | None) -> str:
        """The address of a page with these choices; those that are None or empty are left out."""
        chosen = {name: value for name, value in choices.items() if value}
        path = "/" if page == "home" else f"/{page}"
        return f"{path}?{urlencode(chosen)}" if chosen else path

    def file(self, name: str) -> str:
        """The address of a file that belongs to the pages."""
        return f"/static/{name}"


class Unlinked(Links):
    """No links: the page is one self-contained file."""

    static = True

    def to(self, page: str, **choices: str | None) -> str:
        """No address."""
        return ""


@dataclass(frozen=True)
class Site:
    """One request, as pages need it."""

    workspace: Workspace
    links: Links = field(default_factory=Links)
    who: str = ""
    """The name of the grader."""
    csrf: str = ""
    """The secret that a form has to send; empty if nothing can be written."""
    seen: float = 0.0
    """The time of the last visit, in seconds since 1970; 0 for never."""

    @property
    def writes(self) -> bool:
        """Whether the reader may grade."""
        return not (self.links.static or self.workspace.settings.read_only)

    def link(self, words: Child, page: str, **choices: str | None) -> Markup:
        """A link to another page."""
        address = self.links.to(page, **choices)
        return el("a", words, href=address) if address else join([words])

    def later(
        self, key: Any, make: Callable[[], T], show: Callable[[T], Markup], part: str, **choices: str | None
    ) -> Markup:
        """A slow part: shown if it is ready, else a placeholder that the browser fills later."""
        if self.links.static:
            return show_result(self.workspace.later(key, make), show)
        found = self.workspace.later(key, make)
        if found.done():
            return show_result(found, show)
        words = el("p", "Computing ... ", self.link("Load it", "part", name=part, **choices))
        return el(
            "div",
            words,
            cls="later",
            data_part=self.links.to("part", name=part, **choices),
            aria_live="polite",
        )


def show_result(found: Future[T], show: Callable[[T], Markup]) -> Markup:
    """A result as markup, or its error."""
    try:
        return show(found.result())
    except RankproofError as error:
        return problem(error)


def problem(error: BaseException) -> Markup:
    """An error of ours as a page shows it."""
    what, _, do = str(error).partition(" Next: ")
    return el(
        "div",
        el("p", el("b", "This cannot be shown. "), what),
        el("p", "Next: ", do) if do else None,
        cls="problem",
    )


def form(
    site: Site,
    action: str,
    *children: Child,
    method: str = "get",
    cls: str | None = None,
    label: str | None = None,
) -> Markup:
    """A form; one that writes carries the secret that proves its origin."""
    proof = el("input", type="hidden", name="csrf", value=site.csrf) if method == "post" else None
    return el("form", proof, *children, action=action, method=method, cls=cls, aria_label=label)


def select(name: str, label: str, values: Mapping[str, str] | list[str], chosen: str) -> Markup:
    """A choice with its label; `values` are words by value."""
    pairs = values.items() if isinstance(values, Mapping) else ((each, each) for each in values)
    options = (
        el("option", words, value=value, selected="selected" if value == chosen else None) for value, words in pairs
    )
    return el("label", el("span", label), el("select", *options, name=name))


def button(words: str, **attributes: Any) -> Markup:
    """A button that sends its form."""
    return el("button", words, type=attributes.pop("type", "submit"), **attributes)


def note(*children: Child) -> Markup:
    """A remark in small type."""
    return el("p", *children, cls="note")


NAMED = 5
"""The number of rankings that are named if many share something."""


def some_names(names: Sequence[str]) -> str:
    """Some names, and how many more there are.

    >>> some_names(["a", "b"]), some_names([*"abcdefg"])
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def sections(*given: tuple[str, str, Child] | None) -> tuple[Section, ...]:
    """Sections of key, heading and body; those that are None are left out."""
    return tuple(
        Section(key, heading, join([body])) for each in given if each is not None for key, heading, body in [each]
    )


def measure_of(scores: Scores, asked: str | None) -> str:
    """The measure that was chosen, else the first."""
    return scores.key(asked) if asked else next(iter(scores))


def day(at: str) -> str:
    """A time as people write it, in UTC; other text is kept."""
    try:
        return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return at
