"""From two texts to a probability: how much of one is found in the other, weighted, through a logistic curve."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankproof.core.hits import Array
from rankproof.judging.lexical.profile import HEAD, NAME, NUMBER, SYNONYMS, TextProfile, profile
from rankproof.judging.verdicts import Relation
from rankproof.text.sentences import sentences

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

    >>> from rankproof.judging.lexical.profile import profile
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
    """The terms that were found, and those that were not."""
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


SPREAD = {
    Relation.TEXT_SUPPORTS: 0.7,
    Relation.TEXT_SUPPORTS_IN_PART: 0.7,
    Relation.CONTEXT_ANSWERS: 0.7,
    Relation.STATEMENT_BEARS: 0.7,
    Relation.ANSWER_ADDRESSES: 2.0,
}
"""The standard deviation of the shifts, in logits, a little more than was seen: .60 of 8 collections with claims, .62
of 4 with questions and chunks. Answers to questions differ more (2 collections); for statements there is one
collection, and the spread of chunks is taken."""
COLLECTIONS = {
    Relation.TEXT_SUPPORTS: 8,
    Relation.TEXT_SUPPORTS_IN_PART: 8,
    Relation.CONTEXT_ANSWERS: 4,
    Relation.STATEMENT_BEARS: 1,
    Relation.ANSWER_ADDRESSES: 2,
}
"""So many collections the base was fitted on: with few of them it may be off as well."""
FREEDOM = 10
"""Degrees of freedom: 7 of claims and 3 of chunks, whose spreads are about equal (.60 and .62) and pooled."""
GRID = np.linspace(-12.0, 12.0, 2401)
"""Shifts that are looked at."""
SMALLEST = 1e-6
"""A probability nearer to 0 or 1 is taken for this: a shift moves it little, and a label does not rule it out."""


def logit(probability: Array) -> Array:
    """The logarithm of the odds."""
    inside = np.clip(probability, SMALLEST, 1 - SMALLEST)
    odds: Array = np.log(inside / (1 - inside))
    return odds


def shifts(relation: Relation, places: Array, labels: Sequence[tuple[float, bool]] = ()) -> Array:
    """The shifts that stand at these places (0 to 1) of their distribution, given labelled pairs.

    Each label is the probability that the judge gave, and what a person said.

    >>> wide = shifts(Relation.TEXT_SUPPORTS, np.array([0.025, 0.975]))
    >>> narrow = shifts(Relation.TEXT_SUPPORTS, np.array([0.025, 0.975]), [(0.5, True), (0.5, False)] * 20)
    >>> bool(np.ptp(wide) > 2 * np.ptp(narrow))
    True
    """
    scale = SPREAD[relation] * math.sqrt(1 + 1 / COLLECTIONS[relation])
    likely = -(FREEDOM + 1) / 2 * np.log1p((GRID / scale) ** 2 / FREEDOM)
    for probability, yes in labels:
        shifted = logit(np.array(probability)) + GRID
        likely = likely - np.logaddexp(0.0, -shifted if yes else shifted)
    weights = np.exp(likely - likely.max())
    found: Array = np.interp(places, (np.cumsum(weights) - weights / 2) / weights.sum(), GRID)
    return found


PHRASES = (
    # English
    r"(?:i|we) (?:do not|don't|dont|really don't|honestly don't) (?:know|have (?:\w+ ){0,3}(?:information"
    r"|data|answer|context|details))",
    r"(?:i'm|i am|we are|we're) (?:not sure|unsure|unable to|not able to|not aware)",
    r"(?:i|we) (?:cannot|can't|can not|could not|couldn't) (?:\w+ )?(?:answer|find|determine|say|tell"
    r"|provide|help|locate|confirm)",
    r"(?:no|not enough|insufficient|not sufficient) (?:\w+ )?(?:information|answer|context|data|evidence|details)"
    r"(?: \w+){0,4} (?:available|provided|found|given|to answer|to determine|about|on|in the|regarding)",
    r"(?:context|text|passages?|documents?|information|article|sources?)(?: \w+){0,4} (?:does not|do not"
    r"|doesn't|don't|did not) "
    r"(?:contain|mention|provide|say|specify|include|state|answer|give|cover|address|discuss|have)",
    r"(?:is|are|was|were) (?:not|n't) (?:mentioned|stated|specified|provided|given|discussed|answerable"
    r"|available|found)"
    r"(?: \w+){0,2} (?:in|by|from) (?:the|this|these|any)",
    r"(?:the |this |your )?(?:question|answer|it) (?:cannot|can't|can not|could not) be (?:answered"
    r"|determined|found|inferred)",
    r"(?:cannot|can't|can not) be (?:answered|determined|inferred) (?:from|based|with|by)",
    r"^(?:no answer|unanswerable|n/?a|unknown|no idea|not (?:available|found|specified|mentioned|stated"
    r"|sure)|none)\W*$",
    r"^sorry,? (?:but )?(?:i|we)\b",
    # German, French, Spanish, Italian, Portuguese, Dutch
    r"(?:das )?(?:weiß|weiss) ich (?:leider )?nicht|ich (?:weiß|weiss) (?:es |das )?(?:leider )?nicht",
    r"(?:kann|konnte|können) (?:\w+ ){0,4}nicht (?:\w+ )?(?:beantwort|beantwortet|beantworten|sagen|finden)",
    r"(?:keine|nicht genug|nicht genügend) (?:\w+ )?(?:informationen|angaben|antwort|daten)|geht aus"
    r" .{0,60} nicht hervor",
    r"je ne (?:sais|peux|trouve|dispose) pas|(?:pas|aucune) (?:d'|assez d')?information|ne (?:mentionne"
    r"|contient|précise)\w* pas",
    r"no (?:lo )?(?:sé|sabemos|puedo (?:responder|contestar))|no (?:hay|tengo|se encuentra|dispongo de)"
    r" (?:suficiente )?información"
    r"|no (?:se )?(?:menciona|especifica|contiene)",
    r"non (?:lo )?(?:so|posso rispondere)|non (?:ci sono|ho) (?:abbastanza )?informazioni|non (?:è|viene)"
    r" (?:menzionat|specificat)",
    r"(?:eu )?não (?:sei|posso responder|há informaç|tenho informaç|é mencionad)",
    r"(?:ik )?weet (?:ik )?(?:het )?niet|geen (?:informatie|antwoord)",
    # Russian, Arabic, Hindi
    r"(?:я )?не знаю|не могу (?:ответить|найти|сказать)|(?:нет|недостаточно) информации|не (?:упоминается|указано)",
    r"لا أعرف|لا اعرف|لا أعلم|لا أدري|لا (?:يمكنني|أستطيع) (?:الإجابة|الاجابة)|لا (?:توجد|تتوفر) معلومات"
    r"|لا يذكر|ليس لدي معلومات",
    r"(?:मुझे )?(?:नहीं पता|पता नहीं|नहीं मालूम|मालूम नहीं)|मैं नहीं जानता|जानकारी (?:नहीं|उपलब्ध नहीं)|उत्तर नहीं",
    # Chinese, Japanese, Korean
    r"我?不知道|不清楚|我?(?:无法|無法|不能)(?:回答|确定|確定|提供|找到)|没有(?:足够的?|相关的?"
    r"|提供)?(?:信息|资料|答案)|(?:文中|上下文|资料)(?:中)?(?:没有|未)",
    r"(?:わか|分か|判)り(?:ません|かね)|(?:わから|分から|判ら|知ら)(?:ない|ず)|知りません"
    r"|答えられ(?:ません|ない)|お答えでき"
    r"|(?:情報|記載|記述|言及)(?:が|は)(?:\w{0,6})?(?:ありません|ない|不足|見つかり)",
    r"모르겠|모릅니다|알 수 없|답(?:변)?할 수 없|정보가 (?:없|부족)",
)
PHRASE = re.compile("|".join(f"(?:{phrase})" for phrase in PHRASES), re.IGNORECASE)
LOOKED_AT = 2
"""An abstention is in an answer's first sentences."""
LONGEST = 60
"""Words; a longer answer says something nevertheless."""


def abstains(answer: str) -> bool:
    """Whether an answer says that it has none.

    >>> [abstains(a) for a in ("I don't know.", "Das weiß ich leider nicht.", "他不是医生。")]
    [True, True, False]
    """
    plain = answer.replace("’", "'")
    if len(plain.split()) > LONGEST:
        return False
    return any(PHRASE.search(span.of(plain)) for span in sentences(plain)[:LOOKED_AT])
