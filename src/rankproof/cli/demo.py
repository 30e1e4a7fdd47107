"""`rankproof demo`: the embedded sample, evaluated."""

from __future__ import annotations

import click


@click.command("demo")
def command() -> None:
    """Evaluate three retrievers on the embedded sample.

    A support knowledge base with 60 questions: what the tool says about keyword,
    dense and fused search on it.
    """
    from rankproof.api.demo import demo

    for part in demo():
        click.echo(part)
