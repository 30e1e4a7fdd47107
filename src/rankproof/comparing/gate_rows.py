"""The rows of a gate, and the saved releases that a candidate is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankproof.comparing.alignment import UNANSWERED, Soundness, align_scores, counted_by_all
from rankproof.comparing.compare import SystemPair, corrected_in, pairs
from rankproof.core.audit import Audit
from rankproof.document.display import PlainData
from rankproof.errors import one_of
from rankproof.scoring.evaluate import check_floor
from rankproof.scoring.protocol import ScoresLike
from rankproof.scoring.scores import Scores
from rankproof.stats.confidence import queries_for_margin, smallest_margin
from rankproof.stats.gate_decision import FAIL, INCONCLUSIVE, PASS, Decision

ENOUGH = 0.9
"""The share of verdicts that must be decided, by default."""
INVALID = "invalid"
"""The outcome if the data cannot tell: too many queries without an answer, or an error found by the audit."""
TOO_LITTLE = "too little is judged"
"""The note of a row whose numbers must not be trusted."""


@dataclass(frozen=True, slots=True)
class GateRow(PlainData):
    """One thing that had to hold: no loss beyond the margin, a floor, or enough judgments."""

    check: str
    """difference, floor, coverage, answers or audit."""
    measure: str
    slice: str
    """The group of queries; "" for all."""
    outcome: str
    n: int
    baseline: float | None
    candidate: float | None
    """None if so few of the samples could be measured that no mean is shown."""
    difference: float | None
    low: float | None
    high: float | None
    limit: float
    """The loss that is allowed, or the value that the candidate must reach."""
    p: float | None = None
    detectable: float | None = None
    more: int | None = None
    """How many more queries would let it pass four times out of five, if nothing changed at all."""
    detectable_note: str = ""
    """Why no detectable drop can be named, if none can."""
    passes_at: float | None = None
    """The least margin at which these differences would pass."""
    note: str = ""
    """The limits of the row, if there are any."""
    corrected: float | None = None
    """The difference, or for a floor the mean, with a judge's error taken out; None without labels of people."""
    corrected_low: float | None = None
    corrected_high: float | None = None
    smallest_margin: float | None = None
    """The smallest margin that so many queries can pass if nothing changes."""
    queries_for_margin: int | None = None
    """How many queries without a loss the margin takes, if few of them change."""
    loss: float | None = None
    """About exactly these queries: what they lost on average, gains not set off."""
    lost: dict[str, float] = field(default_factory=dict)
    """The difference of each query that lost, the greatest loss first; empty where questions like these pass."""
    against: str = ""
    """The anchor that it is compared with; "" for the baseline."""
    more_note: str = ""
    """Why it is not said how many more queries it takes, if that cannot be known."""

    @property
    def decides(self) -> bool:
        """Whether the outcome depends on it: a group of too few queries is shown, but decides nothing."""
        return not (self.slice and self.note)


def difference_row(
    pair: SystemPair, margin: float, found: Decision, against: str, minimum: int, alpha: float
) -> GateRow:
    """The results for one measure and one group of queries."""
    these = found.loss is not None
    worst = 1.0 if pair.ends is None else -pair.ends[0]
    difference = pair.sign * found.difference
    ends = [None if end is None else pair.sign * end for end in (found.low, found.high)]
    low, high = ends if pair.sign > 0 else reversed(ends)
    lost: dict[str, float] = {}
    if these or found.outcome != PASS:
        names = np.asarray(pair.queries, dtype=object)[pair.counted]
        below = sorted((value, name) for value, name in zip(pair.values.tolist(), names, strict=True) if value < 0)
        lost = {name: pair.sign * value for value, name in below}
    return GateRow(
        check="difference",
        measure=pair.measure.name,
        slice=pair.slice,
        outcome=found.outcome,
        n=found.n,
        baseline=None if pair.mean is None else pair.mean - difference,
        candidate=pair.mean,
        difference=difference,
        low=low,
        high=high,
        limit=margin,
        p=found.p,
        detectable=found.detectable,
        more=found.more,
        more_note=found.more_note,
        detectable_note=found.detectable_note,
        passes_at=None if found.low is None else max(-found.low, 0.0),
        smallest_margin=None if these else smallest_margin(found.n, alpha, worst),
        queries_for_margin=None if these else queries_for_margin(margin, alpha, worst),
        note="" if these or found.n >= minimum else f"fewer than {minimum} queries decide nothing",
        loss=found.loss,
        lost=lost,
        against=against,
        **({} if these else corrected_in(pair)),
    )


def floor_row(scores: ScoresLike, name: str, limit: float) -> GateRow:
    """Whether a mean reaches its floor; if a judge's error can be taken out, the mean without it."""
    if name not in scores:
        raise one_of("floor", name, scores.columns)
    check_floor(limit, name)
    column, corrected = scores.column(name), scores.corrected(name)
    thin = scores.thin(name)
    level = column.mean if corrected is None else corrected.value
    reached = level >= limit if column.measure.spec.higher else level <= limit
    outcome = INCONCLUSIVE if thin else PASS if reached else FAIL
    mean = None if thin else column.mean
    row = _limit_row("floor", column.measure.name, outcome, len(column.counting), limit, mean)
    if corrected is None:
        return row
    return replace(row, corrected=corrected.value, corrected_low=corrected.low, corrected_high=corrected.high)


def answer_rows(data: Mapping[str, Soundness], allowed: float) -> list[GateRow]:
    """A row for each side that left too many of the judged queries unanswered."""
    found = []
    for name, each in data.items():
        if each.missing > allowed:
            row = _limit_row("answers", "Answered", INVALID, each.queries, 1 - allowed, 1 - each.missing)
            theirs = replace(row, baseline=row.candidate, candidate=None, against="" if name == "baseline" else name)
            found.append(row if name == "candidate" else theirs)
    return found


