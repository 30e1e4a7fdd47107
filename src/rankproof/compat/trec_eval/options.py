"""Options, parameters and help, as trec_eval has them."""

from __future__ import annotations

import getopt
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from rankproof.compat.trec_eval.files import CATALOGUE, NICKNAMES, Entry
from rankproof.core.measure import LARGEST
from rankproof.errors import UsageError, check_whole, not_known, number_in, one_of, shorten


@dataclass(frozen=True)
class OptionColumn:
    """One line of output: a measure with at most one cut-off."""

    entry: Entry
    name: str
    """As it is printed."""
    at: float | None = None
    """The rank, or the point of recall, if the measure has one."""
    numbers: tuple[float, ...] = ()
    pairs: dict[str, float] = field(default_factory=dict)


_WHOLE = re.compile(r"[+-]?[0-9]{1,999}")
Request: TypeAlias = tuple[str, str | None]
"""The name of a measure, and its parameters if there are any."""


def parse_requests(measures: Sequence[str], version: int) -> list[Request]:
    """The names and parameters of the ``-m`` options; none means 'official'. The names must be known.

    >>> parse_requests(["iprec_at_recall..10,.20"], 10)
    [('iprec_at_recall', '.10,.20')]
    """
    known = [*(name for name, entry in CATALOGUE.items() if entry.since <= version), *NICKNAMES]
    requests: list[Request] = []
    for measure in measures or ("official",):
        name, dot, parameters = measure.partition(".")
        if dot and not parameters:
            raise UsageError(
                f"improper measure in parameter '{measure}': nothing follows the point."
                " Next: write the cut-offs or the level after the point, as in P.5,10."
            )
        if name not in known:
            raise not_known(f"illegal measure '{measure}'", name, known, "see 'rankproof trec_eval -h'")
        requests.append((name, parameters if dot else None))
    return requests


def plan(requests: Sequence[Request], version: int) -> tuple[list[OptionColumn], list[str]]:
    """The columns that the requests ask for, in printing order, and notes on how the requests were read.

    >>> [column.name for column in plan(parse_requests(["P.10,5", "map"], 10), 10)[0]]
    ['map', 'P_5', 'P_10']
    """
    notes: list[str] = []
    parameters: dict[str, str] = {}
    for name, given in requests:
        if given is not None:
            # trec_eval drops these without a word; so the words are ours.
            if name in parameters:
                both = f"{parameters[name]},{given}"
                notes.append(f"{name}.{given} is ignored: only the first list counts. Next: -m {name}.{both}")
            elif name not in CATALOGUE or CATALOGUE[name].takes == "nothing":
                notes.append(f"{name}.{given}: {name} takes no parameters; they are ignored")
            parameters.setdefault(name, given)
    named = {name for given, _ in requests for name in NICKNAMES.get(given, (given,))}
    entries = [entry for name, entry in CATALOGUE.items() if name in named and entry.since <= version]
    return [column for entry in entries for column in columns_of(entry, parameters.get(entry.name), notes)], notes


def columns_of(entry: Entry, given: str | None, notes: list[str]) -> list[OptionColumn]:
    """The columns of one measure, one for each cut-off."""
    if entry.takes == "cutoffs":
        ranks = entry.defaults if given is None else _ranks(entry.name, given, notes)
        return [OptionColumn(entry, f"{entry.name}_{int(k)}", at=k) for k in ranks]
    if entry.takes == "points":
        points = entry.defaults if given is None else _distinct(entry.name, given, sorted(_numbers(entry.name, given)))
        return [OptionColumn(entry, f"{entry.name}_{point:3.2f}", at=point) for point in points]
    if entry.takes == "nothing" or given is None:
        return [OptionColumn(entry, entry.name, numbers=entry.defaults)]
    if entry.takes == "pairs":
        return [OptionColumn(entry, f"{entry.name}_{given}", pairs=_pairs(entry.name, given))]
    numbers = _numbers(entry.name, given)
    if entry.takes == "numbers" and len(numbers) != len(entry.defaults):
        raise UsageError(
            f"{entry.name}: got {len(numbers)} numbers, expected {len(entry.defaults)}."
            " Next: give that many, or none for the usual ones."
        )
    return [OptionColumn(entry, f"{entry.name}_{given}", numbers=numbers)]


def _numbers(name: str, text: str) -> tuple[float, ...]:
    return tuple(_number(name, word) for word in text.split(","))


def _number(name: str, word: str) -> float:
    value = number_in(word)
    if not abs(value) <= LARGEST:
        raise UsageError(
            f"{name}: got parameter {shorten(word)}, expected a number up to {LARGEST:g}. "
            "Next: write numbers after the point, like P.5,10."
        )
    return value


def _ranks(name: str, text: str, notes: list[str]) -> list[float]:
    """Rank cut-offs in increasing order, cut to whole numbers."""
    given = _numbers(name, text)
    ranks = sorted(float(int(k)) for k in given)
    if ranks[0] <= 0:
        raise UsageError(f"{name}.{text}: a cut-off must be at least 1. Next: give whole numbers from 1 on.")
    notes.extend(f"{name}: cut-off {k:g} is cut to {int(k)}" for k in given if k != int(k))
    return _distinct(name, text, ranks)


