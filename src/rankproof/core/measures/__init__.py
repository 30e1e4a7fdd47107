"""Every measure of rankproof, by family; importing this package fills the registry."""

from rankproof.core.measures import graded, ranked, sets

__all__ = ["graded", "ranked", "sets"]
