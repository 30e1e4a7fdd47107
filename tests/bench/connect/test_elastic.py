"""Elasticsearch and OpenSearch, as their documented HTTP interface has it: a server on loopback is strict about it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest

from rankproof import Benchmark
from rankproof.bench.connect import Store, StoreError, elasticsearch, opensearch
from rankproof.bench.retriever import Retriever
from rankproof.core.corpus import Corpus
from rankproof.errors import DataError, UsageError

from .conftest import Asked, Speaker, embed

Make = Callable[..., Store]


class Index:
    """As much of a server as the interface's pages say: one index, its documents, strict about requests."""

    def __init__(self) -> None:
        self.mappings: dict[str, Any] | None = None
        self.settings: dict[str, Any] = {}
        self.documents: dict[str, dict[str, Any]] = {}

    def __call__(self, asked: Asked) -> tuple[Any, ...]:
        path, _, query = unquote(asked.path).partition("?")
        if asked.method == "GET" and path == "/documents":
            return self._described()
        if asked.method == "PUT" and path == "/documents":
            return self._made(asked)
        if asked.method == "POST" and path == "/documents/_bulk" and query == "refresh=wait_for":
            return self._filled(asked)
        if asked.method == "POST" and path == "/documents/_search":
            return self._found(asked.json)
        return 400, {"error": {"type": "illegal_argument_exception", "reason": f"{asked.method} {asked.path}"}}

    def _described(self) -> tuple[Any, ...]:
        if self.mappings is None:
            error = {"type": "index_not_found_exception", "reason": "no such index [documents]"}
            return 404, {"error": {"root_cause": [error], **error}, "status": 404}
        return 200, {"documents": {"mappings": self.mappings}}

    def _made(self, asked: Asked) -> tuple[Any, ...]:
        assert asked.headers["content-type"] == "application/json"
        assert set(asked.json) <= {"mappings", "settings"}
        self.mappings, self.settings = asked.json["mappings"], asked.json.get("settings", {})
        return 200, {"acknowledged": True, "shards_acknowledged": True, "index": "documents"}

    def _filled(self, asked: Asked) -> tuple[Any, ...]:
        assert asked.headers["content-type"] == "application/x-ndjson"
        items = []
        for action, source in zip(asked.lines[::2], asked.lines[1::2], strict=True):
            assert set(action) == {"index"}
            assert set(action["index"]) == {"_id"}
            self.documents[action["index"]["_id"]] = source
            items.append({"index": {"_id": action["index"]["_id"], "status": 201}})
        return 200, {"took": 1, "errors": False, "items": items}

    def _found(self, body: dict[str, Any]) -> tuple[Any, ...]:
        assert set(body) - {"query", "knn"} == {"size", "_source", "track_total_hits"}
        assert ("query" in body) != ("knn" in body)
        score = self._knn(body["knn"]) if "knn" in body else self._query(body["query"])
        scored = {name: score(each) for name, each in self.documents.items()}
        kept = sorted((pair for pair in scored.items() if pair[1] > 0), key=lambda pair: -pair[1])
        hits = [self._hit(name, each, body["_source"]) for name, each in kept[: body["size"]]]
        shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
        return 200, {
            "took": 1,
            "timed_out": False,
            "_shards": shards,
            "hits": {"max_score": 1.0, "hits": hits},
        }

    def _hit(self, name: str, score: float, shown: Any) -> dict[str, Any]:
        hit: dict[str, Any] = {"_index": "documents", "_id": name, "_score": score}
        if shown:
            hit["_source"] = {each: self.documents[name][each] for each in shown if each in self.documents[name]}
        return hit

    def _query(self, query: dict[str, Any]) -> Callable[[dict[str, Any]], float]:
        (kind, inside), *more = query.items()
        assert not more
        if kind == "multi_match":
            assert set(inside) == {"query", "fields"}
            fields = [each.partition("^") for each in inside["fields"]]
            words = inside["query"].lower().split()
            return lambda source: sum(
                (float(boost or 1)) * str(source.get(name, "")).lower().count(word)
                for name, _, boost in fields
                for word in words
            )
        if kind == "match":
            ((name, text),) = inside.items()
            return lambda source: sum(str(source[name]).lower().count(word) for word in text.lower().split())
        if kind == "term":
            ((name, value),) = inside.items()
            return lambda source: float(source.get(name) == value)
        if kind == "knn":
            return self._knn_in_query(inside)
        assert kind == "bool"
        assert set(inside) == {"must", "filter"}
        wanted = inside["filter"] if isinstance(inside["filter"], list) else [inside["filter"]]
        must, only = [self._query(each) for each in inside["must"]], [self._query(each) for each in wanted]
        return lambda source: sum(each(source) for each in must) if all(each(source) for each in only) else 0.0

    def _knn(self, asked: dict[str, Any]) -> Callable[[dict[str, Any]], float]:
        assert set(asked) - {"filter"} == {"field", "query_vector", "k", "num_candidates"}
        assert asked["num_candidates"] >= asked["k"]
        return self._near(asked["field"], "dense_vector", "dims", asked["query_vector"], asked.get("filter"))

    def _knn_in_query(self, inside: dict[str, Any]) -> Callable[[dict[str, Any]], float]:
        ((field, asked),) = inside.items()
        assert set(asked) - {"filter"} == {"vector", "k"}
        assert self.settings == {"index.knn": True}
        assert self.mappings["properties"][field]["method"] == {  # type: ignore[index]
            "name": "hnsw",
            "space_type": "cosinesimil",
            "engine": "lucene",
        }
        return self._near(field, "knn_vector", "dimension", asked["vector"], asked.get("filter"))

    def _near(self, field: str, kind: str, size: str, vector: list[float], only: Any) -> Any:
        assert self.mappings is not None
        assert self.mappings["properties"][field]["type"] == kind
        assert self.mappings["properties"][field][size] == len(vector)
        keep = (lambda source: 1.0) if only is None else self._query(only)
        return lambda source: keep(source) * sum(a * b for a, b in zip(source[field], vector, strict=True))


