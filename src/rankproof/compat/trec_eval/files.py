"""The rarer files of trec_eval: judgments by several judges, preferences, z-scores.

Ordinary judgments and results are read by `rankproof.io`; these files are small and read line by line.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from rankproof.core.judgments import TwoGrades, add_judgment
from rankproof.core.table import RankingTable
from rankproof.errors import DataError, number_in, shorten
from rankproof.io.files import HEAD, open_file, read_bytes, text_of
from rankproof.io.formats import fields as split_fields
from rankproof.io.trec import TrecRankings


class JudgedFile(NamedTuple):
    """One judgment of one judge; `part` tells the partial orders of a judge apart."""

    topic: str
    judge: str
    part: str
    document: str
    level: float


class Norm(NamedTuple):
    """Mean and standard deviation of a measure for a topic over some reference runs."""

    mean: float
    deviation: float


def read_preferences(path: str, *, parts: bool) -> list[JudgedFile]:
    """``topic judge [part] document level`` lines; `parts` says whether the third field is there."""
    names = ("topic", "judge", "part", "document", "level")
    known: dict[tuple[str, str, str, str], float] = {}
    lines: dict[tuple[str, str, str, str], int] = {}
    for number, fields in _lines(path, names if parts else (*names[:2], *names[3:])):
        topic, judge, *part, document, level = fields
        key = (topic, judge, part[0] if part else "", document)
        first = lines.setdefault(key, number)
        try:
            add_judgment(known, key, _number(path, number, "level", level))
        except TwoGrades as error:
            where = f"{path}, lines {first} and {number}"
            raise error.of(f"{where}: document {shorten(document)} of topic {shorten(topic)}") from error
    return [JudgedFile(*key, level) for key, level in known.items()]


def read_zscores(path: str) -> dict[tuple[str, str], Norm]:
    """``topic measure mean deviation`` lines."""
    norms = {}
    for number, (topic, measure, mean, deviation) in _lines(path, ("topic", "measure", "mean", "deviation")):
        given = [_number(path, number, "mean", mean), _number(path, number, "deviation", deviation)]
        norms[topic, measure] = Norm(*given)
    return norms


def _lines(path: str, names: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line with its number; blank lines and comments are passed over."""
    text = text_of(read_bytes(path), path)
    if not text.strip():
        raise DataError(f"{path}: the file is empty. Next: give the file that was meant.")
    for number, line in enumerate(text.split("\n"), 1):
        fields = split_fields(line)
        if not fields or line.startswith("#"):
            continue
        if len(fields) != len(names):
            raise DataError(
                f"{path}, line {number}: got {len(fields)} fields in {shorten(line)}, expected {len(names)}: "
                f"{' '.join(names)}. Next: correct the line, or name another format by -R."
            )
        yield number, fields


def _number(path: str, line: int, what: str, text: str) -> float:
    value = number_in(text)
    if not math.isfinite(value):
        raise DataError(f"{path}, line {line}: the {what} is {text!r}, expected a number. Next: correct the line.")
    return value


T = TypeVar("T")
Rankings: TypeAlias = dict[str, dict[str, float]]

_AFTER_RUN_ID = re.compile(rb"^([ \t]*(?:\S+[ \t]+){5}\S+)[ \t]+[^\s][^\n]*", re.MULTILINE)


def use_rankings(path: str, use: Callable[[TrecRankings], T]) -> T:
    """What `use` makes of the rankings in a file; as in trec_eval, lines may go on after the run id."""
    try:
        return use(TrecRankings(path, source=path, all_comments=True))
    except DataError:
        first_six, split_fields = _AFTER_RUN_ID.subn(rb"\1", read_bytes(path))
        if not split_fields:
            raise
        return use(TrecRankings(first_six, source=path, all_comments=True))


def run_id(path: str) -> str:
    """The run id in the last line that is no comment."""
    with open_file(path) as stream:
        lines = _tail(stream).decode("utf-8", "replace").split("\n")
    for line in reversed(lines):
        fields = split_fields(line)
        if len(fields) >= 6 and not line.startswith("#"):
            return fields[5]
    raise DataError(
        f"{path}: no results in it, expected lines of topic, Q0, document, rank, score, run id."
        f" Next: give the file of results that was meant, or make one of it: rankproof convert {path} OUT.run"
    )


def _tail(stream: BinaryIO) -> bytes:
    """The end of the file; a compressed one has to be read through."""
    if isinstance(stream, io.BufferedReader) and stream.seekable():
        size = stream.seek(0, io.SEEK_END)
        stream.seek(max(0, size - HEAD))
        return stream.read()
    tail = b""
    while block := stream.read(HEAD):
        tail = (tail + block)[-HEAD:]
    return tail


def rankings_of(table: RankingTable) -> Rankings:
    """The scores of every document, topic by topic."""
    if table.score is None:
        raise DataError(f"{table.source}: there are no scores to sort by. Next: give results with scores.")
    rankings: Rankings = {}
    for topic, document, score in zip(table.query, table.doc, table.score.tolist(), strict=True):
        ranking = rankings.setdefault(topic, {})
        if document in ranking:
            raise DataError(
                f"{table.source}: topic {shorten(topic)} has document {shorten(document)} twice."
                " Next: keep one of the lines."
            )
        ranking[document] = score
    return rankings


