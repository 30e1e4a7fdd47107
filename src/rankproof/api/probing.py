"""Asking a judge again about fixed pairs: by itself, where another model than before answers under its name."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rankproof.core.audit.finding import Finding
from rankproof.display import Displayable
from rankproof.errors import DataError
from rankproof.judging.settling import add
from rankproof.judging.trust.drift import Said, ask_again, changed, fix, probes, probes_of_others, version_of
from rankproof.judging.verdicts import Account, Judge, Verdict
from rankproof.reporting.flips import drift_text
from rankproof.reporting.numbers import count
from rankproof.stats.shares import Share, share_of
from rankproof.store.ledger import Ledger

ALONE = 30
"""Pairs that are asked again where nobody fixed any."""


@dataclass(frozen=True)
class Drift(Displayable):
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
        """Verdicts that are other ones than when the pairs were fixed."""
        return sum(each.yes for each in self.rates.get("they were fixed", {}).values())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**asdict(self), "flips": self.flips}

    def __str__(self) -> str:
        return drift_text(self.judge, self)

    def _in_one_line(self) -> str:
        return f"<Drift of {self.judge} over {self.n} fixed pairs: {self.flips} changed>"


def probed(
    judges: Sequence[Judge], ledger: Ledger, versions: Mapping[str, str], account: Account
) -> Iterator[Drift]:
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
        add(account, took)
        print(_said(judge.name, last, versions[judge.name], len(first), took), file=sys.stderr)
        if now:
            yield told(judge.name, first, last, now)


def _before(ledger: Ledger, judge: Judge, version: str) -> tuple[Said, Said] | None:
    """The fixed pairs, and what was last said of them by another version; None where there was none.

    Where nobody fixed any they are chosen from what the other version said; a judge that is new here is asked
    what others were asked, where pairs were fixed for these.
    """
    own = probes(ledger, judge.name)
    if own:
        return None if version_of(own[-1]) in ("", version) else (own[0], own[-1])
    found = fix(ledger, judge.name, judge.identity, ALONE, but_not=version) or probes_of_others(
        ledger, judge.name
    )
    return (found, found) if found else None


def _said(judge: str, last: Said, version: str, n: int, took: Account) -> str:
    money = "" if took.money is None else f", ${took.money:.4f}"
    return (
        f"rankproof: {judge} answers as {version}, before as {version_of(last) or 'another'}; asked "
        f"{count(n, 'pair')} again that were judged then ({count(took.calls, 'call')}{money})."
    )


def changes(drifts: Sequence[Drift]) -> Iterator[Finding]:
    """What came of it, as findings."""
    for each in drifts:
        asked = sum(rate.n for rate in each.rates["they were fixed"].values())
        yield Finding(
            *("warning" if each.flips else "note", "judge-changed", each.flips),
            f"{each.judge} answers as {each.now}, before as {each.before or 'another model'}: "
            f"{each.flips} of {count(asked, 'verdict')} asked again changed.",
            advice="judge what is compared with one version; 'rankproof calibrate LEDGER --drift' says more.",
        )


def told(judge: str, first: dict[Any, Verdict], last: dict[Any, Verdict], now: dict[Any, Verdict]) -> Drift:
    """What changed between the first answers, the last ones and those of now."""
    if not now:
        raise DataError(
            f"{judge}: settled none of {len(first)} fixed pairs, so nothing can be said of it."
            " Next: look at what the judge answers."
        )
    since = {"they were fixed": changed(first, now)["value"]}
    since["fixed: yes or no"] = changed(first, now)["yes or no"]
    if last is not first:
        since["last asked"] = changed(last, now)["value"]
    rates = {what: {r: share_of(*counts) for r, counts in found.items()} for what, found in since.items()}
    return Drift(judge, len(first), version_of(first), version_of(now), rates)
