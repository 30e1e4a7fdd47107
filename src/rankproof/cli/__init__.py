"""The command line: `rankproof COMMAND ...`; each command is a thin layer over one public function.

Each command is loaded only when it is used, so that `rankproof --help` answers at once.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from importlib import import_module
from pathlib import PurePath
from typing import Any

import click
from click.shell_completion import CompletionItem

from rankproof import __version__
from rankproof.errors import DataError, RankproofError, UserCode, not_known
from rankproof.io.inputs import columns_named, pipes_kept, read_side_by_side

MODULES = {
    **dict.fromkeys(("compare", "gate"), "changes"),
    **dict.fromkeys(("leaderboard", "rank-correlation", "report", "demo"), "standings"),
    **dict.fromkeys(("history", "show", "rm", "app"), "saved_results"),
    **dict.fromkeys(("explain", "diagnose", "measures", "profiles"), "explanations"),
    **dict.fromkeys(("calibrate", "verdicts"), "trust"),
    "pool": "label",
    "drift": "questions",
    "experiment": "monitor",
    **dict.fromkeys(("run", "bench", "rank", "fuse", "convert"), "rankings"),
    **dict.fromkeys(("audit", "spans", "sql", "trec_eval"), "evaluate"),
}
"""The modules of commands that share one; other commands have a module of their own name."""

COMMANDS = {
    "evaluate": "Score rankings against judgments.",
    "spans": "Score rankings of chunks against judged passages.",
    "compare": "Say which ranking is better, if that is more than chance.",
    "judge": "Score questions, contexts and answers by a judge's verdicts.",
    "verdicts": "Look at the verdicts in a ledger, override them, give them to others.",
    "calibrate": "Label some pairs by hand, and see how far the judge can be trusted.",
    "gate": "Decide whether a change may ship: pass, fail or inconclusive.",
    "leaderboard": "Order systems, and say how far the order can be trusted.",
    "rank-correlation": "Say how similarly two sets of scores order systems.",
    "report": "Write one page that shows everything: summary, pictures, tables.",
    "history": "List the results that were saved.",
    "show": "Show a saved result.",
    "rm": "Remove saved results.",
    "audit": "Say what is wrong or odd about judgments and a ranking.",
    "diagnose": "Say which queries a ranking fails, why, and what to change first.",
    "explain": "Show how a number of one query is computed; or say what a word means.",
    "run": "Ask a retriever questions, and write its ranking.",
    "bench": "Run a grid of configurations, and say what the best is worth.",
    "drift": "Say whether an evaluation set still asks what people ask.",
    "fuse": "Combine several rankings into one.",
    "pool": "Collect the documents to judge from several runs.",
    "label": "Judge the documents of a pool, one key per document.",
    "questions": "Make a set of questions to measure by.",
    "monitor": "Show what the users of a production log meet.",
    "experiment": "Say which variant or ranking users prefer, and what their clicks are worth.",
    "measures": "List the measures, or describe one in full.",
    "profiles": "List the tools whose conventions can be followed.",
    "rank": "Write a ranking with the rank of every row, once for all judgments.",
    "sql": "Write the query that counts where judged documents stand.",
    "convert": "Write judgments or a ranking in another format.",
    "app": "Show a folder of judgments, rankings and results in a browser.",
    "trec_eval": "Take trec_eval's arguments and print what it prints.",
    "demo": "Show every step on the embedded sample.",
}


def load_command(name: str) -> click.Command:
    """The command of that name, from its module."""
    inside = vars(import_module(f"rankproof.cli.{MODULES.get(name, name)}")).values()
    return next(each for each in inside if isinstance(each, click.Command) and each.name == name)


def _with_inner(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """The command and those inside it, with their names."""
    yield name, command
    for inner, each in getattr(command, "commands", {}).items():
        yield from _with_inner(each, f"{name} {inner}")


def _take_columns(command: click.Command, name: str) -> None:
    """Give the option for columns to a command that reads judgments or rankings, once."""
    if name in WITH_COLUMNS and not any(each.name == "columns" for each in command.params):
        option = click.Option(
            ["--columns"],
            metavar="ROLE=COLUMN,...",
            multiple=True,
            expose_value=False,
            is_eager=True,
            callback=lambda context, option, given: context.with_resource(columns_named(given)) if given else None,
            help="Which columns are query, doc, grade, score, rank. [known names]",
        )
        command.params.append(option)
        if name not in WRITES_ARGUMENTS:
            command.callback = _reading_side_by_side(command)


INPUTS = {"by", "queries", "documents", "corpus", "judgments", "tune"}
"""Options that name files to read, as all arguments do."""
WRITES_ARGUMENTS = {"convert", "label"}
"""Commands with an argument that is a file to write; a pipe there belongs to its reader and must not be read."""


def _reading_side_by_side(command: click.Command) -> Callable[..., Any]:
    """Run a command after starting to read all pipes among its inputs."""
    inner: Any = command.callback
    names = {each.name for each in command.params if isinstance(each, click.Argument)} | INPUTS

    @wraps(inner)
    def callback(**given: Any) -> Any:
        values = [given[name] for name in names & given.keys()]
        read_side_by_side(word for each in values for word in (each if isinstance(each, tuple) else (each,)))
        return inner(**given)

    return callback


def _restore_help(command: click.Command) -> None:
    """The help of a command, which Python -OO strips with the docstrings."""
    from rankproof.suggestions import docstring

    command.help = command.help or docstring(command.callback)


NAMES = {("measures", "name"), ("profiles", "name"), ("explain", "query"), ("show", "name"), ("rm", "names")}
"""Arguments that are not files."""
OF_FILES = ("FILE", "N|FILE", "RUN", "FOLDER")


WORD = "[a-z][a-z0-9-]*"
LISTED = re.compile(rf"(?:^|: )((?:{WORD}, )*{WORD}(?:, | or ){WORD})(?=[.,: ]|$)")
"""The words that the help of an option lists, at its beginning or behind a colon."""
OF_WORDS = ("WORD", "WORD,...", "WHAT", "HOW", "TOOL", "UNIT", "SPAN", "FORMAT", "NAME")

OF_NAMES = dict.fromkeys(("MEASURE", "MEASURE[,MEASURE]", "METRIC[,METRIC]"), "complete_measures") | {
    "PROFILE": "complete_profiles"
}


def _complete(command: click.Command) -> None:
    """Let shells complete the words that help lists, and files where a command takes them: all arguments but a few,
    and options of FILE."""
    for each in command.params:
        if each._custom_shell_complete is not None:
            continue
        if isinstance(each, click.Argument):
            each._custom_shell_complete = None if (command.name, each.name) in NAMES else _files
        elif each.metavar in OF_FILES:
            each._custom_shell_complete = _files
        elif each.metavar in OF_NAMES:
            each._custom_shell_complete = getattr(import_module("rankproof.cli.options"), OF_NAMES[each.metavar])
        elif each.metavar in OF_WORDS and LISTED.search(getattr(each, "help", None) or ""):
            each._custom_shell_complete = _listed


def _listed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    before, comma, begun = incomplete.rpartition(",")
    found = LISTED.search(getattr(parameter, "help", None) or "")
    words = re.split(", | or ", found[1]) if found else []
    return [CompletionItem(f"{before}{comma}{each}") for each in words if each.startswith(begun)]


def _files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


WITH_COLUMNS = {
    *("evaluate", "compare", "gate", "leaderboard", "rank-correlation", "report", "audit", "diagnose"),
    *("explain", "fuse", "pool", "label", "convert", "rank", "run", "questions check", "questions needed"),
}
"""The commands that read judgments or rankings, of which columns can be named."""

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 80}


class Commands(click.Group):
    """A group that knows the names and first lines of its commands without loading them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words are kept, so that a command can tell what it reads from what it writes."""
        ctx.meta["rankproof.words"] = list(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order they are listed."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, loaded now."""
        if name not in COMMANDS:
            return None
        command = load_command(name)
        for whole, each in _with_inner(command, name):
            if sys.flags.optimize:
                _restore_help(each)
            _complete(each)
            _take_columns(each, whole)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with; for an unknown one the nearest is suggested."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise not_known(f"unknown command {args[0]!r}", args[0], COMMANDS, "'rankproof --help' lists all")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with their first lines."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings=SETTINGS)
