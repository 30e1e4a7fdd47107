"""No second holds more calls than the rate says, wherever it begins."""

from __future__ import annotations

import bisect
import random
import time

import pytest

from rankproof import Benchmark
from rankproof.net.retries import Pace


def most_in_a_second(begun: list[float]) -> int:
    return max(bisect.bisect_left(begun, start + 1) - place for place, start in enumerate(begun))


@pytest.mark.parametrize("rate", [1, 2, 2.5, 7, 10, 99.5])
def test_any_second_holds_as_many_as_may_be(rate: float) -> None:
    """Callers wake up late, by any time; what they begin is counted where it begins."""
    now, begun, draw = 0.0, [], random.Random(4)
    pace = Pace(rate, lambda: now)
    while len(begun) < 200:
        wait = pace.turn()
        if wait:
            now += wait * (1 + draw.random() * draw.choice([0, 0, 1, 5]))
        else:
            begun.append(now)
            now += draw.choice([0, 0.001])
    assert most_in_a_second(begun) <= rate
    assert (len(begun) - 1) / begun[-1] > 0


def test_slow_callers_lose_nothing_but_time() -> None:
    now = 0.0
    pace = Pace(0.5, lambda: now)
    assert pace.turn() == 0
    assert pace.turn() == pytest.approx(2, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_run_keeps_to_it(concurrency: int) -> None:
    begun: list[float] = []

    def search(text: str) -> list[str]:
        begun.append(time.monotonic())
        time.sleep(random.Random(text).random() / 10)
        return ["d"]

    questions = {f"q{n}": str(n) for n in range(25)}
    Benchmark(questions).run("paced", search, rate=10, concurrency=concurrency)
    assert most_in_a_second(sorted(begun)) <= 10
