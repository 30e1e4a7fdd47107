"""Several texts read as one."""

from __future__ import annotations

from collections.abc import Iterable

BETWEEN = "\n\n=-=-=\n\n"
"""What stands between them: no words, and nothing that Markdown has for a rule."""


def together(texts: Iterable[str]) -> str:
    """The texts as one.

    >>> are_several(together(["One.", "Two."])), are_several("One.\\n\\n---\\n\\nStill one.")
    (True, False)
    """
    return BETWEEN.join(texts)


def are_several(text: str) -> bool:
    """Whether a text is several that were put together."""
    return BETWEEN in text
