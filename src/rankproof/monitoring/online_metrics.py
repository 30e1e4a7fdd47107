"""The online metrics of a log, each declared once, and their estimates: shares, means, percentiles, with intervals.

A metric is the sum of `of` over the sum of `by`. Both are columns with a number for each event; `by` is 0 if the
event lacks a field the metric needs, so that nothing is guessed about it. The sums by group of users show the
uncertainty of their ratio: events of one user are similar, so not events count as independent, but users. From the
linearised variance comes the effective number of events (Korn and Graubard), and from that Wilson's interval with
Student's t, whose degrees of freedom are the effective number of users less one. Percentiles are read from histograms
with bins 5 % wide, their intervals are those of the share below (Woodruff), from the smallest value in the bin of one
end to the largest in that of the other.

Reference: E. Korn, B. Graubard: Confidence intervals for proportions with small expected number of positive counts
estimated from survey data, Survey Methodology 1998; R. Woodruff: Confidence intervals for medians and other position
measures, JASA 1952; K. Wolter: Introduction to variance estimation, 2007 (random groups).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.document.numbers import ABSENT, short_span
from rankproof.errors import check_each, check_whole, one_of
from rankproof.stats.distributions import t_quantile

Columns = Mapping[str, Array]
Sum = Callable[[Columns], Array]
CUTOFFS = (1, 3, 5, 10)


@dataclass(frozen=True)
class _Declared(Displayable):
    name: str
    sentence: str
    """Its meaning."""
    needs: tuple[str, ...]
    """The fields without which an event does not count."""
    counted: str
    """The denominator in words."""
    higher: bool
    """Whether more is better."""


@dataclass(frozen=True)
class OnlineMetric(_Declared):
    """A share or a mean between 0 and 1."""

    of: Sum
    by: Sum


@dataclass(frozen=True)
class Percentile(_Declared):
    """A percentile of a column, read from a histogram whose bins are 5 % wide."""

    column: str
    share: float


def _known(name: str) -> Sum:
    return lambda e: np.asarray(~np.isnan(e[name]))


def _shown(e: Columns) -> Array:
    """Searches whose clicks are known, but for those that showed nothing."""
    return np.asarray(~np.isnan(e["clicks"]) & (e["results"] != 0))


def clicked_or_placed(e: Columns) -> Array:
    """Of these searches, those without a click, and those with one whose rank is known."""
    return np.asarray(_shown(e) & ((e["clicks"] == 0) | (e["top_click"] > 0)))


def _click_at(k: int) -> OnlineMetric:
    return OnlineMetric(
        f"ctr@{k}", f"searches with results that got a click among the first {k}", ("clicks",), "searches", True,
        lambda e: (e["top_click"] > 0) & (e["top_click"] <= k), clicked_or_placed,
    )  # fmt: skip


METRICS: tuple[OnlineMetric, ...] = (
    OnlineMetric(
        "thumbs_up", "votes that are thumbs up", ("thumb",), "votes", True, lambda e: e["thumb"] > 0,
        lambda e: np.abs(e["thumb"]) > 0,
    ),
    OnlineMetric(
        "vote_share", "events with a thumb, up or down", ("thumb",), "events", True,
        lambda e: np.abs(e["thumb"]) > 0, _known("thumb"),
    ),
    OnlineMetric(
        "ctr", "searches with results that got a click", ("clicks",), "searches", True,
        lambda e: _shown(e) & (e["clicks"] > 0), _shown,
    ),
    OnlineMetric(
        "mrr_first_click", "1 / rank of the first click, where there is one", ("clicks",),
        "searches with a click", True,
        lambda e: np.where(e["first_click"] > 0, 1 / np.maximum(e["first_click"], 1), 0),
        lambda e: e["first_click"] > 0,
    ),
    OnlineMetric(
        "ctr_citation", "answers with citations of which one was clicked", ("clicks", "citations"),
        "answers with citations", True, lambda e: e["cited_click"] > 0, _known("cited_click"),
    ),
    OnlineMetric(
        "abandonment", "sessions without a click or a thumb up", ("session or user", "clicks"), "sessions",
        False, lambda e: e["abandoned"] > 0, _known("abandoned"),
    ),
    OnlineMetric(
        "reformulation", "searches asked again in similar words within 5 minutes",
        ("session or user", "query"), "searches", False, lambda e: e["reformulated"] > 0,
        _known("reformulated"),
    ),
    OnlineMetric(
        "dont_know", 'answers that say "I don\'t know", by flag or by their words', ("abstained or answer",),
        "answers", False, lambda e: e["abstained"] > 0, _known("abstained"),
    ),
    OnlineMetric(
        "no_result", "searches that found nothing", ("results",), "searches", False,
        lambda e: e["results"] == 0, _known("results"),
    ),
    OnlineMetric(
        "citation_coverage", 'answers, "I don\'t know" left out, that cite a document',
        ("answer", "citations"), "answers", True,
        lambda e: (e["citations"] > 0) & (e["answered"] > 0) & (e["abstained"] == 0),
        lambda e: ~np.isnan(e["citations"]) & (e["answered"] > 0) & (e["abstained"] == 0),
    ),
)  # fmt: skip
"""Those without a cutoff, in the order they are shown."""
PERCENTILES: tuple[Percentile, ...] = (
    *(
        Percentile(
            f"latency_p{q}", f"milliseconds that {q} % of events stay below", ("latency_ms",), "events", False,
            "latency_ms", q / 100,
        )
        for q in (50, 95, 99)
    ),
    *(
        Percentile(
            f"margin_p{q}", f"best score minus second best, {q} % of searches lie below", ("results with scores",),
            "searches", True, "margin", q / 100,
        )
        for q in (10, 50, 90)
    ),
)  # fmt: skip
COLUMNS = ("latency_ms", "margin")
"""The columns that have histograms."""


def metrics(cutoffs: Sequence[int] = CUTOFFS, fields: Sequence[str] = ()) -> tuple[OnlineMetric, ...]:
    """All shares and means, click-through at these cutoffs and the means of these fields among them.

    >>> [each.name for each in metrics([3])][2:5]
    ['ctr', 'ctr@3', 'mrr_first_click']
    """
    ranks = dict.fromkeys(check_each("cutoffs", cutoffs, Integral, "whole numbers"))
    at = [_click_at(check_whole("cutoffs", k)) for k in ranks]
    return (*METRICS[:3], *at, *METRICS[3:], *map(_mean_of, fields))


def _mean_of(name: str) -> OnlineMetric:
    """The mean of a field of numbers that the log has, such as a judge's score."""
    needs, mean = (f"a number in {name}",), f"mean of the field {name}"
    return OnlineMetric(name, mean, needs, "events", True, lambda e: np.nan_to_num(known_digits(e[name])), _known(name))


