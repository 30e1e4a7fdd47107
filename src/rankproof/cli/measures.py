"""`rankproof measures` and `profiles`: what can be measured, and whose conventions can be followed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from rankproof.cli import options
from rankproof.cli.output import TEXTS, format_of, write

if TYPE_CHECKING:
    from rankproof.core.measure import Measure


@click.command("measures")
@click.argument("name", required=False, shell_complete=options.complete_measures)
@click.option("--judged", is_flag=True, help="List the metrics by a judge's verdicts instead.")
@options.form("table or json")
def command(name: str | None, judged: bool, form: str | None) -> None:
    """List the measures, or describe one in full.

    NAME is any name a measure goes by, like nDCG, MAP or ndcg_cut_10.

    \b
    rankproof measures nDCG
    rankproof measures --judged
    """
    import rankproof.core.measures  # noqa: F401  (its import fills the registry)
    from rankproof.core.measure import REGISTRY
    from rankproof.errors import one_of
    from rankproof.scoring import catalogue
    from rankproof.scoring.records import as_json

    form = form or format_of(None)
    if form not in (*TEXTS, "json"):
        raise one_of("format", form, ["table", "json"])
    everything = _judged() if judged else REGISTRY
    known = list(everything.values()) if name is None else [_named(name, judged)]
    if form == "json":
        write(as_json([catalogue.record(each) for each in known]), None)
    else:
        listed = catalogue.listed if form == "full" else catalogue.names
        write(listed(known) if name is None else catalogue.described(known[0]), None)


def _judged() -> Mapping[str, Measure]:
    from rankproof.judging.metrics.registry import METRICS

    _named("context_recall", judged=True)  # its import declares them all
    return {name: each.measure for name, each in METRICS.items()}


def _named(name: str, judged: bool) -> Measure:
    """The measure of that name; a metric by verdicts where it is asked for, or no measure is called so."""
    from rankproof.core.names import find, parse

    if not judged and find(name.partition("@")[0].partition("(")[0]) is not None:
        return parse(name)
    from rankproof.judging.metrics.counting import parse as parse_metric
    from rankproof.judging.metrics.registry import METRICS

    plain = name.partition("@")[0].partition("(")[0].lower()
    return parse_metric(name) if judged or plain in METRICS else parse(name)


@click.command("profiles")
@click.argument("name", required=False, shell_complete=options.complete_profiles)
@click.option("-f", "--format", "form", default="table", metavar="FORMAT", help="table or json. [table]")
def profiles(name: str | None, form: str) -> None:
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
