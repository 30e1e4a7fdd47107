"""Scorers: whatever says how well texts answer a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from rankproof.bench.adapters.awaiting import finished
from rankproof.core.hits import Array
from rankproof.errors import DataError, UsageError, shorten

Scorer: TypeAlias = Callable[[str, list[str]], Any]
"""From a question and texts to a score for each text; may be async."""


def as_scorer(anything: Any) -> Scorer:
    """A function `(question, texts) -> scores`, or the `predict` of a cross-encoder as one."""
    if callable(getattr(anything, "predict", None)):
        return lambda question, texts: anything.predict([(question, text) for text in texts])
    if callable(anything) and not isinstance(anything, type):
        scorer: Scorer = anything
        return scorer
    raise UsageError(
        f"rerank: got {shorten(anything)} ({type(anything).__name__}), expected a function (question, texts) -> scores."
        " Next: give a function."
    )


def scored(scorer: Scorer, question: str, texts: list[str]) -> Array:
    """The scores of the texts, checked; nothing is asked where there are none.

    >>> scored(lambda question, texts: [len(text) for text in texts], "why?", ["so", "because"]).tolist()
    [2.0, 7.0]
    """
    return _checked(finished(scorer(question, texts)), texts) if texts else np.zeros(0)


def _checked(given: Any, texts: Sequence[str]) -> Array:
    try:
        scores: Array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"rerank: got {shorten(given)}, expected a number for each text ({error})."
            " Next: return a list of numbers."
        ) from error
    if scores.shape == (len(texts), 1):
        scores = scores[:, 0]
    if scores.shape != (len(texts),):
        raise DataError(
            f"rerank: got scores of shape {scores.shape} for {len(texts)} texts, expected one number for each."
            " Next: return one score a text."
        )
    if not np.isfinite(scores).all():
        worst = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise DataError(
            f"rerank: the score of {shorten(texts[worst])} is {scores[worst]}, expected a number."
            " Next: return finite scores."
        )
    return scores
