"""The blocks of a text (paragraphs, headings, list items, rows of tables), and the sentences in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from rankproof.text.languages import (
    BEFORE_MORE,
    BEFORE_NUMBER,
    ERAS,
    GERMAN,
    LABELS,
    MAY_END,
    ORDINAL_NOUNS,
    SAID,
    SINGLE,
    STARTERS,
)
from rankproof.text.words import ARABIC, CJK, DEVANAGARI, GREEK, THAI, Span, trim

HEADING = re.compile(r"\s{0,3}#{1,6}\s")
"""The line is a unit of its own."""
ITEM = re.compile(r"\s*(?:[-*+•◦▪‣·–—●○■]\s+|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]\s+|\|)")
"""A unit begins with the line; numbers and letters count where the line before has ended."""
BULLET = re.compile(r"\s*(?:[-*+•◦▪‣●○■]\s+|\|)")
RULE = re.compile(r"\s*(?:[-=*_~`+|: ]{3,}|```.*)$")
"""A line of strokes, or a fence of code."""
INLINE_BULLET = re.compile(r"\s[•◦▪‣●○■⁃]\s")
ENDED = re.compile(r"[.!?…:;。！？；：।॥؟۔]['\"”’»)\]」』）]*\s*$")
GOES_ON = re.compile(
    r"(?:[,;،、，؛(\[–—-]|(?<!\w)(?:and|or|of|the|a|an|to|in|for|with|by|und|oder|der|die|das|von|et|ou|de|y|o))\s*$",
    re.IGNORECASE,
)


def blocks(text: str) -> Iterator[Span]:
    """The parts of a text that line breaks keep apart, in order; none is empty.

    >>> text = "# Fees\\nNone are\\ncharged.\\n\\n- Refunds\\n- Returns"
    >>> [part.of(text) for part in blocks(text)]
    ['# Fees', 'None are\\ncharged.', '- Refunds', '- Returns']
    """
    for paragraph in _paragraphs(text):
        for block in _joined(text, paragraph):
            yield from _items(text, block)


def _paragraphs(text: str) -> Iterator[list[Span]]:
    """Runs of lines that are not empty."""
    lines: list[Span] = []
    place = 0
    for line in text.splitlines(keepends=True):
        span = trim(text, place, place + len(line))
        place += len(line)
        if span.start < span.end:
            lines.append(span)
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines


def _joined(text: str, lines: list[Span]) -> Iterator[Span]:
    """The lines of a paragraph, with wrapped ones joined."""
    width = max(line.end - line.start for line in lines)
    start = lines[0].start
    for line, following in pairwise(lines):
        if _breaks(text, line, following, width):
            yield Span(start, line.end)
            start = following.start
    yield Span(start, lines[-1].end)


def _breaks(text: str, line: Span, following: Span, width: int) -> bool:
    """Whether the line break between two lines is meant, rather than made by wrapping."""
    one, other = line.of(text), following.of(text)
    if any(HEADING.match(each + " ") or RULE.match(each) for each in (one, other)) or BULLET.match(other):
        return True
    if ENDED.search(one):
        return True
    if GOES_ON.search(one) or other[0].islower():
        return False
    if ITEM.match(one) and ITEM.match(other):
        return True
    # The next line's first word would have fit on this line, if lines were only wrapped.
    word = other.split(None, 1)[0]
    spaced = word.isascii() or " " in one
    return len(one) + (len(word) + 1 if spaced else 1) <= width


def _items(text: str, block: Span) -> Iterator[Span]:
    """The items of a list that was written in one line with bullets."""
    start = block.start
    for bullet in INLINE_BULLET.finditer(text, block.start, block.end):
        part = trim(text, start, bullet.start())
        if part.start < part.end:
            yield part
        start = bullet.start() + 1
    yield trim(text, start, block.end)


PAIRS = {
    "(": ")", "[": "]", "{": "}", "（": "）", "【": "】", "「": "」", "『": "』", "《": "》", "〈": "〉", "〔": "〕",
    "｢": "｣", "“": "”", "„": "“”", "«": "»", "»": "«", "‹": "›", '"': '"', "＂": "＂", "‘": "’",
}  # fmt: skip
CHARACTER = re.compile("[" + re.escape("".join(dict.fromkeys("".join(PAIRS) + "".join(PAIRS.values())))) + "]")
LONGEST_QUOTE = 300
"""A longer quotation is divided like other text."""
LETTER = re.compile(r"\w")


def mark_enclosed(text: str) -> bytearray:
    """For each character whether it is inside a pair; the pair's own marks are outside, except the first.

    >>> list(mark_enclosed('a (b) c'))
    [0, 0, 1, 1, 0, 0, 0]
    """
    inside = bytearray(len(text))
    open_: list[int] = []
    for found in CHARACTER.finditer(text):
        place, mark = found.start(), found.group()
        if mark == "’" and (LETTER.match(text, place - 1) is not None and LETTER.match(text, place + 1) is not None):
            continue
        level = _closed_by(text, open_, mark)
        if level is not None:
            start = open_[level]
            if place - start <= LONGEST_QUOTE:
                inside[start:place] = b"\x01" * (place - start)
            del open_[level:]
        elif mark in PAIRS:
            open_.append(place)
    return inside


def _closed_by(text: str, open_: list[int], mark: str) -> int | None:
    """The innermost open pair that the mark closes, at most three levels out."""
    for level in range(len(open_) - 1, max(len(open_) - 4, -1), -1):
        if mark in PAIRS[text[open_[level]]]:
            return level
    return None


BEFORE = re.compile(r"[^\s(\[\"“„«‘'「（/—–]*$")
FIRST = re.compile(r"[^\w]*(?P<word>[\w][\w'’.-]*)?", re.DOTALL)
ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]{1,2}")
"""Letters with points between them, the last point taken off: U.S, e.g, z.B."""
INITIAL = re.compile(rf"[^\W\d_]|[{DEVANAGARI}]{{1,3}}")
ALONE = SINGLE | ERAS
LABELS_OR_NONE = LABELS | {""}
ORDINAL = re.compile(r"\d{1,2}|[IVX]+")
GOES_ON_WIDE = re.compile(
    r"と|って|とか|という|など|[のはがをにでもや]|、|，|,|的|地|得|(?:然后|就|便|接着|并|而)(?![他她它我你您])"
)
"""Text that follows a quotation without ending the sentence."""
SAID_WIDE = re.compile(r"[^。！？，、没不无]{0,6}(?:说|說|问|問|喊|叫|答|道|写|認めた)道?[。，：,]")
"""The speaker of the quotation that a sentence began with."""
OPENED = re.compile(r"\s*[“「『\"]")
LONGEST = 100
"""The distance back in which a word is looked for."""


@lru_cache(maxsize=8)
def _all_small(block: str) -> bool:
    return block.islower()


@lru_cache(maxsize=8)
def _german(block: str) -> bool:
    return not GERMAN.isdisjoint(block.casefold().split())


@dataclass(frozen=True)
class Ending:
    """A mark that may end a sentence, with its place and the start of the sentence."""

    block: str
    start: int
    mark: re.Match[str]

    @cached_property
    def word(self) -> str:
        """The text directly before the mark; empty if that is a space."""
        found = BEFORE.search(self.block, max(self.start, self.mark.start() - LONGEST), self.mark.start())
        return found.group() if found else ""

    @cached_property
    def next(self) -> str:
        """The first word after the mark."""
        found = FIRST.match(self.block, self.mark.end())
        return (found and found["word"]) or ""

    @cached_property
    def after(self) -> str:
        """The first characters after the mark and its white space."""
        return self.block[self.mark.end() : self.mark.end() + 12].lstrip()[:1]

    @property
    def starter(self) -> bool:
        """Whether the next word is one that sentences begin with."""
        return self.next.casefold().rstrip(".") in STARTERS or not self.next

    @cached_property
    def uncased(self) -> bool:
        """Whether the text capitalises no word though it could, so that a lower-case letter says nothing."""
        return _all_small(self.block)


def ends_sentence(ending: Ending) -> bool:
    """Whether the mark is the end of a sentence."""
    mark = ending.mark
    if mark["particle"] is not None:
        return True
    if mark["wide"]:
        return not (mark["wide_close"] and _goes_on_wide(ending))
    if mark["run_on"]:
        return mark["plain"] in ".!?" and ending.starter and ending.word[-1:].islower() and len(ending.word) > 1
    if _small_letter_follows(ending):
        return False
    # The mark may be at the end of brackets that were opened within the sentence.
    opened = {")": "(", "]": "["}.get(mark["close"][-1:])
    if opened and ending.block.rfind(opened, ending.start, mark.start()) > ending.start + 1:
        return False
    return _by_mark(ending)


def _goes_on_wide(ending: Ending) -> bool:
    """Whether a sentence goes on after a quotation, or the mark is part of a title."""
    place = ending.mark.end()
    if ending.mark["wide_close"][-1] in "》〉" or GOES_ON_WIDE.match(ending.block, place):
        return True
    opened = OPENED.match(ending.block, ending.start)
    return opened is not None and SAID_WIDE.match(ending.block, place) is not None


def _small_letter_follows(ending: Ending) -> bool:
    """Whether the sentence goes on with a lower-case letter, or after white space that no new one follows."""
    if ending.uncased:
        return False
    word = ending.next
    if ending.after in ",;:、，" or (ending.after == "(" and ending.mark["close"]):
        return True
    return word[:1].islower() and not any(c.isupper() for c in word[1:3])


def _by_mark(ending: Ending) -> bool:
    plain = ending.mark["plain"]
    if plain in ("…", "...", "....") or " " in plain:
        # Three points do not end a sentence; four do.
        return plain.replace(" ", "") == "...." or (ending.next not in ("I", "I'm", "I'll", "") and not ending.uncased)
    if "?" in plain or "!" in plain:
        return not (ending.mark["close"] and _said(ending)) and ending.after not in "&"
    if plain == ".":
        return _after_point(ending)
    return True


def _said(ending: Ending) -> bool:
    """Whether a quotation is followed by who said it."""
    if ending.next.startswith("و"):
        return True
    if not ending.after.isalpha():
        return False
    following = ending.block[ending.mark.end() : ending.mark.end() + 60].split()[:4]
    caseless = ending.after.lower() == ending.after.upper()
    return any(word.strip(".,।،").casefold() in SAID and not (caseless and word[-1] in ",،") for word in following)


def _after_point(ending: Ending) -> bool:
    word = ending.word.rstrip(".")
    if not word or ending.mark["close"]:
        return True
    folded = word.casefold().replace("\u00a0", "")
    if folded in ALONE and _stands_alone(ending):
        return True
    if folded in MAY_END and ending.starter and not (folded in BEFORE_NUMBER and ending.next[:1].isdigit()):
        return True
    if (
        folded in MAY_END
        or folded in BEFORE_MORE
        or (
            (folded in BEFORE_NUMBER or folded.endswith("str"))
            and (ending.next[:1].isdigit() or re.fullmatch(r"[ivxlIVXL]+[.,]?", ending.next) is not None)
        )
    ):
        return False
    if ACRONYM.fullmatch(word) or INITIAL.fullmatch(word):
        # Initials belong to a name, letters at the beginning number a list; acronyms may end a sentence.
        if not ending.block[ending.start : ending.mark.start() - len(word)].strip(" (#>*-"):
            return False
        if re.search(f"[{ARABIC}{DEVANAGARI}]", word):
            return False
        return ending.starter and bool(ending.next) and not ending.next.endswith(".")
    return not (ORDINAL.fullmatch(word) and _ordinal(ending, word))


def _stands_alone(ending: Ending) -> bool:
    """Whether a short word is not an initial: I after a small word, a unit after a number."""
    start = max(ending.start, ending.mark.start() - LONGEST)
    before = " ".join(ending.block[start : ending.mark.start()].split()[-2:-1])
    if ending.word == "I":
        return before.islower() and ending.starter
    return ending.word not in ERAS or before[-1:].isdigit()


def _ordinal(ending: Ending, word: str) -> bool:
    """Whether a number with a point is a number of a list, or an ordinal as German and others write it."""
    head = ending.block[ending.start : ending.mark.start() - len(word)]
    if head.strip(" (#>*-").casefold() in LABELS_OR_NONE:
        return True
    if ending.next.casefold().rstrip(".") in ORDINAL_NOUNS:
        return True
    return _german(ending.block) and not ending.starter


CLOSERS = "\"'”’»›)\\]}」』）】》〉〕｣＂*_"
NOTES = r"(?:\[\d[\d,–-]*\]|【\d+】|[¹²³⁰⁴-⁹])*"
MARK = re.compile(
    rf"""
    (?P<wide> [。！？｡‼⁇⁈⁉]+[。！？｡!?…]* | (?<=[^\d\s])．(?!\d) | (?<=[{CJK}”」』）])[!?]+ )
      (?P<wide_close> [{CLOSERS}]* ) {NOTES}
  | (?P<plain> (?:\.[ \u00a0]){{2,4}}\. | [.!?…]+ | [؟۔।॥։።፧។။།‽]+[!?؟]*
      | (?<=[{DEVANAGARI}]\s)\| | (?<=[{DEVANAGARI}])\| | (?<=[{GREEK}]); | \u037e )
      (?P<close> (?:[\u00a0\u202f\ ]?(?:[»›](?!\w)|''(?!\w)))?[{CLOSERS}“]* ) {NOTES}
      (?= \s | $ | (?P<run_on> [A-Z][a-z]+\b ) | (?<=[؟۔।॥።]) | (?<=[{CJK}]\.) )
  | (?P<particle> (?:(?<=ครับ)|(?<=ค่ะ)|(?<=นะคะ)|(?<=จ้ะ))(?=\ ) )
    """,
    re.VERBOSE,
)
SIGN = re.compile("[.!?…。！？｡‼⁇⁈⁉．؟۔।॥։።፧။។།‽|;\u037e]")
"""The first characters of marks; searched first, as that is fast."""
THAI_SIGN = re.compile(f"{SIGN.pattern[:-1]} ]")
THAI_LETTER = re.compile(f"[{THAI}]")
RECENT = 256
"""The number of texts whose sentences are cached: claims, statements and entities of a text are needed in a row."""


def sentences(text: str) -> list[Span]:
    """The sentences of a text, in order and apart; headings, list items and rows count as sentences.

    >>> text = 'Dr. Wu paid $3.50 in the U.S. He asked, "Why?" and left. 多少钱？「三元。」と言った。'
    >>> [part.of(text) for part in sentences(text)]
    ['Dr. Wu paid $3.50 in the U.S.', 'He asked, "Why?" and left.', '多少钱？', '「三元。」と言った。']
    """
    return list(_sentences(text))


@lru_cache(RECENT)
def _sentences(text: str) -> tuple[Span, ...]:
    return tuple(span for block in blocks(text) for span in _split(text, block))


def _split(text: str, block: Span) -> Iterator[Span]:
    start = block.start
    for end in _ends(block.of(text)):
        yield trim(text, start, block.start + end)
        start = block.start + end
    rest = trim(text, start, block.end)
    if rest.start < rest.end:
        yield rest


def _ends(block: str) -> Iterator[int]:
    """Where sentences of a block end, but for the last; a part without words belongs to the sentence after it."""
    inside = mark_enclosed(block)
    start, looked, last = 0, 0, len(block.rstrip())
    for mark in _marks(block):
        if mark.end() >= last or (inside[mark.start()] and inside[mark.end() - 1]):
            continue
        if not LETTER.search(block, looked, mark.start()):
            looked = mark.start()
        elif ends_sentence(Ending(block, start, mark)):
            start = looked = mark.end()
            yield start


def _marks(block: str) -> Iterator[re.Match[str]]:
    signs = SIGN if block.isascii() or not THAI_LETTER.search(block) else THAI_SIGN
    past = 0
    for sign in signs.finditer(block):
        if sign.start() >= past and (mark := MARK.match(block, sign.start())):
            past = mark.end()
            yield mark
