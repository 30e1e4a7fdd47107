"""Where a text says the opposite of a claim: a denial, another number, an opposite word, in otherwise the same words.

Only what is nearly the same sentence is taken for a contradiction; all else may be about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankproof.core.text.stems import stem
from rankproof.core.text.words import folded
from rankproof.judging.lexical.cover import Cover
from rankproof.judging.lexical.profile import NAME, NUMBER, WEIGHTS, Profile, Term

SAME = 0.85
"""The share of a claim's other terms that the sentence must hold."""
ABOUT = 0.5
"""The share of the sentence's terms that the claim must hold."""
LEAST = 2
"""So many terms must be the same at least, or else all."""
FAR = 0.4
"""Where no sentence holds so much of a claim, none can be nearly the same; that saves looking."""
ROUNDED = 0.02
"""Numbers as near as that may be one number, rounded or in other units."""
DATE = re.compile(r"([12]\d{3})?(?:-{1,2}(\d\d))?(?:-(\d\d))?")
CANCELLING = ("en", "de", "latin")
"""Where two denials make a yes; elsewhere one may be said by several words."""
PERSONS = "he she it they we you i him her er sie es wir ich il elle он она 他 她 它 彼 彼女 هو هي वह वे"
PRONOUNS = frozenset(PERSONS.split())
OPPOSITES = """
increase decrease |rise fall |rise drop |grow shrink |more less |more fewer |higher lower |before
after |above below |win lose |allow forbid |allow prohibit |permit prohibit |accept reject |accept
refuse |open close |true false |possible impossible |legal illegal |alive dead |start end |begin end
|first last |always never |all none |include exclude |north south |east west |hot cold |maximum
minimum |most least |success failure |succeed fail |approve reject |public private |free paid |cheap
expensive |male female |man woman |brother sister |father mother |husband wife |son daughter |import
export |buy sell |old young |old new |early late |fast slow |safe dangerous |positive negative
|agree disagree |appear disappear |steigen fallen |vor nach |mehr weniger |zunehmen abnehmen
|erlaubt verboten |groß klein |alt neu |offen geschlossen |augmenter diminuer |avant après |plus
moins |aumentar disminuir |antes después |más menos |permitido prohibido
"""
OPPOSITE: dict[str, set[str]] = {}
for _one, _other in (pair.split() for pair in OPPOSITES.split("|")):
    for _left, _right in ((_one, _other), (_other, _one)):
        OPPOSITE.setdefault(stem(folded(_left)), set()).add(stem(folded(_right)))


def conflict(claim: Profile, text: Profile, found: Cover) -> str:
    """What the text says against the claim, in words; empty where nothing is.

    >>> from rankproof.judging.lexical.cover import cover
    >>> from rankproof.judging.lexical.profile import profile
    >>> claim, text = profile("Refunds are granted within 30 days."), profile("Refunds are granted within 14 days.")
    >>> conflict(claim, text, cover(claim, text))
    'another number: 14 days'
    """
    if not found.sentences or found.best < FAR:
        return ""
    place = found.sentences[0]
    terms = [term for term in text.terms if term.sentence == place]
    if number := _other_number(claim, text, terms):
        return f"another number: {number}"
    if word := _opposite(claim, text, terms):
        return f"the opposite word: {word}"
    return "a denial" if _denied(claim, text, place, terms) else ""


def odd_denial(claim: Profile, text: Profile, found: Cover) -> bool:
    """Whether the claim and the sentence that holds most of it do not deny equally often."""
    return bool(found.sentences) and len(claim.denials) != _denials(text, found.sentences[0])


def _denied(claim: Profile, text: Profile, place: int, terms: list[Term]) -> bool:
    """Whether one denies what the other says, of the same person."""
    cues = len(claim.denials), _denials(text, place)
    most = 1 if claim.language in CANCELLING else max(cues)
    if min(cues) or not 0 < max(cues) <= most:
        return False
    others = set(text.forms) & PRONOUNS if len(text.sentences) == 1 else PRONOUNS
    return set(claim.forms) & PRONOUNS <= others and _same(claim.terms, terms)


def _denials(text: Profile, place: int) -> int:
    start, end = text.sentences[place]
    return sum(start <= cue.start < end for cue in text.denials)


def _other_number(claim: Profile, text: Profile, terms: list[Term]) -> str:
    """The sentence's number where the claim has another of the same kind, and each has one only."""
    for one, other in _alone(_numbers(claim.terms), _numbers(terms)):
        rest = (
            [term for term in claim.terms if term is not one],
            [term for term in terms if term is not other],
        )
        if _differ(one.key[1:], other.key[1:]) and _same(*rest):
            return text.text[other.start : other.end]
    return ""


def _numbers(terms: tuple[Term, ...] | list[Term]) -> list[Term]:
    return [term for term in terms if term.kind == NUMBER]


def _alone(mine: list[Term], theirs: list[Term]) -> Iterator[tuple[Term, Term]]:
    """Numbers of one kind of which claim and sentence each have one."""
    for one in mine:
        alike = [other for other in theirs if _unit(other) == _unit(one)]
        if len(alike) == 1 and sum(_unit(other) == _unit(one) for other in mine) == 1:
            yield one, alike[0]


def _unit(number: Term) -> str:
    """The kind of a number; a year is a date."""
    return "date" if DATE.fullmatch(number.key[1:]) else number.key[1:].partition(" ")[2]


def _differ(one: str, other: str) -> bool:
    """Whether two numbers of a kind, or what is known of two dates, cannot be the same."""
    first, second = DATE.fullmatch(one), DATE.fullmatch(other)
    if first and second:
        return any(a and b and a != b for a, b in zip(first.groups(), second.groups(), strict=True))
    a, b = (float(number.partition(" ")[0]) for number in (one, other))
    return abs(a - b) > ROUNDED * max(abs(a), abs(b))


def _opposite(claim: Profile, text: Profile, terms: list[Term]) -> str:
    """A word of the sentence that is the opposite of one of the claim's, where neither has both."""
    here, there = {term.key for term in claim.terms}, {term.key for term in terms}
    for one in claim.terms:
        against = OPPOSITE.get(one.key, set()) & there - here
        other = next((term for term in terms if term.key in against), None)
        if other is None or one.key in there:
            continue
        if _same([term for term in claim.terms if term is not one], [t for t in terms if t is not other]):
            return text.text[other.start : other.end]
    return ""


def _same(mine: tuple[Term, ...] | list[Term], theirs: list[Term]) -> bool:
    """Whether a claim's terms and a sentence's say the same of the same, names and numbers included."""
    here, there = {term.key for term in mine}, {held for term in theirs for held in term.held}
    common = [term for term in mine if there.intersection(term.sought)]
    if any(term.kind in (NAME, NUMBER) and term not in common for term in mine):
        return False
    if len({term.key for term in common}) < LEAST and here != {term.key for term in theirs}:
        return False
    about = _weight([term for term in theirs if term.key in here or term.kind == NUMBER])
    return bool(common) and _weight(common) >= SAME * _weight(mine) and about >= ABOUT * _weight(theirs)


def _weight(terms: tuple[Term, ...] | list[Term]) -> float:
    return sum(WEIGHTS[term.kind] for term in terms)
