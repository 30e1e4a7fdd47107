"""Working off questions that are handed over together and answered one by one: each answer counts as it comes."""

from __future__ import annotations

from threading import Thread

from rankproof.bench.adapters.adapter import Adapted, Answered, Flow
from rankproof.bench.runner.work import Job, RunOutcome, Work
from rankproof.net.retries import Attempts, Failed, Pace, attempts, settle


def start(work: Work, retriever: Adapted, k: int) -> None:
    """As many threads as there are calls at once; each does one job after the other."""
    for _ in range(work.plan.concurrency):
        Thread(target=_work_off, args=(work, retriever, k), daemon=True, name="rankproof-runner").start()


def _work_off(work: Work, retriever: Adapted, k: int) -> None:
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
        """The last answer that was open: what ends the work is put down when nothing can be taken back any more."""

    @property
    def left(self) -> Job:
        """What is to be asked again: all, if nothing was asked."""
        places = sorted(self.again) if self.attempt else range(len(self.job))
        return Job(tuple(self.job.ids[i] for i in places), tuple(self.job.texts[i] for i in places))

    @property
    def failure(self) -> Failed | None:
        """Why questions are to be asked again, and after what pause; None if none is."""
        return max(self.again.values(), key=lambda each: each.wait, default=None)

    def make(self, retriever: Adapted, k: int) -> None:
        """Ask."""
        flow = Flow(self.work.plan.timeout, self.work.turn, self.work.over.is_set)
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
        if (
            outcome.failure is not None
            and self.work.plan.retrying.allow(self.attempt, outcome.failure)
            and not anew
        ):
            self.again[place] = outcome.failure
            return
        self.again.pop(place, None)
        self.told.add(place)
        if len(self.told) + len(self.again) == len(self.job) and (not anew or self._is_last(place)):
            self.last = place, outcome
        else:
            self._deliver(place, outcome, anew)

    def _is_last(self, place: int) -> bool:
        return self.last is not None and self.last[0] == place

    def _deliver(self, place: int, outcome: RunOutcome, anew: bool) -> None:
        one = Job((self.job.ids[place],), (self.job.texts[place],))
        self.work.deliver(one, outcome, self.attempt, anew=anew)
