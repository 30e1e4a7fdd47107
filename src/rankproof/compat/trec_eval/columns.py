"""The values of a column: trec_eval's names over rankproof's measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from rankproof.compat.trec_eval.files import JudgedFile
from rankproof.compat.trec_eval.options import OptionColumn
from rankproof.compat.trec_eval.results import FLOOR, ResultSeries, relevance_strings
from rankproof.core.hits import Hits, PerQuery, ratio
from rankproof.core.judgments import Order, Preferences, group
from rankproof.core.measure import Measure
from rankproof.core.measures.sets import relevant_count, weighted_f
from rankproof.core.names import parse
from rankproof.errors import UsageError


def preference_series(
    columns: Sequence[OptionColumn], topics: Mapping[str, Sequence[JudgedFile]], rankings: Mapping[str, Sequence[str]]
) -> list[ResultSeries]:
    """The columns for topics with their judgments, given the documents retrieved in order."""
    known = [preferences(rows, rankings.get(topic, ())) for topic, rows in topics.items()]
    return [ResultSeries(column, [preference_value(column.entry.name, each) for each in known]) for column in columns]


def preference_value(name: str, known: Preferences) -> float:
    """The value of the measure that trec_eval calls `name`."""
    measure = parse(name)
    return float(measure.spec.function(known, **measure.params))


def preferences(rows: Sequence[JudgedFile], ranking: Sequence[str]) -> Preferences:
    """What the judges of a topic prefer, its documents numbered by their rank in the ranking.

    >>> rows = [JudgedFile("t", "j", "", "a", 1), JudgedFile("t", "j", "", "b", 0)]
    >>> preference_value("prefs_simp", preferences(rows, ["b", "x", "a"]))
    0.0
    """
    judged = {row.document for row in rows}
    retrieved = [document for document in ranking if document in judged]
    missed = sorted(judged.difference(retrieved))
    number = {document: place for place, document in enumerate([*retrieved, *missed])}

    def order(part: Iterable[JudgedFile]) -> Order:
        places, levels = zip(*((number[row.document], row.level) for row in part), strict=True)
        return Order(np.array(places), np.array(levels))

    by_judge = groupby(sorted(rows, key=attrgetter("judge", "part")), key=attrgetter("judge"))
    parts = ([order(part) for _, part in groupby(own, key=attrgetter("part"))] for _, own in by_judge)
    return Preferences([group(each, len(number)) for each in parts], len(retrieved))


Formula: TypeAlias = Callable[[Hits], PerQuery]

LEAST = 5e-324
"""The smallest gain there is: what gains anything counts."""


@dataclass(frozen=True)
class Setting:
    """What the command line says about all measures."""

    version: int = 10
    level: int = 1
    corpus: int = 0


Maker: TypeAlias = Callable[[OptionColumn, Setting], Formula]


def values_of(column: OptionColumn, setting: Setting) -> Callable[[Hits], Sequence[Any]]:
    """A function that gives the value of the column for every query of some hits."""
    if column.entry.name == "relstring":
        return lambda hits: [f"'{text}'" for text in relevance_strings(hits, int(column.numbers[0]))]
    formula = FORMULAS[column.entry.name.removesuffix("_avgjg")](column, setting)
    if column.entry.average == "geometric":
        return lambda hits: list(np.log(np.maximum(formula(hits), FLOOR)).tolist())
    return lambda hits: list(formula(hits).tolist())


# --- formulas -------------------------------------------------------------------------------------


def _plain(name: str, **params: Any) -> Maker:
    """A measure of relevance without a cut-off."""
    return lambda column, setting: parse(name).with_params({"rel": setting.level, **params})


def _at(name: str, parameter: str = "k") -> Maker:
    """A measure of relevance at the column's rank, or its multiple of R."""

    def make(column: OptionColumn, setting: Setting) -> Measure:
        return parse(name).with_params({"rel": setting.level, parameter: _cutoff(column)})

    return make


def _graded(name: str) -> Maker:
    """A measure of gains; -l does not touch it."""
    return lambda column, setting: parse(name).with_params({"gain": _gain_above_0(column)})


def _cutoff(column: OptionColumn) -> float:
    """The rank of a column, or its point; columns of measures that have neither do not come here."""
    at = column.at or 0.0
    return int(at) if column.entry.takes == "cutoffs" else at


def _gain(column: OptionColumn) -> Any:
    """The gains on the command line; a grade without one is its own gain."""
    gains = {int(grade): value for grade, value in column.pairs.items() if grade != "p"}
    return gains or "linear"


def _gain_above_0(column: OptionColumn) -> Any:
    lowest = min(column.pairs.values(), default=0)
    if lowest < 0:
        raise UsageError(
            f"{column.name}: the gain {lowest:g} is below 0, which only ndcg and dcg can count."
            " Next: give gains of 0 or more, or choose ndcg or dcg."
        )
    return _gain(column)


