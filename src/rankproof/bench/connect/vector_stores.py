"""Stores that search by vectors: Chroma, LanceDB (by words too) and Qdrant.

Vectors are always given by the user, so that no model is downloaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

from rankproof.bench.connect.store import Part, Store, best_pairs, faults, field_in, payload, store_package
from rankproof.bench.retrieve.dense_search import as_embedder
from rankproof.bench.retriever import Found
from rankproof.errors import check_one_of
from rankproof.net.client import without_access

CHROMA_ADVICE = (
    "check the address, the name of the collection and the length of its vectors, or hand over your own client."
)
SPACES = ("cosine", "l2", "ip")


def chroma(
    where: Any,
    collection: str,
    embedder: Any,
    *,
    id: str | None = None,
    filter: Mapping[str, Any] | None = None,
    distance: str = "cosine",
    **options: Any,
) -> Store:
    """A collection of Chroma as a retriever.

    `where` is a client, ":memory:", a folder, or a URL; `options` go to the client. `id` is the field of the
    metadata that has the document's id, None the id it is stored under. `filter` is Chroma's `where`. `distance` is
    used where `fill` makes the collection.
    """
    check_one_of("chroma: distance", distance, SPACES)
    chromadb = store_package("chroma", "chromadb")
    kinds = chromadb.errors.ChromaError, ValueError, OSError, RuntimeError
    guard = partial(faults, "chroma", kinds, CHROMA_ADVICE, list(options.get("headers", {}).values()))
    with guard():
        client = _chroma_client(chromadb, where, options)
    asked = as_embedder(embedder)
    settings: dict[str, Any] = {"store": "chroma", "where": _chroma_address(where), "collection": collection}
    settings |= {"embedder": dict(asked.settings), "id": id, "filter": filter}

    def find(vectors: Any, k: int) -> list[Found]:
        answer = client.get_collection(collection, embedding_function=None).query(
            query_embeddings=[vector.tolist() for vector in vectors],
            n_results=k,
            where=filter,
            include=["distances", "metadatas"] if id else ["distances"],
        )
        ids = answer["ids"]
        if id:
            ids = [[field_in(each or {}, id, "chroma") for each in row] for row in answer["metadatas"]]
        rows = zip(ids, answer["distances"], strict=True)
        return [best_pairs(((key, -far) for key, far in zip(*row, strict=True)), k) for row in rows]

    def fill(parts: Iterator[Part]) -> None:
        space = {"hnsw": {"space": distance}}
        opened = client.get_or_create_collection(collection, embedding_function=None, configuration=space)
        for documents, vectors in parts:
            known = [{name: each for name, each in doc.metadata.items() if each is not None} for doc in documents]
            opened.upsert(
                ids=[each.id for each in documents],
                embeddings=vectors.tolist(),
                # Plain values only, and at least one.
                metadatas=[
                    {**_plain(own), "id": each.id, "title": each.title}
                    for own, each in zip(known, documents, strict=True)
                ],
                documents=[each.whole for each in documents],
            )

    return Store(settings, asked, find, fill, guard=guard)


def _chroma_client(chromadb: Any, where: Any, options: dict[str, Any]) -> Any:
    if hasattr(where, "get_collection"):
        return where
    quiet = {"settings": chromadb.config.Settings(anonymized_telemetry=False), **options}
    if where == ":memory:":
        return chromadb.EphemeralClient(**quiet)
    parts = urlsplit(str(where))
    if parts.scheme in ("http", "https"):
        ssl = parts.scheme == "https"
        port = parts.port or (443 if ssl else 8000)
        return chromadb.HttpClient(host=parts.hostname or "", port=port, ssl=ssl, **quiet)
    return chromadb.PersistentClient(path=str(where), **quiet)


def _chroma_address(where: Any) -> str:
    """The place itself, or that of a client."""
    if not hasattr(where, "get_collection"):
        return without_access(str(where))
    told = where.get_settings()
    if told.chroma_server_host:
        return f"{told.chroma_server_host}:{told.chroma_server_http_port}"
    return str(told.persist_directory) if told.is_persistent else ":memory:"


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with plain values, as a column has one kind of them; others are kept as JSON."""
    return {
        name: value if isinstance(value, (str, bool, int, float)) else json.dumps(value, default=str)
        for name, value in metadata.items()
    }


