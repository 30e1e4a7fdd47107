"""Retrievers with a hole: the documents that no question returns are named, with what they share, and the cause first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankproof import Diagnosis, diagnose, sample
from rankproof.bench.retrieve import keyword
from rankproof.core.text.languages import language

SUBJECTS = ("boiler", "garden", "engine", "museum", "harbour", "orchard")
GERMAN = "Der Bericht über {} erklärt, wie man sie nach einem langen Winter wieder in Gang setzt und was dabei zu beachten ist."
ENGLISH = (
    "The report about {} explains how one gets it going again after a long winter, and what should be minded."
)


def world(
    size: int, seed: int
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, int]], dict[str, str]]:
    """Documents of several years, kinds, languages and lengths, a question to each second one."""
    rng = np.random.default_rng(seed)
    corpus, judged, asked = {}, {}, {}
    for number in range(size):
        name = f"{SUBJECTS[number % 6]}{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}x"
        text = (GERMAN if number % 5 == 0 else ENGLISH).format(name)
        doc = f"{('wiki', 'ticket', 'mail')[int(rng.integers(3))]}-{number:04}.{('md', 'pdf')[int(rng.integers(2))]}"
        text += f" {name} again." * int(rng.choice([1, 60]))
        corpus[doc] = {"text": text, "year": int(rng.integers(2015, 2025)), "team": str(rng.integers(4))}
        if number % 2 == 0 or number % 5 == 0:
            judged[f"q{number}"], asked[f"q{number}"] = {doc: 1}, f"report about {name}"
    return corpus, judged, asked


HOLES: dict[str, tuple[Callable[[str, dict[str, Any]], bool], str]] = {
    "metadata": (lambda doc, page: page["team"] in "12", "team '"),
    "years": (lambda doc, page: page["year"] >= 2021, "year"),
    "prefix": (lambda doc, page: doc.startswith("ticket"), "id prefix 'ticket'"),
    "file type": (lambda doc, page: doc.endswith(".pdf"), "file type 'pdf'"),
    "language": (lambda doc, page: language(page["text"]) == "de", "language 'de'"),
    "length": (lambda doc, page: len(page["text"]) > 600, "length over"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(HOLES))
def test_each_kind_of_hole_is_named_and_comes_first(kind: str) -> None:
    gone, said = HOLES[kind]
    corpus, judged, asked = world(150, seed=len(kind))
    answers = keyword({doc: page["text"] for doc, page in corpus.items()}).search(list(asked.values()), 20)
    run = {
        q: [d for d, _ in found if not gone(d, corpus[d])] for q, found in zip(asked, answers, strict=True)
    }
    found = diagnose(judged, run, queries=asked, corpus=corpus)
    assert found.hole is not None
    assert said in found.hole.said
    assert found.hole.relevant == sum(gone(doc, corpus[doc]) for docs in judged.values() for doc in docs)
    assert found.first[0].kind == "hole"
    assert found.first[0].gain > 0.15
    assert found.regime is not None
    assert found.regime.recall == "low"
    assert "never returned" in found.regime.do
    for shown in (str(found), found.format("full"), found.markdown(), found.html(), found.format("json")):
        assert "never returned" in " ".join(shown.split())


@pytest.mark.slow
def test_six_topics_of_the_sample_that_a_filter_keeps_back() -> None:
    pages = sample.documents()
    kept = {
        doc for doc, page in pages.items() if page["topic"] in ("sharing", "security", "restore", "mobile")
    }
    run = {q: [doc for doc in docs if doc in kept] for q, docs in sample.rankings()["dense"].items()}
    found = diagnose(sample.judgments(), run, queries=sample.queries(), corpus=pages)
    assert found.hole is not None
    assert all(
        f"'{topic}'" in found.hole.said for topic in ("admin", "backup", "billing", "errors", "install")
    )
    assert "topic '" in found.hole.said
    assert found.hole.lost > 80
    assert any(each.kind.endswith("-instead") for each in found.first)
    assert_orders(found)


def assert_orders(found: Diagnosis) -> None:
    """The cause first, then by what was gained; bounds nowhere among them."""
    assert not any(each.most for each in found.first)
    gains = [each.gain for each in found.first if each.kind != "hole"]
    assert gains == sorted(gains, reverse=True)
    assert found.first[0].kind == "hole"


@pytest.mark.slow
def test_without_a_hole_none_is_named() -> None:
    rng = np.random.default_rng(0)
    pages = sample.documents()
    for share in (0.0, 0.3):
        lost = set(rng.permutation(sorted(pages))[: int(share * len(pages))].tolist())
        for name, lists in sample.rankings().items():
            run = {q: [doc for doc in docs if doc not in lost] for q, docs in lists.items()}
            assert diagnose(sample.judgments(), run, queries=sample.queries(), corpus=pages).hole is None, (
                name
            )


def test_without_texts_ids_alone_show_it() -> None:
    judged = {f"q{i}": {f"{'old' if i % 3 else 'new'}-{i}": 1} for i in range(60)}
    run = {q: [*docs, "x-1"] if i % 3 == 0 else ["x-1", "x-2"] for i, (q, docs) in enumerate(judged.items())}
    found = diagnose(judged, run)
    assert found.hole is not None
    assert "id prefix 'old' (40 of 40 never returned)" in found.hole.said
