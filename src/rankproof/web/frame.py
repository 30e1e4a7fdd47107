"""The frame of every page: its head, the navigation, the name of the grader, the footer."""

from __future__ import annotations

from collections.abc import Sequence

from rankproof.document.page import Child, Markup, Section, el, join, sheet
from rankproof.web.folder import FileKind
from rankproof.web.site import Page, Site, button, form

NAVIGATION = {
    "home": "Home",
    "compare": "Compare",
    "queries": "Queries",
    "gate": "Gate",
    "leaderboard": "Leaderboard",
    "grid": "Grid",
    "diagnosis": "Diagnosis",
    "audit": "Audit",
    "judge": "Judge",
    "verdicts": "Verdicts",
    "live": "Live",
}
"""The pages of the navigation, with their names."""


def page_text(site: Site, page: Page, name: str, *, alone: bool = False) -> str:
    """The page as text; `alone` as one self-contained file: with its style and without scripts."""
    from rankproof import __version__

    header = el(
        "header",
        el("h1", page.title),
        page.opening,
        _contents(page.sections) if len(page.sections) > 2 else None,
    )
    made = f"rankproof {__version__}. The numbers are those of the command line."
    foot = el("footer", el("hr"), el("p", made, _save(site, page, name, alone)))
    skips = (("main", "Skip to the content"), page.skip or ("", ""))
    body = el(
        "body",
        *(el("a", words, href=f"#{key}", cls="skip") for key, words in skips if key),
        None if alone else _bar(site, name),
        header,
        el("main", *(Markup(str(each)) for each in page.sections), id="main"),
        foot,
        data_changing="yes" if page.changing and not site.links.static else None,
        data_csrf=site.csrf or None,
    )
    return f"<!DOCTYPE html>\n{el('html', _head(site, page, alone), body, lang='en')}\n"


def _save(site: Site, page: Page, name: str, alone: bool) -> Markup | None:
    """The link to this page as one file."""
    if alone or site.links.static or not name:
        return None
    return join(
        [
            " ",
            el("a", "Save this page as one file", href=site.links.to(name, **{**page.choices, "save": "yes"})),
            ".",
        ]
    )


ALONE = "default-src 'none'; style-src 'unsafe-inline'"


def _head(site: Site, page: Page, alone: bool) -> Markup:
    common = [
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="generator", content="rankproof"),
        el("title", f"{page.title} - rankproof"),
    ]
    if alone:
        policy = el("meta", http_equiv="Content-Security-Policy", content=ALONE)
        return el("head", *common, policy, el("style", Markup(style())))
    scripts = (el("script", type="module", src=site.links.file(f"{each}.js")) for each in ("page", *page.scripts))
    icon = el("link", rel="icon", href=site.links.file("icon.svg"))
    return el("head", *common, el("link", rel="stylesheet", href=site.links.file("style.css")), icon, *scripts)


def style() -> str:
    """The style of the report, and that of the app."""
    from importlib.resources import files

    own = files("rankproof.web").joinpath("static", "app.css").read_text(encoding="utf-8")
    return f"{sheet()}\n{own}"


def _bar(site: Site, name: str) -> Markup:
    """The navigation, and the name of the grader."""
    links = (
        el("li", el("a", words, href=site.links.to(each), aria_current="page" if each == name else None))
        for each, words in NAVIGATION.items()
        if not (site.links.static and each in ("judge", "live"))
        if each != "grid" or site.workspace.of_kind(FileKind.GRID)
    )
    return el("div", el("nav", el("ul", *links), aria_label="Pages"), _person(site), cls="bar")


def _person(site: Site) -> Markup | None:
    """The name under which grades are written."""
    if not site.writes:
        return el("span", "read only", cls="note")
    field = el("input", name="who", value=site.who, size=10, maxlength=60, autocomplete="username")
    named = el("label", el("span", "You grade as"), field)
    return form(site, "/who", named, button("Change"), method="post", cls="who", label="Who grades")


def _contents(sections: Sequence[Section]) -> Markup:
    items = (el("li", el("a", each.heading, href=f"#{each.key}")) for each in sections)
    return el("nav", el("ul", *items), aria_label="Contents")


def fragment(*children: Child) -> str:
    """A part that is inserted into a loaded page."""
    return str(join(children))
