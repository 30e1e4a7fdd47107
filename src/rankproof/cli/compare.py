"""`rankproof compare`: is one ranking better than another, and is that real?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options, saved
from rankproof.cli.options import check_one_stdin, named, read_groups
from rankproof.cli.output import TEXTS, as_options, end, errors_of, format_of, telling, write
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.comparing.comparison import Comparison
    from rankproof.comparing.kinship import Kinship

NOT_OF_KINSHIP = ("baseline", "margin", "correction", "all_pairs", "seed", "permutations")
"""Options that say how systems are compared with each other, not with what people say."""


@click.command("compare")
@click.argument("words", nargs=-1, required=True, metavar="JUDGMENTS RUN RUN...")
@options.measures
@options.names
@click.option("-b", "--baseline", metavar="RUN", help="Compare with this one. [the first]")
@click.option("--margin", type=float, metavar="X", help="A difference that would not matter.")
@click.option("--alpha", type=float, default=0.05, metavar="A", help="Error rate of a verdict. [0.05]")
@click.option(
    "--correction",
    default="holm",
    metavar="WORD",
    help="holm, benjamini-hochberg, bonferroni or none. [holm]",
)
@click.option(
    "--machine",
    metavar="FILE",
    help="Judgments of a machine: say whether they favour a system, held against JUDGMENTS.",
)
@click.option("--all-pairs", is_flag=True, help="Hold every system against every other as well.")
@options.by
@click.option("--worst", type=int, default=0, metavar="N", help="List the N queries that lost and won most.")
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of the random draws. [0]")
@options.form()
@options.output
@options.history
@options.anyway
@options.conventions
def command(
    words: tuple[str, ...],
    measures: tuple[str, ...],
    by: str | None,
    form: str | None,
    output: str | None,
    history: str,
    anyway: bool,
    worst: int,
    shown_as: str | None,
    machine: str | None,
    **settings: Any,
) -> None:
    """Say which ranking is better, where that is more than chance.

    A verdict is given only where chance is ruled out: better, worse, equivalent
    (within --margin), or cannot tell yet, with how many queries would.

    \b
    rankproof compare judgments.tsv before.run after.run -m nDCG@10,R@100

    Results that were saved are compared by their names alone:

    \b
    rankproof compare monday tuesday
    """
    from rankproof.document.formats import check, printed

    form = form or format_of(output)
    check(form)
    if machine is not None:
        text = printed(_kinship(words, shown_as, machine, options.given(measures), settings), form)
        write(as_options(text) if isinstance(text, str) and form in TEXTS else text, output)
        return
    settings |= {"measures": options.given(measures), "by": None if by is None else read_groups(by, words[0])}
    if saved.are_names(words, history):
        if shown_as is not None:
            raise UsageError("--names is for files: saved results have names. Next: leave it out.")
        found = _of_names(words, history, anyway=anyway, **saved.without_scoring(settings))
    else:
        saved.only_for_names(anyway)
        found = _of_files(words, shown_as, **settings)
    text = printed(found, form, worst=worst)
    write(as_options(text) if isinstance(text, str) and form in TEXTS else text, output)
    end(errors_of(found.scores), shown=form in (*TEXTS, "markdown") and output is None)


def _kinship(
    paths: tuple[str, ...],
    shown_as: str | None,
    machine: str,
    measures: Any,
    settings: dict[str, Any],
) -> Kinship:
    """Whether a machine's judgments favour a system."""
    from rankproof.comparing.kinship import kinship

    check_one_stdin(*paths, machine)
    judgments, *runs = paths
    ways = {name: value for name, value in settings.items() if name not in NOT_OF_KINSHIP}
    with telling("comparing"):
        return kinship(judgments, machine, named(runs, shown_as), measures, **ways)


def _of_names(names: tuple[str, ...], history: str, **settings: Any) -> Comparison:
    from rankproof.comparing.history import History

    with telling("comparing"):
        return History(history).compare(*names, **settings)


def _of_files(paths: tuple[str, ...], shown_as: str | None, **settings: Any) -> Comparison:
    from rankproof.comparing.compare import compare

    check_one_stdin(*paths)
    judgments, *runs = paths
    with telling("comparing"):
        return compare(judgments, named(runs, shown_as), **settings)
