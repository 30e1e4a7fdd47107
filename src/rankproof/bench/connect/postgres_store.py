"""PostgreSQL: its full-text search, and vectors by the extension pgvector."""

from __future__ import annotations

import json
import math
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rankproof.bench.connect.store import Part, Store, best_pairs, faults, store_package
from rankproof.bench.retrieve.dense_search import as_embedder
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Document
from rankproof.errors import check_one_of

ADVICE = "check the address, the user, and the names of the table and its columns."


class Connections:
    """Connections to one database; idle ones are kept for the next call."""

    def __init__(self, where: Any) -> None:
        self.psycopg = store_package("postgres", "psycopg")
        self._given = where if hasattr(where, "execute") else None
        self._where = str(where)
        self._secrets: list[str | None] = []
        if self._given is None:
            self._secrets = [self._where]  # all of the address, unless the password in it can be found
            with self.faults():
                told = self.psycopg.conninfo.conninfo_to_dict(self._where)
            self._secrets = [told.get("password")]
        else:
            with self.faults():
                told = where.info.get_parameters()
        self.address = {name: str(told[name]) for name in ("host", "port", "dbname") if told.get(name)}
        self._idle: deque[Any] = deque()
        weakref.finalize(self, _close, self._idle)

    def close(self) -> None:
        """Close the idle connections."""
        _close(self._idle)

    @contextmanager
    def open(self) -> Iterator[Any]:
        """A connection within one transaction."""
        with self.faults():
            connection = self._given or (self._idle.pop() if self._idle else self.psycopg.connect(self._where))
            try:
                with connection.transaction():
                    yield connection
            finally:
                if connection is not self._given:
                    (connection.close if connection.broken else lambda: self._idle.append(connection))()

    def faults(self) -> Any:
        """The message of PostgreSQL, without the password."""
        return faults("postgres", (self.psycopg.Error,), ADVICE, self._secrets)


def _close(idle: deque[Any]) -> None:
    while idle:
        idle.pop().close()


MATCH = {
    # The words of the question as PostgreSQL stems them, quoted, since a word may hold any sign.
    "any": r"""(select string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''', ' | ')
        from unnest(to_tsvector(%(language)s::regconfig, %(question)s)))::tsquery""",
    "all": "plainto_tsquery(%(language)s::regconfig, %(question)s)",
    "web": "websearch_to_tsquery(%(language)s::regconfig, %(question)s)",
}
"""How the words of a question make a query: one of them is enough, all must be there, or as in web search."""
DISTANCES = {"cosine": "<=>", "l2": "<->", "inner": "<#>", "l1": "<+>"}
"""The operators of pgvector; less is better for each."""


