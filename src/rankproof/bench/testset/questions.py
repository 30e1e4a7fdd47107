"""Questions drawn from a corpus without a model, split into comparable parts, and how many of them are needed.

A known item is a document that a person has seen and wants to find again. The question has a few content words
of its title, of a heading, or of its rarest sentence: never in their original order,
so that no phrase of the document is in the question, and only words that together identify one document.

Reference: L. Azzopardi, M. de Rijke: Automatic construction of known-item finding test beds, SIGIR 2006.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from rankproof.bench.runner.run_plan import RunOutcome
from rankproof.bench.testset.checks import forms, longest_run, remembered_words
from rankproof.comparing.alignment import possible_ends
from rankproof.core.arrays import by_key
from rankproof.core.conventions import FEWEST_TO_DECIDE
from rankproof.core.corpus import Corpus, Document
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.document import model
from rankproof.document.numbers import for_face
from rankproof.errors import DataError, UsageError, check_one_of, check_whole, is_number, shorten
from rankproof.io.corpora import load_corpus, load_questions
from rankproof.io.load import Columns, with_columns
from rankproof.scoring.evaluate import evaluate, prepare
from rankproof.stats.confidence import queries_for_margin, smallest_margin
from rankproof.stats.detectable_difference import Detection, detectable, needed_or_why
from rankproof.stats.paired import check_alpha
from rankproof.stats.significance import check_power, spread
from rankproof.text.sentences import sentences
from rankproof.text.words import digest

WORDS = 5
"""Words of a question, at most."""
FEWEST = 2
"""Words of a question, at least."""
LONGEST_RUN = 2
"""Words in a row that a question may share with its document."""
HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question(model.Displayable):
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


def draw_questions(
    corpus: Any,
    n: int | None = None,
    *,
    ask: Callable[..., Any] | None = None,
    sources: Iterable[str] = tuple(SOURCES),
    seed: int = 0,
) -> list[Question]:
    """Questions whose answer is known, drawn from a corpus.

    Without `ask` they are known items: a few content words of a title, a heading or the rarest sentence, that
    point to one document and repeat no phrase of it. `ask(document)` returns other questions: a text, a
    list of texts, or None to skip the document.

    >>> from rankproof import sample
    >>> drawn = draw_questions(sample.corpus(), 2)
    >>> [(each.document in sample.corpus(), len(each.text.split()) <= 5) for each in drawn]
    [(True, True), (True, True)]
    """
    if n is not None:
        n = check_whole("n", n, advice="ask for 1 or more")
    check_whole("seed", seed, 0)
    wanted = list(sources)
    for each in wanted or [""]:
        check_one_of("sources", each, SOURCES)
    documents = load_corpus(corpus)
    drawn = _known_items(documents, wanted, seed) if ask is None else _written_questions(documents, ask, seed)
    return list(islice(drawn, None if n is None else min(n, sys.maxsize)))


def _known_items(corpus: Corpus, sources: list[str], seed: int) -> Iterator[Question]:
    """Questions, one a document at most; the documents come in a random order that `seed` fixes.

    The sources take turns; if a document does not have one of them, or its words point to other documents
    as well, the next is tried. Documents that no few words of their own single out are left out.
    """
    index = _Index(corpus)
    made = 0
    for document in _shuffled(corpus, seed):
        turn = sources[made % len(sources) :] + sources[: made % len(sources)]
        found = next(((words, name) for name in turn if (words := index.question(document, name, seed))), None)
        if found is not None:
            yield Question(f"known-{document.id}", found[0], document.id, found[1])
            made += 1


def _written_questions(corpus: Corpus, ask: Callable[[Document], Any], seed: int) -> Iterator[Question]:
    """Questions that a callable writes, given a document: one text, or several, or None to pass over."""
    for document in _shuffled(corpus, seed):
        with RunOutcome() as outcome:
            outcome.value = ask(document)
        if outcome.failure is not None:
            raise DataError(
                f"the callable failed for document {shorten(document.id)}: {outcome.failure.reason}. "
                "Next: correct it, or have it return None to pass the document over."
            )
        given = outcome.value
        texts = [given] if isinstance(given, str) else [] if given is None else given
        if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
            raise UsageError(
                f"the callable gave {shorten(given)} for document {shorten(document.id)}, expected a question, "
                "a list of questions, or None. Next: have it return text."
            )
        written = [" ".join(each.split()) for each in texts if each.strip()]
        for number, text in enumerate(written, start=1):
            yield Question(f"asked-{document.id}-{number}", text, document.id, "callable")


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
        mixed = sorted(words, key=lambda word: digest(f"{salt} {attempt} {word}", size=8))
        if longest_run(mixed, text) <= min(LONGEST_RUN, len(words) - 1):
            return mixed
    return None


def _shuffled(corpus: Corpus, seed: int) -> list[Document]:
    """An order by hash: a document added later moves no other."""
    return sorted(corpus.values(), key=lambda each: digest(f"{seed} {each.id}", size=8))


def split_questions(
    queries: Any, shares: Mapping[str, float], *, kinds: Mapping[str, str] | None = None, seed: int = 0
) -> dict[str, list[str]]:
    """Split the ids of the questions into parts, like `{"tune": 0.5, "test": 0.5}`, with the same share of each kind.

    Which question goes where depends on the ids and `seed`, never on the order they come in.

    >>> from rankproof import sample
    >>> parts = split_questions(sample.queries(), {"tune": 0.25, "test": 0.75}, kinds=sample.kinds())
    >>> len(parts["tune"]), len(parts["test"])
    (15, 45)
    """
    given = list(load_questions(queries))
    check_whole("seed", seed, 0)
    if kinds is not None and not isinstance(kinds, Mapping):
        raise UsageError(f"kinds: got {shorten(kinds)}, expected {{question: kind}}. Next: give a mapping.")
    above_0 = isinstance(shares, Mapping) and all(is_number(share) and share > 0 for share in shares.values())
    if not above_0 or not math.isclose(sum(shares.values()), 1):
        like = for_face("{'tune': 0.5, 'test': 0.5}", "tune=0.5, test=0.5")
        raise UsageError(
            f"shares: got {shorten(shares)}, expected a share above 0 for each part, 1 in all. "
            f"Next: give them like {like}."
        )
    if kinds and given and not any(query in kinds for query in given):
        raise DataError(
            f"kinds: names none of the {len(given)} questions, for example {shorten(given[0])}. "
            "Next: check that both spell ids the same way."
        )
    groups = by_key((str((kinds or {}).get(query, "")), query) for query in given)
    owed = dict.fromkeys(shares, 0.0)
    parts: dict[str, str] = {}
    for kind in sorted(groups):
        for query in sorted(groups[kind], key=lambda each: digest(f"{seed} {each}", size=8)):
            # The part that is furthest behind its share gets the next query.
            for part, share in shares.items():
                owed[part] += share
            parts[query] = max(owed, key=lambda part: (round(owed[part], 9), shares[part]))
            owed[parts[query]] -= 1
    return {part: [query for query in given if parts[query] == part] for part in shares}


@dataclass(frozen=True, slots=True)
class QuestionPlan(model.PlainData, model.Result):
    """How many questions a wanted difference needs, and what that follows from."""

    measure: str
    difference: float
    spread: float | None
    """The standard deviation of the differences from question to question; None of fewer than two."""
    have: int
    needed: int | None
    """None if no number of questions shows it."""
    detectable: float | None
    """The smallest difference that the present questions show."""
    power: float
    alpha: float
    smallest_margin: float | None = None
    """The smallest margin of a gate that the present questions can pass if nothing changes."""
    queries_for_margin: int | None = None
    """How many questions without a loss a gate takes to pass with the difference as its margin."""
    wrong: tuple[str, ...] = ()
    """What makes the numbers of these two rankings wrong, as the audit says it."""
    needed_note: str = ""
    """Why no number of questions can be named, if none can."""
    detectable_note: str = ""
    """Why no difference can be named that the present questions show, if none can."""

    def _document(self) -> model.Document:
        from rankproof.bench.words import question_plan as words

        return words(self)

    def _in_one_line(self) -> str:
        needed = "no number of" if self.needed is None else f"{self.needed:,}"
        return f"<QuestionPlan: {needed} questions for {self.difference:g} in {self.measure}, {self.have:,} there>"


@with_columns
def questions_needed(
    judgments: Any,
    baseline: Any,
    candidate: Any,
    measure: str = DEFAULT_MEASURE,
    difference: float = 0.02,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    columns: Columns = None,
) -> QuestionPlan:
    """How many questions it takes to show a difference of that size between rankings like these two.

    >>> from rankproof import sample
    >>> runs = sample.rankings()
    >>> plan = questions_needed(sample.judgments(), runs["keyword"], runs["dense"], difference=0.05)
    >>> plan.have, plan.needed > plan.have
    (60, True)
    """
    if not is_number(difference) or not math.isfinite(difference) or not difference:
        raise UsageError(
            f"difference: got {difference}, expected the smallest difference that matters. Next: give one, like 0.02."
        )
    judged = prepare(judgments)
    first, second = (evaluate(judged, each, measure) for each in (baseline, candidate))
    mine, theirs = first.values(measure), second.values(measure)
    check_alpha(alpha)
    check_power(power, alpha)
    ends = possible_ends(first, second, measure)
    far = max(-ends[0], np.finfo(float).tiny)
    moves = np.array([theirs[query] - mine[query] for query in mine if query in theirs])
    needed, unknown = needed_or_why(moves, difference, alpha, power=power, ends=ends) if len(moves) else (None, "")
    seen = detectable(moves, alpha, power=power, ends=ends) if len(moves) else Detection(None)
    return QuestionPlan(
        measure,
        difference,
        spread(moves),
        len(mine),
        needed and max(needed, FEWEST_TO_DECIDE),
        seen.value,
        power,
        alpha,
        smallest_margin(len(mine), alpha, far),
        queries_for_margin(abs(difference), alpha, far),
        tuple(
            f"{name}: {each}" for name, found in (("baseline", first), ("candidate", second)) for each in found.wrong
        ),
        needed_note=unknown,
        detectable_note=seen.note,
    )
