"""Logs of production: JSONL beside a bare loop over its lines, Parquet beside JSONL, the memory of a stream."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from cases import case
from data import FOLDER
from timing import Pair, Work, process, processor, processor_of_programs

EVENTS, MANY, STREAMED = 100_000, 1_000_000, (100_000, 400_000)

STREAM = """
from pathlib import Path
from rankproof import monitor
monitor("-", lateness=600)
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def _lines(number: int) -> Iterator[str]:
    """Events as JSON, month after month."""
    from rankproof import simulate_log

    months = (
        simulate_log(100_000, seed=at, start=f"20{10 + at // 12}-{at % 12 + 1:02}-01", days=28, variants=("A", "B"))
        for at in range(180)
    )
    return islice(chain.from_iterable(month.lines() for month in months), number)


def _log(number: int = EVENTS) -> Path:
    path = Path(FOLDER) / f"log-{number}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            file.writelines(f"{line}\n" for line in _lines(number))
    return path


def _logs(number: int) -> tuple[Path, Path]:
    """A log as columns, and the same as lines."""
    import pyarrow.json
    import pyarrow.parquet

    path = _log(number)
    columns = path.with_suffix(".parquet")
    pyarrow.parquet.write_table(pyarrow.json.read_json(path), columns)
    return columns, path


def _decoded(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


@case
def log_jsonl() -> list[Pair]:
    from rankproof import monitor

    path = _log()
    work = f"a log of {EVENTS:,} events in JSONL"
    return [Pair(work, "json.loads of each line", lambda: monitor(path), lambda: _decoded(path), 0.5, 3, processor)]


@case
def log_parquet() -> list[Pair]:
    from rankproof import monitor

    columns, path = _logs(EVENTS)
    work = f"a log of {EVENTS:,} events in Parquet"
    return [
        Pair(work, "the same in JSONL", lambda: monitor(columns), lambda: monitor(path), 5, 3, processor),
        _programs(EVENTS, 2.5, 3),  # a third of its time it starts and imports
    ]


@case
def log_parquet_million() -> list[Pair]:
    return [_programs(MANY, 6.5, 2)]  # 6.8 to 8.4 were measured


def _programs(number: int, promised: float, times: int) -> Pair:
    command = [sys.executable, "-m", "rankproof", "monitor"]
    ours, theirs = (process([*command, str(each)]) for each in _logs(number))
    work = f"a log of {number:,} events in Parquet, as a program"
    return Pair(work, "the same in JSONL", ours, theirs, promised, times, processor_of_programs)


def _peak(number: int) -> float:
    """The most bytes that a stream of so many events takes."""
    with tempfile.TemporaryFile("w+") as file:
        file.writelines(f"{line}\n" for line in _lines(number))
        file.seek(0)
        said = subprocess.run([sys.executable, "-c", STREAM], stdin=file, capture_output=True, text=True, check=True)
    return int(said.stdout) * 1024.0


def _measured(work: Work) -> float:
    return float(work())  # type: ignore[arg-type]


@case
def log_stream_memory() -> list[Pair]:
    few, many = STREAMED
    work = f"peak memory of a stream of {many:,} events"
    return [Pair(work, f"of {few:,}", lambda: _peak(many), lambda: _peak(few), 0.9, 1, _measured)]
