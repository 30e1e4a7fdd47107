"""How often tests that are looked at every day find what is not there, and how soon they find what is.

python -m benchmarks.sequential [TRIALS]
"""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.monitoring.event_block import SESSION, USER, VALUES, Codes, EventBlock, as_bytes, hash_bytes
from rankproof.monitoring.interleave import FEWEST, compare_variants
from rankproof.monitoring.online_metrics import metrics
from rankproof.monitoring.sessions_and_windows import DAY, Calendar
from rankproof.monitoring.window_sums import Sums
from rankproof.stats.confidence import betting, betting_p, normal_mixture

DAYS, DAILY = 60, 200
"""Days of a test, and new users of each variant a day."""


def users(rng: np.random.Generator, days: int, rate: float) -> tuple[Array, Array]:
    """Clicks and searches of each user, whose own rates differ, by day."""
    searches = 1 + rng.geometric(0.5, (days, DAILY))
    own = rng.beta(20 * rate, 20 * (1 - rate), (days, DAILY))
    return rng.binomial(searches, own).astype(float), searches.astype(float)


def looks(rng: np.random.Generator, rate: float, lift: float) -> tuple[int | None, int | None]:
    """The first day on which the test says so, and the first on which one for a single look does."""
    sides = [users(rng, DAYS, rate), users(rng, DAYS, rate + lift)]
    anytime = single = None
    for day in range(1, DAYS + 1):
        values, variance = [], 0.0
        for clicks, searches in sides:
            a, b = clicks[:day].ravel(), searches[:day].ravel()
            value = a.sum() / b.sum()
            values.append(value)
            variance += float(np.sum((a - value * b) ** 2)) / b.sum() ** 2
        if day * DAILY < FEWEST or not variance:
            continue
        error, gap = float(np.sqrt(variance)), float(values[1] - values[0])
        at_end = error * np.sqrt(day / DAYS)
        if anytime is None and normal_mixture(gap, error, float(at_end)).p <= 0.05:
            anytime = day
        if single is None and abs(gap) > 1.96 * error:
            single = day
    return anytime, single


def rates(trials: int, rate: float, lift: float) -> tuple[float, float]:
    """How often each says so on any day."""
    rng = np.random.default_rng(7)
    found = [looks(rng, rate, lift) for _ in range(trials)]
    return tuple(float(np.mean([each[i] is not None for each in found])) for i in (0, 1))  # type: ignore[return-value]


def betting_rates(trials: int, share: float, users: int = 400) -> tuple[float, float]:
    """How often betting rules out one half at any of so many looks, and how often its last interval holds the share."""
    rng = np.random.default_rng(8)
    said = held = 0
    for _ in range(trials):
        row = (rng.random(users) < share).astype(float)
        said += any(betting_p(row[:n]) <= 0.05 for n in range(10, users, 10))
        found = betting(row)
        held += found.low <= share <= found.high
    return said / trials, held / trials


def searches(
    rng: np.random.Generator, day: int, users: int, lift: float = 0.0, slow: float = 0.0, heavy: bool = False
) -> EventBlock:
    """A day of two variants: users differ in what they click and how long they wait, one may send a third of all."""
    number = 1 + rng.geometric(0.4, users)
    variant = rng.integers(0, 2, users)
    if heavy:
        number[0], variant[0] = 2 * users, 1
    user = np.repeat(np.arange(users), number)
    own = rng.beta(4, 6, users) * (1 + lift * variant)
    wait = 6 + rng.normal(0, 0.5, users) + slow * variant
    clicks = rng.random(len(user)) < own[user]
    values = np.full((len(VALUES) + 3, len(user)), np.nan, dtype=np.float32)
    row = dict(zip((*VALUES, "score"), values, strict=False))
    row["results"][:], row["clicks"][:] = 10, clicks
    row["latency_ms"][:] = np.exp(wait[user] + rng.normal(0, 0.8, len(user)) + 3 * (rng.random(len(user)) < 0.02))
    row["score"][:] = np.minimum(0.6 * own[user] + 0.4 * rng.random(len(user)), 1)
    ids = np.zeros((4, len(user)), dtype=np.uint64)
    ids[SESSION] = ids[USER] = hash_bytes(*as_bytes([f"{day} {each}" for each in range(users)]))[user]
    time = np.full(len(user), day * DAY + DAY // 2, dtype=np.int64)
    codes = variant[user].astype(np.int32)[None]
    return EventBlock(time, ids, np.zeros((4, len(user)), dtype=np.uint64), values, codes)


def kinds(trials: int, **how: Any) -> dict[str, float]:
    """How often a share, a mean and percentiles are told to differ on any of 30 days; "any" is corrected by Holm."""
    found: Counter[str] = Counter(any=0)
    for seed in range(trials):
        rng, codes = np.random.default_rng(seed), Codes()
        codes.code("A"), codes.code("B")
        sums = Sums(metrics((1,), ("score",)), ("variant",), [codes], Calendar(UTC), ("score",))
        told = set()
        for day in range(20_001, 20_031):
            sums.add(searches(rng, day, 200, **how))
            sums.close((day + 1) * DAY)
            cells = {key: cell for key, cell in sums.total.items() if key[0]}
            for each in compare_variants(list(sums.estimates(cells)), planned=6000):
                told |= {each.metric} if each.p <= 0.05 else set()
                told |= {"any"} if each.p_corrected <= 0.05 else set()
        found.update(told)
    return {name: number / trials for name, number in found.items()}


def main() -> None:
    """Print everything."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for rate in (0.02, 0.3):
        for lift in (0.0, 0.1 * rate):
            always, once = rates(trials, rate, lift)
            print(f"rate {rate}, lift {lift:.3f}: found in {DAYS} days {always:.1%}; by a 95 % test a day {once:.1%}")
    for how in ({}, {"heavy": True}, {"lift": 0.1, "slow": 0.1}):
        told = ", ".join(f"{name} {value:.1%}" for name, value in kinds(trials, **how).items())
        print(f"30 days, {how or 'equal variants'}: {told}")
    for share in (0.5, 0.6):
        said, held = betting_rates(trials, share)
        print(f"interleaving won in {share:.0%}: said {said:.1%}, interval holds {held:.1%}")


if __name__ == "__main__":
    main()
