"""The style sheet of every page: one accent colour, two themes, print."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def sheet() -> str:
    """The style sheet as it goes into a page: without its indentation."""
    text = files("rankproof.reporting.html").joinpath("style.css").read_text(encoding="utf-8")
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
