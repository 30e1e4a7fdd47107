"""`judge_drift`: does a judge still give the same verdicts? It is asked again about fixed pairs, kept in the ledger.

A probe is stored like the verdicts of a separate judge: the file keeps the fixed pairs, their verdicts with times,
and the versions of the model.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

from rankproof.core.audit import Finding, few_examples
from rankproof.document.formats import plain_data
from rankproof.document.model import Document, Paragraph, Part, Result
from rankproof.document.numbers import count, setting
from rankproof.errors import DataError, UsageError, check_whole, not_known
from rankproof.judging.judges import judges_of
from rankproof.judging.models import ModelArguments
from rankproof.judging.run import settle
from rankproof.judging.trust.agreement import count_changed, machines, people
from rankproof.judging.verdicts import (
    Account,
    Ask,
    InMemory,
    Judge,
    Verdict,
    entry_of,
    is_yes,
    lot,
    pair_in,
    verdict_in,
)
from rankproof.stats.judge_error import Share, share_of
from rankproof.store.ledger import Ledger, LedgerEntry

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
    said.sort(key=lambda each: (each.key not in labelled, lot(pair_in(each), 0, PROBE)))
    chosen = [replace(each, identity={}) for each in said[:n]]
    if chosen:
        _keep(ledger, judge, FIRST, chosen)
    return _verdicts(chosen)


def probes(ledger: Ledger, judge: str) -> list[Said]:
    """What was said of the fixed pairs, probe by probe."""
    mine = sorted((each for each in _probes(ledger) if each.get("of") == judge), key=lambda each: int(each["number"]))
    return [_verdicts(ledger.entries(each)) for each in mine]


def probes_of_others(ledger: Ledger, judge: str) -> Said:
    """The pairs last fixed for another judge, with what it said; nothing if none were."""
    others = [each for each in _probes(ledger) if each.get("of") != judge and int(each["number"]) == FIRST]
    return _verdicts(ledger.entries(others[-1])) if others else {}


def _probes(ledger: Ledger) -> list[Mapping[str, Any]]:
    known = ledger.judges() if ledger.path.exists() else []
    return [each["identity"] for each in known if each["identity"].get("kind") == PROBE]


def ask_again(ledger: Ledger, judge: Judge, fixed: Said, number: int) -> tuple[Said, Account]:
    """Ask about the fixed pairs, and keep what is said; with what that took."""
    asks = sorted(fixed, key=lambda each: lot(each, 0, PROBE))
    groups = [asks[start : start + AT_ONCE] for start in range(0, len(asks), AT_ONCE)]
    said, account = settle(groups, [judge], InMemory())
    found = {ask: each for ask, each in said.items() if isinstance(each, Verdict)}
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    entries = [replace(entry_of(each, judge.name), probability=None, items=(), at=now) for each in found.values()]
    _keep(ledger, judge.name, number, entries)
    return found, account


def version_of(said: Said) -> str:
    """The version of the model that gave most of these verdicts, as the service calls it."""
    names = [str(each.origin.get("model") or "") for each in said.values()]
    return max(sorted(set(names)), key=names.count, default="")


def count_changes(before: Said, after: Said, *, sides: bool = False) -> dict[str, tuple[int, int]]:
    """By relation how many verdicts changed at all, or if `sides` matter alone from yes to no or back."""
    both = [(ask, [before[ask].value or 0, after[ask].value or 0]) for ask in before if ask in after]
    if sides:
        both = [(ask, [is_yes(ask.relation, value) for value in values]) for ask, values in both]
    return count_changed((ask, old != new) for ask, (old, new) in both)


def _keep(ledger: Ledger, judge: str, number: int, entries: Sequence[LedgerEntry]) -> None:
    name = f"{judge} ({PROBE} {number})"
    ledger.keep({"kind": PROBE, "name": name, "of": judge, "number": number}, name, entries)


def _verdicts(entries: Any) -> Said:
    found = (verdict_in(each, pair_in(each)) for each in entries)
    return {each.ask: each for each in found if isinstance(each, Verdict)}


ALONE = 30
"""Pairs that are asked again where nobody fixed any."""


@dataclass(frozen=True)
class JudgeDrift(Result):
    """How far a judge's verdicts on the fixed pairs changed."""

    judge: str
    n: int
    """Fixed pairs."""
    before: str
    now: str
    """The versions of the model, as the service calls them."""
    rates: dict[str, dict[str, Share]]
    """Since the pairs were fixed, and since they were last asked: by relation the share that changed."""

    @property
    def flips(self) -> int:
        """Verdicts that differ from those when the pairs were fixed."""
        return sum(each.yes for each in self.rates.get("they were fixed", {}).values())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**plain_data(self), "flips": self.flips}

    def _document(self) -> Document:
        from rankproof.judging.trust.words import flip_records, flips

        versions = f"Answered then by {self.before or 'a model that did not say'}, now by {self.now or 'the same'}."
        opening = f"{self.judge}, {count(self.n, 'fixed pair')} asked again. {versions}"
        told = "Nothing changed."
        if any(each.yes for rates in self.rates.values() for each in rates.values()):
            told = (
                "Warning: the judge says other things than before, so new scores are not like old ones. "
                "Next: judge old and new again with the same model, or calibrate the new one."
            )
        part = Part(Paragraph(opening), flips("since", self.rates), Paragraph(told))
        return Document(f"Drift of {self.judge}", [part], flip_records(self.rates), self.to_dict())

    def _in_one_line(self) -> str:
        return f"<JudgeDrift of {self.judge} over {self.n} fixed pairs: {self.flips} changed>"


