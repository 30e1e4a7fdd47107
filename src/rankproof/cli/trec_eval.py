"""`rankproof trec_eval`: the drop-in, which reads every word behind its name itself."""

from __future__ import annotations

import click


class Untouched(click.Command):
    """A command that hands on its arguments as they are, `--help` among them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Nothing is an option here."""
        ctx.args = list(args)
        return []


@click.command("trec_eval", cls=Untouched, add_help_option=False)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Take trec_eval's arguments and print what it prints."""
    from rankproof.compat.trec_eval import main

    ctx.exit(main(ctx.args))
