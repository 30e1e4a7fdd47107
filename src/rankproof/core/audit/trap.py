"""The accuracy trap: a number that is near 1 whatever is returned."""

from __future__ import annotations

from collections.abc import Iterator

from rankproof.core.audit.case import Case
from rankproof.core.audit.finding import Finding
from rankproof.core.hits import Hits
from rankproof.core.measure import Measure
from rankproof.core.measures.counts import documents
from rankproof.core.measures.sets import f_measure, precision, recall, wanted

DROWNED = 0.9
"""Where showing nothing is right this often, accuracy says nothing about what is shown."""


def accuracy_trap(case: Case) -> Iterator[Finding]:
    """Accuracy beside what returning nothing would score, and beside what one wants to know."""
    asked = next((each for each in case.measures if each.spec.name == "Accuracy"), None)
    if asked is None:
        return
    own, nothing = float(asked(case.hits).mean()), _of_nothing(asked, case.hits)
    drowned = nothing >= DROWNED
    why = ", as almost every document is rightly left out, whatever the ranking" if drowned else ""
    yield Finding(
        "warning" if drowned else "note",
        "accuracy-trap",
        case.hits.n,
        f"{asked} is {_close(own)}; returning nothing at all would score {_close(nothing)}{why}. "
        f"{_what_counts(asked, case.hits)}",
        (),
        "judge the retriever by P, R and F1.",
    )


def _of_nothing(measure: Measure, hits: Hits) -> float:
    """The accuracy of a system that shows no document: only the relevant ones are wrong."""
    return float((1 - wanted(hits, measure.params["rel"]) / documents(hits, "Accuracy")).mean())


def _what_counts(measure: Measure, hits: Hits) -> str:
    """Precision, recall and F1 of the same documents."""
    k, rel = measure.params["k"], measure.params["rel"]
    at = "" if k is None else f"@{k}"
    shown = {
        "P": precision(hits, k=k, rel=rel),
        "R": recall(hits, k=k, rel=rel),
        "F1": f_measure(hits, beta=1, k=k, rel=rel),
    }
    told = (f"{name}{at} is {values.mean():.3f}" for name, values in shown.items())
    return f"On the same documents {', '.join(told)}."


def _close(value: float) -> str:
    """Enough decimals to see what is missing to 1."""
    return f"{value:.4f}" if value < 0.9995 or value == 1 else f"{value:.6f}"


CHECKS = (accuracy_trap,)
