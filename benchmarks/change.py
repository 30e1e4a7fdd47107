"""How often a change point is a false alarm, how often a change is found, and how often its interval holds the day.

    python -m benchmarks.change [TRIALS]

Series of days with a low weekend, unequal errors, and neighbours that are correlated as stated; a change is 2, 4 or 6
standard deviations of a day. Weekdays are taken out as `monitor` does it: before three weeks the weekend alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from rankproof.monitoring.change_point import change_point, change_points


def course(
    rng: np.random.Generator, days: int, correlation: float = 0.0, at: int = 0, by: float = 0.0
) -> Sequence[float]:
    """A series with a low weekend, and a step."""
    noise = rng.standard_normal(days)
    for day in range(1, days):
        noise[day] = correlation * noise[day - 1] + noise[day] * np.sqrt(1 - correlation**2)
    found: list[float] = (noise - 1.5 * (np.arange(days) % 7 >= 5) + by * (np.arange(days) >= at)).tolist()
    return found


def seasons(days: int) -> list[int]:
    """The label of each day."""
    return [day % 7 if days >= 21 else int(day % 7 >= 5) for day in range(days)]


def rates(trials: int, days: int, correlation: float, by: float = 2.0) -> dict[str, float]:
    """The shares over so many series, half a change on a random day each."""
    rng = np.random.default_rng(days)
    week = seasons(days)
    alarms = found = held = 0
    for seed in range(trials):
        calm = change_point(course(rng, days, correlation), None, week, seed=seed)
        at = int(rng.integers(4, days - 3))
        moved = change_point(course(rng, days, correlation, at, by), None, week, seed=seed)
        alarms += calm is not None and calm.changed
        if moved is not None and moved.changed:
            found += 1
            held += moved.low <= at <= moved.high
    return {"false alarms": alarms / trials, "power": found / trials, "day held": held / max(found, 1)}


def rates_together(trials: int, days: int, correlation: float, by: float, number: int = 60) -> dict[str, float]:
    """The same for as many series as metrics and slices have together, of which the first one changes."""
    rng, week = np.random.default_rng(days), seasons(days)
    alarms = found = 0
    for seed in range(trials):
        at = int(rng.integers(4, days - 3))
        steps = {k: course(rng, days, correlation, at, by * (k == 0)) for k in range(number)}
        told = change_points({k: (each, None, week) for k, each in steps.items()}, seed=seed * 1000)
        alarms += any(point.changed for k, point in told.items() if k)
        found += told[0].changed
    return {"any false alarm": alarms / trials, "power": found / trials}


def main() -> None:
    """Print everything."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for days in (14, 28, 60):
        for correlation in (0.0, 0.3, 0.5):
            for by in (2.0, 4.0, 6.0):
                alone = rates(trials, days, correlation, by)
                together = rates_together(trials // 4, days, correlation, by)
                shown = "; ".join(
                    ", ".join(f"{name} {value:.1%}" for name, value in each.items()) for each in (alone, together)
                )
                print(f"{days} days, correlated by {correlation}, step of {by:g}: {shown}", flush=True)


if __name__ == "__main__":
    main()