def known_digits(values: Array) -> Array:
    """32-bit numbers as the decimals that they stand for: 0.8, not 0.800000011920929; they know seven digits."""
    whole = np.asarray(values, dtype=np.float64)
    scale = 10.0 ** np.maximum(6 - np.floor(np.log10(np.maximum(np.abs(whole), 1e-30))), 0)
    return np.asarray(np.round(whole * scale) / scale)


def by_name(name: str, known: Sequence[OnlineMetric | Percentile], where: str = "metric") -> OnlineMetric | Percentile:
    """The metric of that name; for an unknown one the nearest is suggested."""
    found = next((each for each in known if each.name == name), None)
    if found is None:
        raise one_of(where, name, [each.name for each in known])
    return found


GROUPS, FEWER_GROUPS = 256, 32
"""Groups of users for shares and means, and for histograms, which are large."""
WIDTH = 0.05
"""The width of a bin of a histogram, by logarithms: a percentile is off by half of it at most."""
SMALLEST, BINS = 1e-6, 645
"""Where the bins begin; what is smaller is in the first one, and they end at 1e8."""
SAMPLES, FINER, FULL = 6, 3, 0.9
"""Users are counted by the groups that they hit (linear counting): all users, one in 8, one in 64, and so on. The first
of these samples counts that hits no more than this share of the groups: it is off by a tenth, two times in three."""


@dataclass(frozen=True, slots=True)
class OnlineEstimate(Displayable):
    """One metric of one slice in one window."""

    metric: str
    slice: str
    """The field, or "" for all events."""
    group: str
    """The value of that field."""
    start: int | None
    """Microseconds since 1970; None for all windows together."""
    end: int | None
    n: int
    """The number of events with the fields that the metric needs: its denominator."""
    users: int
    """About how many users (sessions where no users are known) they come from."""
    value: float
    low: float
    high: float
    error: float
    """The standard error, by user."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Its metric and slice, the same in every window."""
        return self.metric, self.slice, self.group


