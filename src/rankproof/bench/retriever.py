"""What every retriever is to the rest: questions in, for each the documents found, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

Found: TypeAlias = list[tuple[str, float]]
"""What was found for one question: ids with their scores, best first, each id once."""


@runtime_checkable
class Retriever(Protocol):
    """Answers questions in batches, and says what it is."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that shapes its answers, as plain data: two retrievers with equal settings answer alike."""

    def search(self, questions: Sequence[str], k: int) -> list[Found]:
        """For each question at most `k` documents."""
