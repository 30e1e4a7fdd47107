"""Working off questions in threads, in streams of answers and in tasks of an event loop.

What hangs is left behind, and another takes its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from threading import Thread
from typing import Any

from rankproof.bench.adapters.adapter import Adapted, Answered, Flow, Waiter, await_value
from rankproof.bench.runner.work import Course, Job, RetrieverCall, RunOutcome, Work, late_outcome, whole_value
from rankproof.net import Attempts, Failed, Pace, attempts, settle

Ask = Callable[[Job], Any]


def start_threads(work: Work, ask: Ask) -> None:
    """As many threads as there are questions to ask at once."""
    for _ in range(work.plan.concurrency):
        _thread(work_off, work, ask)


def relieve_threads(work: Work, ask: Ask) -> None:
    """Give up the calls that take too long, and let others go on in their place."""
    for call in work.overdue():
        if work.end(call):
            _thread(work_off, work, ask, call)


def work_off(work: Work, ask: Ask, given_up: RetrieverCall | None = None) -> None:
    """Take one job after the other until there is none."""
    for _ in each_job(work, ask, given_up):
        pass


def each_job(work: Work, ask: Ask, given_up: RetrieverCall | None = None) -> Iterator[None]:
    """Do one job after the other, until there is none left or another worker has taken over.

    Before them comes the job of a call that was given up, if there is one.
    """
    waiter = Waiter()
    try:
        if given_up is not None and not _follow(work, ask, given_up.job, waiter, *work.given_up(given_up)):
            return
        while (job := work.next()) is not None and _do(work, ask, job, waiter):
            yield
    finally:
        waiter.close()


def _do(work: Work, ask: Ask, job: Job, waiter: Waiter) -> bool:
    """Do a job; False if somebody else has taken over. Most are done at the first attempt, and in a hurry."""
    while wait := work.pace.turn():
        if work.over.wait(wait):
            return False
    call = work.begin(job)
    outcome = _asked(ask, job, waiter)
    if not work.end(call):
        return False
    if outcome.failure is not None:
        return _follow(work, ask, job, waiter, work.course(outcome))
    work.deliver(job, outcome, 1)
    return True


def _asked(ask: Ask, job: Job, waiter: Waiter) -> RunOutcome:
    with RunOutcome() as outcome:
        outcome.value = whole_value(job, waiter(ask(job)))
    return outcome


def _follow(work: Work, ask: Ask, job: Job, waiter: Waiter, course: Course, reply: RunOutcome | None = None) -> bool:
    """Do what the course says to its end; False if somebody else has taken over."""
    try:
        while True:
            wait = course.send(reply)
            if wait is not None:
                reply = None
                if work.over.wait(wait):
                    return False
                continue
            call = work.begin(job, course)
            reply = _asked(ask, job, waiter)
            if not work.end(call):
                return False
    except StopIteration as end:
        work.deliver(job, *end.value)
        return True


def _thread(target: Callable[..., None], *arguments: Any) -> None:
    # A daemon: one that hangs must not keep the program from ending.
    Thread(target=target, args=arguments, daemon=True, name="rankproof-runner").start()


def start_streams(work: Work, retriever: Adapted, k: int) -> None:
    """As many threads as there are calls at once; each does one job after the other."""
    for _ in range(work.plan.concurrency):
        _thread(_work_off_stream, work, retriever, k)


def _work_off_stream(work: Work, retriever: Adapted, k: int) -> None:
    while (job := work.next()) is not None:
        made = [_Attempt(work, job, 0)]

        def ask(made: list[_Attempt] = made) -> _Attempt:
            made.append(_Attempt(work, made[-1].left, len(made)))
            if not work.over.is_set():
                made[-1].make(retriever, k)
            return made[-1]

        course: Attempts[_Attempt] = attempts(work.plan.retrying, Pace())
        settle(course, ask, work.over.wait)


class _Attempt:
    """One attempt at the questions of a job."""

    def __init__(self, work: Work, job: Job, attempt: int) -> None:
        self.work = work
        self.job = job
        self.attempt = attempt
        self.told: set[int] = set()
        self.again: dict[int, Failed] = {}
        """Places that failed and are to be asked again."""
        self.last: tuple[int, RunOutcome] | None = None
        """The last open answer: it ends the work, so it is delivered when no answer can be taken back any more."""

    @property
    def left(self) -> Job:
        """The questions to ask again: all, if none was asked."""
        places = sorted(self.again) if self.attempt else range(len(self.job))
        return Job(tuple(self.job.ids[i] for i in places), tuple(self.job.texts[i] for i in places))

    @property
    def failure(self) -> Failed | None:
        """Why questions are to be asked again, and after what pause; None if none is."""
        return max(self.again.values(), key=lambda each: each.wait, default=None)

    def make(self, retriever: Adapted, k: int) -> None:
        """Ask."""
        flow = Flow(self.work.plan.timeout, self.work.pace.turn, self.work.over.is_set)
        with RunOutcome() as whole:
            if retriever.stream is not None:
                for answered in retriever.stream(self.job.texts, k, flow):
                    self._take(answered)
        if whole.failure is not None:
            for place in set(range(len(self.job))) - self.told - set(self.again):
                self._take((place, whole.failure, whole.seconds))
        if self.last is not None:
            self._deliver(*self.last, anew=False)

    def _take(self, answered: Answered) -> None:
        place, answer, seconds = answered
        outcome = RunOutcome()
        outcome.seconds = seconds
        if isinstance(answer, Failed):
            outcome.failure = answer
        else:
            outcome.value = answer
        anew = place in self.told
        if outcome.failure is not None and self.work.plan.retrying.allow(self.attempt, outcome.failure) and not anew:
            self.again[place] = outcome.failure
            return
        self.again.pop(place, None)
        self.told.add(place)
        if len(self.told) + len(self.again) == len(self.job) and (
            not anew or (self.last is not None and self.last[0] == place)
        ):
            self.last = place, outcome
        else:
            self._deliver(place, outcome, anew)

    def _deliver(self, place: int, outcome: RunOutcome, anew: bool) -> None:
        one = Job((self.job.ids[place],), (self.job.texts[place],))
        self.work.deliver(one, outcome, self.attempt, anew=anew)


GRACE = 2.0
"""Seconds after which a loop whose calls are overdue is taken to be blocked."""


def start_tasks(work: Work, ask: Ask, given_up: Sequence[RetrieverCall] = ()) -> None:
    """A loop with as many tasks as there are questions to ask at once.

    Its thread is not the caller's, if a loop may be running already, as in a notebook.
    """
    Thread(target=lambda: asyncio.run(_all_tasks(work, ask, given_up)), daemon=True, name="rankproof-loop").start()


def relieve_tasks(work: Work, ask: Ask) -> None:
    """Leave a loop behind that something blocks, and go on in another."""
    if work.overdue(GRACE):
        start_tasks(work, ask, [call for call in work.in_flight() if work.end(call)])


async def _all_tasks(work: Work, ask: Ask, given_up: Sequence[RetrieverCall]) -> None:
    fresh = max(work.plan.concurrency - len(given_up), 0)
    await asyncio.gather(
        *(_go_on_in_task(work, ask, call) for call in given_up), *(_work_off_in_task(work, ask) for _ in range(fresh))
    )


async def _work_off_in_task(work: Work, ask: Ask) -> None:
    while (job := work.next()) is not None:
        if not await _follow_task(work, ask, job, work.course()):
            return


async def _go_on_in_task(work: Work, ask: Ask, call: RetrieverCall) -> None:
    if await _follow_task(work, ask, call.job, *work.given_up(call)):
        await _work_off_in_task(work, ask)


async def _follow_task(work: Work, ask: Ask, job: Job, course: Course, reply: RunOutcome | None = None) -> bool:
    """Do what the course says to its end; False if somebody else has taken over."""
    try:
        while True:
            wait = course.send(reply)
            if wait is not None:
                reply, pause = None, work.begin(job, course, wait)
                await asyncio.sleep(wait)
                if not work.end(pause) or work.over.is_set():
                    return False
                continue
            call = work.begin(job, course)
            reply = await _asked_in_task(ask, job, work.plan.patience(len(job)))
            if not work.end(call):
                return False
    except StopIteration as end:
        work.deliver(job, *end.value)
        return True


async def _asked_in_task(ask: Ask, job: Job, patience: float | None) -> RunOutcome:
    """The outcome of one call; a call that takes too long is cancelled, and not waited for."""
    task = asyncio.ensure_future(_caught_in_task(ask, job))
    done, _ = await asyncio.wait({task}, timeout=patience)
    if task in done:
        return task.result()
    task.cancel()
    return late_outcome(patience or 0.0)


async def _caught_in_task(ask: Ask, job: Job) -> RunOutcome:
    with RunOutcome() as outcome:
        outcome.value = whole_value(job, await await_value(ask(job)))
    return outcome
