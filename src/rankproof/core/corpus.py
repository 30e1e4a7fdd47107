"""A corpus of documents by id, judged spans of them, and what rankings of chunks show."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence, ValuesView
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankproof.core.arrays import runs
from rankproof.core.hits import Array, PerQuery
from rankproof.document.model import Displayable
from rankproof.errors import DataError, UserCode, shorten


@dataclass(frozen=True, slots=True)
class Document(Displayable):
    """One text with its id, its title, and whatever else is known of it."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> str:
        """Title and text as one, which is what is searched.

        >>> Document("d1", "Within 30 days.", title="Refunds").whole
        'Refunds\\nWithin 30 days.'
        """
        return f"{self.title}\n{self.text}" if self.title else self.text


class Corpus(Displayable, Mapping[str, Document]):
    """Documents by id, each id once.

    >>> corpus = Corpus.of({"d1": "Within 30 days.", "d2": {"title": "Fees", "text": "None.", "topic": "money"}})
    >>> corpus["d2"].title, corpus["d2"].metadata
    ('Fees', {'topic': 'money'})
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._by_id: dict[str, Document] = {}
        for document in documents:
            if document.id in self._by_id:
                raise DataError(
                    f"the corpus holds document {document.id!r} twice. Next: give each document an id of its own."
                )
            self._by_id[document.id] = document

    @classmethod
    def of(cls, documents: Mapping[str, str | Mapping[str, Any] | Document]) -> Corpus:
        """A corpus of `{id: text}` or `{id: {"title": ..., "text": ..., more}}`."""
        return cls(_document(str(name), what) for name, what in documents.items())

    def values(self) -> ValuesView[Document]:
        """The documents; those of a mapping would look up each by its id."""
        return self._by_id.values()

    def __getitem__(self, name: str) -> Document:
        return self._by_id[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    @cached_property
    def fingerprint(self) -> str:
        """The same for two corpora with the same documents in the same order, else different."""
        from hashlib import blake2b  # which loads OpenSSL

        digest = blake2b(digest_size=16)
        for each in self._by_id.values():
            metadata = repr(sorted(each.metadata.items(), key=lambda item: str(item[0])))
            for part in (each.id, each.title, each.text, metadata):
                digest.update(f"{len(part)}:".encode() + part.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def _document(name: str, what: str | Mapping[str, Any] | Document) -> Document:
    if isinstance(what, Document):
        return what
    if isinstance(what, str):
        return Document(name, what)
    if not isinstance(what, Mapping) or not isinstance(what.get("text"), str):
        raise DataError(
            f"document {name!r}: got {shorten(what)}, expected a text, or a mapping with the text under 'text'."
            " Next: give one of these."
        )
    rest = {key: value for key, value in what.items() if key not in ("text", "title", "_id", "id")}
    return Document(name, what["text"], str(what.get("title") or ""), rest)


def passing_documents(
    corpus: Corpus, predicates: Sequence[Callable[[Document], Any]], values: Mapping[str, Any]
) -> frozenset[str]:
    """The documents of which all predicates are true, and whose metadata is as `values` say by name.

    A value is what `condition_on` takes, or a function of what a document has under that name.
    """
    passing = list(corpus.values())
    for predicate in predicates:
        passing = _passing(((each, each) for each in passing), predicate, "the document")
    for name, wanted in values.items():
        condition = wanted if callable(wanted) else condition_on(wanted)
        known = ((each, each.metadata.get(name)) for each in passing if name in each.metadata or not callable(wanted))
        passing = _passing(known, condition, "the value")
    return frozenset(each.id for each in passing)


def _passing(pairs: Iterable[tuple[Document, Any]], condition: Callable[[Any], Any], noun: str) -> list[Document]:
    """Each document for whose value the condition is true; an error of the caller's function names that value."""
    kept, value = [], None
    try:
        for document, value in pairs:
            if condition(value):
                kept.append(document)
    except Exception as error:
        UserCode(condition, noun, value.id if isinstance(value, Document) else value).note_on(error)
        raise
    return kept


