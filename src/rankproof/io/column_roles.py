"""The roles of columns, guessed from their names; and a sentence on the guesses for the audit."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from pkgutil import get_data
from typing import NamedTuple

from rankproof.document.numbers import for_face
from rankproof.errors import DataError, UsageError
from rankproof.io.inputs import column_named, plain_name, roles_named

NAMES: dict[str, list[list[str]]] = json.loads(get_data(__package__, "column_names.json") or b"")
"""For each role the names it goes by: a name of an earlier group beats one of a later group."""
EXPECTED, RETRIEVED = NAMES["doc"][2:]
"""The names in exports of test sets for the documents that answer a question, one or a list of them; and of lists of
documents found."""


def column_of(role: str, columns: Sequence[str]) -> list[str]:
    """The columns that go by a name of the role; more than one if it cannot be told.

    >>> column_of("query", ["query_id", "query", "docno"]), column_of("query", ["qid", "topic_id"])
    (['query_id'], ['qid', 'topic_id'])
    """
    if own := column_named(role, columns):
        return own
    others = roles_named().values()
    for names in NAMES[role]:
        known = {plain_name(name) for name in names}
        if found := [column for column in columns if plain_name(column) in known]:
            return [each for each in found if each not in others]
    return []


class Wanted(NamedTuple):
    """The kind of a table, and the columns that it needs."""

    what: str
    needed: tuple[str, ...]
    """Roles of which there must be a column."""
    helpful: tuple[str, ...]
    """Roles that are used if there is a column."""


JUDGMENTS = Wanted("judgments", ("query", "doc"), ("grade", "aspect", "iteration"))
RANKING = Wanted("a ranking", ("query", "doc"), ("score", "rank"))


def guess(columns: Sequence[str], wanted: Wanted, source: str) -> dict[str, str]:
    """The column of each role, or an error that lists the columns and says how to name them.

    >>> guess(["qid", "docno", "label"], JUDGMENTS, "a frame")
    {'query': 'qid', 'doc': 'docno', 'grade': 'label'}
    """
    took: dict[str, str] = {}
    for role in (*wanted.needed, *wanted.helpful):
        fit = columns if role != "doc" or wanted is not RANKING else without_expected(columns)
        found = column_of(role, fit)
        if role == "query" and not found and any(map(is_of_lists, columns)):
            found = [name for name in columns if plain_name(name) == "id"]
        if len(found) > 1:
            raise DataError(
                f"{source}: cannot tell which column is the {role}: {list_in_words(found)} (of "
                f"{list_in_words(columns)}). Next: keep one of them, or rename it to {NAMES[role][0][0]!r}, or "
                f"{_by_option(role)}."
            )
        if found:
            took[role] = found[0]
        elif role in wanted.needed:
            raise _absent(role, columns, wanted, source)
    for role, name in took.items():
        if twice := [other for other in took if other != role and took[other] == name]:
            raise UsageError(
                f"columns: got {name!r} as the {role} and the {twice[0]}, expected a column of its own for each. "
                "Next: name another one, or leave one role out."
            )
    if is_of_lists(took["doc"]) and not {"grade", "score", "rank"} & set(took):
        # A question a row, with a document or a list of them: it goes by its own id where it has one.
        own = [name for name in columns if plain_name(name) == "id"]
        return {**took, "query": own[0]} if own and "query" not in roles_named() else took
    return _with_numbers(took, columns, wanted, source)


def without_expected(columns: Sequence[str]) -> list[str]:
    """The columns without those of documents that should have been found, unless one of them is named."""
    expected = set(map(plain_name, EXPECTED))
    return [name for name in columns if plain_name(name) not in expected or name == roles_named().get("doc")]


def is_of_lists(name: str) -> bool:
    """Whether a column of that name holds the documents of a question, one or a list of them."""
    return plain_name(name) in set(map(plain_name, (*EXPECTED, *RETRIEVED)))


def document_fields(names: Sequence[str]) -> dict[str, str] | None:
    """The fields of a document in a list: its id, perhaps its score and rank; None if it cannot be told."""
    held = {role: column_of(role, names) for role in ("doc", "score", "rank")}
    held["doc"] = held["doc"] or [name for name in names if name == "id"]
    if len(held["doc"]) != 1 or any(len(each) > 1 for each in held.values()):
        return None
    return {role: each[0] for role, each in held.items() if each}


def list_columns(columns: Sequence[str], known: Collection[str], wanted: Wanted) -> list[str]:
    """Of columns that hold lists those of documents: for judgments what was expected, if that stands beside others."""
    if own := column_named("doc", columns):
        return own
    expected = [name for name in columns if plain_name(name) in set(map(plain_name, EXPECTED))]
    lists = {*known, *map(plain_name, RETRIEVED)}
    others = [name for name in columns if plain_name(name) in lists and name not in expected]
    if expected and others:
        return expected if wanted is JUDGMENTS else others
    return expected or others


def _with_numbers(took: dict[str, str], columns: Sequence[str], wanted: Wanted, source: str) -> dict[str, str]:
    """The columns with that of the grades, or scores; an error if a table of the other kind was given.

    Judgments may call the grade a score, as BEIR does; a rank column shows that they are a ranking.
    """
    if {"grade", "score", "rank"} & set(took):
        return took
    lacks, shows, like = ("grade", "rank", "a ranking") if wanted is JUDGMENTS else ("score", "grade", "judgments")
    if found := column_of(shows, columns):
        raise DataError(
            f"{source}: this looks like {like} (it has a column {found[0]!r} and no {lacks}), expected {wanted.what}; "
            f"the columns are {list_in_words(columns)}. Next: swap the two arguments, or rename the column that holds "
            f"the {lacks} to {NAMES[lacks][0][0]!r}."
        )
    score = column_of("score", columns)
    if wanted is JUDGMENTS and len(score) == 1:
        return {**took, "grade": score[0]}
    if len(columns) > len(took):
        raise _absent(lacks, columns, wanted, source)
    return took


def guess_sentence(took: Mapping[str, str], source: str) -> str:
    """The guesses in a sentence.

    >>> guess_sentence({"query": "qid", "doc": "docno"}, "run.csv")
    "run.csv: took the column 'qid' as query, 'docno' as doc"
    """
    pairs = ", ".join(f"{column!r} as {role}" for role, column in took.items())
    return f"{source}: took the column {pairs}"


def list_in_words(columns: Sequence[str]) -> str:
    """The columns as a message lists them."""
    return ", ".join(repr(column) for column in columns[:20]) + (", ..." if len(columns) > 20 else "")


DISTANCES = frozenset({"distance", "distances", "dist", "l2", "cosine_distance", "l2_distance", "euclidean"})
"""Columns of which less is better."""
ALIKE = 10
"""How many names that are known a message lists, the most like those that are there first."""


def _absent(role: str, columns: Sequence[str], wanted: Wanted, source: str) -> DataError:
    names = [name for several in NAMES[role] for name in several]
    names.sort(key=lambda name: -max((SequenceMatcher(None, name, each).ratio() for each in columns), default=0.0))
    known = ", ".join(map(repr, names[:ALIKE])) + f" and {len(names) - ALIKE} more" * (len(names) > ALIKE)
    away = [column for column in columns if role == "score" and column.casefold().strip("_@") in DISTANCES]
    if away:
        return DataError(
            f"{source}: {away[0]!r} looks like a distance, which is less for what is better, expected a score, "
            f"which is more; the columns are {list_in_words(columns)}. "
            f"Next: add a column 'score' that holds minus the distance, or a column 'rank'."
        )
    there, named = f"the columns are {list_in_words(columns)}", roles_named().get(role)
    if named is not None:
        return DataError(
            f"{source}: no column {named!r}, which was named as the {role}, and none that looks like the {role} of "
            f"{wanted.what}; {there}. Next: name the one that it is: {_by_option(role)}."
        )
    return DataError(
        f"{source}: no column looks like the {role} of {wanted.what}; {there}. Next: rename the one that is to "
        f"{NAMES[role][0][0]!r} (also known: {known}), or {_by_option(role)}."
    )


def _by_option(role: str) -> str:
    return for_face(f"say columns={{{role!r}: NAME}}", f"say --columns {role}=NAME")


COUNTED = {"query_id", "doc_id", "place", "first_place", "last_place"}
"""Columns that only counted rows have."""


def is_counted(names: Sequence[str]) -> bool:
    """Whether columns are those of counted rows; some engines write their names in upper case.

    >>> is_counted(["QUERY_ID", "DOC_ID", "PLACE", "FIRST_PLACE", "LAST_PLACE"]), is_counted(["query_id", "doc_id"])
    (True, False)
    """
    return {str(name).lower() for name in names} >= COUNTED


NUMBERS = ("grade", "score", "rank")
"""The roles whose values are numbers."""


def mending_step(role: str) -> str:
    """What to do about a value of the wrong kind, which may be one of a whole column of them."""
    kind = "numbers, like 1 or 0.5" if role in NUMBERS else "text or whole numbers, like 'd1' or 7"
    return f"correct or drop this row, or turn the whole {role} column into {kind}"
