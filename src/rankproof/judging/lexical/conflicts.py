"""Contradictions of a claim in a text: a denial, another number, an opposite word, in otherwise the same words.

Only nearly the same sentence counts as a contradiction; others may be about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankproof.judging.lexical.profile import NAME, NUMBER, WEIGHTS, Cover, ProfileTerm, TextProfile
from rankproof.text.words import fold, stem

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
HEDGED = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|under|up to|at (?:least|most)|more than"
    r"|less than|fewer than|circa|ca\.|~|≈|etwa|rund|knapp|gut|fast|ungefähr|mindestens|höchstens|über|unter|bis zu"
    r"|environ|presque|plus de|moins de|casi|unos|unas|más de|menos de|約|约|大约|[<>≤≥]) ?$",
    re.IGNORECASE,
)
"""Words before a number that is approximate."""
LISTED = re.compile(r"[.):]")
CLAUSE = re.compile(r"[,;:()–—]|\s-\s|[。、，；：]")
WORDS = re.compile(r"\w+")
DATE = re.compile(r"([12]\d{3})?(?:-{1,2}(\d\d))?(?:-(\d\d))?")
CANCELLING = ("en", "de", "latin")
"""Where two denials make a yes; elsewhere one may be said by several words."""
PERSONS = "he she it they we you i him her er sie es wir ich il elle он она 他 她 它 彼 彼女 هو هي वह वे"
PRONOUNS = frozenset(PERSONS.split())
OPPOSITES = """
increase decrease |rise fall |rise drop |grow shrink |more less |more fewer |higher lower |allow forbid |allow
prohibit |permit prohibit |accept reject |accept refuse |true false |possible impossible |legal illegal |alive dead
|always never |all none |include exclude |maximum minimum |most least |success failure |succeed fail |approve reject
|male female |safe dangerous |agree disagree |appear disappear |steigen fallen |mehr weniger |zunehmen abnehmen
|erlaubt verboten |plus moins |más menos |permitido prohibido |open closed |offen geschlossen
"""
"""Words of which only one can hold of the same thing; a first has a last."""
STATES = frozenset({"open", "closed", "offen", "geschlossen"})
STATE_STEMS = frozenset(stem(fold(word)) for word in STATES)
"""Opposites as states only: what opens at nine closes as well."""
OPPOSITE: dict[str, set[str]] = {}
for _one, _other in (pair.split() for pair in OPPOSITES.split("|")):
    for _left, _right in ((_one, _other), (_other, _one)):
        OPPOSITE.setdefault(stem(fold(_left)), set()).add(stem(fold(_right)))


def conflict(claim: TextProfile, text: TextProfile, found: Cover) -> str:
    """The contradiction in words; empty if there is none.

    >>> from rankproof.judging.lexical.profile import cover, profile
    >>> claim, text = profile("Refunds are granted within 30 days."), profile("Refunds are granted within 14 days.")
    >>> conflict(claim, text, cover(claim, text))
    'another number: 14 days'
    """
    if not found.sentences or found.best < FAR:
        return ""
    place = found.sentences[0]
    if f" {' '.join(WORDS.findall(fold(claim.text)))} " in f" {' '.join(WORDS.findall(fold(text.sentence(place))))} ":
        return ""
    terms = [term for term in text.terms if term.sentence == place]
    if number := _other_number(claim, text, terms):
        return f"another number: {number}"
    if word := _opposite(claim, text, terms):
        return f"the opposite word: {word}"
    return "a denial" if _denied(claim, text, place, terms) else ""


def odd_denial(claim: TextProfile, text: TextProfile, found: Cover) -> bool:
    """Whether the claim and the sentence that holds most of it do not deny equally often."""
    if not found.sentences:
        return False
    start, end = text.sentences[found.sentences[0]]
    return len(claim.denials) != sum(start <= cue.start < end for cue in text.denials)


def _denied(claim: TextProfile, text: TextProfile, place: int, terms: list[ProfileTerm]) -> bool:
    """Whether one denies what the other says, of the same person."""
    there, here = ({held for term in terms for held in term.held}, {key for term in claim.terms for key in term.sought})
    cues = (
        _denials_in(claim, list(claim.terms), there, (0, len(claim.text))),
        _denials_in(text, terms, here, text.sentences[place]),
    )
    most = 1 if claim.language in CANCELLING else max(cues)
    if min(cues) or not 0 < max(cues) <= most:
        return False
    others = set(text.forms) & PRONOUNS if len(text.sentences) == 1 else PRONOUNS
    return set(claim.forms) & PRONOUNS <= others and _same(claim.terms, terms)


def _denials_in(text: TextProfile, terms: list[ProfileTerm], shared: set[str], within: tuple[int, int]) -> int:
    """The denials in the smallest part of a sentence that holds all that the other says too, to the next clause."""
    keys = [term.key for term in terms if shared.intersection((*term.held, *term.sought))]
    if not keys:
        return 0
    places = [i for i, term in enumerate(terms) if term.key in keys]
    first, last = _smallest([terms[i].key for i in places])
    first, last = places[first], places[last]
    start = terms[first - 1].end if first else within[0]
    end = within[1] if last + 1 == len(terms) else terms[last].end
    before = [found.end() for found in CLAUSE.finditer(text.text, start, terms[first].start)]
    after = CLAUSE.search(text.text, terms[last].end, end)
    start, end = (before or [start])[-1], after.start() if after else end
    return sum(start <= cue.start < end for cue in text.denials)


def _smallest(keys: list[str]) -> tuple[int, int]:
    """The first and last place of the shortest stretch that has every key.

    >>> _smallest(["plan", "include", "support", "include"])
    (0, 2)
    """
    wanted, latest = len(set(keys)), dict[str, int]()
    best = (0, len(keys) - 1)
    for place, key in enumerate(keys):
        latest.pop(key, None)
        latest[key] = place
        begin = min(latest.values())
        if len(latest) == wanted and place - begin < best[1] - best[0]:
            best = (begin, place)
    return best


def _other_number(claim: TextProfile, text: TextProfile, terms: list[ProfileTerm]) -> str:
    """The sentence's number where the claim has another of the same kind, and each has one only."""
    for one, other in _alone(_numbers(claim.terms), _numbers(terms)):
        rest = ([term for term in claim.terms if term is not one], [term for term in terms if term is not other])
        meant = _meant(claim, one, list(claim.terms)), _meant(text, other, terms)
        if all(meant) and meant[0] == meant[1] and _differ(one.key[1:], other.key[1:]) and _same(*rest, MUCH_ABOUT):
            return text.text[other.start : other.end]
    return ""


