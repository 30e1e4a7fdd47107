"""The claims of a text, the words that negate a statement, and those with which an answer abstains.

Clauses are split only if both have a subject; pronouns are not resolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from rankproof.text.languages import DENIALS
from rankproof.text.sentences import HEADING, mark_enclosed, sentences
from rankproof.text.words import IRREGULAR, Span, fold, has_words, pattern_table, read_table, trim, words

SPACED = re.compile(r"[^\s.,;:!?()\[\]\"“”„«»।؟،]+")
CONTRACTED = re.compile(r"n['’]t$|^n['’](?=\w)", re.IGNORECASE)
UNSPACED = re.compile(pattern_table("unspaced_denials"))
NO_DENIAL = re.compile(pattern_table("no_denials"), re.IGNORECASE)


def negations(text: str) -> list[Span]:
    """The negations of a text.

    >>> text = "It isn't cheap, not only here. 他不是医生。"
    >>> [cue.of(text) for cue in negations(text)]
    ["n't", '不']
    """
    cues = [*_spaced(text), *(() if text.isascii() else (Span(*cue.span()) for cue in UNSPACED.finditer(text)))]
    if not cues:
        return []
    harmless = [found.span() for found in NO_DENIAL.finditer(text)]
    return sorted(cue for cue in cues if not any(start <= cue.start < end for start, end in harmless))


def _spaced(text: str) -> Iterator[Span]:
    """Cues that are words, or the end or beginning of one."""
    for found in SPACED.finditer(text):
        word = found.group()
        if word.lower() in DENIALS:
            yield Span(*found.span())
        elif ("'" in word or "’" in word) and (part := CONTRACTED.search(word)):
            yield Span(found.start() + part.start(), found.start() + part.end())


LEAD = re.compile(
    r"\s*(?:>\s*)*(?:[-*+•◦▪‣·–—●○■]\s+|\(?(?:\d{1,3}|[A-Za-z])[.)]\s+|#{1,6}\s+|\|\s*)?(?:\[[ xX]\]\s+)?[*_]{0,2}"
)
"""The mark of a list item, a quotation or a heading."""
QUESTION = re.compile(r"[?？؟;][\"'”’»)\]」』）*_]*$")
GREEK_LETTER = re.compile("[\u0370-\u03ff]")
SUBJECT = {code: " ".join(pattern) for code, *pattern in read_table("clause_subjects")}
JOINING = {code: " ".join(pattern) for code, *pattern in read_table("clause_joints")}
CLAUSE = re.compile(
    "|".join(
        [
            pattern_table("clause_marks"),
            *(rf"{JOINING[code]}\s+(?=(?:{SUBJECT[code]})(?!\w))" for code in SUBJECT),
        ]
    )
)
VERBS = "|".join(chain.from_iterable(read_table("verbs")))
VERB = re.compile(
    rf"\b(?:{VERBS})\b"
    r"|\b(?:he|she|it|who)\s(?:\w+\s)?[a-z]{2,}s\b|\b(?:er|sie|es|wir)\s[a-zäöü]{2,}(?:t|e?n)\b|\b(?:they"
    r"|we|you|i)\s[a-z]{3,}\b",
    re.IGNORECASE,
)
"""A word that may be a verb; a clause of Latin letters without one is not split off."""
SAYS_NOTHING = frozenset(map(fold, chain.from_iterable(read_table("greetings"))))
ENDS = " .!。！、।؟?،"
LATIN = re.compile("[A-Za-z]")
BINDING = pattern_table("binding_words")
BOUND = re.compile(
    rf"(?<!\w)(?:{BINDING})(?!\w)|^(?:在|当|從|从|对|由于|因为|如果|虽然|随着|为了|根据|即使|もし)", re.IGNORECASE
)
"""Words that make a clause depend on them: such a sentence is not split."""


def claims(text: str) -> list[Span]:
    """The claims of a text, in order: no questions, no headings, no greetings.

    >>> text = "# Brasília\\nIt was founded in 1960, and it is the capital. Is it large? Yes. No tax is due; fees are."
    >>> [claim.of(text) for claim in claims(text)]
    ['It was founded in 1960', 'it is the capital.', 'No tax is due', 'fees are.']
    """
    return [claim for statement in statements(text) for claim in _clauses(text, statement) if _says(text, claim)]


def statements(text: str) -> list[Span]:
    """The sentences of a text that state something, without list markers: no headings and no questions.

    >>> text = "# Fees\\n- None are charged.\\n- Why?"
    >>> [statement.of(text) for statement in statements(text)]
    ['None are charged.']
    """
    return [span for sentence in sentences(text) for span in _stated(text, sentence)]


def _stated(text: str, sentence: Span) -> Iterator[Span]:
    whole = sentence.of(text)
    if HEADING.match(whole) or _asks(whole) or whole.endswith((":", "：")):
        return
    lead = LEAD.match(whole)
    span = trim(text, sentence.start + (lead.end() if lead else 0), sentence.end)
    if has_words(span.of(text)):
        yield span


def _asks(sentence: str) -> bool:
    found = QUESTION.search(sentence)
    return found is not None and (found.group()[0] != ";" or GREEK_LETTER.search(sentence) is not None)


def _says(text: str, claim: Span) -> bool:
    """Whether it is more than a greeting or a yes."""
    whole = claim.of(text)
    spoken, inside = words(whole), whole.strip(ENDS)
    alone = " " not in inside and fold(inside) in SAYS_NOTHING  # a greeting has no space in it
    return bool(spoken) and not alone and not all(word.form in SAYS_NOTHING for word in spoken)


def _clauses(text: str, statement: Span) -> Iterator[Span]:
    whole = statement.of(text)
    inside = mark_enclosed(whole)
    start = 0
    for joint in CLAUSE.finditer(whole):
        left, right = whole[start : joint.start()], whole[joint.end() :]
        if inside[joint.start()] or BOUND.search(left) or not (_clause(left) and _clause(right)):
            continue
        yield trim(text, statement.start + start, statement.start + joint.start())
        start = joint.end()
    yield trim(text, statement.start + start, statement.end)


def _clause(part: str) -> bool:
    """Whether a part of a sentence may be a sentence; in Latin letters it must have a verb."""
    if LATIN.search(part):
        return VERB.search(part) is not None or any(word.form in IRREGULAR for word in words(part))
    return len(part.strip()) > 2
