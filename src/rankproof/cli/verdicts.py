"""`rankproof verdicts`: what is in a ledger, to look at and to override."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from rankproof.cli import options
from rankproof.cli.output import format_of, may_replace, write
from rankproof.errors import UsageError, one_of

FORMATS = ("table", "jsonl", "json", "csv")


@click.command("verdicts")
@click.option(
    "--ledger",
    metavar="FILE",
    default="verdicts.db",
    envvar="RANKPROOF_LEDGER",
    help="The ledger. [verdicts.db]",
)
@click.option("--judge", metavar="NAME", help="Only those of this judge.")
@click.option(
    "--relation",
    metavar="R|S|Q|A|C",
    help="Only on question and context (R), claim and text (S), question and statement (Q), question and answer (A), "
    "or claims (C).",
)
@click.option("--value", type=int, metavar="N", help="Only those of this value.")
@click.option("--contains", metavar="TEXT", help="Only pairs with this text in them.")
@click.option(
    "--unmeasured/--measured", default=None, help="Only pairs without a verdict, or only those with one."
)
@click.option("-n", "most", type=int, default=20, metavar="N", help="How many to show; 0 is all. [20]")
@click.option("--judges", "who", is_flag=True, help="Say who judged, and how much.")
@options.form("table, jsonl, json or csv")
@options.output
@click.option(
    "--override", metavar="ID=VALUE", multiple=True, help="Put a person's verdict in; it counts from now on."
)
@click.option("--by", metavar="NAME", help="Who overrides. [your login name]")
@options.target("Write everything as JSON lines.", "--export", "target")
@click.option("--import", "source", metavar="FILE", help="Take in JSON lines.")
def command(
    ledger: str,
    most: int,
    who: bool,
    form: str | None,
    output: str | None,
    override: tuple[str, ...],
    by: str | None,
    target: str | None,
    source: str | None,
    **filters: Any,
) -> None:
    """Look at the verdicts in a ledger, override them, give them to others.

    \b
    rankproof verdicts --unmeasured
    rankproof verdicts --relation S --value -1
    rankproof verdicts --override 3f9a2c=1 --by ana
    rankproof verdicts --export verdicts.jsonl
    """
    from rankproof.judging.ledger import Verdicts

    form = form or format_of(output)
    form = "table" if form == "full" else form
    if form not in FORMATS:
        raise one_of("format", form, FORMATS)
    verdicts = Verdicts(ledger)
    if override:
        _override(verdicts, override, by)
    elif source:
        click.echo(f"Took in {verdicts.import_from(source):,} verdicts from {source}.", err=True)
    elif target:
        click.echo(
            f"Wrote {verdicts.export_to(target, force=may_replace(target)):,} verdicts to {target}.", err=True
        )
    else:
        write(_shown(verdicts, who, form, most, filters), output)


def _override(verdicts: Any, given: tuple[str, ...], by: str | None) -> None:
    person = by or getpass.getuser()
    for each in given:
        pair, equals, value = each.rpartition("=")
        if not equals or not value.lstrip("-").isdigit():
            raise UsageError(
                f"--override: got {each!r}, expected ID=VALUE, like 3f9a2c=1."
                " Next: write it so; 'rankproof verdicts LEDGER' lists the ids."
            )
        found = verdicts.override(pair, int(value), by=person)
        click.echo(f"{found.id} is {found.value} by {found.judge} from now on.", err=True)


def _shown(verdicts: Any, who: bool, form: str, most: int, filters: dict[str, Any]) -> str:
    from rankproof.judging import words

    known = verdicts.judges()  # where there is no ledger, that is an error
    if who:
        plain = [{name: each[name] for name in ("name", "human", "verdicts", "unmeasured")} for each in known]
        return words.judges(known) if form == "table" else _records(plain, form)
    found = verdicts.where(**filters)
    chosen = list(found if most == 0 else islice(found, most))
    if form != "table":
        return _records([_record(each) for each in chosen], form)
    if not chosen:
        return "No verdict fits.\n"
    more = next(found, None) is not None
    tail = "\nThere are more; -n 0 shows all.\n" if more else ""
    return words.pairs(_named(chosen)) + tail


def _named(chosen: list[Any]) -> Iterator[tuple[str, Any]]:
    return ((each.id, each) for each in chosen)


def _record(each: Any) -> dict[str, Any]:
    names = ("id", "relation", "left", "right", "judge", "value", "probability", "quote", "reason", "at")
    return {name: getattr(each, name) for name in names} | {"items": list(each.items)}


def _records(found: list[dict[str, Any]], form: str) -> str:
    from rankproof.scoring import records

    return {"jsonl": records.as_jsonl, "json": records.as_json, "csv": records.as_csv}[form](found)
