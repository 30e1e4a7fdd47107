"""How often a change point is a false alarm, how often a change is found, and how often its interval holds the day.

    python -m benchmarks.change [TRIALS]

Series of days with a low weekend, unequal errors, and neighbours that are correlated as stated; a change is 2
standard deviations of a day.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from rankproof.monitoring.change import change_point


def course(
    rng: np.random.Generator, days: int, correlation: float = 0.0, at: int = 0, by: float = 0.0
) -> Sequence[float]:
    """A series with a low weekend, and a step."""
    noise = rng.standard_normal(days)
    for day in range(1, days):
        noise[day] = correlation * noise[day - 1] + noise[day] * np.sqrt(1 - correlation**2)
    found: list[float] = (noise - 1.5 * (np.arange(days) % 7 >= 5) + by * (np.arange(days) >= at)).tolist()
    return found


def rates(trials: int, days: int, correlation: float) -> dict[str, float]:
    """The shares over so many series, half a change on a random day each."""
    rng = np.random.default_rng(days)
    week = [day % 7 for day in range(days)]
    alarms = found = held = 0
    for seed in range(trials):
        calm = change_point(course(rng, days, correlation), None, week, seed=seed)
        at = int(rng.integers(4, days - 3))
        moved = change_point(course(rng, days, correlation, at, 2.0), None, week, seed=seed)
        alarms += calm is not None and calm.changed
        if moved is not None and moved.changed:
            found += 1
            held += moved.low <= at <= moved.high
    return {"false alarms": alarms / trials, "power": found / trials, "day held": held / max(found, 1)}


def main() -> None:
    """Print everything."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for days in (14, 28, 60):
        for correlation in (0.0, 0.3, 0.5):
            shown = ", ".join(
                f"{name} {value:.1%}" for name, value in rates(trials, days, correlation).items()
            )
            print(f"{days} days, neighbours correlated by {correlation}: {shown}")


if __name__ == "__main__":
    main()
