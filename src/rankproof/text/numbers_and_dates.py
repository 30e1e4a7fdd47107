"""Numbers with their units, and dates, found in a text in many languages and orders and given one normal form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from rankproof.text.languages import BEFORE_NUMBER, GERMAN, LABELS
from rankproof.text.words import CJK, read_table

MONTHS = {name: month for month, names in enumerate(read_table("months"), start=1) for name in names}
NAME = "|".join(sorted(MONTHS, key=len, reverse=True))
FORMS = (
    r"(?<!\d)(?P<a_year>[12]\d{3})-(?P<a_month>\d{2})-(?P<a_day>\d{2})(?!\d)",
    rf"(?<!\w)(?P<b_day>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s(?:of\s|de\s)?(?P<b_name>{NAME})(?!\w)(?:\.(?=,?\s[12]\d{{3}}))?"
    r"(?:,?\s(?:de\s|del\s)?(?P<b_year>[12]\d{3})(?!\d))?",
    rf"(?<!\w)(?P<c_name>{NAME})\.?\s(?P<c_day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d.,]\d)(?!\w)(?:\s?,?\s(?P<c_year>[12]\d{{3}})(?!\d))?",
    rf"(?<!\w)(?P<d_name>{NAME})\.?,?\s(?:of\s|de\s|del\s)?(?P<d_year>[12]\d{{3}})(?!\d)",
    r"(?P<e_year>[12]\d{3})\s?[年년]\s?(?P<e_month>\d{1,2})\s?[月월](?:\s?(?P<e_day>\d{1,2})\s?[日号號일])?",
    r"(?<!\d)(?P<f_month>\d{1,2})\s?[月월]\s?(?P<f_day>\d{1,2})\s?[日号號일]",
    r"(?<![\d.])(?P<g_day>\d{1,2})\.\s?(?P<g_month>\d{1,2})\.\s?(?P<g_year>[12]\d{3})(?!\d)",
    r"(?<![\d/])(?P<h_one>\d{1,2})/(?P<h_two>\d{1,2})/(?P<h_year>[12]\d{3})(?!\d)",
)
DATE = re.compile("|".join(FORMS))
NAMES = re.compile(r"[^\s\d.,;:()\[\]'\"-]+")
TIED = re.compile(r"\d\s?[年月년월]|\d[/-]\d|\d\.\s?\d{1,2}\.")
RUN = re.compile(r"\d+")
AROUND = 24
"""The largest distance of a month's name from the digits of its date."""


class Date(NamedTuple):
    """A date with its place; 0 for a part that is not given."""

    start: int
    end: int
    year: int
    month: int
    day: int

    @property
    def iso(self) -> str:
        """The date as ISO 8601 writes it, with its known parts.

        >>> Date(0, 0, 1960, 4, 21).iso, Date(0, 0, 1960, 4, 0).iso, Date(0, 0, 0, 4, 21).iso
        ('1960-04-21', '1960-04', '--04-21')
        """
        head = f"{self.year:04d}" if self.year else "-"
        return f"{head}-{self.month:02d}" + (f"-{self.day:02d}" if self.day else "")

    @property
    def parts(self) -> list[str]:
        """The date and each less exact date that it falls on.

        >>> Date(0, 0, 1960, 4, 21).parts
        ['1960-04-21', '1960-04', '--04-21', '1960']
        """
        whole = [self.iso]
        if self.year and self.day:
            whole += [f"{self.year:04d}-{self.month:02d}", f"--{self.month:02d}-{self.day:02d}"]
        return [*whole, str(self.year)] if self.year else whole


def dates(text: str) -> list[Date]:
    """The dates of a text; days and months in an ambiguous order are left out.

    >>> [date.iso for date in dates("April 21, 1960; 21. April 1960; 1960年4月21日; 21/04/1960; 3/4/1960")]
    ['1960-04-21', '1960-04-21', '1960-04-21', '1960-04-21']
    """
    lowered = text.lower()
    small = lowered if len(lowered) == len(text) else text
    found = (_date(each) for start, end in _stretches(small) for each in DATE.finditer(small, start, end))
    return [date for date in found if 1 <= date.month <= 12 and 0 <= date.day <= 31]


