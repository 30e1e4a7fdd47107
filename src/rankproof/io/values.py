"""Values of users: ids, numbers, the ranking of one query, data frames.

Ids are text; integers are accepted if both sides have them. Numbers are real numbers. Everything else is an error.
"""

from __future__ import annotations

import ast
import json
import os
import re
import struct
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import chain, repeat
from typing import Any, TypeGuard

import numpy as np

from rankproof.core.conventions import RepeatedDocument, drop_repeats, keep_one
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.core.table import RankingTable
from rankproof.document.numbers import for_face
from rankproof.errors import DataError, number_in, shorten


def unfit(where: str, value: object, expected: str, step: str, *, role: str = "", typed: bool = False) -> DataError:
    """The error for a value that is not what was expected; `typed` says its type too."""
    got = shorten(value) + f" ({type(value).__name__})" * typed + f" as {role}" * bool(role)
    return DataError(f"{where}: got {got}, expected {expected}. Next: {step}.")


def are_integers(ids: Iterable[Any], what: str) -> bool | None:
    """Whether the ids are whole numbers (True) or text (False); None if there are none.

    >>> are_integers(["d1", "d2"], "documents"), are_integers([7, 8], "documents")
    (False, True)
    """
    known: Collection[Any] = ids if isinstance(ids, (list, tuple)) else list(ids)
    if not known:
        return None
    try:
        # Joining is the fastest loop over a list that refuses whatever is not text.
        "".join(known)
    except TypeError:
        for each in known:
            if not is_id(each):
                raise unfit(what, each, "text", "give every id as text", role="an id", typed=True) from None
        if text := [each for each in known if isinstance(each, str)]:
            number = next(each for each in known if not isinstance(each, str))
            raise DataError(
                f"{what}: got ids of two kinds, text ({shorten(text[0])}) and integers ({number}), expected one. "
                "Next: give every id as text."
            ) from None
        return True
    if not all(known):
        raise unfit(what, "", "text that is not empty", "look for what lost its id, and give it one", role="an id")
    return False


def keys_are_integers(tables: Sequence[dict[Any, Any]], what: str) -> bool | None:
    """`are_integers` of the keys of many dicts.

    >>> keys_are_integers([{"d1": 1}, {"d2": 1}], "documents")
    False
    """
    # CPython stores a dict that never had a key of another type than text in narrower entries, without hashes. So its
    # size in memory tells, and not one of millions of keys has to be touched.
    text = sys.implementation.name == "cpython" and set(map(dict.__sizeof__, tables)) <= _sizes_of_text_dicts()
    if text and any(tables) and not any(map(dict.__contains__, tables, repeat(""))):
        return False
    return are_integers(chain.from_iterable(tables), what)


