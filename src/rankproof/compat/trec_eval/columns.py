"""The values of columns for topics: trec_eval's names over rankproof's measures, and how trec_eval sums them up."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from rankproof.compat.trec_eval.files import Average, JudgedFile, Norm
from rankproof.compat.trec_eval.options import OptionColumn, Options
from rankproof.core.arrays import FLOOR
from rankproof.core.conventions import Conventions, condense
from rankproof.core.hits import ABOVE_ZERO, Array, Hits, PerQuery, ratio
from rankproof.core.judgments import Order, Preferences, group
from rankproof.core.measure import Measure
from rankproof.core.measures.ndcg_and_err import discounted_gain
from rankproof.core.measures.sets import relevant_count, weighted_f
from rankproof.core.names import parse
from rankproof.errors import UsageError


@dataclass(frozen=True)
class Topics:
    """The topics to evaluate in the order of printing."""

    shown: tuple[str, ...]
    divisor: int
    """By how many topics means are divided."""
    missing: str | None = None
    """The first judged topic without results, if that stops the evaluation."""


def select_topics(judged: Iterable[str], answered: Collection[str], version: int, complete: bool) -> Topics:
    """Version 9 evaluates answered topics and counts the others only in the divisor; 10 evaluates all.

    >>> select_topics(["q2", "q1"], {"q1"}, 9, complete=True)
    Topics(shown=('q1',), divisor=2, missing=None)
    """
    ordered = tuple(sorted(judged))
    if version == 10 and complete:
        return Topics(ordered, len(ordered))
    both = tuple(topic for topic in ordered if topic in answered)
    if version == 9:
        return Topics(both, len(ordered) if complete else len(both))
    missing = next((topic for topic in ordered if topic not in answered), None)
    shown = both if missing is None else ordered[: ordered.index(missing)]
    return Topics(shown, len(shown), missing)


def conventions(version: int) -> Conventions:
    """The order of documents in a version: 9 compares scores in single precision."""
    return Conventions(precision="float32" if version == 9 else "float64")


def cut(hits: Hits, options: Options) -> Hits:
    """The hits that are measured: first cut at the depth, then reduced to judged documents.

    With -c version 10 gives a topic without results one document that nobody judged. A negative grade means "in the
    pool, but not judged".
    """
    if options.complete and options.version == 10 and hits.answered is not None:
        hits = replace(hits, retrieved=np.where(hits.answered, hits.retrieved, 1))
    if options.depth is not None:
        hits = replace(hits.top(options.depth), retrieved=np.minimum(hits.retrieved, options.depth))
    return condense(hits.keep(hits.grade >= 0)) if options.judged_only else hits


def relevance_strings(hits: Hits, length: int) -> list[str]:
    """The grades of the first documents, one character each.

    '-' for a document outside the pool, '.' for one in it that was not judged, '>' for more than 9.
    """
    length = max(length, 0)
    strings = [["-"] * min(n, length) for n in hits.retrieved.tolist()]
    shown = hits.top(length)
    for query, rank, grade in zip(shown.query.tolist(), shown.rank.tolist(), shown.grade.tolist(), strict=True):
        strings[query][rank - 1] = "." if grade < 0 else ">" if grade > 9 else str(int(grade))
    return ["".join(string) for string in strings]


Value: TypeAlias = float | str

NO_ZSCORE = -1000000.0
"""What stands for a z-score whose mean and deviation are not known."""


def zscore(value: Value, norm: Norm | None) -> Value:
    """(value - mean) / deviation; a text stays as it is.

    >>> zscore(0.5, Norm(0.3, 0.1))
    2.0
    """
    if isinstance(value, str):
        return value
    if norm is None:
        return NO_ZSCORE
    if norm.deviation == 0:
        return 0.0 if value == norm.mean else NO_ZSCORE
    return (value - norm.mean) / norm.deviation


def summary(average: Average, values: Array, topics: int) -> float:
    """The values of the topics evaluated as one number, over `topics` topics."""
    # The plain sum from first to last, so that its last bit is trec_eval's.
    total = float(np.cumsum(values)[-1])
    if average == "geometric":
        # Topics without results enter with the floor: their sum of logarithms would be perfect.
        return math.exp((total + (topics - len(values)) * math.log(FLOOR)) / topics)
    return total / topics if average == "mean" else total


def preference_value(name: str, known: Preferences) -> float:
    """The value of the measure that trec_eval calls `name`."""
    return float(parse(name)(known))


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
Maker: TypeAlias = Callable[[OptionColumn, Options], Formula]


def values_of(column: OptionColumn, options: Options) -> Callable[[Hits], Array]:
    """A function that gives the value of the column for every query of some hits."""
    if column.entry.name == "relstring":
        return lambda hits: np.array([f"'{text}'" for text in relevance_strings(hits, int(column.numbers[0]))])
    formula = FORMULAS.get(column.entry.name, _ours)(column, options)
    if column.entry.average == "geometric":
        return lambda hits: np.log(np.maximum(formula(hits), FLOOR))
    return formula


def _ours(column: OptionColumn, options: Options) -> Measure:
    """The measure that we know by that name, at the column's rank or multiple of R, or with its gains, which -l does
    not touch."""
    measure, takes = parse(column.entry.name.removesuffix("_avgjg")), column.entry.takes
    if takes == "pairs":
        return measure.with_params({"gain": _gain_above_0(column)})
    at = {"cutoffs": "k", "points": "multiple"}.get(takes)
    return measure.with_params({"rel": options.level, **({at: _cutoff(column)} if at else {})})


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


def _dcg(column: OptionColumn, options: Options) -> Formula:
    """DCG, of gains below 0 too, which the measure itself refuses."""
    gain = _gain(column)
    return lambda h: discounted_gain(h.valued(gain))


def _ideal_dcg(column: OptionColumn, options: Options) -> Formula:
    """The DCG of the best order by gain, which ends where gains would fall below 0."""
    dcg, gain = parse("DCG"), _gain(column)
    return lambda h: dcg(h.valued(gain).ideal)


def _at_recall(recall: float, options: Options) -> Measure:
    rounding = "trec_eval-9" if options.version == 9 else "nearest"
    return parse("IPrec").with_params({"recall": recall, "rel": options.level, "rounding": rounding})


def _mean_over_points(column: OptionColumn, options: Options) -> Formula:
    points = [_at_recall(recall, options) for recall in column.numbers]
    return lambda h: sum((point(h) for point in points), np.zeros(h.n)) / len(points)


def _f(column: OptionColumn, options: Options) -> Formula:
    """F, whose parameter is beta squared here."""
    weight = column.numbers[0]
    if weight < 0:
        raise UsageError(
            f"{column.name}: the weight of recall is {weight:g}, expected at least 0. Next: give a weight of 0 or more."
        )
    return lambda hits: weighted_f(hits, None, options.level, weight)


def _utility(column: OptionColumn, options: Options) -> Formula:
    prices = dict(zip("abcd", column.numbers, strict=True))
    if prices["d"] and not options.corpus:
        raise UsageError(f"{column.name}: the last price needs the size of the collection. Next: -N DOCUMENTS")
    utility = parse("Utility").with_params({"rel": options.level, **prices})
    return lambda h: utility(replace(h, corpus_size=options.corpus or None))


def _biased(column: OptionColumn, options: Options) -> Formula:
    """RBP as version 10 has it: every gain as a share of the topic's largest."""
    rbp = parse("RBP").with_params({"p": column.pairs.get("p", 0.9), "gain": "topic", "rel": ABOVE_ZERO})
    gain = _gain_above_0(column)
    return lambda h: rbp(h.valued(gain))


FORMULAS: dict[str, Maker] = {
    "num_ret": lambda column, options: parse("NumRet"),
    "iprec_at_recall": lambda column, options: _at_recall(_cutoff(column), options),
    "utility": _utility,
    "11pt_avg": _mean_over_points,
    "dcg": _dcg,
    "ideal_dcg": _ideal_dcg,
    "ndcg": lambda column, options: lambda h: ratio(_dcg(column, options)(h), _ideal_dcg(column, options)(h)),
    # nDCG at the levels of gain; trec_eval computes it only where a document is relevant.
    "Rndcg": lambda column, options: lambda h: _ours(column, options)(h) * (relevant_count(h, options.level) > 0),
    "ndcg_cut": lambda column, options: parse("nDCG") @ int(_cutoff(column)),
    "set_F": _f,
    "rbp": _biased,
    "rbp_resid": lambda column, options: parse("RBPResidual(negative='unjudged', tail='unjudged')").with_params(
        {"p": column.pairs.get("p", 0.9)}
    ),
    "unj": lambda column, options: parse("Unjudged(denominator='k', negative='unjudged')") @ int(_cutoff(column)),
}
"""The measures of trec_eval that take more than our measure of the same name does, or are none of ours."""
