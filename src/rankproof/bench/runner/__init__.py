"""Asking a retriever many questions: several at once, with timeouts, retries, and a memory.

Cached answers are looked up, the others are asked, and all are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from time import monotonic
from typing import Any, Protocol

from rankproof.bench.adapters import Adapted
from rankproof.bench.adapters.adapter import describe
from rankproof.bench.adapters.answers import AnswerReading
from rankproof.bench.runner.work import (
    FORM,
    Job,
    RunLimits,
    RunPlan,
    RunRow,
    Work,
    pack_row,
    plan_for,
    reader,
    settle,
    unpack_row,
)
from rankproof.bench.runner.workers import (
    each_job,
    relieve_tasks,
    relieve_threads,
    start_streams,
    start_tasks,
    start_threads,
)

__all__ = ["RunLimits", "RunPlan", "RunRow", "answer_all", "plan_for"]

TICK = 0.05
"""Seconds between two looks at what was answered and who takes too long."""

Told = Callable[[int, int], None]
"""Is called with how many questions are done, and how many of them failed."""


class Memory(Protocol):
    """Keeps answers by key."""

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """The answers there are."""

    def put(self, answers: Sequence[tuple[str, str]]) -> None:
        """Keep these."""


def answer_all(
    questions: Mapping[str, str],
    retriever: Adapted,
    reading: AnswerReading,
    plan: RunPlan,
    *,
    memory: Memory | None = None,
    about: Mapping[str, Any] | None = None,
    told: Told = lambda done, failed: None,
    show: Callable[[Mapping[str, RunRow]], None] | None = None,
) -> list[RunRow]:
    """A row for each question, in their order.

    What `memory` has is not asked again; answers are put into it as they come, failures never, so that a run
    that was stopped goes on from there. `about` is what else shapes the answers beside the retriever's settings:
    the corpus. `show` is given rows as they come.
    """
    keys = {} if memory is None else _keys(questions, retriever, reading.k, about or {})
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
            _keep(some, rows, keys, memory)
            rows.update(some)
            if show is not None:
                show(some)
    return settle([rows[name] for name in questions], reading.k)


def _keys(questions: Mapping[str, str], retriever: Adapted, k: int, about: Mapping[str, Any]) -> dict[str, str]:
    """The same for the same question to the same retriever over the same corpus, else another."""
    named = describe(retriever.id) if callable(retriever.id) else retriever.id
    whole = [FORM, dict(retriever.settings), k, dict(about), named]
    text = json.dumps(whole, sort_keys=True, default=lambda value: type(value).__qualname__)
    first = blake2b(text.encode("ascii"), digest_size=16)
    keys = {}
    for name, question in questions.items():
        digest = first.copy()
        digest.update(question.encode("utf-8", "surrogatepass"))
        keys[name] = digest.hexdigest()
    return keys


def _keep(
    some: Mapping[str, RunRow], before: Mapping[str, RunRow], keys: Mapping[str, str], memory: Memory | None
) -> None:
    """Put answers into the memory; one that was taken back leaves nothing there that is an answer."""
    if memory is None:
        return
    answered = [(keys[name], pack_row(row)) for name, row in some.items() if row.answer is not None]
    undone = [(keys[name], "") for name, row in some.items() if row.answer is None and name in before]
    if answered or undone:
        memory.put([*answered, *undone])


def _moments_of(
    questions: Mapping[str, str], retriever: Adapted, reading: AnswerReading, plan: RunPlan
) -> Iterator[Work]:
    """The work of asking, at the moments at which to look at it; the last one is when it is over."""
    work = Work(_jobs(questions, retriever, plan), plan, reader(reading))

    def ask(job: Job) -> Any:
        return retriever.call(list(job.texts) if retriever.batch else job.texts[0], reading.k)

    retriever.allow(plan.timeout)
    try:
        for _ in _moments(work, ask, retriever, reading.k):
            if work.broken is not None:
                raise work.broken
            yield work
    except KeyboardInterrupt:
        yield work
        raise
    finally:  # whatever ends the run, none of its calls continue
        work.over.set()
        retriever.stop()


def _moments(work: Work, ask: Callable[[Job], Any], retriever: Adapted, k: int) -> Iterator[None]:
    if work.over.is_set():
        return
    plan = work.plan
    if retriever.stream is None and plan.concurrency == 1 and plan.timeout is None and not retriever.awaited:
        # The caller's own thread will do: nobody else is to watch, and some retrievers know one thread only.
        due = monotonic() + TICK
        for _ in each_job(work, ask):
            if monotonic() >= due:
                yield
                due = monotonic() + TICK
    elif retriever.stream is not None:
        start_streams(work, retriever, k)
        while not work.over.wait(TICK):
            yield
    else:
        start, relieve = (start_tasks, relieve_tasks) if retriever.awaited else (start_threads, relieve_threads)
        start(work, ask)
        while not work.over.wait(TICK):
            relieve(work, ask)
            yield
    yield


def _jobs(questions: Mapping[str, str], retriever: Adapted, plan: RunPlan) -> Iterator[Job]:
    size = (plan.batch or max(len(questions), 1)) if retriever.batch else 1
    names = list(questions)
    for start in range(0, len(names), size):
        some = tuple(names[start : start + size])
        yield Job(some, tuple(map(questions.__getitem__, some)), retriever.batch)
