"""Rankings that stay where they are (DuckDB relations, lazy Polars frames, tables of SQLite and DataFusion, Spark).

Their engine counts the ranks of judged documents, and returns only the counts. Counted rows read from a file, the
result of a query of `rankproof sql`, are the same. Counts are checked like the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankproof.core.conventions import Conventions, same_rank
from rankproof.core.hits import Array
from rankproof.core.join import Census, Ordered
from rankproof.core.judgments import Judgments
from rankproof.core.table import Rankings, RankingTable, part_of
from rankproof.document.numbers import setting
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.column_roles import COUNTED
from rankproof.io.counted.text import PROBED, Counted, check_counted, rules_of
from rankproof.io.values import align_ids, match_ids

if TYPE_CHECKING:
    from rankproof.io.counted.engines import Polars, SqlEngine

COUNTS = ("times", "place", "first_place", "last_place", "low", "lowest", "highest")
"""The counts of a judged document that was found."""
OF_QUERIES = ("retrieved", "unlike", "dropped", "bad")
"""The counts of a query."""


def as_floats(values: Sequence[object]) -> Array:
    """Counts as numbers; some engines hand over decimals, and None if there is nothing to say.

    >>> from decimal import Decimal
    >>> as_floats([Decimal(3), None, 2])
    array([ 3., nan,  2.])
    """
    return np.array([np.nan if each is None else float(each) for each in values], dtype=np.float64)  # type: ignore[arg-type]


def ordered_of(
    found: Mapping[str, Array],
    queries: Mapping[str, Array],
    judgments: Judgments,
    conventions: Conventions,
    census: Census,
    source: str,
) -> Ordered:
    """The rankings behind the counts.

    `found` has a row for each judged document that was found, `judgment` being its number; `queries` one for each
    judged query with a ranking, `query` being its number.
    """
    query, judged = queries["query"].astype(np.intp), found["judgment"].astype(np.intp)
    _check_found(judged, found, judgments, conventions, source)
    _check_queries(query, queries, judgments, source)
    census.dropped += int(np.nansum(queries["dropped"]))
    census.lists += len(query)
    # In how many queries documents that nobody judged were looked at for repetitions.
    looked = int(np.count_nonzero(~np.isnan(queries["unlike"])))
    if conventions.duplicates == "error" and looked < len(queries["unlike"]):
        census.notes.append(
            f"{source}: documents that come twice were looked for among all judged ones, and among those nobody judged "
            f"in {looked:,} of {len(queries['unlike']):,} queries"
        )
    place = np.full(len(judgments.query_ids), -1, dtype=np.intp)
    place[query] = np.arange(len(query))
    _check_places(place[judgments.query[judged]], judged, found, queries["retrieved"], judgments, source)
    first, last = (found[name].astype(np.intp) for name in ("first_place", "last_place"))
    tied = bool((last > first).any())
    low = found["low"] > 0 if conventions.ties != "rank" else np.zeros(0, dtype=np.bool_)
    return Ordered(
        query=query,
        length=queries["retrieved"].astype(np.intp),
        ranking=place[judgments.query[judged]],
        judged=judged,
        rank=found["place"].astype(np.intp),
        first=first if tied else None,
        last=last if tied else None,
        doubtful=low if low.any() else None,
    )


def _check_queries(query: Array, queries: Mapping[str, Array], judgments: Judgments, source: str) -> None:
    if len(np.unique(query)) < len(query):
        raise DataError(
            f"{source}: a query was counted twice, expected one row per query. "
            "Next: run the query of 'rankproof sql' over the whole run at once, and give its result as it is."
        )
    more = queries["retrieved"] - queries["unlike"]
    for row in np.flatnonzero((queries["bad"] > 0) | (more > 0))[:1].tolist():
        where = f"{source}, query {shorten(judgments.query_ids[int(query[row])])}"
        if queries["bad"][row] > 0:
            raise DataError(
                f"{where}: {_some(queries['bad'][row], 'row')} whose document is missing, or whose score is missing or "
                "NaN, which has no place in an order. Next: drop the row, or give it both."
            )
        raise DataError(
            f"{where}: {_some(more[row], 'row')} more than documents, so some come twice. "
            f"Next: keep one of each, or choose {setting('duplicates', 'best')}."
        )


def _some(count: float, noun: str) -> str:
    return f"there is 1 {noun}" if count == 1 else f"there are {count:,.0f} {noun}s"


def _check_found(
    judged: Array, found: Mapping[str, Array], judgments: Judgments, conventions: Conventions, source: str
) -> None:
    def named(row: int) -> tuple[str, str]:
        number = int(judged[row])
        return shorten(judgments.doc_ids[number]), shorten(judgments.query_ids[int(judgments.query[number])])

    for row in np.flatnonzero(found["times"] > 1)[:1].tolist():
        doc, query = named(row)
        sign, kind = (-1, "ranks") if conventions.ties == "rank" else (1, "scores")
        ends = sorted(float(sign * found[name][row]) for name in ("lowest", "highest"))
        times = "twice" if found["times"][row] == 2 else f"{found['times'][row]:,.0f} times"
        raise DataError(
            f"{source}: document {doc} comes {times} for query {query}, with the {kind} {ends[0]:g} and {ends[1]:g}. "
            f"Next: keep one of them, or choose {setting('duplicates', 'best')}."
        )
    order = np.argsort(judged, kind="stable")
    for at in np.flatnonzero(np.diff(judged[order]) == 0)[:1].tolist():
        doc, query = named(int(order[at]))
        raise DataError(
            f"{source}: document {doc} of query {query} was counted twice. "
            "Next: give the result of one query of 'rankproof sql', as it is."
        )
    tied = found["last_place"] > found["first_place"]
    for row in np.flatnonzero(tied)[:1].tolist() if conventions.ties == "rank" else ():
        other = setting("ties", "trec")
        raise DataError(f"query {named(row)[1]}: {same_rank()}. Next: correct the rank column, or choose {other}.")


def _check_places(
    ranking: Array, judged: Array, found: Mapping[str, Array], length: Array, judgments: Judgments, source: str
) -> None:
    """Refuse places that no ranking has: outside their tie or their ranking, or shared by two documents."""
    order = np.lexsort((found["place"], ranking))
    ranking, judged = ranking[order], judged[order]
    rank, first, last = (found[name][order] for name in ("place", "first_place", "last_place"))
    right = (first >= 1) & (first <= rank) & (rank <= last) & (last <= length[ranking])
    right &= (rank % 1 == 0) & (first % 1 == 0) & (last % 1 == 0)
    same_tie = (first[1:] == first[:-1]) & (last[1:] == last[:-1]) & (rank[1:] > rank[:-1])
    right[1:] &= same_tie | (first[1:] > last[:-1]) | (ranking[1:] != ranking[:-1])
    for row in np.flatnonzero(~right)[:1].tolist():
        doc, query = judgments.doc_ids[judged[row]], judgments.query_ids[judgments.query[judged[row]]]
        raise DataError(
            f"{source}: document {shorten(doc)} of query {shorten(query)} has place {rank[row]:g}, from "
            f"{first[row]:g} to {last[row]:g} among equal scores, of {length[ranking[row]]:g}, which does not fit or "
            "does not fit the place before it. Next: give the result of 'rankproof sql' as it is, or count anew."
        )


def numbers_of(columns: Mapping[str, Sequence[object] | Array]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Found documents and queries apart, from the columns of the counting query over numbered judgments."""
    wanted = {name: columns[name] for name in ("query", "judgment", *COUNTS, *OF_QUERIES)}
    numbers = {name: each if isinstance(each, np.ndarray) else as_floats(each) for name, each in wanted.items()}
    is_found = ~np.isnan(numbers["judgment"])
    found = {name: numbers[name][is_found] for name in ("judgment", *COUNTS)}
    return found, {name: numbers[name][~is_found] for name in ("query", *OF_QUERIES)}


