"""Words of a text with their places and stems, and corrections of misspelled words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from typing import NamedTuple

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f\u3005\u3006"
KANA = "\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\uac00-\ud7a3\u1100-\u11ff"
CJK = HAN + KANA
"""Scripts without spaces between words: Chinese and Japanese."""
THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
LAO = "\u0e81-\u0ebd\u0ec0-\u0ecd"
KHMER = "\u1780-\u17d3"
BURMESE = "\u1000-\u1049\u1050-\u109f"
UNSPACED = CJK + THAI + LAO + KHMER + BURMESE
DEVANAGARI = "\u0900-\u0963\u0971-\u097f"
ARABIC = "\u0610-\u061a\u0620-\u0669\u066e-\u06d3\u06d5-\u06ff\u0750-\u077f"
GREEK = "\u0370-\u037d\u037f-\u0386\u0388-\u03ff\u1f00-\u1fff"
WRITINGS = {
    "ja": f"[{KANA}]",
    "zh": f"[{HAN}]",
    "ko": f"[{HANGUL}]",
    "ar": f"[{ARABIC}]",
    "hi": f"[{DEVANAGARI}]",
    "th": f"[{THAI}]",
    "el": f"[{GREEK}]",
    "ru": "[\u0400-\u04ff]",
    "he": "[\u05d0-\u05ea]",
    "latin": "[A-Za-z\u00c0-\u024f]",
}
"""The letters of a language, or of a writing that several share, by its code."""
MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u200c\u200d"
INDIC = "\u0900-\u0963\u0966-\u096f\u0971-\u0dff"
ARABIC_MARKS = "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed"
LETTER = rf"(?:(?![{UNSPACED}])[^\W_]|[{MARKS}{INDIC}{ARABIC_MARKS}])"
WORD = re.compile(
    rf"(?P<run>[{UNSPACED}]+)"
    r"|(?P<dotted>(?<![\w.])(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?)"
    r"|(?P<number>\d+(?:[.,٫٬]\d+)+|(?>\d+)(?![^\W\d_]))"
    rf"|(?P<word>{LETTER}+(?:['’\u00ad\u2060\ufeff]{LETTER}+)*)"
)
PLAIN_WORD = re.compile(
    r"(?P<run>(?!))|(?P<dotted>(?<![\w.])(?:[A-Za-z]\.){2,}(?:[A-Za-z]\b)?)"
    r"|(?P<number>\d+(?:[.,]\d+)+|(?>\d+)(?![^\W\d_]))|(?P<word>[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*)"
)
"""The same for a text of ASCII characters alone, which is faster."""
HIRAGANA = "\u3041-\u3096"
PIECE = re.compile(rf"[{HIRAGANA}]+|(?:(?![{HIRAGANA}])[{KANA}])+|[{HAN}]+|[^{HAN}{KANA}]+")
PARTICLES = re.compile("[的了是在和与及吗呢吧不没]+")
FOLDED_ARABIC = str.maketrans("أإآٱىةکیؤئ", "اااايهكيوي")
TASHKEEL = re.compile(f"[{ARABIC_MARKS}]")
ELISION = re.compile(r"(?:[cdjlmnst]|qu|dell|nell|sull|all|un|quell)['’](?=\w{2})")
TYPED = {ord("’"): "'", 0xAD: None, 0x2060: None, 0xFEFF: None}
"""Characters inside a word as they would be typed: soft hyphens and joiners, which nobody sees, not at all."""
ENDING = re.compile(r"['’](?:s|re|ve|ll|d|m)?$")


class Word(NamedTuple):
    """A word with its place and form: case folded, without compatibility forms and accents."""

    start: int
    end: int
    form: str


def words(text: str) -> list[Word]:
    """The words of a text; in scripts without spaces, pairs of neighbouring characters.

    >>> [word.form for word in words("Brasília’s 1,000 U.S. cafés: 東京都へ")]
    ['brasilia', '1,000', 'usa', 'cafes', '東京', '京都', 'へ']
    """
    return list(_words(text))


def has_words(text: str) -> bool:
    """Whether there is a word in a text.

    >>> has_words("— 1 —"), has_words("* * *")
    (True, False)
    """
    return next(_words(text), None) is not None


def _words(text: str) -> Iterator[Word]:
    for found in (PLAIN_WORD if text.isascii() else WORD).finditer(text):
        kind, (start, end) = found.lastgroup, found.span()
        if kind == "run":
            yield from _run(text, start, end)
        elif kind == "dotted":
            yield Word(start, end, acronym(found[0].replace(".", "")))
        else:
            yield tuple.__new__(Word, (start, end, fold(found[0])))  # the fastest way


def _run(text: str, start: int, end: int) -> Iterator[Word]:
    """Pairs of neighbours in a run of a script without spaces; words of katakana are kept."""
    for piece in PIECE.finditer(text, start, end):
        first = piece.group()[0]
        if "\u30a0" <= first <= "\u30ff":
            yield Word(piece.start(), piece.end(), unicodedata.normalize("NFKC", piece.group()))
            continue
        place = piece.start()
        for gap in [*PARTICLES.finditer(text, place, piece.end()), None]:
            stop = gap.start() if gap else piece.end()
            yield from _pairs(text, place, stop)
            place = gap.end() if gap else stop


def _pairs(text: str, start: int, end: int) -> Iterator[Word]:
    if end - start == 1:
        yield Word(start, end, text[start:end])
    for place in range(start, end - 1):
        yield Word(place, place + 2, text[place : place + 2])


def acronym(letters: str) -> str:
    """The form of capital letters.

    >>> acronym("US"), acronym("NATO")
    ('usa', 'nato')
    """
    form = letters.casefold()
    return "usa" if form == "us" else form


@lru_cache(maxsize=1 << 16)
def fold(word: str) -> str:
    """A word without case, accents, vowel points, and parts joined by an apostrophe.

    >>> fold("L’Été"), fold("Straße"), fold("كِتَابٌ"), fold("US"), fold("don't")
    ('ete', 'strasse', 'كتاب', 'usa', "don't")
    """
    if word == "US":
        return "usa"
    form = word.casefold()
    if form.isascii():
        return _untied(form) if "'" in form else form
    return _untied(_plain(unicodedata.normalize("NFKC", form).translate(TYPED).casefold()))


def _untied(form: str) -> str:
    return ENDING.sub("", ELISION.sub("", form, count=1)) or form


def _plain(form: str) -> str:
    """Without accents where they are optional, and with one form of Arabic letters."""
    if form[0] < "\u0530":
        parts = unicodedata.normalize("NFD", form)
        return "".join(c for c in parts if not unicodedata.combining(c)) or form
    if "\u0600" <= form[0] <= "\u06ff":
        return TASHKEEL.sub("", form).translate(FOLDED_ARABIC) or form
    return form.replace("\u200c", "").replace("\u200d", "").replace("\u0901", "\u0902") or form


def read_table(name: str) -> list[list[str]]:
    """The words of each line of a table beside this module; a line that is indented goes on with the one before."""
    text = files("rankproof.text").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return [line.split() for line in re.split(r"\n(?! )", text) if line and not line.startswith("#")]


def pattern_table(name: str) -> str:
    """The regular expressions of a table, one a line, as alternatives."""
    return "|".join(" ".join(line) for line in read_table(name))


IRREGULAR = {form: forms[0] for forms in read_table("irregular_forms") for form in forms}
"""The first form of each family by every form."""
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


SHORTEST = 4
"""The shortest word to correct: shorter ones are near to too many others."""
TWO_SLIPS = 9
"""From this length on a word may have two typing errors."""
STRANGE_START = 5
"""From this length on the first letter may be wrong too, if the word is among the likely ones."""


def intended_words(
    word: str, known: Mapping[str, Sequence[str]], counts: Mapping[str, int], likely: Collection[str] = ()
) -> str:
    """The known word of which `word` is a misspelling; "" if there is none.

    `known` has the words by their first letter, `counts` how frequent each is. Words in `likely` (those of the
    documents that were looked for) come first, and alone may differ in the first letter.

    >>> counts = {"password": 3, "passport": 9, "mouse": 5}
    >>> known = {"p": ["password", "passport"], "m": ["mouse"]}
    >>> intended_words("passwrod", known, counts), intended_words("house", known, counts)
    ('password', '')
    >>> intended_words("house", known, counts, likely={"mouse"})
    'mouse'
    """
    if len(word) < SHORTEST or not word.isalpha():
        return ""
    others = {*known.get(word[0], ()), *(likely if len(word) >= STRANGE_START else ())}
    near = {each: slips(word, each, most) for each in others if (most := _most(word, each))}
    fit = [each for each, off in near.items() if 0 < off <= _most(word, each)]
    return min(fit, key=lambda each: (near[each], each not in likely, -counts.get(each, 0), each), default="")


def _most(word: str, other: str) -> int:
    """The number of errors between two words; a replaced letter makes a short word another one."""
    if len(other) < SHORTEST - 1 or (len(word) == len(other) == SHORTEST and sorted(word) != sorted(other)):
        return 0
    return 2 if len(word) >= TWO_SLIPS else 1


def slips(one: str, other: str, most: int) -> int:
    """The distance of two words: letters left out, inserted, replaced, or two swapped.

    Counting stops above `most`.

    >>> slips("chnage", "change", 2), slips("adress", "address", 2), slips("abc", "xyz", 1)
    (1, 1, 2)
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before, last = [0] * (len(other) + 1), list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]


