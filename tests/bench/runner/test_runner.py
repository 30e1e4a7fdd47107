"""Questions are asked several at once, in time, at a pace, again where that may help; one failure stops nothing."""

from __future__ import annotations

import asyncio
import io
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator
from itertools import count, pairwise
from typing import Any, ClassVar

import pytest

from rankproof import Benchmark
from rankproof.bench import runner
from rankproof.bench.retrieve import keyword
from rankproof.errors import UsageError
from rankproof.progress import Progress

QUESTIONS = {f"q{n}": f"question {n}" for n in range(12)}
RELEVANT = {name: ["d1"] for name in QUESTIONS}


def bench() -> Benchmark:
    return Benchmark(QUESTIONS, RELEVANT)


class Faulty:
    """Does what it is told for some texts, and answers the others."""

    def __init__(self, **faults: Any) -> None:
        self.faults = {f"question {name[1:]}": fault for name, fault in faults.items()}
        self.calls: Counter[str] = Counter()

    def __call__(self, text: str) -> Any:
        self.calls[text] += 1
        fault = self.faults.get(text)
        return ["d1"] if fault is None else fault()


def raising(error: BaseException) -> Any:
    def fault() -> None:
        raise error

    return fault


@pytest.mark.parametrize("limits", [{}, {"concurrency": 4}, {"timeout": None}])
def test_every_kind_of_failure_is_a_row_and_the_run_goes_on(limits: Any) -> None:
    faulty = Faulty(
        q0=raising(ValueError("no\nindex")),
        q1=lambda: None,
        q2=lambda: "d1",
        q3=lambda: [("d1", float("nan"))],
        q4=list,
        q5=raising(SystemExit(3)),
        q6=lambda: ["d2", "d1", "d2"],
        q7=lambda: [f"d{n}" for n in range(1, 9)],
        q8=raising(KeyError("d1")),
    )
    run = bench().run("faulty", faulty, k=5, **limits)
    assert run.failures == {
        "q0": "ValueError: no index",
        "q1": "got None (NoneType), expected a list of documents",
        "q2": "got 'd1' (str), expected a list of documents",
        "q3": "document 'd1': got NaN as a score, expected a number",
        "q5": "SystemExit: 3",
        "q8": "KeyError: 'd1'",
    }
    assert list(run.ranking) == list(QUESTIONS)
    assert [run.ranking[name] for name in run.failures] == [{}] * 6
    assert list(run.ranking["q7"]) == [f"d{n}" for n in range(1, 6)]
    assert set(run.latencies) == set(QUESTIONS) - set(run.failures)
    values = run.evaluate("RR").values("RR")
    assert [values[name] for name in QUESTIONS] == [0, 0, 0, 0, 0, 0, 0.5, 1, 0, 1, 1, 1]
    text = str(run)
    for said in (
        "1 question came with more than 5 documents; the best 5 were kept.",
        "1 question came with a document twice",
        "1 question found nothing at all ('q4')",
        "1 question failed and counts as a miss ('q0'): ValueError: no index",
    ):
        assert said in " ".join(text.split())
    assert max(map(len, text.split("\n"))) <= 80


@pytest.mark.first_is_quick
@pytest.mark.parametrize("concurrency", [3, 1])
def test_a_hang_is_a_failure_and_others_go_on(concurrency: int) -> None:
    released = threading.Event()
    waited: list[bool] = []
    hang = lambda: waited.append(released.wait(60))  # noqa: E731
    run = bench().run("hang", Faulty(q1=hang, q2=hang), timeout=0.5, concurrency=concurrency)
    assert not waited, "the run ends before those that hang do"
    released.set()
    assert run.failures == dict.fromkeys(["q1", "q2"], "no answer within 0.5 s")
    assert run.evaluate("RR")["RR"] == pytest.approx(10 / 12)


def test_a_generator_without_an_end_is_cut() -> None:
    async def awaited(text: str) -> AsyncIterator[str]:
        for number in count():
            yield f"d{number}"

    for endless in (lambda text: (f"d{number}" for number in count()), awaited):
        run = Benchmark(["why?"]).run("endless", endless, k=2)
        assert list(run.ranking["why?"]) == ["d0", "d1"]
        assert "more than 2 documents" in str(run)


