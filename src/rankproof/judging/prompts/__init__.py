"""What models are told, as files; the number in a file's name is part of every verdict's key."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

VERDICTS = "verdicts-2"
SUPPORT = "support-1"
CLAIMS = "claims-3"


@cache
def prompt(name: str) -> str:
    """The text of a prompt."""
    return files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8").strip()
