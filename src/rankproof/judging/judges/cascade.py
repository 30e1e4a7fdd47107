"""Several judges, one after the other: each gets what those before it could not settle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.judging.keeping import InMemory
from rankproof.judging.settling import settle
from rankproof.judging.verdicts import Account, Ask, Judge, Keep


@dataclass(frozen=True, slots=True)
class Cascade:
    """Judges in the order they are asked; each verdict says which of them gave it."""

    judges: tuple[Judge, ...]

    @property
    def name(self) -> str:
        """The names of its judges, as one writes a cascade."""
        return ">".join(each.name for each in self.judges)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The identities of its judges."""
        return {"kind": "cascade", "judges": [dict(each.identity) for each in self.judges]}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Settle each pair by the first judge that can."""
        listed = [list(group) for group in groups]
        said, account = settle(listed, self.judges, InMemory())
        for group in listed:
            keep([said[ask] for ask in group])
        return account
