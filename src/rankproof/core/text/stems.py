"""Light stemming: endings taken off by rules of the writing, not of one language.

A stem need not be a word. It is enough that forms of one word come out alike and different words rarely do.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rankproof.core.text.irregular import IRREGULAR

VOWEL = re.compile(r"[aeiouy]")
PLURAL = re.compile(r"(?<=\w{2})(?:(?<=i)es|(?<=[sxz])es|(?<=[cs]h)es|(?<![suia])s)$|(?<=\w{3}[aeo])s$")
DERIVED = re.compile(
    r"(?<=\w{4})(?:fulness|iveness|ement|ation|ically|ally|ingly|edly|ness|ment|ities|ity|(?<=\w{5})ion|ive|ist|ism"
    r"|or|ung|ungen|lichen?|licher|liche|heit|keit|mente|zione|cion|cao)$"
)
INFLECTED = re.compile(r"(?<=\w{2})(?:ing|ed|eth)$")
SHORT = re.compile(r"(?<=\w{3})(?:er|en|em|es|ly|[aeioy])$")
DOUBLED = re.compile(r"([bdfgmnprt])\1$")
CYRILLIC = re.compile(
    r"(?<=\w{3})(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|иях|ов|ев|ей|ой|ий|ый|ая|яя|ое|ее|ые|ие|ам|ям|ах|ях|ом|ем|ия"
    r"|ую|юю|у|ю|а|я|о|е|ы|и|ь|й)$"
)
ARABIC_HEAD = re.compile(r"^(?:وال|بال|كال|فال|لل|ال|و(?=\w{4}))(?=\w{2})")
ARABIC_TAIL = re.compile(r"(?<=\w{3})(?:هما|ها|هم|ات|ون|ين|ان|يه|ه|ي)$")
HINDI = re.compile(r"(?<=..)(?:ियों|ियाँ|ियां|ाओं|ुओं|ाएं|ाएँ|ओं|ों|ें|ीं|ाँ|ां|ता|ती|ते|ना|ने|नी|ी|ा|े|ो|ि|ु|ू|ं)$")
KOREAN = re.compile(
    r"(?<=[가-힣])(?:에서는|으로는|에게서|에서|에게|으로|까지|부터|처럼|보다|이다|입니다|은|는|이|가|을|를|의|에|로|와|과|도|만)$"
)


@lru_cache(maxsize=1 << 16)
def stem(form: str) -> str:
    """The stem of a word's form.

    >>> stem("cities") == stem("city"), stem("stopped") == stem("stops"), stem("houses") == stem("house")
    (True, True, True)
    >>> stem("katzen") == stem("katze"), stem("الكتاب") == stem("كتاب"), stem("लड़कों") == stem("लड़का")
    (True, True, True)
    """
    form = IRREGULAR.get(form, form)
    first = form[0]
    if first < "\u0250":
        return _latin(form) if first.isalpha() and len(form) > 3 else form
    if "\u0400" <= first <= "\u04ff":
        return CYRILLIC.sub("", form)
    if "\u0600" <= first <= "\u06ff":
        return ARABIC_TAIL.sub("", ARABIC_HEAD.sub("", form))
    if "\u0900" <= first <= "\u097f":
        return HINDI.sub("", form)
    return KOREAN.sub("", form) if "가" <= first <= "힣" else form


def _latin(form: str) -> str:
    """English inflections first, then endings that Germanic and Romance languages share."""
    form = PLURAL.sub("", form)
    shorter = INFLECTED.sub("", form)
    if shorter != form and VOWEL.search(shorter) and (shorter[-1] not in "aeiou" or len(shorter) > 3):
        form = DOUBLED.sub(r"\1", shorter)
    shorter = DERIVED.sub("", form)
    return SHORT.sub("", SHORT.sub("", shorter) if len(shorter) > 6 else shorter)
