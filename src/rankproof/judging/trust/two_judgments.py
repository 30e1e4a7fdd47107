"""Two sets of judgments, a machine's and people's: how far they agree, and rank measures by people's judgments.

People judged some of the pairs that the machine judged. These give a model of people's grades given the machine's
(and how high the runs rank the document). Complete label vectors are drawn from it, in which people's labels are
fixed, so that any measure of Hits has an expectation. If people judged everything that a measure uses for
enough queries, the error of the expectation there corrects it (PPI++), and the model need not be right. Otherwise
the estimate is the model's; queries are then resampled with everything that follows from them.

Reference: A. Divekar: PRECISE, reducing the bias of LLM evaluations using prediction-powered ranking estimation, 2026;
H. Oosterhuis et al.: Reliable confidence intervals for information retrieval evaluation using generative AI, 2024.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from rankproof.core.conventions import USUAL
from rankproof.core.hits import Array, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.scoring import score_columns
from rankproof.document.model import Displayable
from rankproof.stats.agreement import Agreement, cohen_kappa
from rankproof.stats.distributions import t_quantile
from rankproof.stats.judge_error import Corrected, check_labels, corrected_mean

ENOUGH = 20
"""Queries judged whole from which on they correct the estimate: the simulated intervals hold from here on."""
FEW = 30
"""Labels below which nothing is estimated."""
DRAWS, FOLDS, DRAWS_OF_A_FOLD = 200, 5, 24
MOST_GRADES = 12
"""How many distinct machine grades are kept apart; finer grades are binned into so many steps."""
NOWHERE = np.iinfo(np.intp).max
BANDS = (3, 10)
"""Ranks that separate documents with the same machine grade: documents on top are relevant more often."""
PRIOR, NORMAL = 2.0, NormalDist()
"""The labels that the machine's grade alone is worth to a band of ranks that has few of its own."""


@dataclass(frozen=True, eq=False)
class TwoJudgments:
    """Every pair of the machine's queries, with what either says of it."""

    pairs: Judgments
    machine: Array
    """The machine's grades; NaN where only people judged."""
    people: Array
    """People's grades; NaN where only the machine judged."""
    chance: Array
    """The probability with which each pair was drawn to be labelled; 1 by default."""

    @property
    def both(self) -> Array:
        """Which pairs both judged."""
        return ~(np.isnan(self.machine) | np.isnan(self.people))


@dataclass(frozen=True, slots=True)
class Kappa(Displayable):
    """Cohen's kappa with the interval that its queries leave."""

    kappa: Agreement
    low: float
    high: float


def kappa_of(said: TwoJudgments, weights: str = "none", rel: float | None = None) -> Kappa:
    """Kappa over the pairs that both judged: of grades, or with `rel` of relevant or not.

    The interval is by leaving out one query at a time (one pair, if there is one query), as the pairs of a query
    are alike.
    """
    rows = said.both
    machine, people = said.machine[rows], said.people[rows]
    if rel is not None:
        machine, people = (machine >= rel).astype(float), (people >= rel).astype(float)
    known = np.unique(np.concatenate([machine, people]))
    found = cohen_kappa(people.tolist(), machine.tolist(), weights, known.tolist())  # type: ignore[arg-type]
    query = said.pairs.query[rows]
    _, group = np.unique(query if len(np.unique(query)) > 1 else np.arange(len(query)), return_inverse=True)
    cells = np.searchsorted(known, people) * len(known) + np.searchsorted(known, machine)
    counts = np.zeros((int(group.max()) + 1, len(known) ** 2))
    np.add.at(counts, (group, cells), 1)
    return Kappa(found, *_around(found, counts, weights, len(known)))


def _around(found: Agreement, counts: Array, weights: str, size: int) -> tuple[float, float]:
    """The interval of a kappa; -1 to 1 if one group is all there is."""
    n, groups = float(counts.sum()), len(counts)
    if found.value is None or groups < 2:
        return -1.0, 1.0
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / max(1, size - 1)
    cost = {"none": apart > 0, "linear": apart, "quadratic": apart**2}[weights].astype(float)
    tables = (counts.sum(axis=0) - counts).reshape(groups, size, size)
    seen = (tables * cost).sum(axis=(1, 2)) * tables.sum(axis=(1, 2))
    chance = np.einsum("gi,ij,gj->g", tables.sum(axis=2), cost, tables.sum(axis=1))
    left_out = 1 - np.divide(seen, chance, out=np.zeros(groups), where=chance > 0)
    error = math.sqrt((groups - 1) / groups * float(((left_out - left_out.mean()) ** 2).sum()))
    half = error * t_quantile(0.975, groups - 1)
    # Of n labels that all agree, a share of 1 - .025^(1/n) may still be apart.
    sure = (1 - 0.025 ** (1 / n)) / max(1 - found.expected, 1e-9) if found.observed == 1 else 0.0
    return max(found.value - max(half, sure), -1.0), min(found.value + half, 1.0)


