"""The lexical judge as others use it: deterministic, offline, the same verdict for a pair whatever stands beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.judging.lexical.relations import NAME, settle
from rankproof.judging.verdicts import Account, Ask, Keep

VERSION = 4
"""Raised whenever any verdict may change, so that remembered verdicts are not mixed up."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """A judge that compares words, numbers and denials, and keeps silent where those do not settle a pair."""

    free = True
    """Asking it costs nothing."""

    @property
    def name(self) -> str:
        """What reports call it."""
        return NAME

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that shapes its verdicts."""
        return {"kind": NAME, "version": VERSION}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Settle each pair of each group; a group at a time reaches `keep`."""
        for group in groups:
            keep([settle(ask) for ask in group])
        return Account()


def lexical_judge() -> Lexical:
    """The embedded judge.

    >>> from rankproof.judging.verdicts import Ask
    >>> settled = []
    >>> account = lexical_judge().judge([[Ask("S", "No fee is due.", "A fee is due.")]], settled.extend)
    >>> settled[0].value, settled[0].quote, account.calls
    (-1, 'A fee is due.', 0)
    """
    return Lexical()