@pytest.fixture
def index(speaker: Speaker) -> Speaker:
    speaker.answer = Index()
    return speaker


@pytest.fixture(params=[elasticsearch, opensearch])
def kind(request: pytest.FixtureRequest) -> Make:
    return request.param  # type: ignore[no-any-return]


def names(found: list[tuple[str, float]]) -> list[str]:
    return [name for name, _ in found]


def test_words_are_searched_in_title_and_text(kind: Make, index: Speaker, corpus: Corpus) -> None:
    store = kind(index.url, "documents").fill(corpus)
    assert isinstance(store, Retriever)
    assert [names(each) for each in store.search(["refunds", "opening hours", "zebra"], 5)] == [
        ["faq/1"],
        ["faq/2"],
        [],
    ]
    assert index.seen[-1].json == {
        "query": {"multi_match": {"query": "zebra", "fields": ["title", "text"]}},
        "size": 5,
        "_source": False,
        "track_total_hits": False,
    }
    assert store("refunds", 1) == store.search(["refunds"], 1)[0]
    store.close()


def test_filling_makes_the_index_once_and_puts_documents_by_id(kind: Make, index: Speaker, corpus: Corpus) -> None:
    store = kind(index.url, "documents").fill(corpus).fill({"faq/2": "A new zebra."})
    assert [(each.method, each.path) for each in index.seen] == [
        ("GET", "/documents"),
        ("PUT", "/documents"),
        ("POST", "/documents/_bulk?refresh=wait_for"),
        ("GET", "/documents"),
        ("POST", "/documents/_bulk?refresh=wait_for"),
    ]
    assert index.seen[2].lines[:2] == [
        {"index": {"_id": "faq/1"}},
        {
            "topic": "money",
            "year": 2024,
            "id": "faq/1",
            "title": "Refunds",
            "text": "Refunds are paid within 30 days.",
        },
    ]
    assert names(store.search(["zebra"], 5)[0]) == ["faq/2"]
    store.close()


