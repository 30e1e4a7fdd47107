"""`rankproof history`, `show` and `rm`: the results that were saved."""

from __future__ import annotations

import click

from rankproof.cli import options
from rankproof.cli.output import TEXTS, as_options, end, errors_of, format_of, may_replace, write
from rankproof.errors import one_of


@click.group("history", invoke_without_command=True)
@options.history
@options.form("table or json")
@click.pass_context
def command(context: click.Context, history: str, form: str | None) -> None:
    """List the results that were saved.

    'rankproof evaluate ... --save NAME' saves; 'show', 'compare', 'gate' and 'rm'
    take the names.

    \b
    rankproof history export monday tuesday -o results.json.gz
    rankproof history import results.json.gz
    """
    from rankproof.comparing import orders_words
    from rankproof.comparing.history import History

    context.obj = History(history)
    form = form or format_of(None)
    if form not in (*TEXTS, "json"):
        raise one_of("format", form, ["table", "json"])
    if context.invoked_subcommand is None:
        last = orders_words.shown() if form == "table" else None
        entries = [each.to_dict() for each in context.obj.entries(last)]
        more = len(context.obj) - len(entries)
        write(orders_words.as_json(entries) if form == "json" else orders_words.listed(entries, more), None)


def _elsewhere(context: click.Context, option: click.Parameter, path: str | None) -> None:
    """The history as it may be named behind the command as well as before it."""
    from rankproof.comparing.history import History

    if path is not None:
        context.obj = History(path)


_history = click.option(
    "--history", metavar="FILE", callback=_elsewhere, expose_value=False, help="Where results are saved."
)


@command.command("export")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@options.target("Write to this; .gz compresses.", required=True)
@options.force
@_history
@click.pass_context
def export(context: click.Context, names: tuple[str, ...], output: str) -> None:
    """Write saved results to one JSON file: these, or all."""
    number = context.obj.export_to(output, *names, force=may_replace(output))
    click.echo(f"Wrote {number} to {output}.", err=True)


@command.command("import")
@click.argument("file")
@click.option("--replace", is_flag=True, help="Take the place of what has the same name.")
@_history
@click.pass_context
def import_(context: click.Context, file: str, replace: bool) -> None:
    """Take in an exported file: all of it, or nothing."""
    names = context.obj.import_from(file, replace=replace)
    click.echo(f"Took {len(names)} into {context.obj.path}: {', '.join(names)}.", err=True)


@click.command("show")
@click.argument("name")
@options.history
@click.option("-q", "--per-query", is_flag=True, help="The value of every query instead.")
@options.form("table, markdown, latex, csv, json or jsonl")
def show(name: str, history: str, per_query: bool, form: str | None) -> None:
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


@click.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@options.history
def remove(names: tuple[str, ...], history: str) -> None:
    """Remove saved results.

    All of them or, where one name is unknown, none.

    \b
    rankproof rm monday tuesday
    """
    from rankproof.comparing.history import History

    History(history).remove(*names)
    click.echo(f"Removed {', '.join(names)} from {history}.", err=True)
