"""Saved results on the command line: which words are names, how they are saved and read; and the app over a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_one_stdin, named_paths
from rankproof.cli.output import Output, checked_form, end, errors_of, may_replace
from rankproof.core.conventions import Conventions
from rankproof.core.defaults import DEFAULT_MEASURES
from rankproof.document.disk import last_check
from rankproof.document.numbers import FACE, count
from rankproof.errors import DataError, UsageError, check_whole, shorten
from rankproof.io.inputs import STDIN

if TYPE_CHECKING:
    from rankproof.scoring.protocol import ScoresLike


_RULES = ("ties", "missing", "no_relevant", "unjudged", "unjudged_grade", "duplicates")
_SCORING = (*_RULES, "corpus", "corpus_size", "context_k", "damaged", "profile")
"""Options that shape scores, which cannot be changed for saved ones."""


def are_names(words: Sequence[str], history: str) -> bool:
    """Whether the words are names in the history rather than files; an error if they could be both."""
    from rankproof.comparing.history import History

    if options.was_written("history"):
        return True
    try:
        saved = [word for word in words if word in History(history)]
    except DataError:  # files must not depend on a history that cannot be read
        saved = []
    files = [word for word in words if word == STDIN or os.path.exists(word)]
    if len(saved) == len(words) == len(files):
        raise UsageError(
            f"{', '.join(map(shorten, words))}: files here and names in {history}. Next: write ./{words[0]} for the "
            f"file, or add --history {history} for what is saved."
        )
    if saved and len(saved) < len(words) and len(files) < len(words):
        other = next(word for word in words if word not in saved)
        raise UsageError(
            f"{shorten(saved[0])} is saved in {history}, but {shorten(other)} is not; expected all of them saved, or "
            "judgments and rankings. Next: 'rankproof history' lists what is saved."
        )
    return bool(saved) and len(saved) == len(words)


def systems_of(words: Sequence[str], shown_as: str | None, *others: str) -> dict[str, Any]:
    """The rankings after the judgments by name, if there are two or more; standard input may be one of all files."""
    check_one_stdin(*words, *others)
    systems = named_paths(words[1:], shown_as)
    if len(systems) < 2:
        raise UsageError(
            f"{click.get_current_context().info_name}: got {words[0]} as the judgments and "
            f"{count(len(systems), 'ranking')}, expected two or more of them, or saved names alone. "
            "Next: name more after the judgments, or score one: rankproof evaluate JUDGMENTS RUN."
        )
    return systems


def only_for_names(anyway: bool) -> None:
    """Refuse options that make sense for saved results only."""
    if anyway:
        raise UsageError(
            "--anyway: rankings that are scored here are always scored in the same way. Next: leave it out."
        )


def without_scoring(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a comparison; those that name or shape scores are refused, as what was scored has its own."""
    if options.was_written("shown_as"):
        raise UsageError("--names is for files of rankings: others have names. Next: leave it out.")
    for name in _SCORING:
        if options.was_written(name):
            raise UsageError(
                f"--{name.replace('_', '-')}: these results were scored already, so it would change nothing. "
                "Next: leave it out, or evaluate again with it."
            )
    return {name: value for name, value in settings.items() if name not in _SCORING}


