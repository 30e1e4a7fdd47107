"""`rankproof run`, `bench`, `rank`, `fuse` and `convert`: make rankings, rank them once, combine and convert them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_one_stdin, check_single, named_paths
from rankproof.cli.output import (
    Output,
    Target,
    check_not_read,
    end,
    keep_results_apart,
    may_replace,
    may_write_again,
    tell_progress,
    tell_written,
)
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.document.disk import STDOUT, told_if_stopped
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError


@click.command("bench")
@click.argument("file")
@options.result()
@options.value("--cache", "FILE", "Where answers are kept. [FILE with the ending .cache]")
@options.flag("--fresh", "Ask everything again, whatever was kept.")
@options.flag("--no-cache", "Keep no answers.")
def bench(file: str, output: Output, cache: str | None, fresh: bool, no_cache: bool) -> None:
    """Run a grid of configurations, and say what the best is worth.

    FILE is a TOML file that names corpus, questions, judgments, and what to
    combine: chunkers, retrievers, fusion, rerankers, k. The winner is chosen on
    one part of the questions and measured on the other.

    Answers are kept beside FILE, so that an interrupted run continues from
    there, and says how many it reused. After a change that cannot be
    detected, like that of an index, --fresh asks everything again.

    \b
    rankproof bench bench.toml
    rankproof bench bench.toml -o bench.html
    """
    from rankproof.bench.grid import grid
    from rankproof.store.answers import remove

    kept = None if no_cache else Path(cache or Path(file).with_suffix(".cache"))
    if fresh and kept is not None and Path(file).is_file():
        remove(kept)
    with told_if_stopped(kept, "answers"), keep_results_apart():
        found = grid(file, cache=kept)
    output.write_result(found)
    if found.remembered:
        click.echo(f"rankproof: {found.remembered} ({kept}); --fresh asks again.", err=True)
    end(found.wrong, shown=output.shows("markdown", "html", "json"))


KEPT = ".answers"
"""The ending of the file beside the output in which answers are kept until all are there."""


@click.command("run")
@options.value("--retriever", "WHAT", "module:function, endpoint.toml or a command.", required=True)
@options.value("--queries", "FILE", "The questions: JSON Lines, CSV, TSV, BEIR ...", required=True)
@options.value("--judgments", "FILE", "Ask the judged questions only, and score what was found.")
@options.value("--corpus", "FILE", "The documents; ids that are not in them are reported.")
@options.value("-k", "N", "How many documents to ask for, per question.", 100)
@options.target("Where to write. [standard output]", beside=KEPT, default=STDOUT)
@options.force
@options.value("--to", "FORMAT", "trec, tsv, csv, json, jsonl or parquet. [by the file's name]")
@options.value("--name", "NAME", "The name of the run. [the retriever]")
@options.value("--concurrency", "N", "How many questions are asked at once. [1; async and endpoints 8]", type=int)
@options.value("--timeout", "SECONDS", "Time limit of a question; 0 is none. [60; endpoints 30]", type=float)
@options.value("--retries", "N", "How often a question that failed is asked again. [0; endpoints 2]", type=int)
@options.value("--backoff", "SECONDS", "Pause before the first retry, then doubled. [0.5]", type=float)
@options.value("--rate", "N", "At most N calls a second.", type=float)
@options.value("--warm-up", "N", "Questions asked first and not counted. [0]", type=int)
@options.value("--batch", "N", "The retriever takes lists of N questions.", type=int)
@options.value("--id id_", "FIELD", "Where a document has its id, if not in a usual field.")
@options.value("--cache", "FILE", "Keep the answers for later runs too. [FILE of -o + .answers]")
@options.flag("--fresh", "Ask everything again, whatever was kept of an interrupted run.")
@options.value("--details", "FILE", "Write a JSON line for each question: seconds, attempts, failure.")
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
    goes on. The same command continues an interrupted run where it stopped.
    The exit code is 3 if every question failed.

    \b
    rankproof run --retriever search:find --queries queries.jsonl -o my.run
    rankproof run --retriever endpoint.toml --queries q.tsv -k 10 -o my.run
    rankproof run --retriever "python find.py" --queries q.tsv -o my.run
    """
    from rankproof.bench.benchmark import Benchmark
    from rankproof.bench.words import run_details
    from rankproof.document.disk import check_free, write_file
    from rankproof.io.write import Columns, render
    from rankproof.store.answers import remove

    if details is not None:
        check_free(details, force=may_write_again())
        check_not_read(details)
    form = _format(output, to)
    kept = _kept(cache, output, fresh)
    bench = Benchmark(queries, judgments, corpus)
    given = {name.rstrip("_"): value for name, value in limits.items() if value is not None}
    if "timeout" in given:
        given["timeout"] = given["timeout"] or None  # 0 means none
    questions = list(bench.queries)
    render(Columns("score", questions, ["-"] * len(questions), source=queries), form)  # refuses ids it cannot hold
    with told_if_stopped(kept, "answers"), keep_results_apart():
        run = bench.run(name or retriever, retriever, k, cache=kept, progress=True, **given)
    # A question without documents has no row in most formats; those that failed are reported anyway.
    notes = _write(run.ranking, output, form)
    tell_written(output, [note for note in notes if not note.startswith("queries without documents")])
    if details is not None:
        lines = ({"query_id": row.question, **run_details(row)} for row in run.rows)
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        write_file(details, text, force=True)
        tell_written(details)
    shown = judgments is not None and output != STDOUT
    click.echo(run.format("full"), nl=False, err=not shown)  # no option would show the rest
    if kept is not None and cache is None:  # it was kept only in case of an interruption
        if run.failures:
            again = "the same command asks only the questions that failed; with --fresh all of them"
            click.echo(f"rankproof: {again} (kept in {kept}).", err=True)
        else:
            remove(kept)
    if run.failures and not any(run.ranking.values()):
        click.echo("rankproof: no question was answered, so the ranking is empty (exit code 3)", err=True)
        click.get_current_context().exit(DataError.exit_code)


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


