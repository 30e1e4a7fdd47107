"""Asking a retriever many questions: several at once, with timeouts, retries, and a cache.

Cached answers are looked up, the other questions are asked, and all answers are kept. The work is done by threads,
streams of answers or tasks of an event loop; a worker that hangs is abandoned and replaced.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from rankproof.bench.adapters.adapter import Adapted, Flow, Waiter, await_value, describe
from rankproof.bench.adapters.code import PLAIN
from rankproof.bench.retriever import AnswerReading
from rankproof.bench.runner.run_plan import (
    FORM,
    Course,
    Job,
    RetrieverCall,
    RunLimits,
    RunOutcome,
    RunPlan,
    RunRow,
    Work,
    final_rows,
    late_outcome,
    pack_row,
    plan_for,
    unpack_row,
    whole_value,
)
from rankproof.net.retries import Attempts, Failed, Pace, attempts, settle

if TYPE_CHECKING:
    from rankproof.store.answers import Answers

__all__ = ["RunLimits", "RunPlan", "RunRow", "answer_all", "plan_for"]

TICK = 0.05
"""Seconds between two looks at what was answered and who takes too long."""
GRACE = 2.0
"""Seconds after which a loop whose calls are overdue is taken to be blocked."""

Told = Callable[[int, int], None]
"""Is called with how many questions are done, and how many of them failed."""
Ask = Callable[[Job], Any]


def answer_all(
    questions: Mapping[str, str],
    retriever: Adapted,
    reading: AnswerReading,
    plan: RunPlan,
    *,
    memory: Answers | None,
    about: Mapping[str, Any],
    told: Told,
    show: Callable[[Mapping[str, RunRow]], None] | None = None,
) -> list[RunRow]:
    """A row for each question, in their order.

    What `memory` has is not asked again; answers are put into it as they come, failures never, so that a run
    that was stopped goes on from there. `about` is what else shapes the answers beside the retriever's settings:
    the corpus. `show` is given rows as they come.
    """
    keys = {} if memory is None else _keys(questions, retriever, reading.k, about)
    kept = {} if memory is None else memory.get(list(keys.values()))
    rows = {name: unpack_row(name, kept[key]) for name, key in keys.items() if kept.get(key)}
    known, asked = len(rows), {name: text for name, text in questions.items() if name not in rows}
    told(known, 0)
    first = dict(list(asked.items())[: plan.warm_up])
    for _ in _moments_of(first, retriever, reading, replace(plan, retries=0)):
        pass
    for work in _moments_of(asked, retriever, reading, plan):
        told(known + work.done, work.failed)
        # Without a memory rows are not needed yet: reading them now would only delay a fast retriever.
        if memory is not None or show is not None or work.over.is_set():
            some = {row.question: row for row in work.fetch()}
            if memory is not None:
                answered = [(keys[name], pack_row(row)) for name, row in some.items() if row.answer is not None]
                # One that was taken back leaves nothing there that is an answer.
                undone = [(keys[name], "") for name, row in some.items() if row.answer is None and name in rows]
                if answered or undone:
                    memory.put([*answered, *undone])
            rows.update(some)
            if show is not None:
                show(some)
    return final_rows([rows[name] for name in questions], reading.k)


def _keys(questions: Mapping[str, str], retriever: Adapted, k: int, about: Mapping[str, Any]) -> dict[str, str]:
    """The same for the same question to the same retriever over the same corpus, else another."""
    named = describe(retriever.id) if callable(retriever.id) else retriever.id
    whole = [FORM, dict(retriever.settings), k, dict(about), named]
    text = json.dumps(whole, sort_keys=True, default=_without_json)
    first = blake2b(text.encode("ascii"), digest_size=16)
    keys = {}
    for name, question in questions.items():
        digest = first.copy()
        digest.update(question.encode("utf-8", "surrogatepass"))
        keys[name] = digest.hexdigest()
    return keys


def _without_json(value: Any) -> Any:
    """A value that JSON has no form for, as a key has it: dates as they are written, sets in order."""
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if hasattr(value, "tolist"):
        return value.tolist()
    return repr(value) if isinstance(value, PLAIN) else type(value).__qualname__


def _moments_of(
    questions: Mapping[str, str], retriever: Adapted, reading: AnswerReading, plan: RunPlan
) -> Iterator[Work]:
    """The work of asking, at the moments at which to look at it; the last one is when it is over."""
    size = (plan.batch or max(len(questions), 1)) if retriever.batch else 1
    names, texts = tuple(questions), tuple(questions.values())
    starts = range(0, len(names), size)
    jobs = [Job(names[at : at + size], texts[at : at + size], retriever.batch) for at in starts]
    work = Work(jobs, plan, reading)

    def ask(job: Job) -> Any:
        return retriever.call(list(job.texts) if retriever.batch else job.texts[0], reading.k)

    retriever.allow(plan.timeout)
    try:
        for _ in _moments(work, ask, retriever, reading.k):
            yield work
    except KeyboardInterrupt:
        yield work
        raise
    finally:  # whatever ends the run, none of its calls continue
        work.over.set()
        retriever.stop()


def _moments(work: Work, ask: Ask, retriever: Adapted, k: int) -> Iterator[None]:
    if work.over.is_set():
        return
    plan = work.plan
    if retriever.stream is None and plan.concurrency == 1 and plan.timeout is None and not retriever.awaited:
        # The caller's own thread will do: nobody else is to watch, and some retrievers know one thread only.
        due = monotonic() + TICK
        for _ in _each_job(work, ask):
            if monotonic() >= due:
                yield
                due = monotonic() + TICK
    elif retriever.stream is None and retriever.awaited:
        _start_tasks(work, ask)
        while not work.over.wait(TICK):
            if work.overdue(GRACE):  # something blocks the loop: it is left behind, and another goes on
                _start_tasks(work, ask, [call for call in work.in_flight() if work.end(call)])
            yield
    else:
        for _ in range(plan.concurrency):
            if retriever.stream is not None:
                _thread(_work_off_stream, work, retriever, k)
            else:
                _thread(_work_off, work, ask)
        while not work.over.wait(TICK):
            for call in work.overdue() if retriever.stream is None else ():
                if work.end(call):
                    _thread(_work_off, work, ask, call)
            yield
    yield


# --- threads ------------------------------------------------------------------------------------------


def _thread(target: Callable[..., None], *arguments: Any) -> None:
    # A daemon: one that hangs must not keep the program from ending.
    # In the caller's context: failures name settings as Python or the shell does.
    Thread(target=copy_context().run, args=(target, *arguments), daemon=True, name="rankproof-runner").start()


def _work_off(work: Work, ask: Ask, given_up: RetrieverCall | None = None) -> None:
    for _ in _each_job(work, ask, given_up):
        pass


def _each_job(work: Work, ask: Ask, given_up: RetrieverCall | None = None) -> Iterator[None]:
    """Do one job after the other, until there is none left or another worker has taken over.

    Before them comes the job of a call that was given up, if there is one.
    """
    with closing(Waiter()) as waiter:
        if given_up is not None and not _follow(
            work, ask, given_up.job, waiter, given_up.course, late_outcome(work.plan, given_up.job)
        ):
            return
        while (job := work.next()) is not None and _follow(work, ask, job, waiter, work.course()):
            yield


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
            with RunOutcome() as reply:
                reply.value = whole_value(job, waiter(ask(job)))
            if not work.end(call):
                return False
    except StopIteration as end:
        work.deliver(job, *end.value)
        return True


# --- streams ------------------------------------------------------------------------------------------


def _work_off_stream(work: Work, retriever: Adapted, k: int) -> None:
    while (job := work.next()) is not None:
        streamed = _StreamedJob(work, job)
        course: Attempts[_StreamedJob] = attempts(work.plan.retrying, Pace())
        settle(course, partial(streamed.ask, retriever, k), work.over.wait)
        work.close(job)


class _StreamedJob:
    """A job whose answers come one by one; the questions that failed are asked again together."""

    def __init__(self, work: Work, job: Job) -> None:
        self.work = work
        self.job = job
        self.attempt = 0
        self.told: set[int] = set()
        """The places of questions that have a row; one that comes again takes it back."""
        self.again: dict[int, Failed] = {}
        """Places that failed and are to be asked again."""

    @property
    def failure(self) -> Failed | None:
        """Why questions are to be asked again, and after what pause; None if none is."""
        return max(self.again.values(), key=lambda each: each.wait, default=None)

    def ask(self, retriever: Adapted, k: int) -> _StreamedJob:
        """Ask all questions the first time, then those that failed."""
        places = sorted(self.again) if self.attempt else range(len(self.job))
        self.attempt += 1
        self.again = {}
        flow = Flow(self.work.plan.timeout, self.work.pace.turn, self.work.over.is_set)
        with RunOutcome() as whole:
            if retriever.stream is not None and not self.work.over.is_set():
                for n, answer, seconds in retriever.stream([self.job.texts[i] for i in places], k, flow):
                    self._take(places[n], answer, seconds)
        if whole.failure is not None:
            for place in set(places) - self.told - set(self.again):
                self._take(place, whole.failure, whole.seconds)
        return self

    def _take(self, place: int, answer: Any, seconds: float) -> None:
        failure = answer if isinstance(answer, Failed) else None
        anew = place in self.told
        if failure is not None and self.work.plan.retrying.allow(self.attempt, failure) and not anew:
            self.again[place] = failure
            return
        self.again.pop(place, None)
        self.told.add(place)
        outcome = RunOutcome(answer if failure is None else None, failure, seconds)
        self.work.record(Job((self.job.ids[place],), (self.job.texts[place],)), outcome, self.attempt, anew=anew)


# --- tasks of an event loop -----------------------------------------------------------------------------


def _start_tasks(work: Work, ask: Ask, given_up: Sequence[RetrieverCall] = ()) -> None:
    """A loop with as many tasks as there are questions to ask at once.

    Its thread is not the caller's, if a loop may be running already, as in a notebook.
    """

    async def work_off(call: RetrieverCall | None) -> None:
        if call is not None and not await _follow_task(
            work, ask, call.job, call.course, late_outcome(work.plan, call.job)
        ):
            return
        while (job := work.next()) is not None and await _follow_task(work, ask, job, work.course()):
            pass

    async def all_tasks() -> None:
        fresh = max(work.plan.concurrency - len(given_up), 0)
        await asyncio.gather(*map(work_off, [*given_up, *[None] * fresh]))

    _thread(lambda: asyncio.run(all_tasks()))


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
            reply = await _asked_in_task(ask, job, work.plan)
            if not work.end(call):
                return False
    except StopIteration as end:
        work.deliver(job, *end.value)
        return True


async def _asked_in_task(ask: Ask, job: Job, plan: RunPlan) -> RunOutcome:
    """The outcome of one call; a call that takes too long is cancelled, and not waited for."""

    async def caught() -> RunOutcome:
        with RunOutcome() as outcome:
            outcome.value = whole_value(job, await await_value(ask(job)))
        return outcome

    task = asyncio.ensure_future(caught())
    done, _ = await asyncio.wait({task}, timeout=plan.patience(len(job)))
    if task in done:
        return task.result()
    task.cancel()
    return late_outcome(plan, job)
