"""`rankproof show`: a saved result in full."""

from __future__ import annotations

import click

from rankproof.cli import options
from rankproof.cli.output import TEXTS, as_options, end, errors_of, format_of, write


@click.command("show")
@click.argument("name")
@options.history
@click.option("-q", "--per-query", is_flag=True, help="The value of every query instead.")
@options.form("table, markdown, latex, csv, json or jsonl")
def command(name: str, history: str, per_query: bool, form: str | None) -> None:
    """Show a saved result.

    The scores as they were, and where and by what they were made.

    \b
    rankproof show monday
    rankproof show monday -q -f csv
    """
    from rankproof.comparing.history import History
    from rankproof.comparing.orders_words import described
    from rankproof.scoring import words
    from rankproof.scoring.formats import check, render, render_queries

    form = form or format_of(None)
    check(form)
    kept = History(history)
    scores = kept.scores(name)
    if per_query:
        write(render_queries({name: {each: scores.values(each) for each in scores}}, form), None)
        return end(errors_of({name: scores}))
    if form not in TEXTS:
        write(render([scores.summary(name)], form), None)
        return end(errors_of({name: scores}), shown=form == "markdown")
    head = [*described(kept.show(name).to_dict()).splitlines(), ""]
    lay_out = words.full if form == "full" else words.text
    write(as_options(lay_out([scores.summary(name)], above=head)), None)
    return end(errors_of({name: scores}), shown=True)