class Span(NamedTuple):
    """The characters from `start` up to, not including, `end`.

    >>> Span(0, 5).of("Hello there.")
    'Hello'
    """

    start: int
    end: int

    def of(self, text: str) -> str:
        """The text of the span."""
        return text[self.start : self.end]


def trim(text: str, start: int, end: int) -> Span:
    """The part without the white space around it; empty if there is nothing else.

    >>> trim("a  b  c", 1, 5)
    Span(start=3, end=4)
    """
    part = text[start:end]
    lead = len(part) - len(part.lstrip())
    return Span(start + lead, max(start + lead, start + len(part.rstrip())))


BETWEEN = "\n\n=-=-=\n\n"
"""The separator between them: no words, and not a rule of Markdown."""


def join_texts(texts: Iterable[str]) -> str:
    """The texts joined into one.

    >>> are_several(join_texts(["One.", "Two."])), are_several("One.\\n\\n---\\n\\nStill one.")
    (True, False)
    """
    return BETWEEN.join(texts)


def are_several(text: str) -> bool:
    """Whether a text is several joined ones."""
    return BETWEEN in text


def digest(text: str, *others: str | bytes, size: int = 16) -> bytes:
    """The hash of a text, or of it and others, given as texts or as their hashes; the same on every machine.

    >>> digest("plan", size=4).hex(), digest("S", "left", "right") == digest("S", digest("left"), digest("right"))
    ('ab25341f', True)
    """
    after = b"".join(digest(each) if isinstance(each, str) else each for each in others)
    return blake2b(text.encode("utf-8", "surrogatepass") + after, digest_size=size).digest()


WORDS = re.compile(r"\w+")


def holds_words_of(text: str, claim: str) -> bool:
    """Whether a text holds another word for word."""
    held, said = (f" {' '.join(WORDS.findall(fold(each)))} " for each in (claim, text))
    return held in said


def shortest_stretch(keys: list[str]) -> tuple[int, int]:
    """The first and last place of the shortest stretch of words that has each of them.

    >>> shortest_stretch(["plan", "include", "support", "include"])
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
