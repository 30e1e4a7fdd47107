"""On real questions with judgments the retrievers are as good as their names say."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import cacm
from rankproof.bench.retrieve import Search, expand, lsa

pytestmark = [pytest.mark.shared_data, pytest.mark.slow]
DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "cacm"


@pytest.fixture(scope="module")
def corpus(folder: Path) -> dict[str, str]:
    return cacm.documents(folder)


def test_the_docs_show_what_the_command_prints(folder: Path) -> None:
    assert f"```\n{cacm.table(folder)}\n```" in (DOCS / "retrievers.md").read_text()


@pytest.mark.parametrize(("feedback", "ap", "p30"), [(False, 0.3123, 0.1942), (True, 0.3648, 0.2224)])
def test_bm25_and_feedback_are_as_good_as_those_of_anserini(
    folder: Path, corpus: dict[str, str], feedback: bool, ap: float, p30: float
) -> None:
    search: Search = cacm.as_anserini(corpus)
    found = cacm.measured(expand(search) if feedback else search, cacm.questions(folder), folder)
    assert found["AP"] == pytest.approx(ap, abs=0.01 if feedback else 0.005)
    assert found["P@30"] == pytest.approx(p30, abs=0.005)


def test_latent_semantics_are_no_guess(folder: Path, corpus: dict[str, str]) -> None:
    assert cacm.measured(lsa(corpus), cacm.questions(folder), folder)["nDCG@10"] > 0.36
