"""The conventions, each once: ties, duplicates, documents nobody judged, missing queries, queries without a relevant
document, thin means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any, TypedDict

import numpy as np

from rankproof.core.arrays import gains, runs
from rankproof.core.expected_and_extreme_values import expected_values, extreme_values
from rankproof.core.hits import ABOVE_ZERO, Array, Hits, PerQuery
from rankproof.core.measure import LARGEST, Measure
from rankproof.document.model import Displayable
from rankproof.document.numbers import setting
from rankproof.errors import check_number, check_one_of, check_whole

CHOICES: dict[str, dict[str, str]] = {
    "ties": {
        "trec": "equal scores by document id, descending in byte order (trec_eval's rule)",
        "input": "equal scores in the order they were given",
        "id": "equal scores by document id, ascending in byte order",
        "rank": "the rank column decides, scores are ignored",
        "expected": "the mean over every order of equal scores",
        "best": "equal scores in the order that helps the measure most",
        "worst": "equal scores in the order that hurts the measure most",
    },
    "missing": {
        "zero": "a judged query without a ranking counts 0",
        "skip": "a judged query without a ranking is left out of the mean",
    },
    "no_relevant": {
        "zero": "a query without a relevant document counts 0",
        "skip": "a query without a relevant document is left out of every mean",
    },
    "unjudged": {
        "nonrelevant": "a document nobody judged counts as not relevant",
        "skip": "documents nobody judged are taken out of the ranking",
        "relevant": "a document nobody judged counts as relevant, at grade 1 or the grade given",
    },
    "duplicates": {
        "error": "a document twice in one ranking is an error",
        "first": "of a document that comes twice the first is kept",
        "best": "of a document that comes twice the one with the higher score is kept",
    },
    "precision": {
        "float64": "scores are compared in double precision",
        "float32": "scores are compared in single precision, as trec_eval 9 does",
    },
}


class Default(str):
    """The default of a convention: a profile may replace it, but never a word that the user gave.

    >>> Default("zero") == "zero"
    True
    """

    __slots__ = ()


OLD_KEYS = {"corpus_size": "corpus"}
"""The keys of conventions in saved results, which every version reads."""


class ConventionArguments(TypedDict, total=False):
    """The conventions that a verb hands on to `evaluate`, for type checkers and editors."""

    ties: str
    missing: str
    no_relevant: str
    unjudged: str
    duplicates: str
    corpus_size: int | Mapping[str, Any] | None
    context_k: int | None
    unjudged_grade: float
    damaged: str


class ScoringArguments(ConventionArguments, total=False):
    """The same with a profile, which sets the conventions that are not given."""

    profile: str | None
    sample: float | None


@dataclass(frozen=True, slots=True)
class Conventions(Displayable):
    """Every policy of `evaluate` that can change a number."""

    ties: str = Default("trec")
    missing: str = Default("zero")
    no_relevant: str = Default("zero")
    unjudged: str = Default("nonrelevant")
    unjudged_grade: float = 1.0
    duplicates: str = Default("error")
    precision: str = Default("float64")
    corpus_size: int | None = None
    context_k: int | None = None
    rounded: int | None = None
    """Decimals to which each query's value is rounded before the mean; None: not at all."""
    profile: str | None = None

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            check_one_of(name, getattr(self, name), known)
        for name in ("corpus_size", "context_k"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), advice="give one, or leave it out")
        advice = "give the grade they shall count as"
        check_number(
            "unjudged_grade", self.unjudged_grade, least=-LARGEST, most=LARGEST, noun="finite number", advice=advice
        )

    def to_dict(self) -> dict[str, Any]:
        """The conventions as plain data; the size of the corpus has the key of saved results."""
        plain = {name: str(each) if isinstance(each, Default) else each for name, each in asdict(self).items()}
        return {OLD_KEYS.get(name, name): each for name, each in plain.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Conventions:
        """The conventions that `to_dict` gave."""
        fields = {key: name for name, key in OLD_KEYS.items()}
        return cls(**{fields.get(key, key): value for key, value in data.items()})

    def in_words(self) -> list[str]:
        """One sentence for each convention, as a report prints them."""
        said = [f"{name}={getattr(self, name)}: {known[getattr(self, name)]}" for name, known in CHOICES.items()]
        if self.rounded is not None:
            said.append(f"rounded={self.rounded}: each query's value is rounded before the mean")
        return said

    def overrides(self) -> dict[str, Any]:
        """What a profile leaves as it is: the conventions that the user gave, and those that are not the defaults."""
        values = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}
        return {
            name: value
            for name, (value, default) in values.items()
            if value != default or (name in CHOICES and not isinstance(value, Default))
        }


