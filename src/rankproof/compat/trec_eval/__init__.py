"""The command line of trec_eval over rankproof's measures: `main(arguments)` writes lines and returns an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter

import numpy as np

from rankproof.compat.trec_eval.columns import (
    Topics,
    Value,
    conventions,
    cut,
    preference_value,
    preferences,
    select_topics,
    summary,
    values_of,
    zscore,
)
from rankproof.compat.trec_eval.files import (
    Kind,
    in_order,
    rankings_of,
    read_preferences,
    read_zscores,
    run_id,
    use_rankings,
)
from rankproof.compat.trec_eval.options import OptionColumn, Options, help_text, parse_options, parse_requests, plan
from rankproof.core.arrays import Array, by_key
from rankproof.core.conventions import keep_one
from rankproof.core.join import Census, join
from rankproof.core.judgments import Judgments, judgments_from_rows
from rankproof.errors import DataError, RankproofError, UsageError, check_one_of, shorten
from rankproof.io.files import check_path
from rankproof.io.inputs import is_pipe, pipes_kept, read_side_by_side
from rankproof.io.mappings import MappingRankings
from rankproof.io.trec import TrecRankings, read_qrels

KINDS: dict[str, Kind] = {"qrels": "grades", "qrels_jg": "groups", "prefs": "preferences", "qrels_prefs": "preferences"}
"""What kind of judgments each format holds."""

_UNTOUCHED = ("num_ret", "utility", "relstring", "rbp_resid")
"""What is 0 for a topic without results, although one unjudged document stands in for them."""


@dataclass(frozen=True)
class Evaluation:
    """The values of all columns, and what the summary needs besides."""

    topics: Topics
    columns: dict[str, Array]
    """By the name of a column its numbers, or texts, topic by topic."""
    fixed: dict[str, Value] = field(default_factory=dict)
    """The values over all topics that are no means."""
    notes: list[str] = field(default_factory=list)


def _evaluate_grades(judgments: str, results: str, columns: Sequence[OptionColumn], options: Options) -> Evaluation:
    known = _without_aspects(read_qrels(judgments, all_comments=True))
    notes = []
    whole = np.trunc(known.grade)  # as trec_eval reads grades
    if changed := int(np.count_nonzero(whole != known.grade)):
        known = replace(known, grade=whole)
        notes = [f"{changed} grades with a fraction are cut to whole numbers. Next: rankproof evaluate keeps fractions"]
    order = conventions(options.version)
    hits = use_rankings(results, lambda run: join(known, run.blocks(known, order, Census()), order))
    some = range(hits.n) if hits.answered is None else np.flatnonzero(hits.answered).tolist()
    answered = {known.queries[i] for i in some}
    topics = select_topics(known.queries, answered, options.version, options.complete)
    measured = cut(hits, options)
    rows = [known.index[topic] for topic in topics.shown]
    absent = [place for place, topic in enumerate(topics.shown) if topic not in answered]
    series = {}
    for column in columns:
        values = values_of(column, options)(measured)[rows]
        if column.name in _UNTOUCHED or column.entry.name == "unj":
            values[absent] = "''" if column.entry.name == "relstring" else 0.0
        series[column.name] = values
    # With -c the relevant documents of all topics are counted, at any positive grade.
    fixed: dict[str, Value] = {"num_rel": float(np.count_nonzero(known.grade > 0))} if options.complete else {}
    return Evaluation(topics, series, fixed, notes)


def _without_aspects(judgments: Judgments) -> Judgments:
    """The judgments with the second column ignored: a document must then not come twice."""
    facets = judgments.facets
    if facets is None:
        return judgments
    twice = np.flatnonzero(np.diff(facets.start) > 1)
    if len(twice):
        row = int(twice[0])
        query = judgments.query_ids[int(judgments.query[row])]
        raise DataError(
            f"{judgments.source}: document {shorten(judgments.doc_ids[row])} of topic {shorten(query)} is "
            "judged twice, with a different second column. Next: -R qrels_jg takes that for several judges"
        )
    return replace(judgments, facets=None)


def _evaluate_groups(judgments: str, results: str, columns: Sequence[OptionColumn], options: Options) -> Evaluation:
    rows = sorted(read_preferences(judgments, parts=False), key=attrgetter("topic", "judge"))
    rankings = rankings_of(use_rankings(results, TrecRankings.table))
    topics = select_topics({row.topic for row in rows}, rankings, options.version, options.complete)
    # Hits in which every judge of a topic is a query of its own.
    names = [f"{row.topic} {row.judge}" for row in rows]
    known = judgments_from_rows(names, [row.document for row in rows], [float(int(row.level)) for row in rows])
    topic_of = {name: row.topic for name, row in zip(names, rows, strict=True)}
    repeated = {name: rankings[topic] for name, topic in topic_of.items() if topic in rankings}
    order = conventions(options.version)
    hits = cut(join(known, MappingRankings(repeated).blocks(known, order, Census()), order), options)
    judges = [topic for (topic, _), _ in groupby(rows, key=attrgetter("topic", "judge"))]
    series = {}
    for column in columns:  # the mean over the judges of each topic
        by_topic = by_key(zip(judges, values_of(column, options)(hits).tolist(), strict=True))
        series[column.name] = np.array([sum(by_topic[topic]) / len(by_topic[topic]) for topic in topics.shown])
    return Evaluation(topics, series)


def _evaluate_preferences(
    judgments: str, results: str, columns: Sequence[OptionColumn], options: Options
) -> Evaluation:
    rows = read_preferences(judgments, parts=options.judgment_format == "prefs")
    rankings = rankings_of(use_rankings(results, TrecRankings.table))
    by_topic = by_key((row.topic, row) for row in rows)
    topics = select_topics(by_topic, rankings, options.version, options.complete)
    ordered = (in_order(rankings.get(topic, {}), options.version, options.depth) for topic in topics.shown)
    judges = [preferences(by_topic[topic], ranking) for topic, ranking in zip(topics.shown, ordered, strict=True)]
    series = {each.name: np.array([preference_value(each.entry.name, known) for known in judges]) for each in columns}
    return Evaluation(topics, series)


_EVALUATE: dict[Kind, Callable[[str, str, Sequence[OptionColumn], Options], Evaluation]] = {
    "grades": _evaluate_grades,
    "groups": _evaluate_groups,
    "preferences": _evaluate_preferences,
}


def line(name: str, topic: str, value: Value, whole: bool, standardised: bool) -> str:
    """One line of output.

    >>> line("P_5", "301", 0.25, False, False)
    'P_5                   \\t301\\t0.2500'
    """
    if isinstance(value, str):
        return f"{name:<22}\t{topic}\t{value}"
    if standardised:
        return f"Z{name:<22}\t{topic}\t{value:6.4f}"
    return f"{name:<22}\t{topic}\t{int(value) if whole else format(value, '6.4f')}"


USAGE_CODE, INPUT, CALCULATION, NO_TOPICS = 1, 2, 4, 7
"""The exit codes of trec_eval: wrong usage, unreadable input, no value, nothing to evaluate."""


class StopError(RankproofError):
    """The program ends here, with this exit code."""

    def __init__(self, problem: object, code: int) -> None:
        """Stop for a problem with an exit code of trec_eval."""
        super().__init__(str(problem))
        self.exit_code = code


@contextmanager
def quits_with(code: int) -> Iterator[None]:
    """Errors inside end the program with the code trec_eval gives at this stage."""
    try:
        yield
    except StopError:
        raise
    except RankproofError as problem:
        said = str(problem).replace(keep_one(), "keep one of them.")
        if code == INPUT and " twice" in said:  # trec_eval notices that only when it calculates
            code = CALCULATION
        raise StopError(said, code) from problem


def main(arguments: Sequence[str]) -> int:
    """Do what trec_eval does with these arguments; the exit code is returned."""
    try:
        with quits_with(USAGE_CODE):
            options = parse_options(arguments)
        if options.show_version:
            print(f"trec_eval version {'9.0.8' if options.version == 9 else '10.0'}", file=sys.stderr)
        elif options.help:
            print(help_text())
        else:
            _evaluate(options)
    except StopError as problem:
        print(f"trec_eval: {problem}", file=sys.stderr)
        return problem.exit_code
    return 0


def _evaluate(options: Options) -> None:
    with quits_with(USAGE_CODE):
        requests = parse_requests(options.measures, options.version)
    with quits_with(INPUT):
        planned, notes = plan(requests, options.version)
        check_one_of("-R", options.judgment_format, KINDS)
        check_one_of("-T", options.result_format, ["trec_results"])
    with quits_with(CALCULATION):
        kind = KINDS[options.judgment_format]
        for column in planned:
            if column.entry.kind not in ("any", kind):
                fitting = [name for name, known in KINDS.items() if known == column.entry.kind]
                raise UsageError(
                    f"can't calculate measure '{column.entry.name}' from {options.judgment_format}. "
                    f"Next: -R {' or '.join(fitting)}"
                )
    with quits_with(INPUT), pipes_kept():
        judgments, results = options.files
        read_side_by_side(options.files)
        if not is_pipe(judgments):
            check_path(judgments)
        run = run_id(results)
        columns = [each for each in planned if each.entry.kind != "any"]
        evaluation = _EVALUATE[kind](judgments, results, columns, options)
        for note in (*notes, *evaluation.notes):
            print(f"trec_eval: note: {note}", file=sys.stderr)
        _print(planned, evaluation, options, run)


def _print(planned: Sequence[OptionColumn], evaluation: Evaluation, options: Options, run: str) -> None:
    topics, series = evaluation.topics, evaluation.columns
    standardised = options.zscores is not None
    if options.zscores is not None:
        norms = read_zscores(options.zscores)
        for name, values in series.items():
            pairs = zip(topics.shown, values, strict=True)
            series[name] = np.array([zscore(value, norms.get((topic, name))) for topic, value in pairs])
    if options.per_query:
        shown = [column for column in planned if column.entry.shown != "summary"]
        listed = [(column.name, column.entry.whole, series[column.name].tolist()) for column in shown]
        for place, topic in enumerate(topics.shown):
            lines = (line(name, topic, values[place], whole, standardised) for name, whole, values in listed)
            sys.stdout.writelines(f"{each}\n" for each in lines)
    if topics.missing:
        raise StopError(
            f"topic '{topics.missing}' is judged but has no results. Next: -c counts such topics as 0", CALCULATION
        )
    if not topics.shown:
        raise StopError(
            "no topic has both judgments and results. Next: check that both files name topics alike.", NO_TOPICS
        )
    if options.summary:
        fixed: dict[str, Value] = {**evaluation.fixed, "runid": run, "num_q": float(topics.divisor)}
        for name, entry in ((each.name, each.entry) for each in planned):
            if entry.shown != "topics":
                value = fixed[name] if name in fixed else summary(entry.average, series[name], topics.divisor)
                print(line(name, "all", value, entry.whole, standardised))
