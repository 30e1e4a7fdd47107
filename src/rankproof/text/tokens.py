"""Where a text may be cut, between characters as readers see them, tokens or sentences; and the words of a search.

In these, letters lose their case and their accents. In scripts without spaces between words, single characters
and pairs of neighbours replace words, so that any part of a sentence can be found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise, zip_longest
from operator import add

from rankproof.text.sentences import sentences
from rankproof.text.words import HANGUL, UNSPACED, Span, read_table, trim

ZWJ = "\u200d"


def _characters(ranges: Iterable[str]) -> frozenset[str]:
    ends = ([int(end, 16) for end in each.split("-")] for each in ranges)
    return frozenset(chr(code) for each in ends for code in range(each[0], each[-1] + 1))


JOINS_BACK, JOINS_ON, _SIGNS = map(_characters, read_table("joining_signs"))
"""Characters that belong to the one before, beside combining marks; those that belong to the one after; and marks that
Unicode counts among no letters, such as the frame of a keycap: tantivy splits at them."""
VIRAMA = 9
"""The combining class of signs that join consonants."""


def can_cut(text: str, at: int) -> bool:
    """Whether a text may be cut before the character at `at`; its two ends always.

    The rules are those of Unicode's grapheme clusters (UAX 29), a little wider: characters that join only in
    some scripts are never cut.

    >>> [at for at in range(6) if can_cut("e\\u0301🇩🇪!", at)]
    [0, 2, 4, 5]
    """
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return before != "\r" or after != "\n"
    return not (_joined(before, after) or _hangul(before, after) or _halves_a_flag(text, at))


def _joined(before: str, after: str) -> bool:
    if unicodedata.category(after)[0] == "M" or after in JOINS_BACK or before == ZWJ or before in JOINS_ON:
        return True
    if unicodedata.combining(before) == VIRAMA and unicodedata.category(after) == "Lo":
        return True
    return "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"


def _hangul(before: str, after: str) -> bool:
    """Whether two letters of Korean are parts of one syllable."""
    if "\u1160" <= after <= "\u11ff" or "\ud7b0" <= after <= "\ud7ff":
        return _leads(before) or "\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7ff"
    return _leads(before) and (_leads(after) or "\uac00" <= after <= "\ud7a3")


def _leads(letter: str) -> bool:
    return "\u1100" <= letter <= "\u115f" or "\ua960" <= letter <= "\ua97c"


def _halves_a_flag(text: str, at: int) -> bool:
    """Whether the cut is between the two letters of a flag: an odd number of such letters is before it."""
    if not _flag_letter(text[at]):
        return False
    start = at
    while start and _flag_letter(text[start - 1]):
        start -= 1
    return (at - start) % 2 == 1


def _flag_letter(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def last_cut(text: str, at: int, after: int) -> int:
    """The last place up to `at` where the text may be cut, beyond `after`; if there is none, the next place.

    >>> last_cut("cafe\\u0301s", 4, 0), last_cut("e\\u0301\\u0302s", 1, 0)
    (3, 3)
    """
    place = min(at, len(text))
    while place > after and not can_cut(text, place):
        place -= 1
    return place if place > after else next_cut(text, max(at, after + 1))


def next_cut(text: str, at: int) -> int:
    """The first place from `at` on where the text may be cut."""
    while not can_cut(text, at):
        at += 1
    return min(at, len(text))


TOKEN = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")


def tokens(text: str) -> list[Span]:
    """The tokens between white space; in scripts without spaces, each character.

    Every character that is not white space is in exactly one of them.

    >>> [token.of("Fees: 3.50 €, 三元。") for token in tokens("Fees: 3.50 €, 三元。")]
    ['Fees:', '3.50', '€,', '三', '元', '。']
    """
    found = TOKEN.finditer(text)
    if text.isascii():
        return [Span(*match.span()) for match in found]
    return spans_between(text, Span(0, len(text)), (match.start() for match in found))


def whole_sentences(text: str) -> list[Span]:
    """The sentences, with the text between two of them added to the first.

    >>> [part.of("# Fees\\n\\nNone. Really!") for part in whole_sentences("# Fees\\n\\nNone. Really!")]
    ['# Fees', 'None.', 'Really!']
    """
    return spans_between(text, Span(0, len(text)), (span.start for span in sentences(text)))


def spans_between(text: str, part: Span, cuts: Iterable[int]) -> list[Span]:
    """The pieces of a part of a text between cuts, without the white space around them and without blanks.

    A cut inside a character is moved behind it.

    >>> spans_between("one two", Span(0, 7), [4])
    [Span(start=0, end=3), Span(start=4, end=7)]
    """
    inside = {next_cut(text, cut) for cut in cuts if part.start < cut < part.end}
    places = [part.start, *sorted(cut for cut in inside if cut < part.end), part.end]
    pieces = (trim_span(text, Span(*pair)) for pair in pairwise(places))
    return [piece for piece in pieces if piece.start < piece.end]


def trim_span(text: str, part: Span) -> Span:
    """The part without the white space around it, except where a combining mark makes it part of a character.

    >>> trim_span(" \\u0301a ", Span(0, 4))
    Span(start=0, end=3)
    """
    start, end = trim(text, *part)
    if start == end:
        return Span(start, end)
    while start > part.start and not can_cut(text, start):
        start -= 1
    return Span(start, min(next_cut(text, end), part.end))


# --- the words of a search --------------------------------------------------------------------------

LENGTHS = (3, 4, 5)
"""Characters in a piece of a word, its borders counted."""
LONGEST = 40
"""Characters of a word that are cut into pieces."""
_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_ASCII = bytes(range(128))
"""What is deleted from the bytes of a text to have its other characters, which is faster than any search for them."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
"""What has to be folded before an index sees it, which splits and lowers ASCII itself: far less work in most texts."""
FEW = 24
"""Up to this many different characters are replaced one after the other, which is faster than a pass over all."""
MOSTLY = 2
"""If more than one character in so many is beyond ASCII, a text is folded as a whole, not run by run."""
LONG = 16
"""Runs from this many characters on are not cached."""
ALONE = (*((0x0, 0x6FF), (0x10A0, 0x10FF), (0x1E00, 0x2BFF)), *((0x2C60, 0x2DFF), (0xA640, 0xA7FF), (0xFB00, 0xFDFF)))
"""Blocks of characters that nothing beside them changes but marks, which are dropped anyway: those of Latin, Greek,
Cyrillic, Armenian, Georgian, Hebrew and Arabic, of punctuation and symbols."""
_JOINS = re.compile(f"[^{''.join(f'{chr(first)}-{chr(last)}' for first, last in ALONE)}]")
_UNSPACED_RUN = re.compile(f"([{UNSPACED}{HANGUL}]+)")
_VOICED = "\u3099\u309a"
"""The marks that make another Japanese sound of a letter; all other marks above or below a letter are dropped."""


