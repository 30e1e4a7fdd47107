"""`rankproof sql`: the counting query as text, for engines where the rows stay."""

from __future__ import annotations

import click

from rankproof.cli import options
from rankproof.cli.output import write


@click.command("sql")
@click.option(
    "--dialect",
    required=True,
    metavar="WORD",
    help="The engine: duckdb, sqlite, postgres, spark, datafusion, bigquery, snowflake, trino.",
)
@click.option("--run", default="run", metavar="TABLE", help="The table of rankings, or a query. [run]")
@click.option(
    "--judgments",
    default="judgments",
    metavar="TABLE",
    help="The table of judgments. [judgments]",
)
@click.option("--query", default="query_id", metavar="NAME", help="The column of queries in both. [query_id]")
@click.option("--doc", default="doc_id", metavar="NAME", help="The column of documents in both. [doc_id]")
@click.option("--score", default="score", metavar="NAME", help="The column of scores. [score]")
@click.option("--rank", metavar="NAME", help="The column of ranks, for --ties rank.")
@click.option("--decimal", is_flag=True, help="Scores are decimal numbers.")
@click.option(
    "--distinct", is_flag=True, help="Look for documents that come twice in every query, not in 1,000."
)
@click.option(
    "--ties", default="trec", metavar="WORD", help="Equal scores, as in evaluate: trec, id, rank. [trec]"
)
@click.option(
    "--duplicates", default="error", metavar="WORD", help="Documents that come twice: error, best. [error]"
)
@options.output
def command(
    dialect: str,
    run: str,
    judgments: str,
    query: str,
    doc: str,
    score: str,
    rank: str | None,
    decimal: bool,
    distinct: bool,
    ties: str,
    duplicates: str,
    output: str | None,
) -> None:
    """Write the query that counts where judged documents stand.

    Run it where the ranking is; it gives one row for each judged document that
    was found, and one for each query. Only these rows leave the engine, and
    'rankproof evaluate --counted' makes the usual table of them.

    \b
    rankproof sql --dialect bigquery --run lake.run > count.sql
    rankproof evaluate judgments.tsv --counted rows.parquet
    """
    from rankproof.core.rules import Conventions
    from rankproof.errors import is_one_of, one_of
    from rankproof.io.counted.text import WRITTEN, Counted, counting_text

    if not is_one_of(dialect, WRITTEN):
        raise one_of("dialect", dialect, WRITTEN)
    columns = {"query": query, "doc": doc, "score": score} | ({} if rank is None else {"rank": rank})
    what = Counted(
        run,
        columns,
        judgments,
        {"query": query, "doc": doc},
        decimal=decimal,
        distinct="all" if distinct else "sample",
    )
    write(counting_text(dialect, what, Conventions(ties=ties, duplicates=duplicates)), output)
