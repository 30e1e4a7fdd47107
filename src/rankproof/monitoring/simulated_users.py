"""The model of users behind a simulated log, and the true value of each metric: computed, not drawn.

Sessions come with the rhythm of weekdays and hours. A session has one need of one topic, and its user reads the list
from the top: rank r is examined with chance r^-BIAS, and a document that is examined is clicked if it attracts (the
position-based model). Independently of that the answer is good or not. Whoever neither clicked nor got a good answer
may ask again in other words. Two kinds of users, quick and slow to click, make the searches of one user alike, so
that intervals by event would be too short.

Reference: M. Richardson et al.: Predicting clicks, WWW 2007; N. Craswell et al.: An experimental comparison of click
position-bias models, WSDM 2008.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pkgutil import get_data
from statistics import NormalDist
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable

BIAS = 1.0
"""Rank r is examined with chance r^-BIAS."""
ATTRACTS, ATTRACTS_NOT = 0.55, 0.06
"""The chance that an examined document is clicked: relevant, and not relevant."""
KINDS = (0.6, 1.4)
"""The factors of attraction for the two kinds of users; each is half of them."""
WEEKEND = 0.9
"""The factor of attraction on Saturday and Sunday."""
DECAY = 0.85
"""By how much the chance of a relevant document falls with each rank."""
AGAIN, MOST = 0.45, 4
"""How often somebody without a click and a good answer asks again; searches that a session has at most."""
VOTES = {True: 0.10, False: 0.20}
"""How often a good answer gets a thumb, and one that is not good."""
UP = {True: 0.90, False: 0.15}
"""How often that is a thumb up."""
EMPTY, ABSTAINS, GOOD = 0.03, 0.08, 0.85
"""How often nothing is retrieved, and an answer says "I don't know"; a good answer comes so often at quality 1."""
CITES = (0.1, 0.3, 0.3, 0.3)
"""How often an answer cites none, one, two or three of its results."""
LATENCY, SPREAD, SLOW = 600.0, 0.5, 1.3
"""Median milliseconds and its spread by logarithms; users slow to click have connections that are slower by this."""
MARGIN = 0.08
"""The mean distance of the best score from the second best, which is exponential."""
HOURS = (1, 1, 1, 1, 1, 2, 4, 8, 14, 18, 19, 18, 14, 16, 18, 17, 15, 12, 9, 8, 7, 5, 3, 2)
"""How much is asked by hour of the local day."""
WEEK = (10, 11, 11, 10, 9, 4, 3)
"""How much is asked by weekday, from Monday on."""
TOPICS: list[tuple[str, str, float, str]] = json.loads(get_data(__package__, "simulated_topics.json") or b"")
"""Name, language, quality and words of each topic; the last three are asked only after a drift."""
OLD = 9


@dataclass(frozen=True)
class Scenario(Displayable):
    """The settings of the simulation; days count from 0."""

    sessions: int
    seed: int
    start: date
    days: int
    timezone: str
    users: int
    depth: int
    variants: tuple[str, ...]
    lift: float
    drift_on: int | None
    drift_share: float
    worse_on: int | None
    worse_by: float
    outage: tuple[int, int, int] | None
    noisy: float
    duplicates: float
    disorder: float
    corrupt: float

    @property
    def lifts(self) -> Array:
        """The factor of attraction for each variant."""
        return np.array([1.0] * (len(self.variants) - 1) + [1.0 + self.lift])


def examination(depth: int) -> Array:
    """How often each rank is looked at."""
    return np.arange(1, depth + 1, dtype=np.float64) ** -BIAS


def topic_mix(s: Scenario) -> Array:
    """The share of each topic on each day."""
    old = np.zeros(len(TOPICS))
    old[:OLD] = 1 / np.arange(1, OLD + 1)
    new = np.zeros(len(TOPICS))
    new[OLD:] = 1 / (len(TOPICS) - OLD)
    share = np.zeros((s.days, 1))
    if s.drift_on is not None:
        share[s.drift_on :] = s.drift_share
    return np.asarray((1 - share) * old / old.sum() + share * new)


def topic_quality(s: Scenario) -> Array:
    """The quality of each topic on each day."""
    found = np.tile([each[2] for each in TOPICS], (s.days, 1))
    if s.worse_on is not None:
        found[s.worse_on :] *= 1 - s.worse_by
    return np.asarray(found)


def weekdays(s: Scenario) -> Array:
    """The weekday of each day, 0 for Monday."""
    return (np.arange(s.days) + s.start.weekday()) % 7


def hour_shares(s: Scenario) -> tuple[Array, Array]:
    """The share of sessions in each hour of each local day, and the UTC second at which it begins."""
    zone = ZoneInfo(s.timezone)
    share = np.array(WEEK, dtype=np.float64)[weekdays(s)][:, None] * np.array(HOURS, dtype=np.float64)
    begins = np.zeros_like(share)
    for day in range(s.days):
        for hour in range(24):
            local = datetime.combine(s.start + timedelta(days=day), datetime.min.time(), zone) + timedelta(hours=hour)
            begins[day, hour] = local.timestamp()
            if datetime.fromtimestamp(begins[day, hour], zone).hour != hour:
                share[day, hour] = 0.0  # the hour that the clock skips
    return share / share.sum(), begins


def outage_hours(s: Scenario) -> Array:
    """Whether nothing is retrieved, by day and hour."""
    down = np.zeros((s.days, 24), dtype=bool)
    if s.outage is not None:
        day, hour, length = s.outage
        down.reshape(-1)[day * 24 + hour : day * 24 + hour + length] = True
    return down


def expected_metrics(s: Scenario, days: slice, variant: str | None = None) -> dict[str, float]:
    """Every metric of the population: computed, not drawn. Axes: day, down or not, topic, kind, variant (, rank)."""
    share, _ = hour_shares(s)
    up_and_down = np.stack([share * ~outage_hours(s), share * outage_hours(s)]).sum(2).T[days]
    weight = up_and_down[:, :, None, None, None] * topic_mix(s)[days][:, None, :, None, None] / len(KINDS)
    chosen = np.array([variant in (None, each) for each in s.variants], dtype=np.float64)
    weight = weight * chosen / len(s.variants)
    quality = topic_quality(s)[days][:, None, :, None, None]
    calm = np.where(weekdays(s)[days] >= 5, WEEKEND, 1.0)[:, None, None, None, None]
    attracted = calm * np.array(KINDS)[:, None] * s.lifts
    relevant = quality[..., None] * DECAY ** np.arange(s.depth)
    click = examination(s.depth) * attracted[..., None] * (ATTRACTS_NOT + (ATTRACTS - ATTRACTS_NOT) * relevant)
    untouched = np.cumprod(1 - click, axis=-1)  # no click down to this rank
    before = np.concatenate([np.ones_like(untouched[..., :1]), untouched[..., :-1]], axis=-1)
    empty = np.array([EMPTY, 1.0])[:, None, None, None]
    shown, none = 1 - empty, untouched[..., -1]
    answered = shown * (1 - ABSTAINS)
    good = answered * GOOD * quality
    fails = empty + shown * none * (1 - (1 - ABSTAINS) * GOOD * quality)
    searches = sum((fails * AGAIN) ** j for j in range(MOST))
    up = good * VOTES[True] * UP[True] + (1 - good) * VOTES[False] * UP[False]
    lost = fails * (1 - VOTES[False] * UP[False])
    content = none * good * (1 - VOTES[True] * UP[True])
    left = sum((lost * AGAIN) ** j * (content + lost * (1 - AGAIN)) for j in range(MOST - 1))
    left = left + (lost * AGAIN) ** (MOST - 1) * (content + lost)
    all_searches = weight * searches

    def ratio(of: Any, among: Any = 1.0, by: Any = all_searches) -> float:
        return float((by * of).sum() / (by * among).sum())

    clicked = shown * (1 - none)
    cited = answered * sum(p * (1 - untouched[..., c - 1]) for c, p in enumerate(CITES) if c)
    found = {
        "thumbs_up": ratio(up, good * VOTES[True] + (1 - good) * VOTES[False]),
        "vote_share": ratio(good * VOTES[True] + (1 - good) * VOTES[False]),
        "ctr": ratio(clicked, shown),
        "mrr_first_click": ratio(shown * (before * click / np.arange(1, s.depth + 1)).sum(-1), clicked),
        "ctr_citation": ratio(cited, answered * (1 - CITES[0])),
        "abandonment": ratio(left, np.ones_like(none), weight),
        "reformulation": ratio(searches - 1, searches, weight),
        "dont_know": ratio(empty + shown * ABSTAINS),
        "no_result": ratio(empty),
        "citation_coverage": 1 - CITES[0],
        **{f"margin_p{q}": -MARGIN * math.log(1 - q / 100) for q in (10, 50, 90)},
    }
    for k in (1, 3, 5, 10):
        found[f"ctr@{k}"] = ratio(shown * (1 - untouched[..., min(k, s.depth) - 1]), shown)
    return {**found, **_latencies(all_searches.sum(axis=(0, 1, 2, 4)))}


def _latencies(kinds: Array) -> dict[str, float]:
    """The percentiles of the mixture of both kinds of users, by halving."""
    centres = [math.log(LATENCY * SLOW), math.log(LATENCY)]
    shares = (kinds / kinds.sum()).tolist()
    found = {}
    for q in (50, 95, 99):
        low, high = centres[1] - 5, centres[0] + 5
        for _ in range(60):
            middle = (low + high) / 2
            below = sum(w * NormalDist(c, SPREAD).cdf(middle) for w, c in zip(shares, centres, strict=True))
            low, high = (middle, high) if below < q / 100 else (low, middle)
        found[f"latency_p{q}"] = math.exp(low)
    return found
