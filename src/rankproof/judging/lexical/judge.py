"""The lexical judge: deterministic, offline, the same verdict for a pair in any context."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankproof.judging.lexical.conflicts import conflict, odd_denial
from rankproof.judging.lexical.profile import COMMON_WORD, Cover, TextProfile, cover, lacks_name_or_number, profile
from rankproof.judging.verdicts import (
    ABSTAINS,
    CONTRADICTS,
    SILENT,
    SUPPORTS,
    Account,
    Ask,
    Keep,
    Relation,
    Unmeasured,
    Verdict,
)
from rankproof.text.claims import abstains, claims
from rankproof.text.languages import are_alike

NAME = "lexical"
Settled = Verdict | Unmeasured
OTHERWISE = "question and text may say the same in other words"


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
    score = (
        weights.base
        + weights.reach * found.reach
        + weights.best * found.best
        + (weights.runs and weights.runs * _runs(sought, text))
        + weights.words * _words(sought, text)
    )
    return LexicalEvidence(found, 1.0 / (1.0 + math.exp(-score)))


def lexical_support(claim: str, text: str) -> float:
    """The probability that a text supports a claim, from the words, numbers and order that they share.

    It is given for every pair, those too on which the judge keeps silent.

    >>> text = "Refunds are granted within 30 days of purchase."
    >>> high, low = lexical_support("Refunds are granted within 30 days.", text), lexical_support("Lions sleep.", text)
    >>> high > 0.7, low < 0.05
    (True, True)
    """
    return weigh(profile(claim), profile(text), SUPPORT).probability


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
    return math.sqrt(squares) / len(words) if words else 0.0


def _words(sought: TextProfile, text: TextProfile) -> float:
    """The share of all words, small ones too, that are in the text."""
    if not sought.forms:
        return 0.0
    return sum(map(text.vocabulary.__contains__, sought.forms)) / len(sought.forms)


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
IN_ONE = 0.8
"""The share of a claim that one sentence must hold; words from here and there may be about different things."""
PARAPHRASED = 6
"""A claim of fewer terms, none of them a name or a number, may be said in other words."""
ASKED_OTHERWISE = 5
"""A question of which fewer words are missing may be asked in words other than the text's."""
SHORT = 6
"""An answer of fewer terms need not repeat any of the question's."""
CONTRADICTED = 0.02
"""The probability of support where the text says otherwise."""


def settle(ask: Ask) -> Settled:
    """The verdict of the judge on a pair.

    >>> settle(Ask(Relation.TEXT_SUPPORTS, "Refunds take 30 days.", "Refunds take 14 days.")).value
    -1
    """
    if ask.relation == Relation.TEXT_CLAIMS:
        return Verdict(ask, None, NAME, items=tuple(claim.of(ask.right) for claim in claims(ask.right)))
    if ask.relation == Relation.ANSWER_ADDRESSES and abstains(ask.right):
        return Verdict(ask, ABSTAINS, NAME, probability=0.0, quote=ask.right.strip())
    sought, text = profile(ask.left), profile(ask.right)
    left = "claim" if BOUNDS[ask.relation].weights is SUPPORT else "question"
    if not sought.terms:
        return Unmeasured(ask, f"the {left} has no words to look for")
    if not are_alike(sought.language, text.language):
        languages = f"({sought.language}, {text.language})"
        return Unmeasured(ask, f"the {left} and the text seem to be in different languages {languages}")
    if not text.forms:  # an empty text says nothing, whatever is asked of it
        return Verdict(ask, 0, NAME, probability=0.0)
    return RELATIONS[ask.relation](ask, sought, text, weigh(sought, text, BOUNDS[ask.relation].weights))


def likelihood(ask: Ask) -> float:
    """The probability of a yes, as far as words tell: even odds where they cannot, as between two languages."""
    sought, text = profile(ask.left), profile(ask.right)
    if not text.forms:
        return 0.0
    if not are_alike(sought.language, text.language):
        return 0.5
    return weigh(sought, text, BOUNDS[ask.relation].weights).probability


def _support(ask: Ask, claim: TextProfile, text: TextProfile, found: LexicalEvidence) -> Settled:
    if against := conflict(claim, text, found.cover):
        return _verdict(ask, CONTRADICTS, found, text, CONTRADICTED, why=against)
    if found.probability >= BOUNDS[Relation.TEXT_SUPPORTS].yes:
        doubt = _doubt(claim, text, found)
        return Unmeasured(ask, doubt) if doubt else _verdict(ask, SUPPORTS, found, text)
    if found.probability > BOUNDS[Relation.TEXT_SUPPORTS].no:
        return _unsettled(ask, found)
    if lacks_name_or_number(claim, found.cover) or len(found.cover.missing) >= PARAPHRASED:
        return _verdict(ask, SILENT, found, text)
    return Unmeasured(ask, "the text may say it in other words")


def _doubt(claim: TextProfile, text: TextProfile, found: LexicalEvidence) -> str:
    """Why a claim whose words are all there may still not be supported."""
    if found.cover.best < IN_ONE:
        return "the claim's words are in different sentences"
    if lacks_name_or_number(claim, found.cover):
        return "a name or number of the claim is not in the text"
    return "one of claim and text denies" if odd_denial(claim, text, found.cover) else ""


