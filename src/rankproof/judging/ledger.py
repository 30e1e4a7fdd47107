"""`Verdicts`: what is in a ledger, to look at, to override, to give to others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankproof._moved import old_arguments
from rankproof.document.display import Displayable
from rankproof.errors import DataError, UsageError, nearest, shorten
from rankproof.judging.judges.called import verdict_of
from rankproof.judging.judges.choose import human_judge
from rankproof.judging.verdicts import (
    PLAIN_YES,
    SOFT,
    VALUES,
    Relation,
    Unmeasured,
    check_verdict,
    entry_of,
    pair_in,
    verdict_in,
)
from rankproof.store.ledger import HUMAN, Ledger, LedgerEntry, read_lines, write_lines

DEFAULT = "verdicts.db"
"""Where the command line keeps verdicts if nobody says otherwise."""


class Verdicts(Displayable):
    """The verdicts in the file of a ledger."""

    def __init__(self, path: str | os.PathLike[str] | Ledger = DEFAULT) -> None:
        self.ledger = path if isinstance(path, Ledger) else Ledger(Path(path))

    def _in_one_line(self) -> str:
        return f"<Verdicts in {self.ledger.path}>"

    def __iter__(self) -> Iterator[LedgerEntry]:
        return self.ledger.entries()

    def judges(self) -> list[dict[str, Any]]:
        """Who judged, and how much."""
        return self.ledger.judges()

    def where(
        self,
        *,
        judge: str | None = None,
        relation: str | None = None,
        value: int | None = None,
        contains: str | None = None,
        unmeasured: bool | None = None,
    ) -> Iterator[LedgerEntry]:
        """The entries for which all that is given holds; `contains` is looked for in both texts."""
        tests: list[Callable[[LedgerEntry], bool]] = [
            lambda each: judge is None or each.judge == judge,
            lambda each: relation is None or each.relation == relation,
            lambda each: value is None or each.value == value,
            lambda each: contains is None or contains.casefold() in f"{each.left}\n{each.right}".casefold(),
            lambda each: unmeasured is None or bool(each.reason) == unmeasured,
        ]
        return (each for each in self if all(test(each) for test in tests))

    def override(self, pair: str, value: Any, *, by: str) -> LedgerEntry:
        """Put a person's verdict beside those of machines; it is what counts from now on.

        `pair` is the id of a pair, or its beginning; `value` one of its relation, or True or False.
        """
        if not by.strip():
            raise UsageError("by: got no name, expected who overrides. Next: say who you are.")
        found, judge = self._of(pair), human_judge(by.strip())
        said = verdict_of(pair_in(found), value, judge.name)
        if isinstance(said, Unmeasured):
            raise UsageError(
                f"{found.id}: {said.reason} for relation {found.relation}."
                " Next: give a value that the relation has."
            )
        entry = entry_of(said, judge.name)
        self.ledger.keep(judge.identity, judge.name, [entry])
        return entry

    def _of(self, pair: str) -> LedgerEntry:
        found = {each.id: each for each in self if pair and each.id.startswith(pair)}
        if len(found) != 1:
            what = "no pair" if not found else f"{len(found)} pairs"
            hint = nearest(pair, [each.id for each in self]) if not found else ""
            raise UsageError(
                f"{self.ledger.path}: {what} whose id begins with {shorten(pair)}, expected one.{hint} "
                "Next: 'rankproof verdicts' lists the ids."
            )
        return next(iter(found.values()))

    @old_arguments(target="path")
    def export_to(self, path: str | os.PathLike[str], *, force: bool = False) -> int:
        """Write everything as JSON lines; how many verdicts they are."""
        self.judges()  # where there is no ledger, that is an error
        return write_lines(Path(path), self, force=force)

    def import_from(self, source: str | os.PathLike[str]) -> int:
        """Take in JSON lines, all of them or none; how many they are.

        A line needs relation, left, right, judge and a value; a judge named human:NAME is a person.
        """
        groups: dict[str, tuple[dict[str, Any], str, list[LedgerEntry]]] = {}
        number = 0
        for number, (where, entry) in enumerate(read_lines(Path(source)), 1):  # noqa: B007  (it is returned)
            entry = _softened(entry)
            _check(entry, where)
            identity = dict(entry.identity) or _identity(entry.judge)
            groups.setdefault(f"{identity}", (identity, entry.judge, []))[2].append(entry)
        if groups:
            self.ledger.take(groups.values())
        return number


def _softened(entry: LedgerEntry) -> LedgerEntry:
    """A line with a probability and no value is a soft verdict."""
    if (
        entry.value is not None
        or entry.probability is None
        or entry.relation not in PLAIN_YES
        or entry.reason
    ):
        return entry
    value = PLAIN_YES[Relation(entry.relation)] if entry.probability >= 0.5 else 0
    return replace(entry, value=value, origin={**entry.origin, SOFT: True})


def _check(entry: LedgerEntry, where: str) -> None:
    """Refuse a line that is no verdict."""
    problem = "" if entry.relation in VALUES else f"got relation {entry.relation!r}"
    if not problem and not entry.reason:
        said = check_verdict(verdict_in(entry, pair_in(entry)))
        problem = said.reason if isinstance(said, Unmeasured) else ""
    if problem:
        known = ", ".join(VALUES)
        raise DataError(
            f"{where}: {problem}; expected a relation ({known}) and a value of it. Nothing was imported."
            " Next: mend the row."
        )


def _identity(judge: str) -> dict[str, Any]:
    """What is known of a judge by its name alone."""
    kind, _, name = judge.partition(":")
    return {"kind": HUMAN, "name": name} if kind == HUMAN else {"kind": "imported", "name": judge}
