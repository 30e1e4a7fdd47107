"""`evaluate`, `audit`, `agreement`: judgments and a ranking in, or two rankings, and scores or findings out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, Unpack

import numpy as np

from rankproof.core.arrays import HIGHEST_EXP, sample_of
from rankproof.core.audit import Audit, FindingCase
from rankproof.core.audit.full_audit import audit_full
from rankproof.core.audit.ids import NOTHING_SHARED, check_found, not_in_corpus, ranked_otherwise, relevant_in
from rankproof.core.audit.queries import beyond_queries
from rankproof.core.conventions import THIN, Conventions, Default, ScoringArguments
from rankproof.core.defaults import DEFAULT_MEASURES, PAIR_MEASURES
from rankproof.core.join import Census, join
from rankproof.core.judgments import Judgments, select_queries
from rankproof.core.measure import LARGEST, Measure
from rankproof.core.names import parse_all, parse_each
from rankproof.core.scoring import ScoreColumn, score_columns
from rankproof.core.table import best_first
from rankproof.document.numbers import for_face, setting
from rankproof.errors import DataError, UsageError, check_number, check_whole, old_arguments, shorten, unknown_arguments
from rankproof.io.groups import Grouping, group_places, groups_of
from rankproof.io.load import Columns, load_judgments, load_ranking, with_columns
from rankproof.io.values import is_frame, library_of
from rankproof.scoring.protocol import ScoresLike
from rankproof.scoring.scores import Scores

Measures = str | Measure | Iterable[str | Measure]


def prepare(judgments: Any) -> Judgments:
    """Read and check judgments once, for use with many rankings.

    >>> judgments = prepare({"q1": {"d1": 1}})
    >>> [evaluate(judgments, {"q1": ranking}, "RR")["RR"] for ranking in (["d1"], ["d2", "d1"])]
    [1.0, 0.5]
    """
    return load_judgments(judgments)


@old_arguments(corpus="corpus_size")
@with_columns
def evaluate(
    judgments: Any,
    ranking: Any,
    measures: Measures | None = None,
    *,
    profile: str | None = None,
    ties: str = Default("trec"),
    missing: str = Default("zero"),
    no_relevant: str = Default("zero"),
    unjudged: str = Default("nonrelevant"),
    duplicates: str = Default("error"),
    corpus_size: int | Mapping[str, Any] | None = None,
    context_k: int | None = None,
    by: Grouping | None = None,
    unjudged_grade: float = 1.0,
    damaged: str = "error",
    sample: float | None = None,
    columns: Columns = None,
) -> Scores:
    """Score a ranking against judgments.

    `judgments` is `{query: {document: grade}}`, `{query: [relevant documents]}`, a path, a data frame or rows;
    `ranking` is `{query: {document: score}}`, `{query: [documents, best first]}`, a path, a data frame or rows; a
    folder, a pattern like "runs/*.parquet" or a list of paths is one ranking in many files; with `damaged="skip"`
    files that cannot be read are left out, and named. `sample=100_000` scores only that many judged queries. A
    hash of their ids chooses them, so that they are the same everywhere, and a smaller sample is part of a larger one.
    `measures` are measures, their names, or both. `by` maps query ids to groups, for which scores are shown as well
    (or is a function, a file, a data frame of queries, or a column of the judgments).
    `corpus_size` is the number of documents, or the documents by id: then they are counted, and it is an error
    if hardly any of those judged relevant is among them.
    The other arguments are conventions: `rankproof.core.conventions.CHOICES` says in words what each does. A
    `profile` sets those that are not given.

    >>> scores = evaluate({"q1": {"d1": 3, "d2": 1}}, {"q1": ["d2", "d1", "d3"]}, "P@2, nDCG@3")
    >>> scores["P@2"], round(scores["nDCG@3"], 4)
    (1.0, 0.7967)
    """
    asked = parse_each(DEFAULT_MEASURES if measures is None else measures)
    check_kind(asked, "ranking", "see 'rankproof measures {}' for how it is used")
    conventions = Conventions(
        ties=ties,
        missing=missing,
        no_relevant=no_relevant,
        unjudged=unjudged,
        duplicates=duplicates,
        corpus_size=len(corpus_size) if isinstance(corpus_size, Mapping) else corpus_size,
        context_k=context_k,
        unjudged_grade=unjudged_grade,
    )
    names = {each.name: each for each in asked}
    if profile is not None:
        asked, conventions, names = apply_profile(profile, asked, conventions)
    if unjudged_grade != 1 and conventions.unjudged != "relevant":
        given = for_face(f"unjudged_grade={unjudged_grade:g}", f"--unjudged-grade {unjudged_grade:g}")
        raise UsageError(
            f"{given}: has no effect with {setting('unjudged', str(conventions.unjudged))}. "
            f"Next: add {setting('unjudged', 'relevant')}, or leave it out."
        )
    groups = None if by is None else groups_of(by, judgments)
    check_one(ranking)
    whole = load_judgments(judgments)
    if isinstance(corpus_size, Mapping):
        check_found(not_in_corpus(relevant_in(whole), set(map(str, corpus_size))))
    judged = whole if sample is None else sample_judgments(whole, sample)
    opened = load_ranking(ranking, damaged)
    if not judged.query_ids:
        raise DataError(
            f"{judged.source}: there are no judgments in it, so there is nothing to score. "
            "Next: check which file or table this is."
        )
    census = Census(notes=list(judged.notes))
    if judged.machine:
        census.made_by += [each for name in ("source", "tag") if (each := getattr(opened, name, ""))]
    hits = join(judged, opened.blocks(judged, conventions, census), conventions, census)
    if judged is not whole:  # most of the queries beside these are judged, but not in the sample
        census.extra = 0
    _check_grades(judged, asked)
    return Scores(
        query_ids=judged.query_ids,
        columns=score_columns(asked, hits, conventions, judged.query_ids),
        conventions=conventions,
        groups={} if groups is None else group_places(judged.query_ids, groups),
        beyond=None if groups is None else beyond_queries(judged.query_ids, groups),
        names={name: each.name for name, each in names.items()},
        library=library_of(ranking) or judged.library,
        hits=hits,
        judgments=judged,
        ranking=opened,
        census=census,
    )


def evaluate_each(judgments: Any, systems: Mapping[str, Any], measures: Measures, **settings: Any) -> dict[str, Scores]:
    """The scores of rankings by name under the same judgments; a name may be that of the model behind one."""
    ready = prepare(judgments)
    scores = {name: evaluate(ready, each, measures, **settings) for name, each in systems.items()}
    for name, each in scores.items():
        each.census.made_by.append(name)
    return scores


def sample_judgments(judgments: Judgments, size: float) -> Judgments:
    """The judgments of a sample of so many queries; all of them if there are no more."""
    n = int(size) if isinstance(size, float) and size.is_integer() else size
    n = check_whole("sample", n, 2, advice="give how many queries to score, like 100_000")
    count = len(judgments.query_ids)
    if n >= count:
        return judgments
    note = f"a sample of {n:,} of {count:,} judged queries, told by a hash; {sample_error_sentence(n)}"
    sample = select_queries(judgments, sample_of(judgments.query_ids, n))
    return replace(sample, notes=(*judgments.notes, note), sampled_from=judgments.query_ids)


def sample_error_sentence(n: int) -> str:
    """What a sample of n queries can show at worst, before anything is read.

    >>> sample_error_sentence(100_000)
    'a mean of values from 0 to 1 is known to +-0.0031 or better'
    """
    return f"a mean of values from 0 to 1 is known to +-{0.98 / math.sqrt(n):.2g} or better"


def check_one(ranking: Any) -> None:
    """Refuse a mapping of systems, whose names would be taken for query ids."""
    if not isinstance(ranking, Mapping) or not ranking:
        return
    name, first = next(iter(ranking.items()))
    if isinstance(first, Mapping):
        several = isinstance(next(iter(first.values()), None), (Mapping, list, tuple))
    elif isinstance(first, str):
        several = os.path.isfile(first)
    else:
        several = hasattr(type(first), "blocks") or is_frame(first) or isinstance(first, os.PathLike)
    if several:
        raise UsageError(
            f"ranking: got rankings by name ({', '.join(map(shorten, list(ranking)[:3]))}), expected one ranking. "
            f"Next: evaluate(judgments, rankings[{name!r}]) scores one, compare(judgments, rankings) compares them."
        )


def _check_grades(judgments: Judgments, measures: list[Measure]) -> None:
    """Refuse a grade that is too large to compute with, and name its query and document."""
    exponential = any(each.gain == "exp" for each in measures)
    size, most = (judgments.grade, HIGHEST_EXP) if exponential else (np.abs(judgments.grade), LARGEST)
    if size.max(initial=0.0) <= most:
        return
    row = int(size.argmax())
    why, instead = (
        ("gain='exp' of it is beyond any number", "use gain='linear', or a mapping of grade to gain")
        if exponential
        else ("it is too large to compute with", "write grades on a scale of its own")
    )
    query = judgments.query_ids[int(judgments.query[row])]
    raise DataError(
        f"{judgments.source}, query {shorten(query)}, document {shorten(judgments.doc_ids[row])}: the grade is "
        f"{judgments.grade[row]:g}, expected at most {most:g}: {why}. Next: {instead}."
    )


def apply_profile(
    name: str, measures: Iterable[Measure], conventions: Conventions
) -> tuple[list[Measure], Conventions, dict[str, Measure]]:
    """The measures and conventions under a profile, and which measure stands for each name asked for."""
    from rankproof.core.profiles import as_in, find  # few evaluations need them

    profile = find(name)
    asked: dict[str, Measure] = {}
    for each in measures:
        theirs = as_in(profile, each)
        if asked.setdefault(each.name, theirs) != theirs:
            raise UsageError(
                f"{each}: asked for twice under profile {name!r}, as {asked[each.name]} and as {theirs}. "
                "Next: ask for one of them at a time."
            )
    settled = {**profile.conventions, **conventions.overrides(), "profile": name}
    return list(dict.fromkeys(asked.values())), replace(conventions, **settled), asked


READS = {
    "ranking": "judgments and a ranking",
    "pair": "two rankings",
    "preference": "preferences between documents",
    "judged": "judged samples",
    "span": "judged spans of text",
}


def check_kind(measures: Iterable[Measure], kind: str, advice: str) -> None:
    """Refuse measures that read something else; `advice` says what to do, with `{}` for the name of the measure."""
    for each in measures:
        if each.spec.kind != kind:
            raise UsageError(
                f"{each}: this measure reads {READS[each.spec.kind]}, not {READS[kind]}. "
                f"Next: {advice.format(each.spec.name)}."
            )


def check_conventions(given: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """Refuse arguments that neither the function nor `evaluate`, which gets them, knows."""
    own = signature(function).parameters
    parameters = [*own.values(), *signature(evaluate).parameters.values()]
    known = dict.fromkeys(each.name for each in parameters if each.kind == each.KEYWORD_ONLY)
    named = [each.name for each in own.values() if each.kind == each.POSITIONAL_OR_KEYWORD]
    if unknown := [name for name in given if name not in known]:
        raise unknown_arguments(function.__name__, unknown, [*named, *known])


def check_margin(margin: Any, of: str = "", *, zero: bool = False) -> None:
    """Refuse a margin that is not a positive number; `zero` allows 0."""
    advice = f"give the difference{of} that would not matter, like 0.01, or leave it out"
    check_number("margin", margin, least=0 if zero else None, above=None if zero else 0, advice=advice)


def check_spelling(scores: ScoresLike, name: str) -> None:
    """Refuse scores of a ranking that finds nothing only because its ids are spelled differently."""
    if not isinstance(scores, Scores) or scores.ranking is None or scores.judgments is None:
        return
    if scores.audit.of_kind(NOTHING_SHARED) is not None:
        check_found(ranked_otherwise(scores.judgments, scores.ranking.table().doc), name)


def check_floor(limit: Any, measure: Measure) -> None:
    """Refuse a floor that is not a finite number, or that no ranking can reach."""
    low, high = measure.spec.bounds
    most = high if measure.spec.higher and math.isfinite(high) else None
    least = None if measure.spec.higher or not math.isfinite(low) else low
    advice = f"give the {'lowest' if measure.spec.higher else 'highest'} mean of {measure} allowed, like 0.4"
    check_number("floor", limit, least=least, most=most, advice=advice)


def check_not_thin(scores: Mapping[str, ScoresLike], measure: str) -> None:
    """Refuse to order systems by means over the few samples that a judge could decide."""
    for name, each in scores.items():
        if each.thin(measure):
            raise DataError(
                f"{shorten(name)}: {THIN} by {measure}, so no order "
                "follows. Next: let another judge decide the rest (a cascade), or name another metric."
            )


def check_averages(measures: Iterable[Measure]) -> None:
    """Refuse to decide by measures that are not averaged by the mean, so that single queries say nothing."""
    odd = [each for each in measures if each.spec.average != "mean"]
    if odd:
        by = {"geometric": "the geometric mean", "sum": "a sum"}.get(odd[0].spec.average, "no mean")
        raise UsageError(
            f"{', '.join(map(str, odd))}: averaged by {by}, so differences of single queries cannot decide. "
            "Next: name measures that are means over the queries, like AP for GMAP."
        )


@old_arguments(corpus="corpus_size")
@with_columns
def audit(
    judgments: Any,
    ranking: Any,
    measures: Measures | None = None,
    *,
    columns: Columns = None,
    **conventions: Unpack[ScoringArguments],
) -> Audit:
    """Everything that is wrong or odd about judgments and a ranking, the most serious first.

    It checks every document, while `Scores.audit` checks judged ones only. `measures` are those whose
    cut-offs and ceilings it checks; the other arguments are those of `evaluate`. Documents that come twice
    are a finding here, not an exception.

    >>> found = audit({"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": ["d1", "d1"]}, "P@1")
    >>> [(each.severity, each.kind) for each in found][0]
    ('error', 'duplicate-documents')
    """
    check_conventions(conventions, audit)
    check_one(ranking)
    judged = load_judgments(judgments)
    opened = load_ranking(ranking, conventions.get("damaged", "error"))
    if conventions.get("duplicates", "error") == "error":
        conventions["duplicates"] = "first"
    scores = evaluate(judged, opened, measures, **conventions)
    if scores.hits is None or scores.judgments is None:
        raise DataError("there are no rankings behind these scores. Next: evaluate again.")
    asked = [column.measure for column in scores.columns.values()]
    case = FindingCase(scores.judgments, scores.hits, scores.census, asked, scores.conventions)
    return audit_full(case, opened.table())


def agreement(ranking: Any, other: Any, measures: Measures | None = None) -> Scores:
    """Measures between two rankings, over the queries that both answer.

    Equal scores are ordered by document id, descending, as in `evaluate`.

    >>> scores = agreement({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, "Jaccard@3")
    >>> scores["Jaccard@3"]
    0.5
    """
    asked = parse_all(PAIR_MEASURES if measures is None else measures)
    check_kind(asked, "pair", "use evaluate, or ask for RBO or Jaccard@10")
    mine, theirs = (best_first(load_ranking(each).table()) for each in (ranking, other))
    both = [query for query in mine if query in theirs]
    if not both:
        raise DataError("the two rankings answer no query in common. Next: check that both use the same query ids.")
    values = {each: np.array([each(mine[q], theirs[q]) for q in both], dtype=np.float64) for each in asked}
    return Scores(query_ids=tuple(both), columns={m.name: ScoreColumn(m, own, None) for m, own in values.items()})
