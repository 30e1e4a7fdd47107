"""Does a judge still say what it said? Fixed pairs, kept in the ledger, are asked again.

A probe is kept like the verdicts of a judge of its own: what the fixed pairs are, what was said of them when, and
by which version of the model, stay in the file, and go with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rankproof.judging.keeping import said_in
from rankproof.judging.settling import settle
from rankproof.judging.trust.alone import Nowhere
from rankproof.judging.trust.draw import lot
from rankproof.judging.trust.labels import is_yes, people
from rankproof.judging.verdicts import Account, Ask, Judge, Verdict
from rankproof.store.ledger import Entry, Ledger

PROBE = "probe"
AT_ONCE = 10
"""Pairs that are asked together, always the same ones: a call of a model for all of them."""
FIRST = 0
"""The number of the probe that holds what was said when the pairs were fixed."""

Said = dict[Ask, Verdict]


def fix(ledger: Ledger, judge: str, identity: Mapping[str, Any], n: int, but_not: str | None = None) -> Said:
    """Choose the fixed pairs from what a judge said: labelled ones first, then by lot; and keep them.

    With `but_not` only from what versions of the model said that are not this one, and gave their name.
    """
    labelled = {each.key for each in people(ledger)}
    said = [each for each in ledger.entries(identity) if not each.reason and each.value is not None]
    if but_not is not None:
        said = [each for each in said if each.origin.get("model") not in (None, "", but_not)]
    said.sort(key=lambda each: (each.key not in labelled, lot(Ask(*each.key), 0, PROBE)))
    chosen = [replace(each, identity={}) for each in said[:n]]
    if chosen:
        _keep(ledger, judge, FIRST, chosen)
    return _verdicts(chosen)


def probes(ledger: Ledger, judge: str) -> list[Said]:
    """What was said of the fixed pairs, probe by probe."""
    if not ledger.path.exists():
        return []
    known = [each["identity"] for each in ledger.judges()]
    mine = sorted((each for each in known if _is_probe(each, judge)), key=lambda each: int(each["number"]))
    return [_verdicts(ledger.entries(each)) for each in mine]


def probes_of_others(ledger: Ledger, judge: str) -> Said:
    """The pairs last fixed for another judge, with what it said; nothing where none were."""
    if not ledger.path.exists():
        return {}
    known = [each["identity"] for each in ledger.judges() if each["identity"].get("kind") == PROBE]
    others = [each for each in known if each.get("of") != judge and int(each["number"]) == FIRST]
    return _verdicts(ledger.entries(others[-1])) if others else {}


def ask_again(ledger: Ledger, judge: Judge, fixed: Said, number: int) -> tuple[Said, Account]:
    """Ask about the fixed pairs, and keep what is said; with what that took."""
    asks = sorted(fixed, key=lambda each: lot(each, 0, PROBE))
    groups = [asks[start : start + AT_ONCE] for start in range(0, len(asks), AT_ONCE)]
    said, account = settle(groups, [judge], Nowhere())
    found = {ask: each for ask, each in said.items() if isinstance(each, Verdict)}
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    entries = [_entry(each, now) for each in found.values()]
    _keep(ledger, judge.name, number, entries)
    return found, account


def version_of(said: Said) -> str:
    """The version of the model that gave most of these verdicts, as the service calls it."""
    names = [str(each.origin.get("model") or "") for each in said.values()]
    return max(sorted(set(names)), key=names.count, default="")


def changed(before: Said, after: Said) -> dict[str, dict[str, tuple[int, int]]]:
    """By relation how many verdicts changed at all, and how many from yes to no or back."""
    both = [ask for ask in before if ask in after]
    found: dict[str, dict[str, tuple[int, int]]] = {"value": {}, "yes or no": {}}
    for ask in both:
        old, new = before[ask].value or 0, after[ask].value or 0
        turned = is_yes(ask.relation, old) != is_yes(ask.relation, new)
        for what, flipped in (("value", old != new), ("yes or no", turned)):
            yes, n = found[what].get(ask.relation, (0, 0))
            found[what][ask.relation] = yes + flipped, n + 1
    return found


def _keep(ledger: Ledger, judge: str, number: int, entries: Sequence[Entry]) -> None:
    name = f"{judge} ({PROBE} {number})"
    ledger.keep({"kind": PROBE, "name": name, "of": judge, "number": number}, name, entries)


def _is_probe(identity: Mapping[str, Any], judge: str) -> bool:
    return identity.get("kind") == PROBE and identity.get("of") == judge


def _verdicts(entries: Any) -> Said:
    found = (said_in(each, Ask(*each.key)) for each in entries)
    return {each.ask: each for each in found if isinstance(each, Verdict)}


def _entry(said: Verdict, at: str) -> Entry:
    ask, origin = said.ask, {key: value for key, value in said.origin.items() if key != "at"}
    words = (ask.relation, ask.left, ask.right, said.judge)
    return Entry(*words, value=said.value, quote=said.quote, origin=origin, at=at)
