"""Questions drawn from a corpus without a model, and split into comparable parts.

A known item is a document that a person has seen and wants back. What is remembered of it is taken to be a
few telling words of its title, of a heading, or of its rarest sentence: never in the order they stand in,
so that no phrase of the document is in the question, and only words that together point to one document.

Reference: L. Azzopardi, M. de Rijke: Automatic construction of known-item finding test beds, SIGIR 2006.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from rankproof.bench.runner.work import RunOutcome
from rankproof.bench.testset.checks import forms, longest_run, remembered_words
from rankproof.core.corpus import Corpus, Document
from rankproof.document.model import Displayable
from rankproof.errors import DataError, UsageError, is_number, shorten
from rankproof.text.sentences import sentences

WORDS = 5
"""Words of a question, at most."""
FEWEST = 2
"""Words of a question, at least."""
LONGEST_RUN = 2
"""Words in a row that a question may share with its document."""
HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question(Displayable):
    """One question with the document that answers it, and where it was taken from."""

    id: str
    text: str
    document: str
    source: str
    """title, heading, sentence or callable."""


SOURCES: Mapping[str, Callable[[Document], list[str]]] = {
    "title": lambda document: [document.title],
    "heading": lambda document: HEADING.findall(document.text),
    "sentence": lambda document: [part.of(document.text) for part in sentences(document.text)],
}
"""The parts of a document that a question may be made of; the one with the rarest words is taken."""


def known_items(
    corpus: Corpus, n: int | None = None, *, sources: Iterable[str] = tuple(SOURCES), seed: int = 0
) -> Iterator[Question]:
    """Up to `n` questions, one a document at most; the documents come in a random order that `seed` fixes.

    The sources take turns; if a document does not have one of them, or its words point to other documents
    as well, the next is tried. Documents that no few words of their own single out are left out.
    """
    index = _Index(corpus)
    wanted = list(sources)
    made = 0
    for document in _shuffled(corpus.values(), seed):
        if n is not None and made >= n:
            return
        turn = wanted[made % len(wanted) :] + wanted[: made % len(wanted)]
        found = next(((words, name) for name in turn if (words := index.question(document, name, seed))), None)
        if found is not None:
            yield Question(f"known-{document.id}", found[0], document.id, found[1])
            made += 1


def written_questions(
    corpus: Corpus, ask: Callable[[Document], Any], n: int | None = None, *, seed: int = 0
) -> Iterator[Question]:
    """Up to `n` questions that a callable writes, given a document: one text, or several, or None to pass over."""
    made = 0
    for document in _shuffled(corpus.values(), seed):
        for number, text in enumerate(_texts(_written(ask, document), document), start=1):
            if n is not None and made >= n:
                return
            yield Question(f"asked-{document.id}-{number}", text, document.id, "callable")
            made += 1


def _written(ask: Callable[[Document], Any], document: Document) -> Any:
    """The result of the callable; its errors name the document."""
    with RunOutcome() as outcome:
        outcome.value = ask(document)
    if outcome.failure is not None:
        raise DataError(
            f"the callable failed for document {shorten(document.id)}: {outcome.failure.reason}. "
            "Next: correct it, or have it return None to pass the document over."
        )
    return outcome.value


def _texts(given: Any, document: Document) -> list[str]:
    texts = [given] if isinstance(given, str) else [] if given is None else given
    if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
        raise UsageError(
            f"the callable gave {shorten(given)} for document {shorten(document.id)}, expected a question, "
            "a list of questions, or None. Next: have it return text."
        )
    return [" ".join(each.split()) for each in texts if each.strip()]


class _Index:
    """Which documents hold which words, and how rare each word is."""

    def __init__(self, corpus: Corpus) -> None:
        self.words = {name: forms(document.whole) for name, document in corpus.items()}
        self.holders: dict[str, set[str]] = {}
        for name, found in self.words.items():
            for word in set(found):
                self.holders.setdefault(word, set()).add(name)
        self.rarity = {word: math.log(len(corpus) / len(names)) for word, names in self.holders.items()}

    def question(self, document: Document, source: str, seed: int) -> str | None:
        """The telling words of that part of the document, if they point to it alone."""

        def weight(part: str) -> float:
            return sum(sorted((self.rarity.get(word, 0.0) for word in remembered_words(part)), reverse=True)[:WORDS])

        written = remembered_words(max(SOURCES[source](document), key=weight, default=""))
        rarest = sorted(written, key=lambda word: (-self.rarity.get(word, 0.0), word))[:WORDS]
        holders = [self.holders.get(word, set()) for word in rarest]
        if len(rarest) < FEWEST or set.intersection(*holders) != {document.id}:
            return None
        mixed = _apart(rarest, self.words[document.id], f"{seed} {document.id}")
        return None if mixed is None else " ".join(written[word] for word in mixed)


def _apart(words: list[str], text: list[str], salt: str) -> list[str] | None:
    """The words in an order in which no more than a few stand in a row as in the text; None if none was found."""
    for attempt in range(20):
        mixed = sorted(words, key=lambda word: _hash(f"{salt} {attempt} {word}"))
        if longest_run(mixed, text) <= min(LONGEST_RUN, len(words) - 1):
            return mixed
    return None


def _shuffled(documents: Iterable[Document], seed: int) -> list[Document]:
    """An order by hash: a document added later moves no other."""
    return sorted(documents, key=lambda each: _hash(f"{seed} {each.id}"))


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def count_sources(questions: Iterable[Question]) -> dict[str, int]:
    """How many questions came from each source."""
    return dict(Counter(each.source for each in questions))


def split(
    queries: Iterable[str], shares: Mapping[str, float], kinds: Mapping[str, str] | None = None, seed: int = 0
) -> dict[str, list[str]]:
    """The queries by part. Of each kind every part gets its share, to the nearest query.

    Which query goes where depends on the ids and `seed`, never on the order they come in.

    >>> parts = split([f"q{n}" for n in range(10)], {"tune": 0.5, "test": 0.5}, seed=1)
    >>> len(parts["tune"]), len(parts["test"]), sorted(parts["tune"] + parts["test"])[:3]
    (5, 5, ['q0', 'q1', 'q2'])
    """
    given = list(queries)
    if kinds is not None and not isinstance(kinds, Mapping):
        raise UsageError(f"kinds: got {shorten(kinds)}, expected {{question: kind}}. Next: give a mapping.")
    _check(given, shares)
    if kinds and given and not any(query in kinds for query in given):
        raise DataError(
            f"kinds: names none of the {len(given)} questions, as {shorten(given[0])}. "
            "Next: check that both spell ids the same way."
        )
    groups: dict[str, list[str]] = {}
    for query in given:
        groups.setdefault(str((kinds or {}).get(query, "")), []).append(query)
    owed = dict.fromkeys(shares, 0.0)
    parts: dict[str, str] = {}
    for kind in sorted(groups):
        for query in sorted(groups[kind], key=lambda each: _hash(f"{seed} {each}")):
            # The part that is furthest behind its share gets the next query.
            for part, share in shares.items():
                owed[part] += share
            parts[query] = max(owed, key=lambda part: (round(owed[part], 9), shares[part]))
            owed[parts[query]] -= 1
    return {part: [query for query in given if parts[query] == part] for part in shares}


def _check(queries: list[str], shares: Mapping[str, float]) -> None:
    if len(set(queries)) < len(queries):
        raise DataError("queries: an id comes twice. Next: give each question an id of its own.")
    if not isinstance(shares, Mapping) or not all(is_number(each) for each in shares.values()):
        raise UsageError(
            f"shares: got {shorten(shares)}, expected a share for each name. "
            "Next: give them like {'tune': 0.5, 'test': 0.5}."
        )
    if not shares or any(share <= 0 for share in shares.values()) or not math.isclose(sum(shares.values()), 1):
        raise UsageError(
            f"shares: got {dict(shares)}, expected a share above 0 for each part, 1 in all. "
            "Next: give them like tune=0.5, test=0.5."
        )
