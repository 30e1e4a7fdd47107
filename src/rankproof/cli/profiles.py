"""`rankproof profiles`: the tools whose conventions can be followed."""

from __future__ import annotations

import click

from rankproof.cli import options
from rankproof.cli.output import write


@click.command("profiles")
@click.argument("name", required=False, shell_complete=options.complete_profiles)
@click.option("-f", "--format", "form", default="table", metavar="FORMAT", help="table or json. [table]")
def command(name: str | None, form: str) -> None:
    """List the tools whose conventions can be followed.

    With NAME, what that tool does otherwise, and how that is known.

    \b
    rankproof profiles elasticsearch
    rankproof evaluate judgments.tsv my.run --profile elasticsearch
    """
    from rankproof.core.profiles import BUILT_ON, PROFILES, find
    from rankproof.errors import one_of
    from rankproof.scoring import catalogue
    from rankproof.scoring.records import as_json

    if form not in ("table", "json"):
        raise one_of("format", form, ["table", "json"])
    known = [*PROFILES.values(), *BUILT_ON.values()] if name is None else [find(name)]
    if form == "json":
        write(as_json([catalogue.profile_record(each) for each in known]), None)
    else:
        write(catalogue.profiles(known) if name is None else catalogue.profile(known[0]), None)
