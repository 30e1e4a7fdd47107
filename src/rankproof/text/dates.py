"""Dates in a text, in many languages and orders, each as year, month and day as far as they are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier enero gennaio janeiro januari января जनवरी يناير",
            "february feb februar février fevrier febrero febbraio fevereiro februari февраля फरवरी फ़रवरी فبراير",
            "march mar märz mars marzo março maart марта मार्च مارس",
            "april apr avril abril aprile апреля अप्रैल أبريل إبريل",
            "may mai mayo maggio maio mei мая मई مايو",
            "june jun juni juin junio giugno junho июня जून يونيو",
            "july jul juli juillet julio luglio julho июля जुलाई يوليو",
            "august aug août aout agosto augustus августа अगस्त أغسطس",
            "september sep sept septembre septiembre settembre setembro сентября सितंबर सितम्बर سبتمبر",
            "october oct oktober okt octobre octubre ottobre outubro октября अक्टूबर अक्तूबर أكتوبر",
            "november nov novembre noviembre novembro ноября नवंबर नवम्बर نوفمبر",
            "december dec dezember dez décembre diciembre dicembre dezembro декабря दिसंबर दिसम्बर ديسمبر",
        ),
        start=1,
    )
    for name in names.split()
}
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
DIGITS = re.compile(r"\d+")
AROUND = 24
"""No name of a month is further from the digits of its date."""


class Date(NamedTuple):
    """A date where it stands; 0 for a part that is not given."""

    start: int
    end: int
    year: int
    month: int
    day: int

    @property
    def iso(self) -> str:
        """As ISO 8601 writes it, with what is known.

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
    """The dates of a text; days and months whose order cannot be told are left out.

    >>> [date.iso for date in dates("April 21, 1960; 21. April 1960; 1960年4月21日; 21/04/1960; 3/4/1960")]
    ['1960-04-21', '1960-04-21', '1960-04-21', '1960-04-21']
    """
    return list(_dates(text))


def _dates(text: str) -> Iterator[Date]:
    lowered = text.lower()
    small = lowered if len(lowered) == len(text) else text
    for start, end in _stretches(small):
        if not _may_hold(small[start:end]):
            continue
        for found in DATE.finditer(small, start, end):
            given = {name[2:]: part for name, part in found.groupdict().items() if part}
            year, month, day = int(given.get("year", 0)), _month(given), _day(given)
            if 1 <= month <= 12 and 0 <= day <= 31:
                yield Date(found.start(), found.end(), year, month, day)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Where dates may be: around digits, those near each other together."""
    start, end = 0, -1
    for digits in DIGITS.finditer(text):
        if end < 0 or digits.start() - AROUND > end:
            if end >= 0:
                yield start, end
            start = max(0, digits.start() - AROUND)
        end = digits.end() + AROUND
    if end >= 0:
        yield start, end


def _may_hold(stretch: str) -> bool:
    """Whether there is a month's name, or numbers tied as in dates."""
    return not MONTHS.keys().isdisjoint(NAMES.findall(stretch)) or TIED.search(stretch) is not None


def _month(given: dict[str, str]) -> int:
    if "name" in given:
        return MONTHS[given["name"].casefold()]
    return _ordered(given)[0] if "one" in given else int(given["month"])


def _day(given: dict[str, str]) -> int:
    return _ordered(given)[1] if "one" in given else int(given.get("day", 0))


def _ordered(given: dict[str, str]) -> tuple[int, int]:
    """Month and day of two numbers between strokes; 0 where it cannot be told which is which."""
    one, two = int(given["one"]), int(given["two"])
    if one > 12 or one == two:
        return two, one
    return (one, two) if two > 12 else (0, 0)
