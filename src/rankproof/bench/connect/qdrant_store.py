"""Qdrant: a server, a folder, or in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from rankproof.bench.connect.store import Part, Store, best_pairs, connector, faults, field_in, payload
from rankproof.bench.retrieve.embedder import as_embedder
from rankproof.bench.retriever import Found
from rankproof.errors import missing_extra
from rankproof.net.secrets import without_access

DISTANCES = ("Euclid", "Manhattan")
"""Where less is better."""
ADVICE = "check the address, the key, the name of the collection and its vectors."


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
    client = _client(where, options)
    asked = as_embedder(embedder)
    settings = {
        "store": "qdrant",
        "where": _address(where),
        "collection": collection,
        "embedder": dict(asked.settings),
        "id": id,
        "vector": vector,
        "filter": _plain(filter),
    }
    # Asked once: it cannot change, and asking costs as much as a search.
    sign = cache(lambda: -1 if _distance(client, collection, vector) in DISTANCES else 1)

    return connector(
        *(settings, asked),
        lambda vectors, k: _found(client, collection, vectors, k, settings, sign()),
        lambda parts: _fill(client, collection, parts, vector, distance),
        guard=lambda: _faults((options.get("api_key"),)),
        shut=(lambda: None) if client is where else client.close,
    )


def _client(where: Any, options: Mapping[str, Any]) -> Any:
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise missing_extra("qdrant", "qdrant-client", "stores") from error
    if hasattr(where, "query_points"):
        return where
    make: Any = QdrantClient
    kind = "location" if where == ":memory:" else "url" if "://" in str(where) else "path"
    # Its look at the server's version is taken in a thread of its own, whose warnings come at any moment.
    told = {"check_compatibility": False, **options, kind: str(where)}
    with _faults((options.get("api_key"),)):
        return make(**told)


def _address(where: Any) -> str:
    """The place itself, or that of a client."""
    if not hasattr(where, "query_points"):
        return without_access(str(where))
    told = getattr(where, "init_options", {})
    named = (str(told[name]) for name in ("url", "host", "path", "location") if told.get(name))
    return without_access(next(named, "a client"))


def _plain(filter: Any) -> Any:
    return filter.model_dump(exclude_none=True, mode="json") if hasattr(filter, "model_dump") else filter


def _faults(secrets: tuple[str | None, ...]) -> Any:
    from qdrant_client.http.exceptions import ApiException

    return faults("qdrant", (ApiException, ValueError, OSError, RuntimeError), ADVICE, secrets)


def _found(
    client: Any, collection: str, vectors: Any, k: int, settings: Mapping[str, Any], sign: int
) -> list[Found]:
    from qdrant_client import models

    name = settings["id"]
    filter = None if settings["filter"] is None else models.Filter.model_validate(settings["filter"])
    requests = [
        models.QueryRequest(
            query=vector.tolist(),
            using=settings["vector"],
            filter=filter,
            limit=k,
            with_payload=[name] if name else False,
        )
        for vector in vectors
    ]
    answers = client.query_batch_points(collection, requests=requests)
    return [
        best_pairs(((_id(point, name), sign * point.score) for point in each.points), k) for each in answers
    ]


def _distance(client: Any, collection: str, vector: str | None) -> str:
    vectors = client.get_collection(collection).config.params.vectors
    told = vectors.get(vector or "") if isinstance(vectors, Mapping) else vectors
    return str(getattr(getattr(told, "distance", ""), "value", ""))


def _id(point: Any, name: str | None) -> Any:
    return point.id if name is None else field_in(point.payload or {}, name, "qdrant")


def _fill(client: Any, collection: str, parts: Iterator[Part], vector: str | None, distance: str) -> None:
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