USUAL = Conventions()
"""The defaults; one value serves all, as it never changes."""


def counted_queries(measures: Sequence[Measure], hits: Hits, conventions: Conventions) -> Array | None:
    """Which queries count in the means; None: all.

    They are the same for all measures of a table, so that its means are over the same queries: a query must have
    a document that is relevant to each measure that is 0/0 without one, in that measure's own sense.
    """
    asked = [each for each in measures if each.spec.undefined] or measures[:1]
    defined = (hits.by_parts(partial(has_relevant, each)) for each in asked)
    return count_queries(conventions, hits.answered, defined)


def count_queries(conventions: Conventions, answered: Array | None, defined: Iterable[Array]) -> Array | None:
    """The same, from which queries have a ranking (None: all), and for each measure which it is defined for.

    >>> count_queries(Conventions(missing="skip"), np.array([True, False]), []).tolist()
    [True, False]
    """
    skipped = conventions.missing == "skip" and answered is not None and not answered.all()
    counted = answered if skipped else None
    for each in defined if conventions.no_relevant == "skip" else ():
        counted = each if counted is None else counted & each
    return None if counted is None or counted.all() else counted


def has_relevant(measure: Measure, hits: Hits) -> Array:
    """Which queries have a document that is relevant in the measure's own sense."""
    pool, rel, gain = hits.judged, measure.rel, measure.gain
    if gain is None:
        return pool.relevant(ABOVE_ZERO if rel is None else rel, measure.threshold).count() > 0
    counted = pool.relevant(rel) if rel is not None and rel > 0 else pool
    return counted.keep(gains(counted.grade, gain) > 0).count() > 0


BARREN = "no query has a relevant document"
"""Why nothing is decided about a group of queries, however many there are."""
THIN = "fewer than half of the samples could be measured"
"""Why there is no mean, in words."""


def is_thin(measured: int, measurable: int) -> bool:
    """Whether a mean covers fewer than half of the cases it stands for, so that it is not shown.

    >>> is_thin(4, 10), is_thin(5, 10)
    (True, False)
    """
    return measured < measurable / 2


FEWEST_TO_DECIDE = 10
"""With fewer queries means and differences are shown, and nothing is decided: no verdict, star, kind or gain."""
TOO_FEW_TO_DECIDE = f"fewer than {FEWEST_TO_DECIDE} queries decide nothing"


def comparable_scores(score: Array, conventions: Conventions) -> Array:
    """The scores in the precision in which they are compared."""
    if conventions.precision != "float32":
        return score
    with np.errstate(over="ignore"):  # beyond single precision is infinite there too
        return score.astype(np.float32)


def order_equals(names: Sequence[str], rule: str) -> list[int]:
    """The places of documents with equal scores, in the order that the rule for ties gives them.

    >>> order_equals(["b", "a", "c"], "trec"), order_equals(["b", "a", "c"], "id"), order_equals(["b", "a"], "input")
    ([2, 0, 1], [1, 0, 2], [0, 1])
    """
    places = range(len(names))
    return list(places) if rule == "input" else sorted(places, key=names.__getitem__, reverse=rule != "id")


def keep_one(*, in_files: bool = False) -> str:
    """What to do with a document that comes twice in one ranking; `in_files` of a folder, which may hold several."""
    kept = f"keep one of them, or choose {setting('duplicates', 'first')} or {setting('duplicates', 'best')}."
    return f"if these are two rankings, name each file by itself; else {kept}" if in_files else kept


def same_rank() -> str:
    """What is wrong where the rank column is to decide and does not."""
    return f"two documents stand at the same rank, so {setting('ties', 'rank')} has no order to take"


class RepeatedDocument(Exception):
    """A document occurs twice and that is an error; the reader, which knows the source, adds the place."""

    def __init__(self, first: int, again: int) -> None:
        self.first, self.again = first, again


def drop_repeats(docs: Sequence[Any], rows: Iterable[int], rule: str, worth: Callable[[int], float]) -> list[int]:
    """The rows of a ranking that the rule for duplicates keeps; `worth` says which of two is better.

    >>> drop_repeats(["a", "b", "a"], range(3), "first", [1, 2, 3].__getitem__)
    [0, 1]
    >>> drop_repeats(["a", "b", "a"], range(3), "best", [1, 2, 3].__getitem__)
    [1, 2]
    """
    kept: dict[Any, int] = {}
    for row in rows:
        other = kept.setdefault(docs[row], row)
        if other != row and rule == "error":
            raise RepeatedDocument(other, row)
        if rule == "best" and worth(row) > worth(other):
            kept[docs[row]] = row
    return sorted(kept.values())


