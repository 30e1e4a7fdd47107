"""The roles of columns, by their names; and a sentence on the guesses for the audit."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import SequenceMatcher
from functools import lru_cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

from rankproof.document.disk import last_check
from rankproof.errors import DataError, UsageError, nearest
from rankproof.io.pipes import pipes_kept, read_side_by_side

P = ParamSpec("P")
R = TypeVar("R")
Columns: TypeAlias = Mapping[str, str] | str | None
"""The column of each role: `{"query": "search_term_id"}`, or "query=search_term_id,doc=product_id"."""

EXPECTED = (
    *("expected", "expected_doc", "expected_doc_id", "expected_document", "expected_id", "expected_ids"),
    *("expected_docs", "expected_doc_ids", "relevant_ids", "relevant_docs", "relevant_doc_ids"),
    *("ground_truth", "ground_truth_id", "ground_truth_ids", "gold", "gold_id", "gold_ids", "gold_doc_id"),
)
"""The names in exports of test sets for the documents that answer a question: one, or a list of them."""
RETRIEVED = (
    *("doc_ids", "document_ids", "retrieved", "retrieved_ids", "retrieved_docs", "retrieved_doc_ids"),
    *("results", "ranking", "ranked", "docs", "docnos", "item_ids", "product_ids", "passage_ids", "chunk_ids"),
)
"""The names of lists of documents."""
SCORES = ("scores", "doc_scores", "similarities", "sims", "relevance_scores", "retrieved_scores")
"""The names of lists of their scores."""

NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (
        ("query_id", "qid", "topic_id", "topicno", "question_id"),
        ("query", "topic", "question", "user_id", "user", "q", "search_term_id", "search_id", "search_term"),
    ),
    "doc": (
        ("doc_id", "docno", "document_id", "corpus_id", "passage_id", "pid", "chunk_id", "item_id"),
        ("doc", "document", "passage", "chunk", "item", "product_id", "did", "d"),
        EXPECTED,
        RETRIEVED,
    ),
    "score": (("score", "sim", "similarity", "rsv", "doc_score", "relevance_score"), ("s",), SCORES),
    "rank": (("rank", "position", "pos", "doc_rank"), ("ranks", "positions")),
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

SYSTEMS = 100
"""Entries of a mapping that may be systems, and those paths of pipes."""

Guess = Mapping[str, str]
"""Roles and the columns that have them."""


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """A column's name without case, blanks and punctuation.

    >>> plain_name("Query-ID"), plain_name("docNo")
    ('queryid', 'docno')
    """
    if len(name) > LONGEST:
        return name  # a cell of data, of which only the length is known so far
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def column_of(role: str, columns: Sequence[str]) -> list[str]:
    """The columns that go by a name of the role; more than one if it cannot be told.

    >>> column_of("query", ["query_id", "query", "docno"]), column_of("query", ["qid", "topic_id"])
    (['query_id'], ['qid', 'topic_id'])
    """
    if own := column_named(role, columns):
        return own
    others = _roles_named().values()
    for names in NAMES[role]:
        known = {plain_name(name) for name in names}
        if found := [column for column in columns if plain_name(column) in known]:
            return [each for each in found if each not in others]
    return []


# --- columns that are named --------------------------------------------------------------------

ROLES = {
    "query": "query",
    "queryid": "query",
    "doc": "doc",
    "docid": "doc",
    "document": "doc",
    "score": "score",
    "rank": "rank",
    "grade": "grade",
    "relevance": "grade",
    "aspect": "aspect",
    "text": "text",
    "question": "question",
    "title": "title",
}
"""The names of a role in `columns=`."""


class Named:
    """Columns that were named for their roles, and which of them were met."""

    def __init__(self, roles: Mapping[str, str]) -> None:
        self.roles = roles
        self._met: set[str] = set()

    def take(self, role: str) -> str:
        """The column of a role, which is here."""
        self._met.add(role)
        return self.roles[role]

    def check(self) -> None:
        """Refuse a name that no file had: it is misspelt, and something else was taken."""
        if lost := [(role, name) for role, name in self.roles.items() if role not in self._met]:
            words = ", ".join(f"{name!r} (for the {role})" for role, name in lost)
            raise UsageError(f"columns: no input has a column {words}. Next: check how it is written.")


_named: ContextVar[Named | None] = ContextVar("columns that were named", default=None)


def named_for(role: str, columns: Collection[str]) -> str | None:
    """The column that was named for the role, if it is among these."""
    named = _named.get()
    return named.take(role) if named is not None and named.roles.get(role) in columns else None


def column_named(role: str, columns: Collection[str]) -> list[str]:
    """The same as a list, which is empty if there is none."""
    own = named_for(role, columns)
    return [] if own is None else [own]


def _roles_named() -> Mapping[str, str]:
    """The column that was named for each role, whether it is here or not."""
    named = _named.get()
    return {} if named is None else named.roles


def named_columns() -> set[str]:
    """The columns that were named, by their plain names."""
    return set(map(plain_name, _roles_named().values()))


def columns_of(given: Mapping[str, str] | str | Sequence[str]) -> dict[str, str]:
    """The column of each role, from a mapping or from ROLE=COLUMN,...

    >>> columns_of("query=search_term_id,doc=product_id")
    {'query': 'search_term_id', 'doc': 'product_id'}
    """
    if not isinstance(given, Mapping):
        if not isinstance(given, str | list | tuple) or not all(isinstance(each, str) for each in given):
            raise _no_columns(repr(given))
        parts = [part for text in ([given] if isinstance(given, str) else given) for part in text.split(",")]
        pairs = [part.partition("=") for part in parts if part.strip()]
        given = {role.strip(): name.strip() for role, _, name in pairs}
        if len(given) < len(pairs):
            raise _no_columns(", ".join(parts))
    found: dict[str, str] = {}
    for role, name in given.items():
        known = ROLES.get(plain_name(str(role)))
        if known is None or not name or known in found or not isinstance(name, str):
            raise _no_columns(f"{role}={name or ''}", nearest(str(role), ROLES))
        found[known] = name
    return found


def _no_columns(got: str, hint: str = "") -> UsageError:
    return UsageError(
        f"columns: got {got}, expected ROLE=COLUMN, each role once: {', '.join(dict.fromkeys(ROLES.values()))}.{hint} "
        "Next: write them like query=search_term_id,doc=product_id."
    )


@contextmanager
def columns_named(given: Mapping[str, str] | str | Sequence[str] | None) -> Iterator[None]:
    """While this lasts, columns with these names have these roles, in whatever is read."""
    if not given:
        yield
        return
    named = Named(columns_of(given))
    tokens = _named.set(named), last_check.set(named.check)
    try:
        yield
    finally:
        _named.reset(tokens[0])
        last_check.reset(tokens[1])
    named.check()


def with_columns(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb, whose argument `columns` names the columns of what it reads."""

    @wraps(verb)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        given: Any = kwargs.get("columns")
        with columns_named(given), pipes_kept():
            read_side_by_side(_paths_in((*args, *kwargs.values())))
            return verb(*args, **kwargs)

    return wrapper


