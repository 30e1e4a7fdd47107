"""`rankproof app`: see, compare, judge and share in a browser."""

from __future__ import annotations

import sys
import webbrowser

import click

from rankproof.cli import options
from rankproof.cli.output import end, may_replace
from rankproof.errors import UsageError


@click.command("app")
@click.argument("places", nargs=-1, metavar="[FOLDER|FILE]...")
@options.measures
@click.option("--judgments", metavar="FILE", help="What all is measured by. [the first in the folder]")
@click.option("--queries", metavar="FILE", help="The texts of the queries.")
@click.option("--corpus", metavar="FILE", help="The documents: file or folder.")
@click.option("--baseline", metavar="NAME", help="What others are compared with. [the first]")
@click.option("--margin", type=float, default=0.01, metavar="X", help="A loss that would not matter. [0.01]")
@click.option("--labels", metavar="FILE", help="Where grades are written. [app-labels.jsonl]")
@click.option("--highest", default=3, metavar="GRADE", help="The best grade, 1 to 9. [3]")
@click.option("--read-only", is_flag=True, help="Nothing can be graded.")
@click.option("--export", "folder", metavar="FOLDER", help="Write all pages as files, and end.")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Where it listens. [127.0.0.1]")
@click.option("--port", default=0, metavar="N", help="On which port. [a free one]")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@options.by
@options.force
def command(
    places: tuple[str, ...],
    measures: tuple[str, ...],
    judgments: str | None,
    queries: str | None,
    corpus: str | None,
    baseline: str | None,
    margin: float,
    labels: str | None,
    highest: int,
    read_only: bool,
    folder: str | None,
    host: str,
    port: int,
    no_browser: bool,
    by: str | None,
) -> None:
    """Show a folder of judgments, rankings and results in a browser.

    Compare two rankings query by query, look at one query under all of them,
    grade documents with one key, see what a grade does to the verdict. Without
    a folder it shows the embedded sample. Ctrl-C ends it.

    \b
    rankproof app runs/ --by queries.jsonl:kind
    rankproof app runs/ --export site/
    """
    from rankproof.web.workspace import Settings

    if not 1 <= highest <= 9:
        raise UsageError(f"--highest: got {highest}, expected a grade from 1 to 9. Next: leave it out for 3.")
    settings = Settings(
        places or (_sample(),),
        measures=options.asked_measures(measures),
        judgments=judgments,
        queries=queries,
        corpus=corpus,
        by=by,
        baseline=baseline,
        labels=labels if labels is not None or places else "app-labels.jsonl",
        margin=margin,
        highest=highest,
        read_only=read_only,
    )
    if folder is not None:
        from rankproof.web.static_site import export

        written, wrong = export(settings, folder, force=may_replace(folder))
        click.echo(f"{len(written):,} files in {folder}; open {folder}/index.html", err=True)
        end(wrong)
        return

    from rankproof.web.server import serve

    def ready(address: str) -> None:
        click.echo(address)
        click.echo("Ctrl-C ends it.", err=True)
        sys.stdout.flush()
        if not no_browser:
            webbrowser.open(address)

    serve(settings, host=host, port=port, ready=ready)


def _sample() -> str:
    """The folder of the embedded sample."""
    from importlib.resources import files

    return str(files("rankproof.sample"))
