"""A text as the lexical judge sees it, its terms and their sentences, and how far another text contains it.

A text is analysed once and cached, however many pairs it is in.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from rankproof.judging.verdicts import Relation
from rankproof.text.claims import negations
from rankproof.text.languages import COMMON, HIRAGANA, STOP_WORDS, language, synonyms
from rankproof.text.numbers_and_dates import dates, quantities
from rankproof.text.sentences import sentences
from rankproof.text.words import Span, Word, stem, words

REMEMBERED = 512
"""How many texts are remembered."""
WORD, COMMON_WORD, NAME, NUMBER = "word", "common", "name", "number"
LITERAL = (NAME, NUMBER)
"""Kinds that are not said in other words."""
WEIGHTS = {WORD: 1.0, COMMON_WORD: 0.5, NAME: 1.3, NUMBER: 1.5}
COMMON_STEMS = frozenset(stem(word) for word in COMMON)
DATE = re.compile(r"([12]\d{3})?(?:-{1,2}(\d\d))?(?:-(\d\d))?")
_start = attrgetter("start")
MANY, LONG = 100, 50
"""From so many places on, those with so many equal words behind them count as one."""
HEAD = 4
"""Words with this many equal first letters are related."""


class ProfileTerm(NamedTuple):
    """A content word, or a number, with its place."""

    key: str
    """Its key in its own text."""
    sought: tuple[str, ...]
    """The keys under which it may be found in another text."""
    held: tuple[str, ...]
    """The keys under which others may find it."""
    kind: str
    start: int
    end: int
    sentence: int

    @property
    def unit(self) -> str:
        """The unit of a number; a year is a date."""
        return "date" if DATE.fullmatch(self.key[1:]) else self.key[1:].partition(" ")[2]


Sense = tuple[str, str, tuple[str]]
"""The stem of a word, its kind, and the stem as all that it is found under."""


@dataclass(frozen=True)
class TextProfile:
    """A text as the lexical judge sees it."""

    text: str
    sentences: tuple[Span, ...]
    terms: tuple[ProfileTerm, ...]
    where: dict[str, tuple[int, ...]]
    """The sentences of each term, by its keys."""
    forms: tuple[str, ...]
    """The stems of all words, small ones too, and all numbers."""

    @cached_property
    def weights(self) -> dict[tuple[str, ...], float]:
        """The weight of each term, by its keys; more if it occurs more than once."""
        found: dict[tuple[str, ...], float] = {}
        for term in self.terms:
            found[term.sought] = found.get(term.sought, 0.0) + WEIGHTS[term.kind]
        return found

    @cached_property
    def total(self) -> float:
        """The total weight of all terms."""
        return sum(self.weights.values())

    @cached_property
    def heads(self) -> dict[str, tuple[int, ...]]:
        """The sentences with a word that begins like this."""
        found: dict[str, set[int]] = {}
        for key, places in self.where.items():
            if len(key) > HEAD and key[0] not in "=~":
                found.setdefault(key[:HEAD], set()).update(places)
        return {head: tuple(sorted(places)) for head, places in found.items()}

    @cached_property
    def followed(self) -> dict[tuple[str, ...], list[int]]:
        """The places where two words follow each other; of many, those with something else behind them."""
        found: dict[tuple[str, ...], list[int]] = {}
        for place, two in enumerate(pairwise(self.forms)):
            found.setdefault(two, []).append(place)
        for many in [two for two, places in found.items() if len(places) > MANY]:
            found[many] = list({self.forms[place : place + LONG]: place for place in found[many]}.values())
        return found

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """All that a word or number of another text may be found as."""
        return frozenset(self.forms) | self.where.keys()

    @cached_property
    def language(self) -> str:
        """The language that the text seems to be in."""
        return language(self.text)

    @cached_property
    def denials(self) -> tuple[Span, ...]:
        """The negations."""
        return tuple(negations(self.text))

    def sentence(self, number: int) -> str:
        """The words of a sentence."""
        return self.sentences[number].of(self.text) if self.sentences else ""


@lru_cache(maxsize=REMEMBERED)
def profile(text: str) -> TextProfile:
    """Read a text.

    >>> read = profile("Refunds take 30 days. No fee is charged.")
    >>> [term.key for term in read.terms], read.where["=2592000 s"]
    (['refund', 'tak', '=2592000 s', 'fee', 'charg'], (0,))
    """
    spans = tuple(sentences(text))
    starts = [span.start for span in spans]
    numbers = list(_numbers(text, starts))
    spoken = _outside(words(text), numbers)
    senses = [_sense(word.form) for word in spoken]
    terms = [*_content(text, spoken, senses, starts), *numbers]
    if numbers:
        terms.sort(key=_start)
    # Of sentences that are alike the first one counts: looking in thousands of others would tell nothing more.
    others = set(range(len(spans))) - set({spans[i].of(text): i for i in reversed(range(len(spans)))}.values())
    where: dict[str, dict[int, None]] = {}
    for term in terms:
        for key in term.held if term.sentence not in others else ():
            where.setdefault(key, {})[term.sentence] = None
    forms = (*(key for key, _, _ in senses), *(number.sought[0] for number in numbers))
    return TextProfile(text, spans, tuple(terms), {key: tuple(places) for key, places in where.items()}, forms)


def _outside(spoken: list[Word], numbers: list[ProfileTerm]) -> list[Word]:
    """The words that are not part of a number or date."""
    taken = sorted((number.start, number.end) for number in numbers)
    if not taken:
        return spoken
    begins = [start for start, _ in taken]
    return [w for w in spoken if (at := bisect_right(begins, w.start)) == 0 or w.start >= taken[at - 1][1]]


def _content(text: str, spoken: list[Word], senses: list[Sense], starts: list[int]) -> Iterator[ProfileTerm]:
    """The words that say something; written large within a sentence, a word is a name."""
    place, begins, following = 0, starts or [0], [*starts[1:], math.inf]
    for (start, end, _), (key, kind, alone) in zip(spoken, senses, strict=True):
        while start >= following[place]:
            place += 1
        if kind:
            named = start > begins[place] and text[start].isupper()
            yield ProfileTerm(key, alone, alone, NAME if named else kind, start, end, place)


@lru_cache(maxsize=1 << 16)
def _sense(form: str) -> Sense:
    """The stem of a word, its kind ("" where it says little alone), and the stem as all that it is found under."""
    key = stem(form)
    if form in STOP_WORDS or form in HIRAGANA:
        return key, "", (key,)
    return key, COMMON_WORD if key in COMMON_STEMS else WORD, (key,)


def _sentence(starts: list[int], place: int) -> int:
    return max(0, bisect_right(starts, place) - 1)


def _numbers(text: str, starts: list[int]) -> Iterator[ProfileTerm]:
    """Numbers and dates with all that they may be found under."""
    known = dates(text)
    for date in known:
        key = f"={date.iso}"
        held = (*(f"={part}" for part in date.parts), *((f"~{date.year}",) if date.year else ()))
        yield ProfileTerm(key, (key,), held, NUMBER, date.start, date.end, _sentence(starts, date.start))
    for number in quantities(text, known):
        key = f"={number.form}"
        place = _sentence(starts, number.start)
        held = (key, f"~{number.plain}")
        # A number with a unit is found with that unit or with none; without one it is found with any.
        sought = (key, f"={number.plain}") if number.unit else held[1:]
        yield ProfileTerm(key, sought, held, NUMBER, number.start, number.end, place)


AKIN = 0.5
"""The weight of a term that only begins like one in the text."""
TOGETHER = 3
"""A claim may be spread over so many sentences."""


@dataclass(frozen=True, slots=True)
class Cover:
    """How far a claim's terms are found in a text."""

    reach: float
    """The share found in the few sentences that hold most of them."""
    best: float
    """The share found in one sentence."""
    sentences: tuple[int, ...]
    """Those sentences, the one with most terms first."""
    missing: tuple[tuple[str, ...], ...]
    """Terms found nowhere, not even a word like them."""


