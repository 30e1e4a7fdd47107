"""Rules about near-copies: documents that say the same take the places of others."""

from __future__ import annotations

from collections.abc import Sequence

from rankproof.advice.why.asked import Asked
from rankproof.advice.why.found import named
from rankproof.advice.why.library import Library

CROWD = 2
"""From so many near-copies of one another on, places are wasted."""


def beaten_by_copies(asked: Asked) -> str:
    """Near-copies stand above a relevant document, or take the places where it would be shown."""
    if asked.library is None or not asked.relevant:
        return ""
    return _copy_of_relevant(asked, asked.library) or _crowded_out(asked, asked.library)


def _copy_of_relevant(asked: Asked, library: Library) -> str:
    """A copy that is not judged relevant stands above the document it is a copy of."""
    others = [doc for doc in asked.shown if doc not in asked.relevant]
    for doc in asked.readable:
        above = others if doc not in asked.rank else [x for x in others if asked.rank[x] < asked.rank[doc]]
        copies = [each for each in above if library.alike(each, doc)]
        if copies:
            return (
                f"{named(copies[:1], asked)} at rank {asked.rank[copies[0]]} is a near-copy of "
                f"{named([doc], asked)}, which counts as relevant and stands {_where(asked, doc)}"
            )
    return ""


def _where(asked: Asked, doc: str) -> str:
    return f"at rank {asked.rank[doc]:,}" if doc in asked.rank else "nowhere in the ranking"


def _crowded_out(asked: Asked, library: Library) -> str:
    """Several copies of one another, none of them relevant, above a relevant document."""
    last = max((asked.rank.get(doc, len(asked.returned) + 1) for doc in asked.relevant), default=0)
    above = [doc for doc in asked.shown if doc not in asked.relevant and asked.rank[doc] < last]
    crowd = max(crowds(above, library), key=len, default=[])
    if len(crowd) < CROWD:
        return ""
    return (
        f"{len(crowd)} of the first {min(asked.k, len(asked.returned))} are near-copies of one another: "
        f"{named(crowd, asked)}"
    )


def crowds(docs: Sequence[str], library: Library) -> list[list[str]]:
    """The documents in groups of near-copies; each is compared with the first of a group."""
    groups: list[list[str]] = []
    for doc in docs:
        own = next((group for group in groups if library.alike(group[0], doc)), None)
        if own is None:
            groups.append([doc])
        else:
            own.append(doc)
    return groups


def without_copies(docs: Sequence[str], library: Library) -> list[str]:
    """The ranking with only the first of each group of near-copies."""
    return [group[0] for group in crowds(docs, library)]
