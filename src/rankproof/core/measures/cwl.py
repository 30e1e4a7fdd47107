"""Measures of the C/W/L kind: a chance of Continuing after each document gives each its Weight.

The value is the gain per examined document; a document's gain is grade / top_grade.
Reference for all: A. Moffat, P. Bailey, F. Scholer, P. Thomas: Incorporating user expectations and behavior
into the measurement of search effectiveness, ACM TOIS 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Annotated, Any, TypeAlias

import numpy as np

from rankproof.core.derive import Case, Step, Term, Written, cut_at, divide_steps, number_text, sum_step, writes
from rankproof.core.hits import Array, Hits, PerQuery
from rankproof.core.measure import MOST, Depth, Maximum, ParameterKind, Persistence, Positive
from rankproof.core.measures.users import DEPTH, portion, scaled_grades
from rankproof.core.names import measure

Goal: TypeAlias = Annotated[
    float, ParameterKind("a number of at least 0.5", lambda v: isinstance(v, Real) and 0.5 <= v <= MOST, float)
]
"""How much gain a reader wants; below one half the chance to go on would be no chance."""

NEARLY = 1 - 1e-9
"""Gains such as thirds do not add up to a whole number in floating point: so much of T is T."""

CELLS = 1_000_000
"""Ranks of queries worked on at a time, so that memory stays small."""


def gain_per_document(h: Hits, depth: int, top_grade: float | None, go_on: Callable[[Array, Array], Array]) -> PerQuery:
    """The mean gain of the documents seen; `go_on(gains, ranks)` is the chance to go on after each."""
    values, step = np.zeros(h.n), max(1, CELLS // depth)
    for at in range(0, h.n, step):
        shown = h.block(at, min(at + step, h.n)).top(depth)
        gain, chance = np.zeros((shown.n, depth)), np.ones((shown.n, depth))
        gain[shown.query, shown.rank - 1] = scaled_grades(shown, top_grade)
        chance[:, 1:] = go_on(gain, np.arange(1, depth + 1))[:, :-1]
        seen = np.cumprod(chance, axis=1)
        values[at : at + step] = (gain * seen).sum(axis=1) / seen.sum(axis=1)
    return values


def _tired(left: Any) -> Any:
    """The chance to go on of a reader who tires by the square."""
    return ((left - 1) / left) ** 2


@measure("INSQ", additive=True, optimistic=True, undefined=False)
def insq(h: Hits, T: Goal = 1, top_grade: Maximum = None) -> PerQuery:
    """Gain per document of a reader who wants T good documents, and tires by the square of the rank.

    Formula: sum of gain w(rank), with w in proportion to 1 / (rank + 2T - 1)², over 1,000 ranks. A document's gain is
        grade / top_grade, at most 1, where top_grade is the largest grade in the judgments unless given.
    Range: 0 to 1.
    Perfect: near 1 only with documents of the highest grade without end.
    Worst: 0, when nothing found has a grade above 0.
    Blind to: what could have been found.
    Use: with T as the number of good documents a reader hopes for.
    Reference: A. Moffat, F. Scholer, P. Thomas: Models and metrics: IR evaluation as a user process, ADCS 2012.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "INSQ")["INSQ"], 4)
    0.4853
    """
    shown = h.top(DEPTH)
    weights = 1 / (np.arange(1, DEPTH + 1) + 2 * T - 1) ** 2
    return shown.sum(scaled_grades(shown, top_grade) * weights[shown.rank - 1]) / weights.sum()  # type: ignore[no-any-return]


@measure("INST", undefined=False)
def inst(h: Hits, T: Goal = 1, top_grade: Maximum = None) -> PerQuery:
    """Gain per document of a reader who wants T good documents, and adapts to what was found so far.

    Formula: gain per document seen, with a chance to go on after rank i of ((i + T + t - 1) / (i + T + t))², where t is
        T less the gain so far; over 1,000 ranks. A document's gain is grade / top_grade, at most 1, where top_grade is
        the largest grade in the judgments unless given.
    Range: 0 to 1.
    Perfect: near 1 only with documents of the highest grade without end.
    Worst: 0, when nothing found has a grade above 0.
    Blind to: what could have been found.
    Use: with T as the number of good documents a reader hopes for.
    Reference: A. Moffat, P. Bailey, F. Scholer, P. Thomas: INST: an adaptive metric for information retrieval
        evaluation, ADCS 2015.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "INST")["INST"], 4)
    0.7233
    """
    return gain_per_document(h, DEPTH, top_grade, lambda gain, rank: _tired(rank + 2 * T - np.cumsum(gain, axis=1)))


@measure("BPM", worth=None, reorder=False, undefined=False)
def bejeweled(h: Hits, k: Depth = None, T: Positive = 1, top_grade: Maximum = None) -> PerQuery:
    """Gain per document of a reader who stops when T was gained, or k documents were seen.

    Formula: gain in the top n / n, with n the first rank at which T is gained, or k (1,000 if not given): the static
        model. A document's gain is grade / top_grade, at most 1, where top_grade is the largest grade in the judgments
        unless given.
    Range: 0 to 1.
    Perfect: 1, when only documents of the highest grade come before T is reached.
    Worst: 0, when nothing found has a grade above 0.
    Blind to: what comes after T was gained. A good document moved up can lower it, as it ends the search with less than
        would have been found.
    Use: for readers with a goal and a limit to their patience.
    Reference: F. Zhang, Y. Liu, X. Li, M. Zhang, Y. Xu, S. Ma: Evaluating web search with a bejeweled player model,
        SIGIR 2017.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}, "BPM@10")["BPM@10"]
    0.5
    """
    enough = T * NEARLY
    return gain_per_document(h, k or DEPTH, top_grade, lambda gain, rank: np.cumsum(gain, axis=1) < enough)


@measure("NERR8", undefined=False)
def nerr8(h: Hits, k: Depth = None, top_grade: Maximum = None) -> PerQuery:
    """Gain per document of a reader who stops at a document with a chance of its gain, at k at the latest.

    Formula: gain per document seen, with a chance to go on after a document of 1 - gain; k is 1,000 if not given. A
        document's gain is grade / top_grade, at most 1, where top_grade is the largest grade in the judgments unless
        given.
    Range: 0 to 1.
    Perfect: 1, with a document of the highest grade at rank 1.
    Worst: 0, when nothing found has a grade above 0.
    Blind to: what comes after a document of the highest grade.
    Use: instead of ERR, where a value must be a mean over the documents seen.
    Reference: L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L, ICTIR 2021, equation 8.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "NERR8@10")["NERR8@10"]
    0.6666666666666666
    """
    return gain_per_document(h, k or DEPTH, top_grade, lambda gain, rank: 1 - gain)


@measure("NERR9", undefined=False)
def nerr9(h: Hits, k: Depth = None, top_grade: Maximum = None) -> PerQuery:
    """NERR8 for a reader who also tires: the chance to go on after rank i has a factor i / (i + 1).

    Formula: gain per document seen, with a chance to go on after rank i of i/(i+1) (1 - gain); k is 1,000 if not given.
        A document's gain is grade / top_grade, at most 1, where top_grade is the largest grade in the judgments unless
        given.
    Range: 0 to 1.
    Perfect: 1, with a document of the highest grade at rank 1.
    Worst: 0, when nothing found has a grade above 0.
    Blind to: what comes after a document of the highest grade.
    Use: as NERR8, nearer to ERR.
    Reference: L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L, ICTIR 2021, equation 9.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "NERR9@10")["NERR9@10"]
    0.6
    """
    return gain_per_document(h, k or DEPTH, top_grade, lambda gain, rank: rank / (rank + 1) * (1 - gain))


@measure("NERR10", undefined=False)
def nerr10(h: Hits, p: Persistence = 0.9, top_grade: Maximum = None) -> PerQuery:
    """NERR8 without a cut-off, for a reader who goes on with probability p where nothing was gained.

    Formula: gain per document seen, with a chance to go on after a document of p (1 - gain); over 1,000 ranks. A
        document's gain is grade / top_grade, at most 1, where top_grade is the largest grade in the judgments unless
        given.
    Range: 0 to 1.
    Perfect: 1, with a document of the highest grade at rank 1.
    Worst: 0, when nothing found has a grade above 0.
    Blind to: what comes after a document of the highest grade.
    Use: as NERR8, with patience as in RBP.
    Reference: L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L, ICTIR 2021, equation 10.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "NERR10")["NERR10"]
    0.6551724137931034
    """
    return gain_per_document(h, DEPTH, top_grade, lambda gain, rank: p * (1 - gain))


@measure("NERR11", undefined=False)
def nerr11(h: Hits, T: Goal = 1, top_grade: Maximum = None) -> PerQuery:
    """NERR8 without a cut-off, for a reader who wants T good documents and tires as in INSQ.

    Formula: gain per document seen, with a chance to go on after rank i of ((i + 2T - 1) / (i + 2T))² (1 - gain); over
        1,000 ranks. A document's gain is grade / top_grade, at most 1, where top_grade is the largest grade in the
        judgments unless given.
    Range: 0 to 1.
    Perfect: 1, with a document of the highest grade at rank 1.
    Worst: 0, when nothing found has a grade above 0.
    Blind to: what comes after a document of the highest grade.
    Use: as NERR8, with a goal as in INSQ.
    Reference: L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L, ICTIR 2021, equation 11.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "NERR11")["NERR11"]
    0.5909090909090908
    """
    return gain_per_document(h, DEPTH, top_grade, lambda gain, rank: _tired(rank + 2 * T) * (1 - gain))


GoOn = Callable[[int, float, float], float]
"""The chance to go on after a rank, with the gain found there and the gain down to there."""


@writes(insq)
def _insq_on_paper(c: Case, T: float, top_grade: float | None) -> Written:
    gain = _gains(c, DEPTH, top_grade)
    terms = [
        Term(f"{number_text(own)} / ({rank} + {2 * T - 1:g})^2", own / (rank + 2 * T - 1) ** 2, rank, doc)
        for rank, doc in ((each.rank, each.doc) for each in c.found)
        if (own := gain.get(rank))
    ]
    sums = sum_step("found", f"gain / (rank + {2 * T - 1:g})^2, {cut_at(DEPTH)}", terms)
    most = math.fsum(1 / (rank + 2 * T - 1) ** 2 for rank in range(1, DEPTH + 1))
    goal = Step("denominator", f"1 / (rank + {2 * T - 1:g})^2 of all {DEPTH:,} ranks", value=most)
    return divide_steps(sums, goal, before=[_scale(c, top_grade)])


@writes(inst)
def _inst_on_paper(c: Case, T: float, top_grade: float | None) -> Written:
    says = f"((i + {2 * T:g} - gained - 1) / (i + {2 * T:g} - gained))^2"
    return _walked(c, DEPTH, top_grade, says, lambda rank, gain, so_far: _tired(rank + 2 * T - so_far))


@writes(bejeweled)
def _bejeweled_on_paper(c: Case, k: int | None, T: float, top_grade: float | None) -> Written:
    says = f"1 until {T:g} was gained, then 0"
    return _walked(c, k or DEPTH, top_grade, says, lambda rank, gain, so_far: float(so_far < T * NEARLY))


@writes(nerr8)
def _nerr8_on_paper(c: Case, k: int | None, top_grade: float | None) -> Written:
    return _walked(c, k or DEPTH, top_grade, "1 - gain", lambda rank, gain, so_far: 1 - gain)


@writes(nerr9)
def _nerr9_on_paper(c: Case, k: int | None, top_grade: float | None) -> Written:
    says = "i/(i + 1) x (1 - gain)"
    return _walked(c, k or DEPTH, top_grade, says, lambda rank, gain, so_far: rank / (rank + 1) * (1 - gain))


@writes(nerr10)
def _nerr10_on_paper(c: Case, p: float, top_grade: float | None) -> Written:
    return _walked(c, DEPTH, top_grade, f"{p:g} x (1 - gain)", lambda rank, gain, so_far: p * (1 - gain))


@writes(nerr11)
def _nerr11_on_paper(c: Case, T: float, top_grade: float | None) -> Written:
    says = f"((i + {2 * T - 1:g}) / (i + {2 * T:g}))^2 x (1 - gain)"
    return _walked(c, DEPTH, top_grade, says, lambda rank, gain, so_far: _tired(rank + 2 * T) * (1 - gain))


def _walked(c: Case, depth: int, top_grade: float | None, says: str, go_on: GoOn) -> Written:
    """The chances to look at each rank, the gain seen with them, and the gain per document seen."""
    gain = _gains(c, depth, top_grade)
    deepest = max([0, *(rank for rank in gain if gain[rank])])  # below it there is nothing to gain
    seen, steps, chance, so_far = {}, [Term("rank 1", 1.0)], 1.0, 0.0
    for rank in range(1, depth + 1):
        seen[rank] = chance
        so_far += gain.get(rank, 0.0)
        on = go_on(rank, gain.get(rank, 0.0), so_far)
        if rank < deepest:
            steps.append(Term(f"rank {rank + 1}: {number_text(chance)} x {number_text(on)}", chance * on))
        chance *= on
    going = Step("going", f"chance to look at a rank; to go on after rank i: {says}", tuple(steps))
    docs = {each.rank: each.doc for each in c.found}
    terms = [
        Term(f"{number_text(gain[rank])} x {number_text(seen[rank])}", gain[rank] * seen[rank], rank, docs[rank])
        for rank in gain
        if gain[rank]
    ]
    sums = sum_step("found", "gain x chance that the rank is looked at", terms)
    bottom = math.fsum(seen.values())
    looked = Step("denominator", f"documents looked at: the chances of all {depth:,} ranks", value=bottom)
    return divide_steps(sums, looked, "gain per document looked at", [_scale(c, top_grade), going])


def _gains(c: Case, depth: int, top_grade: float | None) -> dict[int, float]:
    top = c.top_grade if top_grade is None else top_grade
    return {each.rank: portion(each.grade, top) for each in c.found if each.rank <= depth}


def _scale(c: Case, top_grade: float | None) -> Step:
    top = c.top_grade if top_grade is None else top_grade
    return Step("gain", f"gain: grade / {number_text(top)}, the largest grade")
