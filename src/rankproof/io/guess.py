"""Which column is what, told by its name; and a sentence for the audit that says what was taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rankproof.errors import DataError

NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (
        ("query_id", "qid", "topic_id", "topicno", "question_id"),
        ("query", "topic", "question", "user_id", "user", "q"),
    ),
    "doc": (
        ("doc_id", "docno", "document_id", "corpus_id", "passage_id", "pid", "chunk_id", "item_id"),
        ("doc", "document", "passage", "chunk", "item", "product_id", "did", "d"),
    ),
    "score": (("score", "sim", "similarity", "rsv", "doc_score", "relevance_score"), ("s",)),
    "rank": (("rank", "position", "pos", "doc_rank"),),
    "grade": (
        ("grade", "relevance", "rel", "relevance_grade", "relevance_label", "relevant", "qrel"),
        ("label", "judgment", "judgement", "rating", "gain"),
    ),
    "iteration": (("iteration", "iter"),),
    "aspect": (("subtopic_id", "subtopic", "aspect_id", "aspect", "facet", "intent"),),
}
"""For each role the names it goes by: a name of an earlier group beats one of a later group."""

LONGEST = 200
"""Characters of a cell that may be the name of a column."""

Guess = Mapping[str, str]
"""Roles and the columns that have them."""


@lru_cache(maxsize=1024)
def plain(name: str) -> str:
    """A column's name without case, blanks and punctuation.

    >>> plain("Query-ID"), plain("docNo")
    ('queryid', 'docno')
    """
    if len(name) > LONGEST:
        return name  # a cell of data, of which only the length is known so far
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def column_of(role: str, columns: Sequence[str]) -> list[str]:
    """The columns that go by a name of the role; more than one where it cannot be told.

    >>> column_of("query", ["query_id", "query", "docno"]), column_of("query", ["qid", "topic_id"])
    (['query_id'], ['qid', 'topic_id'])
    """
    for names in NAMES[role]:
        known = {plain(name) for name in names}
        if found := [column for column in columns if plain(column) in known]:
            return found
    return []


@dataclass(frozen=True)
class Wanted:
    """What a table is to be read as, and which columns that takes."""

    what: str
    needed: tuple[str, ...]
    """Roles of which there must be a column."""
    helpful: tuple[str, ...]
    """Roles that are used where there is a column."""


JUDGMENTS = Wanted("judgments", ("query", "doc"), ("grade", "aspect", "iteration"))
RANKING = Wanted("a ranking", ("query", "doc"), ("score", "rank"))


def guess(columns: Sequence[str], wanted: Wanted, source: str) -> dict[str, str]:
    """The column of each role, or an error that lists the columns and says how to name them.

    >>> guess(["qid", "docno", "label"], JUDGMENTS, "a frame")
    {'query': 'qid', 'doc': 'docno', 'grade': 'label'}
    """
    took: dict[str, str] = {}
    for role in (*wanted.needed, *wanted.helpful):
        found = column_of(role, columns)
        if len(found) > 1:
            raise _unsure(role, found, columns, source)
        if found:
            took[role] = found[0]
        elif role in wanted.needed:
            raise _absent(role, columns, wanted, source)
    return _as_judgments(took, columns, source) if wanted is JUDGMENTS else _as_ranking(took, columns, source)


def _as_judgments(took: dict[str, str], columns: Sequence[str], source: str) -> dict[str, str]:
    """Judgments may call the grade a score, as BEIR does; a rank column shows that they are a ranking."""
    if "grade" in took:
        return took
    score, rank = column_of("score", columns), column_of("rank", columns)
    if rank:
        raise _swapped("a ranking", rank[0], "judgments", "grade", columns, source)
    if len(score) == 1:
        return {**took, "grade": score[0]}
    if len(columns) > len(took):
        raise _absent("grade", columns, JUDGMENTS, source)
    return took


def _as_ranking(took: dict[str, str], columns: Sequence[str], source: str) -> dict[str, str]:
    if "score" in took or "rank" in took:
        return took
    if grade := column_of("grade", columns):
        raise _swapped("judgments", grade[0], "a ranking", "score", columns, source)
    if len(columns) > len(took):
        raise _absent("score", columns, RANKING, source)
    return took


def said(took: Guess, source: str) -> str:
    """What was taken as what, in a sentence.

    >>> said({"query": "qid", "doc": "docno"}, "run.csv")
    "run.csv: took the column 'qid' as query, 'docno' as doc"
    """
    pairs = ", ".join(f"{column!r} as {role}" for role, column in took.items())
    return f"{source}: took the column {pairs}"


def listed(columns: Sequence[str]) -> str:
    """The columns as a message lists them."""
    return ", ".join(repr(column) for column in columns[:20]) + (", ..." if len(columns) > 20 else "")


def _unsure(role: str, found: list[str], columns: Sequence[str], source: str) -> DataError:
    return DataError(
        f"{source}: cannot tell which column is the {role}: {listed(found)} (of {listed(columns)}). "
        f"Next: keep one of them, or rename it to {NAMES[role][0][0]!r}."
    )


def _absent(role: str, columns: Sequence[str], wanted: Wanted, source: str) -> DataError:
    known = ", ".join(repr(name) for names in NAMES[role] for name in names[:3])
    return DataError(
        f"{source}: no column looks like the {role} of {wanted.what}; the columns are {listed(columns)}. "
        f"Next: rename the one that is to {NAMES[role][0][0]!r} (also known: {known})."
    )


def _swapped(
    like: str, shows: str, expected: str, lacks: str, columns: Sequence[str], source: str
) -> DataError:
    return DataError(
        f"{source}: this looks like {like} (it has a column {shows!r} and no {lacks}), expected {expected}; "
        f"the columns are {listed(columns)}. Next: swap the two arguments, or rename the column that holds "
        f"the {lacks} to {NAMES[lacks][0][0]!r}."
    )
