"""Findings of the audit as text: how serious, what, examples, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rankproof.errors import one_of
from rankproof.reporting.data import as_json
from rankproof.reporting.numbers import count
from rankproof.reporting.tables import wrap

if TYPE_CHECKING:
    from rankproof.core.audit import Audit, Finding

RED, YELLOW, RESET = "\x1b[31m", "\x1b[33m", "\x1b[0m"
DISTRUST = "These numbers are not to be trusted:"
"""What stands over the errors of an audit, above the numbers that are wrong."""

FORMATS = ("table", "full", "json")
"""The formats of an audit."""
COLOURS = {"error": RED, "warning": YELLOW}


def paint(text: str, colour: str, wanted: bool) -> str:
    """The text in a colour, where colour is wanted."""
    return f"{colour}{text}{RESET}" if wanted and colour else text


def distrusted(wrong: Iterable[str]) -> list[str]:
    """What stands above numbers that these errors of an audit make wrong; nothing where there are none."""
    lines = [line for each in wrong for line in wrap(each, first="  error    ", later=" " * 11)]
    return [DISTRUST, *lines, ""] if lines else []


def finding_lines(finding: Finding, colour: bool = False, where: str = "") -> list[str]:
    """One finding, its severity first, then what it is about where that must be said."""
    lines = wrap(f"{where}{sentence(finding)}", first=f"  {finding.severity:8} ", later=" " * 11)
    label = finding.severity
    lines[0] = lines[0].replace(label, paint(label, COLOURS.get(label, ""), colour), 1)
    return lines


def report(audit: Audit, colour: bool = False, whole: bool = True) -> str:
    """The findings, and above them how many there are of each severity: all, or what one screen has room for."""
    from rankproof.reporting import screen

    times = Counter(each.severity for each in audit)
    told = [count(times[each], each) for each in times]
    lines = ["Nothing to report."] if not told else [f"{', '.join(told)}:", ""]
    ranks = {"error": screen.ALWAYS, "warning": 1, "note": 2}
    parts = [screen.Part(finding_lines(x, colour), ranks[x.severity], f"more {x.severity}") for x in audit]
    lay_out = screen.whole if whole else screen.fitted
    return "\n".join(lay_out([screen.Part(lines), *parts])) + "\n"


def render_audit(audit: Audit, name: str) -> str:
    """An audit in the format of that name."""
    if name not in FORMATS:
        raise one_of("format", name, FORMATS)
    if name == "json":
        return as_json([each.to_dict() for each in audit]).rstrip("\n")
    return report(audit, whole=name == "full").rstrip("\n")


def sentence(finding: Finding) -> str:
    """A finding as running text."""
    return f"{finding}"