@pytest.mark.slow
def test_a_late_answer_changes_nothing() -> None:
    came = threading.Event()

    def late(text: str) -> list[str]:
        if text == "question 0":
            time.sleep(1)
            came.set()
        return ["d1"]

    run = bench().run("late", late, timeout=0.5)
    assert came.wait(60)
    assert list(run.failures) == ["q0"]
    assert run.ranking["q0"] == {}


@pytest.mark.slow
def test_an_async_hang_is_cancelled_and_a_blocked_loop_is_left_behind() -> None:
    cancelled = []

    async def slow(text: str) -> list[str]:
        if text == "question 0":
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                cancelled.append(text)
                raise
        if text == "question 11":
            time.sleep(4)
        return ["d1"]

    run = bench().run("slow", slow, timeout=0.5, concurrency=1)
    assert cancelled == ["question 0"]
    assert set(run.failures) == {"q0", "q11"}


@pytest.mark.slow
def test_what_waits_for_another_attempt_in_a_blocked_loop_is_asked_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "GRACE", 0.3)
    released = threading.Event()
    asked: list[str] = []

    async def search(text: str) -> list[str]:
        asked.append(text)
        if text == "question 1":
            await asyncio.sleep(0.02)  # when the other one is already in its pause
            released.wait(20)
        if asked.count("question 0") == 1:
            raise ValueError("busy")
        return ["d1"]

    run = bench().run("blocked", search, timeout=0.5, retries=1, backoff=0.6, concurrency=2)
    released.set()
    assert run.failures == {"q1": "no answer within 0.5 s"}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_what_would_end_a_program_ends_no_thread(error: BaseException) -> None:
    async def awaited(text: str) -> None:
        raise error

    fault = raising(error)
    for fails in (lambda text: fault(), awaited, lambda text: awaited(text)):
        run = bench().run("fails", fails, timeout=5, concurrency=2)
        assert len(run.failures) == len(QUESTIONS)


def test_an_async_failure_is_a_row() -> None:
    async def fails(text: str) -> list[str]:
        await asyncio.sleep(0)
        if text == "question 3":
            raise ValueError("boom")
        if text == "question 4":
            raise asyncio.CancelledError
        return ["d1"]

    run = bench().run("fails", fails)
    assert run.failures == {"q3": "ValueError: boom", "q4": "CancelledError"}


def test_async_questions_are_in_flight_together_also_inside_a_running_loop() -> None:
    flying, most = 0, 0

    async def search(text: str) -> list[str]:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(0.05)
        flying -= 1
        return ["d1"]

    async def notebook() -> Any:
        return bench().run("async", search, concurrency=6)

    assert asyncio.run(notebook()).failures == {}
    assert most == 6


def test_threads_are_as_many_as_asked_for() -> None:
    lock, flying, most = threading.Lock(), 0, 0

    def search(text: str) -> list[str]:
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
        time.sleep(0.03)
        with lock:
            flying -= 1
        return ["d1"]

    bench().run("threads", search, concurrency=4)
    assert most == 4


def test_what_knows_one_thread_only_is_asked_there() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE found (id TEXT)")
    connection.execute("INSERT INTO found VALUES ('d1')")

    def search(text: str) -> list[str]:
        return [name for (name,) in connection.execute("SELECT id FROM found")]

    elsewhere = bench().run("sqlite", search)
    assert set(elsewhere.failures) == set(QUESTIONS)
    assert all("can only be used in that same thread" in reason for reason in elsewhere.failures.values())
    assert bench().run("sqlite", search, timeout=None).failures == {}
    connection.close()


def test_failures_are_asked_again_after_growing_pauses() -> None:
    moments: list[float] = []

    def search(text: str) -> list[str]:
        if text == "question 5":
            moments.append(time.monotonic())
            if len(moments) < 4:
                raise ConnectionError("not yet")
        return ["d1"]

    run = bench().run("flaky", search, retries=3, backoff=0.05)
    assert run.failures == {}
    assert next(row.attempts for row in run.rows if row.question == "q5") == 4
    pauses = [after - before for before, after in pairwise(moments)]
    assert [pause >= wanted for pause, wanted in zip(pauses, (0.05, 0.1, 0.2), strict=True)] == [True] * 3
    assert pauses[2] < 5


