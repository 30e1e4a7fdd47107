"""Retrievers with a hole: the documents that no question returns are named, with what they share, and the cause first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import Diagnosis, diagnose, sample
from rankproof.bench.retrieve import keyword
from rankproof.core.corpus import Document
from rankproof.diagnosing.holes import hole
from rankproof.text.languages import language

pytestmark = pytest.mark.cover

SUBJECTS = ("boiler", "garden", "engine", "museum", "harbour", "orchard")
GERMAN = "Der Bericht über {} erklärt, wie man sie nach einem langen Winter wieder in Gang setzt und was dabei zu beachten ist."
ENGLISH = "The report about {} explains how one gets it going again after a long winter, and what should be minded."


def world(size: int, seed: int) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, int]], dict[str, str]]:
    """Documents of several years, kinds, languages and lengths, a question to each second one."""
    rng = np.random.default_rng(seed)
    corpus, judged, asked = {}, {}, {}
    for number in range(size):
        name = f"{SUBJECTS[number % 6]}{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}x"
        text = (GERMAN if number % 5 == 0 else ENGLISH).format(name)
        doc = f"{('wiki', 'ticket', 'mail')[int(rng.integers(3))]}-{number:04}.{('md', 'pdf')[int(rng.integers(2))]}"
        text += f" {name} again." * int(rng.choice([1, 60]))
        corpus[doc] = {"text": text, "year": int(rng.integers(2015, 2025)), "team": str(rng.integers(4))}
        corpus[doc]["day"] = (
            f"{int(rng.integers(2015, 2025))}-{int(rng.integers(1, 13)):02}-0{int(rng.integers(1, 10))}"
        )
        if number % 2 == 0 or number % 5 == 0:
            judged[f"q{number}"], asked[f"q{number}"] = {doc: 1}, f"report about {name}"
    return corpus, judged, asked


HOLES: dict[str, tuple[Callable[[str, dict[str, Any]], bool], str]] = {
    "metadata": (lambda doc, page: page["team"] in "12", "team '"),
    "years": (lambda doc, page: page["year"] >= 2021, "year from 2021 on"),
    "dates": (lambda doc, page: "2018" < page["day"] < "2022", "day from 2018-"),
    "old index": (lambda doc, page: int(doc[-7:].strip("-.pdfm")) < 60, "number in ids up to 5"),
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
    run = {q: [d for d, _ in found if not gone(d, corpus[d])] for q, found in zip(asked, answers, strict=True)}
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
    pages = sample.corpus()
    kept = {doc for doc, page in pages.items() if page["topic"] in ("sharing", "security", "restore", "mobile")}
    run = {q: [doc for doc in docs if doc in kept] for q, docs in sample.rankings()["dense"].items()}
    found = diagnose(sample.judgments(), run, queries=sample.queries(), corpus=pages)
    assert found.hole is not None
    assert all(f"'{topic}'" in found.hole.said for topic in ("admin", "backup", "billing", "errors", "install"))
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


@pytest.mark.no_cover
@pytest.mark.slow
def test_without_a_hole_none_is_named() -> None:
    rng = np.random.default_rng(0)
    pages = sample.corpus()
    for share in (0.0, 0.3):
        lost = set(rng.permutation(sorted(pages))[: int(share * len(pages))].tolist())
        for name, lists in sample.rankings().items():
            run = {q: [doc for doc in docs if doc not in lost] for q, docs in lists.items()}
            assert diagnose(sample.judgments(), run, queries=sample.queries(), corpus=pages).hole is None, name


@pytest.mark.parametrize("fields", range(1, 7))
def test_at_most_three_things_that_are_shared_are_named(fields: int) -> None:
    """Each field marks lost documents of its own, the first field most: the surest come first, and count alone."""
    sizes = (10, 9, 8, 7, 6, 5, 150)
    marks = [field for field, size in enumerate(sizes) for _ in range(size)]
    corpus = {}
    for number, field in enumerate(marks):
        doc = "".join(chr(97 + number // 14**place % 14) for place in range(2))
        corpus[doc] = Document(doc, "", metadata={f"field {field}": "yes"} if field < fields else {})
    lost = {doc for doc, page in corpus.items() if page.metadata}
    found = hole(corpus, set(corpus) - lost, lost, corpus)
    assert found is not None
    assert [each.what for each in found.shared] == [f"field {field} 'yes'" for field in range(min(fields, 3))]
    assert found.lost == len(found.documents) == sum(sizes[: min(fields, 3)])


def test_without_texts_ids_alone_show_it() -> None:
    judged = {f"q{i}": {f"{'old' if i % 3 else 'new'}-{i}": 1} for i in range(60)}
    run = {q: [*docs, "x-1"] if i % 3 == 0 else ["x-1", "x-2"] for i, (q, docs) in enumerate(judged.items())}
    found = diagnose(judged, run)
    assert found.hole is not None
    assert "id prefix 'old' (40 of 40 never returned)" in found.hole.said


def test_ranges_of_ids_and_dates_are_named_without_any_corpus() -> None:
    """Under, above and between; beside other numbers, and with dates, in ids."""
    forms = {
        "CACM-{}": (lambda n: n < 80, "number in ids like CACM-# up to 79"),
        "v2/page-{:05}.html": (lambda n: n >= 130, "number 2 in ids like v#/page-#.html from 130 on"),
        "{}": (lambda n: 40 <= n < 110, "number in ids like # from 40 to 109"),
        "news/2024-03-01/{}": (lambda n: n < 50, "ids like news/#-#-#/# up to 49"),
    }
    for form, (gone, said) in forms.items():
        judged = {f"q{n}": {form.format(n): 1} for n in range(200)}
        run = {q: ["x-1", "x-2", *([] if gone(n) else docs)] for n, (q, docs) in enumerate(judged.items())}
        found = diagnose(judged, run).hole
        assert found is not None, form
        assert said in found.said
        assert found.shared[0].lost == sum(map(gone, range(200)))
    days = [f"log-{2020 + n // 48}-{n // 4 % 12 + 1:02}-{n % 4 + 11}" for n in range(192)]
    found = diagnose({day: {day: 1} for day in days}, {day: [day if day > "log-2022-06" else "x"] for day in days})
    assert found.hole is not None
    assert "date in ids up to 2022-05-14" in found.hole.said


@pytest.mark.no_cover
@pytest.mark.slow
def test_no_range_is_named_by_chance() -> None:
    named = 0
    for seed in range(60):
        lost = np.random.default_rng(seed).random(150) < (0.2, 0.5, 0.8)[seed % 3]
        judged = {f"q{n}": {f"doc-{n}": 1} for n in range(150)}
        run = {q: ["x"] if lost[n] else list(docs) for n, (q, docs) in enumerate(judged.items())}
        pages = {doc: Document(doc, "") for docs in judged.values() for doc in docs}
        returned = {doc for docs in run.values() for doc in docs}
        named += hole(list(pages), returned, list(pages), pages) is not None
    assert named <= 2


def test_values_that_are_lost_together_by_chance_are_seldom_named() -> None:
    rng = np.random.default_rng(1)
    ids = ["".join(map(chr, rng.integers(97, 107, 6).tolist())) for _ in range(160)]
    corpus = {doc: Document(doc, "", metadata={"author": f"a{i % 40}"}) for i, doc in enumerate(ids)}
    kept = [{doc for doc in ids if rng.random() > 0.3} for _ in range(400)]
    assert sum(hole(ids, returned, ids, corpus) is not None for returned in kept) <= 6  # 1 % is what is promised


@pytest.mark.shared_data
def test_an_old_index_of_cacm(shared_data: Path) -> None:
    judged: dict[str, dict[str, int]] = {}
    for line in (shared_data / "cacm" / "qrels.cacm.txt").read_text().splitlines():
        query, _, doc, grade = line.split()
        judged.setdefault(query, {})[doc] = int(grade)
    for cut in (1400, 1600, 2000):
        run = {q: [d for d in docs if int(d[5:]) >= cut] or ["none"] for q, docs in judged.items()}
        found = diagnose(judged, run).hole
        assert found is not None
        at = int(found.said.split("CACM-# up to ")[1].split(" ")[0])
        assert cut - 30 < at < cut


def test_a_hole_that_is_named_is_what_to_mend_first_without_the_texts() -> None:
    judged = {f"q{number}": {f"{'wiki' if number % 3 else 'mail'}-{number}": 1} for number in range(60)}
    run = {query: [doc for doc in docs if "mail" not in doc] + ["x", "y"] for query, docs in judged.items()}
    found = diagnose(judged, run)
    assert found.hole is not None
    for name in ("table", "full", "markdown", "html"):
        assert "Bring back the documents that no question returns" in " ".join(found.format(name).split())
