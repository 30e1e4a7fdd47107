"""From the files to the values of every column, for the three kinds of judgments trec_eval knows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

import numpy as np

from rankproof.compat.trec_eval.catalogue import Kind
from rankproof.compat.trec_eval.columns import Setting, preference_series, values_of
from rankproof.compat.trec_eval.files import (
    Judged,
    Rankings,
    in_order,
    rankings_of,
    read_preferences,
    reading,
)
from rankproof.compat.trec_eval.options import Column, Options
from rankproof.compat.trec_eval.results import (
    Cut,
    Results,
    Series,
    Topics,
    Value,
    conventions,
    cut,
    select_topics,
)
from rankproof.core.hits import Hits
from rankproof.core.join import Census, join
from rankproof.core.judgments import Judgments, judgments_from_rows
from rankproof.errors import DataError, shorten
from rankproof.io.mappings import MappingRankings
from rankproof.io.trec import TrecRankings, read_qrels

KINDS: dict[str, Kind] = {
    "qrels": "grades",
    "qrels_jg": "groups",
    "prefs": "preferences",
    "qrels_prefs": "preferences",
}
"""What kind of judgments each format holds."""

_UNTOUCHED = ("num_ret", "utility", "relstring", "rbp_resid")
"""What is 0 for a topic without results, although one unjudged document stands in for them."""


@dataclass(frozen=True)
class Evaluation:
    """The values of all columns, and what the summary needs besides."""

    topics: Topics
    results: Results
    fixed: dict[str, Value]
    notes: tuple[str, ...] = ()


def evaluate_files(judgments: str, results: str, columns: Sequence[Column], options: Options) -> Evaluation:
    """Every column for every topic evaluated."""
    return _EVALUATE[KINDS[options.judgment_format]](judgments, results, columns, options)


# --- one judge: grades ----------------------------------------------------------------------------


def _evaluate_grades(judgments: str, results: str, columns: Sequence[Column], options: Options) -> Evaluation:
    known, notes = _whole_grades(_without_aspects(read_qrels(judgments, all_comments=True)))
    order = conventions(options.version)
    hits = reading(results, lambda run: join(known, run.blocks(known, order, Census()), order))
    answered = _answered(known.queries, hits)
    topics = select_topics(known.queries, answered, options.version, options.complete)
    measured = cut(hits, _cut(options))
    rows = [known.index[topic] for topic in topics.shown]
    absent = [place for place, topic in enumerate(topics.shown) if topic not in answered]
    series = [_grade_series(column, measured, rows, absent, options) for column in columns]
    return Evaluation(topics, Results(topics.shown, series), _fixed(known, options), notes)


def _without_aspects(judgments: Judgments) -> Judgments:
    """The judgments with the second column ignored: a document must then not come twice."""
    facets = judgments.facets
    if facets is None:
        return judgments
    twice = np.flatnonzero(np.diff(facets.start) > 1)
    if len(twice):
        row = int(twice[0])
        query = judgments.queries[int(judgments.query[row])]
        raise DataError(
            f"{judgments.source}: document {shorten(judgments.docs[row])} of topic {shorten(query)} is "
            "judged twice, with a different second column. Next: -R qrels_jg takes that for several judges"
        )
    return replace(judgments, facets=None)


def _whole_grades(judgments: Judgments) -> tuple[Judgments, tuple[str, ...]]:
    """Grades cut to whole numbers, as trec_eval reads them; that is said where it changes one."""
    whole = np.trunc(judgments.grade)
    changed = int(np.count_nonzero(whole != judgments.grade))
    if not changed:
        return judgments, ()
    note = (
        f"{changed} grades with a fraction are cut to whole numbers. Next: rankproof evaluate keeps fractions"
    )
    return replace(judgments, grade=whole), (note,)


def _answered(queries: Sequence[str], hits: Hits) -> set[str]:
    if hits.answered is None:
        return set(queries)
    return {queries[i] for i in np.flatnonzero(hits.answered).tolist()}


def _cut(options: Options) -> Cut:
    return Cut(options.depth, options.judged_only, stand_in=options.complete and options.version == 10)


def _setting(options: Options) -> Setting:
    return Setting(options.version, options.level, options.corpus)


def _grade_series(
    column: Column, hits: Hits, rows: Sequence[int], absent: Sequence[int], options: Options
) -> Series:
    everywhere = values_of(column, _setting(options))(hits)
    values = [everywhere[row] for row in rows]
    if column.name in _UNTOUCHED or column.entry.name == "unj":
        for place in absent:
            values[place] = "''" if column.entry.name == "relstring" else 0.0
    return Series(column, values)


def _fixed(judgments: Judgments, options: Options) -> dict[str, Value]:
    """With -c the relevant documents of all topics are counted, at any positive grade."""
    return {"num_rel": float(np.count_nonzero(judgments.grade > 0))} if options.complete else {}


# --- several judges: grades by judgment group -----------------------------------------------------


def _evaluate_groups(judgments: str, results: str, columns: Sequence[Column], options: Options) -> Evaluation:
    rows = sorted(read_preferences(judgments, parts=False), key=attrgetter("topic", "judge"))
    rankings = rankings_of(reading(results, TrecRankings.table))
    topics = select_topics({row.topic for row in rows}, rankings, options.version, options.complete)
    hits = cut(_hits_by_judge(rows, rankings, options), _cut(options))
    judges = [topic for (topic, _), _ in groupby(rows, key=attrgetter("topic", "judge"))]
    series = [_group_series(column, hits, judges, topics.shown, options) for column in columns]
    return Evaluation(topics, Results(topics.shown, series), {})


def _hits_by_judge(rows: Sequence[Judged], rankings: Rankings, options: Options) -> Hits:
    """Hits in which every judge of a topic is a query of its own."""
    names = [f"{row.topic} {row.judge}" for row in rows]
    known = judgments_from_rows(
        names, [row.document for row in rows], [float(int(row.level)) for row in rows]
    )
    topic_of = {name: row.topic for name, row in zip(names, rows, strict=True)}
    repeated = {name: rankings[topic] for name, topic in topic_of.items() if topic in rankings}
    order = conventions(options.version)
    return join(known, MappingRankings(repeated).blocks(known, order, Census()), order)


def _group_series(
    column: Column, hits: Hits, judges: Sequence[str], shown: Collection[str], options: Options
) -> Series:
    """The mean over the judges of each topic."""
    values = values_of(column, _setting(options))(hits)
    by_topic: dict[str, list[float]] = {}
    for topic, value in zip(judges, values, strict=True):
        by_topic.setdefault(topic, []).append(float(value))
    return Series(column, [sum(by_topic[topic]) / len(by_topic[topic]) for topic in shown])


# --- preferences ----------------------------------------------------------------------------------


def _evaluate_preferences(
    judgments: str, results: str, columns: Sequence[Column], options: Options
) -> Evaluation:
    rows = read_preferences(judgments, parts=options.judgment_format == "prefs")
    rankings = rankings_of(reading(results, TrecRankings.table))
    by_topic = _by_topic(rows)
    topics = select_topics(by_topic, rankings, options.version, options.complete)
    wanted = {topic: by_topic[topic] for topic in topics.shown}
    ordered = {
        topic: in_order(rankings[topic], options.version, options.depth)
        for topic in topics.shown
        if topic in rankings
    }
    return Evaluation(topics, Results(topics.shown, preference_series(columns, wanted, ordered)), {})


def _by_topic(rows: Iterable[Judged]) -> dict[str, list[Judged]]:
    by_topic: dict[str, list[Judged]] = {}
    for row in rows:
        by_topic.setdefault(row.topic, []).append(row)
    return by_topic


_EVALUATE: dict[Kind, Callable[[str, str, Sequence[Column], Options], Evaluation]] = {
    "grades": _evaluate_grades,
    "groups": _evaluate_groups,
    "preferences": _evaluate_preferences,
}
