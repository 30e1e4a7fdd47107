"""A sample with its verdicts, as metrics see it.

Every access notes the pair, so that running the metrics once over unjudged samples collects the pairs to ask about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Literal

from rankproof.judging.samples.sample import Context, Sample
from rankproof.judging.verdicts import ABSTAINS, CONTRADICTS, SUPPORTS, YES, Ask, Relation, Said, Verdict
from rankproof.text.claims import VERB, claims, negations, statements
from rankproof.text.entities import Entity, entities, shared_entities
from rankproof.text.languages import STOP_WORDS
from rankproof.text.words import join_texts, stem, words

# Claims checked against their text: a listed claim counts if the text says it, and no sentence is left out.
#
# A list of claims is what faithfulness and recall divide by. A judge that drops the invented sentence, invents
# claims that are easy to support, says one claim in ten ways, or never ends would make the number. So each claim
# belongs to the clause it shares most words with and must say something of it that no claim before did; a clause
# that its claims do not cover is itself a claim; and there is a limit to how many and how long they are.

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
def mentions_in(text: str, wanted: tuple[Entity, ...]) -> frozenset[Entity]:
    """Those of the entities that a text names."""
    return frozenset(shared_entities(list(wanted), text))


SHARED = 0.5
"""The share of a claim's words that must be in its text or question."""
COVERED = 0.75
"""The share of a clause's words that its claims must have; below it the clause is a claim as well."""
LENGTH = 3
"""How many times as long as its clause what is claimed of it may be: names in the place of pronouns take room."""
ROOM = 80
"""Characters that the claims of the shortest clause may have."""
MOST = 200
"""The number of claims that a judge may list for one text; its own clauses replace the rest."""
BARE = 3
"""An answer of so few words, names or a number, is what was asked for, and states nothing without the question."""
BARE_UNENDED = 6
"""The same of words without a verb, and without the mark that ends a sentence."""
PRONOUNS = frozenset(["i", "you", "he", "she", "it", "we", "they", "this", "that", "these", "those", "there"])
NUMBER = re.compile(r"\d+")
ENDED = re.compile(r"[.!?。！？…।؟][\"'”’»)\]」』]*$")


@lru_cache(REMEMBERED)
def claims_of(text: str, question: str = "") -> tuple[str, ...]:
    """The claims of a text by rules; an incomplete statement is joined with the question it answers.

    >>> claims_of("30 days", "How long does it take?"), claims_of("It takes 30 days.", "How long does it take?")
    (('How long does it take? 30 days',), ('It takes 30 days.',))
    """
    return tuple(_asked(each, question) for each in clauses_of(text))


def clauses_of(text: str) -> tuple[str, ...]:
    """The clauses of a text that claim something; all of it, if none does, so that a greeting is judged too."""
    return claims_in(text) or (" ".join(text.split()),)


@lru_cache(REMEMBERED)
def claims_of_text(text: str, listed: tuple[str, ...], question: str = "") -> tuple[str, ...]:
    """The claims that a judge lists, as far as they are the text's, with each clause that they leave out.

    >>> claims_of_text("It is red. It is free.", ("It is red.", "Red it is.", "The moon is a cheese."))
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
        size = sum(len(each) - len(question) * (question != "" and question in each) for each in (*own[place], claim))
        fits = fits and size <= max(LENGTH * len(clause), ROOM)
        if not bears or not (said & terms[place]) - covered[place] or (negations(claim) and not negations(clause)):
            continue
        if fits:
            own[place].append(claim)
            covered[place] |= said
        else:
            whole.add(place)
    for i, clause in enumerate(clauses):
        if i in whole or _lacks(clause, covered[i], own[i]):
            own[i].append(clause)
    return tuple(dict.fromkeys(_asked(each, question) for each in chain.from_iterable(own)))


def _lacks(clause: str, covered: frozenset[str], claims: Sequence[str]) -> bool:
    """Whether the claims of a clause leave out a number, a name, a denial or too many of its words."""
    said, terms = " ".join(claims), _terms(clause)
    names = {stem(each.form) for each in words(clause)[1:] if clause[each.start].isupper()} & terms
    numbers = set(NUMBER.findall(clause)) - set(NUMBER.findall(said))
    denial = negations(clause) and not negations(said)
    return bool(not claims or numbers or names - covered or denial) or len(terms & covered) < COVERED * len(terms)


@lru_cache(REMEMBERED)
def question_beside(text: str, question: str) -> str:
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
    """Whether it names something without stating anything.

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


Maybe = bool | None


def any_of(parts: Iterable[Maybe]) -> Maybe:
    """Yes where one is; no where all are no. Every part is looked at, so that each is asked for."""
    found = list(parts)
    return True if True in found else None if None in found else False


def all_of(parts: Iterable[Maybe]) -> Maybe:
    """No where one is; yes where all are yes."""
    found = list(parts)
    return False if False in found else None if None in found else True


def negation(part: Maybe) -> Maybe:
    """The opposite; None stays None."""
    return None if part is None else not part


Reading = Literal["apart", "together"]
"""Whether a claim must be in one context, or may be in several taken together."""
SEVERAL = 10
"""The largest number of contexts that are taken together."""
SILENCE = 0
"""The verdict on a text without letters and digits, by rule, for every relation."""


