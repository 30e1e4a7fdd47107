"""What a text is taken apart into: claims, statements, entities; always the same for the same text."""

from __future__ import annotations

from functools import lru_cache

from rankproof.core.text.claims import claims, statements

REMEMBERED = 20_000
"""Texts whose parts are remembered: every metric asks for them, and references come back run after run."""


@lru_cache(REMEMBERED)
def claims_in(text: str) -> tuple[str, ...]:
    """The claims of an answer, each once."""
    return tuple(dict.fromkeys(span.of(text) for span in claims(text)))


@lru_cache(REMEMBERED)
def statements_in(text: str) -> tuple[str, ...]:
    """The statements of a chunk, each once."""
    return tuple(dict.fromkeys(span.of(text) for span in statements(text)))


def entities_in(text: str) -> tuple[str, ...]:
    """The entities of a text, each once."""
    return ()


def mentioned_in(text: str, entity: str) -> bool:
    """Whether a text names an entity."""
    return entity in text
