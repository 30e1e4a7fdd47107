"""How long chunks are, what they repeat, and where they are cut."""

from __future__ import annotations

from typing import Any

import pytest

from rankproof.bench.chunk import Chunker, fixed, markdown, recursive, sentences, sliding
from rankproof.core.corpus import Document
from rankproof.errors import UsageError

TEXT = "One two three four. Five six! Seven eight nine ten eleven twelve? Thirteen."


def texts(chunker: Chunker, text: str = TEXT) -> list[str]:
    return [chunk.text for chunk in chunker(text)]


def test_fixed_repeats_the_last_words_of_the_chunk_before() -> None:
    assert texts(fixed(5)) == [
        "One two three four. Five",
        "six! Seven eight nine ten",
        "eleven twelve? Thirteen.",
    ]
    assert texts(fixed(5, overlap=2), "a b c d e f g h i") == ["a b c d e", "d e f g h", "g h i"]


def test_fixed_by_characters_cuts_anywhere_but_in_a_character() -> None:
    assert texts(fixed(4, unit="characters"), "abcdefghij") == ["abcd", "efgh", "ij"]
    assert texts(fixed(4, 1, "characters"), "abcdefg") == ["abcd", "defg"]
    assert texts(fixed(2, unit="characters"), "e\u0301e\u0301🇩🇪x") == ["e\u0301", "e\u0301", "🇩🇪", "x"]


def test_writing_without_spaces_is_counted_by_characters() -> None:
    assert texts(fixed(4), "返金は30日以内です") == ["返金は30", "日以内で", "す"]


def test_the_last_window_ends_with_the_text_and_none_lies_in_another() -> None:
    assert texts(sliding(3, 2, "words"), "a b c d e") == ["a b c", "c d e"]
    assert texts(sliding(3, 2, "words"), "a b c d e f") == ["a b c", "c d e", "e f"]
    assert texts(sliding(3, 2, "words"), "a b") == ["a b"]


def test_sliding_over_sentences() -> None:
    assert texts(sliding(2, 1)) == [
        "One two three four. Five six!",
        "Five six! Seven eight nine ten eleven twelve?",
        "Seven eight nine ten eleven twelve? Thirteen.",
    ]


def test_sentences_stay_whole_where_they_fit() -> None:
    assert texts(sentences(7)) == [
        "One two three four. Five six!",
        "Seven eight nine ten eleven twelve? Thirteen.",
    ]
    assert texts(sentences(4)) == [
        "One two three four.",
        "Five six!",
        "Seven eight nine ten",
        "eleven twelve? Thirteen.",
    ]


def test_sentences_repeat_whole_sentences_where_they_fit() -> None:
    text = "Dogs bark loud. Cats purr softly. Cows moo often."
    assert texts(sentences(7, overlap=1), text) == [
        "Dogs bark loud. Cats purr softly.",
        "Cats purr softly. Cows moo often.",
    ]
    assert texts(sentences(4, overlap=1), text) == ["Dogs bark loud.", "Cats purr softly.", "Cows moo often."]


def test_recursive_cuts_at_the_loosest_place_that_fits() -> None:
    text = "Alpha beta.\n\nGamma delta epsilon.\nZeta eta. Theta iota kappa lambda mu.\n\nNu."
    assert texts(recursive(100), text) == [text]
    assert texts(recursive(9), text) == [
        "Alpha beta.",
        "Gamma delta epsilon.",
        "Zeta eta. Theta iota kappa lambda mu.",
        "Nu.",
    ]
    assert texts(recursive(5), text)[2:4] == ["Zeta eta.", "Theta iota kappa lambda mu."]
    assert texts(recursive(3), text)[3:5] == ["Theta iota kappa", "lambda mu."]


def test_recursive_leads_each_chunk_with_what_stands_before_it_within_its_size() -> None:
    found = texts(recursive(4, overlap=1), "Dogs bark. Cats purr softly. Cows moo often. Enough.")
    assert found == ["Dogs bark.", "bark. Cats purr softly.", "softly. Cows moo often.", "often. Enough."]


def test_own_separators_come_first() -> None:
    assert texts(recursive(4, separators=["==="]), "a b === c d e") == ["a b", "=== c d e"]
    assert texts(recursive(4, separators="==="), "a b === c d e") == ["a b", "=== c d e"]


def test_words_longer_than_the_size_are_cut_by_characters() -> None:
    assert texts(recursive(4, unit="characters"), "ab abcdefghij") == ["ab", "abcd", "efgh", "ij"]


def test_chunks_know_their_document() -> None:
    chunk = fixed(2)(Document("faq/1", "Refunds within 30 days", title="Refunds"))[1]
    assert (chunk.id, chunk.document, chunk.start, chunk.end) == ("faq/1#15-22", "faq/1", 15, 22)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (fixed, {"size": 0}, "fixed: size: got 0, expected a whole number of at least 1"),
        (fixed, {"size": 2.5}, "fixed: size: got 2.5, expected a whole number"),
        (fixed, {"size": True}, "fixed: size: got True"),
        (fixed, {"size": 5, "overlap": 5}, "got overlap=5 for size=5, expected less than the size"),
        (fixed, {"overlap": -1}, "fixed: overlap: got -1"),
        (
            fixed,
            {"unit": "word"},
            "fixed: unit: got 'word', expected one of 'words', 'characters'. Did you mean 'words'",
        ),
        (sliding, {"size": 2, "step": 3}, "text between windows would be lost"),
        (sliding, {"step": 0}, "sliding: step: got 0"),
        (sliding, {"unit": "tokens"}, "expected one of 'sentences', 'words', 'characters'"),
        (sentences, {"size": "9"}, "sentences: size: got '9'"),
        (recursive, {"size": 5, "overlap": 9}, "recursive: got overlap=9 for size=5"),
        (recursive, {"separators": [""]}, "recursive: got the separator '', expected a text"),
        (recursive, {"separators": [1]}, "recursive: got the separator 1, expected a text"),
        (markdown, {"size": -3}, "markdown: size: got -3"),
        (markdown, {"unit": "lines"}, "markdown: unit: got 'lines'"),
    ],
)
def test_settings_that_cannot_be_are_refused(make: Any, options: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        make(**options)
    assert message in str(caught.value)
