"""`rankproof rm`: forget saved results."""

from __future__ import annotations

import click

from rankproof.cli import options


@click.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@options.history
def command(names: tuple[str, ...], history: str) -> None:
    """Remove saved results.

    All of them or, where one name is unknown, none.

    \b
    rankproof rm monday tuesday
    """
    from rankproof.comparing.history import History

    History(history).remove(*names)
    click.echo(f"Removed {', '.join(names)} from {history}.", err=True)