def find_repeats(key: Array, score: Array, rule: str) -> tuple[Array, Array]:
    """The same of whole columns, where equal rows have equal keys: the rows to drop, and before them for each the row
    that stands for it.

    >>> key, score = np.array([7, 8, 7]), np.array([1.0, 2.0, 3.0])
    >>> [[each.tolist() for each in find_repeats(key, score, rule)] for rule in ("first", "best")]
    [[[0], [2]], [[2], [0]]]
    """
    order = np.lexsort((-score if rule == "best" else np.arange(len(key)), key))
    again = np.flatnonzero(key[order][1:] == key[order][:-1]) + 1
    leader = np.arange(len(order))
    leader[again] = 0
    return order[np.maximum.accumulate(leader)[again]], order[again]


def is_unanswered(hits: Hits, conventions: Conventions) -> Array:
    """Which queries the ranking does not answer, or answers with nothing; a condensed answer may hold nothing."""
    every = np.ones(hits.n, dtype=np.bool_)
    there = every if conventions.unjudged == "skip" else hits.retrieved > 0
    return ~(there if hits.answered is None else hits.answered & there)


def unjudged_as(hits: Hits, conventions: Conventions) -> Hits:
    """The hits with documents nobody judged left as they are, taken out, or counted as relevant."""
    if conventions.unjudged == "skip":
        return condense(hits)
    if conventions.unjudged == "relevant":
        return fill_unjudged(hits, conventions.unjudged_grade)
    return hits


def condense(hits: Hits) -> Hits:
    """The rankings without the documents nobody judged; the others keep their ties."""
    first, last = None, None
    if hits.first is not None:
        start, end = runs(hits.query, hits.first)
        first, last = hits.nth[start], hits.nth[end - 1]
    return replace(hits, rank=hits.nth, first=first, last=last, retrieved=hits.count().astype(np.intp))


def fill_unjudged(hits: Hits, grade: float) -> Hits:
    """The hits with a row of `grade` at every rank that holds a document nobody judged."""
    # The query and the rank of every document nobody judged.
    begins = np.append(0, np.cumsum(hits.retrieved))
    empty = np.ones(begins[-1], dtype=bool)
    empty[begins[hits.query] + hits.rank - 1] = False
    query = np.repeat(np.arange(hits.n), hits.retrieved)[empty]
    rank = (np.arange(begins[-1]) - np.repeat(begins[:-1], hits.retrieved) + 1)[empty]
    new = np.full(len(rank), -1, dtype=np.intp)
    query_all, rank_all = np.append(hits.query, query), np.append(hits.rank, rank)
    order = np.lexsort((rank_all, query_all))
    first, last = _tied_places(hits, query_all[order], rank_all[order])
    return replace(
        hits,
        query=query_all[order],
        rank=rank_all[order],
        grade=np.append(hits.grade, np.full(len(rank), float(grade)))[order],
        doc=np.append(hits.doc, new)[order],
        first=first,
        last=last,
        doubtful=None,
        pool=_enlarged(hits.judged, query, grade),
    )


def _tied_places(hits: Hits, query: Array, rank: Array) -> tuple[Array | None, Array | None]:
    """The first and last rank of each (query, rank), if a judged document shares its score with others.

    Ties of documents nobody judged among themselves need none: they all get the same grade.
    """
    if hits.first is None or hits.last is None or len(hits.first) == 0:
        return None, None
    width = int(hits.retrieved.max(initial=0)) + 1
    tied = np.unique(np.stack([hits.query * width + hits.first, hits.query * width + hits.last]), axis=1)
    place = query * width + rank
    at = np.maximum(np.searchsorted(tied[0], place, side="right") - 1, 0)
    inside = (tied[0][at] <= place) & (place <= tied[1][at])
    return np.where(inside, tied[0][at] % width, rank), np.where(inside, tied[1][at] % width, rank)


def _enlarged(pool: Hits, query: Array, grade: float) -> Hits:
    query_all = np.append(pool.query, query)
    order = np.argsort(query_all, kind="stable")
    larger = replace(
        pool,
        query=query_all[order],
        rank=np.zeros(len(order), dtype=np.intp),
        grade=np.append(pool.grade, np.full(len(query), float(grade)))[order],
        doc=np.append(pool.doc, np.full(len(query), -1, dtype=np.intp))[order],
    )
    return replace(larger, rank=larger.nth, retrieved=larger.count().astype(np.intp))


def tied_values(measure: Measure, hits: Hits, rule: str, names: Sequence[str]) -> tuple[PerQuery, str]:
    """The values of the queries of these names under `expected`, `best` or `worst`, and a note on them (or "")."""
    if rule == "expected":
        return expected_values(measure, hits, names)
    return extreme_values(measure, hits, rule, names)