def _meant(text: TextProfile, number: ProfileTerm, terms: list[ProfileTerm]) -> str:
    """The thing that a number counts: its unit, or the next term; empty if it is vague, a name or of a list."""
    begin = text.sentences[number.sentence].start
    if HEDGED.search(text.text, max(begin, number.start - 20), number.start):
        return ""
    if not text.text[begin : number.start].strip() and LISTED.match(text.text, number.end):
        return ""
    if (unit := _unit(number)) not in ("", "th"):
        return unit
    behind = next((term for term in terms if term.start >= number.end), None)
    return behind.key if behind and not text.text[number.end : behind.start].strip() else ""


def _numbers(terms: tuple[ProfileTerm, ...] | list[ProfileTerm]) -> list[ProfileTerm]:
    return [term for term in terms if term.kind == NUMBER]


def _alone(mine: list[ProfileTerm], theirs: list[ProfileTerm]) -> Iterator[tuple[ProfileTerm, ProfileTerm]]:
    """Numbers of one kind of which claim and sentence each have one."""
    for one in mine:
        alike = [other for other in theirs if _unit(other) == _unit(one)]
        if len(alike) == 1 and sum(_unit(other) == _unit(one) for other in mine) == 1:
            yield one, alike[0]


def _unit(number: ProfileTerm) -> str:
    """The kind of a number; a year is a date."""
    return "date" if DATE.fullmatch(number.key[1:]) else number.key[1:].partition(" ")[2]


def _differ(one: str, other: str) -> bool:
    """Whether two numbers of a kind, or what is known of two dates, cannot be the same."""
    first, second = DATE.fullmatch(one), DATE.fullmatch(other)
    if first and second:
        return any(a and b and a != b for a, b in zip(first.groups(), second.groups(), strict=True))
    a, b = (float(number.partition(" ")[0]) for number in (one, other))
    near = BYTES if one.endswith(" B") else ROUNDED
    return abs(a - b) > near * max(abs(a), abs(b))


def _opposite(claim: TextProfile, text: TextProfile, terms: list[ProfileTerm]) -> str:
    """A word of the sentence that is the opposite of one of the claim's, if neither has both."""
    here, there = {term.key for term in claim.terms}, {term.key for term in terms}
    for one in claim.terms:
        against = OPPOSITE.get(one.key, set()) & there - here
        other = next((term for term in terms if term.key in against), None)
        if other is None or one.key in there:
            continue
        if one.key in STATE_STEMS and not {_surface(claim, one), _surface(text, other)} <= STATES:
            continue
        if _same([term for term in claim.terms if term is not one], [t for t in terms if t is not other]):
            return text.text[other.start : other.end]
    return ""


def _surface(text: TextProfile, term: ProfileTerm) -> str:
    return text.text[term.start : term.end].lower()


def _same(mine: tuple[ProfileTerm, ...] | list[ProfileTerm], theirs: list[ProfileTerm], much: float = ABOUT) -> bool:
    """Whether a claim's terms and a sentence's say the same of the same, names and numbers included."""
    here, there = {term.key for term in mine}, {held for term in theirs for held in term.held}
    common = [term for term in mine if there.intersection(term.sought)]
    if any(term.kind in (NAME, NUMBER) and term not in common for term in mine):
        return False
    if len({term.key for term in common}) < LEAST and here != {term.key for term in theirs}:
        return False
    about = _weight([term for term in theirs if term.key in here or term.kind == NUMBER])
    return bool(common) and _weight(common) >= SAME * _weight(mine) and about >= much * _weight(theirs)


def _weight(terms: tuple[ProfileTerm, ...] | list[ProfileTerm]) -> float:
    return sum(WEIGHTS[term.kind] for term in terms)