Hits = list[tuple[float, tuple[int, ...]]]
"""The weight and the place of each term that was found."""


def cover(claim: TextProfile, text: TextProfile) -> Cover:
    """How far the claim's terms are found in the text.

    >>> text = profile("Lisbon lies by the sea. It is the capital of Portugal.")
    >>> found = cover(profile("Lisbon is the capital of Peru."), text)
    >>> round(found.reach, 2), found.sentences, found.missing
    (0.61, (0, 1), (('peru',),))
    """
    hits, missing = _found(claim, text)
    total = claim.total or 1.0
    if len(text.sentences) <= 1:
        share = sum(weight for weight, _ in hits) / total
        return Cover(share, share, (0,) if hits else (), missing)
    gains, chosen = _most(hits)
    return Cover(sum(gains) / total, (gains or [0.0])[0] / total, tuple(chosen), missing)


def _found(claim: TextProfile, text: TextProfile) -> tuple[Hits, tuple[tuple[str, ...], ...]]:
    hits: Hits = []
    missing = []
    for sought, weight in claim.weights.items():
        places = text.where.get(sought[0]) or (text.where.get(sought[1]) if len(sought) > 1 else None)
        if places is None and (akin := _akin(sought[0], text)):
            hits.append((AKIN * weight, akin))
        elif places is None:
            missing.append(sought)
        else:
            hits.append((weight, places))
    return hits, tuple(missing)


def _akin(key: str, text: TextProfile) -> tuple[int, ...]:
    """The sentences with a word that begins like this one, or says much the same."""
    if len(key) > HEAD and key[0] not in "=~" and (places := text.heads.get(key[:HEAD])):
        return places
    return next((text.where[other] for other in synonyms().get(key, ()) if other in text.where), ())


