"""The lexical judge: deterministic, offline, the same verdict for a pair in any context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankproof.judging.case import BARE, ENDED
from rankproof.judging.lexical_profile import (
    BOUNDS,
    COMMON_WORD,
    DATE,
    LITERAL,
    NUMBER,
    SUPPORT,
    WEIGHTS,
    Cover,
    LexicalEvidence,
    ProfileTerm,
    TextProfile,
    is_fragment,
    lacks_name_or_number,
    profile,
    swaps_numbers,
    weigh,
)
from rankproof.judging.verdicts import (
    ABSTAINS,
    CONTRADICTS,
    SILENT,
    SUPPORTS,
    Account,
    Ask,
    Keep,
    Relation,
    Said,
    Unmeasured,
    Verdict,
)
from rankproof.text.claims import claims, statements
from rankproof.text.languages import CANCELLING, HEDGED, PRONOUNS, STATES, are_alike, are_opposed, limits_in, opposites
from rankproof.text.refusals import abstains
from rankproof.text.words import WORDS, fold, holds_words_of, shortest_stretch

NAME = "lexical"


def lexical_support(claim: str, text: str) -> float:
    """The probability that a text supports a claim, from the words, numbers and order that they share.

    It is given for every pair, those too on which the judge keeps silent.

    >>> text = "Refunds are granted within 30 days of purchase."
    >>> high, low = lexical_support("Refunds are granted within 30 days.", text), lexical_support("Lions sleep.", text)
    >>> high > 0.7, low < 0.05
    (True, True)
    """
    return weigh(profile(claim), profile(text), SUPPORT).probability


IN_ONE = 0.8
"""The share of a claim that one sentence must hold; words from here and there may be about different things."""
PARAPHRASED = 6
"""A claim of fewer terms, none of them a name or a number, may be said in other words."""
ASKED_OTHERWISE = 5
"""A question of which fewer words are missing may be asked in words other than the text's."""
SHORT = 6
"""An answer of fewer terms need not repeat any of what it answers."""
ASKED = re.compile(r"[?？؟]")
CONTRADICTED = 0.02
"""The probability of support where the text says otherwise."""


def settle(ask: Ask) -> Said:
    """The verdict of the judge on a pair.

    >>> settle(Ask(Relation.TEXT_SUPPORTS, "Refunds take 30 days.", "Refunds take 14 days.")).value
    -1
    """
    if ask.relation == Relation.TEXT_CLAIMS:
        return Verdict(ask, None, NAME, items=tuple(claim.of(ask.right) for claim in claims(ask.right)))
    if ask.relation == Relation.ANSWER_ADDRESSES and abstains(ask.right):
        return Verdict(ask, ABSTAINS, NAME, probability=0.0, quote=ask.right.strip())
    sought, text = _sides(ask)
    left = "claim" if BOUNDS[ask.relation].weights is SUPPORT else "question"
    if not sought.terms:
        return Unmeasured(ask, f"the {left} has no words to look for")
    if not are_alike(sought.language, text.language):
        languages = f"different languages ({sought.language}, {text.language})"
        return Unmeasured(ask, f"the {left} and the text seem to be in {languages}")
    if not text.forms:  # an empty text says nothing, whatever is asked of it
        return Verdict(ask, 0, NAME, probability=0.0)
    found = weigh(sought, text, BOUNDS[ask.relation].weights)
    said = (_support if left == "claim" else _relevance)(ask, sought, text, found)
    if isinstance(said, Unmeasured):
        return replace(said, probability=found.probability)
    # All of a claim, or nothing: words alone do not show which part of a claim a text supports.
    in_part = ask.relation == Relation.TEXT_SUPPORTS_IN_PART
    return replace(said, value=2 if said.value == SUPPORTS else 0) if in_part else said


def likelihood(ask: Ask) -> float:
    """The probability of a yes, as far as words tell: even odds where they cannot, as between two languages."""
    sought, text = _sides(ask)
    if not text.forms:
        return 0.0
    alike = are_alike(sought.language, text.language)
    return weigh(sought, text, BOUNDS[ask.relation].weights).probability if alike else 0.5


def _sides(ask: Ask) -> tuple[TextProfile, TextProfile]:
    """What is looked for, and the text; of a question with its answer the answer alone, if that is the text."""
    answer, text = ASKED.split(ask.left)[-1], profile(ask.right)
    alike = len(text.terms) < SHORT and WORDS.findall(fold(answer)) == WORDS.findall(fold(ask.right))
    return profile(answer if alike and answer.strip() else ask.left), text


