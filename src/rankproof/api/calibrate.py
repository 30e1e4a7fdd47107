"""`calibrate`: how far a judge can be trusted, by labels of people on pairs that were drawn for them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from rankproof.api.calibration import Calibration
from rankproof.api.labelling import Draw, prepared
from rankproof.judging.metrics.names import Asked
from rankproof.judging.verdicts import Ask
from rankproof.store.ledger import Ledger

N = 50
"""Pairs of each relation that are labelled if nobody says otherwise: what a correction needs."""
Answers = Callable[[Ask], int | None]


def calibrate(
    source: Any,
    label: Answers | None = None,
    *,
    judge: Any = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    who: str = "somebody",
    n: int = N,
    informative: int = 0,
    whole: bool = False,
    relation: str | None = None,
    metrics: Asked | None = None,
    seed: int = 0,
    **options: Any,
) -> Calibration:
    """How far a judge agrees with people, by labels on pairs drawn at random.

    `source` is the ledger of a judge, or samples that `judge` is to judge into `ledger`. `label` is asked for
    the value of each drawn pair (an `Ask`), None where it cannot say; without it the labels that the ledger has
    are taken. `n` pairs of each relation are drawn at random, and about `informative` more that tell more. With
    `whole`, `n` samples are drawn and all of their pairs, which metrics need that are no mean over pairs.
    """
    task = prepared(
        source, judge, ledger, who, Draw(n, informative, whole, relation, seed), metrics, **options
    )
    while label is not None and (pair := task.session.next()) is not None:
        value = label(pair.ask)
        task.session.skip() if value is None else task.session.grade(value)
    return task.result()