@click.command("fuse")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.value("--method", "NAME", "How to combine them: see above.", "rrf")
@options.value("--normalise", "NAME", "How scores are scaled: min-max, max, sum, z-score, rank, borda, none. [min-max]")
@options.value("--weights", "W,W,...", "A weight for each run, in their order.")
@options.value("--set settings", "NAME=VALUE", "A parameter of the method, like k=60: see above.", multiple=True)
@options.value("--depth", "N", "Read the N best documents of each run only.", type=int)
@options.value("--judgments", "FILE", "Judgments that the learning methods learn from.")
@options.value("--tune tuning", "FILE", "Judgments to choose the settings by.")
@options.value("-m --measure", "MEASURE", "What to tune for.", DEFAULT_MEASURE)
@options.value("--share", "SHARE", "The share of the judged queries to tune on.", 0.5)
@options.value("--seed", "N", "Seed of the draw of these queries.", 0)
@options.target("Where to write the ranking. [standard output]")
@options.damaged_files
@options.force
@options.value("--to", "FORMAT", "trec, tsv, csv, json, jsonl or parquet. [by the file's name]")
def fuse_runs(
    runs: tuple[str, ...],
    weights: str | None,
    settings: tuple[str, ...],
    judgments: str | None,
    tuning: str | None,
    measure: str,
    share: float,
    seed: int,
    output: str | None,
    to: str | None,
    **chosen: Any,
) -> None:
    """Combine several rankings into one.

    By rank: rrf, isr, log-isr, logn-isr, rbc, borda, condorcet. By score:
    combsum, combmnz, combgmnz, combmin, combmax, combmed, combanz, weighted-sum,
    wmnz, mixed. Learning from judged queries: bayesfuse, mapfuse, posfuse,
    probfuse, segfuse, slidefuse. Their parameters: k (rrf), sigma (logn-isr), phi
    (rbc), gamma (combgmnz), window (slidefuse), segments (probfuse), sizes (segfuse).

    With --tune the settings are chosen on a part of the judged queries and
    scored on the others; the ranking is written with -o.

    \b
    rankproof fuse bm25.run dense.run -o fused.run
    rankproof fuse bm25.run dense.run --tune judgments.tsv --method weighted-sum
    """
    check_one_stdin(*runs, judgments, tuning)
    paths = named_paths(runs)
    place = output or STDOUT
    form = _format(place, to) if output is not None or tuning is None else ""
    if tuning is None:
        from rankproof.bench.fusion import fuse

        numbers = None if weights is None else [options.number_of(each, "--weights") for each in weights.split(",")]
        given = {"systems": paths, "weights": numbers, "judgments": judgments, **chosen}
        with tell_progress("reading and fusing"):
            found = fuse(**given, **options.settings_named(settings, "k=60", given))
        tell_written(place, _write(found, place, form))
        return
    for option, value in {"--weights": weights, "--set": settings, "--judgments": judgments}.items():
        if value:
            raise UsageError(f"{option} and --tune: tuning chooses that itself. Next: leave one of them out.")
    from rankproof.bench.fusion.tune import tune
    from rankproof.io.load import load_rankings

    with tell_progress("tuning"):
        loaded = load_rankings(paths, chosen.pop("damaged"))
        tuned = tune(tuning, loaded, measure=measure, share=share, seed=seed, **chosen)
    if output is not None:
        tell_written(output, _write(tuned.fuse(loaded, chosen["depth"]), output, form))
    click.echo(tuned.format("full"), nl=False, err=output == STDOUT)
    end(tuned.wrong, shown=True)