CONDITIONS = ("from", "to", "not")
"""The operators of a condition beside equality."""
SEVERAL = (list, tuple, set, frozenset)


def condition_on(wanted: Any) -> Callable[[Any], bool]:
    """A function of what a document has in a field: whether it, or one of several values, is as wanted.

    `wanted` is a value, several of which it may be one, or a table of `CONDITIONS`.

    >>> [condition_on({"from": 2023})(value) for value in (2022, "2023", [2022, 2024])]
    [False, True, True]
    >>> condition_on({"a", 7})("7"), condition_on({"not": "a"})(["a", "b"])
    (True, False)
    """
    if isinstance(wanted, Mapping) and wanted and wanted.keys() <= set(CONDITIONS):
        bounds = [_bounded(name, bound) for name, bound in wanted.items()]
        return lambda value: all(within(value) for within in bounds)
    listed = wanted if isinstance(wanted, SEVERAL) else [wanted]
    exact = frozenset(listed) if all(isinstance(each, Hashable) for each in listed) else listed
    loose = [each for each in listed if not isinstance(each, str)]

    def is_wanted(value: Any) -> bool:
        with suppress(TypeError):  # what has no hash is none of them
            if value in exact:
                return True
        read = isinstance(value, str) or hasattr(value, "isoformat")
        return read and any(_alike(value, each) == _plain(each) for each in loose)

    return lambda value: any(map(is_wanted, values_in(value)))


def _bounded(name: str, bound: Any) -> Callable[[Any], bool]:
    """Whether no value is the one excluded; whether one of them is within the bound."""
    if name == "not":
        excluded = condition_on(bound)
        return lambda value: not excluded(value)
    beyond, end = operator.lt if name == "from" else operator.gt, _plain(bound)

    def is_within(value: Any) -> bool:
        with suppress(TypeError):  # what cannot be compared is not within
            return value is not None and not beyond(_alike(value, bound), end)
        return False

    return lambda value: any(map(is_within, values_in(value)))


def values_in(value: Any) -> Collection[Any]:
    """The values in a field, of which a document may have several."""
    return value if isinstance(value, SEVERAL) else [value]


def _plain(wanted: Any) -> Any:
    """A value as it is compared: dates as text."""
    return wanted.isoformat() if hasattr(wanted, "isoformat") else wanted


def _alike(value: Any, wanted: Any) -> Any:
    """A document's value as what is wanted is: files may hold numbers as text, and dates with a time."""
    if hasattr(wanted, "isoformat"):
        return str(_plain(value))[: len(wanted.isoformat())]
    if isinstance(wanted, bool) and isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), value)
    if isinstance(wanted, (int, float)) and isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


NAME = re.compile(r"(?P<document>.*)#(?P<start>\d{1,18})-(?P<end>\d{1,18})", re.DOTALL)


class Place(NamedTuple):
    """Some characters of a document."""

    document: str
    start: int
    end: int


class JudgedSpan(NamedTuple):
    """The characters of a document from `start` up to `end`, and how relevant they are."""

    document: str
    start: int
    end: int
    grade: float = 1


