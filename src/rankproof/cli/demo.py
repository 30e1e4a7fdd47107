"""`rankproof demo`: the whole story on the embedded sample."""

from __future__ import annotations

import click

PAGE = "rankproof-demo.html"


@click.command("demo")
@click.option(
    "-o", "--output", default=PAGE, metavar="FILE", help=f"Where the report is written to. [{PAGE}, here]"
)
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
    from rankproof.api.demo import demo
    from rankproof.api.report import kind

    kind(output)
    for part in demo(None if no_report else output):
        click.echo(part)