def words(text: str) -> list[str]:
    """The words of a text in order.

    >>> words("The Café's FH-101")
    ['the', 'cafe', 's', 'fh', '101']
    >>> words("東京へ")
    ['東', '東京', '京', '京へ', 'へ']
    """
    if text.isascii():
        return _PLAIN_WORD.findall(text.lower())
    plain = fold_text(text)
    found = plain.split()
    if not _UNSPACED_RUN.search(plain):
        return found
    # Words as they are, and runs of a writing without spaces as their characters and pairs of these.
    return [word for run in found for part in _UNSPACED_RUN.split(run) if part for word in _pieces(part)]


def prepare_text(text: str, splits: bool = False) -> str:
    """The text such that splitting at all but letters and digits, without regard to case, gives its words.

    An index that itself `splits` at punctuation and spaces of every alphabet, and lowers its letters, is left those:
    they are most of what texts have beyond ASCII.

    >>> prepare_text("As it is."), prepare_text("Ça va?")
    ('As it is.', 'ca va?')
    """
    if text.isascii():
        return text
    beyond = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if not splits:
        text, beyond = text.casefold(), beyond.casefold()
    if _JOINS.search(beyond):
        if len(beyond) * MOSTLY > len(text):
            return _folded_run(text)
        return _BEYOND_ASCII.sub(lambda run: _short(run[0]) if len(run[0]) < LONG else _folded_run(run[0]), text)
    changed = set(_changed_alone(splits).findall(beyond))
    if len(changed) > FEW:
        return text.translate(_ALONE)
    for letter in changed:
        text = text.replace(letter, _short(letter))
    return text


@cache
def _changed_alone(splits: bool) -> re.Pattern[str]:
    """The characters beyond ASCII that nothing beside them changes, and that do not stand for themselves.

    An index that `splits` lowers letters too.
    """
    alone = [chr(code) for first, last in ALONE for code in range(max(first, 0x80), last + 1)]
    changed = [c for c in alone if _folded_run(c) != (c.lower() if splits else c)]
    if splits:
        changed = [c for c in changed if unicodedata.category(c)[0] not in "PZ"]
    return re.compile(f"[{''.join(changed)}]")


def _folded_run(run: str) -> str:
    plain = fold_text(run)
    return _UNSPACED_RUN.sub(lambda part: f" {' '.join(_pieces(part[0]))} ", plain)


_short = lru_cache(maxsize=1 << 16)(_folded_run)
"""Letters with accents, quotes and dashes come again and again."""


class _Alone(dict[int, str]):
    """The replacement of each of these; ASCII stays. Looked up once."""

    def __missing__(self, code: int) -> str:
        self[code] = chr(code) if code < 0x80 else _folded_run(chr(code))
        return self[code]


_ALONE = _Alone()


def fold_text(text: str) -> str:
    """The text in one form of its characters, without case and accents, and with blanks for all but words.

    >>> fold_text("Ångström_№1!")
    'angstrom no1 '
    """
    return unicodedata.normalize("NFKC", text).casefold().translate(_FOLDED)


class _Folded(dict[int, str]):
    """The replacement of each character; looked up once."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFD", chr(code))
        sign = chr(code) in _SIGNS
        kept = "".join(c for c in parts if c in _VOICED or not (sign or unicodedata.combining(c)))
        word = all(c.isalnum() or unicodedata.category(c)[0] == "M" for c in kept)
        self[code] = unicodedata.normalize("NFC", kept) if word else " "
        return self[code]


_FOLDED = _Folded()


def _pieces(part: str) -> list[str]:
    if not _UNSPACED_RUN.match(part):
        return [part]
    return [piece for single, pair in zip_longest(part, map(add, part, part[1:])) for piece in (single, pair) if piece]


def parts_of(word: str) -> list[str]:
    """A word and its pieces.

    >>> parts_of("fee")
    ['=fee', ' fe', 'fee', 'ee ', ' fee', 'fee ', ' fee ']
    """
    padded = f" {word[:LONGEST]} "
    return [f"={word}", *(padded[i : i + n] for n in LENGTHS for i in range(len(padded) - n + 1))]
