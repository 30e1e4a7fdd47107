"""`rankproof leaderboard`, `rank-correlation`, `report` and `demo`: several systems side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options, saved_results
from rankproof.cli.options import check_one_stdin, named_paths, read_groups
from rankproof.cli.output import Output, end, may_replace, tell_progress
from rankproof.core.defaults import DEFAULT_MEASURE, REPORT_MEASURES
from rankproof.core.names import parse_all
from rankproof.document.numbers import count
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.comparing.correlation import RankCorrelation
    from rankproof.scoring.protocol import ScoresLike


def scores_of_systems(
    words: Sequence[str], measures: list[str] | None, history: str, shown_as: str | None, **conventions: Any
) -> dict[str, ScoresLike]:
    """The scores of each system: of JUDGMENTS RUN RUN..., or of saved names."""
    from rankproof.comparing.history import History
    from rankproof.scoring.evaluate import evaluate, prepare

    if saved_results.are_names(words, history):
        saved_results.without_scoring(conventions)
        return History(history).scores_of(words)
    runs = saved_results.systems_of(words, shown_as)
    judged = prepare(words[0])
    return {name: evaluate(judged, path, measures, **conventions) for name, path in runs.items()}


@click.command("leaderboard")
@click.argument("words", nargs=-1, required=True, metavar="JUDGMENTS RUN RUN...")
@options.measures(f"{DEFAULT_MEASURE}; of saved results the first")
@options.names
@options.value("--alpha", "A", "Error rate of a difference.", 0.05)
@options.value("--seed", "N", "Seed of the random draws.", 0)
@options.allowances
@options.result()
@options.history
@options.conventions
def order_systems(
    words: tuple[str, ...],
    measures: list[str] | None,
    output: Output,
    **settings: Any,
) -> None:
    """Order systems, and say how far the order can be trusted.

    Each query is left out in turn: does the order depend on it? The first measure
    decides. The exit code is 3 if more than --allow-missing of the queries went
    unanswered, or if the audit finds an error.

    \b
    rankproof leaderboard judgments.tsv a.run b.run c.run -m nDCG@10
    rankproof leaderboard monday tuesday
    """
    from rankproof.comparing.leaderboard import leaderboard

    first, *others = [each.name for each in parse_all(measures or DEFAULT_MEASURE)]
    if others:
        click.echo(f"rankproof: note: {first} alone orders the systems; left out: {', '.join(others)}.", err=True)
    how = {name: settings.pop(name) for name in ("alpha", "seed", "allow_missing", "allow_errors")}
    with tell_progress("ordering"):
        scores = scores_of_systems(words, measures, **settings)
        found = leaderboard(scores, measures and first, **how)
    output.write_result(found)
    end(found.missing if how["allow_errors"] else found.wrong, shown=output.shows("markdown"))


@click.command("rank-correlation")
@click.argument("words", nargs=-1, required=True, metavar="SCORES SCORES | JUDGMENTS RUN RUN...")
@options.measures("for files of scores, their only one", "What to order by: two measures, or one with --judgments.")
@options.names
@options.value("--judgments other", "FILE", "Other judgments of the same rankings.")
@options.value("--p p", "P", "How far down RBO looks: nearer to 1 is further.", 0.9)
@options.flag("--lower", "In files of scores, lower is better.")
@options.allowances
@options.result()
@options.history
@options.conventions
def rank_correlation(
    words: tuple[str, ...],
    measures: list[str] | None,
    other: str | None,
    p: float,
    lower: bool,
    allow_missing: float,
    allow_errors: bool,
    output: Output,
    **settings: Any,
) -> None:
    """Say how similarly two sets of scores order systems.

    Kendall's tau-b, tau-AP and RBO, of two files of scores (lines SYSTEM<TAB>SCORE,
    or what 'evaluate -f csv' writes), or of rankings under two measures or two
    sets of judgments. The second set is the truth if one is needed. For rankings
    the exit code is 3 if more than --allow-missing of the queries went unanswered,
    or if the audit finds an error.

    \b
    rankproof rank-correlation mine.tsv theirs.tsv
    rankproof rank-correlation judgments.tsv a.run b.run c.run -m nDCG@10,AP
    rankproof rank-correlation pooled.tsv *.run --judgments full.tsv -m nDCG@10

    Saved results are taken by their names, under two measures:

    \b
    rankproof rank-correlation monday tuesday wednesday -m nDCG@10,AP
    """
    from rankproof.comparing.correlation import rank_correlation as correlate

    names = [each.name for each in parse_all(measures)] if measures else []
    if len(words) == 2 and other is None and not saved_results.are_names(words, settings["history"]):
        saved_results.without_scoring(settings)
        check_one_stdin(*words)
        if len(names) > 2:
            raise _two(names)
        mine, theirs = (names[0], names[-1]) if names else (None, None)
        found = correlate(words[0], words[1], mine, theirs, higher=not lower, p=p)
    else:
        found = _of_systems(words, names, other, {"p": p, "allow_missing": allow_missing}, **settings)
    output.write_result(found)
    end(found.missing if allow_errors else found.wrong, shown=output.shows("markdown"))


def _of_systems(
    words: tuple[str, ...], measures: list[str], other: str | None, how: dict[str, Any], **settings: Any
) -> RankCorrelation:
    """Rankings under two measures, or under two sets of judgments by one."""
    from rankproof.comparing.correlation import rank_correlation

    if other is None and len(measures) != 2:
        raise _two(measures)
    if other is not None and len(measures) != 1:
        raise UsageError(
            f"-m: got {count(len(measures), 'measure')}, expected one, by which both judgments order the systems."
            " Next: choose one."
        )
    with tell_progress("scoring"):
        mine = scores_of_systems(words, measures, **settings)
        if other is None:
            return rank_correlation(mine, None, *measures, **how)
        theirs = scores_of_systems((other, *words[1:]), measures, **settings)
    return rank_correlation(mine, theirs, measures[0], names=(words[0], other), **how)


def _two(measures: list[str]) -> UsageError:
    return UsageError(
        f"-m: got {count(len(measures), 'measure')}, expected two to compare. Next: -m nDCG@10,AP; or --judgments FILE "
        "with one; or 'rankproof leaderboard' for one order by itself."
    )


@click.command("report")
@click.argument("judgments")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.measures(REPORT_MEASURES)
@options.form()
@options.target("Where to: a name ending in .html, .pdf, .md, .tex, .txt ... [as text here]")
@options.force
@options.names
@options.value("-b --baseline", "RUN", "The ranking that others are compared with. [the first]")
@options.value("--queries", "FILE", "Texts of queries: JSON lines, or ID<TAB>TEXT.")
@options.titles
@options.value("--title", "TEXT", "The heading of the page.", default="Retrieval report")
@options.by
@options.value("--margin", "X", "A difference that would not matter.", type=float)
@options.value("--alpha", "A", "Error rate of a verdict.", 0.05)
@options.value("--correction", "WORD", "holm, benjamini-hochberg, bonferroni or none.", "holm")
@options.allowances
@options.value("--seed", "N", "Seed of the random draws.", 0)
@options.conventions
def write_report(
    judgments: str,
    runs: tuple[str, ...],
    form: str | None,
    output: str | None,
    by: str | None,
    shown_as: str | None,
    titles: str | None,
    **settings: Any,
) -> None:
    """Write one page that shows everything: summary, pictures, tables.

    The page is one self-contained file: it needs no network and no script.
    The first measure decides what is called best and which queries are shown.
    --corpus gives the titles of documents, --queries the texts of queries.

    \b
    rankproof report judgments.tsv before.run after.run
    rankproof report judgments.tsv before.run after.run -o report.html
    rankproof report judgments.tsv my.run -m nDCG@10,R@100 -o report.html
    """
    from rankproof.document.formats import check
    from rankproof.document.model import print_as
    from rankproof.document.pdf import find_browser
    from rankproof.reports import kind, report

    to = Output(form or ("full" if output is None else kind(output)), output)
    check(to.form)
    if to.form == "pdf":
        find_browser()
    check_one_stdin(judgments, *runs)
    groups = read_groups(by, judgments)
    with tell_progress("making the report"):
        made = report(judgments, named_paths(runs, shown_as), by=groups, corpus=titles, **settings)
        printed = print_as(made, to.form)
    to.write(printed)
    wrong = [f"{', '.join(on)}: {each}" for each, on in made.content.findings if each.severity == "error"]
    end([*made.content.missing, *([] if settings["allow_errors"] else wrong)], shown=to.shows())


@click.command("demo")
@options.target("Where to write the report. [rankproof-demo.html, here]", default="rankproof-demo.html")
@options.force
@options.flag("--no-report", "Write no report.")
def demonstrate(output: str, no_report: bool) -> None:
    """Show every step on the embedded sample.

    A support knowledge base with 60 questions: its documents are cut into chunks,
    indexed and searched in three ways; the three are measured, compared and
    diagnosed, and a report is written to the folder you are in.

    \b
    rankproof demo
    rankproof demo -o page.html
    """
    from rankproof.demo import demo
    from rankproof.reports import kind

    kind(output)
    for part in demo(None if no_report else output, force=may_replace(output)):
        click.echo(part)
