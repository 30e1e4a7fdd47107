"""Collecting what a report shows: plain values from scores and a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.api.compare import Comparison
from rankproof.api.explain import explained
from rankproof.api.scores import SEED, Scores
from rankproof.core.docstrings import sections
from rankproof.core.hits import Array, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measures.interpolated import best_precision
from rankproof.core.table import RankingTable
from rankproof.errors import DataError
from rankproof.io.texts import DOCUMENT_TITLE, QUERY_TEXT, read_texts
from rankproof.reporting.html.content import (
    BUCKETS,
    DEPTHS,
    RECALLS,
    Bar,
    Case,
    Content,
    Definition,
    Moved,
    Ranks,
    System,
)
from rankproof.stats.intervals import interval

CASES = 5
"""Queries that lost most, and as many with the lowest values, whose lists are shown."""
HARDEST = 40
"""Queries that get a line of the heat map."""
ABOVE_ZERO = float(np.nextafter(0, 1))
RESAMPLES = 2_000
"""Resamples behind an interval of a page, which shows fewer digits than a table."""


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
    cases = tuple(_cases(judgments, scores, shown, compared))
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
        relevant="a grade above 0" if _rel(first) == ABOVE_ZERO else f"a grade of {_rel(first):g} or more",
        comparison=None if compared is None else _view(compared),
        moved=moved,
        duels=_duels(list(scores.values())) if len(scores) > 1 else (),
        buckets={name: _buckets(_hits(each), _rel(each)) for name, each in scores.items()},
        ranks=ranks,
        cases=cases,
        findings=tuple(_findings(scores)),
        texts=read_texts(texts.queries, named[0], QUERY_TEXT),
        titles=read_texts(texts.documents, named[1], DOCUMENT_TITLE),
        profile=first.conventions.profile,
        version=_version(),
    )


def _version() -> str:
    from rankproof import __version__

    return __version__


# --- which systems and queries ---------------------------------------------------------------------


def _sign(scores: Scores) -> int:
    """1 where more of the deciding measure is better, else -1."""
    return 1 if next(iter(scores.columns.values())).measure.spec.higher else -1


def _first(scores: Scores) -> str:
    return next(iter(scores))


def _leader(scores: Mapping[str, Scores]) -> str:
    """The system with the best mean of the first measure."""
    return max(scores, key=lambda name: _sign(scores[name]) * scores[name][_first(scores[name])])


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


def _hits(scores: Scores) -> Hits:
    if scores.hits is None:
        raise DataError("there are no rankings behind these scores. Next: evaluate again.")
    return scores.hits


def _rel(scores: Scores) -> float:
    """From which grade on the deciding measure calls a document relevant: any above 0 where it asks for none."""
    return float(next(iter(scores.columns.values())).measure.params.get("rel", 1)) or ABOVE_ZERO


def _all_bars(scores: Mapping[str, Scores], level: float) -> tuple[dict[str, tuple[Bar, ...]], str]:
    """The bars of every system, and in words how their intervals were made."""
    bars: dict[str, tuple[Bar, ...]] = {}
    methods: dict[str, None] = {}
    for name, each in scores.items():
        pairs = [_bar(each, measure, level) for measure in each]
        bars[name] = tuple(bar for bar, _ in pairs)
        methods.update(dict.fromkeys(method for _, method in pairs))
    return bars, "; ".join(methods)


def _bar(scores: Scores, measure: str, level: float) -> tuple[Bar, str]:
    column = scores.column(measure)
    rng = np.random.default_rng(SEED)
    found = interval(column.counting, rng, level, column.measure.spec.average, RESAMPLES)
    low, high = (column.mean if np.isnan(end) else end for end in (found.low, found.high))
    split = scores.split(measure) or (None, None)
    return Bar(measure, column.mean, low, high, scores.ceiling(measure), *split), found.method


def _system(name: str, scores: Scores, bars: tuple[Bar, ...]) -> System:
    first, hits, rel = _first(scores), _hits(scores), _rel(scores)
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
    }


def _moved(compared: Comparison) -> Iterator[Moved]:
    """The differences of each system, turned so that more is better, the greatest gain first."""
    sign = _sign(compared.scores[compared.baseline])
    for name in compared.scores:
        if name != compared.baseline:
            turned = [(query, sign * value) for query, value in compared.moved(name)]
            yield Moved(name, tuple(sorted(turned, key=lambda pair: -pair[1])))


def _duels(scores: Sequence[Scores]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """For each pair of systems on how many queries the one wins, and loses."""
    values = [_sign(each) * each.column(_first(each)).values for each in scores]
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
    tables = [_counts(_hits(scores[name]), _rel(scores[name])) for name in shown]
    for row in _hardest(scores[shown[-1]], tables[0].sum(axis=1) > 0)[:HARDEST]:
        counts = tuple(tuple(table[row].tolist()) for table in tables)
        yield Ranks(scores[shown[-1]].queries[row], counts)


def _hardest(scores: Scores, among: Array) -> list[int]:
    values = _sign(scores) * scores.column(_first(scores)).values
    return [row for row in np.argsort(values, kind="stable").tolist() if among[row]]


# --- single queries --------------------------------------------------------------------------------


def _cases(
    judgments: Judgments, scores: Mapping[str, Scores], shown: Sequence[str], compared: Comparison | None
) -> Iterator[Case]:
    """The queries that lost most, then those with the lowest values, with the lists of the systems shown."""
    chosen = _chosen(judgments, scores[shown[-1]], shown[-1], compared)
    tables = {name: _tables(scores[name].ranking, set(chosen)) for name in shown}
    for query, why in chosen.items():
        sides = ((name, explained(scores[name], judgments, tables[name][query], query)) for name in shown)
        yield Case(query, why, tuple(sides))


def _chosen(judgments: Judgments, scores: Scores, name: str, compared: Comparison | None) -> dict[str, str]:
    """Queries, and why each is shown."""
    chosen: dict[str, str] = {}
    if compared is not None:
        sign = _sign(scores)
        moved = sorted(compared.moved(name), key=lambda pair: sign * pair[1])
        chosen = {query: "lost most" for query, value in moved[:CASES] if sign * value < 0}
    answerable = np.diff(judgments.start) > 0
    answerable &= _hits(scores).ideal.relevant(_rel(scores)).count() > 0
    for row in _hardest(scores, answerable)[: 2 * CASES]:
        if len(chosen) < 2 * CASES:
            chosen.setdefault(scores.queries[row], "among the lowest")
    return chosen


def _tables(ranking: Any, queries: set[str]) -> dict[str, RankingTable]:
    """The rows of each of the queries as a table of its own, so that none is looked for in all rows."""
    whole = ranking.table()
    rows: dict[str, list[int]] = {query: [] for query in queries}
    for row, query in enumerate(whole.query):
        if query in rows:
            rows[query].append(row)
    return {query: _part(whole, which) for query, which in rows.items()}


def _part(table: RankingTable, rows: list[int]) -> RankingTable:
    def pick(column: Array | None) -> Array | None:
        return None if column is None else column[rows]

    return RankingTable(
        query=[table.query[row] for row in rows],
        doc=[table.doc[row] for row in rows],
        score=pick(table.score),
        rank=pick(table.rank),
        source=table.source,
    )
