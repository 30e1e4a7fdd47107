"""One person's way through the pairs that were drawn: what comes next, and what each decision does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rankproof.errors import UsageError
from rankproof.judging.trust.draw import Drawn
from rankproof.judging.verdicts import VALUES, Ask


@dataclass
class Session:
    """Where a person stands; every decision goes through `keep` at once, and back through `forget`."""

    drawn: Sequence[Drawn]
    before: Mapping[Ask, int]
    """What the person labelled before."""
    keep: Callable[[Drawn, int], None]
    forget: Callable[[Drawn], None]
    _steps: list[tuple[Drawn, int | None]] = field(default_factory=list)

    def next(self) -> Drawn | None:
        """What is to be labelled now; None at the end. What was skipped does not come again in this session."""
        seen = {pair.ask for pair, _ in self._steps}
        return next((e for e in self.drawn if e.ask not in seen and e.ask not in self.before), None)

    def grade(self, value: int) -> None:
        """Label what is next."""
        pair = self._now()
        if value not in VALUES[pair.ask.relation]:
            known = ", ".join(map(str, VALUES[pair.ask.relation]))
            raise UsageError(f"label: got {value!r}, expected one of {known}. Next: choose one of them.")
        self.keep(pair, value)
        self._steps.append((pair, value))

    def skip(self) -> None:
        """Leave what is next open."""
        self._steps.append((self._now(), None))

    def undo(self) -> Drawn | None:
        """Take the last decision of this session back; its pair comes next again. None where there is none."""
        if not self._steps:
            return None
        pair, value = self._steps.pop()
        if value is not None:
            self.forget(pair)
        return pair

    def _now(self) -> Drawn:
        pair = self.next()
        if pair is None:
            raise UsageError("everything that was drawn is labelled. Next: draw more with n.")
        return pair

    @property
    def done(self) -> int:
        """How many of the drawn pairs have this person's label."""
        given = {pair.ask for pair, value in self._steps if value is not None}
        return sum(each.ask in self.before or each.ask in given for each in self.drawn)

    @property
    def skipped(self) -> int:
        """How many were left open in this session."""
        return sum(value is None for _, value in self._steps)
