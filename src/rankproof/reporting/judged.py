"""Verdicts and failures as text for people: what was said of which pair, and which half failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from rankproof.core.text.together import are_several
from rankproof.reporting.numbers import count, share
from rankproof.reporting.tables import Column, clean, cut, table, wrap

RELATIONS = {
    "R": ("question", "context"),
    "S": ("claim", "text"),
    "P": ("claim", "text"),
    "Q": ("question", "statement"),
    "A": ("question", "answer"),
    "C": ("", "text"),
}
"""What the two texts of a pair are under each relation."""
WORDS: dict[str, dict[int, str]] = {
    "R": {0: "irrelevant", 1: "related", 2: "answers in part", 3: "answers"},
    "S": {1: "supports", 0: "silent", -1: "contradicts"},
    "P": {0: "no support", 1: "partial support", 2: "full support"},
    "Q": {0: "beside the point", 1: "bears on it"},
    "A": {
        -1: "abstains",
        0: "not addressed",
        1: "addressed in part",
        2: "mostly addressed",
        3: "fully addressed",
    },
}
"""What each value says."""


FEW = 20
"""So many samples that failed are named where nobody asked for all."""


class Pair(Protocol):
    """A pair of texts with what was said of it."""

    @property
    def relation(self) -> str:
        """Under which relation it was judged."""

    @property
    def left(self) -> str:
        """The question or claim."""

    @property
    def right(self) -> str:
        """The text."""

    @property
    def value(self) -> int | None:
        """The verdict; None: unmeasured, or claims."""

    @property
    def judge(self) -> str:
        """Who said so."""

    @property
    def quote(self) -> str:
        """The words that show it."""

    @property
    def reason(self) -> str:
        """Why there is no verdict."""

    @property
    def probability(self) -> float | None:
        """How sure the judge was of a yes, where it said so."""


def verdict(relation: str, value: int | None, reason: str = "") -> str:
    """A verdict in words.

    >>> verdict("S", -1), verdict("R", None, "the judge could not tell")
    ('contradicts', 'unmeasured: the judge could not tell')
    """
    if reason or value is None:
        return "split into claims" if relation == "C" and not reason else f"unmeasured: {reason}"
    return WORDS[relation].get(value, str(value))


def nouns(relation: str, right: str) -> tuple[str, str]:
    """What the two texts of a pair are; several that were read as one are said to be that.

    >>> from rankproof.core.text.together import together
    >>> nouns("R", "Since."), nouns("S", together(["One.", "Two."]))
    (('question', 'context'), ('claim', 'texts together'))
    """
    left, noun = RELATIONS[relation]
    return left, "texts together" if relation == "S" and are_several(right) else noun


def sure(probability: float | None) -> str:
    """How sure a judge was of a yes, where it said so.

    >>> sure(0.25), sure(None)
    (' (probability .25)', '')
    """
    if probability is None:
        return ""
    shown = f"{probability:.2f}"
    return f" (probability {shown.removeprefix('0')})"


def pairs(found: Iterable[tuple[str, Pair]]) -> str:
    """Each pair in a few lines, under its id."""
    return "\n".join("\n".join(_pair(name, each)) + "\n" for name, each in found)


def _pair(name: str, each: Pair) -> list[str]:
    left, right = nouns(each.relation, each.right)
    said = clean(verdict(each.relation, each.value, each.reason)) + sure(each.probability)
    lines = [f"{name}  {each.relation}  {said}  by {each.judge}"]
    for noun, text in ((left, each.left), (right, each.right), ("quote", each.quote)):
        if text:
            lines += wrap(cut(" ".join(text.split()), 300), first=f"  {noun}: ", later="    ")
    return lines


def judges(found: Sequence[Mapping[str, Any]]) -> str:
    """Who judged how much."""
    columns = [
        Column("judge", [cut(each["name"], 40) for each in found]),
        Column("verdicts", [count(each["verdicts"]) for each in found], True),
        Column("unmeasured", [count(each["unmeasured"]) for each in found], True),
    ]
    return "\n".join(table(columns)) + "\n"


class Lost(Protocol):
    """A claim that an answer lacks."""

    @property
    def claim(self) -> str:
        """The claim."""

    @property
    def point(self) -> str:
        """Where it was lost."""


class Failure(Protocol):
    """What became of a sample."""

    @property
    def sample(self) -> str:
        """Which one."""

    @property
    def half(self) -> str:
        """Whose failure it is; empty where it is none."""

    @property
    def lost(self) -> Sequence[Lost]:
        """The claims that it lacks."""


def blame(
    halves: Mapping[str, int],
    points: Mapping[str, int],
    words: Mapping[str, str],
    each: Iterable[Failure] = (),
    most: int | None = FEW,
) -> str:
    """Which half failed, retrieval first, at which point, and which samples did: `most` of them, or all."""
    failed, total = sum(halves.values()), sum(points.values())
    lines = wrap(
        f"{count(failed, 'sample')} of {total:,} failed: {halves['retrieval']:,} by retrieval, "
        f"{halves['generation']:,} by generation."
    )
    columns = [
        Column("point", list(points)),
        Column("samples", [count(each) for each in points.values()], True),
        Column("share", [share(each / total) for each in points.values()], True),
        Column("what happened", [words.get(point, "") for point in points]),
    ]
    return "\n".join([*lines, "", *table(columns), *_failed([one for one in each if one.half], most)]) + "\n"


def _failed(found: Sequence[Failure], most: int | None) -> list[str]:
    """The samples that failed with the claims they lost, and how many are left out."""
    if not found:
        return []
    shown = found if most is None else found[:most]
    left = [f"And {len(found) - len(shown):,} more; -q lists all."] if len(shown) < len(found) else []
    return ["", "Samples that failed:", *(line for one in shown for line in _failure(one)), *left]


def _failure(found: Failure) -> list[str]:
    first = f"  {cut(clean(found.sample), 40)}: "
    lost = "; ".join(f"{one.point}: {clean(' '.join(one.claim.split()))}" for one in found.lost)
    return wrap(cut(lost, 300), first=first, later="    ")


def unmeasured(found: Mapping[str, Mapping[str, str]]) -> str:
    """For each metric the samples without a value, each with its reason; empty where there are none."""
    lines: list[str] = []
    for metric, reasons in found.items():
        if reasons:
            lines += [f"{metric}, unmeasured:"]
            lines += [line for each in reasons.items() for line in _open(*each)]
    return "\n".join(lines) + "\n" if lines else ""


def _open(sample: str, reason: str) -> list[str]:
    return wrap(clean(reason), first=f"  {cut(clean(sample), 40)}: ", later="    ")
