"""Queries spread over many workers: the kernel that each of them runs, and the merged result.

A worker gets whole queries, with their judgments, as one Arrow table, and returns a value for each query and a
summary. Summaries add up to the same bits however the queries are distributed, so nothing else needs to be sent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.core.arrays import FLOOR, Array, ExactSum, by_key, hash_of
from rankproof.core.audit import Audit, FindingCase
from rankproof.core.audit.full_audit import errors_in_sums, sums_for_audit
from rankproof.core.conventions import USUAL, Conventions, is_unanswered
from rankproof.core.hits import Hits
from rankproof.core.join import Census, join
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.mergeable_summaries import Resamples, SpreadSummary, ValueSummary, WorstQueries, merge_parts
from rankproof.core.names import parse
from rankproof.core.scoring import ScoreColumn, ceiling, score_columns, tie_bounds
from rankproof.document.model import Document, Result
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError
from rankproof.io.counted import check_ids
from rankproof.io.load import load_judgments, load_ranking
from rankproof.scoring.protocol import checked_name, range_of
from rankproof.stats.distributions import NORMAL
from rankproof.stats.intervals import Interval, interval_of

CEILING, LOW, HIGH, OPEN = "ceiling of", "lowest of", "highest of", "no bounds of"
"""The columns that are added up beside the values, each a prefix of the name of its measure."""
EXTRA = "ranked without judgments"
"""The sum of queries that a ranking answers and nobody judged."""
WORST = 10


@dataclass(frozen=True)
class Kernel:
    """The work of one worker on a table of complete queries.

    The table has the columns `query_id`, `doc_id`, `grade` (null in rows of the ranking), `score` or `rank` (null in
    judgments), and perhaps `slice` and `cluster` of the query, in the rows of the judgments.

    >>> import pyarrow
    >>> rows = {"query_id": ["q", "q"], "doc_id": ["a", "a"], "grade": [1.0, None], "score": [None, 0.5]}
    >>> values, summary = Kernel((parse("RR"),))(pyarrow.table(rows))
    >>> values.to_pylist(), summary.columns["RR"].mean
    ([{'query_id': 'q', 'slice': None, 'cluster': None, 'counted': True, 'answered': True, 'RR': 1.0}], 1.0)
    """

    measures: tuple[Measure, ...]
    conventions: Conventions = USUAL
    top_grade: float | None = None
    """The largest grade of all judgments, which some measures divide by; None: that of the table."""
    worst: int = WORST
    replicates: int = 200

    def __call__(self, table: Any) -> tuple[Any, SpreadSummary]:
        """The value of each judged query as an Arrow table, and their summary."""
        import pyarrow.compute as pc

        is_judgment = pc.is_valid(table.column("grade"))
        judged, ranked = table.filter(is_judgment), table.filter(pc.invert(is_judgment))
        wanted = pc.is_in(ranked.column("query_id"), value_set=pc.unique(judged.column("query_id")))
        others = pc.count_distinct(ranked.column("query_id").filter(pc.invert(wanted))).as_py()
        extra = SpreadSummary({}, sums={EXTRA: ExactSum.of(np.array([float(others)]))})
        if nameless := ranked.column("query_id").null_count:
            check_ids(len(ranked), {"query": len(ranked) - nameless}, "ranking")
        if not judged.num_rows:
            return self._empty(), extra
        judgments, census = self.read_judgments(judged), Census()
        order = "rank" if "rank" in table.column_names else "score"
        ranked = ranked.filter(wanted).select(["query_id", "doc_id", order])
        blocks = load_ranking(ranked).blocks(judgments, self.conventions, census) if ranked.num_rows else ()
        hits = join(judgments, blocks, self.conventions, census)
        values, summary = self.of_hits(judgments, hits, census, self.of_queries(judged, judgments))
        return values, summary + extra

    def read_judgments(self, judged: Any) -> Judgments:
        """Some of the judgments, which know the largest grade of all."""
        judgments = load_judgments(judged.select(["query_id", "doc_id", "grade"]))
        if self.top_grade is not None:
            judgments.pool.__dict__["top_grade"] = self.top_grade
        return judgments

    def of_hits(
        self, judgments: Judgments, hits: Hits, census: Census, of_queries: Mapping[str, list[str | None]]
    ) -> tuple[Any, SpreadSummary]:
        """The same, from existing hits; `of_queries` are the slice and the cluster of each."""
        import pyarrow

        queries = list(judgments.query_ids)
        columns = score_columns(self.measures, hits, self.conventions, queries)
        first = next(iter(columns.values()))
        counted = np.ones(len(queries), dtype=np.bool_) if first.counted is None else first.counted
        groups = {name: of_queries.get(name, [None] * len(queries)) for name in ("slice", "cluster")}
        values = pyarrow.table(
            {
                "query_id": pyarrow.array(queries, pyarrow.string()),
                **{name: pyarrow.array(each, pyarrow.string()) for name, each in groups.items()},
                "counted": counted,
                "answered": ~is_unanswered(hits, self.conventions),
                **{name: each.values for name, each in columns.items()},
            }
        )
        sums = {
            f"{what} {name}": total for name, column in columns.items() for what, total in self._limits(column, hits)
        }
        tied = 0 if hits.first is None or hits.last is None else int((hits.first != hits.last).sum())
        sums |= {
            name: ExactSum.of(np.asarray(each, dtype=np.float64))
            for name, each in {
                "documents": [len(judgments.doc_ids)],
                "found": [len(hits.rank)],
                "tied": [tied],
                "dropped": [census.dropped],
                **sums_for_audit(FindingCase(judgments, hits, census, self.measures, self.conventions)),
            }.items()
        }
        summary = summary_of(queries, {n: c.values for n, c in columns.items()}, counted, groups, self)
        worst = {**summary.worst}
        for name, column in columns.items():  # the largest ceiling, which the intervals of some measures end at
            worst[f"{CEILING} {name}"] = WorstQueries.of(queries, ceiling(column.measure, hits), 1, higher=False)
        return values, SpreadSummary(summary.columns, summary.slices, worst, summary.resamples, sums, len(queries))

    def _limits(self, column: ScoreColumn, hits: Hits) -> list[tuple[str, ExactSum]]:
        def total(values: Array) -> ExactSum:
            kept = values if column.counted is None else values[column.counted]
            if column.measure.spec.average == "geometric":
                kept = np.log(np.maximum(kept, FLOOR))
            return ExactSum.of(kept)

        bounds = tie_bounds(column.measure, hits)
        low, high = bounds or (column.values, column.values)
        unknown = ExactSum.of(np.array([float(hits.first is not None and bounds is None)]))
        most = total(ceiling(column.measure, hits))
        return [(CEILING, most), (LOW, total(low)), (HIGH, total(high)), (OPEN, unknown)]

    def of_queries(self, judged: Any, judgments: Judgments) -> dict[str, list[str | None]]:
        """The slice and the cluster of each query; a query that has two of one is an error."""
        found: dict[str, list[str | None]] = {}
        for name in ("slice", "cluster"):
            if name not in judged.column_names:
                continue
            known: dict[str, str | None] = {}
            rows = zip(judged.column("query_id").to_pylist(), judged.column(name).to_pylist(), strict=True)
            for query, value in rows:
                if known.setdefault(str(query), value) != value:
                    raise DataError(
                        f"judgments: query {str(query)!r} has the {name}s {known[str(query)]!r} and {value!r}, "
                        "expected one a query. Next: correct the column, or leave it out."
                    )
            found[name] = [known[query] for query in judgments.query_ids]
        return found

    def _empty(self) -> Any:
        import pyarrow

        texts, flags = (("query_id", "slice", "cluster"), pyarrow.string()), (("counted", "answered"), pyarrow.bool_())
        numbers = (tuple(each.name for each in self.measures), pyarrow.float64())
        return pyarrow.schema([(n, kind) for names, kind in (texts, flags, numbers) for n in names]).empty_table()


def summary_of(
    queries: Sequence[str],
    values: Mapping[str, Array],
    counted: Array,
    groups: Mapping[str, Sequence[str | None]],
    kernel: Kernel,
) -> SpreadSummary:
    """The summary of values by query, over all and slice by slice."""
    averages = {each.name: (each.spec.average, each.spec.higher) for each in kernel.measures}
    kept = np.flatnonzero(counted)
    names = [queries[i] for i in kept.tolist()]
    slices = by_key((group, row) for row in kept.tolist() if (group := groups["slice"][row]) is not None)
    clusters = [groups["cluster"][row] for row in kept.tolist()]
    has_clusters = any(each is not None for each in clusters)
    hashed = hash_of([each or "" for each in clusters]) if has_clusters else None
    return SpreadSummary(
        {name: ValueSummary.of(each[kept], averages[name][0]) for name, each in values.items()},
        {
            group: {name: ValueSummary.of(each[rows], averages[name][0]) for name, each in values.items()}
            for group, rows in slices.items()
        },
        {name: WorstQueries.of(names, each[kept], kernel.worst, averages[name][1]) for name, each in values.items()},
        {}
        if hashed is None
        else {name: Resamples.of(each[kept], hashed, kernel.replicates) for name, each in values.items()},
        queries=len(queries),
    )


@dataclass(eq=False, repr=False)
class SpreadScores(Result):
    """Means with intervals, slices and worst queries; the values by query stay with the workers."""

    summary: SpreadSummary
    measures: dict[str, Measure]
    conventions: Conventions = USUAL
    values: Any = None
    """The values by query, as a table of the engine: query_id, slice, cluster, counted, answered, each measure."""
    extra: int = 0
    """Ranked queries that nobody judged."""
    notes: tuple[str, ...] = ()

    def _key(self, measure: str | Measure) -> str:
        name = measure.name if isinstance(measure, Measure) else str(measure)
        return checked_name(name if name in self.measures else parse(name).name, self.measures)

    def __getitem__(self, measure: str | Measure) -> float:
        return self._column(self._key(measure)).mean

    def _column(self, name: str) -> ValueSummary:
        column = self.summary.columns.get(name)
        if column is None or not column.n:
            raise DataError(
                f"{name}: no query is left to average. Next: check that the ids of judgments and ranking meet."
            )
        return column

    def __iter__(self) -> Any:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure."""
        return {name: self[name] for name in self.measures}

    @property
    def queries(self) -> int:
        """How many judged queries there are."""
        return self.summary.queries

    def uncertainty(self, measure: str | Measure, level: float = 0.95) -> Interval:
        """The interval of a mean, the same as of values that are in memory."""
        name = self._key(measure)
        return interval_of(self._column(name), level, bounds=self._ends(name))

    def interval(self, measure: str | Measure, level: float = 0.95) -> tuple[float, float]:
        """The ends of the interval; without ends where a single query leaves nothing to say."""
        found = self.uncertainty(measure, level)
        return (found.low, found.high) if math.isfinite(found.low) else (-math.inf, math.inf)

    def interval_by_cluster(self, measure: str | Measure, level: float = 0.95) -> tuple[float, float]:
        """The interval if users, sessions or days were drawn, not queries: from the resamples by cluster."""
        name = self._key(measure)
        if name not in self.summary.resamples:
            raise UsageError("clusters: none were given. Next: evaluate with cluster='user_id', say.")
        half = NORMAL.inv_cdf((1 + level) / 2) * self.summary.resamples[name].error
        return self[name] - half, self[name] + half

    def _ends(self, name: str) -> tuple[float, float]:
        spec = self.measures[name].spec
        tops = self.summary.worst.get(f"{CEILING} {name}") if spec.higher and spec.average != "sum" else None
        best = max(0.0, tops.rows[0][1]) if tops and tops.rows else None
        return range_of(spec.bounds, best, self.summary.columns[name].most)

    def _mean_of(self, what: str, measure: str | Measure) -> float:
        name = self._key(measure)
        total, average = self.summary.sums[f"{what} {name}"], self.measures[name].spec.average
        if average == "geometric":
            return math.exp(total.mean)
        return total.value if average == "sum" else total.mean

    def ceiling(self, measure: str | Measure) -> float:
        """The best mean that any ranking could reach under these judgments."""
        return self._mean_of(CEILING, measure)

    def bounds(self, measure: str | Measure) -> tuple[float, float] | None:
        """The range of the mean over orders of equal scores; None if no bound is known to be true."""
        unknown = self.summary.sums.get(f"{OPEN} {self._key(measure)}")
        if unknown is not None and unknown.value:
            return None
        return self._mean_of(LOW, measure), self._mean_of(HIGH, measure)

    def worst(self, n: int = 5, measure: str | Measure | None = None) -> list[tuple[str, float]]:
        """The queries with the worst values, the worst first; as many as were kept."""
        name = next(iter(self.measures)) if measure is None else self._key(measure)
        return list(self.summary.worst[name].rows[:n])

    @property
    def slices(self) -> dict[str, SpreadScores]:
        """The scores of each slice; ceilings and the worst queries are known only for all queries."""
        return {
            group: SpreadScores(
                SpreadSummary(columns, worst={k: v for k, v in self.summary.worst.items() if k.startswith(CEILING)},
                              queries=next(iter(columns.values())).n),
                self.measures,
                self.conventions,
            )
            for group, columns in sorted(self.summary.slices.items())
        }  # fmt: skip

    @property
    def facts(self) -> dict[str, int]:
        """Judged documents, how many were found, and how many of them are tied."""
        return {
            name: round(self.summary.sums[name].value)
            for name in ("documents", "found", "tied", "answered", "unanswered", "dropped")
            if name in self.summary.sums
        }

    @property
    def audit(self) -> Audit:
        """The errors that sums over all queries can tell; what needs the rows themselves is not looked at."""
        sums = {name: each.value for name, each in self.summary.sums.items()}
        worst = self.summary.worst.get(next(iter(self.measures), ""))
        names = [] if worst is None else [query for query, _ in worst.rows[:2]]
        return Audit.of(errors_in_sums(sums, self.queries, list(self.measures.values()), names))

    @property
    def wrong(self) -> list[str]:
        """What makes the numbers wrong: the errors of the audit, each in words."""
        return [str(each) for each in self.audit]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values by query, as plain data."""
        return {
            "means": self.means,
            "intervals": {
                name: [v if math.isfinite(v) else None for v in self.interval(name)] for name in self.measures
            },
            "queries": self.queries,
            "extra": self.extra,
            "facts": self.facts,
            "audit": self.audit.to_dict()["findings"],
            "conventions": self.conventions.to_dict(),
            "summary": self.summary.to_dict(),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], values: Any = None) -> SpreadScores:
        """The scores that `to_dict` gave, and perhaps their values, which were saved apart."""
        return cls(
            SpreadSummary.from_dict(data["summary"]),
            {name: parse(name) for name in data["means"]},
            Conventions.from_dict(data["conventions"]),
            values,
            data["extra"],
            tuple(data["notes"]),
        )

    def _in_one_line(self) -> str:
        means = ", ".join(f"{name}={mean:.4f}" for name, mean in self.means.items())
        return f"<SpreadScores of {count(self.queries, 'query')}: {means}>"

    def _document(self) -> Document:
        from rankproof.scoring.words import spread_scores as words

        return words(self)


def spread_scores(parts: Sequence[SpreadSummary], kernel: Kernel, values: Any = None, **settings: Any) -> SpreadScores:
    """The merged summaries of all parts."""
    summary = merge_parts(parts or [SpreadSummary({})])
    if not summary.columns:
        raise DataError("judgments: they contain no judged query. Next: check which table this is.")
    measures = {each.name: each for each in kernel.measures}
    extra = round(summary.sums[EXTRA].value) if EXTRA in summary.sums else 0
    return SpreadScores(summary, measures, kernel.conventions, values, extra, **settings)
