"""The truth of a simulated log, worked out by formulas, is what is drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rankproof import simulate_log
from rankproof.errors import UsageError


def drawn(log) -> dict[str, tuple[float, int]]:
    """Each metric of the drawn columns by plain sums, with the number of cases behind it."""
    c = log.columns
    kept = ~c["noisy"]
    c = {name: each[kept] for name, each in c.items()}
    shown, first = ~c["empty"], c["first_click"]
    sessions = np.unique(c["session"])
    well = np.unique(c["session"][(first > 0) | (c["thumb"] == 1)])
    n = len(first)

    def share(yes, among):
        return float(yes[among].mean()), int(among.sum())

    everything = np.ones(n, dtype=bool)
    return {
        "thumbs_up": share(c["thumb"] == 1, c["thumb"] != 0),
        "vote_share": share(c["thumb"] != 0, everything),
        "ctr": share(first > 0, shown),
        **{f"ctr@{k}": share((first > 0) & (first <= k), shown) for k in (1, 3, 5, 10)},
        "mrr_first_click": share(1 / np.maximum(first, 1), first > 0),
        "ctr_citation": share((first > 0) & (first <= c["citations"]), c["citations"] > 0),
        "abandonment": (1 - len(well) / len(sessions), len(sessions)),
        "reformulation": ((n - len(sessions)) / n, n),
        "dont_know": share(c["abstained"], everything),
        "no_result": share(c["empty"], everything),
        "citation_coverage": share(c["citations"] > 0, ~c["abstained"]),
    }


@pytest.mark.parametrize(
    "scenario",
    [
        {},
        {
            "drift_on": 5,
            "worse_on": 8,
            "outage": (3, 8, 12),
            "variants": ("A", "B"),
            "lift": 0.2,
            "noisy": 0.4,
        },
    ],
)
def test_the_truth_is_what_many_sessions_come_to(scenario) -> None:
    log = simulate_log(40_000, seed=7, users=40_000, days=14, timezone="Europe/Berlin", **scenario)
    truth = log.truth
    for name, (value, n) in drawn(log).items():
        assert abs(value - truth[name]) < 5 * np.sqrt(0.25 / n), name
    kept = ~log.columns["noisy"]
    scores, latency = log.columns["scores"][kept], log.columns["latency_ms"][kept]
    for q in (50, 95):
        assert (latency <= truth[f"latency_p{q}"]).mean() == pytest.approx(q / 100, abs=0.01)
    for q in (10, 50, 90):
        assert (scores[:, 0] - scores[:, 1] <= truth[f"margin_p{q}"]).mean() == pytest.approx(q / 100, abs=0.01)


def test_the_truth_follows_days_and_variants() -> None:
    log = simulate_log(20_000, seed=1, days=14, worse_on=7, worse_by=0.5, variants=("A", "B"), lift=0.2)
    assert log.truth_of_day(8)["ctr"] < log.truth_of_day(1)["ctr"]
    assert log.truth_of_variant("B")["ctr"] > log.truth["ctr"] > log.truth_of_variant("A")["ctr"]
    c = log.columns
    for day in (1, 8):
        shown = ~c["empty"] & (c["day"] == day)
        value = (c["first_click"] > 0)[shown].mean()
        assert value == pytest.approx(log.truth_of_day(day)["ctr"], abs=2.5 / np.sqrt(shown.sum()))


def test_the_same_seed_writes_the_same_lines() -> None:
    settings = {"seed": 3, "duplicates": 0.1, "disorder": 0.2, "corrupt": 0.1, "noisy": 0.2}
    lines = list(simulate_log(200, **settings).lines())
    assert lines == list(simulate_log(200, **settings).lines())
    assert lines != list(simulate_log(200, **{**settings, "seed": 4}).lines())
    intact = set(map(json.dumps, simulate_log(200, seed=3, noisy=0.2).records()))
    assert intact <= {json.dumps(json.loads(line)) for line in lines if line.endswith("}")}


def test_a_log_is_saved_like_any_result(tmp_path) -> None:
    log = simulate_log(50, seed=1, corrupt=0.2)
    path = log.save(tmp_path / "log.jsonl")
    assert path.read_text(encoding="utf-8").splitlines() == list(log.lines())
    with pytest.raises(UsageError, match="exists"):
        log.save(path)
    with pytest.raises(UsageError, match="folder"):
        log.save(tmp_path / "none" / "log.jsonl")


def test_the_hour_that_the_clock_leaps_over_is_empty() -> None:
    log = simulate_log(30_000, seed=1, start="2025-03-29", days=3, timezone="Europe/Berlin")
    hours = ((log.columns["ts"] + 3600) // 3600 % 24)[log.columns["day"] == 0]  # UTC+1 before the change
    assert set(hours.astype(int)) >= {1, 2, 3}
    changed = log.columns["ts"][log.columns["day"] == 1]
    assert changed.max() - changed.min() < 23 * 3600 + 300


@pytest.mark.parametrize("wrong", [{"drift_on": 28}, {"worse_on": -1}, {"seed": -1}, {"users": -3}, {"depth": 2}])
def test_what_cannot_be_planted_is_refused(wrong) -> None:
    (name,) = wrong
    with pytest.raises(UsageError, match=f"{name}: got {wrong[name]}"):
        simulate_log(50, **wrong)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"users": 0}, "users: got 0, expected a whole number of at least 1"),
        ({"timezone": "Europe/Berln"}, "timezone: got 'Europe/Berln'.* Did you mean 'Europe/Berlin'"),
        ({"variants": []}, "variants: got .*, expected one name or more"),
        ({"variants": ["A", "A"]}, "variants: got .*, expected one name or more, each once"),
        ({"outage": (1, 2)}, "outage: got .*, expected \\(day, first hour, hours\\)"),
        ({"outage": (28, 0, 1)}, "outage, day: got 28, expected a whole number from 0 to 27"),
        ({"outage": (1, 24, 1)}, "outage, hour: got 24"),
        ({"outage": (1, 2, 0)}, "outage, hours: got 0"),
    ],
)
def test_a_plan_that_means_nothing_is_refused(wrong, says) -> None:
    with pytest.raises(UsageError, match=says):
        simulate_log(50, **wrong)


def test_the_name_of_one_variant_is_one_name() -> None:
    assert {each["variant"] for each in simulate_log(20, variants="AB").records()} == {"AB"}
