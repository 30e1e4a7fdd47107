"""`rankproof measures`: what can be measured."""

from __future__ import annotations

import click

from rankproof.cli.output import write


@click.command("measures")
@click.argument("name", required=False)
@click.option("-f", "--format", "form", default="table", metavar="FORMAT", help="table or json. [table]")
def command(name: str | None, form: str) -> None:
    """List the measures, or describe one in full.

    NAME is any name a measure goes by, like nDCG, MAP or ndcg_cut_10.
    """
    from rankproof.core.measure import REGISTRY
    from rankproof.core.names import parse
    from rankproof.errors import one_of
    from rankproof.reporting import catalogue
    from rankproof.reporting.data import as_json

    if form not in ("table", "json"):
        raise one_of("format", form, ["table", "json"])
    known = list(REGISTRY.values()) if name is None else [parse(name)]
    if form == "json":
        write(as_json([catalogue.record(each) for each in known]), None)
    else:
        write(catalogue.listed(known) if name is None else catalogue.described(known[0]), None)
