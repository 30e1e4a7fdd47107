"""A PostgreSQL that is started for these tests, searched by words; what it says when something is wrong."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from rankproof import Benchmark
from rankproof.bench.connect import StoreError, pgvector, postgres
from rankproof.bench.retriever import Retriever
from rankproof.core.corpus import Corpus
from rankproof.errors import UsageError

from .conftest import embed

pytestmark = [pytest.mark.cover, pytest.mark.slow]  # the server takes seconds to be made


@pytest.fixture
def documents(postgres_at: str, corpus: Corpus) -> str:
    """A table with the corpus in it."""
    postgres(postgres_at, "documents").fill(corpus).close()
    return "documents"


def names(found: list[tuple[str, float]]) -> list[str]:
    return [name for name, _ in found]


def test_it_finds_documents_with_any_word_best_first(postgres_at: str, documents: str) -> None:
    store = postgres(postgres_at, documents)
    assert isinstance(store, Retriever)
    found = store.search(["When is my refund paid?", "opening hours", "zebra", "the", ""], 5)
    assert [names(each) for each in found] == [["faq/1"], ["faq/2"], [], [], []]
    both = store.search(["refunds and the opening hours of nine"], 5)[0]
    assert names(both) == ["faq/2", "faq/1"]
    assert both[0][1] > both[1][1] > 0
    store.close()


def test_how_words_are_matched(postgres_at: str, documents: str) -> None:
    asked = ["refund hours", '"opening hours" -refund', "refunds paid"]
    found = {
        how: [names(each) for each in postgres(postgres_at, documents, match=how).search(asked, 5)]
        for how in ("all", "web")
    }
    assert found["all"] == [[], [], ["faq/1"]]
    assert found["web"] == [[], ["faq/2"], ["faq/1"]]


def test_any_sign_can_be_asked(postgres_at: str, documents: str) -> None:
    hostile = ["' | !x & (y :* <-> \\ fee", "anybody's", "a\0fee", "%s %(k)s fee; drop table documents; --"]
    found = postgres(postgres_at, documents).search(hostile, 5)
    assert [names(each) for each in found] == [["faq/3"]] * 4


def test_filling_again_replaces_and_keeps_the_rest(postgres_at: str, corpus: Corpus) -> None:
    store = postgres(postgres_at, "again").fill(corpus)
    store.fill({"faq/1": {"text": "No zebra.", "topic": "animals"}})
    assert sorted(names(store.search(["zebra refund fee"], 5)[0])) == ["faq/1", "faq/3"]
    assert store.search(["refunds"], 5) == [[]]
    store.close()


def test_a_filter_and_its_parameters_go_through(postgres_at: str, documents: str) -> None:
    only = postgres(
        postgres_at,
        f"public.{documents}",
        filter="metadata->>'topic' = %(topic)s and (metadata->>'year')::int > 2000",
        parameters={"topic": "money"},
    )
    assert names(only.search(["refund hours fee"], 5)[0]) == ["faq/1"]
    assert only.settings["parameters"] == {"topic": "money"}


def test_a_table_that_somebody_else_made(postgres_at: str) -> None:
    import psycopg

    with psycopg.connect(postgres_at) as connection:
        connection.execute('create table "Wares" (sku int primary key, name text, words tsvector)')
        connection.execute(
            "insert into \"Wares\" values (7, 'Häuser', to_tsvector('german', 'Häuser')), (8, null, null)"
        )
        store = postgres(connection, "Wares", id="sku", vector="words", language="german")
        assert names(store.search(["Haus"], 5)[0]) == ["7"]
        assert names(postgres(connection, "Wares", id="sku", text="name").search(["Häuser"], 5)[0]) == ["7"]
        store.close()
        assert not connection.closed, "a connection that was handed over stays open"


def test_a_column_of_words_is_made_where_it_is_asked_for(postgres_at: str, corpus: Corpus) -> None:
    store = postgres(postgres_at, "indexed", vector="words").fill(corpus).fill(corpus)
    assert names(store.search(["fees"], 5)[0]) == ["faq/3"]
    store.close()


def test_k_cuts_and_equal_scores_stand_in_the_order_of_ids(postgres_at: str) -> None:
    store = postgres(postgres_at, "alike").fill({f"d{n}": "refund" for n in range(9, 0, -1)})
    assert names(store.search(["refund"], 3)[0]) == ["d1", "d2", "d3"]
    store.close()


def test_many_threads_share_it(postgres_at: str, documents: str) -> None:
    store = postgres(postgres_at, documents)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: store.search(["refund"], 1)[0], range(64)))
    assert {tuple(names(each)) for each in found} == {("faq/1",)}
    store.close()


def test_a_benchmark_runs_on_it(postgres_at: str, documents: str) -> None:
    store = postgres(postgres_at, documents)
    bench = Benchmark({"q1": "refund", "q2": "hours"}, {"q1": ["faq/1"], "q2": ["faq/2"]})
    assert bench.run("postgres", store, k=3).scores["RR@3"] == 1.0
    store.close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"table": "nope"}, 'relation "nope" does not exist'),
        ({"text": "body"}, 'column "body" does not exist'),
        ({"language": "klingon"}, '"klingon" does not exist'),
        ({"filter": "topic ="}, "syntax error"),
    ],
)
def test_what_is_wrong_is_said(postgres_at: str, documents: str, change: dict[str, Any], message: str) -> None:
    table = change.pop("table", documents)
    store = postgres(postgres_at, table, **change)
    with pytest.raises(StoreError, match=f"postgres: .*{message}.*Next: check"):
        store.search(["refund"], 5)
    store.close()


def test_the_connection_is_fine_after_a_fault(postgres_at: str, documents: str) -> None:
    store = postgres(postgres_at, documents, filter="1 / (metadata->>'zero')::int > 0 or true")
    wrong = postgres(postgres_at, documents, filter="1 / 0 > 0")
    for _ in range(2):
        with pytest.raises(StoreError, match="division by zero"):
            wrong.search(["refund"], 5)
    assert names(store.search(["refund"], 5)[0]) == ["faq/1"]
    wrong.close()
    store.close()


def test_a_connection_that_was_closed_is_told(postgres_at: str) -> None:
    import psycopg

    connection = psycopg.connect(postgres_at)
    connection.close()
    with pytest.raises(StoreError, match=r"postgres: the connection is closed\. Next: check"):
        postgres(connection, "pages")


def test_secrets_are_never_shown(postgres_at: str) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:1/shop"
    store = postgres(url, "documents")
    assert "s3cret" not in json.dumps(store.settings) + repr(store)
    assert store.settings["where"] == {"host": "127.0.0.1", "port": "1", "dbname": "shop"}
    with pytest.raises(StoreError, match="refused") as caught:
        store.search(["refund"], 5)
    assert "s3cret" not in str(caught.value)
    with pytest.raises(StoreError, match="Next: ") as caught:
        postgres("s3cret", "documents")
    assert "s3cret" not in str(caught.value)


def test_an_unknown_way_to_match_meets_the_nearest(postgres_at: str) -> None:
    with pytest.raises(UsageError, match="Did you mean 'any'"):
        postgres(postgres_at, "documents", match="anny")


def test_a_server_without_pgvector_says_so(postgres_at: str, corpus: Corpus) -> None:
    import psycopg

    with psycopg.connect(postgres_at) as connection:
        found = connection.execute("select 1 from pg_available_extensions where name = 'vector'").fetchone()
    if found:
        pytest.skip("this PostgreSQL has pgvector")
    store = pgvector(postgres_at, "vectors", embed)
    with pytest.raises(StoreError, match='extension "vector" is not available'):
        store.fill(corpus)
    store.close()
