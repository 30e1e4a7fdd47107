"""The queries of a report that are worth a look, with their ranked lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankproof.api.comparison import Comparison
from rankproof.api.deciding import hardest, hits_of, relevant_from, sign_of
from rankproof.api.explain import explained
from rankproof.api.scores import Scores
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.core.table import RankingTable
from rankproof.errors import UsageError
from rankproof.reporting.html.content import Case

CASES = 5
"""Queries that lost most; in all twice as many are shown."""


def cases_of(
    judgments: Judgments, scores: Mapping[str, Scores], shown: Sequence[str], compared: Comparison | None
) -> Iterator[Case]:
    """The queries that lost most, then those with the lowest values, with the lists of the systems shown."""
    chosen = _chosen(scores[shown[-1]], shown[-1], compared)
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


def _chosen(scores: Scores, name: str, compared: Comparison | None) -> dict[str, str]:
    """Queries, and why each is shown."""
    chosen: dict[str, str] = {}
    if compared is not None:
        sign = sign_of(scores)
        moved = sorted(compared.moved(name), key=lambda pair: sign * pair[1])
        chosen = {query: "lost most" for query, value in moved[:CASES] if sign * value < 0}
    answerable = hits_of(scores).ideal.relevant(relevant_from(scores)).count() > 0
    for row in hardest(scores, answerable)[: 2 * CASES]:
        if len(chosen) < 2 * CASES:
            chosen.setdefault(scores.queries[row], "among the lowest")
    return chosen


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