def _support(ask: Ask, claim: TextProfile, text: TextProfile, found: LexicalEvidence) -> Said:
    if against := conflict(claim, text, found.cover):
        return _verdict(ask, CONTRADICTS, found, text, CONTRADICTED, why=against)
    if found.probability >= BOUNDS[Relation.TEXT_SUPPORTS].yes:
        doubt = _doubt(claim, text, found.cover)
        return Unmeasured(ask, doubt) if doubt else _verdict(ask, SUPPORTS, found, text)
    if found.probability > BOUNDS[Relation.TEXT_SUPPORTS].no:
        return _unsettled(ask, found)
    if is_fragment(text, claim) or len(text.terms) < (BARE if ENDED.search(ask.right.strip()) else SHORT):
        return Unmeasured(ask, "the text is too short to tell by its words")
    if lacks_name_or_number(claim, found.cover) or len(found.cover.missing) >= PARAPHRASED:
        return _verdict(ask, SILENT, found, text)
    return Unmeasured(ask, "the text may say it in other words")


def _doubt(claim: TextProfile, text: TextProfile, found: Cover) -> str:
    """Why a text with nearly all words of a claim may say otherwise; empty if nothing speaks for that."""
    if found.best < IN_ONE:
        return "the claim's words are in different sentences"
    if lacks_name_or_number(claim, found):
        return "a name or number of the claim is not in the text"
    place = found.sentences[0]
    if ASKED.search(text.sentence(place)) and not holds_words_of(text.sentence(place), claim.text):
        return "the text only asks it"
    start, end = text.sentences[place]
    if len(claim.denials) != sum(start <= cue.start < end for cue in text.denials):
        return "one of claim and text denies"
    if limits_in(claim.text) != limits_in(text.sentence(place)):
        return "one of claim and text limits what it says"
    return "its numbers are in another order" if swaps_numbers(claim, text, place) else ""


def _relevance(ask: Ask, question: TextProfile, text: TextProfile, found: LexicalEvidence) -> Said:
    """How far a chunk, a statement or an answer is what a question asks for."""
    answer = ask.relation == Relation.ANSWER_ADDRESSES
    if BOUNDS[ask.relation].no < found.probability < BOUNDS[ask.relation].yes:
        return _unsettled(ask, found)
    if found.probability < BOUNDS[ask.relation].yes:
        # No, if an answer is long enough to hold words of the question, and holds none of many.
        if answer and len(text.terms) < SHORT:
            return Unmeasured(ask, "the answer is too short to tell by its words")
        return _nothing_of_it(ask, question, text, found)
    if {term.key for term in text.terms} <= {term.key for term in question.terms} or not statements(ask.right):
        return Unmeasured(ask, f"the {'answer' if answer else 'text'} only repeats the question, or only asks")
    return _verdict(ask, 3 if answer and not found.cover.missing else 2, found, text)


def _nothing_of_it(ask: Ask, question: TextProfile, text: TextProfile, found: LexicalEvidence) -> Said:
    """No, if so many words of a question are missing that it can hardly be the same thing in other words.

    Where writing has no spaces, the pairs of characters overlap: of two that do, one counts.
    """
    gone, counted, end = set(found.cover.missing), set(), 0
    for term in sorted(question.terms, key=lambda term: term.start):
        if term.sought in gone and term.kind != COMMON_WORD and term.start >= end:
            counted.add(term.sought)
            end = term.end
    if len(counted) < ASKED_OTHERWISE:
        return Unmeasured(ask, "question and text may say the same in other words")
    return _verdict(ask, 0, found, text)


def _unsettled(ask: Ask, found: LexicalEvidence) -> Unmeasured:
    """A probability between the bounds, with as many digits as tell it from them."""
    bounds = BOUNDS[ask.relation]
    shown = (f"{found.probability:.{digits}f}" for digits in range(2, 17))
    likely = next((each for each in shown if float(each) not in (bounds.no, bounds.yes)), repr(found.probability))
    no = f"{bounds.no:.2f} or less may be a no" if bounds.no >= 0 else "none is low enough for a no"
    yes = f"{bounds.yes:.2f} or more may be a yes" if bounds.yes <= 1 else "none is high enough for a yes"
    return Unmeasured(ask, f"shared words leave it open (probability {likely}; {no}, {yes})")


