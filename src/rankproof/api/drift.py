"""`drift`: whether a judge still says what it said, by fixed pairs that are kept in the ledger."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rankproof.api.judge import Judge
from rankproof.errors import DataError, UsageError, nearest
from rankproof.judging.trust.drift import ask_again, changed, fix, probes, version_of
from rankproof.judging.trust.labels import machines
from rankproof.judging.verdicts import Verdict
from rankproof.reporting.flips import drift_text
from rankproof.stats.shares import Share, share_of
from rankproof.store.ledger import Ledger

MOST = 50
"""Fixed pairs if nobody says otherwise."""


@dataclass(frozen=True)
class Drift:
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

    def __repr__(self) -> str:
        return f"<Drift of {self.judge} over {self.n} fixed pairs: {self.flips} changed>"


def drift(
    ledger: str | os.PathLike[str] | Ledger,
    *,
    judge: Any = None,
    since: str | None = None,
    n: int = MOST,
    **options: Any,
) -> Drift:
    """Ask a judge again about fixed pairs of its ledger, and say how many verdicts changed.

    The first call fixes `n` pairs with what the ledger says of them; `since` names another judge whose pairs
    and verdicts are the measure, where the model's name changed. `options` go to judges that are models.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"n: got {n!r}, expected a whole number of at least 1. Next: give 1 or more.")
    kept = ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger))
    known = machines(kept)
    asking = Judge(judge or _only(kept, known), ledger=kept, **options)
    if len(asking.judges) != 1:
        raise UsageError(f"judge: got {asking.name}, expected a single judge. Next: ask each of them.")
    name = since or (asking.name if asking.name in known else _only(kept, known))
    before = probes(kept, name) or [_fixed(kept, known, name, n)]
    own = probes(kept, asking.name)
    after = ask_again(kept, asking.judges[0], before[0], len(own) or 1)
    return _told(asking.name, before[0], (own or before)[-1], after)


def _only(ledger: Ledger, known: Mapping[str, Any]) -> str:
    if len(known) != 1:
        raise UsageError(
            f"{ledger.path}: has {len(known) or 'no'} machines ({', '.join(known)}), expected one. "
            "Next: name the judge, and with since= the one before it."
        )
    return next(iter(known))


def _fixed(ledger: Ledger, known: Mapping[str, Any], name: str, n: int) -> dict[Any, Verdict]:
    if name not in known:
        raise UsageError(
            f"{ledger.path}: no verdicts of {name!r}, only of {', '.join(known)}.{nearest(name, known)} "
            "Next: name one of these."
        )
    return fix(ledger, name, known[name], n)


def _told(judge: str, first: dict[Any, Verdict], last: dict[Any, Verdict], now: dict[Any, Verdict]) -> Drift:
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
