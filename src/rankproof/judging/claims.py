"""Claims held against their text: what a judge lists counts as far as the text says it, and no sentence is left out.

A list of claims is what faithfulness and recall divide by. A judge that drops the invented sentence, invents claims
that are easy to support, says one claim in ten ways, or never ends would make the number. So each claim belongs to the
clause it shares most words with and must say something of it that no claim before did; a clause that its claims do not
cover is itself a claim; and there is a limit to how many and how long they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from rankproof.text.claims import VERB, claims, negations, statements
from rankproof.text.entities import Entity, entities, shared
from rankproof.text.languages import STOP_WORDS
from rankproof.text.words import stem, words

REMEMBERED = 6_000
"""Texts whose parts are remembered: every metric asks for them, and references come back run after run."""


@lru_cache(REMEMBERED)
def claims_in(text: str) -> tuple[str, ...]:
    """The claims of an answer, each once."""
    return tuple(dict.fromkeys(span.of(text) for span in claims(text)))


@lru_cache(REMEMBERED)
def statements_in(text: str) -> tuple[str, ...]:
    """The statements of a chunk, each once."""
    return tuple(dict.fromkeys(span.of(text) for span in statements(text)))


@lru_cache(REMEMBERED)
def entities_in(text: str) -> tuple[Entity, ...]:
    """The entities of a text, each once."""
    return tuple(entities(text))


@lru_cache(REMEMBERED)
def mentioned_in(text: str, wanted: tuple[Entity, ...]) -> frozenset[Entity]:
    """Those of the entities that a text names."""
    return frozenset(shared(list(wanted), text))


SHARED = 0.5
"""The share of a claim's words that must stand in its text or question."""
COVERED = 0.75
"""The share of a clause's words that its claims must have; below it the clause is a claim as well."""
LENGTH = 3
"""How many times as long as its clause what is claimed of it may be: names in the place of pronouns take room."""
ROOM = 80
"""Characters that the claims of the shortest clause may have."""
MOST = 200
"""Claims that a judge may list for one text; its own clauses stand in for the rest."""
BARE = 3
"""An answer of so few words, names or a number, is what was asked for, and states nothing without the question."""
BARE_UNENDED = 6
"""The same of words without a verb, and without the mark that ends a sentence."""
PRONOUNS = frozenset(["i", "you", "he", "she", "it", "we", "they", "this", "that", "these", "those", "there"])
NUMBER = re.compile(r"\d+")
ENDED = re.compile(r"[.!?。！？…।؟][\"'”’»)\]」』]*$")


@lru_cache(REMEMBERED)
def claims_of(text: str, question: str = "") -> tuple[str, ...]:
    """The claims of a text by rules; what states nothing by itself is put beside the question it answers.

    >>> claims_of("30 days", "How long does it take?"), claims_of("It takes 30 days.", "How long does it take?")
    (('How long does it take? 30 days',), ('It takes 30 days.',))
    """
    return tuple(_asked(each, question) for each in clauses_of(text))


def clauses_of(text: str) -> tuple[str, ...]:
    """The clauses of a text that claim something; all of it, if none does: a greeting is no way out."""
    return claims_in(text) or (" ".join(text.split()),)


@lru_cache(REMEMBERED)
def held(text: str, listed: tuple[str, ...], question: str = "") -> tuple[str, ...]:
    """The claims that a judge lists, as far as they are the text's, with each clause that they leave out.

    >>> held("It is red. It is free.", ("It is red.", "Red it is.", "The moon is a cheese."))
    ('It is red.', 'It is free.')
    """
    clauses = clauses_of(text)
    terms = [_terms(each) for each in clauses]
    known = frozenset().union(*terms) | _terms(question)
    digits = set(NUMBER.findall(f"{text} {question}"))
    own: list[list[str]] = [[] for _ in clauses]
    covered: list[frozenset[str]] = [frozenset() for _ in clauses]
    whole = {i for i, clause in enumerate(clauses) if clause in listed[:MOST]}
    for claim in listed[:MOST]:
        said = _terms(claim)
        place = max(range(len(clauses)), key=lambda i: len(said & terms[i]))
        clause = clauses[place]
        bears = len(said & known) >= SHARED * len(said) and set(NUMBER.findall(claim)) <= digits
        fits = len(own[place]) < max(1, len(terms[place]) // 2)
        fits = fits and _size([*own[place], claim], question) <= max(LENGTH * len(clause), ROOM)
        if (
            not bears
            or not (said & terms[place]) - covered[place]
            or (negations(claim) and not negations(clause))
        ):
            continue
        if fits:
            own[place].append(claim)
            covered[place] |= said
        else:
            whole.add(place)
    found = (
        each
        for i, clause in enumerate(clauses)
        for each in ([*own[i], clause] if i in whole or _lacks(clause, covered[i], own[i]) else own[i])
    )
    return tuple(dict.fromkeys(_asked(each, question) for each in found))


def _lacks(clause: str, covered: frozenset[str], claims: Sequence[str]) -> bool:
    """Whether the claims of a clause leave out a number, a name, a denial or too many of its words."""
    said, terms = " ".join(claims), _terms(clause)
    names = {stem(each.form) for each in words(clause)[1:] if clause[each.start].isupper()} & terms
    numbers = set(NUMBER.findall(clause)) - set(NUMBER.findall(said))
    denial = negations(clause) and not negations(said)
    return bool(not claims or numbers or names - covered or denial) or len(terms & covered) < COVERED * len(
        terms
    )


def _size(claims: Iterable[str], question: str) -> int:
    return sum(len(each) - (len(question) if question and question in each else 0) for each in claims)


@lru_cache(REMEMBERED)
def asked_with(text: str, question: str) -> str:
    """The question, if a text is too short to be taken apart without what it answers; else nothing.

    So claims of whole sentences are asked for once, whatever question they answer.
    """
    short = len(words(text)) <= BARE_UNENDED or any(map(_bare, clauses_of(text)))
    return question.strip() if short else ""


def _asked(claim: str, question: str) -> str:
    """The claim, after its question if it names something and states nothing."""
    before = question.strip()
    return f"{before} {claim}" if before and _bare(claim) and not claim.startswith(before) else claim


def _bare(claim: str) -> bool:
    """Whether it names something, and states nothing by itself.

    >>> [_bare(each) for each in ("Paris.", "30 days", "Neil Armstrong.", "about 30 days", "Gifts count.", "It rains")]
    [True, True, True, True, False, False]
    """
    found = words(claim)
    if len(found) <= 1 or (len(found) <= BARE_UNENDED and not ENDED.search(claim)):
        return not VERB.search(claim) and not (found and found[0].form in PRONOUNS)
    names = all(not claim[each.start].islower() for each in found)
    return len(found) <= BARE and (names or NUMBER.search(claim) is not None)


@lru_cache(REMEMBERED)
def _terms(text: str) -> frozenset[str]:
    """The stems of the words that say something; of all words, if none does."""
    forms = [each.form for each in words(text)]
    return frozenset(map(stem, [each for each in forms if each not in STOP_WORDS] or forms))
