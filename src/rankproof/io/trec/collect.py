"""What the pieces of a run gave, put together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rankproof.core.join import Census, Ordered
from rankproof.io.trec.index import Index
from rankproof.io.trec.scan import Scanned


class NotTogether(Exception):
    """The lines of a query do not stand together."""


def collected(scanned: Iterable[Scanned], index: Index, census: Census) -> list[Ordered]:
    """The rankings of all pieces; a query that appears in two places raises NotTogether."""
    found: list[Ordered] = []
    seen = np.zeros(len(index.queries.length), dtype=bool)
    others: dict[str, None] = {}
    noticed = Census()
    for piece in scanned:
        expected = len(others) + len(piece.others)
        others.update(dict.fromkeys(piece.others))
        again = seen[piece.queries].any() or len(np.unique(piece.queries)) < len(piece.queries)
        if again or len(others) < expected:
            raise NotTogether
        seen[piece.queries] = True
        found += piece.ordered
        _add(noticed, piece.noticed)
    _add(census, noticed)
    _count_extra(census, list(others))
    return found


def _add(census: Census, more: Census) -> None:
    for name in ("dropped", "comments", "huge", "infinite", "lists", "rising", "rises", "falls"):
        setattr(census, name, getattr(census, name) + getattr(more, name))


def _count_extra(census: Census, extra: list[str]) -> None:
    room = max(0, 5 - len(census.extra_examples))
    census.extra += len(extra)
    census.extra_examples += extra[:room]
