"""How far the people who labelled agree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from rankproof.bench.testset.labels import Label, Labels
from rankproof.bench.testset.pool import Item
from rankproof.stats.agreement import cohen_kappa, krippendorff_alpha


@dataclass(frozen=True, slots=True)
class Pair:
    """Two people, and the items that both graded."""

    first: str
    second: str
    n: int
    same: float | None
    """The share of these with the same grade."""
    kappa: float | None
    """Cohen's kappa, with quadratic weights where there are more than two grades."""
    apart: tuple[Item, ...]
    """The items graded differently, the furthest apart first."""


def pairs(labels: Labels) -> list[Pair]:
    """Each two people who graded something in common."""
    grades = {who: {item: own[item].grade for item in own} for who, own in labels.items()}
    given = {
        who: {item: grade for item, grade in own.items() if grade is not None} for who, own in grades.items()
    }
    return [pair for a, b in combinations(sorted(given), 2) if (pair := _pair(a, given[a], b, given[b])).n]


def _pair(a: str, first: dict[Item, int], b: str, second: dict[Item, int]) -> Pair:
    both = sorted(first.keys() & second.keys())
    mine, theirs = [first[item] for item in both], [second[item] for item in both]
    apart = sorted((-abs(first[item] - second[item]), item) for item in both if first[item] != second[item])
    same = 1 - len(apart) / len(both) if both else None
    return Pair(a, b, len(both), same, _kappa(mine, theirs), tuple(item for _, item in apart))


def _kappa(mine: list[int], theirs: list[int]) -> float | None:
    if not mine:
        return None
    scale = list(range(max(*mine, *theirs, 1) + 1))
    return cohen_kappa(mine, theirs, "quadratic" if len(scale) > 2 else "none", scale).value


def alpha(labels: Labels) -> float | None:
    """Krippendorff's alpha (interval) of all who graded; None where no item has two grades."""
    items = {item for own in labels.values() for item, label in own.items() if label.grade is not None}
    lines = [[_grade(own, item) for own in labels.values()] for item in sorted(items)]
    lines = [line for line in lines if sum(each is not None for each in line) > 1]
    return krippendorff_alpha(lines, "interval").value if lines else None


def _grade(own: dict[Item, Label], item: Item) -> int | None:
    return own[item].grade if item in own else None