def confusion_of(said: TwoJudgments) -> dict[tuple[float, float], int]:
    """How often people gave the first grade and the machine the second."""
    rows = said.both
    return dict(sorted(Counter(zip(said.people[rows].tolist(), said.machine[rows].tolist(), strict=True)).items()))


@dataclass(frozen=True, eq=False)
class Model:
    """What people say of a pair, given the machine's grade and how high the runs rank the document."""

    said: TwoJudgments
    levels: Array
    """The grades that people give."""
    kind: Array
    """For each pair what the model knows of it, as a number: its band of ranks, and the machine's grade."""
    grades: int
    """How many grades of the machine are kept apart."""
    best: Array
    """The best rank that a run gives the document of each pair; `NOWHERE` if none has it."""

    @classmethod
    def of(cls, said: TwoJudgments, hits: Sequence[Hits]) -> Model:
        """The model of these judgments, which separates documents by the ranks that these runs give them."""
        grades = np.where(np.isnan(said.machine), -np.inf, said.machine)
        known = np.unique(grades)
        if len(known) > MOST_GRADES:
            known = np.unique(np.quantile(grades[np.isfinite(grades)], np.linspace(0, 1, MOST_GRADES)))
        grade = np.clip(np.searchsorted(known, grades, side="right") - 1, 0, len(known) - 1)
        best = np.full(len(grades), NOWHERE)
        for each in hits:
            np.minimum.at(best, each.doc, each.rank)
        band = np.searchsorted(BANDS, best) + (best == NOWHERE)
        levels = np.unique(said.people[~np.isnan(said.people)])
        if len(levels) < 2:  # where people gave one grade so far, they may give what the machine gives
            levels = np.unique(np.concatenate([levels, said.machine[~np.isnan(said.machine)]]))
        return cls(said, levels, band * len(known) + grade, len(known), best)

    def draw_grades(self, rows: Array, weights: Array, stands: bool, rng: np.random.Generator) -> Array:
        """One grade for every pair, by what people say of these rows; if it `stands`, theirs is not drawn again.

        Grades of one query fall together as far as those of the rows do.
        """
        chances, thresholds = self._thresholds(rows, weights, rng)
        height = np.pad(np.exp(-(thresholds**2) / 2) / math.sqrt(2 * math.pi), ((0, 0), (1, 1)))
        middle = (height[:, :-1] - height[:, 1:]) / chances  # a normal variable's mean between two thresholds
        latent = middle[self.kind[rows], np.searchsorted(self.levels, self.said.people[rows])]
        query, n = self.said.pairs.query, len(self.said.pairs.queries)
        alike = self._alike(latent, query[rows])
        count, total = np.bincount(query[rows], minlength=n), np.bincount(query[rows], latent, minlength=n)
        if not stands:
            count, total = 0 * count, 0 * total
        precision = 1 + count * alike / (1 - alike)
        shared = math.sqrt(alike) / (1 - alike) * total / precision + rng.standard_normal(n) / np.sqrt(precision)
        own = rng.standard_normal(len(query)) * math.sqrt(1 - alike)
        value = math.sqrt(alike) * shared[query] + own
        found = self.levels[(value[:, None] > thresholds[self.kind]).sum(axis=1)]
        if stands:
            found[rows] = self.said.people[rows]
        return np.asarray(found)

    def _thresholds(self, rows: Array, weights: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """For each kind of pair the chances of people's grades, and where each ends on a normal scale.

        The chances behind them are drawn: those of few labels are not known. A cell of band and grade with few labels
        leans on what its band and its grade say together, as if each erred for itself.
        """
        size = len(self.levels)
        counts = np.zeros((len(BANDS) + 2, self.grades, size))
        code = np.searchsorted(self.levels, self.said.people[rows])
        np.add.at(counts.reshape(-1, size), (self.kind[rows], code), weights)
        overall = counts.sum(axis=(0, 1)) + 1 / size
        overall /= overall.sum()
        of_grade, of_band = (counts.sum(axis=i) + overall for i in (0, 1))
        alpha = counts + PRIOR * _shares(_shares(of_grade)[None, :, :] * (_shares(of_band) / overall)[:, None, :])
        chances = _shares(rng.standard_gamma(alpha.reshape(-1, size)) + 1e-9)
        below = np.cumsum(chances, axis=1)[:, :-1].clip(1e-9, 1 - 1e-9)
        return chances, np.array([[NORMAL.inv_cdf(p) for p in row] for row in below.tolist()])

    @staticmethod
    def _alike(latent: Array, query: Array) -> float:
        """How far the grades of one query fall together: the correlation within queries, from 0 to .9."""
        count, total = np.bincount(query), np.bincount(query, latent)
        pairs = float((count * (count - 1)).sum())
        together = float((total**2).sum() - (latent**2).sum())
        spread = float((latent**2).mean()) if len(latent) else 0.0
        return min(max(together / pairs / spread, 0.0), 0.9) if pairs and spread else 0.0


def _shares(counts: Array) -> Array:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, slots=True)
class Estimated(Displayable):
    """The mean of one measure of one run as people's judgments would give it."""

    value: float
    low: float
    high: float
    error: float
    """The standard error."""
    n: int
    """Labels behind it."""
    queries: int
    """Queries of which people judged all that the measure looks at."""
    alone: float | None
    """The standard error of these queries alone, without the machine; None if they are too few."""
    power: float | None
    """The weight of the machine in PPI++; None: the estimate is the model's."""


