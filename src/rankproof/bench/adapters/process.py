"""One start of a command that answers questions: lines in, lines out, and an end that may be a bad one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, sleep
from typing import Any, BinaryIO

from rankproof.bench.adapters.adapter import Answered, Flow
from rankproof.bench.adapters.alike import unusable_answer
from rankproof.bench.adapters.answers import LISTS
from rankproof.errors import shorten
from rankproof.net.retries import Failed

TAIL = 300
"""Characters of what it wrote to standard error that are told."""
GRACE = 2.0
"""Seconds that it has to end when it has answered everything, or has closed its output."""
LOG = re.compile(r"\[[^\]\"{}]*\]\s*\S")
"""A line of a log may begin like a list: `[INFO] loading`."""
USUAL = {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
"""What makes a Python program write each line at once, and in the encoding that is read here."""


class Process:
    """A command that is started for some questions; it is in `running` while it runs."""

    def __init__(self, words: Sequence[str], flow: Flow, running: list[Process]) -> None:
        self.failure: Failed | None = None
        """Why not every question has its answer; None where it ended well."""
        self.waited = 0.0
        """Seconds that the question took at which it failed."""
        self._words = list(words)
        self._flow = flow
        self._running = running
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._said = b""
        self._given: dict[int, float] = {}
        """When a question was handed over."""
        self._latest = 0.0
        self._read = ProcessAnswers()

    def answers(self, asked: Sequence[int], questions: Sequence[str], k: int) -> Iterator[Answered]:
        """The answers to the questions of these places, as they come; afterwards `failure` says how it ended."""
        try:
            process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**USUAL, **os.environ},
                process_group=0 if os.name == "posix" else None,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            self.failure = Failed(f"{self._words[0]}: cannot be started: {why}")
            return
        self._process = process
        self._running.append(self)
        self._read = ProcessAnswers(asked)
        given = [(place, _line(place, questions[place], k)) for place in asked]
        # Threads hand over the questions and take what comes: none of the three pipes may wait for another.
        giving = _thread(self._give, process.stdin, given)
        listening = _thread(self._listen, process.stderr)
        _thread(self._take, process.stdout)
        try:
            yield from self._come(len(asked), giving)
            if self.failure is None and len(self._read.told) < len(asked):
                self.failure = self._bad_end(process, listening)
            if self.failure is None:
                yield from ((place, answer, 0.0) for place, answer in self._read.rest())
        finally:
            self._running.remove(self)
            self.kill()

    def _come(self, asked: int, giving: Thread) -> Iterator[Answered]:
        since = monotonic()
        while (line := self._wait(since, asked, giving)) is not None:
            for place, answer in self._read.take(line):
                now = monotonic()
                yield place, answer, now - max(since, self._given.get(place, since))
                since = now
        self.waited = monotonic() - since

    def _wait(self, since: float, asked: int, giving: Thread) -> str | None:
        """The next line; None where there is none any more, or it is waited for in vain."""
        left = asked - len(self._read.told)
        timeout = self._flow.timeout if left else GRACE
        if timeout is None:
            return self._lines.get()
        while True:
            try:
                return self._lines.get(timeout=max(max(since, self._latest) + timeout - monotonic(), 0.01))
            except Empty:
                nothing_owed = giving.is_alive() and len(self._given) <= asked - left
                if monotonic() < max(since, self._latest) + timeout or nothing_owed:
                    continue
            if left:
                of = "" if self._read.told else " of its start"
                self.failure = Failed(f"no answer within {timeout:.3g} s{of}", again=True)
            return None

    def _bad_end(self, process: subprocess.Popen[bytes], listening: Thread) -> Failed | None:
        """Why it ended before all was answered, if that was no good end."""
        try:
            code = process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return Failed("it closed its output and did not end", again=True)
        listening.join(GRACE)
        said = " ".join(self._said.decode("utf-8", "backslashreplace").split())[-TAIL:]
        return Failed(f"exit code {code}" + (f": {said}" if said else ""), again=True) if code else None

    def no_line(self) -> Failed:
        """Why a question has no answer although the command ended well."""
        odd = f"; {self._read.odd}" if self._read.odd else ""
        return Failed(f"no line for this question in the output{odd}")

    def kill(self) -> None:
        """End it with all that it started, as a shell may have; Windows knows no such groups."""
        if self._process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)

    def _give(self, stream: BinaryIO, given: list[tuple[int, str]]) -> None:
        with suppress(OSError, ValueError), stream:  # it may have ended, or take no more
            for place, line in given:
                paced = False
                while wait := self._flow.turn():
                    sleep(wait)
                    paced = True
                self._given[place] = self._latest = monotonic()
                stream.write(line.encode("utf-8", "surrogatepass"))
                if paced:
                    stream.flush()

    def _listen(self, stream: BinaryIO) -> None:
        with suppress(OSError, ValueError), stream:
            for line in stream:
                self._said = (self._said + line)[-8 * TAIL :]

    def _take(self, stream: BinaryIO) -> None:
        with suppress(OSError, ValueError), stream:
            for line in stream:
                self._lines.put(line.decode("utf-8", "backslashreplace"))
        self._lines.put(None)


def _thread(work: Callable[..., None], *arguments: Any) -> Thread:
    thread = Thread(target=work, args=arguments, daemon=True, name="rankproof-program")
    thread.start()
    return thread


def _line(place: int, question: str, k: int) -> str:
    return json.dumps({"id": str(place), "question": question, "k": k}, ensure_ascii=False) + "\n"


class ProcessAnswers:
    """Lines of an output, made out to answers.

    Lines with ids say which question they answer, and whatever else is written is a log. Without ids they count in
    the order of the questions: then it is settled at the end which lines were none.
    """

    def __init__(self, asked: Sequence[int] = ()) -> None:
        self.odd = ""
        """What was last met that is no answer."""
        self.told: set[int] = set()
        """The places that have an answer."""
        self._asked = list(asked)
        self._known = set(asked)
        self._named: bool | None = None
        """Whether answers have ids; None while there was none."""
        self._open: list[Any] = []
        """What may be answers, until that is known."""
        self._lines: list[str] = []
        """All lines, where answers have no ids."""
        self._next = 0

    def take(self, text: str) -> list[tuple[int, Any]]:
        """The answers that are known with this line."""
        line = text.strip()
        if not line:
            return []
        name, answer = _read(line)
        if self._named is None and (name is not None or isinstance(answer, list)):
            self._named = name is not None
            self._open = [] if self._named else self._open
        if not self._named:
            self._lines.append(line)
        if answer is None or (self._named and name is None):
            self.odd = answer.reason if isinstance(answer, Failed) else _no_json(line).reason
            return []
        if self._named is None:
            self._open.append(answer)
            return []
        if name is not None:
            return self._by_name(name, answer, line)
        some, self._open = [*self._open, answer], []
        return [pair for each in some for pair in self._in_order(each)]

    def _by_name(self, name: str, answer: Any, line: str) -> list[tuple[int, Any]]:
        place = int(name) if name.isdecimal() and len(name) < 18 else -1
        if place not in self._known:
            self.odd = f"a line for a question that was not asked: {shorten(line)}"
            return []
        return [self._tell(place, Failed("two lines for this question") if place in self.told else answer)]

    def _in_order(self, answer: Any) -> list[tuple[int, Any]]:
        self._next += 1
        return [self._tell(self._asked[self._next - 1], answer)] if self._next <= len(self._asked) else []

    def _tell(self, place: int, answer: Any) -> tuple[int, Any]:
        self.told.add(place)
        return place, answer

    def rest(self) -> list[tuple[int, Any]]:
        """What is known only at the end of lines without ids, where they are not one a question."""
        questions, lines = len(self._asked), len(self._lines)
        if self._named or not lines or self._next == questions:
            return []
        if self._next > questions or (self._next and self._next < lines != questions):
            reason = f"{lines} lines without ids for {questions} questions, so that none can be told"
            return [(place, Failed(reason)) for place in self._asked]
        if self._next == lines:
            return []
        # A line a question, so that one without an answer is the answer that its question lacks.
        read = [_read(line)[1] for line in self._lines]
        texts = zip(self._asked, read, self._lines, strict=False)
        return [(place, _no_json(line) if answer is None else answer) for place, answer, line in texts]


def _no_json(line: str) -> Failed:
    return Failed(f"no valid JSON in the output: {shorten(line)}")


def _read(line: str) -> tuple[str | None, Any]:
    """The id in a line and the answer, `Failed` where it is none; no answer at all where it is of a log."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        broken = line[0] in "{[" and not LOG.match(line)
        return None, _no_json(line) if broken else None
    if isinstance(data, list):
        return None, data
    if not isinstance(data, dict):
        return None, unusable_answer(data, "an object with id and results")
    name = None if data.get("id") is None else str(data["id"])
    listed = next((data[each] for each in (*LISTS, "ids") if each in data), None)
    return name, unusable_answer(data, "the results under 'results'") if listed is None else listed
