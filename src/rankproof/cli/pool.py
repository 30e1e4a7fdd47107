"""`rankproof pool`: which documents are worth judging."""

from __future__ import annotations

import click

from rankproof.cli import options
from rankproof.cli.options import check_one_stdin, named
from rankproof.cli.output import end, telling, write


@click.command("pool")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--depth", default=10, metavar="K", help="The K best documents of each run. [10]")
@click.option("--order", default="depth", metavar="WORD", help="What is judged first: see above. [depth]")
@click.option("--budget", type=int, metavar="N", help="At most N judgments, as many for each query.")
@click.option("--judgments", metavar="FILE", help="What is judged already is left out.")
@options.target("Where to write the pool. [standard output]")
@options.force
def command(
    runs: tuple[str, ...],
    depth: int,
    order: str,
    budget: int | None,
    judgments: str | None,
    output: str | None,
) -> None:
    """Collect the documents to judge from several runs.

    The order says which come first: depth (highest in any run), round-robin (the
    runs take turns), informative (what the runs disagree on most), bandit (from
    the run that has been finding relevant documents; fewest labels for most
    relevant documents).

    \b
    rankproof pool bm25.run dense.run --depth 20 --order bandit -o pool.jsonl
    rankproof label pool.jsonl --who ana -o labels.jsonl
    """
    from rankproof.bench.testset.pool import pool_lines
    from rankproof.bench.testset.questions import pool

    check_one_stdin(*runs, *([judgments] if judgments else []))
    with telling("reading the runs"):
        made = pool(named(runs), depth, order=order, budget=budget, judgments=judgments)
    write("".join(pool_lines(made)), output)
    where = (
        ""
        if output in (None, "-")
        else f"\nNext: rankproof label {output} --queries FILE --corpus FILE --who NAME -o labels.jsonl"
    )
    click.echo(
        f"{len(made.ranks):,} queries, {len(made):,} documents of {len(made.systems)} runs, "
        f"{made.work:,} of them to judge, by {order}.{where}",
        err=True,
    )
    end(made.wrong)
