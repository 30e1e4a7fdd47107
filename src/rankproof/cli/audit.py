"""`rankproof audit`: what to know about the data before any number."""

from __future__ import annotations

from typing import Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_one_stdin
from rankproof.cli.output import TEXTS, as_options, coloured, format_of, telling, write

SERIOUS = 3
"""The exit code when there is an error among the findings."""


@click.command("audit")
@click.argument("judgments")
@click.argument("run")
@options.measures
@options.form("table or json")
@options.output
@options.conventions
@click.pass_context
def command(
    ctx: click.Context,
    /,
    judgments: str,
    run: str,
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    **settings: Any,
) -> None:
    """Say what is wrong or odd about judgments and a ranking.

    Each finding has a severity, a count, examples and a next step. The exit
    code is 3 if one of them is an error, else 0.

    \b
    rankproof audit judgments.tsv my.run
    rankproof audit judgments.tsv my.run -f json
    """
    from rankproof.errors import one_of
    from rankproof.scoring.audit import audit
    from rankproof.scoring.records import as_json
    from rankproof.scoring.tables import report

    form = form or format_of(output)
    if form not in (*TEXTS, "json"):
        raise one_of("format", form, ["table", "json"])
    check_one_stdin(judgments, run)
    with telling(f"reading {run}"):
        found = audit(judgments, run, options.given(measures), **settings)
    told = as_options(report(found, coloured(output), form == "full"))
    write(as_json([each.to_dict() for each in found]) if form == "json" else told, output)
    if any(each.severity == "error" for each in found):
        ctx.exit(SERIOUS)