def by_ids(
    columns: Mapping[str, Sequence[Any]], judgments: Judgments, conventions: Conventions, source: str
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The same, from what a text of `rankproof sql` gave: the ids are found among the judgments."""
    rules, wanted = {each for each in columns.get("rules", ()) if each is not None}, rules_of(conventions)
    if rules - {wanted}:
        raise UsageError(
            f"{source}: counted under {' and '.join(sorted(map(str, rules)))}, asked for under {wanted}. "
            "Next: write the query anew with the options of 'rankproof sql', or evaluate with the same."
        )
    query, doc = columns["query_id"], columns["doc_id"]
    is_found = np.array([each is not None for each in doc], dtype=np.bool_)
    known: dict[int, dict[str, int]] = {}
    number = np.zeros(len(query))
    for row, (name, document) in enumerate(zip(query, doc, strict=True)):
        place = judgments.index.get(name, -1) if name is not None else -1
        number[row] = place
        if document is None or place < 0:
            continue
        if place not in known:
            begin, end = int(judgments.start[place]), int(judgments.start[place + 1])
            known[place] = dict(zip(judgments.doc_ids[begin:end], range(begin, end), strict=True))
        number[row] = known[place].get(document, -1)
    if (number < 0).any():
        row = int(np.flatnonzero(number < 0)[0])
        raise DataError(
            f"{source}: counted query {shorten(query[row])}, document {shorten(doc[row])}, which these judgments "
            "do not hold. Next: give the judgments that the query was run with."
        )
    return numbers_of({**columns, "query": number, "judgment": np.where(is_found, number, np.nan)})


ALL = 20_000_000
"""Up to so many rows every document is looked at for repetitions: .2 microseconds a row, and their ids in memory."""
Table: TypeAlias = Mapping[str, Any]
"""Columns by name."""
Judged: TypeAlias = dict[str, list[Any]]
"""The columns `query_id`, `doc_id`, `query`, `judgment` and `probe`, a row for each judged document."""


@dataclass(frozen=True, eq=False)
class CountedRankings:
    """Rankings whose rows stay in their engine; only counts of judged documents leave it."""

    engine: Polars | SqlEngine
    took: Mapping[str, str]
    """The column of each role."""
    integer_ids: tuple[bool, bool]
    """Whether the ids of queries, and of documents, are integers."""
    decimal: bool
    """Whether scores are decimal numbers."""
    slow: Callable[[], Rankings]
    """Collects the rows into memory: for what needs each of them."""
    source: str = "ranking"
    notes: tuple[str, ...] = ()

    def table(self) -> RankingTable:
        """Every row, collected into memory."""
        return self.slow().table()

    def part(self, rows: int) -> RankingTable:
        """The first rows that the engine gives."""
        query, doc = (self.took[role] for role in ("query", "doc"))
        found = self.engine.head(query, doc, rows)
        queries, docs = ([str(each) for each in found[name]] for name in (query, doc))
        return RankingTable(queries, docs, source=self.source)

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Ordered]:
        """The rankings of judged queries, all at once."""
        check_counted(conventions, self.source, self.took)
        judgments = match_ids(judgments, self.integer_ids, self.source)
        census.notes.extend(self.notes)
        rows, queries = self.engine.size(self.took, self.source)
        distinct = "all" if rows <= ALL else "sample"
        what = Counted(columns=self.took, numbered=True, decimal=self.decimal, distinct=distinct)
        counted = self.engine.count(what, judged_table(judgments), conventions)
        found, of_queries = numbers_of(counted)
        extra = queries - len(of_queries["query"])
        census.extra += extra
        if extra > 0:
            names = map(str, self.engine.some_queries(self.took["query"], 5 + len(judgments.query_ids)))
            census.extra_examples += [each for each in names if each not in judgments.index][:5]
        yield ordered_of(found, of_queries, judgments, conventions, census, self.source)


def judged_table(judgments: Judgments) -> Judged:
    """Judged documents with their numbers, and which queries are in the sample."""
    count = len(judgments.query_ids)
    names = np.array(list(judgments.query_ids), dtype=object)
    probe = np.zeros(count, dtype=np.int64)
    probe[np.random.default_rng(0).choice(count, min(PROBED, count), replace=False)] = 1
    return {
        "query_id": names[judgments.query].tolist(),
        "doc_id": list(judgments.doc_ids),
        "query": judgments.query.tolist(),
        "judgment": list(range(len(judgments.doc_ids))),
        "probe": probe[judgments.query].tolist(),
    }


def check_ids(rows: int, known: Mapping[str, int], source: str) -> None:
    """Refuse rows without an id, and a ranking without a row."""
    if not rows:
        raise DataError(f"{source}: there are no rows in it. Next: check which table this is.")
    for what, count in known.items():
        if count < rows:
            raise DataError(
                f"{source}: {rows - count:,} of {rows:,} rows have no {what} id. Next: drop them, or give them one."
            )


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The counts of judged documents, and of queries, as an engine gave them."""

    columns: Mapping[str, Sequence[Any]]
    source: str = "counted rows"

    def table(self) -> RankingTable:
        """The judged documents that were found, with their ranks: all that is known."""
        rows = [row for row, doc in enumerate(self.columns["doc_id"]) if doc is not None]
        query, doc, rank = ([self.columns[name][row] for row in rows] for name in ("query_id", "doc_id", "place"))
        return RankingTable(query, doc, rank=as_floats(rank), source=self.source)

    def part(self, rows: int) -> RankingTable:
        """Some of them."""
        return part_of(self.table(), rows)

    def table_near(self, query: str) -> RankingTable:
        """The data that `explain` needs: every document of a query, which is not here."""
        raise UsageError(
            f"{self.source}: counted rows hold judged documents alone, and query {shorten(query)} is to be "
            "shown whole. Next: give the ranking itself, or its rows of this query."
        )

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Ordered]:
        """The rankings of judged queries, all at once."""
        check_counted(conventions, self.source)

        def ids() -> RankingTable:
            query, doc = ([each for each in self.columns[name] if each is not None] for name in ("query_id", "doc_id"))
            return RankingTable(query, doc)

        judgments = align_ids(judgments, (False, False), ids)  # ids come back as text, whatever they were
        found, queries = by_ids(self.columns, judgments, conventions, self.source)
        census.notes.append(f"{self.source}: counted elsewhere, so only judged documents are seen here")
        yield ordered_of(found, queries, judgments, conventions, census, self.source)


