"""How far "I don't know" can be told by words: precision and recall on a labelled list, by language."""

from __future__ import annotations

import time
from pathlib import Path

from rankproof.text.refusals import HINTS, WORDS, refuses

LISTS = {
    name: [
        line.split("\t") for line in (Path(__file__).parent / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    ]
    for name in ("refusals", "refusals_fresh", "refusals_held_out")
}
"""The patterns were written by the first list. The others were written afterwards, measured as they were, and then
mended: what the docs say of sentences that nobody looked at is from before that."""


def test_precision_and_recall_are_as_the_docs_say() -> None:
    lines = [line for each in LISTS.values() for line in each]
    for language in WORDS:
        own = [(label == "1", refuses(text), text) for label, name, text in lines if name == language]
        assert [text for refused, told, text in own if told and not refused] == []
        assert [text for refused, told, text in own if refused and not told] == []
        assert sum(refused for refused, _, _ in own) >= 10
        assert sum(not refused for refused, _, _ in own) >= 10
    assert {language for _, language, _ in lines} == set(WORDS) == set(HINTS)


def test_what_follows_an_answer_is_no_refusal() -> None:
    answer = "The deadline is 30 days. It begins with the delivery. I don't know more."
    assert not refuses(answer)
    assert refuses("Hello! I don't know.")
    assert not refuses("")


def test_long_answers_take_no_longer() -> None:
    began = time.process_time()
    for text in ("not " * 100_000, "i " * 50_000 + "don't", "no" * 100_000, "，" * 100_000):
        assert not refuses(text)
    assert time.process_time() - began < 5  # a pattern that backtracks would take minutes
