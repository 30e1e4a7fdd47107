"""What labels of people say of a judge, as values: agreement, confusion, corrected rates and rank measures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rankproof.display import Displayable
from rankproof.errors import UsageError
from rankproof.judging.trust.agreement import Agreed
from rankproof.judging.trust.two_judgments import Estimated, Kappa
from rankproof.outputs import write_file
from rankproof.reporting.calibration import calibration, two_judgments
from rankproof.stats.agreement import Agreement
from rankproof.stats.shares import Share


@dataclass(frozen=True)
class Calibration(Displayable):
    """What people's labels say of a judge, relation by relation."""

    judge: str
    relations: dict[str, Agreed]
    drawn: int = 0
    """Pairs that were drawn to be labelled."""
    left: int = 0
    """Those of them that have no label yet."""

    @property
    def kappa(self) -> dict[str, Agreement]:
        """For each relation Cohen's kappa of yes and no, with what was seen, expected and prevalent."""
        return {name: each.kappa for name, each in self.relations.items()}

    @property
    def confusion(self) -> dict[str, dict[tuple[int, int], int]]:
        """For each relation how often people said one value and the judge another: `{(people, judge): count}`."""
        return {name: each.confusion for name, each in self.relations.items()}

    @property
    def n(self) -> int:
        """Labels of the random part."""
        return sum(each.n for each in self.relations.values())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        plain = {name: _plain(each) for name, each in self.relations.items()}
        return {"judge": self.judge, "drawn": self.drawn, "left": self.left, "relations": plain}

    def __str__(self) -> str:
        return calibration(self)

    def _in_one_line(self) -> str:
        kappas = ", ".join(f"{n}: kappa {_short(k.value)}" for n, k in self.kappa.items())
        return f"<Calibration of {self.judge} by {self.n} labels: {kappas or 'no labels'}>"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _plain(found: Agreed) -> dict[str, Any]:
    cells = [{"people": a, "judge": b, "pairs": n} for (a, b), n in found.confusion.items()]
    smallest = None if found.smallest != found.smallest else found.smallest
    sides = ("sensitivity", "specificity")
    unseen = {
        name: {**asdict(getattr(found, name)), "value": None} for name in sides if not getattr(found, name).n
    }
    return {
        **asdict(found),
        **unseen,
        "confusion": cells,
        "smallest": smallest,
        "notes": list(found.notes),
        "places": [{**asdict(each), "value": each.value if each.n else None} for each in found.places],
        "place_matters": found.place_matters,
        "trap": found.trap,
    }


@dataclass(frozen=True, slots=True)
class PlannedPair(Displayable):
    """One pair to label next."""

    query: str
    document: str
    machine: float
    """The machine's grade; NaN where it gave none."""
    chance: float
    """The probability with which it was drawn."""
    ranks: Mapping[str, int]


@dataclass(frozen=True)
class LabelPlan(Displayable):
    """Pairs drawn where their labels narrow the estimates most; as a file it is a pool that `rankproof label` takes."""

    systems: tuple[str, ...]
    pairs: tuple[PlannedPair, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    def __str__(self) -> str:
        head = {"pool": 1, "order": "depth", "per_query": None, "systems": list(self.systems)}
        lines = [asdict(each) for each in self.pairs]
        for line in lines:
            line["machine"] = None if line["machine"] != line["machine"] else line["machine"]
        return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in (head, *lines))

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write it as a pool, with the chance of each pair, which `calibrate_judgments(..., plan=path)` reads."""
        write_file(path, str(self), force=force)


@dataclass(frozen=True)
class JudgmentCalibration(Displayable):
    """A machine's judgments held against people's: how they agree, and rank measures corrected by it."""

    machine: str
    human: str
    rel: float
    """The grade from which a document is relevant."""
    n: int
    """Pairs that both judged."""
    queries: int
    """Queries that these are of."""
    machine_only: int
    human_only: int
    """Pairs of the machine's queries that only one side judged."""
    other_queries: int
    """Queries that only people judged; they are in no number."""
    kappa: Kappa | None
    """Of relevant and not."""
    grades: Kappa | None
    """Of the grades themselves."""
    weighted: Kappa | None
    """Of the grades, near misses costing less (quadratic weights)."""
    confusion: dict[tuple[float, float], int]
    """How often people gave the first grade and the machine the second."""
    same: Share
    """Pairs with the same grade."""
    accuracy: Share
    """Pairs that both call relevant, or both not."""
    sensitivity: Share
    specificity: Share
    runs: dict[str, dict[str, tuple[float, Estimated | None]]]
    """For each run and measure its mean by the machine's judgments, and what people's would give."""
    wrong: tuple[str, ...] = ()
    """What the audit says makes the numbers of a run wrong."""
    _next: Callable[[int, bool], LabelPlan] | None = field(default=None, repr=False, compare=False)

    def estimate(self, run: str, measure: str) -> Estimated | None:
        """What people's judgments of everything would give; None where there are too few labels."""
        return self.runs[run][measure][1]

    def plan(self, n: int, whole: bool = False) -> LabelPlan:
        """The `n` pairs whose labels narrow the estimates most; with `whole`, `n` queries with all of their pairs."""
        if self._next is None:
            raise UsageError("plan: got no runs, so no label narrows anything. Next: give runs.")
        return self._next(n, whole)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        shares = ("same", "accuracy", "sensitivity", "specificity")
        kappas = {"kappa": self.kappa, "kappa_of_grades": self.grades, "kappa_quadratic": self.weighted}
        names = ("machine", "human", "rel", "n", "queries", "machine_only", "human_only", "other_queries")
        return {
            **{name: getattr(self, name) for name in names},
            **{
                name: None if k is None else {"value": k.kappa.value, "low": k.low, "high": k.high}
                for name, k in kappas.items()
            },
            "prevalence": None if self.kappa is None else self.kappa.kappa.prevalence,
            **{
                name: {**asdict(share), "value": share.value if share.n else None}
                for name in shares
                for share in [getattr(self, name)]
            },
            "confusion": [{"people": a, "machine": b, "pairs": n} for (a, b), n in self.confusion.items()],
            "wrong": list(self.wrong),
            "runs": {
                run: {
                    name: {"machine": raw, "corrected": None if found is None else asdict(found)}
                    for name, (raw, found) in each.items()
                }
                for run, each in self.runs.items()
            },
        }

    def __str__(self) -> str:
        return two_judgments(self)

    def _in_one_line(self) -> str:
        value = None if self.kappa is None else self.kappa.kappa.value
        return f"<JudgmentCalibration of {self.machine} by {self.n:,} pairs: kappa {_short(value)}>"
