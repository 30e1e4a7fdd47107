"""What to change first: each change with its measured gain, and no claim unless chance is ruled out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankproof.core.conventions import FEWEST_TO_DECIDE
from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.stats.confidence import agree_with_test
from rankproof.stats.differences import Ends, difference_intervals
from rankproof.stats.distributions import HALF_ROOT, NORMAL
from rankproof.stats.paired import paired_differences, sign_flips, total

HALVINGS = 40
"""The number of times that the range of a true gain is halved: to less than a billionth."""
LEAST = 0.05
"""The least share of the variance that a smaller gain keeps."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that can be changed about a retriever, and how its gain is measured."""

    kind: str
    title: str
    how: str
    """How the gain was measured; `{...}` are filled in by whoever measured it."""
    do: str
    """The advice, if it is worth trying."""
    most: bool = False
    """Whether the gain is the most that the change could bring: that of a perfect one."""


CHANGES: Mapping[str, Change] = {
    each.kind: each
    for each in (
        Change(
            "reranking",
            "Rerank what is found",
            "the best order of the {depth} documents returned; a real reranker reaches a part of it",
            "rerank the first {depth} documents with a cross-encoder, and measure again",
            most=True,
        ),
        Change(
            "lexical-reranking",
            "Rerank by the words of the question",
            "the first {depth} documents reordered by the embedded lexical reranker",
            "rerank the first {depth} documents; a cross-encoder usually does better than words",
        ),
        Change(
            "larger-k",
            "Show {more} documents instead of {k}",
            "the documents at ranks {next} to {more}",
            "pass {more} documents on, if the generator or the page has room for them",
        ),
        Change(
            "smaller-k",
            "Show {fewer} documents instead of {k}",
            "the ranking cut at rank {fewer}",
            "pass only {fewer} documents on, if noise does harm",
        ),
        Change(
            "keyword",
            "Add keyword search",
            "keyword search over the corpus, fused with this ranking by reciprocal rank",
            "build a keyword index beside this retriever, and fuse both",
        ),
        Change(
            "dense",
            "Add dense search",
            "latent semantic search over the corpus, fused with this ranking by reciprocal rank",
            "add an embedding index beside this retriever, and fuse both; a trained model usually does better",
        ),
        Change(
            "hole",
            "Bring back documents that no question returns",
            "the {lost} documents that no question returned inserted where keyword search over the corpus ranks them",
            "find out why they are never returned (a filter, an old index), and put them in",
        ),
        Change(
            "keyword-instead",
            "Search by keywords instead",
            "keyword search over the corpus in place of this ranking",
            "find out what this retriever loses; a plain keyword index does better on these questions",
        ),
        Change(
            "dense-instead",
            "Search by meaning instead",
            "latent semantic search over the corpus in place of this ranking",
            "find out what this retriever loses; plain latent semantic search does better on these questions",
        ),
        Change(
            "spelling",
            "Correct the spelling of questions",
            "keyword search with {changed} questions corrected by the words of the corpus, beside the same as typed",
            "correct questions by the words of the corpus before they are asked",
        ),
        Change(
            "copies",
            "Leave out near-copies",
            "only the first of documents that are nearly the same is kept",
            "remove near-copies from the corpus, or show one of each",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Fix(Displayable):
    """A change with its measured gain."""

    kind: str
    title: str
    measure: str
    before: float
    after: float
    gain: float
    """The gain, with its sign turned so that more is better."""
    low: float | None
    high: float | None
    """The ends of the gain's interval, wide enough to hold for all changes at once."""
    n: int
    claimed: bool
    """Whether the interval rules out that it does not help."""
    most: bool
    """Whether the gain is an upper bound."""
    how: str
    do: str
    wins: int = 0
    losses: int = 0
    elsewhere: float | None = None
    """The expected gain on other queries: less than the claimed one, part of which is due to luck. It is as
    often too high as too low; 0 where luck may have brought all."""

    @property
    def verdict(self) -> str:
        """Whether it helps, in a word or two."""
        if self.n < FEWEST_TO_DECIDE:
            return "too few"
        if self.claimed:
            return "helps"
        return "does harm" if self.high is not None and self.high < 0 else "unclear"

    def to_dict(self) -> dict[str, Any]:
        """The fix as plain data."""
        return {**asdict(self), "verdict": self.verdict}


@dataclass(frozen=True, eq=False)
class Trial:
    """A change that was tried: the values of each query before and after."""

    kind: str
    measure: str
    after_measure: str
    before: Array
    after: Array
    higher: bool
    words: Mapping[str, Any]
    """The values for the placeholders of the description."""


def fixes(trials: Iterable[Trial], rng: np.random.Generator, alpha: float = 0.05) -> list[Fix]:
    """The changes that were tried: those that surely help first, causes before symptoms, then by their gains.

    The intervals are those of all trials together (Bonferroni), as the best of several is looked for.

    >>> ones, zeros = np.ones(12), np.zeros(12)
    >>> trial = Trial("keyword", "RR", "RR", zeros, np.append(ones[:11], 0.5), True, {})
    >>> [(each.title, each.claimed) for each in fixes([trial], np.random.default_rng(0))]
    [('Add keyword search', True)]
    """
    tried = [each for each in trials if len(each.before)]
    turned = [paired_differences(each.after, each.before) * (1 if each.higher else -1) for each in tried]
    share = alpha / max(1, len(tried))
    spans = difference_intervals(turned, level=1 - share)
    ps = [each.p for each in sign_flips(turned, rng)]
    found = [
        _fix(each, gains, agree_with_test((span.low, span.high), total(gains) / len(gains), p, share), share)
        for each, gains, span, p in zip(tried, turned, spans, ps, strict=True)
    ]
    # Sure changes come first, bounds after all measured ones, and causes before what covers them up.
    return sorted(found, key=lambda fix: (not fix.claimed, fix.most, fix.kind != "hole", -fix.gain))


def _fix(trial: Trial, gains: Array, span: Ends, alpha: float) -> Fix:
    low, high = span
    change, n = CHANGES[trial.kind], len(gains)
    said = {name: getattr(change, name).format(**trial.words) for name in ("title", "how", "do")}
    same = trial.measure == trial.after_measure
    claimed = bool(n >= FEWEST_TO_DECIDE and np.isfinite(low) and low > 0)
    return Fix(
        kind=trial.kind,
        measure=trial.measure if same else f"{trial.measure} to {trial.after_measure}",
        before=float(trial.before.mean()),
        after=float(trial.after.mean()),
        gain=float(gains.mean()),
        low=low if np.isfinite(low) else None,
        high=high if np.isfinite(high) else None,
        n=n,
        claimed=claimed,
        most=change.most,
        wins=int((gains > 0).sum()),
        losses=int((gains < 0).sum()),
        elsewhere=_elsewhere(gains, low, alpha) if claimed and not change.most else None,
        **said,
    )


def _elsewhere(gains: Array, low: float, alpha: float) -> float:
    """The gain without what being claimed adds to it: as often too high as too low, however seldom it is claimed.

    Only a gain that lies far enough above 0 is claimed, and luck takes some of them there. What is claimed of a true
    gain is a normal distribution cut off below; the true gain is the one under which half of what is left lies above
    the gain that was measured (at least 0). Where few queries gain much, a smaller gain has a smaller error as well:
    its variance changes with the mean as in the exponential family through these gains, by their skewness.
    """
    gain, n = float(gains.mean()), len(gains)
    apart = gains - gain
    variance = float((apart**2).sum()) / (n - 1)
    if not variance:
        return gain
    slope = float((apart**3).mean()) / variance

    def error(mean: float) -> float:
        return math.sqrt(max(variance + (mean - gain) * slope, LEAST * variance) / n)

    # The least gain that is claimed is so many of its own errors above 0 as sign flips ask of many queries (its square,
    # over n), or as the low end is below this one if that is less: the interval is wider than the test.
    z = NORMAL.inv_cdf(alpha / 2) ** 2
    many = min(z * (n - 1) / max(n - z, 1), ((gain - low) / error(gain)) ** 2) / n
    half = many * slope / 2
    least = min(half + math.sqrt(max(half**2 + many * (variance - gain * slope), 0.0)), gain)
    below, above = 0.0, gain
    for _ in range(HALVINGS):  # far out both sides are 0, and the true gain is nearer
        middle = (below + above) / 2
        root = HALF_ROOT / error(middle)
        if 2 * math.erfc((gain - middle) * root) <= math.erfc((least - middle) * root):
            below = middle
        else:
            above = middle
    return below
