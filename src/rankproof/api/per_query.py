"""Values by measure and query, as `scores.per_query` gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rankproof.core.measure import Measure

if TYPE_CHECKING:
    from rankproof.api.scores import Scores


class PerQueryValues(Mapping[str, dict[str, float]]):
    """`{measure: {query: value}}`, made when asked for; other names of a measure find it too."""

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._made: dict[str, dict[str, float]] = {}

    def __getitem__(self, measure: str | Measure) -> dict[str, float]:
        name = self._scores.key(measure)
        if name not in self._made:
            self._made[name] = self._scores.values(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores.columns)

    def __len__(self) -> int:
        return len(self._scores.columns)

    def __repr__(self) -> str:
        return repr(dict(self))
