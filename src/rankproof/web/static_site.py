"""The app as files: every page that can be reached, with links between them, for a file server or a page host."""

from __future__ import annotations

import hashlib
import os
import re
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from rankproof.document.disk import write_file
from rankproof.errors import RankproofError, UsageError
from rankproof.web.server import PAGES, static_file
from rankproof.web.site import Links, Page, Site, page_text, problem, sections, some_names
from rankproof.web.workspace import Settings, Workspace

NEVER = {"judge", "live", "part"}
"""Pages that make no sense without a running app."""
SCRIPTS = ("page.js", "compare.js")


class Files(Links):
    """Links between files; every page that is linked to is noted, so that it is written as well."""

    static = True

    def __init__(self) -> None:
        self.wanted: deque[tuple[str, dict[str, str]]] = deque()
        self.names: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}

    def to(self, page: str, /, **choices: str | None) -> str:
        """The file of that page."""
        chosen = {name: value for name, value in sorted(choices.items()) if value}
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
    """Write every page that can be reached from the first, read-only; returns the files, and the errors in the data."""
    target = Path(folder)
    if target.exists() and (not target.is_dir() or (any(target.iterdir()) and not force)):
        raise UsageError(
            f"{target}: this folder is not empty, and was left as it is. Next: name a new folder, or --force."
        )
    workspace, links = Workspace(settings), Files()
    target.mkdir(parents=True, exist_ok=True)
    site = Site(workspace, links)
    for name in workspace.runs:
        if workspace.judgments_file is not None:
            workspace.kept_or_wrong(name)
    links.to("home")
    written = []
    try:
        while links.wanted:
            page, choices = links.wanted.popleft()
            if page not in NEVER:
                text = page_text(site, _made(site, page, choices), page)
                written.append(write_file(target / links.to(page, **choices), text, force=force))
    finally:
        workspace.close()
    for name in (*SCRIPTS, "style.css", "icon.svg"):
        found = static_file(name)
        if found is not None:
            written.append(write_file(target / name, found[0], force=force))
    return written, [f"{some_names(names)}: {error}" for error, names in workspace.wrong().items()]


def _made(site: Site, page: str, choices: Mapping[str, str]) -> Page:
    try:
        return PAGES[page](site, choices)
    except RankproofError as error:
        return Page("This page cannot be shown", sections(("problem", "What happened", problem(error))))
