"""`rankproof run` and `bench`: ask a retriever, or a grid of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import INTERRUPTED, options
from rankproof.cli.output import (
    TEXTS,
    checked_form,
    end,
    keep_results_apart,
    may_replace,
    may_write_again,
    tell_oddities,
    tell_written,
    write_result,
)
from rankproof.errors import DataError, UsageError

if TYPE_CHECKING:
    from rankproof.bench.benchmark import Benchmark
    from rankproof.bench.runs import Run


@click.command("bench")
@click.argument("file")
@options.form()
@options.output
@click.option("--cache", metavar="FILE", help="Where answers are kept. [FILE with the ending .cache]")
@click.option("--fresh", is_flag=True, help="Ask everything again, whatever was kept.")
@click.option("--no-cache", is_flag=True, help="Keep no answers.")
def command(file: str, form: str | None, output: str | None, cache: str | None, fresh: bool, no_cache: bool) -> None:
    """Run a grid of configurations, and say what the best is worth.

    FILE is a TOML file that names corpus, questions, judgments, and what to
    combine: chunkers, retrievers, fusion, rerankers, k. The winner is chosen on
    one part of the questions and measured on the other.

    What was answered is kept beside FILE, so that a run that was interrupted
    goes on from there, and says how much was kept. After a change
    that nothing here can see, as of an index, --fresh asks everything again.

    \b
    rankproof bench bench.toml
    rankproof bench bench.toml -o bench.html
    """
    from rankproof.bench.grid import grid
    from rankproof.store.answers import remove

    form = checked_form(form, output)
    kept = None if no_cache else Path(cache or Path(file).with_suffix(".cache"))
    if fresh and kept is not None and Path(file).is_file():
        remove(kept)
    with tell_oddities(), keep_results_apart():
        found = grid(file, cache=kept)
    write_result(found, form, output)
    if found.remembered:
        click.echo(f"rankproof: {found.remembered} ({kept}); --fresh asks again.", err=True)
    end(found.wrong, shown=output is None and form in (*TEXTS, "markdown", "html", "json"))


STDOUT = "-"
KEPT = ".answers"
"""The ending of the file beside the output in which answers are kept until all are there."""


@click.command("run")
@click.option("--retriever", required=True, metavar="WHAT", help="module:function, endpoint.toml or a command.")
@click.option("--queries", required=True, metavar="FILE", help="The questions: JSON Lines, CSV, TSV, BEIR ...")
@click.option("--judgments", metavar="FILE", help="Ask the judged questions only, and score what was found.")
@click.option("--corpus", metavar="FILE", help="The documents; ids that are not in them are reported.")
@click.option("-k", default=100, metavar="N", help="Documents a question. [100]")
@options.target("Where to write. [standard output]", beside=KEPT, default=STDOUT)
@options.force
@click.option("--to", metavar="FORMAT", help="trec, tsv, csv, json, jsonl or parquet. [by the file's name]")
@click.option("--name", metavar="NAME", help="The name of the run. [the retriever]")
@click.option("--concurrency", type=int, metavar="N", help="Questions at once. [1; async and endpoints 8]")
@click.option("--timeout", type=float, metavar="SECONDS", help="For a question; 0: none. [60; endpoints 30]")
@click.option("--retries", type=int, metavar="N", help="For a question that failed. [0; endpoints 2]")
@click.option("--backoff", type=float, metavar="SECONDS", help="Before the first retry; then twice as long. [0.5]")
@click.option("--rate", type=float, metavar="N", help="Calls a second at most.")
@click.option("--warm-up", type=int, metavar="N", help="Questions asked first and not counted. [0]")
@click.option("--batch", type=int, metavar="N", help="The retriever takes lists of N questions.")
@click.option("--id", "id_", metavar="FIELD", help="Where a document has its id, if not in a usual field.")
@click.option("--cache", metavar="FILE", help="Keep the answers for later runs too. [FILE of -o + .answers]")
@click.option("--fresh", is_flag=True, help="Ask everything again, whatever was kept of an interrupted run.")
@click.option("--details", metavar="FILE", help="A JSON line a question: seconds, attempts, failure.")
def run_retriever(
    retriever: str,
    queries: str,
    judgments: str | None,
    corpus: str | None,
    k: int,
    output: str,
    to: str | None,
    name: str | None,
    fresh: bool,
    cache: str | None,
    details: str | None,
    **limits: Any,
) -> None:
    """Ask a retriever questions, and write its ranking.

    A question that fails is reported and left out of the ranking, and the run
    goes on. A run that was interrupted goes on where it was when the same
    command is given again. The exit code is 3 if every question failed.

    \b
    rankproof run --retriever search:find --queries queries.jsonl -o my.run
    rankproof run --retriever endpoint.toml --queries q.tsv -k 10 -o my.run
    rankproof run --retriever "python find.py" --queries q.tsv -o my.run
    """
    from rankproof.bench.benchmark import Benchmark
    from rankproof.document.disk import check_free
    from rankproof.io.write import format_of

    if details is not None:
        check_free(details, force=may_write_again())
    form = format_of(output, to or ("trec" if output == STDOUT else None))
    kept = _kept(cache, output, fresh)
    with tell_oddities():
        bench = Benchmark(queries, judgments, corpus)
    _check_ids(list(bench.queries), queries, form)
    run = _asked(bench, name or retriever, retriever, k, kept, _given(limits))
    _write(run, output, form)
    if details is not None:
        _write_details(run, details)
    _tell(run, str(run), to_stdout=judgments is not None and output != STDOUT)
    _tidy(run, kept, keep=cache is not None)
    if run.failures and not any(run.ranking.values()):
        click.echo("rankproof: no question was answered, so the ranking is empty (exit code 3)", err=True)
        click.get_current_context().exit(DataError.exit_code)


def _check_ids(questions: list[str], source: str, form: str) -> None:
    """Questions whose ids the format cannot hold are refused before one is asked."""
    from rankproof.io.write import Columns, render

    render(Columns("score", questions, ["-"] * len(questions), source=source), form)


def _kept(cache: str | None, output: str, fresh: bool) -> Path | None:
    """The file with the answers; beside the output if no other is named."""
    if cache is None and output == STDOUT:
        return None
    from rankproof.store.answers import remove

    path = Path(cache or f"{output}{KEPT}")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}. Next: make it, or name another file.")
    if fresh:
        remove(path)
    return path


def _given(limits: dict[str, Any]) -> dict[str, Any]:
    """The given options under the names of `Benchmark.run`; a timeout of 0 means none."""
    found = {name.rstrip("_"): value for name, value in limits.items() if value is not None}
    return {**found, "timeout": found["timeout"] or None} if "timeout" in found else found


def _asked(bench: Benchmark, name: str, retriever: str, k: int, kept: Path | None, limits: dict[str, Any]) -> Run:
    try:
        with keep_results_apart():
            return bench.run(name, retriever, k, cache=kept, progress=True, **limits)
    except KeyboardInterrupt:
        where = f"; the answers so far are in {kept}, and the same command goes on from there" if kept else ""
        click.echo(f"\nrankproof: stopped{where}", err=True)
        click.get_current_context().exit(INTERRUPTED)


def _write(run: Run, output: str, form: str) -> None:
    from rankproof.io.load import load_ranking
    from rankproof.io.write import write_ranking

    # A question without documents has no row in most formats; those that failed are reported anyway.
    notes = write_ranking(load_ranking(run.ranking).table(), output, form, force=may_replace(output))
    tell_written(output, [note for note in notes if not note.startswith("queries without documents")])


def _write_details(run: Run, path: str) -> None:
    from rankproof.bench.words import run_details
    from rankproof.document.disk import write_file

    lines = [{"query_id": row.question, **run_details(row)} for row in run.rows]
    write_file(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), force=True)
    tell_written(path)


def _tell(run: Run, text: str, to_stdout: bool) -> None:
    click.echo(text, nl=False, err=not to_stdout)
    if run.failures and to_stdout:
        click.echo(f"rankproof: {len(run.failures)} of {len(run.rows)} questions failed", err=True)


def _tidy(run: Run, kept: Path | None, keep: bool) -> None:
    """Answers kept in case of an interruption are deleted when nothing is left to ask."""
    if kept is None or keep:
        return
    if not run.failures:
        from rankproof.store.answers import remove

        remove(kept)
        return
    click.echo(
        f"rankproof: the same command asks only the questions that failed; with --fresh all of them (kept in {kept}).",
        err=True,
    )
