"""`rankproof calibrate` and `rankproof verdicts`: label pairs by hand, look at verdicts and override them."""

from __future__ import annotations

import getpass
import sys
import textwrap
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options
from rankproof.cli.judge import model_options
from rankproof.cli.label import WIDTH, go_through, lines_of_text, rule_after
from rankproof.cli.options import named_paths
from rankproof.cli.output import Output, end, format_of, may_replace, tell_progress, write
from rankproof.core.defaults import DEFAULT_METRICS, JUDGE_MEASURES
from rankproof.document.numbers import count
from rankproof.errors import UsageError, check_one_of, number_in

if TYPE_CHECKING:
    from rankproof.judging.labelling import DrawSession
    from rankproof.judging.trust.agreement import Drawn
    from rankproof.judging.verdicts import Relation

KEYS = "s skip   u undo   q quit"


@click.command("calibrate")
@click.argument("source", metavar="LEDGER|SAMPLES", required=False)
@options.value("--machine", "FILE", "In place of LEDGER: judgments that a machine made.")
@options.value("--human", "FILE", "Judgments of people, of some of the same pairs.")
@options.value("--run runs", "RUN", "A ranking whose measures are corrected.", multiple=True)
@options.value("--rel", "GRADE", "Relevant from this grade on.", 1.0)
@options.value(
    *("--next further", "N", "Draw the N pairs whose labels narrow the interval most, as a pool for -o FILE."),
    type=int,
    callback=options.at_least(1),
)
@options.value("--plan", "FILE", "The pool that --next wrote, if the labels were drawn by it.")
@options.value("-j --judge spec", "JUDGE", "Whose verdicts. [the only judge of LEDGER; lexical for SAMPLES]")
@options.value("--ledger", "FILE", "Where labels go, with SAMPLES.", envvar="RANKPROOF_LEDGER")
@options.value("--who", "NAME", "Who labels. [your login]")
@options.value("-n n", "N", "How many pairs of each relation are drawn at random.", 50)
@options.value("--informative", "N", "Draw about N more, those that tell most.", 0)
@options.flag("--whole", "Draw N samples, and label all of their pairs.")
@options.value(
    "--relation",
    "R|S|P|Q|A",
    "Only question and context (R), claim and text (S, in grades P), question and statement (Q), or question and "
    "answer (A).",
)
@options.metrics(f"Whose pairs are drawn. [{DEFAULT_METRICS}; with --run {JUDGE_MEASURES}]")
@options.value("--seed", "N", "Seed of the draw.", 0)
@options.flag("--report", "Ask nothing; report on the existing labels.")
@options.flag("--drift", "Ask the judge the ledger's fixed pairs again, and say what changed.")
@options.value("--since", "JUDGE", "With --drift: another judge whose verdicts are the reference.")
@options.value("--base-url", "URL", "The endpoint of a model, if it is not the usual one.")
@options.value("--set settings", "NAME=VALUE", "An option of a judge that is a model.", multiple=True)
@options.form()
@options.target("Write the report to a file.")
@options.force
def calibrate_judge(
    source: str | None,
    machine: str | None,
    human: str | None,
    runs: tuple[str, ...],
    rel: float,
    further: int | None,
    plan: str | None,
    spec: str | None,
    ledger: str | None,
    who: str | None,
    report: bool,
    drift: bool,
    since: str | None,
    base_url: str | None,
    settings: tuple[str, ...],
    form: str | None,
    output: str | None,
    **how: Any,
) -> None:
    """Label some pairs by hand, and see how far the judge can be trusted.

    Pairs are drawn at random from those that the judge judged. Every label is in
    the ledger before the next question: end when you like, and the same command
    continues where you stopped. With 50 labels, 'rankproof judge' shows its numbers
    corrected beside the raw ones.

    \b
    rankproof calibrate verdicts.db --who ana
    rankproof calibrate samples.jsonl --judge openai:MODEL --ledger verdicts.db
    rankproof calibrate verdicts.db --report
    rankproof calibrate verdicts.db --drift --judge openai:MODEL

    With --machine it compares a file of judgments that a machine made with one of
    people, in any format that 'rankproof evaluate' reads: kappa, confusion, and
    the measures of each RUN corrected by people's judgments.

    \b
    rankproof calibrate --machine llm.qrels --human nist.qrels --run my.run -m AP
    rankproof calibrate --machine llm.qrels --run my.run --next 50 -o pool.jsonl
    """
    from rankproof.document.formats import check
    from rankproof.judging.judgment_calibration import calibrate_judgments
    from rankproof.judging.trust.drift import judge_drift

    to = Output("table" if further is not None else form or format_of(output), output)
    check(to.form)
    given = model_options(settings, base_url)
    if source is None or machine is not None:
        _check_sides(source, machine, human, runs, further, {"--report": report, "--drift": drift})
        with_human: dict[str, Any] = {"human": human, "rel": rel, "plan": plan, "seed": how["seed"]}
        systems = named_paths(runs) or None
        with tell_progress(f"reading {machine}"):
            found: Any = calibrate_judgments(str(machine), systems=systems, measures=how["metrics"], **with_human)
        if further is None:
            to.write_result(found)
        else:
            pool = found.plan(further, how["whole"])
            told = f"{count(len(pool), 'pair')} to label, each with the chance it was drawn by."
            label = "rankproof label FILE --who NAME, then --qrels human.qrels"
            click.echo(f"{told}\nNext: {label}, and --human human.qrels --plan FILE here.", err=True)
            write(str(pool), output)
        end(found.wrong, shown=to.shows() and further is None)
        return
    if human or runs or further or plan:
        raise UsageError(
            f"calibrate: got {source} and files of judgments. Next: name the judgments of the machine with --machine, "
            "and leave the ledger out."
        )
    if drift:
        with tell_progress("asking the judge again"):
            found = judge_drift(source, judge=spec, since=since, n=how["n"], **given)
    else:
        found = _calibrated(source, spec, ledger, who or getpass.getuser(), report, {**how, **given})
    to.write_result(found)


