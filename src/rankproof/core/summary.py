"""What a report shows of scores: plain values, so that printing needs to know nothing else."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import nan
from typing import Any

from rankproof.display import Displayable

Pair = tuple[float, float]
Words = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Row(Displayable):
    """One measure of one ranking, with everything that is to be said about its mean."""

    measure: str
    mean: float
    n: int
    low: float | None = None
    high: float | None = None
    method: str = ""
    """How the interval was made."""
    ceiling: float | None = None
    ties: Pair | None = None
    """Where the mean could lie under other orders of equal scores; None: nothing is tied, or not known."""
    unjudged: Pair | None = None
    """Where the mean could lie if documents nobody judged were relevant; None: no bound is true."""
    never_found: float | None = None
    ranked_too_low: float | None = None
    coverage: float | None = None
    """The share of what is counted that a judge settled; None: no judge was asked."""
    possible: Pair | None = None
    """Where the mean could lie if all that no judge settled were at its worst, or at its best."""
    estimate: tuple[float, float, float] | None = None
    """The expectation over all pairs, open ones too, with the ends of its interval; None: nothing is doubtful."""
    measurable: int | None = None
    """For how many queries or samples there would be a value if all were judged; None: no judge was asked."""
    corrected: float | None = None
    """The mean with the judge's error taken out, by labels of people; None: nobody labelled enough."""
    corrected_ends: Pair | None = None
    """Its interval, which includes the judge's error."""
    note: str = ""
    higher: bool = True
    """Whether more is better."""
    most: float | None = None
    """The best that any of the queries could reach, which is where their range ends; None: not known."""

    @property
    def thin(self) -> bool:
        """Whether the mean is over fewer than half of what it speaks for: those that were easy to judge."""
        return self.measurable is not None and 0 < self.n < self.measurable / 2

    @property
    def shown(self) -> float:
        """The mean as people see it: NaN where it is thin, since the bounds are what is known then.

        >>> Row("context_precision", 1.0, n=1, measurable=10).shown, Row("RR", 0.5, n=1).shown
        (nan, 0.5)
        """
        return nan if self.thin else self.mean

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The interval as people see it: none where there is no mean to see."""
        return (None, None) if self.thin else (self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Summary(Displayable):
    """One ranking's rows, and the facts under them."""

    name: str
    rows: list[Row]
    queries: int
    documents: int
    """Judged documents."""
    tied: float | None
    """The share of judged documents found that stand among equal scores; None: none was found."""
    unjudged: dict[int, float] = field(default_factory=dict)
    """For each cut-off the share of documents in the top k that nobody judged."""
    slices: dict[str, list[Row]] = field(default_factory=dict)
    findings: list[Any] = field(default_factory=list)
    """Serious findings of the audit."""
    conventions: list[str] = field(default_factory=list)
    """The conventions that shaped the numbers, in words."""
    profile: str | None = None
    nouns: Words = ("query", "queries")
    """What one and many of what is counted are called."""
    said: list[str] = field(default_factory=list)
    """Sentences to stand under the table beside the usual ones."""
