"""Numbers in a text with their units, in one form whatever they are written like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from rankproof.core.text.abbreviations import GERMAN
from rankproof.core.text.dates import Date, dates
from rankproof.core.text.scripts import CJK
from rankproof.core.text.units import ORDINALS, SCALES, SMALL, TENS, UNITS, unit_pattern

CURRENCY = r"[$€£¥₹]"
DIGITS = r"\d+(?:[.,٫٬]\d+)*(?:[\u00a0\u202f’'٬ ]\d{3}(?!\d))*(?:[.,٫]\d+)?"
HAN_NUMBER = "[一二两兩三四五六七八九十百千万億亿零〇]"
HAN_VALUES = {c: v for v, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
HAN_TENS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "億": 10**8, "亿": 10**8}
SPELT = "|".join(sorted({*SMALL, *TENS, *ORDINALS, "hundred", "one"}, key=len, reverse=True))


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
    return [each for each in _quantities(text) if not any(a <= each.start < b for a, b in taken)]


@cache
def _pattern() -> re.Pattern[str]:
    scales = "|".join(sorted((re.escape(s) for s in SCALES if s not in "km"), key=len, reverse=True))
    wide = f"[{CJK}]"
    return re.compile(
        rf"(?:(?P<currency>{CURRENCY})\s?)?(?:(?<![\w.,])(?P<minus>[-−])(?=\d))?(?P<digits>(?<![A-Za-z\d]){DIGITS})"
        rf"(?:(?P<ordinal>st|nd|rd|th)(?!\w)|\s?(?P<scale>(?:{scales})(?:(?!\w)|(?={wide}))|[KkM](?!\w)(?<=\d.))\.?)?"
        rf"(?:[\s-]?(?P<unit>{unit_pattern()}))?"
        rf"|(?<![^\W\d_])(?P<spelt>(?:{SPELT})(?:[\s-](?:{SPELT}))*)(?!\w)"
        rf"(?:\s(?P<spelt_scale>(?:{scales})(?!\w)))?(?:[\s-](?P<spelt_unit>{unit_pattern()}))?"
        rf"|(?P<han>{HAN_NUMBER}{{2,}})(?P<han_unit>{unit_pattern()})?",
        re.IGNORECASE,
    )


def _quantities(text: str) -> Iterator[Quantity]:
    comma = None
    for found in _pattern().finditer(text):
        if found["digits"]:
            comma = _writes_comma(text) if comma is None else comma
            yield from _written(found, parsed(found["digits"], comma))
        elif found["spelt"]:
            yield from _spelt(found)
        else:
            yield from _han(found)


def _written(found: re.Match[str], value: float) -> Iterator[Quantity]:
    scale = SCALES.get((found["scale"] or "").casefold(), 1.0)
    bare = (-value if found["minus"] else value) * scale
    if found["ordinal"]:
        yield Quantity(found.start(), found.end(), bare, "th", bare)
        return
    yield _with_unit(found, bare, (found["currency"] or found["unit"] or "").casefold())


def _with_unit(found: re.Match[str], bare: float, spelling: str) -> Quantity:
    kind, factor = UNITS.get(spelling, ("", 1.0))
    end = len(found.string[: found.end()].rstrip())
    return Quantity(found.start(), end, bare * factor, kind, bare)


def _spelt(found: re.Match[str]) -> Iterator[Quantity]:
    """A number in words; one, alone, is a pronoun as often, and first and second are not counted."""
    parts = re.split(r"[\s-]", found["spelt"].casefold())
    ordinal = parts[-1] in ORDINALS
    scale = SCALES.get((found["spelt_scale"] or "").casefold(), 1.0)
    if parts == ["one"] and scale == 1 and not found["spelt_unit"]:
        return
    value = _worth(parts) * scale
    if ordinal:
        yield Quantity(found.start(), found.end(), value, "th", value)
    else:
        yield _with_unit(found, value, (found["spelt_unit"] or "").casefold())


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
    yield _with_unit(found, float(_han_value(signs)), found["han_unit"] or "")


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
    return any(word in GERMAN for word in text.casefold().split())


def _shown(value: float) -> str:
    return f"{value:.12g}" if abs(value) < 1e12 else f"{value:.6e}"
