"""Snippets: whole words, where most of the question is, with its words marked."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest

from rankproof.document.page import join
from rankproof.web.site import SNIPPET, mark_words, select, snippet, wanted_words


def words_marked(text: str, question: str) -> list[str]:
    """The marked words; what is shown is the text, letter by letter."""
    shown = str(join(mark_words(text, wanted_words(question))))
    assert unescape(re.sub(r"</?mark>", "", shown)) == text
    return [unescape(each) for each in re.findall(r"<mark>(.*?)</mark>", shown)]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        (
            "Can I restore <b>files</b>?",
            "Store the file <b>&amp; files",
            ["file", "b", "files"],
        ),
        ("the of and", "end of the line", ["of", "the"]),
        ("東京都の天気", "明日、東京都は晴れ。天気図", ["東京", "都", "天気"]),
        ("Où est l’hôtel", "les hotels, L'Hôtel", ["hotels", "L'Hôtel"]),
        ("", "anything", []),
        ("anything", "", []),
    ],
)
def test_words_of_the_question_are_marked(question: str, text: str, expected: list[str]) -> None:
    assert words_marked(text, question) == expected


def test_a_snippet_has_whole_words_and_most_of_the_question() -> None:
    rng = np.random.default_rng(3)
    known = ["".join(rng.choice(list("abcdefgh"), rng.integers(3, 14))) for _ in range(2000)]
    for _ in range(200):
        words = rng.choice(known, 400).tolist()
        at = int(rng.integers(0, 395))
        words[at : at + 3] = ["zebra", "yellow", "xylophone"]
        words[int(rng.integers(0, 400))] = "zebra"
        shown = snippet("\n ".join(words), wanted_words("Is the zebra yellow? xylophone"))
        inside = shown.removeprefix("... ").removesuffix(" ...")
        assert len(inside) <= SNIPPET
        assert set(inside.split()) <= set(words)
        assert sum(each in inside.split() for each in words[at : at + 3]) >= 2
        assert shown.startswith(("... ", words[0]))


@pytest.mark.parametrize("text", ["x" * 5_000, "天" * 5_000, " ".join("ab" * 200), "é" * 239 + "\u0301" * 9])
def test_a_text_of_any_kind_is_cut(text: str) -> None:
    assert 0 < len(snippet(text, wanted_words("天気 x"))) <= SNIPPET + 20


def test_a_short_text_stands_as_it_is() -> None:
    assert snippet("One  line.\nAnother.", wanted_words("line")) == "One line. Another."


def test_long_names_in_a_choice_stay_apart() -> None:
    names = [f"{'candidate-' * 12}{end}" for end in ("one", "two")]
    shown = re.findall(r">([^<]*)</option>", select("a", "before", names, names[0]))
    assert len(set(shown)) == 2
    assert max(map(len, shown)) <= 30
