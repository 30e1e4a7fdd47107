"""Judgments of parts of documents: which characters hold what a query needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from rankproof.display import Displayable


class JudgedSpan(NamedTuple):
    """The characters of a document from `start` up to `end`, and how relevant they are."""

    document: str
    start: int
    end: int
    grade: float = 1


@dataclass(frozen=True, eq=False)
class SpanJudgments(Displayable):
    """The judged spans of each query; a query without any has none that is relevant."""

    by_query: Mapping[str, tuple[JudgedSpan, ...]]
    source: str = "span judgments"
    places: Mapping[tuple[str, JudgedSpan], str] = field(default_factory=dict)
    """Where each was read, for messages."""

    @property
    def fingerprint(self) -> str:
        """The same for the same judgments in any order."""
        rows = sorted((query, *span) for query, spans in self.by_query.items() for span in spans)
        without = sorted(query for query, spans in self.by_query.items() if not spans)
        return blake2b(repr((rows, without)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def where(self, query: str, span: JudgedSpan) -> str:
        """The words that say where a span comes from."""
        return self.places.get((query, span), f"{self.source}, query {query!r}")
