"""What the retrieved contexts contain of the reference answer and of the question; and how the answer uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from rankproof.core.measure import Count, Cutoff, Grade, Measure
from rankproof.document.numbers import for_face
from rankproof.errors import UsageError
from rankproof.judging.case import (
    SILENCE,
    Case,
    Maybe,
    Reading,
    all_of,
    any_of,
    blank,
    entities_in,
    mentions_in,
    negation,
)
from rankproof.judging.metrics.answer import claims_against, of_claims
from rankproof.judging.metrics.registry import (
    GRADES,
    UNCLAIMED,
    Grades,
    Grid,
    Metric,
    Nothing,
    by_rank,
    first_sufficient_rank,
    metric,
    precision_of_found,
    row_coverage,
    share,
)
from rankproof.judging.samples.sample import Context

NOTHING_TO_FIND = Nothing("no contexts were retrieved, and none should have been")


@metric(
    "context_precision",
    needs=("query", "contexts"),
    score=precision_of_found,
    also=("contextual_precision",),
    monotone=False,
)
def context_precision(case: Case, k: Cutoff = None, rel: Grade = 2) -> Grades | Nothing:
    """Whether the retrieved contexts that answer the question stand before those that do not.

    Formula: (sum over relevant contexts of P@rank) / relevant contexts found; the grade `rel` makes one relevant. It is
        AP(denominator='found') over the grades of a judge; 0 if no context is relevant, or none was retrieved. A
        context whose text stands above it already is not relevant again.
    Range: 0 to 1.
    Perfect: 1, when every relevant context stands before every other one.
    Worst: 0, when no context is relevant.
    Blind to: what was not retrieved, and how many relevant contexts there are.
    Use: to judge the order of a retriever or reranker where no documents are labelled.
    """
    return [None if grade is None else grade >= rel for grade in grades(case, k)]


def grades(case: Case, k: int | None = None) -> Grades:
    """The grades of the retrieved contexts by rank; a text repeated from above adds nothing."""
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
            f"{measure}: cannot be computed from the grades of retrieved contexts. Next: write the verdicts as "
            f"judgments ({for_face('as_judgments()', '--qrels FILE')}), and evaluate with them."
        )
    readers: dict[str, Callable[..., Any]] = {
        # Contexts below the cut-off cannot matter, so no judge is asked about them and no label of them counts.
        "none": lambda case, k=None, **_: (grades(case, k), []),
        "all": _returned_and_missed,
    }
    return Metric(
        measure=measure,
        read=readers.get(counts, lambda case, **_: (grades(case), [])),
        needs=("query", "contexts", "reference_contexts") if counts == "all" else ("query", "contexts"),
        score=lambda units: measure(by_rank(*zip(*units, strict=True))),
        monotone=counts == "none",  # a higher grade never lowers it
        choices=GRADES,
    )


def _returned_and_missed(case: Case, **_: object) -> tuple[Grades, Grades] | Nothing:
    """The grades of what was retrieved, and of the reference contexts that were not."""
    here = {each.text for each in case.contexts} | {each.id for each in case.contexts if not each.text}
    missed = [each for each in case.sample.reference_contexts or () if (each.text or each.id) not in here]
    found = grades(case)
    known = [None if blank(each.text) else case.grade(each) for each in missed]
    return (found, known) if found or case.sample.reference_contexts else NOTHING_TO_FIND


@metric(
    "context_recall",
    needs=("reference", "contexts"),
    score=row_coverage,
    also=("contextual_recall", "claim_recall"),
    presets={"context_recall_together": {"contexts": "together"}},
)
def context_recall(case: Case, k: Cutoff = None, contexts: Reading = "apart") -> Grid | Nothing:
    """The share of the reference answer's claims that some retrieved context supports.

    Formula: reference claims supported by a context in the top k / reference claims. It is the recall of declared
        aspects, each claim being one: a claim that nothing supports counts in the denominator. `contexts='together'`: a
        claim that none of them supports alone is asked of all of them as one text.
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

    Formula: distinct entities of the reference found in a context in the top k / distinct entities of the reference.
        Entities are names, numbers and dates, found and matched by rules; no judge is asked.
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

    Formula: statements of the contexts in the top k that bear on the question / statements of them. A statement that is
        repeated counts as one that does not bear; without contexts it is 0.
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


UNSUPPORTED = Nothing("no context supports a claim of the reference", lost=True)


@metric(
    "context_utilisation",
    needs=("query", "contexts", "answer"),
    score=row_coverage,
    also=("context_utilization",),
    soft_by="right",
)
def context_utilisation(case: Case, k: Cutoff = None) -> Grid | Nothing:
    """The share of the relevant contexts that the answer makes use of.

    Formula: contexts in the top k with a grade of at least 2 that support a claim of the answer / contexts in the top k
        with such a grade.
    Range: 0 to 1.
    Perfect: 1, when every relevant context is used.
    Worst: 0, when none is, as by an answer that is empty or abstains.
    Blind to: relevant contexts that say the same as one that is used.
    Use: with a high context recall and a low completeness: the generator overlooks what it was given.
    """
    claims = claims_against(case)
    claims = () if isinstance(claims, Nothing) else claims
    found = [
        (case.relevant(each), any_of(case.supports(each.text, claim) for claim in claims)) for each in case.contexts[:k]
    ]
    used = [None if relevant is None else used for relevant, used in found if relevant is not False]
    return share(used) or Nothing("no relevant context was retrieved", lost=True)


