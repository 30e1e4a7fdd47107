"""Every measure of rankproof, by family; importing this package fills the registry."""

from rankproof.core.measures import (
    aspects,
    cascade,
    census,
    compatibility,
    counts,
    cwl,
    gains,
    graded,
    incomplete,
    interpolated,
    milestones,
    novelty,
    pairs,
    ranked,
    sets,
    users,
)

__all__ = [
    "aspects",
    "cascade",
    "census",
    "compatibility",
    "counts",
    "cwl",
    "gains",
    "graded",
    "incomplete",
    "interpolated",
    "milestones",
    "novelty",
    "pairs",
    "ranked",
    "sets",
    "users",
]
