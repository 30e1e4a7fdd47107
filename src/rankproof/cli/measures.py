"""`rankproof measures`: what can be measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from rankproof.cli.output import write

if TYPE_CHECKING:
    from rankproof.core.measure import Measure


@click.command("measures")
@click.argument("name", required=False)
@click.option("--judged", is_flag=True, help="List the metrics by a judge's verdicts instead.")
@click.option("-f", "--format", "form", default="table", metavar="FORMAT", help="table or json. [table]")
def command(name: str | None, judged: bool, form: str) -> None:
    """List the measures, or describe one in full.

    NAME is any name a measure goes by, like nDCG, MAP or ndcg_cut_10.

    \b
    rankproof measures nDCG
    rankproof measures --judged
    """
    import rankproof.core.measures  # noqa: F401  (its import fills the registry)
    from rankproof.core.measure import REGISTRY
    from rankproof.errors import one_of
    from rankproof.reporting import catalogue
    from rankproof.reporting.data import as_json

    if form not in ("table", "json"):
        raise one_of("format", form, ["table", "json"])
    everything = _judged() if judged else REGISTRY
    known = list(everything.values()) if name is None else [_named(name, judged)]
    if form == "json":
        write(as_json([catalogue.record(each) for each in known]), None)
    else:
        write(catalogue.listed(known) if name is None else catalogue.described(known[0]), None)


def _judged() -> Mapping[str, Measure]:
    from rankproof.judging.metrics.registry import METRICS

    _named("context_recall", judged=True)  # its import declares them all
    return {name: each.measure for name, each in METRICS.items()}


def _named(name: str, judged: bool) -> Measure:
    """The measure of that name; a metric by verdicts where it is asked for, or no measure is called so."""
    from rankproof.core.names import find, parse

    if not judged and find(name.partition("@")[0].partition("(")[0]) is not None:
        return parse(name)
    from rankproof.judging.metrics.names import parse as parse_metric
    from rankproof.judging.metrics.registry import METRICS

    plain = name.partition("@")[0].partition("(")[0].lower()
    return parse_metric(name) if judged or plain in METRICS else parse(name)
