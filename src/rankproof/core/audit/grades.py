"""Checks of the judgments alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat

import numpy as np

from rankproof.core.arrays import distinct
from rankproof.core.audit.finding import FEW_LISTS, GRADES, SCALE_ROWS, Finding, FindingCase, few_examples, list_words
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments, cached_for_judgments
from rankproof.core.measure import Measure
from rankproof.document.numbers import count
from rankproof.errors import shorten


def nothing_relevant(case: FindingCase) -> Iterator[Finding]:
    """Queries without a document that is relevant to the strictest of the measures."""
    rel = strictest(case.measures)
    judgments = case.judgments
    relevant = np.bincount(judgments.query[judgments.grade >= rel], minlength=case.n) > 0
    if case.n and not relevant.any():
        yield none_relevant(case.n, rel, _judged(judgments, np.ones(len(judgments.doc_ids), dtype=bool)))
    elif not relevant.all():
        queries, skipped = case.names(~relevant), case.conventions.no_relevant == "skip"
        yield Finding(
            "note" if skipped else "warning",
            "nothing-relevant",
            len(queries),
            f"{len(queries):,} of {count(case.n, 'query')} without a document of grade {rel:g} or more: "
            + ("left out of the means." if skipped else "each counts 0."),
            few_examples(queries),
            "judge more documents for these queries"
            + ("." if skipped else ", or leave them out of the means with no_relevant='skip'."),
        )


def strictest(measures: Sequence[Measure]) -> float:
    """The grade from which on a document is relevant to the strictest of the measures."""
    return max((m.rel for m in measures if m.rel is not None and m.rel > 0), default=1)


def none_relevant(n: int, rel: float, examples: tuple[str, ...] = ()) -> Finding:
    """The finding for `n` queries of which none has a relevant document."""
    return Finding(
        "error",
        "nothing-relevant",
        n,
        f"No query has a document of grade {rel:g} or more.",
        examples,
        "check the grades, or say from which grade on a document is relevant, like P(rel=0.5)@5.",
    )


def negative_grades(case: FindingCase) -> Iterator[Finding]:
    """Grades below zero, which have a special meaning for some measures."""
    below = case.judgments.grade < 0
    number = int(below.sum())
    if number:
        yield Finding(
            "note",
            "negative-grades",
            number,
            f"{count(number, 'grade is', 'grades are')} below 0: not relevant, and to bpref and infAP "
            "as if not judged.",
            _judged(case.judgments, below),
            "nothing, if they mark spam or documents that were skipped; else use 0 for not relevant.",
        )


def fractional_grades(case: FindingCase) -> Iterator[Finding]:
    """Grades between whole numbers; those between 0 and 1 are a gain, but not relevant."""
    grade = case.judgments.grade
    fractions, between = grade % 1 != 0, (grade > 0) & (grade < 1)
    strict = [m for m in case.measures if m.rel is not None and m.rel >= 1]
    if looks_like_scores(case.judgments):
        return
    if between.any() and strict:
        number = int(between.sum())
        yield Finding(
            "warning",
            "fractional-grades",
            number,
            f"{count(number, 'grade lies', 'grades lie')} between 0 and 1: not relevant in {list_words(strict[:4])}.",
            _judged(case.judgments, between),
            "say from which grade on a document is relevant, like P(rel=0.5)@5.",
        )
    elif fractions.any():
        number = int(fractions.sum())
        yield Finding(
            "note",
            "fractional-grades",
            number,
            f"{count(number, 'grade is', 'grades are')} not whole.",
            _judged(case.judgments, fractions),
            "nothing, if they are meant so: a document is relevant from grade rel on; gains take fractions.",
        )


def repeated_judgments(case: FindingCase) -> Iterator[Finding]:
    """Judgments given more than once, with one grade."""
    number = case.judgments.repeated
    if number:
        yield Finding(
            "note",
            "repeated-judgments",
            number,
            f"{count(number, 'judgment was', 'judgments were')} given again with the same grade.",
            (),
            "nothing for these numbers; repeats may show that files were joined twice.",
        )


def judgments_are_scores(case: FindingCase) -> Iterator[Finding]:
    """Judgments that may be a ranking: more different grades than any scale has, or lists that end at a cut-off."""
    grade, sizes = case.judgments.grade, np.diff(case.judgments.start)
    swapped = _lists_for_labels(case, sizes)
    if not swapped and not looks_like_scores(case.judgments):
        return
    if swapped:
        some, ranked = np.count_nonzero(sizes == sizes.max()), case.hits.retrieved[case.answered].mean()
        number, said = (
            case.n,
            f"{some:,} of {count(case.n, 'query')} have {sizes.max():,} judged documents, all relevant, and the "
            f"ranking has {ranked:.1f} a query: these look swapped.",
        )
    else:
        number = len(distinct(grade))
        said = (
            f"The judgments hold {number:,} different grades from {grade.min():g} to {grade.max():g}, "
            "like the scores of a ranking."
        )
    yield Finding(
        "error" if swapped else "warning",
        "judgments-look-like-a-ranking",
        number,
        said,
        () if swapped else _judged(case.judgments, np.ones(len(grade), dtype=bool)),
        "check the order of the two: judgments come first, the ranking second.",
    )


def _lists_for_labels(case: FindingCase, sizes: Array) -> bool:
    """Whether the judgments end at a cut-off as rankings do, and the ranking is as short as labels are.

    All that is judged is relevant, at least half of the queries have as many judged documents as any has, and the
    ranking has at most a third of that, of which a third or more is judged.
    """
    lists = case.hits.retrieved[case.answered]
    longest = int(sizes.max(initial=0))
    return bool(
        case.n >= FEW_LISTS
        and longest >= FEW_LISTS
        and len(lists)
        and case.judgments.grade.min() > 0
        and 2 * np.count_nonzero(sizes == longest) >= case.n
        and 3 * lists.mean() <= longest
        and 3 * len(case.hits.rank) >= lists.sum()
    )


def looks_like_scores(judgments: Judgments) -> bool:
    """Whether grades differ more than those of a scale would, over all queries or within each."""
    grade = judgments.grade
    if len(grade) < SCALE_ROWS or len(distinct(grade[: 50 * GRADES])) <= GRADES:
        return False
    return len(distinct(grade)) > max(GRADES, len(grade) / 10) or _differ_within_queries(judgments)


def _differ_within_queries(judgments: Judgments) -> bool:
    """Whether nearly every document of the first queries has a grade of its own, like places in a ranking."""
    first = min(len(judgments.query_ids), 50)
    rows = int(judgments.start[first])
    pairs = set(zip(judgments.query[:rows].tolist(), judgments.grade[:rows].tolist(), strict=True))
    return rows > GRADES * first and len(pairs) > 0.9 * rows


def judged_themselves(case: FindingCase) -> Iterator[Finding]:
    """Judged documents with the id of their query."""
    same = _own_ids(case.judgments)
    if same:
        yield Finding(
            "note",
            "judged-themselves",
            len(same),
            f"For {count(len(same), 'query')} a document with the query's own id is judged.",
            few_examples(same),
            "nothing, if ids are numbers that meet by accident; else take each query's own document out.",
        )


@cached_for_judgments
def _own_ids(judgments: Judgments) -> list[str]:
    names = chain.from_iterable(map(repeat, judgments.query_ids, np.diff(judgments.start).tolist()))
    return [query for query, doc in zip(names, judgments.doc_ids, strict=True) if query == doc]


def _judged(judgments: Judgments, which: Array) -> tuple[str, ...]:
    """A few judgments in words."""

    def said(i: int) -> str:
        doc, query = judgments.doc_ids[i], judgments.query_ids[int(judgments.query[i])]
        return f"{shorten(doc, 40)} for {shorten(query, 40)} at {judgments.grade[i]:g}"

    return tuple(said(i) for i in np.flatnonzero(which)[:3].tolist())


def extreme_scores(case: FindingCase) -> Iterator[Finding]:
    """Scores that double precision cannot tell from their neighbours, or that are infinite."""
    huge, infinite = case.census.huge, case.census.infinite
    if huge:
        yield Finding(
            "warning",
            "huge-scores",
            huge,
            f"{count(huge, 'score is', 'scores are')} beyond 2^53, where whole numbers that differ by 1 become equal.",
            (),
            "subtract a common part from the scores, or give the order itself as a list of ids.",
        )
    if infinite:
        yield Finding(
            "warning",
            "infinite-scores",
            infinite,
            f"{count(infinite, 'score is', 'scores are')} infinite; all of one sign are equal.",
            (),
            "look for a division by 0 or an overflow behind them.",
        )


CHECKS = (
    extreme_scores,
    judgments_are_scores,
    nothing_relevant,
    fractional_grades,
    negative_grades,
    repeated_judgments,
    judged_themselves,
)
