"""A run as text: scores, latencies, and what went wrong with which question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rankproof.errors import shorten
from rankproof.reporting.latencies import duration, latency_table
from rankproof.reporting.numbers import count
from rankproof.reporting.tables import wrap

View = Mapping[str, Any]
SHOWN = 3
"""Questions that are named for each reason."""


def render_run(view: View) -> str:
    """The run in at most 80 columns."""
    lines = [f"{view['name']}: {_asked(view)}", ""]
    if view["scores"]:
        lines += [*view["scores"].rstrip().split("\n"), ""]
    if view["latency"]:
        lines += [*latency_table(view["latency"]), ""]
    for sentence in (*failures(view["failures"]), *view["notes"]):
        lines += wrap(sentence)
    return "\n".join(lines).rstrip() + "\n"


def _asked(view: View) -> str:
    known = f", {view['remembered']} of them known from before" if view["remembered"] else ""
    return (
        f"{count(view['questions'], 'question')}, up to {count(view['k'], 'document')} each, "
        f"in {duration(view['seconds'])}{known}"
    )


def failures(found: Mapping[str, str]) -> list[str]:
    """Which questions failed, by reason, the most frequent first."""
    reasons = Counter(found.values())
    return [
        _failed(reason, [name for name in found if found[name] == reason])
        for reason, _ in reasons.most_common()
    ]


def _failed(reason: str, names: list[str]) -> str:
    shown = ", ".join(shorten(name, 40) for name in names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    verb = "failed and counts as a miss" if len(names) == 1 else "failed and count as misses"
    return f"{count(len(names), 'question')} {verb} ({shown}): {reason}"
