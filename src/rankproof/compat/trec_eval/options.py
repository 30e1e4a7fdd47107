"""The command line of trec_eval, read as trec_eval reads it."""

from __future__ import annotations

import getopt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from rankproof.errors import UsageError, one_of

Version: TypeAlias = Literal[9, 10]

USAGE = """\
Usage: rankproof trec_eval [-h] [-q] [-c] [-n] [-l LEVEL] [-M MAX] [-J]
           [-N DOCUMENTS] [-R FORMAT] [-Z ZSCORES] [--as 9|10]
           {-m MEASURE[.PARAMETERS]}* JUDGMENTS RESULTS"""

_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
_LONG = {
    "help": "-h",
    "version": "-v",
    "query_eval_wanted": "-q",
    "measure=": "-m",
    "complete_rel_info_wanted": "-c",
    "level_for_rel=": "-l",
    "nosummary": "-n",
    "Debug_level=": "-D",
    "Judged_docs_only": "-J",
    "Number_docs_in_coll=": "-N",
    "Max_retrieved_per_topic=": "-M",
    "Rel_info_format=": "-R",
    "Results_format=": "-T",
    "Output_old_results_format=": "-o",
    "Zscore=": "-Z",
    "as=": "--as",
}
_SPELLED = {f"--{long.rstrip('=')}": short for long, short in _LONG.items()}
_FLAGS = {"-h": "help", "-v": "show_version", "-q": "per_query", "-c": "complete", "-J": "judged_only"}
_NUMBERS = {"-l": "level", "-N": "corpus", "-M": "depth"}
_WORDS = {"-R": "judgment_format", "-T": "result_format", "-Z": "zscores"}


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    version: Version = 10
    help: bool = False
    show_version: bool = False
    per_query: bool = False
    summary: bool = True
    complete: bool = False
    """Average over all judged topics, those without results included."""
    judged_only: bool = False
    level: int = 1
    corpus: int = 0
    depth: int | None = None
    judgment_format: str = "qrels"
    result_format: str = "trec_results"
    zscores: str | None = None
    measures: tuple[str, ...] = ()
    files: tuple[str, ...] = field(default=())


def parse_options(arguments: Sequence[str]) -> Options:
    """The options of a command line; they may stand anywhere and be abbreviated.

    >>> parse_options(["-q", "-mP.5,10", "-l2", "--as", "9", "qrels", "run"]).measures
    ('P.5,10',)
    """
    try:
        given, files = getopt.gnu_getopt(list(arguments), _SHORT, list(_LONG))
    except getopt.GetoptError as problem:
        raise UsageError(f"{problem.msg}\n{USAGE}") from None
    options = Options(files=tuple(files))
    for name, value in given:
        options = _with(options, _SPELLED.get(name, name), value)
    if not (options.help or options.show_version) and len(files) != 2:
        raise UsageError(f"got {len(files)} files, expected 2: judgments and results\n{USAGE}")
    return options


def _with(options: Options, name: str, value: str) -> Options:
    """The options with one more of them applied."""
    if name == "-m":
        return replace(options, measures=(*options.measures, value))
    if name == "-n":
        return replace(options, summary=False)
    if name == "--as":
        return replace(options, version=_version(value))
    if name == "-D":
        raise UsageError(
            "-D: no debugging output here. Next: rankproof explain shows how a value comes about"
        )
    return replace(options, **_change(name, value))


def _change(name: str, value: str) -> dict[str, Any]:
    if name in _FLAGS:
        return {_FLAGS[name]: True}
    if name in _NUMBERS:
        return {_NUMBERS[name]: _whole(name, value)}
    return {_WORDS[name]: value} if name in _WORDS else {}


def _whole(option: str, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise UsageError(
            f"{option}: got {text!r}, expected a whole number. Next: give one, like 1."
        ) from None
    if value < 0:
        raise UsageError(f"{option}: got {value}, expected at least 0. Next: give 0 or more.")
    return value


def _version(text: str) -> Version:
    if text not in ("9", "10"):
        raise one_of("--as", text, ("9", "10"))
    return 9 if text == "9" else 10
