"""`rankproof fuse` and `convert`: several rankings into one, and files into another format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_one_stdin, named_paths
from rankproof.cli.output import Target, end, force, may_replace, tell_oddities, tell_progress, tell_written
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.document.numbers import count
from rankproof.errors import UsageError


@click.command("fuse")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--method", default="rrf", metavar="NAME", help="How to combine them: see above. [rrf]")
@click.option(
    "--normalise",
    metavar="NAME",
    help="min-max, max, sum, z-score, rank, borda or none. [min-max, if scores are read]",
)
@click.option("--weights", metavar="W,W,...", help="A weight for each run, in their order.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the method: k=60.")
@click.option("--depth", type=int, metavar="N", help="Read the N best documents of each run only.")
@click.option("--judgments", metavar="FILE", help="Judgments that the learning methods learn from.")
@click.option("--tune", "tuning", metavar="FILE", help="Judgments to choose the settings by.")
@click.option(
    "-m",
    "--measure",
    default=DEFAULT_MEASURE,
    metavar="MEASURE",
    help=f"What to tune for. [{DEFAULT_MEASURE}]",
)
@click.option("--share", default=0.5, metavar="SHARE", help="Of the judged queries, to tune on. [0.5]")
@click.option("--seed", default=0, metavar="N", help="Of the draw of these queries. [0]")
@options.target("Where to write the ranking. [standard output]")
@options.damaged_files
@options.force
@click.option("--to", metavar="FORMAT", help="trec, tsv, csv, json, jsonl or parquet. [by the file's name]")
def command(
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
    probfuse, segfuse, slidefuse.

    With --tune the settings are chosen on a part of the judged queries and
    scored on the others; the ranking is written with -o.

    \b
    rankproof fuse bm25.run dense.run -o fused.run
    rankproof fuse bm25.run dense.run --tune judgments.tsv --method weighted-sum
    """
    check_one_stdin(*runs, *([judgments] if judgments else []), *([tuning] if tuning else []))
    if output is not None or tuning is None:
        _format(output or "-", to)
    if tuning is None:
        given = {"weights": _numbers(weights), "judgments": judgments, **_parameters(settings), **chosen}
        _write(_fused(named_paths(runs), given), output or "-", to)
        return
    _check_free(weights, settings, judgments)
    _tune(tuning, named_paths(runs), {"measure": measure, "share": share, "seed": seed, **chosen}, output, to)


def _fused(runs: dict[str, str], given: dict[str, Any]) -> dict[str, dict[str, float]]:
    from rankproof.bench.fusion.fuse import fuse

    with tell_oddities(), tell_progress("reading and fusing"):
        found: dict[str, dict[str, float]] = fuse(runs, **given)
    return found


def _tune(judgments: str, runs: dict[str, str], chosen: dict[str, Any], output: str | None, to: str | None) -> None:
    from rankproof.bench.fusion.tune import tune
    from rankproof.io.load import load_rankings

    with tell_oddities(), tell_progress("tuning"):
        loaded = load_rankings(runs, chosen.pop("damaged"))
        tuned = tune(judgments, loaded, **chosen)
    if output is not None:
        _write(tuned.fuse(loaded, chosen["depth"]), output, to)
    click.echo(str(tuned), nl=False, err=output == "-")
    end(tuned.wrong, shown=True)


def _write(ranking: dict[str, dict[str, float]], target: str, to: str | None) -> None:
    """The ranking as a file in the format that its name says; as TREC on standard output."""
    from rankproof.io.load import load_ranking
    from rankproof.io.write import write_ranking

    form = to or ("trec" if target == "-" else None)
    notes = write_ranking(load_ranking(ranking).table(), target, form, force=may_replace(target))
    tell_written(target, notes)


def _format(target: str, to: str | None) -> str:
    """The format to write; checked before anything is read, so that a wrong name costs no time."""
    from rankproof.io.write import format_of

    return format_of(target, to or ("trec" if target == "-" else None))


def _check_free(weights: str | None, settings: Sequence[str], judgments: str | None) -> None:
    """Refuse settings that tuning chooses."""
    given = {"--weights": weights, "--set": settings, "--judgments": judgments}
    for name, value in given.items():
        if value:
            raise UsageError(f"{name} and --tune: tuning chooses that itself. Next: leave one of them out.")


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--weights: got {text!r}, expected numbers like 0.7,0.3. Next: give one number a run, separated by commas."
        ) from None


def _parameters(settings: Sequence[str]) -> dict[str, Any]:
    """The parameters by name, as numbers if they are numbers."""
    found: dict[str, Any] = {}
    for each in settings:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier() or name in ("method", "normalise", "weights", "depth", "judgments"):
            raise UsageError(
                f"--set: got {each!r}, expected NAME=VALUE, like k=60."
                " Next: write it so; 'rankproof fuse --help' lists the names."
            )
        found[name] = _number(value)
    return found


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@click.command("convert")
@click.argument("source")
@click.argument("target", type=Target(), required=False)
@options.target("The target, as other commands name it.")
@click.option("--as", "what", metavar="WHAT", help="ranking or judgments, for files that do not show it.")
@click.option("--to", metavar="FORMAT", help="The format to write, for targets whose name does not show it.")
@options.force
def convert_file(source: str, target: str | None, output: str | None, what: str | None, to: str | None) -> None:
    """Write judgments or a ranking in another format.

    The name of the target says which: .run and .qrels are TREC, then .tsv, .csv,
    .json, .jsonl, .parquet; with .gz, .bz2 or .zst behind it, compressed.

    \b
    rankproof convert my.run my.parquet
    rankproof convert my.run -o my.parquet
    rankproof convert judgments.csv judgments.qrels --as judgments
    """
    from rankproof.io.write import convert

    if (target is None) == (output is None):
        raise UsageError("convert: expected one target. Next: name it behind the source, or with -o, but not twice.")
    place = target or output or "-"
    with tell_progress(f"reading {source}"):
        notes = convert(source, place, what=what, to=to, force=may_replace(place))
    tell_written(place, notes)


@click.command("rank")
@click.argument("run", metavar="RUN")
@click.option("-o", "--folder", required=True, metavar="FOLDER", help="The folder to write.")
@force
@options.damaged_files
def rank(run: str, folder: str, damaged: str) -> None:
    """Write a ranking with the rank of every row, once for all judgments.

    RUN is a file or a folder; FOLDER gets Parquet files with the columns query_id,
    doc_id, score, rank, first, last and length: ranks by falling score, the first
    and last rank a row could have among equal scores, and how long its ranking is.
    Judgments that come later are a join on query_id and doc_id, in any engine, and
    'rankproof evaluate JUDGMENTS FOLDER' gives what it gives for RUN.

    \b
    rankproof rank runs/2026-11-22/ -o ranked/
    rankproof evaluate judgments.parquet ranked/
    """
    from rankproof.io.load import load_ranking
    from rankproof.io.ranked import write_ranked

    paths = list(named_paths([run]).values())
    ranking = load_ranking(paths[0] if len(paths) == 1 else run, damaged)
    with tell_oddities():
        rows = write_ranked(ranking, folder, force=may_replace(folder))
    click.echo(f"{folder}: {count(rows, 'row')}, ranked", err=True)