def _dcg(column: OptionColumn, setting: Setting) -> Measure:
    return parse("DCG").with_params({"gain": _gain(column)})


def _ideal_dcg(column: OptionColumn, setting: Setting) -> Formula:
    """The DCG of the best order by gain, which ends where gains would fall below 0."""
    dcg, gain = parse("DCG"), _gain(column)
    return lambda h: dcg(h.valued(gain).ideal)


def _ndcg(column: OptionColumn, setting: Setting) -> Formula:
    """nDCG; if a gain is below 0, the ideal order stops before it."""
    if min(column.pairs.values(), default=0) >= 0:
        return _graded("nDCG")(column, setting)
    dcg, ideal = _dcg(column, setting), _ideal_dcg(column, setting)
    return lambda h: ratio(dcg(h), ideal(h))


def _at_recall(recall: float, setting: Setting) -> Measure:
    rounding = "trec_eval-9" if setting.version == 9 else "nearest"
    return parse("IPrec").with_params({"recall": recall, "rel": setting.level, "rounding": rounding})


def _mean_over_points(column: OptionColumn, setting: Setting) -> Formula:
    points = [_at_recall(recall, setting) for recall in column.numbers]
    return lambda h: sum((point(h) for point in points), np.zeros(h.n)) / len(points)


def _levels(column: OptionColumn, setting: Setting) -> Formula:
    """nDCG at the levels of gain; trec_eval computes it only where a document is relevant."""
    return lambda h: _graded("RnDCG")(column, setting)(h) * (relevant_count(h, setting.level) > 0)


def _f(column: OptionColumn, setting: Setting) -> Formula:
    """F, whose parameter is beta squared here."""
    weight = column.numbers[0]
    if weight < 0:
        raise UsageError(
            f"{column.name}: the weight of recall is {weight:g}, expected at least 0. Next: give a weight of 0 or more."
        )
    return lambda hits: weighted_f(hits, None, setting.level, weight)


def _utility(column: OptionColumn, setting: Setting) -> Formula:
    prices = dict(zip("abcd", column.numbers, strict=True))
    if prices["d"] and not setting.corpus:
        raise UsageError(f"{column.name}: the last price needs the size of the collection. Next: -N DOCUMENTS")
    utility = parse("Utility").with_params({"rel": setting.level, **prices})
    return lambda h: utility(replace(h, corpus_size=setting.corpus or None))


def _biased(column: OptionColumn, setting: Setting) -> Formula:
    """RBP as version 10 has it: every gain as a share of the topic's largest."""
    rbp = parse("RBP").with_params({"p": column.pairs.get("p", 0.9), "gain": "topic", "rel": LEAST})
    gain = _gain_above_0(column)
    return lambda h: rbp(h.valued(gain))


def _residual(column: OptionColumn, setting: Setting) -> Formula:
    choices = {"negative": "unjudged", "tail": "unjudged"}
    return parse("RBPResidual").with_params({"p": column.pairs.get("p", 0.9), **choices})


def _unjudged(column: OptionColumn, setting: Setting) -> Formula:
    return parse("Unjudged").with_params({"k": _cutoff(column), "denominator": "k", "negative": "unjudged"})


FORMULAS: dict[str, Maker] = {
    "num_ret": lambda column, setting: parse("NumRet"),
    "num_rel": _plain("NumRel"),
    "num_rel_ret": _plain("NumRelRet"),
    "map": _plain("AP"),
    "gm_map": _plain("GMAP"),
    "Rprec": _plain("Rprec"),
    "bpref": _plain("bpref"),
    "recip_rank": _plain("RR"),
    "iprec_at_recall": lambda column, setting: _at_recall(_cutoff(column), setting),
    "P": _at("P"),
    "recall": _at("R"),
    "infAP": _plain("infAP"),
    "gm_bpref": _plain("GMbpref"),
    "Rprec_mult": _at("RprecMult", "multiple"),
    "utility": _utility,
    "11pt_avg": _mean_over_points,
    "binG": _plain("binG"),
    "G": _graded("G"),
    "dcg": _dcg,
    "ideal_dcg": _ideal_dcg,
    "ndcg": _ndcg,
    "ndcg_rel": _graded("nDCGrel"),
    "Rndcg": _levels,
    "ndcg_cut": lambda column, setting: parse("nDCG") @ int(_cutoff(column)),
    "map_cut": _at("AP"),
    "relative_P": _at("RelP"),
    "success": _at("Success"),
    "set_P": _plain("P"),
    "set_relative_P": _plain("RelP"),
    "set_recall": _plain("R"),
    "set_map": _plain("SetAP"),
    "set_F": _f,
    "num_nonrel_judged_ret": _plain("NumNonrelJudgedRet"),
    "yaap": _plain("yaap"),
    "rbp": _biased,
    "rbp_resid": _residual,
    "unj": _unjudged,
}
"""Every measure of trec_eval as the measure of rankproof that has the same definition."""
