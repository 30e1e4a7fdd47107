"""What is still to be asked, what is being asked, and what was answered: shared by all who work on it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Event, Lock
from time import monotonic
from typing import TypeAlias

from rankproof.bench.runner.plan import Plan
from rankproof.bench.runner.rows import Job, Outcome, Reader, Row, late
from rankproof.errors import UsageError
from rankproof.net.retries import Attempts, Pace, attempts

Course: TypeAlias = Attempts[Outcome]
"""The way of a job to its last outcome, and which attempt that was."""


@dataclass(eq=False, slots=True)
class Call:
    """A call that was begun and is not over."""

    course: Course | None
    """None: the first attempt, for which none was made yet."""
    job: Job
    since: float


class Work:
    """Jobs to take, calls in flight, outcomes to fetch.

    Those who ask only put outcomes down; they are read when they are fetched, so that a fast retriever is not
    kept waiting.
    """

    def __init__(self, jobs: Iterable[Job], plan: Plan, reader: Reader) -> None:
        self.plan = plan
        self.over = Event()
        """Set when every question has its row, or nobody is to go on."""
        self._jobs = deque(jobs)
        self.broken: UsageError | None = None
        """Why there is no sense in going on."""
        self.failed = 0
        """How many questions got no answer."""
        self.done = 0
        """How many questions are through with it."""
        self._total = sum(map(len, self._jobs))
        self._calls: dict[int, Call] = {}
        self._outcomes: deque[tuple[Job, Outcome, int]] = deque()
        self._lock = Lock()
        self._pace = Pace(plan.rate)
        self._reader = reader
        if not self._total:
            self.over.set()

    def next(self) -> Job | None:
        """A job to do; None where there is none left."""
        try:
            return None if self.over.is_set() else self._jobs.popleft()
        except IndexError:
            return None

    def turn(self) -> float:
        """Begin a call, which 0 says; else the seconds after which to ask again."""
        return self._pace.turn()

    def course(self, first: Outcome | None = None) -> Course:
        """The attempts at one job, and the pauses between them, after the `first` where that was made already."""
        return attempts(self.plan.retrying, self._pace, first)

    def begin(self, job: Job, course: Course | None = None, pause: float = 0.0) -> Call:
        """Note that a call begins, or a pause before one."""
        call = Call(course, job, monotonic() + pause)
        self._calls[id(call)] = call
        return call

    def given_up(self, call: Call) -> tuple[Course, Outcome | None]:
        """How to go on where a call took too long: a course, and what to send into it first."""
        outcome = late(self.plan.patience(len(call.job)) or 0.0)
        return (self.course(outcome), None) if call.course is None else (call.course, outcome)

    def end(self, call: Call) -> bool:
        """Note that a call is over; whether its outcome still matters to anyone."""
        return self._calls.pop(id(call), None) is not None

    def overdue(self, grace: float = 0.0) -> list[Call]:
        """The calls that were waited for too long."""
        if self.plan.timeout is None:
            return []
        now = monotonic()
        late = self.plan.timeout
        return [
            call for call in list(self._calls.values()) if now - call.since > late * len(call.job) + grace
        ]

    def in_flight(self) -> list[Call]:
        """The calls that are not over."""
        return list(self._calls.values())

    def deliver(self, job: Job, outcome: Outcome, attempt: int, *, anew: bool = False) -> None:
        """Put down how a job ended; a batch that failed is to be asked again, question by question.

        `anew` takes back what was put down before.
        """
        if outcome.failure is not None and outcome.failure.fatal is not None:
            self.broken = outcome.failure.fatal
            self.over.set()
            return
        if outcome.failure is not None and len(job) > 1 and self.plan.splits:
            self._jobs.extend(job.split())
            return
        self._outcomes.append((job, outcome, attempt))
        questions = len(job.ids)
        with self._lock:
            self.done += 0 if anew else questions
            self.failed += questions if outcome.failure is not None else 0
            if self.done == self._total:
                self.over.set()

    def fetch(self) -> list[Row]:
        """The rows of what was put down since the last time."""
        ended = [self._outcomes.popleft() for _ in range(len(self._outcomes))]
        return [row for each in ended for row in self._reader(*each)]
