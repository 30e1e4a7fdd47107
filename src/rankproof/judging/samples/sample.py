"""`Sample`: one question with what was retrieved for it, what was answered, and what should have been."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Context:
    """A chunk of text that was retrieved, or should have been."""

    id: str
    text: str
    recorded: bool = field(default=True, repr=False)
    """Whether its text is known; one that is known and blank says nothing, of the other nothing can be said."""


@dataclass(frozen=True, slots=True)
class Citation:
    """Where the answer names its source: the words it is for, and the context it names."""

    claim: str
    context: str
    """The id of a context; it may be one that was not retrieved."""
    support: float | None = None
    """How far it holds, where that was judged before: 0, .5 in part, 1."""


@dataclass(frozen=True, slots=True)
class Nugget:
    """A fact that a good answer has: vital, or okay to have."""

    text: str
    vital: bool = True
    support: float | None = None
    """How far the answer has it, where that was judged before: 0, .5 in part, 1."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One question and all that is known of it. A field that is None was not given; an empty one is empty."""

    id: str
    query: str | None = None
    contexts: tuple[Context, ...] | None = None
    """What was retrieved, best first."""
    reference: str | None = None
    """The answer as it should be."""
    answer: str | None = None
    """The answer of the system."""
    reference_contexts: tuple[Context, ...] | None = None
    """What should have been retrieved; a context of which only the id is known has no text."""
    citations: tuple[Citation, ...] | None = None
    nuggets: tuple[Nugget, ...] | None = None
    prompt_k: int | None = None
    """How many of the contexts the generator was given; None: all."""
    where: str = ""
    """The file and line it was read from, for messages."""
    others: Mapping[str, str | int | float] = field(default_factory=dict, compare=False, repr=False)
    """Its other columns, by which samples may be grouped."""

    def has(self, name: str) -> bool:
        """Whether the field of that name was given."""
        return getattr(self, name) is not None
