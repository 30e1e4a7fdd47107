"""LanceDB: tables in a folder, searched by vectors or by words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rankproof.bench.connect.store import Part, Store, best_pairs, connector, faults, field_in
from rankproof.bench.retrieve.embedder import as_embedder
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Document
from rankproof.errors import missing_extra, one_of
from rankproof.net.secrets import without_access

ADVICE = "check the folder, the name of the table, and the names of its columns."
DISTANCES = ("cosine", "l2", "dot")


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
    if distance not in DISTANCES:
        raise one_of("lancedb: distance", distance, DISTANCES)
    connection = _connection(where, options)
    asked = None if embedder is None else as_embedder(embedder)
    settings = {
        "store": "lancedb",
        "where": without_access(str(getattr(connection, "uri", "a connection"))),
        "table": table,
        "embedder": None if asked is None else dict(asked.settings),
        "id": id,
        "column": text if asked is None else vector,
        "filter": filter,
        "distance": distance,
    }

    search = _by_words if asked is None else _by_vector

    def find(given: Any, k: int) -> list[Found]:
        opened = connection.open_table(table)
        return [search(opened, each, k, settings) for each in given]

    def fill(parts: Iterator[Part]) -> None:
        _fill(connection, table, parts, {"id": id, "vector": vector, "text": text})
        if asked is None:
            from lancedb.index import FTS

            connection.open_table(table).create_index(text, config=FTS())

    return connector(settings, asked, find, fill, guard=lambda: _faults(options.get("api_key")))


def _connection(where: Any, options: Mapping[str, Any]) -> Any:
    try:
        import lancedb
    except ImportError as error:
        raise missing_extra("lancedb", "lancedb", "stores") from error
    if hasattr(where, "open_table"):
        return where
    with _faults(options.get("api_key")):
        return lancedb.connect(where, **options)


def _faults(secret: str | None) -> Any:
    return faults("lancedb", (ValueError, OSError, RuntimeError, KeyError), ADVICE, (secret,))


def _by_vector(table: Any, vector: Any, k: int, settings: Mapping[str, Any]) -> Found:
    query = table.search(vector, vector_column_name=settings["column"])
    rows = _filtered(query.distance_type(settings["distance"]), settings).limit(k).to_list()
    return best_pairs(((field_in(row, settings["id"], "lancedb"), -row["_distance"]) for row in rows), k)


def _by_words(table: Any, question: str, k: int, settings: Mapping[str, Any]) -> Found:
    from lancedb.query import MatchQuery

    match: Any = MatchQuery
    query = table.search(match(question, settings["column"]), query_type="fts")
    rows = _filtered(query, settings).limit(k).to_list()
    return best_pairs(((field_in(row, settings["id"], "lancedb"), row["_score"]) for row in rows), k)


def _filtered(query: Any, settings: Mapping[str, Any]) -> Any:
    condition = settings["filter"]
    return query if condition is None else query.where(condition, prefilter=True)


def _fill(connection: Any, table: str, parts: Iterator[Part], columns: Mapping[str, str]) -> None:
    for documents, vectors in parts:
        rows = [_row(each, columns) for each in documents]
        if vectors is not None:
            rows = [
                {**row, columns["vector"]: each.tolist()} for row, each in zip(rows, vectors, strict=True)
            ]
        _put(connection, table, rows, columns["id"])


def _row(document: Document, columns: Mapping[str, str]) -> dict[str, Any]:
    """A row; metadata whose values are no plain ones are kept as JSON, as a table has one kind of value a column."""
    plain = {
        name: value if isinstance(value, (str, bool, int, float)) else json.dumps(value, default=str)
        for name, value in document.metadata.items()
    }
    return {**plain, columns["id"]: document.id, "title": document.title, columns["text"]: document.whole}


def _put(connection: Any, table: str, rows: list[dict[str, Any]], id: str) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    rows = [{name: row.get(name) for name in names} for row in rows]
    try:
        opened = connection.open_table(table)
    except ValueError:  # LanceDB's word for a table that is not there
        connection.create_table(table, rows)
        return
    opened.merge_insert(id).when_matched_update_all().when_not_matched_insert_all().execute(rows)
