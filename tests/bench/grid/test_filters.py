"""Filters on metadata as a factor: which documents may be found, whatever finds them."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

import pytest

from rankproof import grid
from rankproof.bench.grid.parts import GridSource
from rankproof.bench.grid.plan import filter_parts
from rankproof.bench.grid.steps import matching_documents
from rankproof.bench.retrieve import keyword, where
from rankproof.core.corpus import Corpus, Document
from rankproof.errors import DataError, RankproofError

N = 20
"""Questions; each has an old page and a new one that say the same, and the new one is right."""


@pytest.fixture
def pages() -> dict[str, Any]:
    def page(i: int, year: int) -> dict[str, Any]:
        said = f"The fee of plan{i} is {i} euros." + " Fees of plans." * (year == 2020)
        return {"text": said, "year": year, "tags": ["fees", f"t{i % 2}"]}

    return {
        "questions": {f"q{i}": f"fee of plan{i}" for i in range(N)},
        "judgments": {f"q{i}": {f"new{i}": 1} for i in range(N)},
        "corpus": {f"{name}{i}": page(i, year) for i in range(N) for name, year in (("old", 2020), ("new", 2024))},
        "measure": "RR",
    }


def passing(filters: dict[str, Any], **metadata: Any) -> bool:
    [part] = filter_parts(GridSource({"filters": {"f": filters}}))
    return bool(matching_documents(Corpus([Document("d", "", metadata=metadata)]), part))


@pytest.mark.parametrize(
    ("wanted", "value", "passes"),
    [
        (2024, 2024, True),
        (2024, "2024", True),
        (2024, 2023, False),
        (2024, "soon", False),
        ("a", "a", True),
        ("a", ["b", "a"], True),
        (["a", "b"], "b", True),
        (["a", "b"], "c", False),
        ({"from": 2021}, 2021, True),
        ({"from": 2021}, 2020, False),
        ({"from": 2021, "to": 2023}, "2024", False),
        ({"to": 5}, "a text", False),
        ({"not": "old"}, "new", True),
        ({"not": "old"}, ["new", "old"], False),
        ({"not": ["old", "older"]}, "older", False),
        ({"from": date(2024, 1, 1)}, "2024-03-01T10:00:00", True),
        ({"from": date(2024, 1, 1)}, None, False),
        ({"from": date(2024, 1, 1)}, "2023-12-31", False),
        (date(2024, 1, 1), date(2024, 1, 1), True),
        (True, "true", True),
        (True, False, False),
        (2024, None, False),
        ({"not": "old"}, None, True),
    ],
)
def test_what_passes(wanted: Any, value: Any, passes: bool) -> None:
    assert passing({"field": wanted}, field=value) is passes


def test_a_field_that_a_document_lacks_is_no_value() -> None:
    assert not passing({"year": 2024})
    assert passing({"year": {"not": 2024}})


def test_a_filter_is_a_factor_and_finds_the_best_of_what_passes(pages: dict[str, Any]) -> None:
    found = grid(
        {
            **pages,
            "chunkers": {"whole": "none", "cut": {"kind": "fixed", "size": 4}},
            "retrievers": {"w": "keyword", "d": "lsa", "h": {"kind": "hybrid", "of": ["w", "d"]}},
            "filters": {"none": "none", "recent": {"year": {"from": 2021}}},
            "k": 5,
        }
    )
    assert len(found.rows) == 2 * 3 * 2
    for row in found.rows:
        if row.levels["filter"] == "recent":
            assert all(doc.startswith("new") for docs in found.rankings[row.name].values() for doc in docs)
    [effect] = [each for each in found.effects if each.factor == "filter"]
    assert [level.name for level in effect.levels] == ["none", "recent"]
    assert effect.levels[1].difference > 0
    expected = where(keyword(pages["corpus"]), year=2024)
    query = next(iter(found.rankings["whole / w / recent"]))
    assert (
        found.rankings["whole / w / recent"][query] == [doc for doc, _ in expected(pages["questions"][query], 100)][:5]
    )


def test_a_called_retriever_is_asked_once_and_what_it_found_is_sieved(pages: dict[str, Any]) -> None:
    asked: Counter[str] = Counter()

    def mine(text: str) -> list[str]:
        asked[text] += 1
        number = text.removeprefix("fee of plan")
        return [f"old{number}", f"new{number}"]

    found = grid(
        {
            **pages,
            "retrievers": {"mine": mine},
            "filters": {
                "all": "none",
                "recent": {"year": 2024},
                "own": lambda document: "fees" in document.metadata["tags"],
            },
        }
    )
    assert set(asked.values()) == {1}
    assert found.row("mine / all").means["RR"] == 0.5
    assert found.row("mine / recent").means["RR"] == 1.0
    assert found.row("mine / own").means["RR"] == 0.5


def test_filters_have_answers_of_their_own_in_the_cache(pages: dict[str, Any], tmp_path: Any) -> None:
    def run(year: int) -> float:
        plan = {**pages, "retrievers": {"w": "keyword"}, "filters": {"f": {"year": year}}}
        return grid(plan, cache=tmp_path / "kept").row("w").means["RR"]

    assert (run(2024), run(2020), run(2024)) == (1.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"f": {"yaer": 2024}}, "Did you mean 'year'"),
        ({"f": {"year": 1999}}, "no document passes it"),
        ({"f": {"year": {"form": 2024}}}, "Did you mean 'from'"),
        ({"f": {"year": [{"from": 2024}]}}, "expected a value, a list"),
        ({"f": 5}, 'expected "none", or a table'),
        ({"f": {}}, 'expected "none", or a table'),
        ([1], "expected a table of names"),
    ],
)
def test_what_is_wrong_with_a_filter_is_said_before_anything_runs(
    pages: dict[str, Any], filters: Any, words: str
) -> None:
    ran: list[str] = []
    with pytest.raises(RankproofError, match=words):
        grid({**pages, "retrievers": {"mine": lambda text: ran.append(text) or []}, "filters": filters})
    assert ran == []


def test_filters_need_the_documents(pages: dict[str, Any]) -> None:
    del pages["corpus"]
    with pytest.raises(RankproofError, match="no corpus is named"):
        grid({**pages, "retrievers": {"mine": lambda text: []}, "filters": {"f": {"year": 2024}}})


def test_a_built_retriever_is_filtered_as_well(pages: dict[str, Any]) -> None:
    def built(corpus: Corpus) -> Any:
        return lambda text: [doc for doc in corpus if doc.endswith(text.removeprefix("fee of plan"))]

    import sys
    from types import ModuleType

    module = ModuleType("makes_retrievers")
    module.built = built  # type: ignore[attr-defined]
    sys.modules["makes_retrievers"] = module
    try:
        plan = {**pages, "retrievers": {"b": {"kind": "built", "call": "makes_retrievers:built"}}}
        found = grid({**plan, "filters": {"recent": {"year": 2024}}})
        module.built = lambda corpus: corpus["nowhere"]  # type: ignore[attr-defined]
        with pytest.raises(DataError, match=r"the first, b: .*<lambda>: KeyError: 'nowhere'"):
            grid(plan)
    finally:
        del sys.modules["makes_retrievers"]
    assert all(doc.startswith("new") for docs in found.rankings["b"].values() for doc in docs)
