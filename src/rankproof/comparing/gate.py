"""`gate`: may this change ship? Pass, fail or inconclusive, as CI needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Unpack

import numpy as np

from rankproof.comparing.alignment import (
    SystemPair,
    align_scores,
    bounds_notes,
    counted_notes,
    favours,
    pairs,
    range_notes,
    soundness,
    without_groups,
)
from rankproof.comparing.conclusions import ALLOWED, BEFORE, serious_findings
from rankproof.comparing.gate_decision import (
    FAIL,
    INCONCLUSIVE,
    INVALID,
    MINIMUM,
    PASS,
    GateRow,
    answer_rows,
    coverage_rows,
    decide,
    decide_these,
    difference_row,
    error_rows,
    floor_row,
    overall,
    undecide_rows,
)
from rankproof.core.audit import Finding
from rankproof.core.conventions import ScoringArguments
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.core.names import parse
from rankproof.document.model import Document, Result
from rankproof.errors import UsageError, check_number, check_one_of, check_whole, old_arguments, shorten
from rankproof.io.groups import Grouping, groups_of
from rankproof.io.load import Columns, with_columns
from rankproof.scoring.evaluate import (
    Measures,
    check_averages,
    check_conventions,
    check_margin,
    check_spelling,
    evaluate,
    prepare,
)
from rankproof.scoring.protocol import ScoresLike
from rankproof.stats.paired import check_alpha

ABOUT = LIKE_THESE, THESE = "like-these", "these"
"""The question of the gate: would it lose on queries like these, or was anything lost on exactly these?"""
EXIT_CODES = {PASS: 0, FAIL: 1, INVALID: 3, INCONCLUSIVE: 4}

WIDER = 2
"""An anchor's default margin, in margins of a single change: this many changes may use it up."""
MEAN_OF = "mean of"
"""The results of which scores are the mean, in what is stored with them."""


@dataclass(eq=False)
class Gate(Result):
    """The outcome, and every row behind it."""

    more_formats = ("junit",)

    rows: list[GateRow]
    alpha: float
    strict: bool = False
    baseline: ScoresLike | None = field(default=None, repr=False)
    candidate: ScoresLike | None = field(default=None, repr=False)
    notes: list[str] = field(default_factory=list)
    """Notes beside the rows: how scores differ that were compared anyway."""
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The limits of the scores of baseline and candidate, each as a `Soundness`."""
    about: str = LIKE_THESE
    """The question: `like-these` or `these`, as `gate` takes it."""

    def __iter__(self) -> Iterator[GateRow]:
        return iter(self.rows)

    @property
    def outcome(self) -> str:
        """pass, fail, invalid or inconclusive; with `strict`, what is inconclusive fails.

        Wrong numbers, or a baseline that did not answer, make the gate invalid. Queries that only the candidate did
        not answer count as nothing found: they may prove a loss, and otherwise make it invalid.
        """
        rows = [each for each in self.rows if each.decides]
        found = overall([each.outcome for each in rows if each.outcome != INVALID])
        broken = [each for each in rows if each.outcome == INVALID]
        if broken and (found != FAIL or any(each.check == "audit" or each.candidate is None for each in broken)):
            return INVALID
        return FAIL if self.strict and found == INCONCLUSIVE else found

    @property
    def n(self) -> int:
        """The number of queries that the gate was decided on; if measures count different queries, the fewest."""
        return min((each.n for each in self.rows if not each.slice and each.check == "difference"), default=0)

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 invalid (bad data), 4 inconclusive."""
        return EXIT_CODES[self.outcome]

    @property
    def findings(self) -> list[tuple[Finding, list[str]]]:
        """Each serious finding of the audit once, with the sides it is about."""
        sides = {"baseline": self.baseline, "candidate": self.candidate}
        return serious_findings({name: each for name, each in sides.items() if each is not None})

    def to_dict(self) -> dict[str, Any]:
        """The gate as plain data, with all notes that texts have."""
        from rankproof.comparing.gate_words import notes

        alpha = None if self.about == THESE else self.alpha
        head = {"outcome": self.outcome, "about": self.about, "alpha": alpha, "strict": self.strict}
        return {**head, "n": self.n, "notes": notes(self), "data": self.data, "rows": [x.to_dict() for x in self.rows]}

    def _document(self) -> Document:
        from rankproof.comparing.gate_words import gate as words

        return words(self)

    def _in_one_line(self) -> str:
        rows = ", ".join(f"{each.measure} {each.outcome}" for each in self.rows)
        return f"<Gate: {self.outcome}; {rows}>"


