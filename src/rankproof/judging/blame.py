"""Which half failed: for each claim that an answer lacks, at which step between the corpus and the answer it was lost.

The points are the seven of S. Barnett et al. (Seven failure points when engineering a retrieval augmented generation
system, CAIN 2024), read off the same verdicts as the metrics; retrieval comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from rankproof.document.display import Displayable
from rankproof.judging.case import Case, Maybe, all_of, any_of

POINTS: dict[str, str] = {
    "corpus": "the corpus lacks the answer",
    "retrieval": "it was not retrieved",
    "ranking": "it was retrieved, below what the prompt takes",
    "use": "it was in the prompt, and not used",
    "contradiction": "it was in the prompt, and the answer contradicts it",
    "form": "the answer does not address the question",
    "specificity": "the answer is too general or too specific",
    "incomplete": "the answer leaves out a part",
}
"""The points of failure in the order of the way."""
RETRIEVAL = ("corpus", "retrieval", "ranking")
"""Those that are retrieval's; the others are generation's."""
FINE, UNKNOWN, NOTHING = "fine", "unmeasured", "nothing to compare"
WORDS = POINTS | {
    FINE: "the answer has what the reference claims",
    UNKNOWN: "too little was judged to tell",
    NOTHING: "reference, answer or contexts are lacking",
}
"""The meaning of each point, and of samples that did not fail."""
NEEDS = ("reference", "answer", "contexts")


@dataclass(frozen=True, slots=True)
class Lost(Displayable):
    """A claim of the reference that the answer lacks, and where it was lost."""

    claim: str
    point: str


@dataclass(frozen=True, slots=True)
class Failure(Displayable):
    """The outcome of one sample."""

    sample: str
    point: str
    """The first point at which something was lost; "fine", "unmeasured" or "nothing to compare"."""
    lost: tuple[Lost, ...] = ()

    @property
    def half(self) -> str:
        """retrieval, generation, or neither."""
        return half_of(self.point)


def half_of(point: str) -> str:
    """The half that a point belongs to.

    >>> half_of("ranking"), half_of("use"), half_of("fine")
    ('retrieval', 'generation', '')
    """
    return "" if point not in POINTS else "retrieval" if point in RETRIEVAL else "generation"


@dataclass(slots=True)
class Blame(Displayable):
    """The account over all samples: how many failures are retrieval's, how many generation's, and at which point."""

    counts: Counter[str] = field(default_factory=Counter)
    """How many samples ended at each point."""
    each: Callable[[], Iterable[Failure]] = tuple
    """The outcome of each sample; empty for scores that were read back."""
    asked: bool = False
    """Whether everything was judged that the account needs, not only what the metrics needed."""

    @property
    def failures(self) -> list[Failure]:
        """The outcome of each sample, in order."""
        return list(self.each())

    @property
    def points(self) -> dict[str, int]:
        """How many samples failed at each point, in the order of the way, then how many did not fail."""
        return {point: self.counts[point] for point in (*POINTS, FINE, UNKNOWN, NOTHING) if self.counts[point]}

    @property
    def halves(self) -> dict[str, int]:
        """How many failures are retrieval's, and how many generation's."""
        found: Counter[str] = Counter()
        for point, times in self.counts.items():
            found[half_of(point)] += times
        return {half: found[half] for half in ("retrieval", "generation")}

    def to_dict(self) -> dict[str, Any]:
        """The account as plain data."""
        samples = {
            each.sample: {"point": each.point, "lost": {lost.claim: lost.point for lost in each.lost}}
            for each in self.failures
        }
        return {"halves": self.halves, "points": self.points, "samples": samples}


def failure_of(case: Case) -> Failure:
    """The outcome of a sample, as far as it is known."""
    if not all(case.sample.has(each) for each in NEEDS) or not case.reference_claims:
        return Failure(case.sample.id, NOTHING)
    lost = tuple(Lost(claim, point) for claim in case.reference_claims if (point := _point(case, claim)) != FINE)
    found = {each.point for each in lost}
    order = (*POINTS, UNKNOWN)
    return Failure(case.sample.id, (min(found, key=order.index) if found else FINE), lost)


def _point(case: Case, claim: str) -> str:
    """Where a claim was lost; fine where the answer has it. Every pair is looked at, so that each is asked for."""
    answered, place = case.supports(case.sample.answer, claim), _place(case, claim)
    against, generation = case.contradicts(case.sample.answer, claim), _generation(case)
    if answered is not False:
        return UNKNOWN if answered is None else FINE
    if place != "prompt":
        return place
    return UNKNOWN if against is None else "contradiction" if against else generation


def _place(case: Case, claim: str) -> str:
    """How far the claim came: "prompt", or the point of retrieval at which it was lost."""
    size = case.k or case.sample.prompt_k
    contexts = case.sample.contexts or ()
    inside = any_of(case.supports(each.text, claim) for each in contexts[:size])
    below = any_of(case.supports(each.text, claim) for each in contexts[size:] if size is not None)
    somewhere = _in_corpus(case, claim)
    if inside:
        return "prompt"
    if inside is None or below is None:
        return UNKNOWN
    if below:
        return "ranking"
    return "corpus" if somewhere is False else "retrieval"


def _in_corpus(case: Case, claim: str) -> Maybe:
    """Whether the corpus holds the claim, as far as reference contexts tell; None if there are none."""
    known = case.sample.reference_contexts
    if known is None:
        return None
    # A reference context of which only the id is known is trusted.
    return any_of(not each.text or case.supports(each.text, claim) for each in known)


def _generation(case: Case) -> str:
    """The failure of an answer that had the contexts it needed."""
    grade, abstains = case.address_grade(), case.abstains()
    said = [case.supports(case.sample.answer, claim) for claim in case.reference_claims]
    true = all_of(case.supports(case.sample.reference, claim) for claim in case.answer_claims)
    if abstains:
        return "use"
    if any_of(said):
        return "incomplete"
    if grade == 0:
        return "form"
    return "specificity" if true and case.answer_claims else "use"
