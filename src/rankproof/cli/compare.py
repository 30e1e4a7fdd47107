"""`rankproof compare`: is one ranking better than another, and is that real?"""

from __future__ import annotations

from typing import Any

import click

from rankproof.cli import options
from rankproof.cli.files import check_one_stdin, named, read_groups
from rankproof.cli.output import telling, write


@click.command("compare")
@click.argument("judgments")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@options.measures
@click.option("-b", "--baseline", metavar="RUN", help="Compare with this one. [the first]")
@click.option("--margin", type=float, metavar="X", help="A difference that would not matter.")
@click.option("--alpha", type=float, default=0.05, metavar="A", help="Error rate of a verdict. [0.05]")
@click.option(
    "--correction",
    default="holm",
    metavar="WORD",
    help="holm, benjamini-hochberg, bonferroni or none. [holm]",
)
@click.option("--by", metavar="FILE", help="Compare groups of queries apart: lines of QUERY<TAB>GROUP.")
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of the random draws. [0]")
@click.option(
    "-f",
    "--format",
    "form",
    default="table",
    metavar="FORMAT",
    help="table, markdown, latex, csv, json or jsonl.",
)
@click.option("-o", "--output", metavar="FILE", help="Write to a file.")
@options.conventions
def command(
    judgments: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    by: str | None,
    form: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Say which ranking is better, where that is more than chance.

    A verdict is given only where chance is ruled out: better, worse, equivalent
    (within --margin), or unclear, with how many queries would settle it.

    \b
    rankproof compare judgments.tsv before.run after.run -m nDCG@10,R@100
    """
    from rankproof.api.compare import compare
    from rankproof.reporting.comparison import check

    check(form)
    check_one_stdin(judgments, *runs)
    groups = None if by is None else read_groups(by)
    with telling("comparing"):
        found = compare(judgments, named(runs), options.given(measures), by=groups, **settings)
    write(found.format(form), output)
