"""`rankproof drift`: does an evaluation set still ask what people ask?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_one_stdin
from rankproof.cli.output import (
    format_of,
    keep_results_apart,
    may_replace,
    tell_oddities,
    tell_progress,
    tell_written,
    write,
)
from rankproof.errors import DataError, UsageError

if TYPE_CHECKING:
    from rankproof.monitoring.drift import Drift


@click.command("drift")
@click.argument("queries", metavar="QUERIES|JUDGMENTS")
@click.argument("log")
@click.option("--queries", "texts", metavar="FILE", help="The texts, if the first file is one of judgments.")
@click.option("--judgments", metavar="FILE", help="Judgments, if the first file is one of queries.")
@click.option(
    "--run", "ranking", metavar="RUN", help="A ranking, to re-weight its measures to what people ask."
)
@options.measures
@click.option("--corpus", metavar="FILE", help="The documents of today: which judged ones vanished?")
@click.option(
    "--hashes",
    metavar="FILE",
    help="With --corpus: which changed since --keep-hashes wrote this file?",
)
@options.target("With --corpus: write hashes of the judged documents, for later.", "--keep-hashes")
@click.option("--training", metavar="FILE", help="Queries something was trained on: which are in the set?")
@click.option(
    "--embed", metavar="MODULE:FUNCTION", help="Turns a list of texts into vectors. [n-grams of characters]"
)
@click.option("--label", default=30, metavar="N", help="Propose N live queries to label next. [30]")
@options.target("Write the queries to label next.", "--next-queries")
@options.target("Write what the log shows was listed for them, for 'pool'.", "--next-run")
@click.option("--redact", is_flag=True, help="Mask addresses, numbers and names of people in live queries.")
@click.option("--test", default="kernel", metavar="WORD", help="Of wording: kernel or classifier. [kernel]")
@click.option("--seed", default=0, metavar="N", help="For another sample and other permutations. [0]")
@click.option("--strict", is_flag=True, help="Exit code 1 if the set has drifted.")
@options.form("")
@options.output
def command(
    queries: str,
    log: str,
    texts: str | None,
    judgments: str | None,
    measures: tuple[str, ...],
    keep_hashes: str | None,
    embed: str | None,
    redact: bool,
    next_queries: str | None,
    next_run: str | None,
    strict: bool,
    form: str | None,
    output: str | None,
    **settings: Any,
) -> None:
    """Say whether an evaluation set still asks what people ask.

    QUERIES is a file of queries or a BEIR folder, LOG a file of events (JSONL,
    CSV, Parquet) or of one query a line. Users take turns, so that nobody
    speaks for the others.

    \b
    rankproof drift queries.jsonl log.jsonl --judgments j.qrels --run my.run
    rankproof drift j.qrels log.jsonl --queries queries.jsonl

    What to label next goes to 'label', with what the log shows was listed:

    \b
    rankproof drift q.jsonl log.jsonl --next-queries n.jsonl --next-run n.run
    rankproof pool n.run -o pool.jsonl
    rankproof label pool.jsonl --queries n.jsonl --who ana -o labels.jsonl
    """
    from rankproof.document.formats import check, print_as
    from rankproof.monitoring.drift import drift
    from rankproof.monitoring.privacy import mask

    form = form or format_of(output)
    check(form)
    own, judged = _sides(queries, texts, judgments)
    check_one_stdin(*[each for each in (own, log, judged, settings["ranking"]) if each])
    with tell_oddities(), keep_results_apart(), tell_progress(f"reading {log}"):
        if embed is not None:
            settings["embed"] = _imported(embed)
        if redact:
            settings["change"] = mask
        found = drift(own, log, judgments=judged, measures=options.asked_measures(measures), **settings)
    write(print_as(found, form), output)
    if keep_hashes is not None:
        _keep_hashes(judged, settings["corpus"], keep_hashes)
    _write_next(found, next_queries, next_run)
    click.get_current_context().exit(1 if strict and found.drifted else 0)


def _sides(queries: str, texts: str | None, judgments: str | None) -> tuple[str, str | None]:
    """The file of queries and that of judgments, whichever came first."""
    if texts is not None:
        if judgments is not None:
            raise UsageError(
                f"--judgments: the first file, {queries}, holds them if --queries is given. Next: leave one out."
            )
        return texts, queries
    folder = Path(queries).is_dir()
    if not folder and queries != "-" and Path(queries).is_file() and _holds_judgments(queries):
        raise UsageError(
            f"{queries}: these are judgments, which have no texts of queries. Next: add --queries FILE."
        )
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


def _imported(name: str) -> Any:
    from rankproof.bench.adapters.adapt import import_named

    return import_named(name, "--embed")


def _keep_hashes(judgments: str | None, corpus: str | None, path: str) -> None:
    from rankproof.io.corpora import load_corpus
    from rankproof.io.load import load_judgments
    from rankproof.monitoring.ageing import hashes_of

    if judgments is None or corpus is None:
        raise UsageError("--keep-hashes: needs judgments and --corpus. Next: add them.")
    found = hashes_of(load_judgments(judgments), load_corpus(corpus))
    write(json.dumps(found, ensure_ascii=False, indent=0) + "\n", path)


def _write_next(found: Drift, queries: str | None, run: str | None) -> None:
    if queries is not None:
        write(found.label_lines(), queries)
    if run is not None:
        from rankproof.io.load import load_ranking
        from rankproof.io.write import write_ranking

        listed = found.label_run()
        if not listed:
            raise UsageError("--next-run: the log has no results of these queries. Next: leave it out.")
        table = {query: {doc: float(-at) for at, doc in enumerate(docs)} for query, docs in listed.items()}
        tell_written(
            run,
            write_ranking(load_ranking(table).table(), run, force=may_replace(run)),
            f"{len(listed)} queries",
        )
