"""Ageing of an evaluation set: documents that vanished or changed, queries asked twice or trained on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from rankproof.core.corpus import Corpus
from rankproof.core.judgments import Judgments
from rankproof.document.model import Displayable
from rankproof.errors import DataError, shorten
from rankproof.io.read import rows_of
from rankproof.monitoring.shifts import content_words
from rankproof.monitoring.vectors import normal_form

ALIKE = 0.8
"""Of all content words of two queries this share must be in both, so that they ask nearly the same."""
FEW_WORDS = 2
"""Queries with fewer content words are alike only if they are the same."""


@dataclass(frozen=True)
class Stale(Displayable):
    """Judged documents that are not what was judged."""

    judged: int
    """Documents with a judgment."""
    vanished: list[str]
    """Documents that the corpus does not have any more."""
    changed: list[str]
    """Documents whose text has changed since they were judged."""
    compared: int
    """Documents with a hash of the text that was judged."""
    queries: list[str]
    """Queries with a relevant document that vanished or changed: look at their judgments again."""


@dataclass(frozen=True)
class Twin(Displayable):
    """A query of the set that is asked elsewhere as well."""

    query: str
    other: str
    """The id of another query of the set, or the text of a training query."""
    same: bool
    """Whether the words are the same; else nearly the same."""


def stale_judgments(judgments: Judgments, corpus: Corpus, hashes: Mapping[str, str] | None = None) -> Stale:
    """The judged documents that vanished from the corpus, or changed since `hashes` were taken."""
    known = hashes or {}
    docs = list(dict.fromkeys(judgments.docs))
    vanished = {doc for doc in docs if doc not in corpus}
    compared = [doc for doc in docs if doc in known and doc not in vanished]
    changed = {doc for doc in compared if hash_of(corpus[doc].whole) != known[doc]}
    touched = [
        query
        for query, grades in judgments.as_dict().items()
        if any(grade > 0 and (doc in vanished or doc in changed) for doc, grade in grades.items())
    ]
    return Stale(len(docs), sorted(vanished), sorted(changed), len(compared), touched)


def hash_of(text: str) -> str:
    """The hash of a document's text; blanks do not count."""
    return blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def hashes_of(judgments: Judgments, corpus: Corpus) -> dict[str, str]:
    """The hash of each judged document, to be kept with the judgments."""
    return {doc: hash_of(corpus[doc].whole) for doc in judgments.docs if doc in corpus}


def read_hashes(source: str | os.PathLike[str] | Mapping[str, str]) -> dict[str, str]:
    """Hashes by document, from a mapping or from the JSON file that `rankproof drift --keep-hashes` wrote."""
    if isinstance(source, Mapping):
        return dict(source)
    try:
        found = json.loads(Path(source).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(
            f"{source}: no JSON ({error}). Next: name the file that 'rankproof drift --keep-hashes' wrote."
        ) from error
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise DataError(
            f"{source}: got {shorten(found)}, expected {{document: hash}}. "
            "Next: name the file that 'rankproof drift --keep-hashes' wrote."
        )
    return found


def twins_within(own: Mapping[str, str]) -> list[Twin]:
    """The queries of the set that repeat an earlier one."""
    known, found = KnownQueries(), []
    for name, text in own.items():
        found += known.twin(name, text)
        known.add(text, name)
    return found


def twins_with(own: Mapping[str, str], trained: Any) -> list[Twin]:
    """The queries of the set that are also training or tuning queries."""
    known = KnownQueries()
    for text in _texts(trained):
        known.add(text, text)
    return [twin for name, text in own.items() for twin in known.twin(name, text)]


class KnownQueries:
    """Queries to compare others with; only those that share a word are compared."""

    def __init__(self) -> None:
        self._exact: dict[str, str] = {}
        self._holding: dict[str, list[tuple[frozenset[str], str]]] = {}

    def add(self, text: str, shown: str) -> None:
        """Add a query with its name."""
        self._exact.setdefault(normal_form(text), shown)
        said = frozenset(content_words(text))
        for word in said if len(said) >= FEW_WORDS else ():
            self._holding.setdefault(word, []).append((said, shown))

    def twin(self, name: str, text: str) -> list[Twin]:
        """The first known query that asks the same, if there is one."""
        if (other := self._exact.get(normal_form(text))) is not None:
            return [Twin(name, other, True)]
        said = frozenset(content_words(text))
        near = (
            shown
            for word in sorted(said)
            for words, shown in self._holding.get(word, ())
            if len(said & words) >= ALIKE * len(said | words)
        )
        return [Twin(name, other, False) for other in islice(near, 1)]


def _texts(source: Any) -> Iterable[str]:
    for row in rows_of(source, "the training queries"):
        record = row.value
        if isinstance(record, Mapping):
            record = next((record[name] for name in ("query", "text", "question", "anchor") if record.get(name)), None)
        if not isinstance(record, str):
            raise DataError(
                f"{row.where}: got {shorten(row.value)}, expected a query's text. "
                'Next: give records like {"query": ...}, or a list of texts.'
            )
        yield record
