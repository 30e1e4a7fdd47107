"""The one door for verdicts: whatever is no verdict becomes unmeasured here, with the reason, and is never bent."""

from __future__ import annotations

from rankproof.errors import shorten
from rankproof.judging.verdicts import VALUES, Unmeasured, Verdict


def checked(said: Verdict | Unmeasured) -> Verdict | Unmeasured:
    """The verdict if it is one.

    >>> from rankproof.judging.verdicts import Ask
    >>> checked(Verdict(Ask("Q", "why?", "since"), 7, "some judge")).reason
    'got 7, expected one of 0, 1'
    """
    if isinstance(said, Unmeasured):
        return said
    problem = _problem(said)
    return Unmeasured(said.ask, problem) if problem else said


def _problem(said: Verdict) -> str:
    """What is wrong with a verdict; empty where nothing is."""
    relation, value, probability = said.ask.relation, said.value, said.probability
    if relation == "C":
        fine = all(isinstance(each, str) and each.strip() for each in said.items)
        return "" if fine else f"got {shorten(said.items)}, expected claims"
    if isinstance(value, bool) or not isinstance(value, int) or value not in VALUES[relation]:
        return f"got {shorten(value)}, expected one of {', '.join(map(str, VALUES[relation]))}"
    if probability is not None and not 0 <= probability <= 1:
        return f"got {shorten(probability)}, expected a probability from 0 to 1"
    return "" if said.quote in said.ask.right else f"the quote {shorten(said.quote)} is not in the text"
