"""What labels of people say of a judge, as a value: agreement, confusion, corrected rates."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rankproof.display import Displayable
from rankproof.judging.trust.agreement import Agreed
from rankproof.reporting.calibration import calibration
from rankproof.stats.agreement import Agreement


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
        "trap": found.trap,
    }