def test_vectors_are_searched_where_an_embedder_is_given(kind: Make, index: Speaker, corpus: Corpus) -> None:
    store = kind(index.url, "documents", embedder=embed).fill(corpus)
    assert [names(each)[0] for each in store.search(["refund", "hour", "fee"], 2)] == [
        "faq/1",
        "faq/2",
        "faq/3",
    ]
    only = kind(index.url, "documents", embedder=embed, filter={"term": {"topic": "money"}})
    assert sorted(names(only.search(["hour"], 5)[0])) == ["faq/1", "faq/3"]
    store.close()
    only.close()


def test_a_filter_and_a_query_of_ones_own(kind: Make, index: Speaker, corpus: Corpus) -> None:
    kind(index.url, "documents").fill(corpus).close()
    only = kind(index.url, "documents", filter={"term": {"topic": "time"}})
    assert names(only.search(["refunds hours"], 5)[0]) == ["faq/2"]
    own = kind(index.url, "documents", query={"match": {"text": "{question}"}}, filter=[{"term": {"topic": "money"}}])
    assert names(own.search(['hours "fee" fee'], 5)[0]) == ["faq/3"]
    assert index.seen[-1].json["query"]["bool"]["must"] == [{"match": {"text": 'hours "fee" fee'}}]
    boosted = kind(index.url, "documents", fields=["title^3", "text"])
    assert boosted.search(["fees"], 5)[0] == [("faq/3", 3.0)]
    for wrong in ({"match": {"text": "refund"}}, {}, "{question}", ["{question}"], 3):
        with pytest.raises(UsageError, match="expected a mapping with a place for the question"):
            kind(index.url, "documents", query=wrong)
        kind(index.url, "documents", embedder=lambda texts: [[1.0] for _ in texts], query=wrong)  # it asks by vectors


def test_the_id_may_stand_in_a_field(kind: Make, index: Speaker, corpus: Corpus) -> None:
    store = kind(index.url, "documents", id="topic").fill(corpus)
    assert names(store.search(["refunds fee"], 5)[0]) == ["money"], "each id once"
    missing = kind(index.url, "documents", id="sku")
    with pytest.raises(DataError, match=r"without the field 'sku'.*Next: say with id="):
        missing.search(["fee"], 5)


def test_who_asks_may_stand_in_the_url(kind: Make, speaker: Speaker) -> None:
    speaker.answer = lambda asked: (200, NO_HIT)
    store = kind(speaker.url.replace("http://", "http://me:p%40ss@"), "documents")
    assert store.search(["fee"], 5) == [[]]
    assert speaker.seen[0].headers["authorization"] == "Basic " + base64.b64encode(b"me:p@ss").decode()
    assert "me" not in store.settings["where"]


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"api_key": "s3cret"}, "ApiKey s3cret"),
        ({"user": "me", "password": "s3cret"}, "Basic " + base64.b64encode(b"me:s3cret").decode()),
        ({"headers": {"Authorization": "Bearer s3cret"}}, "Bearer s3cret"),
    ],
)
def test_secrets_are_sent_and_never_shown(kind: Make, speaker: Speaker, options: Any, sent: str) -> None:
    speaker.answer = lambda asked: (
        401,
        f"application/json: {asked.headers['authorization'].split()[1]} s3cret",
    )
    store = kind(speaker.url.replace("http://", "http://you:s3cret@"), "documents", **options)
    with pytest.raises(
        StoreError, match=r"HTTP 401: 'application/json: \*\*\*.*Next: give user= and password=, or api_key="
    ) as caught:
        store.search(["fee"], 5)
    assert speaker.seen[0].headers["authorization"] == sent
    secrets = ("s3cret", sent.partition(" ")[2])
    for shown in (str(caught.value), repr(store), json.dumps(store.settings)):
        assert not any(secret in shown for secret in secrets)


NOT_FOUND = {
    "error": {"type": "index_not_found_exception", "reason": "no such index [documents]"},
    "status": 404,
}
NO_HIT = {"hits": {"hits": []}}


