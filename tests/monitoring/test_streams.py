"""Streams and rotated files: alerts as windows close, memory that does not grow, files in the order of their events."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rankproof import simulate_log
from rankproof.errors import DataError
from rankproof.monitoring.monitor import monitor
from rankproof.monitoring.read import sources_of

pytestmark = pytest.mark.cover

START = datetime(2025, 3, 3, tzinfo=UTC).timestamp()
RULE = "[[alert]]\nmetric = 'dont_know'\nabove = 0.5\nevidence = 'value'\nleast = 20\ncool_down = '1h'\n"


def lines(number: int, step: float = 60.0, refuses_from: float = 1e12) -> Iterator[str]:
    """Events every `step` seconds, of which all say that they do not know from a second on."""
    for at in range(number):
        event = {
            "id": f"e{at}", "ts": START + at * step, "session": f"s{at // 3}", "user": f"u{at % 997}",
            "query": f"where is order {at % 5003}", "abstained": at * step >= refuses_from, "clicks": [],
            "latency_ms": 100 + at % 900, "results": [{"id": f"d{k}", "score": 9.0 - k, "rank": k + 1} for k in range(5)],
        }  # fmt: skip
        yield json.dumps(event) + "\n"


@pytest.mark.slow
def test_an_alert_is_told_while_the_stream_still_runs(tmp_path) -> None:
    rules, state = tmp_path / "alerts.toml", tmp_path / "state.json"
    rules.write_text(RULE)
    command = f"-m rankproof monitor - --lateness 60 --window hour --alerts {rules} --state {state}"
    met = threading.Event()
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *command.split()], stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, text=True
    ) as running:

        def look() -> None:
            for line in running.stderr or ():
                if "alert: " in line:
                    met.set()

        reader = threading.Thread(target=look)
        reader.start()
        assert running.stdin
        running.stdin.writelines(lines(40_000, 2.0, refuses_from=36_000))
        running.stdin.flush()
        assert met.wait(60), "no alert before the end of the stream"
        assert json.loads(state.read_text())["told"]
        running.stdin.close()
        assert running.wait(60) == 1
        reader.join()


@pytest.mark.slow
def test_alerts_of_a_stream_come_once_for_each_cool_down() -> None:
    told: list = []
    rules = [{"metric": "dont_know", "above": 0.5, "least": 20, "evidence": "value", "cool_down": "3h"}]
    found = monitor(
        map(json.loads, lines(3000, 20.0, refuses_from=20_000)),
        lateness=60,
        window="hour",
        alerts=rules,
        on_alert=told.append,
    )
    hours = [round((each.estimate.start / 1e6 - START) / 3600) for each in told]
    assert hours == [6, 9, 12, 15]
    assert [each.fired for each in found.alerts] == [True]
    assert found.alerts[0] == told[-1]
    whole: list = []
    monitor(
        map(json.loads, lines(3000, 20.0, refuses_from=20_000)),
        window="hour",
        alerts=rules,
        on_alert=whole.append,
    )
    assert not whole  # a file has one last window


MEASURE = """
import sys
from pathlib import Path
from rankproof.monitoring.monitor import monitor
found = monitor("-", lateness=600)
status = Path("/proc/self/status").read_text()
print(found.events, status.split("VmHWM:")[1].split()[0])
"""


def peak_of(number: int) -> int:
    """Kilobytes that reading a stream of so many events took at most."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", MEASURE], stdin=pipe, stdout=pipe, text=True) as running:
        assert running.stdin
        assert running.stdout
        running.stdin.writelines(lines(number, 5.0))
        running.stdin.close()
        events, peak = map(int, running.stdout.read().split())
    assert running.returncode == 0
    assert events == number
    return peak


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the kernel does not say how much memory is used")
def test_the_memory_of_a_stream_does_not_grow_with_its_events() -> None:
    few, many = peak_of(60_000), peak_of(180_000)
    # An event that is kept takes 700 bytes and more. Sketches are still filling up: from 320,000 to 1,280,000 events
    # it is less than 2 bytes an event. A busy machine counts up to 50 bytes of libraries in one of the two alone.
    assert (many - few) * 1024 / 120_000 < 200


def test_rotated_files_are_read_in_the_order_in_which_they_were_written(tmp_path) -> None:
    made = list(lines(400))
    for name, part in {
        "app.log": made[300:],
        "app.log.1": made[200:300],
        "old/app.log.3.gz": made[:100],
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        content = "".join(part).encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    renamed = [{"timestamp": json.loads(line)["ts"] * 1000, "query": "refund"} for line in made[100:200]]
    (tmp_path / "renamed.csv").write_text(
        "timestamp,query\n" + "".join(f"{each['timestamp']:.0f},refund\n" for each in renamed)
    )
    for at, name in enumerate(("app.log", "app.log.1", "renamed.csv", "old/app.log.3.gz")):
        os.utime(tmp_path / name, (2e9 - at, 2e9 - at))
    found = list(sources_of(str(tmp_path / "**" / "*.*")))
    assert [Path(each).name for each in found] == ["app.log.3.gz", "renamed.csv", "app.log.1", "app.log"]
    stream = monitor(str(tmp_path / "**" / "*.*"), lateness=60, window="hour")
    assert (stream.events, stream.counts.late, stream.counts.disordered) == (400, 0, 0)


def test_a_file_that_grows_is_read_as_far_as_it_goes(tmp_path) -> None:
    made = list(lines(300))
    log = tmp_path / "log.jsonl"
    log.write_text("".join(made[:200]) + made[200][:40])
    found = monitor(log)
    assert (found.events, found.rejected) == (200, {"not JSON": 1})
    with log.open("a") as file:
        file.write(made[200][40:] + "".join(made[201:]))
    found = monitor(log)
    assert (found.events, found.rejected) == (300, {})


@pytest.mark.slow
def test_a_stream_counts_what_comes_too_late(tmp_path) -> None:
    log = simulate_log(3000, seed=1, days=3)
    made = list(log.records())
    late = made[:5]
    found = monitor([*made[5:], *late], lateness=60)
    assert found.events == len(made)
    assert found.counts.late <= len(late)


@pytest.mark.parametrize("before", ["", "\n", "\ufeff\r\n \r\n"])
@pytest.mark.parametrize("name", ["log.csv", "log"])
def test_empty_lines_before_a_header_are_passed_over_and_counted(tmp_path: Path, before: str, name: str) -> None:
    text = f"{before}time,user,query\n2025-03-03T12:00:00Z,u,a\n2025-03-03T12:00:00Z,u\n"
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    found = monitor(str(tmp_path / name))
    assert found.events == 1
    assert f"line {before.count(chr(10)) + 3}: got 2 cells, expected 3" in " ".join(str(found).split())


def test_a_log_with_a_column_twice_is_refused(tmp_path) -> None:
    (tmp_path / "log.csv").write_text("time,user,query,doc,doc\n2025-03-03T12:00:00Z,u,q,a,b\n")
    with pytest.raises(DataError, match="the header has 'doc' twice, expected once"):
        monitor(str(tmp_path / "log.csv"))