LANCE_ADVICE = "check the folder, the name of the table, and the names of its columns."
LANCE_DISTANCES = ("cosine", "l2", "dot")


def lancedb(
    where: Any,
    table: str,
    embedder: Any = None,
    *,
    id: str = "id",
    vector: str = "vector",
    text: str = "text",
    filter: str | None = None,
    distance: str = "cosine",
    **options: Any,
) -> Store:
    """A table of LanceDB as a retriever: by vectors, or without an embedder by words (its full-text index).

    `where` is a connection, a folder or an address; `options` (like `api_key`) go to `lancedb.connect`. `id`,
    `vector` and `text` are the columns with the document's id, its vector and its text; `filter` is a condition
    in SQL, like "topic = 'fees'".
    """
    check_one_of("lancedb: distance", distance, LANCE_DISTANCES)
    package = store_package("lancedb", "lancedb")
    kinds = ValueError, OSError, RuntimeError, KeyError
    guard = partial(faults, "lancedb", kinds, LANCE_ADVICE, (options.get("api_key"),))
    with guard():
        connection = where if hasattr(where, "open_table") else package.connect(where, **options)
    asked = None if embedder is None else as_embedder(embedder)
    column = text if asked is None else vector
    address = without_access(str(getattr(connection, "uri", "a connection")))
    settings: dict[str, Any] = {"store": "lancedb", "where": address, "table": table}
    settings |= {"embedder": None if asked is None else dict(asked.settings), "id": id, "column": column}
    settings |= {"filter": filter, "distance": distance}

    def find(given: Any, k: int) -> list[Found]:
        """What is nearest to each vector, or has the words of each question."""
        from lancedb.query import MatchQuery

        opened, answers = connection.open_table(table), []
        for each in given:
            if asked is None:
                match: Any = MatchQuery
                query = opened.search(match(each, column), query_type="fts")
            else:
                query = opened.search(each, vector_column_name=column).distance_type(distance)
            found = query if filter is None else query.where(filter, prefilter=True)
            sign, score = (1, "_score") if asked is None else (-1, "_distance")
            pairs = ((field_in(row, id, "lancedb"), sign * row[score]) for row in found.limit(k).to_list())
            answers.append(best_pairs(pairs, k))
        return answers

    def fill(parts: Iterator[Part]) -> None:
        for documents, vectors in parts:
            rows = [{**_plain(x.metadata), id: x.id, "title": x.title, text: x.whole} for x in documents]
            if vectors is not None:
                rows = [{**row, vector: each.tolist()} for row, each in zip(rows, vectors, strict=True)]
            _lance_put(connection, table, rows, id)
        if asked is None:
            from lancedb.index import FTS

            connection.open_table(table).create_index(text, config=FTS())

    return Store(settings, asked, find, fill, guard=guard)


def _lance_put(connection: Any, table: str, rows: list[dict[str, Any]], id: str) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    rows = [{name: row.get(name) for name in names} for row in rows]
    try:
        opened = connection.open_table(table)
    except ValueError:  # LanceDB's word for a table that is not there
        connection.create_table(table, rows)
        return
    opened.merge_insert(id).when_matched_update_all().when_not_matched_insert_all().execute(rows)


QDRANT_DISTANCES = ("Euclid", "Manhattan")
"""The distances, of which less is better."""
QDRANT_ADVICE = "check the address, the key, the name of the collection and its vectors."


