"""Paths into JSON, as an endpoint's description names the ids, scores and texts of its answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from rankproof.bench.adapters.failed import Failed, unusable
from rankproof.errors import UsageError, shorten

Step: TypeAlias = "str | int | None"
"""A key, a place in a list, or None for every item of a list."""

_STEP = re.compile(r"""\.?([^.\[\]'"]+)|\[\s*(\*|-?\d+|'[^']*'|"[^"]*")?\s*\]""")


def path(text: str, where: str) -> tuple[Step, ...]:
    """The steps of a path.

    >>> path("hits.hits[*]._id", "ids")
    ('hits', 'hits', None, '_id')
    >>> path("$['my docs'][0].id", "ids")
    ('my docs', 0, 'id')
    """
    if not isinstance(text, str):
        raise UsageError(
            f"{where}: got {shorten(text)}, expected a path. Next: write it like hits.hits[*]._id."
        )
    rest = text.removeprefix("$")
    steps: list[Step] = []
    while rest:
        match = _STEP.match(rest)
        if match is None:
            raise UsageError(
                f"{where}: got {text!r}, not a path at {shorten(rest)}. Next: write it like hits.hits[*]._id."
            )
        steps.append(_step(match))
        rest = rest[match.end() :]
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    key, inside = match.groups()
    if key is not None:
        return str(key)
    if inside in (None, "*"):
        return None
    return inside[1:-1] if inside[0] in "'\"" else int(inside)


def values(data: Any, steps: Sequence[Step]) -> list[Any]:
    """What is at a path, as a list; `Failed` where the path leads nowhere.

    >>> values({"hits": [{"id": 1}, {"id": 2}]}, path("hits[*].id", "ids"))
    [1, 2]
    """
    found = [data]
    for step in steps:
        if step is None:
            found = [item for each in found for item in _items(each, steps)]
        else:
            found = [_at(each, step, steps) for each in found]
    return found if None in steps or len(found) != 1 else _items(found[0], steps)


def _items(data: Any, steps: Sequence[Step]) -> list[Any]:
    if not isinstance(data, list):
        raise unusable(data, f"a list at {_written(steps)}")
    return data


def _at(data: Any, step: Any, steps: Sequence[Step]) -> Any:
    if not isinstance(data, dict if isinstance(step, str) else list):
        kind = "an object" if isinstance(step, str) else "a list"
        raise unusable(data, f"{kind} on the way to {_written(steps)}")
    try:
        return data[step]
    except (KeyError, IndexError):
        raise Failed(f"there is no {step!r} in {shorten(data)}, expected {_written(steps)}") from None


def _written(steps: Sequence[Step]) -> str:
    """The path as a user writes it."""
    words = [
        "[*]" if each is None else f"[{each}]" if isinstance(each, int) else f".{each}" for each in steps
    ]
    return "".join(words).removeprefix(".")
