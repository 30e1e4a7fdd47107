"""`rankproof show`: a saved result in full."""

from __future__ import annotations

import click

from rankproof.cli import as_options, options
from rankproof.cli.output import write


@click.command("show")
@click.argument("name")
@options.history
@click.option("-q", "--per-query", is_flag=True, help="The value of every query instead.")
@click.option(
    "-f",
    "--format",
    "form",
    default="table",
    metavar="FORMAT",
    help="table, markdown, latex, csv, json or jsonl. [table]",
)
def command(name: str, history: str, per_query: bool, form: str) -> None:
    """Show a saved result.

    The scores as they were, and where and by what they were made.

    \b
    rankproof show monday
    rankproof show monday -q -f csv
    """
    from rankproof.api.history import History
    from rankproof.reporting.formats import check, render, render_queries
    from rankproof.reporting.history import described

    check(form)
    kept = History(history)
    scores = kept.scores(name)
    if per_query:
        write(render_queries({name: {each: scores.values(each) for each in scores}}, form), None)
        return
    head = f"{described(kept.show(name).to_dict())}\n" if form == "table" else ""
    text = render([scores.summary(name)], form)
    write(head + as_options(text) if form == "table" else text, None)
