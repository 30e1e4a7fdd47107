"""How far the terms of one text are found in another, and in which of its sentences."""

from __future__ import annotations

from dataclasses import dataclass

from rankproof.judging.lexical.profile import HEAD, NAME, NUMBER, Profile
from rankproof.judging.lexical.synonyms import SYNONYMS

AKIN = 0.5
"""What a term counts that only begins like one in the text."""
TOGETHER = 3
"""A claim may be spread over so many sentences."""


@dataclass(frozen=True, slots=True)
class Cover:
    """How far a claim's terms are found in a text."""

    reach: float
    """The share found in the few sentences that hold most of them."""
    best: float
    """The share found in one sentence."""
    sentences: tuple[int, ...]
    """Those sentences, the one that holds most first."""
    missing: tuple[tuple[str, ...], ...]
    """Terms found nowhere, not even a word like them."""


Hits = list[tuple[float, tuple[int, ...]]]
"""What each term that was found counts, and where."""


def cover(claim: Profile, text: Profile) -> Cover:
    """How far the claim's terms are found in the text.

    >>> from rankproof.judging.lexical.profile import profile
    >>> text = profile("Lisbon lies by the sea. It is the capital of Portugal.")
    >>> found = cover(profile("Lisbon is the capital of Peru."), text)
    >>> round(found.reach, 2), found.sentences, found.missing
    (0.61, (0, 1), (('peru',),))
    """
    hits, missing = _found(claim, text)
    if len(text.sentences) <= 1:
        share = sum(weight for weight, _ in hits) / claim.total if hits else 0.0
        return Cover(share, share, (0,) if hits else (), missing)
    gains, chosen = _most(hits)
    total = claim.total or 1.0
    return Cover(sum(gains) / total, (gains or [0.0])[0] / total, tuple(chosen), missing)


def _found(claim: Profile, text: Profile) -> tuple[Hits, tuple[tuple[str, ...], ...]]:
    """The terms that were found, and those that were not."""
    hits: Hits = []
    missing = []
    where = text.where
    for sought, weight in claim.weights.items():
        places = where.get(sought[0]) or (where.get(sought[1]) if len(sought) > 1 else None)
        if places is None and (akin := _akin(sought[0], text)):
            hits.append((AKIN * weight, akin))
        elif places is None:
            missing.append(sought)
        else:
            hits.append((weight, places))
    return hits, tuple(missing)


def _akin(key: str, text: Profile) -> tuple[int, ...]:
    """The sentences with a word that begins like this one, or says much the same."""
    if len(key) > HEAD and key[0] not in "=~" and (places := text.heads.get(key[:HEAD])):
        return places
    return next((text.where[other] for other in SYNONYMS.get(key, ()) if other in text.where), ())


def _most(hits: Hits) -> tuple[list[float], list[int]]:
    """Sentences taken one by one, each adding most to what is found; what each adds, and which they are."""
    gains: list[float] = []
    chosen: list[int] = []
    while hits and len(chosen) < TOGETHER:
        sums: dict[int, float] = {}
        for weight, places in hits:
            for place in places:
                sums[place] = sums.get(place, 0.0) + weight
        best = min(sums, key=lambda place: (-sums[place], place))
        gains.append(sums[best])
        chosen.append(best)
        hits = [hit for hit in hits if best not in hit[1]]
    return gains, chosen


def lacks_name_or_number(claim: Profile, found: Cover) -> bool:
    """Whether a name or a number of the claim was not found."""
    gone = set(found.missing)
    return bool(gone) and any(term.sought in gone for term in claim.terms if term.kind in (NAME, NUMBER))
