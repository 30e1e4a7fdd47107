"""Numbers that the audit calls wrong: said on every way out of the command line, which then ends with 3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from rankproof.cli.output import as_options
from rankproof.errors import DataError

if TYPE_CHECKING:
    from rankproof.api.scores import Scores


def errors_of(scores: Mapping[str, Scores]) -> list[str]:
    """What makes numbers wrong, as the audit of each system says it."""
    return [
        f"{name}: {finding}"
        for name, each in scores.items()
        for finding in each.audit
        if finding.severity == "error"
    ]


def end(errors: Iterable[str], *, shown: bool = False) -> None:
    """End with exit code 3 if there are errors; what the output has no place for is said on standard error."""
    told = list(dict.fromkeys(errors))
    if not told:
        return
    if not shown:
        for each in told:
            click.echo(as_options(f"rankproof: {each}"), err=True)
    click.get_current_context().exit(DataError.exit_code)
