"""What projects import from pytrec_eval, over rankproof's measures: change one import line.

    from rankproof.compat import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrel, {"map", "ndcg_cut.10"})
    evaluator.evaluate(run)

Values are those of trec_eval 9, whose code pytrec_eval contains. Inputs that made that code end the process, or
guess, are an error here: a cut-off of 0, a score that is NaN, a grade that is not a whole number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from rankproof.compat.trec_eval.columns import conventions, cut, values_of
from rankproof.compat.trec_eval.files import CATALOGUE, NICKNAMES
from rankproof.compat.trec_eval.options import OptionColumn, Options, columns_of
from rankproof.core.hits import Array, Hits
from rankproof.core.join import Census, join
from rankproof.errors import DataError, UsageError, check_each, check_whole, explain_calls, not_known, shorten
from rankproof.io.load import load_judgments, load_ranking

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

supported_nicknames: dict[str, set[str]] = {
    name: {each for each in members if CATALOGUE[each].since == 9} for name, members in NICKNAMES.items()
}
"""Names that stand for several measures."""

supported_measures: set[str] = set(supported_nicknames["all_trec"])
"""The measures that are available."""

_VERSION: Literal[9] = 9
T = TypeVar("T", int, float)
_NUMBERS = re.compile(r"[0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*")


@explain_calls
class RelevanceEvaluator:
    """Evaluates runs against judgments.

    >>> evaluator = RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"map", "P_1"})
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 0.9}})
    {'q1': {'map': 0.5, 'P_1': 0.0}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        """Prepare judgments `{query: {document: grade}}` and measures for any number of runs."""
        judged = {query: grades for query, grades in _plain(query_relevance).items() if grades is None or len(grades)}
        self._judgments = known = load_judgments(judged)
        fraction = np.flatnonzero(known.grade != np.trunc(known.grade))
        if len(fraction):
            where, grade = shorten(known.queries[known.query[fraction[0]]]), known.grade[fraction[0]]
            raise DataError(f"query {where}: got grade {grade:g}, expected a whole number. Next: round it")
        # pytrec_eval takes True for 1
        whole = int(relevance_level) if isinstance(relevance_level, bool) else relevance_level
        level = check_whole("relevance_level", whole, advice="give one")
        self._options = Options(_VERSION, level=level, judged_only=judged_docs_only_flag)
        self._values = {
            column.name if column.at is not None else column.entry.name: _values(column, self._options)
            for column in _columns(measures)
        }

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """The values of each query that is both judged and in the run, by the names of trec_eval."""
        order = conventions(_VERSION)
        blocks = load_ranking(_plain(scores)).blocks(self._judgments, order, Census()) if scores else ()
        hits = cut(join(self._judgments, blocks, order), self._options)
        columns = [values(hits).tolist() for values in self._values.values()]
        rows = list(zip(*columns, strict=True)) if columns else [()] * hits.n
        places = ((query, self._judgments.index.get(str(query))) for query in scores or ())
        return {query: dict(zip(self._values, rows[at], strict=True)) for query, at in places if at is not None}


def _values(column: OptionColumn, options: Options) -> Callable[[Hits], Array]:
    if column.entry.average == "none":
        return lambda hits: np.full(hits.n, float(column.entry.whole))
    return values_of(column, options)


def _plain(table: Mapping[Any, Any]) -> dict[Any, Any]:
    """The table with True and False as 1 and 0, as pytrec_eval takes them; only where they are is it copied."""
    return {
        query: {doc: int(value) if value is True or value is False else value for doc, value in row.items()}
        if isinstance(row, Mapping) and bool in set(map(type, row.values()))
        else row
        for query, row in table.items()
    }


def _columns(measures: Iterable[str]) -> list[OptionColumn]:
    """The requested columns, in trec_eval's order."""
    wanted: dict[str, list[str]] = {}
    measures = check_each("measures", measures, str, "names of measures")
    asked = [name for each in measures for name in sorted(supported_nicknames.get(each, {each}))]
    for name, parameters in map(_split, asked):
        known = wanted.setdefault(name, [])
        known.extend(each for each in parameters if CATALOGUE[name].takes == "numbers" or each not in known)
    entries = [entry for name, entry in CATALOGUE.items() if name in wanted]
    given = {name: ",".join(parameters) or None for name, parameters in wanted.items()}
    return [column for entry in entries for column in columns_of(entry, given[entry.name], [])]


def _split(measure: str) -> tuple[str, list[str]]:
    """``ndcg_cut_10`` or ``ndcg_cut.5,10`` as name and cut-offs."""
    if measure in supported_measures:
        return measure, []
    for name in supported_measures:
        if measure.startswith((f"{name}.", f"{name}_")) and _NUMBERS.fullmatch(measure[len(name) + 1 :]):
            return name, measure[len(name) + 1 :].split(",")
    raise not_known(f"unsupported measure {measure}", measure, supported_measures, "choose from supported_measures")


@explain_calls
def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """``query Q0 document rank score run`` lines as ``{query: {document: score}}``.

    >>> parse_run(["q1 Q0 d1 1 2.5 bm25"])
    {'q1': {'d1': 2.5}}
    """
    return _table(f_run, 6, 4, float, "a number as score")


@explain_calls
def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """``query 0 document grade`` lines as ``{query: {document: grade}}``.

    >>> parse_qrel(["q1 0 d1 2"])
    {'q1': {'d1': 2}}
    """
    return _table(f_qrel, 4, 3, int, "a whole number as grade")


def _table(
    lines: Iterable[str], expected: int, place: int, kind: Callable[[str], T], what: str
) -> dict[str, dict[str, T]]:
    """By query and document the numbers that stand at a place of the lines."""
    table: dict[str, dict[str, T]] = {}
    for number, fields in enumerate(map(str.split, lines), 1):
        if not fields:
            continue
        if len(fields) != expected:
            raise DataError(
                f"line {number}: got {len(fields)} fields in {shorten(' '.join(fields))}, expected {expected}. "
                "Next: correct the line."
            )
        query, document, text = fields[0], fields[2], fields[place]
        if document in table.setdefault(query, {}):
            raise DataError(
                f"line {number}: document {shorten(document)} comes a second time for its query. "
                "Next: keep one of the lines."
            )
        try:
            table[query][document] = kind(text)
        except ValueError:
            raise DataError(f"line {number}: got {text!r}, expected {what}. Next: correct the line.") from None
    return table


@explain_calls
def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """The values of all queries in one: a sum for counts, a geometric mean for ``gm_``, else the mean.

    >>> compute_aggregated_measure("num_ret", [10, 20]), compute_aggregated_measure("map", [0.25, 0.75])
    (30.0, 0.5)
    """
    if not len(values):
        raise UsageError(f"{measure}: got no values, expected at least one. Next: check the results.")
    if measure.startswith("num_"):
        return float(np.sum(values))
    mean = float(np.sum(values)) / len(values)
    return float(np.exp(mean)) if measure.startswith("gm_") else mean