def _check_sides(
    source: str | None, machine: str | None, human: str | None, runs: Any, further: int | None, others: dict[str, bool]
) -> None:
    if machine is None:
        raise UsageError(
            "calibrate: got neither LEDGER nor SAMPLES, and no --machine. Next: name a ledger, or two files of "
            "judgments with --machine FILE --human FILE."
        )
    if source is not None:
        raise UsageError(f"--machine: got {source} as well. Next: name a run with --run {source}.")
    for name in (name for name, given in others.items() if given):
        raise UsageError(f"{name}: is of a ledger, and --machine names judgments. Next: leave one out.")
    if human is None and further is None:
        raise UsageError(
            "--machine: got no judgments of people to compare it with. Next: name them with --human FILE, or draw "
            "pairs to label with --next 50 -o pool.jsonl."
        )
    if further is not None and not runs:
        raise UsageError("--next: got no run, and labels narrow measures of runs. Next: name one with --run.")


def _calibrated(source: str, spec: str | None, ledger: str | None, who: str, report: bool, how: dict[str, Any]) -> Any:
    from rankproof.judging.judges import DEFAULT
    from rankproof.judging.labelling import Draw, prepare_task
    from rankproof.judging.words import QUESTIONS
    from rankproof.store.ledger import is_ledger

    if ledger is not None and is_ledger(source):
        raise UsageError(f"--ledger: {source} is a ledger itself. Next: leave --ledger out.")
    metrics = how.pop("metrics")
    draw = Draw(*(how.pop(name) for name in ("n", "informative", "whole", "relation", "seed")))
    with tell_progress(f"judging {source}"):
        task = prepare_task(source, spec, ledger or DEFAULT, who, draw, metrics, **how)
    session = task.session
    if not report:
        go_through(
            session,
            lambda pair: _card(session, pair),
            lambda pair, key: _value(pair.ask.relation, key),
            lambda pair, key: f"{QUESTIONS[pair.ask.relation]}   {KEYS}",
            err=True,
        )
        click.echo(f"{session.done} of {len(session.drawn)} pairs labelled by {who}.\n", err=True)
    return task.result()


def _below_zero(relation: Relation) -> tuple[str, ...]:
    """The keys for the value -1, which is not a single digit: a minus, and the first letter of its meaning."""
    from rankproof.judging.words import WORDS

    said = WORDS[relation].get(-1)
    return ("-", said[0]) if said else ()


def _value(relation: Relation, key: str) -> int | None:
    from rankproof.judging.verdicts import VALUES

    below_zero = dict.fromkeys(_below_zero(relation), -1)
    return ({str(value): value for value in VALUES[relation]} | below_zero).get(key)


def _card(session: DrawSession, pair: Drawn) -> str:
    """The screen: the two texts and the keys. The judge's verdict is not shown, as it would bias the label."""
    from rankproof.judging.words import QUESTIONS, RELATIONS

    lines = [rule_after(f"{session.done + 1} of {len(session.drawn)}  {pair.ask.relation}")]
    for noun, text in zip(RELATIONS[pair.ask.relation], (pair.ask.left, pair.ask.right), strict=True):
        lines += [f"{noun}:", *(f"  {line}" for line in lines_of_text(text, WIDTH - 2))]
    question = QUESTIONS[pair.ask.relation]
    if keys := _below_zero(pair.ask.relation):
        question += f" (key {' or '.join(keys)})"
    return "\n".join([*lines, "", *textwrap.wrap(question, WIDTH), KEYS])


VERDICT_FORMATS = ("table", "jsonl", "json", "csv")


@click.command("verdicts")
@options.value("--ledger", "FILE", "The ledger.", "verdicts.db", envvar="RANKPROOF_LEDGER")
@options.value("--judge", "NAME", "Only those of this judge.")
@options.value(
    "--relation",
    "R|S|P|Q|A|C",
    "Only on question and context (R), claim and text (S, in grades P), question and statement (Q), question and "
    "answer (A), or claims (C).",
)
@options.value("--value", "N", "Only those of this value.", type=int)
@options.value("--contains", "TEXT", "Only pairs with this text in them.")
@click.option("--unmeasured/--measured", default=None, help="Only pairs without a verdict, or only those with one.")
@options.value("-n most", "N", "How many to show; 0 is all.", 20, callback=options.at_least(0))
@options.flag("--judges who", "Say who judged, and how much.")
@options.form(only=VERDICT_FORMATS)
@options.output
@options.value("--override", "ID=VALUE", "Add a person's verdict; it counts from now on.", multiple=True)
@options.value("--by", "NAME", "Who overrides. [your login name]")
@options.value("--why", "TEXT", "The reason, kept beside the verdict.", default="")
@options.target("Write everything as JSON lines.", "--export", "target")
@options.value("--import source", "FILE", "Read JSON lines into the ledger.")
def list_verdicts(
    ledger: str,
    most: int,
    who: bool,
    form: str | None,
    output: str | None,
    override: tuple[str, ...],
    by: str | None,
    why: str,
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
    from rankproof.judging.judges import Verdicts

    form = form or format_of(output)
    form = "table" if form == "full" else form
    check_one_of("format", form, VERDICT_FORMATS)
    verdicts = Verdicts(ledger)
    if bool(override) + bool(source) + bool(target) > 1:
        raise UsageError("verdicts: got several of --override, --import and --export. Next: give one at a time.")
    if (why or by) and not override:
        raise UsageError("--why and --by are of an --override, and there is none. Next: add --override ID=VALUE.")
    if override:
        person = by or getpass.getuser()
        for each in override:
            pair, equals, value = each.rpartition("=")
            if not equals or not number_in(value).is_integer():
                raise UsageError(
                    f"--override: got {each!r}, expected ID=VALUE, like 3f9a2c=1."
                    " Next: write it so; 'rankproof verdicts --ledger LEDGER' lists the ids."
                )
            found = verdicts.override(pair, int(number_in(value)), by=person, why=why)
            click.echo(f"{found.id} is {found.value} by {found.judge} from now on.", err=True)
    elif source:
        click.echo(f"Took in {verdicts.import_from(source):,} verdicts from {source}.", err=True)
    elif target:
        click.echo(f"Wrote {verdicts.export_to(target, force=may_replace(target)):,} verdicts to {target}.", err=True)
    else:
        write(_verdicts_shown(verdicts, who, form, most, filters), output)


def _verdicts_shown(verdicts: Any, who: bool, form: str, most: int, filters: dict[str, Any]) -> str:
    from rankproof.document.formats import data
    from rankproof.judging import words

    known = verdicts.judges()  # if there is no ledger, that is an error
    as_data = {"jsonl": data.as_jsonl, "json": data.as_json, "csv": data.as_csv}.get(form)
    if who:
        plain = [{name: each[name] for name in ("name", "human", "verdicts", "unmeasured")} for each in known]
        return as_data(plain) if as_data else words.judges(known)
    found = verdicts.where(**filters)
    chosen = list(found if most == 0 else islice(found, min(most, sys.maxsize)))
    if as_data:
        names = ("id", "relation", "left", "right", "judge", "value", "probability", "quote", "reason", "at")
        return as_data(
            [{**{name: getattr(each, name) for name in names}, "items": list(each.items)} for each in chosen]
        )
    if not chosen:
        return "No verdict fits.\n"
    return words.pairs(chosen) + ("\nThere are more; -n 0 shows all.\n" if next(found, None) else "")
