"""What the retrieved contexts hold: of the reference answer's claims and entities, and of what was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankproof.core.measure import Measure
from rankproof.core.parameters import Cutoff, Grade
from rankproof.errors import UsageError
from rankproof.judging.case import SILENCE, Case, Reading, blank, entities_in, mentions_in
from rankproof.judging.metrics.registry import (
    Grades,
    Grid,
    Metric,
    Nothing,
    from_0_to_1,
    metric,
    metric_of_grades,
    precision_of_found,
    row_coverage,
)

NOTHING_TO_FIND = Nothing("no contexts were retrieved, and none should have been")
GRADES = (0, 1, 2, 3)


@metric(
    "context_precision",
    needs=("query", "contexts"),
    score=precision_of_found,
    also=("contextual_precision",),
    monotone=False,
)
def context_precision(case: Case, k: Cutoff = None, rel: Grade = 2) -> Grades | Nothing:
    """Whether the retrieved contexts that answer the question stand before those that do not.

    Formula: (sum over relevant contexts of P@rank) / relevant contexts found; the grade `rel` makes one relevant.
    It is AP(denominator='found') over the grades of a judge; 0 if no context is relevant, or none was retrieved.
    A context whose text stands above it already is not relevant again.

    Range: 0 to 1.

    Perfect: 1, when every relevant context stands before every other one.

    Worst: 0, when no context is relevant.

    Blind to: what was not retrieved, and how many relevant contexts there are.

    Use: to judge the order of a retriever or reranker where no documents are labelled.
    """
    return [None if grade is None else grade >= rel for grade in grades(case, k)]


def grades(case: Case, k: int | None = None) -> Grades:
    """The grades of the retrieved contexts by rank; a text that stands above already brings nothing."""
    seen: set[str] = set()
    found: Grades = []
    for each in case.contexts[:k]:
        words = " ".join(each.text.split())
        found.append(SILENCE if words in seen else case.grade(each))
        seen.add(words)
    return found


def of_grades(measure: Measure) -> Metric:
    """A measure of rankings, like `P@5`, as a metric over the grades of retrieved contexts.

    Measures that divide by all that is relevant need to know more than what was retrieved: they look at the
    reference contexts as well, and have no value for samples without them.
    """
    counts = measure.spec.divides_by
    if counts is None or measure.spec.kind != "ranking":
        raise UsageError(
            f"{measure}: cannot be had from the grades of retrieved contexts. Next: write the verdicts as "
            "judgments (--qrels FILE), and evaluate with them."
        )
    readers: dict[str, Callable[..., Any]] = {"none": _returned_within, "all": _returned_and_missed}
    return Metric(
        measure=measure,
        read=readers.get(counts, _returned),
        needs=("query", "contexts", "reference_contexts") if counts == "all" else ("query", "contexts"),
        score=metric_of_grades(measure),
        monotone=counts == "none",  # a higher grade never lowers it
        choices=GRADES,
        limits=from_0_to_1,
    )


def _returned(case: Case, **_: object) -> tuple[Grades, Grades]:
    return grades(case), []


def _returned_within(case: Case, k: int | None = None, **_: object) -> tuple[Grades, Grades]:
    """What stands below the cut-off cannot matter, so no judge is asked about it and no label of it counts."""
    return grades(case, k), []


def _returned_and_missed(case: Case, **_: object) -> tuple[Grades, Grades] | Nothing:
    """The grades of what was retrieved, and of the reference contexts that were not."""
    here = {each.text for each in case.contexts} | {each.id for each in case.contexts if not each.text}
    missed = [each for each in case.sample.reference_contexts or () if (each.text or each.id) not in here]
    found = grades(case)
    known = [None if blank(each.text) else case.grade(each) for each in missed]
    return (found, known) if found or case.sample.reference_contexts else NOTHING_TO_FIND


UNCLAIMED = Nothing("no claims in the reference")


@metric(
    "context_recall",
    needs=("reference", "contexts"),
    score=row_coverage,
    also=("contextual_recall", "claim_recall"),
    presets={"context_recall_together": {"contexts": "together"}},
)
def context_recall(case: Case, k: Cutoff = None, contexts: Reading = "apart") -> Grid | Nothing:
    """The share of the reference answer's claims that some retrieved context supports.

    Formula: reference claims supported by a context in the top k / reference claims. It is the recall of
    declared aspects, each claim being one: a claim that nothing supports counts in the denominator.
    `contexts='together'`: a claim that none of them supports alone is asked of all of them as one text.

    Range: 0 to 1.

    Perfect: 1, when every claim is supported.

    Worst: 0, when none is.

    Blind to: the order of the contexts, and how much else is in them.

    Use: to see whether the retriever found what a good answer needs.
    """
    return [case.support(claim, case.contexts[:k], contexts) for claim in case.reference_claims] or UNCLAIMED


@metric("context_entity_recall", needs=("reference", "contexts"), score=row_coverage)
def context_entity_recall(case: Case, k: Cutoff = None) -> Grid | Nothing:
    """The share of the entities of the reference answer that the retrieved contexts mention.

    Formula: distinct entities of the reference found in a context in the top k / distinct entities of the
    reference. Entities are names, numbers and dates, found and matched by rules; no judge is asked.

    Range: 0 to 1.

    Perfect: 1, when every entity is mentioned.

    Worst: 0, when none is.

    Blind to: what is said of an entity.

    Use: where answers are about names, places, dates and figures; cheap, and the same every time.
    """
    entities = entities_in(case.sample.reference or "")
    named = [mentions_in(each.text, entities) for each in case.contexts[:k]]
    grid: Grid = [[entity in those for those in named] for entity in entities]
    return grid or Nothing("no entities in the reference")


@metric("context_relevance", needs=("query", "contexts"), score=row_coverage, also=("contextual_relevancy",))
def context_relevance(case: Case, k: Cutoff = None) -> Grid:
    """The share of the statements in the retrieved contexts that bear on the question.

    Formula: statements of the contexts in the top k that bear on the question / statements of them. A statement that
    is repeated counts as one that does not bear; without contexts it is 0.

    Range: 0 to 1.

    Perfect: 1, when nothing in the contexts is beside the point.

    Worst: 0, when everything is.

    Blind to: what is missing, and the order of the contexts.

    Use: to see how much of the prompt is spent on noise: large chunks, too many of them.
    """
    seen: set[str] = set()
    grid: Grid = []
    for statement in (each for context in case.contexts[:k] for each in case.statements(context)):
        grid.append([False if statement in seen else case.bears(statement)])
        seen.add(statement)
    return grid or [[]]
