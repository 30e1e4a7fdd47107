"""The content of a report, as plain values, and how it is collected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np

from rankproof.comparing.comparison import (
    Comparison,
    cases_of,
    first_measure,
    hardest_queries,
    hits_of,
    relevant_from,
    sign_of,
)
from rankproof.core.explanation import ExplainedCase
from rankproof.core.hits import ABOVE_ZERO, Array
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.measures.interpolated_precision import interpolated_precision
from rankproof.diagnosing import Diagnosis
from rankproof.document.charts import Bar
from rankproof.document.model import Displayable
from rankproof.errors import DataError, shorten
from rankproof.io.corpora import QUERY_TEXT, read_texts, read_titles
from rankproof.scoring.scores import Scores
from rankproof.stats.intervals import GUESSED

BUCKETS = ((1, 1), (2, 3), (4, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, None))
"""The ranks, from and to, that one column of the heat map stands for."""
RANK_HEADINGS = (*(f"{a}+" if b is None else f"{a}" if a == b else f"{a}-{b}" for a, b in BUCKETS), "not found")
LOST = ("measure", "system", "reached", "ranked too low", "never found", "ceiling")
RECALLS = tuple(i / 10 for i in range(11))
DEPTHS = tuple(range(1, 21))
"""The depths k at which success is drawn."""


@dataclass(frozen=True, slots=True)
class System(Displayable):
    """One system over all queries."""

    name: str
    bars: tuple[Bar, ...]
    """One a measure, the deciding one first."""
    precision: tuple[float, ...]
    """Interpolated precision at `RECALLS`."""
    success: tuple[float, ...]
    """The share of queries with something relevant in the top `DEPTHS`."""
    slices: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    """For each group the number of queries and the mean of the deciding measure."""


@dataclass(frozen=True, slots=True)
class Content(Displayable):
    """All content of a report."""

    title: str
    queries: int
    documents: int
    """Judged documents."""
    systems: tuple[System, ...]
    definitions: tuple[Measure, ...]
    """The measures, the deciding one first."""
    leader: str
    """The system with the best mean of the deciding measure."""
    shown: tuple[str, ...]
    """The systems of which single queries are shown: the baseline and another."""
    conventions: tuple[str, ...]
    method: str
    level: float = 0.95
    relevant: str = "grade 1 or more"
    """The definition of relevant wherever documents are counted."""
    comparison: Comparison | None = None
    """Rows against the baseline and the verdicts; None for one system alone."""
    permutations: int = 0
    """How many sign flips were drawn at most for each p."""
    moved: Mapping[str, Sequence[tuple[str, float]]] = field(default_factory=dict)
    """For each other system query and difference on the deciding measure, turned so that more is better, the greatest
    gain first."""
    duels: tuple[tuple[tuple[int, int], ...], ...] = ()
    """For each system against each other: on how many queries it wins, and loses."""
    buckets: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """For each system how many relevant documents stand in each of `BUCKETS`, then those not found."""
    ranks: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    """For each query the same of each system shown."""
    cases: tuple[ExplainedCase, ...] = ()
    findings: tuple[tuple[Any, Sequence[str]], ...] = ()
    """The findings of the audit, and their systems."""
    texts: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    """The systems that left too many queries unanswered: nothing is decided about them."""
    guessed: tuple[str, ...] = ()
    """Measures without a bound: how far other queries may lie is assumed."""
    diagnosed: Diagnosis | None = None
    profile: str | None = None

    @property
    def measure(self) -> str:
        """The deciding measure."""
        return self.definitions[0].name

    @property
    def splits(self) -> list[int]:
        """The measures of which it is known for all systems what was never found, and what was ranked too low."""

        def is_split(i: int) -> bool:
            bars = (system.bars[i] for system in self.systems)
            return all(None not in (bar.never_found, bar.ranked_too_low) for bar in bars)

        return [i for i, each in enumerate(self.definitions) if each.spec.higher and is_split(i)]

    def bars_of(self, i: int) -> list[tuple[str, str, Bar]]:
        """Each system as it is drawn in the picture of a measure: its name, its role, its bar."""
        return [(each.name, self.role(each.name), each.bars[i]) for each in self.systems]

    @property
    def losses(self) -> Iterator[tuple[str, str, tuple[float | None, ...]]]:
        """By measure and system what is reached, ranked too low and never found, and the ceiling."""
        for i in self.splits:
            for system in self.systems:
                bar = system.bars[i]
                yield bar.measure, system.name, (bar.mean, bar.ranked_too_low, bar.never_found, bar.ceiling)

    def role(self, name: str) -> str:
        """How a system is drawn: `best`, `base` or `other`."""
        if name == self.leader:
            return "best"
        return "base" if self.comparison and name == self.comparison.baseline else "other"


HARDEST = 40
"""Queries that get a line of the heat map."""


def collect(
    judgments: Judgments,
    scores: Mapping[str, Scores],
    compared: Comparison | None,
    alpha: float,
    *,
    title: str,
    queries: Any,
    corpus: Any,
) -> Content:
    """Everything a report shows, with the texts of queries and the titles of documents for its readers."""
    leader = _leader(scores)
    shown = _shown(scores, leader, compared)
    cases = tuple(cases_of(judgments, scores, shown, compared))
    moved = {} if compared is None else dict(_moved(compared))
    counts = {name: _counts(each) for name, each in scores.items()}
    last, tables = scores[shown[-1]], [counts[name] for name in shown]
    # The queries that the last system shown finds hardest; those without a relevant document are left out.
    hardest = hardest_queries(last, tables[0].sum(axis=1) > 0)[:HARDEST]
    ranks = {last.queries[row]: [table[row].tolist() for table in tables] for row in hardest}
    named_queries, named_documents = _named(cases, moved, ranks)
    first, least = scores[leader], relevant_from(scores[leader])
    bars, made = _all_bars(scores, 1 - alpha)
    guessed = (name for way, names in made.items() if way.startswith(GUESSED) for name in names)
    return Content(
        title=title,
        queries=len(judgments.query_ids),
        documents=len(judgments.doc_ids),
        systems=tuple(_system(name, each, bars[name]) for name, each in scores.items()),
        definitions=tuple(each.measure for each in first.columns.values()),
        leader=leader,
        shown=shown,
        conventions=tuple(first.conventions.in_words()),
        method="; ".join(made),
        guessed=tuple(dict.fromkeys(guessed)),
        level=1 - alpha,
        relevant="a grade above 0" if least == ABOVE_ZERO else f"a grade of {least:g} or more",
        comparison=compared,
        moved=moved,
        duels=_duels(list(scores.values())) if len(scores) > 1 else (),
        buckets={name: tuple(each.sum(axis=0).tolist()) for name, each in counts.items()},
        ranks=ranks,
        cases=cases,
        findings=tuple(_findings(scores)),
        texts=query_texts(queries, judgments.query_ids, named_queries),
        titles=read_titles(corpus, named_documents),
        profile=first.conventions.profile,
    )


def query_texts(source: Any, judged: Sequence[str], shown: Collection[str]) -> dict[str, str]:
    """The texts of the queries that are shown; an error where the source has the text of no judged query."""
    found = read_texts(source, set(judged), QUERY_TEXT)
    if source is not None and judged and not found:
        raise DataError(
            f"queries: has the text of none of the {len(judged)} judged queries, for example {shorten(judged[0])}. "
            "Next: check that the ids are those of the judgments."
        )
    return {query: text for query, text in found.items() if query in shown}


def _leader(scores: Mapping[str, Scores]) -> str:
    return max(scores, key=lambda name: sign_of(scores[name]) * scores[name][first_measure(scores[name])])


def _shown(scores: Mapping[str, Scores], leader: str, compared: Comparison | None) -> tuple[str, ...]:
    """The baseline and the best of the others; a single system alone."""
    if compared is None:
        return (leader,)
    others = {name: each for name, each in scores.items() if name != compared.baseline}
    return compared.baseline, _leader(others)


def _named(
    cases: Sequence[ExplainedCase], moved: Mapping[str, Sequence[tuple[str, float]]], ranked: Iterable[str]
) -> tuple[set[str], set[str]]:
    ends = [query for values in moved.values() for query, _ in (*values[:5], *values[-5:])]
    queries = {*ends, *ranked, *(each.query for each in cases)}
    sides = [own for each in cases for _, own in each.sides]
    listed = {line.document for own in sides for line in own.lines[:10]}
    return queries, listed | {document for own in sides for document, _ in own.missed}


def _all_bars(
    scores: Mapping[str, Scores], level: float
) -> tuple[dict[str, tuple[Bar, ...]], dict[str, tuple[str, ...]]]:
    """The bars of every system, and the measures by how their intervals were made."""
    bars: dict[str, tuple[Bar, ...]] = {}
    made: dict[str, dict[str, None]] = {}
    for name, own in scores.items():
        drawn = []
        for measure in own:
            each = own.uncertainty(measure, level)
            made.setdefault(each.method, {})[measure] = None
            split = own.split(measure) or (None, None)
            drawn.append(Bar(measure, own[measure], each.low, each.high, own.ceiling(measure), *split))
        bars[name] = tuple(drawn)
    return bars, {method: tuple(measures) for method, measures in made.items()}


def _system(name: str, scores: Scores, bars: tuple[Bar, ...]) -> System:
    first, hits, rel = first_measure(scores), hits_of(scores), relevant_from(scores)
    curve = (float(interpolated_precision(hits, recall=at, rel=rel).mean()) for at in RECALLS)
    success = (float((hits.top(k).relevant(rel).count() > 0).mean()) for k in DEPTHS)
    slices = {group: (len(part.column(first).counting), part[first]) for group, part in scores.slices.items()}
    return System(name, bars, tuple(curve), tuple(success), slices)


def _findings(scores: Mapping[str, Scores]) -> Iterator[tuple[Any, list[str]]]:
    found: dict[str, tuple[Any, list[str]]] = {}
    for name, each in scores.items():
        for finding in each.audit:
            found.setdefault(str(finding), (finding, []))[1].append(name)
    order = ("error", "warning", "note")
    yield from sorted(found.values(), key=lambda pair: order.index(pair[0].severity))


def _moved(compared: Comparison) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """The differences of each system, turned so that more is better, the greatest gain first."""
    sign = compared._sign(compared.names[0])
    for name in compared.scores:
        if name != compared.baseline:
            turned = [(query, sign * value) for query, value in compared.moved(name)]
            yield name, sorted(turned, key=itemgetter(1), reverse=True)


def _duels(scores: Sequence[Scores]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """For each pair of systems on how many queries the one wins, and loses."""
    values = [sign_of(each) * each.column(first_measure(each)).values for each in scores]
    return tuple(
        tuple((int((mine > theirs).sum()), int((mine < theirs).sum())) for theirs in values) for mine in values
    )


def _counts(scores: Scores) -> Array:
    """For each query how many relevant documents stand in each bucket, then those not found."""
    hits, rel = hits_of(scores), relevant_from(scores)
    good = hits.relevant(rel)
    starts = np.array([low for low, _ in BUCKETS])
    bucket = np.searchsorted(starts, good.rank, side="right") - 1
    size = len(BUCKETS)
    table = np.bincount(good.query * size + bucket, minlength=hits.n * size).reshape(hits.n, size)
    wanted = hits.ideal.relevant(rel).count().astype(int)
    missing = np.maximum(wanted - table.sum(axis=1), 0)
    return np.column_stack([table, missing])
