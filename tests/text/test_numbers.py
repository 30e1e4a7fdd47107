"""Numbers, dates and units come out alike however they are written."""

from __future__ import annotations

import pytest

from rankproof.text.numbers_and_dates import dates, quantities


def forms(text: str) -> list[str]:
    return [each.form for each in quantities(text)]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1,000 people", "1000"),
        ("1000 people", "1000"),
        ("1 000 000 people", "1000000"),
        ("1’000 Franken", "1000"),
        ("1.234,50", "1234.5"),
        ("1,234.50", "1234.5"),
        ("3,5", "3.5"),
        ("10.000 Menschen", "10000"),
        ("1,00,000", "100000"),
        ("3.5 million", "3500000"),
        ("2 Mio.", "2000000"),
        ("1.2bn", "1200000000"),
        ("two and a half hours", "9000 s"),
        ("2½ km", "2500 m"),
        ("2 and a half million people", "2500000"),
        ("5 lakh", "500000"),
        ("३.५ करोड़", "35000000"),
        ("٣٫٥", "3.5"),
        ("１２３", "123"),
        ("3.5亿", "350000000"),
        ("三百二十", "320"),
        ("twenty-one", "21"),
        ("three thousand", "3000"),
        ("seven", "7"),
        ("21st", "21 th"),
        ("third", "3 th"),
        ("12%", "12 %"),
        ("12 percent", "12 %"),
        ("12 Prozent", "12 %"),
        ("3 km", "3000 m"),
        ("3,000 metres", "3000 m"),
        ("3公里", "3000 m"),
        ("$2 million", "2000000 USD"),
        ("€5", "5 EUR"),
        ("5 euros", "5 EUR"),
        ("-5 °C", "-5 C"),
        ("90 minutes", "5400 s"),
        ("1.5 hours", "5400 s"),
        ("2 years", "24 month"),
        ("0.5 kg", "500 g"),
    ],
)
def test_a_number_has_one_form(text: str, form: str) -> None:
    assert forms(text) == [form]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Version 2.10", "2.10"),
        ("version 2.1", "2.1"),
        ("Python 3.10", "3.10"),
        ("section 4.10", "4.10"),
        ("§ 4.10", "4.10"),
        ("Order 00123", "00123"),
        ("code 007", "007"),
        ("release 1.2.10", "1.2.10"),
        ("It costs 1.50 EUR", "1.5 EUR"),
        ("EUR 1.50", "1.5"),
        ("a mean of 2.50", "2.5"),
        ("at 09:00", "9"),
        ("um 09 Uhr", "9"),
        ("1.000.000", "1000000"),
        ("5 Mb", "5000000 bit"),
        ("5 MB", "5000000 B"),
        ("5 mb", "5000000 B"),
    ],
)
def test_a_version_or_code_is_kept_as_it_is_written(text: str, form: str) -> None:
    assert forms(text)[0] == form


@pytest.mark.parametrize("text", ["one of them", "the second time is unlike", "no numbers", "统一 一些", "A4B", ""])
def test_what_is_no_number(text: str) -> None:
    assert [form for form in forms(text) if not form.endswith("th")] == []


@pytest.mark.parametrize(
    "text",
    [
        "April 21 1960",
        "April 21, 1960",
        "21 April 1960",
        "21st of April 1960",
        "Apr. 21, 1960",
        "1960-04-21",
        "21/04/1960",
        "04/21/1960",
        "21.04.1960",
        "21. April 1960",
        "21 avril 1960",
        "21 de abril de 1960",
        "21 апреля 1960",
        "21 أبريل 1960",
        "21 अप्रैल 1960",
        "1960年4月21日",
        "1960년 4월 21일",
    ],
)
def test_a_date_has_one_form(text: str) -> None:
    assert [date.iso for date in dates(text)] == ["1960-04-21"]
    assert quantities(text) == []


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("in April 1960", "1960-04"),
        ("on 21 April", "--04-21"),
        ("4月21日", "--04-21"),
        ("1960年4月", "1960-04"),
    ],
)
def test_parts_of_dates(text: str, form: str) -> None:
    assert [date.iso for date in dates(text)] == [form]


@pytest.mark.parametrize("text", ["3/4/1960", "2020-13-45", "version 1.2.3", "May I come?", "in march they march", ""])
def test_what_is_no_date(text: str) -> None:
    assert dates(text) == []


def test_places_are_those_of_the_text() -> None:
    text = "Paid: $3.5 million on 3 May 2010."
    (amount,), (date,) = quantities(text), dates(text)
    assert text[amount.start : amount.end] == "3.5 million"
    assert text[date.start : date.end] == "3 May 2010"
