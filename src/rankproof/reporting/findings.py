"""Findings of the audit as text: how serious, what, examples, and what to do next."""

from __future__ import annotations

from typing import Any

from rankproof.reporting.tables import wrap

RED, YELLOW, RESET = "\x1b[31m", "\x1b[33m", "\x1b[0m"
COLOURS = {"error": RED, "warning": YELLOW}


def paint(text: str, colour: str, wanted: bool) -> str:
    """The text in a colour, where colour is wanted."""
    return f"{colour}{text}{RESET}" if wanted and colour else text


def finding_lines(finding: Any, colour: bool = False) -> list[str]:
    """One finding, its severity first."""
    lines = wrap(sentence(finding), first=f"  {finding.severity:8} ", later=" " * 11)
    label = finding.severity
    lines[0] = lines[0].replace(label, paint(label, COLOURS.get(label, ""), colour), 1)
    return lines


def sentence(finding: Any) -> str:
    """A finding as running text."""
    return f"{finding}"
