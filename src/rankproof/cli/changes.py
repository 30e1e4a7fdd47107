"""`rankproof compare` and `rankproof gate`: is a change real, and may it ship?"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options, saved_results
from rankproof.cli.options import check_single, read_groups
from rankproof.cli.output import Output, end, say_apart, tell_progress
from rankproof.core.defaults import DEFAULT_MEASURE, DEFAULT_MEASURES
from rankproof.document.numbers import count
from rankproof.errors import UsageError, number_in

if TYPE_CHECKING:
    from rankproof.comparing.gate import Gate

NOT_OF_KINSHIP = ("baseline", "margin", "correction", "all_pairs", "seed", "allow_missing", "allow_errors")
"""Options about comparing systems with each other, not with judgments of people."""
MARGIN = "NUMBER|MEASURE=NUMBER"
"""A margin of all measures, or of one each time it is given."""


@click.command("compare")
@click.argument("words", nargs=-1, required=True, metavar="JUDGMENTS RUN RUN...")
@options.measures(f"{DEFAULT_MEASURES}; of saved results all")
@options.names
@options.value("-b --baseline", "RUN", "The ranking that others are compared with. [the first]")
@options.value("--margin", "X", "A difference that would not matter.", type=float)
@options.value("--alpha", "A", "Error rate of a verdict.", 0.05)
@options.value("--correction", "WORD", "holm, benjamini-hochberg, bonferroni or none.", "holm")
@options.value("--machine", "FILE", "A machine's judgments: do they favour a system, compared with JUDGMENTS?")
@options.flag("--all-pairs", "Compare every system with every other as well.")
@options.allowances
@options.by
@options.value("--worst", "N", "List the N queries that lost and won most.", 0, callback=options.at_least(0))
@options.value("--seed", "N", "Seed of the random draws.", 0)
@options.result()
@options.history
@options.anyway
@options.conventions
def compare_rankings(
    words: tuple[str, ...],
    output: Output,
    history: str,
    anyway: bool,
    worst: int,
    shown_as: str | None,
    machine: str | None,
    **settings: Any,
) -> None:
    """Say which ranking is better, if that is more than chance.

    A verdict is given only if chance is ruled out: better, worse, equivalent
    (within --margin), or cannot tell yet, with the queries needed. The exit
    code is 3 if more than --allow-missing of the queries went unanswered, or if
    the audit finds an error: then nothing is decided about that ranking.

    \b
    rankproof compare judgments.tsv before.run after.run -m nDCG@10,R@100

    Saved results are compared by their names alone:

    \b
    rankproof compare monday tuesday
    """
    from rankproof.comparing.compare import compare
    from rankproof.comparing.history import History

    if machine is not None:
        from rankproof.comparing.correlation import kinship

        systems = saved_results.systems_of(words, shown_as, machine)
        ways = {name: value for name, value in settings.items() if name not in NOT_OF_KINSHIP}
        with tell_progress("comparing"):
            output.write_result(kinship(words[0], machine, systems, **ways))
        return
    settings["by"] = read_groups(settings["by"], words[0])
    if saved_results.are_names(words, history):
        if len(words) < 2:
            raise UsageError(
                f"compare: got {words[0]} alone, expected at least two saved names. "
                "Next: 'rankproof history' lists them."
            )
        with tell_progress("comparing"):
            found = History(history).compare(*words, anyway=anyway, **saved_results.without_scoring(settings))
    else:
        saved_results.only_for_names(anyway)
        systems = saved_results.systems_of(words, shown_as)
        with tell_progress("comparing"):
            found = compare(words[0], systems, **settings)
    output.write_result(found, worst=worst)
    say_apart(found.scores, output.form)
    end(found.unanswered if settings["allow_errors"] else found.wrong, shown=output.shows("markdown"))


def _by_measure(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> Any:
    """The number of each measure that is named, or the one for all where the option takes one; None without any."""
    if option.metavar == MARGIN and len(given) == 1 and not math.isnan(number_in(given[0])):
        return number_in(given[0])
    numbers: dict[str, float] = {}
    for each in given:
        name, _, value = each.rpartition("=")
        if not name.strip() or "=" in name.rpartition(")")[2] or name in numbers or math.isnan(number_in(value)):
            raise UsageError(
                f"{option.opts[0]}: got {each!r}, expected {option.metavar}, like nDCG@10=0.6, and each measure once. "
                "Next: write it so, and give the option again for another measure."
            )
        numbers[name] = number_in(value)
    return numbers or None


@click.command("gate")
@click.argument("words", nargs=-1, required=True, metavar="JUDGMENTS BASELINE CANDIDATE")
@options.measures(f"{DEFAULT_MEASURE}, or those of --margin, and those of --floor; of saved results all")
@options.value("--margin", MARGIN, "A loss that would not matter.", "0.01", multiple=True, callback=_by_measure)
@options.value("--alpha", "A", "Rate of false alarms.", 0.05)
@options.value(
    "--about",
    "WHICH",
    "What is decided: whether questions like-these would lose, or whether exactly these did.",
    "like-these",
    type=click.Choice(["like-these", "these"]),
)
@options.flag("--strict", "Fail if the result is inconclusive: exit code 1.")
@options.flag("--allow-inconclusive lenient", "Let an inconclusive result pass, with a warning: code 0.")
@options.allowances
@options.value(
    "--floor floors", "MEASURE=VALUE", "A mean that CANDIDATE must reach.", multiple=True, callback=_by_measure
)
@options.value("--coverage", "S", "The share of shown documents that must be judged.", type=float)
@options.value("--minimum", "N", "Decide nothing with fewer queries.", 10)
@options.value("--anchor anchors", "NAME", "A saved release to compare with too; may be given again.", multiple=True)
@options.value("--anchor-margin", MARGIN, "A margin of anchors. [twice --margin]", multiple=True, callback=_by_measure)
@options.value("--last", "N", "BASELINE is the mean of the last N saved results.", type=int)
@options.value("--like", "GLOB", "Which names --last looks at, like 'nightly-*'. [all]", default="*")
@options.by
@options.result("junit")
@options.history
@options.anyway
@options.conventions
def gate_change(
    words: tuple[str, ...],
    output: Output,
    history: str,
    anyway: bool,
    lenient: bool,
    last: int | None,
    **settings: Any,
) -> None:
    """Decide whether a change may ship: pass, fail or inconclusive.

    CANDIDATE is compared with BASELINE. Exit code 0 is pass, 1 fail, 3 bad data
    (too much unanswered, or an error of the audit), 4 inconclusive. Inside
    GitHub Actions the result is added to the step summary.

    \b
    rankproof gate judgments.tsv main.run branch.run -m nDCG@10 --margin 0.01

    Saved results are compared by their names alone:

    \b
    rankproof gate monday tuesday

    A fixed suite asks whether anything has been lost on exactly its questions:

    \b
    rankproof gate judgments.tsv main.run branch.run --about these

    Many small losses add up unseen: compare a change with a saved release as
    well, or with the mean of the last results.

    \b
    rankproof gate judgments.tsv main.run branch.run --anchor release-1
    rankproof gate --last 5 tuesday
    """
    if lenient and settings["strict"]:
        raise UsageError(
            "--strict and --allow-inconclusive: the one fails what is inconclusive, the other lets it through."
            " Next: leave one of them out."
        )
    for name in ("alpha", "minimum"):
        if settings["about"] == "these" and options.was_written(name):
            raise UsageError(
                f"--{name}: does not apply to --about these, which counts what was lost. Next: leave it out."
            )
    settings["by"] = read_groups(settings["by"], words[0])
    of_files = (settings["anchors"] or last is not None) and all(map(os.path.exists, words))
    if not of_files and saved_results.are_names(words, history):
        found = _gate_of_names(words, history, last=last, anyway=anyway, **saved_results.without_scoring(settings))
    else:
        saved_results.only_for_names(anyway)
        found = _gate_of_files(words, history, last=last, **settings)
    sides = ("candidate", "baseline", "judgments") if last is None else ("candidate", "judgments")
    _show(found, output, "; ".join(f"{side}: {word}" for side, word in zip(sides, reversed(words), strict=False)))
    _add_to_summary(found)
    allowed = lenient and found.outcome == "inconclusive"
    if allowed:
        _warn(found)
    if found.candidate is not None and output.form not in ("json", "latex"):
        say_apart({"": found.candidate}, output.form)
    click.get_current_context().exit(0 if allowed else found.exit_code)


def _warn(found: Gate) -> None:
    """Say that an inconclusive result was let through: inside GitHub Actions as an annotation, else in a sentence."""
    from rankproof.comparing.gate_words import headline, sentence_of

    why = [sentence_of(each, found) for each in found.rows if each.outcome == "inconclusive"]
    said = " ".join([headline(found), *why])
    if os.environ.get("GITHUB_ACTIONS") == "true":
        escaped = said.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        click.echo(f"::warning title=rankproof gate::{escaped}", err=True)
    else:
        click.echo("rankproof: note: inconclusive, and let through (--allow-inconclusive).", err=True)


def _gate_of_names(names: tuple[str, ...], history: str, last: int | None, like: str, **settings: Any) -> Gate:
    from rankproof.comparing.history import History

    if len(names) != (2 if last is None else 1):
        wanted = "two saved names: BASELINE CANDIDATE" if last is None else "one saved name: CANDIDATE"
        raise UsageError(
            f"gate: got {count(len(names), 'name')}, expected {wanted}. Next: give saved names; "
            "'rankproof history' lists them."
        )
    with tell_progress("deciding"):
        if last is not None:
            return History(history).gate_last(last, *names, like=like, **settings)
        return History(history).gate(*names, **settings)


def _gate_of_files(
    paths: tuple[str, ...], history: str, last: int | None, like: str, anchors: tuple[str, ...], **settings: Any
) -> Gate:
    from rankproof.comparing.gate import gate
    from rankproof.comparing.history import History

    wanted = "JUDGMENTS BASELINE CANDIDATE" if last is None else "JUDGMENTS CANDIDATE (--last is the baseline)"
    if len(paths) != (3 if last is None else 2):
        raise UsageError(
            f"gate: got {count(len(paths), 'file')}, expected {wanted}, or names that were saved."
            " Next: give these files, or saved names."
        )
    check_single(*paths[1:], beside=paths[:1])
    known = History(history)
    with tell_progress("deciding"):
        settings["anchors"] = known.scores_of(anchors)
        if last is None:
            return gate(*paths, **settings)
        judgments, candidate = paths
        return gate(judgments, known.mean(known.last(last, like=like)), candidate, **settings)


def _show(found: Gate, output: Output, about: str) -> None:
    """Write the result; if that fails (a closed pipe, a full disk), the decision is still valid."""
    try:
        output.write_result(found, about)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        click.echo(f"rankproof: note: standard output: {error.strerror}, so the result was not shown.", err=True)


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
