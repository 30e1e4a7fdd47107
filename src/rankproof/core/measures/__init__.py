"""Every measure of rankproof, by family; importing this package fills the registry, as far as most need it."""

from types import ModuleType

from rankproof.core.measure import REGISTRY
from rankproof.core.measures import graded, ranked, sets


def families() -> dict[str, tuple[ModuleType, ...]]:
    """The modules that declare measures, by subject, in the order in which measures are listed."""
    from rankproof.core.measures import (
        aspects,
        census,
        counts,
        cwl,
        gains,
        incomplete,
        interpolated,
        novelty,
        pairs,
        preferences,
        spans,
        users,
    )

    return {
        "Sets": (sets,),
        "Ranks": (ranked, interpolated),
        "Grades": (graded, gains),
        "Incomplete judgments": (incomplete,),
        "Readers": (users, cwl),
        "Aspects": (aspects, novelty),
        "Counts": (counts, census),
        "Two rankings": (pairs,),
        "Preferences": (preferences,),
        "Spans of text": (spans,),
    }


def _load_rest() -> None:
    REGISTRY.sort([module.__name__ for family in families().values() for module in family])


REGISTRY.load_rest = _load_rest
