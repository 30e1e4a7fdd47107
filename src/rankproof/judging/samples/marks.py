"""Marks like [1] or [2, 3] in an answer, as citations of the contexts by their ranks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rankproof.core.text.sentences import sentences
from rankproof.judging.samples.sample import Citation, Context
from rankproof.judging.samples.values import MARK


def marks_in(answer: str, contexts: Sequence[Context]) -> tuple[str, tuple[Citation, ...]]:
    """The answer without its marks, and what each mark cites; no mark counts where none names a context.

    >>> marks_in("Paris is the capital [1].", [Context("doc-7", "Paris, the capital.")])
    ('Paris is the capital.', (Citation(claim='Paris is the capital.', context='doc-7'),))
    """
    marked = "".join(map(_inward, answer.splitlines(keepends=True)))
    found = [
        Citation(without(sentence), _named(number, contexts))
        for sentence in (span.of(marked) for span in sentences(marked))
        for number in numbers(sentence)
    ]
    known = {each.id for each in contexts}
    if not any(each.context in known for each in found):
        return answer, ()
    return without(marked), tuple(dict.fromkeys(found))


def _inward(line: str) -> str:
    """The line with each mark that follows a sentence drawn into it, unless marks lead their sentences.

    >>> _inward("Ana won. [1] Bob lost.[2]"), _inward("[1] Ana won. [2] Bob lost.")
    ('Ana won[1]. Bob lost[2].', '[1] Ana won. [2] Bob lost.')
    """
    return line if _BEFORE.match(line) else _AFTER_THE_END.sub(_moved, line)


def _moved(found: re.Match[str]) -> str:
    return f"{found['marks'].replace(' ', '')}{found['end']}{found['blank']}"


def numbers(sentence: str) -> list[str]:
    """The numbers in the marks of a sentence."""
    return [number.strip() for mark in MARK.findall(sentence) for number in mark.replace(";", ",").split(",")]


def without(text: str) -> str:
    """The text without marks, and without the blank before each."""
    return _BEFORE.sub("", text).strip()


def _named(number: str, contexts: Sequence[Context]) -> str:
    """The id of the context at this rank; the number itself where there is none."""
    rank = int(number)
    return contexts[rank - 1].id if 1 <= rank <= len(contexts) else number


_BEFORE = re.compile(r"\s*" + MARK.pattern)
_AFTER_THE_END = re.compile(
    r"(?P<end>[.!?。！？…।][\"'”’»)」』]*)[ \t]*(?P<marks>(?:"
    + MARK.pattern
    + r"[ \t]*?)+)\.?(?P<blank>[ \t]*)"
)