def ratios(
    of: Array, by: Array, users: Array, bounded: Array | bool = True, level: float = 0.95
) -> tuple[list[float], ...]:
    """For rows of sums by group, and how many users there are: number, users, ratio, interval and standard error.

    Values are from 0 to 1 where they are `bounded`; else the interval is Student's.

    >>> sums = np.array([[1.0, 0, 1, 1]]), np.array([[2.0, 1, 1, 2]])
    >>> n, users, value, low, high, error = ratios(*sums, np.array([8.0]))
    >>> n, value, round(low[0], 2), round(high[0], 2)
    ([6.0], [0.5], 0.15, 0.85)
    """
    n, total = by.sum(1), of.sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = total / n
        off = of - value[:, None] * by
        groups = (by > 0).sum(1)
        error = np.sqrt(groups / (groups - 1) * (off**2).sum(1)) / n
        effective_users = n**2 / (by**2).sum(1) * users / np.maximum(groups, 1)
        t = np.where(groups > 1, _t(effective_users - 1, level), math.nan)
        spread = value * (1 - value)
        effective = np.where(error > 0, spread / error**2, users)
        whole = np.all((of == np.floor(of)), axis=1)  # counts of yes and no: nothing is surer than independent events
        effective = np.where(whole, np.minimum(effective, n), effective)
        # Wilson's score interval of a share.
        scale = 1 + t**2 / effective
        centre = (value + t**2 / (2 * effective)) / scale
        half = t / scale * np.sqrt(np.maximum(spread / effective + t**2 / (4 * effective**2), 0))
        low = np.where(bounded, np.minimum(np.maximum(centre - half, 0), value), value - t * error)
        high = np.where(bounded, np.maximum(np.minimum(centre + half, 1), value), value + t * error)
    return tuple(each.tolist() for each in (n, users, value, low, high, error))


def number_of_users(hit: Array) -> Array:
    """About how many users hit these groups, by sample; the samples are the last axis but one, the bits the last."""
    groups = np.unpackbits(hit, axis=-1).sum(-1, dtype=np.int64)
    fits = groups <= FULL * GROUPS
    fits[..., -1] = True  # full from 20 million users on: at least so many are told
    sample = np.argmax(fits, axis=-1)
    counted = np.take_along_axis(groups, sample[..., None], -1)[..., 0]
    users = -GROUPS * np.log1p(-np.minimum(counted / GROUPS, 1 - 0.5 / GROUPS)) * 2.0 ** (FINER * sample)
    return np.asarray(np.maximum(np.round(users), groups[..., 0]))


def _t(df: Array, level: float) -> Array:
    """Student's quantiles; degrees of freedom are rounded, so that few are worked out."""
    df = np.maximum(np.nan_to_num(df, nan=1.0), 1.0)
    rounded = np.where(df < 20, np.round(df, 1), np.where(df < 100, np.round(df), np.round(df, -1)))
    different, place = np.unique(rounded, return_inverse=True)
    return np.array([t_quantile((1 + level) / 2, each) for each in different.tolist()])[place]


Drawn = tuple[float, float, float, float, float, float]
"""The number of values, about how many users, a percentile with its interval and standard error."""


