"""`stress`: how often a judge says something else of the same pair when it stands in other company."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from rankproof.api.judge import DEFAULT_METRICS, Judge
from rankproof.display import Displayable
from rankproof.errors import DataError, UsageError
from rankproof.judging.keeping import InMemory
from rankproof.judging.metrics.names import Asked, parse_all
from rankproof.judging.run import Run, asked
from rankproof.judging.samples import read_samples
from rankproof.judging.trust.stress import Flips, stressed
from rankproof.judging.verdicts import Account, Ask
from rankproof.reporting.flips import stress_text
from rankproof.stats.shares import Share, share_of

MOST = 100
"""Samples that are asked about if nobody says otherwise; the same again for each way."""

COMPANY = ("in another order", "with another sample", "each by itself")
"""The ways of asking again that change what stands beside a pair."""


def _more(changed: int, again: int, n: int) -> bool:
    """Whether more verdicts changed in other company than when asked alike, beyond chance."""
    return n > 0 and changed - again > 2 * math.sqrt(changed + again + 1)


@dataclass(frozen=True)
class Stress(Displayable):
    """The flips of a judge: for each way of asking again and each relation the share that changed."""

    judge: str
    samples: int
    rates: dict[str, dict[str, Share]]
    lost: dict[str, int]
    """For each way the pairs that had a verdict in only one of both."""
    account: Account

    @property
    def flips(self) -> dict[str, int]:
        """For each way how many verdicts changed."""
        return {way: sum(each.yes for each in rates.values()) for way, rates in self.rates.items()}

    @property
    def company(self) -> dict[str, tuple[int, int, int]]:
        """For each way of other company: verdicts changed in it, changed when asked again alike, and pairs."""
        again = self._counted("asked again")
        return {way: (*self._counted(way)[:1], again[0], again[1]) for way in COMPANY if way in self.rates}

    def _counted(self, way: str) -> tuple[int, int]:
        rates = self.rates.get(way, {}).values()
        return sum(each.yes for each in rates) + self.lost.get(way, 0), sum(each.n for each in rates)

    @property
    def remedy(self) -> str:
        """What to do about verdicts that change, in words."""
        swayed = [way for way, (changed, again, n) in self.company.items() if _more(changed, again, n)]
        again, n = self._counted("asked again")
        if swayed:
            return (
                f"Company sways this judge ({', '.join(swayed)}: more changes than when it is asked the same again). "
                "Next: ask about fewer pairs a call (--set pairs=20, in Python pairs=20), or one by one (pairs=1); "
                "'rankproof judge --trial' says how many it bears."
            )
        if n and again > n / 100:
            return (
                "It says other things when asked the same again, so this is chance, not company. "
                "Next: give it a temperature of 0 and a seed (--set temperature=0 --set seed=1), if the service "
                "knows them; fewer pairs a call would mend nothing."
            )
        return "Company does not sway it as far as these samples show; nothing to mend."

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**asdict(self), "remedy": self.remedy}

    def __str__(self) -> str:
        return stress_text(self.judge, self.samples, self.rates, self.lost, self.remedy)

    def _in_one_line(self) -> str:
        return f"<Stress of {self.judge} over {self.samples} samples: {self.flips}>"


def stress(
    samples: Any,
    metrics: Asked | None = None,
    *,
    judge: Any = "lexical",
    n: int = MOST,
    seed: int = 0,
    **options: Any,
) -> Stress:
    """Ask a judge again about the first `n` samples: in another order, with another sample, each pair by itself,
    and with two claims made one; nothing is kept. A judge by rules flips nowhere but, perhaps, in the last.

    >>> rows = [{"question": "What is red?", "contexts": ["The rose is red."], "reference": "The rose is red."}]
    >>> stress(rows, "context_recall").flips["in another order"]
    0
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"n: got {n!r}, expected a whole number of at least 1. Next: give 1 or more.")
    asking = Judge(judge, **options)
    groups = _groups(asking, samples, DEFAULT_METRICS if metrics is None else metrics, n)
    ways, account = stressed(groups, asking.judges, seed)
    rates = {way: _rates(each) for way, each in ways.items()}
    lost = {way: each.lost for way, each in ways.items()}
    return Stress(asking.name, len(groups), rates, lost, account)


def _rates(flips: Flips) -> dict[str, Share]:
    return {relation: share_of(*counts) for relation, counts in sorted(flips.counts.items())}


def _groups(asking: Judge, samples: Any, metrics: Asked, n: int) -> list[list[Ask]]:
    """What each sample asks, claims apart: those are the same in every way."""
    run = Run(parse_all(metrics), asking.judges, InMemory())
    judged = run.over(islice(read_samples(samples), n))
    groups = [[ask for ask in asked(each.case, run.metrics) if ask.relation != "C"] for each in judged]
    if not any(groups):
        raise DataError(
            "the metrics ask no judge about these samples. Next: name metrics like context_recall."
        )
    return groups
