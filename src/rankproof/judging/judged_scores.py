"""`JudgedScores`: the result of `judge`. Scores with the share that was judged, by whom, and what is missing."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from statistics import NormalDist
from typing import Any, Self, cast

import numpy as np

from rankproof.core.audit import Audit, Finding
from rankproof.core.audit.queries import BEYOND
from rankproof.core.hits import Array
from rankproof.core.measure import Measure
from rankproof.core.scoring import Pair, ScoreRow, Summary
from rankproof.document.model import Displayable
from rankproof.errors import DataError, UsageError
from rankproof.judging.evidence import Blame, Evidence, judgments_from, write_qrels
from rankproof.judging.metrics.counting import JudgedColumn, column_from
from rankproof.judging.metrics.registry import parse as parse_metric
from rankproof.judging.metrics.registry import parse_all as parse_metrics
from rankproof.judging.trust import Estimate, estimate_sentences
from rankproof.judging.trust.correcting import Checked, Corrects, Uncorrected
from rankproof.judging.trust.correcting import sentences as correction_sentences
from rankproof.judging.trust.drift import JudgeDrift, changes, drift_warnings
from rankproof.judging.verdicts import Account
from rankproof.judging.words import causes, findings_of, sentences
from rankproof.scoring.protocol import ScoresLike, ends
from rankproof.scoring.scores import check_stored
from rankproof.stats.judge_error import Corrected


@dataclass(frozen=True, eq=False, repr=False)
class Coverage(Displayable, Mapping[str, float]):
    """`{metric: share}`: which share is settled; other names of a metric find it too."""

    shares: Mapping[str, float]
    key: Callable[[str | Measure], str]
    """The canonical name for any name of a metric."""

    def __getitem__(self, metric: str | Measure) -> float:
        return self.shares[self.key(metric)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.shares)

    def __len__(self) -> int:
        return len(self.shares)

    def _in_one_line(self) -> str:
        return f"<coverage: {', '.join(f'{name}={share:.4f}' for name, share in self.shares.items())}>"


STRONGEST, INDEPENDENT = "strongest", "independent"
"""How soft verdicts on several contexts are combined: the strongest, or all as if independent."""


def _note(column: JudgedColumn) -> str:
    """Why samples have no value, in a sentence; empty if all have one."""
    listed = causes(column, 4, "more reason")
    return f"unmeasured samples: {listed}" if listed else ""


@dataclass(eq=False, repr=False)
class JudgedScores(ScoresLike):
    """Scores of samples by verdicts. An unjudged sample is unmeasured: in no mean, never 0 and never 1."""

    judges: list[dict[str, Any]] = field(default_factory=list)
    """The judges in the order they were asked: name and identity."""
    settings: dict[str, Any] = field(default_factory=dict)
    """k, complete and compat, as given."""
    samples: str = ""
    """The fingerprint of the questions and references."""
    account: Account = field(default_factory=Account)
    """The cost of judging: calls, tokens, money, and the errors."""
    by: dict[str, int] = field(default_factory=dict)
    """How many verdicts each judge gave, and under "unmeasured" how many pairs have none."""
    top: dict[str, int] = field(default_factory=dict)
    """The highest grade of a context that each judge gave."""
    emptied: dict[str, int] = field(default_factory=dict)
    """How many samples had no contexts or no answer where others have, which counts as an empty one."""
    verdicts: Evidence = field(default_factory=Evidence)
    """Every pair that was looked at, with its verdict, quote and judge; none for scores read back."""
    blame: Blame = field(default_factory=Blame)
    """Which half failed, by sample and overall, as far as the verdicts show."""

    checked: dict[str, Checked] = field(default_factory=dict, repr=False)
    """Each metric compared with labels of people; empty if there are none."""
    estimates: dict[str, Estimate] = field(default_factory=dict, repr=False)
    """The estimate of each metric in which the embedded judge left pairs open, or settled them by words."""
    versions: dict[str, dict[str, int]] = field(default_factory=dict)
    """Judges behind whose names several models answered, with how many verdicts each gave."""
    drifts: list[JudgeDrift] = field(default_factory=list)
    """Models that answered under another version than before, and what they say now of pairs judged then."""

    kin: list[Finding] = field(default_factory=list)
    """A warning where the judge is of the model, or the family, of what it judges."""

    def parse(self, measure: str) -> Measure:
        """The metric of that name, or the formula of the tool asked for."""
        return parse_metric(measure, self.settings.get("compat"))

    def parse_all(self, measures: Any) -> list[Measure]:
        """Several metrics."""
        return parse_metrics(measures, self.settings.get("compat"))

    def column(self, measure: str | Measure) -> JudgedColumn:
        """The values of one metric with their ends and what is missing."""
        return cast(JudgedColumn, super().column(measure))

    @cached_property
    def coverage(self) -> Mapping[str, float]:
        """`{metric: share}`: how much of the counted pieces (claims, contexts, statements) is settled."""
        return Coverage(self.judged_shares, self.key)

    @property
    def judged_shares(self) -> dict[str, float]:
        """For each metric the share of counted pieces that are settled."""
        return {name: self.column(name).coverage for name in self.columns}

    @property
    def unmeasured(self) -> dict[str, dict[str, int]]:
        """For each metric why samples have no value, with how many."""
        return {name: self.column(name).why for name in self.columns}

    @property
    def reasons(self) -> dict[str, dict[str, str]]:
        """For each metric the samples that have no value, each with its reason."""
        return {
            name: {sample: why for sample, why in zip(self.queries, self.column(name).reasons, strict=True) if why}
            for name in self.columns
        }

    def ceiling(self, measure: str | Measure) -> float:
        """The best value; no lower ceiling is known for judged metrics."""
        return 1.0

    def bounds(self, measure: str | Measure, of: str = "unmeasured", grade: float = 1) -> Pair | None:
        """The range (low, high) of the mean over all samples, the undecided at their worst and at their best."""
        if of not in ("unmeasured", "unjudged"):
            raise UsageError(f"bounds: got of={of!r}, expected 'unmeasured' for judged scores. Next: ask for these.")
        return self.column(measure).possible

    def estimate(self, measure: str | Measure) -> Estimate | None:
        """The expectation of the mean over all samples, by the probability of every pair, with its interval.

        None if people or models settled every pair: then use the mean.
        """
        return self.estimates.get(self.key(measure))

    def split(self, measure: str | Measure) -> Pair | None:
        """None: verdicts on what was retrieved do not say what was never found."""
        return None

    def interval(self, measure: str | Measure, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval of the mean over the measured samples, including the variance of soft verdicts.

        It does not include the judge's own error, which only labels of people show.
        """
        column, (low, high) = self.column(measure), super().interval(measure, level)
        if not math.isfinite(high - low):
            return low, high
        # Where the mean of the measured samples is not possible for all of them, the interval is moved with it. The
        # variance of soft verdicts is added on both sides, within what can be.
        raw, reach = column.counting.mean(), NormalDist().inv_cdf((1 + level) / 2) ** 2 * column.softness
        down, up = (math.sqrt((end - raw) ** 2 + reach) for end in (low, high))
        least, most = ends(self, measure)
        return max(column.mean - down, least), min(column.mean + up, most)

    def thin(self, measure: str | Measure) -> bool:
        """Whether a mean is over fewer than half of the samples that could have a value."""
        return self.column(measure).thin

    @cached_property
    def corrections(self) -> Corrects:
        """For each metric its mean corrected by labels of people, or why there is none; empty without labels."""
        if not self.checked:
            stored = self.stored.get("corrections", {})
            return {name: (Uncorrected if "reason" in each else Corrected)(**each) for name, each in stored.items()}
        return {name: each.mean() for name, each in self.checked.items()}

    def corrected(self, measure: str | Measure) -> Corrected | None:
        """The mean, corrected for the judge's error by labels of people; None if there are not enough."""
        found = self.corrections.get(self.key(measure))
        return found if isinstance(found, Corrected) else None

    def corrected_lead(self, other: ScoresLike, measure: str | Measure, level: float = 0.95) -> Corrected | None:
        """The mean minus that of other scores of the same samples, corrected for the judge's error."""
        mine, theirs = self._checked_beside(other, measure)
        return mine.minus(theirs, level) if mine and theirs else None

    def favour(self, other: ScoresLike, measure: str | Measure) -> Callable[[float], Corrected | None] | None:
        """A function of a level: what the judge itself adds to the lead over other scores, by labels of both."""
        mine, theirs = self._checked_beside(other, measure)
        return partial(mine.favour, theirs) if mine and theirs and mine.favour(theirs) else None

    def _checked_beside(self, other: ScoresLike, measure: str | Measure) -> tuple[Checked | None, Checked | None]:
        name = self.key(measure)
        return self.checked.get(name), other.checked.get(name) if isinstance(other, JudgedScores) else None

    def row(self, measure: str | Measure) -> ScoreRow:
        """Everything to be said about one mean."""
        column, found = self.column(measure), super().row(measure)
        corrected, estimate = self.corrected(measure), self.estimate(measure)
        low, high = self.interval(measure)
        method = found.method if found.n > 1 else ""
        if method and column.softness:
            how = "each apart" if self.settings.get("soft") == INDEPENDENT else "of several contexts the strongest"
            method += f", with the spread of soft verdicts ({how})"
        return replace(
            found,
            low=low if np.isfinite(low) else None,
            high=high if np.isfinite(high) else None,
            method=method,
            coverage=column.coverage,
            possible=column.possible,
            estimate=None if estimate is None else (estimate.value, estimate.low, estimate.high),
            measurable=column.measurable,
            corrected=None if corrected is None else corrected.value,
            corrected_ends=None if corrected is None else (corrected.low, corrected.high),
            note="" if estimate else _note(column),
        )

    def summary(self, name: str = "") -> Summary:
        """The part of these scores that a report shows."""
        said = [
            *sentences(self.by, self.account, self.settings.get("compat")),
            *estimate_sentences(self.estimates),
            *correction_sentences(self.corrections),
        ]
        return replace(super().summary(name), said=said)

    nouns = ("sample", "samples")

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The data shown under a table."""
        return {"documents": 0, "tied": None, "unjudged": {}, "by": self.by, "account": asdict(self.account)}

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of the questions and references: the same where systems answered the same."""
        return self.samples

    @cached_property
    def _audited(self) -> Audit:
        """The findings to read before believing the numbers, whatever the groups."""
        if "audit" in self.stored:
            return Audit.from_dict(self.stored["audit"])
        columns = {name: self.column(name) for name in self.columns}
        found = findings_of(columns, self.by, self.account, self.top, self.emptied, self.estimates)
        asked = {each.judge for each in self.drifts}
        unasked = {name: each for name, each in self.versions.items() if name not in asked}
        return Audit.of([*found, *self.kin, *changes(self.drifts), *drift_warnings(unasked)])

    @cached_property
    def definition(self) -> dict[str, Any]:
        """Every choice that shaped the numbers, as plain data."""
        judged = {"judges": self.judges, **self.settings}
        return {
            "conventions": self.conventions.to_dict(),
            "measures": {name: {**column.measure.to_dict(), **judged} for name, column in self.columns.items()},
            "judgments": "verdicts",
            "fingerprint": self.fingerprint,
            "ranking": "",
            "notes": [],
        }

    def html(self, title: str = "Judged samples") -> str:
        """One page, without script or network, on which every score expands to its verdicts and quotes."""
        from rankproof.judging.page import page_of

        return page_of({"": self}, title)

    def as_judgments(self) -> dict[str, dict[str, int]]:
        """The grades of the retrieved contexts as `{sample: {context: grade}}`: judgments made by a machine."""
        return judgments_from(self.verdicts)[0]

    def write_qrels(self, path: str | os.PathLike[str], *, force: bool = False) -> int:
        """Write these judgments in TREC's format, marked as made by a machine; returns their number."""
        return write_qrels(self.verdicts, path, force=force)

    def only(self, measures: Sequence[str], queries: Sequence[str]) -> Self:
        """The scores of these metrics and samples; a metric that no sample has is an error."""
        part = super().only(measures, queries)
        part.checked = {name: each for name, each in part.checked.items() if name in part.columns}
        for name in measures:
            if not len(part.column(name).counting):
                raise DataError(
                    f"{name}: unmeasured for every sample ({_note(part.column(name))}). "
                    "Next: name the metrics to compare, or judge what is missing."
                )
        return part

    def _slice(self, queries: Array) -> Self:
        return replace(
            super()._slice(queries),
            checked={name: each.cut(queries) for name, each in self.checked.items()},
            estimates={},
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the verdicts as plain data; `Scores.from_dict` reads it back."""
        return {
            **super().to_dict(),
            "judged": {name: self.column(name).to_dict() for name in self.columns},
            "judges": self.judges,
            "settings": self.settings,
            "corrections": {name: asdict(each) for name, each in self.corrections.items()},
            "estimates": {name: each.to_dict() for name, each in self.estimates.items()},
            "checked": {name: each.to_dict() for name, each in self.checked.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> JudgedScores:
        """Scores as `to_dict` wrote them."""
        check_stored(data, "judged", "judges", "settings")
        queries = tuple(data["queries"])
        index = {query: i for i, query in enumerate(queries)}
        found = cls(
            query_ids=queries,
            columns={},
            groups={name: np.array([index[q] for q in each]) for name, each in data["groups"].items()},
            beyond=Audit.from_dict(data["audit"]).of_kind(BEYOND),
            names=dict(data["names"]),
            judges=list(data["judges"]),
            settings=dict(data["settings"]),
            samples=data["definition"]["fingerprint"],
            account=Account(**data["facts"]["account"]),
            by=dict(data["facts"]["by"]),
            checked={name: Checked.from_dict(each) for name, each in data.get("checked", {}).items()},
            estimates={name: Estimate(**each) for name, each in data.get("estimates", {}).items()},
            stored=dict(data),
        )
        for name in data["judged"]:
            values = data["per_query"].get(name, {})
            column = np.array([values.get(query, 0.0) for query in queries], dtype=np.float64)
            found.put(name, column, np.array([query in values for query in queries], dtype=bool), "")
        return found

    def put(self, name: str, values: Array, counted: Array | None, note: str) -> None:
        """Set the values of a metric as they were saved, with their evidence."""
        self.columns[name] = column_from(self.parse(name), values, counted, self.stored["judged"][name])
