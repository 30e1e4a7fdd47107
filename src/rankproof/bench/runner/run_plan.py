"""The plan of a run and its remaining questions, shared by all workers."""

from __future__ import annotations

import json
import struct
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from math import inf
from threading import Event, Lock, current_thread, main_thread
from time import monotonic, perf_counter, time
from types import TracebackType
from typing import Any, TypeAlias, TypedDict

from rankproof.bench.adapters import Adapted
from rankproof.bench.adapters.adapter import MOST, answers_of, settle_orders
from rankproof.bench.retriever import Answer, AnswerReading, read_answer
from rankproof.document.model import Displayable
from rankproof.errors import check_number, check_whole, not_known
from rankproof.net.retries import Attempts, Failed, Pace, Retries, attempts, failure_of


class RunLimits(TypedDict, total=False):
    """Options of how a retriever is asked."""

    concurrency: int
    """Questions asked at once: threads, or tasks where the retriever is async. [1; async and endpoints 8]"""
    timeout: float | None
    """Seconds after which a question has failed, whatever it does. [60; endpoints 30]"""
    retries: int
    """How often a failed question is asked again. [0; endpoints 2]"""
    backoff: float
    """Seconds before it is asked again; doubled every time. [0.5]"""
    rate: float | None
    """Calls a second at most."""
    warm_up: int
    """How many questions are asked first without being counted. [0]"""


@dataclass(frozen=True, slots=True)
class RunPlan(Displayable):
    """The limits, all of them settled."""

    concurrency: int = 1
    timeout: float | None = 60.0
    retries: int = 0
    backoff: float = 0.5
    rate: float | None = None
    warm_up: int = 0
    batch: int | None = 32
    """Questions in one call of a retriever that takes several; None: all."""
    splits: bool = True
    """Whether a batch that failed is asked again question by question."""

    def patience(self, questions: int) -> float | None:
        """Seconds to wait for so many questions in one call."""
        return None if self.timeout is None else self.timeout * questions

    @property
    def retrying(self) -> Retries:
        """How often, and after how long, a failed question is asked again."""
        return Retries(self.retries + 1, self.backoff)


WHOLE = {"concurrency": (1, 1000), "retries": (0, 1000), "warm_up": (0, None), "batch": (1, None)}
"""The least and the most of whole numbers: more threads than that no system starts."""
MOST_SECONDS = 1e6
"""Of a wait, eleven days: clocks of threads and sockets overflow not far beyond. A rate is within the same limits."""


def plan_for(retriever: Adapted, limits: Mapping[str, Any]) -> RunPlan:
    """The given limits, else those of the retriever, else the defaults."""
    known = [each.name for each in fields(RunPlan) if each.name != "splits"]
    for name in limits:
        if name not in known:
            raise not_known(f"unknown setting {name!r}", name, known, f"use one of {', '.join(known)}")
    usual = {"concurrency": 8} if retriever.awaited else {}
    # A command is started for every call: asked question by question, it would be started for each question.
    splits = retriever.limits.get("batch", 0) is not None
    plan = RunPlan(**{**usual, **retriever.limits, **limits, "splits": splits})
    for name, (least, most) in WHOLE.items():
        if name != "batch" or plan.batch is not None:
            check_whole(name, getattr(plan, name), least, most, advice="give one of these")
    for name, nothing in (("timeout", None), ("rate", None), ("backoff", 0)):
        if getattr(plan, name) != nothing:
            check_number(name, getattr(plan, name), above=0)
            check_number(name, getattr(plan, name), least=1 / MOST_SECONDS, most=MOST_SECONDS)
    return plan


Course: TypeAlias = "Attempts[RunOutcome]"
"""The way of a job to its last outcome, and which attempt that was."""


@dataclass(eq=False, slots=True)
class RetrieverCall:
    """A call that was begun and is not over."""

    course: Course
    job: Job
    since: float


