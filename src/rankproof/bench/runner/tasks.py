"""Working off questions in tasks of an event loop, which has a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Thread

from rankproof.bench.adapters.adapter import await_value
from rankproof.bench.runner.threads import Ask
from rankproof.bench.runner.work import (
    Course,
    Job,
    RetrieverCall,
    RunOutcome,
    Work,
    late_outcome,
    whole_value,
)

GRACE = 2.0
"""Seconds after which a loop whose calls are overdue is taken to be blocked."""


def start(work: Work, ask: Ask, given_up: Sequence[RetrieverCall] = ()) -> None:
    """A loop with as many tasks as there are questions to ask at once.

    Its thread is not the caller's, where a loop may be running already, as in a notebook.
    """
    Thread(target=lambda: asyncio.run(_all(work, ask, given_up)), daemon=True, name="rankproof-loop").start()


def relieve(work: Work, ask: Ask) -> None:
    """Leave a loop behind that something blocks, and go on in another."""
    if work.overdue(GRACE):
        start(work, ask, [call for call in work.in_flight() if work.end(call)])


async def _all(work: Work, ask: Ask, given_up: Sequence[RetrieverCall]) -> None:
    fresh = max(work.plan.concurrency - len(given_up), 0)
    await asyncio.gather(
        *(_go_on(work, ask, call) for call in given_up), *(_work_off(work, ask) for _ in range(fresh))
    )


async def _work_off(work: Work, ask: Ask) -> None:
    while (job := work.next()) is not None:
        if not await _follow(work, ask, job, work.course()):
            return


async def _go_on(work: Work, ask: Ask, call: RetrieverCall) -> None:
    if await _follow(work, ask, call.job, *work.given_up(call)):
        await _work_off(work, ask)


async def _follow(work: Work, ask: Ask, job: Job, course: Course, reply: RunOutcome | None = None) -> bool:
    """Do what the course says to its end; False where somebody else has taken over."""
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
            reply = await _asked(ask, job, work.plan.patience(len(job)))
            if not work.end(call):
                return False
    except StopIteration as end:
        work.deliver(job, *end.value)
        return True


async def _asked(ask: Ask, job: Job, patience: float | None) -> RunOutcome:
    """What became of one call; one that takes too long is cancelled, and not waited for."""
    task = asyncio.ensure_future(_caught(ask, job))
    done, _ = await asyncio.wait({task}, timeout=patience)
    if task in done:
        return task.result()
    task.cancel()
    return late_outcome(patience or 0.0)


async def _caught(ask: Ask, job: Job) -> RunOutcome:
    with RunOutcome() as outcome:
        outcome.value = whole_value(job, await await_value(ask(job)))
    return outcome
