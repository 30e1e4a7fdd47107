"""`rankproof evaluate`: scores of one or several rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options, saved
from rankproof.cli.options import check_one_stdin, named, read_groups
from rankproof.cli.output import TEXTS, as_options, coloured, end, errors_of, format_of, telling, write
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.scoring.records import Reasons
    from rankproof.scoring.scores import Scores


@click.command("evaluate")
@click.argument("judgments")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.measures
@click.option(
    "-q", "--per-query", is_flag=True, help="The value of every query; a table has the means below."
)
@click.option(
    "--worst", type=click.IntRange(0), default=0, metavar="N", help="List the N worst queries under a table."
)
@options.names
@options.scores_form
@options.output
@options.by
@options.saving
@options.profile
@options.conventions
def command(
    judgments: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    worst: int,
    shown_as: str | None,
    form: str | None,
    output: str | None,
    by: str | None,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    replace: bool,
    history: str,
    **settings: Any,
) -> None:
    """Score rankings against judgments.

    Files may be TREC, BEIR, CSV, TSV, JSON, JSON Lines or Parquet, compressed or
    not; '-' is standard input. What they are is told by their content.

    \b
    rankproof evaluate judgments.tsv my.run
    rankproof evaluate judgments.tsv before.run after.run -m nDCG@10 -m R@100,RR
    rankproof evaluate judgments.tsv my.run -q -f csv -o values.csv
    rankproof evaluate judgments.tsv my.run --save monday
    """
    from rankproof.scoring.evaluate import evaluate, prepare
    from rankproof.scoring.formats import check

    form = form or format_of(output)
    check(form)
    if worst and form not in TEXTS:
        raise UsageError(
            "--worst is for tables. Next: leave out -f, or take -q for the value of every query."
        )
    check_one_stdin(judgments, *runs)
    saved.check_saving(names, runs, tags, history, replace)
    asked = options.given(measures)
    groups = None if by is None else read_groups(by, judgments)
    scores = {}
    with telling(f"reading {judgments}"):
        prepared = prepare(judgments)
    for name, path in named(runs, shown_as).items():
        with telling(f"reading {path}"):
            scores[name] = evaluate(prepared, path, asked, by=groups, **settings)
    if names:
        saved.save(list(scores.values()), names, tags, history, replace)
    text = rendered(scores, form, per_query, coloured(output))
    show(scores, f"{text!s}\n{_worst(scores, worst)}" if worst else text, form, output)


def _worst(scores: dict[str, Scores], n: int) -> str:
    from rankproof.scoring.words import worst

    measure = next(iter(next(iter(scores.values()))))
    return worst(measure, {name: each.worst(n) for name, each in scores.items()})


def show(scores: dict[str, Scores], text: str | bytes, form: str, output: str | None) -> None:
    """Write the results; what makes them wrong goes to standard error if they have no place for it, and ends with 3."""
    write(as_options(str(text)) if form in TEXTS else text, output)
    end(errors_of(scores), shown=form in TEXTS and output is None)


def rendered(
    scores: dict[str, Scores], form: str, per_query: bool, colour: bool, reasons: Reasons | None = None
) -> str | bytes:
    """The results in the format asked for; `reasons` say why single queries have no value."""
    from rankproof.scoring import records, words
    from rankproof.scoring.formats import TEXTS, render, render_queries

    # Only if they are asked for: of millions of queries these dicts take most of the memory.
    values = {name: {each: s.values(each) for each in s} for name, s in scores.items()} if per_query else {}
    if per_query and form not in TEXTS:
        if form == "parquet":
            return records.as_parquet(records.query_records(values, reasons))
        return render_queries(values, form, reasons)
    with telling("computing intervals"):
        summaries = [each.summary(name) for name, each in scores.items()]
    if form == "parquet":
        return records.as_parquet(records.records(summaries))
    coloured_text = {"table": words.text, "full": words.full}.get(form)
    table = coloured_text(summaries, colour) if coloured_text else render(summaries, form)
    return f"{render_queries(values, form)}\n{table}" if per_query else table
