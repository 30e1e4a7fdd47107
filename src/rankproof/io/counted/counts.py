"""From what an engine counted to rankings, with every check that the rows themselves would have had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankproof.core.conventions import Conventions
from rankproof.core.hits import Array
from rankproof.core.join import Census, Ordered
from rankproof.core.judgments import Judgments
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.counted.text import rules_of

COUNTS = ("times", "place", "first_place", "last_place", "low", "lowest", "highest")
"""The counts of a judged document that was found."""
OF_QUERIES = ("retrieved", "unlike", "dropped", "bad", "huge", "infinite")
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
    infinite = int(np.nansum(queries["infinite"]))
    census.infinite += infinite
    census.huge += int(np.nansum(queries["huge"])) - infinite
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
            f"{source}: a query was counted twice, expected one row a query. "
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
            "Next: keep one of each, or choose duplicates='best'."
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
            "Next: keep one of them, or choose duplicates='best'."
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
        raise DataError(
            f"query {named(row)[1]}: two documents stand at the same rank, so ties='rank' has no order to take. "
            "Next: correct the rank column, or choose ties='trec'."
        )


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
    numbers = {
        name: each if isinstance(each, np.ndarray) else as_floats(each)
        for name, each in columns.items()
        if name != "rules"
    }
    is_found = ~np.isnan(numbers["judgment"])
    found = {name: numbers[name][is_found] for name in ("judgment", *COUNTS)}
    return found, {name: numbers[name][~is_found] for name in ("query", *OF_QUERIES)}


def by_ids(
    columns: Mapping[str, Sequence[object]], judgments: Judgments, conventions: Conventions, source: str
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The same, from what a text of `rankproof sql` gave: the ids are found among the judgments."""
    rules = {each for each in columns.get("rules", ()) if each is not None}
    if len(rules) > 1 or (rules and rules != {rules_of(conventions)}):
        raise UsageError(
            f"{source}: counted under {' and '.join(sorted(map(str, rules)))}, asked for under "
            f"{rules_of(conventions)}. "
            "Next: write the query anew with the options of 'rankproof sql', or evaluate with the same."
        )
    query = [None if each is None else str(each) for each in columns["query_id"]]
    doc = [None if each is None else str(each) for each in columns["doc_id"]]
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
    numbers = {name: as_floats(columns[name]) for name in (*COUNTS, *OF_QUERIES) if name in columns}
    found = {name: numbers[name][is_found] for name in COUNTS} | {"judgment": number[is_found]}
    return found, {name: numbers[name][~is_found] for name in OF_QUERIES} | {"query": number[~is_found]}