@old_arguments(corpus="corpus_size")
@with_columns
def gate(
    judgments: Any,
    baseline: Any,
    candidate: Any,
    measures: Measures | None = None,
    *,
    margin: float | Mapping[str, float] = 0.01,
    alpha: float = 0.05,
    strict: bool = False,
    about: str = LIKE_THESE,
    floors: Mapping[str, float] | None = None,
    coverage: float | None = None,
    minimum: int = MINIMUM,
    allow_missing: float = ALLOWED,
    allow_errors: bool = False,
    anchors: Mapping[str, ScoresLike] | None = None,
    anchor_margin: float | Mapping[str, float] | None = None,
    by: Grouping | None = None,
    seed: int = 0,
    columns: Columns = None,
    **conventions: Unpack[ScoringArguments],
) -> Gate:
    """Decide whether `candidate` may replace `baseline` under these judgments.

    Both may also be scores, like `History.mean` of the last results.

    `margin` is the loss that would not matter: one number for all measures, or one for each. If no `measures` are
    given, the gate decides by those that have a margin or a floor of their own, or else by nDCG@10. `floors` are
    means that the candidate must reach, whatever the baseline has. `coverage` is the share of the candidate's top
    documents (down to the deepest cut-off) that must be judged; with less, the gate decides nothing. The gate is
    invalid if baseline or candidate leaves more than `allow_missing` of the judged queries unanswered, or if the
    audit finds an error (unless `allow_errors`). `anchors` are scores of fixed releases by name: the candidate must
    not lose more than `anchor_margin` (by default twice `margin`) against any of them, so that small losses cannot
    add up unseen. `about="these"` is for a fixed suite: it asks whether anything was lost on exactly these queries,
    counts losses, and uses neither `alpha` nor `minimum`. The other arguments are those of `evaluate`.

    >>> judged = {f"q{i}": {"a": 1} for i in range(20)}
    >>> good, bad = ({query: order for query in judged} for order in (["a", "x"], ["x", "a"]))
    >>> gate(judged, good, bad, "RR").outcome, gate(judged, good, good, "RR", margin=0.15).outcome
    ('fail', 'pass')
    """
    check_conventions(conventions, gate)
    _check(alpha, minimum, coverage, seed, floors, allow_missing, about)
    ready, by = prepare(judgments), None if by is None else groups_of(by, judgments)
    if measures is None:
        measures = [*(margin if isinstance(margin, Mapping) else [DEFAULT_MEASURE]), *(floors or {})]
    old, new = (
        each if isinstance(each, ScoresLike) else evaluate(ready, each, measures, by=by, **conventions)
        for each in (baseline, candidate)
    )
    return gate_scores(
        old,
        new,
        list(new) if isinstance(baseline, ScoresLike) else None,
        margin=margin,
        alpha=alpha,
        strict=strict,
        about=about,
        floors=floors,
        coverage=coverage,
        minimum=minimum,
        allow_missing=allow_missing,
        allow_errors=allow_errors,
        anchors=anchors,
        anchor_margin=anchor_margin,
        seed=seed,
    )


