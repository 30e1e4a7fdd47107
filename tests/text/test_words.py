"""Words, stems, denials and languages."""

from __future__ import annotations

import pytest

from rankproof.text.claims import negations
from rankproof.text.languages import language
from rankproof.text.words import fold, stem, words


def forms(text: str) -> list[str]:
    return [word.form for word in words(text)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Well-known CAFÉS", ["well", "known", "cafes"]),
        ("it's Ann’s", ["it", "ann"]),
        ("L'Été d'Anne", ["ete", "anne"]),
        ("the U.S. and U.K.", ["the", "usa", "and", "uk"]),
        ("ＡＢＣ", ["abc"]),
        ("東京タワー", ["東京", "タワー"]),
        ("北京大学", ["北京", "京大", "大学"]),
        ("كِتَابٌ", ["كتاب"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("한국어 문장", ["한국어", "문장"]),
        (
            "the drug is un\u00adsafe, Donau\u00addampf\u2060schiff \u00ad",
            ["the", "drug", "is", "unsafe", "donaudampfschiff"],
        ),
        ("!!! 🙂", []),
        ("", []),
    ],
)
def test_words(text: str, wanted: list[str]) -> None:
    assert forms(text) == wanted


def test_places_are_those_of_the_text() -> None:
    text = "Die Straße（東京都）3 km"
    assert all(fold(text[word.start : word.end]) == word.form for word in words(text))


@pytest.mark.parametrize(
    "family",
    [
        "house houses housing",
        "study studies studied studying",
        "organize organizes organized organization",
        "locate located location",
        "quick quickly",
        "write wrote written writing",
        "man men",
        "Katze Katzen",
        "Haus Häuser Hauses",
        "schön schöne schönes",
        "libro libros",
        "книга книги книгу",
        "كتاب الكتاب",
        "लड़का लड़के लड़कों",
        "학교 학교는 학교에서",
    ],
)
def test_forms_of_a_word_have_one_stem(family: str) -> None:
    assert len({stem(fold(word)) for word in family.split()}) == 1


@pytest.mark.parametrize("pair", ["north south", "red reed", "paris pair", "use user-no", "state station", "two ten"])
def test_different_words_have_different_stems(pair: str) -> None:
    one, other = pair.split()
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    "text",
    [
        "It is not cheap.",
        "It isn't cheap.",
        "It never rains.",
        "Das ist nicht gut.",
        "Es gibt keinen Plan.",
        "Il n'est pas là.",
        "No está aquí.",
        "Non è vero.",
        "Это не так.",
        "ليس هنا.",
        "वह नहीं आया।",
        "他不来。",
        "他没有来。",
        "彼は来ない。",
        "知りません。",
        "오지 않았다.",
    ],
)
def test_denials_are_found(text: str) -> None:
    assert negations(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is cheap.",
        "Not only cheap.",
        "See no. 5.",
        "Notable nodes.",
        "他非常好。",
        "不仅如此。",
        "かもしれない。",
        "Er wurde am 3. Mai 1999 geboren.",
        "Il est né le 3 mai 1999.",
        "C'est une personne.",
    ],
)
def test_what_is_no_denial(text: str) -> None:
    assert negations(text) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("What is the capital of this country?", "en"),
        ("Was ist die Hauptstadt von diesem Land?", "de"),
        ("Quelle est la capitale de ce pays ?", "fr"),
        ("¿Cuál es la capital de este país?", "es"),
        ("这个国家的首都是什么？", "zh"),
        ("この国の首都はどこですか", "ja"),
        ("ما هي عاصمة هذا البلد؟", "ar"),
        ("इस देश की राजधानी क्या है?", "hi"),
        ("Столица этой страны", "ru"),
        ("1960", ""),
    ],
)
def test_the_language_of_a_text(text: str, code: str) -> None:
    assert language(text) == code


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("30km", ["30km"]),
        ("1,000km", ["1,000", "km"]),
        ("3.5GHz", ["3.5", "ghz"]),
        ("5th of 2024", ["5th", "of", "2024"]),
        ("30日", ["30", "日"]),
        ("2024年", ["2024", "年"]),
    ],
)
def test_a_number_before_letters_is_never_cut_between_its_digits(text: str, forms: list[str]) -> None:
    assert [word.form for word in words(text)] == forms
