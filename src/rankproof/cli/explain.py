"""`rankproof explain`: one number, step by step."""

from __future__ import annotations

from typing import Any

import click

from rankproof.cli import options
from rankproof.cli.files import check_one_stdin
from rankproof.cli.output import telling, write

DEFAULT = "nDCG@10"


@click.command("explain")
@click.argument("judgments")
@click.argument("run")
@click.argument("query")
@options.measures
@click.option("--versus", metavar="PROFILE", help="The same as another tool computes it, and what differs.")
@click.option("-f", "--format", "form", default="table", metavar="FORMAT", help="table or json. [table]")
@click.option("-o", "--output", metavar="FILE", help="Write to a file.")
@options.profile
@options.conventions
def command(
    judgments: str,
    run: str,
    query: str,
    measures: tuple[str, ...],
    form: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Show how one number of one query comes about, step by step.

    The ranked list with scores and grades, what each rank adds, and the
    derivation as one would write it on paper.

    \b
    rankproof explain judgments.tsv my.run q7 -m nDCG@10
    rankproof explain judgments.tsv my.run q7 --versus elasticsearch
    """
    from rankproof.api.explain import explain
    from rankproof.core.names import parse_all
    from rankproof.errors import one_of
    from rankproof.io.load import load_judgments, load_ranking
    from rankproof.reporting.data import as_json

    if form not in ("table", "json"):
        raise one_of("format", form, ["table", "json"])
    check_one_stdin(judgments, run)
    asked = parse_all(options.given(measures) or DEFAULT)
    with telling(f"reading {run}"):
        judged, ranking = load_judgments(judgments), load_ranking(run)
        found = [explain(judged, ranking, query, each, **settings) for each in asked]
    text = "\n".join(map(str, found))
    write(as_json([each.to_dict() for each in found]) if form == "json" else text, output)