def gate_scores(
    baseline: ScoresLike,
    candidate: ScoresLike,
    measures: Measures | None = None,
    *,
    margin: float | Mapping[str, float] = 0.01,
    alpha: float = 0.05,
    strict: bool = False,
    about: str = LIKE_THESE,
    floors: Mapping[str, float] | None = None,
    coverage: float | None = None,
    minimum: int = MINIMUM,
    allow_missing: float = ALLOWED,
    allow_errors: bool = False,
    anchors: Mapping[str, ScoresLike] | None = None,
    anchor_margin: float | Mapping[str, float] | None = None,
    by: Grouping | None = None,
    anyway: bool = False,
    seed: int = 0,
) -> Gate:
    """Decide as `gate` does, from existing scores.

    Scores made under different judgments, conventions or definitions are refused, unless `anyway`.

    >>> judged = {f"q{i}": {"a": 1} for i in range(20)}
    >>> good, bad = (evaluate(judged, {q: order for q in judged}, "RR") for order in (["a", "x"], ["x", "a"]))
    >>> gate_scores(good, bad).outcome
    'fail'
    """
    _check(alpha, minimum, coverage, seed, floors, allow_missing, about)
    known = {} if anchors is None else anchors
    if not isinstance(known, Mapping) or not all(isinstance(each, ScoresLike) for each in known.values()):
        raise UsageError(
            f"anchors: got {shorten(anchors)}, expected scores by name. Next: give them as {{'release': scores}}."
        )
    pair = {"baseline": baseline, "candidate": candidate}
    alike, notes = align_scores(pair, "baseline", measures, None if by is None else groups_of(by), anyway)
    old, new = alike["baseline"], alike["candidate"]
    check_averages(column.measure for column in old.columns.values())
    for name, each in alike.items():
        check_spelling(each, name)
    compared = list(pairs("candidate", new, old, 1 - 2 * alpha))
    margins = [_margin(margin, each) for each in compared]
    releases, parts = (
        {f"the saved {name}" if name in pair else name: each for name, each in some.items()}  # as the sides are called
        for some in (known, baseline.stored.get(MEAN_OF, {}))
    )
    fixed, kept = _anchor_pairs(new, releases, 1 - 2 * alpha, anyway)
    margins += [
        WIDER * _margin(margin, each) if anchor_margin is None else _margin(anchor_margin, each) for _, each in fixed
    ]
    every = [*(("", each) for each in compared), *fixed]
    columns, ends = [each.values for _, each in every], [each.ends for _, each in every]
    decisions = (
        decide_these(columns, margins)
        if about == THESE
        else decide(columns, margins, np.random.default_rng(seed), alpha, minimum, ends=ends)
    )
    rows = [
        difference_row(each, decision, against, minimum, alpha)
        for (against, each), decision in zip(every, decisions, strict=True)
    ]
    rows += [floor_row(new, name, limit) for name, limit in (floors or {}).items()]
    coverages = coverage_rows(old, new, coverage)
    first = compared[0].measure
    data = {name: soundness(each, first, list(each)) for name, each in {**alike, **kept}.items()}
    found = {name: soundness(each, first) for name, each in parts.items() if name not in data}
    data |= {name: each for name, each in found.items() if each.unanswered or each.errors}
    wrong = [*answer_rows(data, allow_missing), *([] if allow_errors else error_rows(data))]
    notes += counted_notes(compared, "baseline", len(new.queries))
    notes += [] if about == THESE else range_notes(each.measure for each in compared)
    notes += [*bounds_notes(alike), *favours(compared, "baseline")]
    notes += [new.apart] if new.apart else []
    notes += [f"{BEFORE}{name}: {said}" for name, each in data.items() for said in each.errors]
    told = {name: asdict(each) for name, each in data.items()}
    return Gate([*wrong, *undecide_rows(rows, coverages), *coverages], alpha, strict, old, new, notes, told, about)


def _check(
    alpha: float, minimum: int, coverage: float | None, seed: int, floors: Any, allow_missing: float, about: str
) -> None:
    check_one_of("about", about, ABOUT)
    check_alpha(alpha, 0.5)
    check_whole("seed", seed, 0)
    check_whole("minimum", minimum, 2)
    if floors is not None and not isinstance(floors, Mapping):
        raise UsageError(
            f"floors: got {floors!r}, expected {{measure: number}}, like {{'nDCG@10': 0.4}}."
            " Next: give a mapping of measure to its lowest mean."
        )
    for name, share, like in (("coverage", coverage, 0.8), ("allow_missing", allow_missing, 0.1)):
        if share is not None:
            check_number(name, share, least=0, most=1, noun="share", advice=f"give a share, like {like}")


def _margin(margin: float | Mapping[str, float], pair: SystemPair) -> float:
    """The margin of a measure; a mapping must name one for each."""
    if isinstance(margin, Mapping):
        by_name = {parse(name).name: value for name, value in margin.items()}
        if pair.measure.name not in by_name:
            raise UsageError(
                f"margin: names no margin for {pair.measure.name}, only for {', '.join(by_name)}."
                " Next: name a margin for every measure, or give one for all."
            )
        margin = by_name[pair.measure.name]
    check_margin(margin, f" in {pair.measure}", zero=True)
    return margin


def _anchor_pairs(
    candidate: ScoresLike, anchors: Mapping[str, ScoresLike], level: float, anyway: bool
) -> tuple[list[tuple[str, SystemPair]], dict[str, ScoresLike]]:
    """The candidate's differences to each anchor over all queries, by measure, and the anchors as aligned for it."""
    found, kept = [], {}
    for name, anchor in anchors.items():
        both = {"candidate": without_groups(candidate), name: without_groups(anchor)}
        alike, _ = align_scores(both, "candidate", list(candidate), None, anyway)
        found += [(name, each) for each in pairs("candidate", alike["candidate"], alike[name], level)]
        kept[name] = alike[name]
    return found, kept
