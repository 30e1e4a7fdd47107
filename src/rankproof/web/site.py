"""The common parts of every page: links, the reader's choices, and the frame with navigation, grader and footer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlencode

from rankproof.document.formats.html import part_of_page
from rankproof.document.model import Document, Result
from rankproof.document.page import (
    CLOSED,
    METAS,
    Child,
    Markup,
    Section,
    combine,
    contents,
    el,
    ident,
    sheet,
    with_words,
)
from rankproof.document.terminal import cut_apart
from rankproof.errors import RankproofError
from rankproof.scoring.scores import Scores
from rankproof.scoring.words import wrong_data
from rankproof.text.languages import STOP_WORDS
from rankproof.text.tokens import last_cut
from rankproof.text.words import Word, stem
from rankproof.text.words import words as words_of
from rankproof.web import Workspace
from rankproof.web.folder import FileKind, encodable

T = TypeVar("T")

Choices = Mapping[str, str]
"""The parameters of an address."""

Choice: TypeAlias = str | bool | None
"""One of them, as a page gives it: True is "yes"."""


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


def made_choices(choices: Mapping[str, Choice]) -> dict[str, str]:
    """Choices as an address holds them, without those that are None, empty or False."""
    return {name: "yes" if value is True else value for name, value in choices.items() if value}


class Links:
    """Addresses of pages in the running app."""

    static = False
    """Whether the pages are files: nothing can be changed, and nothing is loaded later."""

    def to(self, page: str, /, **choices: Choice) -> str:
        """The address of a page with these choices."""
        chosen = made_choices(choices)
        path = "/" if page == "home" else f"/{page}"
        return f"{path}?{urlencode(chosen, errors='backslashreplace')}" if chosen else path

    def file(self, name: str) -> str:
        """The address of a file that belongs to the pages."""
        return f"/static/{name}"


class Unlinked(Links):
    """No links: the page is one self-contained file."""

    static = True

    def to(self, page: str, /, **choices: Choice) -> str:
        """No address."""
        return ""


@dataclass(frozen=True)
class Site:
    """One request, as pages need it."""

    workspace: Workspace
    links: Links = field(default_factory=Links)
    who: str = ""
    csrf: str = ""
    """The secret that a form has to send; empty if nothing can be written."""
    seen: float = 0.0
    """The time of the last visit, in seconds since 1970; 0 for never."""

    @property
    def writes(self) -> bool:
        """Whether the reader may grade."""
        return not (self.links.static or self.workspace.settings.read_only)

    def link(self, words: Child, page: str, /, **choices: Choice) -> Markup:
        """A link to another page."""
        address = self.links.to(page, **choices)
        return el("a", words, href=address) if address else combine(words)

    def choose(self, page: str, *fields: Child) -> Markup | None:
        """The form by which a reader chooses what a page is about; files have none."""
        return None if self.links.static else form(self, f"/{page}", *fields, button("Show"), cls="choices")

    def note_of_aspects(self) -> Markup | None:
        """Says that no grade given here counts, if the judgments name aspects."""
        words = "The judgments name aspects of the queries; a grade given here names none: it is saved, not counted."
        judged = None if self.workspace.judgments_file is None else self.workspace.judgments()
        return note(words) if judged is not None and judged.facets is not None else None

    def later(self, part: SlowPart, name: str, /, **choices: Choice) -> Markup:
        """A slow part: shown if it is ready, else a placeholder that the browser fills later."""
        found, show = part(self, made_choices(choices))
        if self.links.static or found.done():
            return show_result(found, show)
        words = el("p", "Computing ... ", self.link("Load it", "part", name=name, **choices))
        return el("div", words, cls="later", data_part=self.links.to("part", name=name, **choices), aria_live="polite")


SlowPart: TypeAlias = Callable[[Site, Choices], tuple[Future[Any], Callable[[Any], Markup]]]
"""A part of a page that takes longer: its result, which may be computed still, and how it is shown."""


def show_result(found: Future[Any], show: Callable[[Any], Markup]) -> Markup:
    """A result as markup, or its error."""
    try:
        return show(found.result())
    except RankproofError as error:
        return problem(error)


def problem(error: BaseException) -> Markup:
    """An error of ours as a page shows it."""
    what, _, do = str(error).partition(" Next: ")
    return el(
        "div", el("p", el("b", "This cannot be shown. "), what), el("p", "Next: ", do) if do else None, cls="problem"
    )


def error_page(title: str, error: BaseException) -> Page:
    """A page that says what happened instead."""
    return Page(title, sections(("problem", "What happened", problem(error))))


def form(
    site: Site, action: str, *children: Child, method: str = "get", cls: str | None = None, label: str | None = None
) -> Markup | None:
    """A form; one that writes carries the secret that proves its origin, and is None where nothing can be written."""
    if method == "post" and not site.writes:
        return None
    proof = hidden_fields(csrf=site.csrf) if method == "post" else []
    return el("form", *proof, *children, action=action, method=method, cls=cls, aria_label=label)


def hidden_fields(**values: str) -> list[Markup]:
    """Values that a form sends and nobody sees."""
    return [el("input", type="hidden", name=name, value=value) for name, value in values.items()]


SHOWN = 30
"""The number of characters of a name for which a choice has room."""


def select(name: str, label: str, values: Mapping[str, str] | Sequence[str], chosen: str) -> Markup:
    """A choice with its label; `values` are words by value, else names, which stay apart where they are cut."""
    pairs = values.items() if isinstance(values, Mapping) else zip(values, cut_apart(values, SHOWN), strict=True)
    options = (
        el("option", words, value=value, selected="selected" if value == chosen else None) for value, words in pairs
    )
    return el("label", el("span", label), el("select", *options, name=name))


def button(words: str, **attributes: Any) -> Markup:
    """A button that sends its form."""
    return el("button", words, type=attributes.pop("type", "submit"), **attributes)


def whole_text(text: str) -> Markup:
    """A foreign text with an isolated writing direction, which is not cut."""
    return el("bdi", text)


def note(*children: Child) -> Markup:
    """A remark in small type."""
    return el("p", *children, cls="note")


def sections(*given: tuple[str, str, Child] | None) -> tuple[Section, ...]:
    """Sections of key, heading and body; those that are None are left out."""
    return tuple(Section(key, heading, combine(body)) for key, heading, body in filter(None, given))


def whole_number(text: str) -> int | None:
    """The whole number of at most nine digits that a reader's text spells; None if it spells none."""
    return int(text) if re.fullmatch("-?[0-9]{1,9}", text) else None


