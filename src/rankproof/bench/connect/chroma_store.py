"""Chroma: a server, a folder, or in memory; always with vectors of one's own, so that no model is downloaded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from rankproof.bench.connect.store import Part, Store, best_pairs, connector, faults, field_in
from rankproof.bench.retrieve.embedder import as_embedder
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Document
from rankproof.errors import missing_extra, one_of
from rankproof.net.secrets import without_access

ADVICE = "check the address, the name of the collection and the length of its vectors, or hand over your own client."
SPACES = ("cosine", "l2", "ip")


def chroma(
    where: Any,
    collection: str,
    embedder: Any,
    *,
    id: str | None = None,
    filter: Mapping[str, Any] | None = None,
    filter_text: Mapping[str, Any] | None = None,
    distance: str = "cosine",
    **options: Any,
) -> Store:
    """A collection of Chroma as a retriever.

    `where` is a client, ":memory:", a folder, or a URL; `options` go to the client. `id` is the field of the
    metadata that has the document's id, None the id it is stored under. `filter` and `filter_text` are Chroma's
    `where` and `where_document`. `distance` is used where `fill` makes the collection.
    """
    if distance not in SPACES:
        raise one_of("chroma: distance", distance, SPACES)
    secrets = list(options.get("headers", {}).values())
    client = _client(where, options, secrets)
    asked = as_embedder(embedder)
    settings = {
        "store": "chroma",
        "where": _address(where),
        "collection": collection,
        "embedder": dict(asked.settings),
        "id": id,
        "filter": filter,
        "filter_text": filter_text,
    }

    def find(vectors: Any, k: int) -> list[Found]:
        return _found(client.get_collection(collection, embedding_function=None), vectors, k, settings)

    def fill(parts: Iterator[Part]) -> None:
        _fill(client, collection, parts, distance)

    return connector(settings, asked, find, fill, guard=lambda: _faults(secrets))


def _client(where: Any, options: dict[str, Any], secrets: list[str]) -> Any:
    try:
        import chromadb
        from chromadb.config import Settings
    except ImportError as error:
        raise missing_extra("chroma", "chromadb", "stores") from error
    if hasattr(where, "get_collection"):
        return where
    quiet = {"settings": Settings(anonymized_telemetry=False), **options}
    with _faults(secrets):
        if where == ":memory:":
            return chromadb.EphemeralClient(**quiet)
        parts = urlsplit(str(where))
        if parts.scheme in ("http", "https"):
            ssl = parts.scheme == "https"
            port = parts.port or (443 if ssl else 8000)
            return chromadb.HttpClient(host=parts.hostname or "", port=port, ssl=ssl, **quiet)
        return chromadb.PersistentClient(path=str(where), **quiet)


def _address(where: Any) -> str:
    """The place itself, or that of a client."""
    if not hasattr(where, "get_collection"):
        return without_access(str(where))
    told = where.get_settings()
    if told.chroma_server_host:
        return f"{told.chroma_server_host}:{told.chroma_server_http_port}"
    return str(told.persist_directory) if told.is_persistent else ":memory:"


def _faults(secrets: list[str]) -> Any:
    from chromadb.errors import ChromaError

    return faults("chroma", (ChromaError, ValueError, OSError, RuntimeError), ADVICE, secrets)


def _found(collection: Any, vectors: Any, k: int, settings: Mapping[str, Any]) -> list[Found]:
    name = settings["id"]
    answer = collection.query(
        query_embeddings=[vector.tolist() for vector in vectors],
        n_results=k,
        where=settings["filter"],
        where_document=settings["filter_text"],
        include=["distances", "metadatas"] if name else ["distances"],
    )
    ids = answer["ids"]
    if name:
        ids = [[field_in(each or {}, name, "chroma") for each in row] for row in answer["metadatas"]]
    rows = zip(ids, answer["distances"], strict=True)
    return [best_pairs(((key, -far) for key, far in zip(*row, strict=True)), k) for row in rows]


def _fill(client: Any, collection: str, parts: Iterator[Part], distance: str) -> None:
    space = {"hnsw": {"space": distance}}
    opened = client.get_or_create_collection(collection, embedding_function=None, configuration=space)
    for documents, vectors in parts:
        opened.upsert(
            ids=[each.id for each in documents],
            embeddings=vectors.tolist(),
            metadatas=[_metadata(each) for each in documents],
            documents=[each.whole for each in documents],
        )


def _metadata(document: Document) -> dict[str, Any]:
    """What Chroma takes as metadata: plain values only, at least one."""
    plain = {
        name: value if isinstance(value, (str, bool, int, float)) else json.dumps(value, default=str)
        for name, value in document.metadata.items()
        if value is not None
    }
    return {**plain, "id": document.id, "title": document.title}
