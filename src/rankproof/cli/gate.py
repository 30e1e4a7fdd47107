"""`rankproof gate`: may this change ship? Its exit code is the answer."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options, saved
from rankproof.cli.files import check_one_stdin, read_groups
from rankproof.cli.output import format_of, telling, write
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.api.gate import Gate


@click.command("gate")
@click.argument("words", nargs=-1, required=True, metavar="JUDGMENTS BASELINE CANDIDATE")
@options.measures
@click.option("--margin", type=float, default=0.01, metavar="X", help="A loss that would not matter. [0.01]")
@click.option("--alpha", type=float, default=0.05, metavar="A", help="Rate of false alarms. [0.05]")
@click.option("--strict", is_flag=True, help="Fail what is inconclusive: exit code 1.")
@click.option(
    "--allow-inconclusive",
    "lenient",
    is_flag=True,
    help="Let through what is inconclusive, with a warning: code 0.",
)
@click.option(
    "--allow-missing",
    type=float,
    default=0.07,
    metavar="S",
    help="The share of the queries that may go unanswered. [0.07]",
)
@click.option("--allow-errors", is_flag=True, help="Decide although the audit finds an error in the data.")
@click.option(
    "--floor", "floors", multiple=True, metavar="MEASURE=VALUE", help="A mean that must be reached."
)
@click.option("--coverage", type=float, metavar="S", help="The share of shown documents that must be judged.")
@click.option("--minimum", type=int, default=10, metavar="N", help="Decide nothing with fewer queries. [10]")
@options.by
@options.form("table, markdown, json or junit")
@options.output
@options.history
@options.anyway
@options.conventions
def command(
    words: tuple[str, ...],
    measures: tuple[str, ...],
    floors: tuple[str, ...],
    by: str | None,
    form: str | None,
    output: str | None,
    history: str,
    anyway: bool,
    lenient: bool,
    **settings: Any,
) -> None:
    """Decide whether a change may ship: pass, fail or inconclusive.

    CANDIDATE is held against BASELINE. Exit code 0 is pass, 1 fail, 3 bad data
    (too much unanswered, or an error of the audit), 4 inconclusive. Inside
    GitHub Actions the result is added to the step summary.

    \b
    rankproof gate judgments.tsv main.run branch.run -m nDCG@10 --margin 0.01

    Results that were saved are held against each other by their names alone:

    \b
    rankproof gate monday tuesday
    """
    from rankproof.reporting.gate import check

    form = form or format_of(output)
    check(form)
    if lenient and settings["strict"]:
        raise UsageError(
            "--strict and --allow-inconclusive: the one fails what is inconclusive, the other lets it through."
            " Next: leave one of them out."
        )
    settings |= {"measures": options.given(measures), "floors": _floors(floors)}
    settings["by"] = None if by is None else read_groups(by, words[0])
    if saved.are_names(words, history):
        found = _of_names(words, history, anyway=anyway, **saved.without_scoring(settings))
    else:
        saved.only_for_names(anyway)
        found = _of_files(words, **settings)
    _show(found.format(form), output)
    _add_to_summary(found)
    allowed = lenient and found.outcome == "inconclusive"
    if allowed:
        _warn(found, aloud=output not in (None, "-") or form in ("table", "markdown"))
    click.get_current_context().exit(0 if allowed else found.exit_code)


def _warn(found: Gate, aloud: bool) -> None:
    """Say that what is open was let through: inside GitHub Actions as an annotation, else in a sentence.

    GitHub reads annotations on both streams; standard error where standard output is for machines.
    """
    from rankproof.reporting.gate import headline, sentence_of

    view = found.to_dict()
    why = [sentence_of(each, view) for each in view["rows"] if each["outcome"] == "inconclusive"]
    said = " ".join([headline(view), *why])
    if os.environ.get("GITHUB_ACTIONS") == "true":
        escaped = said.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        click.echo(f"::warning title=rankproof gate::{escaped}", err=not aloud)
    else:
        click.echo("rankproof: note: inconclusive, and let through (--allow-inconclusive).", err=True)


def _of_names(names: tuple[str, ...], history: str, **settings: Any) -> Gate:
    from rankproof.api.history import History

    if len(names) != 2:
        raise UsageError(
            f"gate: got {len(names)} names, expected two that were saved: BASELINE CANDIDATE."
            " Next: name both; 'rankproof history' lists them."
        )
    with telling("deciding"):
        return History(history).gate(*names, **settings)


def _of_files(paths: tuple[str, ...], **settings: Any) -> Gate:
    from rankproof.api.gate import gate

    if len(paths) != 3:
        raise UsageError(
            f"gate: got {len(paths)} files, expected JUDGMENTS BASELINE CANDIDATE, or two names that were saved."
            " Next: give three files or two saved names."
        )
    check_one_stdin(*paths)
    with telling("deciding"):
        return gate(*paths, **settings)


def _floors(given: tuple[str, ...]) -> dict[str, float]:
    return dict(map(_floor, given))


def _floor(given: str) -> tuple[str, float]:
    name, _, value = given.rpartition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if not name.strip() or math.isnan(limit):
        raise UsageError(
            f"--floor: got {given!r}, expected MEASURE=VALUE, like nDCG@10=0.6. Next: write it so."
        )
    return name, limit


def _show(text: str, output: str | None) -> None:
    """Write the result; where nobody can read it (a closed pipe, a full disk) the decision stands all the same."""
    try:
        write(text, output)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        click.echo(
            f"rankproof: note: standard output: {error.strerror}, so the result was not shown.", err=True
        )


def _add_to_summary(found: Gate) -> None:
    """Append to the file that GitHub Actions shows under a step."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(found.markdown())
    except OSError as error:
        click.echo(f"rankproof: note: {path}: {error.strerror}, so the step has no summary.", err=True)
