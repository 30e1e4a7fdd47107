"""The result of `compare`: a row for each system and measure, and the scores behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np

from rankproof.comparing.alignment import soundness, with_rankings
from rankproof.comparing.conclusions import BROKEN, answer_first, serious_findings
from rankproof.core.arrays import Array
from rankproof.core.audit import Finding
from rankproof.core.expected_and_extreme_values import by_id
from rankproof.core.explanation import ExplainedCase
from rankproof.core.hits import ABOVE_ZERO, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.scoring import CLOSE, ceiling
from rankproof.core.table import RankingTable
from rankproof.document.model import Document, PlainData, Result
from rankproof.errors import DataError, NotThere, UsageError, check_one_of, check_whole, shorten
from rankproof.io.trec import TrecRankings
from rankproof.scoring.explain import explain_scores
from rankproof.scoring.protocol import ScoresLike
from rankproof.scoring.scores import Scores


@dataclass(frozen=True, slots=True)
class ComparisonRow(PlainData):
    """One system compared with the baseline on one measure, over all queries or a slice."""

    system: str
    baseline: str
    measure: str
    slice: str
    """The group of queries; "" for all."""
    n: int
    mean: float | None
    """None if too few of the samples could be measured to show a mean."""
    difference: float
    """The system's mean minus the baseline's, over the `n` queries for which both have a value."""
    low: float | None
    high: float | None
    p: float
    p_corrected: float
    """p after the correction for all rows compared at once."""
    effect: float | None
    """The mean difference in standard deviations of the differences."""
    detectable: float | None
    """The smallest true difference that gets a verdict from this many queries at least four times out of five."""
    queries_needed: int | None
    """How many queries a true difference as large as the one seen needs for that; None if no number does."""
    wins: int
    ties: int
    losses: int
    verdict: str
    """better, worse, equivalent (within the margin) or unclear."""
    note: str = ""
    detectable_note: str = ""
    """Why no detectable difference can be named, if none can."""
    needed_note: str = ""
    """Why no number of queries can be named, if none can."""
    corrected: float | None = None
    """The difference, corrected for a judge's error by labels of people; None if there are none."""
    corrected_low: float | None = None
    corrected_high: float | None = None
    coverage: float | None = None
    """The share of the system's verdicts that the judge decided; None if no judge was asked."""
    possible_low: float | None = None
    possible_high: float | None = None
    """The system's mean over all samples, with the undecided ones at their worst and at their best."""
    margin_note: str = ""
    """Why it is not called equivalent, if the interval lies within the margin."""