def percentiles(
    counts: Array, shares: Sequence[float], ranges: Array, users: Array, level: float = 0.95, first_bin: int = 0
) -> Iterator[list[Drawn]]:
    """For each share the percentile of each cell; `counts` are by cell, group of users and bin from `first` on.

    `ranges` are the smallest and the greatest value that an event of the window has in each bin, by cell.
    """
    filled = np.flatnonzero(counts.any(axis=(0, 1)))
    begin = max(int(filled[0]) - 1, 0)  # most bins are empty: those around are left out, but for one before
    some = slice(begin, int(filled[-1]) + 1)
    counts, smallest, greatest = counts[:, :, some], ranges[:, 0, some], ranges[:, 1, some]
    cell = np.arange(len(counts))
    begin += first_bin
    up_to = np.cumsum(counts, axis=2, dtype=np.uint32)
    by = up_to[:, :, -1].astype(np.float64)
    n, groups = by.sum(1), (by > 0).sum(1)
    reached = np.cumsum(counts.sum(1), axis=1, dtype=np.float64)

    def spread(at: Array) -> tuple[Array, Array]:
        """The share that lies in bins up to these, and its standard error."""
        of = np.take_along_axis(up_to, np.maximum(at, 0)[:, None, None], axis=2)[:, :, 0] * (at >= 0)[:, None]
        below = of.sum(1) / n
        return below, np.sqrt(groups / (groups - 1) * ((of - below[:, None] * by) ** 2).sum(1)) / n

    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(groups > 1, _t(n**2 / (by**2).sum(1) - 1, level), math.nan)
        for share in shares:
            at = _bin(reached, share * n)
            # What lies below the end of its bin says how users differ, or below its begin if that is nearer.
            (below, error), (less, other) = spread(at), spread(at - 1)
            nearer = (other > 0) & ((error == 0) | (share - less < below - share))
            below, error = np.where(nearer, less, below), np.where(nearer, other, error)
            # Where the histogram cannot say it (all lie in one bin), each user counts once.
            effective = np.minimum(np.where(error > 0, below * (1 - below) / error**2, users), n)
            # How many values lie below it is binomial: by its quantiles with skewness (Cornish and Fisher) and a
            # correction for continuity, it lies between the values of these shares of the sample.
            middle = effective * share + (1 - 2 * share) * (t**2 - 1) / 6 + 0.5
            half = t * np.sqrt(effective * share * (1 - share))
            low, high = np.maximum(middle - half, 0) / effective, (middle + half) / effective
            value, first, last = (_value_at(reached, want * n, begin) for want in (share, low, high))
            off = np.where(high > 1, value - first, (last - first) / 2) / t
            value = np.clip(value, smallest[cell, at], greatest[cell, at])
            first = np.where(low > 0, smallest[cell, _bin(reached, np.minimum(low, 1.0) * n)], 0.0)
            # If even the greatest value may lie below the percentile, its upper end is not known.
            last = np.where(high > 1, math.inf, greatest[cell, _bin(reached, np.minimum(high, 1.0) * n)])
            first, last = np.minimum(first, value), np.maximum(last, value)
            first, last = (np.where(np.isnan(t), math.nan, each) for each in (first, last))
            told = n, users, *map(known_digits, (value, first, last)), off
            yield list(zip(*(each.tolist() for each in told), strict=True))


def _bin(reached: Array, want: Array) -> Array:
    """The bin of each row in which so many values are reached."""
    return np.asarray(np.minimum((reached < want[:, None]).sum(1), reached.shape[1] - 1))


def _value_at(reached: Array, want: Array, begin: int) -> Array:
    """The value that so many of a histogram do not exceed, along the logarithm within its bin; `begin` is the first."""
    rows, at = np.arange(len(want)), _bin(reached, want)
    before = np.where(at > 0, reached[rows, at - 1], 0.0)
    inside = np.clip((want - before) / np.maximum(reached[rows, at] - before, 1.0), 0.0, 1.0)
    value = np.where(at > 0, SMALLEST * np.exp(WIDTH * (at + begin + inside)), 0.0)
    return np.where(np.isnan(want), math.nan, value)


def value_of(metric: str, value: float) -> str:
    """A value as its metric is read: shares with three decimals, milliseconds whole and with their unit.

    >>> value_of("ctr", 0.68047), value_of("latency_p95", 1591.7), value_of("margin_p50", 0.0556)
    ('.680', '1,592 ms', '.0556')
    """
    if math.isnan(value):
        return ABSENT
    if metric.startswith("latency"):
        return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"
    if metric.startswith("margin"):
        return _no_zero(f"{value:.3g}" if value < 1000 else f"{value:,.0f}")
    return _no_zero(f"{value:.3f}")


def _no_zero(text: str) -> str:
    return text[1:] if text.startswith("0.") else text


def interval_of(each: OnlineEstimate) -> str:
    """The interval in the same digits."""
    if math.isnan(each.low):
        return ABSENT
    if not math.isinf(each.high) and not each.metric.startswith(("latency", "margin")):
        return short_span(each.low, each.high)
    low, high = (value_of(each.metric, end).removesuffix(" ms") for end in (each.low, each.high))
    return f"[{low}, {'no limit' if math.isinf(each.high) else high}]"
