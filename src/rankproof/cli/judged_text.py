"""What `rankproof judge` prints beside the scores: samples without a value, and which half failed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rankproof.api.judged import JudgedScores

Named = dict[str, "JudgedScores"]


def beside(scores: Named, per_query: bool, blame: bool) -> list[str]:
    """The texts that follow a table: what is unmeasured where single samples were asked for, and the account."""
    from rankproof.reporting.judged import unmeasured

    found = []
    for name, each in scores.items():
        told = unmeasured(each.reasons) if per_query else ""
        parts = [told, _account(each, per_query) if blame else ""]
        heading = f"{name}\n" if len(scores) > 1 else ""
        found += [heading + part for part in parts if part]
    return found


def _account(scores: JudgedScores, every: bool) -> str:
    from rankproof.judging.blame import WORDS
    from rankproof.reporting.judged import FEW, blame

    found = scores.blame
    return blame(found.halves, found.points, WORDS, found.each(), None if every else FEW)


def with_account(text: str, scores: Named, form: str) -> str:
    """JSON with the account beside the scores; a format that has no place for it says so on standard error."""
    if form != "json":
        click.echo(f"rankproof: {form} has no place for --blame. Next: ask for table or json.", err=True)
        return text
    blame = {name: each.blame.to_dict() for name, each in scores.items()}
    return json.dumps({"scores": json.loads(text), "blame": blame}, ensure_ascii=False, indent=1) + "\n"
