"""Several rankings in one table: means with their intervals, the best of each measure marked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankproof.core.summary import Row, Summary
from rankproof.display import width
from rankproof.reporting.numbers import score, short_span
from rankproof.reporting.tables import GAP, Column, page_width, table

MARK = "*"
LEGEND = f"{MARK} best mean of its measure; not a claim that the difference is real"
FEWEST = 10
"""With fewer queries nothing is marked: the best of so few means says next to nothing about the next queries."""


def side_by_side(summaries: Sequence[Summary], limit: int | None = None) -> list[str]:
    """A line a measure and a column a ranking, intervals beside the means; where that does not fit, under them,
    or with a line a ranking."""
    limit = page_width() if limit is None else limit
    names = [each.name for each in summaries]
    measures = [row.measure for row in summaries[0].rows]
    cells = [[cell(row, row.measure in best(summaries, each)) for row in each.rows] for each in summaries]
    beside = [Column("measure", measures), *map(_beside, names, cells)]
    upright = [Column("measure", _spaced(measures)), *map(_stacked, names, cells)]
    turned = [Column("ranking", _spaced(names)), *map(_stacked, measures, zip(*cells, strict=True))]
    return table(next((each for each in (beside, upright) if _needs(each) <= limit), turned), limit)


def cell(row: Row, marked: bool) -> tuple[str, str]:
    """The mean of a row, and under it the interval."""
    return score(row.shown) + (MARK if marked else " "), short_span(*row.ends)


def best(summaries: Sequence[Summary], summary: Summary) -> set[str]:
    """The measures on which this ranking has the best mean, as far as the table shows and can tell.

    Nothing is best of fewer than 10 queries, nor where the last mean is not apart from it.
    """
    won = set()
    for i, row in enumerate(summary.rows):
        rows = [each.rows[i] for each in summaries]
        if any(math.isnan(each.shown) for each in rows):
            continue  # one has no mean, so none is best
        rows.sort(key=lambda each: each.shown, reverse=row.higher)
        if score(row.shown) == score(rows[0].shown) != score(rows[-1].shown) and _apart(row, rows[-1]):
            won.add(row.measure)
    return won


def _apart(one: Row, other: Row) -> bool:
    """Whether two means tell anything: each is of enough queries, and outside the interval of the other."""
    for row, mean in ((one, other.shown), (other, one.shown)):
        low, high = row.ends
        if row.n < FEWEST or low is None or high is None or low <= mean <= high:
            return False
    return True


def legend(summaries: Sequence[Summary]) -> str:
    """What the mark says; "" where no mean is marked."""
    return LEGEND if any(best(summaries, each) for each in summaries) else ""


def _spaced(labels: Sequence[str]) -> list[str]:
    """Each label with an empty line below, beside which the interval stands."""
    return [line for label in labels for line in (label, "")]


def _beside(heading: str, cells: Sequence[tuple[str, str]]) -> Column:
    return Column(heading, [" ".join(pair) for pair in cells], right=True)


def _stacked(heading: str, cells: Sequence[tuple[str, str]]) -> Column:
    return Column(heading, [line for pair in cells for line in pair], right=True)


def _needs(columns: Sequence[Column]) -> int:
    return sum(each.width + width(GAP) for each in columns) - width(GAP)