def _date(found: re.Match[str]) -> Date:
    """A date as it is written; the month is 0 if two numbers between slashes are in an ambiguous order."""
    given = {name[2:]: part for name, part in found.groupdict().items() if part}
    if "one" in given:
        month, day = sorted((int(given["one"]), int(given["two"])))
        if month < day <= 12:  # which of them is the month?
            month = 0
    else:
        month = MONTHS[given["name"].casefold()] if "name" in given else int(given["month"])
        day = int(given.get("day", 0))
    return Date(*found.span(), int(given.get("year", 0)), month, day)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Where dates may be: around digits, those near each other together, with a month's name or joined as in dates."""
    ends: list[tuple[int, int]] = []
    for digits in RUN.finditer(text):
        start = max(0, digits.start() - AROUND)
        if ends and start <= ends[-1][1]:
            start = ends.pop()[0]
        ends.append((start, digits.end() + AROUND))
    for start, end in ends:
        stretch = text[start:end]
        if not MONTHS.keys().isdisjoint(NAMES.findall(stretch)) or TIED.search(stretch):
            yield start, end


UNITS = {each: (kind, float(size)) for kind, size, *spellings in read_table("units") for each in spellings}
"""The kind of each unit and its size in the kind's first unit, by its spellings, case folded."""
SCALES = {spelling: float(factor) for factor, *spellings in read_table("scales") for spelling in spellings}
"""Words that multiply the number before them."""
IN_ORDER = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINALS = {word: place for place, word in enumerate(IN_ORDER.split(), start=1)}
WORTH = {**ORDINALS, **{word: int(value) for value, *words in read_table("numbers_in_words") for word in words}}


def unit_pattern() -> str:
    """An alternation of all spellings, longest first; letters end at the end of a word."""
    known = sorted(UNITS, key=len, reverse=True)
    lettered = [re.escape(s) for s in known if s[-1].isalpha() and ord(s[0]) < 0x3000]
    others = [re.escape(s) for s in known if re.escape(s) not in lettered]
    return rf"(?:(?:{'|'.join(lettered)})(?![^\W_])|{'|'.join(others)})"


CURRENCY = re.compile(r"[$€£¥₹]\s?$")
MINUS = re.compile(r"(?<![\w.,])[-−]$")
GROUPED = r"\d(?<![A-Za-z\d]\d)\d{0,2}(?:[\u00a0\u202f’'٬ ]\d{3})+(?!\d)(?:[.,٫]\d+)?"
DIGITS = rf"{GROUPED}|\d(?<![A-Za-z\d]\d)\d*(?:[.,٫٬]\d+)*"
HAN_NUMBER = "[一二两兩三四五六七八九十百千万億亿零〇]"
HAN_VALUES = {c: v for v, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
HAN_TENS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "億": 10**8, "亿": 10**8}
SPELT_WORDS = frozenset({*WORTH, "hundred"})
SPELT = "|".join(sorted(SPELT_WORDS, key=len, reverse=True))
DIGIT = re.compile(r"\d")
COMMA = re.compile(r"(?<![\d.,])\d+,\d{1,2}(?![\d.,]\d|\d)")
LETTERS = re.compile(r"[^\W\d_]+")
CODE = re.compile(
    r"(?<![:/-])0\d+(?!\d|\s?(?:[:/-]\d|uhr|h\b|[ap]\.?m|o.clock))|(?!\d+(?:\.\d{3})+(?!\d))\d+(?:\.\d+){2,}",
    re.IGNORECASE,
)
"""Digits with zeros in front that are no time, and versions of three parts, which are no thousands."""
NAMED = re.compile(r"([^\W\d_]+|§)\.?\s?$")
BITS = re.compile("[KMGT]b")
HALF = r"(?P<half>[\s-]and[\s-](?:a|one)[\s-]half(?!\w)|\s?½)?"


class Quantity(NamedTuple):
    """A number with its place, in the base unit of its kind; unit "" where it has none, "th" for ordinals."""

    start: int
    end: int
    value: float
    unit: str
    bare: float
    """The number as it is written, without its unit."""
    label: str = ""
    """Its digits, if each of them counts: 2.10 is another version than 2.1, and 007 another code than 7."""

    @property
    def form(self) -> str:
        """Number and unit in one form.

        >>> quantities("3 km")[0].form, quantities("3,000 metres")[0].form
        ('3000 m', '3000 m')
        """
        return self.label or f"{_shown(self.value)} {self.unit}".strip()

    @property
    def plain(self) -> str:
        """The number alone, as it is written."""
        return self.label or _shown(self.bare)