@dataclass(eq=False)
class Comparison(Result):
    """Every system compared with the baseline: rows, and the scores behind them."""

    rows: list[ComparisonRow]
    scores: dict[str, ScoresLike]
    baseline: str
    alpha: float
    margin: float | None
    correction: str
    names: list[str] = field(default_factory=list)
    """The canonical names of the measures, the deciding one first."""
    notes: list[str] = field(default_factory=list)
    """Notes beside the rows: how scores differ that were compared anyway."""
    pairs: list[ComparisonRow] = field(default_factory=list)
    """Every system compared with every other, corrected as a separate family, with `all_pairs`."""
    doubts: dict[str, str] = field(default_factory=dict)
    """For each system about which nothing is decided, why: it left too many queries unanswered, or the audit finds
    errors in its data and in the baseline's."""

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self.rows)

    def row(self, system: str, measure: str | Measure, slice: str = "") -> ComparisonRow:
        """The row of one system on one measure."""
        name = self.scores[self.baseline].key(measure)
        for each in self.rows:
            if (each.system, each.measure, each.slice) == (system, name, slice):
                return each
        others = ", ".join(dict.fromkeys(each.system for each in self.rows))
        raise NotThere(
            f"no row of {shorten(system)} on {name}; there are {others}, each against {self.baseline}. "
            "Next: name one of these."
        )

    @property
    def winner(self) -> str | None:
        """The system that is better than the baseline on the first measure and has the best mean; else None."""
        better = [each for each in self._deciding if each.verdict == "better"]
        return max(better, key=lambda each: self._sign(each.measure) * (each.mean or 0.0)).system if better else None

    @property
    def _deciding(self) -> list[ComparisonRow]:
        return [each for each in self.rows if each.measure == self.names[0] and not each.slice]

    def _sign(self, measure: str | Measure) -> int:
        return self.scores[self.baseline].column(measure).measure.spec.sign

    @property
    def queries(self) -> int:
        """How many queries were compared."""
        return len(self.scores[self.baseline].queries)

    @property
    def baseline_means(self) -> dict[str, float | None]:
        """The baseline's mean of each measure; None if it is over too few of the samples to be shown."""
        first = self.scores[self.baseline]
        return {name: None if first.thin(name) else first[name] for name in self.names}

    @property
    def headline(self) -> str:
        """The leader, in a sentence, if every system was compared with every other; else empty."""
        return ""

    def moved(self, system: str, measure: str | Measure | None = None) -> list[tuple[str, float]]:
        """Each query with its difference to the baseline, the largest losses first."""
        name = measure if measure is not None else self.names[0]
        check_one_of("system", system, self.scores)
        mine, theirs = self.scores[system].values(name), self.scores[self.baseline].values(name)
        both = sorted(mine.keys() & theirs.keys(), key=by_id)
        differences = [(query, mine[query] - theirs[query]) for query in both]
        return sorted(differences, key=itemgetter(1), reverse=self._sign(name) < 0)

    @cached_property
    def data(self) -> dict[str, dict[str, Any]]:
        """For each system what limits its scores: unanswered queries, documents nobody judged, errors."""
        proven = {each.measure for each in self.rows if each.verdict in ("better", "worse") and not each.slice}
        decided = [name for name in self.names if name in proven]
        return {
            name: asdict(soundness(each, each.column(self.names[0]).measure, decided))
            for name, each in self.scores.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        plain = ("baseline", "alpha", "margin", "correction", "winner", "notes", "data", "doubts")
        return {
            **{name: getattr(self, name) for name in plain},
            "rows": [each.to_dict() for each in self.rows],
            "pairs": [each.to_dict() for each in self.pairs],
            "scores": {name: each.to_dict() for name, each in self.scores.items()},
        }

    def cases(self, n: int = 3, system: str | None = None) -> tuple[ExplainedCase, ...]:
        """The `n` queries that lost most on the first measure and the `n` that won most, with both ranked lists.

        By default the system is the best one other than the baseline.
        """
        others, first = {name: each for name, each in self.scores.items() if name != self.baseline}, self.names[0]
        if system is None:
            system = max(others, key=lambda name: self._sign(first) * others[name][first])
        check_one_of("system", system, others)
        return moved_cases(self, system, check_whole("cases", n, advice="ask for 1 or more"))

    def format(self, name: str = "table", worst: int = 0) -> str:
        """The comparison as text in the format of that name, one of `formats()`.

        Texts and pages have the `worst` queries that lost most, and as many that won most, list beside list.
        """
        return self._printed(name, worst=worst)

    def _document(self, worst: int = 0) -> Document:
        from rankproof.comparing.words import comparison as words

        return words(self, cases=self.cases(worst) if worst else ())

    @cached_property
    def findings(self) -> list[tuple[Finding, list[str]]]:
        """Each serious finding once, with the systems it is about."""
        return serious_findings(self.scores)

    @property
    def wrong(self) -> list[str]:
        """Why numbers must not be trusted: queries without an answer, and the errors of the audit."""
        errors = [f"{', '.join(names)}: {each}" for each, names in self.findings if each.severity == "error"]
        return [*self.unanswered, *errors]

    @property
    def unanswered(self) -> list[str]:
        """The systems that left too many queries unanswered for a verdict, and what to do."""
        return [answer_first(why) for why in self.doubts.values() if not why.startswith(BROKEN)]

    def _in_one_line(self) -> str:
        others = ", ".join(name for name in self.scores if name != self.baseline)
        kind, won = type(self).__name__, self.winner
        return f"<{kind} with {self.baseline} by {self.names[0]}, winner: {won or 'none'}; {others}>"


CASES = 5
"""Queries that lost most; in all twice as many are shown."""


def cases_of(
    judgments: Judgments, scores: Mapping[str, Scores], shown: Sequence[str], compared: Comparison | None
) -> Iterator[ExplainedCase]:
    """The queries that lost most, then those with the lowest values, with the lists of the systems shown."""
    chosen: dict[str, str] = {}
    if compared is not None:
        sign, moved = compared._sign(compared.names[0]), compared.moved(shown[-1])[:CASES]
        chosen = {query: "lost most" for query, value in moved if sign * value < 0}
    for query in _lowest([scores[name] for name in shown]):
        if len(chosen) < 2 * CASES:
            chosen.setdefault(query, "among the lowest")
    return _explained(judgments, scores, shown, chosen)


def moved_cases(compared: Comparison, system: str, n: int) -> tuple[ExplainedCase, ...]:
    """The queries that lost most against the baseline, then those that won most, under both systems."""
    shown = (compared.baseline, system)
    scores = with_rankings({name: compared.scores[name] for name in shown})
    judgments = scores[system].judgments if system in scores else None
    if judgments is None or any(each.ranking is None for each in scores.values()):
        raise UsageError("there are no rankings behind these scores, so no lists to show. Next: compare the files.")
    sign, moved = compared._sign(compared.names[0]), compared.moved(system)
    lost = [pair for pair in moved[:n] if sign * pair[1] < 0]
    won = [pair for pair in moved[::-1][:n] if sign * pair[1] > 0]
    chosen = {query: f"{word} {abs(by):.4f}" for word, some in (("lost", lost), ("won", won)) for query, by in some}
    return tuple(_explained(judgments, scores, shown, chosen))


def _explained(
    judgments: Judgments, scores: Mapping[str, Scores], shown: Sequence[str], chosen: Mapping[str, str]
) -> Iterator[ExplainedCase]:
    """The chosen queries, each with why it was chosen, under the systems shown."""
    tables = {name: _tables(scores[name].ranking, set(chosen)) for name in shown}
    for query, why in chosen.items():
        sides = ((name, explain_scores(scores[name], judgments, tables[name][query], query)) for name in shown)
        yield ExplainedCase(query, why, tuple(sides))


def _lowest(shown: Sequence[ScoresLike]) -> list[str]:
    """The queries that one of the systems answers worst; left out are those that all answer perfectly."""
    first, measure = shown[0], next(iter(shown[0].columns.values())).measure
    values = np.array([sign_of(each) * each.column(measure).values for each in shown])
    answerable = hits_of(first).ideal.relevant(relevant_from(first)).count() > 0
    best = sign_of(first) * ceiling(measure, hits_of(first))
    short = answerable & ~(values >= best - CLOSE).all(axis=0)
    order = np.lexsort((values.sum(axis=0), values.min(axis=0))).tolist()
    return [first.queries[row] for row in order if short[row]]


def _tables(ranking: Any, queries: set[str]) -> dict[str, RankingTable]:
    """One table of rows for each query, so that no query is searched for in all rows."""
    whole = ranking.table_near(*queries) if isinstance(ranking, TrecRankings) else ranking.table()
    rows: dict[str, list[int]] = {query: [] for query in queries}
    for row, query in enumerate(whole.query):
        if query in rows:
            rows[query].append(row)
    return {query: whole.take(which) for query, which in rows.items()}


def sign_of(scores: ScoresLike) -> int:
    """1 if more of the deciding measure is better, else -1."""
    return next(iter(scores.columns.values())).measure.spec.sign


def hits_of(scores: ScoresLike) -> Hits:
    """The hits that the scores were made from."""
    if not isinstance(scores, Scores) or scores.hits is None:
        raise DataError("there are no rankings behind these scores. Next: evaluate again.")
    return scores.hits


def relevant_from(scores: ScoresLike) -> float:
    """The lowest grade that is relevant to the deciding measure: any above 0 if it sets none."""
    rel = next(iter(scores.columns.values())).measure.rel
    return float(1 if rel is None else rel) or ABOVE_ZERO


def hardest_queries(scores: ScoresLike, among: Array) -> list[int]:
    """The queries picked by `among`, those with the worst values first."""
    values = sign_of(scores) * scores.column(first_measure(scores)).values
    return [row for row in np.argsort(values, kind="stable").tolist() if among[row]]


def first_measure(scores: ScoresLike) -> str:
    """The name of the deciding measure."""
    return next(iter(scores))
