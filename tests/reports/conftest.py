"""Pages to look at: of the sample, of one system, of ids that mean harm, of a single query."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from rankproof import explain, report, sample
from rankproof.scoring.explain_page import explanation_page

HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>' &amp;",
    "\u202eltr\u202c\u200f",
    "</title></style></svg>",
    "\x00\x1b[31m",
    "]]>--><!--",
    "javascript:alert(1)",
    "a" * 300,
)


@cache
def of_the_sample() -> str:
    return report(
        sample.judgments(),
        sample.rankings(),
        "nDCG@10, R@10, RR@10, AP",
        by=sample.kinds(),
        queries=sample.queries(),
        corpus=sample.corpus(),
        title="Fernhold support search",
    ).html()


@cache
def of_one_system() -> str:
    return report(sample.judgments(), {"keyword": sample.rankings()["keyword"]}).html()


@cache
def of_hostile_ids() -> str:
    judged = {name: {doc: i % 3 for i, doc in enumerate(HOSTILE)} for name in HOSTILE}
    systems = {name: {query: list(HOSTILE[i:] + HOSTILE[:i]) for query in judged} for i, name in enumerate(HOSTILE)}
    return report(
        judged,
        systems,
        by=dict.fromkeys(HOSTILE, HOSTILE[0]),
        title=HOSTILE[0],
        queries={name: name for name in HOSTILE},
        corpus={name: {"title": name} for name in HOSTILE},
    ).html()


@cache
def of_many_queries() -> str:
    judged = {f"q{i}": {"a": 1, "b": 2} for i in range(400)}
    old = {query: ["x", "y", "a"] if i % 3 else ["b", "a"] for i, query in enumerate(judged)}
    new = {query: ["a", "x", "b"] if i % 5 else ["x"] for i, query in enumerate(judged)}
    return report(judged, {"old": old, "new": new}, "nDCG@5, P@3").html()


@cache
def of_one_query() -> str:
    systems = {
        name: [
            explain(sample.judgments(), ranking, "q47", measure, corpus_size=156, versus="elasticsearch")
            for measure in ("nDCG@10", "AP")
        ]
        for name, ranking in sample.rankings().items()
    }
    return explanation_page(systems, queries=sample.queries(), corpus=sample.corpus())


@cache
def of_a_hostile_query() -> str:
    judged = {HOSTILE[0]: {doc: i % 3 for i, doc in enumerate(HOSTILE)}}
    found = explain(judged, {HOSTILE[0]: list(HOSTILE)}, HOSTILE[0], "nDCG@5")
    return found.html(HOSTILE[1], queries={HOSTILE[0]: HOSTILE[2]}, corpus={HOSTILE[1]: HOSTILE[3]})


PAGES: dict[str, Callable[[], str]] = {
    "sample": of_the_sample,
    "one system": of_one_system,
    "hostile ids": of_hostile_ids,
    "many queries": of_many_queries,
    "one query": of_one_query,
    "hostile query": of_a_hostile_query,
}


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> str:
    return PAGES[request.param]()


@pytest.fixture
def sample_page() -> str:
    return of_the_sample()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files of the sample are at hand, by their names."""
    for path in sample.folder().iterdir():
        if path.suffix in {".jsonl", ".tsv", ".run"}:
            shutil.copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    return tmp_path
