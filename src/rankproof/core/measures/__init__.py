"""Every measure of rankproof, by family; importing this package fills the registry."""

from rankproof.core.measures import graded, milestones, ranked, sets

__all__ = ["graded", "milestones", "ranked", "sets"]
