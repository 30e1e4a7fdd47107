"""A grid whose results are known: retrievers that find what they are told to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

N = 40


@pytest.fixture
def data() -> dict[str, Any]:
    """40 questions, each with one relevant document, and a corpus of all documents."""
    return {
        "questions": {f"q{i}": f"question number {i}" for i in range(N)},
        "judgments": {f"q{i}": {f"d{i}": 1} for i in range(N)},
        "corpus": {f"d{i}": f"Everything about number {i} stands here." for i in range(N)},
    }


@pytest.fixture
def finds() -> Callable[[float], Callable[[str], list[str]]]:
    """A retriever that puts the relevant document first for a share of the questions, and finds nothing else."""

    def make(share: float) -> Callable[[str], list[str]]:
        def retriever(text: str) -> list[str]:
            number = int(text.split()[-1])
            return [f"d{number}"] if number * 7 % N < share * N else ["x"]

        return retriever

    return make
