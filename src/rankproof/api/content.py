"""Collecting what a report shows: plain values from scores and a comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.api.cases import cases_of
from rankproof.api.comparison import Comparison
from rankproof.api.deciding import first_measure, hardest, hits_of, relevant_from, relevant_in_words, sign_of
from rankproof.api.limits import ends
from rankproof.api.scores import Scores
from rankproof.core.docstrings import sections
from rankproof.core.explained import Case
from rankproof.core.hits import Array, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measures.interpolated import best_precision
from rankproof.errors import DataError, shorten
from rankproof.io.texts import QUERY_TEXT, read_texts, read_titles
from rankproof.reporting.html.charts import Bar
from rankproof.reporting.html.content import (
    BUCKETS,
    DEPTHS,
    RECALLS,
    Content,
    Definition,
    Moved,
    Ranks,
    System,
)
from rankproof.stats.intervals import Interval, intervals

HARDEST = 40
"""Queries that get a line of the heat map."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What people call things: the title of the page, the texts of queries, the titles of documents."""

    title: str
    queries: Any = None
    documents: Any = None


def collect(
    judgments: Judgments,
    scores: Mapping[str, Scores],
    compared: Comparison | None,
    texts: Texts,
    alpha: float,
) -> Content:
    """Everything a report shows."""
    leader = _leader(scores)
    shown = _shown(scores, leader, compared)
    cases = tuple(cases_of(judgments, scores, shown, compared))
    moved = () if compared is None else tuple(_moved(compared))
    ranks = tuple(_ranks(scores, shown))
    named = _named(cases, moved, ranks)
    first = scores[leader]
    bars, method = _all_bars(scores, 1 - alpha)
    return Content(
        title=texts.title,
        queries=len(judgments.queries),
        documents=len(judgments.docs),
        systems=tuple(_system(name, each, bars[name]) for name, each in scores.items()),
        definitions=tuple(_definitions(first)),
        leader=leader,
        shown=shown,
        conventions=tuple(first.conventions.in_words()),
        method=method,
        level=1 - alpha,
        relevant=relevant_in_words(first),
        comparison=None if compared is None else _view(compared),
        moved=moved,
        duels=_duels(list(scores.values())) if len(scores) > 1 else (),
        buckets={name: _buckets(hits_of(each), relevant_from(each)) for name, each in scores.items()},
        ranks=ranks,
        cases=cases,
        findings=tuple(_findings(scores)),
        texts=query_texts(texts.queries, judgments.queries, named[0]),
        titles=read_titles(texts.documents, named[1]),
        profile=first.conventions.profile,
        version=_version(),
    )


def query_texts(source: Any, judged: Sequence[str], shown: Collection[str]) -> dict[str, str]:
    """The texts of the queries that are shown; an error where the source has the text of no judged query."""
    found = read_texts(source, set(judged), QUERY_TEXT)
    if source is not None and judged and not found:
        raise DataError(
            f"queries: has the text of none of the {len(judged)} judged queries, as {shorten(judged[0])}. "
            "Next: check that the ids are those of the judgments."
        )
    return {query: text for query, text in found.items() if query in shown}


def _version() -> str:
    from rankproof import __version__

    return __version__


# --- which systems and queries ---------------------------------------------------------------------


def _leader(scores: Mapping[str, Scores]) -> str:
    """The system with the best mean of the first measure."""
    return max(scores, key=lambda name: sign_of(scores[name]) * scores[name][first_measure(scores[name])])


def _shown(scores: Mapping[str, Scores], leader: str, compared: Comparison | None) -> tuple[str, ...]:
    """The baseline and the best of the others; a system alone for itself."""
    if compared is None:
        return (leader,)
    others = {name: each for name, each in scores.items() if name != compared.baseline}
    return compared.baseline, _leader(others)


def _named(
    cases: Sequence[Case], moved: Sequence[Moved], ranks: Sequence[Ranks]
) -> tuple[set[str], set[str]]:
    """The queries and the documents that the page speaks of."""
    ends = [query for each in moved for query, _ in (*each.values[:5], *each.values[-5:])]
    queries = {*ends, *(each.query for each in ranks), *(each.query for each in cases)}
    sides = [own for each in cases for _, own in each.sides]
    listed = {line.document for own in sides for line in own.lines[:10]}
    return queries, listed | {document for own in sides for document, _ in own.missed}


# --- systems ---------------------------------------------------------------------------------------


def _all_bars(scores: Mapping[str, Scores], level: float) -> tuple[dict[str, tuple[Bar, ...]], str]:
    """The bars of every system, and in words how their intervals were made."""
    found = {name: _uncertainties(each, level) for name, each in scores.items()}
    bars = {name: tuple(_bar(each, *pair) for pair in found[name].items()) for name, each in scores.items()}
    methods = dict.fromkeys(each.method for by_measure in found.values() for each in by_measure.values())
    return bars, "; ".join(methods)