def _write(ranking: Mapping[str, Mapping[str, float]], target: str, form: str) -> list[str]:
    from rankproof.io.load import load_ranking
    from rankproof.io.write import write_ranking

    return write_ranking(load_ranking(ranking).table(), target, form, force=may_replace(target))


def _format(target: str, to: str | None) -> str:
    """The format that a name says, TREC on standard output; a wrong one is refused before anything is read."""
    from rankproof.io.write import format_of

    return format_of(target, to or ("trec" if target == STDOUT else None))


@click.command("convert")
@click.argument("source")
@click.argument("target", type=Target(), required=False)
@options.target("The target, as other commands name it.")
@options.value("--as what", "WHAT", "ranking or judgments, for files that do not show it.")
@options.value("--to", "FORMAT", "The format to write, for targets whose name does not show it.")
@options.force
def convert_file(source: str, target: str | None, output: str | None, what: str | None, to: str | None) -> None:
    """Write judgments or a ranking in another format.

    The name of the target says which: .run and .qrels are TREC, then .tsv, .csv,
    .json, .jsonl, .parquet; with .gz, .bz2, .xz or .zst added, compressed.

    \b
    rankproof convert my.run my.parquet
    rankproof convert my.run -o my.parquet
    rankproof convert judgments.csv judgments.qrels --as judgments
    """
    from rankproof.io.write import convert

    if (target is None) == (output is None):
        raise UsageError("convert: expected one target. Next: name it after the source, or with -o, but not twice.")
    place = target or output or STDOUT
    with tell_progress(f"reading {source}"):
        notes = convert(source, place, what=what, to=to, force=may_replace(place))
    tell_written(place, notes)


@click.command("rank")
@click.argument("run", metavar="RUN")
@options.value("-o --folder", "FOLDER", "The folder to write.", required=True)
@options.force
@options.damaged_files
def rank(run: str, folder: str, damaged: str) -> None:
    """Write a ranking with the rank of every row, once for all judgments.

    RUN is a file or a folder; FOLDER gets Parquet files with the columns query_id,
    doc_id, score, rank, first, last and length: ranks by descending score, the
    first and last rank a row could have among equal scores, and the length of its
    ranking. Later judgments can be joined on query_id and doc_id in any engine, and
    'rankproof evaluate JUDGMENTS FOLDER' gives the same numbers as for RUN.

    \b
    rankproof rank runs/2026-11-22/ -o ranked/
    rankproof evaluate judgments.parquet ranked/
    """
    from rankproof.io.load import load_ranking
    from rankproof.io.ranked_files import write_ranked

    check_single(run)
    rows = write_ranked(load_ranking(run, damaged), folder, force=may_replace(folder))
    click.echo(f"{folder}: {count(rows, 'row')}, ranked", err=True)
