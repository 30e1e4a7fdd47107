"""`rankproof diagnose`: what is wrong with a ranking, and what to change first."""

from __future__ import annotations

from typing import Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_one_stdin, read_groups
from rankproof.cli.output import TEXTS, as_options, end, format_of, telling, write

DEFAULT = "nDCG@10"


@click.command("diagnose")
@click.argument("judgments")
@click.argument("run")
@options.measures
@click.option("--queries", metavar="FILE", help="Texts of the questions: JSON lines, CSV or ID<TAB>TEXT.")
@click.option("--corpus", metavar="N|FILE", help=f"{options.CORPUS}.")
@click.option("-k", type=int, metavar="K", help="Documents the user sees. [the measure's cut-off, else 10]")
@click.option("--worst", type=int, default=10, metavar="N", help="Queries that are listed. [10]")
@options.by
@click.option("--alpha", type=float, default=0.05, metavar="A", help="Error rate of a claim. [0.05]")
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of the random draws. [0]")
@options.form("table, markdown, html or json")
@options.output
@options.profile
@options.rules
def command(
    judgments: str,
    run: str,
    measures: tuple[str, ...],
    by: str | None,
    corpus: str | None,
    form: str | None,
    output: str | None,
    **settings: Any,
) -> None:
    """Say which queries a ranking fails, why, and what to change first.

    With the documents at hand, other searches are tried on the spot, and what
    each would gain is measured. The first measure decides.

    \b
    rankproof diagnose judgments.tsv my.run
    rankproof diagnose judgments.tsv my.run --queries q.jsonl --corpus docs.jsonl
    """
    from rankproof.diagnosing.diagnose import diagnose
    from rankproof.diagnosing.page import check

    chosen = form or format_of(output)
    check(chosen)
    check_one_stdin(judgments, run)
    settings |= {
        "by": None if by is None else read_groups(by, judgments),
        "corpus": options.documents_or_number(corpus),
    }
    with telling("diagnosing"):
        found = diagnose(judgments, run, measure=options.given(measures) or DEFAULT, **settings)
        text = found.format(chosen, settings["worst"] if options.written("worst") else None)
    write(as_options(text) if chosen in TEXTS else text, output)
    wrong = [str(each) for each in found.findings if each.severity == "error"]
    end(wrong, shown=output is None)