def _most(hits: Hits) -> tuple[list[float], list[int]]:
    """Sentences taken one by one, each adding most to what is found; what each adds, and which they are."""
    gains: list[float] = []
    chosen: list[int] = []
    while hits and len(chosen) < TOGETHER:
        sums: dict[int, float] = {}
        for weight, places in hits:
            for place in places:
                sums[place] = sums.get(place, 0.0) + weight
        best = min(sums, key=lambda place: (-sums[place], place))
        gains.append(sums[best])
        chosen.append(best)
        hits = [hit for hit in hits if best not in hit[1]]
    return gains, chosen


def lacks_name_or_number(claim: TextProfile, found: Cover) -> bool:
    """Whether a name or a number of the claim was not found."""
    gone = set(found.missing)
    return bool(gone) and any(term.sought in gone for term in claim.terms if term.kind in LITERAL)


def is_fragment(text: TextProfile, claim: TextProfile) -> bool:
    """Whether a text has nothing but words of the claim, and not all of them, as a bare answer has.

    >>> is_fragment(profile("Paris"), profile("The capital of France is Paris."))
    True
    """
    return bool(text.terms) and {term.key for term in text.terms} < {term.key for term in claim.terms}


def swaps_numbers(claim: TextProfile, text: TextProfile, place: int) -> bool:
    """Whether numbers of one unit that claim and sentence have in common stand in another order.

    >>> swaps_numbers(profile("It opens at 9 and closes at 17."), profile("It opens at 17 and closes at 9."), 0)
    True
    """
    mine, theirs = [t for t in claim.terms if t.kind == NUMBER], [t for t in text.terms if t.kind == NUMBER]
    for unit in {term.unit for term in mine}:
        here = dict.fromkeys(term.key for term in mine if term.unit == unit)
        there = dict.fromkeys(t.key for t in theirs if t.unit == unit and t.sentence == place)
        if [key for key in here if key in there] != [key for key in there if key in here]:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Weights:
    """What each share counts. They were fitted on labelled pairs, which the page about this judge names."""

    reach: float
    best: float
    runs: float
    words: float
    base: float


SUPPORT = Weights(reach=2.1, best=0.0, runs=1.4, words=3.6, base=-5.6)
"""A claim and a text. The shares count 3 to 2 to 5 everywhere; the base and the common slope were fitted."""
ANSWERS = Weights(reach=2.3, best=1.8, runs=0.0, words=0.8, base=-2.6)
"""A question and a chunk."""
BEARS = Weights(reach=1.8, best=1.8, runs=0.0, words=1.2, base=-2.3)
"""A question and a statement."""
ADDRESSES = Weights(reach=4.5, best=4.0, runs=0.0, words=1.8, base=-2.3)
"""A question and an answer."""


@dataclass(frozen=True, slots=True)
class LexicalEvidence:
    """What of one text is found in another, and what that makes likely."""

    cover: Cover
    probability: float


def weigh(sought: TextProfile, text: TextProfile, weights: Weights) -> LexicalEvidence:
    """Look for one text in another."""
    found = cover(sought, text)
    there = sum(map(text.vocabulary.__contains__, sought.forms))  # of all words, small ones too
    score = (
        weights.base
        + weights.reach * found.reach
        + weights.best * found.best
        + (weights.runs and weights.runs * _runs(sought, text))
        + weights.words * (there / (len(sought.forms) or 1))
    )
    return LexicalEvidence(found, 1.0 / (1.0 + math.exp(-score)))


def _runs(sought: TextProfile, text: TextProfile) -> float:
    """How long the runs of words are that the text repeats: 1 for one run of all words, little for scattered ones.

    Formula: the root of the sum of squared lengths of the longest runs, taken one after the other, by all words.
    Reference: M. Grusky, M. Naaman, Y. Artzi: Newsroom, NAACL 2018, whose density is the same without the root.
    """
    words, theirs = sought.forms, text.forms
    squares = at = 0
    while at < len(words):
        longest = int(words[at] in text.vocabulary)
        for start in text.followed.get(words[at : at + 2], ()):
            size = 2
            while words[at + size : at + size + 1] == theirs[start + size : start + size + 1] != ():
                size += 1
            longest = max(longest, size)
        squares += longest**2
        at += longest or 1
    return math.sqrt(squares) / (len(words) or 1)


NEVER, UNREACHED = -1.0, 2.0
"""Bounds that no probability is below, or reaches."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Up to where a probability may be a no, and from where on it may be a yes."""

    weights: Weights
    no: float
    yes: float


BOUNDS = {
    Relation.TEXT_SUPPORTS: Bounds(SUPPORT, 0.04, 0.73),
    Relation.TEXT_SUPPORTS_IN_PART: Bounds(SUPPORT, 0.04, 0.73),
    Relation.CONTEXT_ANSWERS: Bounds(ANSWERS, 0.08, 0.9),
    Relation.STATEMENT_BEARS: Bounds(BEARS, NEVER, UNREACHED),
    Relation.ANSWER_ADDRESSES: Bounds(ADDRESSES, 0.20, 0.75),
}
