"""One row a question: what was found, how long it took, or why there is nothing."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from threading import current_thread, main_thread
from time import perf_counter, time
from types import TracebackType
from typing import Any

from rankproof.bench.adapters.adapter import MOST, answers_of
from rankproof.bench.adapters.alike import as_failure
from rankproof.bench.adapters.answers import Answer, AnswerReading, read_answer, settle_order
from rankproof.document.display import Displayable
from rankproof.net.retries import Failed


class RunOutcome:
    """What a block of code gave or raised, and the seconds it took.

    A user's retriever may raise anything, also what ends a program; only Ctrl-C goes through, which meets the
    main thread and no other.

    >>> with RunOutcome() as outcome:
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

    def __enter__(self) -> RunOutcome:
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


def late_outcome(seconds: float) -> RunOutcome:
    """The outcome of a call that was waited for so long, and no longer."""
    outcome = RunOutcome()
    outcome.seconds = seconds
    outcome.failure = Failed(f"no answer within {seconds:.3g} s", again=True)
    return outcome


FORM = 2
"""Of the text in which answers are kept; what is there in another is asked anew."""
SURE = 3
"""So many lists with rising scores, and none with falling ones, show that scores are distances."""


@dataclass(frozen=True, slots=True)
class RunRow(Displayable):
    """What became of one question."""

    question: str
    """Its id."""
    answer: Answer | None
    """None: it failed."""
    seconds: float
    """How long the attempt that counts took; in a batch, its share."""
    failure: str = ""
    attempts: int = 1
    remembered: bool = False
    """Whether the answer was kept from an earlier run."""
    kept: float = 0.0
    """When that was, in seconds since 1970; 0: not known."""


@dataclass(frozen=True, slots=True)
class Job:
    """Questions that are asked in one call."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    batch: bool = False
    """Whether the call takes a list of texts."""

    def __len__(self) -> int:
        return len(self.ids)

    def split(self) -> Iterator[Job]:
        """The same questions one by one."""
        return (Job((name,), (text,), True) for name, text in zip(self.ids, self.texts, strict=True))


Reader = Callable[[Job, RunOutcome, int], "list[RunRow]"]
"""Makes rows of the outcome of a call, at the attempt of that number."""


def whole_value(job: Job, value: Any) -> Any:
    """What a call gave, all of it: what comes bit by bit is waited for, answers to a batch are counted."""
    if job.batch:
        return answers_of(value, len(job))
    return value if isinstance(value, list) or not isinstance(value, Iterator) else list(islice(value, MOST))


def reader(reading: AnswerReading) -> Reader:
    """What makes rows of a call's outcome; an answer that cannot be read fails its own question only."""

    def rows(job: Job, outcome: RunOutcome, attempt: int) -> list[RunRow]:
        share = outcome.seconds / len(job)
        if outcome.failure is not None:
            return [failed_row(name, outcome.failure, share, attempt) for name in job.ids]
        every = outcome.value if job.batch else (outcome.value,)
        return [_row(name, raw, reading, share, attempt) for name, raw in zip(job.ids, every, strict=True)]

    return rows


def _row(name: str, raw: Any, reading: AnswerReading, seconds: float, attempt: int) -> RunRow:
    if isinstance(raw, Failed):
        return failed_row(name, raw, seconds, attempt)
    with RunOutcome() as outcome:
        outcome.value = read_answer(raw, reading)
    if outcome.failure is not None:
        return failed_row(name, outcome.failure, seconds, attempt)
    return RunRow(name, outcome.value, seconds, attempts=attempt)


def failed_row(name: str, failure: Failed, seconds: float, attempt: int) -> RunRow:
    """The row of a question without an answer."""
    return RunRow(name, None, seconds, failure.reason, attempt)


def settle(rows: Sequence[RunRow], k: int) -> list[RunRow]:
    """The rows with every list in its final order: scores that rise in all lists are distances."""
    answers = [each.answer for each in rows if each.answer is not None]
    rising = sum(each.rising for each in answers)
    falls = any(not a.rising and len(a.found) > 1 and a.found[0][1] > a.found[-1][1] for a in answers)
    distances = rising >= SURE and not falls
    return [
        replace(each, answer=each.answer and settle_order(each.answer, k, distances)) if rising else each
        for each in rows
    ]


def pack_row(row: RunRow) -> str:
    """An answered row as text, to be kept; `unpack_row` gives it back."""
    a = row.answer or Answer([])
    ids, scores = [name for name, _ in a.found], [score for _, score in a.found]
    # Scores as the bytes they are: writing each in decimal takes as long as everything else together.
    bits = struct.pack(f"<{len(scores)}d", *scores).hex()
    return json.dumps([ids, bits, a.cut, a.repeated, a.rising, row.seconds, row.attempts, round(time())])


def unpack_row(question: str, text: str) -> RunRow:
    """The row that was kept, for this question.

    >>> row = RunRow("q1", Answer([("d1", 0.1), ("d2", -float("inf"))]), 0.5)
    >>> unpack_row("q1", pack_row(row)).answer == row.answer
    True
    """
    ids, bits, cut, repeated, rising, seconds, attempts, kept = json.loads(text)
    scores = struct.unpack(f"<{len(ids)}d", bytes.fromhex(bits))
    answer = Answer(list(zip(ids, scores, strict=True)), cut, repeated, rising)
    return RunRow(question, answer, seconds, "", attempts, True, kept)
