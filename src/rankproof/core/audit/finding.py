"""What an audit says: findings, from when on each is said, and what it looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from rankproof.core.hits import Array, Hits
from rankproof.core.join import Census
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.rules import Conventions
from rankproof.document.display import Displayable, rendered
from rankproof.errors import shorten

EXAMPLES = 5
"""Examples shown with a finding: enough to see a pattern, few enough to read."""

TIES_MATTER = 0.005
"""A mean that other orders of equal scores move by this much changes in the second decimal."""

UNJUDGED_SAID = 0.1
"""One unjudged document in the top 10 can move P@10 of a query by .1."""

UNJUDGED_WARNED = 0.5
"""With half of what is shown unjudged, the number says more about the judgments than about the ranking."""

CEILING_SAID = 0.995
"""A ceiling that is shown as 1.00 needs no words."""

CEILING_WARNED = 0.5
"""Below half, even a perfect ranking looks poor on a scale to 1."""

DEEP = 50
"""A cut-off this deep asks how much a retriever finds at all, which shorter rankings cannot show."""

NEAR_EMPTY = 0.1
"""A ranking with less than a tenth of the usual number of documents was likely cut off or filtered."""

SELF_FOUND = 0.1
"""Numbered queries and documents share ids by accident now and then, not in a tenth of the queries."""

ENOUGH_SHARED = 0.1
"""Numbers of two collections meet by accident now and then, not in a tenth of the ids."""

NEARLY_NONE = 0.05
"""With no more than one in twenty relevant documents in a corpus, it is another corpus, or spelt otherwise."""

GRADES = 12
"""No grading scale in use has more steps; more different grades are scores."""

SCALE = range(-2, 6)
"""The grades that judgments use; a ranking with no other scores may be judgments."""

SCALE_ROWS = 20
"""With fewer documents than this, few different scores mean nothing."""

LOOKED_AT = 5_000
"""Ranked documents in which ids spelt otherwise are looked for: a rule that matters is among so many."""

READ_WHOLE = 2_000_000
"""Up to so many ranked documents all are looked at, where a part of them showed that ids are spelt otherwise."""


Severity = Literal["error", "warning", "note"]
"""An error makes the numbers wrong, a warning can mislead whoever reads them, a note is good to know."""

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding(Displayable):
    """One thing to know about the data."""

    severity: Severity
    kind: str
    """What it is about, as one word that stays the same: `missing-queries`."""
    count: int
    """How many of what it is about."""
    message: str
    """One sentence with the figures."""
    examples: tuple[str, ...] = ()
    advice: str = ""
    """What to do next, in one sentence."""

    def __str__(self) -> str:
        """Message, examples and next step as running text."""
        shown = f" For example {', '.join(self.examples)}." if self.examples else ""
        return f"{self.message}{shown}" + (f" Next: {self.advice}" if self.advice else "")

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data."""
        return {**asdict(self), "examples": list(self.examples)}


@dataclass(frozen=True, slots=True)
class Audit(Displayable):
    """Findings, the most serious first; false if there are none."""

    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Audit:
        """An audit of findings in any order."""
        return cls(tuple(sorted(findings, key=lambda each: SEVERITIES.index(each.severity))))

    def __iter__(self) -> Iterator[Finding]:
        """The findings, the most serious first."""
        return iter(self.findings)

    def __len__(self) -> int:
        """How many findings there are."""
        return len(self.findings)

    def __getitem__(self, at: int) -> Finding:
        """The finding at a place."""
        return self.findings[at]

    @property
    def serious(self) -> tuple[Finding, ...]:
        """Errors and warnings."""
        return tuple(each for each in self.findings if each.severity != "note")

    def of_kind(self, kind: str) -> Finding | None:
        """The finding of that kind, if there is one."""
        return next((each for each in self.findings if each.kind == kind), None)

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain data that JSON can hold."""
        return {"findings": [each.to_dict() for each in self.findings]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Audit:
        """An audit as `to_dict` wrote it."""
        found = data["findings"] if data else []
        return cls(tuple(Finding(**{**each, "examples": tuple(each["examples"])}) for each in found))

    def _in_one_line(self) -> str:
        return f"<Audit: {', '.join(f'{each.severity} {each.kind}' for each in self) or 'nothing to report'}>"

    def __str__(self) -> str:
        """What one screen has room for: every error first; the rest is in `format("full")`."""
        return self.format()

    def format(self, name: str = "table") -> str:
        """The audit as text: table (one screen of it), full, or json."""
        return rendered("rankproof.scoring.tables:render_audit", self, name)


# --- words ---------------------------------------------------------------------------------------------


def count_of(count: int, one: str, many: str = "") -> str:
    """A number with its noun, or with whatever words change with the number.

    >>> count_of(1, "query"), count_of(1200, "query"), count_of(2, "grade is", "grades are")
    ('1 query', '1,200 queries', '2 grades are')
    """
    plural = many or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")
    return f"{count:,} {one if count == 1 else plural}"


def few(texts: Iterable[object]) -> tuple[str, ...]:
    """The first few as they are quoted in a finding."""
    return tuple(shorten(text, 40) for text, _ in zip(texts, range(EXAMPLES), strict=False))


def listed(words: Iterable[object]) -> str:
    """Words in a row.

    >>> listed(["P@5"]), listed(["P@5", "R@5", "AP"])
    ('P@5', 'P@5, R@5 and AP')
    """
    texts = [str(word) for word in words]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def percent(share: float) -> str:
    """A share as a person would say it; never 0 % of something or 100 % of almost everything.

    >>> percent(0.314), percent(0.0004), percent(0.9996), percent(1)
    ('31 %', 'under 1 %', 'over 99 %', '100 %')
    """
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 <= share < 1 else f"{share:.0%}".replace("%", " %")


@dataclass(frozen=True, eq=False)
class Case:
    """Judgments, the hits of a ranking, and what was asked for."""

    judgments: Judgments
    hits: Hits
    census: Census = field(default_factory=Census)
    measures: Sequence[Measure] = ()
    conventions: Conventions = field(default_factory=Conventions)

    @property
    def n(self) -> int:
        """The number of judged queries."""
        return len(self.judgments.queries)

    @property
    def answered(self) -> Array:
        """Which judged queries the ranking answers."""
        every = np.ones(self.hits.n, dtype=bool)
        return every if self.hits.answered is None else self.hits.answered

    @property
    def at_k(self) -> list[Measure]:
        """The measures with a cut-off, those with the smallest first."""
        return sorted((m for m in self.measures if m.params.get("k")), key=lambda m: int(m.params["k"]))

    def names(self, which: Array) -> list[str]:
        """The ids of the queries that `which` (booleans) picks."""
        return [self.judgments.queries[i] for i in np.flatnonzero(which).tolist()]
