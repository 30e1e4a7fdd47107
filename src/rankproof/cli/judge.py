"""`rankproof judge`: scores of samples by verdicts on their texts."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options
from rankproof.cli.options import named_paths
from rankproof.cli.output import TEXTS, Output, end, errors_of, may_replace, say_apart, tell_progress, write
from rankproof.cli.saved_results import Saving, saving_options
from rankproof.core.defaults import DEFAULT_METRICS
from rankproof.document.numbers import count
from rankproof.document.terminal import wrap
from rankproof.errors import UsageError, check_one_of, number_in

if TYPE_CHECKING:
    from rankproof.judging.judge import Judge
    from rankproof.judging.judged_scores import JudgedScores
    from rankproof.judging.mirage_rates import Mirage
    from rankproof.judging.verdicts import Ask


def judge_named(spec: str, ledger: str | None, base_url: str | None, settings: Sequence[str], dry_run: bool) -> Judge:
    """The judge; verdicts that cost money or time are kept in a file even if none is named."""
    from rankproof.judging.judge import Judge
    from rankproof.judging.judges import DEFAULT, HumanJudge

    kept = ledger or (None if spec.strip() == "lexical" else DEFAULT)  # whose verdicts cost nothing
    judge = Judge(spec, ledger=kept, **model_options(settings, base_url))
    if sys.stdin.isatty() and sys.stderr.isatty():  # a person at the terminal is asked
        judge.judges = [HumanJudge(each.who, ask) if isinstance(each, HumanJudge) else each for each in judge.judges]
    if kept and not ledger and not dry_run:
        click.echo(f"Verdicts are kept in {kept}; --ledger names another file.", err=True)
    return judge


def model_options(given: Sequence[str], base_url: str | None) -> dict[str, Any]:
    """The options of a model, written as NAME=VALUE, and its address."""
    found: dict[str, Any] = {} if base_url is None else {"base_url": base_url}
    for name, value in options.settings_named(given, "temperature=0", ("self", "judge", "spec", "ledger")).items():
        if name.startswith("extra."):  # options of the service, passed on as spelled
            found.setdefault("extra", {})[name.removeprefix("extra.")] = value
        else:
            found[name.replace("-", "_")] = value
    return found


def ask(pair: Ask) -> int | None:
    """Show a pair and take a person's verdict; an empty line leaves it open."""
    from rankproof.document.terminal import clean
    from rankproof.judging.verdicts import VALUES
    from rankproof.judging.words import QUESTIONS, RELATIONS

    left, right = RELATIONS[pair.relation]
    click.echo(f"\n{left}: {clean(pair.left)}\n{right}: {clean(pair.right)}", err=True)
    while True:
        said = click.prompt(QUESTIONS[pair.relation], default="", show_default=False, err=True).strip()
        if not said:
            return None
        if (value := number_in(said)) in VALUES[pair.relation]:
            return int(value)
        click.echo(f"Got {said!r}; an empty line leaves the pair open.", err=True)


