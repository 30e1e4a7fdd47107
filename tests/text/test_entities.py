"""Entities by rules."""

from __future__ import annotations

import pytest

from rankproof.text.entities import entities, shared_entities


def forms(text: str) -> list[str]:
    return [entity.form for entity in entities(text)]


def test_the_worked_value() -> None:
    wanted = entities("Brazil, Brasília, April 21 1960")
    found = shared_entities(wanted, "Brasília, Brazil")
    assert (len(found), len(wanted)) == (2, 3)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Marie Curie was born in Warsaw in 1867.", ["marie curie", "warsaw", "1867"]),
        ("In Paris, Dogs bark.", ["paris", "dogs"]),
        ("The Bank of England moved.", ["bank of england"]),
        ("He met J. K. Rowling at MIT.", ["j k rowling", "mit"]),
        ("Apple sold the iPhone for $799.", ["apple", "iphone", "799 USD"]),
        ("Refunds are granted.", []),
        ("Angela Merkel wurde 1954 in Hamburg geboren.", ["angela merkel", "1954", "hamburg"]),
        ("北京是中国的首都。", ["北京", "中国"]),
        ("القاهرة عاصمة مصر.", ["القاهره", "مصر"]),
        ("ताजमहल आगरा में है।", ["ताजमहल", "आगरा"]),
        ("", []),
    ],
)
def test_entities_of_a_text(text: str, wanted: list[str]) -> None:
    assert forms(text) == wanted


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("the United States", "It is in the USA."),
        ("the U.S. won", "America won."),
        ("World Health Organization (WHO)", "The WHO said so."),
        ("in Brasilia", "BRASÍLIA is large."),
        ("It took 3 km.", "A way of 3,000 metres."),
        ("on April 21, 1960", "1960-04-21"),
        ("Ann met Bob Marley", "ann and bob marley sang"),
    ],
)
def test_other_spellings_are_the_same(wanted: str, text: str) -> None:
    entities_ = entities(wanted)
    assert entities_
    assert shared_entities(entities_, text) == entities_


def test_what_is_not_there_is_not_found() -> None:
    found = shared_entities(entities("Lima and Rome in 1961"), "Rome in 1960")
    assert [entity.form for entity in found] == ["rome"]


def test_an_entity_is_counted_once() -> None:
    assert forms("Rome is old. Rome, ROME and Rome!") == ["rome"]
