"""Elasticsearch and OpenSearch, over their HTTP interface: by words, or by vectors."""

from __future__ import annotations

import json
import weakref
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from rankproof.bench.adapters.endpoint import change_texts
from rankproof.bench.connect.store import Part, Store, StoreError, best_pairs, error_text, field_in, payload
from rankproof.bench.retrieve.dense_search import as_embedder
from rankproof.bench.retriever import Found
from rankproof.errors import UsageError, shorten
from rankproof.net.client import Client, Request, is_address, without_access
from rankproof.net.retries import Failed

NEXT = {
    "HTTP 400": "check the names of the fields, the filter, and k (an index answers 10,000 documents at most).",
    "HTTP 401": "give user= and password=, or api_key=.",
    "HTTP 403": "ask for the right to read this index.",
    "HTTP 404": "check the name of the index, or fill it first.",
    "HTTP 429": "ask fewer questions at a time, or later again.",
}


class Server:
    """A server with one index on it."""

    def __init__(self, name: str, url: str, index: str, *, timeout: float = 30.0, **access: Any) -> None:
        if not is_address(url):
            raise UsageError(
                f"{name}: got {without_access(str(url))!r}, expected a URL like 'http://localhost:9200'. "
                "Next: write it with http:// or https://."
            )
        self.name, self.index = name, quote(index, safe=",*-_.+")
        self.url = without_access(url).rstrip("/")
        self.headers = _headers(url, **access)
        # Passwords, and values of headers with and without the word before them, which no message may show.
        sent = [value for key, value in self.headers.items() if key != "Accept"]
        sent += [value.partition(" ")[2] for value in sent]
        self.secrets = [each for each in (*sent, access.get("password"), urlsplit(url).password) if each]
        self.client = Client(timeout, dict.fromkeys(self.secrets, "***"))
        weakref.finalize(self, self.client.close)

    def json(self, method: str, path: str, body: Any = None) -> Any:
        """The answer of the server; `body` is JSON, or lines of it."""
        kind = {"Content-Type": "application/x-ndjson" if isinstance(body, list) else "application/json"}
        lines = body if isinstance(body, list) else [body]
        encoded = None if body is None else "".join(f"{json.dumps(each, default=str)}\n" for each in lines).encode()
        try:
            return self.client.json(Request(method, self.url + path, {**self.headers, **kind}, encoded))
        except Failed as failed:
            advice = NEXT.get(failed.reason[:8], f"check that {self.url} is there and answers.")
            words = error_text(failed, self.secrets)
            raise StoreError(f"{self.name}: {words}. Next: {advice}", again=failed.again, wait=failed.wait) from None


