"""What holds of sentences in any text, and where lines break them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof.text.claims import claims, statements
from rankproof.text.sentences import sentences
from tests.work import check_growth

SIGNS = st.text(alphabet=st.sampled_from(list('abcA B.!?…。！？「」“”"()\n\t-#1२ا।؟한,;|*é🙂')), max_size=60)


def found(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(SIGNS)
def test_sentences_hold_all_that_is_not_white_space_in_order(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(found(text)).split()) == "".join(text.split())
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(span.of(text) == span.of(text).strip() != "" for span in spans)


@settings(max_examples=200, deadline=None)
@given(SIGNS)
def test_claims_and_statements_stand_within_sentences(text: str) -> None:
    spans = sentences(text)
    for part in [*claims(text), *statements(text)]:
        assert any(span.start <= part.start < part.end <= span.end for span in spans)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u00a0", "\t"])
def test_nothing_has_no_sentences(text: str) -> None:
    assert sentences(text) == []
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("# Fees\nNone are charged.", ["# Fees", "None are charged."]),
        (
            "Introduction\nThis is the first sentence of it.",
            ["Introduction", "This is the first sentence of it."],
        ),
        ("A sentence that was\nwrapped in the middle.", ["A sentence that was\nwrapped in the middle."]),
        ("The Committee on\nForeign Affairs met.", ["The Committee on\nForeign Affairs met."]),
        ("- one\n- two\n- three", ["- one", "- two", "- three"]),
        ("1. Stir.\n2. Bake.", ["1. Stir.", "2. Bake."]),
        ("First paragraph\n\nsecond paragraph", ["First paragraph", "second paragraph"]),
        ("| a | b |\n|---|---|\n| c | d |", ["| a | b |", "|---|---|", "| c | d |"]),
        ("The parts are: • wheel • frame", ["The parts are:", "• wheel", "• frame"]),
        ("One.\r\nTwo.", ["One.", "Two."]),
    ],
)
def test_lines_break_sentences_where_that_is_meant(text: str, wanted: list[str]) -> None:
    assert found(text) == wanted


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("i like it. it is good. really!", 3),
        ("The year ended . Any change counts .", 2),
        ("Ça va ? Oui, merci !", 2),
        ("« Bonjour ! » dit-il. Elle sourit.", 2),
        ("¿Cómo estás? ¡Muy bien!", 2),
        ("Он родился в 1950 г. Потом уехал.", 2),
        ("이것은 문장입니다. 두 번째 문장입니다!", 2),
        ("یہ پہلا جملہ ہے۔ یہ دوسرا ہے۔", 2),
        ("สวัสดีครับ วันนี้อากาศดี", 2),
        ("Τι κάνεις; Είμαι καλά.", 2),
    ],
)
def test_other_languages_and_ways_of_writing(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_a_long_quotation_is_divided_and_a_short_one_is_not() -> None:
    short = "He said: “I came. I saw.” Then he left."
    long = "He said: “" + "I came and I saw all that there was to see. " * 12 + "” Then he left."
    assert len(sentences(short)) == 2
    assert len(sentences(long)) > 10


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize(
    "piece", ["Mr. ", "e.g. ", "1. ", ". ", '"', "(a. B ", "中文。", "A. ", "1,", "he is and he was "]
)
def test_work_grows_with_length_and_no_faster(piece: str) -> None:
    def work(times: int) -> None:
        text = piece * times
        assert "".join("".join(found(text)).split()) == "".join(text.split())
        claims(text)

    check_growth(work, 400)
