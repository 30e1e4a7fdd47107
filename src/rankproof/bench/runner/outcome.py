"""What became of one call of a retriever."""

from __future__ import annotations

from threading import current_thread, main_thread
from time import perf_counter
from types import TracebackType
from typing import Any

from rankproof.bench.adapters.failed import Failed, as_failure


class Outcome:
    """What a block of code gave or raised, and the seconds it took.

    A user's retriever may raise anything, also what ends a program; only Ctrl-C goes through, which meets the
    main thread and no other.

    >>> with Outcome() as outcome:
    ...     outcome.value = 1 / 0
    >>> outcome.failure.reason
    'ZeroDivisionError: division by zero'
    """

    __slots__ = ("failure", "seconds", "start", "value")

    def __init__(self) -> None:
        self.value: Any = None
        self.failure: Failed | None = None
        self.seconds = 0.0
        self.start = 0.0

    def __enter__(self) -> Outcome:
        self.start = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.seconds = perf_counter() - self.start
        if error is not None and not _is_control_c(error):
            self.failure = as_failure(error)
        return self.failure is not None


def _is_control_c(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt) and current_thread() is main_thread()


def late(seconds: float) -> Outcome:
    """The outcome of a call that was waited for so long, and no longer."""
    outcome = Outcome()
    outcome.seconds = seconds
    outcome.failure = Failed(f"no answer within {seconds:.3g} s", again=True)
    return outcome
