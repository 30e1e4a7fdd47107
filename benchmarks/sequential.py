"""How often tests that are looked at every day find what is not there, and how soon they find what is.

python -m benchmarks.sequential [TRIALS]
"""

from __future__ import annotations

import sys

import numpy as np

from rankproof.core.hits import Array
from rankproof.monitoring.interleave import FEWEST
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


def main() -> None:
    """Print everything."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for rate in (0.02, 0.3):
        for lift in (0.0, 0.1 * rate):
            always, once = rates(trials, rate, lift)
            print(
                f"rate {rate}, lift {lift:.3f}: found in {DAYS} days {always:.1%}; by a 95 % test a day {once:.1%}"
            )
    for share in (0.5, 0.6):
        said, held = betting_rates(trials, share)
        print(f"interleaving won in {share:.0%}: said {said:.1%}, interval holds {held:.1%}")


if __name__ == "__main__":
    main()
