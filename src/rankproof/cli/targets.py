"""Files that a command writes: what is there is refused at once, before any work, unless `--force` says otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from rankproof.errors import UsageError
from rankproof.outputs import STDOUT, check_free

F = TypeVar("F", bound=Callable[..., Any])

_FORCE = "rankproof.force"
_TARGETS = "rankproof.targets"
_OWN = "rankproof.own"
_BEGUN = "rankproof.begun"


class Target(click.ParamType):  # type: ignore[type-arg]  # older releases of click have no argument here
    """The name of a file to write. `beside` is the ending of a file that shows that this command began it before."""

    name = "file"

    def __init__(self, beside: str = "") -> None:
        self.beside = beside

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The same name, if the file may be written."""
        meta = {} if ctx is None else ctx.meta
        meta[_BEGUN] = bool(self.beside) and os.path.exists(f"{value}{self.beside}")
        check_free(value, force=meta[_BEGUN] or may_replace(value, meta))
        _check_once(value, meta.setdefault(_TARGETS, set()))
        # What was free at the beginning is ours: nobody's work is thrown away at its end.
        meta.setdefault(_OWN, set()).add(os.path.realpath(value))
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Any file."""
        return [CompletionItem(incomplete, type="file")]


def _check_once(value: str, others: set[str]) -> None:
    if value == STDOUT or (os.path.exists(value) and not os.path.isfile(value)):
        return
    place = os.path.realpath(value)
    if place in others:
        raise UsageError(
            f"{value}: named for two outputs, and one would replace the other. Next: name two files."
        )
    others.add(place)


def force(command: F) -> F:
    """The option that lets a command replace what is there."""
    return click.option(
        "--force",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_remember,
        help="Replace a file that is there.",
    )(command)


def _remember(context: click.Context, option: click.Parameter, given: bool) -> None:
    context.meta[_FORCE] = given


def goes_on() -> bool:
    """Whether the command may write over what it wrote when it was interrupted, or is told to."""
    meta = click.get_current_context().meta
    return bool(meta.get(_FORCE) or meta.get(_BEGUN))


def may_replace(path: str | None, meta: dict[str, Any] | None = None) -> bool:
    """Whether the command may write over the file: `--force` says so, or the place was free when it began."""
    if meta is None:
        context = click.get_current_context(silent=True)
        meta = {} if context is None else context.meta
    return bool(meta.get(_FORCE)) or (path is not None and os.path.realpath(path) in meta.get(_OWN, ()))