def _uncertainties(scores: Scores, level: float) -> dict[str, Interval]:
    """What `Scores.uncertainty` gives for each measure."""
    columns = list(scores.columns.values())
    found = intervals(
        [each.counting for each in columns],
        level=level,
        averages=[each.measure.spec.average for each in columns],
        bounds=[ends(scores, name) for name in scores],
    )
    return dict(zip(scores, found, strict=True))


def _bar(scores: Scores, measure: str, found: Interval) -> Bar:
    split = scores.split(measure) or (None, None)
    return Bar(measure, scores[measure], found.low, found.high, scores.ceiling(measure), *split)


def _system(name: str, scores: Scores, bars: tuple[Bar, ...]) -> System:
    first, hits, rel = first_measure(scores), hits_of(scores), relevant_from(scores)
    curve = (float(best_precision(hits, at, rel, "nearest").mean()) for at in RECALLS)
    slices = {group: (len(part.column(first).counting), part[first]) for group, part in scores.slices.items()}
    return System(name, bars, tuple(curve), tuple(_success(hits, rel)), slices)


def _success(hits: Hits, rel: float) -> Iterator[float]:
    """For each depth the share of queries with something relevant down to it."""
    for k in DEPTHS:
        yield float((hits.top(k).relevant(rel).count() > 0).mean())


def _definitions(scores: Scores) -> Iterator[Definition]:
    for column in scores.columns.values():
        spec = column.measure.spec
        yield Definition(column.measure.name, spec.title, sections(spec.doc).get("Formula", ""), spec.higher)


def _findings(scores: Mapping[str, Scores]) -> Iterator[tuple[Any, list[str]]]:
    """Each finding once, with the systems it is about."""
    found: dict[str, tuple[Any, list[str]]] = {}
    for name, each in scores.items():
        for finding in each.audit:
            found.setdefault(str(finding), (finding, []))[1].append(name)
    order = ("error", "warning", "note")
    yield from sorted(found.values(), key=lambda pair: order.index(pair[0].severity))


# --- against each other ----------------------------------------------------------------------------


def _view(compared: Comparison) -> dict[str, Any]:
    return {
        "rows": [each.to_dict() for each in compared.rows],
        "baseline": compared.baseline,
        "winner": compared.winner,
        "alpha": compared.alpha,
        "margin": compared.margin,
        "correction": compared.correction,
        "data": compared.data,
    }


def _moved(compared: Comparison) -> Iterator[Moved]:
    """The differences of each system, turned so that more is better, the greatest gain first."""
    sign = sign_of(compared.scores[compared.baseline])
    for name in compared.scores:
        if name != compared.baseline:
            turned = [(query, sign * value) for query, value in compared.moved(name)]
            yield Moved(name, tuple(sorted(turned, key=lambda pair: -pair[1])))


def _duels(scores: Sequence[Scores]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """For each pair of systems on how many queries the one wins, and loses."""
    values = [sign_of(each) * each.column(first_measure(each)).values for each in scores]
    return tuple(
        tuple((int((mine > theirs).sum()), int((mine < theirs).sum())) for theirs in values)
        for mine in values
    )


# --- ranks -----------------------------------------------------------------------------------------


def _counts(hits: Hits, rel: float) -> Array:
    """For each query how many relevant documents stand in each bucket, then those not found."""
    good = hits.relevant(rel)
    starts = np.array([low for low, _ in BUCKETS])
    bucket = np.searchsorted(starts, good.rank, side="right") - 1
    size = len(BUCKETS)
    table = np.bincount(good.query * size + bucket, minlength=hits.n * size).reshape(hits.n, size)
    wanted = hits.ideal.relevant(rel).count().astype(int)
    missing = np.maximum(wanted - table.sum(axis=1), 0)
    return np.column_stack([table, missing])


def _buckets(hits: Hits, rel: float) -> tuple[int, ...]:
    return tuple(_counts(hits, rel).sum(axis=0).tolist())


def _ranks(scores: Mapping[str, Scores], shown: Sequence[str]) -> Iterator[Ranks]:
    """The queries that the last system shown finds hardest, those without a relevant document left out."""
    tables = [_counts(hits_of(scores[name]), relevant_from(scores[name])) for name in shown]
    for row in hardest(scores[shown[-1]], tables[0].sum(axis=1) > 0)[:HARDEST]:
        counts = tuple(tuple(table[row].tolist()) for table in tables)
        yield Ranks(scores[shown[-1]].queries[row], counts)
