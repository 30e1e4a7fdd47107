"""Hits: the judged documents that rankings found. Every measure is a function of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import methodcaller
from typing import Any, TypeVar

import numpy as np

from rankproof.core.arrays import FEW, Array, Gain, PerQuery, best_first, gains, narrow, offsets, ratio, run_rows, runs
from rankproof.document.model import Displayable
from rankproof.errors import UsageError

__all__ = ["Array", "Facets", "Hits", "PackedHits", "PerQuery", "ratio"]

QUERIES = 1 << 15
"""So many queries are worked on at a time."""
ABOVE_ZERO = float(np.nextafter(0, 1))
"""The smallest grade that is one."""
OF_ROWS = ("rank", "grade", "doc", "first", "last", "aspect", "weight", "doubtful")
"""The columns with one entry a row, beside that of queries, which are numbered anew in a part."""
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Hits(Displayable):
    """One row for each judged document that a ranking found, sorted by query, then rank.

    Unjudged documents are not in it: only their number matters, and `retrieved` tells it.
    """

    query: Array
    """Which query (0 to n-1) the row belongs to."""
    rank: Array
    """The rank of the document, from 1."""
    grade: Array
    """How relevant the document was judged (float64)."""
    doc: Array
    """Which judgment the row is: an index into the judgments' table."""
    n: int
    """The number of queries, including those without any row."""
    retrieved: Array
    """How many documents each query's ranking holds."""
    pool: Hits | None = None
    """All judged documents, found or not; None for the pool itself."""
    first: Array | None = None
    last: Array | None = None
    """The first and the last rank a row could have among equal scores; None: no row is tied."""
    aspect: Array | None = None
    """Which facet of the query (subtopic, claim, entity) the row is about, 0 to `aspects`-1."""
    weight: Array | None = None
    """The share of the row that stands at this rank, where rows are averaged over tie orders."""
    facets: Facets | None = None
    """The judgments of each document aspect by aspect, if there are any."""
    answered: Array | None = None
    """Which queries the ranking answers at all; None: every one."""
    corpus_size: int | None = None
    """How many documents there are to find from, if that is known."""
    doubtful: Array | None = None
    """The rows with a score of 0 or less, which some tools count as not found; None: there are none."""
    _memo: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    # --- rows ------------------------------------------------------------------------------

    def keep(self, rows: Array) -> Hits:
        """Only the rows that `rows` (booleans, or indices in their new order) picks."""
        if rows.dtype == np.bool_:
            if np.count_nonzero(rows) == len(rows):
                return self
            rows = rows.nonzero()[0]

        def pick(column: Array | None) -> Array | None:
            return None if column is None else column.take(rows)

        return Hits(
            self.query.take(rows),
            self.rank.take(rows),
            self.grade.take(rows),
            self.doc.take(rows),
            self.n,
            self.retrieved,
            self.pool,
            pick(self.first),
            pick(self.last),
            pick(self.aspect),
            pick(self.weight),
            self.facets,
            self.answered,
            self.corpus_size,
            pick(self.doubtful),
        )

    def in_order(self) -> Hits:
        """The same rows sorted by query, then rank."""
        return self.keep(np.lexsort((self.rank, self.query)))

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make()`, cached under `key`, since several measures need the same cut."""
        if key not in self._memo:
            made = make()
            # A cycle would keep the arrays until the next collection, so None stands for the hits themselves.
            self._memo[key] = None if made is self else made
        found = self._memo[key]
        return self if found is None else found  # type: ignore[return-value]

    def forget(self) -> None:
        """Clear the cache: for many queries it takes more memory than the rows themselves."""
        self._memo.clear()
        self.judged._memo.clear()

    def top(self, k: int | None) -> Hits:
        """The rows at ranks 1 to `k` (all of them for None)."""
        if k is None or k >= self.deepest:
            return self
        return self.once(("top", k), lambda: self.keep(self.rank <= k))

    @cached_property
    def deepest(self) -> float:
        """The last rank of any row; 0 without rows."""
        return float(self.rank.max(initial=0))

    def relevant(self, rel: float = 1, threshold: str = "rel") -> Hits:
        """The rows with a grade of at least `rel`, or with `threshold='query'` of at least their query's own level."""
        if threshold == "rel":
            return self.once(("relevant", rel), lambda: self.keep(self.grade >= rel))
        return self.once("own", lambda: self.keep(self.grade >= self.judged.own_level[self.query]))

    def with_scores(self, scores: str = "any") -> Hits:
        """The rows with `any` score, or only those with a `positive` one."""
        if scores == "positive" and np.count_nonzero(self.doc < 0):
            raise UsageError(
                "scores='positive': which of the documents nobody judged score above 0 is not kept, so they cannot "
                "count as relevant. Next: leave out unjudged='relevant', or choose scores='any'."
            )
        low = self.doubtful
        return self if scores == "any" or low is None else self.once("positive", lambda: self.keep(~low))

    def valued(self, gain: Gain = "linear") -> Hits:
        """The same rows (and pool) with each grade replaced by its gain; below zero counts 0."""
        if gain == "linear" and self.judged.lowest_grade >= 0:
            return self
        key = ("valued", gain if isinstance(gain, str) else tuple(sorted(gain.items())))
        pool = None if self.pool is None else self.pool.valued(gain)
        return self.once(key, lambda: replace(self, grade=gains(self.grade, gain), pool=pool))

    # --- the three rankings ------------------------------------------------------------------

    @property
    def judged(self) -> Hits:
        """All judged documents, found or not, in no particular order."""
        return self if self.pool is None else self.pool

    @property
    def ideal(self) -> Hits:
        """The best order of all judged documents: what a perfect ranking would look like."""
        pool = self.judged
        return pool.once("ideal", lambda: _sorted_pool(pool))

    @cached_property
    def reordered(self) -> Hits:
        """The best order of what the ranking returned: what a perfect reranker could reach."""
        return self.reordered_by(self.grade)

    def reordered_by(self, worth: Array) -> Hits:
        """The returned documents, ordered by `worth` (one value a row)."""
        everywhere = replace(self, first=np.ones_like(self.rank), last=self.retrieved[self.query])
        return replace(everywhere.tied_by(worth), first=None, last=None, doubtful=None)

    def tied_by(self, worth: Array, *, against: bool = False) -> Hits:
        """Within each tie: rows worth more than nothing at its start, the best first, the rest at its end.

        With `against` the opposite: those worth something at its end, the best last.
        """
        if self.first is None or self.last is None:
            return self
        order = np.lexsort((-worth, self.first, self.query))
        rows, first, last, worth = self.keep(order), self.first[order], self.last[order], worth[order]
        start, end = runs(rows.query, first)
        place = np.arange(len(order))
        rank = np.where(worth > 0, first + (place - start), last - (end - 1 - place))
        return replace(rows, rank=first + last - rank if against else rank).in_order()

    # --- queries ---------------------------------------------------------------------------------

    def select(self, queries: Array) -> Hits:
        """Only the given queries, numbered anew in that order; a query may be asked for more than once."""
        counts = np.diff(self.starts)[queries]
        selected = replace(
            self.keep(run_rows(self.starts[queries], counts)),
            query=np.repeat(np.arange(len(queries)), counts),
            n=len(queries),
            retrieved=self.retrieved[queries],
            pool=None if self.pool is None else self.pool.select(queries),
            answered=None if self.answered is None else self.answered[queries],
            facets=None if self.facets is None else replace(self.facets, declared=self.facets.declared[queries]),
        )
        selected.__dict__["top_grade"] = self.top_grade
        return selected

    def block(self, begin: int, end: int) -> Hits:
        """The queries from `begin` to before `end`, as `select` gives them, but without copies of their rows."""
        rows, queries = slice(int(self.starts[begin]), int(self.starts[end])), slice(begin, end)
        facets = self.facets
        part = Hits(
            query=self.cut("query", rows) - begin,
            n=end - begin,
            retrieved=self.cut("retrieved", queries),
            pool=None if self.pool is None else self.pool.block(begin, end),
            facets=None if facets is None else replace(facets, declared=facets.declared[begin:end]),
            answered=self.cut("answered", queries),
            corpus_size=self.corpus_size,
            **{name: self.cut(name, rows) for name in OF_ROWS},
        )
        part.__dict__["top_grade"] = self.top_grade
        return part

    def cut(self, name: str, rows: slice) -> Any:
        """Some rows of a column; None if there is no such column."""
        column = getattr(self, name)
        return None if column is None else column[rows]

    def parts(self) -> Iterator[Hits]:
        """The queries some at a time: what is worked out on the way takes several hundred bytes a query."""
        if self.n <= QUERIES:
            yield self
            return
        self.forget()
        for begin in range(0, self.n, QUERIES):
            yield self.block(begin, min(begin + QUERIES, self.n))

    def by_parts(self, compute: Callable[[Hits], Any]) -> Any:
        """What `compute` gives of all queries, an array or several, worked out for some of them at a time."""
        found = []
        for part in self.parts():
            found.append(compute(part))
            if found[-1] is None or part is self:
                return found[-1]
            part.forget()  # hits and their ideal refer to each other, so they would never be freed
        if isinstance(found[0], tuple):
            return tuple(map(np.concatenate, zip(*found, strict=True)))
        return np.concatenate(found)

    @cached_property
    def top_grade(self) -> float:
        """The largest grade of all judgments; a selection of queries keeps that of the whole."""
        return float(self.grade.max(initial=0)) if self.pool is None else self.pool.top_grade

    @cached_property
    def lowest_grade(self) -> float:
        """The smallest grade of the rows, 0 if that is larger."""
        return float(self.grade.min(initial=0))

    @cached_property
    def own_level(self) -> Array:
        """For each query the larger of half its highest grade and the 90th percentile of its grades, above 0."""
        best, count = self.ideal, np.bincount(self.query, minlength=self.n)
        judged = np.flatnonzero(count)
        start = best.starts[judged]
        least = np.full(self.n, ABOVE_ZERO)
        # By nearest rank: of 10 grades the 9th from below, which is the 2nd from above.
        percentile = best.grade[start + count[judged] - np.ceil(0.9 * count[judged]).astype(np.intp)]
        least[judged] = np.maximum(np.maximum(best.grade[start] / 2, percentile), ABOVE_ZERO)
        return least

    # --- aspects ---------------------------------------------------------------------------------

    @cached_property
    def aspects(self) -> Hits:
        """The rows aspect by aspect; a query without declared aspects has one."""
        pool = None if self.pool is None else self.pool.aspects
        if self.facets is None:
            return replace(self, aspect=np.zeros_like(self.doc), pool=pool)
        start = self.facets.start
        judged = self.keep(self.doc >= 0)
        counts = (start[1:] - start[:-1])[judged.doc]
        at = run_rows(start[judged.doc], counts)
        rows = judged.keep(np.repeat(np.arange(len(counts)), counts))
        return replace(rows, aspect=self.facets.aspect[at], grade=self.facets.grade[at], pool=pool)

    @property
    def declared(self) -> PerQuery:
        """How many aspects each query declares; one if it declares none but has judgments."""
        if self.facets is not None:
            return self.facets.declared.astype(np.float64)
        return (self.judged.count() > 0).astype(np.float64)

    # --- arithmetic per query -----------------------------------------------------------------

    def sum(self, values: Array) -> PerQuery:
        """The sum of `values` (one a row) for each query."""
        if self.weight is not None:
            values = values * self.weight
        return np.bincount(self.query, weights=values, minlength=self.n).astype(np.float64, copy=False)

    def count(self, k: int | None = None) -> PerQuery:
        """The number of rows of each query, at ranks 1 to `k`."""
        cut = None if k is None or k >= self.deepest else k
        return self.once(("count", cut), lambda: self._count(cut))

    def _count(self, k: int | None) -> PerQuery:
        query, weight = self.query, self.weight
        if k is not None:
            shown = self.rank <= k
            query, weight = query[shown], None if weight is None else weight[shown]
        return np.bincount(query, weights=weight, minlength=self.n).astype(np.float64)

    def count_from(self, rel: float) -> PerQuery:
        """The number of rows of each query with a grade of at least `rel`."""
        return self.once(("graded", rel), lambda: self.sum((self.grade >= rel).astype(np.float64)))

    @cached_property
    def starts(self) -> Array:
        """Where each query's rows begin (n + 1 entries)."""
        return offsets(np.bincount(self.query, minlength=self.n))

    @cached_property
    def nth(self) -> Array:
        """How many rows of its query each row ends: 1, 2, 3, 1, 2, ..."""
        return np.arange(1, len(self.query) + 1) - self.starts.take(self.query)

    def before(self, values: Array) -> Array:
        """For each row the sum of `values` over the rows of its query that stand before it."""
        total = values.cumsum() - values
        return total - np.append(total, 0)[self.starts[self.query]] if len(values) else total

    def through(self, values: Array) -> Array:
        """For each row the sum of `values` over the rows of its query up to and with it."""
        return self.before(values) + values

    @property
    def unjudged(self) -> PerQuery:
        """How many documents of each ranking nobody judged."""
        return self.retrieved - self.count()

    def unjudged_share(self, k: int) -> float | None:
        """The share of documents in the top k that nobody judged; None if there are none."""
        shown = int(np.minimum(self.retrieved, k).sum())
        return float(1 - self.by_parts(methodcaller("count", k)).sum() / shown) if shown else None


class PackedHits(Hits):
    """Hits of many queries in few bytes: columns are kept as narrow as their numbers allow, or as functions of rows.

    Whoever asks for a column gets it as wide as in other `Hits`, made anew each time, so no arithmetic can overflow.
    """

    def cut(self, name: str, rows: slice) -> Any:
        """Some rows of a column, without the whole of it being made."""
        kept = self.__dict__[name]
        if kept is None:
            return None
        found = kept(rows) if callable(kept) else kept[rows]
        return found.astype(np.intp) if found.dtype.kind == "i" else found


def _packed_column(name: str) -> property:
    """A column of packed hits: narrow in the object's own dictionary, wide where it is asked for."""

    def keep(hits: Hits, column: Any) -> None:
        hits.__dict__[name] = narrow(column) if isinstance(column, np.ndarray) else column

    return property(lambda hits: hits.cut(name, slice(None)), keep)


for _name in ("query", "rank", "grade", "doc", "retrieved", "first", "last"):
    setattr(PackedHits, _name, _packed_column(_name))


@dataclass(frozen=True, eq=False)
class Facets(Displayable):
    """Judgments by aspect: document `doc[i]` has `grade[i]` for aspect `aspect[i]` of its query."""

    start: Array
    """Where each document's rows begin; one more entry than there are judged documents."""
    aspect: Array
    grade: Array
    declared: Array
    """How many aspects each query declares, coverable or not."""
    names: Sequence[str] = ()
    """What the aspect of each row is called, if that is known."""


def _sorted_pool(pool: Hits) -> Hits:
    """The judged documents, best first; a stable order, so that equal grades stay as judged."""
    rises = (pool.grade[1:] > pool.grade[:-1]) & (pool.query[1:] == pool.query[:-1]) if len(pool.grade) > FEW else None
    if rises is not None and not np.count_nonzero(rises):
        return replace(pool, rank=pool.nth, pool=pool)
    order = best_first(pool.query, pool.grade, pool.n)
    aspect = None if pool.aspect is None else pool.aspect.take(order)
    grade, doc = pool.grade.take(order), pool.doc.take(order)
    return replace(pool, rank=pool.nth, grade=grade, doc=doc, aspect=aspect, pool=pool)
