"""Writing results: to standard output or a file, which is refused before any work if it exists; and messages."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import glob
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from rankproof.document.disk import STDOUT, check_free, last_check, write_file
from rankproof.errors import DataError, UsageError
from rankproof.progress import EVERY, share_in_words

if TYPE_CHECKING:
    from rankproof.document.model import Result
    from rankproof.scoring.protocol import ScoresLike


F = TypeVar("F", bound=Callable[..., Any])

_FORCE = "rankproof.force"
_TARGETS = "rankproof.targets"
_OWN = "rankproof.own"
_BEGUN = "rankproof.begun"
WORDS = "rankproof.words"
"""The key of the command's context that holds the words it was called with."""


class Target(click.ParamType):  # type: ignore[type-arg]  # older releases of click have no argument here
    """The name of a file to write. `beside` is the ending of a file that an earlier run of this command left."""

    name = "file"

    def __init__(self, beside: str = "") -> None:
        self.beside = beside

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The same name, if the file may be written."""
        meta = _meta()
        meta[_BEGUN] = bool(self.beside) and os.path.exists(f"{value}{self.beside}")
        check_free(value, force=meta[_BEGUN] or may_replace(value))
        check_not_read(value)
        place = os.path.realpath(value)
        if value != STDOUT and (os.path.isfile(value) or not os.path.exists(value)):
            targets = meta.setdefault(_TARGETS, set())
            if place in targets:
                raise UsageError(
                    f"{value}: named for two outputs, and one would replace the other. Next: name two files."
                )
            targets.add(place)
        # A file that did not exist at the beginning is ours, so finished work is never thrown away.
        meta.setdefault(_OWN, set()).add(place)
        return value


def force(command: F) -> F:
    """The option that lets a command replace existing files."""
    return click.option(
        "--force",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=lambda context, option, given: context.meta.update({_FORCE: given}),
        help="Replace an existing file.",
    )(command)


def _meta() -> dict[str, Any]:
    """What is noted on the command that runs; outside of one nothing is."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.meta


def check_not_read(path: str) -> None:
    """Refuse to replace a file that another word of the command names: it is read there, and would be lost."""
    if not _meta().get(_FORCE) or not os.path.isfile(path):
        return
    # A word is a path, a pattern of paths, or has one behind the name of its option.
    named = [[word, word[2:], word.partition("=")[2]] for word in _meta().get(WORDS, ())]
    files = [[*each, *(found for part in each if "*" in part for found in glob(part))] for each in named]
    if sum(any(os.path.isfile(each) and os.path.samefile(each, path) for each in word) for word in files) > 1:
        raise UsageError(
            f"{path}: this command reads it too, and --force would replace what was read. Next: name another file."
        )


def may_write_again() -> bool:
    """Whether the command may overwrite its own file from an interrupted run, or is told to."""
    return bool(_meta().get(_FORCE) or _meta().get(_BEGUN))


def may_replace(path: str) -> bool:
    """Whether the command may overwrite the file: with `--force`, or if it did not exist when it began."""
    return bool(_meta().get(_FORCE)) or os.path.realpath(path) in _meta().get(_OWN, ())


def errors_of(scores: Mapping[str, ScoresLike]) -> list[str]:
    """The errors of the audit of each system, which make its numbers wrong."""
    return [
        f"{name}: {finding}" for name, each in scores.items() for finding in each.audit if finding.severity == "error"
    ]


def say_apart(scores: Mapping[str, ScoresLike], form: str) -> None:
    """Say on standard error what data formats cannot: that some queries are in no group, or unanswered."""
    from rankproof.core.audit.queries import UNANSWERED  # which help does not load

    if form in PAGES and form != "latex":
        return
    lines = dict.fromkeys(each.apart for each in scores.values() if each.apart and form not in PAGES)
    about: dict[str, list[str]] = {}
    for name, scored in scores.items():
        for finding in (each for each in scored.audit if each.kind in UNANSWERED and each.severity == "warning"):
            about.setdefault(finding.message, []).append(name)
    told = (f"{', '.join(names)}: {said}" if len(scores) > 1 else said for said, names in about.items())
    for line in (*lines, *told):
        click.echo(f"rankproof: {line}", err=True)


def end(errors: Iterable[str], *, shown: bool = False) -> None:
    """End with exit code 3 if there are errors; errors that the output cannot show go to standard error."""
    told = list(dict.fromkeys(errors))
    if not told:
        return
    if not shown:
        for each in told:
            click.echo(f"rankproof: {each}", err=True)
    click.get_current_context().exit(DataError.exit_code)


STDOUT_FILE = 1
PATIENCE = 0.5
"""Seconds after which progress is shown."""