def test_what_cannot_be_read_is_not_asked_again() -> None:
    faulty = Faulty(q0=lambda: None, q1=raising(ValueError("boom")))
    run = bench().run("faulty", faulty, retries=2, backoff=0.01)
    assert set(run.failures) == {"q0", "q1"}
    assert (faulty.calls["question 0"], faulty.calls["question 1"], faulty.calls["question 2"]) == (1, 3, 1)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_no_more_questions_a_second_than_allowed(concurrency: int) -> None:
    moments: list[float] = []

    def search(text: str) -> list[str]:
        moments.append(time.monotonic())
        return ["d1"]

    bench().run("paced", search, rate=40, concurrency=concurrency)
    assert max(moments) - min(moments) >= 11 / 40 - 0.01
    assert max(moments) - min(moments) < 5  # and hardly fewer


@pytest.mark.slow
def test_warm_up_questions_are_not_counted() -> None:
    calls: list[str] = []

    def search(text: str) -> list[str]:
        calls.append(text)
        time.sleep(1 if len(calls) == 1 else 0)
        return ["d1"]

    run = bench().run("warm", search, warm_up=2)
    assert calls[:2] == ["question 0", "question 1"]
    assert len(calls) == 14
    assert max(run.latencies.values()) < 1


def test_questions_whose_time_ran_out_make_a_system_slow_not_fast() -> None:
    """They are answered late or never: without them the percentiles would be those of the others."""
    slow = ["question 1", "question 5"]
    run = bench().run("late", lambda text: time.sleep(1.5 if text in slow else 0) or ["d1"], timeout=0.3)
    assert [row.late for row in run.rows] == [f"question {n}" in slow for n in range(len(run.rows))]
    p50, p95, p99 = (each.value for each in run.latency)
    assert p50 < 0.2 < p95 <= p99
    assert set(run.latencies) == set(QUESTIONS) - set(run.failures)
    assert "2 questions had no answer in time; in latencies each counts with the 300.0 ms" in " ".join(str(run).split())


class ReadTimeoutError(Exception):
    """As a client of its own may have one."""


@pytest.mark.parametrize("error", [TimeoutError("timed out"), ReadTimeoutError("10.0.0.1")])
def test_the_time_that_a_client_waited_for_in_vain_counts_too(error: Exception) -> None:
    def search(text: str) -> list[str]:
        if text == "question 1":
            time.sleep(0.2)
            raise error
        return ["d1"]

    for each in (search, keyword({"d1": "a page"}) + search):
        run = bench().run("late", each)
        assert [row.late for row in run.rows] == [n == 1 for n in range(len(run.rows))]
        assert run.latency[-1].value > 0.1


class Silent(Exception):
    """An error that fails itself when it is shown."""

    def __str__(self) -> str:
        raise AttributeError("response")


def test_an_error_that_cannot_be_shown_is_a_failure_like_others() -> None:
    def search(text: str) -> list[str]:
        raise Silent

    assert set(bench().run("silent", search).failures.values()) == {"Silent"}


def test_a_batch_takes_so_many_and_each_counts_with_its_share() -> None:
    sizes: list[int] = []

    def search(texts: list[str]) -> list[list[str]]:
        sizes.append(len(texts))
        time.sleep(0.05)
        return [["d1"] for _ in texts]

    began = time.monotonic()
    run = bench().run("batch", search, batch=5)
    assert sizes == [5, 5, 2]
    assert 0.009 < run.latencies["q0"] <= (time.monotonic() - began) / 5
    assert "asked in batches" in str(run)


def test_our_own_retrievers_are_timed_question_by_question() -> None:
    class Own:
        settings: ClassVar[dict[str, str]] = {"kind": "own"}

        def __init__(self) -> None:
            self.sizes: list[int] = []

        def search(self, questions: list[str], k: int) -> list[list[tuple[str, float]]]:
            self.sizes.append(len(questions))
            return [[("d1", 1.0)] for _ in questions]

    own = Own()
    assert "batches" not in str(bench().run("own", own))
    assert own.sizes == [1] * 12
    bench().run("own", own, batch=12)
    assert own.sizes[12:] == [12]