def _distinct(name: str, text: str, values: list[float]) -> list[float]:
    if len(set(values)) < len(values):
        raise UsageError(f"{name}.{text}: duplicate cut-offs. Next: name each once.")
    return values


def _pairs(name: str, text: str) -> dict[str, float]:
    pairs: dict[str, float] = {}
    for pair in text.split(","):
        key, equals, value = pair.partition("=")
        if not equals or not (_WHOLE.fullmatch(key) or (key == "p" and name.startswith("rbp"))):
            raise UsageError(
                f"{name}: got {pair!r}, expected grade=gain pairs like 1=3.5,2=9"
                f"{', or p=0.8' if name.startswith('rbp') else ''}. Next: write the pairs so."
            )
        pairs.setdefault(key, _number(name, value))
    return pairs


Version: TypeAlias = Literal[9, 10]

USAGE = """\
Usage: rankproof trec_eval [-h] [-q] [-c] [-n] [-l LEVEL] [-M MAX] [-J]
           [-N DOCUMENTS] [-R FORMAT] [-Z ZSCORES] [--as 9|10]
           {-m MEASURE[.PARAMETERS]}* JUDGMENTS RESULTS"""

_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
_NAMES = (
    ("-h", "help", "help"),
    ("-v", "version", "show_version"),
    ("-q", "query_eval_wanted", "per_query"),
    ("-m", "measure=", "measures"),
    ("-c", "complete_rel_info_wanted", "complete"),
    ("-l", "level_for_rel=", "level"),
    ("-n", "nosummary", "summary"),
    ("-D", "Debug_level=", ""),
    ("-J", "Judged_docs_only", "judged_only"),
    ("-N", "Number_docs_in_coll=", "corpus"),
    ("-M", "Max_retrieved_per_topic=", "depth"),
    ("-R", "Rel_info_format=", "judgment_format"),
    ("-T", "Results_format=", "result_format"),
    ("-o", "Output_old_results_format=", ""),
    ("-Z", "Zscore=", "zscores"),
    ("--as", "as=", "version"),
)
"""The short name of each option, its long one (with = if it takes a value), and its field if it has one."""
_SPELLED = {f"--{long.rstrip('=')}": short for short, long, _ in _NAMES}
_FIELDS = {short: field for short, _, field in _NAMES if field}
_FLAGS = {short for short, long, _ in _NAMES if not long.endswith("=")}


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
    files: tuple[str, ...] = ()


def parse_options(arguments: Sequence[str]) -> Options:
    """The options of a command line; they may stand anywhere and be abbreviated.

    >>> parse_options(["-q", "-mP.5,10", "-l2", "--as", "9", "qrels", "run"]).measures
    ('P.5,10',)
    """
    try:
        given, files = getopt.gnu_getopt(list(arguments), _SHORT, [long for _, long, _ in _NAMES])
    except getopt.GetoptError as problem:
        raise UsageError(f"{problem.msg}\n{USAGE}") from None
    chosen: dict[str, Any] = {"measures": ()}
    for spelled, value in given:
        name = _SPELLED.get(spelled, spelled)
        if name == "-D":
            raise UsageError("-D: no debugging output here. Next: rankproof explain shows how a value comes about")
        if name == "--as" and value not in ("9", "10"):
            raise one_of("--as", value, ("9", "10"))
        if name == "-m":
            chosen["measures"] += (value,)
        elif name in ("-l", "-N", "-M", "--as"):
            number = int(value) if _WHOLE.fullmatch(value.strip()) else value
            # More documents are not counted anywhere.
            chosen[_FIELDS[name]] = min(check_whole(name, number, 0), sys.maxsize)
        elif name in _FLAGS:
            chosen[_FIELDS[name]] = name != "-n"
        elif name in _FIELDS:
            chosen[_FIELDS[name]] = value
    options = Options(files=tuple(files), **chosen)
    if not (options.help or options.show_version) and len(files) != 2:
        raise UsageError(f"got {len(files)} files, expected 2: judgments and results\n{USAGE}")
    if files.count("-") > 1:
        raise UsageError("got '-' twice, but standard input can be read once only. Next: put one of them into a file.")
    return options


_OPTIONS = """\
 -m MEASURE[.PARAMETERS]  a measure or a group; may be repeated (official)
 -q             print every topic, not only the summary
 -n             print no summary
 -c             average over all judged topics; those without results count 0
 -l LEVEL       the lowest grade that is relevant (1)
 -M MAX         look at the first MAX documents of each topic only
 -J             take out documents that nobody judged; such figures can be
                compared with no others
 -N DOCUMENTS   how many documents the collection has (for utility)
 -R FORMAT      judgments: qrels, qrels_jg (several judges), prefs, qrels_prefs
 -T FORMAT      results: trec_results
 -Z FILE        print z-scores by lines of topic, measure, mean, deviation
 --as 9|10      print like version 9.0.8, or like 10.0 (the default)
 -h, -v         this help; the version

RESULTS may be - for standard input."""


def help_text() -> str:
    """Usage, options, and the measures of each group."""
    groups = (
        textwrap.fill(f"{name}: {', '.join(members)}", 79, subsequent_indent="    ", break_on_hyphens=False)
        for name, members in NICKNAMES.items()
    )
    return "\n\n".join([USAGE, _OPTIONS, *groups])