def in_order(scores: Mapping[str, float], version: int, depth: int | None) -> list[str]:
    """The documents by score, equal ones by name: the order in which preferences are counted.

    >>> in_order({"b": 1.0, "a": 1.0, "c": 2.0}, 10, None)
    ['c', 'a', 'b']
    """
    precise = np.float32 if version == 9 else np.float64
    return sorted(scores, key=lambda document: (-precise(scores[document]), document))[:depth]


Takes: TypeAlias = Literal["nothing", "cutoffs", "points", "list", "numbers", "pairs"]
Average: TypeAlias = Literal["mean", "sum", "geometric", "none"]
Shown: TypeAlias = Literal["both", "topics", "summary"]
Kind: TypeAlias = Literal["any", "grades", "groups", "preferences"]

RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True)
class Entry:
    """One measure of trec_eval."""

    name: str
    takes: Takes = "nothing"
    """Rank cut-offs or points (a column each), a list, as many numbers as there are defaults, or pairs
    such as 1=3.5."""
    defaults: tuple[float, ...] = ()
    average: Average = "mean"
    whole: bool = False
    """Printed as a whole number."""
    shown: Shown = "both"
    kind: Kind = "grades"
    """What judgments it is about."""
    since: int = 9


def _count(name: str, kind: Kind = "grades") -> Entry:
    return Entry(name, average="sum", whole=True, kind=kind)


_PREFERENCES = """
prefs_simp prefs_pair prefs_avgjg prefs_avgjg_Rnonrel
prefs_simp_ret prefs_pair_ret prefs_avgjg_ret prefs_avgjg_Rnonrel_ret
prefs_simp_imp prefs_pair_imp prefs_avgjg_imp
"""
_ENTRIES = (
    Entry("runid", average="none", shown="summary", kind="any"),
    Entry("num_q", average="none", shown="summary", kind="any", whole=True),
    _count("num_ret"),
    _count("num_rel"),
    _count("num_rel_ret"),
    Entry("map"),
    Entry("gm_map", average="geometric", shown="summary"),
    Entry("Rprec"),
    Entry("bpref"),
    Entry("recip_rank"),
    Entry("iprec_at_recall", "points", RECALLS),
    Entry("P", "cutoffs", RANKS),
    Entry("relstring", "numbers", (10,), average="none", shown="topics"),
    Entry("recall", "cutoffs", RANKS),
    Entry("infAP"),
    Entry("gm_bpref", average="geometric", shown="summary"),
    Entry("Rprec_mult", "points", MULTIPLES),
    Entry("utility", "numbers", (1.0, -1.0, 0.0, 0.0)),
    Entry("11pt_avg", "list", RECALLS),
    Entry("binG"),
    Entry("G", "pairs"),
    Entry("dcg", "pairs"),
    Entry("ideal_dcg", "pairs"),
    Entry("ndcg", "pairs"),
    Entry("ndcg_rel", "pairs"),
    Entry("Rndcg", "pairs"),
    Entry("ndcg_cut", "cutoffs", RANKS),
    Entry("map_cut", "cutoffs", RANKS),
    Entry("relative_P", "cutoffs", RANKS),
    Entry("success", "cutoffs", (1, 5, 10)),
    Entry("set_P"),
    Entry("set_relative_P"),
    Entry("set_recall"),
    Entry("set_map"),
    Entry("set_F", "numbers", (1.0,)),
    _count("num_nonrel_judged_ret"),
    _count("prefs_num_prefs_poss", "preferences"),
    _count("prefs_num_prefs_ful", "preferences"),
    _count("prefs_num_prefs_ful_ret", "preferences"),
    *(Entry(name, kind="preferences") for name in _PREFERENCES.split()),
    Entry("map_avgjg", kind="groups"),
    Entry("P_avgjg", "cutoffs", RANKS, kind="groups"),
    Entry("Rprec_mult_avgjg", "points", MULTIPLES, kind="groups"),
    Entry("yaap"),
    Entry("rbp", "pairs", since=10),
    Entry("rbp_resid", "pairs", since=10),
    Entry("unj", "cutoffs", (5, 10, 20), since=10),
)

CATALOGUE = {entry.name: entry for entry in _ENTRIES}
"""All measures in the order in which they are printed."""

_NOT_IN_ALL_TREC = ("dcg", "ideal_dcg", "yaap")
_OFFICIAL = "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
_SET = "runid num_q num_ret num_rel num_rel_ret utility set_P set_recall set_relative_P set_map set_F"
_PREFS = "prefs_num_prefs_poss prefs_num_prefs_ful prefs_num_prefs_ful_ret prefs_simp prefs_pair prefs_avgjg"


def _of_kind(*kinds: Kind) -> tuple[str, ...]:
    return tuple(name for name, entry in CATALOGUE.items() if entry.kind in kinds)


NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": tuple(_OFFICIAL.split()),
    "set": tuple(_SET.split()),
    "all_trec": tuple(name for name in _of_kind("any", "grades") if name not in _NOT_IN_ALL_TREC),
    "all_prefs": _of_kind("any", "preferences"),
    "prefs": ("runid", "num_q", *_PREFS.split()),
    "qrels_jg": _of_kind("any", "groups"),
}
"""Names that stand for several measures."""
