"""`rankproof report`: one page that shows everything."""

from __future__ import annotations

from typing import Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_one_stdin, named, read_groups
from rankproof.cli.output import end, may_replace, telling, write, wrote


@click.command("report")
@click.argument("judgments")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.measures
@options.target("Where to: a name ending in .html, .pdf, .md, .tex or .txt. [as text here]")
@options.force
@options.names
@click.option("-b", "--baseline", metavar="RUN", help="Compare with this one. [the first]")
@click.option("--queries", metavar="FILE", help="Texts of queries: JSON lines, or ID<TAB>TEXT.")
@options.documents("Titles of documents: a folder, a file of documents, or ID<TAB>TITLE. [those of --corpus]")
@click.option("--title", default="Retrieval report", metavar="TEXT", help="The heading of the page.")
@options.by
@click.option("--margin", type=float, metavar="X", help="A difference that would not matter.")
@click.option("--alpha", type=float, default=0.05, metavar="A", help="Error rate of a verdict. [0.05]")
@click.option(
    "--correction",
    default="holm",
    metavar="WORD",
    help="holm, benjamini-hochberg, bonferroni or none. [holm]",
)
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of the random draws. [0]")
@options.profile
@options.conventions
def command(
    judgments: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    output: str | None,
    by: str | None,
    shown_as: str | None,
    **settings: Any,
) -> None:
    """Write one page that shows everything: summary, pictures, tables.

    The page is one file: it needs no network, no script and nothing beside it.
    The first measure decides what is called best and which queries are shown.

    \b
    rankproof report judgments.tsv before.run after.run
    rankproof report judgments.tsv before.run after.run -o report.html
    rankproof report judgments.tsv my.run -m nDCG@10,R@100 -o report.html
    """
    from rankproof.document.pdf import find_browser
    from rankproof.reports.report import kind, report

    if output is not None and kind(output) == "pdf":
        find_browser()
    check_one_stdin(judgments, *runs)
    groups = None if by is None else read_groups(by, judgments)
    with telling("making the report"):
        made = report(judgments, named(runs, shown_as), options.given(measures), by=groups, **settings)
        if output is not None:
            made.save(output, force=may_replace(output))
    if output is None:
        write(made.text(), None)
    else:
        wrote(output)
    wrong = [f"{', '.join(on)}: {each}" for each, on in made.content.findings if each.severity == "error"]
    end(wrong, shown=output is None)


PAGE = "rankproof-demo.html"


@click.command("demo")
@options.target(f"Where the report is written to. [{PAGE}, here]", default=PAGE)
@options.force
@click.option("--no-report", is_flag=True, help="Write no report.")
def demonstrate(output: str, no_report: bool) -> None:
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
