"""The derivation of any measure, a user's own too: what it saw, and what each document changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankproof.core.derivation.steps import Step, Term, Written, graded, rows, said
from rankproof.core.hits import Hits
from rankproof.core.measure import Measure
from rankproof.core.ties import seen_by


def seen(measure: Measure, h: Hits) -> Written:
    """The rows the measure had, and how its value moves when each document is taken out."""
    value = worth(measure, h)
    without = {doc: worth(measure, _without(h, doc)) for doc in dict.fromkeys(h.doc.tolist()) if doc >= 0}
    parts = {row.rank: value - without[row.doc] for row in rows(h) if row.doc in without}
    moved = tuple(
        Term(f"{said(value)} - {said(without[row.doc])}", parts[row.rank], row.rank, row.doc)
        for row in rows(h)
        if abs(parts.get(row.rank, 0.0)) > 1e-12
    )
    best = replace(h.ideal, corpus=h.corpus)
    steps = (
        Step("found", "judged documents found", graded(rows(h))),
        _reached(measure, "ideal", "all judged documents, best first, and what the measure gives them", best),
        _reached(
            measure, "reordered", "the best order of what was found, and what it would give", h.reordered
        ),
        Step("parts", "what each document adds: the value with it, less the value without", moved),
        Step("result", f"{measure.spec.title}", (), f"{measure}", value),
    )
    return Written(steps, parts)


def worth(measure: Measure, h: Hits) -> float:
    """The measure's value for the only query of `h`."""
    return float(measure(seen_by(measure, h))[0])


def _without(h: Hits, doc: int) -> Hits:
    return h.keep(np.flatnonzero(h.doc != doc))


def _reached(measure: Measure, kind: str, says: str, h: Hits) -> Step:
    return Step(kind, says, graded(rows(h)), str(measure), worth(measure, h))
