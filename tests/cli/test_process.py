"""The command line as a process: pipes, signals, terminals, encodings, and what it loads."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

RANKPROOF = [sys.executable, "-m", "rankproof"]


def environment(**more: str) -> dict[str, str]:
    return {**{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}, "TERM": "xterm", **more}


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from rankproof.cli import run; run(['--help'])\n"
        "print(sorted({'numpy', 'rich', 'narwhals', 'pyarrow'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Commands:" in done.stdout
    assert done.stderr == "[]\n"


def test_the_version_is_that_of_the_package() -> None:
    from rankproof import __version__

    done = subprocess.run([*RANKPROOF, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"rankproof {__version__}\n"


def test_measures_are_listed_where_nothing_else_has_loaded_them() -> None:
    done = subprocess.run([*RANKPROOF, "measures"], capture_output=True, text=True, check=True)
    assert "DCG, nDCG" in done.stdout


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_news(files: Path) -> None:
    lines = [f"q{i} 0 d 1\n" for i in range(20_000)]
    (files / "many.txt").write_text("".join(lines))
    (files / "many.run").write_text("".join(f"q{i} Q0 d 1 1 t\n" for i in range(20_000)))
    command = " ".join([*RANKPROOF, "evaluate", "many.txt", "many.run", "-q", "-f", "csv", "-m", "RR", "| head -1"])
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "ranking,query,measure,value\n"
    assert done.stderr == ""


def test_control_c_ends_without_a_word_of_python(files: Path) -> None:
    process = subprocess.Popen(
        [*RANKPROOF, "evaluate", "judgments.txt", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(TMPDIR=str(files)),
    )
    assert process.stdin is not None
    process.stdin.write(b"q1 Q0 d1 1 0.5 t\n" * 100_000)  # more than a pipe holds: it is being read and kept
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, b"", b"")
    assert not any(files.glob("rankproof-*"))


@pytest.mark.slow
@pytest.mark.cover
@pytest.mark.parametrize("loading", ["gc", "rankproof.errors", "click", "click.core", "rankproof.io.inputs"])
def test_control_c_while_it_is_loaded_ends_it_the_same_way(loading: str) -> None:
    code = f"""
import os, runpy, signal, sys
class Interrupting:
    def find_spec(self, name, *more):
        if name == {loading!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.modules.pop({loading!r}, None)
sys.meta_path.insert(0, Interrupting())
runpy.run_module("rankproof", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\n")


@pytest.mark.slow
@pytest.mark.cover
def test_a_person_who_waits_is_told_how_far_reading_and_drawing_are(files: Path) -> None:
    for name, step in (("one", 7919), ("other", 31)):
        lines = (f"q{i} Q0 d{j} {j} {i * step % (997 + j)} t\n" for i in range(10_000) for j in range(20))
        (files / f"{name}.run").write_text("".join(lines))
    (files / "many.qrels").write_text("".join(f"q{i} 0 d{i % 20} 1\n" for i in range(10_000)))
    command = [*RANKPROOF, "compare", *(str(files / name) for name in ("many.qrels", "one.run", "other.run"))]
    patience = "import rankproof.cli.output as output; output.PATIENCE = 0; output.EVERY[True] = 0.005"
    code = f"{patience}; from rankproof.cli import main; main({command[3:]})"
    seen = on_a_terminal([sys.executable, "-c", code])
    assert {"reading", "drawing"} <= set(re.findall(r"comparing \.\.\. (\w+)[^\r]*, \d+ %\r", seen))


def wait_for(true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.1)
    pytest.fail("it never came to that")


@pytest.mark.slow
def test_ids_that_the_output_cannot_hold_are_escaped(files: Path) -> None:
    (files / "日本.run").write_text((files / "first.run").read_text())
    command = [*RANKPROOF, "evaluate", "judgments.txt", "日本.run", "-m", "RR"]
    done = subprocess.run(
        command, capture_output=True, check=True, env=environment(PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    )
    assert b"\\u65e5\\u672c.run" in done.stdout


def rest_of(main: int) -> bytes:
    """All that is still to come from a terminal."""
    seen = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:  # Linux's way to say that the other end is closed
            return seen
        if not part:
            return seen
        seen += part


def on_a_terminal(command: list[str], **variables: str) -> str:
    """What a command writes when its standard output and standard error are a terminal."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(command, stdout=terminal, stderr=terminal, env=environment(**variables))
    os.close(terminal)
    seen = rest_of(main)
    process.wait()
    os.close(main)
    return seen.decode()


@pytest.mark.slow
def test_a_terminal_that_can_do_nothing_gets_plain_text(files: Path) -> None:
    assert "\x1b" not in on_a_terminal([*RANKPROOF, "evaluate", "judgments.txt", "first.run"], TERM="dumb")


@pytest.mark.slow
def test_nothing_is_moved_or_coloured_in_a_pipe(files: Path) -> None:
    (files / "half.run").write_text("q1 Q0 d1 1 5 x\n")
    done = subprocess.run(
        [*RANKPROOF, "evaluate", "judgments.txt", "half.run"],
        capture_output=True,
        check=True,
        env=environment(FORCE_COLOR="1"),
    )
    assert b"\x1b" not in done.stdout + done.stderr


@pytest.mark.slow
def test_parquet_is_not_written_to_a_terminal(files: Path) -> None:
    seen = on_a_terminal([*RANKPROOF, "evaluate", "judgments.txt", "first.run", "-f", "parquet"])
    assert "give a file with -o FILE" in seen
    assert "PAR1" not in seen


@pytest.mark.slow
def test_a_person_who_waits_is_told_what_for_and_the_line_is_cleared(files: Path) -> None:
    main, terminal = pty.openpty()
    command = [*RANKPROOF, "evaluate", "judgments.txt", "-", "-m", "RR", "-f", "csv"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=terminal, env=environment()
    )
    os.close(terminal)
    seen = b""
    while b"reading standard input ..." not in seen:
        seen += os.read(main, 4096)
    out, _ = process.communicate((files / "first.run").read_bytes(), timeout=60)
    assert rest_of(main).endswith(b"\r\x1b[K")
    os.close(main)
    assert process.returncode == 0
    assert out.startswith(b"ranking,slice,measure,mean")


@pytest.mark.slow
@pytest.mark.cover
@pytest.mark.parametrize(
    ("command", "place"),
    [
        *((command, "/dev/stdout") for command in ("evaluate", "audit", "diagnose", "report", "convert")),
        *((command, place) for command in ("report", "convert") for place in ("/dev/fd/1", "/proc/self/fd/1")),
    ],
)
def test_what_is_written_to_the_name_of_a_pipe_comes_through_it(files: Path, command: str, place: str) -> None:
    if not Path(place).exists():
        pytest.skip(f"there is no {place} here")
    words = ["first.run", place, "--to", "csv"] if command == "convert" else ["judgments.txt", "first.run", "-o", place]
    asked = [*RANKPROOF, command, *words]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode in (0, 3)
    assert "cannot be written" not in done.stderr
    assert len(done.stdout) > 20
    with open(files / "kept.txt", "w", encoding="utf-8") as kept:  # as the shell does for "> kept.txt"
        subprocess.run(asked, stdout=kept, stderr=subprocess.DEVNULL, check=False, env=environment())
    assert (files / "kept.txt").read_text() == done.stdout