def counted_rows(columns: Mapping[str, Sequence[Any]], source: str) -> CountedRows:
    """The rows with these columns."""
    found = {str(name).lower(): list(each) for name, each in columns.items()}
    if not any(found.values()):
        raise DataError(
            f"{source}: no counted rows, so no judged query stands in the ranking, or the query has not run. "
            "Next: check which tables were counted."
        )
    if missing := sorted({*COUNTED, "retrieved"} - found.keys()):
        raise DataError(
            f"{source}: counted rows without the column {missing[0]!r}. "
            "Next: give all columns of the query that 'rankproof sql' writes."
        )
    defaults = {"times": 1, "low": 0, "dropped": 0, "bad": 0}
    for name in ("query_id", "doc_id"):
        found[name] = [None if each is None or each != each or each == "" else _text(each) for each in found[name]]
    for name in (*COUNTS, *OF_QUERIES):
        given = found.get(name) or [defaults.get(name)] * len(found["query_id"])
        try:
            found[name] = [None if each is None or each == "" else float(each) for each in given]
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{source}: got no number in the column {name!r} ({error}), expected numbers alone. "
                "Next: give the result of the query that 'rankproof sql' writes, as it is."
            ) from error
    rows = list(zip(found["query_id"], found["doc_id"], strict=True))
    known = {query for query, doc in rows if doc is None}
    for query, doc in rows:
        if doc is not None and query not in known:
            raise DataError(
                f"{source}: document {shorten(doc)} was found for query {shorten(query)}, but no row says how long its "
                "ranking is. Next: give all rows of the query that 'rankproof sql' writes."
            )
    return CountedRows(found, source)


def _text(value: Any) -> str:
    """An id as text; engines hand over bytes, or floats where a column has gaps."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
