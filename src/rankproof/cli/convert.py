"""`rankproof convert`: judgments or a ranking in another format."""

from __future__ import annotations

import click

from rankproof.cli import options
from rankproof.cli.output import Target, may_replace, telling, wrote
from rankproof.errors import UsageError


@click.command("convert")
@click.argument("source")
@click.argument("target", type=Target(), required=False)
@options.target("The target, as other commands name it.")
@click.option("--as", "what", metavar="WHAT", help="ranking or judgments, for files that do not show it.")
@click.option("--to", metavar="FORMAT", help="The format to write, for targets whose name does not show it.")
@options.force
def command(source: str, target: str | None, output: str | None, what: str | None, to: str | None) -> None:
    """Write judgments or a ranking in another format.

    The name of the target says which: .run and .qrels are TREC, then .tsv, .csv,
    .json, .jsonl, .parquet; with .gz, .bz2 or .zst behind it, compressed.

    \b
    rankproof convert my.run my.parquet
    rankproof convert my.run -o my.parquet
    rankproof convert judgments.csv judgments.qrels --as judgments
    """
    from rankproof.io.write import convert

    if (target is None) == (output is None):
        raise UsageError(
            "convert: expected one target. Next: name it behind the source, or with -o, but not twice."
        )
    place = target or output or "-"
    with telling(f"reading {source}"):
        notes = convert(source, place, what=what, to=to, force=may_replace(place))
    wrote(place, notes)
