"""Where a text says the opposite of a claim: a denial, another number, an opposite word, in otherwise the same words.

Only what is nearly the same sentence is taken for a contradiction; all else may be about something else.
"""

from __future__ import annotations

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
"""So many terms must be the same at least."""
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
    if not found.sentences:
        return ""
    place = found.sentences[0]
    terms = [term for term in text.terms if term.sentence == place]
    if number := _other_number(claim, text, terms):
        return f"another number: {number}"
    if word := _opposite(claim, terms):
        return f"the opposite word: {word}"
    return "a denial" if _denied(claim, text, place, terms) else ""


def odd_denial(claim: Profile, text: Profile, found: Cover) -> bool:
    """Whether one of the claim and the sentence that holds most of it denies, and the other does not."""
    return bool(found.sentences) and _parity(claim, text, found.sentences[0])


def _denied(claim: Profile, text: Profile, place: int, terms: list[Term]) -> bool:
    return _parity(claim, text, place) and _same(claim.terms, terms)


def _parity(claim: Profile, text: Profile, place: int) -> bool:
    start, end = text.sentences[place]
    in_sentence = sum(start <= cue.start < end for cue in text.denials)
    return len(claim.denials) % 2 != in_sentence % 2


def _other_number(claim: Profile, text: Profile, terms: list[Term]) -> str:
    """The sentence's number where the claim has another of the same kind, and each has one only."""
    mine, theirs = _numbers(claim.terms), _numbers(terms)
    for one, other in _alone(mine, theirs):
        same_value = set(one.sought) & {other.key, *other.sought}
        rest = (
            [term for term in claim.terms if term is not one],
            [term for term in terms if term is not other],
        )
        if not same_value and _same(*rest):
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
    """The kind of a number; dates by how exact they are, years as dates."""
    value, _, unit = number.key[1:].partition(" ")
    if "-" in value[1:]:
        return f"date {len(value)}"
    return unit or ("year" if len(value) == 4 and value[0] in "12" else "")


def _opposite(claim: Profile, terms: list[Term]) -> str:
    """A word of the sentence that is the opposite of one of the claim's, which the sentence lacks."""
    there = {term.key for term in terms}
    for term in claim.terms:
        against = OPPOSITE.get(term.key, set()) & there
        if against and term.key not in there and not against & {other.key for other in claim.terms}:
            rest = [other for other in claim.terms if other is not term]
            if _same(rest, [other for other in terms if other.key not in against]):
                return min(against)
    return ""


def _same(mine: tuple[Term, ...] | list[Term], theirs: list[Term]) -> bool:
    """Whether a claim's terms and a sentence's say the same of the same, names and numbers included."""
    there = {term.key for term in theirs}
    common = [term for term in mine if term.key in there]
    if len({term.key for term in common}) < LEAST or any(
        term.kind in (NAME, NUMBER) and term not in common for term in mine
    ):
        return False
    here = {term.key for term in mine}
    about = _weight([term for term in theirs if term.key in here])
    return _weight(common) >= SAME * _weight(mine) and about >= ABOUT * _weight(theirs)


def _weight(terms: tuple[Term, ...] | list[Term]) -> float:
    return sum(WEIGHTS[term.kind] for term in terms)
