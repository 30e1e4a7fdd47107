"""The audit of a joined ranking: all checks that need no more than hits, and here those of the measures asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import methodcaller

import numpy as np

from rankproof.core.audit import grades, queries
from rankproof.core.audit.finding import (
    CEILING_SAID,
    CEILING_WARNED,
    DEEP,
    LOOKED_AT,
    READ_WHOLE,
    TIES_MATTER,
    UNJUDGED_SAID,
    UNJUDGED_WARNED,
    Audit,
    Finding,
    FindingCase,
    few_examples,
    list_words,
    percent,
)
from rankproof.core.audit.spelling import misspelt_documents, misspelt_queries, unmet_ids
from rankproof.core.conventions import Conventions, counted_queries, has_relevant
from rankproof.core.hits import Array, Hits
from rankproof.core.join import Census
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.measures.sets import f_measure, precision, recall, relevant_count
from rankproof.core.orders import known_extremes
from rankproof.core.scoring import average, ceiling
from rankproof.core.table import Rankings, RankingTable
from rankproof.document.numbers import count

DROWNED = 0.9
"""If showing nothing is right this often, accuracy says nothing about the documents shown."""


def accuracy_trap(case: FindingCase) -> Iterator[Finding]:
    """Accuracy beside the score of returning nothing, and beside precision, recall and F1."""
    if case.hits.corpus_size is None:  # which accuracy needs
        return
    from rankproof.core.measures.counts import accuracy  # imported only if asked for

    asked = next((each for each in case.measures if each.spec.function is accuracy.spec.function), None)
    if asked is None:
        return
    wrong = relevant_count(case.hits, asked.rel or 0)  # where no document is shown, only these are
    own, nothing = float(case.hits.by_parts(asked).mean()), float((1 - wrong / case.hits.corpus_size).mean())
    k, rel = asked.cutoff, asked.rel or 0
    at = "" if k is None else f"@{k}"
    shown = {
        "P": precision(case.hits, k=k, rel=rel),
        "R": recall(case.hits, k=k, rel=rel),
        "F1": f_measure(case.hits, beta=1, k=k, rel=rel),
    }
    drowned = nothing >= DROWNED
    why = ", as almost every document is rightly left out, whatever the ranking" if drowned else ""
    yield Finding(
        "warning" if drowned else "note",
        "accuracy-trap",
        case.hits.n,
        f"{asked} is {_close(own)}; returning nothing at all would score {_close(nothing)}{why}. On the same documents "
        f"{', '.join(f'{name}{at} is {values.mean():.3f}' for name, values in shown.items())}.",
        (),
        "judge the retriever by P, R and F1.",
    )


def _close(value: float) -> str:
    """Enough decimals to see what is missing to 1."""
    return f"{value:.4f}" if value < 0.9995 or value == 1 else f"{value:.6f}"


def other_cut_off(case: FindingCase) -> Iterator[Finding]:
    """Measures that look at more or fewer documents than the pipeline uses."""
    used = case.conventions.context_k
    other = [m for m in case.at_k if m.cutoff != used]
    if used is None or not other:
        return
    some = len(other) < len(case.at_k)
    yield Finding(
        "note" if some else "warning",
        "other-cut-off",
        len(other),
        f"The pipeline passes on {count(used, 'document')}, not the cut-off of {list_words(other[:4])}.",
        (),
        f"ask for {other[0].with_params({'k': used})}, which looks at what the generator sees.",
    )


def short_of_cut_off(case: FindingCase) -> Iterator[Finding]:
    """Measures that look further down than any ranking goes."""
    longest = int(case.hits.retrieved.max(initial=0))
    beyond = [m for m in case.at_k if (m.cutoff or 0) > longest]
    if not beyond or not longest or case.conventions.unjudged == "skip":
        return
    deepest = beyond[-1].cutoff or 0
    yield Finding(
        "warning" if deepest >= DEEP else "note",
        "short-of-cut-off",
        len(beyond),
        f"No ranking holds more than {count(longest, 'document')}, so {list_words(beyond[:4])} "
        f"{'sees' if len(beyond) == 1 else 'see'} no further.",
        (),
        f"retrieve {deepest:,} documents, or ask for {beyond[-1].with_params({'k': longest})}.",
    )


def unjudged_documents(case: FindingCase) -> Iterator[Finding]:
    """The share of the documents that measures look at and that were never judged."""
    if case.conventions.unjudged != "nonrelevant":
        return
    shares = {k: _unjudged(case.hits, k) for m in case.at_k if (k := m.cutoff)}
    k, share = max(shares.items(), key=lambda each: each[1], default=(0, 0.0))
    if share < UNJUDGED_SAID:
        return
    said = {at: percent(each) for at, each in shares.items()}
    others = [f"{each} in the top {at}" for at, each in said.items() if each != said[k]]
    judged = case.hits.by_parts(methodcaller("count", k))
    yield Finding(
        "warning" if share >= UNJUDGED_WARNED else "note",
        "unjudged",
        int((np.minimum(case.hits.retrieved, k) - judged).sum()),
        f"{said[k]} of the documents in the top {k} were never judged and count as not relevant"
        + (f" ({list_words(others)})." if others else "."),
        (),
        "judge the top of the rankings, or look at the bounds: the numbers if they were relevant.",
    )


def _unjudged(hits: Hits, k: int) -> float:
    shown = np.minimum(hits.retrieved, k).sum()
    return float(1 - hits.by_parts(methodcaller("count", k)).sum() / shown) if shown else 0.0


def low_ceilings(case: FindingCase) -> Iterator[Finding]:
    """Measures that no ranking could bring to 1 under these judgments."""
    capped = {m: _ceiling(m, case.hits) for m in case.measures if m.spec.capped_by}
    low = {m: best for m, best in capped.items() if best < CEILING_SAID}
    if not low:
        return
    lowest = min(low, key=lambda m: low[m])
    reason = _reason(lowest, case.hits)
    yield Finding(
        "warning" if low[lowest] < CEILING_WARNED else "note",
        "low-ceilings",
        len(low),
        f"Even a perfect ranking would reach only {low[lowest]:.2f} in {lowest}, as {reason}.",
        tuple(f"{m} up to {best:.2f}" for m, best in low.items() if m != lowest)[:5],
        "compare each number with its ceiling, not with 1.",
    )


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
    counted = counted_queries(case.measures, case.hits, case.conventions)
    found = [each for m in case.measures if (each := _moved(m, case.hits, counted)) is not None]
    moved = max(found, key=lambda each: each[2] - each[1], default=None)
    matters = moved is not None and moved[2] - moved[1] >= TIES_MATTER
    effect = "" if moved is None else f"; their order moves no mean by {TIES_MATTER:g} or more"
    if moved is not None and matters:
        effect = f": their order alone puts {moved[0]} anywhere from {moved[1]:.3f} to {moved[2]:.3f}"
    settled = case.conventions.ties in ("expected", "best", "worst")
    share = percent(float(tied.mean()))
    yield Finding(
        "warning" if matters and not settled else "note",
        "ties",
        int(tied.sum()),
        f"Of the judged documents found, {share} stand among equal scores{effect}.",
        few_examples(case.names(np.bincount(hits.query[tied], minlength=hits.n) > 0)),
        "keep more digits in the scores"
        + (", or report the mean over all orders with ties='expected'." if matters and not settled else "."),
    )


Moved = tuple[Measure, float, float]
"""A measure, and the ends between which equal scores can put its mean."""


def _moved(measure: Measure, hits: Hits, counted: Array | None) -> Moved | None:
    ends = hits.by_parts(lambda part: known_extremes(measure, part))
    if ends is None or (counted is not None and not counted.any()):
        return None
    low, high = (average(measure, each if counted is None else each[counted]) for each in ends)
    return measure, low, high


def no_aspects(case: FindingCase) -> Iterator[Finding]:
    """Measures of aspects on judgments that name none."""
    names = tuple(str(each) for each in case.measures if each.spec.aspects)
    if not names or case.judgments.facets is not None:
        return
    verb = "reads" if len(names) == 1 else "read"
    yield Finding(
        "warning",
        "no-aspects",
        len(names),
        f"{', '.join(names)} {verb} aspects (subtopics), and these judgments name none: all their documents are taken "
        "to be about the same one.",
        (),
        "give judgments whose second column (or aspect, or iteration) names the aspect, or ask for a measure without.",
    )


CHECKS = (
    *queries.CHECKS,
    *grades.CHECKS,
    *(no_aspects, ties, unjudged_documents, low_ceilings, short_of_cut_off, other_cut_off),
    accuracy_trap,
)


def audit_hits(
    judgments: Judgments,
    hits: Hits,
    census: Census | None = None,
    measures: Sequence[Measure] = (),
    conventions: Conventions | None = None,
) -> Audit:
    """The findings from the hits alone, without unjudged documents."""
    case = FindingCase(judgments, hits, census or Census(), measures, conventions or Conventions())
    return Audit.of(finding for check in CHECKS for finding in check(case))


def misspelt_ids(case: FindingCase, table: RankingTable, partly: bool = False) -> Iterator[Finding]:
    """Documents and queries that both sides have, under differently spelled ids."""
    judgments = case.judgments
    if not case.answered.all():
        missing, known = case.names(~case.answered), set(judgments.query_ids)
        extra = [each for each in dict.fromkeys(table.query) if each not in known]
        yield from misspelt_queries(missing, extra, judgments.query_ids)
    yield from misspelt_documents(unmet_ids(judgments, table), partly)


def with_spelling(found: Iterable[Finding], spelt: Iterable[Finding]) -> list[Finding]:
    """Findings with those about spelling, which say more than others of their kind."""
    more = list(spelt)
    kinds = {each.kind for each in more} | ({"affixes-of-ids"} if more else set())
    return [*(each for each in found if each.kind not in kinds), *more]


def audit_spelling(found: Audit, judgments: Judgments, hits: Hits, ranking: Rankings) -> Audit:
    """The audit of a joined ranking with the ids that would meet if they were spelt alike.

    A part of the ranking says whether there are any; only then is all of it looked at.
    """
    case, rows = FindingCase(judgments, hits), int(hits.retrieved.sum())
    lost = (hits.grade > 0).sum() < (judgments.grade > 0).sum()
    if case.answered.all() and not (lost and rows > len(hits.doc)):
        return found
    part = getattr(ranking, "part", None)
    table = ranking.table() if part is None or rows <= LOOKED_AT else part(LOOKED_AT)
    spelt = list(misspelt_ids(case, table, partly=rows > LOOKED_AT))
    if spelt and LOOKED_AT < rows <= READ_WHOLE:
        spelt = list(misspelt_ids(case, ranking.table()))
    return Audit.of(with_spelling(found, spelt)) if spelt else found
