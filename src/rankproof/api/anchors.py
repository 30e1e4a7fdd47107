"""What a candidate is held against beside its baseline: releases saved by name, and the mean of the last results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from rankproof.api.alignment import together
from rankproof.api.compare import Pair, pairs
from rankproof.api.scores import Scores

WIDER = 2
"""An anchor's margin beside that of a single change, where nobody says otherwise: so many changes may use it up."""


def against_anchors(
    candidate: Scores, anchors: Mapping[str, Scores], level: float, anyway: bool = False
) -> tuple[list[tuple[str, Pair]], dict[str, Scores]]:
    """The candidate's differences to each anchor over all queries, by measure, and the anchors as they are compared."""
    found, kept = [], {}
    for name, anchor in anchors.items():
        both = {"candidate": _whole(candidate), name: _whole(anchor)}
        alike, _ = together(both, "candidate", list(candidate), None, anyway)
        found += [(name, each) for each in pairs("candidate", alike["candidate"], alike[name], level)]
        kept[name] = alike[name]
    return found, kept


def mean_of(
    scores: Mapping[str, Scores], measures: Sequence[str] | None = None, anyway: bool = False
) -> Scores:
    """The mean of several results query by query, as scores: steadier than any one of them.

    Facts, audit and definitions are those of the last.
    """
    names = list(scores)
    alike, _ = together(
        {name: _whole(each) for name, each in scores.items()}, names[-1], measures, None, anyway
    )
    last = alike[names[-1]]
    found = last.only(list(last), last.queries)
    found.hits = found.judgments = found.ranking = None
    for name in list(found.columns):
        columns = [each.column(name) for each in alike.values()]
        counted = [each.counted for each in columns if each.counted is not None]
        found.columns[name] = replace(
            found.columns[name],
            values=np.mean([each.values for each in columns], axis=0),
            counted=np.logical_and.reduce(counted) if counted else None,
        )
    return found


def _whole(scores: Scores) -> Scores:
    """The scores without their groups, which an anchor need not have."""
    if not scores.groups:
        return scores
    found = copy(scores)
    found.groups = {}
    found.__dict__.pop("slices", None)
    return found