@cache
def _sizes_of_text_dicts() -> set[int]:
    """The sizes that dicts of up to 8,192 keys have when all their keys are text, and never otherwise."""
    text: dict[str, None] = {}
    other: dict[int, None] = {}
    sizes: tuple[set[int], set[int]] = ({text.__sizeof__()}, set())
    for number in range(8192):
        text[str(number)] = other[number] = None
        sizes[0].add(text.__sizeof__())
        sizes[1].add(other.__sizeof__())
    return sizes[0] - sizes[1]


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy, and not a truth value.

    >>> is_integer(7), is_integer(7.0), is_integer(True)
    (True, False, False)
    """
    return hasattr(type(value), "__index__") and not isinstance(value, bool) and not hasattr(value, "__len__")


def is_id(value: Any) -> bool:
    """Whether a value can be an id: text, or a whole number."""
    return isinstance(value, str) or is_integer(value)


def check_same_kind(ours: bool | None, judged: bool | None, what: str) -> None:
    """The ids of rankings and judgments must both be text, or both integers."""
    if ours is not None and judged is not None and ours != judged:
        kind = {True: "integers", False: "text"}
        file = what.rpartition(", ")[0]
        side, ending = ("ranking", "run") if ours else ("judgments", "qrels")
        files = f"{file} {os.path.splitext(file)[0]}-text.run" if ours else "JUDGMENTS judgments-text.qrels"
        raise DataError(
            f"{what}: got ids that are {kind[ours]} where the judgments have {kind[judged]}. "
            f"Next: give those of the {side} as text too, written the same way, "
            + for_face(
                f"as str(id), like frame[NAME].astype(str), or as convert(FILE, 'text.{ending}') writes them.",
                f"as 'rankproof convert {files}' writes them.",
            )
        )


def plain_digits(ids: Iterable[str]) -> bool:
    """Whether every id is a whole number as it is printed: no zeros before it, no sign but a minus.

    >>> plain_digits(["7", "120"]), plain_digits(["007"]), plain_digits(["d7"])
    (True, False, False)
    """
    return all(map(re.compile("0|-?[1-9][0-9]*").fullmatch, ids))


def as_text(judgments: Judgments) -> Judgments:
    """The judgments for rankings whose ids are text, as retrievers and searches give them."""
    return replace(judgments, integer_ids=(False, False))


def align_ids(
    judgments: Judgments, ours: tuple[bool | None, bool | None], untyped: Callable[[], RankingTable] | None = None
) -> Judgments:
    """The judgments with ids of the ranking's kind, if one side is a file that has no types and all is digits.

    `ours` says whether queries and documents of the ranking are integers; `untyped` gives its ids, or some of them, if
    it is such a file.
    """
    kinds = list(judged_kinds(judgments))
    texts = (judgments.query_ids, judgments.doc_ids)
    for role, kind in enumerate(kinds):
        if ours[role] and kind is False and judgments.untyped and plain_digits(texts[role]):
            kinds[role] = True
        elif ours[role] is False and kind and untyped is not None:
            table = untyped()
            kinds[role] = not plain_digits((table.query, table.doc)[role])
    if kinds == list(judged_kinds(judgments)):
        return judgments
    return replace(judgments, integer_ids=(bool(kinds[0]), bool(kinds[1])))


def match_ids(
    judgments: Judgments,
    ours: tuple[bool | None, bool | None],
    source: str,
    untyped: Callable[[], RankingTable] | None = None,
) -> Judgments:
    """The same; an error if the ids of the ranking are of another kind all the same."""
    judgments = align_ids(judgments, ours, untyped)
    for own, judged, what in zip(ours, judged_kinds(judgments), ("queries", "documents"), strict=True):
        check_same_kind(own, judged, f"{source}, {what}")
    return judgments


def judged_kinds(judgments: Judgments) -> tuple[bool | None, bool | None]:
    """Whether the judgments came with integers as ids of queries, and of documents; None: no ids."""
    queries, docs = judgments.integer_ids
    return (queries if judgments.query_ids else None), (docs if len(judgments.doc_ids) else None)


def as_given(ids: Sequence[str], integers: bool | None) -> Sequence[Any]:
    """The ids as the user wrote them: back to integers where they were such."""
    return list(map(int, ids)) if integers else ids


def as_numbers(values: Sequence[Any]) -> Array | None:
    """The values as float64, or None when one of them is not a number.

    >>> as_numbers((1, 2.5, np.float32(3)))
    array([1. , 2.5, 3. ])
    >>> as_numbers((1, "2.5"))
    """
    try:
        # All are of the type `int` itself, as grades mostly are: then no truth value is among them.
        if len(values) > 0 and type(values[0]) is int and list(map(type, values)).count(int) == len(values):
            return pack(values, "q").astype(np.float64)
    except struct.error:
        pass  # some are larger than 64 bits
    try:
        numbers = pack(values)
    except struct.error:
        return None
    return None if _has_truth_values(values, numbers) else numbers


def pack(values: Sequence[Any], form: str = "d") -> Array:
    """The values as an array; packing is the fastest conversion that, unlike NumPy's, refuses text and None."""
    return np.frombuffer(struct.pack(f"{len(values)}{form}", *values), dtype=form)


def is_number(value: Any) -> bool:
    """Whether a value is a real number.

    >>> is_number(1), is_number(np.float32(1)), is_number(True), is_number("1"), is_number(None)
    (True, True, False, False, False)
    """
    return as_numbers((value,)) is not None


def number_step(value: Any, otherwise: str) -> str:
    """What to do about a value in a mapping that is not a number.

    >>> number_step(True, "drop it"), number_step("0.5", "drop it"), number_step("high", "drop it")
    ('write 1 for true and 0 for false, everywhere', 'write numbers without quotes, everywhere', 'drop it')
    """
    if isinstance(value, bool | np.bool_):
        return "write 1 for true and 0 for false, everywhere"
    spelled = isinstance(value, str) and np.isfinite(number_in(value))
    return "write numbers without quotes, everywhere" if spelled else otherwise


def check_number(value: Any, what: str, where: str) -> None:
    """A score must be a number, and NaN has no place in an order; a grade must be finite too."""
    grade = what == "grade"
    if is_number(value) and (np.isfinite(float(value)) if grade else value == value):
        return
    step = number_step(value, "correct the judgment or drop it" if grade else "give the document a score, or drop it")
    raise unfit(where, value, f"a {'finite ' * grade}number", step, role=f"the {what}", typed=True)


def _has_truth_values(values: Sequence[Any], numbers: Array) -> bool:
    """Truth values convert like numbers, but only to 0 and 1: so only those need a second look."""
    suspects = ((numbers == 0) | (numbers == 1)).nonzero()[0]
    if not len(suspects):
        return False
    few = 4 * len(suspects) < len(values)
    suspected = map(values.__getitem__, suspects.tolist()) if few else values
    return not {bool, np.bool_}.isdisjoint(map(type, suspected))