FULL = "rankproof.full"
"""The key of the command's context that says whether to print everything."""
TEXTS = ("table", "full")
"""The formats for people who read a terminal."""
PAGES = (*TEXTS, "markdown", "html", "latex")


def format_of(path: str | None) -> str:
    """The format that a file's ending names; if it names none, a table: whole in a file or with --full.

    >>> format_of("out.html"), format_of(None), format_of("out.txt")
    ('html', 'table', 'full')
    """
    if path not in (None, "-"):
        from rankproof.document.formats import of_ending

        found, ending = of_ending(path), os.path.splitext(path)[1]
        if ending and found is None:
            click.echo(f"rankproof: note: {path}: {ending} names no format, so it is a text; -f names one.", err=True)
        return found or "full"
    return "full" if _meta().get(FULL) else "table"


def checked_form(form: str | None, path: str | None, *more: str) -> str:
    """The format that was named, else that of the file, if there is such a format: asked before any work is done."""
    from rankproof.document.formats import check

    return check(form or format_of(path), *more).name


@dataclass(frozen=True)
class Output:
    """Where the result of a command goes, and in which format."""

    form: str
    path: str | None

    def shows(self, *forms: str) -> bool:
        """Whether the result is on the screen, in a format for a terminal or one of these."""
        return self.path is None and self.form in (*TEXTS, *forms)

    def write(self, content: str | bytes) -> None:
        """The content in the format to the file or standard output."""
        write(content, self.path)

    def write_result(self, found: Result, about: str = "", **settings: Any) -> None:
        """The result in the format to the file or standard output; pages begin with what it is `about`."""
        from rankproof.document.formats import check
        from rankproof.document.model import PAGE, Paragraph, Part

        document = found._document(**settings)
        lead = [Part(Paragraph(about), media=(PAGE,))] if about else []
        made = replace(document, parts=[*lead, *document.parts])
        self.write(check(self.form, *found.more_formats).render(made))


def write(content: str | bytes, path: str | None) -> None:
    """The content to the file, which is told on standard error; else to standard output, in ASCII if it needs that."""
    from rankproof.document.terminal import SPARKS, in_ascii

    last_check.get()()
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if path not in (None, STDOUT):
        write_file(path, data, force=may_replace(path))
        tell_written(path)
    elif isinstance(content, str):
        try:
            SPARKS.encode(sys.stdout.encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            content = in_ascii(content)
        click.echo(content, nl=False)
    else:
        if sys.stdout.isatty():
            raise UsageError("This format is not text for a terminal. Next: give a file with -o FILE.")
        sys.stdout.buffer.write(content)


def tell_written(path: str, notes: Sequence[str] = (), what: str = "") -> None:
    """Say on standard error what was written, with notes on it."""
    for note in notes:
        click.echo(f"rankproof: note: {note}", err=True)
    if path != "-":
        click.echo(f"Wrote {what}{' to ' if what else ''}{path}.", err=True)


@contextmanager
def tell_progress(what: str) -> Iterator[None]:
    """Show on a terminal what is being done, if it takes longer than a moment; `-` is standard input."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    shown = "reading standard input" if what == "reading -" else what
    over = threading.Event()

    def show() -> None:
        last, wait = "", PATIENCE
        while not over.wait(wait):
            last, before, wait = share_in_words(shown), last, EVERY[True]
            if last != before:
                _tell(last)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        _tell("")


def _tell(text: str) -> None:
    from shutil import get_terminal_size  # imported here, as it takes milliseconds to load

    from rankproof.document.terminal import cut

    sys.stderr.write(f"\r\x1b[K{cut(text, get_terminal_size().columns - 1)}")  # a longer line goes on below
    sys.stderr.flush()


@contextmanager
def keep_results_apart() -> Iterator[None]:
    """Send prints of the user's code to standard error: standard output is for results.

    That includes the file descriptor, which programs and libraries that it calls write to.
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
            os.dup2(kept, STDOUT_FILE)
            os.close(kept)


def _kept_descriptor(stream: TextIO) -> int | None:
    """Standard output, kept apart while its descriptor is that of standard error; None if it is another's."""
    try:
        if stream.fileno() != STDOUT_FILE:
            return None
        kept = os.dup(STDOUT_FILE)
        os.dup2(sys.stderr.fileno(), STDOUT_FILE)
    except (OSError, ValueError):  # a stream without a descriptor, as in tests and notebooks
        return None
    return kept


@contextmanager
def tell_oddities() -> Iterator[None]:
    """Warnings of Python are shown as notes, each once, after an error too."""
    with warnings.catch_warnings(record=True) as odd:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            for message in dict.fromkeys(str(each.message) for each in odd):
                click.echo(f"rankproof: note: {message}", err=True)