@pytest.mark.parametrize(
    ("answer", "message", "again", "wait"),
    [
        (
            (404, NOT_FOUND),
            "HTTP 404: .*no such index.*Next: check the name of the index, or fill it",
            False,
            0,
        ),
        (
            (400, {"error": "result window is too large"}),
            "HTTP 400.*too large.*Next: check the names",
            False,
            0,
        ),
        ((403, ""), "HTTP 403.*Next: ask for the right", False, 0),
        ((429, "", {"Retry-After": "7"}), "HTTP 429.*Next: ask fewer", True, 7),
        ((503, "all shards failed"), "HTTP 503.*Next: check that", True, 0),
        ((200, '{"hits": {"hits": ['), "no whole JSON.*Next: check that", True, 0),
        ((200, "<html>a proxy</html>"), "no whole JSON.*proxy", True, 0),
        ((200, {"found": 3}), "expected hits with ids and scores", False, 0),
        ((200, [1, 2]), "expected hits with ids and scores", False, 0),
        ((200, {**NO_HIT, "timed_out": True}), "gave up in time", True, 0),
        ((200, {**NO_HIT, "_shards": {"total": 5, "failed": 2}}), "no answer from 2 of its shards", True, 0),
    ],
)
def test_faults_are_said(kind: Make, speaker: Speaker, answer: Any, message: str, again: bool, wait: float) -> None:
    speaker.answer = lambda asked: answer
    with pytest.raises(StoreError, match=message) as caught:
        kind(speaker.url, "documents").search(["fee"], 5)
    assert str(caught.value).startswith(f"{kind.__name__}: ")
    assert "Next: " in str(caught.value)
    assert (caught.value.again, caught.value.wait) == (again, wait)


def test_a_server_that_is_not_there(kind: Make) -> None:
    with pytest.raises(StoreError, match=r"refused.*Next: check that http://127.0.0.1:1 is there"):
        kind("http://127.0.0.1:1", "documents").search(["fee"], 5)
    for wrong in (
        "localhost:9200",
        "http://",
        "http://a b:9200",
        "http://me:secret@h:99999",
        "http://me:secret@[::1",
        9200,
    ):
        with pytest.raises(UsageError, match="expected a URL like 'http://localhost:9200'") as error:
            kind(wrong, "documents")
        assert "secret" not in str(error.value)


def test_documents_that_are_refused_are_named(kind: Make, speaker: Speaker, corpus: Corpus) -> None:
    error = {"type": "mapper_parsing_exception", "reason": "failed to parse field [year]"}
    items = [
        {"index": {"_id": "faq/1", "status": 201}},
        {"index": {"_id": "faq/2", "status": 400, "error": error}},
    ]
    speaker.answer = lambda asked: (200, {"errors": True, "items": items} if "_bulk" in asked.path else {})
    with pytest.raises(StoreError, match=r"1 documents were refused, the first is 'faq/2'.*\[year\].*Next: "):
        kind(speaker.url, "documents").fill(corpus)


def test_a_fault_costs_its_question_and_the_run_goes_on(kind: Make, index: Speaker, corpus: Corpus) -> None:
    store = kind(index.url, "documents").fill(corpus)
    whole = index.answer
    index.answer = lambda asked: (500, "no disk") if "hours" in asked.body else whole(asked)
    bench = Benchmark({"q1": "refunds", "q2": "hours", "q3": "fees"}, {f"q{n}": [f"faq/{n}"] for n in (1, 2, 3)})
    made = bench.run("store", store, k=3, retries=0)
    assert dict(made.scores.per_query["RR@3"]) == {"q1": 1.0, "q2": 0.0, "q3": 1.0}
    store.close()


def test_settings_are_plain_and_tell_stores_apart(kind: Make) -> None:
    one = kind("http://localhost:9200", "documents", api_key="x").settings
    other = kind("http://localhost:9200", "documents", fields=["text"]).settings
    dense = kind("http://localhost:9200", "documents", embedder=embed).settings
    assert json.loads(json.dumps(one)) == one
    assert len({json.dumps(each) for each in (one, other, dense)}) == 3
    assert one == kind("http://localhost:9200", "documents", api_key="another").settings


def test_odd_names_of_indices_are_kept(speaker: Speaker) -> None:
    speaker.answer = lambda asked: (200, NO_HIT)
    elasticsearch(speaker.url + "/", "logs-*,shop/ä").search(["fee"], 1)
    assert speaker.seen[0].path == "/logs-*,shop%2F%C3%A4/_search"
