"""The entities of a text, found by rules: names, numbers and dates, each in one normal form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from rankproof.text.languages import COMMON, STARTERS, STOP_WORDS, language
from rankproof.text.numbers_and_dates import UNITS, Date, Quantity, dates, quantities
from rankproof.text.sentences import sentences
from rankproof.text.words import Span, acronym, fold, read_table

PLACES = re.compile("|".join(sorted(set(chain.from_iterable(read_table("place_names"))), key=len, reverse=True)))
"""Names of places in writings without capital letters."""


def _forms(line: list[str]) -> list[str]:
    return [" ".join(fold(part) for part in name.replace(".", "").split()) for name in " ".join(line).split("|")]


ALIASES = {form: frozenset(forms) - {form} for forms in map(_forms, read_table("same_names")) for form in forms}
"""The other forms of a name by each of its forms."""
LARGE = r"[A-ZÀ-ÖØ-ÞĀ-Ž\u0410-\u042f\u0391-\u03a9][\w’'&]*(?:-\w+)*"
SMALL = r"(?:of|of the|de|de la|da|do|dos|del|della|di|du|des|la|le|van|van der|von|von der|zu|bin|ibn|al|el)"
NAME = re.compile(
    rf"(?<!\w)(?:[A-Z]\.\s?)*{LARGE}(?:(?<!['’]s)\s(?:{SMALL}\s)?(?:[A-Z]\.\s?)*{LARGE})*"
    r"|(?<![\w.])(?:[A-Z]\.){2,}|(?<!\w)[a-z][A-Z]\w+"
)
KATAKANA = re.compile(r"[ァ-ヺー]{2,}(?:・[ァ-ヺー]+)*")
TITLED = re.compile(r"《([^》]{1,40})》")
HAN_PLACE = re.compile(r"[㐀-鿿]{1,4}?(?:市|省|县|縣|州|区|區|大学|大學|公司|山|江|湖)")
JOINTS = re.compile("[是在的于於和与與及到从從由了有为為、，。]")
SHORT_FORM = re.compile(r"\s?\(([A-Z][A-Z.]{1,9})s?\)")
LIKELY_WORD = re.compile(r"(?:[^aiuos]s|ing|ly|ed|tion|ment|ness|ity)$")
"""Endings of words that are seldom names; the first word of a sentence is capitalised anyway."""
BEFORE_NOUNS = "der die das den dem des ein eine einen einem einer eines kein keine im am zum zur vom seine ihre viele"
DETERMINERS = frozenset(BEFORE_NOUNS.split())
CALLED = "president king queen prince sir lord dr mr mrs ms prof professor saint pope general herr frau"
TITLES = frozenset(CALLED.split())
SMALL_WORDS = STOP_WORDS | COMMON
NUMERAL = re.compile(r"[IVX]+|.*\d.*")


@dataclass(frozen=True, slots=True)
class Entity:
    """Something named, counted or dated, where it is first met."""

    span: Span
    form: str
    """Compatibility forms and accents taken away, case folded; a number with its unit; a date as ISO 8601 has it."""
    kind: str
    """name, number or date"""
    aliases: frozenset[str] = frozenset()
    """Other forms of the same entity."""

    @property
    def forms(self) -> frozenset[str]:
        """All its forms."""
        return self.aliases | {self.form}


def entities(text: str) -> list[Entity]:
    """The entities of a text, each once, in order.

    >>> [entity.form for entity in entities("Brazil, Brasília, April 21 1960")]
    ['brazil', 'brasilia', '1960-04-21']
    >>> [entity.form for entity in entities("The World Health Organization (WHO) spent $3 million. WHO grew.")]
    ['world health organization', '3000000 USD']
    """
    return _entities(text, dates(text))


def _entities(text: str, known: list[Date]) -> list[Entity]:
    met: dict[str, Entity] = {}
    numbers = quantities(text, known)
    found = [*_names(text, [*known, *numbers]), *_counted(known, numbers)]
    for entity in sorted(found, key=lambda entity: entity.span):
        if not entity.forms & met.keys():
            met.update(dict.fromkeys(entity.forms, entity))
            met.setdefault(entity.form.rpartition(" ")[2] if entity.kind == "name" else entity.form, entity)
    return list(dict.fromkeys(met.values()))


def shared_entities(wanted: list[Entity], text: str) -> list[Entity]:
    """Those of the entities that are found in a text, under any of their forms.

    >>> wanted = entities("Brazil, Brasília, April 21 1960")
    >>> [entity.form for entity in shared_entities(wanted, "Brasília, Brazil")]
    ['brazil', 'brasilia']
    """
    known = dates(text)
    there = {form for entity in _entities(text, known) for form in entity.forms}
    there |= {part for date in known for part in date.parts}
    plain = " " + " ".join(_name_form(text).split()) + " "
    return [entity for entity in wanted if entity.forms & there or _named(entity, text, plain)]


def _named(entity: Entity, text: str, plain: str) -> bool:
    """Whether a name is in a text, word for word."""
    return entity.kind == "name" and any(
        f" {form} " in plain if form.isascii() else form in plain or form in text for form in entity.forms - SMALL_WORDS
    )


def _counted(known: Iterable[Date], numbers: Iterable[Quantity]) -> Iterator[Entity]:
    for date in known:
        yield Entity(Span(date.start, date.end), date.iso, "date")
    for number in numbers:
        if number.unit != "th":
            yield Entity(Span(number.start, number.end), number.form, "number")


def _names(text: str, counted: Iterable[Date | Quantity]) -> Iterator[Entity]:
    starts = {sentence.start for sentence in sentences(text)}
    taken = [(each.start, each.end) for each in counted]
    for found in NAME.finditer(text):
        span = _without_lead(text, Span(*found.span()))
        if span and _is_name(text, span, starts) and not any(a <= span.start < b for a, b in taken):
            yield _entity(text, span)
    yield from _unspaced(text)


def _without_lead(text: str, span: Span) -> Span | None:
    """A name without the small word that begins the sentence it stands in."""
    parts = span.of(text).split()
    while parts and fold(parts[0].rstrip(".")) in STARTERS | STOP_WORDS | TITLES and not _short_form(parts[0]):
        span = Span(span.start + len(parts[0]), span.end)
        span = Span(span.end - len(span.of(text).lstrip()), span.end)
        parts = parts[1:]
    return span if parts else None


def _short_form(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _is_name(text: str, span: Span, starts: set[int]) -> bool:
    """A word that is capitalised because of what it is, not because of its place."""
    name = span.of(text)
    if len(name.split()) > 1 or _short_form(name):
        return True
    if len(name) == 1 or fold(name) in STOP_WORDS | COMMON | STARTERS:
        return False
    if span.start in starts:
        return not LIKELY_WORD.search(name) or len(text) == len(name)
    if not _german(text):
        return True
    before = text[: span.start].split()[-1:]  # before a German noun stands a determiner, before a name none
    return not before or before[0].casefold() not in DETERMINERS


@lru_cache(maxsize=8)
def _german(text: str) -> bool:
    return language(text) == "de"


def _entity(text: str, span: Span) -> Entity:
    name = re.sub(r"['’]s$", "", span.of(text))
    form = _name_form(name)
    aliases = set(ALIASES.get(form, ()))
    if note := SHORT_FORM.match(text, span.end):
        aliases.add(acronym(note[1].replace(".", "")))
    large = [word for word in name.split() if word[0].isupper()]
    if len(large) > 2 and not NUMERAL.fullmatch(large[-1]):
        aliases.add("".join(word[0] for word in large).casefold())
    return Entity(Span(span.start, span.start + len(name)), form, "name", frozenset(aliases - {form}))


def _name_form(name: str) -> str:
    if re.fullmatch(r"(?:[A-Z]\.?){2,}", name):
        return acronym(name.replace(".", ""))
    return " ".join(fold(part) for part in re.findall(r"[^\W_]+(?:['’][^\W_]+)*", name)) or name


def _unspaced(text: str) -> Iterator[Entity]:
    """Names in scripts without capital letters."""
    if text.isascii():
        return
    for pattern in (KATAKANA, HAN_PLACE, PLACES):
        for found in pattern.finditer(text):
            start = max((joint.end() for joint in JOINTS.finditer(found.group())), default=0) + found.start()
            if start < found.end() - 1 and text[start : found.end()] not in UNITS:
                yield Entity(Span(start, found.end()), fold(text[start : found.end()]), "name")
    for title in TITLED.finditer(text):
        yield Entity(Span(*title.span(1)), fold(title[1]), "name")