def _verdict(
    ask: Ask, value: int, found: LexicalEvidence, text: TextProfile, probability: float | None = None, why: str = ""
) -> Verdict:
    places = found.cover.sentences if value != SILENT else ()
    return Verdict(
        *(ask, value, NAME),
        probability=round(found.probability if probability is None else probability, 4),
        quote=text.sentence(places[0]) if places else "",
        origin={"why": why} if why else {},
    )


VERSION = 7
"""Raised whenever any verdict may change, so that remembered verdicts are not mixed up."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """The embedded judge: it compares words, numbers and denials, and leaves open a pair that those do not decide.

    >>> settled = []
    >>> ask = Ask(Relation.TEXT_SUPPORTS, "No fee is due.", "A fee is due.")
    >>> account = lexical_judge().judge([[ask]], settled.extend)
    >>> settled[0].value, settled[0].quote, account.calls
    (-1, 'A fee is due.', 0)
    """

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


lexical_judge = Lexical

# --- contradictions: in nearly the same sentence alone, as others may be about something else

Terms = Sequence[ProfileTerm]
SAME = 0.85
"""The share of a claim's other terms that the sentence must hold."""
ABOUT = 0.5
"""The share of the sentence's terms that the claim must hold."""
LEAST = 2
"""The least number of terms that must be the same, or else all."""
FAR = 0.4
"""Where no sentence holds so much of a claim, none can be nearly the same; that saves looking."""
MUCH_ABOUT = 0.7
"""The same where numbers differ: a sentence that says much more may have its number from something else."""
ROUNDED = 0.02
"""Numbers as near as that may be one number, rounded or in other units."""
BYTES = 0.11
"""The same of bytes: a terabyte is 1,000 or 1,024 gigabytes of 1,000 or 1,024 megabytes, and so on."""
LISTED = re.compile(r"[.):]")
ANY = re.compile(r"(?:any(?:thing|one|body|where)|longer|mehr)\b", re.IGNORECASE)
CLAUSE = re.compile(r"[,;:()–—]|\s-\s|[。、，；：]")


def conflict(claim: TextProfile, text: TextProfile, found: Cover) -> str:
    """The contradiction in words; empty if there is none.

    >>> claim, text = profile("Refunds are granted within 30 days."), profile("Refunds are granted within 14 days.")
    >>> conflict(claim, text, weigh(claim, text, SUPPORT).cover)
    'another number: 14 days'
    """
    if not found.sentences or found.best < FAR:
        return ""
    place = found.sentences[0]
    sentence = text.sentence(place)
    if holds_words_of(sentence, claim.text) or ASKED.search(sentence):  # a question says nothing against anything
        return ""
    terms = [term for term in text.terms if term.sentence == place]
    if number := _other_number(claim, text, terms):
        return f"another number: {number}"
    word, denies = _opposite(claim, text, terms), _one_denies(claim, text, place, terms)
    if not denies:
        return f"the opposite word: {word}" if word else ""
    # A denial and an opposite word across say the same: what is forbidden is not allowed.
    if word or are_opposed(claim.text, sentence):
        return ""
    mine, theirs = (set(each.forms) & PRONOUNS for each in (claim, text))
    of_one = mine <= theirs or len(text.sentences) > 1
    twice = claim.language in CANCELLING and sum(denies) > 1
    return "a denial" if of_one and not twice and _same(claim.terms, terms) else ""


def _one_denies(claim: TextProfile, text: TextProfile, place: int, terms: Terms) -> tuple[int, int] | None:
    """How many denials the claim and the sentence have, if one of them has some and the other none."""
    held, sought = {key for term in terms for key in term.held}, {key for term in claim.terms for key in term.sought}
    there, here = (keys.union(*(opposites().get(key, ()) for key in keys)) for keys in (held, sought))
    mine = _denials_in(claim, claim.terms, there, (0, len(claim.text)))
    theirs = _denials_in(text, terms, here, text.sentences[place])
    return (mine, theirs) if (mine > 0) != (theirs > 0) else None


