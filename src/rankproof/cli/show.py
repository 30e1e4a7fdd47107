"""`rankproof show`: a saved result in full."""

from __future__ import annotations

import click

from rankproof.cli import options
from rankproof.cli.output import TEXTS, as_options, format_of, write
from rankproof.cli.trust import end, errors_of


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
    from rankproof.api.history import History
    from rankproof.reporting import terminal
    from rankproof.reporting.formats import check, render, render_queries
    from rankproof.reporting.history import described

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
    lay_out = terminal.full if form == "full" else terminal.text
    write(as_options(lay_out([scores.summary(name)], above=head)), None)
    return end(errors_of({name: scores}), shown=True)