def quantities(text: str, known: Sequence[Date] | None = None) -> list[Quantity]:
    """The numbers of a text that are not part of a date; `known` are its dates, if they were found before.

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
    small = text.lower()  # much faster to search than letters of any case
    whole, (text, flags) = text, (small, 0) if len(small) == len(text) else (text, int(re.IGNORECASE))
    if DIGIT.search(text):
        # Decimals are written with a comma if one shows it, or in a text that seems to be German.
        comma = COMMA.search(text) is not None or not GERMAN.isdisjoint(text.lower().split())
        for found in _in_digits(flags).finditer(text):
            yield _written(found, whole, comma)
    yield from filter(None, map(_spelt, _spelt_out(text, SPELT_WORDS.intersection(LETTERS.findall(small)), flags)))
    if not text.isascii():
        yield from filter(None, map(_han, _in_han().finditer(text)))


def _spelt_out(text: str, there: Iterable[str], flags: int) -> Iterator[re.Match[str]]:
    """The numbers in words of a text that has some; places where one may begin are searched first, as that is fast."""
    past = 0
    for start in sorted(found.start() for word in there for found in _one_word(word, flags).finditer(text)):
        if start >= past and (number := _in_words(flags).match(text, start)):
            past = number.end()
            yield number


@cache
def _one_word(word: str, flags: int) -> re.Pattern[str]:
    return re.compile(rf"{word}(?![^\W\d_])", flags)


def _written(found: re.Match[str], text: str, comma: bool) -> Quantity:
    """A number in digits; `text` has the large letters too, which tell bits from bytes, and names."""
    before = text[max(0, found.start() - 2) : found.start()]
    bare = _scaled(found, parse_number(found["digits"], comma)) * (-1 if MINUS.search(before) else 1)
    sign, spelling = CURRENCY.search(before), text[slice(*found.span("unit"))]
    number = _quantity(found, bare, sign.group().strip() if sign else spelling, bool(found["ordinal"]))
    if BITS.fullmatch(spelling):
        return number._replace(unit="bit")
    return number._replace(label=found["digits"]) if _is_label(found, number, text) else number


def _is_label(found: re.Match[str], number: Quantity, text: str) -> bool:
    """Whether digits are a code or a version, not an amount: by themselves, or by the name before a decimal."""
    if number.unit or number.end != found.end("digits"):
        return False
    if (code := CODE.match(text, number.start)) and code.end() == number.end:
        return True
    name = NAMED.search(text, max(0, number.start - 24), number.start)
    word = name[1] if name and found["digits"][-1] == "0" and "." in found["digits"] else ""
    small = word.casefold()
    return small not in UNITS and (
        word != word.lower() or small.startswith(("versi", "release")) or small in BEFORE_NUMBER | LABELS
    )


def _spelt(found: re.Match[str]) -> Quantity | None:
    """A number in words; one, alone, is a pronoun as often, and first and second are not counted."""
    parts = re.split(r"[\s-]", found["spelt"].casefold())
    if parts == ["one"] and not (found["scale"] or found["unit"] or found["half"]):
        return None
    return _quantity(found, _scaled(found, _worth(parts)), found["unit"], parts[-1] in ORDINALS)


def _scaled(found: re.Match[str], value: float) -> float:
    return (value + (0.5 if found["half"] else 0.0)) * SCALES.get((found["scale"] or "").casefold(), 1.0)


def _quantity(found: re.Match[str], bare: float, spelling: str | None, ordinal: bool = False) -> Quantity:
    kind, factor = ("th", 1.0) if ordinal else UNITS.get((spelling or "").casefold(), ("", 1.0))
    return Quantity(*found.span(), bare * factor, kind, bare)


def _worth(parts: list[str]) -> float:
    value = 0
    for part in parts:
        value = max(value, 1) * 100 if part == "hundred" else value + WORTH.get(part, 0)
    return float(value)


def _han(found: re.Match[str]) -> Quantity | None:
    """A number in Chinese characters that has a multiplier and a digit, or a unit."""
    signs = found["han"]
    if not any(c in HAN_TENS for c in signs) or not any(c in HAN_VALUES for c in signs):
        return None
    total = section = digit = 0
    for sign in signs:
        if sign in HAN_VALUES:
            digit = HAN_VALUES[sign]
        elif HAN_TENS[sign] < 10_000:
            section, digit = section + max(digit, 1) * HAN_TENS[sign], 0
        else:
            total, section, digit = (total + max(section + digit, 1)) * HAN_TENS[sign], 0, 0
    return _quantity(found, float(total + section + digit), found["unit"])


def parse_number(digits: str, comma: bool = False) -> float:
    """The value of a written number; `comma`: the text writes decimals with a comma.

    >>> [parse_number(each) for each in ("1,000", "1.234,5", "3,5", "1.234")], parse_number("1.234", comma=True)
    ([1000.0, 1234.5, 3.5, 1.234], 1234.0)
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
    """Whether all signs between digits separate thousands."""
    signs = re.sub(r"\d", "", plain)
    if len(signs) > 1:
        return len(set(signs)) == 1
    grouped = re.fullmatch(r"(?!0)\d{1,3}[.,]\d{3}", plain) is not None
    return grouped and (signs == "," or comma or plain.endswith("000"))


def _shown(value: float) -> str:
    return f"{value:.12g}" if abs(value) < 1e12 else f"{value:.6e}"
