"""`rankproof convert`: judgments or a ranking in another format."""

from __future__ import annotations

import click

from rankproof.cli.output import telling


@click.command("convert")
@click.argument("source")
@click.argument("target")
@click.option("--as", "what", metavar="WHAT", help="ranking or judgments, for files that do not show it.")
@click.option("--to", metavar="FORMAT", help="The format to write, for targets whose name does not show it.")
def command(source: str, target: str, what: str | None, to: str | None) -> None:
    """Write judgments or a ranking in another format.

    The name of the target says which: .run and .qrels are TREC, then .tsv, .csv,
    .json, .jsonl, .parquet; with .gz, .bz2 or .zst behind it, compressed.

    \b
    rankproof convert my.run my.parquet
    rankproof convert judgments.csv judgments.qrels --as judgments
    """
    from rankproof.io.write import convert

    with telling(f"reading {source}"):
        notes = convert(source, target, what=what, to=to)
    for note in notes:
        click.echo(f"rankproof: note: {note}", err=True)
