"""`rankproof evaluate`, `spans`, `audit`, `sql`, `trec_eval`: judgments and rankings in, numbers out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options, saved_results
from rankproof.cli.options import check_one_stdin, named_paths, read_groups
from rankproof.cli.output import (
    TEXTS,
    checked_form,
    end,
    errors_of,
    is_coloured,
    say_apart,
    tell_oddities,
    tell_progress,
    write,
)
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.scoring.protocol import ScoresLike
    from rankproof.scoring.scores import Scores
    from rankproof.scoring.tables import Reasons


@click.command("evaluate")
@click.argument("judgments")
@click.argument("runs", nargs=-1, metavar="RUN...")
@options.measures
@options.flag("-q --per-query", "The value of every query; a table has the means below.")
@options.value("--counted", "FILE", "The result of a query of 'rankproof sql', in place of a run.", multiple=True)
@options.value("--lengths", "FILE", "How many documents each query has, if counted apart.")
@options.value("--worst", "N", "List the N worst queries under a table.", type=click.IntRange(0), default=0)
@options.names
@options.form()
@options.output
@options.by
@options.saving_options
@options.profile
@options.conventions
@options.sample
def command(
    judgments: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    worst: int,
    counted: tuple[str, ...],
    lengths: str | None,
    shown_as: str | None,
    form: str | None,
    output: str | None,
    by: str | None,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    replace: bool,
    history: str,
    **settings: Any,
) -> None:
    """Score rankings against judgments.

    Files may be TREC, BEIR, CSV, TSV, JSON, JSON Lines or Parquet, compressed or
    not; '-' is standard input. Their kind is detected from their content. A folder is
    one ranking in many files, and so are files that an engine wrote as parts.

    \b
    rankproof evaluate judgments.tsv my.run
    rankproof evaluate judgments.tsv before.run after.run -m nDCG@10 -m R@100,RR
    rankproof evaluate judgments.tsv my.run -q -f csv -o values.csv
    rankproof evaluate judgments.tsv my.run --save monday
    rankproof evaluate judgments.parquet 'runs/2026-11-22/part-*.parquet'
    """
    from rankproof.io.load import load_counted
    from rankproof.scoring.evaluate import evaluate, prepare

    form = checked_form(form, output)
    if worst and form not in TEXTS:
        raise UsageError("--worst is for tables. Next: leave out -f, or take -q for the value of every query.")
    if not runs and not counted:
        raise options.too_few_files(
            "evaluate", [judgments], "judgments alone, expected a run too", "name one, or --counted FILE"
        )
    if lengths is not None and len(counted) != 1:
        raise UsageError("--lengths belongs to one --counted FILE. Next: give both, or one file that holds both.")
    check_one_stdin(judgments, *runs, *counted)
    runs = (*runs, *counted)
    saved_results.check_saving(names, runs, tags, history, replace)
    asked = list(measures) or None
    groups = None if by is None else read_groups(by, judgments)
    scores = {}
    with tell_progress(f"reading {judgments}"):
        prepared = prepare(judgments)
    if (size := settings["sample"]) is not None:
        _say_sample(size, len(prepared.query_ids))
    for name, path in named_paths(runs, shown_as).items():
        with tell_progress(f"reading {path}"):
            ranking = load_counted(path, lengths) if path in counted else path
            scores[name] = evaluate(prepared, ranking, asked, by=groups, **settings)
    if names:
        saved_results.save(list(scores.values()), names, tags, history, replace)
    text = render_scores(scores, form, per_query, is_coloured(output))
    show(scores, f"{text!s}\n{_worst(scores, worst)}\n" if worst else text, form, output)


def _say_sample(size: float, count: int) -> None:
    """Say how precise a sample is before anything else is read."""
    from rankproof.scoring.evaluate import sample_error_sentence

    if 2 <= size < count and size == int(size):
        told = f"a sample of {int(size):,} of {count:,} judged queries: {sample_error_sentence(int(size))}"
        click.echo(f"rankproof: {told}", err=True)


def _worst(scores: Mapping[str, ScoresLike], n: int) -> str:
    from rankproof.document.formats.table import lines_of
    from rankproof.scoring.words import worst_queries

    measure = next(iter(next(iter(scores.values()))))
    return "\n".join(lines_of(*worst_queries(measure, {name: each.worst(n) for name, each in scores.items()})))


def show(scores: Mapping[str, ScoresLike], text: str | bytes, form: str, output: str | None) -> None:
    """Write the results; what makes them wrong goes to standard error if they have no place for it, and ends with 3."""
    write(text, output, form)
    say_apart(scores, form)
    end(errors_of(scores), shown=form in TEXTS and output is None)


def render_scores(
    scores: Mapping[str, ScoresLike], form: str, per_query: bool, colour: bool, reasons: Reasons | None = None
) -> str | bytes:
    """The results in the format asked for; `reasons` say why single queries have no value."""
    from rankproof.document.formats import check
    from rankproof.document.model import Document
    from rankproof.document.terminal import in_colours
    from rankproof.scoring import words

    made = check(form)
    # Only if asked for: for millions of queries these dicts take most of the memory.
    values = {name: {each: s.values(each) for each in s} for name, s in scores.items()} if per_query else {}
    single = words.queries(values, reasons)
    if per_query and made.records:
        return made.render(single)
    with tell_progress("computing intervals"):
        found = words.scores([each.summary(name) for name, each in scores.items()])
    with in_colours(colour):
        if per_query and form in TEXTS:  # one screen has only the means
            return f"{made.render(single)!s}\n{made.render(found)!s}"
        return made.render(Document(found.title, [*single.parts, *found.parts], found.records, kinds=found.kinds))


@click.command("spans")
@click.argument("judgments")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.value("--corpus", "FILE", "The documents as they were cut: file or folder.", required=True)
@options.value("--chunks", "FILE", "The place of each chunk, if its id is not DOCUMENT#START-END.")
@options.value("--tokens", "WORD", "The unit that is counted: words or characters.", "words")
@options.measures
@options.flag("-q --per-query", "The value of every query; a table has the means below.")
@options.names
@options.form()
@options.output
@options.by
@options.saving_options
@options.value("--missing", "WORD", "Judged queries without a ranking: zero, skip.", "zero")
@options.value("--no-relevant", "WORD", "Queries without a relevant span: zero, skip.", "zero")
def evaluate_passages(
    judgments: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    shown_as: str | None,
    form: str | None,
    output: str | None,
    by: str | None,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    replace: bool,
    history: str,
    **settings: Any,
) -> None:
    """Score rankings of chunks against judged passages.

    JUDGMENTS has the columns query, document, start, end and perhaps grade:
    which characters hold the answer. So any way of cutting the documents is
    measured by the same judgments. Chunks have ids like DOCUMENT#START-END;
    the id of a document stands for the whole of it. Saved results are compared
    by 'rankproof compare'.

    \b
    rankproof spans spans.tsv chunks.run --corpus documents.jsonl
    rankproof spans spans.tsv a.run b.run --corpus docs/ -m "SpanR(budget=500)"
    """
    form = checked_form(form, output)
    check_one_stdin(judgments, *runs)
    saved_results.check_saving(names, runs, tags, history, replace)
    groups = None if by is None else read_groups(by, judgments)
    scores = _scored(judgments, named_paths(runs, shown_as), list(measures) or None, by=groups, **settings)
    if names:
        saved_results.save(list(scores.values()), names, tags, history, replace)
    show(scores, render_scores(scores, form, per_query, is_coloured(output)), form, output)


def _scored(
    judgments: str,
    runs: Mapping[str, str],
    measures: list[str] | None,
    corpus: str,
    chunks: str | None,
    **settings: Any,
) -> dict[str, Scores]:
    """The scores of each run; judgments and documents are read once."""
    from rankproof.io.corpora import load_corpus
    from rankproof.io.judgments import load_places, load_spans
    from rankproof.scoring.spans import evaluate_spans

    with tell_oddities(), tell_progress(f"reading {corpus}"):
        documents, judged = load_corpus(corpus), load_spans(judgments)
        settings["chunks"] = None if chunks is None else load_places(chunks)
    found = {}
    for name, path in runs.items():
        with tell_progress(f"reading {path}"):
            found[name] = evaluate_spans(judged, path, documents, measures, **settings)
    return found


SERIOUS = 3
"""The exit code when there is an error among the findings."""


@click.command("audit")
@click.argument("judgments")
@click.argument("run")
@options.measures
@options.form()
@options.output
@options.conventions
@click.pass_context
def audit_ranking(
    ctx: click.Context,
    /,
    judgments: str,
    run: str,
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    **settings: Any,
) -> None:
    """Say what is wrong or odd about judgments and a ranking.

    Each finding has a severity, a count, examples and a next step. The exit
    code is 3 if one of them is an error, else 0.

    \b
    rankproof audit judgments.tsv my.run
    rankproof audit judgments.tsv my.run -f json
    """
    from rankproof.document.model import print_as
    from rankproof.document.terminal import in_colours
    from rankproof.scoring.evaluate import audit

    form = checked_form(form, output)
    check_one_stdin(judgments, run)
    with tell_progress(f"reading {run}"):
        found = audit(judgments, run, list(measures) or None, **settings)
    with in_colours(is_coloured(output)):
        text = print_as(found, form)
    write(text, output, form)
    if any(each.severity == "error" for each in found):
        ctx.exit(SERIOUS)


class Untouched(click.Command):
    """A command that passes its arguments on unchanged, including `--help`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """No argument is parsed as an option here."""
        ctx.args = list(args)
        return []