def _denials_in(text: TextProfile, terms: Terms, shared: set[str], within: tuple[int, int]) -> int:
    """The denials in the smallest part of a sentence that holds all that the other says too, to the next clause."""
    terms = [term for term in terms if not ANY.match(text.text, term.start)]  # it belongs to the denial before it
    keys = [term.key for term in terms if shared.intersection((*term.held, *term.sought))]
    if not keys:
        return 0
    places = [i for i, term in enumerate(terms) if term.key in keys]
    first, last = (places[i] for i in shortest_stretch([terms[i].key for i in places]))
    start = terms[first - 1].end if first else within[0]
    end = within[1] if last + 1 == len(terms) else terms[last].end
    before = [found.end() for found in CLAUSE.finditer(text.text, start, terms[first].start)]
    after = CLAUSE.search(text.text, terms[last].end, end)
    start, end = (before or [start])[-1], after.start() if after else end
    # A denial counts that ends there, or is of a word of both that does not stand there undenied as well.
    cues = [cue for cue in text.denials if start <= cue.start < end]
    behind = [next((term for term in terms if cue.end <= term.start < end), None) for cue in cues]
    return sum(term is None or keys.count(term.key) == 1 for term in behind)


def _other_number(claim: TextProfile, text: TextProfile, terms: Terms) -> str:
    """The sentence's number where the claim has another of the same kind, and each has one only."""
    mine, theirs = ([term for term in each if term.kind == NUMBER] for each in (claim.terms, terms))
    for one in mine:
        alike = [other for other in theirs if other.unit == one.unit]
        if len(alike) != 1 or sum(each.unit == one.unit for each in mine) != 1:
            continue
        other = alike[0]
        rest = ([term for term in claim.terms if term is not one], [term for term in terms if term is not other])
        meant = _meant(claim, one, claim.terms), _meant(text, other, terms)
        if all(meant) and meant[0] == meant[1] and _differ(one.key[1:], other.key[1:]) and _same(*rest, MUCH_ABOUT):
            return text.text[other.start : other.end]
    return ""


def _meant(text: TextProfile, number: ProfileTerm, terms: Terms) -> str:
    """The thing that a number counts: its unit, or the next term; empty if it is vague, a name or of a list."""
    begin = text.sentences[number.sentence].start
    if HEDGED.search(text.text, max(begin, number.start - 20), number.start):
        return ""
    if not text.text[begin : number.start].strip() and LISTED.match(text.text, number.end):
        return ""
    if number.unit not in ("", "th"):
        return number.unit
    if any(term.end == number.start - 1 and text.text[term.start].isupper() for term in terms):
        return ""  # Section 5 is no amount
    behind = next((term for term in terms if term.start >= number.end), None)
    return behind.key if behind and not text.text[number.end : behind.start].strip() else ""


def _differ(one: str, other: str) -> bool:
    """Whether two numbers of a kind, or what is known of two dates, cannot be the same."""
    first, second = DATE.fullmatch(one), DATE.fullmatch(other)
    if first and second:
        return any(a and b and a != b for a, b in zip(first.groups(), second.groups(), strict=True))
    if max(one.count("."), other.count(".")) > 1:
        return False  # versions
    a, b = (float(number.partition(" ")[0]) for number in (one, other))
    return abs(a - b) > (BYTES if one.endswith(" B") else ROUNDED) * max(abs(a), abs(b))


def _opposite(claim: TextProfile, text: TextProfile, terms: Terms) -> str:
    """A word of the sentence that is the opposite of one of the claim's, if neither has both."""
    here, there = {term.key for term in claim.terms}, {term.key for term in terms}
    for one in claim.terms:
        against = opposites().get(one.key, set()) & there - here
        other = next((term for term in terms if term.key in against), None)
        if other is None or one.key in there:
            continue
        words = [claim.text[one.start : one.end], text.text[other.start : other.end]]
        if one.key in STATES and not {word.lower() for word in words} <= STATES:
            continue
        if _same([term for term in claim.terms if term is not one], [t for t in terms if t is not other]):
            return words[1]
    return ""


def _same(mine: Terms, theirs: Terms, much: float = ABOUT) -> bool:
    """Whether a claim's terms and a sentence's say the same of the same, names and numbers included."""
    here, there = {term.key for term in mine}, {held for term in theirs for held in term.held}
    common = [term for term in mine if there.intersection(term.sought)]
    if any(term.kind in LITERAL and term not in common for term in mine):
        return False
    if len({term.key for term in common}) < LEAST and here != {term.key for term in theirs}:
        return False
    about = _weight([term for term in theirs if term.key in here or term.kind == NUMBER])
    return bool(common) and _weight(common) >= SAME * _weight(mine) and about >= much * _weight(theirs)


def _weight(terms: Terms) -> float:
    return sum(WEIGHTS[term.kind] for term in terms)
