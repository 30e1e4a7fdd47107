"""Options that several commands share: measures, conventions, formats."""

from __future__ import annotations

import glob
import os
import re
from ast import literal_eval
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path, PurePath
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from rankproof.cli.output import FULL, Output, Target, checked_form
from rankproof.cli.output import force as force
from rankproof.core.conventions import CHOICES, Conventions, Default
from rankproof.document.numbers import FACE, count, first_of
from rankproof.errors import UsageError, check_whole
from rankproof.io.inputs import STDIN


def named_paths(paths: Sequence[str], shown_as: str | None = None) -> dict[str, Any]:
    """The paths by the names asked for, else by the shortest ones that tell them apart; parts of one are one.

    >>> named_paths(["runs/a.run", "runs/b.run"]), named_paths(["x/a.run", "y/a.run"])
    ({'a.run': 'runs/a.run', 'b.run': 'runs/b.run'}, {'x/a.run': 'x/a.run', 'y/a.run': 'y/a.run'})
    >>> named_paths(["bm25/part-00000.parquet", "bm25/part-00001.parquet"])
    {'bm25': ['bm25/part-00000.parquet', 'bm25/part-00001.parquet']}
    """
    paths = [each for path in paths for each in matching_paths(path)]
    for twice in (path for i, path in enumerate(paths) if path in paths[:i] and path != STDIN):
        raise UsageError(f"{twice}: given more than once. Next: name each file once.")
    parted: dict[str, list[str]] = {}
    for path in paths:
        parted.setdefault(_whole_of(path), []).append(path)
    found = {name: files[0] if len(files) == 1 else files for name, files in parted.items()}
    if shown_as is not None:
        asked, n = [each.strip() for each in shown_as.split(",")], len(found)
        if len(asked) != n or len({*asked, ""}) <= n:
            raise UsageError(
                f"--names: got {shown_as!r}, expected {count(n, 'different name')} with commas between. "
                "Next: name each run."
            )
        return dict(zip(asked, found.values(), strict=True))
    whole = [files[0] if len(files) == 1 else name for name, files in parted.items()]
    names = ["standard input" if path == STDIN else PurePath(path).name or path for path in whole]
    return dict(zip(names if len(set(names)) == len(names) else whole, found.values(), strict=True))


PART = re.compile(r"(?:(part)[-_.]?\d+|(.*?)[-_.]\d{3,}[-_]of[-_]\d{3,}|(data)_\d+)(?!\d)[^/]*", re.IGNORECASE)
"""How engines name the files of one table: part-00000-..., run-00001-of-00010, data_0."""


def _whole_of(path: str) -> str:
    """The folder, or the folder and the beginning of the name, that all parts of a table share; else the path."""
    where = Path(path)
    found = PART.fullmatch(where.name)
    if found is None or path == STDIN:
        return path
    folder = where.parent if where.parent.name else Path.cwd().name
    return str(where.parent / found[2]) if found[2] else str(folder)


def matching_paths(path: str) -> list[str]:
    """The files that a pattern like `runs/2026-*.run` stands for, in order; what is no pattern as it is."""
    if path == STDIN or os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        from rankproof.io.files import check_no_url

        check_no_url(path)
        raise UsageError(f"{path}: no file matches. Next: check the folder, and the pattern.")
    return found


def check_single(*runs: str | None, beside: Sequence[str | None] = ()) -> None:
    """Each word is one ranking, as a pattern need not be, and standard input is read once by these and those beside."""
    check_one_stdin(*runs, *beside)
    for run in filter(None, runs):
        if len(found := named_paths([run])) > 1:
            raise UsageError(
                f"{run}: matches {len(found):,} rankings ({first_of(list(found), 3)}), expected one: only parts of one "
                "table, like part-00000, are joined. Next: name one file, or a folder of such parts."
            )


def check_one_stdin(*paths: str | None) -> None:
    """Standard input can be read once."""
    if paths.count(STDIN) > 1:
        raise UsageError(
            "'-' was given more than once, but standard input can be read once only. Next: put one of them into a file."
        )


