"""One metric held against labels: what the machine alone says of each sample, and what people say of some.

From it follow corrected means, of all samples or of a group, and corrected differences of two systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.display import Displayable
from rankproof.stats.corrected import Corrected, Side, corrected_difference, corrected_mean, labelled

ENOUGH = 50
"""Labels below which nothing is corrected."""
NO_JUDGE = "it is made by rules, no judge is asked"
NO_VALUE = "the judge by itself gives no sample a value"
TRUTH, SAID, PLACE, CHANCE, WHOLE = range(5)
"""The columns of `Checked.rows`."""


@dataclass(frozen=True, slots=True)
class Uncorrected(Displayable):
    """A metric without a correction, and why."""

    reason: str
    n: int = 0
    """Labels that there are."""


@dataclass(frozen=True, eq=False, slots=True)
class Checked(Displayable):
    """One metric of one system, with labels beside it."""

    adds_up: bool
    """Whether single pairs tell what the judge is off by."""
    machine: Array
    """The machine's value of each sample; NaN where it has none."""
    pairs: Array
    """How many pairs each sample's value is made of."""
    rows: Array
    """A line a label: people's value, the machine's, the sample's place, the probability, whether it is whole."""

    def cut(self, samples: Array) -> Checked:
        """The same of these samples alone, in this order.

        Labels drawn at random from all pairs are, among those of some samples, a random part of them too.
        """
        place = np.full(len(self.machine), -1, dtype=np.intp)
        place[samples] = np.arange(len(samples))
        rows = self.rows.copy()
        rows[:, PLACE] = place[self.rows[:, PLACE].astype(np.intp)]
        kept = rows[rows[:, PLACE] >= 0]
        return replace(self, machine=self.machine[samples], pairs=self.pairs[samples], rows=kept)

    def mean(self, level: float = 0.95) -> Corrected | Uncorrected:
        """The corrected mean, or why there is none."""
        own = self.cut(np.flatnonzero(~np.isnan(self.machine)))
        side = own._side(whole=True) or own._side(whole=False)
        if side is None:
            return own._uncorrected()
        limits = min(0.0, float(own.machine.min())), max(1.0, float(own.machine.max()))
        return corrected_mean(side.everywhere, side.labels, units=side.units, level=level, limits=limits)

    def minus(self, other: Checked, level: float = 0.95) -> Corrected | None:
        """The corrected difference to another system over the same samples; None without labels enough of both."""
        both = np.flatnonzero(~(np.isnan(self.machine) | np.isnan(other.machine)))
        mine, theirs = self.cut(both), other.cut(both)
        for whole in (True, False):
            one, two = mine._side(whole), theirs._side(whole)
            if one is not None and two is not None:
                most = max(1.0, float(np.abs(mine.machine).max()), float(np.abs(theirs.machine).max()))
                return corrected_difference(one, two, level=level, limits=(-most, most))
        return None

    def _side(self, whole: bool) -> Side | None:
        """The labels of whole samples, or of single pairs, where there are enough."""
        rows = self.rows[self.rows[:, WHOLE] == whole]
        if len(rows) < ENOUGH or not (whole or self.adds_up):
            return None
        labels = labelled(rows[:, TRUTH], rows[:, SAID], rows[:, PLACE].astype(np.intp), rows[:, CHANCE])
        return Side(self.machine, labels, None if whole else float(self.pairs.sum()))

    def _uncorrected(self) -> Uncorrected:
        n = int((self.rows[:, WHOLE] == (not self.adds_up)).sum())
        if not self.pairs.sum():
            return Uncorrected(NO_JUDGE if len(self.machine) else NO_VALUE, n)
        noun = "labelled pairs" if self.adds_up else "samples labelled whole"
        return Uncorrected(f"{n} {noun} drawn at random, {ENOUGH} needed", n)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        machine = [None if each != each else each for each in self.machine.tolist()]
        plain = {"adds_up": self.adds_up, "machine": machine}
        return {**plain, "pairs": self.pairs.tolist(), "rows": self.rows.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Checked:
        """What `to_dict` wrote."""
        machine = np.array([np.nan if each is None else each for each in data["machine"]], dtype=np.float64)
        rows = np.array(data["rows"], dtype=np.float64).reshape(-1, 5)
        return cls(bool(data["adds_up"]), machine, np.array(data["pairs"], dtype=np.float64), rows)
