"""`calibrate_judgments`: how far a machine's judgments agree with people's, and what rank measures are by people."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.core.audit.ids import misspelt_between
from rankproof.core.defaults import JUDGE_MEASURES
from rankproof.core.judgments import Judgments, judgments_from_rows
from rankproof.core.measure import Measure
from rankproof.core.names import parse_each
from rankproof.document.disk import write_file
from rankproof.document.model import Displayable, Document, Result
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, check_number, check_whole, shorten
from rankproof.io.load import Columns, load_judgments, load_rankings, with_columns
from rankproof.io.read import rows_of
from rankproof.judging.trust.agreement import plain_share
from rankproof.judging.trust.two_judgments import Estimated, Estimating, Kappa, TwoJudgments, confusion_of, kappa_of
from rankproof.scoring.evaluate import Measures, evaluate
from rankproof.scoring.scores import Scores
from rankproof.stats.judge_error import Share, share_of

SIDES = ("judgments of people", "judgments of the machine")


@with_columns
def calibrate_judgments(
    machine: Any,
    human: Any = None,
    systems: Any = None,
    measures: Measures | None = None,
    *,
    rel: float = 1,
    plan: Any = None,
    seed: int = 0,
    columns: Columns = None,
) -> JudgmentCalibration:
    """How far a machine's judgments agree with people's, and rank measures corrected by people's judgments.

    Both are judgments as `evaluate` reads them; people need to have judged only a part of the machine's pairs.
    `systems` is {name: ranking}, a list of files, or one ranking file; of each run every measure is estimated, from the
    machine's judgments corrected by people's, with an interval. A grade of at least `rel` is relevant, also in
    measures that name no grade. `plan` is the file that `plan(n)` of the result wrote before the labels, if they were
    drawn by it. Without `human` the result only says which pairs to label first.

    >>> machine = {"q1": {"a": 1, "b": 1, "c": 0, "d": 0}, "q2": {"a": 1, "b": 0}}
    >>> found = calibrate_judgments(machine, {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 1}})
    >>> found.n, found.kappa.kappa.value, found.confusion[0, 1]
    (4, 0.5, 1)
    """
    check_number("rel", rel, advice="give a grade, like 2")
    check_whole("seed", seed, 0)
    judged = load_judgments(machine)
    people = None if human is None else load_judgments(human)
    said = _together(judged, people, _chances(plan))
    asked = _measures(JUDGE_MEASURES if measures is None else measures, rel)
    runs = [systems] if isinstance(systems, str | os.PathLike) else systems
    loaded = {} if runs is None else load_rankings(runs)
    scores = {name: evaluate(said.pairs, run, asked) for name, run in loaded.items()}
    if people is None and not scores:
        raise UsageError("human: got no judgments of people, and no runs. Next: give one or the other.")
    hits = [each.hits for each in scores.values() if each.hits is not None]
    estimating = Estimating(said, hits, asked, seed) if scores else None
    estimates = [] if estimating is None or people is None else estimating.results()
    raw = {name: evaluate(judged, run, asked) for name, run in loaded.items()} if estimates else {}
    rows = said.both
    alike = (said.machine[rows] >= rel) == (said.people[rows] >= rel)
    return JudgmentCalibration(
        machine="the machine" if judged.source == "judgments" else judged.source,
        human="" if people is None else "people" if people.source == "judgments" else people.source,
        rel=rel,
        n=int(rows.sum()),
        queries=len(np.unique(said.pairs.query[rows])),
        machine_only=int(np.isnan(said.people).sum()),
        human_only=int(np.isnan(said.machine).sum()),
        other_queries=0 if people is None else len(set(people.queries) - set(judged.queries)),
        kappa=kappa_of(said, rel=rel) if rows.any() else None,
        grades=kappa_of(said) if rows.any() else None,
        weighted=kappa_of(said, "quadratic") if rows.any() else None,
        confusion=confusion_of(said),
        same=share_of(int((said.machine[rows] == said.people[rows]).sum()), int(rows.sum())),
        accuracy=share_of(int(alike.sum()), int(rows.sum())),
        sensitivity=_share(alike, said.people[rows] >= rel),
        specificity=_share(alike, said.people[rows] < rel),
        runs={
            name: {
                measure.name: (raw[name][measure.name], estimate)
                for measure, estimate in zip(asked, estimates[i], strict=True)
            }
            for i, name in enumerate(raw)
        },
        wrong=tuple(
            f"{name}: {finding}"
            for name, each in scores.items()
            for finding in each.audit
            if finding.severity == "error"
        ),
        _next=None if estimating is None else lambda n, whole: _plan(estimating, scores, n, whole),
    )


def _plan(estimating: Estimating, scores: Mapping[str, Scores], n: int, whole: bool) -> LabelPlan:
    """The pairs to label next, each with the rank that every run gives it."""
    n = check_whole("n", n)
    rows, chances = estimating.plan_labels(n, whole)
    pairs, machine = estimating.said.pairs, estimating.said.machine
    ranks: dict[int, dict[str, int]] = {int(row): {} for row in rows}
    for name, each in scores.items():
        hits = each.hits
        for row, rank in zip(hits.doc.tolist(), hits.rank.tolist(), strict=True) if hits is not None else ():
            if row in ranks:
                ranks[row][name] = rank
    return LabelPlan(
        tuple(scores),
        tuple(
            PlannedPair(
                pairs.queries[pairs.query[row]], pairs.docs[row], float(machine[row]), float(chance), ranks[row]
            )
            for row, chance in zip(rows.tolist(), chances.tolist(), strict=True)
        ),
    )


def _share(alike: Any, of: Any) -> Share:
    return share_of(int((alike & of).sum()), int(of.sum()))


def _measures(measures: Measures, rel: float) -> list[Measure]:
    """Rank measures that grades alone decide, relevant from `rel` on if they count relevant ones and say nothing."""
    found = []
    for each in parse_each(measures):
        if each.spec.kind != "ranking" or each.spec.aspects or each.spec.average != "mean":
            raise UsageError(
                f"{each}: cannot be estimated from grades, expected a measure of rankings by grades, averaged over "
                "queries. Next: name one, like nDCG@10."
            )
        counts = each.rel == 1 and each.gain in (None, "binary") and each.threshold == "rel"
        found.append(each(rel=rel) if counts and "rel" not in each.stated else each)
    return found


def _together(machine: Judgments, human: Judgments | None, chances: Mapping[tuple[str, str], float]) -> TwoJudgments:
    """Every pair of the machine's queries, with what either says of it."""
    theirs = {} if human is None else human.as_dict()
    rows = [
        (query, doc, grades.get(doc, np.nan), own.get(doc, np.nan))
        for query, grades in machine.as_dict().items()
        for own in [theirs.get(query, {})]
        for doc in dict.fromkeys([*grades, *own])
    ]
    if human is not None and not any(a == a and b == b for _, _, a, b in rows):
        raise _apart(machine, human)
    queries, docs, graded, labelled = zip(*rows, strict=True)
    pairs = judgments_from_rows(queries, docs, np.nan_to_num(graded), source=machine.source)
    chance = [chances.get(pair, 1.0) for pair in zip(queries, docs, strict=True)]
    return TwoJudgments(pairs, np.array(graded), np.array(labelled), np.array(chance))


