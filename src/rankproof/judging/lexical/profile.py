"""The view of a text by the lexical judge: its terms, the sentences they are in, and how far they are in another text.

A text is read once and cached, however many pairs it is in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import inf
from operator import attrgetter
from typing import NamedTuple

from rankproof.text.claims import negations
from rankproof.text.languages import COMMON, HIRAGANA, STOP_WORDS, language
from rankproof.text.numbers_and_dates import dates, quantities
from rankproof.text.sentences import sentences
from rankproof.text.words import Span, Word, stem, words

FAMILIES = """
car automobile vehicle |big large huge vast enormous |small little tiny |fast quick rapid |begin start
commence |end finish conclude |buy purchase acquire |sell vend |help assist aid |show display demonstrate
|build construct erect |make create produce manufacture |movie film |doctor physician |kid child |old
ancient |new novel |rich wealthy |poor impoverished |smart clever intelligent |angry furious |happy glad
|sad unhappy |job occupation profession |home house residence dwelling |ill sick |sickness illness
disease |wrong incorrect |right correct |near close |get obtain receive |give provide supply |use utilize
employ |need require |try attempt |happen occur |choose select pick |keep retain |let allow permit |stop
halt cease |say state |tell inform |ask inquire |answer reply respond |speak talk |look appear seem
|think believe |important significant crucial vital |difficult hard |easy simple |dangerous hazardous
|famous renowned well-known celebrated |country nation |city town |company firm business corporation
|money funds cash |increase rise grow |decrease drop fall decline reduce |die pass perish |kill murder
slay |marry wed |born birth |author writer |song track |singer vocalist |game match |winner champion
|leader head chief |lawyer attorney |police cop |road street |sea ocean |stone rock |forest woods |animal
beast |people persons inhabitants residents population |main chief principal primary |almost nearly
|about approximately roughly |also additionally |often frequently |rarely seldom |usually generally
typically |include contain comprise |consist comprise |locate situate |release publish issue launch
|found establish create |error mistake fault |price cost |fee charge |pay salary wage |goods products
merchandise |refund reimbursement |photo picture image |critic reviewer |shut close |close shut |annual
yearly |broadcast air |role part |star feature |award prize |defeat beat |land ground |gather collect
"""
SYNONYMS: dict[str, tuple[str, ...]] = {}
for _family in FAMILIES.split("|"):
    _stems = [stem(word) for word in _family.split()]
    for _stem in _stems:
        SYNONYMS[_stem] = (*SYNONYMS.get(_stem, ()), *(other for other in _stems if other != _stem))


REMEMBERED = 512
"""How many texts are remembered."""
WORD, COMMON_WORD, NAME, NUMBER = "word", "common", "name", "number"
WEIGHTS = {WORD: 1.0, COMMON_WORD: 0.5, NAME: 1.3, NUMBER: 1.5}
COMMON_STEMS = frozenset(stem(word) for word in COMMON)
_start = attrgetter("start")
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
        """The places where two words follow each other."""
        found: dict[tuple[str, ...], list[int]] = {}
        for place, two in enumerate(pairwise(self.forms)):
            found.setdefault(two, []).append(place)
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
    return TextProfile(
        text,
        spans,
        tuple(terms),
        _where(terms),
        (*(key for key, _, _ in senses), *(number.sought[0] for number in numbers)),
    )


def _where(terms: Iterable[ProfileTerm]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for term in terms:
        for key in term.held:
            places = found.setdefault(key, [])
            if term.sentence not in places:
                places.append(term.sentence)
    return {key: tuple(places) for key, places in found.items()}


def _outside(spoken: list[Word], numbers: list[ProfileTerm]) -> list[Word]:
    """The words that are not part of a number or date."""
    taken = sorted((number.start, number.end) for number in numbers)
    if not taken:
        return spoken
    begins = [start for start, _ in taken]
    return [w for w in spoken if (at := bisect_right(begins, w.start)) == 0 or w.start >= taken[at - 1][1]]


def _content(text: str, spoken: list[Word], senses: list[Sense], starts: list[int]) -> Iterator[ProfileTerm]:
    """The words that say something; written large within a sentence, a word is a name."""
    place, begin, following = 0, *_ahead(starts, 0)
    for (start, end, _), (key, kind, alone) in zip(spoken, senses, strict=True):
        while start >= following:
            place += 1
            begin, following = _ahead(starts, place)
        if kind:
            named = start > begin and text[start].isupper()
            yield ProfileTerm(key, alone, alone, NAME if named else kind, start, end, place)


def _ahead(starts: list[int], place: int) -> tuple[int, float]:
    """Where a sentence begins, and where the next one does."""
    begin = starts[place] if starts else 0
    return begin, starts[place + 1] if place + 1 < len(starts) else inf


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
    if len(text.sentences) <= 1:
        share = sum(weight for weight, _ in hits) / claim.total if hits else 0.0
        return Cover(share, share, (0,) if hits else (), missing)
    gains, chosen = _most(hits)
    total = claim.total or 1.0
    return Cover(sum(gains) / total, (gains or [0.0])[0] / total, tuple(chosen), missing)


def _found(claim: TextProfile, text: TextProfile) -> tuple[Hits, tuple[tuple[str, ...], ...]]:
    hits: Hits = []
    missing = []
    where = text.where
    for sought, weight in claim.weights.items():
        places = where.get(sought[0]) or (where.get(sought[1]) if len(sought) > 1 else None)
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
    return next((text.where[other] for other in SYNONYMS.get(key, ()) if other in text.where), ())


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
    return bool(gone) and any(term.sought in gone for term in claim.terms if term.kind in (NAME, NUMBER))