@metric(
    "noise_sensitivity",
    needs=("query", "contexts", "reference", "answer"),
    score=row_coverage,
    higher=False,
    presets={f"noise_sensitivity_{of}": {"of": of} for of in ("relevant", "irrelevant")},
)
def noise_sensitivity(
    case: Case, k: Cutoff = None, of: Literal["relevant", "irrelevant"] = "relevant"
) -> Grid | Nothing:
    """The share of the answer's claims that are wrong and come from the contexts.

    Formula: answer claims that the reference does not support and a relevant context in the top k does / answer claims;
        a context is relevant from grade 2 on. `of='irrelevant'`: those that an irrelevant context supports, and no
        relevant one.
    Range: 0 to 1; lower is better.
    Perfect: 0, when nothing wrong is taken over.
    Worst: 1, when everything is wrong, and taken over.
    Blind to: wrong claims that no context supports; see hallucination_rate.
    Use: to see whether noise in the contexts gets into the answers.
    Reference: D. Ru et al.: RAGChecker, NeurIPS 2024.
    """
    return of_claims(case, lambda claim: misleads(case, claim, case.contexts[:k], of, case.relevant))


def misleads(
    case: Case, claim: str, contexts: Sequence[Context], of: str, relevant_of: Callable[[Context], Maybe]
) -> Maybe:
    """Whether a wrong claim comes from relevant, or only from irrelevant, contexts."""
    wrong = negation(case.supports(case.sample.reference, claim))
    sides = [(relevant_of(each), case.supports(each.text, claim)) for each in contexts]
    relevant = any_of(map(all_of, sides))
    if of == "relevant":
        return all_of([wrong, relevant])
    return all_of([wrong, any_of(all_of([negation(good), says]) for good, says in sides), negation(relevant)])


@metric("redundancy", needs=("contexts", "reference"), score=row_coverage, higher=False)
def redundancy(case: Case, k: Cutoff = None) -> Grid | Nothing:
    """The share of the useful contexts that add nothing to those above them.

    Formula: contexts in the top k that support a claim of the reference, and no claim that no context above supports /
        contexts in the top k that support a claim.
    Range: 0 to 1; lower is better.
    Perfect: 0, when each useful context brings something new.
    Worst: towards 1, when all say what the first says.
    Blind to: contexts that support nothing.
    Use: to see whether diversification, or dropping near-duplicates, would save room in the prompt.
    """
    if not case.reference_claims:
        return UNCLAIMED
    grid = support(case, k)
    useful = [any_of(column) for column in zip(*grid, strict=True)]
    told = [
        None if yes is None else negation(any_of(_new(cells, place) for cells in grid))
        for place, yes in enumerate(useful)
        if yes is not False
    ]
    return share(told) or UNSUPPORTED


def _new(cells: Sequence[Maybe], place: int) -> Maybe:
    """Whether a claim is supported at a place and nowhere above it."""
    return all_of([cells[place], negation(any_of(cells[:place]))])


@metric("marginal_gain", needs=("contexts", "reference"), score=row_coverage, at="rank")
def marginal_gain(case: Case, rank: Count = 1) -> Grid | Nothing:
    """What the context at one rank adds to context recall: `marginal_gain@3` is that of the third.

    Formula: reference claims supported at that rank and at none above it / reference claims.
    Range: 0 to 1.
    Perfect: 1, when one context brings everything.
    Worst: 0, when it brings nothing new.
    Blind to: what stands below it.
    Use: rank by rank, to see how deep it pays to read.
    """
    return share(len(cells) >= rank and _new(cells, rank - 1) for cells in support(case, rank)) or UNCLAIMED


def support(case: Case, k: int | None) -> Grid:
    """For each claim of the reference whether each of the contexts supports it."""
    return [[case.supports(each.text, claim) for each in case.contexts[:k]] for claim in case.reference_claims]


@metric(
    "smallest_k",
    needs=("contexts", "reference"),
    score=first_sufficient_rank,
    higher=False,
    monotone=False,
    limits=lambda units: (0.0, float(max(map(len, units), default=1))),
    at=None,
    also=("smallest_sufficient_k",),
)
def smallest_k(case: Case) -> tuple[Grades, ...] | Nothing:
    """The smallest number of contexts that supports all that the whole list supports.

    Formula: the smallest k with context_recall@k equal to context_recall; none where nothing is supported.
    Range: 1 to the number of contexts; lower is better.
    Perfect: 1, when the first context brings everything.
    Worst: the number of contexts, when the last one is needed.
    Blind to: what the whole list lacks.
    Use: to choose how many contexts the prompt takes.
    """
    rows = tuple(support(case, None))
    if not rows:
        return UNCLAIMED
    known = [cell for cells in rows for cell in cells]
    return rows if True in known or None in known else replace(UNSUPPORTED, high=float(max(len(case.contexts), 1)))
