"""What trec_eval can measure: names, parameters, how topics are averaged, and the printing order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rankproof.errors import UsageError, nearest

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


def _preference(name: str) -> Entry:
    return Entry(name, kind="preferences")


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
    _preference("prefs_simp"),
    _preference("prefs_pair"),
    _preference("prefs_avgjg"),
    _preference("prefs_avgjg_Rnonrel"),
    _preference("prefs_simp_ret"),
    _preference("prefs_pair_ret"),
    _preference("prefs_avgjg_ret"),
    _preference("prefs_avgjg_Rnonrel_ret"),
    _preference("prefs_simp_imp"),
    _preference("prefs_pair_imp"),
    _preference("prefs_avgjg_imp"),
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


def known_names(version: int) -> list[str]:
    """Every measure and nickname that a version understands."""
    return [*(name for name, entry in CATALOGUE.items() if entry.since <= version), *NICKNAMES]


def split_request(request: str, version: int) -> tuple[str, str | None]:
    """``ndcg_cut.5,10`` as name and parameters; the name must be known.

    >>> split_request("iprec_at_recall..10,.20", 10)
    ('iprec_at_recall', '.10,.20')
    """
    name, dot, parameters = request.partition(".")
    if dot and not parameters:
        raise UsageError(
            f"improper measure in parameter '{request}': nothing follows the point."
            " Next: write the cut-offs or the level after the point, as in P.5,10."
        )
    if name not in known_names(version):
        raise UsageError(
            f"illegal measure '{request}'.{nearest(name, known_names(version))}"
            " Next: see 'rankproof trec_eval -h'."
        )
    return name, parameters if dot else None


def wanted(names: Iterable[str], version: int) -> list[Entry]:
    """The measures meant by names and nicknames, in printing order."""
    chosen = {name for given in names for name in NICKNAMES.get(given, (given,))}
    return [entry for name, entry in CATALOGUE.items() if name in chosen and entry.since <= version]
