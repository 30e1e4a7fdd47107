"""`rankproof evaluate`, `spans`, `audit`, `sql`, `trec_eval`: judgments and rankings in, numbers out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_one_stdin, check_single, named_paths, read_groups
from rankproof.cli.output import TEXTS, Output, end, errors_of, say_apart, tell_progress, write
from rankproof.cli.saved_results import Saving, saving_options
from rankproof.core.defaults import DEFAULT_MEASURES, SPAN_MEASURES
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.scoring.protocol import ScoresLike
    from rankproof.scoring.tables import Reasons


@click.command("evaluate")
@click.argument("judgments")
@click.argument("runs", nargs=-1, metavar="RUN...")
@options.measures(DEFAULT_MEASURES)
@options.flag("-q --per-query", "The value of every query; a table has the means below.")
@options.value("--counted", "FILE", "The result of a query of 'rankproof sql', in place of a run.", multiple=True)
@options.value("--worst", "N", "List the N worst queries under a table.", 0, callback=options.at_least(0))
@options.names
@options.result()
@options.by
@saving_options
@options.conventions
@options.value("--sample", "N", "Score N of the judged queries, like 1e5: everywhere the same ones.", type=float)
def command(
    judgments: str,
    runs: tuple[str, ...],
    measures: list[str] | None,
    per_query: bool,
    worst: int,
    counted: tuple[str, ...],
    shown_as: str | None,
    output: Output,
    by: str | None,
    saving: Saving,
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
    from rankproof.scoring.evaluate import evaluate, prepare, sample_error_sentence

    if worst and output.form not in TEXTS:
        raise UsageError("--worst is for tables. Next: leave out -f, or take -q for the value of every query.")
    if not runs and not counted:
        raise UsageError(
            f"evaluate: got {judgments} as the judgments and no run, expected one or more. "
            "Next: name them after the judgments, or give --counted FILE."
        )
    check_one_stdin(judgments, *runs, *counted)
    runs = (*runs, *counted)
    saving.check(runs)
    groups = read_groups(by, judgments)
    scores = {}
    with tell_progress(f"reading {judgments}"):
        prepared = prepare(judgments)
    size, number = settings["sample"], len(prepared.query_ids)
    if size is not None and 2 <= size < number and size == int(size):  # how precise it is, before more is read
        told = f"a sample of {int(size):,} of {number:,} judged queries: {sample_error_sentence(int(size))}"
        click.echo(f"rankproof: {told}", err=True)
    for name, path in named_paths(runs, shown_as).items():
        with tell_progress(f"reading {path}"):
            ranking = load_counted(path) if path in counted else path
            scores[name] = evaluate(prepared, ranking, measures, by=groups, **settings)
    saving.save(scores)
    text = render_scores(scores, output, per_query)
    show(scores, f"{text!s}\n{_worst(scores, worst)}\n" if worst else text, output)


def _worst(scores: Mapping[str, ScoresLike], n: int) -> str:
    from rankproof.document.formats.table import lines_of
    from rankproof.scoring.words import worst_queries

    measure = next(iter(next(iter(scores.values()))))
    return "\n".join(lines_of(*worst_queries(measure, {name: each.worst(n) for name, each in scores.items()})))


def show(scores: Mapping[str, ScoresLike], text: str | bytes, output: Output) -> None:
    """Write the results; what makes them wrong goes to standard error if they have no place for it, and ends with 3."""
    output.write(text)
    say_apart(scores, output.form)
    end(errors_of(scores), shown=output.shows())


def render_scores(
    scores: Mapping[str, ScoresLike], output: Output, per_query: bool, reasons: Reasons | None = None
) -> str | bytes:
    """The results in the format asked for; `reasons` say why single queries have no value."""
    from rankproof.document.formats import check
    from rankproof.document.model import Document
    from rankproof.scoring import words

    made = check(output.form)
    # Only if asked for: for millions of queries these dicts take most of the memory.
    values = {name: {each: s.values(each) for each in s} for name, s in scores.items()} if per_query else {}
    single = words.queries(values, reasons)
    if per_query and made.records:
        return made.render(single)
    with tell_progress("computing intervals"):
        found = words.scores([each.summary(name) for name, each in scores.items()])
    if per_query and output.form in TEXTS:  # one screen has only the means
        return f"{made.render(single)!s}\n{made.render(found)!s}"
    return made.render(Document(found.title, [*single.parts, *found.parts], found.records, kinds=found.kinds))


@click.command("spans")
@click.argument("judgments")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.value("--corpus", "FILE", "The documents as they were cut: file or folder.", required=True)
@options.value("--chunks", "FILE", "The place of each chunk, if its id is not DOCUMENT#START-END.")
@options.value("--tokens", "WORD", "The unit that is counted: words or characters.", "words")
@options.measures(SPAN_MEASURES, "What to measure, like SpanR@5,SpanF@5; may be given again.")
@options.flag("-q --per-query", "The value of every query; a table has the means below.")
@options.names
@options.result()
@options.by
@saving_options
@options.value("--missing", "WORD", "Judged queries without a ranking: zero, skip.", "zero")
@options.value("--no-relevant", "WORD", "Queries without a relevant span: zero, skip.", "zero")
def evaluate_passages(
    judgments: str,
    runs: tuple[str, ...],
    measures: list[str] | None,
    corpus: str,
    chunks: str | None,
    per_query: bool,
    shown_as: str | None,
    output: Output,
    by: str | None,
    saving: Saving,
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
    from rankproof.io.corpora import load_corpus
    from rankproof.io.judgments import load_places, load_spans
    from rankproof.scoring.spans import evaluate_spans

    check_one_stdin(judgments, *runs)
    saving.check(runs)
    settings["by"] = read_groups(by, judgments)
    named = named_paths(runs, shown_as)
    with tell_progress(f"reading {corpus}"):
        documents, judged = load_corpus(corpus), load_spans(judgments)
        settings["chunks"] = None if chunks is None else load_places(chunks)
    scores = {}
    for name, path in named.items():
        with tell_progress(f"reading {path}"):
            scores[name] = evaluate_spans(judged, path, documents, measures, **settings)
    saving.save(scores)
    show(scores, render_scores(scores, output, per_query), output)


@click.command("audit")
@click.argument("judgments")
@click.argument("run")
@options.measures(DEFAULT_MEASURES, "The measures whose cut-offs and ceilings are looked at; may be given again.")
@options.result()
@options.conventions
def audit_ranking(judgments: str, run: str, measures: list[str] | None, output: Output, **settings: Any) -> None:
    """Say what is wrong or odd about judgments and a ranking.

    Each finding has a severity, a count, examples and a next step. The exit
    code is 3 if one of them is an error, else 0.

    \b
    rankproof audit judgments.tsv my.run
    rankproof audit judgments.tsv my.run -f json
    """
    from rankproof.scoring.evaluate import audit

    check_single(run, beside=[judgments])
    with tell_progress(f"reading {run}"):
        found = audit(judgments, run, measures, **settings)
    output.write_result(found, f"ranking: {run}; judgments: {judgments}")
    end((str(each) for each in found if each.severity == "error"), shown=True)


@click.command("trec_eval", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def as_trec_eval(words: tuple[str, ...]) -> None:
    """Take trec_eval's arguments and print what it prints."""
    from rankproof.compat.trec_eval import main

    click.get_current_context().exit(main(words))


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
@options.flag("--distinct", "Look for duplicate documents in all queries, not in 1,000 of them.")
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
    from rankproof.io.counted.text import Counted, counting_text

    judged = {"query": query, "doc": doc}
    columns = judged | {"score": score} | ({} if rank is None else {"rank": rank})
    looked_at = "all" if distinct else "sample"
    what = Counted(run, columns, judgments, judged, decimal=decimal, distinct=looked_at)
    write(counting_text(dialect, what, Conventions(ties=ties, duplicates=duplicates)), output)
