"""What the retrieved contexts hold: of the reference answer's claims and entities, and of what was asked."""

from __future__ import annotations

from rankproof.core.parameters import Cutoff
from rankproof.judging.case import Case, Reading
from rankproof.judging.metrics.arithmetic import covered
from rankproof.judging.metrics.registry import metric
from rankproof.judging.metrics.units import Grid, Nothing
from rankproof.judging.units import entities_in, mentioned_in

NO_CLAIMS = Nothing("no claims in the reference")


@metric(
    "context_recall",
    needs=("reference", "contexts"),
    score=covered,
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
    return [case.support(claim, case.contexts[:k], contexts) for claim in case.reference_claims] or NO_CLAIMS


@metric("context_entity_recall", needs=("reference", "contexts"), score=covered)
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
    named = [mentioned_in(each.text, entities) for each in case.contexts[:k]]
    grid: Grid = [[entity in those for those in named] for entity in entities]
    return grid or Nothing("no entities in the reference")


@metric("context_relevance", needs=("query", "contexts"), score=covered, also=("contextual_relevancy",))
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
