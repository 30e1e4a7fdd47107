"""A command that reads questions as JSON Lines and writes what it found as JSON Lines.

It is started once, gets `{"id": ..., "question": ..., "k": ...}` a line on its standard input, which is then
closed, and writes `{"id": ..., "results": [...]}` a line, in any order; without ids, in the order of the
questions. `results` may be ids, pairs [id, score], or objects with an id and a score.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from rankproof.bench.adapters.adapted import Adapted
from rankproof.bench.adapters.answers import LISTS, IdOf
from rankproof.bench.adapters.failed import Failed, unusable
from rankproof.bench.adapters.sources import files_digest
from rankproof.errors import shorten

Process: TypeAlias = "subprocess.Popen[str]"

TAIL = 300
"""Characters of what it wrote to standard error that are told."""


def of_command(
    words: Sequence[str], *, id: IdOf = None, settings: Mapping[str, Any] | None = None
) -> Adapted:
    """The command as a retriever of all questions at once."""
    running: list[Process] = []
    return Adapted(
        lambda questions, k: _asked(words, questions, k, running),
        {"kind": "command", "command": list(words), **_scripts(words), **(settings or {})},
        batch=True,
        id=id,
        known=settings is not None,
        limits={"batch": None},
        stop=lambda: _end(running),
    )


def _scripts(words: Sequence[str]) -> dict[str, str]:
    """The digest of the Python files among the words."""
    files = [path for word in words if word.endswith(".py") and (path := Path(word)).is_file()]
    return {"source": files_digest(files, files[0].parent)} if files else {}


def _end(running: Sequence[Process]) -> None:
    for process in list(running):
        _kill(process)


def _kill(process: Process) -> None:
    """End it with all that it started, as a shell may have; Windows knows no such groups."""
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _asked(words: Sequence[str], questions: Sequence[str], k: int, running: list[Process]) -> list[Any]:
    given = [
        json.dumps({"id": str(number), "question": text, "k": k}, ensure_ascii=False)
        for number, text in enumerate(questions)
    ]
    process = _started(words)
    running.append(process)
    try:
        output, errors = process.communicate("\n".join([*given, ""]))
    finally:
        running.remove(process)
    if process.returncode and not output.strip():
        raise Failed(_ended(process, errors), again=True)
    missing = _ended(process, errors) if process.returncode else "no line for this question in the output"
    return _by_question(output, len(questions), Failed(missing))


def _started(words: Sequence[str]) -> Process:
    pipe = subprocess.PIPE
    group = 0 if os.name == "posix" else None
    try:
        return subprocess.Popen(
            words,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            encoding="utf-8",
            errors="backslashreplace",
            process_group=group,
        )
    except OSError as error:
        raise Failed(f"{words[0]}: cannot be started: {error.strerror}") from error


def _ended(process: Process, errors: str) -> str:
    said = " ".join(errors.split())[-TAIL:]
    return f"exit code {process.returncode}" + (f": {said}" if said else "")


def _by_question(output: str, questions: int, missing: Failed) -> list[Any]:
    """The results of each question; what is wrong with a line is a failure of its question only."""
    found: list[Any] = [missing] * questions
    for place, line in enumerate(_lines(output, questions)):
        number, results = _read(line, place)
        if not 0 <= number < questions:
            raise Failed(f"a line for a question that was not asked: {shorten(line)}")
        found[number] = results if found[number] is missing else Failed("two lines for this question")
    return found


def _lines(output: str, questions: int) -> list[str]:
    """The lines with answers; without others between them, as of a log, where that makes one a question."""
    lines = [line for line in output.split("\n") if line.strip()]
    answers = [line for line in lines if line.lstrip()[0] in "{["]
    return answers if len(answers) == questions else lines


def _read(line: str, place: int) -> tuple[int, Any]:
    """The number of the question that a line answers, and the results."""
    try:
        data = json.loads(line)
    except ValueError:
        return place, Failed(f"no valid JSON in the output: {shorten(line)}")
    if isinstance(data, list):
        return place, data
    if not isinstance(data, dict):
        return place, unusable(data, "an object with id and results")
    said = str(data.get("id", place))
    number = int(said) if said.isdecimal() else -1
    listed = next((data[name] for name in (*LISTS, "ids") if name in data), None)
    return number, unusable(data, "the results under 'results'") if listed is None else listed