def postgres(
    where: Any,
    table: str,
    *,
    id: str = "id",
    text: str | Sequence[str] = ("title", "text"),
    vector: str | None = None,
    language: str = "english",
    match: str = "any",
    filter: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Store:
    """A table of PostgreSQL as a retriever, by its full-text search (`ts_rank_cd`).

    `where` is a connection of psycopg, or what it connects to: a URL or "host=... dbname=...". `table` may have
    its schema before it. `text` are the columns searched, unless `vector` names a column of type tsvector. A
    question is met by documents with any of its words, `match="all"` of them, or as `"web"` search reads it.
    `filter` is a condition in SQL, with `%(name)s` for what `parameters` has.
    """
    check_one_of("postgres: match", match, MATCH)
    columns = [text] if isinstance(text, str) else list(text)
    settings: dict[str, Any] = {"id": id, "text": columns, "vector": vector, "language": language, "match": match}
    settings |= {"filter": filter, "parameters": dict(parameters or {})}
    connections = Connections(where)

    def find(questions: list[str], k: int) -> list[Found]:
        given = [{"language": language, "question": each.replace("\0", " ")} for each in questions]
        return _answers(connections, _by_words(table, settings), given, settings, k)

    known = {"store": "postgres", "where": connections.address, "table": table, **settings}
    return Store(known, None, find, lambda parts: _fill(connections, table, parts, settings), close=connections.close)


def pgvector(
    where: Any,
    table: str,
    embedder: Any,
    *,
    id: str = "id",
    vector: str = "embedding",
    distance: str = "cosine",
    filter: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Store:
    """A table of PostgreSQL as a retriever, by vectors in a column of pgvector's type.

    `distance` is cosine, l2, l1 or inner (the inner product); the other arguments are those of `postgres`.
    """
    check_one_of("pgvector: distance", distance, DISTANCES)
    asked = as_embedder(embedder)
    settings: dict[str, Any] = {"id": id, "vector": vector, "distance": distance}
    settings |= {"filter": filter, "parameters": dict(parameters or {})}
    connections = Connections(where)

    def find(vectors: Any, k: int) -> list[Found]:
        given = [{"vector": literal(each)} for each in vectors]
        return _answers(connections, _by_vector(table, settings), given, settings, k)

    known = {"store": "pgvector", "where": connections.address, "table": table, **settings}
    known["embedder"] = dict(asked.settings)
    return Store(
        known, asked, find, lambda parts: _fill_vectors(connections, table, parts, settings), close=connections.close
    )


def literal(vector: Sequence[float]) -> str:
    """A vector as pgvector writes it.

    >>> literal([0.5, 1])
    '[0.5,1.0]'
    """
    return f"[{','.join(repr(float(each)) for each in vector)}]"


def _answers(
    connections: Connections, statement: Any, given: list[dict[str, Any]], settings: Mapping[str, Any], k: int
) -> list[Found]:
    with connections.open() as connection:
        return [
            best_pairs(connection.execute(statement, {**settings["parameters"], **each, "k": k}).fetchall(), k)
            for each in given
        ]


def _named(name: str) -> Any:
    """A table, perhaps with its schema, or a column, quoted."""
    from psycopg import sql

    return sql.Identifier(*name.split("."))


def _by_words(table: str, settings: Mapping[str, Any]) -> Any:
    from psycopg import sql

    words = sql.SQL(" || ' ' || ").join(
        sql.SQL("coalesce({}, '')").format(_named(column)) for column in settings["text"]
    )
    made = sql.SQL("to_tsvector(%(language)s::regconfig, {})").format(words)
    return sql.SQL(
        "with asked as (select {query} as query) select {id}::text, ts_rank_cd({words}, asked.query) as score from "
        "{table}, asked where {words} @@ asked.query and ({filter}) order by score desc, {id} limit %(k)s"
    ).format(
        query=sql.SQL(MATCH[settings["match"]]),
        id=_named(settings["id"]),
        words=_named(settings["vector"]) if settings["vector"] else made,
        table=_named(table),
        filter=sql.SQL(settings["filter"] or "true"),
    )


def _by_vector(table: str, settings: Mapping[str, Any]) -> Any:
    from psycopg import sql

    return sql.SQL(
        "select {id}::text, -({vector} {operator} %(vector)s::vector) as score from {table} "
        "where {filter} order by {vector} {operator} %(vector)s::vector limit %(k)s"
    ).format(
        id=_named(settings["id"]),
        vector=_named(settings["vector"]),
        operator=sql.SQL(DISTANCES[settings["distance"]]),
        table=_named(table),
        filter=sql.SQL(f"({settings['filter']})" if settings["filter"] else "true"),
    )


TABLE = "create table if not exists {table} ({id} text primary key, title text, text text, metadata jsonb{more})"
INSERT = (
    "insert into {table} ({id}, title, text, metadata{more}) values (%s, %s, %s, %s{values}) on conflict ({id}) "
    "do update set title = excluded.title, text = excluded.text, metadata = excluded.metadata{update}"
)


def _fill(connections: Connections, table: str, parts: Iterator[Part], settings: Mapping[str, Any]) -> None:
    """The documents in a table, with an index over the words of title and text."""
    from psycopg import sql

    nothing = sql.SQL("")
    names = {"table": _named(table), "id": _named(settings["id"]), "more": nothing}
    words: Any = nothing
    if settings["vector"]:
        words = sql.SQL(
            ", {vector} tsvector generated always as "
            "(to_tsvector({language}::regconfig, coalesce(title, '') || ' ' || coalesce(text, ''))) stored"
        ).format(vector=_named(settings["vector"]), language=sql.Literal(settings["language"]))
    with connections.open() as connection:
        connection.execute(sql.SQL(TABLE).format(**{**names, "more": words}))
        insert = sql.SQL(INSERT).format(**names, values=nothing, update=nothing)
        for documents, _ in parts:
            connection.cursor().executemany(insert, [_row(each) for each in documents])


def _fill_vectors(connections: Connections, table: str, parts: Iterator[Part], settings: Mapping[str, Any]) -> None:
    from psycopg import sql

    column = _named(settings["vector"])
    names = {"table": _named(table), "id": _named(settings["id"])}
    insert = sql.SQL(INSERT).format(
        **names,
        more=sql.SQL(", {}").format(column),
        values=sql.SQL(", %s::vector"),
        update=sql.SQL(", {} = excluded.{}").format(column, column),
    )
    with connections.open() as connection:
        connection.execute("create extension if not exists vector")
        for documents, vectors in parts:
            kind = sql.SQL(", {} vector({})").format(column, sql.Literal(vectors.shape[1]))
            connection.execute(sql.SQL(TABLE).format(**names, more=kind))
            rows = [(*_row(each), literal(row)) for each, row in zip(documents, vectors, strict=True)]
            connection.cursor().executemany(insert, rows)


def _row(document: Document) -> tuple[str, ...]:
    metadata = json.dumps(_kept(document.metadata), ensure_ascii=False, default=str)
    return document.id, _text(document.title), _text(document.text), metadata


def _text(text: str) -> str:
    # PostgreSQL takes no character 0 and no half of a surrogate pair in a text.
    return text.replace("\0", " ").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _kept(value: Any) -> Any:
    """Metadata as jsonb can hold it: NaN and the infinities are in words, as JSON has no number for them."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {_text(str(name)): _kept(each) for name, each in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, list | tuple):
        return [_kept(each) for each in value]
    if hasattr(value, "tolist"):  # numbers and arrays of NumPy
        return _kept(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    return value