@click.version_option(__version__, prog_name="rankproof", message="%(prog)s %(version)s")
@click.option(
    "--import",
    "sources",
    multiple=True,
    metavar="FILE|MODULE",
    envvar="RANKPROOF_IMPORT",
    help="Python code with measures of your own; else $RANKPROOF_IMPORT.",
)
@click.pass_context
def rankproof(context: click.Context, sources: tuple[str, ...]) -> None:
    """Measure how well a retriever finds and ranks what people need: every
    number with its definition, its evidence and its error bar.

    \b
    rankproof evaluate judgments.tsv before.run after.run -m nDCG@10,R@100
    rankproof COMMAND --help says more about each command.
    """
    context.with_resource(pipes_kept())
    if sources:
        from rankproof.cli.output import keep_results_apart

        with keep_results_apart():
            declare(sources)


if sys.flags.optimize:
    _restore_help(rankproof)


INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    gc.set_threshold(50_000)  # a program ends soon, and makes few circles: Python looks for them 70 times as often
    try:
        sys.exit(run(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # else Python runs the garbage collector over all modules, several times, before it ends


def run(arguments: Sequence[str]) -> int:
    """Run the command of the arguments and return the exit code; errors become one message on standard error."""
    from rankproof.cli.output import tell_oddities
    from rankproof.document.numbers import FACE

    FACE.set("shell")
    _mend_output()
    try:
        with tell_oddities():
            code = rankproof.main(list(arguments) or ["--help"], prog_name="rankproof", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has closed the pipe; Python must not report that at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (click.Abort, KeyboardInterrupt) as error:
        for note in getattr(error.__cause__ or error, "__notes__", ()):
            print(f"rankproof: stopped; {note}", file=sys.stderr)
        return INTERRUPTED
    except click.ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a group without a command; older versions of click show it
            click.echo(error.format_message())
            return 0
        context = getattr(error, "ctx", None)
        said = error.format_message().rstrip(".")
        said += "" if said.endswith(("?", "?)")) else "."
        if context is not None:
            said += f" Next: {_next(context, getattr(error, 'option_name', ''))}"
        return _fail(said, error.exit_code)
    except RankproofError as error:
        return _fail(_with_options(str(error), arguments), error.exit_code)
    except OSError as error:
        place, why = error.filename or "input or output", error.strerror or error
        told = _blame(error) or f"{place}: {why}. Next: check the path, its rights and the room on the disk."
        return _fail(told, DataError.exit_code)
    except Exception as error:
        if told := _blame(error):
            return _fail(told, DataError.exit_code)
        raise
    finally:
        FACE.set("python")
    return code if isinstance(code, int) else 0


def _blame(error: Exception) -> str:
    """An error of the caller's own code in one sentence, with its line; empty for any other."""
    note, last = next(iter(getattr(error, "__notes__", ())), ""), error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if UserCode.FAILED_ON not in note or last is None:
        return ""
    place = f"{PurePath(last.tb_frame.f_code.co_filename).name}, line {last.tb_lineno}"
    return f"{note}: {type(error).__name__}: {error} ({place}). Next: correct that function."


def _next(context: click.Context, unknown: str) -> str:
    """What to do after a wrong word: an option of the program itself stands before the command."""
    before = next((each for each in rankproof.params if unknown in each.opts), None)
    if before is None or context.parent is None:
        return f"'{context.command_path} --help' lists what there is."
    program, command = context.command_path.split(" ", 1)
    return f"write it before the command: {' '.join(filter(None, (program, unknown, before.metavar, command)))} ..."


def _with_options(message: str, arguments: Sequence[str]) -> str:
    """The message about an argument with the option that it is in the shell: `--margin: got` for `margin: got`."""
    name, _, said = message.partition(":")
    command = next((load_command(each) for each in arguments if each in COMMANDS), rankproof)
    options = [each for _, inner in _with_inner(command, "") for each in inner.params if isinstance(each, click.Option)]
    spelt = (max(each.opts, key=len) for each in options if name == each.name or f"--{name}" in each.opts)
    return f"{next(spelt, name)}:{said}" if said else message


def _mend_output() -> None:
    """Output that is closed is discarded, without an error; a character that the terminal cannot show is escaped."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (open to the end)
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _fail(message: str, code: int) -> int:
    print(f"rankproof: {message}", file=sys.stderr)
    return code


def declare(sources: Iterable[str]) -> None:
    """Run Python files, or import modules, each once; every command then knows the measures they declare."""
    from rankproof.bench.adapters import module_named

    for source in sources:
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())  # it may import more from there when it is called
        module_named(source, "--import")
