"""A person who labels one thing after the other: `rankproof label` documents, `calibrate` the pairs of a judge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from rankproof.errors import UsageError

T = TypeVar("T")


@dataclass
class LabellingSession(ABC, Generic[T]):
    """Where a person stands who labels one thing after the other; each decision is kept at once, or taken back."""

    steps: list[tuple[T, int | None]] = field(default_factory=list, init=False)
    """What was decided, in order; None is what was skipped."""
    at_end: ClassVar[str] = "everything is labelled. Next: add something to label."

    @abstractmethod
    def next(self) -> T | None:
        """What is to be labelled now; None at the end."""

    @abstractmethod
    def _check(self, item: T, value: int) -> None:
        """Refuse a value that the thing cannot have."""

    @abstractmethod
    def _keep_step(self, item: T, value: int | None) -> None:
        """Write a decision down; None: it is skipped."""

    @abstractmethod
    def _take_back(self, item: T, value: int | None) -> None:
        """Undo what was written down."""

    def grade(self, value: int) -> None:
        """Label what is next."""
        self._decide(value)

    def skip(self) -> None:
        """Leave what is next open: it gets no label from this person."""
        self._decide(None)

    def undo(self) -> T | None:
        """Take the last decision back; what it was about comes next again. None if there is none."""
        if not self.steps:
            return None
        item, value = self.steps.pop()
        self._take_back(item, value)
        return item

    def _decide(self, value: int | None) -> None:
        item = self.next()
        if item is None:
            raise UsageError(self.at_end)
        if value is not None:
            self._check(item, value)
        self._keep_step(item, value)
        self.steps.append((item, value))
