"""Marks belong to the sentence they are set for: within it, after its end, or before it where marks lead."""

from __future__ import annotations

import pytest

from rankproof.judging.samples import read_samples

ANA, BOB = "Ana won.", "Bob lost."


@pytest.mark.parametrize(
    "answer",
    [
        "Ana won [1]. Bob lost [2].",
        "Ana won. [1] Bob lost. [2]",
        "Ana won.[1] Bob lost.[2]",
        "Ana won. [1]. Bob lost. [2].",
        "Ana won. [1]\nBob lost. [2]",
        "[1] Ana won. [2] Bob lost.",
        "Ana won [1]. Bob lost. [2]",
    ],
)
def test_a_mark_cites_for_its_own_sentence(answer: str) -> None:
    (sample,) = read_samples([{"question": "Who?", "contexts": ["x", "y"], "answer": answer}])
    assert [(each.claim, each.context) for each in sample.citations or ()] == [(ANA, "1"), (BOB, "2")]
    assert (sample.answer or "").split() == [*ANA.split(), *BOB.split()]


def test_several_marks_after_the_end_are_all_of_that_sentence() -> None:
    row = {
        "question": "Who?",
        "contexts": ["x", "y", "z"],
        "answer": 'She said "Ana won." [1][3] Bob lost. [2]',
    }
    (sample,) = read_samples([row])
    found = [(each.claim, each.context) for each in sample.citations or ()]
    assert found == [('She said "Ana won."', "1"), ('She said "Ana won."', "3"), (BOB, "2")]