class Work:
    """Jobs to take, calls in flight, outcomes to fetch.

    Those who ask only put outcomes down; they are read when they are fetched, so that a fast retriever is not
    kept waiting.
    """

    def __init__(self, jobs: Iterable[Job], plan: RunPlan, reading: AnswerReading) -> None:
        self.plan = plan
        self.over = Event()
        """Set when every question has its row, or nobody is to go on."""
        self._jobs = deque(jobs)
        self.failed = 0
        """How many questions got no answer."""
        self.done = 0
        """How many questions are through with it."""
        self._open = len(self._jobs)
        """How many jobs are not over."""
        self._calls: dict[int, RetrieverCall] = {}
        self._outcomes: deque[tuple[Job, RunOutcome, int]] = deque()
        self._lock = Lock()
        self.pace = Pace(plan.rate)
        self._reading = reading
        if not self._jobs:
            self.over.set()

    def next(self) -> Job | None:
        """The next job; None if there is none left."""
        try:
            return None if self.over.is_set() else self._jobs.popleft()
        except IndexError:
            return None

    def course(self) -> Course:
        """The attempts at one job, and the pauses between them."""
        return attempts(self.plan.retrying, self.pace)

    def begin(self, job: Job, course: Course, pause: float = 0.0) -> RetrieverCall:
        """Note that a call begins, or a pause before one."""
        call = RetrieverCall(course, job, monotonic() + pause)
        self._calls[id(call)] = call
        return call

    def end(self, call: RetrieverCall) -> bool:
        """Note that a call is over; whether its outcome still matters to anyone."""
        return self._calls.pop(id(call), None) is not None

    def overdue(self, grace: float = 0.0) -> list[RetrieverCall]:
        """The calls that were waited for too long."""
        now, late = monotonic(), inf if self.plan.timeout is None else self.plan.timeout
        return [call for call in self.in_flight() if now - call.since > late * len(call.job) + grace]

    def in_flight(self) -> list[RetrieverCall]:
        """The calls that are not over."""
        return list(self._calls.values())

    def record(self, job: Job, outcome: RunOutcome, attempt: int, *, anew: bool = False) -> None:
        """Put down an outcome; `anew` replaces the one before."""
        self._outcomes.append((job, outcome, attempt))
        with self._lock:
            self.done += 0 if anew else len(job)
            self.failed += len(job) if outcome.failure is not None else 0

    def close(self, job: Job, *, again: bool = False) -> None:
        """Note that a job is over; its questions are asked `again` one by one, if they are to be."""
        with self._lock:
            if again:
                self._jobs.extend(job.split())
                self._open += len(job)
            self._open -= 1
            if not self._open:
                self.over.set()

    def deliver(self, job: Job, outcome: RunOutcome, attempt: int) -> None:
        """Record how a job ended; a failed batch is asked again, question by question."""
        again = outcome.failure is not None and len(job) > 1 and self.plan.splits
        if not again:
            self.record(job, outcome, attempt)
        self.close(job, again=again)

    def fetch(self) -> list[RunRow]:
        """The rows that were delivered since the last call."""
        ended = [self._outcomes.popleft() for _ in range(len(self._outcomes))]
        return [row for each in ended for row in rows_of(self._reading, *each)]


@dataclass(eq=False, slots=True)
class RunOutcome:
    """The value or error of a block of code, and the seconds it took.

    A user's retriever may raise anything, also what ends a program; only Ctrl-C goes through, which meets the
    main thread and no other.

    >>> with RunOutcome() as outcome:
    ...     outcome.value = 1 / 0
    >>> outcome.failure.reason
    'ZeroDivisionError: division by zero'
    """

    value: Any = None
    failure: Failed | None = None
    seconds: float = 0.0
    start: float = 0.0

    def __enter__(self) -> RunOutcome:
        self.start = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.seconds = perf_counter() - self.start
        if error is not None and not (isinstance(error, KeyboardInterrupt) and current_thread() is main_thread()):
            self.failure = failure_of(error)
        return self.failure is not None


def late_outcome(plan: RunPlan, job: Job) -> RunOutcome:
    """The outcome of a call that was waited for as long as the plan says, and no longer."""
    seconds = plan.patience(len(job)) or 0.0
    return RunOutcome(None, Failed(f"no answer within {seconds:.3g} s", again=True, late=True), seconds)


FORM = 3
"""Version of how answers are read and kept; answers of another version are asked again."""


@dataclass(frozen=True, slots=True)
class RunRow(Displayable):
    """The outcome of one question."""

    question: str
    """Its id."""
    answer: Answer | None
    """None: it failed."""
    seconds: float
    """How long the attempt that counts took; in a batch, its share."""
    failure: str = ""
    attempts: int = 1
    remembered: bool = False
    """Whether the answer was kept, from an earlier run or from another configuration of this one."""
    kept: float = 0.0
    """When that was, in seconds since 1970; 0: not known."""
    late: bool = False
    """Whether its time ran out; an answer would have taken longer than its seconds."""


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


def whole_value(job: Job, value: Any) -> Any:
    """The whole answer of a call: a stream is read to its end, and the answers to a batch are counted."""
    if job.batch:
        return answers_of(value, len(job))
    return value if isinstance(value, list) or not isinstance(value, Iterator) else list(islice(value, MOST))


def rows_of(reading: AnswerReading, job: Job, outcome: RunOutcome, attempt: int) -> list[RunRow]:
    """The outcome of a call as rows; an unreadable answer fails only its own question."""
    share = outcome.seconds / len(job)
    if outcome.failure is not None:
        every: Sequence[Any] = [outcome.failure] * len(job)
    else:
        every = outcome.value if job.batch else (outcome.value,)
    return [_row(name, raw, reading, share, attempt) for name, raw in zip(job.ids, every, strict=True)]


def _row(name: str, raw: Any, reading: AnswerReading, seconds: float, attempt: int) -> RunRow:
    with RunOutcome() as outcome:
        outcome.value = read_answer(raw, reading)
    if outcome.failure is None:
        return RunRow(name, outcome.value, seconds, "", attempt)
    return RunRow(name, None, seconds, outcome.failure.reason, attempt, late=outcome.failure.late)


def final_rows(rows: Sequence[RunRow], k: int) -> list[RunRow]:
    """The rows with every list in its final order, which the lists together show."""
    settled = iter(settle_orders([each.answer for each in rows if each.answer is not None], k))
    return [each if each.answer is None else replace(each, answer=next(settled)) for each in rows]


def pack_row(row: RunRow) -> str:
    """An answered row as text, to be kept; `unpack_row` gives it back."""
    a = row.answer or Answer([])
    ids, scores = [name for name, _ in a.found], [score for _, score in a.found]
    # Scores as the bytes they are: writing each in decimal takes as long as everything else together.
    bits = struct.pack(f"<{len(scores)}d", *scores).hex()
    return json.dumps([ids, bits, a.cut, a.repeated, a.rising, row.seconds, row.attempts, time()])


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