def _headers(
    url: str,
    *,
    api_key: str | None = None,
    user: str | None = None,
    password: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The headers of every request; a user and a password may be in the URL as well."""
    found = {"Accept": "application/json", **(headers or {})}
    parts = urlsplit(url)
    if user is None and parts.username and "Authorization" not in found:
        user, password = unquote(parts.username), unquote(parts.password or "")
    if api_key is not None:
        found["Authorization"] = f"ApiKey {api_key}"
    elif user is not None:
        pair = f"{user}:{password or ''}"
        found["Authorization"] = f"Basic {b64encode(pair.encode()).decode('ascii')}"
    return found


Body = dict[str, Any]


def elasticsearch(url: str, index: str, **options: Any) -> Store:
    """An index of Elasticsearch as a retriever: by words (BM25), or by vectors where an embedder is given.

    `fields` are searched by words, "title^2" counting twice; `embedder` with `vector`, the name of a field of
    type dense_vector, searches by vectors instead, among `candidates` in each shard. `filter` is a query that
    documents must meet; `query` a query of your own with "{question}" in the place of the question. `id` is the
    field with the document's id, None the index's own. `api_key`, or `user` and `password`, and `headers` go
    with every request, and are never shown; `timeout` is in seconds.
    """

    def knn(vector: list[float], *, k: int, filter: Any, field: str, candidates: int) -> Body:
        asked = {"field": field, "query_vector": vector, "k": k, "num_candidates": max(k, candidates)}
        return {"knn": asked if filter is None else {**asked, "filter": filter}}

    return _store("elasticsearch", knn, "dense_vector", url, index, **options)


def opensearch(url: str, index: str, **options: Any) -> Store:
    """An index of OpenSearch as a retriever; the options are those of `elasticsearch`.

    Vectors are in a field of type knn_vector.
    """

    def knn(vector: list[float], *, k: int, filter: Any, field: str, candidates: int) -> Body:
        only = filter if filter is None or isinstance(filter, Mapping) else {"bool": {"filter": filter}}
        asked = {"vector": vector, "k": max(k, candidates), **({} if only is None else {"filter": only})}
        return {"query": {"knn": {field: asked}}}

    return _store("opensearch", knn, "knn_vector", url, index, **options)


def _store(
    name: str,
    knn: Callable[..., Body],
    kind: str,
    url: str,
    index: str,
    *,
    fields: Sequence[str] = ("title", "text"),
    embedder: Any = None,
    vector: str = "vector",
    candidates: int = 100,
    query: Mapping[str, Any] | None = None,
    filter: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    id: str | None = None,
    **access: Any,
) -> Store:
    asked = None if embedder is None else as_embedder(embedder)
    server = Server(name, url, index, **access)
    by_words: Body = {"fields": list(fields)}
    if asked is None and query is not None:
        if not isinstance(query, Mapping) or "{question}" not in json.dumps(query, default=str):
            raise UsageError(
                f"query: got {shorten(query)}, expected a mapping with a place for the question. "
                'Next: write "{question}" where it belongs.'
            )
        by_words = {"query": dict(query)}
    search = by_words if asked is None else {"vector": vector, "candidates": candidates}
    settings: Body = {"store": name, "where": without_access(url), "index": index}
    settings |= {"embedder": None if asked is None else dict(asked.settings), "search": search}
    settings |= {"filter": filter, "id": id}

    def body(given: Any, k: int) -> Body:
        if asked is not None:
            return knn(given, k=k, filter=filter, field=vector, candidates=candidates)
        words: Body = {"multi_match": {"query": given, **by_words}}
        if query is not None:
            words = change_texts(query, lambda text: text.replace("{question}", given))
        return {"query": words if filter is None else {"bool": {"must": [words], "filter": filter}}}

    def find(given: Any, k: int) -> list[Found]:
        usual = {"size": k, "_source": [id] if id else False, "track_total_hits": False}
        every = given if asked is None else given.tolist()
        return [_found(server, {**body(each, k), **usual}, k, id) for each in every]

    def fill(parts: Iterator[Part]) -> None:
        for number, (documents, vectors) in enumerate(parts):
            sources = [payload(each) for each in documents]
            if vectors is not None:
                sources = [{**each, vector: row} for each, row in zip(sources, vectors.tolist(), strict=True)]
            if number == 0:
                _make(server, kind, vector, None if vectors is None else vectors.shape[1])
            actions = [{"index": {"_id": each.id}} for each in documents]
            lines = [line for pair in zip(actions, sources, strict=True) for line in pair]
            answer = server.json("POST", f"/{server.index}/_bulk?refresh=wait_for", lines)
            if answer.get("errors"):
                failed = [each["index"] for each in answer["items"] if "error" in each["index"]]
                raise StoreError(
                    f"{name}: {len(failed)} documents were refused, the first is {shorten(failed[0]['_id'])}: "
                    f"{shorten(failed[0]['error'], 120)}. Next: check the fields of the index."
                )

    return Store(settings, asked, find, fill, close=server.client.close)


def _found(server: Server, body: Body, k: int, id: str | None) -> Found:
    answer = server.json("POST", f"/{server.index}/_search", body)
    try:
        # Refuse an answer that only a part of the index has given.
        failed = answer.get("_shards", {}).get("failed", 0)
        if answer.get("timed_out") or failed:
            what = "gave up in time" if answer.get("timed_out") else f"has no answer from {failed} of its shards"
            raise StoreError(f"{server.name}: the server {what}. Next: ask again, or look at its health.", again=True)
        hits = answer["hits"]["hits"]
        ids = (h["_id"] if id is None else field_in(h.get("_source") or {}, id, server.name) for h in hits)
        return best_pairs(zip(ids, (hit["_score"] for hit in hits), strict=True), k)
    except (AttributeError, KeyError, TypeError) as error:
        raise StoreError(
            f"{server.name}: got {shorten(answer)}, expected hits with ids and scores. "
            "Next: check that the URL is that of the server itself."
        ) from error


def _make(server: Server, kind: str, vector: str, size: int | None) -> None:
    """Make the index, if it is not there; with a field for vectors of that size, if there are some."""
    fields: Body = {"id": {"type": "keyword"}, "title": {"type": "text"}, "text": {"type": "text"}}
    body: Body = {"mappings": {"properties": fields}}
    if size is not None and kind == "dense_vector":
        fields[vector] = {"type": kind, "dims": size, "index": True, "similarity": "cosine"}
    elif size is not None:
        # Of OpenSearch's engines this one takes filters into account while it searches, in every version since 2.4.
        method = {"name": "hnsw", "space_type": "cosinesimil", "engine": "lucene"}
        fields[vector] = {"type": kind, "dimension": size, "method": method}
        body["settings"] = {"index.knn": True}
    try:
        server.json("GET", f"/{server.index}")
    except StoreError as error:
        if "HTTP 404" not in error.reason:
            raise
        server.json("PUT", f"/{server.index}", body)
