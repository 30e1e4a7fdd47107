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
    noticed = Census()
    for piece in scanned:
        expected = len(queries) + len(piece.queries)
        queries.update(dict.fromkeys(piece.queries))
        if len(queries) < expected:
            raise NotTogether
        found += piece.ordered
        _add(noticed, piece.noticed)
    _add(census, noticed)
    _count_extra(census, queries, index)
    return found


def _add(census: Census, more: Census) -> None:
    for name in ("dropped", "comments", "huge", "infinite", "lists", "rising", "rises", "falls"):
        setattr(census, name, getattr(census, name) + getattr(more, name))


def _count_extra(census: Census, queries: dict[bytes, None], index: Index) -> None:
    extra = [query for query in queries if query not in index.queries]
    room = max(0, 5 - len(census.extra_examples))
    census.extra += len(extra)
    census.extra_examples += [query.decode() for query in extra[:room]]
