"""The judge that a command names: with its ledger, its options, and somebody to ask where it is a person."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.api.judge import Judge
    from rankproof.judging.verdicts import Ask

FREE = "lexical"
"""The judge whose verdicts cost nothing, and are kept only where that is asked for."""
QUESTIONS = {
    "R": "How well does the context answer the question? 0 not, 1 related, 2 in part, 3 fully",
    "S": "What does the text say of the claim? 1 supports, 0 silent, -1 contradicts",
    "P": "How much of the claim does the text support? 0 nothing, 1 a part, 2 all",
    "Q": "Does the statement bear on the question? 1 yes, 0 no",
    "A": "How far does the answer address the question? 0 not, 1 in part, 2 mostly, 3 fully, -1 abstains",
}


def judge_named(spec: str, ledger: str | None, base_url: str | None, settings: Sequence[str]) -> Judge:
    """The judge; verdicts that cost money or time are kept in a file even where none is named."""
    from rankproof.api.judge import Judge
    from rankproof.api.verdicts import DEFAULT

    kept = ledger or (None if spec.strip() == FREE else DEFAULT)
    given = settings_of(settings) | ({} if base_url is None else {"base_url": base_url})
    judge = Judge(spec, ledger=kept, **given)
    judge.judges = [_answering(each) for each in judge.judges]
    if kept and not ledger:
        click.echo(f"Verdicts are kept in {kept}; --ledger names another file.", err=True)
    return judge


def settings_of(given: Sequence[str]) -> dict[str, Any]:
    """Options written as NAME=VALUE."""
    found: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise UsageError(
                f"--set: got {each!r}, expected NAME=VALUE, like temperature=0. Next: write it so."
            )
        name = name.strip()
        if name.startswith("extra."):  # the service's own, whose spelling is theirs
            found.setdefault("extra", {})[name.removeprefix("extra.")] = _literal(value)
        else:
            found[name.replace("-", "_")] = _literal(value)
    return found


def _literal(value: str) -> Any:
    """A number or such where it is one, else the text itself."""
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def _answering(judge: Any) -> Any:
    """A person who is at the terminal is asked."""
    from rankproof.judging.judges.human import HumanJudge

    at_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    return HumanJudge(judge.who, ask) if isinstance(judge, HumanJudge) and at_terminal else judge


def ask(pair: Ask) -> int | None:
    """Show a pair and take a person's verdict; an empty line leaves it open."""
    from rankproof.judging.verdicts import VALUES
    from rankproof.reporting.judged import RELATIONS
    from rankproof.reporting.tables import clean

    left, right = RELATIONS[pair.relation]
    click.echo(f"\n{left}: {clean(pair.left)}\n{right}: {clean(pair.right)}", err=True)
    while True:
        said = click.prompt(QUESTIONS[pair.relation], default="", show_default=False, err=True).strip()
        if not said:
            return None
        if said.lstrip("-").isdigit() and int(said) in VALUES[pair.relation]:
            return int(said)
        click.echo(f"Got {said!r}; an empty line leaves the pair open.", err=True)
