"""A command that reads questions as JSON Lines and writes what it found as JSON Lines.

It gets `{"id": ..., "question": ..., "k": ...}` a line on its standard input, which is then closed, and writes
`{"id": ..., "results": [...]}` a line, in any order; without ids, in the order of the questions. `results` may be
ids, pairs [id, score], or objects with an id and a score.

Each answer counts as it comes. Where the command crashes or gives no answer for too long, it is started again with
the questions that are open, behind the one that it failed at.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankproof.bench.adapters.adapter import Adapted, Answered, Flow
from rankproof.bench.adapters.answers import IdOf
from rankproof.bench.adapters.code import files_digest
from rankproof.bench.adapters.process import Process


def words_of(line: str, *, windows: bool = os.name == "nt") -> list[str]:
    r"""The words of a command; what is quoted stays together. An open quote is a `ValueError`.

    >>> words_of(r"python 'my find.py' a\ b", windows=False)
    ['python', 'my find.py', 'a b']
    >>> words_of(r'"C:\Program Files\find.exe" --index D:\data\ "say \"hi\""', windows=True)
    ['C:\\Program Files\\find.exe', '--index', 'D:\\data\\', 'say "hi"']
    """
    return _words_on_windows(line) if windows else shlex.split(line)


def _words_on_windows(line: str) -> list[str]:
    """By the rules of Microsoft's C runtime: a backslash is plain unless a double quote follows."""
    words: list[str] = []
    word: list[str] | None = None
    quoted, at = False, 0
    while at < len(line):
        slashes = len(line[at:]) - len(line[at:].lstrip("\\"))
        at += slashes
        letter = line[at : at + 1]
        if slashes:
            word = [*(word or []), "\\" * (slashes // 2 if letter == '"' else slashes)]
        if letter == '"' and slashes % 2:
            word = [*(word or []), letter]
        elif letter == '"' and quoted and line[at + 1 : at + 2] == '"':
            word = [*(word or []), letter]
            at += 1
        elif letter == '"':
            quoted, word = not quoted, word or []
        elif letter.isspace() and not quoted:
            words += [] if word is None else ["".join(word)]
            word = None
        elif letter:
            word = [*(word or []), letter]
        at += 1
    if quoted:
        raise ValueError("No closing quotation")
    return words if word is None else [*words, "".join(word)]


TRIES = 3
"""Questions that a command which has never answered is asked one by one before it is given up."""


def of_command(
    words: Sequence[str], *, id: IdOf = None, settings: Mapping[str, Any] | None = None
) -> Adapted:
    """The command as a retriever of all questions at once."""
    running: list[Process] = []

    def stream(questions: Sequence[str], k: int, flow: Flow) -> Iterator[Answered]:
        return Asking(list(words), questions, k, flow, running).answers()

    def call(questions: Sequence[str], k: int) -> list[Any]:
        found = {place: answer for place, answer, _ in stream(questions, k, Flow())}
        return [found[place] for place in range(len(questions))]

    def stop() -> None:
        for process in list(running):
            process.kill()

    return Adapted(
        call,
        {"kind": "command", "command": list(words), **_scripts(words), **(settings or {})},
        batch=True,
        id=id,
        known=settings is not None,
        limits={"batch": None},
        stop=stop,
        stream=stream,
    )


def _scripts(words: Sequence[str]) -> dict[str, str]:
    """The digest of the Python files among the words."""
    files = [path for word in words if word.endswith(".py") and (path := Path(word)).is_file()]
    return {"source": files_digest(files, files[0].parent)} if files else {}


class Asking:
    """The questions of one call, asked in as many starts of the command as it takes."""

    def __init__(
        self, words: list[str], questions: Sequence[str], k: int, flow: Flow, running: list[Process]
    ) -> None:
        self.words = words
        self.questions = questions
        self.k = k
        self.flow = flow
        self.running = running
        self.worked = False
        """Whether the command has ever answered."""
        self.lost = 0
        """Questions that it was asked in vain before it had ever answered."""
        self.suspect = -1
        """The question that is asked alone, to see whether it is the one that the others wait for."""
        self.halves = False
        """Whether it was not: such a command gives no answer before it has all, so that any of them may be it."""

    def answers(self) -> Iterator[Answered]:
        """Place, answer (or why there is none) and seconds of each question, as they come."""
        waiting = [list(range(len(self.questions)))]
        while waiting and not self.flow.over():
            asked = waiting.pop()
            if self.lost and not self.worked and len(asked) > 1:
                waiting.append(asked[1:])
                asked = asked[:1]
            process = Process(self.words, self.flow, self.running)
            came: dict[int, None] = {}
            for place, answer, seconds in process.answers(asked, self.questions, self.k):
                came[place] = None
                self.worked = True
                yield place, answer, seconds
            left = [place for place in asked if place not in came]
            if not left:
                self.halves |= asked == [self.suspect]
            elif process.failure is None:
                yield from ((place, process.no_line(), 0.0) for place in left)
            elif len(asked) == 1 or (came and list(came) == asked[: len(came)]):
                # Answers come one by one and in order, so the first that is open is at fault.
                yield left[0], process.failure, process.waited
                self.lost += not self.worked
                if self.lost == TRIES:
                    rest = [*left[1:], *(place for some in reversed(waiting) for place in some)]
                    yield from ((place, process.failure, 0.0) for place in rest)
                    return
                waiting += [left[1:]] if left[1:] else []
            else:
                at = (len(left) + 1) // 2 if self.halves else 1
                self.suspect = left[0]
                waiting += [left[at:], left[:at]]
