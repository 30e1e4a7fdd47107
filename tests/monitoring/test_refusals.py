"""How far "I don't know" can be told by words: precision and recall on a labelled list, by language."""

from __future__ import annotations

import time
from pathlib import Path

from rankproof.monitoring.refusals import HINTS, WORDS, refuses

LINES = [
    line.split("\t")
    for line in (Path(__file__).parent / "refusals.tsv").read_text(encoding="utf-8").splitlines()
]


def test_precision_and_recall_are_as_the_docs_say() -> None:
    missed = [text for label, _, text in LINES if label == "1" and not refuses(text)]
    false = [text for label, _, text in LINES if label == "0" and refuses(text)]
    refused = sum(label == "1" for label, _, _ in LINES)
    recall = 1 - len(missed) / refused
    precision = (refused - len(missed)) / (refused - len(missed) + len(false))
    assert recall >= 0.97, missed
    assert precision >= 0.97, false
    assert {language for _, language, _ in LINES} == set(WORDS) == set(HINTS)


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