def ranking_as_dict(ranking: Any, duplicates: str, where: str) -> tuple[dict[Any, Any], int]:
    """`{doc: score}` in the order given, and how many repeated documents were dropped from it.

    A list of documents is in its own order: its scores count down to 1.

    >>> ranking_as_dict(["b", "a"], "error", "ranking, query 'q1'")
    ({'b': 2, 'a': 1}, 0)
    """
    if isinstance(ranking, Mapping):
        return dict(ranking), 0
    docs, scores = columns(ranking, where)
    if scores is None:
        scores = range(len(docs), 0, -1)
    table = dict(zip(docs, scores, strict=True))
    if len(table) == len(docs):
        return table, 0
    checked_scores(docs, scores, where)
    try:
        rows = drop_repeats(docs, range(len(docs)), duplicates, scores.__getitem__)
    except RepeatedDocument as error:
        raise DataError(f"{where}: document {shorten(docs[error.again])} comes twice. Next: {keep_one()}") from error
    return {docs[row]: scores[row] for row in rows}, len(docs) - len(rows)


def columns(ranking: Any, where: str) -> tuple[Sequence[Any], Sequence[Any] | None]:
    """The documents of any kind of ranking, and their scores; None for a list that has none."""
    if isinstance(ranking, Mapping):
        return list(ranking), list(ranking.values())
    if getattr(ranking, "ndim", None) == 1 and hasattr(ranking, "tolist"):
        ranking = ranking.tolist()
    if not isinstance(ranking, (list, tuple)):
        step = "turn it into one of these"
        if isinstance(ranking, (set, frozenset)):
            step = "give a list, best document first, as a set has no order"
        elif isinstance(ranking, str):
            step = "put the document ids into a list"
        elif ranking is None:
            step = "leave the query out, or give it an empty list"
        raise unfit(where, ranking, "{doc: score}, [doc, ...] or [(doc, score), ...]", step, typed=True)
    docs: Sequence[Any] = ranking
    scores: Sequence[Any] | None = None
    kinds = set(map(type, docs))
    if kinds and all(issubclass(kind, (tuple, list)) for kind in kinds):
        if set(map(len, docs)) != {2}:
            odd = next(pair for pair in docs if len(pair) != 2)
            raise unfit(where, odd, "a pair (doc, score)", "give every document its score, or none")
        docs, scores = zip(*docs, strict=True)
    for kind in set(map(type, docs)):
        doc = next(doc for doc in docs if type(doc) is kind)
        if not is_id(doc):
            raise unfit(where, doc, "text", "give every id as text", role="a document id", typed=True)
    return docs, scores


def checked_scores(docs: Sequence[Any], scores: Sequence[Any] | None, where: str) -> Sequence[Any]:
    """The scores of a ranking; those of a list without scores count down to 1."""
    if scores is None:
        return range(len(docs), 0, -1)
    numbers = as_numbers(scores)
    if numbers is None or np.isnan(numbers).any():
        for doc, score in zip(docs, scores, strict=True):
            check_number(score, "score", f"{where}, document {shorten(doc)}")
    return scores


BACKENDS = ("polars", "pandas", "pyarrow")
"""The libraries that `make_frame` can use; one that is loaded already comes first."""
_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?:0|[1-9]\d*)(?![^\s\]])"""


def list_in_cell(cell: str, most: int = sys.maxsize) -> Any:
    """What the cell of a table holds as JSON, as Python prints it (to `most` characters), or NumPy, which writes no
    commas; else None.

    >>> list_in_cell("['a, b' \\"it's\\"]"), list_in_cell('["a", "b"]'), list_in_cell("[see below]")
    (['a, b', "it's"], ['a', 'b'], None)
    """
    with suppress(ValueError, RecursionError):
        return json.loads(cell)
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        if re.fullmatch(rf"\[\s*(?:{_TEXT})(?:\s+(?:{_TEXT}))*\s*\]", cell):
            return [ast.literal_eval(each) for each in re.findall(_TEXT, cell)]
        return ast.literal_eval(cell) if len(cell) <= most else None
    return None


def is_frame(data: object) -> TypeGuard[Any]:
    """Whether a value is a data frame; nothing is imported to tell."""
    kind = type(data)
    return (
        hasattr(kind, "columns")
        or hasattr(kind, "__arrow_c_stream__")
        or (kind.__module__.partition(".")[0] == "narwhals")
    )


def library_of(data: object) -> str:
    """The library that a data frame is of, if `make_frame` can make one of it; else ""."""
    if not is_frame(data):
        return ""
    import narwhals as nw

    return first_library(nw.to_native(data, pass_through=True), BACKENDS)


def first_library(thing: object, known: Collection[str]) -> str:
    """The known library that the class of a thing is of, or else one that it is derived from; "" if there is none."""
    names = (kind.__module__.lstrip("_").partition(".")[0] for kind in type(thing).__mro__)
    return next((name for name in names if name in known), "")
