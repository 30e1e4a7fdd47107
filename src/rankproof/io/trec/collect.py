"""What the pieces of a run gave, put together."""

from __future__ import annotations

from collections.abc import Iterable

from rankproof.core.join import Census, Ordered
from rankproof.io.trec.index import Index
from rankproof.io.trec.scan import Scanned


class NotTogether(Exception):
    """The lines of a query do not stand together."""


def collected(scanned: Iterable[Scanned], index: Index, census: Census) -> list[Ordered]:
    """The rankings of all pieces; a query that appears in two places raises NotTogether."""
    found: list[Ordered] = []
    queries: dict[bytes, None] = {}
    dropped = 0
    for piece in scanned:
        expected = len(queries) + len(piece.queries)
        queries.update(dict.fromkeys(piece.queries))
        if len(queries) < expected:
            raise NotTogether
        found += piece.ordered
        dropped += piece.dropped
    _count(census, queries, index, dropped)
    return found


def _count(census: Census, queries: dict[bytes, None], index: Index, dropped: int) -> None:
    extra = [query for query in queries if query not in index.queries]
    room = max(0, 5 - len(census.extra_examples))
    census.extra += len(extra)
    census.extra_examples += [query.decode() for query in extra[:room]]
    census.dropped += dropped
