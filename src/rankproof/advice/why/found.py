"""Rules about what was found: what became of the relevant documents."""

from __future__ import annotations

from collections.abc import Sequence

from rankproof.advice.why.asked import Asked
from rankproof.errors import shorten

NAMED = 3
"""Documents that are named in a sentence."""


def none_exists(asked: Asked) -> str:
    """No document is judged relevant, so there is nothing to find."""
    if asked.relevant:
        return ""
    judged = len(asked.grades)
    seen = (
        f"none of its {judged} judged documents is relevant" if judged > 1 else "nothing relevant is judged"
    )
    return f"{seen}: no ranking can score here"


def not_in_corpus(asked: Asked) -> str:
    """Relevant documents that the corpus does not hold: no retriever can find them."""
    if not asked.gone:
        return ""
    return f"{_of(asked.gone, asked)} {_are(asked.gone)} not in the corpus: {named(asked.gone, asked)}"


def never_found(asked: Asked) -> str:
    """Relevant documents that are nowhere in the ranking."""
    lost = tuple(doc for doc in asked.missing if doc not in asked.gone)
    if not lost:
        return ""
    if not asked.returned:
        return "nothing was returned at all"
    held = f"among the {len(asked.returned):,} returned"
    if len(lost) == len(asked.relevant) > 1:
        return f"none of its {len(lost):,} relevant documents is {held}: {named(lost, asked)}"
    return f"{_of(lost, asked)} {_are(lost)} not {held}: {named(lost, asked)}"


def below_k(asked: Asked) -> str:
    """Relevant documents that were found, and stand below what is shown."""
    if not asked.below:
        return ""
    ranks = [asked.rank[doc] for doc in asked.below]
    places = f"rank {ranks[0]:,}" if len(ranks) == 1 else f"ranks {_listed(ranks)}"
    return f"found at {places}, below the first {asked.k:,}: {named(asked.below, asked)}"


def not_on_top(asked: Asked) -> str:
    """Everything relevant is shown, with others or lesser ones above it."""
    if not asked.relevant or asked.missing or asked.below:
        return ""
    ranks = sorted(asked.rank[doc] for doc in asked.relevant)
    best_first = [asked.grades.get(doc, 0.0) for doc in asked.returned[: len(ranks)]]
    if ranks[-1] == len(ranks) and best_first == sorted(best_first, reverse=True):
        return ""
    if ranks[-1] == len(ranks):
        return "documents of lower grade stand above better ones"
    return f"shown at rank{'s' if len(ranks) > 1 else ''} {_listed(ranks)}, below others"


def named(docs: Sequence[str], asked: Asked) -> str:
    """The documents by id, with titles where they are known, and how many more there are.

    >>> named(["a", "b", "c", "d"], Asked("q", [], {}, 5, titles={"a": "Refunds"}))
    "'a' (Refunds), 'b', 'c' and 1 more"
    """
    known = [
        f"{shorten(doc, 40)} ({asked.titles[doc]})" if asked.titles.get(doc) else shorten(doc, 40)
        for doc in docs[:NAMED]
    ]
    more = f" and {len(docs) - NAMED:,} more" if len(docs) > NAMED else ""
    return ", ".join(known) + more


def _of(docs: Sequence[str], asked: Asked) -> str:
    """How many of the relevant documents these are."""
    whole = len(asked.relevant)
    if whole == 1:
        return "its only relevant document"
    if len(docs) == whole:
        return "both of its relevant documents" if whole == 2 else f"all {whole:,} of its relevant documents"
    return f"{len(docs):,} of its {whole:,} relevant documents"


def _are(docs: Sequence[str]) -> str:
    return "is" if len(docs) == 1 else "are"


def _listed(ranks: Sequence[int]) -> str:
    shown = ", ".join(f"{rank:,}" for rank in ranks[:5])
    return shown if len(ranks) <= 5 else f"{shown}, ..."
