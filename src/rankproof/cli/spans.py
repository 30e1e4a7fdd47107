"""`rankproof spans`: scores of rankings of chunks against judged passages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options, saved
from rankproof.cli.evaluate import rendered, show
from rankproof.cli.options import check_one_stdin, named, read_groups
from rankproof.cli.output import coloured, format_of, oddities_told, telling

if TYPE_CHECKING:
    from rankproof.scoring.scores import Scores


@click.command("spans")
@click.argument("judgments")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--corpus", required=True, metavar="FILE", help="The documents as they were cut: file or folder."
)
@click.option(
    "--chunks", metavar="FILE", help="Where each chunk stands, if its id is not DOCUMENT#START-END."
)
@click.option(
    "--tokens", default="words", metavar="WORD", help="What is counted: words or characters. [words]"
)
@options.measures
@click.option(
    "-q", "--per-query", is_flag=True, help="The value of every query; a table has the means below."
)
@options.names
@options.scores_form
@options.output
@options.by
@options.saving
@click.option(
    "--missing", default="zero", metavar="WORD", help="Judged queries without a ranking: zero, skip. [zero]"
)
@click.option(
    "--no-relevant",
    default="zero",
    metavar="WORD",
    help="Queries without a relevant span: zero, skip. [zero]",
)
def command(
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
    the id of a document stands for the whole of it. What is saved is compared
    by 'rankproof compare'.

    \b
    rankproof spans spans.tsv chunks.run --corpus documents.jsonl
    rankproof spans spans.tsv a.run b.run --corpus docs/ -m "SpanR(budget=500)"
    """
    from rankproof.scoring.formats import check

    form = form or format_of(output)
    check(form)
    check_one_stdin(judgments, *runs)
    saved.check_saving(names, runs, tags, history, replace)
    groups = None if by is None else read_groups(by, judgments)
    scores = _scored(judgments, named(runs, shown_as), options.given(measures), by=groups, **settings)
    if names:
        saved.save(list(scores.values()), names, tags, history, replace)
    show(scores, rendered(scores, form, per_query, coloured(output)), form, output)


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

    with oddities_told(), telling(f"reading {corpus}"):
        documents, judged = load_corpus(corpus), load_spans(judgments)
        settings["chunks"] = None if chunks is None else load_places(chunks)
    found = {}
    for name, path in runs.items():
        with telling(f"reading {path}"):
            found[name] = evaluate_spans(judged, path, documents, measures, **settings)
    return found