FILTERS = ("text", "outcome", "group", "mode", "grade")
"""What chooses queries of a comparison."""


def kept(choices: Choices) -> dict[str, str]:
    """What a page hands on to others about the same comparison: its rankings, its measure, what is chosen of it."""
    return {name: choices[name] for name in ("a", "b", "m", "given", "order", *FILTERS) if name in choices}


def is_given(choices: Choices) -> bool:
    """Whether the grades given here are counted."""
    return choices.get("given") == "yes"


def part_of_result(found: Result) -> Markup:
    """A result as the command line shows it, as part of a page."""
    return part_of_page(found._document())


def measure_of(scores: Scores, asked: str | None) -> str:
    """The measure that was chosen, else the first."""
    return scores.key(asked) if asked else next(iter(scores))


def day(at: str) -> str:
    """A time as people write it, in UTC; other text is kept."""
    try:
        return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return at


# --- the frame of every page -------------------------------------------------------------------

NAVIGATION = (
    *("home", "compare", "queries", "gate", "leaderboard", "grid", "diagnosis", "audit"),
    *("judge", "verdicts", "live"),
)


def page_text(site: Site, page: Page, name: str, *, alone: bool = False, state: str = "") -> str:
    """The page as text; `alone` as one self-contained file: with its style and without scripts.

    A page that changes is loaded again once the app's state is another than the one given.
    """
    from rankproof import __version__

    header = el(
        "header", el("h1", page.title), page.opening, contents(page.sections) if len(page.sections) > 2 else None
    )
    made = f"rankproof {__version__}. The numbers are those of the command line."
    save = None
    if name and not alone and not site.links.static:
        address = site.links.to(name, **{**page.choices, "save": "yes"})
        save = combine(" ", el("a", "Save this page as one file", href=address), ".")
    foot = el("footer", el("hr"), el("p", made, save))
    skips = (("main", "Skip to the content"), page.skip or ("", ""))
    body = el(
        "body",
        *(el("a", words, href=f"#{key}", cls="skip") for key, words in skips if key),
        None if alone else _bar(site, name, page.choices),
        header,
        el("main", *(Markup(str(each)) for each in with_words(page.sections)), id="main"),
        foot,
        data_state=state if page.changing and not site.links.static else None,
        data_csrf=site.csrf or None,
    )
    text = f"<!DOCTYPE html>\n{el('html', _head(site, page, alone), body, lang='en')}\n"
    return encodable(text)


