"""`rankproof bench`: a grid of configurations, run and compared."""

from __future__ import annotations

from pathlib import Path

import click

from rankproof.cli import options
from rankproof.cli.output import end, format_of, oddities_told, results_apart, write


@click.command("bench")
@click.argument("file")
@options.form("table, markdown, html, csv, json or jsonl")
@options.output
@click.option("--cache", metavar="FILE", help="Where answers are kept. [FILE with the ending .cache]")
@click.option("--fresh", is_flag=True, help="Ask everything anew, whatever was kept.")
@click.option("--no-cache", is_flag=True, help="Keep no answers.")
def command(
    file: str, form: str | None, output: str | None, cache: str | None, fresh: bool, no_cache: bool
) -> None:
    """Run a grid of configurations, and say what the best is worth.

    FILE is a TOML file that names corpus, questions, judgments, and what to
    combine: chunkers, retrievers, fusion, rerankers, k. The winner is chosen on
    one part of the questions and measured on the other.

    What was answered is kept beside FILE, so that a run that was interrupted
    goes on from there; how much was known from before is said. After a change
    that nothing here can see, as of an index, --fresh asks everything anew.

    \b
    rankproof bench bench.toml
    rankproof bench bench.toml -o bench.html
    """
    from rankproof.bench.grid.grid import grid
    from rankproof.bench.grid.words import check
    from rankproof.store.answers import remove

    chosen = form or format_of(output)
    check(chosen)
    kept = None if no_cache else Path(cache or Path(file).with_suffix(".cache"))
    if fresh and kept is not None and Path(file).is_file():
        remove(kept)
    with oddities_told(), results_apart():
        found = grid(file, cache=kept)
    write(found.format(chosen), output)
    if found.remembered:
        click.echo(f"rankproof: {found.remembered} ({kept}); --fresh asks anew.", err=True)
    end(found.wrong, shown=output is None and chosen not in ("csv", "jsonl"))