@click.command("judge")
@click.argument("files", nargs=-1, metavar="SAMPLES...")
@options.metrics(f"What to measure; see above. [{DEFAULT_METRICS}]")
@options.value("-j --judge spec", "JUDGE", "Who judges; see above.", "lexical")
@options.value("--ledger", "FILE", "Where verdicts are found and kept.", envvar="RANKPROOF_LEDGER")
@options.value("--base-url", "URL", "The endpoint of a model, if it is not the usual one.")
@options.value("--set settings", "NAME=VALUE", "An option of a judge that is a model.", multiple=True)
@options.flag("--dry-run", "Say what would be asked and what it would cost, and ask nothing.")
@options.flag("--stress", "Ask again with other items around each, and say how many verdicts change; gives no scores.")
@options.value("--design", "WORD", "mirage: judge a generator by answers without, with right, and with mixed contexts.")
@options.value("--correct", "V", "With --design: the METRIC's value of a right answer.", 1.0)
@options.flag(
    "--trial", "Ask a model about labelled pairs that come with rankproof, one by one and together; needs no SAMPLES."
)
@options.value("-k", "K", "How many of the contexts count. [all]", type=int)
@options.value("--complete", "S", "The share of its pairs that must be decided for a sample to count.", 1.0)
@options.value("--compat", "TOOL", "ragas, deepeval, ragchecker, mlflow or promptfoo: their formulas.")
@options.value(
    "--soft",
    "HOW",
    "How probabilities on several contexts are combined: the strongest alone counts, or all as if independent.",
    "strongest",
)
@options.flag("--blame", "Say which half failed: retrieval or generation.")
@options.value(
    "--made-by",
    "[ROLE=]MODEL",
    "The model that ranked, embedded or wrote; a warning says if the judge is of the same family.",
    multiple=True,
)
@click.option(
    "--probe/--no-probe",
    default=True,
    help="If a model answers under another version than before, ask it again about a few pairs. [yes]",
)
@options.target("Write the verdicts on contexts as TREC judgments.", "--qrels")
@options.flag("-q --per-query", "The value of every sample; a table has the means below.")
@options.result(about="Write to a file; a name ending in .html gets a page with all verdicts.")
@options.value(
    "--by", "COLUMN|FILE", "Score groups of samples separately: by a column of theirs, or by lines of ID<TAB>GROUP."
)
@saving_options
def command(
    files: tuple[str, ...],
    metrics: list[str] | None,
    spec: str,
    ledger: str | None,
    base_url: str | None,
    settings: tuple[str, ...],
    dry_run: bool,
    stress: bool,
    design: str | None,
    correct: float,
    trial: bool,
    blame: bool,
    made_by: tuple[str, ...],
    qrels: str | None,
    per_query: bool,
    output: Output,
    saving: Saving,
    **how: Any,
) -> None:
    """Score questions, contexts and answers by a judge's verdicts.

    SAMPLES are JSON Lines, JSON, CSV, Parquet, or spans: rows with query, contexts,
    reference, answer, under these names or those of other tools.

    JUDGE is lexical (rules, offline), openai:MODEL, anthropic:MODEL, human:NAME,
    replay, or several: 'lexical>openai:MODEL' asks the model what rules leave open.
    METRIC is a name like context_precision, context_recall, faithfulness or P@5;
    'rankproof measures --judged' lists all.

    \b
    rankproof judge samples.jsonl -m context_precision,context_recall
    rankproof judge samples.jsonl --judge openai:MODEL --dry-run
    rankproof judge samples.jsonl --judge replay --ledger verdicts.db
    rankproof judge base.jsonl oracle.jsonl mixed.jsonl --design mirage
    rankproof judge --trial --judge openai:MODEL
    """
    if not files and not trial:
        raise click.MissingParameter(param_type="argument", param_hint="'SAMPLES...'")
    saving.check(files)
    samples = named_paths(files)
    if len(samples) > 1 and (qrels or stress):
        option = "--qrels" if qrels else "--stress"
        raise UsageError(f"{option}: got several files of samples, expected one. Next: judge them one by one.")
    judge = judge_named(spec, ledger, base_url, settings, dry_run)
    if design is not None:
        found = _designed(judge, files, design, metrics, correct)
        output.write_result(found)
        nothing = f"no question of {found.questions:,} could be measured. Next: let another judge decide the answers."
        end([] if found.n else [nothing])
        return
    if trial:
        _try_model(judge, dry_run, output)
        return
    if dry_run:
        shaping = {"blame": blame, **{name: how[name] for name in ("k", "complete", "compat")}}
        _write_wrapped([f"{name}: {judge.plan(path, metrics, **shaping)}" for name, path in samples.items()], output)
        return
    if stress:
        from rankproof.judging.trust.stress import stress as ask_again

        with tell_progress(f"judging {files[0]}"):
            stressed = ask_again(next(iter(samples.values())), metrics, judge=judge.judges)
        output.write_result(stressed)
        return
    how |= {"blame": blame, "made_by": _makers(made_by)}
    scores = {}
    for name, path in samples.items():
        with tell_progress(f"judging {path}"):
            scores[name] = judge(path, metrics, **how)
    saving.save(scores)
    if qrels:
        lines = next(iter(scores.values())).write_qrels(qrels, force=may_replace(qrels))
        click.echo(f"Wrote {count(lines, 'judgment')} made by {judge.name} to {qrels}.", err=True)
    if output.path is not None and output.path.lower().endswith((".html", ".htm")):
        from rankproof.judging.page import page_of  # its pictures are loaded for a page alone

        output.write(page_of(scores))
    else:
        output.write(_rendered(scores, output, per_query, blame))
    say_apart(scores, output.form)
    end(errors_of(scores), shown=output.form == "table" and output.path is None)