def qdrant(
    where: Any,
    collection: str,
    embedder: Any,
    *,
    id: str | None = "id",
    vector: str | None = None,
    filter: Any = None,
    distance: str = "Cosine",
    **options: Any,
) -> Store:
    """A collection of Qdrant as a retriever.

    `where` is a client, ":memory:", a folder, or a URL; `options` (like `api_key`) go to the client. `embedder`
    makes vectors of questions (and, to fill, of documents). `id` is the field of the payload that has the
    document's id, None the id of the point itself; `vector` the name of the vector, where vectors have names;
    `filter` a Filter of Qdrant or the same as plain data. `distance` is used where `fill` makes the collection.
    """
    check_one_of("qdrant: distance", distance, (*QDRANT_DISTANCES, "Cosine", "Dot"))
    package = store_package("qdrant", "qdrant_client")
    kinds = package.http.exceptions.ApiException, ValueError, OSError, RuntimeError
    guard = partial(faults, "qdrant", kinds, QDRANT_ADVICE, (options.get("api_key"),))
    with guard():
        client = _qdrant_client(package, where, options)
    asked = as_embedder(embedder)
    only = filter.model_dump(exclude_none=True, mode="json") if hasattr(filter, "model_dump") else filter
    settings: dict[str, Any] = {"store": "qdrant", "where": _qdrant_address(where), "collection": collection}
    settings |= {"embedder": dict(asked.settings), "id": id, "vector": vector, "filter": only}

    @cache  # it cannot change, and asking costs as much as a search
    def sign() -> int:
        vectors = client.get_collection(collection).config.params.vectors
        told = vectors.get(vector or "") if isinstance(vectors, Mapping) else vectors
        return -1 if getattr(getattr(told, "distance", ""), "value", "") in QDRANT_DISTANCES else 1

    def find(vectors: Any, k: int) -> list[Found]:
        from qdrant_client import models

        turn = sign()
        condition = None if only is None else models.Filter.model_validate(only)
        fields = [id] if id else False
        requests = [
            models.QueryRequest(query=each.tolist(), using=vector, filter=condition, limit=k, with_payload=fields)
            for each in vectors
        ]

        def pair(point: Any) -> tuple[Any, float]:
            return point.id if id is None else field_in(point.payload or {}, id, "qdrant"), turn * point.score

        answers = client.query_batch_points(collection, requests=requests)
        return [best_pairs(map(pair, each.points), k) for each in answers]

    def fill(parts: Iterator[Part]) -> None:
        from qdrant_client import models

        for documents, vectors in parts:
            if not client.collection_exists(collection):
                shape = models.VectorParams(size=vectors.shape[1], distance=models.Distance(distance))
                client.create_collection(collection, vectors_config={vector: shape} if vector else shape)
            points = [
                models.PointStruct(
                    id=str(uuid5(NAMESPACE_URL, each.id)),  # Qdrant takes no text as the id of a point
                    vector={vector: row.tolist()} if vector else row.tolist(),
                    payload=payload(each),
                )
                for each, row in zip(documents, vectors, strict=True)
            ]
            client.upsert(collection, points=points)

    close = (lambda: None) if client is where else client.close
    return Store(settings, asked, find, fill, guard=guard, close=close)


def _qdrant_client(package: Any, where: Any, options: Mapping[str, Any]) -> Any:
    if hasattr(where, "query_points"):
        return where
    kind = "location" if where == ":memory:" else "url" if "://" in str(where) else "path"
    # Its look at the server's version is taken in a thread of its own, whose warnings come at any moment.
    told = {"check_compatibility": False, **options, kind: str(where)}
    return package.QdrantClient(**told)


def _qdrant_address(where: Any) -> str:
    """The place itself, or that of a client."""
    if not hasattr(where, "query_points"):
        return without_access(str(where))
    told = getattr(where, "init_options", {})
    named = (str(told[name]) for name in ("url", "host", "path", "location") if told.get(name))
    return without_access(next(named, "a client"))
