"""`rankproof experiment`: variants against a control, interleaved lists, clicks without the place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from rankproof.cli import options
from rankproof.cli.monitor import pairs, split_names
from rankproof.cli.output import format_of, tell_progress, write
from rankproof.errors import UsageError


@click.group("experiment")
def command() -> None:
    """Say which variant or ranking users prefer, and what their clicks are worth.

    LOG is what 'rankproof monitor' reads. Intervals and p-values of variants
    and interleaved lists hold however often one looks at them.

    \b
    rankproof experiment variants search.jsonl --control A
    rankproof experiment interleaving lists.jsonl
    rankproof experiment clicks search.jsonl -k 5
    """


def _of_logs(function: Any) -> Any:
    """The options that all have in common."""
    for add in (
        click.argument("logs", nargs=-1, required=True, metavar="LOG..."),
        click.option(
            "--columns", multiple=True, metavar="FIELD=NAME,...", help="Which field is called otherwise."
        ),
        click.option("--timezone", default="UTC", metavar="ZONE", help="Of times without one. [UTC]"),
        options.form(),
        options.output,
    )[::-1]:
        function = add(function)
    return function


def _shown(
    name: str, logs: Sequence[str], columns: Sequence[str], form: str | None, output: str | None, **how: Any
) -> None:
    """Do what is asked of the log, and write it."""
    from rankproof.document.formats import check, print_as
    from rankproof.monitoring import online_tests

    form = form or format_of(output)
    check(form)
    with tell_progress(f"reading {logs[0]}"):
        log = list(logs) if len(logs) > 1 else logs[0]
        found = getattr(online_tests, name)(log, columns=pairs(columns), **how)
    write(print_as(found, form), output)


@command.command("variants")
@_of_logs
@click.option(
    "--control", metavar="NAME", help="What the others are held against. ['control', else the first]"
)
@click.option("--shares", metavar="NAME=SHARE,...", help="By which users were assigned. [alike]")
@click.option(
    "--planned", type=int, default=10_000, metavar="N", help="Users at whom the test is to end. [10000]"
)
@click.option(
    "--sparse", multiple=True, metavar="NAME[,NAME]", help="Fields that are logged only if not empty."
)
def variants(shares: str | None, sparse: Sequence[str], **how: Any) -> None:
    """Hold each variant of an A/B test against the control.

    Says first whether users were assigned by the shares that were planned: if
    not, no difference can be trusted.
    """
    if shares is not None:
        how["shares"] = {
            name: _number(value, "--shares") for name, value in pairs([shares], "--shares").items()
        }
    _shown("variants", **how, sparse=split_names(sparse))


@command.command("interleaving")
@_of_logs
def interleaving(**how: Any) -> None:
    """Say which ranking users prefer in interleaved lists.

    Events need clicks, and the team of each rank: a field 'teams', or 'team' of
    each result. 'rankproof.monitoring.interleave.team_draft' makes such lists.
    """
    _shown("interleaving", **how)


@command.command("clicks")
@_of_logs
@click.option("-k", type=int, metavar="K", help="How many ranks count. [all]")
@click.option("--propensities", metavar="P,P,...", help="How often each rank is looked at. [from the log]")
@click.option("--swapped", is_flag=True, help="The order of results was random: take them from that.")
@click.option("--run", "runs", multiple=True, metavar="RUN", help="A ranking: which DCG would it have had?")
@click.option("--queries", metavar="FILE", help="With --run: the texts of its queries.")
def clicks(propensities: str | None, runs: Sequence[str], queries: str | None, **how: Any) -> None:
    """Take the place out of clicks (position bias).

    How often each rank is looked at comes from documents that were shown at
    several ranks of one query, if it is not given.
    """
    from rankproof.io.corpora import load_questions

    if propensities is not None:
        how["propensities"] = [_number(each, "--propensities") for each in split_names([propensities])]
    if queries is not None:
        how["queries"] = load_questions(queries)
    _shown("clicks", **how, rankings=options.named_paths(runs))


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"{option}: got {text!r}, expected a number. Next: write like 0.5.") from error