def _apart(machine: Judgments, human: Judgments) -> DataError:
    shared = set(machine.queries) & set(human.queries)
    sides = (human.doc_ids, machine.doc_ids) if shared else (human.query_ids, machine.query_ids)
    what = "documents" if shared else "queries"
    rule = misspelt_between(*sides, (SIDES[0], SIDES[1]))
    shown = f"{shorten(sides[0][0])} and {shorten(sides[1][0])}" if all(map(len, sides)) else "none"
    advice = (
        "label pairs that the machine judged ('rankproof calibrate --machine FILE --run FILE --next 50 -o pool.jsonl' "
        "draws some), or spell ids the same way."
    )
    why = f"Their {what} are called, for example, {shown}."
    if rule is not None:
        why, advice = f"{rule.message} For example {', '.join(rule.examples)}.", rule.advice
    names = [SIDES[i] if each.source == "judgments" else each.source for i, each in enumerate((human, machine))]
    return DataError(
        f"{names[0]}: no pair of query and document is in {names[1]} as well "
        f"({len(shared):,} of {len(human.queries):,} queries are). {why} Next: {advice}"
    )


def _chances(plan: Any) -> dict[tuple[str, str], float]:
    """The probability with which each pair of a plan was drawn."""
    if plan is None:
        return {}
    if isinstance(plan, LabelPlan):
        return {(each.query, each.document): each.chance for each in plan.pairs}
    found = {}
    for where, record in rows_of(plan, "plan"):
        try:
            if "pool" not in record:
                found[str(record["query"]), str(record["document"])] = float(record["chance"])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{where}: got {shorten(record)}, expected a pair with the chance it was drawn by. "
                "Next: name the file that 'rankproof calibrate --next' wrote."
            ) from error
    return found


