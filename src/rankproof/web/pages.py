"""The pages of the app by their addresses, the parts that take longer, and all of it as files for any page host."""

from __future__ import annotations

import hashlib
import os
import re
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from importlib.resources import files as resources
from pathlib import Path
from tempfile import TemporaryDirectory

from rankproof.document.disk import write_file
from rankproof.document.numbers import first_of
from rankproof.document.page import explain_words
from rankproof.errors import RankproofError, UsageError
from rankproof.web import Settings, Workspace
from rankproof.web.compare_pages import board, board_part, compare, comparison_part, gate, gate_part
from rankproof.web.grading import judge
from rankproof.web.home import home, live
from rankproof.web.query_pages import audit, diagnosis, diagnosis_part, explain, outcome_part, queries, query
from rankproof.web.site import (
    Choice,
    Choices,
    Links,
    Page,
    Site,
    SlowPart,
    error_page,
    fragment,
    made_choices,
    page_text,
    show_result,
    style,
)
from rankproof.web.verdict_pages import calibration, grid, means_part, verdicts

PAGES: dict[str, Callable[[Site, Choices], Page]] = {
    "home": home,
    "compare": compare,
    "queries": queries,
    "query": query,
    "explain": explain,
    "gate": gate,
    "leaderboard": board,
    "grid": grid,
    "diagnosis": diagnosis,
    "audit": audit,
    "judge": judge,
    "verdicts": verdicts,
    "calibration": calibration,
    "live": live,
}
PARTS: dict[str, SlowPart] = {
    "verdict": comparison_part,
    "gate": gate_part,
    "outcome": outcome_part,
    "leaderboard": board_part,
    "means": means_part,
    "diagnosis": diagnosis_part,
}
TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


def static_file(name: str) -> tuple[str, str] | None:
    """A file that belongs to the pages, with its type; None if there is none of that name."""
    kind = name.rpartition(".")[2]
    if name == "style.css":
        return style(), TYPES[kind]
    known = {each.name: each for each in resources("rankproof.web").joinpath("static").iterdir()}
    if name not in known or kind not in ("js", "svg"):
        return None
    return known[name].read_text(encoding="utf-8"), TYPES[kind]


def parts(site: Site, name: str, choices: Choices) -> str:
    """A part of a page that takes longer; the request waits for it."""
    if name not in PARTS:
        raise UsageError("there is no such part of a page. Next: go back, and load the page again.")
    shown = show_result(*PARTS[name](site, choices))
    return fragment(shown, explain_words(shown))


NEVER = {"judge", "live", "part"}
"""Pages that make no sense without a running app."""
SCRIPTS = ("page.js", "compare.js")


def page_or_error(make: Callable[[Site, Choices], Page], site: Site, choices: Choices) -> tuple[Page, int]:
    """A page, or the error in its place, and its status."""
    try:
        return replace(make(site, choices), choices=choices), 200
    except RankproofError as error:
        return error_page("This page cannot be shown", error), 400


class Files(Links):
    """Links between files; every page that is linked to is noted, so that it is written as well."""

    static = True

    def __init__(self) -> None:
        self.wanted: deque[tuple[str, dict[str, str]]] = deque()
        self.names: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}

    def to(self, page: str, /, **choices: Choice) -> str:
        """The file of that page."""
        chosen = made_choices(dict(sorted(choices.items())))
        if page == "query":
            chosen = {"id": chosen["id"]}
        key = (page, tuple(chosen.items()))
        if key not in self.names:
            self.names[key] = _name(page, chosen)
            self.wanted.append((page, chosen))
        return self.names[key]

    def file(self, name: str) -> str:
        """Style and scripts are beside the pages."""
        return name


def _name(page: str, choices: Mapping[str, str]) -> str:
    """A file name that is valid on every system, and unique.

    >>> _name("home", {}), _name("query", {"id": "q 1/?"})
    ('index.html', 'query-q-1-5e6df826.html')
    """
    if page == "home" and not choices:
        return "index.html"
    words = "-".join(re.sub(r"[^A-Za-z0-9]+", "-", each).strip("-")[:40] for each in choices.values())
    mark = hashlib.sha256(repr(sorted(choices.items())).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{page}{f'-{words}' if words else ''}{f'-{mark}' if choices else ''}.html"


def export(settings: Settings, folder: str | os.PathLike[str], *, force: bool = False) -> tuple[list[Path], list[str]]:
    """Write every page that can be reached from the first, read-only; returns the files, and the errors in the data.

    They appear in the folder once all of them are written.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or (any(target.iterdir()) and not force)):
        raise UsageError(
            f"{target}: this folder is not empty, and was left as it is. Next: name a new folder, or --force."
        )
    workspace, links = Workspace(replace(settings, read_only=True)), Files()
    site = Site(workspace, links)
    if workspace.judgments_file is not None:
        workspace.scorable()  # all are scored, and their errors kept
    links.to("home")
    written = []
    beside = target if target.exists() else target.parent
    beside.mkdir(parents=True, exist_ok=True)
    with closing(workspace), TemporaryDirectory(prefix=".rankproof-", suffix=".part", dir=beside) as part:
        while links.wanted:
            page, choices = links.wanted.popleft()
            if page not in NEVER:
                text = page_text(site, page_or_error(PAGES[page], site, choices)[0], page)
                written.append(write_file(Path(part, links.to(page, **choices)), text))
        for name in (*SCRIPTS, "style.css", "icon.svg"):
            found = static_file(name)
            if found is not None:
                written.append(write_file(Path(part, name), found[0]))
        target.mkdir(exist_ok=True)
        written = [each.replace(target / each.name) for each in written]
    return written, [f"{first_of(names)}: {error}" for error, names in workspace.problems().items()]
