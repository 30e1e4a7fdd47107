"""Conclusions from what may not be known: None is neither yes nor no, and stays None unless the rest decides.

>>> any_of([False, None, True]), any_of([False, None]), all_of([None, False]), no(None)
(True, None, False, None)
"""

from __future__ import annotations

from collections.abc import Iterable

Maybe = bool | None


def any_of(parts: Iterable[Maybe]) -> Maybe:
    """Yes where one is; no where all are no. Every part is looked at, so that each is asked for."""
    found = list(parts)
    return True if True in found else None if None in found else False


def all_of(parts: Iterable[Maybe]) -> Maybe:
    """No where one is; yes where all are yes."""
    found = list(parts)
    return False if False in found else None if None in found else True


def no(part: Maybe) -> Maybe:
    """The opposite of what is known."""
    return None if part is None else not part
