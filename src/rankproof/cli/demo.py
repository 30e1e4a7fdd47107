"""`rankproof demo`: the whole story on the embedded sample."""

from __future__ import annotations

import click

from rankproof.cli import options
from rankproof.cli.output import may_replace

PAGE = "rankproof-demo.html"


@click.command("demo")
@options.target(f"Where the report is written to. [{PAGE}, here]", default=PAGE)
@options.force
@click.option("--no-report", is_flag=True, help="Write no report.")
def command(output: str, no_report: bool) -> None:
    """Go through the whole story on the embedded sample.

    A support knowledge base with 60 questions: its documents are cut into chunks,
    indexed and searched in three ways; the three are measured, compared and
    diagnosed, and a report is written to the folder you are in.

    \b
    rankproof demo
    rankproof demo -o page.html
    """
    from rankproof.demo import demo
    from rankproof.reports.report import kind

    kind(output)
    for part in demo(None if no_report else output, force=may_replace(output)):
        click.echo(part)
