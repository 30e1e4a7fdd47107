"""The audit of a joined ranking: all checks that need no more than hits.

Here are those of the judgments and of the given measures; those of the ranking are in `queries.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from operator import methodcaller

import numpy as np

from rankproof.core.arrays import distinct
from rankproof.core.audit import (
    READ_WHOLE,
    SCALE_ROWS,
    Audit,
    Finding,
    FindingCase,
    Severity,
    few_examples,
    list_words,
    queries,
)
from rankproof.core.audit.spelling import misspelt_documents, misspelt_queries, unmet_ids
from rankproof.core.conventions import counted_queries, has_relevant
from rankproof.core.hits import Array, Hits
from rankproof.core.judgments import Judgments, cached_for_judgments
from rankproof.core.measure import Measure, known_extremes
from rankproof.core.measures.sets import f_measure, precision, recall, relevant_count
from rankproof.core.scoring import average, ceiling
from rankproof.core.table import Rankings, RankingTable
from rankproof.document.numbers import count, setting, share
from rankproof.errors import shorten

TIES_MATTER = 0.005
"""If other orders of equal scores move a mean by this much, its second decimal changes."""
UNJUDGED_SAID = 0.1
"""One unjudged document in the top 10 can move P@10 of a query by .1."""
UNJUDGED_WARNED = 0.5
"""With half of what is shown unjudged, the number says more about the judgments than about the ranking."""
CEILING_SAID = 0.995
"""A ceiling that is shown as 1.00 needs no note."""
CEILING_WARNED = 0.5
"""Below half, even a perfect ranking looks poor on a scale to 1."""
GRADES = 12
"""No grading scale in use has more steps; more different grades are scores."""
FEW_LISTS = 5
"""With fewer queries, or fewer judged documents a query, judgments may look like rankings by accident."""
LOOKED_AT = 5_000
"""The number of ranked documents in which differently spelled ids are looked for: enough to meet any rule."""


def nothing_relevant(case: FindingCase) -> Iterator[Finding]:
    """Queries without a document that is relevant to the strictest of the measures."""
    rel, judgments = strictest(case.measures), case.judgments
    relevant = np.bincount(judgments.query[judgments.grade >= rel], minlength=case.n) > 0
    if case.n and not relevant.any():
        yield none_relevant(case.n, case.measures, _judged(judgments, np.ones(len(judgments.doc_ids), dtype=bool)))
    elif not relevant.all():
        queries, skipped = case.names(~relevant), case.conventions.no_relevant == "skip"
        rest = "left out of the means" if skipped else "each counts 0"
        message = f"{len(queries):,} of {count(case.n, 'query')} without a document of grade {rel:g} or more: {rest}."
        other = "" if skipped else f", or leave them out of the means with {setting('no_relevant', 'skip')}"
        advice = f"judge more documents for these queries{other}."
        severity: Severity = "note" if skipped else "warning"
        yield Finding(severity, "nothing-relevant", len(queries), message, few_examples(queries), advice)


def strictest(measures: Sequence[Measure]) -> float:
    """The grade from which on a document is relevant to the strictest of the measures."""
    return max((m.rel for m in measures if m.rel is not None and m.rel > 0), default=1)


def none_relevant(n: int, measures: Sequence[Measure], examples: tuple[str, ...] = ()) -> Finding:
    """The finding for `n` queries of which none has a relevant document."""
    message = f"No query has a document of grade {strictest(measures):g} or more."
    advice = f"check the grades, or {_lower_rel(measures)}"
    return Finding("error", "nothing-relevant", n, message, examples, advice)


def _lower_rel(measures: Sequence[Measure]) -> str:
    """Advice to count lower grades as relevant, with the first of the measures that would."""
    asked = next((each for each in measures if each.rel is not None and each.rel >= 1), precision @ 5)
    return f"say from which grade on a document is relevant, like {asked.with_params({'rel': 0.5})}."


def negative_grades(case: FindingCase) -> Iterator[Finding]:
    """Grades below zero, which have a special meaning for some measures."""
    below = case.judgments.grade < 0
    number = int(below.sum())
    if number:
        said = count(number, "grade is", "grades are")
        message = f"{said} below 0: not relevant, and to bpref and infAP as if not judged."
        advice = "nothing, if they mark spam or documents that were skipped; else use 0 for not relevant."
        yield Finding("note", "negative-grades", number, message, _judged(case.judgments, below), advice)


def fractional_grades(case: FindingCase) -> Iterator[Finding]:
    """Grades between whole numbers; those between 0 and 1 are a gain, but not relevant."""
    grade = case.judgments.grade
    fractions, between = grade % 1 != 0, (grade > 0) & (grade < 1)
    strict = [m for m in case.measures if m.rel is not None and m.rel >= 1]
    if looks_like_scores(case.judgments):
        return
    if between.any() and strict:
        number = int(between.sum())
        message = (
            f"{count(number, 'grade lies', 'grades lie')} between 0 and 1: not relevant in {list_words(strict[:4])}."
        )
        advice = _lower_rel(strict)
        yield Finding("warning", "fractional-grades", number, message, _judged(case.judgments, between), advice)
    elif fractions.any():
        number = int(fractions.sum())
        message = f"{count(number, 'grade is', 'grades are')} not whole."
        advice = "nothing, if they are meant so: a document is relevant from grade rel on; gains take fractions."
        yield Finding("note", "fractional-grades", number, message, _judged(case.judgments, fractions), advice)


def repeated_judgments(case: FindingCase) -> Iterator[Finding]:
    """Judgments given more than once, with one grade."""
    number = case.judgments.repeated
    if number:
        message = f"{count(number, 'judgment was', 'judgments were')} given again with the same grade."
        advice = "nothing for these numbers; repeats may show that files were joined twice."
        yield Finding("note", "repeated-judgments", number, message, (), advice)


def judgments_are_scores(case: FindingCase) -> Iterator[Finding]:
    """Judgments that may be a ranking: more different grades than any scale has, or lists that end at a cut-off."""
    grade, sizes = case.judgments.grade, np.diff(case.judgments.start)
    advice = "check the order of the two: judgments come first, the ranking second."
    if _lists_for_labels(case, sizes):
        some, ranked = np.count_nonzero(sizes == sizes.max()), case.hits.retrieved[case.answered].mean()
        message = (
            f"{some:,} of {count(case.n, 'query')} have {sizes.max():,} judged documents, all relevant, and the "
            f"ranking has {ranked:.1f} a query: these look swapped."
        )
        yield Finding("error", "judgments-look-like-a-ranking", case.n, message, (), advice)
    elif looks_like_scores(case.judgments):
        number, examples = len(distinct(grade)), _judged(case.judgments, np.ones(len(grade), dtype=bool))
        message = (
            f"The judgments hold {number:,} different grades from {grade.min():g} to {grade.max():g}, "
            "like the scores of a ranking."
        )
        yield Finding("warning", "judgments-look-like-a-ranking", number, message, examples, advice)


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
    if len(distinct(grade)) > max(GRADES, len(grade) / 10):
        return True
    # Else nearly every document of the first queries must have a grade of its own, like places in a ranking.
    first = min(len(judgments.query_ids), 50)
    rows = int(judgments.start[first])
    pairs = set(zip(judgments.query[:rows].tolist(), grade[:rows].tolist(), strict=True))
    return rows > GRADES * first and len(pairs) > 0.9 * rows


def judged_themselves(case: FindingCase) -> Iterator[Finding]:
    """Judged documents with the id of their query."""
    same = _own_ids(case.judgments)
    if same:
        message = f"For {count(len(same), 'query')} a document with the query's own id is judged."
        advice = "nothing, if ids are numbers that meet by accident; else take each query's own document out."
        yield Finding("note", "judged-themselves", len(same), message, few_examples(same), advice)


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


DROWNED = 0.9
"""If showing nothing is right this often, accuracy says nothing about the documents shown."""
BESIDE_ACCURACY = {"P": precision, "R": recall, "F1": f_measure}


def accuracy_trap(case: FindingCase) -> Iterator[Finding]:
    """Accuracy beside the score of returning nothing, and beside precision, recall and F1."""
    if case.hits.corpus_size is None:  # which accuracy needs
        return
    from rankproof.core.measures.counts import accuracy  # imported only if asked for

    asked = next((each for each in case.measures if each.spec.function is accuracy.spec.function), None)
    if asked is None:
        return
    k, rel = asked.cutoff, asked.rel or 0
    wrong = relevant_count(case.hits, rel)  # where no document is shown, only these are
    own, nothing = float(case.hits.by_parts(asked).mean()), float((1 - wrong / case.hits.corpus_size).mean())
    at = "" if k is None else f"@{k}"
    means = {name: each(case.hits, k=k, rel=rel).mean() for name, each in BESIDE_ACCURACY.items()}
    drowned = nothing >= DROWNED
    why = ", as almost every document is rightly left out, whatever the ranking" if drowned else ""
    message = (
        f"{asked} is {_close(own)}; returning nothing at all would score {_close(nothing)}{why}. On the same documents "
        f"{', '.join(f'{name}{at} is {mean:.3f}' for name, mean in means.items())}."
    )
    advice = "judge the retriever by P, R and F1."
    yield Finding("warning" if drowned else "note", "accuracy-trap", case.hits.n, message, (), advice)


def _close(value: float) -> str:
    """Enough decimals to see what is missing to 1."""
    return f"{value:.4f}" if value < 0.9995 or value == 1 else f"{value:.6f}"


def unjudged_documents(case: FindingCase) -> Iterator[Finding]:
    """The share of the documents that measures look at and that were never judged."""
    if case.conventions.unjudged != "nonrelevant":
        return
    shares = {k: case.hits.unjudged_share(k) or 0.0 for m in case.at_k if (k := m.cutoff)}
    k, most = max(shares.items(), key=lambda each: each[1], default=(0, 0.0))
    if most < UNJUDGED_SAID:
        return
    said = {at: share(each) for at, each in shares.items()}
    others = [f"{each} in the top {at}" for at, each in said.items() if each != said[k]]
    judged = case.hits.by_parts(methodcaller("count", k))
    also = f" ({list_words(others)})" if others else ""
    message = f"{said[k]} of the documents in the top {k} were never judged and count as not relevant{also}."
    advice = "judge the top of the rankings, or look at the bounds: the numbers if they were relevant."
    severity: Severity = "warning" if most >= UNJUDGED_WARNED else "note"
    yield Finding(severity, "unjudged", int((np.minimum(case.hits.retrieved, k) - judged).sum()), message, (), advice)


def low_ceilings(case: FindingCase) -> Iterator[Finding]:
    """Measures that no ranking could bring to 1 under these judgments."""
    capped = {m: _ceiling(m, case.hits) for m in case.measures if m.spec.capped_by}
    low = {m: best for m, best in capped.items() if best < CEILING_SAID}
    if not low:
        return
    lowest = min(low, key=lambda m: low[m])
    message = f"Even a perfect ranking would reach only {low[lowest]:.2f} in {lowest}, as {_reason(lowest, case.hits)}."
    advice = "compare each number with its ceiling, not with 1."
    severity: Severity = "warning" if low[lowest] < CEILING_WARNED else "note"
    examples = tuple(f"{m} up to {best:.2f}" for m, best in low.items() if m != lowest)[:5]
    yield Finding(severity, "low-ceilings", len(low), message, examples, advice)


def _ceiling(measure: Measure, hits: Hits) -> float:
    """The mean ceiling of the queries that have a relevant document."""
    defined, best = hits.by_parts(lambda part: (has_relevant(measure, part), ceiling(measure, part)))
    return float(best[defined].mean()) if defined.any() else 1.0


def _reason(measure: Measure, hits: Hits) -> str:
    k, by = measure.cutoff or 0, measure.spec.capped_by
    least = 1 if measure.rel is None else measure.rel
    relevant = hits.by_parts(lambda part: part.ideal.relevant(least).count())
    fewer, more = int(((relevant < k) & (relevant > 0)).sum()), int((relevant > k).sum())
    few_are = "fewer" in by and ("more" not in by or fewer >= more)
    queries = count(fewer if few_are else more, "query has", "queries have")
    return f"{queries} {'fewer' if few_are else 'more'} than {count(k, 'relevant document')}"


def ties(case: FindingCase) -> Iterator[Finding]:
    """The share of equal scores, and whether their order can change a number."""
    hits = case.hits
    if hits.first is None or hits.last is None:
        return
    tied = hits.first != hits.last
    # The measure whose mean equal scores can move most.
    counted = counted_queries(case.measures, hits, case.conventions)
    found = [each for m in case.measures if (each := _moved(m, hits, counted)) is not None]
    moved = max(found, key=lambda each: each[2] - each[1], default=None)
    matters = moved is not None and moved[2] - moved[1] >= TIES_MATTER
    effect = "" if moved is None else f"; their order moves no mean by {TIES_MATTER:g} or more"
    if moved is not None and matters:
        effect = f": their order alone puts {moved[0]} anywhere from {moved[1]:.3f} to {moved[2]:.3f}"
    unsettled = matters and case.conventions.ties not in ("expected", "best", "worst")
    message = f"Of the judged documents found, {share(float(tied.mean()))} stand among equal scores{effect}."
    other = f", or report the mean over all orders with {setting('ties', 'expected')}" if unsettled else ""
    advice = f"keep more digits in the scores{other}."
    severity: Severity = "warning" if unsettled else "note"
    examples = few_examples(case.names(np.bincount(hits.query[tied], minlength=hits.n) > 0))
    yield Finding(severity, "ties", int(tied.sum()), message, examples, advice)


def _moved(measure: Measure, hits: Hits, counted: Array | None) -> tuple[Measure, float, float] | None:
    """The measure, and the ends between which equal scores can put its mean."""
    ends = hits.by_parts(lambda part: known_extremes(measure, part))
    if ends is None or (counted is not None and not counted.any()):
        return None
    low, high = (average(measure, each if counted is None else each[counted]) for each in ends)
    return measure, low, high


def aspects(case: FindingCase) -> Iterator[Finding]:
    """Measures of aspects on judgments that name none, and grades that differ by aspect where no measure asks."""
    names = tuple(str(each) for each in case.measures if each.spec.aspects)
    facets, grade = case.judgments.facets, case.judgments.grade
    if names and facets is None:
        message = (
            f"{', '.join(names)} {'reads' if len(names) == 1 else 'read'} aspects (subtopics), and these judgments "
            "name none: all their documents are taken to be about the same one."
        )
        where = "second column (or aspect, or iteration)"
        advice = f"give judgments whose {where} names the aspect, or ask for a measure without."
        yield Finding("warning", "no-aspects", len(names), message, (), advice)
    elif facets is not None and not names:
        row = np.repeat(np.arange(len(grade)), np.diff(facets.start))
        differ = np.bincount(row[facets.grade < grade[row]], minlength=len(grade)) > 0
        if number := int(differ.sum()):
            message = (
                "The second column was taken as the aspect: in it "
                f"{count(number, 'document has', 'documents have')} different grades, of which the highest counts."
            )
            advice = "keep one row a document if it is no aspect, or ask for a measure of aspects, like alpha_nDCG@10."
            yield Finding("note", "grades-by-aspect", number, message, _judged(case.judgments, differ), advice)


CHECKS = (
    *queries.CHECKS,
    *(judgments_are_scores, nothing_relevant, fractional_grades, negative_grades, repeated_judgments),
    *(judged_themselves, aspects, ties, unjudged_documents, low_ceilings),
    *(queries.short_of_cut_off, queries.other_cut_off, accuracy_trap),
)


def audit_hits(case: FindingCase) -> Audit:
    """The findings from the hits alone, without unjudged documents."""
    return Audit.of(finding for check in CHECKS for finding in check(case))


def misspelt_ids(case: FindingCase, table: RankingTable, partly: bool = False) -> Iterator[Finding]:
    """Documents and queries that both sides have, under differently spelled ids."""
    judgments = case.judgments
    if not case.answered.all():
        missing, known = case.names(~case.answered), {*judgments.query_ids, *judgments.sampled_from}
        extra = [each for each in dict.fromkeys(table.query) if each not in known]
        yield from misspelt_queries(missing, extra, judgments.query_ids)
    yield from misspelt_documents(unmet_ids(judgments, table), partly)


def with_spelling(found: Iterable[Finding], spelt: Iterable[Finding]) -> list[Finding]:
    """Findings with those about spelling, which say more than others of their kind."""
    more = list(spelt)
    kinds = {each.kind for each in more} | ({"affixes-of-ids"} if more else set())
    return [*(each for each in found if each.kind not in kinds), *more]


def audit_spelling(found: Audit, case: FindingCase, ranking: Rankings) -> Audit:
    """The audit of a joined ranking with the ids that would meet if they were spelt alike.

    A part of the ranking says whether there are any; only then is all of it looked at.
    """
    hits, rows = case.hits, int(case.hits.retrieved.sum())
    lost = (hits.grade > 0).sum() < (case.judgments.grade > 0).sum()
    if case.answered.all() and not (lost and rows > len(hits.doc)):
        return found
    table = ranking.table() if rows <= LOOKED_AT else ranking.part(LOOKED_AT)
    spelt = list(misspelt_ids(case, table, partly=rows > LOOKED_AT))
    if spelt and LOOKED_AT < rows <= READ_WHOLE:
        spelt = list(misspelt_ids(case, ranking.table()))
    return Audit.of(with_spelling(found, spelt)) if spelt else found
