"""Documents that no question returns, and what they share: a wrong filter, an old index, a lost part.

Only documents that should be found are examined: relevant ones, and those that keyword search ranks first. Some of
these are always lost; it is a hole if the lost ones have something in common, beyond chance.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

from rankproof.core.arrays import by_key
from rankproof.core.corpus import Document, values_in
from rankproof.core.expected_and_extreme_values import by_id
from rankproof.document.model import Displayable, PlainData
from rankproof.document.numbers import first_of
from rankproof.stats.distributions import log_choose
from rankproof.stats.significance import hypergeometric_logs
from rankproof.text.languages import STOP_WORDS, language
from rankproof.text.words import words

FEWEST_IN_RANGE = 10
"""With fewer documents that have a number, no range of it is looked for."""
MOST_RANGES = 3
Key: TypeAlias = float | str
"""A number, or a date as ISO 8601 writes it."""
_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,15}(?![0-9])")
_DATE_IN_ID = re.compile(
    r"(?<![0-9])((?:1[5-9]|2[01])[0-9]{2})([-_/.])(0[1-9]|1[0-2])\2(0[1-9]|[12][0-9]|3[01])(?![0-9])"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?([T ].*)?$")


def _in_ids(docs: Collection[str]) -> dict[str, dict[str, Key]]:
    """The dates in ids, and the numbers of those written alike, each by its place; or of all the last one."""
    dates: dict[str, Key] = {doc: "-".join(at.group(1, 3, 4)) for doc in docs if (at := _DATE_IN_ID.search(doc))}
    alike = by_key((_NUMBER.sub("#", doc), doc) for doc in docs)
    found: dict[str, dict[str, Key]] = {"date in ids": dates}
    for form, some in alike.items():
        if len(some) >= FEWEST_IN_RANGE:
            rows = [_NUMBER.findall(doc) for doc in some]
            for place in range(len(rows[0])):
                nth = f"number {place + 1}" if len(rows[0]) > 1 else "number"
                found[f"{nth} in ids like {form}"] = {doc: int(row[place]) for doc, row in zip(some, rows, strict=True)}
    if len(alike) > 1:
        found["last number in ids"] = {doc: int(row[-1]) for doc in docs if (row := _NUMBER.findall(doc))}
    return found


def _in_metadata(docs: Collection[str], corpus: Mapping[str, Document]) -> Iterator[tuple[str, dict[str, Key]]]:
    for name in dict.fromkeys(field for doc in docs for field in corpus[doc].metadata):
        keys = {doc: key for doc in docs if (key := _key(corpus[doc].metadata.get(name))) is not None}
        kinds = Counter(map(type, keys.values())).most_common(1)
        yield name, {doc: key for doc, key in keys.items() if type(key) is kinds[0][0]}


def _key(value: Any) -> Key | None:
    if isinstance(value, date):  # a datetime is one too
        return value.isoformat()
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and _DATE.match(value):
        return value
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _lost_ranges(name: str, keys: Mapping[str, Key], lost: Collection[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The ranges that hold most lost documents, one after the other, in words and with their documents."""
    with_key = by_key((key, doc) for doc, key in keys.items())
    values = sorted(with_key)
    # A found document costs as much as keeps the share of lost ones in a range at `NEARLY_ALL` or above.
    cost = NEARLY_ALL / (1 - NEARLY_ALL)
    worth = [sum(1.0 if doc in lost else -cost for doc in with_key[value]) for value in values]
    for _ in range(MOST_RANGES):
        first, last, total = _best(worth)
        if total <= 0 or (first, last) == (0, len(values) - 1):
            return
        docs = frozenset(doc for value in values[first : last + 1] for doc in with_key[value])
        yield f"{name} {_said(values, first, last)}", docs
        worth[first : last + 1] = [-math.inf] * (last + 1 - first)


def _best(worth: Sequence[float]) -> tuple[int, int, float]:
    """The range with the largest sum (Kadane)."""
    best, start, total = (0, 0, -math.inf), 0, 0.0
    for n, each in enumerate(worth):
        if total <= 0:
            start, total = n, 0.0
        total += each
        if total > best[2]:
            best = (start, n, total)
    return best


