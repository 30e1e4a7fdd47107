"""Results to standard output or a file; everything else to standard error."""

from __future__ import annotations

import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click

from rankproof.cli.targets import may_replace
from rankproof.errors import UsageError
from rankproof.outputs import write_file

STDOUT = 1
"""The file descriptor of standard output."""
PATIENCE = 0.5
"""Seconds after which a person wants to know what is going on."""


ENDINGS = {
    ".md": "markdown",
    ".html": "html",
    ".htm": "html",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".tex": "latex",
    ".parquet": "parquet",
    ".xml": "junit",
}


FULL = "rankproof.full"
"""Whether everything is to be printed, among what is known of the command."""
TEXTS = ("table", "full")
"""The formats for people who read a terminal."""


def format_of(path: str | None) -> str:
    """The format that a file's ending names; where it names none, a table: whole in a file or with --full.

    >>> format_of("out.html"), format_of(None), format_of("out.txt")
    ('html', 'table', 'full')
    """
    context = click.get_current_context(silent=True)
    whole = path not in (None, "-") or (context is not None and context.meta.get(FULL))
    return ENDINGS.get(Path(path or "").suffix.lower(), "full" if whole else "table")


def write(content: str | bytes, path: str | None) -> None:
    """The content to the file, and a word on standard error that it is there; else to standard output."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if path is not None and path != "-":
        write_file(path, data, force=may_replace(path))
        wrote(path)
    elif isinstance(content, str):
        click.echo(_shown(content), nl=False)
    else:
        _write_bytes(content)


def wrote(path: str, notes: Sequence[str] = (), what: str = "") -> None:
    """Say on standard error what was written, and what was noticed about it."""
    for note in notes:
        click.echo(f"rankproof: note: {note}", err=True)
    if path != "-":
        click.echo(f"Wrote {what}{' to ' if what else ''}{path}.", err=True)


def _shown(content: str) -> str:
    """The content with its charts in ASCII where standard output has no blocks."""
    from rankproof.reporting.blocks import SPARKS, in_ascii

    try:
        SPARKS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return in_ascii(content)
    return content


def _write_bytes(content: bytes) -> None:
    if sys.stdout.isatty():
        raise UsageError("Parquet is no text for a terminal. Next: give a file with -o FILE.")
    sys.stdout.buffer.write(content)


def coloured(path: str | None) -> bool:
    """Whether colour would be seen: on a terminal whose owner has not said no."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and path is None and sys.stdout.isatty()


@contextmanager
def telling(what: str) -> Iterator[None]:
    """Say on a terminal what is being done, where it takes longer than a moment; `-` is standard input."""
    if not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(PATIENCE, _tell, [f"{_in_words(what)} ..."])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        _tell("")


def _in_words(what: str) -> str:
    return "reading standard input" if what == "reading -" else what


def _tell(text: str) -> None:
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


@contextmanager
def results_apart() -> Iterator[None]:
    """What code of the user's prints goes to standard error: standard output is for results.

    That holds for the file descriptor too, which programs and libraries that it calls write to.
    """
    stream = sys.stdout
    stream.flush()
    kept = _kept_descriptor(stream)
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout = stream
        if kept is not None:
            os.dup2(kept, STDOUT)
            os.close(kept)


def _kept_descriptor(stream: TextIO) -> int | None:
    """Standard output, kept apart while its descriptor is that of standard error; None where it is another's."""
    try:
        if stream.fileno() != STDOUT:
            return None
        kept = os.dup(STDOUT)
        os.dup2(sys.stderr.fileno(), STDOUT)
    except (OSError, ValueError):  # a stream without a descriptor, as in tests and notebooks
        return None
    return kept


@contextmanager
def oddities_told() -> Iterator[None]:
    """What Python would warn of is told as a note."""
    with warnings.catch_warnings(record=True) as odd:
        warnings.simplefilter("always", UserWarning)
        yield
    for each in odd:
        click.echo(f"rankproof: note: {each.message}", err=True)


def as_options(message: str) -> str:
    """The text with conventions as the shell writes them: `--missing skip` for `missing='skip'`, which is as long."""
    from rankproof.core.conventions import CHOICES

    names = "|".join([*CHOICES, "to"])
    return re.sub(rf"\b({names})='(\w+)'", lambda m: f"--{m[1].replace('_', '-')} {m[2]}", message)
