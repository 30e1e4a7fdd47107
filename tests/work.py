"""How much work a call is, whatever else the machine does: what it calls is counted, not how long it takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

TRIES = 4


def calls(call: Callable[[], Any]) -> int:
    """How many functions are called meanwhile in this thread, those of C included."""
    count = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return count


def check_growth(work: Callable[[int], Any], size: int, times: int = 4, slack: float = 1.5) -> None:
    """`times` the input is about `times` the work, not its square.

    Calls are counted. A single call of C that goes over all the rest again is seen by the processor's time alone: its
    ratio, of which the best of some tries counts, as another program can only make it larger.
    """
    few, many = calls(lambda: work(size)), calls(lambda: work(size * times))
    assert many <= slack * times * few + 1000, (few, many)
    ratios = []
    for _ in range(TRIES):
        small, large = seconds(lambda: work(size)), seconds(lambda: work(size * times))
        ratios.append(large / (small + 0.005))  # what takes no time has no ratio
        if ratios[-1] < 2 * times:
            return
    raise AssertionError(f"{times} times the input took {min(ratios):.1f} times as long, at best")


def seconds(call: Callable[[], Any]) -> float:
    """Seconds of the processor in this thread."""
    began = time.thread_time()
    call()
    return time.thread_time() - began