def test_a_batch_that_fails_is_asked_question_by_question() -> None:
    def search(texts: list[str]) -> list[list[str]]:
        if "question 7" in texts:
            raise ValueError("boom")
        return [["d1"] for _ in texts]

    assert bench().run("batch", search, batch=True).failures == {"q7": "ValueError: boom"}

    def too_few(texts: list[str]) -> list[list[str]]:
        return [["d1"]] * min(len(texts), 3)

    assert bench().run("short", too_few, batch=4).failures == {}


def test_rising_scores_in_every_list_are_distances() -> None:
    run = bench().run("distances", lambda text: [("d1", 0.1), ("d2", 0.4)])
    assert run.ranking["q0"] == {"d1": -0.1, "d2": -0.4}
    assert "taken for distances" in str(run)

    def unordered(text: str) -> list[tuple[str, float]]:
        return [("d2", 0.1), ("d1", 0.4)] if text != "question 0" else [("d1", 0.4), ("d2", 0.1)]

    run = bench().run("unordered", unordered)
    assert {tuple(found) for found in run.ranking.values()} == {("d1", "d2")}


def test_ctrl_c_goes_through_and_nothing_is_asked_after_it() -> None:
    calls: list[str] = []

    def search(text: str) -> list[str]:
        calls.append(text)
        if text == "question 3":
            raise KeyboardInterrupt
        return ["d1"]

    with pytest.raises(KeyboardInterrupt):
        bench().run("stopped", search, timeout=None)
    assert len(calls) == 4


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"concurrency": 0}, "concurrency: got 0, expected a whole number from 1 to 1000"),
        ({"concurrency": 1_000_000}, "concurrency: got 1000000, expected a whole number from 1 to 1000"),
        ({"retries": 10**9}, "retries: got 1000000000"),
        ({"timeout": 1e300}, "timeout: got 1e+300, expected a number from 1e-06 to 1e+06"),
        ({"backoff": 1e300}, "backoff: got 1e+300"),
        ({"rate": 1e-300}, "rate: got 1e-300"),
        ({"concurrency": True}, "concurrency: got True"),
        ({"retries": -1}, "retries: got -1"),
        ({"timeout": 0}, "timeout: got 0, expected a number above 0"),
        ({"rate": "fast"}, "rate: got 'fast'"),
        ({"batch": 0}, "batch: got 0"),
        ({"time_out": 3}, "unknown setting 'time_out'. Did you mean 'timeout'"),
        ({"k": 0}, "k: got 0, expected a whole number of at least 1"),
        ({"k": 2.5}, "k: got 2.5"),
    ],
)
def test_limits_that_cannot_be_are_refused(limits: Any, message: str) -> None:
    with pytest.raises(UsageError) as error:
        bench().run("wrong", lambda text: ["d1"], **limits)
    assert message in str(error.value)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.slow
def test_progress_is_told_on_standard_error_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankproof.progress.FIRST", 0.1)

    def search(text: str) -> list[str]:
        time.sleep(0.05)
        return ["d1"]

    bench().run("told", search, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "of 12 questions, about" in err
    bench().run("silent", search)
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal_writes_over_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankproof.progress.FIRST", 0.0)
    monkeypatch.setattr("rankproof.progress.EVERY", {True: 0.0})
    stream = Terminal()
    progress = Progress("told", 10, stream)
    progress.tell(2, 0)
    progress.tell(5, 1)
    progress.close()
    first, second = "\r\x1b[Ktold: 2 of 10 questions", "\r\x1b[Ktold: 5 of 10 questions, 1 failed, about"
    assert stream.getvalue().startswith(first + second)
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.slow
def test_a_thread_that_hangs_does_not_keep_the_program_alive() -> None:
    import subprocess

    code = (
        "import time\nfrom rankproof import Benchmark\n"
        "b = Benchmark({'q1': 'x'}, {'q1': ['d1']})\n"
        "print(b.run('hang', lambda text: time.sleep(60), timeout=0.1).failures)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert "no answer within 0.1 s" in ran.stdout