class Estimating:
    """Measures of runs over judgments by machine and people."""

    def __init__(self, said: TwoJudgments, hits: Sequence[Hits], measures: Sequence[Measure], seed: int = 0) -> None:
        self.said, self.hits, self.measures = said, list(hits), list(measures)
        self.model = Model.of(said, hits)
        self.rows = np.flatnonzero(~np.isnan(said.people))
        share = 1 / said.chance[self.rows]
        self.weights = share * (len(share) / share.sum()) if len(share) else share
        self.rng = np.random.default_rng(seed)

    def results(self, level: float = 0.95) -> list[list[Estimated | None]]:
        """For each run each measure; None if there are too few labels."""
        if len(self.rows) < FEW:
            return [[None] * len(self.measures) for _ in self.hits]
        whole = self._whole(~np.isnan(self.said.people))
        enough = whole.sum(axis=2) >= ENOUGH
        modelled = None if enough.all() else self._draws()
        predicted = self._predicted(np.asarray(whole.any(axis=(0, 1)))) if enough.any() else None
        truth = self.values(np.nan_to_num(self.said.people))
        return [
            [
                self._corrected(predicted[i, j], truth[i, j], whole[i, j], level)
                if predicted is not None and enough[i, j]
                else self._modelled(modelled, (i, j), int(whole[i, j].sum()), level)
                for j in range(len(self.measures))
            ]
            for i in range(len(self.hits))
        ]

    def values(self, grades: Array) -> Array:
        """Runs x measures x queries, by these grades."""
        pairs = replace(self.said.pairs, grade=grades)
        found = []
        for each in self.hits:
            hits = replace(each, grade=grades[each.doc], pool=pairs.pool)
            columns = score_columns(self.measures, hits, USUAL, pairs.queries)
            found.append([columns[measure.name].values for measure in self.measures])
        return np.array(found)

    def _whole(self, known: Array) -> Array:
        """Runs x measures x queries: in which queries the known pairs are all that the measure looks at.

        It is found out by changing the others, whatever is said of the known ones: whether a label counts must not
        depend on what the labels are.
        """
        top = float(self.model.levels[-1])
        settled = np.ones((len(self.hits), len(self.measures), len(self.said.pairs.queries)), dtype=bool)
        settled &= np.bincount(self.said.pairs.query, known, len(self.said.pairs.queries)) > 0
        rng = np.random.default_rng(0)
        bases = [np.zeros(len(known)), np.full(len(known), top)]
        bases += [rng.choice(self.model.levels, len(known)) for _ in range(4)]
        for base in bases:
            one, other = (self.values(np.where(known, base, fill)) for fill in (0.0, top))
            settled &= np.abs(one - other) < 1e-12
        return settled

    def _draws(self) -> Array:
        """Draws x runs x measures: means over resampled queries, with labels drawn from models of these queries."""
        n, query = len(self.said.pairs.queries), self.said.pairs.query
        found = []
        for _ in range(DRAWS):
            share = self.rng.standard_exponential(n)
            share /= share.sum()
            weights = self.weights * share[query[self.rows]] * n
            found.append(self.values(self.model.draw_grades(self.rows, weights, True, self.rng)) @ share)
        return np.array(found)

    def _modelled(self, draws: Array | None, of: tuple[int, int], whole: int, level: float) -> Estimated | None:
        if draws is None:
            return None
        own, n = draws[:, of[0], of[1]], len(self.said.pairs.queries)
        value, error = float(own.mean()), float(own.std(ddof=1))
        # Resampled queries spread a little less than queries do.
        error *= math.sqrt((n + 1) / max(n - 1, 1))
        half = error * t_quantile((1 + level) / 2, n - 1) if n > 1 else math.inf
        most = max(1.0, float(own.max()))
        low, high = max(value - half, min(0.0, float(own.min()))), min(value + half, most)
        return Estimated(value, low, high, error, len(self.rows), whole, None, None)

    def _predicted(self, whole: Array) -> Array:
        """Runs x measures x queries: the expectation by models that have not seen the query's own labels."""
        query = self.said.pairs.query
        fold = np.zeros(len(whole), dtype=np.intp)
        fold[whole] = self.rng.permutation(int(whole.sum())) % FOLDS
        means = []
        for each in range(FOLDS):
            kept = ~whole[query[self.rows]] | (fold[query[self.rows]] != each)
            rows, weights = self.rows[kept], self.weights[kept]
            drawn = (self.model.draw_grades(rows, weights, False, self.rng) for _ in range(DRAWS_OF_A_FOLD))
            means.append(np.mean([self.values(grades) for grades in drawn], axis=0))
        every = np.array(means)
        own = np.take_along_axis(every, fold[None, None, None, :], axis=0)[0]
        return np.asarray(np.where(whole, own, every.mean(axis=0)))

    def _corrected(self, predicted: Array, truth: Array, whole: Array, level: float) -> Estimated:
        """Prediction-powered inference over the queries that people judged whole."""
        where = np.flatnonzero(whole)
        chance = np.ones(len(whole))
        np.minimum.at(chance, self.said.pairs.query[self.rows], self.said.chance[self.rows])
        labels = check_labels(truth[where], predicted[where], where, chance[where])
        limits = min(0.0, float(predicted.min())), max(1.0, float(predicted.max()), float(truth[where].max()))
        found: Corrected = corrected_mean(predicted, labels, level=level, limits=limits)
        alone = corrected_mean(predicted, labels, power=0.0, level=level, limits=limits)
        ends = found.value, found.low, found.high, found.error
        return Estimated(*ends, len(self.rows), len(where), alone.error, found.power)

    def plan_labels(self, n: int, whole: bool = False) -> tuple[Array, Array]:
        """Which pairs to label next, and the probability with which each was drawn.

        `n` pairs are drawn that nobody labelled, in proportion to how far their labels move the values (and a tenth
        of all alike, so that none is impossible); or `n` queries, in proportion to the spread of their values, with
        all pairs that the measures look at.
        """
        open_pairs = np.isnan(self.said.people)
        of_query, of_pair = self._spread()
        if not whole:
            units = np.flatnonzero(open_pairs)
            return _lots(units, of_pair[units], n, self.rng)
        tops = (self.model.best <= k for k in (*range(1, 21), 50, 100, 1000))
        seen = next((top for top in tops if self._whole(top).all()), np.ones(len(open_pairs), dtype=bool))
        query = self.said.pairs.query
        left = np.unique(query[open_pairs & seen])
        chosen, chance = _lots(left, of_query[left], n, self.rng)
        of_chosen = np.zeros(len(of_query))
        of_chosen[chosen] = chance
        rows = np.flatnonzero(open_pairs & seen & (of_chosen[query] > 0))
        return rows, of_chosen[query[rows]]

    def _spread(self) -> tuple[Array, Array]:
        """For each query the spread of its values over labels drawn; for each pair how far its label moves them."""
        drawn = np.array([self.model.draw_grades(self.rows, self.weights, True, self.rng) for _ in range(60)])
        values = np.array([self.values(grades) for grades in drawn])
        of_query = values.std(axis=0).mean(axis=(0, 1))
        apart = (values - values.mean(axis=0)).mean(axis=(1, 2))[:, self.said.pairs.query]
        own = drawn - drawn.mean(axis=0)
        size = own.std(axis=0)
        return of_query, np.divide(np.abs((own * apart).mean(axis=0)), size, out=np.zeros(len(size)), where=size > 0)


def _lots(units: Array, weight: Array, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """`n` of the units, with probabilities in proportion to their weights, and these probabilities."""
    if n >= len(units):
        return units, np.ones(len(units))
    weight = weight + (0.1 * weight.mean() if weight.any() else 1.0)
    chance = np.zeros(len(units))
    sure = np.zeros(len(units), dtype=bool)
    while True:  # what is drawn for certain leaves less for the rest
        rest = weight * ~sure
        chance = np.where(sure, 1.0, (n - sure.sum()) * rest / max(rest.sum(), 1e-300))
        if not (chance > 1).any():
            break
        sure |= chance >= 1
    order = rng.permutation(len(units))
    steps = np.floor(np.cumsum(chance[order]) + rng.random())
    taken = order[np.diff(steps, prepend=0) > 0][: n + 1]
    taken = np.sort(taken)
    return units[taken], chance[taken]