def _paths_in(arguments: Iterable[object]) -> Iterator[object]:
    """The possible paths among arguments: the arguments themselves, and the systems of a small mapping."""
    for each in arguments:
        if isinstance(each, str | os.PathLike):
            yield each
        elif type(each) is dict and len(each) <= SYSTEMS:
            yield from each.values()


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
            raise _unsure(role, found, columns, source)
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
        return {**took, "query": own[0]} if own and "query" not in _roles_named() else took
    return _as_judgments(took, columns, source) if wanted is JUDGMENTS else _as_ranking(took, columns, source)


def without_expected(columns: Sequence[str]) -> list[str]:
    """The columns without those of documents that should have been found, unless one of them is named."""
    expected = set(map(plain_name, EXPECTED))
    return [name for name in columns if plain_name(name) not in expected or name == _roles_named().get("doc")]


def is_of_lists(name: str) -> bool:
    """Whether a column of that name holds the documents of a question, one or a list of them."""
    return plain_name(name) in set(map(plain_name, (*EXPECTED, *RETRIEVED)))


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


def guess_sentence(took: Guess, source: str) -> str:
    """The guesses in a sentence.

    >>> guess_sentence({"query": "qid", "doc": "docno"}, "run.csv")
    "run.csv: took the column 'qid' as query, 'docno' as doc"
    """
    pairs = ", ".join(f"{column!r} as {role}" for role, column in took.items())
    return f"{source}: took the column {pairs}"


def list_in_words(columns: Sequence[str]) -> str:
    """The columns as a message lists them."""
    return ", ".join(repr(column) for column in columns[:20]) + (", ..." if len(columns) > 20 else "")


def _unsure(role: str, found: list[str], columns: Sequence[str], source: str) -> DataError:
    return DataError(
        f"{source}: cannot tell which column is the {role}: {list_in_words(found)} (of {list_in_words(columns)}). "
        f"Next: keep one of them, or rename it to {NAMES[role][0][0]!r}, or {_by_option(role)}."
    )


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
    return DataError(
        f"{source}: no column looks like the {role} of {wanted.what}; the columns are {list_in_words(columns)}. "
        f"Next: rename the one that is to {NAMES[role][0][0]!r} (also known: {known}), or {_by_option(role)}."
    )


def _by_option(role: str) -> str:
    return f"say --columns {role}=NAME (in Python columns={{{role!r}: NAME}})"


def _swapped(like: str, shows: str, expected: str, lacks: str, columns: Sequence[str], source: str) -> DataError:
    return DataError(
        f"{source}: this looks like {like} (it has a column {shows!r} and no {lacks}), expected {expected}; "
        f"the columns are {list_in_words(columns)}. Next: swap the two arguments, or rename the column that holds "
        f"the {lacks} to {NAMES[lacks][0][0]!r}."
    )


COUNTED = {"query_id", "doc_id", "place", "first_place", "last_place"}
"""Columns that only counted rows have."""


def is_counted(names: Sequence[str]) -> bool:
    """Whether columns are those of counted rows; some engines write their names in upper case.

    >>> is_counted(["QUERY_ID", "DOC_ID", "PLACE", "FIRST_PLACE", "LAST_PLACE"]), is_counted(["query_id", "doc_id"])
    (True, False)
    """
    return {str(name).lower() for name in names} >= COUNTED