@dataclass(frozen=True)
class Saving:
    """Under which names and tags results are saved, and where; nothing is without a name."""

    names: Sequence[str]
    given: Sequence[str]
    replace: bool
    history: str

    @property
    def tags(self) -> dict[str, str]:
        """The tags from KEY=VALUE."""
        tags: dict[str, str] = {}
        for each in self.given:
            key, equals, value = each.partition("=")
            if not equals:
                raise UsageError(f"--tag: got {each!r}, expected KEY=VALUE, like model=small. Next: write it so.")
            if tags.setdefault(key, value) != value:
                raise UsageError(f"--tag: got {key!r} with two values, expected one. Next: give it once.")
        return tags

    def check(self, runs: Sequence[str]) -> None:
        """Refuse names and tags that cannot be saved, before anything is scored."""
        if self.given and not self.names:
            raise UsageError("--tag: nothing is saved without a name. Next: add --save NAME.")
        if not self.names:
            return
        from rankproof.comparing.history import History

        if len(self.names) != len(runs) or len(set(self.names)) != len(self.names):
            raise UsageError(
                f"--save: got {count(len(self.names), 'name')} for {count(len(runs), 'ranking')}, "
                "expected a name of its own for each. "
                "Next: give --save once for each RUN, in the same order."
            )
        _ = self.tags
        for name in self.names:
            History(self.history).check(name, self.replace)

    def save(self, scores: Mapping[str, ScoresLike]) -> None:
        """Save each under its name, and say so on standard error."""
        if not self.names:
            return
        from rankproof.comparing.history import History

        last_check.get()()
        for name, each in zip(self.names, scores.values(), strict=True):
            History(self.history).save(each, name, tags=self.tags, replace=self.replace)
            click.echo(f"Saved as {shorten(name)} in {self.history}.", err=True)


def saving_options(command: Callable[..., Any]) -> Any:
    """The options for remembering results, which the command gets as `saving`."""

    @wraps(command)
    def called(*args: Any, names: Sequence[str], tags: Sequence[str], replace: bool, history: str, **given: Any) -> Any:
        return command(*args, saving=Saving(names, tags, replace, history), **given)

    name = options.value("--save names", "NAME", "Save the result; once for each file.", multiple=True)
    tag = options.value("--tag tags", "KEY=VALUE", "Add a tag to the saved result.", multiple=True)
    replace = options.flag("--replace", "Replace a saved result of the same name.")
    return name(tag(replace(options.history(called))))


@click.group("history", invoke_without_command=True)
@options.history
@options.form()
@click.pass_context
def command(context: click.Context, history: str, form: str | None) -> None:
    """List the results that were saved.

    'rankproof evaluate ... --save NAME' saves; 'show', 'compare', 'gate' and 'rm'
    take the names.

    \b
    rankproof history export monday tuesday -o results.json.gz
    rankproof history import results.json.gz
    """
    from rankproof.comparing.history import History

    context.obj = History(history)
    output = Output(checked_form(form, None), None)
    if context.invoked_subcommand is None:
        len(context.obj)  # if there is no history, that is said
        output.write_result(context.obj, whole=output.form != "table")


def _elsewhere(context: click.Context, option: click.Parameter, path: str | None) -> None:
    """The history as it may be named behind the command as well as before it."""
    from rankproof.comparing.history import History

    if path is not None:
        context.obj = History(path)


_history = options.value("--history", "FILE", "Where results are saved.", callback=_elsewhere, expose_value=False)


@command.command("export")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@options.target("Write to this; .gz compresses.", required=True)
@options.force
@_history
@click.pass_context
def export(context: click.Context, names: tuple[str, ...], output: str) -> None:
    """Write saved results to one JSON file: these, or all."""
    number = context.obj.export_to(output, *names, force=may_replace(output))
    click.echo(f"Wrote {number} to {output}.", err=True)


@command.command("import")
@click.argument("file")
@options.flag("--replace", "Replace saved results of the same name.")
@_history
@click.pass_context
def import_(context: click.Context, file: str, replace: bool) -> None:
    """Take in an exported file: all of it, or nothing."""
    names = context.obj.import_from(file, replace=replace)
    click.echo(f"Took {len(names)} into {context.obj.path}: {', '.join(names)}.", err=True)


