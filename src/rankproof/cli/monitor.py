"""`rankproof monitor` and `experiment`: what users of a production log meet, and which variant they prefer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from rankproof.cli import options
from rankproof.cli.judge import judge_named
from rankproof.cli.output import PAGES, Output, may_replace, tell_progress, tell_written
from rankproof.document.disk import whole_file
from rankproof.errors import DataError, UsageError, shorten

if TYPE_CHECKING:
    from rankproof.judging.judge import Judge
    from rankproof.monitoring.alerts import Alert
    from rankproof.monitoring.online_metrics import OnlineEstimate


COMMA, METRICS = "NAME[,NAME]", "METRIC[,METRIC]"
JUDGED = ("faithfulness", "answer_relevance", "context_relevance")
"""The metrics of a judge for events, which have no reference answer."""
OF_JUDGE = ("judge_sample", "judged", "corpus", "ledger", "base_url", "options_of_judge", "dry_run", "seed")
"""The settings that say nothing without a judge."""


@click.command("monitor")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@options.value("--by", COMMA, "Fields whose values are shown separately. [variant]", multiple=True)
@options.value("--window", "SPAN", "The time that one row is about: hour, day, week or month.", "day")
@options.value("--timezone", "ZONE", "Where days begin, like Europe/Berlin.", "UTC")
@options.value("--columns", "FIELD=NAME,...", "A field with another name.", multiple=True)
@options.value("--sparse", COMMA, "Fields that are logged only if not empty.", multiple=True)
@options.value("--field fields", COMMA, "Fields with numbers to take means of.", multiple=True)
@options.value("-k --cutoff cutoffs", "K", "Clicks among the first K: ctr@K. [1 3 5 10]", multiple=True, type=int)
@options.value("--cluster", "UNIT", "The unit whose events belong together: user or session.", "user")
@options.value("--lateness", "SECONDS", "Read as a stream; events may be this late.", type=float)
@options.target("Write rejected lines with their reasons to a file (JSONL).", "--rejected")
@options.value("--alerts", "FILE", "Rules in TOML; exit code 1 if one is broken.")
@options.value("--state", "FILE", "Where to remember which alerts were sent.")
@options.value("--webhook", "URL", "Send alerts there; '${NAME}' is read from the environment.", multiple=True)
@options.value("-j --judge spec", "JUDGE", "Ask a judge about a sample of events, as in 'judge'.")
@options.value("--judge-sample", "N", "With --judge: the number of events.", 100)
@options.value("--judge-metric judged", METRICS, f"With --judge: the metrics. [{','.join(JUDGED)}]", multiple=True)
@options.value("--corpus", "FILE", "With --judge: texts of the results, if the log has ids only.")
@options.value("--ledger", "FILE", "With --judge: where verdicts are kept.", envvar="RANKPROOF_LEDGER")
@options.value("--base-url", "URL", "With --judge: the endpoint of a model.")
@options.value("--set options_of_judge", "NAME=VALUE", "With --judge: an option of a model.", multiple=True)
@options.flag("--dry-run", "With --judge: say what would be asked and what it would cost, ask nothing.")
@options.value("--seed", "N", "With --judge: seed of the sample.", 0)
@options.value("--redact", "HOOK", "How to redact events before anything else: masks, or MODULE:FUNCTION.")
@options.flag("--hash hash_ids", "Hash ids by the key in $RANKPROOF_HASH_KEY.")
@options.result("prometheus", "otel")
def command(
    logs: Sequence[str],
    by: Sequence[str],
    columns: Sequence[str],
    sparse: Sequence[str],
    fields: Sequence[str],
    cutoffs: Sequence[int],
    rejected: str | None,
    spec: str | None,
    judged: Sequence[str],
    ledger: str | None,
    base_url: str | None,
    options_of_judge: Sequence[str],
    dry_run: bool,
    redact: str | None,
    hash_ids: bool,
    output: Output,
    **settings: Any,
) -> None:
    """Show what the users of a production log meet.

    LOG is a file (JSONL, CSV, Parquet, OTLP JSON; plain or compressed), a
    pattern, a folder, or - for standard input. Only the time of an event is
    required; every metric counts the events that have the fields it needs.

    \b
    rankproof monitor search.jsonl --timezone Europe/Berlin
    rankproof monitor 'logs/*.jsonl.gz' --by variant,language -o month.json
    tail -F search.jsonl | rankproof monitor - --lateness 60 -f jsonl
    rankproof monitor search.jsonl --judge openai:MODEL --judge-sample 200
    """
    from rankproof.monitoring.events import private
    from rankproof.monitoring.monitor import monitor
    from rankproof.monitoring.sessions_and_windows import Calendar, zone_named
    from rankproof.monitoring.words import row

    if hash_ids or redact:
        settings["change"] = private(hash_ids=hash_ids, redact=hook_named(redact) if redact else None)
    if settings["lateness"] is not None and output.form == "jsonl":
        calendar = Calendar(zone_named(settings["timezone"]), settings["window"])

        def tell(closed: Sequence[OnlineEstimate]) -> None:  # windows of a stream as they close, a line an estimate
            for each in closed:
                click.echo(json.dumps(row(each, calendar), ensure_ascii=False))

        settings["on_window"] = tell
    told: list[Alert] = []
    settings["on_alert"] = lambda alert: told.append(_tell_alert(alert))
    if cutoffs:
        settings["cutoffs"] = cutoffs
    context = click.get_current_context()
    if spec is not None:
        judge = judge_named(spec, ledger, base_url, options_of_judge, dry_run)
        settings["judge"] = _AskedOnce(judge, ",".join(split_names(judged) or JUDGED), dry_run)
    elif any(context.get_parameter_source(each) is ParameterSource.COMMANDLINE for each in OF_JUDGE):
        used = "--judge-sample, --judge-metric, --corpus, --ledger, --base-url, --set, --dry-run and --seed"
        raise UsageError(f"{used} are for --judge. Next: name a judge, like lexical.")
    with _written_lines(rejected) as on_rejected, tell_progress(f"reading {logs[0]}"):
        found = monitor(
            list(logs),
            by=split_names(by) or None,
            columns=pairs(columns),
            sparse=split_names(sparse),
            fields=split_names(fields),
            on_rejected=on_rejected,
            **settings,
        )
    if "on_window" not in settings:
        output.write_result(found)
    for each in found.alerts:
        if each.fired and each not in told:
            _tell_alert(each)
    for reason in found.undelivered:
        click.echo(f"rankproof: {reason}", err=True)
    problems = () if found.judged is None else found.judged.problems
    for problem in () if output.shows(*PAGES) else problems:
        click.echo(f"rankproof: {problem}", err=True)
    failed = DataError.exit_code if any(each.severity == "error" for each in problems) else 0
    context.exit(1 if any(each.fired for each in found.alerts) else failed)


class _AskedOnce:
    """A judge of rows that says what it will ask, and at what cost, before it does."""

    def __init__(self, judge: Judge, metrics: str, dry_run: bool) -> None:
        self.judge, self.name, self._metrics, self._dry_run = judge, judge.name, metrics, dry_run

    def __call__(self, rows: list[dict[str, Any]]) -> Any:
        plan = self.judge.plan(rows, self._metrics)
        if self._dry_run:
            click.echo(str(plan))
            click.get_current_context().exit(0)
        click.echo(f"rankproof: {plan}", err=True)
        return self.judge(rows, self._metrics)


def _tell_alert(alert: Alert) -> Alert:
    click.echo(f"rankproof: alert: {alert.sentence}", err=True)
    return alert


def hook_named(redact: str) -> Any:
    """The function that `--redact` names: our masks, or a function of the user's module."""
    from rankproof.bench.adapters import import_named
    from rankproof.monitoring.events import mask

    if redact == "masks":
        return mask
    if ":" not in redact:
        raise UsageError(f"--redact: got {redact!r}, expected masks, or MODULE:FUNCTION. Next: choose one.")
    found = import_named(redact, "--redact")
    if not callable(found):
        raise UsageError(f"--redact: {redact} is not a function but {shorten(found)}. Next: name a function of events.")
    return found


def split_names(given: Sequence[str]) -> list[str]:
    """Names with commas between."""
    return [each.strip() for some in given for each in some.split(",") if each.strip()]


def pairs(given: Sequence[str], option: str = "--columns") -> dict[str, str]:
    """Pairs like FIELD=NAME."""
    found = {}
    for each in split_names(given):
        name, sign, column = each.partition("=")
        if not (name and sign and column) or name.strip() in found:
            raise UsageError(
                f"{option}: got {each!r}, expected NAME=VALUE, each name once. "
                "Next: write like query=question_text, or A=0.5."
            )
        found[name.strip()] = column.strip()
    return found


@contextmanager
def _written_lines(path: str | None) -> Iterator[Callable[[str], object] | None]:
    """A function that writes lines to a file, which is kept if an error ends it as all lines were rejected."""
    if path is None:
        yield None
        return
    error: DataError | None = None
    with whole_file(path, force=may_replace(path)) as stream:
        try:
            yield lambda line: stream.write(line.encode("utf-8", "backslashreplace"))
        except DataError as caught:
            error = caught
    tell_written(path, what="rejected lines")
    if error is not None:
        raise error


@click.group("experiment")
def experiment() -> None:
    """Say which variant or ranking users prefer, and what their clicks are worth.

    LOG is what 'rankproof monitor' reads. Intervals and p-values of variants
    and interleaved lists hold however often one looks at them.

    \b
    rankproof experiment variants search.jsonl --control A
    rankproof experiment interleaving lists.jsonl
    rankproof experiment clicks search.jsonl -k 5
    """


def _of_logs(command: Callable[..., Any]) -> Any:
    """The arguments and options that all commands share."""
    logs = click.argument("logs", nargs=-1, required=True, metavar="LOG...")
    columns = options.value("--columns", "FIELD=NAME,...", "A field with another name.", multiple=True)
    timezone = options.value("--timezone", "ZONE", "The zone of times that name none.", "UTC")
    return logs(columns(timezone(options.result()(command))))


def _show(name: str, logs: Sequence[str], columns: Sequence[str], output: Output, **how: Any) -> None:
    from rankproof.monitoring import online_tests

    with tell_progress(f"reading {logs[0]}"):
        found = getattr(online_tests, name)(list(logs), columns=pairs(columns), **how)
    output.write_result(found)


@experiment.command("variants")
@_of_logs
@options.value("--control", "NAME", "The variant that others are compared with. ['control', else the first]")
@options.value("--shares", "NAME=SHARE,...", "The shares by which users were assigned. [equal]")
@options.value("--planned", "N", "The number of users at which the test ends.", 10_000)
@options.value("--sparse", COMMA, "Fields that are logged only if not empty.", multiple=True)
def variants(shares: str | None, sparse: Sequence[str], **how: Any) -> None:
    """Compare each variant of an A/B test with the control.

    Says first whether users were assigned by the planned shares: if not, no
    difference can be trusted.
    """
    if shares is not None:
        given = pairs([shares], "--shares")
        how["shares"] = {name: options.number_of(value, "--shares") for name, value in given.items()}
    _show("variants", **how, sparse=split_names(sparse))


@experiment.command("interleaving")
@_of_logs
def interleaving(**how: Any) -> None:
    """Say which ranking users prefer in interleaved lists.

    Events need clicks, and the team of each rank: a field 'teams', or 'team' of
    each result. 'rankproof.monitoring.interleave.team_draft' makes such lists.
    """
    _show("interleaving", **how)


@experiment.command("clicks")
@_of_logs
@options.value("-k", "K", "How many ranks count. [all]", type=int)
@options.value("--propensities", "P,P,...", "How often each rank is looked at. [from the log]")
@options.flag("--swapped", "The order of results was random: take the propensities from that.")
def clicks(propensities: str | None, **how: Any) -> None:
    """Correct clicks for position bias.

    Without --propensities or --swapped, how often users look at each rank is
    estimated from documents that were shown at several ranks of one query.
    """
    if propensities is not None:
        how["propensities"] = [options.number_of(each, "--propensities") for each in split_names([propensities])]
    _show("clicks", **how)