def blank(text: str | None) -> bool:
    """Whether a text has no letter and no digit, so that it says nothing.

    >>> blank(" \u200b--"), blank("30"), blank(None)
    (True, False, True)
    """
    return not any(map(str.isalnum, text or ""))


@dataclass(slots=True)
class Case:
    """One sample and the verdicts on it. What is not known is None, and stays None in every conclusion."""

    sample: Sample
    said: Mapping[Ask, Said] = field(default_factory=dict)
    k: int | None = None
    """How many of the contexts count; None: all."""
    asked: dict[Ask, None] = field(default_factory=dict)
    """Every pair that was looked at, in order."""
    soft: dict[Ask, Verdict] = field(default_factory=dict)
    """Those of them whose verdict is a probability."""
    independent: bool = False
    """Whether soft verdicts on several contexts fall each apart; else the strongest of them counts."""

    @property
    def query(self) -> str:
        """The question."""
        return self.sample.query or ""

    @property
    def contexts(self) -> tuple[Context, ...]:
        """The retrieved contexts that count."""
        return (self.sample.contexts or ())[: self.k]

    @property
    def answered(self) -> bool:
        """Whether there are words in the answer."""
        return not blank(self.sample.answer)

    def claims(self, text: str | None) -> tuple[str, ...]:
        """The claims of a text: as the judge split it, checked against the text, or else by its sentences."""
        if text is None or blank(text):
            return ()
        question = self.query.strip()
        said = self._said(Ask(Relation.TEXT_CLAIMS, question_beside(text, question), text))
        return claims_of(text, question) if said is None else claims_of_text(text, said.items, question)

    @property
    def reference_claims(self) -> tuple[str, ...]:
        """The claims of the reference answer."""
        return self.claims(self.sample.reference)

    @property
    def answer_claims(self) -> tuple[str, ...]:
        """The claims of the system's answer."""
        return self.claims(self.sample.answer)

    def statements(self, context: Context) -> tuple[str, ...]:
        """The statements of a context; one that has none (a heading, a question) is itself what is shown."""
        return statements_in(context.text) or (context.text,)

    def grade(self, context: Context) -> int | None:
        """How well a context answers the question, 0 to 3."""
        return self._value(Relation.CONTEXT_ANSWERS, self.query, context.text)

    def relevant(self, context: Context, rel: float = YES) -> bool | None:
        """Whether a context answers the question at least so well."""
        grade = self.grade(context)
        return None if grade is None else grade >= rel

    def supports(self, text: str | None, claim: str) -> bool | None:
        """Whether a text supports a claim."""
        value = self._value(Relation.TEXT_SUPPORTS, claim, text or "")
        return None if value is None else value == SUPPORTS

    def part(self, text: str | None, claim: str) -> float | None:
        """How much of a claim a text supports: 0, a half for a part of it, 1 for all."""
        value = self._value(Relation.TEXT_SUPPORTS_IN_PART, claim, text or "")
        return None if value is None else value / 2

    def support(self, claim: str, contexts: Iterable[Context], reading: Reading = "apart") -> list[bool | None]:
        """Whether each of the contexts supports a claim; read together, then also whether all of them do.

        All of them are a question for when each has been asked about, and none supports the claim alone.
        """
        texts = [each.text for each in contexts]
        alone = [self.supports(text, claim) for text in texts]
        several = sorted(dict.fromkeys(text for text in texts if text.strip()))[:SEVERAL]
        asked = all(Ask(Relation.TEXT_SUPPORTS, claim, text) in self.said for text in several)
        if reading == "apart" or len(several) < 2 or True in alone or not asked:
            return alone
        return [*alone, self.supports(join_texts(several), claim)]

    def borne_out(self, claim: str, k: int | None = None) -> bool | None:
        """Whether one of the contexts that count, of the first `k`, supports a claim."""
        return any_of(self.supports(each.text, claim) for each in self.contexts[:k])

    def contradicts(self, text: str | None, claim: str) -> bool | None:
        """Whether a text contradicts a claim."""
        value = self._value(Relation.TEXT_SUPPORTS, claim, text or "")
        return None if value is None else value == CONTRADICTS

    def bears(self, statement: str) -> bool | None:
        """Whether a statement is relevant to the question."""
        value = self._value(Relation.STATEMENT_BEARS, self.query, statement)
        return None if value is None else value == 1

    def address_grade(self) -> int | None:
        """How far the answer addresses the question, 0 to 3, or that it abstains."""
        return self._value(Relation.ANSWER_ADDRESSES, self.query, self.sample.answer or "")

    def abstains(self) -> bool | None:
        """Whether the answer says that it has none."""
        value = self.address_grade()
        return None if value is None else value == ABSTAINS

    def _value(self, relation: Relation, left: str, right: str) -> int | None:
        if blank(left):
            return None  # there is nothing to judge
        if blank(right):
            return SILENCE if right or all(each.recorded for each in self.sample.contexts or ()) else None
        said = self._said(Ask(relation, left, right))
        return None if said is None else said.value

    def _said(self, ask: Ask) -> Verdict | None:
        self.asked[ask] = None
        found = self.said.get(ask)
        if not isinstance(found, Verdict):
            return None
        if found.soft:
            self.soft[ask] = found
        return found
