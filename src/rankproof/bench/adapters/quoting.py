"""A command line taken apart into words, by the rules of the system that it is written on."""

from __future__ import annotations

import os
import shlex


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
