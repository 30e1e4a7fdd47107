"""Which language a text is in: by its writing, and among languages in Latin letters by their small words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from rankproof.core.text.scripts import ARABIC, DEVANAGARI, GREEK, HAN, HANGUL, KANA, THAI

LEAST = 2
"""Small words of a language that a text must have to be counted as in it."""

LEAD = 1.5
"""How many times as many of them as of the next language."""

WRITINGS: Mapping[str, re.Pattern[str]] = {
    "Japanese": re.compile(f"[{KANA}]"),
    "Chinese": re.compile(f"[{HAN}]"),
    "Korean": re.compile(f"[{HANGUL}]"),
    "Thai": re.compile(f"[{THAI}]"),
    "Greek": re.compile(f"[{GREEK}]"),
    "Arabic letters": re.compile(f"[{ARABIC}]"),
    "Cyrillic letters": re.compile("[Ѐ-ӿ]"),
    "Hebrew": re.compile("[א-ת]"),
    "Devanagari letters": re.compile(f"[{DEVANAGARI}]"),
}
"""Writings that tell the language, or at least tell it from others; Japanese is written with Han as well."""

SMALL_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(listed.split())
    for language, listed in {
        "English": "the of and to is are was were in on for with that this it you how what why when where "
        "which who can could do does did my your i not from have has had be been being a an at by if or will "
        "would there their they them these those about as am any all also after again before because both but "
        "each into its me more most no nor now of off once one only other our out over own same she he her his "
        "him should so some still such than then through too under until up very we while whom us get got need "
        "want anything something don't can't isn't doesn't didn't won't aren't wasn't couldn't shouldn't haven't",
        "German": "der die das und ist sind war ich nicht ein eine einen einem wie was wo wann warum welche "
        "kann mein meine mit auf für von zu im den dem des es wir sie auch werden wird oder bei nach über",
        "French": "le la les des et est sont je ne pas un une comment quoi où quand pourquoi quel quelle mon "
        "ma mes avec sur pour dans du de au aux ce cette vous nous il elle que qui est-ce puis peut",
        "Spanish": "el la los las y es son yo no un una cómo qué dónde cuándo por qué cuál mi mis con en para "
        "del de al que se lo su sus puedo puede está están hay como pero más",
        "Italian": "il lo la i gli le e è sono io non un una come cosa dove quando perché quale mio mia con su "
        "per nel nella del della di da che si posso può questo questa ho ha anche più",
        "Portuguese": "o a os as e é são eu não um uma como que onde quando porque qual meu minha com em para "
        "no na do da dos das de ao se posso pode está você isso mais foi",
        "Dutch": "de het een en is zijn ik niet hoe wat waar wanneer waarom welke kan mijn met op voor van te "
        "in dat dit er je u wij ze ook worden wordt of bij naar over heb hebben",
        "Swedish": "och är en ett jag inte hur vad var när varför vilken kan min mitt med på för av till i att "
        "det den som du vi de också har hade blir eller från om",
        "Polish": "i jest są ja nie jak co gdzie kiedy dlaczego który która mogę mój moja z na dla w do się to "
        "że o po czy od przez jestem być ma można",
    }.items()
}
"""Words that no text of a language can do without."""


def language_of(text: str) -> str:
    """The language of a text, or its letters where these are all one can tell; "" where nothing is sure.

    >>> language_of("Wie setze ich mein Passwort zurück?"), language_of("How do I reset my password?")
    ('German', 'English')
    >>> language_of("パスワードの変更"), language_of("reset password")
    ('Japanese', '')
    """
    written = _writing(text)
    return written if written is not None else _by_small_words(text)


def _writing(text: str) -> str | None:
    """What the letters tell: None for Latin ones, which many languages share."""
    letters = sum(map(str.isalpha, text))
    found = {name: len(letter.findall(text)) for name, letter in WRITINGS.items()}
    if found["Japanese"] and found["Japanese"] + found["Chinese"] > letters / 2:
        return "Japanese"
    name = max(found, key=lambda each: found[each])
    return name if found[name] > letters / 2 else None


def _by_small_words(text: str) -> str:
    used = Counter(re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", text.lower().replace("’", "'")))
    times = {
        language: sum(used[word] for word in small if word in used) for language, small in SMALL_WORDS.items()
    }
    first, second = sorted(times, key=lambda each: -times[each])[:2]
    sure = times[first] >= LEAST and times[first] >= LEAD * times[second]
    return first if sure else ""
