"""The measure that decides, and the queries that are worth a look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankproof.core.explained import Case
from rankproof.core.hits import Array, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.scoring import CLOSE, ceiling
from rankproof.core.table import RankingTable
from rankproof.errors import DataError, UsageError
from rankproof.scoring.explain import explained
from rankproof.scoring.scores import Scores

if TYPE_CHECKING:
    from rankproof.comparing.comparison import Comparison


ABOVE_ZERO = float(np.nextafter(0, 1))
"""The least grade that is above 0."""


def first_measure(scores: Scores) -> str:
    """The name of the deciding measure."""
    return next(iter(scores))


def sign_of(scores: Scores) -> int:
    """1 where more of the deciding measure is better, else -1."""
    return next(iter(scores.columns.values())).measure.spec.sign


def averaged(measure: Measure) -> Measure:
    """The measure, if its mean over queries is a mean: only then can single queries be compared."""
    if measure.spec.average != "mean":
        raise UsageError(
            f"{measure}: its values of single queries are not averaged ({measure.spec.average}), so it cannot decide. "
            "Next: name another measure first, like nDCG@10."
        )
    return measure


def hits_of(scores: Scores) -> Hits:
    """The hits that the scores were made from."""
    if scores.hits is None:
        raise DataError("there are no rankings behind these scores. Next: evaluate again.")
    return scores.hits


def relevant_from(scores: Scores) -> float:
    """From which grade on the deciding measure calls a document relevant: any above 0 where it asks for none."""
    return float(next(iter(scores.columns.values())).measure.params.get("rel", 1)) or ABOVE_ZERO


def relevant_in_words(scores: Scores) -> str:
    """What counts as relevant, as a page says it."""
    least = relevant_from(scores)
    return "a grade above 0" if least == ABOVE_ZERO else f"a grade of {least:g} or more"


def hardest(scores: Scores, among: Array) -> list[int]:
    """The queries picked by `among`, those with the worst values first."""
    values = sign_of(scores) * scores.column(first_measure(scores)).values
    return [row for row in np.argsort(values, kind="stable").tolist() if among[row]]


CASES = 5
"""Queries that lost most; in all twice as many are shown."""


def cases_of(
    judgments: Judgments, scores: Mapping[str, Scores], shown: Sequence[str], compared: Comparison | None
) -> Iterator[Case]:
    """The queries that lost most, then those with the lowest values, with the lists of the systems shown."""
    chosen = _chosen(scores, shown, compared)
    tables = {name: _tables(scores[name].ranking, set(chosen)) for name in shown}
    for query, why in chosen.items():
        sides = ((name, explained(scores[name], judgments, tables[name][query], query)) for name in shown)
        yield Case(query, why, tuple(sides))


def moved_cases(compared: Comparison, system: str, n: int) -> tuple[Case, ...]:
    """The queries that lost most against the baseline, then those that won most, under both systems."""
    shown = (compared.baseline, system)
    scores = {name: compared.scores[name] for name in shown}
    judgments = scores[system].judgments
    if judgments is None or any(each.ranking is None for each in scores.values()):
        raise UsageError(
            "there are no rankings behind these scores, so no lists to show. Next: compare the files."
        )
    chosen = _most_moved(compared, system, n)
    tables = {name: _tables(each.ranking, set(chosen)) for name, each in scores.items()}
    return tuple(
        Case(q, why, tuple((s, explained(scores[s], judgments, tables[s][q], q)) for s in shown))
        for q, why in chosen.items()
    )


def _most_moved(compared: Comparison, system: str, n: int) -> dict[str, str]:
    """Queries, and by how much each moved."""
    sign = sign_of(compared.scores[system])
    moved = sorted(compared.moved(system), key=lambda pair: sign * pair[1])
    lost = [pair for pair in moved[:n] if sign * pair[1] < 0]
    won = [pair for pair in moved[::-1][:n] if sign * pair[1] > 0]
    return {
        query: f"{word} {abs(by):.4f}" for word, some in (("lost", lost), ("won", won)) for query, by in some
    }


def _chosen(
    scores: Mapping[str, Scores], shown: Sequence[str], compared: Comparison | None
) -> dict[str, str]:
    """Queries, and why each is shown."""
    chosen: dict[str, str] = {}
    if compared is not None:
        sign = sign_of(scores[shown[-1]])
        moved = sorted(compared.moved(shown[-1]), key=lambda pair: sign * pair[1])
        chosen = {query: "lost most" for query, value in moved[:CASES] if sign * value < 0}
    for query in _lowest([scores[name] for name in shown]):
        if len(chosen) < 2 * CASES:
            chosen.setdefault(query, "among the lowest")
    return chosen


def _lowest(shown: Sequence[Scores]) -> list[str]:
    """The queries that one of the systems answers worst; left out are those that all answer perfectly."""
    first, measure = shown[0], next(iter(shown[0].columns.values())).measure
    values = np.array([sign_of(each) * each.column(measure).values for each in shown])
    answerable = hits_of(first).ideal.relevant(relevant_from(first)).count() > 0
    best = sign_of(first) * ceiling(measure, hits_of(first))
    short = answerable & ~(values >= best - CLOSE).all(axis=0)
    order = np.lexsort((values.sum(axis=0), values.min(axis=0))).tolist()
    return [first.queries[row] for row in order if short[row]]


def _tables(ranking: Any, queries: set[str]) -> dict[str, RankingTable]:
    """The rows of each of the queries as a table of its own, so that none is looked for in all rows."""
    whole = ranking.table()
    rows: dict[str, list[int]] = {query: [] for query in queries}
    for row, query in enumerate(whole.query):
        if query in rows:
            rows[query].append(row)
    return {query: _part(whole, which) for query, which in rows.items()}


def _part(table: RankingTable, rows: list[int]) -> RankingTable:
    def pick(column: Array | None) -> Array | None:
        return None if column is None else column[rows]

    return RankingTable(
        query=[table.query[row] for row in rows],
        doc=[table.doc[row] for row in rows],
        score=pick(table.score),
        rank=pick(table.rank),
        source=table.source,
    )
