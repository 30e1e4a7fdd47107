"""`evaluate`: judgments and a ranking in, scores out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankproof.api.grouping import Grouping, grouped, groups_of
from rankproof.api.limits import SEED
from rankproof.api.scores import Scores
from rankproof.core.conventions import Conventions, Default
from rankproof.core.gain import HIGHEST_EXP
from rankproof.core.join import Census, join
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.names import parse_each
from rankproof.core.parameters import LARGEST
from rankproof.core.scoring import scored
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.frames import LIBRARY, is_frame, library_of
from rankproof.io.guess import Columns, with_columns
from rankproof.io.load import load_judgments, load_ranking
from rankproof.io.pipes import pipes_kept
from rankproof.io.rows import notes_of

DEFAULT_MEASURES = "nDCG@10, RR@10, AP, P@5, R@5, R@100, Success@5"

Measures = str | Measure | Iterable[str | Measure]


def prepare(judgments: Any) -> Judgments:
    """Judgments read and checked once, for use with many rankings.

    >>> judgments = prepare({"q1": {"d1": 1}})
    >>> [evaluate(judgments, {"q1": ranking}, "RR")["RR"] for ranking in (["d1"], ["d2", "d1"])]
    [1.0, 0.5]
    """
    return load_judgments(judgments)


@with_columns
@pipes_kept()
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
    corpus: int | None = None,
    context_k: int | None = None,
    by: Grouping | None = None,
    unjudged_grade: float = 1.0,
    columns: Columns = None,
) -> Scores:
    """Score a ranking against judgments.

    `judgments` is `{query: {document: grade}}`, `{query: [relevant documents]}`, a path, a data frame or rows;
    `ranking` is `{query: {document: score}}`, `{query: [documents, best first]}`, a path, a data frame or rows.
    `measures` are measures, their names, or both. `by` maps query ids to groups that are scored apart as well
    (or is a function, a file, a data frame of queries, or a column of the judgments).
    The other arguments are conventions: `rankproof.core.conventions.CHOICES` says in words what each does. A
    `profile` settles those that are not given.

    >>> scores = evaluate({"q1": {"d1": 3, "d2": 1}}, {"q1": ["d2", "d1", "d3"]}, "P@2, nDCG@3")
    >>> scores["P@2"], round(scores["nDCG@3"], 4)
    (1.0, 0.7967)
    """
    asked = _rank_measures(parse_each(DEFAULT_MEASURES if measures is None else measures))
    conventions = Conventions(
        ties=ties,
        missing=missing,
        no_relevant=no_relevant,
        unjudged=unjudged,
        duplicates=duplicates,
        corpus=corpus,
        context_k=context_k,
        unjudged_grade=unjudged_grade,
    )
    names = {each.name: each for each in asked}
    if profile is not None:
        from rankproof.core.profiles import apply

        asked, conventions, names = apply(profile, asked, conventions)
    groups = groups_of(by, judgments)
    _check_one(ranking)
    judged = load_judgments(judgments)
    found = score_ranking(judged, load_ranking(ranking), asked, conventions, groups, names)
    found.library = library_of(ranking) or str(judged.prepared.get(LIBRARY, ""))
    return found


def _check_one(ranking: Any) -> None:
    """Refuse rankings by name, which would be taken for rankings by query."""
    if not isinstance(ranking, Mapping) or not ranking:
        return
    name, first = next(iter(ranking.items()))
    several = hasattr(first, "blocks") or is_frame(first) or isinstance(first, os.PathLike)
    several = several or (isinstance(first, str) and os.path.isfile(first))
    if isinstance(first, Mapping):
        several = isinstance(next(iter(first.values()), None), (Mapping, list, tuple))
    if several:
        raise UsageError(
            f"ranking: got rankings by name ({', '.join(map(shorten, list(ranking)[:3]))}), expected one ranking. "
            f"Next: evaluate(judgments, rankings[{name!r}]) scores one, compare(judgments, rankings) sets them beside "
            "each other."
        )


def score_ranking(
    judgments: Judgments,
    ranking: Any,
    measures: list[Measure],
    conventions: Conventions,
    by: Grouping | None = None,
    asked_as: Mapping[str, Measure] | None = None,
) -> Scores:
    """Scores of an opened ranking; `asked_as` has the names under which a profile's measures were asked."""
    if not judgments.queries:
        raise DataError(
            f"{judgments.source}: there are no judgments in it, so there is nothing to score. "
            "Next: check which file or table this is."
        )
    census = Census(notes=notes_of(judgments))
    if "machine" in judgments.prepared:
        census.made_by += [each for name in ("source", "tag") if (each := getattr(ranking, name, ""))]
    hits = join(judgments, ranking.blocks(judgments, conventions, census), conventions, census)
    _check_grades(judgments, measures)
    rng = np.random.default_rng(SEED) if hits.first is not None else None
    return Scores(
        queries=judgments.queries,
        columns=scored(measures, hits, conventions, rng, judgments.queries),
        conventions=conventions,
        groups=grouped(judgments.queries, by),
        names={asked: each.name for asked, each in (asked_as or {}).items()},
        hits=hits,
        judgments=judgments,
        ranking=ranking,
        census=census,
    )


def _check_grades(judgments: Judgments, measures: list[Measure]) -> None:
    """A grade with which nothing can be computed is told with its query and document."""
    size = np.abs(judgments.grade)
    exponential = any(each.params.get("gain") == "exp" for each in measures)
    row = int((judgments.grade if exponential else size).argmax()) if len(size) else 0
    most = HIGHEST_EXP if exponential else LARGEST
    if not len(size) or (judgments.grade[row] if exponential else size[row]) <= most:
        return
    why, instead = (
        ("gain='exp' of it is beyond any number", "use gain='linear', or a mapping of grade to gain")
        if exponential
        else ("it is too large to compute with", "write grades on a scale of its own")
    )
    query = judgments.queries[int(judgments.query[row])]
    raise DataError(
        f"{judgments.source}, query {shorten(query)}, document {shorten(judgments.docs[row])}: the grade is "
        f"{judgments.grade[row]:g}, expected at most {most:g}: {why}. Next: {instead}."
    )


def _rank_measures(measures: list[Measure]) -> list[Measure]:
    for each in measures:
        if each.spec.kind != "ranking":
            raise UsageError(
                f"{each}: this measure reads {_READS[each.spec.kind]}, not judgments and a ranking. "
                f"Next: see 'rankproof measures {each.spec.name}' for how it is used."
            )
    return measures


_READS = {
    "pair": "two rankings",
    "preference": "preferences between documents",
    "judged": "judged samples",
    "span": "judged spans of text",
}