def _head(site: Site, page: Page, alone: bool) -> Markup:
    common = [*METAS, el("title", f"{page.title} - rankproof")]
    if alone:
        return el("head", *common, CLOSED, el("style", Markup(style())))
    scripts = (el("script", type="module", src=site.links.file(f"{each}.js")) for each in ("page", *page.scripts))
    icon = el("link", rel="icon", href=site.links.file("icon.svg"))
    return el("head", *common, el("link", rel="stylesheet", href=site.links.file("style.css")), icon, *scripts)


def style() -> str:
    """The style of the report, and that of the app."""
    from importlib.resources import files

    own = files("rankproof.web").joinpath("static", "app.css").read_text(encoding="utf-8")
    return f"{sheet()}\n{own}"


def _bar(site: Site, name: str, choices: Choices) -> Markup:
    """The navigation, which keeps to a comparison, and the name of the grader."""
    asked = {each: {} if site.links.static else kept(choices) for each in ("compare", "queries", "gate")}
    links = (
        el("li", el("a", each.capitalize(), href=site.links.to(each, **asked.get(each, {})), aria_current=current))
        for each in NAVIGATION
        for current in ["page" if each == name else None]
        if not (site.links.static and each in ("judge", "live"))
        if each != "grid" or site.workspace.of_kind(FileKind.GRID)
    )
    field = el("input", name="who", value=site.who, size=10, maxlength=60, autocomplete="username")
    named = el("label", el("span", "You grade as"), field)
    person = form(site, "/who", named, button("Change"), method="post", cls="who", label="Who grades")
    person = person or el("span", "read only", cls="note")
    return el("div", el("nav", el("ul", *links), aria_label="Pages"), person, cls="bar")


def fragment(*children: Child) -> str:
    """A part that is inserted into a loaded page."""
    return encodable(str(combine(*children)))


Wanted: TypeAlias = frozenset[str]
"""The stems of a question's words."""
SNIPPET, BEFORE = 240, 20
"""The number of characters of a document that are shown, and how many may precede the question's first word."""
SEARCHED = 20_000
"""The number of characters that are searched for them."""


def wanted_words(question: str) -> Wanted:
    """The stems of a question's words, without small words if there are others."""
    forms = [word.form for word in words_of(question)]
    return frozenset(map(stem, [form for form in forms if form not in STOP_WORDS] or forms))


def _shared(text: str, wanted: Wanted) -> list[Word]:
    return [word for word in words_of(text) if stem(word.form) in wanted]


def snippet(text: str, wanted: Wanted) -> str:
    """The part of a text that has most of the question's words, from the start of a word to the end of one."""
    flat = " ".join(text[:SEARCHED].split())
    if len(flat) <= SNIPPET:
        return flat
    found = [word.start for word in _shared(flat, wanted)]
    best = max(found, default=0, key=lambda at: sum(at <= other < at + SNIPPET - 2 * BEFORE for other in found))
    start = 0 if best <= BEFORE else flat.find(" ", best - BEFORE, best) + 1 or best
    last = last_cut(flat, start + SNIPPET, start)
    space = flat.rfind(" ", start + SNIPPET // 2, last) if last < len(flat) else -1
    end = space if space > 0 else last
    return f"{'... ' if start else ''}{flat[start:end]}{' ...' if end < len(flat) else ''}"


def mark_words(text: str, wanted: Wanted) -> list[Child]:
    """The text with the question's words marked."""
    parts: list[Child] = []
    at = 0
    for word in _shared(text, wanted):
        if word.end > at:  # in scripts without spaces, words overlap
            start = max(at, word.start)
            parts += [text[at:start], el("mark", text[start : word.end])]
            at = word.end
    return [*parts, text[at:]]


def errors_part(scored: Iterable[tuple[str, Scores]]) -> Markup | None:
    """Errors that make the numbers of these rankings wrong, shown above them; None if there are none."""
    wrong = [f"{name}: {each}" for name, scores in scored for each in scores.wrong]
    return part_of_page(Document("", [wrong_data(wrong)])) if wrong else None


def wrong_card(name: str, error: RankproofError) -> Markup:
    """A ranking that cannot be scored, with its error."""
    return el("div", el("h3", ident(name)), problem(error), cls="card")
