"""Whether a mark ends a sentence, judged by what stands before and after it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rankproof.core.text.abbreviations import (
    BEFORE_MORE,
    BEFORE_NUMBER,
    GERMAN,
    LABELS,
    MAY_END,
    ORDINAL_NOUNS,
    SAID,
    SINGLE,
    STARTERS,
    UNITS,
)
from rankproof.core.text.scripts import ARABIC, DEVANAGARI

BEFORE = re.compile(r"[^\s(\[\"“„«‘'「（/—–]*$")
FIRST = re.compile(r"[^\w]*(?P<word>[\w][\w'’.-]*)?", re.DOTALL)
ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]{1,2}")
"""Letters with points between them, the last point taken off: U.S, e.g, z.B."""
INITIAL = re.compile(rf"[^\W\d_]|[{DEVANAGARI}]{{1,3}}")
ALONE = SINGLE | UNITS
LABELS_OR_NONE = LABELS | {""}
ORDINAL = re.compile(r"\d{1,2}|[IVX]+")
GOES_ON_WIDE = re.compile(
    r"と|って|とか|という|など|[のはがをにでもや]|、|，|,|的|地|得|(?:然后|就|便|接着|并|而)(?![他她它我你您])"
)
"""What follows a quotation of which a sentence is not the end."""


SAID_WIDE = re.compile(r"[^。！？，、没不无]{0,6}(?:说|說|问|問|喊|叫|答|道|写|認めた)道?[。，：,]")
"""Who said the quotation that a sentence began with."""
OPENED = re.compile(r"\s*[“「『\"]")


LONGEST = 100
"""So far back a word is looked for."""


@lru_cache(maxsize=8)
def _all_small(block: str) -> bool:
    return block.islower()


@lru_cache(maxsize=8)
def _german(block: str) -> bool:
    return not GERMAN.isdisjoint(block.casefold().split())


@dataclass(frozen=True)
class Ending:
    """A mark that may end a sentence, where it stands, and where the sentence began."""

    block: str
    start: int
    mark: re.Match[str]

    @cached_property
    def word(self) -> str:
        """What stands directly before the mark; empty where that is a space."""
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
        """Whether the text writes no word large though it could, so that a small letter says nothing."""
        return _all_small(self.block)


def ends_sentence(ending: Ending) -> bool:
    """Whether the mark is the end of a sentence."""
    mark = ending.mark
    if mark["particle"] is not None:
        return True
    if mark["wide"]:
        return not (mark["wide_close"] and _goes_on_wide(ending))
    if mark["run_on"]:
        return (
            mark["plain"] in ".!?" and ending.starter and ending.word[-1:].islower() and len(ending.word) > 1
        )
    if _small_letter_follows(ending) or _inserted(ending):
        return False
    return _by_mark(ending)


def _goes_on_wide(ending: Ending) -> bool:
    """Whether a sentence goes on after a quotation, or the mark is part of a title."""
    place = ending.mark.end()
    if ending.mark["wide_close"][-1] in "》〉" or GOES_ON_WIDE.match(ending.block, place):
        return True
    opened = OPENED.match(ending.block, ending.start)
    return opened is not None and SAID_WIDE.match(ending.block, place) is not None


def _inserted(ending: Ending) -> bool:
    """Whether the mark stands at the end of brackets that were opened within the sentence."""
    opened = {")": "(", "]": "["}.get(ending.mark["close"][-1:])
    return (
        opened is not None
        and ending.block.rfind(opened, ending.start, ending.mark.start()) > ending.start + 1
    )


def _small_letter_follows(ending: Ending) -> bool:
    """Whether the sentence goes on with a small letter, or with white space that no new one begins after."""
    if ending.uncased:
        return False
    word = ending.next
    if ending.after in ",;:、，" or (ending.after == "(" and ending.mark["close"]):
        return True
    return word[:1].islower() and not any(c.isupper() for c in word[1:3])


def _by_mark(ending: Ending) -> bool:
    plain = ending.mark["plain"]
    if plain in ("…", "...", "....") or " " in plain:
        return _after_dots(ending)
    if "?" in plain or "!" in plain:
        return not (ending.mark["close"] and _said(ending)) and ending.after not in "&"
    if plain == ".":
        return _after_point(ending)
    return True


def _after_dots(ending: Ending) -> bool:
    """Three points leave a thought open; four end a sentence."""
    four = ending.mark["plain"].replace(" ", "") == "...."
    return four or (ending.next not in ("I", "I'm", "I'll", "") and not ending.uncased)


def _said(ending: Ending) -> bool:
    """Whether a quotation is followed by who said it."""
    if ending.next.startswith("و"):
        return True
    if not ending.after.isalpha():
        return False
    following = ending.block[ending.mark.end() : ending.mark.end() + 60].split()[:4]
    caseless = ending.after.lower() == ending.after.upper()
    return any(
        word.strip(".,।،").casefold() in SAID and not (caseless and word[-1] in ",،") for word in following
    )


def _after_point(ending: Ending) -> bool:
    word = ending.word.rstrip(".")
    if not word or ending.mark["close"]:
        return bool(ending.next) or not word or bool(ending.mark["close"])
    folded = word.casefold().replace("\u00a0", "")
    if folded in ALONE and _stands_alone(ending):
        return True
    if folded in MAY_END and ending.starter and not (folded in BEFORE_NUMBER and ending.next[:1].isdigit()):
        return True
    if folded in MAY_END or folded in BEFORE_MORE or (_takes_number(folded) and _number_follows(ending)):
        return False
    if ACRONYM.fullmatch(word) or INITIAL.fullmatch(word):
        return _ends_after_letters(ending, word)
    return not (ORDINAL.fullmatch(word) and _ordinal(ending, word))


def _stands_alone(ending: Ending) -> bool:
    """Whether a short word is no initial: I after a small word, a unit after a number."""
    start = max(ending.start, ending.mark.start() - LONGEST)
    before = " ".join(ending.block[start : ending.mark.start()].split()[-2:-1])
    if ending.word == "I":
        return before.islower() and ending.starter
    return ending.word not in UNITS or before[-1:].isdigit()


def _ends_after_letters(ending: Ending, word: str) -> bool:
    """Initials belong to a name, letters at the beginning number a list; acronyms may end a sentence."""
    if not ending.block[ending.start : ending.mark.start() - len(word)].strip(" (#>*-"):
        return False
    if re.search(f"[{ARABIC}{DEVANAGARI}]", word):
        return False
    return ending.starter and bool(ending.next) and not ending.next.endswith(".")


def _takes_number(folded: str) -> bool:
    return folded in BEFORE_NUMBER or folded.endswith("str")


def _number_follows(ending: Ending) -> bool:
    return ending.next[:1].isdigit() or re.fullmatch(r"[ivxlIVXL]+[.,]?", ending.next) is not None


def _ordinal(ending: Ending, word: str) -> bool:
    """Whether a number with a point is a number of a list, or an ordinal as German and others write it."""
    head = ending.block[ending.start : ending.mark.start() - len(word)]
    if head.strip(" (#>*-").casefold() in LABELS_OR_NONE:
        return True
    if ending.next.casefold().rstrip(".") in ORDINAL_NOUNS:
        return True
    return _german(ending.block) and not ending.starter
