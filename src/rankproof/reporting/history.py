"""Saved results as text: a list of them, and the circumstances of one.

What a history has saved comes in as plain data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rankproof.reporting.numbers import count, score
from rankproof.reporting.tables import Column, page_height, table, wrap

Entry = Mapping[str, Any]
SHOWN = 2
"""So many measures have a column in a list."""


def shown() -> int:
    """How many saved results one screen lists."""
    return page_height() - 4


def listed(entries: Sequence[Entry], more: int = 0) -> str:
    """A line for each saved result, the oldest first, with the measures that most of them have.

    `more` older ones are said to be there.
    """
    if not entries:
        return "Nothing is saved yet. Next: 'rankproof evaluate ... --save NAME'.\n"
    columns = [
        Column("name", [each["name"] for each in entries]),
        Column("saved (UTC)", [_moment(each) for each in entries]),
        *(
            Column(m, [score(each["means"].get(m)) for each in entries], right=True)
            for m in _commonest(entries)
        ),
        Column("judgments", [each["judgments"][:8] for each in entries]),
    ]
    if any(each["commit"] for each in entries):
        columns.append(Column("commit", [(each["commit"] or "")[:8] for each in entries]))
    if any(each["tags"] for each in entries):
        columns.append(Column("tags", [_tags(each) for each in entries]))
    older = [f"{count(more, 'older one')} with --full."] if more else []
    return "\n".join([*table(columns), *older]) + "\n"


def _commonest(entries: Sequence[Entry]) -> list[str]:
    counts: dict[str, int] = {}
    for each in entries:
        for measure in each["means"]:
            counts[measure] = counts.get(measure, 0) + 1
    return sorted(counts, key=lambda measure: -counts[measure])[:SHOWN]


def _moment(entry: Entry) -> str:
    return str(entry["saved_at"])[:16].replace("T", " ")


def _tags(entry: Entry) -> str:
    return " ".join(f"{key}={value}" for key, value in entry["tags"].items())


def described(entry: Entry) -> str:
    """Where and by what a saved result was made."""
    commit = f", commit {entry['commit'][:12]}" if entry["commit"] else ""
    made = f"rankproof {entry['rankproof']}, Python {entry['python']}{commit}"
    lines = wrap(f"Saved {_moment(entry)} UTC by {made}.")
    lines += wrap(f"Fingerprints: judgments {entry['judgments'][:12]}, ranking {entry['ranking'][:12]}.")
    lines += wrap(f"Tags: {_tags(entry)}.") if entry["tags"] else []
    return "\n".join(lines) + "\n"


def as_json(entries: Sequence[Entry]) -> str:
    """The entries as JSON, with full precision."""
    return json.dumps(list(entries), indent=2, ensure_ascii=False) + "\n"