def _relevance(ask: Ask, question: TextProfile, text: TextProfile, found: LexicalEvidence) -> Settled:
    if found.probability >= BOUNDS[ask.relation].yes:
        return _verdict(ask, 2, found, text)
    if found.probability > BOUNDS[ask.relation].no:
        return _unsettled(ask, found)
    nothing_of_it = _asks_something_else(question, found)
    return _verdict(ask, 0, found, text) if nothing_of_it else Unmeasured(ask, OTHERWISE)


def _asks_something_else(question: TextProfile, found: LexicalEvidence) -> bool:
    """Whether so many words of a question are missing that it can hardly be the same thing in other words.

    Where writing has no spaces, the pairs of characters overlap: of two that do, one counts.
    """
    gone, counted, end = set(found.cover.missing), set(), 0
    for term in sorted(question.terms, key=lambda term: term.start):
        if term.sought in gone and term.kind != COMMON_WORD and term.start >= end:
            counted.add(term.sought)
            end = term.end
    return len(counted) >= ASKED_OTHERWISE


def _addressing(ask: Ask, question: TextProfile, answer: TextProfile, found: LexicalEvidence) -> Settled:
    if found.probability <= BOUNDS[Relation.ANSWER_ADDRESSES].no:
        # No, if the answer is long enough to hold words of the question, and holds none of many.
        if len(answer.terms) < SHORT:
            return Unmeasured(ask, "the answer is too short to tell by its words")
        if not _asks_something_else(question, found):
            return Unmeasured(ask, OTHERWISE)
        return _verdict(ask, 0, found, answer)
    if found.probability < BOUNDS[Relation.ANSWER_ADDRESSES].yes:
        return _unsettled(ask, found)
    if {term.key for term in answer.terms} <= {term.key for term in question.terms}:
        return Unmeasured(ask, "the answer only repeats the question")
    return _verdict(ask, 3 if not found.cover.missing else 2, found, answer)


def _partly(ask: Ask, claim: TextProfile, text: TextProfile, evidence: LexicalEvidence) -> Settled:
    """All of a claim, or nothing: words alone do not show which part of a claim a text supports."""
    found = _support(ask, claim, text, evidence)
    return replace(found, value=2 if found.value == SUPPORTS else 0) if isinstance(found, Verdict) else found


RELATIONS: dict[str, Callable[[Ask, TextProfile, TextProfile, LexicalEvidence], Settled]] = {
    Relation.CONTEXT_ANSWERS: _relevance,
    Relation.TEXT_SUPPORTS: _support,
    Relation.TEXT_SUPPORTS_IN_PART: _partly,
    Relation.STATEMENT_BEARS: _relevance,
    Relation.ANSWER_ADDRESSES: _addressing,
}


def _unsettled(ask: Ask, found: LexicalEvidence) -> Unmeasured:
    """A probability between the bounds, with as many digits as tell it from them."""
    bounds = BOUNDS[ask.relation]
    no = f"{bounds.no:.2f} or less may be a no" if bounds.no >= 0 else "none is low enough for a no"
    yes = f"{bounds.yes:.2f} or more may be a yes" if bounds.yes <= 1 else "none is high enough for a yes"
    likely = _told_apart(found.probability, (bounds.no, bounds.yes))
    return Unmeasured(ask, f"shared words leave it open (probability {likely}; {no}, {yes})")


def _told_apart(value: float, bounds: tuple[float, ...]) -> str:
    """A probability with two digits, or more where two would show it as one of the bounds.

    >>> _told_apart(0.8699, (0.18, 0.87)), _told_apart(0.5, (0.18, 0.87))
    ('0.8699', '0.50')
    """
    shown = (f"{value:.{digits}f}" for digits in range(2, 17))
    return next((each for each in shown if float(each) not in bounds), repr(value))


def _verdict(
    ask: Ask, value: int, found: LexicalEvidence, text: TextProfile, probability: float | None = None, why: str = ""
) -> Verdict:
    places = found.cover.sentences
    shows = places and (value != SILENT)
    return Verdict(
        ask,
        value,
        NAME,
        probability=round(found.probability if probability is None else probability, 4),
        quote=text.sentence(places[0]) if shows else "",
        origin={"why": why} if why else {},
    )


VERSION = 4
"""Raised whenever any verdict may change, so that remembered verdicts are not mixed up."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """A judge that compares words, numbers and denials, and gives no verdict if those do not decide a pair."""

    name = NAME
    free = True
    """Asking it costs nothing."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that shapes its verdicts."""
        return {"kind": NAME, "version": VERSION}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Settle each pair of each group; a group at a time reaches `keep`."""
        for group in groups:
            keep([settle(ask) for ask in group])
        return Account()


def lexical_judge() -> Lexical:
    """The embedded judge.

    >>> from rankproof.judging.verdicts import Ask, Relation
    >>> settled = []
    >>> ask = Ask(Relation.TEXT_SUPPORTS, "No fee is due.", "A fee is due.")
    >>> account = lexical_judge().judge([[ask]], settled.extend)
    >>> settled[0].value, settled[0].quote, account.calls
    (-1, 'A fee is due.', 0)
    """
    return Lexical()
