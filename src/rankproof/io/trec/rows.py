"""The lines of a run that answer judged queries, as columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rankproof.core.hits import Array
from rankproof.io.trec.lines import Lines

COLUMNS = 6
"""Query, a word nobody uses, document, rank, score, name of the run."""
QUERY, DOC, RANK, SCORE = 0, 2, 3, 4


@dataclass(frozen=True, eq=False)
class Rows:
    """The lines of judged queries as columns."""

    lines: Lines
    row: Array
    """Which row of `lines` each is."""
    query: Array
    """Which query of the judgments."""
    score: Array
    begin: Array
    """Where each document's id begins."""
    length: Array
    """How long each document's id is."""
    key: Array
    """A number made of query and document."""

    def keep(self, rows: Array) -> Rows:
        """Only some rows."""
        picked = {
            name: getattr(self, name)[rows] for name in ("row", "query", "score", "begin", "length", "key")
        }
        return replace(self, **picked)