def read_groups(by: str | None, judgments: str | None = None) -> Any:
    """The groups of queries that `--by` names: FILE, FILE:FIELD, or a column of the judgments; None without it."""
    if by is None:
        return None
    from rankproof.io.groups import groups_of

    return groups_of(by, judgments)


F = TypeVar("F", bound=Callable[..., Any])


def complete_measures(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The measures that begin so, behind the last comma."""
    from rankproof.core.names import REGISTRY

    before, comma, begun = incomplete.rpartition(",")
    usual = ("nDCG@10", "RR@10", "R@100", "R@10", "P@10", "P@5", "Success@5", "AP")
    known = dict.fromkeys((*usual, *REGISTRY))
    if (option.metavar or "").startswith("METRIC"):
        import rankproof.judging.metrics.counting  # noqa: F401  (its import declares them all)
        from rankproof.judging.metrics.registry import METRICS

        known = dict.fromkeys(METRICS)
    return [CompletionItem(f"{before}{comma}{each}") for each in known if each.lower().startswith(begun.lower())]


def complete_profiles(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The profiles that begin so."""
    from rankproof.core.profiles import BUILT_ON, PROFILES

    return [CompletionItem(each) for each in (*PROFILES, *BUILT_ON) if each.startswith(incomplete)]


def complete_terms(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files that begin so; where there is none, the words of the output and the measures."""
    from rankproof.document.page import read_terms

    if not incomplete or glob.glob(f"{glob.escape(incomplete)}*"):
        return [CompletionItem(incomplete, type="file")]
    terms = [each for each in read_terms()[0] if " " not in each and each.lower().startswith(incomplete.lower())]
    return [*map(CompletionItem, terms), *complete_measures(context, option, incomplete)]


def of_words(*words: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Completes one of these words."""
    return lambda context, option, begun: [CompletionItem(each) for each in words if each.startswith(begun)]


def value(names: str, metavar: str, about: str, usual: Any = None, **settings: Any) -> Callable[[F], F]:
    """An option that takes a value, under names with blanks between; `usual` is its default, with which its help ends.

    >>> value("-n --number", "N", "How many.", 20)(lambda number: number).__click_params__[0].help
    'How many. [20]'
    """
    if usual is not None:
        settings["default"] = [usual] if settings.get("multiple") else usual
        about = f"{about} [{usual:g}]" if isinstance(usual, float) else f"{about} [{usual}]"
    return click.option(*names.split(), metavar=metavar, help=about, **settings)


def at_least(least: int) -> Callable[[click.Context, click.Parameter, int | None], int | None]:
    """Checks that a whole number is not below that."""
    return lambda context, option, given: given if given is None else check_whole(option.opts[0], given, least)


def flag(names: str, about: str, **settings: Any) -> Callable[[F], F]:
    """An option that is given or not."""
    return click.option(*names.split(), is_flag=True, help=about, **settings)


def _or_none(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[str] | None:
    """What was given, which may be nothing: None then asks for the usual."""
    return list(given) or None


def measures(
    usual: str, about: str = "What to measure, like nDCG@10,R@100 or \"nDCG(gain='exp')@10\"; may be given again."
) -> Callable[[F], F]:
    """The measures, and in words those that are usual."""
    return value("-m --measure measures", "MEASURE[,MEASURE]", f"{about} [{usual}]", multiple=True, callback=_or_none)


def metrics(about: str) -> Callable[[F], F]:
    """The metrics by verdicts."""
    return value("-m --metric metrics", "METRIC[,METRIC]", about, multiple=True, callback=_or_none)


by = value(
    "--by",
    "GROUPS",
    "Show groups of queries separately: a file of lines QUERY<TAB>GROUP, FILE:FIELD of a file of queries, or "
    "a column of JUDGMENTS.",
)
history = value(
    "--history", "FILE", "Where results are saved; else $RANKPROOF_HISTORY.", "rankproof.db", envvar="RANKPROOF_HISTORY"
)


def target(about: str, *names: str, beside: str = "", **settings: Any) -> Callable[[F], F]:
    """An option that names a file to write; with a name of its own it is a file beside the result."""
    own = names or ("-o", "--output")
    laid_out = None if names else _laid_out
    return click.option(*own, metavar="FILE", type=Target(beside), callback=laid_out, help=about, **settings)


def _laid_out(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """The file that was named; its content is laid out for a file, whatever the terminal."""
    if path not in (None, "-"):
        FACE.set("file")
    return path


IN_FULL = "Write to a file; a text there is complete, as with --full."


def output(command: F) -> F:
    """Where to write what is no result in several formats."""
    return target(IN_FULL)(force(command))


def result(*more: str, about: str = IN_FULL) -> Callable[[Callable[..., Any]], Any]:
    """The options for a result, its format (`more` adds some) and its file: `output`, checked before any work."""

    def decorate(command: Callable[..., Any]) -> Any:
        @wraps(command)
        def called(*args: Any, form: str | None, output: str | None, **given: Any) -> Any:
            return command(*args, output=Output(checked_form(form, output, *more), output), **given)

        return form(*more)(target(about)(force(called)))

    return decorate


class _Form(click.Option):
    """An option whose help lists the formats, which are looked up only when the help is shown."""

    def __init__(self, *names: Any, listed: Callable[[], Sequence[str]], **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.listed = listed

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option and what it takes."""
        *others, last = self.listed()
        usual = "by -o, else table" if any(each.name == "output" for each in ctx.command.params) else "table"
        self.help = f"{', '.join(others)} or {last}. [{usual}]"
        return super().get_help_record(ctx)


def form(*more: str, only: Sequence[str] = ()) -> Callable[[F], F]:
    """The format to write: any that results have, and `more`, or `only` some; else it follows from the file's ending.

    A table is cut to one screen, unless --full is given or it goes to a file.
    """

    def listed() -> Sequence[str]:
        from rankproof.document.formats import names

        return only or names(*more)

    def whole(context: click.Context, option: click.Parameter, name: str | None) -> str | None:
        return "full" if name == "table" and context.meta.get(FULL) else name

    which = click.option(
        *("-f", "--format", "form"),
        metavar="FORMAT",
        callback=whole,
        cls=_Form,
        shell_complete=lambda context, option, begun: of_words(*listed())(context, option, begun),
        listed=listed,
    )
    full = flag("--full", "Print everything, not one screen.", is_eager=True, expose_value=False, callback=_noted(FULL))
    return lambda command: which(full(command))


def _noted(key: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    return lambda context, option, given: context.meta.update({key: given})


def settings_named(given: Sequence[str], example: str, others: Collection[str]) -> dict[str, Any]:
    """What was given as NAME=VALUE, each value as Python or JSON reads it, else as text; not a NAME of `others`.

    >>> settings_named(["k=60", "soft=true", "mode=fast"], "k=60", ["depth"])
    {'k': 60, 'soft': True, 'mode': 'fast'}
    """
    found: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or name.strip() in others:
            wanted = f"NAME=VALUE, like {example}, of what has no option of its own"
            raise UsageError(f"--set: got {each!r}, expected {wanted}. Next: write it so.")
        found[name.strip()] = value
        with suppress(ValueError, SyntaxError):
            found[name.strip()] = literal_eval({"true": "True", "false": "False", "null": "None"}.get(value, value))
    return found


def number_of(text: str, option: str) -> float:
    """The number that an option has."""
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"{option}: got {text!r}, expected a number. Next: write one like 0.5.") from error


anyway = flag("--anyway", "Compare saved results that were not made in the same way, over what they share.")
highest = value(
    *("--highest", "GRADE", "The best grade, 1 to 9.", 3),
    callback=lambda context, option, given: check_whole("--highest", given, 1, 9, advice="leave it out for 3"),
)
names = value("--names shown_as", "NAME,NAME", "Names for the RUNs, in their order. [their files]")
profile = value("--profile", "NAME", "Follow another tool; see 'rankproof profiles'.", shell_complete=complete_profiles)


CORPUS = "The documents: file or folder"
SIZE = "How many documents the whole collection has, if these are not given"
_DOCUMENTS = "rankproof.documents"
_ABOUT = {
    "ties": "How equal scores are ordered",
    "missing": "Judged queries without a ranking",
    "no_relevant": "Queries without a relevant document",
    "unjudged": "Documents nobody judged",
    "duplicates": "A document twice in one ranking",
}


def conventions(command: F) -> F:
    """The options for every convention that `evaluate` takes."""
    corpus = value("--corpus", "FILE", f"{CORPUS}.", is_eager=True, expose_value=False, callback=_noted(_DOCUMENTS))
    size = value("--corpus-size", "N", f"{SIZE}.", type=float, callback=_size)
    context = value("--context-k", "K", "How many documents your generator gets: for the audit.", type=int)
    return rules(corpus(size(context(damaged_files(profile(command))))))


def allowances(command: F) -> F:
    """The options that allow decisions from incomplete or broken data."""
    missing = value("--allow-missing", "S", "The share of the queries that may be unanswered.", 0.07)
    errors = flag("--allow-errors", "Decide although the audit finds an error in the data.")
    return missing(errors(command))


damaged_files = value("--damaged", "WORD", "Files of a ranking that cannot be read: error, skip.", "error")


def corpus_apart(corpus: str | None, size: float | None) -> tuple[str | None, float | None]:
    """The path of the documents and how many there are; a number after `--corpus` is what it was called before."""
    size = int(size) if size is not None and size.is_integer() else size
    if corpus is None or not corpus.lstrip("+-").isdigit() or os.path.exists(corpus):
        return corpus, size
    click.echo(f"--corpus {corpus}: a number is now --corpus-size. Next: write --corpus-size {corpus}.", err=True)
    return None, int(corpus) if size is None else size


def _size(context: click.Context, option: click.Parameter, given: float | None) -> float | dict[str, None] | None:
    """How many documents there are, or their ids if they are given; `titles` then finds them as well."""
    corpus, size = corpus_apart(context.meta[_DOCUMENTS], given)
    context.meta[_DOCUMENTS] = corpus
    if corpus is None or size is not None:
        return size
    from rankproof.io.corpora import load_corpus

    return dict.fromkeys(load_corpus(corpus))


def _or_corpus(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    if given is None:
        return context.meta.get(_DOCUMENTS)
    click.echo(f"--documents is now --corpus. Next: write --corpus {given}.", err=True)
    return given


titles = click.option("--documents", "titles", metavar="FILE", callback=_or_corpus, hidden=True)
"""What has the titles of documents: what `--corpus` names, or `--documents`, its old name (given options first)."""


def rules(command: F) -> F:
    """The options for the conventions that are words, and for the grade that one of them takes."""
    grade = value("--unjudged-grade", "GRADE", "The grade of documents nobody judged, with --unjudged relevant.", 1.0)
    command = grade(command)
    for name, about in reversed(_ABOUT.items()):  # the known words are checked when conventions are made
        usual = str(Conventions.__dataclass_fields__[name].default)
        listed = f"{about}: {', '.join(CHOICES[name])}."
        complete = of_words(*CHOICES[name])
        spelt = f"--{name.replace('_', '-')}"
        command = value(spelt, "WORD", listed, usual, callback=_as_asked, shell_complete=complete)(command)
    return command


def _as_asked(context: click.Context, option: click.Parameter, word: str) -> str:
    return word if was_written(str(option.name)) else Default(word)  # a profile may replace a default


def was_written(option: str) -> bool:
    """Whether the user wrote the option, rather than a default or the environment."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE
