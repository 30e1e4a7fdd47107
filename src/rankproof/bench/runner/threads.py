"""Working off questions in threads: one that hangs is left behind, and another takes its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

from rankproof.bench.adapters.adapter import Waiter
from rankproof.bench.runner.work import Course, Job, RetrieverCall, RunOutcome, Work, whole_value

Ask = Callable[[Job], Any]


def start(work: Work, ask: Ask) -> None:
    """As many threads as there are questions to ask at once."""
    for _ in range(work.plan.concurrency):
        _thread(work_off, work, ask)


def relieve(work: Work, ask: Ask) -> None:
    """Give up the calls that take too long, and let others go on in their place."""
    for call in work.overdue():
        if work.end(call):
            _thread(work_off, work, ask, call)


def work_off(work: Work, ask: Ask, given_up: RetrieverCall | None = None) -> None:
    """Take one job after the other until there is none."""
    for _ in each_job(work, ask, given_up):
        pass


def each_job(work: Work, ask: Ask, given_up: RetrieverCall | None = None) -> Iterator[None]:
    """Do one job after the other, until there is none or somebody else has taken over.

    Before them comes the job of a call that was given up, where there is one.
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
    """Do a job; False where somebody else has taken over. Most are done at the first attempt, and in a hurry."""
    while wait := work.turn():
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
    """What became of one call."""
    with RunOutcome() as outcome:
        outcome.value = whole_value(job, waiter(ask(job)))
    return outcome


def _follow(
    work: Work, ask: Ask, job: Job, waiter: Waiter, course: Course, reply: RunOutcome | None = None
) -> bool:
    """Do what the course says to its end; False where somebody else has taken over."""
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
