"""Numbers in a text with their units, in one form whatever they are written like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from rankproof.core.text.abbreviations import GERMAN
from rankproof.core.text.dates import Date, dates
from rankproof.core.text.scripts import CJK
from rankproof.core.text.units import ORDINALS, SCALES, SMALL, TENS, UNITS, unit_pattern

CURRENCY = re.compile(r"[$€£¥₹]\s?$")
MINUS = re.compile(r"(?<![\w.,])[-−]$")
GROUPED = r"\d(?<![A-Za-z\d]\d)\d{0,2}(?:[\u00a0\u202f’'٬ ]\d{3})+(?!\d)(?:[.,٫]\d+)?"
DIGITS = rf"{GROUPED}|\d(?<![A-Za-z\d]\d)\d*(?:[.,٫٬]\d+)*"
HAN_NUMBER = "[一二两兩三四五六七八九十百千万億亿零〇]"
HAN_VALUES = {c: v for v, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
HAN_TENS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "億": 10**8, "亿": 10**8}
SPELT_WORDS = frozenset({*SMALL, *TENS, *ORDINALS, "hundred", "one"})
SPELT = "|".join(sorted(SPELT_WORDS, key=len, reverse=True))
DIGIT = re.compile(r"\d")
LETTERS = re.compile(r"[^\W\d_]+")
HALF = r"(?P<half>[\s-]and[\s-](?:a|one)[\s-]half(?!\w)|\s?½)?"


class Quantity(NamedTuple):
    """A number where it stands, in the base unit of its kind; unit "" where it has none, "th" for ordinals."""

    start: int
    end: int
    value: float
    unit: str
    bare: float
    """The number as it is written, without its unit."""

    @property
    def form(self) -> str:
        """Number and unit in one form.

        >>> quantities("3 km")[0].form, quantities("3,000 metres")[0].form
        ('3000 m', '3000 m')
        """
        return f"{_shown(self.value)} {self.unit}".strip()

    @property
    def plain(self) -> str:
        """The number alone, as it is written."""
        return _shown(self.bare)


def quantities(text: str, known: Sequence[Date] | None = None) -> list[Quantity]:
    """The numbers of a text that are no part of a date; `known` are its dates, where they have been found.

    >>> [each.form for each in quantities("1,000 = 1000; 3,5 % of $2 million in the 21st of twenty-one cases")]
    ['1000', '1000', '3.5 %', '2000000 USD', '21 th', '21']
    """
    taken = [(date.start, date.end) for date in (dates(text) if known is None else known)]
    return sorted(each for each in _quantities(text) if not any(a <= each.start < b for a, b in taken))


@cache
def _scales() -> str:
    return "|".join(sorted((re.escape(s) for s in SCALES if s not in "km"), key=len, reverse=True))


@cache
def _in_digits(flags: int) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<digits>{DIGITS}){HALF}(?:(?P<ordinal>st|nd|rd|th)(?!\w)"
        rf"|\s?(?P<scale>(?:{_scales()})(?:(?!\w)|(?=[{CJK}]))|[km](?!\w)(?<=\d.))\.?)?"
        rf"(?:[\s-]?(?P<unit>{unit_pattern()}))?",
        flags,
    )


@cache
def _in_words(flags: int) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![^\W\d_])(?P<spelt>(?:{SPELT})(?:[\s-](?:{SPELT}))*)(?!\w){HALF}"
        rf"(?:\s(?P<scale>(?:{_scales()})(?!\w)))?(?:[\s-](?P<unit>{unit_pattern()}))?",
        flags,
    )


@cache
def _in_han() -> re.Pattern[str]:
    return re.compile(rf"(?P<han>{HAN_NUMBER}{{2,}})(?P<unit>{unit_pattern()})?")


def _quantities(text: str) -> Iterator[Quantity]:
    small = text.lower()  # much faster to find something in than letters of any size
    text, flags = (small, 0) if len(small) == len(text) else (text, int(re.IGNORECASE))
    if DIGIT.search(text):
        comma = _writes_comma(text)
        for found in _in_digits(flags).finditer(text):
            yield _written(found, parsed(found["digits"], comma))
    for found in _spelt_out(text, SPELT_WORDS.intersection(LETTERS.findall(small)), flags):
        yield from _spelt(found)
    if not text.isascii():
        for found in _in_han().finditer(text):
            yield from _han(found)


def _spelt_out(text: str, there: Iterable[str], flags: int) -> Iterator[re.Match[str]]:
    """The numbers in words, of which some are there; where each may begin is looked for first, as that is fast."""
    past = 0
    for start in sorted(found.start() for word in there for found in _one_word(word, flags).finditer(text)):
        if start >= past and (number := _in_words(flags).match(text, start)):
            past = number.end()
            yield number


@cache
def _one_word(word: str, flags: int) -> re.Pattern[str]:
    return re.compile(rf"{word}(?![^\W\d_])", flags)


def _written(found: re.Match[str], value: float) -> Quantity:
    before, value = found.string[max(0, found.start() - 2) : found.start()], value + _half(found)
    bare = (-value if MINUS.search(before) else value) * SCALES.get((found["scale"] or "").casefold(), 1.0)
    if found["ordinal"]:
        return Quantity(found.start(), found.end(), bare, "th", bare)
    currency = CURRENCY.search(before)
    return _with_unit(found, bare, (currency.group().strip() if currency else found["unit"] or "").casefold())


def _with_unit(found: re.Match[str], bare: float, spelling: str) -> Quantity:
    kind, factor = UNITS.get(spelling, ("", 1.0))
    end = found.start() + len(found[0].rstrip())
    return Quantity(found.start(), end, bare * factor, kind, bare)


def _spelt(found: re.Match[str]) -> Iterator[Quantity]:
    """A number in words; one, alone, is a pronoun as often, and first and second are not counted."""
    parts = re.split(r"[\s-]", found["spelt"].casefold())
    ordinal = parts[-1] in ORDINALS
    scale = SCALES.get((found["scale"] or "").casefold(), 1.0)
    if parts == ["one"] and scale == 1 and not found["unit"] and not found["half"]:
        return
    value = (_worth(parts) + _half(found)) * scale
    if ordinal:
        yield Quantity(found.start(), found.end(), value, "th", value)
    else:
        yield _with_unit(found, value, (found["unit"] or "").casefold())


def _half(found: re.Match[str]) -> float:
    return 0.5 if found["half"] else 0.0


def _worth(parts: list[str]) -> float:
    value = 0
    for part in parts:
        if part == "hundred":
            value = max(value, 1) * 100
        else:
            value += 1 if part == "one" else SMALL.get(part) or TENS.get(part) or ORDINALS.get(part) or 0
    return float(value)


def _han(found: re.Match[str]) -> Iterator[Quantity]:
    """A number in Chinese characters that has a multiplier and a digit, or a unit."""
    signs = found["han"]
    if not any(c in HAN_TENS for c in signs) or not any(c in HAN_VALUES for c in signs):
        return
    yield _with_unit(found, float(_han_value(signs)), found["unit"] or "")


def _han_value(signs: str) -> int:
    total = section = digit = 0
    for sign in signs:
        if sign in HAN_VALUES:
            digit = HAN_VALUES[sign]
        elif HAN_TENS[sign] < 10_000:
            section, digit = section + max(digit, 1) * HAN_TENS[sign], 0
        else:
            total, section, digit = (total + max(section + digit, 1)) * HAN_TENS[sign], 0, 0
    return total + section + digit


def parsed(digits: str, comma: bool = False) -> float:
    """The value of a written number; `comma` where the text writes decimals with a comma.

    >>> parsed("1,000"), parsed("1.234,5"), parsed("3,5"), parsed("1.234"), parsed("1.234", comma=True)
    (1000.0, 1234.5, 3.5, 1.234, 1234.0)
    """
    if digits.isascii() and digits.isdigit():
        return float(digits)
    plain = re.sub(r"[\u00a0\u202f’' ٬]", "", digits).replace("٫", ".")
    last = max(plain.rfind("."), plain.rfind(","))
    if last < 0:
        return float(plain)
    if _groups(plain, comma):
        return float(re.sub("[.,]", "", plain))
    return float(re.sub("[.,]", "", plain[:last]) + "." + plain[last + 1 :])


def _groups(plain: str, comma: bool) -> bool:
    """Whether all signs between digits part thousands."""
    signs = re.sub(r"\d", "", plain)
    if len(set(signs)) > 1:
        return False
    if not re.fullmatch(r"\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3}", plain) or plain.startswith("0"):
        return len(signs) > 1
    return len(signs) > 1 or signs == "," or comma or plain.endswith("000")


def _writes_comma(text: str) -> bool:
    """Whether decimals seem to be written with a comma."""
    if re.search(r"(?<![\d.,])\d+,\d{1,2}(?![\d.,]\d|\d)", text):
        return True
    return not GERMAN.isdisjoint(text.lower().split())


def _shown(value: float) -> str:
    return f"{value:.12g}" if abs(value) < 1e12 else f"{value:.6e}"
