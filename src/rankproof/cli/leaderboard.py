"""`rankproof leaderboard`: which order do systems have, and does it hang on single queries?"""

from __future__ import annotations

from typing import Any

import click

from rankproof.cli import options, saved
from rankproof.cli.boards import scored
from rankproof.cli.output import end, format_of, telling, write


@click.command("leaderboard")
@click.argument("words", nargs=-1, required=True, metavar="JUDGMENTS RUN RUN...")
@options.measures
@click.option("--alpha", type=float, default=0.05, metavar="A", help="Error rate of a difference. [0.05]")
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of the random draws. [0]")
@options.form("table, markdown, latex or json")
@options.output
@options.history
@options.conventions
def command(
    words: tuple[str, ...],
    measures: tuple[str, ...],
    alpha: float,
    seed: int,
    form: str | None,
    output: str | None,
    history: str,
    **settings: Any,
) -> None:
    """Order systems, and say how far the order can be trusted.

    Each query is left out in turn: does the order hang on it? The first measure
    decides.

    \b
    rankproof leaderboard judgments.tsv a.run b.run c.run -m nDCG@10
    rankproof leaderboard monday tuesday
    """
    from rankproof.comparing.leaderboard import leaderboard
    from rankproof.comparing.orders_words import BOARDS, check
    from rankproof.core.names import parse_all

    form = form or format_of(output)
    check(form, BOARDS)
    asked = options.given(measures)
    if saved.are_names(words, history):
        settings = saved.without_scoring(settings)
    first = None if asked is None else parse_all(asked)[0]
    with telling("ordering"):
        found = leaderboard(scored(words, asked, history, **settings), first, alpha=alpha, seed=seed)
    write(found.format(form), output)
    end(found.wrong, shown=output is None)
