"""`ScoresLike`: what `compare`, `gate`, `leaderboard`, `report` and `History` take, whoever made the numbers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rankproof.core.arrays import Array
from rankproof.core.conventions import USUAL, Conventions
from rankproof.core.expected_and_extreme_values import by_id
from rankproof.core.measure import Measure
from rankproof.core.names import one_by_one, parse, parse_all
from rankproof.core.scoring import Pair, ScoreColumn, ScoreRow, Summary
from rankproof.document.model import Displayable, Document, Result
from rankproof.errors import NotThere, RankproofError, check_each, check_whole, is_one_of, shorten

if TYPE_CHECKING:
    from rankproof.core.audit import Audit, Finding
    from rankproof.stats.intervals import Interval
    from rankproof.stats.judge_error import Corrected


@dataclass(frozen=True, eq=False, repr=False)
class PerQueryValues(Displayable, Mapping[str, dict[str, float]]):
    """`{measure: {query: value}}`, made when asked for; other names of a measure find it too."""

    scores: ScoresLike
    _made: dict[str, dict[str, float]] = field(default_factory=dict, init=False)

    def __getitem__(self, measure: str | Measure) -> dict[str, float]:
        name = self.scores.key(measure)
        if name not in self._made:
            self._made[name] = self.scores.values(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def _in_one_line(self) -> str:
        return f"<values by query of {', '.join(self)}>"


@dataclass(eq=False, repr=False)
class ScoresLike(Result, ABC):
    """Values by query and measure, with everything that follows from them.

    `Scores` adds properties of rankings, `JudgedScores` those of verdicts. For scores of your own, define
    `query_ids` and `columns`; scores are comparable if `fingerprint` and `definition` are equal.
    """

    query_ids: Sequence[str]
    """The query ids in the order they were judged; of large judgments they are kept as bytes."""
    columns: dict[str, ScoreColumn]
    conventions: Conventions = USUAL
    groups: dict[str, Array] = field(default_factory=dict)
    """For each slice the queries in it."""
    names: dict[str, str] = field(default_factory=dict)
    """Names under which measures were asked, if a profile changed them."""
    library: str = ""
    """Of which library the data frames are that were scored; "" for other inputs."""
    stored: dict[str, Any] = field(default_factory=dict)
    """The parts that `from_dict` read back: rows, definition and audit as they were."""
    beyond: Finding | None = None
    """A note on queries that the groups name and that are not among these."""

    nouns: ClassVar[tuple[str, str]] = ("query", "queries")
    """The singular and plural of the scored unit, such as query and queries."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """An id of the data behind the numbers: equal for equal judgments, or equal questions and references."""

    @property
    @abstractmethod
    def definition(self) -> dict[str, Any]:
        """Every choice that shaped the numbers, as plain data, under "measures" for each measure."""

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The query ids in the order they were judged."""
        return tuple(self.query_ids)

    def key(self, measure: str | Measure) -> str:
        """The canonical name of a measure among these."""
        name = measure.name if isinstance(measure, Measure) else measure
        if not isinstance(name, str):
            raise NotThere(
                f"got {shorten(name)}, expected a measure or its name. Next: name one, like {next(iter(self))}."
            )
        if name in self.columns:
            return name
        if name in self.names:
            return self.names[name]
        try:
            name = self.parse(name).name
        except RankproofError as unknown:
            raise NotThere(str(unknown)) from None
        return checked_name(self.names.get(name, name), self.columns)

    def parse(self, measure: str) -> Measure:
        """The measure of that name; judged scores know metrics of their own under some names."""
        return parse(measure)

    def parse_all(self, measures: Any) -> list[Measure]:
        """Several measures, as `parse` knows them."""
        return parse_all(measures)

    def column(self, measure: str | Measure) -> ScoreColumn:
        """The values of one measure as an array, in the order of `queries`."""
        return self.columns[self.key(measure)]

    def __getitem__(self, measure: str | Measure) -> float:
        return self.column(measure).mean

    def __contains__(self, measure: object) -> bool:
        try:
            return isinstance(measure, str | Measure) and self.key(measure) in self.columns
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def keys(self) -> list[str]:
        """The canonical names of the measures."""
        return list(self.columns)

    def items(self) -> list[tuple[str, float]]:
        """The measures with their means."""
        return [(name, self[name]) for name in self.columns]

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure."""
        return dict(self.items())

    @cached_property
    def per_query(self) -> PerQueryValues:
        """`{measure: {query: value}}`."""
        return PerQueryValues(self)

    def values(self, measure: str | Measure) -> dict[str, float]:
        """The value of each query that counts."""
        column = self.column(measure)
        if column.counted is None:
            return dict(zip(self.query_ids, column.values.tolist(), strict=True))
        kept = np.flatnonzero(column.counted).tolist()
        return {self.query_ids[i]: float(column.values[i]) for i in kept}

    def worst(self, n: int = 5, measure: str | Measure | None = None) -> list[tuple[str, float]]:
        """The `n` queries with the worst values, the worst first, and equals by their ids."""
        column = self.column(measure if measure is not None else next(iter(self.columns)))
        n = check_whole("n", n, 0, advice="give how many queries, like 5")
        values = self.values(column.measure.name)
        sign = column.measure.spec.sign
        return nsmallest(n, values.items(), key=lambda item: (sign * item[1], by_id(item[0])))

    def interval(self, measure: str | Measure, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval of the mean; without ends where a single query leaves nothing to say."""
        found = self.uncertainty(measure, level)
        return (found.low, found.high) if math.isfinite(found.low) else (-math.inf, math.inf)

    def uncertainty(self, measure: str | Measure, level: float = 0.95) -> Interval:
        """The confidence interval with its method and the number of queries."""
        from rankproof.stats.intervals import interval

        column = self.column(measure)
        average = column.measure.spec.average
        return interval(column.counting, level=level, average=average, bounds=ends(self, measure))

    def bounds(self, measure: str | Measure, of: str = "unjudged", grade: float = 1) -> Pair | None:
        """The range of the mean, with unknown values at their worst and at their best; None if no bound is known."""
        return None

    def highest_reachable(self, measure: str | Measure) -> float | None:
        """The best that any of the queries could reach; None if unknown."""
        return None

    def thin(self, measure: str | Measure) -> bool:
        """Whether a mean is over too few of the samples to be shown; only values by verdicts can be missing."""
        return False

    def corrected(self, measure: str | Measure) -> Corrected | None:
        """The mean, corrected for a judge's error; None if there was no judge."""
        return None

    def corrected_lead(self, other: ScoresLike, measure: str | Measure, level: float = 0.95) -> Corrected | None:
        """The mean minus that of other scores, corrected for a judge's error; None if there was no judge."""
        return None

    def favour(self, other: ScoresLike, measure: str | Measure) -> Callable[[float], Corrected | None] | None:
        """A function of a level: what the judge itself adds to the lead over other scores; None without labels."""
        return None

    @cached_property
    def slices(self) -> dict[str, Self]:
        """The scores of each group of queries that `by=` named."""
        return {name: self._slice(queries) for name, queries in self.groups.items()}

    def _slice(self, queries: Array) -> Self:
        """The scores of the queries at these places."""
        return replace(
            self,
            query_ids=tuple(map(self.queries.__getitem__, queries.tolist())),
            columns={name: column.cut(queries) for name, column in self.columns.items()},
            groups={},
            stored={},
        )

    def only(self, measures: str | Sequence[str], queries: Sequence[str]) -> Self:
        """The scores of these measures and queries, in this order, without slices."""
        index = {query: i for i, query in enumerate(self.queries)}
        queries = check_each("queries", queries, str, "ids of queries")
        for query in queries:
            if not is_one_of(query, index):
                raise NotThere(f"no scores of the query {shorten(query)}. Next: name one of queries.")
        part = self._slice(np.array([index[query] for query in queries], dtype=np.intp))
        part.columns = {name: part.columns[name] for name in map(self.key, one_by_one("measure", measures, "nDCG@10"))}
        return part

    def row(self, measure: str | Measure) -> ScoreRow:
        """All details of one mean."""
        column, found = self.column(measure), self.uncertainty(measure)
        low, high = (end if math.isfinite(end) else None for end in (found.low, found.high))
        name, n, higher = column.measure.name, len(column.counting), column.measure.spec.higher
        return ScoreRow(name, column.mean, n, low, high, found.method, note=column.note, higher=higher)

    def summary(self, name: str = "") -> Summary:
        """The part of these scores that a report shows."""
        return Summary(
            name=name,
            rows=[self.row(each) for each in self.columns],
            queries=len(self.query_ids),
            documents=self.facts["documents"],
            tied=self.facts["tied"],
            unjudged=self.unjudged,
            slices={group: [part.row(each) for each in part.columns] for group, part in self.slices.items()},
            apart=self.apart,
            findings=list(self.audit.serious),
            nouns=self.nouns,
        )

    @property
    def apart(self) -> str:
        """A note if some queries are in no group of `by=`, or groups name other queries; else empty."""
        return " ".join(map(str, self._apart()))

    def _apart(self) -> list[Finding]:
        """Queries in none of the groups, and queries that only the groups name."""
        if not self.groups:
            return []
        from rankproof.core.audit.queries import ungrouped_queries

        left = ungrouped_queries(self.query_ids, self.groups, self.nouns)
        return [each for each in (left, self.beyond) if each is not None]

    @property
    def judged_shares(self) -> dict[str, float]:
        """For each metric the share of verdicts that were decided; empty for scores by judgments."""
        return {}

    @property
    def unjudged(self) -> dict[int, float]:
        """For each cut-off of the measures, the share of documents in the top k that nobody judged."""
        return {int(k): share for k, share in self.facts["unjudged"].items()}

    @property
    def facts(self) -> dict[str, Any]:
        """The data shown under a table: judged documents, the share of ties, the share of unjudged documents."""
        return {"documents": 0, "tied": None, "unjudged": {}}

    @property
    def _audited(self) -> Audit:
        """What is known of the data, whatever the groups."""
        from rankproof.core.audit import Audit

        return Audit.of([])

    @property
    def audit(self) -> Audit:
        """The findings about the data, to be read before the numbers are trusted."""
        from rankproof.core.audit import Audit
        from rankproof.core.audit.queries import BEYOND, UNGROUPED

        kept = [each for each in self._audited if each.kind not in (UNGROUPED, BEYOND)]
        return Audit.of([*kept, *self._apart()])

    @property
    def wrong(self) -> list[str]:
        """The errors of the audit, which make the numbers wrong, as sentences."""
        return [str(each) for each in self.audit if each.severity == "error"]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data that JSON can hold; `Scores.from_dict` reads it back."""
        definition = dict(self.definition)
        definition.setdefault("conventions", self.conventions.to_dict())
        definition.setdefault("fingerprint", self.fingerprint)
        return {
            "queries": list(self.queries),
            "rows": {name: self.row(name).to_dict() for name in self.columns},
            "per_query": {name: self.values(name) for name in self.columns},
            "names": self.names,
            "groups": {name: [self.query_ids[i] for i in rows.tolist()] for name, rows in self.groups.items()},
            "facts": self.facts,
            "definition": definition,
            "audit": self.audit.to_dict(),
        }

    def put(self, name: str, values: Array, counted: Array | None, note: str) -> None:
        """Set the values of a measure as they were saved."""
        self.columns[name] = ScoreColumn(self.parse(name), values, counted, note)

    def frame(self, backend: str | None = None) -> Any:
        """A data frame with one row per query and one column per measure.

        `backend` is polars, pandas or pyarrow; by default the library of the scored frames, or one that is
        installed.
        """
        from rankproof.io.frames import make_frame

        columns: dict[str, Sequence[Any]] = {"query": list(self.queries)}
        for name in self.columns:
            values = self.values(name)
            columns[name] = [values.get(query) for query in self.queries]
        return make_frame(columns, (self.library or None) if backend is None else backend)

    def _document(self) -> Document:
        from rankproof.scoring.words import scores as words

        return words([self.summary()])

    def _in_one_line(self) -> str:
        noun = self.nouns[len(self.query_ids) != 1]
        means = ", ".join(f"{x}={self[x]:.4f}" if len(self.column(x).counting) else f"{x}=-" for x in self)
        return f"<{type(self).__name__} of {len(self.query_ids)} {noun}: {means}>"


def checked_name(name: str, measured: Collection[str]) -> str:
    """The name of a measure, refused if it is not among those that were measured."""
    if name not in measured:
        raise NotThere(
            f"{name} was not measured; there are {', '.join(measured)}. Next: name one of these, or measure it too."
        )
    return name


def ends(scores: ScoresLike, measure: str | Measure) -> Pair:
    """The range of a query's value: the bounds that the measure declares, limited above by the best that any query of
    these judgments could reach. Where a document is relevant to each query, no query scores more than .2 in P@5."""
    column = scores.column(measure)
    spec = column.measure.spec
    best = scores.highest_reachable(measure) if spec.higher and spec.average != "sum" else None  # a count's is itself
    return range_of(spec.bounds, best, float(column.counting.max(initial=-np.inf)))


def range_of(bounds: Pair, best: float | None, most: float) -> Pair:
    """The bounds that a measure declares, limited above by the best within reach, but not below the most there is."""
    above = bounds[1] if best is None or best <= bounds[0] else min(best, bounds[1])
    return bounds[0], max(above, most)
