"""What is sent to PostgreSQL for vectors, held against the SQL that pgvector's own pages give.

Not every PostgreSQL has pgvector, so these statements are read here, and parsed by a real server, but not run;
test_kept.py runs them where the extension is installed.
"""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from rankproof.bench.connect import pgvector
from rankproof.core.corpus import Corpus
from rankproof.errors import UsageError

from .conftest import embed

pytestmark = pytest.mark.cover


class Written:
    """A connection that writes down what it is sent, and answers every question alike."""

    def __init__(self) -> None:
        self.info = SimpleNamespace(get_parameters=lambda: {"host": "db", "dbname": "shop", "user": "me"})
        self.sent: list[tuple[str, Any]] = []

    @contextmanager
    def transaction(self) -> Any:
        yield

    def cursor(self) -> Written:
        return self

    def execute(self, statement: Any, values: Any = None) -> Any:
        self.sent.append((_text(statement), values))
        return SimpleNamespace(fetchall=lambda: [("faq/3", -0.1), ("faq/1", -0.4), ("faq/3", -0.9)])

    def executemany(self, statement: Any, rows: Any) -> None:
        self.sent.append((_text(statement), list(rows)))


def _text(statement: Any) -> str:
    return " ".join((statement if isinstance(statement, str) else statement.as_string(None)).split())


SEARCHES = {
    "cosine": 'select "id"::text, -("embedding" <=> %(vector)s::vector) as score from "documents" where true '
    'order by "embedding" <=> %(vector)s::vector limit %(k)s',
    "l2": 'select "id"::text, -("embedding" <-> %(vector)s::vector) as score from "documents" where true '
    'order by "embedding" <-> %(vector)s::vector limit %(k)s',
    "inner": 'select "id"::text, -("embedding" <#> %(vector)s::vector) as score from "documents" where true '
    'order by "embedding" <#> %(vector)s::vector limit %(k)s',
    "l1": 'select "id"::text, -("embedding" <+> %(vector)s::vector) as score from "documents" where true '
    'order by "embedding" <+> %(vector)s::vector limit %(k)s',
}


@pytest.mark.parametrize("distance", SEARCHES)
def test_a_question_is_ordered_by_the_operator_so_that_an_index_serves(distance: str) -> None:
    connection = Written()
    store = pgvector(connection, "documents", embed, distance=distance)
    assert store.search(["fee"], 2) == [[("faq/3", -0.1), ("faq/1", -0.4)]], "each document once"
    statement, values = connection.sent[0]
    assert statement == SEARCHES[distance]
    assert values["k"] == 2
    assert [round(float(part), 2) for part in values["vector"][1:-1].split(",")] == [0.01, 0.01, 1.01]


def test_a_filter_names_and_parameters_are_put_in() -> None:
    connection = Written()
    where = {"filter": "topic = %(topic)s or true", "parameters": {"topic": "money"}}
    pgvector(connection, "shop.wares", embed, id="sku", vector="v", **where).search(["fee"], 2)
    statement, values = connection.sent[0]
    assert 'select "sku"::text, -("v" <=>' in statement
    assert 'from "shop"."wares" where (topic = %(topic)s or true) order by "v"' in statement
    assert values["topic"] == "money"


def test_filling_makes_the_extension_the_table_and_its_rows(corpus: Corpus) -> None:
    connection = Written()
    pgvector(connection, "documents", embed).fill(corpus)
    assert [statement for statement, _ in connection.sent] == [
        "create extension if not exists vector",
        'create table if not exists "documents" ("id" text primary key, title text, text text, metadata jsonb, '
        '"embedding" vector(3))',
        'insert into "documents" ("id", title, text, metadata, "embedding") values (%s, %s, %s, %s, %s::vector) '
        'on conflict ("id") do update set title = excluded.title, text = excluded.text, metadata = '
        'excluded.metadata, "embedding" = excluded."embedding"',
    ]
    rows = connection.sent[2][1]
    assert [row[0] for row in rows] == ["faq/1", "faq/2", "faq/3"]
    assert rows[0][4].startswith("[1.00") or rows[0][4].startswith("[2.0")


@pytest.mark.slow
def test_a_real_server_can_parse_the_statements(postgres_at: str) -> None:
    import psycopg

    with psycopg.connect(postgres_at) as connection:
        for statement in SEARCHES.values():
            plain = statement.replace("%(vector)s", "'[1]'").replace("%(k)s", "3")
            body = f"begin perform 1 from ({plain}) as found; end"
            connection.execute(f"create or replace function parsed() returns void language plpgsql as $${body}$$")
        with pytest.raises(psycopg.errors.SyntaxError):
            connection.execute(
                "create function broken() returns void language plpgsql as "
                "$$begin perform 1 from (select a <=> from b) as found; end$$"
            )


def test_an_unknown_distance_meets_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'cosine'"):
        pgvector(Written(), "documents", embed, distance="cosin")


def test_settings_name_the_place_and_no_user() -> None:
    settings = pgvector(Written(), "documents", embed).settings
    assert settings["where"] == {"host": "db", "dbname": "shop"}
    assert settings["embedder"]
