"""Two ways to do the same work, timed in turns, so that what else the machine does meets both."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

Work = Callable[[], object]


@dataclass(frozen=True)
class Pair:
    """Our way and a peer's, with the ratio that is promised."""

    what: str
    peer: str
    ours: Work
    theirs: Work
    promised: float
    """How many times faster than the peer we promise to be (below 1: how much slower we may be)."""
    times: int = 5
    measure: Callable[[Work], float] | None = None
    """What is compared; None: seconds."""


@dataclass(frozen=True)
class Result:
    """The medians of both, in seconds or whatever was measured."""

    pair: Pair
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """How many times more the peer takes."""
        return self.theirs / self.ours

    @property
    def kept(self) -> bool:
        """Whether the promise is kept."""
        return self.ratio >= self.pair.promised


def compare(pair: Pair) -> Result:
    """The medians over several turns, after one that does not count."""
    measure = pair.measure or seconds
    pair.ours()
    pair.theirs()
    turns = [(measure(pair.ours), measure(pair.theirs)) for _ in range(pair.times)]
    ours, theirs = (median(column) for column in zip(*turns, strict=True))
    return Result(pair, ours, theirs)


def seconds(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def processor(work: Work) -> float:
    """Seconds of the processor, of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def processor_of_programs(work: Work) -> float:
    """Seconds of the processor that the programs took which `work` ran, from their start to their end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def process(arguments: Sequence[str]) -> Work:
    """A program run to its end, its output thrown away."""
    return lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def python(*arguments: str) -> Work:
    """A Python process."""
    return process([sys.executable, *arguments])


def peak_bytes(arguments: Sequence[str]) -> int:
    """The most memory that a program held; what it says of itself, as the kernel's sum counts its parent too."""
    running = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    peak = 0
    while running.poll() is None:
        peak = max(peak, _held(running.pid))
        time.sleep(0.002)
    if running.returncode:
        raise RuntimeError(f"{arguments} ended with {running.returncode}")
    return peak


def _held(process: int) -> int:
    """The largest size that a running process had so far (Linux); 0 where it is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except FileNotFoundError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)
