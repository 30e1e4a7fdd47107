"""A small world in which the cause of every failure is known, because it was put there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rankproof import Diagnosis, diagnose, sample
from rankproof.core.corpus import Corpus
from rankproof.diagnosing.evidence import Asked, Library

DOCUMENTS = {
    "refund": "Money is paid back within thirty days when you cancel the subscription in your account settings.",
    "invoice": "The invoice for your subscription is sent by email on the first day of the month.",
    "password": "Choose a new password on the sign-in page and confirm it by the message that we send.",
    "backup": "The backup of your computer runs every night and keeps old versions for ninety days.",
    "release-2024": "What is new in release 2024.3: faster restore and a dark theme for the console.",
    "phone": "You can call our support team by phone from Monday to Friday during office hours.",
}


@pytest.fixture(scope="session")
def whole() -> Diagnosis:
    """The diagnosis of the sample's keyword ranking, with the texts of its questions and documents."""
    return diagnose(sample.judgments(), sample.rankings()["keyword"], queries=sample.queries(), corpus=sample.corpus())


@pytest.fixture
def documents() -> dict[str, str]:
    return dict(DOCUMENTS)


@pytest.fixture
def asked(documents: dict[str, str]) -> Callable[..., Asked]:
    """A query against the small corpus; relevant is the refund page unless said otherwise."""

    def make(text: str, returned: list[str], relevant: list[str] | None = None, k: int = 3) -> Asked:
        grades = dict.fromkeys(["refund"] if relevant is None else relevant, 1.0)
        library = Library(Corpus.of(documents))
        return Asked("q", returned, grades, k, text=text, library=library)

    return make