def error_rows(data: Mapping[str, Soundness]) -> list[GateRow]:
    """A row for each side of which the audit says that its numbers are wrong."""
    return [
        replace(
            _limit_row("audit", f"Errors of {side}", INVALID, each.queries, 0, float(len(each.errors))),
            note="the audit finds an error in the data",
        )
        for name, each in data.items()
        for side in [f"the {name}" if name in ("baseline", "candidate") else name]
        if each.errors
    ]


def coverage_rows(old: ScoresLike, new: ScoresLike, limit: float | None) -> list[GateRow]:
    """The row that makes the gate inconclusive if too few documents are judged; that does not prove a loss.

    Scores by verdicts are never decided if a judge left too much undecided, whether coverage was asked for or not.
    """
    judged, unjudged = {**old.judged_shares, **new.judged_shares}, new.unjudged
    if judged:
        parts = {name: min(each.judged_shares.get(name, 1.0) for each in (old, new)) for name in judged}
    elif limit is None:
        return []
    else:
        parts = {f"Judged@{max(unjudged)}" if unjudged else "Judged": 1 - max(unjudged.values(), default=0.0)}
    enough, n = ENOUGH if limit is None else limit, len(new.queries)
    return [
        _limit_row("coverage", name, PASS if part >= enough else INCONCLUSIVE, n, enough, part)
        for name, part in parts.items()
    ]


def _limit_row(check: str, measure: str, outcome: str, n: int, limit: float, value: float | None) -> GateRow:
    """A value of the candidate that must reach a limit."""
    return GateRow(
        check=check,
        measure=measure,
        slice="",
        outcome=outcome,
        n=n,
        baseline=None,
        candidate=value,
        difference=None,
        low=None,
        high=None,
        limit=limit,
    )


def undecide_rows(rows: Sequence[GateRow], coverages: Sequence[GateRow]) -> list[GateRow]:
    """The rows, undecided if too little was judged to trust their numbers.

    A coverage of verdicts is about its own metric, one of judgments about every measure.
    """
    short = {each.measure for each in coverages if each.outcome != PASS}
    apart = not {each.measure for each in rows}.isdisjoint(each.measure for each in coverages)
    doubted = [each.measure in short if apart else bool(short) for each in rows]
    return [
        replace(each, outcome=INCONCLUSIVE, more=None, note=TOO_LITTLE) if doubt else each
        for each, doubt in zip(rows, doubted, strict=True)
    ]


WIDER = 2
"""An anchor's default margin, in margins of a single change: this many changes may use it up."""


def anchor_pairs(
    candidate: ScoresLike, anchors: Mapping[str, ScoresLike], level: float, anyway: bool = False
) -> tuple[list[tuple[str, SystemPair]], dict[str, ScoresLike]]:
    """The candidate's differences to each anchor over all queries, by measure, and the anchors as aligned for it."""
    found, kept = [], {}
    for name, anchor in anchors.items():
        both = {"candidate": _whole(candidate), name: _whole(anchor)}
        alike, _ = align_scores(both, "candidate", list(candidate), None, anyway)
        found += [(name, each) for each in pairs("candidate", alike["candidate"], alike[name], level)]
        kept[name] = alike[name]
    return found, kept


def mean_of(
    scores: Mapping[str, ScoresLike], measures: Sequence[str] | None = None, anyway: bool = False
) -> ScoresLike:
    """The mean of several results query by query, as scores: steadier than any one of them.

    What is unjudged and tied is the mean of theirs too. Definitions are those of the last; what the audit says of each
    is told of each.
    """
    names = list(scores)
    alike, _ = align_scores({name: _whole(each) for name, each in scores.items()}, names[-1], measures, None, anyway)
    last = alike[names[-1]]
    found = last.only(list(last), last.queries)
    if isinstance(found, Scores):
        found.hits = None
    for name in list(found.columns):
        columns = [each.column(name) for each in alike.values()]
        mean = np.mean([each.values for each in columns], axis=0)
        found.columns[name] = replace(found.columns[name], values=mean, counted=counted_by_all(columns))
    found.stored |= _mean_facts(found, list(alike.values())) | {MEAN_OF: alike}
    return found


MEAN_OF = "mean of"
"""The results of which scores are the mean, in what is stored with them."""


def _mean_facts(found: ScoresLike, scores: Sequence[ScoresLike]) -> dict[str, Any]:
    """The limits of a mean of results; the warnings and notes of the last, but for unanswered queries."""
    rows: dict[str, dict[str, Any]] = {name: {} for name in found}
    for name, row in rows.items():
        for of in ("ties", "unjudged") if isinstance(found, Scores) else ():
            ends = [each.bounds(name, of=of) for each in scores]
            row[of] = None if None in ends else np.mean(ends, axis=0).tolist()  # type: ignore[arg-type]
    shares = [each.unjudged for each in scores]
    depths = sorted(set(shares[0]).intersection(*shares))
    unjudged = {str(depth): float(np.mean([each[depth] for each in shares])) for depth in depths}
    tied = [each.facts["tied"] for each in scores]
    facts = scores[-1].facts | {"unjudged": unjudged, "tied": None if None in tied else max(tied)}
    kept = [each for each in scores[-1].audit if each.severity != "error" and each.kind not in UNANSWERED]
    return {"rows": rows, "facts": facts, "audit": Audit.of(kept).to_dict()}


def _whole(scores: ScoresLike) -> ScoresLike:
    """The scores without their groups, which an anchor need not have."""
    if not scores.groups:
        return scores
    found = copy(scores)
    found.groups = {}
    found.__dict__.pop("slices", None)
    return found