def _said(values: Sequence[Key], first: int, last: int) -> str:
    low, high = (each if isinstance(each, str) else f"{each:.15g}" for each in (values[first], values[last]))
    if first == 0:
        return f"up to {high}"
    if last == len(values) - 1:
        return f"from {low} on"
    return f"from {low} to {high}" if first < last else f"of {low}"


FEWEST = 5
"""With fewer lost documents nothing is looked for: three may share anything."""
NEARLY_ALL = 0.9
"""From this share of the documents of a kind on, the kind is lost rather than badly served."""
ALPHA = 0.01
"""The chance, over all values that are looked at, and again over all ranges, of naming what is no more than chance."""
VALUES = 40
"""A field with more different values in a corpus tells documents apart rather than what they share."""
NAMED = 6
MOST_SHARED = 3
"""What lost documents share is named up to this many times: more only repeat it."""
_START = re.compile(r"^[^\W\d_]+(?=[\W\d_])|^\d{2,}(?=\D)")


@dataclass(frozen=True, slots=True)
class Shared(Displayable):
    """Something that lost documents have in common."""

    what: str
    """In words: "topic is 'billing'"."""
    lost: int
    """Documents of the kind that no question returned."""
    of: int
    """Documents of the kind that should have come up."""
    p: float

    @property
    def said(self) -> str:
        """With its figures."""
        return f"{self.what} ({self.lost:,} of {self.of:,} never returned)"


@dataclass(frozen=True, slots=True)
class Hole(PlainData):
    """Documents that should come up and that no question returns."""

    lost: int
    of: int
    """How many should come up."""
    relevant: int
    """How many of the lost ones are relevant to a question."""
    shared: tuple[Shared, ...]
    """What they share, the most telling first."""
    documents: tuple[str, ...]

    @property
    def said(self) -> str:
        """The hole in words."""
        some = ", ".join(self.documents[:3])
        return (
            f"A hole: {self.lost:,} of {self.of:,} documents that should come up are returned for no question at all, "
            f"{self.relevant:,} of them relevant, like {some}. What they share: "
            f"{'; '.join(each.said for each in self.shared)}. Next: look for a filter, an index made before they came, "
            "or a step that skips them."
        )


def hole(
    expected: Collection[str], returned: Collection[str], relevant: Collection[str], corpus: Mapping[str, Document]
) -> Hole | None:
    """The documents expected that are never returned, if they share something beyond chance."""
    known = sorted((doc for doc in expected if doc in corpus), key=by_id)
    lost = {doc for doc in known if doc not in returned}
    if not FEWEST <= len(lost) < len(known):
        return None
    tested = {name: _marks(known, [of(corpus[doc]) for doc in known]) for name, of in _FIELDS.items()}
    tested |= _metadata(known, corpus)
    number = sum(map(len, tested.values())) or 1
    shared = [each for name, marks in tested.items() if (each := _shared(name, marks, lost, len(known), number))]
    shared += _in_ranges(known, corpus, lost)
    kept = sorted(shared, key=lambda each: (each[0].p, -each[0].lost))[:MOST_SHARED]
    if not kept:
        return None
    gone = lost & set().union(*(docs for _, docs in kept))
    return Hole(
        lost=len(gone),
        of=len(known),
        relevant=len(gone & set(relevant)),
        shared=tuple(each for each, _ in kept),
        documents=tuple(doc for doc in known if doc in gone),
    )


Marks = Mapping[str, frozenset[str]]
"""For each value of a field the documents that have it."""


def _marks(docs: Collection[str], values: Collection[Collection[str]]) -> Marks:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for doc, own in zip(docs, values, strict=True):
        for value in own:
            found[value].add(doc)
    return {value: frozenset(some) for value, some in found.items() if 3 <= len(some) < len(docs)}