@dataclass(frozen=True, slots=True)
class PlannedPair(Displayable):
    """One pair to label next."""

    query: str
    document: str
    machine: float
    """The machine's grade; NaN where it gave none."""
    chance: float
    """The probability with which it was drawn."""
    ranks: Mapping[str, int]


@dataclass(frozen=True)
class LabelPlan(Displayable):
    """Pairs whose labels narrow the estimates most; written to a file, it is a pool for `rankproof label`."""

    systems: tuple[str, ...]
    pairs: tuple[PlannedPair, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    def __str__(self) -> str:
        head = {"pool": 1, "order": "depth", "per_query": None, "systems": list(self.systems)}
        lines = [asdict(each) for each in self.pairs]
        for line in lines:
            line["machine"] = None if line["machine"] != line["machine"] else line["machine"]
        return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in (head, *lines))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write it as a pool, with the chance of each pair, which `calibrate_judgments(..., plan=path)` reads."""
        return write_file(path, str(self), force=force)


@dataclass(frozen=True)
class JudgmentCalibration(Result):
    """A machine's judgments compared with people's: their agreement, and rank measures corrected by it."""

    machine: str
    human: str
    rel: float
    """The grade from which a document is relevant."""
    n: int
    """Pairs that both judged."""
    queries: int
    """Queries that these are of."""
    machine_only: int
    human_only: int
    """Pairs of the machine's queries that only one side judged."""
    other_queries: int
    """Queries that only people judged; they are in no number."""
    kappa: Kappa | None
    """The agreement on relevant and not relevant."""
    grades: Kappa | None
    """The agreement on the grades."""
    weighted: Kappa | None
    """The agreement on the grades, with near misses costing less (quadratic weights)."""
    confusion: dict[tuple[float, float], int]
    """How often people gave the first grade and the machine the second."""
    same: Share
    """Pairs with the same grade."""
    accuracy: Share
    """Pairs that both call relevant, or both not."""
    sensitivity: Share
    specificity: Share
    runs: dict[str, dict[str, tuple[float, Estimated | None]]]
    """For each run and measure its mean by the machine's judgments, and what people's would give."""
    wrong: tuple[str, ...] = ()
    """Errors of the audit, which make the numbers of a run wrong."""
    _next: Callable[[int, bool], LabelPlan] | None = field(default=None, repr=False, compare=False)

    def estimate(self, run: str, measure: str) -> Estimated | None:
        """The estimate of people's judgments of everything; None if there are too few labels."""
        return self.runs[run][measure][1]

    def plan(self, n: int, whole: bool = False) -> LabelPlan:
        """The `n` pairs whose labels narrow the estimates most; with `whole`, `n` queries with all of their pairs."""
        if self._next is None:
            raise UsageError("plan: got no runs, so no label narrows anything. Next: give runs.")
        return self._next(n, whole)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        shares = ("same", "accuracy", "sensitivity", "specificity")
        kappas = {"kappa": self.kappa, "kappa_of_grades": self.grades, "kappa_quadratic": self.weighted}
        names = ("machine", "human", "rel", "n", "queries", "machine_only", "human_only", "other_queries")
        return {
            **{name: getattr(self, name) for name in names},
            **{
                name: None if k is None else {"value": k.kappa.value, "low": k.low, "high": k.high}
                for name, k in kappas.items()
            },
            "prevalence": self.kappa and {str(grade): share for grade, share in self.kappa.kappa.prevalence.items()},
            **{name: plain_share(getattr(self, name)) for name in shares},
            "confusion": [{"people": a, "machine": b, "pairs": n} for (a, b), n in self.confusion.items()],
            "wrong": list(self.wrong),
            "runs": {
                run: {
                    name: {"machine": raw, "corrected": None if found is None else asdict(found)}
                    for name, (raw, found) in each.items()
                }
                for run, each in self.runs.items()
            },
        }

    def _document(self) -> Document:
        from rankproof.judging.trust.words import two_judgments as words

        return words(self)

    def _in_one_line(self) -> str:
        value = None if self.kappa is None else self.kappa.kappa.value
        kappa = "-" if value is None else f"{value:.3f}"
        return f"<JudgmentCalibration of {self.machine} by {count(self.n, 'pair')}: kappa {kappa}>"
