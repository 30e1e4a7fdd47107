"""A command that reads questions as JSON Lines and writes its results as JSON Lines.

It gets lines `{"id": ..., "question": ..., "k": ...}` on its standard input, which is then closed, and writes
lines `{"id": ..., "results": [...]}`, in any order; without ids, in the order of the questions. `results` may be
ids, pairs [id, score], or objects with an id and a score.

Each answer counts as it arrives. If the command crashes or gives no answer for too long, it is started again with
the open questions after the one that it failed at.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, sleep
from typing import Any, BinaryIO

from rankproof.bench.adapters.adapter import Adapted, Answered, Flow
from rankproof.bench.adapters.code import files_digest
from rankproof.bench.retriever import LISTS, IdOf, unusable_answer
from rankproof.errors import shorten
from rankproof.net.retries import Failed

TAIL = 300
"""The number of characters of its standard error that are shown."""
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
        """Why not every question has its answer; None if it ended well."""
        self.waited = 0.0
        """Seconds that the question took at which it failed."""
        self._words = list(words)
        self._flow = flow
        self._running = running
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._said = b""
        self._process: subprocess.Popen[bytes]
        self.read: ProcessAnswers
        self._given: dict[int, float] = {}
        """When a question was handed over."""
        self._latest = 0.0

    def answers(self, asked: Sequence[int], questions: Sequence[str], k: int) -> Iterator[Answered]:
        """The answers to the questions of these places, as they come; afterwards `failure` says how it ended."""
        try:
            self._process = process = subprocess.Popen(
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
        self._running.append(self)
        self.read = ProcessAnswers(asked)
        given = [
            (place, json.dumps({"id": str(place), "question": questions[place], "k": k}, ensure_ascii=False) + "\n")
            for place in asked
        ]
        # Threads write the questions and read the output: none of the three pipes may wait for another.
        giving = _thread(self._give, process.stdin, given)
        listening = _thread(self._listen, process.stderr)
        _thread(self._take, process.stdout)
        try:
            since = monotonic()
            while (line := self._wait(since, len(asked), giving)) is not None:
                for place, answer in self.read.take(line):
                    now = monotonic()
                    yield place, answer, now - max(since, self._given.get(place, since))
                    since = now
            self.waited = monotonic() - since
            if self.failure is None and len(self.read.told) < len(asked):
                self.failure = self._bad_end(listening)
            if self.failure is None:
                yield from ((place, answer, 0.0) for place, answer in self.read.rest())
        finally:
            self._running.remove(self)
            self.kill()

    def _wait(self, since: float, asked: int, giving: Thread) -> str | None:
        """The next line; None at the end, or after the timeout."""
        left = asked - len(self.read.told)
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
                of = "" if self.read.told else " of its start"
                self.failure = Failed(f"no answer within {timeout:.3g} s{of}", again=True, late=True)
            return None

    def _bad_end(self, listening: Thread) -> Failed | None:
        """Why it ended before all was answered, if that was no good end."""
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return Failed("it closed its output and did not end", again=True)
        listening.join(GRACE)
        said = " ".join(self._said.decode("utf-8", "backslashreplace").split())[-TAIL:]
        return Failed(f"exit code {code}" + (f": {said}" if said else ""), again=True) if code else None

    def kill(self) -> None:
        """End it with all that it started, as a shell may have; Windows knows no such groups."""
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


class ProcessAnswers:
    """Lines of an output, made out to answers.

    Lines with ids say which question they answer, and whatever else is written is a log. Without ids they count in
    the order of the questions: then it is settled at the end which lines were none.
    """

    def __init__(self, asked: Sequence[int]) -> None:
        self.odd = ""
        """The last line that is not an answer."""
        self.told: set[int] = set()
        """The places that have an answer."""
        self._asked = list(asked)
        self._known = set(asked)
        self._named: bool | None = None
        """Whether answers have ids; None while there was none."""
        self._open: list[Any] = []
        """Lines that may be answers, until that is known."""
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
            place = int(name) if name.isdecimal() and len(name) < 18 else -1
            if place not in self._known:
                self.odd = f"a line for a question that was not asked: {shorten(line)}"
                return []
            return [self._tell(place, Failed("two lines for this question") if place in self.told else answer)]
        some, self._open = [*self._open, answer], []
        first, self._next = self._next, self._next + len(some)
        return [self._tell(place, each) for place, each in zip(self._asked[first:], some, strict=False)]

    def _tell(self, place: int, answer: Any) -> tuple[int, Any]:
        self.told.add(place)
        return place, answer

    def rest(self) -> list[tuple[int, Any]]:
        """Lines without ids, checked at the end: there must be one for each question."""
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
    return Failed(f"not valid JSON in the output: {shorten(line)}")


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


def words_of(line: str, *, windows: bool = os.name == "nt") -> list[str]:
    r"""The words of a command; what is quoted stays together. An open quote is a `ValueError`.

    On Windows only double quotes count, and a backslash is part of a path.

    >>> words_of(r"python 'my find.py' a\ b", windows=False)
    ['python', 'my find.py', 'a b']
    >>> words_of(r'"C:\Program Files\find.exe" --index D:\data\ ', windows=True)
    ['C:\\Program Files\\find.exe', '--index', 'D:\\data\\']
    """
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if windows:
        lexer.quotes = '"'
        lexer.escape = ""
    return list(lexer)


TRIES = 3
"""Questions that a command which answers nothing is asked one by one before it is given up."""


def answer_in_starts(
    words: Sequence[str], questions: Sequence[str], k: int, flow: Flow, running: list[Process]
) -> Iterator[Answered]:
    """Place, answer (or the reason for none) and seconds of each question, in as many starts as it takes."""
    worked = False  # whether the command has ever answered
    lost = 0  # questions that it was asked in vain before it had ever answered
    idle = 0  # starts in a row that answered nothing and ended well
    suspect = -1  # the question that is asked alone, to see whether it is the one that the others wait for
    halves = False  # whether it was not: such a command answers only when it has all, so any of them may be it
    waiting = [list(range(len(questions)))]
    while waiting and not flow.over():
        asked = waiting.pop()
        if lost and not worked and len(asked) > 1:
            waiting.append(asked[1:])
            asked = asked[:1]
        process = Process(words, flow, running)
        came: dict[int, Any] = {}
        for place, answer, seconds in process.answers(asked, questions, k):
            came[place] = answer
            worked = True
            yield place, answer, seconds
        left = [place for place in asked if place not in came]
        if not left:
            halves |= asked == [suspect]
        elif process.failure is None:
            # Where it stopped early, if without an error, it is started again behind that question.
            idle = 0 if came else idle + 1
            early = idle < TRIES and list(came) == asked[: len(came)]
            at = (0 if came and isinstance([*came.values()][-1], Failed) else 1) if early else len(left)
            odd = f"; {process.read.odd}" if process.read.odd else ""
            none = Failed(f"no line for this question in the output{odd}")
            yield from ((place, none, 0.0) for place in left[:at])
            waiting += [left[at:]] if left[at:] else []
        elif len(asked) == 1 or (came and list(came) == asked[: len(came)]):
            # Answers come one by one and in order, so the first that is open is at fault.
            yield left[0], process.failure, process.waited
            lost += not worked
            if lost == TRIES:
                rest = [*left[1:], *(place for some in reversed(waiting) for place in some)]
                yield from ((place, process.failure, 0.0) for place in rest)
                return
            waiting += [left[1:]] if left[1:] else []
        else:
            at = (len(left) + 1) // 2 if halves else 1
            suspect = left[0]
            waiting += [left[at:], left[:at]]


def of_command(words: Sequence[str], *, id: IdOf = None, settings: Mapping[str, Any] | None = None) -> Adapted:
    """The command as a retriever of all questions at once."""
    running: list[Process] = []
    # The digest of the Python files among the words.
    files = [path for word in words if word.endswith(".py") and (path := Path(word)).is_file()]
    source = {"source": files_digest(files, files[0].parent)} if files else {}

    def stream(questions: Sequence[str], k: int, flow: Flow) -> Iterator[Answered]:
        return answer_in_starts(words, questions, k, flow, running)

    def call(questions: Sequence[str], k: int) -> list[Any]:
        found = {place: answer for place, answer, _ in stream(questions, k, Flow())}
        return [found[place] for place in range(len(questions))]

    def stop() -> None:
        for process in list(running):
            process.kill()

    return Adapted(
        call,
        {"kind": "command", "command": list(words), **source, **(settings or {})},
        batch=True,
        id=id,
        known=settings is not None,
        limits={"batch": None},
        stop=stop,
        stream=stream,
    )