def _metadata(docs: Collection[str], corpus: Mapping[str, Document]) -> dict[str, Marks]:
    """The fields of the metadata whose values several documents share."""
    found = {}
    for name in dict.fromkeys(field for doc in docs for field in corpus[doc].metadata):
        fields = (values_in(corpus[doc].metadata.get(name)) for doc in docs)
        values = [[str(each) for each in some if isinstance(each, str | int | bool)] for some in fields]
        marks = _marks(docs, values)
        if marks and len(marks) <= max(VALUES, len(docs) // 10):
            found[name] = marks
    return found


def _prefixes(document: Document) -> list[str]:
    """The beginning of an id: letters before a number or a sign, and the folders before a name."""
    start, folder = _START.match(document.id), document.id.rpartition("/")[0]
    return [*([start[0]] if start else []), *([folder] if folder else [])]


def _length(document: Document) -> list[str]:
    """How long a text is, as a power of two of its characters, and everything longer or shorter."""
    size = len(document.whole)
    bands = [2**power for power in range(5, 18)]
    return [f"over {each:,} characters" for each in bands if size > each] + [
        f"under {each:,} characters" for each in bands if size < each
    ]


def _ending(document: Document) -> list[str]:
    ending = re.search(r"\.([A-Za-z][A-Za-z0-9]{0,5})$", document.id)
    return [ending[1].lower()] if ending else []


_FIELDS: Mapping[str, Callable[[Document], Collection[str]]] = {
    "id prefix": _prefixes,
    "file type": _ending,
    "length": _length,
    "language": lambda document: [language(document.whole)],
    "word": lambda document: {word.form for word in words(document.whole)} - STOP_WORDS,
}


def _shared(name: str, marks: Marks, lost: set[str], known: int, number: int) -> tuple[Shared, frozenset[str]] | None:
    """The values of a field nearly all documents of which are lost, more than by chance each or together."""
    gone = {value: docs for value, docs in marks.items() if len(docs & lost) >= NEARLY_ALL * len(docs)}
    apart = name in ("word", "length")
    ps = {value: _chance(len(own & lost), len(own), len(lost), known, math.log(number)) for value, own in gone.items()}
    sure = {value: p for value, p in ps.items() if p < (ALPHA if apart else 0.5)}
    if not sure:
        return None
    chosen = [min(sure, key=lambda value: (sure[value], -len(gone[value]), value))] if apart else list(sure)
    docs = frozenset().union(*(gone[value] for value in chosen))
    # So many values can be chosen in as many ways, and any of them might have been lost.
    ways = log_choose(len(marks), len(chosen)) + math.log(number / len(marks))
    p = _chance(len(docs & lost), len(docs), len(lost), known, ways)
    if p >= ALPHA:
        return None
    ordered = sorted(chosen, key=lambda value: (-len(gone[value]), value))
    what = f"length {ordered[0]}" if name == "length" else f"{name} {first_of(ordered, NAMED, repr, ' or ')}"
    return Shared(what, len(docs & lost), len(docs), p), docs


def _in_ranges(
    known: Collection[str], corpus: Mapping[str, Document], lost: set[str]
) -> list[tuple[Shared, frozenset[str]]]:
    """The ranges of numbers and dates that are lost, more than by chance over all ranges that there are.

    >>> pages = {f"p{n}": Document(f"p{n}", "") for n in range(40)}
    >>> [each.said for each, _ in _in_ranges(pages, pages, {f"p{n}" for n in range(12)})]
    ['number in ids like p# up to 11 (12 of 12 never returned)']
    """
    fields = [*_in_ids(known).items(), *_in_metadata(known, corpus)]
    fields = [each for each in fields if len(each[1]) >= FEWEST_IN_RANGE and len(set(each[1].values())) >= 3]
    sizes = [len(set(keys.values())) for _, keys in fields]
    number = sum(size * (size + 1) // 2 for size in sizes)
    shared: list[tuple[Shared, frozenset[str]]] = []
    for name, keys in fields:
        for what, docs in _lost_ranges(name, keys, lost):
            gone = len(docs & lost)
            p = _chance(gone, len(docs), len(keys.keys() & lost), len(keys), math.log(number))
            if p < ALPHA and all(docs != other for _, other in shared):
                shared.append((Shared(what, gone, len(docs), p), docs))
    return shared


def _chance(hit: int, drawn: int, good: int, whole: int, ways: float = 0.0) -> float:
    """The chance that of so many drawn so many or more are among the good (hypergeometric), times e^ways; at most 1."""
    return min(1.0, sum(math.exp(min(0.0, each + ways)) for each in hypergeometric_logs(drawn, good, whole, hit)))