def probe_models(
    judges: Sequence[Judge], ledger: Ledger, versions: Mapping[str, str], account: Account
) -> Iterator[JudgeDrift]:
    """Ask those models again behind whose name another one answers now than before, and say so.

    `versions` is what each judge calls itself in the verdicts it just gave; what asking takes goes on the account.
    """
    asked = [each for each in judges if each.identity.get("kind") == "model" and versions.get(each.name)]
    for judge in asked:
        before = _before(ledger, judge, versions[judge.name])
        if before is None:
            continue
        first, last = before
        now, took = ask_again(ledger, judge, first, len(probes(ledger, judge.name)) or 1)
        account.add(took)
        money = "" if took.money is None else f", ${took.money:.4f}"
        print(
            f"rankproof: {judge.name} answers as {versions[judge.name]}, before as {version_of(last) or 'another'}; "
            f"asked {count(len(first), 'pair')} again that were judged then ({count(took.calls, 'call')}{money}).",
            file=sys.stderr,
        )
        if now:
            yield drift_of(judge.name, first, last, now)


def _before(ledger: Ledger, judge: Judge, version: str) -> tuple[Said, Said] | None:
    """The fixed pairs, and what was last said of them by another version; None if there was none.

    Where nobody fixed any they are chosen from what the other version said; a judge that is new here is asked
    what others were asked, where pairs were fixed for these.
    """
    own = probes(ledger, judge.name)
    if own:
        return None if version_of(own[-1]) in ("", version) else (own[0], own[-1])
    found = fix(ledger, judge.name, judge.identity, ALONE, but_not=version) or probes_of_others(ledger, judge.name)
    return (found, found) if found else None


def drift_of(judge: str, first: Said, last: Said, now: Said) -> JudgeDrift:
    """What changed between the first answers, the last ones and those of now."""
    if not now:
        raise DataError(
            f"{judge}: settled none of {len(first)} fixed pairs, so nothing can be said of it."
            " Next: look at what the judge answers."
        )
    since = {"they were fixed": count_changes(first, now), "fixed: yes or no": count_changes(first, now, sides=True)}
    if last is not first:
        since["last asked"] = count_changes(last, now)
    rates = {what: {r: share_of(*counts) for r, counts in sorted(found.items())} for what, found in since.items()}
    return JudgeDrift(judge, len(first), version_of(first), version_of(now), rates)


MOST = 50
"""Fixed pairs by default."""


def judge_drift(
    ledger: str | os.PathLike[str] | Ledger,
    *,
    judge: Any = None,
    since: str | None = None,
    n: int = MOST,
    **options: Unpack[ModelArguments],
) -> JudgeDrift:
    """Ask a judge again about fixed pairs of its ledger, and say how many verdicts changed.

    The first call fixes `n` pairs with the verdicts in the ledger. If the model's name changed, `since` names the
    judge whose pairs and verdicts it is compared with. `options` go to judges that are models.
    """
    n = check_whole("n", n)
    kept = ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger))
    known = machines(kept)
    judges = judges_of(judge or _only(kept, known), ledger=kept, **options)
    if len(judges) != 1:
        names = ">".join(each.name for each in judges)
        raise UsageError(f"judge: got {names}, expected a single judge. Next: ask each of them.")
    asking = judges[0]
    name = since or (asking.name if asking.name in known else _only(kept, known))
    before = probes(kept, name)
    if not before:
        if name not in known:
            raise not_known(f"{kept.path}: no verdicts of {name!r}, only of {', '.join(known)}", name, known)
        before = [fix(kept, name, known[name], n)]
    own = probes(kept, asking.name)
    after, _ = ask_again(kept, asking, before[0], len(own) or 1)
    return drift_of(asking.name, before[0], (own or before)[-1], after)


def _only(ledger: Ledger, known: Mapping[str, Any]) -> str:
    if len(known) != 1:
        raise UsageError(
            f"{ledger.path}: has {len(known) or 'no'} machines ({', '.join(known)}), expected one. "
            f"Next: name the judge, and with {setting('since')} the one before it."
        )
    return next(iter(known))


def changes(drifts: Sequence[JudgeDrift]) -> Iterator[Finding]:
    """What came of asking fixed pairs again, as findings."""
    for each in drifts:
        asked = sum(rate.n for rate in each.rates["they were fixed"].values())
        yield Finding(
            *("warning" if each.flips else "note", "judge-changed", each.flips),
            f"{each.judge} answers as {each.now}, before as {each.before or 'another model'}: "
            f"{each.flips} of {count(asked, 'verdict')} asked again changed.",
            advice="judge what is compared with one version; 'rankproof calibrate LEDGER --drift' says more.",
        )


def drift_warnings(versions: Mapping[str, Mapping[str, int]]) -> Iterable[Finding]:
    """A warning for each judge behind whose name the model changed."""
    for name, counts in versions.items():
        yield Finding(
            *("warning", "judge-changed", len(counts)),
            f"{name} is {count(len(counts), 'model')} by what the service says of itself, so its verdicts "
            "may not be alike.",
            examples=few_examples([f"{version} ({count:,} verdicts)" for version, count in counts.items()]),
            advice="ask the fixed pairs again: 'rankproof calibrate LEDGER --drift' says how much it changed.",
        )
