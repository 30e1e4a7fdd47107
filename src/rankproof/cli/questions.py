"""`rankproof questions` and `drift`: draw, check, split and count questions; and do people still ask them?"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_single, named_paths, read_groups
from rankproof.cli.output import TEXTS, Output, end, keep_results_apart, may_replace, tell_progress, tell_written, write
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.document.disk import STDOUT
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError


@click.group("questions")
def command() -> None:
    """Make a set of questions to measure by.

    \b
    rankproof questions draw docs/ -n 50 -o questions.jsonl --qrels j.tsv
    rankproof questions check questions.jsonl j.tsv --corpus docs/
    rankproof questions split questions.jsonl tune=0.3 test=0.7
    rankproof questions needed j.tsv old.run new.run --difference 0.02
    """


@command.command("draw", short_help="Draw known-item questions from a corpus.")
@click.argument("corpus")
@options.value("-n number", "N", "The number of questions. [one per document]", type=int)
@options.value("--sources", "WORD,...", "Where the words come from: title, heading, sentence. [all, in turn]")
@options.value("--ask", "MODULE:FUNCTION", "A function that gets a document and returns a question, or several.")
@options.value("--seed", "N", "Seed of the draw.", 0)
@options.target("Write which document answers which, as judgments.", "--qrels")
@options.target("Where to write the questions. [standard output]")
@options.force
def draw(
    corpus: str,
    number: int | None,
    sources: str | None,
    ask: str | None,
    seed: int,
    qrels: str | None,
    output: str | None,
) -> None:
    """Draw known-item questions from a corpus: a few content words of a document.

    They need no model and no labels, and repeat no phrase of their answer. They
    are easier than what people ask: good to compare retrievers early, no
    substitute for real questions. With --ask a function of yours writes them,
    by a model for example; 'questions check' then says what leaks.
    """
    from rankproof.bench.adapters import import_named
    from rankproof.bench.testset.questions import SOURCES, draw_questions
    from rankproof.io.corpora import load_corpus
    from rankproof.io.load import load_judgments
    from rankproof.io.write import write_judgments

    chosen = list(SOURCES) if sources is None else [each.strip() for each in sources.split(",")]
    with keep_results_apart(), tell_progress(f"reading {corpus}"):
        write_them = None if ask is None else import_named(ask, "--ask")
        documents = load_corpus(corpus)
        drawn = draw_questions(documents, number, ask=write_them, seed=seed, sources=chosen)
    records = (
        {"_id": each.id, "text": each.text, "metadata": {"source": each.source, "document": each.document}}
        for each in drawn
    )
    write("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), output)
    if qrels is not None:
        judged = load_judgments({each.id: {each.document: 1} for each in drawn})
        notes = write_judgments(judged, qrels, "trec" if qrels == STDOUT else None, force=may_replace(qrels))
        tell_written(qrels, notes, count(len(drawn), "judgment"))
    drawn_by = Counter(each.source for each in drawn)
    parts = ", ".join(f"{times} by {source}" for source, times in sorted(drawn_by.items()))
    told = f"{count(len(drawn), 'question')}{f': {parts}' if parts else ''}."
    if number is not None and len(drawn) < number:
        why = f"{ask} wrote no more" if ask else "there is one per document, if a few words point to it alone"
        told += f" {number:,} were requested; {why}."
    click.echo(told, err=True)


@command.command("check")
@click.argument("questions")
@click.argument("judgments")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@options.value("--corpus", "FILE", "The documents, to look for copied answers.")
@options.result()
def check_command(questions: str, judgments: str, runs: tuple[str, ...], corpus: str | None, output: Output) -> None:
    """Say what is wrong or odd about questions and their judgments.

    Asked twice, nearly the same, without an answer, copied from their answer
    (with --corpus), answered first by every run (with RUNs). The exit code is 3
    if one of the findings is an error, else 0.
    """
    from rankproof.bench.testset.checks import check_questions

    with tell_progress("checking"):
        found = check_questions(questions, judgments, corpus=corpus, systems=named_paths(runs) or None)
    output.write_result(found)
    end((str(each) for each in found if each.severity == "error"), shown=True)


@command.command("split", short_help="Split questions into similar parts.")
@click.argument("questions")
@click.argument("shares", nargs=-1, required=True, metavar="NAME=SHARE...")
@options.value("--by", "FILE[:FIELD]", "The kind of each question: equal shares in all parts.")
@options.value("--seed", "N", "Seed of the random split.", 0)
def split(questions: str, shares: tuple[str, ...], by: str | None, seed: int) -> None:
    """Split questions into similar parts; one line per question: id, part."""
    from rankproof.bench.testset.questions import split_questions
    from rankproof.cli.monitor import pairs

    kinds = read_groups(by)
    wanted = {name: options.number_of(share, "shares") for name, share in pairs(shares, "shares").items()}
    parts = split_questions(questions, wanted, kinds=kinds, seed=seed)
    rows = [f"{query}\t{part}\n" for part, queries in parts.items() for query in queries]
    write("".join(rows), None)


@command.command("needed")
@click.argument("judgments", required=False)
@click.argument("baseline", required=False)
@click.argument("candidate", required=False)
@options.value("-n number", "N", "The number of questions, without files.", type=int, callback=options.at_least(1))
@options.value("-m --measure", "MEASURE", "The measure that should show it.", DEFAULT_MEASURE)
@options.value("--difference", "D", "The smallest difference that matters.", type=float, required=True)
@options.value("--power", "P", "The power: how often a true difference is found.", 0.8)
@options.value("--alpha", "A", "Error rate of a verdict.", 0.05)
@options.result(about="Write to a file.")
def count_needed(
    judgments: str | None,
    baseline: str | None,
    candidate: str | None,
    number: int | None,
    measure: str,
    difference: float,
    output: Output,
    **rates: Any,
) -> None:
    """Say how many questions show a difference of a given size.

    The number depends on how much two runs differ from question to question:
    give two runs like those that you will compare. Before you have run
    anything, -n instead of files says which margin a gate of N questions can
    pass at all, for a measure from 0 to 1.

    \b
    rankproof questions needed -n 50 --difference 0.01
    """
    if number is not None and judgments is None:
        if output.form not in TEXTS:
            raise UsageError(
                f"format: got {output.form}, but -n N alone gives a text. Next: leave -f out, or name a .txt file."
            )
        output.write(_before_any_run(number, difference, rates["alpha"]))
        return
    if judgments is None or baseline is None or candidate is None or number is not None:
        raise UsageError(
            "questions needed: expected JUDGMENTS BASELINE CANDIDATE, or -n N alone. Next: give one of these."
        )
    from rankproof.bench.testset.questions import questions_needed

    check_single(baseline, candidate, beside=[judgments])
    plan = questions_needed(judgments, baseline, candidate, measure, difference, **rates)
    output.write_result(plan)
    end(plan.wrong, shown=output.shows())


def _before_any_run(number: int, margin: float, alpha: float) -> str:
    """The smallest margin that a gate of this many questions can pass, for a measure from 0 to 1."""
    from rankproof.comparing.gate_words import smallest_margin_sentence
    from rankproof.document.terminal import wrap
    from rankproof.scoring.evaluate import check_margin
    from rankproof.stats.confidence import queries_for_margin, smallest_margin
    from rankproof.stats.paired import check_alpha

    check_alpha(alpha, 0.5)
    check_margin(margin)
    said = smallest_margin_sentence(number, smallest_margin(number, alpha), margin, queries_for_margin(margin, alpha))
    more = "If most questions change a little, fewer are enough."
    return "\n".join(wrap(f"For a gate: {said} {more}")) + "\n"


@click.command("drift")
@click.argument("queries", metavar="QUERIES|JUDGMENTS")
@click.argument("log")
@options.value("--queries texts", "FILE", "The texts, if the first file is one of judgments.")
@options.value("--judgments", "FILE", "Judgments, if the first file is one of queries.")
@options.value("--run ranking", "RUN", "A ranking, to re-weight its measures to what people ask.")
@options.measures(DEFAULT_MEASURE)
@options.value("--corpus", "FILE", "Today's documents: which judged ones vanished?")
@options.value("--hashes", "FILE", "With --corpus: which changed since --keep-hashes wrote this file?")
@options.target("With --corpus: write hashes of the judged documents, for later.", "--keep-hashes")
@options.value("--training", "FILE", "Training queries of a model: which are in the set?")
@options.value("--embed", "MODULE:FUNCTION", "A function from a list of texts to vectors. [n-grams of characters]")
@options.value("--label", "N", "Propose N live queries to label next.", 30)
@options.target("Write the queries to label next.", "--next-queries")
@options.target("Write the documents that the log lists for them, for 'pool'.", "--next-run")
@options.value("--redact", "HOOK", "How to redact events before anything else: masks, or MODULE:FUNCTION.")
@options.value("--seed", "N", "Seed of the sample and the permutations.", 0)
@options.flag("--strict", "Exit code 1 if the set has drifted.")
@options.result()
def drift(
    queries: str,
    log: str,
    texts: str | None,
    judgments: str | None,
    keep_hashes: str | None,
    embed: str | None,
    redact: str | None,
    next_queries: str | None,
    next_run: str | None,
    strict: bool,
    output: Output,
    **settings: Any,
) -> None:
    """Say whether an evaluation set still asks what people ask.

    QUERIES is a file of queries or a BEIR folder, LOG a file of events (JSONL,
    CSV, Parquet), of which only the query is needed. Users take turns, so that
    no user dominates.

    \b
    rankproof drift queries.jsonl log.jsonl --judgments j.qrels --run my.run
    rankproof drift j.qrels log.jsonl --queries queries.jsonl

    Label next what is missing, with the documents that the log lists:

    \b
    rankproof drift q.jsonl log.jsonl --next-queries n.jsonl --next-run n.run
    rankproof pool n.run -o pool.jsonl
    rankproof label pool.jsonl --queries n.jsonl --who ana -o labels.jsonl
    """
    from rankproof.bench.adapters import import_named
    from rankproof.cli.monitor import hook_named
    from rankproof.io.corpora import load_corpus
    from rankproof.io.load import load_judgments, load_ranking
    from rankproof.io.write import write_ranking
    from rankproof.monitoring.drift import drift, hashes_of

    own, judged = _sides(queries, texts, judgments)
    if keep_hashes is not None and (judged is None or settings["corpus"] is None):
        raise UsageError("--keep-hashes: needs judgments and --corpus. Next: add them.")
    check_single(settings["ranking"], beside=[own, log, judged])
    with keep_results_apart(), tell_progress(f"reading {log}"):
        if embed is not None:
            settings["embed"] = import_named(embed, "--embed")
        if redact:
            settings["change"] = hook_named(redact)
        found = drift(own, log, judgments=judged, **settings)
    output.write_result(found)
    if keep_hashes is not None:
        hashes = hashes_of(load_judgments(judged), load_corpus(settings["corpus"]))
        write(json.dumps(hashes, ensure_ascii=False, indent=0) + "\n", keep_hashes)
    if next_queries is not None:
        write(found.label_lines(), next_queries)
    listed = found.label_run()
    if next_run is not None and not listed:
        why = "the log has no results of these queries" if found.label else "there is no query to label"
        click.echo(f"rankproof: note: {next_run} is not written: {why}.", err=True)
    elif next_run is not None:
        table = {query: {doc: float(-at) for at, doc in enumerate(docs)} for query, docs in listed.items()}
        notes = write_ranking(load_ranking(table).table(), next_run, force=may_replace(next_run))
        tell_written(next_run, notes, count(len(listed), "query"))
    end(found.wrong, shown=output.shows("markdown", "html", "json"))
    click.get_current_context().exit(1 if strict and found.drifted else 0)


def _sides(queries: str, texts: str | None, judgments: str | None) -> tuple[str, str | None]:
    """The file of queries and that of judgments, in either order."""
    if texts is not None:
        if judgments is not None:
            raise UsageError(
                f"--judgments: the first file, {queries}, holds them if --queries is given. Next: leave one out."
            )
        return texts, queries
    folder = Path(queries).is_dir()
    if not folder and queries != "-" and Path(queries).is_file() and _holds_judgments(queries):
        raise UsageError(f"{queries}: these are judgments, which have no texts of queries. Next: add --queries FILE.")
    return queries, queries if folder and judgments is None else judgments


def _holds_judgments(path: str) -> bool:
    """Whether a file holds judgments as TREC writes them; the words of a query's text are no columns."""
    from rankproof.io.files import read_head
    from rankproof.io.formats import TREC_JUDGMENTS, sniff

    head = read_head(path)
    first = head.lstrip().partition(b"\n")[0]
    if not first or first.count(b"\t") == 1:
        return False
    try:
        return sniff(head, path) == TREC_JUDGMENTS
    except DataError:
        return False
