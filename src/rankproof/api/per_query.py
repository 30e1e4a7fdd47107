"""Values by measure and query, as `scores.per_query` gives them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from rankproof.core.measure import Measure
from rankproof.display import Displayable


@dataclass(frozen=True, eq=False, repr=False)
class PerQueryValues(Displayable, Mapping[str, dict[str, float]]):
    """`{measure: {query: value}}`, made when asked for; other names of a measure find it too."""

    names: Collection[str]
    """The canonical names of the measures."""
    key: Callable[[str | Measure], str]
    """The canonical name for any name of a measure."""
    values_of: Callable[[str], dict[str, float]]
    """The value of each query, for a canonical name."""
    _made: dict[str, dict[str, float]] = field(default_factory=dict, init=False)

    def __getitem__(self, measure: str | Measure) -> dict[str, float]:
        name = self.key(measure)
        if name not in self._made:
            self._made[name] = self.values_of(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def _in_one_line(self) -> str:
        return f"<values by query of {', '.join(self.names)}>"