@click.command("trec_eval", cls=Untouched, add_help_option=False)
@click.pass_context
def as_trec_eval(ctx: click.Context) -> None:
    """Take trec_eval's arguments and print what it prints."""
    from rankproof.compat.trec_eval import main

    ctx.exit(main(ctx.args))


@click.command("sql")
@options.value(
    "--dialect",
    "WORD",
    "The engine: duckdb, sqlite, postgres, spark, datafusion, bigquery, snowflake, trino.",
    required=True,
)
@options.value("--run", "TABLE", "The table of rankings, or a query.", "run")
@options.value("--judgments", "TABLE", "The table of judgments.", "judgments")
@options.value("--query", "NAME", "The column of queries in both.", "query_id")
@options.value("--doc", "NAME", "The column of documents in both.", "doc_id")
@options.value("--score", "NAME", "The column of scores.", "score")
@options.value("--rank", "NAME", "The column of ranks, for --ties rank.")
@options.flag("--decimal", "Scores are decimal numbers.")
@options.flag("--distinct", "Look for documents that come twice in every query, not in 1,000.")
@options.value("--ties", "WORD", "Equal scores, as in evaluate: trec, id, rank.", "trec")
@options.value("--duplicates", "WORD", "Documents that come twice: error, best.", "error")
@options.output
def sql(
    dialect: str,
    run: str,
    judgments: str,
    query: str,
    doc: str,
    score: str,
    rank: str | None,
    decimal: bool,
    distinct: bool,
    ties: str,
    duplicates: str,
    output: str | None,
) -> None:
    """Write the query that counts where judged documents stand.

    Run it where the ranking is; it gives one row for each judged document that
    was found, and one for each query. Only these rows leave the engine, and
    'rankproof evaluate --counted' makes the usual table of them.

    \b
    rankproof sql --dialect bigquery --run lake.run > count.sql
    rankproof evaluate judgments.tsv --counted rows.parquet
    """
    from rankproof.core.conventions import Conventions
    from rankproof.errors import is_one_of, one_of
    from rankproof.io.counted.text import WRITTEN, Counted, counting_text

    if not is_one_of(dialect, WRITTEN):
        raise one_of("dialect", dialect, WRITTEN)
    columns = {"query": query, "doc": doc, "score": score} | ({} if rank is None else {"rank": rank})
    what = Counted(
        run,
        columns,
        judgments,
        {"query": query, "doc": doc},
        decimal=decimal,
        distinct="all" if distinct else "sample",
    )
    write(counting_text(dialect, what, Conventions(ties=ties, duplicates=duplicates)), output)
