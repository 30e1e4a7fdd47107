"""`drift`: whether a judge still says what it said, by fixed pairs that are kept in the ledger."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankproof.errors import UsageError, check_whole, nearest
from rankproof.judging.judge import Judge
from rankproof.judging.trust.agreement import machines
from rankproof.judging.trust.drift import Drift, ask_again, fix, probes, told
from rankproof.judging.verdicts import Verdict
from rankproof.store.ledger import Ledger

MOST = 50
"""Fixed pairs if nobody says otherwise."""


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
    n = check_whole("n", n)
    kept = ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger))
    known = machines(kept)
    asking = Judge(judge or _only(kept, known), ledger=kept, **options)
    if len(asking.judges) != 1:
        raise UsageError(f"judge: got {asking.name}, expected a single judge. Next: ask each of them.")
    name = since or (asking.name if asking.name in known else _only(kept, known))
    before = probes(kept, name) or [_fixed(kept, known, name, n)]
    own = probes(kept, asking.name)
    after, _ = ask_again(kept, asking.judges[0], before[0], len(own) or 1)
    return told(asking.name, before[0], (own or before)[-1], after)


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