@click.command("show")
@click.argument("name")
@options.history
@options.flag("-q --per-query", "The value of every query instead.")
@options.result()
def show(name: str, history: str, per_query: bool, output: Output) -> None:
    """Show a saved result.

    The scores as they were, and when and by which versions they were made.

    \b
    rankproof show monday
    rankproof show monday -q -f csv
    """
    from rankproof.comparing.history import History
    from rankproof.comparing.orders_words import entry_paragraphs
    from rankproof.document.formats import check
    from rankproof.document.model import Paragraph
    from rankproof.scoring import words

    made = check(output.form)
    kept = History(history)
    scores = kept.scores(name)
    if per_query:
        found = words.queries({name: {each: scores.values(each) for each in scores}})
    else:
        about = [*entry_paragraphs(kept.show(name).to_dict()), Paragraph("")]
        found = words.scores([scores.summary(name)], above=about)
    output.write(made.render(found))
    end(errors_of({name: scores}), shown=not per_query and not made.records and output.path is None)


@click.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@options.history
def remove(names: tuple[str, ...], history: str) -> None:
    """Remove saved results.

    All of them or, if one name is unknown, none.

    \b
    rankproof rm monday tuesday
    """
    from rankproof.comparing.history import History

    History(history).remove(*names)
    click.echo(f"Removed {', '.join(names)} from {history}.", err=True)


@click.command("app")
@click.argument("places", nargs=-1, metavar="[FOLDER|FILE]...")
@options.measures(DEFAULT_MEASURES)
@options.value("--judgments", "FILE", "The judgments of all rankings. [those of most ranked queries]")
@options.value("--queries", "FILE", "The texts of the queries.")
@options.value("--corpus", "FILE", "The documents: file or folder.")
@options.value("--baseline", "NAME", "The ranking that others are compared with. [the first]")
@options.value("--margin", "X", "A loss that would not matter.", 0.01)
@options.value("--labels", "FILE", "Where grades are written. [app-labels.jsonl]")
@options.highest
@options.flag("--read-only", "Nothing can be graded.")
@options.value("--export folder", "FOLDER", "Write all pages as files, and end.")
@options.value("--host", "ADDRESS", "The address to listen on.", "127.0.0.1")
@options.value("--port", "N", "The port to listen on. [a free one]", default=0)
@options.flag("--no-browser", "Do not open the browser.")
@options.by
@options.rules
@options.allowances
@options.force
def app(
    places: tuple[str, ...],
    labels: str | None,
    highest: int,
    folder: str | None,
    host: str,
    port: int,
    no_browser: bool,
    **what: Any,
) -> None:
    """Show a folder of judgments, rankings and results in a browser.

    Compare two rankings query by query, look at one query under all of them,
    grade documents with one key, see how a grade changes the verdict. Without
    a folder it shows the embedded sample. Ctrl-C ends it.

    \b
    rankproof app runs/ --by queries.jsonl:kind
    rankproof app runs/ --export site/
    """
    from importlib.resources import files

    from rankproof.comparing.conclusions import too_many_missing
    from rankproof.web import Settings

    check_whole("--port", port, 0, 65535, advice="leave it out for a free one")
    labels = labels if labels is not None or places else "app-labels.jsonl"
    FACE.set("file")  # pages are as wide as they are, and advise the options of commands
    what["conventions"] = {name: what.pop(name) for name in _RULES}
    what["allowances"] = {name: what.pop(name) for name in ("allow_missing", "allow_errors")}
    _ = Conventions(**what["conventions"])  # a wrong word is refused before anything is read
    too_many_missing({}, what["allowances"]["allow_missing"])  # and so is a wrong share
    settings = Settings(places or (str(files("rankproof.sample")),), labels=labels, highest=highest, **what)
    if folder is not None:
        from rankproof.web.pages import export

        written, wrong = export(settings, folder, force=may_replace(folder))
        click.echo(f"{count(len(written), 'file')} in {folder}; open {os.path.join(folder, 'index.html')}", err=True)
        end(wrong)
        return

    from rankproof.web.server import serve

    def ready(address: str) -> None:
        click.echo(address)
        click.echo("Ctrl-C ends it.", err=True)
        sys.stdout.flush()
        if not no_browser:
            import webbrowser  # other commands do not need a browser

            webbrowser.open(address)

    serve(settings, host=host, port=port, ready=ready)