def _designed(judge: Judge, files: tuple[str, ...], design: str, metrics: list[str] | None, correct: float) -> Mirage:
    """The rates of a design over several answers to each question."""
    from rankproof.judging.mirage_rates import METRIC, SETTINGS, mirage

    check_one_of("--design", design, ("mirage",))
    if len(files) not in (1, len(SETTINGS)) or "," in ",".join(metrics or ()):
        raise UsageError(
            f"--design mirage: got {len(files)} files and {len(metrics or ())} metrics, expected base, oracle and "
            "mixed answers in three files (or in one, as base_answer, oracle_answer and mixed_answer), and one metric "
            "at most. Next: name them in this order."
        )
    given: dict[str, Any] = {"samples": files[0]} if len(files) == 1 else dict(zip(SETTINGS, files, strict=True))
    with tell_progress(f"judging {', '.join(files)}"):
        return mirage(**given, metric=(metrics or [METRIC])[0], correct=correct, judge=judge)


def _makers(given: Sequence[str]) -> dict[str, list[str]]:
    """Models by role, as MODEL or ROLE=MODEL."""
    found: dict[str, list[str]] = {}
    for each in given:
        role, equals, name = each.partition("=")
        found.setdefault(role if equals else "system", []).append(name if equals else each)
    return found


def _write_wrapped(lines: Sequence[str], output: Output) -> None:
    write("".join(f"{line}\n" for each in lines for line in wrap(each, later="    ")), output.path)


def _try_model(judge: Judge, dry_run: bool, output: Output) -> None:
    """Say how well a model does on the labelled pairs, or what asking about them would cost."""
    from rankproof.judging.trial import model_in, plan_trial, run_trial

    model, ledger = model_in(judge, None, {})
    if dry_run:
        lines = [
            f"{n} a call: about {each.calls:,} calls, {each.prompt_tokens:,} + {each.reply_tokens:,} tokens, "
            f"{each.bytes_sent:,} bytes, " + ("the price is not known" if each.money is None else f"${each.money:.4f}")
            for n, each in plan_trial(model).items()
        ]
        _write_wrapped([f"A trial of {model.name}, without what the ledger has:", *lines], output)
        return
    with tell_progress(f"trying {model.name}"):
        found = run_trial(model, ledger)
    output.write_result(found)


def _rendered(scores: dict[str, JudgedScores], output: Output, per_query: bool, blame: bool) -> str | bytes:
    """The results in the format asked for, and what a table leaves out: unmeasured samples, and the account."""
    from rankproof.cli.evaluate import render_scores
    from rankproof.judging import words

    reasons = {name: each.reasons for name, each in scores.items()} if per_query else None
    text = render_scores(scores, output, per_query, reasons)
    if output.form in TEXTS:
        parts = [str(text)]
        for name, each in scores.items():
            heading = f"{name}\n" if len(scores) > 1 else ""
            unmeasured = words.unmeasured_text(each.reasons) if per_query else ""
            account = words.blame(each.blame, every=per_query) if blame else ""
            parts += [heading + part for part in (unmeasured, account) if part]
        return "\n".join(parts)
    if not blame or isinstance(text, bytes):
        return text
    if output.form != "json":
        click.echo(f"rankproof: {output.form} has no place for --blame. Next: ask for table or json.", err=True)
        return text
    blamed = {name: each.blame.to_dict() for name, each in scores.items()}
    return json.dumps({"scores": json.loads(text), "blame": blamed}, ensure_ascii=False, indent=1) + "\n"
