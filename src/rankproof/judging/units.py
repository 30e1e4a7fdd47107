"""What a text is taken apart into: claims, statements, entities; always the same for the same text."""

from __future__ import annotations

from functools import lru_cache

from rankproof.core.text.claims import claims, statements
from rankproof.core.text.entities import Entity, entities, shared

REMEMBERED = 6_000
"""Texts whose parts are remembered: every metric asks for them, and references come back run after run."""


@lru_cache(REMEMBERED)
def claims_in(text: str) -> tuple[str, ...]:
    """The claims of an answer, each once."""
    return tuple(dict.fromkeys(span.of(text) for span in claims(text)))


@lru_cache(REMEMBERED)
def statements_in(text: str) -> tuple[str, ...]:
    """The statements of a chunk, each once."""
    return tuple(dict.fromkeys(span.of(text) for span in statements(text)))


@lru_cache(REMEMBERED)
def entities_in(text: str) -> tuple[Entity, ...]:
    """The entities of a text, each once."""
    return tuple(entities(text))


@lru_cache(REMEMBERED)
def mentioned_in(text: str, wanted: tuple[Entity, ...]) -> frozenset[Entity]:
    """Those of the entities that a text names."""
    return frozenset(shared(list(wanted), text))
