"""Qdrant, LanceDB and Chroma themselves, in memory and in folders, as retrievers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from rankproof import Benchmark
from rankproof.bench.connect import Store, StoreError, chroma, lancedb, pgvector, postgres, qdrant
from rankproof.bench.retriever import Retriever
from rankproof.core.corpus import Corpus
from rankproof.errors import DataError, MissingExtra, UsageError

from .conftest import embed

pytestmark = [pytest.mark.cover, pytest.mark.slow]  # importing lancedb and chromadb takes seconds

Make = Callable[..., Store]
QUESTIONS = ["When is a refund paid?", "Which hours?", "What is the fee?"]


def in_memory(kind: Make) -> Make:
    return lambda folder, **options: kind(":memory:", folder.name, embed, **options)


def in_folder(kind: Make) -> Make:
    return lambda folder, **options: kind(str(folder / "store"), "documents", embed, **options)


MAKES = {
    "qdrant in memory": in_memory(qdrant),
    "qdrant in a folder": in_folder(qdrant),
    "lancedb": in_folder(lancedb),
    "chroma in memory": in_memory(chroma),
    "chroma in a folder": in_folder(chroma),
}
FILTERS: dict[str, Any] = {
    "qdrant": {"must": [{"key": "topic", "match": {"value": "money"}}]},
    "lancedb": "topic = 'money'",
    "chroma": {"topic": "money"},
}


@pytest.fixture(params=MAKES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(kind: str, tmp_path: Path) -> Make:
    return lambda **options: MAKES[kind](tmp_path, **options)


@pytest.mark.no_cover
def test_it_finds_what_is_nearest_best_first(make: Make, corpus: Corpus) -> None:
    store = make().fill(corpus)
    assert isinstance(store, Retriever)
    found = store.search(QUESTIONS, 2)
    assert [each[0][0] for each in found] == ["faq/1", "faq/2", "faq/3"]
    for each in found:
        assert len(each) == 2
        assert each[0][1] > each[1][1]
    assert store.search([], 2) == []
    store.close()


def test_filling_again_replaces(make: Make, corpus: Corpus) -> None:
    store = make().fill(corpus)
    store.fill({"faq/2": "There is a fee."})
    assert sorted(name for name, _ in store.search(["fee"], 10)[0]) == ["faq/1", "faq/2", "faq/3"]
    assert {name for name, _ in store.search(["fee"], 2)[0]} == {"faq/2", "faq/3"}
    store.close()


def test_a_filter_goes_through(kind: str, make: Make, corpus: Corpus) -> None:
    store = make(filter=FILTERS[kind.split()[0]]).fill(corpus)
    assert sorted(name for name, _ in store.search(["hour"], 10)[0]) == ["faq/1", "faq/3"]
    store.close()


@pytest.mark.parametrize("far", ["l2", "dot"])
def test_the_nearest_come_first_by_any_distance(kind: str, make: Make, corpus: Corpus, far: str) -> None:
    words = {"qdrant": {"l2": "Euclid", "dot": "Dot"}, "chroma": {"l2": "l2", "dot": "ip"}}
    store = make(distance=words.get(kind.split()[0], {}).get(far, far)).fill(corpus)
    scores = [score for _, score in store.search(["fee"], 3)[0]]
    assert store.search(["fee"], 1)[0][0][0] == "faq/3"
    assert scores == sorted(scores, reverse=True)
    store.close()


def test_settings_are_plain_and_tell_stores_apart(make: Make, tmp_path: Path) -> None:
    one = make()
    one.close()
    other = make(id="name")
    other.close()
    assert json.loads(json.dumps(one.settings)) == one.settings
    assert one.settings != other.settings


def test_what_an_embedder_raises_is_no_fault_of_the_store(kind: str, tmp_path: Path, corpus: Corpus) -> None:
    failing = [False]

    def fragile(texts: list[str]) -> list[list[float]]:
        if failing[0]:
            raise ValueError("the model is gone")
        return embed(texts)

    where = ":memory:" if "memory" in kind else str(tmp_path / "store")
    kinds: dict[str, Make] = {"qdrant": qdrant, "lancedb": lancedb, "chroma": chroma}
    store = kinds[kind.split()[0]](where, "documents-of-the-fragile", fragile).fill(corpus)
    failing[0] = True
    with pytest.raises(ValueError, match=r"^the model is gone\n.*fragile failed on 3 texts, the first "):
        store.search(QUESTIONS, 2)


def test_what_is_not_there_is_said(make: Make) -> None:
    store = make()
    with pytest.raises(StoreError, match=r"(?s)not (found|exist).*Next: check"):
        store.search(["fee"], 3)
    with pytest.raises(UsageError, match="k: got 0, expected a whole number of at least 1"):
        store.search(["fee"], 0)
    store.close()


def test_a_benchmark_runs_on_it(make: Make, corpus: Corpus) -> None:
    store = make().fill(corpus)
    questions = {f"q{i}": text for i, text in enumerate(QUESTIONS)}
    bench = Benchmark(questions, {f"q{i}": [f"faq/{i + 1}"] for i in range(3)})
    assert bench.run("store", store, k=3).scores["RR@3"] == 1.0
    store.close()


def test_settings_tell_what_was_filled(make: Make, corpus: Corpus) -> None:
    store = make()
    before = store.settings
    store.fill(corpus)
    once = store.settings
    store.fill({"d": "more"})
    assert before != once != store.settings
    assert once["filled"] == [corpus.fingerprint]
    store.close()


def test_settings_name_the_place_of_a_client(tmp_path: Path) -> None:
    import chromadb
    from chromadb.config import Settings
    from qdrant_client import QdrantClient

    quiet = Settings(anonymized_telemetry=False)
    client = QdrantClient(path=str(tmp_path / "q"))
    assert qdrant(client, "c", embed).settings["where"] == str(tmp_path / "q")
    client.close()
    assert chroma(chromadb.EphemeralClient(quiet), "c", embed).settings["where"] == ":memory:"
    kept = chromadb.PersistentClient(str(tmp_path / "c"), Settings(anonymized_telemetry=False))
    assert chroma(kept, "c", embed).settings["where"] == str(tmp_path / "c")
    assert chroma(tmp_path / "c", "c", embed).settings["where"] == str(tmp_path / "c")


@pytest.mark.parametrize("kind_of_store", [qdrant, lancedb, chroma])
def test_what_was_filled_is_found_by_who_comes_later(kind_of_store: Make, tmp_path: Path, corpus: Corpus) -> None:
    where = str(tmp_path / "store")
    kind_of_store(where, "documents", embed).fill(corpus).close()
    later = kind_of_store(where, "documents", embed)
    assert later.search(["fee"], 1)[0][0][0] == "faq/3"
    later.close()
    for options, message in ({"id": "number"}, "Next: say with id= which field"), ({}, "Next: check"):
        short = (lambda texts: [[1.0, 2.0]] * len(texts)) if not options else embed
        other = kind_of_store(where, "documents", short, **options)
        with pytest.raises((DataError, StoreError), match=message):
            other.search(["fee"], 3)
        other.close()


# --- each for itself -----------------------------------------------------------------------------------


def test_a_collection_of_qdrant_that_somebody_else_made(corpus: Corpus) -> None:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    shape = models.VectorParams(size=3, distance=models.Distance.DOT)
    client.create_collection("shop", vectors_config={"small": shape})
    points = [
        models.PointStruct(id=n, vector={"small": row}, payload={"sku": f"sku-{n % 2}"})
        for n, row in enumerate(embed(["fee", "refund", "fee fee"]))
    ]
    client.upsert("shop", points=points)
    by_field = qdrant(client, "shop", embed, vector="small", id="sku")
    assert [name for name, _ in by_field.search(["fee"], 3)[0]] == ["sku-0", "sku-1"], "each id once, its best first"
    assert [name for name, _ in qdrant(client, "shop", embed, vector="small", id=None).search(["fee"], 2)[0]] == [
        "2",
        "0",
    ]
    by_field.close()
    assert client.collection_exists("shop"), "a client that was handed over stays open"
    client.close()


def test_lancedb_searches_words_without_an_embedder(tmp_path: Path, corpus: Corpus) -> None:
    store = lancedb(tmp_path, "documents").fill(corpus)
    assert [[name for name, _ in each] for each in store.search(["refunds", "hours", "zebra"], 5)] == [
        ["faq/1"],
        ["faq/2"],
        [],
    ]
    only = lancedb(tmp_path, "documents", filter="year = 2025")
    assert only.search(["refunds hours"], 5)[0][0][0] == "faq/2"


def test_no_model_is_loaded_and_nothing_is_reported(tmp_path: Path, corpus: Corpus) -> None:
    store = chroma(str(tmp_path), "documents", embed).fill(corpus)
    assert store.search(["fee"], 1)[0][0][0] == "faq/3"
    assert not {"onnxruntime", "posthog", "torch"} & set(sys.modules)


@pytest.mark.parametrize("make_wrong", [lancedb, chroma, qdrant])
def test_an_unknown_distance_meets_the_nearest(tmp_path: Path, make_wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"(?i)distance: got 'cosin', .* Did you mean 'cosine'"):
        make_wrong(str(tmp_path), "documents", embed, distance="cosin")


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    for store in (
        lambda: qdrant("http://127.0.0.1:1", "c", embed),
        lambda: chroma("http://127.0.0.1:1", "c", embed),
    ):
        with pytest.raises(StoreError, match="Next: check the address"):
            store().search(["fee"], 1)


def test_making_a_client_of_qdrant_leaves_no_thread_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Thread] = []
    monkeypatch.setattr(Thread, "start", started.append)
    qdrant("http://127.0.0.1:1", "c", embed).close()
    assert started == []


def test_many_threads_share_it(make: Make, corpus: Corpus) -> None:
    store = make().fill(corpus)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: store.search(["fee"], 1)[0][0][0], range(24)))
    assert set(found) == {"faq/3"}
    store.close()


@pytest.mark.parametrize(
    ("call", "package", "name"),
    [
        (lambda: qdrant(":memory:", "c", embed), "qdrant_client", "qdrant-client"),
        (lambda: lancedb("nowhere", "c", embed), "lancedb", "lancedb"),
        (lambda: chroma(":memory:", "c", embed), "chromadb", "chromadb"),
        (lambda: postgres("dbname=x", "c"), "psycopg", "psycopg"),
        (lambda: pgvector("dbname=x", "c", embed), "psycopg", "psycopg"),
    ],
)
def test_a_missing_package_is_named_with_the_line_that_installs_it(
    call: Any, package: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"needs {name}, not installed\. Next: pip install 'rankproof\[stores\]'"):
        call()
