"""Documents to search."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rankproof import sample
from rankproof.bench.retrieve import lsa
from rankproof.core.corpus import Corpus
from rankproof.io.corpora import load_corpus


@pytest.fixture(scope="session")
def pages() -> Corpus:
    return load_corpus(sample.corpus())


@pytest.fixture(scope="session")
def latent(pages: Corpus) -> Any:
    """Latent semantic analysis of the pages."""
    return lsa(pages)


@pytest.fixture(scope="session")
def questions() -> list[str]:
    return list(sample.queries().values())


@pytest.fixture(scope="session")
def short() -> dict[str, str]:
    """Documents of up to 20 words out of 40, many of them alike in some way, so that scores are equal often."""
    rng = random.Random(7)
    letters = [a + b for a in "bcdfg" for b in "aeiouxyz"]
    return {f"d{n:03}": " ".join(rng.choices(letters, k=rng.randint(0, 20))) or "xx" for n in range(300)}
