"""Derivations of the confusion counts, of what they are worth, and of the first relevant rank."""

from __future__ import annotations

from rankproof.core.derivation.registry import writes
from rankproof.core.derivation.steps import (
    Case,
    Step,
    Written,
    at_least,
    cut_at,
    graded,
    quotient,
    relevant_shown,
    said,
    shown,
    wanted,
)
from rankproof.core.measures import counts


@writes(counts.true_positives)
def true_positives(c: Case, k: int | None, rel: float) -> Written:
    """Relevant and shown."""
    good = c.relevant(rel, k)
    return Written((relevant_shown(good, k, rel),), {each.rank: 1.0 for each in good})


@writes(counts.false_positives)
def false_positives(c: Case, k: int | None, rel: float) -> Written:
    """Shown, but not relevant."""
    return Written(_wrong(c, k, rel))


@writes(counts.false_negatives)
def false_negatives(c: Case, k: int | None, rel: float) -> Written:
    """Relevant, but not shown."""
    return Written(_missed(c, k, rel))


@writes(counts.true_negatives)
def true_negatives(c: Case, k: int | None, rel: float) -> Written:
    """Neither relevant nor shown."""
    return Written(_left_out(c, k, rel))


@writes(counts.accuracy)
def accuracy(c: Case, k: int | None, rel: float) -> Written:
    """What is on the right side, by everything there is."""
    steps = _left_out(c, k, rel)
    tp, tn = steps[0], steps[-1]
    right = Step("right", "TP + TN", (), f"{said(tp.number)} + {said(tn.number)}", tp.number + tn.number)
    return Written((*steps, right, quotient("result", "by all documents", right.number, _corpus(c))))


def _wrong(c: Case, k: int | None, rel: float) -> tuple[Step, ...]:
    tp, out_of = relevant_shown(c.relevant(rel, k), k, rel), shown(c, k)
    return tp, out_of, Step("FP", "FP = shown - TP", (), _minus(out_of, tp), out_of.number - tp.number)


def _missed(c: Case, k: int | None, rel: float) -> tuple[Step, ...]:
    tp, there_are = relevant_shown(c.relevant(rel, k), k, rel), wanted("wanted", c, rel)
    return tp, there_are, Step("FN", "FN = R - TP", (), _minus(there_are, tp), there_are.number - tp.number)


def _left_out(c: Case, k: int | None, rel: float) -> tuple[Step, ...]:
    wrong, there_are = _wrong(c, k, rel), wanted("wanted", c, rel)
    every = Step("corpus", "documents in the collection", value=_corpus(c))
    left = every.number - there_are.number - wrong[-1].number
    expression = f"{said(every.number)} - {said(there_are.number)} - {said(wrong[-1].number)}"
    return *wrong, there_are, every, Step("TN", "TN = all - R - FP", (), expression, left)


def _corpus(c: Case) -> float:
    return float(c.hits.corpus or 0)


def _minus(a: Step, b: Step) -> str:
    return f"{said(a.number)} - {said(b.number)}"


@writes(counts.first_relevant)
def first_relevant(c: Case, k: int | None, rel: float) -> Written:
    """The rank of the first relevant document, or one more than all that were seen."""
    good, out_of = c.relevant(rel, k)[:1], shown(c, k)
    if good:
        says = f"rank of the first that is {at_least(rel)}"
        return Written((Step("result", says, graded(good), f"rank {good[0].rank}", float(good[0].rank)),))
    says = f"no document {cut_at(k)} is {at_least(rel)}: one more than was shown"
    end = Step("result", says, (), f"{said(out_of.number)} + 1", out_of.number + 1)
    return Written((out_of, end))


@writes(counts.utility)
def utility(case: Case, rel: float, a: float, b: float, c: float, d: float) -> Written:
    """Each count times its price."""
    steps = (*_wrong(case, None, rel), *_missed(case, None, rel)[1:])
    if d:
        steps += _left_out(case, None, rel)[4:]
    number = {step.kind: step.number for step in steps}
    priced = [(a, number["found"]), (b, number["FP"]), (c, number["FN"]), (d, number.get("TN", 0.0))]
    expression = " + ".join(f"{price:g} x {said(count)}" for price, count in priced if price)
    value = sum(price * count for price, count in priced)
    return Written((*steps, Step("result", "each times its price", (), expression or "0", value)))
