"""The rows of a grid's steps: what became of each question, and how one step follows on another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rankproof.bench.adapters.answers import Answer
from rankproof.bench.retriever import Found
from rankproof.bench.runner import Row
from rankproof.core.corpus import Corpus

Rows = dict[str, Row]
"""What became of each question, by its id."""


def chunks_of(chunks: Corpus, documents: frozenset[str]) -> frozenset[str]:
    """The chunks of these documents."""
    return frozenset(name for name, chunk in chunks.items() if chunk.metadata["document"] in documents)


def oddities(rows: Iterable[Row], k: int, corpus: Corpus | None) -> Counter[str]:
    """What is odd about answers, in words, each with how many; `corpus` is what should hold what they found."""
    answers = [row.answer for row in rows if row.answer is not None]
    unknown = [
        each for each in answers if corpus is not None and any(doc not in corpus for doc, _ in each.found)
    ]
    return +Counter(
        {
            f"came with more than {k} documents; the best {k} were kept": sum(
                each.cut > 0 for each in answers
            ),
            "came with a document twice; its best place was kept": sum(each.repeated > 0 for each in answers),
            "held documents that are not in the corpus; they stayed in, as not relevant": len(unknown),
        }
    )


def answering(row: Row, found: Found) -> Row:
    """A row with another list in its answer; one without an answer as it is."""
    return row if row.answer is None else replace(row, answer=replace(row.answer, found=found))


def at_most(k: int, row: Row) -> Row:
    """A row with no more than k documents."""
    return row if row.answer is None else answering(row, row.answer.found[:k])


def lists_of(rows: Rows, questions: Mapping[str, str]) -> dict[str, Found]:
    """What was found for the questions that did not fail."""
    return {name: answer.found for name in questions if (answer := rows[name].answer) is not None}


def joined(rows: Sequence[Row], found: Found, seconds: float) -> Row:
    """One row of several: the seconds of all, and a failure only where nothing else answered."""
    total = seconds + sum(row.seconds for row in rows)
    if all(row.answer is None for row in rows):
        return replace(rows[0], seconds=total)
    return Row(rows[0].question, Answer(found), total)


def after(first: Row, second: Row | None) -> Row:
    """A row after another step."""
    if second is None:
        return first
    return replace(second, seconds=first.seconds + second.seconds)