@dataclass(frozen=True, eq=False)
class SpanJudgments(Displayable):
    """The judged spans of each query; a query without any has none that is relevant."""

    by_query: Mapping[str, tuple[JudgedSpan, ...]]
    source: str = "span judgments"
    places: Mapping[tuple[str, JudgedSpan], str] = field(default_factory=dict)
    """Where each was read, for messages."""

    @property
    def fingerprint(self) -> str:
        """The same for the same judgments in any order."""
        rows = sorted((query, *span) for query, spans in self.by_query.items() for span in spans)
        without = sorted(query for query, spans in self.by_query.items() if not spans)
        from hashlib import blake2b  # which loads OpenSSL

        return blake2b(repr((rows, without)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def where(self, query: str, span: JudgedSpan) -> str:
        """The words that say where a span comes from."""
        return self.places.get((query, span), f"{self.source}, query {query!r}")


def place_of(name: str, chunks: Mapping[str, Any] | None = None) -> Place:
    """Where a chunk stands: as `chunks` says, else as its id does.

    `chunks` is a corpus of chunks with `document`, `start` and `end` in their metadata, or a mapping of ids to
    (document, start, end).

    >>> place_of("docs/a.md#10-25")
    Place(document='docs/a.md', start=10, end=25)
    """
    if chunks is not None:
        return _told(name, chunks)
    found = NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        raise DataError(
            f"got {shorten(name)}, expected the id of a chunk like 'DOCUMENT#START-END'. "
            "Next: say where your chunks stand: chunks={id: (document, start, end)}, or a file with these columns."
        )
    return Place(found["document"], int(found["start"]), int(found["end"]))


def _told(name: str, chunks: Mapping[str, Any]) -> Place:
    if name not in chunks:
        raise DataError(
            f"chunk {shorten(name)} is none of the {len(chunks)} in chunks=. Next: give the chunks that were searched."
        )
    told = chunks[name]
    known = told.metadata if isinstance(told, Document) else told
    try:
        parts = [known[each] for each in Place._fields] if isinstance(known, Mapping) else list(known)
        document, start, end = parts
        return Place(str(document), int(start), int(end))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise DataError(
            f"chunk {shorten(name)}: got {shorten(known)}, expected its document, start and end. "
            "Next: give {id: (document, start, end)}, or the corpus that chunked() made."
        ) from None


UNJUDGED = -np.inf
"""The grade of tokens in no judged span."""


@dataclass(frozen=True, eq=False)
class ShownDocument:
    """One row for each rank and grade: how many tokens of that grade are first shown there.

    Sorted by query, then rank. A token that several chunks hold counts once, at the best of their ranks.
    """

    query: Array
    """Which query (0 to n-1) the row belongs to."""
    rank: Array
    """Where the chunk stands in its ranking, from 1."""
    grade: Array
    """The grade of the tokens: the highest of the spans they are in."""
    count: Array
    """How many they are."""
    n: int
    """How many queries there are."""
    judged: ShownDocument | None = None
    """All tokens of judged spans, shown or not (rank 0); None for these themselves."""

    def keep(self, rows: Array) -> ShownDocument:
        """Only the rows that `rows` (booleans) picks."""
        parts = {name: getattr(self, name)[rows] for name in ("query", "rank", "grade", "count")}
        return replace(self, **parts)

    def top(self, k: int | None, budget: int | None = None) -> ShownDocument:
        """What the first `k` chunks show, and of them those that fit into `budget` tokens with all before them."""
        kept = self if k is None else self.keep(self.rank <= k)
        return kept if budget is None else kept.keep(kept._tokens_with_chunk <= budget)

    @cached_property
    def _tokens_with_chunk(self) -> Array:
        """For each row the tokens of its query that are shown when its whole chunk is."""
        if not len(self.query):
            return self.count
        total = self.count.cumsum()
        first, _ = runs(self.query, np.zeros_like(self.query))
        _, end = runs(self.query, self.rank)
        return np.asarray(total[end - 1] - (total - self.count)[first])

    def tokens(self, rel: float = UNJUDGED) -> PerQuery:
        """How many tokens with a grade of at least `rel` there are, for each query."""
        weights = np.where(self.grade >= rel, self.count, 0)
        return np.bincount(self.query, weights=weights, minlength=self.n).astype(np.float64, copy=False)

    def relevant_tokens(self, rel: float) -> PerQuery:
        """How many tokens of judged spans are relevant, shown or not."""
        return self.tokens(rel) if self.judged is None else self.judged.tokens(rel)
